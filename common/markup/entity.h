/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * entity.h - the names that HTML gives to characters, such as "eacute".
 *
 * Owns a small HTML parser, because that is where the table is, and remembers recent names. One
 * thread at a time.
 */
#pragma once
#include <stdbool.h>

struct ing_entities;

struct ing_entities *ing_entities_new(void);
void ing_entities_free(struct ing_entities *e); /* NULL is fine */
/* The characters (UTF-8) that HTML means by &name; or NULL. `quoted`: '&' and '<' in them are
 * written as character references. Borrowed until the next call. */
const char *ing_entity(struct ing_entities *e, const char *name, bool quoted);
