/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * tree_priv.h - private state of a tree, for the files that own parts of it: tree.c, name.c,
 * link.c.
 */
#pragma once
#include "common/base/macros.h"
#include "common/markup/tree.h"

struct ing_tree_chunk;

struct ing_tree_priv {
	uint32_t node_cap, attr_cap, name_cap;
	ing_node
		open; /* the element being filled; its `end` is its last child until it is closed */
	/* Intern table, open addressing: id + 1 of a name or 0. The seed is secret, so that nobody
	 * can write names that all fall into one place. */
	uint32_t *slots;
	uint32_t slot_count; /* a power of two, at least twice the names */
	uint64_t seed;
	/* Elements by name, in document order: those of name i are by_name[name_first[i]] up to
	 * name_first[i + 1]. Made when first asked for. */
	ing_node *by_name;
	uint32_t *name_first;
	uint32_t indexed_names; /* a name that came later has no elements */
	bool has_index;
	/* Strings of the page. */
	struct ing_tree_chunk *chunks;
	size_t chunk_bytes;
	/* What links are relative to (link.c); owned. */
	char *url;
	char *base;
	bool has_base; /* was looked for, though base may be NULL */
};

/* Flags of an element's name in lower case (enum ing_name_flag). */
uint32_t ing_tree_name_flags(const char *lower, size_t bytes);
