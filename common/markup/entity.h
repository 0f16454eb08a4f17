/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * entity.h - HTML's names for characters, such as "eacute".
 *
 * Owns a small HTML parser, which has the table, and a cache of recent names. One thread at a time.
 */
#pragma once
#include <stdbool.h>

struct ing_entities;

struct ing_entities *ing_entities_new(void);
void ing_entities_free(struct ing_entities *e); /* NULL is fine */
/* Returns the characters (UTF-8) of &name; or NULL, borrowed until the next call. `quoted`: with
 * '&' and '<' as character references. */
const char *ing_entity(struct ing_entities *e, const char *name, bool quoted);
