/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A comma ends a candidate only behind its URL, or at the URL's own end: URLs may have commas in them.
 */
#include "worker/document/resources/srcset.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static void skip_descriptors(struct ing_srcset *s)
{
	bool in_brackets = false;
	for (; s->at < s->end; s->at++) {
		if (*s->at == '(')
			in_brackets = true;
		else if (*s->at == ')')
			in_brackets = false;
		else if (*s->at == ',' && !in_brackets)
			return;
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_srcset_init(struct ing_srcset *s, const char *value, size_t bytes)
{
	*s = (struct ing_srcset){.at = value, .end = value + bytes};
}

bool ing_srcset_next(struct ing_srcset *s, const char **ret, size_t *ret_bytes)
{
	while (s->at < s->end && (is_space(*s->at) || *s->at == ','))
		s->at++;
	if (s->at == s->end)
		return false;
	const char *url = s->at;
	while (s->at < s->end && !is_space(*s->at))
		s->at++;
	const char *end = s->at;
	while (end[-1] == ',')
		end--; /* not all of it: the first character is none */
	if (end == s->at)
		skip_descriptors(s);
	*ret = url;
	*ret_bytes = (size_t)(end - url);
	return true;
}
