/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Position maps: which offsets come back finished, the text of version 1 byte for byte, texts that are
 * no map, and the bound: a tracker takes messages until it is full, finishes them in any order, and
 * every map on the way fits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/data/base64.h"
#include "common/data/compress.h"
#include "worker/intake/offset_tracker.h"
#include "worker/intake/position_map.h"

#define TIME_MS 1795000000000

/* Every message has a timestamp of its own. */
static int64_t time_of(int64_t offset)
{
	return TIME_MS + offset * 13 % 1000;
}

static void begin(struct ing_offset_tracker *t, int64_t offset)
{
	assert_true(ing_offset_tracker_begin(t, &(struct ing_tracked){offset, time_of(offset), 1}));
}

static char *encode(const struct ing_offset_tracker *t)
{
	struct ing_buf out;
	ing_buf_init(&out, ING_POSITION_MAP_MAX_CHARS);
	ing_position_map_encode(t, &out);
	assert_false(out.failed);
	char *text = ing_strdup(ing_buf_str(&out));
	ing_buf_done(&out);
	return text;
}

static struct ing_position_map *decode(const char *text)
{
	struct ing_position_map *m = NULL;
	struct ing_error err = {0};
	if (ing_position_map_decode(text, strlen(text), &m, &err) != 0)
		fail_msg("%s: %s", text, err.msg);
	return m;
}

/* Messages are given as a text: at each offset from `start` on one of them is unfinished (u), in a
 * commit (c), finished (f), or there is none (.). want: what the map says: 1 finished, 0 not. */
static const struct {
	const char *name;
	int64_t start;
	const char *messages;
	int64_t low_water;
	const char *want; /* "" for no map */
} cases[] = {
	{"no messages", 7, "", 7, ""},
	{"all unfinished", 7, "uuu", 7, ""},
	{"all finished", 7, "fff", 10, ""},
	{"finished below the low water only", 7, "ffuu", 9, ""},
	{"one beyond", 7, "uf", 7, "01"},
	{"what is in a commit counts as finished", 7, "ucuc", 7, "0101"},
	{"… and the low water is beyond it", 7, "cfucu", 9, "010"},
	{"the newest are unfinished", 0, "fufuu", 1, "0100"},
	{"offsets that do not exist count as finished", 0, "u..u.f.u", 0, "01101100"},
	{"a gap before the low water", 3, "f...uf", 7, "01"},
	{"a long run", 1000000000000, "uffffffffffffffffffffffffffffffffffffffffffff",
		1000000000000, "011111111111111111111111111111111111111111111"},
	{"runs", 5, "uuuuuuuufffffffffffffffffuuuuuuuuuuuuuuufffffffffffu", 5,
		"0000000011111111111111111000000000000000111111111110"},
};

static void fill(struct ing_offset_tracker *t, int64_t start, const char *messages)
{
	ing_offset_tracker_init(t, start);
	for (size_t i = 0; messages[i] != '\0'; i++)
		if (messages[i] != '.')
			begin(t, start + (int64_t)i);
	for (size_t i = 0; messages[i] != '\0'; i++) {
		if (messages[i] == 'f')
			assert_true(ing_offset_tracker_finish(t, start + (int64_t)i));
		if (messages[i] == 'c')
			assert_true(ing_offset_tracker_to_commit(t, start + (int64_t)i));
	}
}

static void test_what_is_finished_comes_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		print_message("  %s\n", cases[i].name);
		struct ing_offset_tracker t;
		fill(&t, cases[i].start, cases[i].messages);
		assert_true(ing_offset_tracker_committable(&t) == cases[i].low_water);
		char *text = encode(&t);
		struct ing_position_map *m = decode(text);
		assert_int_equal(text[0] == '\0', cases[i].want[0] == '\0');
		if (text[0] != '\0')
			assert_true(ing_position_map_low_water(m) == cases[i].low_water);
		uint64_t count = 0;
		for (size_t j = 0; cases[i].want[j] != '\0'; j++) {
			int64_t offset = cases[i].low_water + (int64_t)j;
			assert_int_equal(ing_position_map_has(m, offset), cases[i].want[j] == '1');
			count += cases[i].want[j] == '1';
		}
		assert_true(ing_position_map_count(m) == count);
		assert_false(ing_position_map_has(m, cases[i].start + 1000));
		assert_int_equal(ing_position_map_has(m, cases[i].low_water - 1), text[0] != '\0');
		ing_position_map_free(m);
		free(text);
		ing_offset_tracker_done(&t);
	}
}

