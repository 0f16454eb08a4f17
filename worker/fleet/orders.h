/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * orders.h - what operators have told workers to leave undone (ingestctl pause, drain), as one worker knows it:
 * the orders of the database's table fleet_order that concern it, and one by its control socket.
 *
 *            pause                                         drain
 * INSTANCE   starts no transfer, takes no message, keeps   takes no message, finishes what it has, gives its
 *            its partitions                                partitions to the others
 * host       no request is made to it                      what is in memory is finished, new requests are parked
 * lane       not read, and nothing of it starts            not read, what is in memory is finished
 *
 * An order holds until an operator takes it back (resume). The time for which requests wait because of it
 * does not count against them.
 *
 * Owns: copies of the orders. Thread: the loop's, or any single one. Returned orders are borrowed until the
 * next change.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/macros.h"
#include "worker/model/lane.h"

struct ing_buf;
struct ing_orders;

/* Orders for hosts that a worker keeps; further ones are not obeyed, and no more can be given (table.h). */
#define ING_MAX_ORDERS 10000
#define ING_ORDER_TARGET_BYTES 257 /* with NUL; as the table's constraints */
#define ING_ORDER_WHY_BYTES 1024

enum ing_order_kind { ING_TARGET_INSTANCE, ING_TARGET_LANE, ING_TARGET_HOST };
enum ing_order_action { ING_ACTION_PAUSE = 1, ING_ACTION_DRAIN };

struct ing_order {
	enum ing_order_kind kind;
	enum ing_order_action action;
	const char *target; /* instance; host as in hosts.yaml; name of a lane */
	const char *why;    /* NULL: not said */
	const char *by;     /* NULL: not known */
	int64_t age_ms; /* when it was read; of the table's own orders: when ing_orders_replace() was called */
	uint64_t read_ms;  /* when that was; both by ing_now_ms() */
	uint64_t since_ms; /* since when this worker obeys it */
	bool local;        /* came by the control socket */
};

const char *ing_order_kind_name(enum ing_order_kind kind); /* "host"; static */
bool ing_order_kind_from_name(const char *name, enum ing_order_kind *ret);
const char *ing_order_action_name(enum ing_order_action action); /* "pause" */
bool ing_order_action_from_name(const char *name, enum ing_order_action *ret);

/* Nothing is ordered. instance: whose orders it keeps, of those for instances. */
struct ing_orders *ing_orders_new(const char *instance);
void ing_orders_free(struct ing_orders *o); /* NULL is fine */

/* All orders of the database, instead of the earlier ones; copied. One that stood there before, and has the same
 * action, keeps its since_ms. Returns how many are not obeyed: they name no host or lane, or stand there twice,
 * or are too many; other instances' are passed over. */
size_t ing_orders_replace(
	struct ing_orders *o, const struct ing_order *list, size_t count, uint64_t now_ms);
/* The order for this instance by its control socket, instead of an earlier one; it holds beside the database's. NULL:
 * none. */
void ing_orders_set_local(struct ing_orders *o, const struct ing_order *order, uint64_t now_ms);

bool ing_orders_has_local(const struct ing_orders *o);

/* What is in force; NULL: nothing. o may be NULL: nothing is. */
const struct ing_order *ing_orders_instance(
	const struct ing_orders *o); /* of two, the one that drains */
const struct ing_order *ing_orders_lane(const struct ing_orders *o, enum ing_lane lane);
/* The most specific for a host name (lower case). */
const struct ing_order *ing_orders_host(const struct ing_orders *o, const char *host);
/* The one that keeps a request from beginning a transfer from url: its lane's, or its host's. accepted_ms: when
 * the request was taken; it is finished if it was before a drain. */
const struct ing_order *ing_orders_holding(
	const struct ing_orders *o, const char *url, enum ing_lane lane, uint64_t accepted_ms);

size_t ing_orders_count(const struct ing_orders *o);
/* The i-th of all, by kind and target; NULL: there are no more. */
const struct ing_order *ing_orders_get(const struct ing_orders *o, size_t i);

uint64_t ing_order_age_ms(const struct ing_order *order, uint64_t now_ms);
/* Append "paused by anna 5 min ago: they asked". now_ms: 0 leaves the time out. */
void ing_order_add_words(const struct ing_order *order, uint64_t now_ms, struct ing_buf *out);
