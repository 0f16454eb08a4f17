/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pg_dsn.h - connection strings of libpq: their options, the files that they name, and what is a secret in
 * them. Any thread, but for ing_pg_use_password_file().
 */
#pragma once
#include "common/base/error.h"

struct ing_buf;
struct _PQconninfoOption; /* libpq's */

/* The options of a connection string or URI; PQconninfoFree() ends them. Error: -CONFIG, which repeats nothing
 * that may be a password. */
int ing_pg_dsn_parse(
	const char *dsn, struct _PQconninfoOption **ret, struct ing_error *err) ING_MUST_CHECK;
/* One of them, or else that of the environment's variable (NULL: of the string's alone). NULL: not given. */
const char *ing_pg_dsn_option(
	const struct _PQconninfoOption *options, const char *name, const char *variable);

/* Whether it can be parsed. Error: as ing_pg_dsn_parse(). */
int ing_pg_dsn_check(const char *dsn, struct ing_error *err) ING_MUST_CHECK;
/* Appends the string; when there are secrets in it, as a connection string that has asterisks in their place.
 * Returns whether there are. What cannot be parsed is a secret as a whole. */
bool ing_pg_dsn_hide(const char *dsn, struct ing_buf *out);

/* From now on the password of every connection of this process is read from the file (as ing_key_file_text()
 * has it) before it is made. NULL or "": it is libpq's business, as at first. Before the first thread that
 * connects. */
void ing_pg_use_password_file(const char *file);
/* That password, or NULL without such a file. *ret is heap. Error: -CONFIG. */
int ing_pg_password(char **ret, struct ing_error *err) ING_MUST_CHECK;

#define ING_PG_DSN_FILES 5
/* An option that names a file without a slash names a credential (common/base/key_file.h). Sets the paths of
 * those that are given like that: names and heap paths. Returns how many there are. */
size_t ing_pg_dsn_credentials(const struct _PQconninfoOption *options,
	const char *ret_names[ING_PG_DSN_FILES], char *ret_paths[ING_PG_DSN_FILES]);
