/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Orders are copied into the arena of their table, which is made anew with each change: a few dozen
 * times a day, of a few orders. Of a host only the longest name that covers it counts, as for blocks: an
 * order for a name replaces one for all below its domain.
 */
#include "worker/fleet/orders.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/net/url.h"
#include "worker/intake/lane_names.h"
#include "worker/rules/host_names.h"

struct ing_orders {
	char *instance;
	struct ing_host_names hosts;  /* has the copies, too */
	const struct ing_order **all; /* heap: of the database, those that are obeyed */
	size_t count;
	const struct ing_order *own, *lanes[ING_LANES_];
	struct ing_order local; /* strings on the heap */
	bool has_local;
};

static const char *const kinds[] = {
	[ING_TARGET_INSTANCE] = "instance",
	[ING_TARGET_HOST] = "host",
	[ING_TARGET_LANE] = "lane",
};
static const char *const actions[] = {
	[ING_ACTION_PAUSE] = "pause",
	[ING_ACTION_DRAIN] = "drain",
};

/* --- the database's --- */

static int compare_orders(const void *a, const void *b)
{
	const struct ing_order *x = *(const struct ing_order *const *)a;
	const struct ing_order *y = *(const struct ing_order *const *)b;
	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
				  : strcmp(x->target, y->target);
}

/* Since when the same has been in force. */
static uint64_t find_since(
	const struct ing_orders *o, const struct ing_order *order, uint64_t now_ms)
{
	if (o->count == 0)
		return now_ms;
	const struct ing_order *const *same =
		bsearch(&order, o->all, o->count, sizeof(struct ing_order *), compare_orders);
	return same != NULL && (*same)->action == order->action ? (*same)->since_ms : now_ms;
}

static bool take_lane(struct ing_orders *o, const struct ing_order *order)
{
	enum ing_lane lane;
	if (!ing_lane_from_name(order->target, &lane) || o->lanes[lane] != NULL)
		return false;
	o->lanes[lane] = order;
	return true;
}

static bool take(struct ing_orders *o, const struct ing_order *order)
{
	switch (order->kind) {
	case ING_TARGET_INSTANCE:
		if (o->own != NULL)
			return false;
		o->own = order;
		return true;
	case ING_TARGET_LANE:
		return take_lane(o, order);
	case ING_TARGET_HOST:
		return ing_host_names_add(&o->hosts, order->target, order);
	}
	return false;
}

static const struct ing_order *copy_order(
	struct ing_arena *ar, const struct ing_order *order, uint64_t since_ms, uint64_t now_ms)
{
	struct ing_order *copy = ing_arena_alloc(ar, sizeof(*copy));
	*copy = *order;
	copy->target = ing_arena_strdup(ar, order->target);
	copy->why = ing_arena_strdup(ar, order->why);
	copy->by = ing_arena_strdup(ar, order->by);
	copy->since_ms = since_ms;
	copy->read_ms = now_ms;
	copy->local = false;
	return copy;
}

/* --- words --- */

static void add_time(struct ing_buf *out, uint64_t ms)
{
	uint64_t s = ms / 1000;
	if (s < 120)
		ing_buf_printf(out, " %" PRIu64 " s ago", s);
	else if (s < 7200)
		ing_buf_printf(out, " %" PRIu64 " min ago", s / 60);
	else if (s < (uint64_t)48 * 3600)
		ing_buf_printf(out, " %" PRIu64 " h ago", s / 3600);
	else
		ing_buf_printf(out, " %" PRIu64 " days ago", s / 86400);
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_order_kind_name(enum ing_order_kind kind)
{
	return kinds[kind];
}

bool ing_order_kind_from_name(const char *name, enum ing_order_kind *ret)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		if (strcmp(kinds[i], name) != 0)
			continue;
		*ret = (enum ing_order_kind)i;
		return true;
	}
	return false;
}

const char *ing_order_action_name(enum ing_order_action action)
{
	return actions[action];
}

bool ing_order_action_from_name(const char *name, enum ing_order_action *ret)
{
	for (size_t i = ING_ACTION_PAUSE; i < ING_ARRAY_LEN(actions); i++) {
		if (strcmp(actions[i], name) != 0)
			continue;
		*ret = (enum ing_order_action)i;
		return true;
	}
	return false;
}

struct ing_orders *ing_orders_new(const char *instance)
{
	struct ing_orders *o = ing_alloc(sizeof(*o));
	o->instance = ing_strdup(instance);
	ing_host_names_init(&o->hosts);
	return o;
}

void ing_orders_free(struct ing_orders *o)
{
	if (o == NULL)
		return;
	ing_orders_set_local(o, NULL, 0);
	ing_host_names_done(&o->hosts);
	free(o->all);
	free(o->instance);
	free(o);
}

