/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is known of hosts, collected: from the control sockets in state.dir, from the database, from
 * the configuration and the rule files. A source that fails is said on stderr and does without; a
 * socket at which nobody listens is what a dead worker left, and nothing to speak of.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/report.h"
#include "common/net/url_match.h"
#include "worker/conf/conf.h"
#include "worker/ctl/fleet/fleet.h"
#include "worker/ctl/hosts/hosts.h"
#include "worker/ctl/sockets.h"
#include "worker/database/schema.h"
#include "worker/gate/gate.h"
#include "worker/gate/fleet/host_table.h"
#include "worker/rules/host_rules.h"
#include "worker/rules/url_rules.h"
#include "worker/service/hosts.h"
#include "worker/rules/rule_files.h"
#include "worker/service/control.h"

#define VERB "hosts"
/* A worker's table of clients may be full of silent ones for so long. */
#define ASK_MS (ING_CONTROL_TIMEOUT_MS + 3000)

static void warn(const char *words)
{
	(void)ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "%s", words);
}

/* An empty text is null. */
static void set_text(json_t *o, const char *key, const char *s)
{
	ing_json_set_text(o, key, s[0] != '\0' ? s : NULL);
}

/* --- workers --- */

static void query_worker(const char *path, const json_t *request, json_t *answers)
{
	struct ing_error err = {0};
	json_t *answer = NULL;
	int rc = ing_control_ask(path, request, ASK_MS, &answer, &err);
	if (rc == -ING_FAIL_UNAVAILABLE)
		return;
	const char *error = ing_json_get_text(answer, "error");
	if (rc == 0 && error != NULL)
		rc = ing_error_set(
			&err, ING_FAIL_UNSUPPORTED, "%s: the worker says: %s", path, error);
	if (rc == 0) {
		ing_json_set_text(answer, "source", "worker");
		ing_json_append(answers, json_incref(answer));
	} else {
		warn(err.msg);
	}
	json_decref(answer);
}

/* Takes request. A list, perhaps empty. */
static json_t *query_workers(const struct ing_conf *conf, json_t *request)
{
	json_t *answers = json_array();
	struct ing_ctl_sockets sockets = {0};
	struct ing_error err = {0};
	if (ing_ctl_sockets_find(conf->state_dir, &sockets, &err) != 0)
		warn(err.msg);
	for (size_t i = 0; i < sockets.count; i++)
		query_worker(sockets.paths[i], request, answers);
	ing_ctl_sockets_done(&sockets);
	json_decref(request);
	return answers;
}

/* --- the database --- */

static bool is_hold(const char *rest)
{
	for (int r = ING_REST_RETRY_AFTER; r < ING_RESTS_; r++) {
		if (strcmp(rest, ing_rest_name((enum ing_rest)r)) == 0)
			return true;
	}
	return false;
}

static json_t *row_delay(const struct ing_host_row *row)
{
	if (row->rest_ms <= 0)
		return NULL;
	return json_pack("{s:s,s:I,s:b}", "why", row->rest, "ms_left", (json_int_t)row->rest_ms,
		"held", is_hold(row->rest));
}

static json_t *row_last_answer(const struct ing_host_row *row)
{
	if (row->answered_ms < 0)
		return NULL;
	json_t *last = json_object();
	ing_json_set(
		last, "http_status", row->http_status > 0 ? json_integer(row->http_status) : NULL);
	set_text(last, "outcome", row->outcome);
	ing_json_set_number(last, "ms_ago", row->answered_ms);
	ing_json_set_number(last, "response_ms", row->response_ms);
	return last;
}

static json_t *row_lease(const struct ing_host_row *row)
{
	if (row->holder[0] == '\0' || row->lease_ms <= 0)
		return NULL;
	json_t *lease = json_object();
	set_text(lease, "holder", row->holder);
	ing_json_set_number(lease, "ms_left", row->lease_ms);
	set_text(lease, "wanted_by", row->wanted_by);
	return lease;
}

static json_t *row_json(const struct ing_host_row *row)
{
	json_t *o = json_object();
	ing_json_set_text(o, "source", "database");
	set_text(o, "host", row->host);
	ing_json_set(o, "delay", row_delay(row));
	ing_json_set(o, "last_answer", row_last_answer(row));
	ing_json_set_number(o, "failures", row->failures);
	set_text(o, "breaker", row->breaker);
	ing_json_set_number(o, "breaker_opens", row->opens);
	ing_json_set_number(o, "crawl_delay_ms", row->crawl_delay_ms);
	ing_json_set(o, "lease", row_lease(row));
	ing_json_set_number(o, "updated_ms_ago", row->updated_ms);
	return o;
}

/* The key of the host's row: what a worker says it is (it knows addresses), else what it is by the
 * configuration. */
