/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whole files, files cut at every byte, and every way in which a member can fail to be a record.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/error.h"
#include "common/record/warc.h"
#include "common/record/warc_scan.h"
#include "stream.h"

#define MAX_BYTES ((size_t)8 << 20)
#define INFO "<urn:uuid:aaaaaaaa-0000-4000-8000-000000000000>"

struct seen {
	unsigned count;
	uint64_t ends[8];
	char types[8][16];
};

static void note_record(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes)
{
	struct seen *seen = ctx;
	const char *value;
	size_t bytes;
	assert_true(seen->count < 8);
	assert_int_equal(offset, seen->count == 0 ? 0 : seen->ends[seen->count - 1]);
	assert_true(ing_warc_field(head, head_bytes, "WARC-Type", &value, &bytes));
	assert_true(bytes < 16);
	memcpy(seen->types[seen->count], value, bytes);
	seen->types[seen->count][bytes] = '\0';
	seen->ends[seen->count++] = offset + csize;
}

static struct ing_warc_scan_state scan(const struct ing_buf *b, size_t step, struct seen *seen)
{
	*seen = (struct seen){0};
	struct ing_warc_scan *s = ing_warc_scan_new(note_record, seen);
	for (size_t at = 0; at < b->len; at += step) {
		if (!ing_warc_scan_add(s, b->data + at, ING_MIN(step, b->len - at)))
			break;
	}
	struct ing_warc_scan_state state = ing_warc_scan_end(s);
	ing_warc_scan_free(s);
	return state;
}

/* Three records, the last with a block that inflates to more than the scanner's buffer. Returns
 * their ends. */
static void build(struct ing_buf *b, uint64_t ends[3])
{
	char *big = calloc(1, 300000);
	assert_non_null(big);
	ing_buf_init(b, MAX_BYTES);
	stream_add_record(b, "warcinfo", INFO, "software: x\r\n", 13);
	ends[0] = b->len;
	stream_add_record(b, "request", INFO, "", 0);
	ends[1] = b->len;
	stream_add_record(b, "response", INFO, big, 300000);
	ends[2] = b->len;
	free(big);
}

static void whole_files_are_whole_in_any_pieces(void **state)
{
	(void)state;
	static const size_t steps[] = {1, 2, 3, 7, 100, 65536, 1 << 20};
	struct ing_buf b;
	uint64_t ends[3];
	build(&b, ends);
	for (size_t i = 0; i < ING_ARRAY_LEN(steps); i++) {
		struct seen seen;
		struct ing_warc_scan_state got = scan(&b, steps[i], &seen);
		assert_null(got.damage);
		assert_int_equal(got.whole, b.len);
		assert_int_equal(got.offered, b.len);
		assert_int_equal(got.records, 3);
		assert_int_equal(seen.count, 3);
		assert_memory_equal(seen.ends, ends, sizeof(ends));
		assert_string_equal(seen.types[0], "warcinfo");
		assert_string_equal(seen.types[1], "request");
		assert_string_equal(seen.types[2], "response");
	}
	ing_buf_done(&b);
}

static void a_cut_anywhere_leaves_the_records_before_it(void **state)
{
	(void)state;
	struct ing_buf b;
	uint64_t ends[3];
	build(&b, ends);
	for (b.len = 0; b.len <= ends[2]; b.len++) {
		unsigned whole = 0;
		while (whole < 3 && ends[whole] <= b.len)
			whole++;
		uint64_t want = whole == 0 ? 0 : ends[whole - 1];
		struct seen seen;
		struct ing_warc_scan_state got = scan(&b, 4096, &seen);
		assert_int_equal(got.records, whole);
		assert_int_equal(got.whole, want);
		assert_int_equal(got.damage != NULL, b.len != want);
	}
	ing_buf_done(&b);
}

#define HEAD(length)                                                                                 \
	"WARC/1.1\r\nWARC-Type: x\r\nWARC-Record-ID: <y>\r\nWARC-Date: z\r\nContent-Length: " length \
	"\r\n\r\n"

static const struct {
	const char *name;
	const char *member;
	const char *want; /* part of the words */
} members[] = {
	{"not a record", "<html>hello</html>", "no WARC record"},
	{"a member of nothing", "", "shorter than"},
	{"header cut off", "WARC/1.1\r\nWARC-Type: x\r\n", "shorter than"},
	{"header without mandatory fields", "WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
		"malformed"},
	{"block too short", HEAD("10") "abc\r\n\r\n", "shorter than"},
	{"block too long", HEAD("3") "abcd\r\n\r\n", "longer than"},
	{"one line end too few", HEAD("3") "abc\r\n", "shorter than"},
	{"bare line ends", HEAD("3") "abc\n\n", "longer than"},
	{"two records in a member", HEAD("3") "abc\r\n\r\n" HEAD("3") "abc\r\n\r\n",
		"behind the record"},
	{"a length beyond everything", HEAD("9223372036854775807") "abc\r\n\r\n", "shorter than"},
};

