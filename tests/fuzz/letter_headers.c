/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Headers of a message in the dead-letter topic: lines "name=value".
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "worker/model/letter.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 50, .heap_kb = 20, .heap_byte = 20);

#define MAX_HEADERS 64

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_header headers[MAX_HEADERS];
	struct ing_letter l;
	size_t n = 0;
	char *text = ing_strndup((const char *)data, size);
	for (char *rest = text; rest != NULL && n < MAX_HEADERS; n++) {
		const char *line = strsep(&rest, "\n");
		char *value = strchr(line, '=');
		if (value != NULL)
			*value++ = '\0';
		headers[n] = (struct ing_header){line, value};
	}
	ing_letter_parse(headers, n, &l);
	ing_must(l.partition >= -1 && l.offset >= -1 && l.value_bytes >= -1 && l.key_bytes >= -1);
	ing_must(l.replays <= ING_LETTER_MAX_REPLAYS);
	ing_must(!l.is_note || (l.replayed_partition >= 0 && l.replayed_offset >= 0));
	for (size_t i = 0; i < n; i++)
		(void)ing_letter_has_header(headers[i].name);
	free(text);
}
