/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Content in every format, whole, in several members, cut and damaged. The libraries pack it here;
 * descriptors are anonymous files and pipes.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <bzlib.h>
#include <lzma.h>
#include <zstd.h>

#include "common/base/buf.h"
#include "common/base/io.h"
#include "common/data/compress.h"
#include "common/data/unpack.h"

#define MAX_BYTES ((size_t)64 << 20)
#define TEXT_BYTES 300000

static const char *const formats[] = {"plain", "gzip", "zstd", "xz", "bzip2"};

static int to_buf(void *ctx, const void *data, size_t bytes)
{
	return ing_buf_add(ctx, data, bytes) ? 0 : -ING_FAIL_TOO_BIG;
}

static void pack_gzip(const char *data, size_t bytes, struct ing_buf *to)
{
	struct ing_gzip *z = ing_gzip_new(to_buf, to);
	assert_int_equal(ing_gzip_add(z, data, bytes), 0);
	assert_int_equal(ing_gzip_end(z), 0);
	ing_gzip_free(z);
}

/* Appends one member, frame or stream. */
static void pack(const char *format, const char *data, size_t bytes, struct ing_buf *to)
{
	size_t room = bytes + bytes / 8 + 4096;
	if (strcmp(format, "plain") == 0) {
		assert_true(ing_buf_add(to, data, bytes));
		return;
	}
	if (strcmp(format, "gzip") == 0) {
		pack_gzip(data, bytes, to);
		return;
	}
	char *out = ing_buf_reserve(to, room);
	assert_non_null(out);
	size_t got = 0;
	if (strcmp(format, "zstd") == 0) {
		ZSTD_CCtx *z = ZSTD_createCCtx();
		ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
		got = ZSTD_compress2(z, out, room, data, bytes);
		assert_false(ZSTD_isError(got));
		ZSTD_freeCCtx(z);
	} else if (strcmp(format, "xz") == 0) {
		assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL,
					 (const uint8_t *)data, bytes, (uint8_t *)out, &got, room),
			LZMA_OK);
	} else {
		unsigned n = (unsigned)room;
		char *from = malloc(bytes + 1);
		assert_non_null(from);
		memcpy(from, data, bytes);
		assert_int_equal(
			BZ2_bzBuffToBuffCompress(out, &n, from, (unsigned)bytes, 1, 0, 0), BZ_OK);
		free(from);
		got = n;
	}
	ing_buf_commit(to, got);
}

static char *make_text(void)
{
	char *text = malloc(TEXT_BYTES);
	assert_non_null(text);
	uint32_t x = 2463534242u;
	for (size_t i = 0; i < TEXT_BYTES; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		text[i] = i % 61 == 60 ? '\n' : (char)('a' + x % 20);
	}
	return text;
}

