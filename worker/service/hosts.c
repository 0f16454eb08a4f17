/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A worker's knowledge of hosts as JSON: each stage is asked for its view, and nothing is kept. The
 * lists of `top` are picked in one walk over the gate's hosts, with twice the memory of the lists.
 */
#include "worker/service/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/gate/gate.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/robots/robots.h"

#define MAX_HOST_BYTES ((size_t)2048) /* a URL, of which the gate takes the host */
#define MAX_TOP 1000
#define DEFAULT_TOP 10

static json_t *error_reply(const char *words)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", words);
	return o;
}

/* --- what the gate says --- */

static unsigned count_waiting(const struct ing_gate_host_view *v)
{
	unsigned n = 0;
	for (int i = 0; i < ING_LANES_; i++)
		n += v->waiting[i];
	return n;
}

static void set_need(
	json_t *o, const struct ing_hosts_sources *s, const struct ing_gate_host_view *v)
{
	static const char *const words[] = {
		[ING_NEED_NOTHING] = "nothing: no requests waiting",
		[ING_NEED_TURN] = "its turn among the hosts",
		[ING_NEED_SLOT] = "one of its transfers to end",
		[ING_NEED_REST] = "the end of its pause",
		[ING_NEED_LEASE] = "its lease; the database has not answered yet",
		[ING_NEED_ADDRESS] = "its name to be resolved",
		[ING_NEED_ADDRESS_SLOT] = "transfers of other hosts at its address to end",
		[ING_NEED_ROOM] = "examiners: too many documents of its domain are queued",
		[ING_NEED_GATE] =
			"this worker, which starts no transfers while a later stage is blocked",
	};
	char text[400];
	const char *say = words[v->need];
	if (v->need == ING_NEED_LEASE && v->holder != NULL) {
		snprintf(text, sizeof(text), "its lease, held by worker %s", v->holder);
		say = text;
	} else if (v->need == ING_NEED_GATE && ing_gate_blocked(s->gate)) {
		say = "the lease database, which cannot be reached";
	}
	ing_json_set_text(o, "need", ing_gate_need_name(v->need));
	ing_json_set_text(o, "need_words", say);
}

static void set_delay(json_t *o, const struct ing_gate_host_view *v, bool held)
{
	json_t *delay = NULL;
	if (v->rest_ms > 0) {
		delay = json_object();
		ing_json_set_text(delay, "why", ing_rest_name(v->backoff.rest));
		ing_json_set_count(delay, "ms_left", v->rest_ms);
		ing_json_set_bool(delay, "held", held);
	}
	ing_json_set(o, "delay", delay);
}

static void set_last_answer(json_t *o, const struct ing_host_backoff *p, uint64_t now_ms)
{
	json_t *last = NULL;
	if (p->outcome != NULL || p->answered_ms > 0) {
		last = json_object();
		ing_json_set(last, "http_status",
			p->http_status > 0 ? json_integer(p->http_status) : NULL);
		ing_json_set_text(last, "outcome", p->outcome);
		ing_json_set_count(
			last, "ms_ago", now_ms > p->answered_ms ? now_ms - p->answered_ms : 0);
		ing_json_set_count(last, "response_ms", p->response_ms);
	}
	ing_json_set(o, "last_answer", last);
}

static void set_lease(
	json_t *o, const struct ing_hosts_sources *s, const struct ing_gate_host_view *v)
{
	json_t *lease = NULL;
	if (v->leased || v->holder != NULL) {
		lease = json_object();
		ing_json_set_bool(lease, "ours", v->leased);
		ing_json_set_text(lease, "holder", v->leased ? s->instance : v->holder);
		ing_json_set(
			lease, "ms_left", v->leased ? json_integer((json_int_t)v->lease_ms) : NULL);
	}
	ing_json_set(o, "lease", lease);
}

static void set_address(json_t *o, const struct ing_gate_host_view *v)
{
	json_t *address = NULL;
	if (v->addr.family != 0) {
		char text[ING_ADDR_TEXT_BYTES];
		ing_addr_format(&v->addr, text);
		address = json_object();
		ing_json_set_text(address, "address", text);
		ing_json_set_count(address, "holding", v->addr_holding);
	}
	ing_json_set(o, "address", address);
}

