/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libpq takes a connection string apart; what it says about one that it cannot read may quote a password.
 */
#include "common/data/pg_dsn.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/key_file.h"
#include "common/data/pg_connect.h"

#define HIDDEN "********"

static const char *const secret_options[] = {"password", "sslpassword"};

static const char *const file_options[ING_PG_DSN_FILES] = {
	"passfile", "sslcert", "sslcrl", "sslkey", "sslrootcert"};

/* A process has one database. NULL: none. Set before there are threads. */
static char *password_file;

/* What libpq quotes of a malformed address may be its password, which may have quotes of its own;
 * but for options, which have names. whole: the text was not cut. */
static void hide_quoted(char *text, bool whole)
{
	char *first = strchr(text, '"');
	if (first == NULL || strncmp(text, "invalid connection option",
				     strlen("invalid connection option")) == 0)
		return;
	char *last = strrchr(text, '"');
	*first = '*';
	if (whole)
		memmove(first + 1, last + 1, strlen(last + 1) + 1);
	else
		first[1] = '\0';
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool is_given(const PQconninfoOption *o)
{
	return o->val != NULL && o->val[0] != '\0';
}

static bool is_secret(const PQconninfoOption *o)
{
	return is_given(o) && is_among(o->keyword, secret_options, ING_ARRAY_LEN(secret_options));
}

/* NAME='VALUE', with a blank before all but the first. */
static void add_option(struct ing_buf *out, const char *name, const char *value, bool first)
{
	ing_buf_printf(out, "%s%s='", first ? "" : " ", name);
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '\'' || *c == '\\')
			ing_buf_add_char(out, '\\');
		ing_buf_add_char(out, *c);
	}
	ing_buf_add_char(out, '\'');
}

/* -------------------------------------------------------------------------------------------- */

int ing_pg_dsn_parse(const char *dsn, struct _PQconninfoOption **ret, struct ing_error *err)
{
	char *reason = NULL;
	*ret = PQconninfoParse(dsn, &reason);
	if (*ret != NULL)
		return 0;
	char text[300];
	ing_pg_flatten(reason, text, sizeof(text));
	hide_quoted(text, reason == NULL || strlen(reason) < sizeof(text));
	PQfreemem(reason);
	return ing_error_set(err, ING_FAIL_CONFIG, "database address: %s", text);
}

const char *ing_pg_dsn_option(
	const struct _PQconninfoOption *options, const char *name, const char *variable)
{
	for (const PQconninfoOption *o = options; o->keyword != NULL; o++) {
		if (strcmp(o->keyword, name) == 0 && is_given(o))
			return o->val;
	}
	const char *value = variable != NULL ? getenv(variable) : NULL;
	return value != NULL && value[0] != '\0' ? value : NULL;
}

int ing_pg_dsn_check(const char *dsn, struct ing_error *err)
{
	PQconninfoOption *options = NULL;
	int rc = ing_pg_dsn_parse(dsn, &options, err);
	PQconninfoFree(options);
	return rc;
}

bool ing_pg_dsn_hide(const char *dsn, struct ing_buf *out)
{
	struct ing_error err = {0};
	PQconninfoOption *options = NULL;
	if (ing_pg_dsn_parse(dsn, &options, &err) != 0) {
		ing_buf_add_str(out, HIDDEN);
		return true;
	}
	bool any = false;
	bool first = true;
	for (const PQconninfoOption *o = options; o->keyword != NULL; o++)
		any |= is_secret(o);
	if (!any)
		ing_buf_add_str(out, dsn);
	for (const PQconninfoOption *o = options; any && o->keyword != NULL; o++) {
		if (!is_given(o))
			continue;
		add_option(out, o->keyword, is_secret(o) ? HIDDEN : o->val, first);
		first = false;
	}
	PQconninfoFree(options);
	return any;
}

void ing_pg_use_password_file(const char *file)
{
	free(password_file);
	password_file = file != NULL && file[0] != '\0' ? ing_strdup(file) : NULL;
}

int ing_pg_password(char **ret, struct ing_error *err)
{
	*ret = NULL;
	if (password_file == NULL)
		return 0;
	int rc = ing_key_file_text(password_file, ret, err);
	if (rc != 0)
		ing_error_context(err, "postgres.password_file");
	return rc;
}

size_t ing_pg_dsn_credentials(const struct _PQconninfoOption *options,
	const char *ret_names[ING_PG_DSN_FILES], char *ret_paths[ING_PG_DSN_FILES])
{
	size_t n = 0;
	for (size_t i = 0; i < ING_PG_DSN_FILES; i++) {
		const char *file = ing_pg_dsn_option(options, file_options[i], NULL);
		/* "system" is libpq's word for the certificates of OpenSSL. */
		if (file == NULL || strchr(file, '/') != NULL || strcmp(file, "system") == 0)
			continue;
		ret_names[n] = file_options[i];
		ret_paths[n++] = ing_key_file_path(file);
	}
	return n;
}
