/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * macros.h - attributes, ownership and assertion idioms used everywhere.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define ING_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define ING_MUST_CHECK __attribute__((warn_unused_result))
#define ING_NORETURN __attribute__((noreturn))

/* The pointer, of which NULL is left: shows at the call that ownership moves. */
#define ING_TAKE(p)                                                                                \
	__extension__({                                                                            \
		__typeof__(p) take_ = (p);                                                         \
		(p) = NULL;                                                                        \
		take_;                                                                             \
	})

/* Run f(&variable) when the variable leaves its scope. */
#define ING_CLEANUP(f) __attribute__((cleanup(f)))

#define ING_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* "%zu error%s" */
#define ING_PLURAL_S(n) ((n) == 1 ? "" : "s")
#define ING_MIN(a, b) ((a) < (b) ? (a) : (b))
#define ING_MAX(a, b) ((a) > (b) ? (a) : (b))

/* The structure that holds `member` at address `p`. */
#define ING_CONTAINER(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

/* Compiled in always. Checks our own logic and small allocations; outside input must never reach
 * one. */
#define ing_must(x)                                                                                \
	do {                                                                                       \
		if (__builtin_expect(!(x), 0))                                                     \
			ing_must_failed(#x, __FILE__, __LINE__, __func__);                         \
	} while (0)
ING_NORETURN void ing_must_failed(const char *expr, const char *file, int line, const char *func);
/* Told before the process aborts; stderr is, as text, while there is nobody. Set before threads start. */
extern void (*ing_must_tell)(const char *text);

/* Objects that travel through a void pointer start with a magic; callbacks open with this check. */
#define ING_CAST_OBJ(to, from, magic_value)                                                        \
	do {                                                                                       \
		(to) = (from);                                                                     \
		ing_must((to) != NULL && (to)->magic == (magic_value));                            \
	} while (0)

/* Allocation that aborts when memory is short: for small things of a size we chose ourselves.
 * Offsets are not committed at that point, so a restart loses nothing. Sizes that come from input
 * use ing_try_alloc(). */
void *ing_alloc(size_t bytes) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *ing_realloc(void *p, size_t bytes) __attribute__((returns_nonnull));
void *ing_try_alloc(size_t bytes) __attribute__((malloc)); /* not zeroed; may be NULL */
char *ing_strdup(const char *s) __attribute__((malloc, returns_nonnull));
char *ing_strndup(const char *s, size_t bytes) __attribute__((malloc, returns_nonnull));
void ing_freep(void *pp); /* ING_CLEANUP(ing_freep) on any pointer */
