/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One record of a file: what is handed over of it, and what is wrong with others.
 */
#include "common/record/warc_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/base32.h"
#include "common/data/digest.h"

#define HTTP "HTTP/1.1 200 OK\r\nX: y\r\n\r\n"
#define WRONG "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

struct file { /* members one after the other */
	int fd;
	uint64_t ends[4];
	unsigned records;
};

static void add_member(struct file *f, const char *text, size_t bytes)
{
	unsigned char out[4096];
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text;
	z.avail_in = (unsigned)bytes;
	z.next_out = out;
	z.avail_out = sizeof(out);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	size_t have = sizeof(out) - z.avail_out;
	deflateEnd(&z);
	uint64_t at = f->records > 0 ? f->ends[f->records - 1] : 0;
	assert_int_equal(pwrite(f->fd, out, have, (off_t)at), (ssize_t)have);
	f->ends[f->records++] = at + have;
}

static void add_record(struct file *f, const char *body, const char *digest)
{
	struct ing_buf text;
	struct ing_digests d;
	char right[33];
	ing_digest(ING_DIGEST_SHA1, body, strlen(body), &d);
	ing_base32_encode(d.sha1, sizeof(d.sha1), right);
	ing_buf_init(&text, 1 << 16);
	ing_buf_printf(&text,
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%u>\r\n"
		"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Type: application/http\r\n"
		"WARC-Payload-Digest: sha1:%s\r\nContent-Length: %zu\r\n\r\n" HTTP "%s\r\n\r\n",
		f->records, digest != NULL ? digest : right, strlen(HTTP) + strlen(body), body);
	add_member(f, ing_buf_str(&text), text.len);
	ing_buf_done(&text);
}

static void open_file(struct file *f)
{
	*f = (struct file){.fd = memfd_create("warc", 0)};
	assert_true(f->fd >= 0);
	add_record(f, "the first body", NULL);
	add_record(f, "the second", NULL);
	add_record(f, "the third", WRONG);
	add_member(f, "no record", 9);
}

struct heard {
	unsigned heads;
	struct ing_buf block, payload;
};

static void hear_head(void *ctx, const char *head, size_t head_bytes)
{
	struct heard *h = ctx;
	assert_memory_equal(head, "WARC/1.1\r\n", 10);
	assert_memory_equal(head + head_bytes - 4, "\r\n\r\n", 4);
	h->heads++;
}

static void hear_block(void *ctx, const void *data, size_t bytes, size_t payload_bytes)
{
	struct heard *h = ctx;
	ing_buf_add(&h->block, data, bytes);
	ing_buf_add(&h->payload, (const char *)data + bytes - payload_bytes, payload_bytes);
}

static const struct ing_warc_read_user user = {hear_head, hear_block};

static int read_at(const struct file *f, uint64_t offset, uint64_t csize, struct heard *h,
	struct ing_error *err)
{
	*h = (struct heard){0};
	*err = (struct ing_error){0};
	ing_buf_init(&h->block, 4096);
	ing_buf_init(&h->payload, 4096);
	return ing_warc_read(f->fd, offset, csize, &user, h, err);
}

static void forget(struct heard *h)
{
	ing_buf_done(&h->block);
	ing_buf_done(&h->payload);
}

static void one_record_is_handed_over(void **state)
{
	(void)state;
	struct file f;
	struct heard h;
	struct ing_error err;
	open_file(&f);
	static const char *const bodies[] = {"the first body", "the second"};
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = i % 2 == 0 ? 0 : f.ends[0];
		uint64_t csize = i < 2 ? 0 : f.ends[i % 2] - at; /* not known, known */
		assert_int_equal(read_at(&f, at, csize, &h, &err), 0);
		assert_int_equal(h.heads, 1);
		assert_string_equal(ing_buf_str(&h.payload), bodies[i % 2]);
		assert_int_equal(h.block.len, strlen(HTTP) + strlen(bodies[i % 2]));
		forget(&h);
	}
	close(f.fd);
}

static void what_is_no_good_record_is_said(void **state)
{
	(void)state;
	struct file f;
	struct heard h;
	struct ing_error err;
	open_file(&f);
	const struct {
		uint64_t offset, csize;
		int want;
		const char *words;
	} cases[] = {
		{f.ends[1], 0, -ING_FAIL_INVALID, "WARC-Payload-Digest"},
		{f.ends[2], 0, -ING_FAIL_INVALID, "no WARC record"},
		{f.ends[3], 0, -ING_FAIL_INVALID, "the file ends there"},
		{f.ends[3] + 1000, 5, -ING_FAIL_INVALID, "the file ends there"},
		{1, 0, -ING_FAIL_INVALID, "gzip"},
		{0, f.ends[0] - 1, -ING_FAIL_INVALID, "cut off"},
		{0, 10, -ING_FAIL_INVALID, "cut off"},
		{0, f.ends[0] + 1, -ING_FAIL_INVALID, "another length"},
		{0, f.ends[1], -ING_FAIL_INVALID, "another length"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		assert_int_equal(
			read_at(&f, cases[i].offset, cases[i].csize, &h, &err), cases[i].want);
		if (strstr(err.msg, cases[i].words) == NULL)
			fail_msg("%zu: %s", i, err.msg);
		forget(&h);
	}
	close(f.fd);
	assert_int_equal(read_at(&f, 0, 0, &h, &err), -ING_FAIL_SYSTEM);
	forget(&h);
}

static void damage_in_the_middle_is_found(void **state)
{
	(void)state;
	struct file f;
	struct heard h;
	struct ing_error err;
	unsigned found = 0;
	open_file(&f);
	for (uint64_t at = 10; at < f.ends[0]; at++) {
		char was;
		assert_int_equal(pread(f.fd, &was, 1, (off_t)at), 1);
		char other = (char)(was ^ 0x20);
		assert_int_equal(pwrite(f.fd, &other, 1, (off_t)at), 1);
		/* Padding behind the last bit of the data says nothing. */
		int rc = read_at(&f, 0, f.ends[0], &h, &err);
		if (rc == 0)
			assert_string_equal(ing_buf_str(&h.payload), "the first body");
		else
			assert_int_equal(rc, -ING_FAIL_INVALID);
		found += rc != 0;
		forget(&h);
		assert_int_equal(pwrite(f.fd, &was, 1, (off_t)at), 1);
	}
	assert_in_range(found, f.ends[0] - 12, f.ends[0] - 10);
	assert_int_equal(read_at(&f, 0, f.ends[0], &h, &err), 0);
	forget(&h);
	close(f.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_record_is_handed_over),
		cmocka_unit_test(what_is_no_good_record_is_said),
		cmocka_unit_test(damage_in_the_middle_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
