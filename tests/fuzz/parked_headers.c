/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Headers of a message in a parked topic: lines "name=value". What is taken of them, written again,
 * reads the same.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/model/parked.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 50, .heap_kb = 20, .heap_byte = 20);

#define MAX_HEADERS 64

/* The headers in text, which is cut up. */
static size_t cut_headers(char *text, struct ing_header headers[MAX_HEADERS])
{
	size_t n = 0;
	char *rest = text;
	while (rest != NULL && n < MAX_HEADERS) {
		const char *line = strsep(&rest, "\n");
		char *value = strchr(line, '=');
		if (value != NULL)
			*value++ = '\0';
		headers[n++] = (struct ing_header){line, value};
	}
	return n;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_header headers[MAX_HEADERS];
	struct ing_header again[ING_PARKED_HEADERS];
	struct ing_parked_text numbers;
	struct ing_parked first, second;
	char *text = ing_strndup((const char *)data, size);
	ing_parked_parse(headers, cut_headers(text, headers), &first);
	ing_must(first.attempt <= ING_PARKED_MAX_ATTEMPT);
	ing_must(first.not_before_ms >= 0 && first.first_seen_ms >= 0);
	if (first.host == NULL)
		first.host = "h";
	if (first.origin == NULL)
		first.origin = "o";
	size_t n = ing_parked_format(&first, &numbers, again);
	ing_parked_parse(again, n, &second);
	ing_must(second.attempt == first.attempt);
	ing_must(second.not_before_ms == first.not_before_ms);
	ing_must(second.first_seen_ms == first.first_seen_ms);
	ing_must(is_same(second.host, first.host) && is_same(second.origin, first.origin));
	free(text);
}
