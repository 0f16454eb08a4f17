/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Records that take the place of others: of every size, and of none but that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "common/record/warc.h"
#include "common/record/warc_blank.h"
#include "common/record/warc_scan.h"

static const struct timespec now = {.tv_sec = 1795420800};

struct seen {
	uint64_t records, csize;
	char head[1024];
	char block[64]; /* its beginning */
	size_t block_bytes;
};

static void see_record(
	void *ctx, uint64_t offset, uint64_t csize, const char *head, size_t head_bytes)
{
	struct seen *s = ctx;
	(void)offset;
	s->records++;
	s->csize = csize;
	assert_true(head_bytes < sizeof(s->head));
	memcpy(s->head, head, head_bytes);
	s->head[head_bytes] = '\0';
}

static void see_head(void *ctx, uint64_t offset, const char *head, size_t head_bytes)
{
	(void)ctx;
	(void)offset;
	(void)head;
	(void)head_bytes;
}

static void see_block(void *ctx, const void *data, size_t bytes)
{
	struct seen *s = ctx;
	for (size_t i = 0; i < bytes && s->block_bytes < sizeof(s->block) - 1; i++)
		s->block[s->block_bytes++] = ((const char *)data)[i];
}

/* The member is one whole record of that size. */
static void read_blank(uint64_t bytes, const char *why, struct seen *ret)
{
	struct ing_buf member;
	memset(ret, 0, sizeof(*ret));
	ing_buf_init(&member, (size_t)bytes);
	assert_true(ing_warc_blank(bytes, now, why, &member));
	assert_int_equal(member.len, bytes);
	struct ing_warc_scan *scan = ing_warc_scan_new(see_record, ret);
	ing_warc_scan_watch(scan, see_head, see_block);
	assert_true(ing_warc_scan_add(scan, member.data, member.len));
	struct ing_warc_scan_state state = ing_warc_scan_end(scan);
	assert_null(state.damage);
	assert_int_equal(state.whole, bytes);
	ing_warc_scan_free(scan);
	ing_buf_done(&member);
	assert_int_equal(ret->records, 1);
	assert_int_equal(ret->csize, bytes);
}

static void test_any_size_from_the_least_on(void **state)
{
	(void)state;
	struct seen s;
	for (uint64_t bytes = ING_WARC_BLANK_MIN; bytes < 2500; bytes++)
		read_blank(bytes, "why", &s);
	for (uint64_t bytes = 10100; bytes < 10300; bytes++)
		read_blank(bytes, "why", &s);
	/* Where a further stored block begins. */
	for (uint64_t blocks = 1; blocks <= 3; blocks++) {
		for (uint64_t bytes = blocks * 65540 - 30; bytes < blocks * 65540 + 50; bytes++)
			read_blank(bytes, "why", &s);
	}
	read_blank(5000001, "why", &s);
}

static void test_says_that_it_was_erased_and_names_nothing(void **state)
{
	(void)state;
	struct seen s;
	read_blank(400, "erased: a court\n", &s);
	assert_non_null(strstr(s.head, "WARC-Type: metadata\r\n"));
	assert_non_null(strstr(s.head, "WARC-Date: 2026-11-23T"));
	assert_null(strstr(s.head, "WARC-Target-URI"));
	assert_memory_equal(s.block, "erased: a court\n  ", 18);
}

static void test_words_are_cut_where_there_is_no_room(void **state)
{
	(void)state;
	struct seen s;
	char why[1000];
	memset(why, 'w', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	read_blank(ING_WARC_BLANK_MIN, why, &s);
	assert_true(s.block_bytes > 0);
}

static void test_too_small_is_refused(void **state)
{
	(void)state;
	struct ing_buf member;
	ing_buf_init(&member, 1000);
	assert_false(ing_warc_blank(ING_WARC_BLANK_MIN - 1, now, "", &member));
	ing_buf_done(&member);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_size_from_the_least_on),
		cmocka_unit_test(test_says_that_it_was_erased_and_names_nothing),
		cmocka_unit_test(test_words_are_cut_where_there_is_no_room),
		cmocka_unit_test(test_too_small_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
