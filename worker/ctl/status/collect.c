/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Workers are asked by their control sockets, one after the other. A socket at which nobody listens is what a dead worker
 * left, and nothing to speak of. Of those that are on other machines, the database has what they last wrote of themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "worker/conf/conf.h"
#include "worker/ctl/sockets.h"
#include "worker/ctl/status/status.h"
#include "worker/database/schema.h"
#include "worker/fleet/table.h"
#include "worker/service/control.h"

#define SOCKET_END ".sock"
/* A worker's table of clients may be full of silent ones for so long. */
#define ASK_MS (ING_CONTROL_TIMEOUT_MS + 3000)
#define DATABASE_MS 3000 /* for each answer of it */

static bool is_wanted(char *const *instances, const char *name)
{
	bool any = instances[0] != NULL;
	for (; *instances != NULL; instances++)
		if (strcmp(*instances, name) == 0)
			return true;
	return !any;
}

/* The name of the file without its ending; heap. */
static char *instance_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	return ing_strndup(name, strlen(name) - strlen(SOCKET_END));
}

/* It is there, but does not answer as it should. */
static json_t *silent(const char *instance, const struct ing_error *err)
{
	json_t *o = json_object();
	ing_json_set_text(o, "instance", instance);
	ing_json_set_text(o, "state", "silent");
	ing_json_set_text(o, "held_by", err->msg);
	return o;
}

static void ask(const char *path, const char *instance, const json_t *request, json_t *list)
{
	struct ing_error err = {0};
	json_t *status = NULL;
	int rc = ing_control_ask(path, request, ASK_MS, &status, &err);
	const char *error = ing_json_get_text(status, "error");
	if (rc == 0 && error != NULL)
		rc = ing_error_set(
			&err, ING_FAIL_UNSUPPORTED, "%s: the worker says: %s", path, error);
	if (rc == -ING_FAIL_UNAVAILABLE)
		return;
	if (rc != 0) {
		json_decref(status);
		status = silent(instance, &err);
	}
	ing_json_set_text(status, "source", "worker");
	ing_json_append(list, status);
}

/* --- the database --- */

struct rows {
	json_t *list;
	char *const *instances;
};

static bool has(const json_t *list, const char *instance)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = ing_json_get_text(json_array_get(list, i), "instance");
		if (name != NULL && strcmp(name, instance) == 0)
			return true;
	}
	return false;
}

/* What it said last holds it no more. */
static void set_silence(json_t *o)
{
	static const char words[] = "it has not written its row of worker_state for too long";
	json_t *hold = json_object();
	ing_json_set_text(hold, "what", "silent");
	ing_json_set_bool(hold, "trouble", true);
	ing_json_set_text(hold, "words", words);
	ing_json_set_text(o, "held_by", words);
	ing_json_set(o, "holds", json_pack("[o]", hold));
}

/* What the row says in columns counts more than what its status, which may be missing, says. */
static json_t *row_status(const struct ing_worker_row *row)
{
	const char *condition = ing_worker_condition(row);
	json_t *o = row->status != NULL
			    ? ing_json_parse(row->status, strlen(row->status), &ing_json_own, NULL)
			    : NULL;
	if (!json_is_object(o)) {
		json_decref(o);
		o = json_object();
	}
	ing_json_set_text(o, "instance", row->instance);
	ing_json_set_text(o, "machine", row->machine);
	ing_json_set_text(o, "version", row->version);
	ing_json_set_text(o, "rules", row->rules);
	ing_json_set_number(o, "pid", row->pid);
	ing_json_set_text(o, "state", condition);
	ing_json_set_text(o, "held_by", row->held_by);
	ing_json_set_number(o, "age_ms", row->age_ms);
	ing_json_set_text(o, "source", "database");
	if (strcmp(condition, row->state) != 0)
		set_silence(o);
	return o;
}

static void take_row(void *ctx, const struct ing_worker_row *row)
{
	struct rows *rows = ctx;
	bool named = rows->instances[0] != NULL;
	if (!is_wanted(rows->instances, row->instance) || has(rows->list, row->instance) ||
		(!named && strcmp(row->state, "stopped") == 0))
		return;
	ing_json_append(rows->list, row_status(row));
}

/* A worker's own troubles are often the database's: it is not waited for for long. */
static void ask_database(const char *dsn, char *const *instances, json_t *list)
{
	struct ing_pg *pg = NULL;
	struct ing_error err = {0};
	struct rows rows = {list, instances};
	int rc = ing_pg_open(dsn, -1, DATABASE_MS, &pg, &err);
	if (rc == 0)
		rc = ing_schema_prepare(pg, NULL, &err);
	if (rc == 0)
		rc = ing_fleet_table_workers(pg, NULL, take_row, &rows, &err);
	if (rc != 0)
		(void)ing_ctl_fail(ING_CTL_ENVIRONMENT, "status",
			"workers on other machines are not known: %s", err.msg);
	ing_pg_close(pg);
}

static bool all_found(const json_t *list, char *const *instances)
{
	bool named = instances[0] != NULL;
	for (; *instances != NULL; instances++)
		if (!has(list, *instances))
			return false;
	return named;
}

static int compare_instances(const void *a, const void *b)
{
	const char *x = ing_json_get_text(*(json_t *const *)a, "instance");
	const char *y = ing_json_get_text(*(json_t *const *)b, "instance");
	return strcmp(x != NULL ? x : "", y != NULL ? y : "");
}

/* Takes list. */
static json_t *sorted(json_t *list)
{
	size_t count = json_array_size(list);
	json_t **all = ing_alloc((count + 1) * sizeof(*all));
	json_t *to = json_array();
	for (size_t i = 0; i < count; i++)
		all[i] = json_array_get(list, i);
	qsort(all, count, sizeof(json_t *), compare_instances);
	for (size_t i = 0; i < count; i++)
		ing_json_append(to, json_incref(all[i]));
	free(all);
	json_decref(list);
	return to;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_ctl_collect_statuses(const struct ing_conf *conf, char *const *instances, bool local)
{
	struct ing_ctl_sockets sockets = {0};
	struct ing_error err = {0};
	json_t *list = json_array();
	json_t *request = json_pack("{s:s}", "ask", "status");
	if (ing_ctl_sockets_find(conf->state_dir, &sockets, &err) != 0)
		(void)ing_ctl_fail(ING_CTL_ENVIRONMENT, "status", "%s", err.msg);
	for (size_t i = 0; i < sockets.count; i++) {
		char *instance = instance_of(sockets.paths[i]);
		if (is_wanted(instances, instance))
			ask(sockets.paths[i], instance, request, list);
		free(instance);
	}
	ing_ctl_sockets_done(&sockets);
	json_decref(request);
	if (conf->postgres.dsn[0] != '\0' && !local && !all_found(list, instances))
		ask_database(conf->postgres.dsn, instances, list);
	return sorted(list);
}
