/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "common/base/hash.h"
#include "common/base/macros.h"

/* Appendix A of the paper has the one of 15 bytes; the others are of its reference code. */
static void siphash_is_that_of_its_authors(void **state)
{
	static const struct {
		size_t bytes;
		uint64_t want;
	} cases[] = {
		{0, UINT64_C(0x726fdb47dd0e0e31)},
		{1, UINT64_C(0x74f839c593dc67fd)},
		{8, UINT64_C(0x93f5f5799a932462)},
		{15, UINT64_C(0xa129ca6149be45e5)},
	};
	(void)state;
	const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
	unsigned char data[15];
	for (unsigned char i = 0; i < sizeof(data); i++)
		data[i] = i;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++)
		assert_true(ing_siphash(key, data, cases[i].bytes) == cases[i].want);
}

#define NAMES 2000
#define SHARED_BITS 10

struct name {
	char text[24];
	UT_hash_handle hh;
};

static uint32_t uthash_own(const char *text, unsigned bytes)
{
	unsigned hash;
	HASH_JEN(text, bytes, hash);
	return hash;
}

/* Host names that an enemy has chosen to share a bucket under uthash's own hash. */
static void chosen_names_do_not_share_a_bucket(void **state)
{
	(void)state;
	struct name *names = calloc(NAMES, sizeof(*names));
	struct name *table = NULL;
	assert_non_null(names);
	unsigned count = 0;
	for (unsigned i = 0; count < NAMES; i++) {
		struct name *n = &names[count];
		int bytes = snprintf(n->text, sizeof(n->text), "%u.evil.example", i);
		if (uthash_own(n->text, (unsigned)bytes) % (1u << SHARED_BITS) != 0)
			continue;
		HASH_ADD_STR(table, text, n);
		count++;
	}
	assert_int_equal(table->hh.tbl->noexpand, 0);
	unsigned longest = 0;
	for (unsigned i = 0; i < table->hh.tbl->num_buckets; i++)
		longest = ING_MAX(longest, table->hh.tbl->buckets[i].count);
	assert_in_range(longest, 1, 30);
	HASH_CLEAR(hh, table);
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siphash_is_that_of_its_authors),
		cmocka_unit_test(chosen_names_do_not_share_a_bucket),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
