/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file that a worker still writes has another name than the row says, which has the final one.
 *
 * Rows name what was sent by cdx_sha1hex, or, where nothing was decoded, by sha1hex. So an answer whose
 * body was coded has a digest to be compared with, too; the decoded one is compared by who decodes it.
 */
#include "worker/ctl/reexamine/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "common/data/base32.h"
#include "common/data/decode.h"
#include "common/net/http.h"
#include "common/record/warc.h"
#include "common/record/warc_read.h"

#define MAX_PATH_BYTES 8192
#define MAX_HEAD_BYTES ((size_t)16 << 20)
#define MAX_HEAD_FIELDS 100000
#define MAX_NAME_BYTES 1024
#define HEAD_BYTES 16 /* of the body, to know gzip by */
#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* One record on its way into a body. */
struct reading {
	struct ing_reexamine_body *body;
	struct ing_digester *digester;
	struct ing_http_head http;
	size_t max_bytes;
	bool is_answer, too_big;
	unsigned char first[HEAD_BYTES];
	int failed; /* errno */
};

static bool field_is(const char *head, size_t head_bytes, const char *name, const char *word)
{
	const char *value;
	size_t bytes;
	return ing_warc_field(head, head_bytes, name, &value, &bytes) && bytes >= strlen(word) &&
	       strncasecmp(value, word, strlen(word)) == 0;
}

static void take_head(void *ctx, const char *head, size_t head_bytes)
{
	struct reading *r = ctx;
	r->is_answer = field_is(head, head_bytes, "WARC-Type", "response") &&
		       field_is(head, head_bytes, "Content-Type", "application/http");
	const char *url;
	size_t bytes;
	if (ing_warc_field(head, head_bytes, "WARC-Target-URI", &url, &bytes))
		r->body->url = ing_strndup(url, bytes);
}

