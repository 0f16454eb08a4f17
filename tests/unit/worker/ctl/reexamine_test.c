/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parts of `ingestctl reexamine` that need no server: bodies out of WARC files, checkpoints, the share that is
 * done.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/base32.h"
#include "worker/ctl/reexamine/checkpoint.h"
#include "worker/ctl/reexamine/progress.h"
#include "worker/ctl/reexamine/read.h"

#define SHA1_OF_BODY "02083f4579e08a612425c0c1a17ee47add783b94" /* of "body" */

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/ing-reexamine.XXXXXX");
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static const char *path_of(const char *name)
{
	static char path[512];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int remove_folder(void **state)
{
	(void)state;
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlink(path_of(entry->d_name));
	closedir(dir);
	return rmdir(folder);
}

/* --- bodies --- */

static void write_file(const char *name, const void *data, size_t bytes)
{
	FILE *f = fopen(path_of(name), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	fclose(f);
}

/* A file of one record. Returns its length. */
static uint64_t write_record(const char *name, const char *type, const char *content_type,
	const char *head, const char *body, size_t body_bytes)
{
	struct ing_buf text;
	unsigned char out[8192];
	ing_buf_init(&text, 1 << 16);
	ing_buf_printf(&text,
		"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
		"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
		type, content_type, strlen(head) + body_bytes, head);
	ing_buf_add(&text, body, body_bytes);
	ing_buf_add_str(&text, "\r\n\r\n");
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)text.data;
	z.avail_in = (unsigned)text.len;
	z.next_out = out;
	z.avail_out = sizeof(out);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t bytes = sizeof(out) - z.avail_out;
	deflateEnd(&z);
	ing_buf_done(&text);
	write_file(name, out, bytes);
	return bytes;
}

#define HTTP "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n"
#define GZIP "\x1f\x8b\x08 gzip, by its first bytes"

static void bodies_are_read_or_it_is_said_why_not(void **state)
{
	(void)state;
	static const char response[] = "application/http; msgtype=response";
	static const struct {
		const char *name, *file, *warc_path; /* NULL: as the file */
		const char *type, *content_type, *head, *body;
		const char *sha1hex, *cdx_sha1hex;
		int want;
		const char *words; /* of the error, or the body's Content-Encoding */
	} cases[] = {
		{"a body", "a.warc.gz", NULL, "response", response, HTTP "\r\n", "body",
			SHA1_OF_BODY, NULL, 0, NULL},
		{"without a byte", "b.warc.gz", NULL, "response", response, HTTP "\r\n", "",
			"da39a3ee5e6b4b0d3255bfef95601890afd80709", NULL, 0, NULL},
		{"while it is written", "c.warc.gz.open", "c.warc.gz", "response", response,
			HTTP "\r\n", "body", SHA1_OF_BODY, NULL, 0, NULL},
		{"coded", "d.warc.gz", NULL, "response", response,
			HTTP "Content-Encoding: br\r\n\r\n", "body",
			"1111111111111111111111111111111111111111", SHA1_OF_BODY, 0, "br"},
		{"coded, of which the row says nothing", "e.warc.gz", NULL, "response", response,
			HTTP "Content-Encoding: br\r\n\r\n", "body",
			"1111111111111111111111111111111111111111", NULL, 0, "br"},
		{"gzip that is not said", "f.warc.gz", NULL, "response", response, HTTP "\r\n",
			GZIP, "1111111111111111111111111111111111111111", NULL, 0, NULL},
		{"an archived field of the transfer", "g.warc.gz", NULL, "response", response,
			HTTP "X-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n", "body",
			SHA1_OF_BODY, NULL, 0, NULL},
		{"another body", "h.warc.gz", NULL, "response", response, HTTP "\r\n", "bodies",
			SHA1_OF_BODY, NULL, -ING_FAIL_INVALID, "another SHA-1"},
		{"another body as sent", "i.warc.gz", NULL, "response", response,
			HTTP "Content-Encoding: br\r\n\r\n", "bodies", SHA1_OF_BODY, SHA1_OF_BODY,
			-ING_FAIL_INVALID, "another SHA-1"},
		{"chunked", "j.warc.gz", NULL, "response", response,
			HTTP "Transfer-Encoding: chunked\r\n\r\n", "body", SHA1_OF_BODY, NULL,
			-ING_FAIL_UNSUPPORTED, "transfer coding"},
		{"too large", "k.warc.gz", NULL, "response", response, HTTP "\r\n",
			"a body over the limit of this test, which has 30 bytes", SHA1_OF_BODY,
			NULL, -ING_FAIL_TOO_BIG, "fetch.max_body_bytes"},
		{"a revisit", "l.warc.gz", NULL, "revisit", response, HTTP "\r\n", "", SHA1_OF_BODY,
			NULL, -ING_FAIL_INVALID, "no HTTP response"},
		{"a resource", "m.warc.gz", NULL, "resource", "application/pdf", "", "body",
			SHA1_OF_BODY, NULL, -ING_FAIL_INVALID, "no HTTP response"},
		{"half a head", "n.warc.gz", NULL, "response", response, HTTP, "", SHA1_OF_BODY,
			NULL, -ING_FAIL_INVALID, "no whole head"},
		{"no such file", "o.warc.gz", "other.warc.gz", "response", response, HTTP "\r\n",
			"body", SHA1_OF_BODY, NULL, -ING_FAIL_NOT_FOUND, "other.warc.gz"},
		{"a file elsewhere", "p.warc.gz", "../p.warc.gz", "response", response, HTTP "\r\n",
			"body", SHA1_OF_BODY, NULL, -ING_FAIL_INVALID, "warc_path"},
		{"a file elsewhere, below", "q.warc.gz", "x/../../q.warc.gz", "response", response,
			HTTP "\r\n", "body", SHA1_OF_BODY, NULL, -ING_FAIL_INVALID, "warc_path"},
		{"an absolute name", "r.warc.gz", "/etc/passwd", "response", response, HTTP "\r\n",
			"body", SHA1_OF_BODY, NULL, -ING_FAIL_INVALID, "warc_path"},
	};
	const char *dirs[] = {"/no/such/folder", folder, NULL};
	const struct ing_reexamine_folders folders = {.dirs = dirs, .max_body_bytes = 30};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_reexamine_body body;
		struct ing_error err = {0};
		size_t bytes = strlen(cases[i].body);
		const struct ing_row_cdx row = {.warc_path = cases[i].warc_path != NULL
								     ? cases[i].warc_path
								     : cases[i].file,
			.warc_csize = write_record(cases[i].file, cases[i].type,
				cases[i].content_type, cases[i].head, cases[i].body, bytes),
			.sha1hex = cases[i].sha1hex,
			.cdx_sha1hex = cases[i].cdx_sha1hex};
		int rc = ing_reexamine_read(&folders, &row, &body, &err);
		if (rc != cases[i].want)
			fail_msg("%s: %d: %s", cases[i].name, rc, err.msg);
		if (rc != 0) {
			if (strstr(err.msg, cases[i].words) == NULL)
				fail_msg("%s: %s", cases[i].name, err.msg);
			assert_int_equal(body.fd, -1);
			continue;
		}
		char have[64] = "";
		assert_int_equal(body.bytes, bytes);
		assert_int_equal(body.fd >= 0, bytes > 0);
		if (bytes > 0)
			assert_int_equal(pread(body.fd, have, sizeof(have), 0), (ssize_t)bytes);
		assert_memory_equal(have, cases[i].body, bytes);
		if (bytes > 0)
			assert_int_equal(write(body.fd, "x", 1), -1); /* sealed */
		assert_int_equal(body.http_status, 200);
		assert_string_equal(body.content_type, "application/pdf");
		if (cases[i].words != NULL)
			assert_string_equal(body.content_encoding, cases[i].words);
		else
			assert_null(body.content_encoding);
		assert_int_equal(body.gzip, cases[i].body[0] == '\x1f');
		ing_reexamine_body_done(&body);
		ing_reexamine_body_done(&body);
	}
}

