/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One file: names, record bytes, places, bodies longer than every buffer, cutting back, and names
 * that are taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/base32.h"
#include "common/data/compress.h"
#include "common/data/digest.h"
#include "common/record/warc_file.h"
#include "common/record/warc_recover.h"

#define NAME "T-20260102030405678-00000-h.warc.gz"
#define MAX_BYTES ((size_t)64 << 20)

struct folder {
	char path[64];
	int fd;
	struct ing_warc_file *file;
};

static int setup(void **state)
{
	struct folder *f = ing_alloc(sizeof(*f));
	strncpy(f->path, "/tmp/warc_file_test.XXXXXX", sizeof(f->path) - 1);
	if (mkdtemp(f->path) == NULL)
		return -1;
	f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->file = ing_warc_file_new();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct folder *f = *state;
	ing_warc_file_free(f->file);
	unlinkat(f->fd, NAME, 0);
	unlinkat(f->fd, NAME ".open", 0);
	close(f->fd);
	int rc = rmdir(f->path);
	free(f);
	return rc;
}

static bool is_there(const struct folder *f, const char *name)
{
	return faccessat(f->fd, name, F_OK, 0) == 0;
}

static const struct ing_warc_head response = {
	.type = "response",
	.id = "<urn:uuid:01234567-89ab-4def-8123-456789abcdef>",
	.date = {.tv_sec = 1767322984},
	.target_uri = "http://h/",
	.content_type = "application/http;msgtype=response",
};

/* Inflate the member at a place of the file. */
static void read_record(const struct folder *f, const char *name,
	const struct ing_warc_place *place, struct ing_buf *ret)
{
	int fd = openat(f->fd, name, O_RDONLY | O_CLOEXEC);
	unsigned char *member = malloc(place->csize);
	assert_true(fd >= 0);
	assert_non_null(member);
	assert_int_equal(pread(fd, member, place->csize, (off_t)place->offset), place->csize);
	close(fd);
	struct ing_gunzip *z = ing_gunzip_new();
	const unsigned char *in = member;
	size_t left = place->csize;
	int rc = 0;
	ing_buf_init(ret, MAX_BYTES);
	while (rc == 0) {
		size_t got;
		void *out = ing_buf_reserve(ret, 100000);
		assert_non_null(out);
		rc = ing_gunzip_step(z, &in, &left, out, 100000, &got);
		assert_true(rc == 1 || got > 0);
		ing_buf_commit(ret, got);
	}
	assert_int_equal(rc, 1);
	assert_int_equal(left, 0);
	ing_gunzip_free(z);
	free(member);
}

static int body_fd(const void *data, size_t bytes)
{
	int fd = memfd_create("body", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, bytes, 0), bytes);
	/* the position is meaningless: nobody may rely on it */
	assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
	return fd;
}