static json_t *view_host(
	const struct ing_hosts_sources *s, const struct ing_gate_host_view *v, uint64_t now_ms)
{
	static const char *const lanes[ING_LANES_] = {
		[ING_LANE_PRIORITY] = "priority",
		[ING_LANE_REQUESTS] = "requests",
		[ING_LANE_DAILY] = "daily",
		[ING_LANE_BULK] = "bulk",
	};
	json_t *o = json_object();
	json_t *queue = json_object();
	unsigned waiting = count_waiting(v);
	bool held = ing_host_backoff_is_hold(&v->backoff, now_ms);
	for (int i = 0; i < ING_LANES_; i++)
		ing_json_set_count(queue, lanes[i], v->waiting[i]);
	ing_json_set_text(o, "host", v->key);
	set_need(o, s, v);
	ing_json_set_count(o, "waiting", waiting);
	ing_json_set(o, "queue", queue);
	ing_json_set_count(o, "parked", held ? waiting : 0);
	ing_json_set_count(o, "holding", v->holding);
	ing_json_set_count(o, "slots", v->slots);
	set_delay(o, v, held);
	set_last_answer(o, &v->backoff, now_ms);
	ing_json_set_count(o, "failures", v->backoff.failures);
	ing_json_set_text(o, "breaker", ing_breaker_name(v->backoff.breaker));
	set_address(o, v);
	set_lease(o, s, v);
	return o;
}

/* --- what the others say --- */

static void set_robots(json_t *o, const struct ing_robots *robots, const char *host)
{
	json_t *r = NULL;
	struct ing_robots_info info = {0};
	if (robots != NULL)
		ing_robots_explain(robots, host, &info);
	if (info.known) {
		r = json_object();
		ing_json_set_text(r, "url", info.url[0] != '\0' ? info.url : NULL);
		ing_json_set_text(r, "verdict", info.verdict);
		ing_json_set_text(r, "outcome", info.outcome);
		ing_json_set_text(r, "words", info.detail[0] != '\0' ? info.detail : NULL);
		ing_json_set(r, "http_status",
			info.http_status > 0 ? json_integer(info.http_status) : NULL);
		ing_json_set_count(r, "age_ms", info.age_ms);
		ing_json_set_count(r, "expires_ms", info.expires_ms);
		ing_json_set_count(r, "crawl_delay_ms", info.crawl_delay_ms);
		ing_json_set_count(r, "waiting", info.waiting);
	}
	ing_json_set(o, "robots", r);
}