/* --- checkpoints --- */

static const struct ing_reexamine_what text = {.name = "text"};
static const struct ing_reexamine_what html = {.name = "html"};

static void a_checkpoint_goes_on_with_its_own_task_alone(void **state)
{
	(void)state;
	struct ing_reexamine_task task = {.what = &text,
		.where = {"host = 'a'"},
		.slice = 2,
		.slices = 4,
		.after = "40000000"};
	const char *path = path_of("checkpoint");
	char copy[512];
	struct ing_error err = {0};
	bool finished = true;
	snprintf(copy, sizeof(copy), "%s", path);
	assert_int_equal(ing_reexamine_checkpoint_read(copy, &task, &finished, &err), 0);
	assert_false(finished);
	assert_string_equal(task.after, "40000000");
	assert_int_equal(ing_reexamine_checkpoint_write(copy, &task, SHA1_OF_BODY, false, &err), 0);
	assert_int_equal(ing_reexamine_checkpoint_read(copy, &task, &finished, &err), 0);
	assert_string_equal(task.after, SHA1_OF_BODY);
	assert_false(finished);
	assert_int_equal(ing_reexamine_checkpoint_write(copy, &task, "", true, &err), 0);
	assert_int_equal(ing_reexamine_checkpoint_read(copy, &task, &finished, &err), 0);
	assert_true(finished);

	for (int i = 0; i < 4; i++) {
		struct ing_reexamine_task other = task;
		other.what = i == 0 ? &html : &text;
		other.where[0] = i == 1 ? "host = 'b'" : task.where[0];
		other.where[1] = i == 2 ? "true" : NULL;
		other.slice = i == 3 ? 3 : 2;
		err = (struct ing_error){0};
		assert_int_equal(ing_reexamine_checkpoint_read(copy, &other, &finished, &err),
			-ING_FAIL_USAGE);
		assert_non_null(strstr(err.msg, "another"));
	}
}

