/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * migrations.h - the SQL files of schemas/sql, compiled in (migrations.c is made by embed.cmake).
 * Constant, any thread.
 */
#pragma once

struct ing_migration {
	int version;      /* 1, 2, 3 … */
	const char *name; /* of the file, without .sql */
	const char *sql;
};

extern const struct ing_migration ing_migrations[]; /* in order of version */
extern const int ing_migration_count;               /* also the newest version */
