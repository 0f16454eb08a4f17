/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The C library's allocator under its internal names. Bytes are those usable, as the library rounds
 * them.
 */
#include "tests/bench/heap.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t each);
void *__libc_realloc(void *p, size_t bytes);
void __libc_free(void *p);

static bool counting;
static intptr_t now, peak;

static void *add(void *p)
{
	if (counting && p != NULL) {
		now += (intptr_t)malloc_usable_size(p);
		if (now > peak)
			peak = now;
	}
	return p;
}

static void subtract(void *p)
{
	if (counting && p != NULL)
		now -= (intptr_t)malloc_usable_size(p);
}

/* -------------------------------------------------------------------------------------------- */

void heap_count(void)
{
	now = peak = 0;
	counting = true;
}

void heap_stop(size_t *ret_now, size_t *ret_peak)
{
	counting = false;
	*ret_now = now > 0 ? (size_t)now : 0;
	*ret_peak = (size_t)peak;
}

void *malloc(size_t bytes)
{
	return add(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t each)
{
	return add(__libc_calloc(count, each));
}

/* Both blocks are there while one is copied to the other. */
void *realloc(void *p, size_t bytes)
{
	size_t before = counting && p != NULL ? malloc_usable_size(p) : 0;
	void *q = add(__libc_realloc(p, bytes));
	if (counting && (q != NULL || bytes == 0))
		now -= (intptr_t)before;
	return q;
}

void free(void *p)
{
	subtract(p);
	__libc_free(p);
}
