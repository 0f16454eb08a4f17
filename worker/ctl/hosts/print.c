/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is known of one host, said to people: first why, in one line, then everything that it
 * follows from. Reads the objects of hosts_ask.c, in which anything may be missing: workers of
 * other versions answer, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/hosts/hosts.h"
#include "worker/ctl/hosts/words.h"

/* --- the first line --- */

/* The object among workers and database that has the longest hold (or, held false, rest). */
static const json_t *find_longest(const struct ing_ctl_known *k, bool held)
{
	const json_t *best = NULL;
	size_t count = json_array_size(k->workers);
	for (size_t i = 0; i <= count; i++) {
		const json_t *o = i < count ? json_array_get(k->workers, i) : k->database;
		const json_t *delay = json_object_get(o, "delay");
		if (ing_words_number(delay, "ms_left") > 0 &&
			(!held || ing_json_get_true(delay, "held")) &&
			(best == NULL || ing_words_number(delay, "ms_left") >
						 ing_words_number(json_object_get(best, "delay"),
							 "ms_left")))
			best = o;
	}
	return best;
}

static bool explain_blocked(struct ing_buf *out, const struct ing_ctl_known *k)
{
	size_t i;
	json_t *w;
	const json_t *block = json_object_get(k->database, "block");
	const json_t *list = json_object_get(k->rules, "blocklist");
	if (json_is_object(block)) {
		ing_buf_add_str(out, "blocked for all workers: ");
		ing_words_add(out, block, "why");
		return true;
	}
	json_array_foreach (k->workers, i, w) {
		if (ing_words_text(w, "blocked")[0] != '\0') {
			ing_buf_add_str(out, "blocked for all workers: ");
			ing_words_add(out, w, "blocked");
			return true;
		}
	}
	if (!json_is_object(list))
		return false;
	ing_buf_add_str(out, "blocked by the blocklist: ");
	ing_words_add(out, list, "why");
	return true;
}

/* What the database says counts for all; a worker may have an order of its own. */
static bool explain_ordered(struct ing_buf *out, const struct ing_ctl_known *k)
{
	size_t i;
	json_t *w;
	const json_t *order = json_object_get(k->database, "order");
	json_array_foreach (k->workers, i, w) {
		if (json_is_object(order))
			break;
		order = json_object_get(w, "order");
	}
	if (!json_is_object(order))
		return false;
	if (strcmp(ing_words_text(order, "kind"), "host") != 0) {
		ing_words_add(out, order, "kind");
		ing_buf_add_str(out, " ");
		ing_words_add(out, order, "target");
		ing_buf_add_str(out, " is ");
	}
	ing_words_add(out, order, "words");
	return true;
}

static bool explain_held(struct ing_buf *out, const struct ing_ctl_known *k)
{
	const json_t *o = find_longest(k, true);
	if (o == NULL)
		return false;
	const json_t *delay = json_object_get(o, "delay");
	const json_t *last = json_object_get(o, "last_answer");
	ing_buf_add_str(out, "held for another ");
	ing_words_add_time(out, ing_words_number(delay, "ms_left"));
	ing_buf_add_str(out, ": ");
	ing_words_add_rest(out, delay);
	if (json_is_object(last)) {
		ing_buf_add_str(out, "; last answer ");
		ing_words_add_answer(out, last, false);
	}
	return true;
}

static bool is_robots_missing(const json_t *r)
{
	const char *verdict = ing_words_text(r, "verdict");
	return strcmp(verdict, "unreachable") == 0 || strcmp(verdict, "failed") == 0;
}

