/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Allocation and assertion primitives. Any thread, any process (the examiner links them too).
 */
#include "common/base/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*ing_must_tell)(const char *text);

void ing_must_failed(const char *expr, const char *file, int line, const char *func)
{
	char text[1000];
	snprintf(text, sizeof(text), "%s:%d: %s: broken invariant: %s", file, line, func, expr);
	void (*tell)(const char *text) = ING_TAKE(ing_must_tell);
	if (tell != NULL)
		tell(text);
	else
		fprintf(stderr, "<0>%s\n", text);
	abort();
}

void *ing_alloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);
	ing_must(p != NULL);
	return p;
}

void *ing_realloc(void *p, size_t bytes)
{
	void *q = realloc(p, bytes ? bytes : 1);
	ing_must(q != NULL);
	return q;
}

void *ing_try_alloc(size_t bytes)
{
	return malloc(bytes ? bytes : 1);
}

char *ing_strdup(const char *s)
{
	return ing_strndup(s, strlen(s));
}

char *ing_strndup(const char *s, size_t bytes)
{
	char *copy = ing_alloc(bytes + 1);
	memcpy(copy, s, bytes);
	return copy;
}

void ing_freep(void *pp)
{
	void **p = pp;
	free(*p);
	*p = NULL;
}
