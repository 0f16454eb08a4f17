/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes have a type: one slash, no blanks, and it fits its field.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/data/sniff.h"

FUZZ_BUDGET(.cpu_us = 10000, .cpu_byte_ns = 5000, .heap_kb = 5000, .heap_byte = 50);

void fuzz_target(const uint8_t *data, size_t size)
{
	char type[ING_MEDIA_TYPE_BYTES];
	memset(type, 'x', sizeof(type));
	ing_sniff(data, size, type);
	ing_must(memchr(type, '\0', sizeof(type)) != NULL);
	ing_must(strchr(type, '/') != NULL && strchr(type, ' ') == NULL);
	ing_must((size == 0) == (strcmp(type, "application/x-empty") == 0));
}
