/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resource_set.h - the resources of one page or style sheet while they are collected: in the order in
 * which they are added, no URL twice, at most ING_MAX_RESOURCES of them.
 *
 * Owns the URLs until they are given away. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/model/found_resources.h"

struct ing_filters;
struct ing_resource_set;

/* page: the URL of the page that all of it is for, which is none of its resources; NULL: unknown. filters:
 * borrowed, what they match is counted only; NULL: none. */
struct ing_resource_set *ing_resource_set_new(const char *page, const struct ing_filters *filters);
void ing_resource_set_free(struct ing_resource_set *s); /* NULL is fine */

/* How a value is made absolute: heap, or NULL when it gives no URL. */
typedef char *ing_resolve_f(void *ctx, const char *value, size_t bytes);

/* Add what a value refers to, unless it is no web URL, the page itself, there
 * already or filtered. Returns false when the set has looked at so much that nothing more is to be added. */
bool ing_resource_set_add(struct ing_resource_set *s, enum ing_resource_type type,
	const char *value, size_t bytes, ing_resolve_f *resolve, void *ctx);

/* Move the resources into *ret, which is empty. */
void ing_resource_set_take(struct ing_resource_set *s, struct ing_resources_found *ret);