static void test_an_empty_text_is_an_empty_map(void **state)
{
	(void)state;
	struct ing_position_map *m = decode("");
	assert_false(ing_position_map_has(m, 0));
	assert_int_equal(ing_position_map_count(m), 0);
	assert_true(ing_position_map_timestamp(m, 0) == -1);
	ing_position_map_free(m);
}

/* The texts of version 1: what an earlier program has committed has to be understood for ever. */
static void test_the_text_of_version_1(void **state)
{
	(void)state;
	struct ing_offset_tracker t;
	fill(&t, 1000, "ufufcuuuf.u");
	char *text = encode(&t);
	assert_string_equal(text, "AegHCQUEAZr4suW9aAI0ARoEaACnd9dBrQ==");
	free(text);
	ing_offset_tracker_done(&t);
}

/* The first and the last finished message, and some between them. */
static void test_timestamps(void **state)
{
	(void)state;
	enum { COUNT = 5000 };
	struct ing_offset_tracker t;
	ing_offset_tracker_init(&t, 100);
	for (int64_t i = 100; i < 100 + COUNT; i++)
		begin(&t, i);
	for (int64_t i = 100; i < 100 + COUNT; i++)
		if (i % 3 != 1)
			assert_true(ing_offset_tracker_finish(&t, i));
	char *text = encode(&t);
	struct ing_position_map *m = decode(text);
	int kept = 0;
	int64_t before = 0;
	for (int64_t i = 100; i < 100 + COUNT; i++) {
		int64_t ms = ing_position_map_timestamp(m, i);
		if (ms == -1)
			continue;
		assert_true(ms == time_of(i) && i % 3 != 1);
		assert_true(kept == 0 || i - before < 2 * COUNT / 15);
		before = i;
		kept++;
	}
	assert_int_equal(kept, ING_POSITION_MAP_TIMESTAMPS);
	assert_true(ing_position_map_timestamp(m, 101) == time_of(101));
	assert_true(ing_position_map_timestamp(m, 100 + COUNT - 1) == time_of(100 + COUNT - 1));
	ing_position_map_free(m);
	free(text);
	ing_offset_tracker_done(&t);
}

/* Topics of old brokers have messages without a timestamp. */
static void test_messages_without_a_timestamp(void **state)
{
	(void)state;
	struct ing_offset_tracker t;
	ing_offset_tracker_init(&t, 0);
	begin(&t, 0);
	assert_true(ing_offset_tracker_begin(&t, &(struct ing_tracked){1, -1, 0}));
	assert_true(ing_offset_tracker_finish(&t, 1));
	char *text = encode(&t);
	struct ing_position_map *m = decode(text);
	assert_true(ing_position_map_has(m, 1));
	assert_true(ing_position_map_timestamp(m, 1) == -1);
	ing_position_map_free(m);
	free(text);
	ing_offset_tracker_done(&t);
}

/* ---- Texts that are no map ---- */

/* Bytes up to the checksum, which is added. */
static const struct {
	const char *name;
	const char *bytes;
	size_t len;
	int want; /* 0: it is one */
} raw_cases[] = {
#define RAW(name, bytes, want)                                                                     \
	{                                                                                          \
		name, bytes, sizeof(bytes) - 1, want                                               \
	}
	RAW("low water 5, window 2: unfinished, finished", "\1\5\2\1\0\0\x80", 0),
	RAW("k of 62", "\1\5\2\1\0\x3e\x80\0\0\0\0\0\0\0", 0),
	RAW("the timestamp of offset 6", "\1\5\2\1\1\1\x0e\0\x80", 0),
	RAW("version 2", "\2\5\2\1\0\0\x80", -ING_FAIL_UNSUPPORTED),
	RAW("version 0", "\0\5\2\1\0\0\x80", -ING_FAIL_SYNTAX),
	RAW("nothing after the version", "\1", -ING_FAIL_SYNTAX),
	RAW("codes missing", "\1\5\2\1\0\0", -ING_FAIL_SYNTAX),
	RAW("a byte too many", "\1\5\2\1\0\0\x80\0", -ING_FAIL_SYNTAX),
	RAW("window 0", "\1\5\0\1\0\0\x80", -ING_FAIL_SYNTAX),
	RAW("window 1: nothing is finished", "\1\5\1\1\0\0\x80", -ING_FAIL_SYNTAX),
	RAW("nothing unfinished", "\1\5\2\0\0\0\x80", -ING_FAIL_SYNTAX),
	RAW("the low water finished", "\1\5\3\1\0\0\x40", -ING_FAIL_SYNTAX),
	RAW("the end unfinished", "\1\5\2\2\0\0\xc0", -ING_FAIL_SYNTAX),
	RAW("unfinished beyond the end", "\1\5\3\2\0\0\x90", -ING_FAIL_SYNTAX),
	RAW("more unfinished than there are bits", "\1\5\x80\x80\1\x80\x40\0\0\x80",
		-ING_FAIL_SYNTAX),
	RAW("k of 63", "\1\5\2\1\0\x3f\x80\0\0\0\0\0\0\0", -ING_FAIL_SYNTAX),
	RAW("17 timestamps", "\1\5\2\1\x11\0\x80", -ING_FAIL_SYNTAX),
	RAW("a timestamp of an unfinished offset", "\1\5\4\2\1\2\x0e\0\xa0", -ING_FAIL_SYNTAX),
	RAW("a timestamp of the low water", "\1\5\2\1\1\0\x0e\0\x80", -ING_FAIL_SYNTAX),
	RAW("a timestamp beyond the end", "\1\5\2\1\1\2\x0e\0\x80", -ING_FAIL_SYNTAX),
	RAW("a negative timestamp", "\1\5\2\1\1\1\x0d\0\x80", -ING_FAIL_SYNTAX),
	RAW("a low water of 2^63", "\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\1\2\1\0\0\x80",
		-ING_FAIL_SYNTAX),
	RAW("a varint of 65 bits", "\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\2\2\1\0\0\x80",
		-ING_FAIL_SYNTAX),
	RAW("an endless varint", "\1\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\1",
		-ING_FAIL_SYNTAX),
	RAW("an end past 2^63",
		"\1\x80\x80\x80\x80\x80\x80\x80\x80\x7f\x80\x80\x80\x80\x80\x80\x80"
		"\x80\x7f\1\0\0\x80",
		-ING_FAIL_SYNTAX),
#undef RAW
};

