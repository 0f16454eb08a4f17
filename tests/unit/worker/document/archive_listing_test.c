/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is inside of archives: built here byte by byte, whole, damaged, and made to cost more than
 * they should.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <zlib.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "common/data/sniff.h"
#include "worker/document/archive_listing.h"

#define TEX "\\documentclass{article}\n\\begin{document}\nText.\n\\end{document}\n"
#define PNG "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\10\2\0\0\0"

static char listed[ING_CONTAINS_BYTES];

/* From memory of its own size, so that reading past the end is seen. */
static const char *list(const struct ing_buf *b, const char *mimetype)
{
	void *copy = malloc(b->len + (b->len == 0));
	assert_non_null(copy);
	memcpy(copy, ing_buf_str(b), b->len);
	memset(listed, 'x', sizeof(listed));
	ing_archive_list(copy, b->len, mimetype, listed);
	free(copy);
	assert_non_null(memchr(listed, '\0', sizeof(listed)));
	return listed;
}

static void pad(struct ing_buf *b, size_t bytes)
{
	static const char zeros[512];
	ing_buf_add(b, zeros, bytes);
}

/* type '0': a file; size: what the header claims. */
static void add_header(struct ing_buf *b, const char *name, char type, uint64_t size, bool binary)
{
	unsigned char h[512] = {0};
	snprintf((char *)h, 100, "%s", name);
	memcpy(h + 100, "0000644", 7);
	if (binary) {
		h[124] = 0x80;
		for (int i = 0; i < 8; i++)
			h[135 - i] = (unsigned char)(size >> (8 * i));
	} else {
		snprintf((char *)h + 124, 12, "%011llo", (unsigned long long)size);
	}
	h[156] = (unsigned char)type;
	memcpy(h + 257, "ustar", 6);
	memset(h + 148, ' ', 8);
	unsigned sum = 0;
	for (size_t i = 0; i < sizeof(h); i++)
		sum += h[i];
	snprintf((char *)h + 148, 8, "%06o", sum);
	ing_buf_add(b, h, sizeof(h));
}

static void add_file(struct ing_buf *b, const char *name, char type, const void *data, size_t bytes)
{
	add_header(b, name, type, bytes, false);
	ing_buf_add(b, data, bytes);
	pad(b, (512 - bytes % 512) % 512);
}

#define FILE_OF(b, name, s) add_file(b, name, '0', s, sizeof(s) - 1)

static void compress_into(struct ing_buf *out, const void *data, size_t bytes, int window)
{
	z_stream z = {0};
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
	size_t room = deflateBound(&z, bytes) + 64;
	z.next_in = (Bytef *)(uintptr_t)data;
	z.avail_in = (uInt)bytes;
	z.next_out = ing_buf_reserve(out, room);
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	ing_buf_commit(out, z.total_out);
	deflateEnd(&z);
}

static void gzip_of(const struct ing_buf *in, struct ing_buf *out)
{
	ing_buf_clear(out);
	compress_into(out, ing_buf_str(in), in->len, 15 + 16);
}

static void put(struct ing_buf *b, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		ing_buf_add_char(b, (char)(v >> (8 * i)));
}

struct zip_maker {
	struct ing_buf out, directory;
	unsigned members;
};

/* method 0 or 8; big: with the fields for 64 bits. */
static void add_member(struct zip_maker *z, const char *name, const char *data, size_t bytes,
	unsigned method, bool big)
{
	struct ing_buf body;
	ing_buf_init(&body, 1 << 20);
	if (method == 8)
		compress_into(&body, data, bytes, -15);
	else
		ing_buf_add(&body, data, bytes);
	uint64_t at = z->out.len;
	ing_buf_add(&z->out, "PK\3\4\24\0\0\0", 8);
	put(&z->out, method, 2);
	put(&z->out, 0, 8);
	put(&z->out, body.len, 4);
	put(&z->out, bytes, 4);
	put(&z->out, strlen(name), 2);
	put(&z->out, 0, 2);
	ing_buf_add_str(&z->out, name);
	ing_buf_add(&z->out, ing_buf_str(&body), body.len);
	struct ing_buf *d = &z->directory;
	ing_buf_add(d, "PK\1\2\24\0\24\0\0\0", 10);
	put(d, method, 2);
	put(d, 0, 8);
	put(d, big ? UINT32_MAX : body.len, 4);
	put(d, big ? UINT32_MAX : bytes, 4);
	put(d, strlen(name), 2);
	put(d, big ? 32 : 0, 2);
	put(d, 0, 8);
	put(d, 0, 2);
	put(d, big ? UINT32_MAX : at, 4);
	ing_buf_add_str(d, name);
	if (big) {
		put(d, 7, 2); /* another field first */
		put(d, 0, 2);
		put(d, 1, 2);
		put(d, 24, 2);
		put(d, bytes, 8);
		put(d, body.len, 8);
		put(d, at, 8);
	}
	z->members++;
	ing_buf_done(&body);
}

