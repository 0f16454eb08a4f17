/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lines in which curl hands over a cookie jar, of any shape: what the version of a jar is made
 * of.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/fetch/cookies.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 50, .heap_kb = 20, .heap_byte = 10);

#define NOW 1800000000

/* The fifth column, or NULL. */
static char *find_expiry(char *line)
{
	for (int column = 0; line != NULL && column < 4; column++) {
		line = strchr(line, '\t');
		if (line != NULL)
			line++;
	}
	return line;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	char *line = ing_strndup((const char *)data, size);
	uint64_t hash = ing_cookies_hash_line(line, NOW);
	ing_must(ing_cookies_hash_line(line, NOW) == hash);
	char *expiry = find_expiry(line);
	if (expiry != NULL && hash != 0) {
		/* another expiry changes nothing, one that has passed everything */
		static const char *const others[] = {"0", "1900000000", "1700000000"};
		size_t rest = strcspn(expiry, "\t");
		for (size_t i = 0; i < ING_ARRAY_LEN(others); i++) {
			char *other = NULL;
			ing_must(asprintf(&other, "%.*s%s%s", (int)(expiry - line), line, others[i],
					 expiry + rest) >= 0);
			uint64_t want = i == 2 ? 0 : hash;
			ing_must(ing_cookies_hash_line(other, NOW) == want);
			free(other);
		}
	}
	free(line);
}
