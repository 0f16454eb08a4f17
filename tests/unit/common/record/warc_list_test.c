/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of several records, compressed and not, whole and damaged, in pieces of every length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/record/warc_list.h"
#include "stream.h"

#define MAX_BYTES ((size_t)8 << 20)

static void add_span(struct ing_buf *b, struct ing_warc_span s)
{
	if (s.text == NULL)
		s = (struct ing_warc_span){"-", 1};
	ing_buf_add(b, s.text, s.bytes);
	ing_buf_add_char(b, ' ');
}

static void note_record(void *ctx, const struct ing_warc_item *item)
{
	struct ing_buf *b = ctx;
	ing_buf_printf(b, "%d ", (int)item->number);
	add_span(b, item->type);
	add_span(b, item->url);
	ing_buf_printf(b, "%d %s\n", item->status, item->mime);
}

static void note_damage(void *ctx, uint64_t number, uint64_t offset, const char *what)
{
	(void)offset;
	assert_true(what[0] != '\0');
	ing_buf_printf(ctx, "%d damage\n", (int)number);
}

static const struct ing_warc_list_user user = {note_record, note_damage};

static char *list_pieces(const struct ing_buf *file, size_t step)
{
	struct ing_buf got;
	ing_buf_init(&got, 100000);
	struct ing_warc_list *l = ing_warc_list_new(&user, &got);
	for (size_t at = 0; at < file->len; at += step) {
		size_t n = ING_MIN(step, file->len - at);
		char *piece = malloc(n);
		assert_non_null(piece);
		memcpy(piece, file->data + at, n);
		ing_warc_list_add(l, piece, n);
		free(piece);
	}
	ing_warc_list_end(l);
	ing_warc_list_free(l);
	return ing_buf_steal(&got);
}

static void check(const char *name, const struct ing_buf *file, size_t least_step, const char *want)
{
	for (size_t step = least_step; step < file->len + 2; step += step < 40 ? 1 : step) {
		char *got = list_pieces(file, step);
		if (strcmp(got, want) != 0)
			print_message("%s, in steps of %zu\n", name, step);
		assert_string_equal(got, want);
		free(got);
	}
}

/* Appends a record as a gzip member, or as it is. */
static void add(struct ing_buf *b, bool gzip, const char *fields, const char *block, long length)
{
	struct ing_buf r;
	ing_buf_init(&r, MAX_BYTES);
	ing_buf_printf(&r,
		"WARC/1.0\r\nWARC-Record-ID: <urn:uuid:aaaaaaaa-0000-4000-8000-000000000000>\r\n"
		"WARC-Date: 2020-01-02T03:04:05Z\r\n%sContent-Length: %ld\r\n\r\n%s\r\n\r\n",
		fields, length >= 0 ? length : (long)strlen(block), block);
	if (gzip)
		stream_add_member(b, r.data, r.len);
	else
		ing_buf_add(b, r.data, r.len);
	ing_buf_done(&r);
}

#define INFO "WARC-Type: warcinfo\r\n"
#define RESPONSE(url)                                                                              \
	"WARC-Type: response\r\nContent-Type: application/http; msgtype=response\r\n"              \
	"WARC-Target-URI: " url "\r\n"
#define REQUEST                                                                                    \
	"WARC-Type: request\r\nContent-Type: application/http\r\nWARC-Target-URI: http://a/\r\n"
#define PDF "HTTP/1.1 200 OK\r\ncontent-type: Application/PDF; x=y\r\n\r\nWARC/1.0 %PDF"
#define MOVED "HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"

static void build(struct ing_buf *b, bool gzip)
{
	ing_buf_init(b, MAX_BYTES);
	add(b, gzip, INFO, "software: x\r\n", -1);
	add(b, gzip, REQUEST, "GET / HTTP/1.1\r\n\r\n", -1);
	add(b, gzip, RESPONSE("http://a.example/1"), PDF, -1);
	add(b, gzip, RESPONSE("<http://a.example/2>"), MOVED, -1);
	add(b, gzip,
		"WARC-Type: revisit\r\nContent-Type: application/http\r\nWARC-Target-URI: http://a/3\r\n",
		PDF, -1);
	add(b, gzip,
		"WARC-Type: resource\r\nContent-Type: text/xml\r\nWARC-Target-URI: ftp://a/4\r\n",
		"<x/>", -1);
	add(b, gzip, RESPONSE("http://a.example/5"), "no HTTP", -1);
	add(b, gzip, RESPONSE("http://a.example/6"), "", -1);
}