static void end_zip(struct zip_maker *z, bool big, const char *comment)
{
	struct ing_buf *b = &z->out;
	uint64_t at = b->len, end64;
	ing_buf_add(b, z->directory.data, z->directory.len);
	end64 = b->len;
	if (big) {
		ing_buf_add(b, "PK\6\6", 4);
		put(b, 44, 8);
		put(b, 45, 4);
		put(b, 0, 8);
		put(b, z->members, 8);
		put(b, z->members, 8);
		put(b, z->directory.len, 8);
		put(b, at, 8);
		ing_buf_add(b, "PK\6\7", 4);
		put(b, 0, 4);
		put(b, end64, 8);
		put(b, 1, 4);
	}
	ing_buf_add(b, "PK\5\6\0\0\0\0", 8);
	put(b, z->members & 0xffff, 2);
	put(b, z->members & 0xffff, 2);
	put(b, z->directory.len, 4);
	put(b, big ? UINT32_MAX : at, 4);
	put(b, strlen(comment), 2);
	ing_buf_add_str(b, comment);
}

static void begin_zip(struct zip_maker *z)
{
	*z = (struct zip_maker){0};
	ing_buf_init(&z->out, (size_t)256 << 20);
	ing_buf_init(&z->directory, (size_t)128 << 20);
}

static void done_zip(struct zip_maker *z)
{
	ing_buf_done(&z->out);
	ing_buf_done(&z->directory);
}

/* --- tests --- */

static struct ing_buf tar, gz;

static int make_bufs(void **state)
{
	(void)state;
	ing_buf_init(&tar, (size_t)512 << 20);
	ing_buf_init(&gz, (size_t)512 << 20);
	return 0;
}

static int free_bufs(void **state)
{
	(void)state;
	ing_buf_done(&tar);
	ing_buf_done(&gz);
	ing_sniff_done();
	return 0;
}

static void a_compressed_tar_holds_tex(void **state)
{
	(void)state;
	ing_buf_clear(&tar);
	add_header(&tar, "figures/", '5', 0, false);
	FILE_OF(&tar, "figures/a.png", PNG);
	FILE_OF(&tar, "00README", "a line\n");
	FILE_OF(&tar, "main.tex", TEX);
	FILE_OF(&tar, "main.bbl", "\\bibitem{a} A.");
	FILE_OF(&tar, "refs.bib", "@article{a, title={b}}\n");
	add_header(&tar, "link.pdf", '2', 0, false);
	pad(&tar, 512);
	pad(&tar, 512);
	assert_string_equal(
		list(&tar, "application/x-tar"), "text/x-tex,text/x-bibtex,text/plain,image/png");
	gzip_of(&tar, &gz);
	assert_string_equal(list(&gz, "application/gzip"),
		"text/x-tex,text/x-bibtex,text/plain,image/png,application/x-tar");
	/* Not asked of it. */
	assert_string_equal(list(&gz, "application/pdf"), "");
	assert_false(ing_archive_is_listed("application/pdf"));
	/* Any length of it tells something or nothing, and harms nobody. */
	for (size_t n = 0; n < gz.len; n += 7) {
		struct ing_buf cut = {.data = gz.data, .len = n};
		list(&cut, "application/gzip");
	}
	for (size_t n = 0; n < tar.len; n += 101) {
		struct ing_buf cut = {.data = tar.data, .len = n};
		list(&cut, "application/x-tar");
	}
}

static void names_of_tars_may_be_long(void **state)
{
	char name[600];
	(void)state;
	memset(name, 'd', sizeof(name));
	memcpy(name + sizeof(name) - 5, ".bib", 5);
	ing_buf_clear(&tar);
	add_file(&tar, "././@LongLink", 'L', name, strlen(name) + 1);
	FILE_OF(&tar, "ddd", "words\n");
	FILE_OF(&tar, "eee", "words\n");
	assert_string_equal(list(&tar, "application/x-tar"), "text/x-bibtex,text/plain");
	static const char pax[] = "20 atime=1234567890\n16 path=a/b.bib\n";
	ing_buf_clear(&tar);
	add_file(&tar, "PaxHeader/b", 'x', pax, sizeof(pax) - 1);
	FILE_OF(&tar, "b", "words\n");
	assert_string_equal(list(&tar, "application/x-tar"), "text/x-bibtex");
}

static void sizes_of_tars_may_be_lies(void **state)
{
	(void)state;
	ing_buf_clear(&tar);
	add_header(&tar, "a.tex", '0', sizeof(TEX) - 1, true);
	ing_buf_add(&tar, TEX, sizeof(TEX) - 1);
	pad(&tar, 512 - (sizeof(TEX) - 1) % 512);
	add_header(&tar, "b.png", '0', UINT64_MAX / 4, true);
	ing_buf_add(&tar, PNG, sizeof(PNG) - 1);
	assert_string_equal(list(&tar, "application/x-tar"), "text/x-tex,image/png");
	ing_buf_clear(&tar);
	add_header(&tar, "a.tex", '0', UINT64_MAX, true);
	ing_buf_add(&tar, TEX, sizeof(TEX) - 1);
	assert_string_equal(list(&tar, "application/x-tar"), "");
}