static json_t *choice(enum ing_host_choice c)
{
	return c == ING_CHOICE_UNSET ? json_null() : json_boolean(c == ING_CHOICE_YES);
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_hosts_rule(const struct ing_host_rule *rule)
{
	if (rule == NULL)
		return json_null();
	json_t *r = json_object();
	ing_json_set_text(r, "host", rule->host);
	ing_json_set_text(r, "file", rule->file);
	ing_json_set_number(r, "line", rule->line);
	ing_json_set_text(r, "why", rule->why);
	ing_json_set_text(r, "source", rule->source);
	ing_json_set(r, "delay_ms", rule->has_delay ? json_integer(rule->delay_ms) : NULL);
	ing_json_set(
		r, "concurrency", rule->has_concurrency ? json_integer(rule->concurrency) : NULL);
	ing_json_set(r, "obey_robots", choice(rule->obey_robots));
	ing_json_set(r, "tls_fallback", choice(rule->tls_fallback));
	ing_json_set_bool(r, "resolver", rule->resolver);
	return r;
}

/* --- the requests --- */

static json_t *answer_host(const struct ing_hosts_sources *s, const char *host)
{
	struct ing_gate_host_view v = {0};
	json_t *o;
	char name[300];
	bool known = ing_gate_explain(s->gate, host, &v);
	if (!ing_gate_key(ING_KEY_HOST, host, name, sizeof(name)))
		snprintf(name, sizeof(name), "%s", host);
	if (known) {
		o = view_host(s, &v, ing_now_ms());
	} else {
		o = json_object();
		ing_json_set_text(o, "host", name);
	}
	ing_json_set_bool(o, "known", known);
	ing_json_set_text(o, "instance", s->instance);
	set_robots(o, s->robots, name);
	ing_json_set(o, "rule", ing_hosts_rule(ing_host_rules_find(s->host_rules, name)));
	ing_json_set_text(o, "blocked", ing_blocked_hosts_find(s->blocked_hosts, name));
	return o;
}

/* The first `count` of all that are given; room for twice as many, so that a sort is due only after
 * as many have come, in whatever order they do. */
struct ranking {
	int (*compare)(const void *, const void *); /* of two struct ing_gate_host_view */
	struct ing_gate_host_view *best;
	size_t have;
};

struct top {
	struct ranking waiting, held;
	size_t count;
	uint64_t now_ms;
};

static int compare_waiting(const void *a, const void *b)
{
	unsigned x = count_waiting(a);
	unsigned y = count_waiting(b);
	return x > y ? -1 : x < y;
}

static int compare_rests(const void *a, const void *b)
{
	const struct ing_gate_host_view *x = a;
	const struct ing_gate_host_view *y = b;
	return x->rest_ms > y->rest_ms ? -1 : x->rest_ms < y->rest_ms;
}

static void cut_ranking(struct ranking *r, size_t count)
{
	qsort(r->best, r->have, sizeof(*r->best), r->compare);
	r->have = ING_MIN(r->have, count);
}

static void rank(struct ranking *r, size_t count, const struct ing_gate_host_view *v)
{
	r->best[r->have++] = *v;
	if (r->have == 2 * count)
		cut_ranking(r, count);
}

static struct ranking new_ranking(size_t count, int (*compare)(const void *, const void *))
{
	return (struct ranking){
		compare, ing_alloc(2 * count * sizeof(struct ing_gate_host_view)), 0};
}

static void consider(void *ctx, const struct ing_gate_host_view *v)
{
	struct top *t = ctx;
	if (count_waiting(v) > 0)
		rank(&t->waiting, t->count, v);
	if (v->rest_ms > 0 && ing_host_backoff_is_hold(&v->backoff, t->now_ms))
		rank(&t->held, t->count, v);
}

static json_t *list_ranking(
	const struct ing_hosts_sources *s, const struct ranking *r, uint64_t now_ms)
{
	json_t *list = json_array();
	for (size_t i = 0; i < r->have; i++)
		ing_json_append(list, view_host(s, &r->best[i], now_ms));
	return list;
}

static json_t *answer_top(const struct ing_hosts_sources *s, size_t count)
{
	struct top t = {.count = count, .now_ms = ing_now_ms()};
	t.waiting = new_ranking(count, compare_waiting);
	t.held = new_ranking(count, compare_rests);
	ing_gate_each(s->gate, consider, &t);
	cut_ranking(&t.waiting, count);
	cut_ranking(&t.held, count);
	json_t *o = json_object();
	ing_json_set_text(o, "instance", s->instance);
	ing_json_set(o, "most_waiting", list_ranking(s, &t.waiting, t.now_ms));
	ing_json_set(o, "longest_held", list_ranking(s, &t.held, t.now_ms));
	free(t.waiting.best);
	free(t.held.best);
	return o;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_hosts_answer(const struct ing_hosts_sources *s, const json_t *request)
{
	const char *ask = ing_json_get_text(request, "ask");
	if (ask == NULL)
		return error_reply("a request has \"ask\": \"host\" or \"top\"");
	if (strcmp(ask, "host") == 0) {
		const json_t *host = json_object_get(request, "host");
		size_t bytes = json_string_length(host);
		if (bytes == 0 || bytes > MAX_HOST_BYTES)
			return error_reply("\"host\" must be a host or a URL");
		return answer_host(s, json_string_value(host));
	}
	if (strcmp(ask, "top") == 0) {
		const json_t *n = json_object_get(request, "count");
		json_int_t count = n != NULL ? json_integer_value(n) : DEFAULT_TOP;
		if (count < 1 || count > MAX_TOP)
			return error_reply("\"count\" must be from 1 to 1000");
		return answer_top(s, (size_t)count);
	}
	return error_reply("a request has \"ask\": \"host\" or \"top\"");
}