static void find_key(const struct ing_conf *conf, const char *host, const json_t *workers,
	char ret[ING_CTL_HOST_BYTES])
{
	size_t i;
	json_t *w;
	char url[sizeof("http:///") + ING_CTL_HOST_BYTES];
	json_array_foreach (workers, i, w) {
		const char *key = ing_json_get_text(w, "host");
		if (ing_json_get_true(w, "known") && key != NULL) {
			snprintf(ret, ING_CTL_HOST_BYTES, "%s", key);
			return;
		}
	}
	snprintf(url, sizeof(url), "http://%s/", host);
	if (!ing_gate_key(conf->gate.key, url, ret, ING_CTL_HOST_BYTES))
		snprintf(ret, ING_CTL_HOST_BYTES, "%s", host);
}

/* --- orders --- */

struct order_list {
	struct ing_order *all; /* heap; texts are, too */
	size_t count;
};

static void add_order(void *ctx, const struct ing_order *order)
{
	struct order_list *l = ctx;
	if (order->kind != ING_TARGET_HOST)
		return;
	if ((l->count & (l->count - 1)) == 0)
		l->all = ing_realloc(l->all, (l->count == 0 ? 1 : 2 * l->count) * sizeof(*l->all));
	l->all[l->count++] = (struct ing_order){
		.kind = order->kind,
		.action = order->action,
		.target = ing_strdup(order->target),
		.why = order->why != NULL ? ing_strdup(order->why) : NULL,
		.by = order->by != NULL ? ing_strdup(order->by) : NULL,
		.age_ms = order->age_ms,
	};
}

static void free_orders(struct order_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free((char *)(uintptr_t)l->all[i].target);
		free((char *)(uintptr_t)l->all[i].why);
		free((char *)(uintptr_t)l->all[i].by);
	}
	free(l->all);
}

/* The order that workers find for the host, as they find it; NULL: there is none. */
static json_t *find_order(const struct ing_conf *conf, const char *host)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	struct order_list list = {0};
	json_t *o = NULL;
	int rc = ing_schema_open(conf->postgres.dsn, &pg, &err);
	if (rc == 0)
		rc = ing_fleet_table_orders(pg, add_order, &list, &err);
	if (rc != 0)
		warn(err.msg);
	ing_pg_close(pg);
	struct ing_orders *orders = ing_orders_new("");
	(void)ing_orders_replace(orders, list.all, list.count, 0);
	const struct ing_order *order = ing_orders_host(orders, host);
	if (order != NULL)
		o = ing_ctl_order_json(order);
	ing_orders_free(orders);
	free_orders(&list);
	return o;
}

/* --- rows --- */

/* NULL: it does not answer. */
static json_t *find_row(const struct ing_conf *conf, const char *host, const json_t *workers)
{
	struct ing_error err = {0};
	char key[ING_CTL_HOST_BYTES];
	struct ing_host_row row, of_name = {0};
	find_key(conf, host, workers, key);
	int rc = ing_host_table_find(conf->postgres.dsn, key, &row, &err);
	if (rc == 0 && strcmp(key, host) != 0) /* blocks are by name, whatever the lock is by */
		rc = ing_host_table_find(conf->postgres.dsn, host, &of_name, &err);
	if (rc != 0) {
		warn(err.msg);
		return NULL;
	}
	const struct ing_host_row *blocked = of_name.blocked ? &of_name : row.blocked ? &row : NULL;
	json_t *o = row.known ? row_json(&row) : json_object();
	ing_json_set_text(o, "source", "database");
	set_text(o, "host", key);
	ing_json_set_bool(o, "known", row.known);
	ing_json_set(o, "block", blocked != NULL ? ing_ctl_host_block_json(&blocked->block) : NULL);
	ing_json_set(o, "order", find_order(conf, host));
	return o;
}

static void add_row(void *ctx, const struct ing_host_row *row)
{
	ing_json_append(ctx, row_json(row));
}

static json_t *list_rows(const struct ing_conf *conf, unsigned count)
{
	struct ing_error err = {0};
	json_t *rows = json_array();
	if (ing_host_table_top(conf->postgres.dsn, count, add_row, rows, &err) != 0) {
		warn(err.msg);
		json_decref(rows);
		return NULL;
	}
	return json_pack("{s:s,s:o}", "source", "database", "hosts", rows);
}

/* --- the configuration --- */

/* The blocklist's entry about a host as a whole. */
static json_t *find_blocklist(const struct ing_url_rules *rules, const char *host)
{
	char url[sizeof("http:///") + ING_CTL_HOST_BYTES];
	snprintf(url, sizeof(url), "http://%s/", host);
	struct ing_url_decision f = ing_url_rules_decide(rules, url);
	if (f.rule != ING_URL_RULE_BLOCKLIST)
		return NULL;
	const struct ing_url_entry *e = ing_url_rules_entries(rules);
	while (e != NULL && e->why != f.detail)
		e = e->next;
	json_t *o = json_object();
	ing_json_set_text(o, "why", f.detail);
	ing_json_set_text(o, "file", e != NULL ? e->file : NULL);
	ing_json_set(o, "line", e != NULL ? json_integer(e->line) : NULL);
	return o;
}