/* The words begin with "robots.txt". */
static void add_missing_robots(struct ing_buf *out, const json_t *r)
{
	ing_buf_add_str(out, "its ");
	if (ing_words_text(r, "words")[0] != '\0')
		ing_words_add(out, r, "words");
	else
		ing_buf_add_str(out, "robots.txt cannot be fetched");
	if (ing_words_text(r, "outcome")[0] != '\0') {
		ing_buf_add_str(out, "; until then its requests end as ");
		ing_words_add(out, r, "outcome");
	} else {
		ing_buf_add_str(out, ", so nothing is fetched");
	}
	ing_buf_add_str(out, "; retried in ");
	ing_words_add_time(out, ing_words_number(r, "expires_ms"));
}

static bool explain_robots(struct ing_buf *out, const struct ing_ctl_known *k)
{
	size_t i;
	json_t *w;
	json_array_foreach (k->workers, i, w) {
		const json_t *r = json_object_get(w, "robots");
		if (is_robots_missing(r) && ing_words_number(r, "expires_ms") > 0) {
			add_missing_robots(out, r);
			return true;
		}
		if (ing_words_number(r, "waiting") > 0) {
			ing_words_add_count(out, ing_words_number(r, "waiting"), "request");
			ing_buf_add_str(out, " waiting for its robots.txt");
			return true;
		}
	}
	return false;
}

static bool explain_waiting(struct ing_buf *out, const struct ing_ctl_known *k)
{
	const json_t *most = NULL;
	size_t i;
	json_t *w;
	int64_t all = 0;
	json_array_foreach (k->workers, i, w) {
		int64_t n = ing_words_number(w, "waiting");
		if (n > 0 && (most == NULL || n > ing_words_number(most, "waiting")))
			most = w;
		all += n;
	}
	if (most == NULL)
		return false;
	const json_t *delay = json_object_get(most, "delay");
	ing_words_add_count(out, all, "request");
	ing_buf_add_str(out, " waiting for ");
	ing_words_add(out, most, "need_words");
	if (strcmp(ing_words_text(most, "need"), "rest") == 0 && json_is_object(delay)) {
		ing_buf_add_str(out, ", another ");
		ing_words_add_time(out, ing_words_number(delay, "ms_left"));
		ing_buf_add_str(out, ": ");
		ing_words_add_rest(out, delay);
	}
	return true;
}

static bool explain_idle(struct ing_buf *out, const struct ing_ctl_known *k)
{
	size_t i;
	json_t *w;
	int64_t holding = 0;
	const json_t *resting = find_longest(k, false);
	const json_t *lease = json_object_get(k->database, "lease");
	json_array_foreach (k->workers, i, w) {
		holding += ing_words_number(w, "holding");
	}
	if (!ing_ctl_known_any(k))
		return false;
	if (holding > 0) {
		ing_words_add_count(out, holding, "transfer");
		ing_buf_add_str(out, " running, no requests waiting");
	} else if (json_array_size(k->workers) == 0 && json_is_object(lease)) {
		ing_buf_add_str(out, "in use by worker ");
		ing_words_add(out, lease, "holder");
	} else if (resting != NULL) {
		ing_buf_add_str(out, "no requests waiting; next transfer possible in ");
		ing_words_add_time(
			out, ing_words_number(json_object_get(resting, "delay"), "ms_left"));
	} else {
		ing_buf_add_str(out, "no requests waiting; the next one starts at once");
	}
	return true;
}

static void print_reason(const char *host, const struct ing_ctl_known *k)
{
	static bool (*const reasons[])(struct ing_buf * out, const struct ing_ctl_known *k) = {
		explain_blocked, explain_ordered, explain_held, explain_robots, explain_waiting,
		explain_idle};
	struct ing_buf line;
	bool said = false;
	ing_buf_init(&line, ING_WORDS_BYTES);
	for (size_t i = 0; i < ING_ARRAY_LEN(reasons) && !said; i++)
		said = reasons[i](&line, k);
	if (!said && k->missing != NULL)
		ing_buf_add_str(
			&line, "state unknown, as no source answers; the rules below would apply");
	else if (!said)
		ing_buf_add_str(&line,
			"unknown to the workers and the database; the rules below would apply");
	printf("%s: %s\n", host, ing_buf_str(&line));
	ing_buf_done(&line);
}

