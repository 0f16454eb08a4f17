/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows as JSON and as words. No state.
 */
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "worker/ctl/fleet/fleet.h"
#include "worker/ctl/hosts/words.h"

#define WORDS_BYTES ((size_t)4000)

static json_t *known_number(int64_t n)
{
	return n >= 0 ? json_integer((json_int_t)n) : NULL;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_ctl_worker_json(const struct ing_worker_row *row)
{
	json_t *o = json_object();
	ing_json_set_text(o, "record", "worker");
	ing_json_set_text(o, "instance", row->instance);
	ing_json_set_text(o, "condition", ing_worker_condition(row));
	ing_json_set_text(o, "state", row->state);
	ing_json_set_text(o, "held_by", row->held_by);
	ing_json_set_text(o, "machine", row->machine);
	ing_json_set_number(o, "pid", row->pid);
	ing_json_set_text(o, "version", row->version);
	ing_json_set_text(o, "rules", row->rules);
	ing_json_set_number(o, "age_ms", row->age_ms);
	ing_json_set_number(o, "up_ms", row->up_ms);
	ing_json_set(o, "orders_ms", known_number(row->orders_ms));
	ing_json_set_number(o, "partitions", row->partitions);
	ing_json_set(o, "lag", known_number(row->lag));
	ing_json_set_count(o, "jobs", row->jobs);
	ing_json_set_count(o, "waiting", row->waiting);
	ing_json_set_number(o, "transfers", row->transfers);
	ing_json_set(o, "oldest_ms", known_number(row->oldest_ms));
	ing_json_set_count(o, "results", row->results);
	ing_json_set_count(o, "hits", row->hits);
	ing_json_set(o, "per_second", json_real(row->rate));
	ing_json_set(o, "status",
		row->status != NULL
			? ing_json_parse(row->status, strlen(row->status), &ing_json_own, NULL)
			: NULL);
	return o;
}

json_t *ing_ctl_order_json(const struct ing_order *order)
{
	json_t *o = json_object();
	ing_json_set_text(o, "record", "order");
	ing_json_set_text(o, "kind", ing_order_kind_name(order->kind));
	ing_json_set_text(o, "target", order->target);
	ing_json_set_text(o, "action", ing_order_action_name(order->action));
	ing_json_set_text(o, "why", order->why);
	ing_json_set_text(o, "by", order->by);
	ing_json_set_number(o, "ms_ago", order->age_ms);
	struct ing_buf words;
	ing_buf_init(&words, WORDS_BYTES);
	ing_order_add_words(order, 1, &words);
	ing_json_set_text(o, "words", ing_buf_str(&words));
	ing_buf_done(&words);
	return o;
}

void ing_ctl_add_order(const struct ing_order *order, struct ing_buf *out)
{
	struct ing_buf words;
	ing_buf_init(&words, WORDS_BYTES);
	ing_buf_printf(&words, "%s %s: ", ing_order_kind_name(order->kind), order->target);
	ing_order_add_words(order, 1, &words);
	ing_words_add_shown(out, ing_buf_str(&words));
	ing_buf_done(&words);
}

char *ing_ctl_shown(const char *text)
{
	struct ing_buf words;
	ing_buf_init(&words, WORDS_BYTES);
	ing_words_add_shown(&words, text);
	return ing_buf_steal(&words);
}

const char *ing_ctl_operator(void)
{
	const struct passwd *p = getpwuid(getuid());
	return p != NULL ? p->pw_name : NULL;
}