static void a_file_may_be_compressed_alone(void **state)
{
	static const struct {
		const char *data;
		size_t bytes;
		const char *want;
	} cases[] = {
		{TEX, sizeof(TEX) - 1, "text/x-tex"},
		{"%PDF-1.4\n", 9, "application/pdf"},
		{"", 0, ""},
		{"\x1f\x8b\x08\0\0\0\0\0\0\3", 10, "application/gzip"},
	};
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		ing_buf_clear(&gz);
		compress_into(&gz, cases[i].data, cases[i].bytes, 15 + 16);
		assert_string_equal(list(&gz, "application/gzip"), cases[i].want);
	}
	/* Its name says that it is a bibliography. */
	ing_buf_clear(&tar);
	ing_buf_add(&tar, "\x1f\x8b\x08\x0c\0\0\0\0\0\3\2\0xyrefs.bib\0", 10 + 4 + 9);
	compress_into(&tar, "words\n", 6, -15);
	assert_string_equal(list(&tar, "application/gzip"), "text/x-bibtex");
}

static void a_zip_is_read_by_its_directory(void **state)
{
	(void)state;
	for (int big = 0; big <= 1; big++) {
		struct zip_maker z;
		begin_zip(&z);
		add_member(&z, "dir/", "", 0, 0, big);
		add_member(&z, "a.tex", TEX, sizeof(TEX) - 1, 8, big);
		add_member(&z, "b.png", PNG, sizeof(PNG) - 1, 0, big);
		add_member(&z, "c.pdf", "%PDF-1.4\n", 9, 14, big);
		end_zip(&z, big, "a comment PK\5\6 of somebody's");
		assert_string_equal(list(&z.out, "application/zip"), "text/x-tex,image/png");
		for (size_t n = 0; n < z.out.len; n++) {
			struct ing_buf part = {.data = z.out.data + n, .len = z.out.len - n};
			list(&part, "application/zip");
			part = (struct ing_buf){.data = z.out.data, .len = n};
			list(&part, "application/zip");
		}
		done_zip(&z);
	}
}

static void bombs_end_early(void **state)
{
	(void)state;
	/* 160 MB of zeros: no tar, so that the front is enough. */
	ing_buf_clear(&tar);
	ing_buf_reserve(&tar, (size_t)160 << 20);
	memset(tar.data, 0, (size_t)160 << 20);
	ing_buf_commit(&tar, (size_t)160 << 20);
	gzip_of(&tar, &gz);
	assert_string_equal(list(&gz, "application/gzip"), "application/octet-stream");
	/* The same as a member of a tar, before what nobody will see. */
	ing_buf_clear(&tar);
	add_header(&tar, "zeros", '0', (uint64_t)160 << 20, false);
	ing_buf_reserve(&tar, (size_t)160 << 20);
	memset(tar.data + tar.len, 0, (size_t)160 << 20);
	ing_buf_commit(&tar, (size_t)160 << 20);
	FILE_OF(&tar, "a.tex", TEX);
	gzip_of(&tar, &gz);
	assert_string_equal(
		list(&gz, "application/gzip"), "application/octet-stream,application/x-tar");
}

static void names_without_number(void **state)
{
	(void)state;
	struct zip_maker z;
	begin_zip(&z);
	for (int i = 0; i < 200000; i++) {
		char name[16];
		snprintf(name, sizeof(name), "%d.%d", i, i);
		add_member(&z, name, "", 0, 0, false);
	}
	add_member(&z, "last.tex", TEX, sizeof(TEX) - 1, 8, false);
	end_zip(&z, false, "");
	assert_string_equal(list(&z.out, "application/zip"), "");
	done_zip(&z);
	/* Many alike do not hide another. */
	ing_buf_clear(&tar);
	for (int i = 0; i < 5000; i++)
		FILE_OF(&tar, "figure.png", PNG);
	FILE_OF(&tar, "main.tex", TEX);
	assert_string_equal(list(&tar, "application/x-tar"), "text/x-tex,image/png");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compressed_tar_holds_tex),
		cmocka_unit_test(names_of_tars_may_be_long),
		cmocka_unit_test(sizes_of_tars_may_be_lies),
		cmocka_unit_test(a_file_may_be_compressed_alone),
		cmocka_unit_test(a_zip_is_read_by_its_directory),
		cmocka_unit_test(bombs_end_early),
		cmocka_unit_test(names_without_number),
	};
	return cmocka_run_group_tests(tests, make_bufs, free_bufs);
}