static const char whole[] =
	"1 warcinfo - 0 \n2 request http://a/ 0 \n"
	"3 response http://a.example/1 200 application/pdf\n"
	"4 response http://a.example/2 302 unk\n"
	"5 revisit http://a/3 200 application/pdf\n6 resource ftp://a/4 0 text/xml\n"
	"7 response http://a.example/5 0 \n8 response http://a.example/6 0 \n";

static void records_are_listed_with_status_and_type(void **state)
{
	(void)state;
	for (int gzip = 0; gzip < 2; gzip++) {
		struct ing_buf file;
		build(&file, gzip == 1);
		check(gzip ? "gzip" : "plain", &file, 1, whole);
		ing_buf_done(&file);
	}
}

static void blank_lines_between_plain_records_do_not_matter(void **state)
{
	(void)state;
	struct ing_buf file;
	ing_buf_init(&file, MAX_BYTES);
	add(&file, false, INFO, "a", -1);
	ing_buf_add_str(&file, "\r\n\r\n\n");
	add(&file, false, INFO, "b", -1);
	ing_buf_add_str(&file, "\r\n");
	check("blank lines", &file, 1, "1 warcinfo - 0 \n2 warcinfo - 0 \n");
	ing_buf_done(&file);
}

/* The record in the middle is not whole; those around it are listed. */
static void damage_is_skipped(void **state)
{
	(void)state;
	static const char want[] = "1 response http://a/1 0 \n2 damage\n2 response http://a/2 0 \n";
	for (int gzip = 0; gzip < 2; gzip++) {
		for (int how = 0; how < 5; how++) {
			struct ing_buf file, bad;
			ing_buf_init(&file, MAX_BYTES);
			ing_buf_init(&bad, MAX_BYTES);
			add(&file, gzip, RESPONSE("http://a/1"), "", -1);
			add(&bad, gzip, INFO, "the block of a record", how == 0 ? 3 : -1);
			if (how == 1)
				bad.len -= 9;
			else if (how == 2 || how == 3)
				memset(bad.data + (how == 2 ? 0 : bad.len / 2), 'x', 4);
			if (how < 4 && !(how == 3 && !gzip))
				ing_buf_add(&file, bad.data, bad.len);
			else
				ing_buf_add_str(&file, "noise between the records\n");
			add(&file, gzip, RESPONSE("http://a/2"), "", -1);
			print_message("%s, damage %d\n", gzip ? "gzip" : "plain", how);
			check("damage", &file, 1, want);
			ing_buf_done(&file);
			ing_buf_done(&bad);
		}
	}
}

static void lengths_that_are_lies_end_at_the_end(void **state)
{
	(void)state;
	struct ing_buf file;
	ing_buf_init(&file, MAX_BYTES);
	add(&file, false, INFO, "a", -1);
	add(&file, false, INFO, "b", 9223372036854775807L);
	check("plain", &file, 1, "1 warcinfo - 0 \n2 damage\n");
	ing_buf_done(&file);
	ing_buf_init(&file, MAX_BYTES);
	add(&file, true, INFO, "a", 9223372036854775807L);
	add(&file, true, INFO, "b", -1);
	check("gzip", &file, 1, "1 damage\n1 warcinfo - 0 \n");
	ing_buf_done(&file);
}

static void other_files_are_one_damage(void **state)
{
	(void)state;
	static const char *const files[] = {
		"x", "http://a.example/\n", "\x1f\x8b\x08 no gzip", "WARC/0.18\r\n\r\n", "\x1f"};
	for (size_t i = 0; i < ING_ARRAY_LEN(files); i++) {
		struct ing_buf file;
		ing_buf_init(&file, MAX_BYTES);
		ing_buf_add_str(&file, files[i]);
		check(files[i], &file, 1, "1 damage\n");
		ing_buf_done(&file);
	}
	const struct ing_buf nothing = {0};
	check("nothing", &nothing, 1, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_listed_with_status_and_type),
		cmocka_unit_test(blank_lines_between_plain_records_do_not_matter),
		cmocka_unit_test(damage_is_skipped),
		cmocka_unit_test(lengths_that_are_lies_end_at_the_end),
		cmocka_unit_test(other_files_are_one_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