static void a_record_byte_for_byte(void **state)
{
	struct folder *f = *state;
	static const char http[] = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n";
	struct ing_error err = {0};
	struct ing_warc_place place;
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	assert_true(is_there(f, NAME ".open"));
	int fd = body_fd("hello", 5);
	const struct ing_warc_block block = {.head = http,
		.head_bytes = sizeof(http) - 1,
		.body_fd = fd,
		.body_bytes = 5,
		.has_payload = true};
	struct ing_warc_head head = response;
	head.truncated = "disconnect";
	assert_int_equal(ing_warc_file_add(f->file, &head, &block, &place, &err), 0);
	close(fd);
	assert_int_equal(place.offset, 0);
	assert_int_equal(place.csize, ing_warc_file_bytes(f->file));
	/* SHA-1 of "hello", base 32 */
	assert_string_equal(place.payload_sha1b32, "VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
	assert_int_equal(ing_warc_file_sync(f->file, &err), 0);
	assert_int_equal(ing_warc_file_finish(f->file, &err), 0);
	assert_false(is_there(f, NAME ".open"));
	struct ing_digests digests;
	char block_digest[33];
	ing_digest(ING_DIGEST_SHA1, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhello", 44,
		&digests);
	ing_base32_encode(digests.sha1, 20, block_digest);
	struct ing_buf want;
	struct ing_buf got;
	ing_buf_init(&want, 4096);
	ing_buf_printf(&want,
		"WARC/1.1\r\nWARC-Type: response\r\n"
		"WARC-Record-ID: <urn:uuid:01234567-89ab-4def-8123-456789abcdef>\r\n"
		"WARC-Date: 2026-01-02T03:03:04.000000Z\r\nWARC-Target-URI: http://h/\r\n"
		"WARC-Truncated: disconnect\r\nWARC-Block-Digest: sha1:%s\r\n"
		"WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
		"Content-Type: application/http;msgtype=response\r\nContent-Length: 44\r\n\r\n"
		"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhello\r\n\r\n",
		block_digest);
	read_record(f, NAME, &place, &got);
	assert_string_equal(ing_buf_str(&got), ing_buf_str(&want));
	ing_buf_done(&want);
	ing_buf_done(&got);
}

/* Around the size of the piece in which bodies are read, and far over it; of noise, so that output
 * buffers overflow too. */
static void bodies_of_every_size_come_back(void **state)
{
	struct folder *f = *state;
	static const size_t sizes[] = {0, 1, 262143, 262144, 262145, 524288, 5000000};
	struct ing_warc_place places[ING_ARRAY_LEN(sizes)];
	struct ing_error err = {0};
	unsigned char *body = malloc(5000000);
	assert_non_null(body);
	uint32_t x = 1;
	for (size_t i = 0; i < 5000000; i++) {
		x = x * 1664525 + 1013904223;
		body[i] = (unsigned char)(x >> 24);
	}
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	for (size_t i = 0; i < ING_ARRAY_LEN(sizes); i++) {
		int fd = body_fd(body, sizes[i]);
		const struct ing_warc_block block = {.head = "H\r\n\r\n",
			.head_bytes = 5,
			.body_fd = sizes[i] > 0 ? fd : -1,
			.body_bytes = sizes[i],
			.has_payload = true};
		assert_int_equal(
			ing_warc_file_add(f->file, &response, &block, &places[i], &err), 0);
		close(fd);
	}
	assert_string_equal(places[0].payload_sha1b32, "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
	for (size_t i = 0; i < ING_ARRAY_LEN(sizes); i++) {
		struct ing_buf got;
		char want[33];
		struct ing_digests digests;
		ing_digest(ING_DIGEST_SHA1, body, sizes[i], &digests);
		ing_base32_encode(digests.sha1, 20, want);
		assert_string_equal(places[i].payload_sha1b32, want);
		read_record(f, NAME ".open", &places[i], &got);
		assert_true(got.len > sizes[i] + 4);
		assert_memory_equal(got.data + got.len - 4, "\r\n\r\n", 4);
		assert_memory_equal(got.data + got.len - 4 - sizes[i], body, sizes[i]);
		ing_buf_done(&got);
	}
	free(body);
}

/* The same body from a file and at hand, with its digests and without: the same record each time. */
static void where_a_body_is_makes_no_difference(void **state)
{
	struct folder *f = *state;
	static const size_t sizes[] = {0, 5, 262144, 600001};
	enum { WAYS = 4 };
	struct ing_error err = {0};
	char *text = malloc(600001);
	assert_non_null(text);
	for (size_t i = 0; i < 600001; i++)
		text[i] = (char)('a' + i * i % 23);
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	for (size_t i = 0; i < ING_ARRAY_LEN(sizes); i++) {
		struct ing_warc_place places[WAYS];
		struct ing_warc_digests digests;
		struct ing_buf whole, got[WAYS];
		int fd = body_fd(text, sizes[i]);
		ing_buf_init(&whole, MAX_BYTES);
		ing_buf_add_str(&whole, "H\r\n\r\n");
		ing_buf_add(&whole, text, sizes[i]);
		ing_digest(ING_DIGEST_SHA1, whole.data, whole.len, &digests.block);
		ing_digest(ING_DIGEST_ALL, text, sizes[i], &digests.payload);
		for (size_t way = 0; way < WAYS; way++) {
			const struct ing_warc_block block = {.head = "H\r\n\r\n",
				.head_bytes = 5,
				.body = way % 2 != 0 ? text : NULL,
				.body_fd = fd,
				.body_bytes = sizes[i],
				.has_payload = true,
				.digests = way / 2 != 0 ? &digests : NULL};
			assert_int_equal(
				ing_warc_file_add(f->file, &response, &block, &places[way], &err),
				0);
			assert_memory_equal(places[way].payload.md5, digests.payload.md5, 16);
			assert_memory_equal(places[way].payload.sha256, digests.payload.sha256, 32);
			assert_int_equal(places[way].payload.bytes, sizes[i]);
			read_record(f, NAME ".open", &places[way], &got[way]);
			assert_string_equal(ing_buf_str(&got[way]), ing_buf_str(&got[0]));
		}
		for (size_t way = 0; way < WAYS; way++)
			ing_buf_done(&got[way]);
		ing_buf_done(&whole);
		close(fd);
	}
	free(text);
}

static void a_record_without_payload_has_a_block_digest_only(void **state)
{
	struct folder *f = *state;
	struct ing_error err = {0};
	struct ing_warc_place place;
	struct ing_buf got;
	const struct ing_warc_block block = {
		.head = "GET / HTTP/1.1\r\n\r\n", .head_bytes = 18, .body_fd = -1};
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	assert_int_equal(ing_warc_file_add(f->file, &response, &block, &place, &err), 0);
	assert_string_equal(place.payload_sha1b32, "");
	read_record(f, NAME ".open", &place, &got);
	assert_non_null(strstr(ing_buf_str(&got), "WARC-Block-Digest: sha1:"));
	assert_null(strstr(ing_buf_str(&got), "WARC-Payload-Digest"));
	ing_buf_done(&got);
}

/* A body shorter than promised: the record is not there, and the next ones are as if it had never
 * been tried. */
static void a_body_that_ends_early_leaves_no_trace(void **state)
{
	struct folder *f = *state;
	struct ing_error err = {0};
	struct ing_warc_place place;
	struct ing_buf big;
	ing_buf_init(&big, MAX_BYTES);
	while (big.len < 1000000)
		ing_buf_add_str(&big, "some text or other ");
	int fd = body_fd(big.data, big.len);
	struct ing_warc_block block = {.head = "H\r\n\r\n",
		.head_bytes = 5,
		.body_fd = fd,
		.body_bytes = big.len + 1,
		.has_payload = true};
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	assert_int_equal(
		ing_warc_file_add(f->file, &response, &block, &place, &err), -ING_FAIL_TRUNCATED);
	assert_int_equal(ing_warc_file_bytes(f->file), 0);
	ing_error_clear(&err);
	block.body_fd = -1;
	assert_int_equal(
		ing_warc_file_add(f->file, &response, &block, &place, &err), -ING_FAIL_TRUNCATED);
	ing_error_clear(&err);
	block.body_fd = fd;
	block.body_bytes = 5;
	assert_int_equal(ing_warc_file_add(f->file, &response, &block, &place, &err), 0);
	struct ing_digests digests;
	char want[33];
	ing_digest(ING_DIGEST_SHA1, "some ", 5, &digests);
	ing_base32_encode(digests.sha1, 20, want);
	assert_string_equal(place.payload_sha1b32, want);
	assert_false(ing_warc_file_is_broken(f->file));
	close(fd);
	ing_buf_done(&big);
}

static void names_that_are_taken_are_left_alone(void **state)
{
	struct folder *f = *state;
	struct ing_error err = {0};
	int fd = openat(f->fd, NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "theirs", 6), 6);
	close(fd);
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), -ING_FAIL_LOCKED);
	assert_false(is_there(f, NAME ".open"));
	unlinkat(f->fd, NAME, 0);
	close(openat(f->fd, NAME ".open", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), -ING_FAIL_LOCKED);
	unlinkat(f->fd, NAME ".open", 0);
	/* taken while the file was being written */
	ing_error_clear(&err);
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	fd = openat(f->fd, NAME, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "theirs", 6), 6);
	close(fd);
	assert_int_equal(ing_warc_file_finish(f->file, &err), -ING_FAIL_LOCKED);
	assert_false(ing_warc_file_is_open(f->file));
	assert_true(is_there(f, NAME ".open"));
	struct stat st;
	assert_int_equal(fstatat(f->fd, NAME, &st, 0), 0);
	assert_int_equal(st.st_size, 6);
}