static void what_is_no_checkpoint_is_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "{", "[]", "{\"after\":\"\"}",
		"{\"after\":\"xyz\",\"finished\":false}", "{\"after\":null,\"finished\":false}",
		"{\"after\":\"0123456789012345678901234567890123456789a\",\"finished\":false}"};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		struct ing_reexamine_task task = {.what = &text, .slice = 1, .slices = 1};
		struct ing_error err = {0};
		bool finished;
		char path[512];
		write_file("checkpoint", texts[i], strlen(texts[i]));
		snprintf(path, sizeof(path), "%s", path_of("checkpoint"));
		assert_int_equal(ing_reexamine_checkpoint_read(path, &task, &finished, &err),
			-ING_FAIL_SYNTAX);
	}
	struct ing_reexamine_task task = {.what = &text, .slice = 1, .slices = 1};
	struct ing_error err = {0};
	assert_int_equal(
		ing_reexamine_checkpoint_write("/no/such/folder/c", &task, "", false, &err),
		-ING_FAIL_SYSTEM);
}

/* --- how far --- */

static void digests_tell_how_far_it_is(void **state)
{
	(void)state;
	static const struct {
		const char *after, *to, *done;
		uint64_t limit, counted;
		double want;
	} cases[] = {
		{"", "g", "", 0, 0, 0}, {"", "g", "80000000000000000000", 0, 9, 0.5},
		{"", "g", "ffffffffffffffffffffffffffffffffffffffff", 0, 9, 1},
		{"", "40000000", "2", 0, 0, 0.5}, {"40000000", "80000000", "40000000", 0, 0, 0},
		{"40000000", "80000000", "50000000ab", 0, 0, 0.25},
		{"c0000000", "g", "e0", 0, 0, 0.5}, {"", "g", "10", 100, 75, 0.75},
		{"", "g", "f0", 100, 1, 0.9375}, {"80", "g", "10", 0, 0, 0}, /* cannot be */
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_reexamine_task task = {.limit = cases[i].limit};
		const struct ing_reexamine_counts counts = {.examined = cases[i].counted};
		snprintf(task.after, sizeof(task.after), "%s", cases[i].after);
		snprintf(task.to, sizeof(task.to), "%s", cases[i].to);
		double have = ing_reexamine_share(&task, &counts, cases[i].done);
		if (fabs(have - cases[i].want) > 0.0001)
			fail_msg("%zu: %f", i, have);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_are_read_or_it_is_said_why_not),
		cmocka_unit_test(a_checkpoint_goes_on_with_its_own_task_alone),
		cmocka_unit_test(what_is_no_checkpoint_is_refused),
		cmocka_unit_test(digests_tell_how_far_it_is),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
