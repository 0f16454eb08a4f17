/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A worker's knowledge of hosts as JSON: each stage is asked for its view, and nothing is kept.
 */
#include "worker/service/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "worker/fleet/orders.h"
#include "worker/gate/gate.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/robots/robots.h"
#include "worker/service/duration.h"
#include "worker/service/hosts_survey.h"

#define MAX_HOST_BYTES ((size_t)2048) /* a URL, of which the gate takes the host */
#define MAX_TOP 1000
#define MAX_WHY_BYTES ((size_t)400)
#define DEFAULT_TOP 10

static json_t *error_reply(const char *words)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", words);
	return o;
}

/* --- what the gate says --- */

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
	json_t *o = json_object();
	json_t *queue = json_object();
	unsigned waiting = ing_gate_count_waiting(v);
	bool held = ing_host_backoff_is_hold(&v->backoff, now_ms);
	for (int i = 0; i < ING_LANES_; i++)
		ing_json_set_count(queue, ing_lane_name((enum ing_lane)i), v->waiting[i]);
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

/* An order for the host, or else for this worker. */
static void set_order(json_t *o, const struct ing_orders *orders, const char *host)
{
	const struct ing_order *order = ing_orders_host(orders, host);
	json_t *said = NULL;
	if (order == NULL)
		order = ing_orders_instance(orders);
	if (order != NULL) {
		struct ing_buf words;
		ing_buf_init(&words, 4000);
		ing_order_add_words(order, ing_now_ms(), &words);
		said = json_object();
		ing_json_set_text(said, "kind", ing_order_kind_name(order->kind));
		ing_json_set_text(said, "target", order->target);
		ing_json_set_text(said, "action", ing_order_action_name(order->action));
		ing_json_set_text(said, "words", ing_buf_str(&words));
		ing_buf_done(&words);
	}
	ing_json_set(o, "order", said);
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
	set_order(o, s->orders, name);
	return o;
}

/* The same in a sentence, with what its last answers were. */
static void set_why(json_t *o, const struct ing_survey_host *h, uint64_t now_ms)
{
	const struct ing_host_backoff *p = &h->view.backoff;
	struct ing_buf words;
	ing_buf_init(&words, MAX_WHY_BYTES);
	ing_survey_add_why(h, &words);
	if (p->failures > 0) {
		ing_buf_printf(&words, "%s%u failure%s in a row", words.len > 0 ? "; " : "",
			p->failures, ING_PLURAL_S(p->failures));
		if (p->http_status > 0)
			ing_buf_printf(&words, ", last HTTP %d", p->http_status);
		else if (p->outcome != NULL)
			ing_buf_printf(&words, ", last %s", p->outcome);
		ing_buf_add_char(&words, ' ');
		ing_duration_add(now_ms > p->answered_ms ? now_ms - p->answered_ms : 0, &words);
		ing_buf_add_str(&words, " ago");
	}
	ing_json_set_text(o, "why", ing_buf_str(&words));
	ing_buf_done(&words);
}

static json_t *survey_host(
	const struct ing_hosts_sources *s, const struct ing_survey_host *h, uint64_t now_ms)
{
	json_t *o = view_host(s, &h->view, now_ms);
	ing_json_set_count(o, "robots_waiting", h->robots_waiting);
	ing_json_set_count(o, "pace_ms", h->pace_ms);
	set_why(o, h, now_ms);
	return o;
}

static json_t *list_hosts(const struct ing_hosts_sources *s, const struct ing_survey_host *hosts,
	size_t count, uint64_t now_ms)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		ing_json_append(list, survey_host(s, &hosts[i], now_ms));
	return list;
}

static json_t *answer_top(const struct ing_hosts_sources *s, unsigned count)
{
	struct ing_hosts_survey survey;
	ing_hosts_survey(s->gate, s->robots, count, &survey);
	json_t *o = json_object();
	ing_json_set_text(o, "instance", s->instance);
	ing_hosts_set_survey(o, s, &survey);
	ing_hosts_survey_done(&survey);
	return o;
}

/* -------------------------------------------------------------------------------------------- */

void ing_hosts_set_survey(
	json_t *o, const struct ing_hosts_sources *s, const struct ing_hosts_survey *survey)
{
	ing_json_set(o, "most_waiting",
		list_hosts(s, survey->waiting, survey->waiting_count, survey->at_ms));
	ing_json_set(
		o, "longest_held", list_hosts(s, survey->held, survey->held_count, survey->at_ms));
}

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
		return answer_top(s, (unsigned)count);
	}
	return error_reply("a request has \"ask\": \"host\" or \"top\"");
}
