/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * host_names.h - a table by host, as rules, blocks and orders name hosts: "example.org", or ".example.org"
 * with all below it. Entries are found by any host that they cover, the most specific first; a look-up costs
 * one hash look-up for each label of the host's name.
 *
 * Owns: its arena, in which the caller may put what entries lead to. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"

struct ing_host_names_place;
struct ing_url_pattern;

struct ing_host_names {
	struct ing_arena arena;
	struct ing_host_names_place *places; /* in the arena */
};

void ing_host_names_init(struct ing_host_names *t);
void ing_host_names_done(struct ing_host_names *t);

/* A pattern's host as it is written; in the arena. */
const char *ing_host_names_key(struct ing_arena *ar, const struct ing_url_pattern *p);
/* Adds an entry; key and what are borrowed. Returns what stands there already, and stays; NULL: it was added. */
const void *ing_host_names_put(struct ing_host_names *t, const char *key, const void *what);
/* The same for a name that may be no host's. Returns false, and adds nothing, for one that is invalid or there
 * already. */
bool ing_host_names_add(struct ing_host_names *t, const char *name, const void *what);
/* Of the most specific entry that covers a host name (lower case; a leading "www." and a trailing dot are
 * ignored); NULL: none does. */
const void *ing_host_names_find(const struct ing_host_names *t, const char *host);