static int open_bytes(const struct ing_buf *b)
{
	int fd = memfd_create("unpack", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(ing_write_all(fd, ing_buf_str(b), b->len), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Reads all, `room` at a time. Returns the last value of ing_unpack_read(). */
static ssize_t read_content(
	int fd, size_t room, struct ing_buf *ret, struct ing_error *err, const char *want_format)
{
	struct ing_unpack *u = ing_unpack_new(fd);
	ssize_t n;
	for (;;) {
		void *to = ing_buf_reserve(ret, room);
		assert_non_null(to);
		n = ing_unpack_read(u, to, room, err);
		ing_buf_commit(ret, n > 0 ? (size_t)n : 0);
		if (n <= 0)
			break;
		assert_true((size_t)n <= room);
		assert_int_equal(ing_unpack_content_bytes(u), ret->len);
	}
	char more[1];
	struct ing_error again = {0};
	assert_int_equal(ing_unpack_read(u, more, 1, &again), n);
	assert_string_equal(again.msg, err->msg);
	if (want_format != NULL)
		assert_string_equal(ing_unpack_format(u), want_format);
	ing_unpack_free(u);
	return n;
}

static ssize_t unpack(const struct ing_buf *file, size_t room, struct ing_buf *ret,
	struct ing_error *err, const char *want_format)
{
	int fd = open_bytes(file);
	ing_buf_init(ret, MAX_BYTES);
	*err = (struct ing_error){0};
	ssize_t n = read_content(fd, room, ret, err, want_format);
	close(fd);
	return n;
}

/* Three members, one of them empty, with rooms of all sizes. */
static void content_comes_back_from_every_format(void **state)
{
	(void)state;
	static const size_t rooms[] = {1, 7, 4096, 1 << 20};
	char *text = make_text();
	for (size_t i = 0; i < ING_ARRAY_LEN(formats) * ING_ARRAY_LEN(rooms); i++) {
		const char *format = formats[i % ING_ARRAY_LEN(formats)];
		size_t room = rooms[i / ING_ARRAY_LEN(formats)];
		size_t cut = room == 1 ? 3000 : TEXT_BYTES;
		struct ing_buf file, got;
		struct ing_error err;
		ing_buf_init(&file, MAX_BYTES);
		pack(format, text, cut / 3, &file);
		pack(format, text, 0, &file);
		pack(format, text + cut / 3, cut - cut / 3, &file);
		assert_int_equal(unpack(&file, room, &got, &err, format), 0);
		assert_int_equal(got.len, cut);
		assert_memory_equal(got.data, text, cut);
		ing_buf_done(&got);
		ing_buf_done(&file);
	}
	free(text);
}

static void an_empty_file_is_empty_in_every_format(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(formats); i++) {
		struct ing_buf file, got;
		struct ing_error err;
		ing_buf_init(&file, MAX_BYTES);
		pack(formats[i], "", 0, &file);
		assert_int_equal(unpack(&file, 100, &got, &err, formats[i]), 0);
		assert_int_equal(got.len, 0);
		ing_buf_done(&got);
		ing_buf_done(&file);
	}
}

/* A file cut at any place has all content of which the decoder had the bytes, and says that it
 * ends early; what is cut within a magic is plain bytes. */
static void a_cut_file_is_an_error_behind_its_content(void **state)
{
	(void)state;
	static const char text[] = "http://a.example/1\nhttp://a.example/2\nhttp://a.example/3\n";
	for (size_t i = 1; i < ING_ARRAY_LEN(formats); i++) {
		struct ing_buf file, got;
		struct ing_error err;
		ing_buf_init(&file, MAX_BYTES);
		pack(formats[i], text, sizeof(text) - 1, &file);
		size_t first = file.len;
		pack(formats[i], text, sizeof(text) - 1, &file);
		for (size_t cut = 11; cut < file.len; cut++) {
			if (cut == first)
				continue;
			struct ing_buf part = {.data = file.data, .len = cut};
			ssize_t n = unpack(&part, 4096, &got, &err, formats[i]);
			/* Within the second magic it is not known what it would have been. */
			bool magic = cut > first && cut < first + 10;
			assert_true(n == -ING_FAIL_TRUNCATED || (magic && n == -ING_FAIL_SYNTAX));
			assert_non_null(strstr(err.msg, "byte "));
			assert_true(cut < first || got.len >= sizeof(text) - 1);
			assert_memory_equal(
				ing_buf_str(&got), text, ING_MIN(got.len, sizeof(text) - 1));
			ing_buf_done(&got);
		}
		ing_buf_done(&file);
	}
}

/* Every byte in the middle of the second member changed: never more than what was packed, what was
 * in the first member is whole. */
static void damage_is_an_error_behind_what_came_before(void **state)
{
	(void)state;
	char *text = make_text();
	for (size_t i = 1; i < ING_ARRAY_LEN(formats); i++) {
		struct ing_buf file, got;
		struct ing_error err;
		ing_buf_init(&file, MAX_BYTES);
		pack(formats[i], text, 1000, &file);
		size_t first = file.len;
		pack(formats[i], text, 2000, &file);
		for (size_t at = first + 60; at + 10 < file.len; at += 13) {
			file.data[at] ^= 0x55;
			ssize_t n = unpack(&file, 512, &got, &err, formats[i]);
			assert_true(n == -ING_FAIL_SYNTAX || n == -ING_FAIL_TRUNCATED);
			assert_non_null(strstr(err.msg, "byte "));
			assert_non_null(strstr(err.msg, formats[i]));
			assert_true(got.len >= 1000);
			assert_memory_equal(got.data, text, 1000);
			ing_buf_done(&got);
			file.data[at] ^= 0x55;
		}
		ing_buf_done(&file);
	}
	free(text);
}

/* clang-format off */
static const struct {
	const char *name;
	const char *file;
	size_t bytes;
	const char *want;
	int want_fail;
	const char *words;
} odd[] = {
	{"a single byte of a magic", "\x1f", 1, "\x1f", 0, NULL},
	{"half a magic", "\xfd" "7zX", 4, "\xfd" "7zX", 0, NULL},
	{"text that begins as bzip2 does", "BZh9 is a name", 14, "BZh9 is a name", 0, NULL},
	{"gzip of another method", "\x1f\x8b\x07", 3, "\x1f\x8b\x07", 0, NULL},
	{"a ZIP archive", "PK\3\4", 4, "", ING_FAIL_UNSUPPORTED, "ZIP archive"},
	{"zstd: only a skippable frame", "\x53\x2a\x4d\x18\x02\0\0\0ab", 10, "", 0, NULL},
	{"zstd: a skippable frame cut", "\x50\x2a\x4d\x18\x09\0\0\0ab", 10, "",
		ING_FAIL_TRUNCATED, "ends early"},
	{"zstd: a window of 2 GiB", "\x28\xb5\x2f\xfd\x00\xa8\x01\0\0", 9, "", ING_FAIL_TOO_BIG,
		"--long=31"},
	{"zstd: a dictionary", "\x28\xb5\x2f\xfd\x01\x58\x2a\x01\0\0", 10, "", ING_FAIL_UNSUPPORTED,
		"dictionary"},
	{"bzip2 of nothing", "BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0", 14, "", 0, NULL},
};
/* clang-format on */

static void odd_files_are_what_they_are(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(odd); i++) {
		struct ing_buf file, got;
		struct ing_error err;
		ing_buf_init(&file, MAX_BYTES);
		ing_buf_add(&file, odd[i].file, odd[i].bytes);
		print_message("%s\n", odd[i].name);
		assert_int_equal(unpack(&file, 100, &got, &err, NULL), -odd[i].want_fail);
		assert_string_equal(ing_buf_str(&got), odd[i].want);
		if (odd[i].words != NULL)
			assert_non_null(strstr(err.msg, odd[i].words));
		ing_buf_done(&got);
		ing_buf_done(&file);
	}
}

static void zeros_behind_are_padding_and_anything_else_is_an_error(void **state)
{
	(void)state;
	static const char text[] = "a line\n";
	for (size_t i = 1; i < ING_ARRAY_LEN(formats); i++) {
		struct ing_buf file, got;
		struct ing_error err;
		ing_buf_init(&file, MAX_BYTES);
		pack(formats[i], text, sizeof(text) - 1, &file);
		static const char zeros[512 << 10];
		ing_buf_add(&file, zeros, sizeof(zeros));
		assert_int_equal(unpack(&file, 100, &got, &err, formats[i]), 0);
		assert_string_equal(ing_buf_str(&got), text);
		ing_buf_done(&got);
		/* Even another member behind padding is read. */
		pack(formats[i], text, sizeof(text) - 1, &file);
		assert_int_equal(unpack(&file, 100, &got, &err, formats[i]), 0);
		assert_int_equal(got.len, 2 * (sizeof(text) - 1));
		ing_buf_done(&got);
		ing_buf_add_str(&file, "garbage");
		assert_int_equal(unpack(&file, 100, &got, &err, formats[i]), -ING_FAIL_SYNTAX);
		assert_int_equal(got.len, 2 * (sizeof(text) - 1));
		assert_non_null(strstr(err.msg, "something else behind"));
		ing_buf_done(&got);
		ing_buf_done(&file);
	}
}

static void what_is_packed_twice_is_refused(void **state)
{
	(void)state;
	for (size_t i = 1; i < ING_ARRAY_LEN(formats); i++) {
		for (size_t k = 1; k < ING_ARRAY_LEN(formats); k++) {
			struct ing_buf inner, outer, got;
			struct ing_error err;
			ing_buf_init(&inner, MAX_BYTES);
			ing_buf_init(&outer, MAX_BYTES);
			pack(formats[k], "text", 4, &inner);
			pack(formats[i], inner.data, inner.len, &outer);
			for (size_t room = 1; room < 20; room += 18) {
				assert_int_equal(unpack(&outer, room, &got, &err, formats[i]),
					-ING_FAIL_UNSUPPORTED);
				assert_true(got.len < 10);
				assert_non_null(strstr(err.msg, formats[k]));
				ing_buf_done(&got);
			}
			ing_buf_done(&inner);
			ing_buf_done(&outer);
		}
	}
}

/* On the file, and below a layer of something else. */
static void gzip_can_be_kept(void **state)
{
	(void)state;
	struct ing_buf inner, outer;
	struct ing_error err = {0};
	ing_buf_init(&inner, MAX_BYTES);
	ing_buf_init(&outer, MAX_BYTES);
	pack("gzip", "text", 4, &inner);
	pack("zstd", inner.data, inner.len, &outer);
	const struct ing_buf *files[] = {&inner, &outer};
	for (size_t i = 0; i < 2; i++) {
		int fd = open_bytes(files[i]);
		struct ing_unpack *u = ing_unpack_new(fd);
		char to[1000];
		ing_unpack_keep_gzip(u);
		assert_int_equal(ing_unpack_read(u, to, sizeof(to), &err), inner.len);
		assert_memory_equal(to, inner.data, inner.len);
		assert_int_equal(ing_unpack_read(u, to, sizeof(to), &err), 0);
		ing_unpack_free(u);
		close(fd);
	}
	ing_buf_done(&inner);
	ing_buf_done(&outer);
}

/* What was written to a pipe so far can be read before more comes. */
static void a_slow_pipe_is_read_as_it_comes(void **state)
{
	(void)state;
	int pipe_fds[2];
	char got[100];
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	/* As somebody else may have set it. */
	assert_int_equal(fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK), 0);
	struct ing_unpack *u = ing_unpack_new(pipe_fds[0]);
	struct ing_error err = {0};
	assert_string_equal(ing_unpack_format(u), "");
	assert_int_equal(ing_write_all(pipe_fds[1], "x", 1), 0);
	assert_int_equal(ing_unpack_read(u, got, sizeof(got), &err), 1);
	assert_string_equal(ing_unpack_format(u), "plain");
	assert_int_equal(ing_write_all(pipe_fds[1], "yz", 2), 0);
	assert_int_equal(ing_unpack_read(u, got, sizeof(got), &err), 2);
	assert_int_equal(ing_unpack_packed_bytes(u), 3);
	close(pipe_fds[1]);
	assert_int_equal(ing_unpack_read(u, got, sizeof(got), &err), 0);
	ing_unpack_free(u);
	close(pipe_fds[0]);
}

static void what_cannot_be_read_is_an_error(void **state)
{
	(void)state;
	int fd = open("/", O_RDONLY | O_CLOEXEC);
	struct ing_buf got;
	struct ing_error err = {0};
	ing_buf_init(&got, MAX_BYTES);
	assert_int_equal(read_content(fd, 10, &got, &err, NULL), -ING_FAIL_SYSTEM);
	assert_non_null(strstr(err.msg, "Is a directory"));
	ing_buf_done(&got);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_comes_back_from_every_format),
		cmocka_unit_test(an_empty_file_is_empty_in_every_format),
		cmocka_unit_test(a_cut_file_is_an_error_behind_its_content),
		cmocka_unit_test(damage_is_an_error_behind_what_came_before),
		cmocka_unit_test(odd_files_are_what_they_are),
		cmocka_unit_test(zeros_behind_are_padding_and_anything_else_is_an_error),
		cmocka_unit_test(what_is_packed_twice_is_refused),
		cmocka_unit_test(gzip_can_be_kept),
		cmocka_unit_test(a_slow_pipe_is_read_as_it_comes),
		cmocka_unit_test(what_cannot_be_read_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