/* Both names on one file: what a crash leaves where hard links stand in for a rename that does not
 * replace. */
static void a_half_done_publication_is_completed(void **state)
{
	struct folder *f = *state;
	struct ing_error err = {0};
	close(openat(f->fd, NAME ".open", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	assert_int_equal(linkat(f->fd, NAME ".open", f->fd, NAME, 0), 0);
	assert_int_equal(ing_warc_publish(f->fd, NAME, &err), 0);
	assert_true(is_there(f, NAME));
	assert_false(is_there(f, NAME ".open"));
	assert_int_equal(ing_warc_publish(f->fd, NAME, &err), -ING_FAIL_SYSTEM);
}

static void cutting_and_retiring(void **state)
{
	struct folder *f = *state;
	struct ing_error err = {0};
	struct ing_warc_place first;
	struct ing_warc_place second;
	struct ing_warc_place again;
	const struct ing_warc_block block = {
		.head = "H\r\n\r\n", .head_bytes = 5, .body_fd = -1, .has_payload = true};
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	assert_int_equal(ing_warc_file_add(f->file, &response, &block, &first, &err), 0);
	assert_int_equal(ing_warc_file_add(f->file, &response, &block, &second, &err), 0);
	assert_int_equal(ing_warc_file_cut(f->file, second.offset, &err), 0);
	assert_int_equal(ing_warc_file_add(f->file, &response, &block, &again, &err), 0);
	assert_int_equal(again.offset, second.offset);
	assert_int_equal(ing_warc_file_retire(f->file, again.offset, &err), 0);
	assert_false(ing_warc_file_is_open(f->file));
	struct stat st;
	assert_int_equal(fstatat(f->fd, NAME, &st, 0), 0);
	assert_int_equal(st.st_size, first.csize);
	unlinkat(f->fd, NAME, 0);
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	assert_int_equal(ing_warc_file_add(f->file, &response, &block, &first, &err), 0);
	assert_int_equal(ing_warc_file_retire(f->file, 0, &err), 0);
	assert_false(is_there(f, NAME));
	assert_false(is_there(f, NAME ".open"));
	ing_warc_file_free(NULL);
}

static void a_file_being_written_is_locked(void **state)
{
	struct folder *f = *state;
	struct ing_error err = {0};
	assert_int_equal(ing_warc_file_create(f->file, f->fd, NAME, &err), 0);
	int fd = openat(f->fd, NAME ".open", O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	assert_int_equal(errno, EWOULDBLOCK);
	ing_warc_file_discard(f->file);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	close(fd);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_record_byte_for_byte),
		CASE(bodies_of_every_size_come_back),
		CASE(where_a_body_is_makes_no_difference),
		CASE(a_record_without_payload_has_a_block_digest_only),
		CASE(a_body_that_ends_early_leaves_no_trace),
		CASE(names_that_are_taken_are_left_alone),
		CASE(a_half_done_publication_is_completed),
		CASE(cutting_and_retiring),
		CASE(a_file_being_written_is_locked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