/* --- the lines below --- */

/* Print what was added, behind its label, and empty it for the next line. */
static void end_line(struct ing_buf *out, const char *label)
{
	printf("  %-12s %s\n", label, ing_buf_str(out));
	ing_buf_clear(out);
}

static void print_queue(struct ing_buf *out, const json_t *w)
{
	const char *lane;
	json_t *n;
	const char *between = ": ";
	ing_buf_printf(out, "%" PRId64, ing_words_number(w, "waiting"));
	json_object_foreach (json_object_get(w, "queue"), lane, n) {
		if (json_integer_value(n) > 0) {
			ing_buf_add_str(out, between);
			ing_words_add_shown(out, lane);
			ing_buf_printf(out, " %" PRId64, (int64_t)json_integer_value(n));
			between = ", ";
		}
	}
	if (ing_words_number(w, "parked") > 0)
		ing_buf_printf(out, "; %" PRId64 " parked until the hold is over",
			ing_words_number(w, "parked"));
	end_line(out, "waiting");
	ing_buf_printf(out, "%" PRId64 " of %" PRId64, ing_words_number(w, "holding"),
		ing_words_number(w, "slots"));
	end_line(out, "transfers");
}

static void print_delay(struct ing_buf *out, const json_t *o)
{
	const json_t *delay = json_object_get(o, "delay");
	if (!json_is_object(delay))
		return;
	ing_words_add_time(out, ing_words_number(delay, "ms_left"));
	ing_buf_add_str(out, " left: ");
	ing_words_add_rest(out, delay);
	end_line(out, "pause");
}

static void print_record(struct ing_buf *out, const json_t *o)
{
	const json_t *last = json_object_get(o, "last_answer");
	if (json_is_object(last)) {
		ing_words_add_answer(out, last, true);
		end_line(out, "last answer");
	}
	ing_buf_printf(out, "%" PRId64 " in a row; breaker ", ing_words_number(o, "failures"));
	ing_words_add(out, o, "breaker");
	end_line(out, "failures");
}

static void print_robots(struct ing_buf *out, const json_t *o)
{
	const json_t *r = json_object_get(o, "robots");
	if (!json_is_object(r))
		return;
	if (ing_words_text(r, "url")[0] != '\0') {
		ing_words_add(out, r, "url");
		ing_buf_add_str(out, ": ");
	}
	ing_words_add(out, r, "verdict");
	if (ing_words_number(r, "expires_ms") > 0) {
		ing_buf_add_str(out, ", ");
		ing_words_add_time(out, ing_words_number(r, "age_ms"));
		ing_buf_add_str(
			out, is_robots_missing(r) ? " ago, retried in " : " old, valid for ");
		ing_words_add_time(out, ing_words_number(r, "expires_ms"));
	}
	if (ing_words_number(r, "crawl_delay_ms") > 0) {
		ing_buf_add_str(out, ", Crawl-delay ");
		ing_words_add_time(out, ing_words_number(r, "crawl_delay_ms"));
	}
	if (ing_words_number(r, "waiting") > 0)
		ing_buf_printf(out, ", %" PRId64 " waiting", ing_words_number(r, "waiting"));
	end_line(out, "robots.txt");
}

static void print_lease(struct ing_buf *out, const json_t *o)
{
	const json_t *lease = json_object_get(o, "lease");
	if (!json_is_object(lease))
		return;
	ing_buf_add_str(out, ing_json_get_true(lease, "ours") ? "ours" : "held by ");
	if (!ing_json_get_true(lease, "ours"))
		ing_words_add(out, lease, "holder");
	if (json_is_integer(json_object_get(lease, "ms_left"))) {
		ing_buf_add_str(out, ", ");
		ing_words_add_time(out, ing_words_number(lease, "ms_left"));
		ing_buf_add_str(out, " left");
	}
	if (ing_words_text(lease, "wanted_by")[0] != '\0') {
		ing_buf_add_str(out, ", next is ");
		ing_words_add(out, lease, "wanted_by");
	}
	end_line(out, "lease");
}