static void take_payload(struct reading *r, const void *data, size_t bytes)
{
	struct ing_reexamine_body *b = r->body;
	if (bytes == 0 || r->failed != 0 || r->too_big)
		return;
	if (bytes > r->max_bytes - b->bytes) {
		r->too_big = true;
		return;
	}
	if (b->fd < 0)
		b->fd = memfd_create("ing-body", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	r->failed = b->fd < 0 ? errno : ing_write_all(b->fd, data, bytes);
	if (b->bytes < HEAD_BYTES)
		memcpy(r->first + b->bytes, data, ING_MIN(bytes, HEAD_BYTES - b->bytes));
	b->bytes += bytes;
	ing_digester_add(r->digester, data, bytes);
}

static void take_block(void *ctx, const void *data, size_t bytes, size_t payload_bytes)
{
	struct reading *r = ctx;
	if (!r->is_answer)
		return;
	if (payload_bytes < bytes)
		(void)ing_http_head_add(&r->http, data, bytes - payload_bytes);
	take_payload(r, (const char *)data + bytes - payload_bytes, payload_bytes);
}

static const struct ing_warc_read_user user = {.head = take_head, .block = take_block};

/* The row's word about the bytes as they were sent. */
static bool has_digest(const struct reading *r, const struct ing_row_cdx *row)
{
	char hex[ING_SHA1_HEX_BYTES];
	bool coded = ing_decode_needed(r->http.content_encoding) || r->body->gzip;
	const char *want = row->cdx_sha1hex;
	if (want == NULL && !coded)
		want = row->sha1hex;
	ing_hex_encode(r->body->digests.sha1, sizeof(r->body->digests.sha1), hex);
	return want == NULL || strcmp(want, hex) == 0;
}

static int judge(struct reading *r, const struct ing_row_cdx *row, struct ing_error *err)
{
	if (!r->is_answer)
		return ing_error_set(err, ING_FAIL_INVALID, "the record is no HTTP response");
	if (r->http.state != ING_HTTP_DONE)
		return ing_error_set(err, ING_FAIL_INVALID, "the response has no whole head");
	if (r->failed != 0)
		return ing_error_sys(err, r->failed, "memory for the body");
	if (r->too_big)
		return ing_error_set(err, ING_FAIL_TOO_BIG,
			"the body has more than fetch.max_body_bytes (%zu) bytes", r->max_bytes);
	if (r->http.transfer_encoding != NULL)
		return ing_error_set(err, ING_FAIL_UNSUPPORTED, "the body has a transfer coding");
	if (!has_digest(r, row))
		return ing_error_set(
			err, ING_FAIL_INVALID, "the body has another SHA-1 than the row of cdx");
	return 0;
}

static void finish_body(struct reading *r)
{
	struct ing_reexamine_body *b = r->body;
	ing_digester_finish(r->digester, &b->digests);
	b->gzip = b->bytes >= 2 && r->first[0] == 0x1f && r->first[1] == 0x8b;
	b->http_status = r->http.status;
	b->content_type = ING_TAKE(r->http.content_type);
	b->content_encoding =
		r->http.content_encoding != NULL ? ing_strdup(r->http.content_encoding) : NULL;
	if (b->fd >= 0 && r->failed == 0 && fcntl(b->fd, F_ADD_SEALS, SEALS) != 0)
		r->failed = errno;
}

static int read_record(const struct ing_reexamine_folders *folders, int fd,
	const struct ing_row_cdx *row, struct ing_reexamine_body *ret, struct ing_error *err)
{
	struct reading r = {.body = ret,
		.digester = ing_digester_new(ING_DIGEST_ALL),
		.max_bytes = folders->max_body_bytes};
	ing_http_head_init(&r.http, MAX_HEAD_BYTES, MAX_HEAD_FIELDS);
	int rc = ing_warc_read(fd, row->warc_offset, row->warc_csize, &user, &r, err);
	finish_body(&r);
	if (rc == 0)
		rc = judge(&r, row, err);
	ing_http_head_done(&r.http);
	ing_digester_free(r.digester);
	return rc;
}

/* Of a file within the folder; rows of others may have paths. */
static bool is_name(const char *name)
{
	return name != NULL && name[0] != '\0' && name[0] != '/' && strlen(name) < MAX_NAME_BYTES &&
	       strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0 &&
	       strstr(name, "/../") == NULL;
}

static int open_file(const struct ing_reexamine_folders *folders, const char *name, char *path,
	struct ing_error *err)
{
	static const char *const suffixes[] = {"", ".open", ""};
	for (const char *const *dir = folders->dirs; *dir != NULL; dir++) {
		/* A file may be renamed between the first two. */
		for (size_t i = 0; i < ING_ARRAY_LEN(suffixes); i++) {
			snprintf(path, MAX_PATH_BYTES, "%s/%s%s", *dir, name, suffixes[i]);
			int fd = open(path, O_RDONLY | O_CLOEXEC);
			if (fd >= 0)
				return fd;
			if (errno != ENOENT)
				return ing_error_sys(err, errno, "%s", path);
		}
	}
	return ing_error_set(err, ING_FAIL_NOT_FOUND, "%s: no such file in warc.dir", name);
}

/* ------------------------------------------------------------------------------------------ */

int ing_reexamine_read(const struct ing_reexamine_folders *folders, const struct ing_row_cdx *row,
	struct ing_reexamine_body *ret, struct ing_error *err)
{
	char path[MAX_PATH_BYTES];
	*ret = (struct ing_reexamine_body){.fd = -1};
	if (!is_name(row->warc_path))
		return ing_error_set(err, ING_FAIL_INVALID, "warc_path is no file within warc.dir");
	int fd = open_file(folders, row->warc_path, path, err);
	if (fd < 0)
		return fd;
	int rc = read_record(folders, fd, row, ret, err);
	close(fd);
	if (rc == 0)
		return 0;
	ing_error_context(err, "%s", path);
	ing_reexamine_body_done(ret);
	return rc;
}

void ing_reexamine_body_done(struct ing_reexamine_body *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	free(ING_TAKE(b->content_type));
	free(ING_TAKE(b->content_encoding));
	free(ING_TAKE(b->url));
}
