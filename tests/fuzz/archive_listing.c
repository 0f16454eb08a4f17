/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is inside of any bytes that are called an archive; the first byte says of which kind. The
 * answer is a list of media types, or empty.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/macros.h"
#include "worker/document/archive_listing.h"

/* A member costs libmagic half a millisecond, and 200 of them are looked into. */
FUZZ_BUDGET(.cpu_us = 20000, .cpu_byte_ns = 5000, .heap_kb = 5000, .heap_byte = 50);

void fuzz_target(const uint8_t *data, size_t size)
{
	static const char *const types[] = {
		"application/gzip", "application/x-tar", "application/zip", "text/plain"};
	char list[ING_CONTAINS_BYTES];
	if (size == 0)
		return;
	memset(list, 'x', sizeof(list));
	ing_archive_list(data + 1, size - 1, types[data[0] % ING_ARRAY_LEN(types)], list);
	ing_must(memchr(list, '\0', sizeof(list)) != NULL);
	size_t types_named = 0, slashes = 0;
	for (const char *s = list; *s != '\0'; s++) {
		types_named += *s == ',';
		slashes += *s == '/';
	}
	ing_must(list[0] == '\0' ? slashes == 0 : slashes == types_named + 1);
}