static json_t *describe_rules(const struct ing_conf *conf, const char *host,
	const struct ing_host_rules *hosts, const struct ing_url_rules *urls)
{
	const struct ing_host_rule *rule = ing_host_rules_find(hosts, host);
	unsigned delay_ms =
		rule != NULL && rule->has_delay ? rule->delay_ms : conf->gate.backoff.delay_ms;
	unsigned slots = rule != NULL && rule->has_concurrency ? rule->concurrency
							       : conf->gate.host_concurrency;
	bool obey = rule != NULL && rule->obey_robots != ING_CHOICE_UNSET
			    ? rule->obey_robots == ING_CHOICE_YES
			    : conf->obey_robots;
	json_t *o = json_object();
	ing_json_set_text(o, "source", "rules");
	ing_json_set_text(o, "host", host);
	ing_json_set_number(o, "delay_ms", delay_ms);
	ing_json_set_number(o, "concurrency", slots);
	ing_json_set_text(o, "robots", obey ? "obey" : "ignore");
	ing_json_set(o, "rule", ing_hosts_rule(rule));
	ing_json_set(o, "blocklist", find_blocklist(urls, host));
	return o;
}

static json_t *query_rules(const struct ing_conf *conf, const char *host)
{
	struct ing_rule_files files;
	struct ing_report report;
	struct ing_error err = {0};
	struct ing_host_rules *hosts = NULL;
	struct ing_url_rules *urls = NULL;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	if (ing_rule_files_read_dir(&files, conf->rules_dir, &err) != 0)
		warn(err.msg);
	else if (ing_host_rules_load_files(&files, &hosts, &report) != 0 ||
		 ing_url_rules_load_files(&files, &urls, &report) != 0)
		warn("there are errors in the rule files, which ingestctl rules check lists");
	json_t *o = describe_rules(conf, host, hosts, urls);
	ing_host_rules_free(hosts);
	ing_url_rules_free(urls);
	ing_report_done(&report);
	ing_rule_files_done(&files);
	return o;
}

static void list_missing(const struct ing_conf *conf, struct ing_ctl_known *k)
{
	if (json_array_size(k->workers) > 0 || k->database != NULL)
		return;
	k->missing =
		conf->postgres.dsn[0] == '\0'
			? "no worker runs with this state.dir, and postgres.dsn is not set"
			: "no worker runs with this state.dir, and the database does not answer";
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_ctl_host_block_json(const struct ing_host_block *b)
{
	json_t *o = json_object();
	set_text(o, "host", b->host);
	set_text(o, "why", b->why);
	set_text(o, "by", b->by);
	ing_json_set_number(o, "ms_ago", b->age_ms);
	return o;
}

void ing_ctl_known_host(const struct ing_conf *conf, const char *host, struct ing_ctl_known *ret)
{
	*ret = (struct ing_ctl_known){0};
	ret->workers = query_workers(conf, json_pack("{s:s,s:s}", "ask", "host", "host", host));
	if (conf->postgres.dsn[0] != '\0')
		ret->database = find_row(conf, host, ret->workers);
	ret->rules = query_rules(conf, host);
	list_missing(conf, ret);
}

void ing_ctl_known_top(const struct ing_conf *conf, unsigned count, struct ing_ctl_known *ret)
{
	*ret = (struct ing_ctl_known){0};
	ret->workers = query_workers(
		conf, json_pack("{s:s,s:I}", "ask", "top", "count", (json_int_t)count));
	if (conf->postgres.dsn[0] != '\0')
		ret->database = list_rows(conf, count);
	list_missing(conf, ret);
}

void ing_ctl_known_done(struct ing_ctl_known *k)
{
	json_decref(k->workers);
	json_decref(k->database);
	json_decref(k->rules);
	*k = (struct ing_ctl_known){0};
}

/* That robots.txt is ignored is said of every host alike. */
static bool knows_robots(const json_t *worker)
{
	const json_t *r = json_object_get(worker, "robots");
	const char *verdict = ing_json_get_text(r, "verdict");
	return json_is_object(r) && (verdict == NULL || strcmp(verdict, "ignored") != 0);
}

bool ing_ctl_known_any(const struct ing_ctl_known *k)
{
	size_t i;
	json_t *w;
	json_array_foreach (k->workers, i, w) {
		if (ing_json_get_true(w, "known") || knows_robots(w) ||
			json_is_string(json_object_get(w, "blocked")) ||
			json_is_object(json_object_get(w, "order")))
			return true;
	}
	return ing_json_get_true(k->database, "known") ||
	       json_is_object(json_object_get(k->database, "block")) ||
	       json_is_object(json_object_get(k->database, "order"));
}