static void members_that_are_no_record_are_damage(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(members); i++) {
		struct ing_buf b;
		struct seen seen;
		ing_buf_init(&b, MAX_BYTES);
		stream_add_record(&b, "warcinfo", INFO, "a", 1);
		size_t good = b.len;
		stream_add_member(&b, members[i].member, strlen(members[i].member));
		stream_add_record(&b, "response", INFO, "b", 1);
		struct ing_warc_scan_state got = scan(&b, 1000, &seen);
		if (got.whole != good || got.records != 1 || got.damage == NULL ||
			strstr(got.damage, members[i].want) == NULL)
			fail_msg("%s: %s", members[i].name,
				got.damage != NULL ? got.damage : "no damage");
		ing_buf_done(&b);
	}
}

static void a_header_without_end_is_given_up(void **state)
{
	(void)state;
	struct ing_buf text;
	struct ing_buf b;
	struct seen seen;
	ing_buf_init(&text, MAX_BYTES);
	ing_buf_init(&b, MAX_BYTES);
	ing_buf_add_str(&text, "WARC/1.1\r\n");
	while (text.len < 2 * ING_WARC_MAX_HEAD_BYTES)
		ing_buf_add_str(&text, "X-More: of the same\r\n");
	stream_add_member(&b, text.data, text.len);
	struct ing_warc_scan_state got = scan(&b, b.len, &seen);
	assert_int_equal(got.records, 0);
	assert_non_null(strstr(got.damage, "does not end"));
	ing_buf_done(&text);
	ing_buf_done(&b);
}

static void bytes_that_are_not_gzip_are_damage(void **state)
{
	(void)state;
	struct ing_buf b;
	struct seen seen;
	ing_buf_init(&b, MAX_BYTES);
	ing_buf_add_str(&b, HEAD("3") "abc\r\n\r\n");
	struct ing_warc_scan_state got = scan(&b, 5, &seen);
	assert_int_equal(got.whole, 0);
	assert_non_null(got.damage);
	b.len = 0;
	got = scan(&b, 5, &seen);
	assert_int_equal(got.whole, 0);
	assert_null(got.damage);
	ing_buf_done(&b);
	ing_warc_scan_free(NULL);
}

struct watched {
	unsigned heads;
	uint64_t block_bytes, last_offset;
};

static void note_head(void *ctx, uint64_t offset, const char *head, size_t head_bytes)
{
	struct watched *w = ctx;
	assert_memory_equal(head, "WARC/1.1\r\n", 10);
	assert_memory_equal(head + head_bytes - 4, "\r\n\r\n", 4);
	w->heads++;
	w->last_offset = offset;
}

static void note_block(void *ctx, const void *data, size_t bytes)
{
	struct watched *w = ctx;
	assert_non_null(data);
	w->block_bytes += bytes;
}

static void a_record_is_told_on_its_way_even_if_it_is_cut(void **state)
{
	(void)state;
	struct ing_buf b;
	uint64_t ends[3];
	build(&b, ends);
	struct watched w = {0};
	struct ing_warc_scan *s = ing_warc_scan_new(NULL, &w);
	ing_warc_scan_watch(s, note_head, note_block);
	assert_true(ing_warc_scan_add(s, b.data, b.len - 1));
	struct ing_warc_scan_state end = ing_warc_scan_end(s);
	assert_string_equal(end.damage, "the record is cut off");
	assert_int_equal(end.records, 2);
	assert_int_equal(w.heads, 3);
	assert_int_equal(w.last_offset, ends[1]);
	assert_int_equal(w.block_bytes, 13 + 0 + 300000);
	ing_warc_scan_free(s);
	ing_buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_told_on_its_way_even_if_it_is_cut),
		cmocka_unit_test(whole_files_are_whole_in_any_pieces),
		cmocka_unit_test(a_cut_anywhere_leaves_the_records_before_it),
		cmocka_unit_test(members_that_are_no_record_are_damage),
		cmocka_unit_test(a_header_without_end_is_given_up),
		cmocka_unit_test(bytes_that_are_not_gzip_are_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