static void test_raw_maps(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(raw_cases); i++) {
		print_message("  %s\n", raw_cases[i].name);
		unsigned char raw[64];
		size_t len = raw_cases[i].len;
		memcpy(raw, raw_cases[i].bytes, len);
		uint32_t crc = ing_crc32(raw, len);
		for (int shift = 24; shift >= 0; shift -= 8)
			raw[len++] = (unsigned char)(crc >> shift);
		char text[128];
		ing_base64_encode(raw, len, text);
		struct ing_position_map *m = NULL;
		int rc = ing_position_map_decode(text, strlen(text), &m, NULL);
		assert_int_equal(rc, raw_cases[i].want);
		assert_int_equal(m != NULL, rc == 0);
		if (m != NULL)
			assert_true(!ing_position_map_has(m, 5) && ing_position_map_has(m, 6));
		ing_position_map_free(m);
	}
}

static void test_texts_that_are_no_map(void **state)
{
	(void)state;
	static char long_text[ING_POSITION_MAP_MAX_CHARS + 4];
	memset(long_text, 'A', sizeof(long_text));
	const struct {
		const char *text;
		size_t chars;
	} texts[] = {
		{"AQoJBQQBgIDj", 12},
		{"AQ==", 4},
		{"committed by me", 15},
		{"\0\0\0\0", 4},
		{"{\"a\":1}", 7},
		{"AQoJBQQBgIDj/71oGgEaA5ABAVNPAAA ", 32},
		{"AAAA", 4},
		{long_text, sizeof(long_text)},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		struct ing_position_map *m = NULL;
		struct ing_error err = {0};
		assert_int_equal(ing_position_map_decode(texts[i].text, texts[i].chars, &m, &err),
			-ING_FAIL_SYNTAX);
		assert_null(m);
		assert_memory_equal(err.msg, "position map: ", 14);
	}
}

/* Each bit of a map, flipped. */
static void test_damage_is_noticed(void **state)
{
	(void)state;
	struct ing_offset_tracker t;
	fill(&t, 1000, "ufufcuuuf.uffffffffffffffffffffffffuuf");
	char *text = encode(&t);
	unsigned char raw[256];
	size_t len = 0;
	assert_true(ing_base64_decode(text, strlen(text), raw, &len));
	for (size_t bit = 0; bit < len * 8; bit++) {
		raw[bit / 8] ^= (unsigned char)(1U << bit % 8);
		char damaged[512];
		ing_base64_encode(raw, len, damaged);
		struct ing_position_map *m = NULL;
		assert_true(ing_position_map_decode(damaged, strlen(damaged), &m, NULL) < 0);
		raw[bit / 8] ^= (unsigned char)(1U << bit % 8);
	}
	free(text);
	ing_offset_tracker_done(&t);
}

/* ---- The bound ---- */

