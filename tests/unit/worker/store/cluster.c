/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The server is private_servers.py's business, so that tests, scenarios and the quickstart have the
 * same one.
 */
#include "tests/unit/worker/store/cluster.h"

#include <glob.h>
#include <libpq-fe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/data/pg.h"

/* Runs private_servers.py; its JSON answer, or NULL when it failed. */
static json_t *control(const struct cluster *c, const char *action)
{
	char command[512];
	snprintf(command, sizeof(command),
		"python3 '" ING_SOURCE_DIR "/deploy/lib/private_servers.py' %s postgres --dir '%s'",
		action, c->folder);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	char text[2048];
	size_t n = fread(text, 1, sizeof(text), f);
	int status = pclose(f);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return NULL;
	json_t *answer = n > 0 ? json_loadb(text, n, 0, NULL) : json_object();
	assert_non_null(answer);
	return answer;
}

static void start_own(struct cluster *c)
{
	json_t *answer = control(c, "start");
	assert_non_null(answer);
	const char *dsn = json_string_value(json_object_get(answer, "dsn"));
	assert_non_null(dsn);
	snprintf(c->dsn, sizeof(c->dsn), "%s", dsn);
	json_decref(answer);
}

static bool has_server(void)
{
	glob_t found;
	bool has = glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0;
	globfree(&found);
	return has;
}

static void name_database(unsigned i, char ret_name[64])
{
	snprintf(ret_name, 64, "ing_test_%d_%u", (int)getpid(), i);
}

static void drop_databases(struct cluster *c)
{
	struct ing_pg *pg = NULL;
	assert_int_equal(ing_pg_open(c->dsn, -1, 60000, &pg, NULL), 0);
	for (unsigned i = 0; i < c->databases; i++) {
		char name[64];
		char sql[128];
		name_database(i, name);
		snprintf(sql, sizeof(sql), "DROP DATABASE %s WITH (FORCE)", name);
		assert_int_equal(ing_pg_exec(pg, sql, NULL), ING_PG_OK);
	}
	ing_pg_close(pg);
}

bool cluster_start(struct cluster *c)
{
	*c = (struct cluster){0};
	const char *dsn = getenv("ING_TEST_DSN");
	if (dsn != NULL && dsn[0] != '\0') {
		snprintf(c->dsn, sizeof(c->dsn), "%s", dsn);
		return true;
	}
	if (!has_server()) {
		print_message(
			"skipped: no PostgreSQL server is installed and ING_TEST_DSN is not set\n");
		return false;
	}
	const char *tmp = getenv("TMPDIR");
	snprintf(
		c->folder, sizeof(c->folder), "%.40s/ing-store-XXXXXX", tmp != NULL ? tmp : "/tmp");
	assert_non_null(mkdtemp(c->folder));
	c->own = true;
	start_own(c);
	return true;
}

void cluster_stop(struct cluster *c)
{
	json_t *answer = control(c, "stop");
	assert_non_null(answer);
	json_decref(answer);
}

void cluster_resume(struct cluster *c)
{
	char before[sizeof(c->dsn)];
	memcpy(before, c->dsn, sizeof(before));
	start_own(c);
	assert_string_equal(before, c->dsn);
}

void cluster_done(struct cluster *c)
{
	if (!c->own)
		drop_databases(c);
	while (c->databases > 0)
		free(c->dsns[--c->databases]);
	if (!c->own)
		return;
	cluster_stop(c);
	char command[128];
	snprintf(command, sizeof(command), "rm -rf '%s'", c->folder);
	FILE *f = popen(command, "r");
	assert_non_null(f);
	pclose(f);
}

/* The address with another database in it, as keywords. */
static char *with_database(const char *dsn, const char *name)
{
	PQconninfoOption *options = PQconninfoParse(dsn, NULL);
	assert_non_null(options);
	struct ing_buf out;
	ing_buf_init(&out, 4096);
	for (PQconninfoOption *o = options; o->keyword != NULL; o++) {
		if (o->val == NULL || strcmp(o->keyword, "dbname") == 0)
			continue;
		ing_buf_printf(&out, "%s='", o->keyword);
		for (const char *v = o->val; *v != '\0'; v++) {
			if (*v == '\\' || *v == '\'')
				ing_buf_add_char(&out, '\\');
			ing_buf_add_char(&out, *v);
		}
		ing_buf_add_str(&out, "' ");
	}
	PQconninfoFree(options);
	ing_buf_printf(&out, "dbname='%s'", name);
	return ing_buf_steal(&out);
}

const char *cluster_database(struct cluster *c)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	char name[64];
	char sql[128];
	assert_in_range(c->databases, 0, CLUSTER_MAX_DATABASES - 1);
	name_database(c->databases, name);
	snprintf(sql, sizeof(sql), "CREATE DATABASE %s ENCODING 'UTF8' TEMPLATE template0", name);
	if (ing_pg_open(c->dsn, -1, 60000, &pg, &err) != 0 ||
		ing_pg_exec(pg, sql, &err) != ING_PG_OK)
		fail_msg("%s", err.msg);
	ing_pg_close(pg);
	char *dsn = with_database(c->dsn, name);
	c->dsns[c->databases++] = dsn;
	return dsn;
}
