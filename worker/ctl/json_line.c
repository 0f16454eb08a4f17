/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Mended in the text, before the JSON library sees it.
 */
#include "worker/ctl/json_line.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/json_text.h"

#define MAX_DEPTH 32

/* Four hexadecimal digits at s, or -1. */
static long read_unit(const char *s)
{
	long unit = 0;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef";
		const char *at =
			s[i] != '\0'
				? strchr(digits, s[i] >= 'A' && s[i] <= 'F' ? s[i] | 0x20 : s[i])
				: NULL;
		if (at == NULL)
			return -1;
		unit = unit << 4 | (at - digits);
	}
	return unit;
}

/* In place. */
static void mend_surrogates(char *s)
{
	for (; *s != '\0'; s++) {
		if (*s != '\\')
			continue;
		s++;
		if (*s == '\0')
			return;
		long unit = *s == 'u' ? read_unit(s + 1) : -1;
		if (unit < 0xd800 || unit > 0xdfff)
			continue;
		long next = unit < 0xdc00 && s[5] == '\\' && s[6] == 'u' ? read_unit(s + 7) : -1;
		if (next >= 0xdc00 && next <= 0xdfff)
			s += 10; /* a whole pair */
		else
			memcpy(s + 1, "fffd", 4);
	}
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_ctl_json_line(const char *line, size_t bytes, json_error_t *error)
{
	*error = (json_error_t){.text = "no memory for the line"};
	char *text = ing_utf8_clean(line, bytes, &bytes);
	if (text == NULL)
		return NULL;
	mend_surrogates(text);
	json_t *o = NULL;
	if (!ing_json_is_shallow(text, bytes, MAX_DEPTH))
		*error = (json_error_t){.text = "nested too deep"};
	else
		o = json_loadb(text, bytes, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, error);
	free(text);
	return o;
}