size_t ing_orders_replace(
	struct ing_orders *o, const struct ing_order *list, size_t count, uint64_t now_ms)
{
	struct ing_orders next = {
		.instance = o->instance, .local = o->local, .has_local = o->has_local};
	size_t hosts = 0;
	size_t refused = 0;
	ing_host_names_init(&next.hosts);
	next.all = ing_alloc((count + 1) * sizeof(struct ing_order *));
	for (size_t i = 0; i < count; i++) {
		if (list[i].kind == ING_TARGET_INSTANCE && strcmp(list[i].target, o->instance) != 0)
			continue;
		const struct ing_order *order = copy_order(
			&next.hosts.arena, &list[i], find_since(o, &list[i], now_ms), now_ms);
		bool is_host = order->kind == ING_TARGET_HOST;
		bool obeyed = (!is_host || hosts < ING_MAX_ORDERS) && take(&next, order);
		hosts += obeyed && is_host;
		refused += !obeyed;
		if (obeyed)
			next.all[next.count++] = order;
	}
	qsort(next.all, next.count, sizeof(struct ing_order *), compare_orders);
	ing_host_names_done(&o->hosts);
	free(o->all);
	*o = next;
	return refused;
}

void ing_orders_set_local(struct ing_orders *o, const struct ing_order *order, uint64_t now_ms)
{
	free((char *)(uintptr_t)o->local.why);
	free((char *)(uintptr_t)o->local.by);
	o->local = (struct ing_order){0};
	o->has_local = order != NULL;
	if (order == NULL)
		return;
	o->local = (struct ing_order){
		.kind = ING_TARGET_INSTANCE,
		.action = order->action,
		.target = o->instance,
		.why = order->why != NULL ? ing_strdup(order->why) : NULL,
		.by = order->by != NULL ? ing_strdup(order->by) : NULL,
		.age_ms = order->age_ms,
		.since_ms = now_ms,
		.read_ms = now_ms,
		.local = true,
	};
}

bool ing_orders_has_local(const struct ing_orders *o)
{
	return o->has_local;
}

const struct ing_order *ing_orders_instance(const struct ing_orders *o)
{
	if (o == NULL || !o->has_local)
		return o != NULL ? o->own : NULL;
	return o->own != NULL && o->own->action >= o->local.action ? o->own : &o->local;
}

const struct ing_order *ing_orders_lane(const struct ing_orders *o, enum ing_lane lane)
{
	return o != NULL ? o->lanes[lane] : NULL;
}

const struct ing_order *ing_orders_host(const struct ing_orders *o, const char *host)
{
	return o != NULL ? ing_host_names_find(&o->hosts, host) : NULL;
}

static bool holds(const struct ing_order *order, uint64_t accepted_ms)
{
	return order != NULL &&
	       (order->action == ING_ACTION_PAUSE || accepted_ms >= order->since_ms);
}

const struct ing_order *ing_orders_holding(
	const struct ing_orders *o, const char *url, enum ing_lane lane, uint64_t accepted_ms)
{
	char host[ING_URL_HOST_BYTES];
	const struct ing_order *order = ing_orders_lane(o, lane);
	if (holds(order, accepted_ms))
		return order;
	if (o == NULL || o->count == 0 || !ing_url_host(url, host, sizeof(host)))
		return NULL;
	order = ing_orders_host(o, host);
	return holds(order, accepted_ms) ? order : NULL;
}

size_t ing_orders_count(const struct ing_orders *o)
{
	return o != NULL ? o->count + o->has_local : 0;
}

const struct ing_order *ing_orders_get(const struct ing_orders *o, size_t i)
{
	if (o != NULL && o->has_local && i-- == 0)
		return &o->local;
	return o != NULL && i < o->count ? o->all[i] : NULL;
}

uint64_t ing_order_age_ms(const struct ing_order *order, uint64_t now_ms)
{
	uint64_t age_ms = (uint64_t)ING_MAX(order->age_ms, (int64_t)0);
	return age_ms + (now_ms > order->read_ms ? now_ms - order->read_ms : 0);
}

void ing_order_add_words(const struct ing_order *order, uint64_t now_ms, struct ing_buf *out)
{
	ing_buf_add_str(out, order->action == ING_ACTION_PAUSE ? "paused" : "drained");
	if (order->by != NULL)
		ing_buf_printf(out, " by %s", order->by);
	if (now_ms != 0)
		add_time(out, ing_order_age_ms(order, now_ms));
	if (order->why != NULL)
		ing_buf_printf(out, ": %s", order->why);
}
