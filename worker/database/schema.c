/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Numbered migrations. schema_version has a row for each one applied; the newest is the schema's
 * version. A migration and its row are one transaction under an advisory lock, and the version is
 * read again under that lock, so two migrators take turns and the second finds nothing left to do.
 */
#include "worker/database/schema.h"

#include "common/base/buf.h"
#include "schemas/migrations.h"

#define ANSWER_MS 30000 /* deadline of each call of a connection for reading */

/* "ing" and "sch": one lock for all who migrate this program's schema in a database. */
#define LOCK_SQL "SELECT pg_advisory_xact_lock(x'696e67'::int, x'736368'::int)"

static int failed(enum ing_pg_rc rc)
{
	return rc == ING_PG_REFUSED ? -ING_FAIL_INVALID : -ING_FAIL_UNAVAILABLE;
}

static int read_version(struct ing_pg *pg, int *ret, struct ing_error *err)
{
	int64_t n = 0;
	enum ing_pg_rc rc = ing_pg_number(pg,
		"SELECT count(*) FROM (SELECT to_regclass('schema_version') AS t) s WHERE t IS NOT NULL",
		&n, err);
	if (rc == ING_PG_OK && n > 0)
		rc = ing_pg_number(
			pg, "SELECT coalesce(max(version), 0) FROM schema_version", &n, err);
	if (rc != ING_PG_OK)
		return failed(rc);
	*ret = (int)n;
	return 0;
}

static int refuse_newer(int version, struct ing_error *err)
{
	return ing_error_set(err, ING_FAIL_INVALID,
		"schema: the database has version %d, newer than this program's %d: install a newer release",
		version, ing_migration_count);
}

/* Under the lock, in a transaction. *ret_version: before. */
static int apply_next(struct ing_pg *pg, int *ret_version, struct ing_error *err)
{
	enum ing_pg_rc rc = ing_pg_exec(pg,
		"CREATE TABLE IF NOT EXISTS schema_version (version integer PRIMARY KEY,"
		" name text NOT NULL, applied timestamptz NOT NULL DEFAULT now())",
		err);
	if (rc != ING_PG_OK)
		return failed(rc);
	int failure = read_version(pg, ret_version, err);
	if (failure != 0 || *ret_version == ing_migration_count)
		return failure;
	if (*ret_version > ing_migration_count)
		return refuse_newer(*ret_version, err);
	const struct ing_migration *m = &ing_migrations[*ret_version];
	struct ing_buf row;
	ing_buf_init(&row, 1024);
	ing_buf_printf(&row, "INSERT INTO schema_version (version, name) VALUES (%d, '%s')",
		m->version, m->name);
	rc = ing_pg_exec(pg, m->sql, err);
	if (rc == ING_PG_OK)
		rc = ing_pg_exec(pg, ing_buf_str(&row), err);
	ing_buf_done(&row);
	if (rc == ING_PG_OK)
		return 0;
	ing_error_context(err, "migration %s", m->name);
	return failed(rc);
}

static int migrate_all(struct ing_pg *pg, int *ret_from, int *ret_to, struct ing_error *err)
{
	bool first = true;
	for (;;) {
		int before = 0;
		enum ing_pg_rc rc = ing_pg_exec(pg, "BEGIN", err);
		if (rc == ING_PG_OK)
			rc = ing_pg_exec(pg, LOCK_SQL, err);
		if (rc != ING_PG_OK)
			return failed(rc);
		int failure = apply_next(pg, &before, err);
		if (failure != 0)
			return failure; /* closing the connection rolls back */
		rc = ing_pg_commit(pg, err);
		if (rc != ING_PG_OK)
			return failed(rc);
		if (first)
			*ret_from = before;
		first = false;
		*ret_to = ing_migration_count;
		if (before == ing_migration_count)
			return 0;
	}
}

static int check_version(struct ing_pg *pg, struct ing_error *err)
{
	int version = 0;
	int rc = read_version(pg, &version, err);
	if (rc != 0 || version == ing_migration_count)
		return rc;
	if (version > ing_migration_count)
		return refuse_newer(version, err);
	if (version == 0)
		return ing_error_set(err, ING_FAIL_INVALID,
			"schema: the database has none: run ingestctl db migrate");
	return ing_error_set(err, ING_FAIL_INVALID,
		"schema: the database has version %d, older than this program's %d: run ingestctl db migrate",
		version, ing_migration_count);
}

/* ------------------------------------------------------------------------------------------ */

int ing_schema_prepare(struct ing_pg *pg, const char *settings, struct ing_error *err)
{
	if (settings != NULL && ing_pg_exec(pg, settings, err) != ING_PG_OK)
		return -ING_FAIL_UNAVAILABLE;
	return check_version(pg, err);
}

int ing_schema_open(const char *dsn, struct ing_pg **ret, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	int rc = ing_pg_open(dsn, -1, ANSWER_MS, &pg, err);
	if (rc == 0)
		rc = ing_schema_prepare(pg, NULL, err);
	if (rc != 0) {
		ing_pg_close(pg);
		return rc;
	}
	*ret = pg;
	return 0;
}

int ing_schema_migrate(const char *dsn, int *ret_from, int *ret_to, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	/* No deadline: building an index over a large table takes as long as it takes. */
	int rc = ing_pg_open(dsn, -1, -1, &pg, err);
	if (rc == 0)
		rc = migrate_all(pg, ret_from, ret_to, err);
	ing_pg_close(pg);
	return rc;
}

int ing_schema_version(const char *dsn, int *ret_version, struct ing_error *err)
{
	struct ing_pg *pg = NULL;
	int rc = ing_pg_open(dsn, -1, ANSWER_MS, &pg, err);
	if (rc == 0)
		rc = read_version(pg, ret_version, err);
	ing_pg_close(pg);
	return rc;
}

int ing_schema_newest(void)
{
	return ing_migration_count;
}