/* The name under which it is locked, where that is another (gate.host_key). */
static void print_key(struct ing_buf *out, const char *host, const json_t *o)
{
	if (strcmp(ing_words_text(o, "host"), host) == 0)
		return;
	ing_words_add(out, o, "host");
	end_line(out, "queue of");
}

static void print_worker(struct ing_buf *out, const char *host, const json_t *w)
{
	const json_t *address = json_object_get(w, "address");
	ing_buf_add_str(out, "worker ");
	ing_words_add(out, w, "instance");
	puts(ing_buf_str(out));
	ing_buf_clear(out);
	if (ing_json_get_true(w, "known")) {
		print_key(out, host, w);
		ing_words_add(out, w, "need_words");
		end_line(out, "waits for");
		print_queue(out, w);
		print_delay(out, w);
		print_record(out, w);
		if (json_is_object(address)) {
			ing_words_add(out, address, "address");
			ing_buf_printf(out, ", %" PRId64 " transfers there, over all host names",
				ing_words_number(address, "holding"));
			end_line(out, "address");
		}
		print_lease(out, w);
	} else {
		ing_buf_add_str(out, "not in use");
		end_line(out, "here");
	}
	print_robots(out, w);
}

static void print_database(struct ing_buf *out, const char *host, const json_t *d)
{
	const json_t *block = json_object_get(d, "block");
	puts("database");
	if (json_is_object(block)) {
		ing_words_add(out, block, "host");
		ing_buf_add_str(out, ": ");
		ing_words_add_block(out, block);
		end_line(out, "blocked");
	}
	if (!ing_json_get_true(d, "known")) {
		ing_buf_add_str(out, "no entry");
		end_line(out, "known");
		return;
	}
	print_key(out, host, d);
	print_delay(out, d);
	print_record(out, d);
	print_lease(out, d);
	ing_words_add_time(out, ing_words_number(d, "updated_ms_ago"));
	ing_buf_add_str(out, " ago");
	end_line(out, "updated");
}

static void print_rules(struct ing_buf *out, const json_t *r)
{
	const json_t *rule = json_object_get(r, "rule");
	const json_t *list = json_object_get(r, "blocklist");
	puts("rules");
	ing_words_add_time(out, ing_words_number(r, "delay_ms"));
	ing_buf_add_str(out, json_is_integer(json_object_get(rule, "delay_ms"))
				     ? " (hosts.yaml)"
				     : " (gate.host_delay_ms)");
	end_line(out, "min. pause");
	ing_buf_printf(out, "%" PRId64, ing_words_number(r, "concurrency"));
	end_line(out, "concurrency");
	ing_words_add(out, r, "robots");
	end_line(out, "robots.txt");
	if (json_is_object(rule)) {
		ing_words_add(out, rule, "file");
		ing_buf_printf(out, ":%" PRId64 ": ", ing_words_number(rule, "line"));
		ing_words_add(out, rule, "why");
		end_line(out, "host rule");
	}
	if (json_is_object(list)) {
		ing_words_add(out, list, "file");
		ing_buf_printf(out, ":%" PRId64 ": ", ing_words_number(list, "line"));
		ing_words_add(out, list, "why");
		end_line(out, "blocklist");
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_ctl_print_explain(const char *host, const struct ing_ctl_known *k)
{
	struct ing_buf out;
	size_t i;
	json_t *w;
	ing_buf_init(&out, ING_WORDS_BYTES);
	print_reason(host, k);
	json_array_foreach (k->workers, i, w) {
		print_worker(&out, host, w);
	}
	if (k->database != NULL)
		print_database(&out, host, k->database);
	if (k->rules != NULL)
		print_rules(&out, k->rules);
	ing_buf_done(&out);
}
