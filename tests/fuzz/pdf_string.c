/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Strings, dates and lines of text out of PDFs. Whatever the bytes, valid UTF-8 without control characters
 * comes out, of bounded length; a date is RFC 3339; lines that are joined lose hyphens and nothing else.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/pdf_string.h"
#include "worker/document/words.h"

FUZZ_BUDGET(.cpu_us = 20000, .cpu_byte_ns = 2000, .heap_kb = 5000, .heap_byte = 50);

#define MAX_BYTES ((size_t)1000)

static void check_string(const char *data, size_t size)
{
	bool undecodable = false;
	char *s = ing_pdf_string(data, size, MAX_BYTES, &undecodable);
	size_t bytes = strlen(s);
	ing_must(bytes <= MAX_BYTES && ing_utf8_valid(s, bytes));
	for (size_t i = 0; i < bytes; i++)
		ing_must((unsigned char)s[i] >= 0x20 || strchr("\t\n\r", s[i]) != NULL);
	ing_must(bytes == 0 || s[bytes - 1] != ' ');
	char *date = ing_pdf_date(s);
	ing_must(date == NULL || (strlen(date) >= 20 && date[4] == '-' && date[10] == 'T'));
	free(date);
	free(s);
}

static size_t count_letters(const char *s, size_t bytes)
{
	size_t count = 0;
	for (size_t i = 0; i < bytes; i++)
		count += (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z');
	return count;
}

static void check_lines(const char *data, size_t size)
{
	char *s = ing_alloc(size + 1);
	memcpy(s, data, size);
	size_t letters = count_letters(s, size);
	size_t bytes = ing_words_join_lines(s, size);
	ing_must(bytes <= size && s[bytes] == '\0');
	ing_must(count_letters(s, bytes) == letters);
	free(s);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size > 100000)
		return;
	check_string((const char *)data, size);
	check_lines((const char *)data, size);
}