static void check_map(const struct ing_offset_tracker *t)
{
	char *text = encode(t);
	struct ing_position_map *m = decode(text);
	size_t last = ing_offset_tracker_last_finished(t);
	for (size_t i = 0; text[0] != '\0' && i < t->count; i++) {
		const struct ing_tracked *e = ing_offset_tracker_at(t, i);
		bool finished = ing_offset_tracker_next_finished(t, i) == i;
		assert_int_equal(ing_position_map_has(m, e->offset), finished);
		assert_true(i <= last || !finished);
	}
	ing_position_map_free(m);
	free(text);
}

/* How messages finish while others are taken. */
static const struct load {
	const char *name;
	int gap;          /* one in so many offsets has no message */
	int64_t gap_size; /* … and so many follow that have none */
	int finish_one_in, slow_one_in;
	size_t at_least; /* messages from the oldest to the newest when it is full */
} loads[] = {
	{"nothing finishes", 0, 0, 0, 0, 21000},
	{"every other", 0, 0, 2, 0, 21000},
	{"one in 500 is slow", 0, 0, 1, 500, 262144},
	{"one in 100 is slow", 0, 0, 1, 100, 200000},
	{"one in 20 is slow", 0, 0, 1, 20, 50000},
	{"transaction markers", 11, 1, 1, 100, 150000},
	{"a compacted log", 2, 1000000, 1, 10, 1000},
	{"a log with almost nothing in it", 2, INT64_C(1) << 45, 1, 3, 100},
};

/* Each is in a commit, which succeeds or fails, until all are finished. */
static void finish_by_and_by(struct ing_offset_tracker *t)
{
	while (t->count > 0) {
		size_t count = 0;
		int64_t *offsets = ing_alloc(t->open * sizeof(*offsets));
		for (size_t i = ing_offset_tracker_next_unfinished(t, 0); i < t->count;
			i = ing_offset_tracker_next_unfinished(t, i + 1))
			offsets[count++] = ing_offset_tracker_at(t, i)->offset;
		for (size_t i = 0; i < count; i++)
			assert_true(ing_offset_tracker_to_commit(t, offsets[i]));
		check_map(t);
		for (size_t i = 0; i < count; i++)
			assert_true(rand() % 4 == 0 ? ing_offset_tracker_settle(t, offsets[i])
						    : ing_offset_tracker_reopen(t, offsets[i]));
		check_map(t);
		free(offsets);
	}
}

static void test_a_map_always_fits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(loads); i++) {
		const struct load *l = &loads[i];
		struct ing_offset_tracker t;
		ing_offset_tracker_init(&t, 5);
		srand(7);
		int64_t offset = 5;
		begin(&t, offset);
		while (ing_offset_tracker_fits(&t, offset + 1)) {
			offset++;
			if (l->gap > 0 && rand() % l->gap == 0)
				offset += l->gap_size;
			if (!ing_offset_tracker_fits(&t, offset))
				break;
			begin(&t, offset);
			if (l->slow_one_in > 0 && rand() % l->slow_one_in == 0)
				continue;
			if (l->finish_one_in > 0 && rand() % l->finish_one_in == 0)
				assert_true(ing_offset_tracker_finish(&t, offset));
		}
		print_message("  %s: %zu, of them %zu unfinished\n", l->name, t.count, t.open);
		assert_true(t.count >= l->at_least);
		check_map(&t);
		finish_by_and_by(&t);
		ing_offset_tracker_done(&t);
	}
}

static void test_the_bound_only_falls(void **state)
{
	(void)state;
	srand(11);
	for (int i = 0; i < 200000; i++) {
		uint64_t unfinished = 1 + (uint64_t)rand() % 22000;
		uint64_t window = unfinished + (uint64_t)rand() % (1 << rand() % 30);
		if (!ing_position_map_fits(window, unfinished))
			continue;
		assert_true(unfinished == 1 || ing_position_map_fits(window, unfinished - 1));
		assert_true(window == unfinished || ing_position_map_fits(window - 1, unfinished));
		assert_true(ing_position_map_fill_percent(window, unfinished) <= 100);
	}
	assert_false(ing_position_map_fits(INT64_MAX, INT64_MAX));
	assert_true(ing_position_map_fits(INT64_MAX, 1));
	assert_true(ing_position_map_fill_percent(INT64_MAX, INT64_MAX) > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_finished_comes_back),
		cmocka_unit_test(test_an_empty_text_is_an_empty_map),
		cmocka_unit_test(test_the_text_of_version_1),
		cmocka_unit_test(test_timestamps),
		cmocka_unit_test(test_messages_without_a_timestamp),
		cmocka_unit_test(test_raw_maps),
		cmocka_unit_test(test_texts_that_are_no_map),
		cmocka_unit_test(test_damage_is_noticed),
		cmocka_unit_test(test_a_map_always_fits),
		cmocka_unit_test(test_the_bound_only_falls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
