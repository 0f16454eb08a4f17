/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Deliveries under way: rows to the store, then messages to emit, then the token to intake. Loop
 * thread; the callbacks are those of store and emit.
 *
 * What surprises: a cancelled delivery is not freed before store and emit have called back. Doing a
 * request twice does no harm (rows are upserts by key, results have a key), so whatever is in doubt
 * is left to the next owner of the partition.
 */
#include <stdlib.h>
#include <utlist.h>

#include "common/base/log.h"
#include "worker/deliver/deliver_priv.h"
#include "worker/emit/emit.h"
#include "worker/intake/intake.h"

#define LOG_EVERY_MS 5000
/* Kept for the headers of a message whose value may be cut. */
#define HEADER_ROOM_BYTES 4096

enum state { MADE, STORING, EMITTING, CANCELLED, STATES_ };

struct ing_deliver {
	size_t max_message_bytes;
	struct ing_deliver_stages stages;
	struct ing_delivery **lists; /* of captures, then by partition_index */
	size_t list_count;
	unsigned in_state[STATES_]; /* results */
	struct ing_deliver_load load;
	struct ing_deliver_stats stats;
	struct ing_log_throttle refused_gate;
};

/* --- lists and counts --- */

/* A list for each partition, so that a revocation looks at no other. */
static struct ing_delivery **list_at(struct ing_deliver *d, size_t at)
{
	if (at >= d->list_count) {
		d->lists = ing_realloc(d->lists, (at + 1) * sizeof(struct ing_delivery *));
		while (d->list_count <= at)
			d->lists[d->list_count++] = NULL;
	}
	return &d->lists[at];
}

static struct ing_delivery **list_of_slot(struct ing_deliver *d, int32_t partition_index)
{
	ing_must(partition_index >= 0);
	return list_at(d, (size_t)partition_index + 1);
}

static struct ing_delivery **list_of(struct ing_deliver *d, const struct ing_delivery *delivery)
{
	return delivery->kind == ING_DELIVERY_CAPTURE
		       ? list_at(d, 0)
		       : list_of_slot(d, delivery->token.partition_index);
}

static void count_delivery(struct ing_deliver *d, const struct ing_delivery *delivery, int by)
{
	unsigned n = (unsigned)by;
	switch (delivery->kind) {
	case ING_DELIVERY_RESULT:
		d->load.results += n;
		d->load.lanes[delivery->lane] += n;
		d->in_state[delivery->state] += n;
		d->load.cancelled += delivery->state == CANCELLED ? n : 0;
		break;
	case ING_DELIVERY_PARKED:
		d->load.parked += n;
		d->load.lanes[delivery->lane] += n;
		break;
	case ING_DELIVERY_DEAD_LETTER:
		d->load.dead_letters += n;
		break;
	case ING_DELIVERY_CAPTURE:
		d->load.captures += n;
		break;
	}
	d->load.side_bytes += by > 0 ? delivery->side_bytes : -delivery->side_bytes;
}

static void add(struct ing_deliver *d, struct ing_delivery *delivery)
{
	delivery->deliver = d;
	struct ing_delivery **list = list_of(d, delivery);
	DL_APPEND(*list, delivery);
	count_delivery(d, delivery, 1);
	d->stats.dead += delivery->kind == ING_DELIVERY_DEAD_LETTER;
}

/* Out of its list, and freed. */
static void remove_delivery(struct ing_delivery *delivery)
{
	struct ing_deliver *d = ING_TAKE(delivery->deliver);
	count_delivery(d, delivery, -1);
	struct ing_delivery **list = list_of(d, delivery);
	DL_DELETE(*list, delivery);
	ing_delivery_free(delivery);
}

static void set_state(struct ing_delivery *delivery, enum state state)
{
	struct ing_deliver *d = delivery->deliver;
	ing_must(delivery->state < (unsigned)state);
	if (delivery->kind == ING_DELIVERY_RESULT) {
		d->in_state[delivery->state]--;
		d->in_state[state]++;
		d->load.cancelled += state == CANCELLED;
	}
	delivery->state = (uint8_t)state;
}

/* --- the end --- */

static void count_result(struct ing_deliver *d, enum ing_status status)
{
	d->stats.results++;
	d->stats.hits += status == ING_STATUS_SUCCESS;
	d->stats.by_status[status]++;
}

static void finish_delivery(struct ing_delivery *delivery)
{
	struct ing_deliver *d = delivery->deliver;
	if (delivery->kind != ING_DELIVERY_CAPTURE)
		ing_intake_finish(d->stages.intake, delivery->token);
	if (delivery->kind == ING_DELIVERY_RESULT)
		count_result(d, delivery->status);
	d->stats.parked += delivery->kind == ING_DELIVERY_PARKED;
	if (delivery->done != NULL)
		delivery->done(delivery->ctx, delivery);
	remove_delivery(delivery);
}

/* A callback has come. Returns false when the delivery was cancelled; it is freed with the last
 * one. */
static bool note_callback(struct ing_delivery *delivery)
{
	ing_must(delivery->magic == ING_DELIVERY_MAGIC && delivery->owed > 0);
	delivery->owed--;
	if (delivery->state != CANCELLED)
		return true;
	if (delivery->owed == 0)
		remove_delivery(delivery);
	return false;
}

/* --- messages --- */

static void put_message(struct ing_delivery_message *m);

static void log_refusal(const struct ing_delivery *delivery, enum ing_output output)
{
	unsigned more = 0;
	if (!ing_log_throttle_pass(&delivery->deliver->refused_gate, LOG_EVERY_MS, &more))
		return;
	if (delivery->kind == ING_DELIVERY_DEAD_LETTER)
		ing_log(ING_LOG_ERROR,
			"a dead letter was refused for good and is dropped (%u more before)", more);
	else
		ing_log(ING_LOG_ERROR,
			"%s: the %s of this request was refused for good (%u more before)",
			delivery->name, ing_output_row(output)->noun, more);
}

/* A request needs a result, even when the broker takes less than it said. The rows stay as they were
 * stored. */
static void put_shortest(struct ing_delivery_message *m)
{
	struct ing_delivery *delivery = m->delivery;
	delivery->status = ING_STATUS_RESULT_TOO_LARGE;
	m->m.value = ING_TAKE(delivery->shortest);
	m->m.value_bytes = delivery->shortest_bytes;
	put_message(m);
}

/* It cannot wait: its request ends. */
static void put_answer(struct ing_delivery_message *m)
{
	struct ing_delivery *delivery = m->delivery;
	struct ing_deliver *d = delivery->deliver;
	struct ing_output_message answer = {.output = ING_OUTPUT_RESULTS};
	d->stages.answer_parked(d->stages.ctx, &delivery->ar, &m->m,
		ing_deliver_max_value_bytes(d, answer.output), &answer);
	free(m->m.value);
	m->m = answer;
	count_delivery(d, delivery, -1);
	delivery->kind = ING_DELIVERY_RESULT;
	delivery->status = ING_STATUS_HOST_BACKOFF;
	count_delivery(d, delivery, 1);
	put_message(m);
}

static void on_emitted(void *ctx, bool ok)
{
	struct ing_delivery_message *m = ctx;
	struct ing_delivery *delivery = m->delivery;
	if (!note_callback(delivery))
		return;
	enum ing_output_refused refused = ing_output_row(m->m.output)->refused;
	if (!ok)
		log_refusal(delivery, m->m.output);
	if (!ok && refused == ING_OUTPUT_REFUSED_SHORTEST && delivery->shortest != NULL)
		put_shortest(m);
	else if (!ok && refused == ING_OUTPUT_REFUSED_ANSWERED)
		put_answer(m);
	else if (delivery->owed == 0)
		finish_delivery(delivery);
}

/* emit asks before it gives a message to the broker. */
static bool is_wanted(const void *ctx)
{
	const struct ing_delivery_message *m = ctx;
	return m->delivery->state != CANCELLED;
}

static const struct ing_emit_user emit_user = {.done = on_emitted, .wanted = is_wanted};

static void put_message(struct ing_delivery_message *m)
{
	struct ing_output_message given = m->m;
	if (m->delivery->kind == ING_DELIVERY_PARKED) /* it may be needed again */
		given.value = ing_strndup(given.value, given.value_bytes);
	else
		m->m.value = NULL;
	m->delivery->owed++;
	ing_emit_put(m->delivery->deliver->stages.emit, &given, &emit_user, m);
}

static void put_messages(struct ing_delivery *delivery)
{
	set_state(delivery, EMITTING);
	for (struct ing_delivery_message *m = delivery->messages; m != NULL; m = m->next)
		put_message(m);
}

/* --- rows --- */

static void on_stored(struct ing_store_item *item)
{
	struct ing_delivery *delivery = ING_CONTAINER(item, struct ing_delivery, item);
	if (!note_callback(delivery))
		return;
	if (delivery->messages != NULL)
		put_messages(delivery);
	else
		finish_delivery(delivery);
}

static void put_rows(struct ing_delivery *delivery)
{
	set_state(delivery, STORING);
	delivery->owed++;
	delivery->item = (struct ing_store_item){.rows = &delivery->rows, .done = on_stored};
	ing_store_put(delivery->deliver->stages.store, &delivery->item);
}

static void report_cdx_lines(const struct ing_deliver *d, const struct ing_delivery *delivery)
{
	const struct ing_delivery_cdx_line *l;
	for (l = delivery->cdx_lines; l != NULL && d->stages.on_cdx != NULL; l = l->next)
		d->stages.on_cdx(d->stages.ctx, &l->cdx);
}

/* --- cancelling --- */

static void cancel_delivery(struct ing_delivery *delivery)
{
	if (delivery->state == CANCELLED || delivery->kind == ING_DELIVERY_CAPTURE)
		return;
	set_state(delivery, CANCELLED);
	if (delivery->kind == ING_DELIVERY_RESULT)
		delivery->deliver->load.cancelled_total++;
}

/* ------------------------------------------------------------------------------------------ */

struct ing_deliver *ing_deliver_new(size_t max_message_bytes)
{
	struct ing_deliver *d = ing_alloc(sizeof(*d));
	d->max_message_bytes = max_message_bytes;
	return d;
}

void ing_deliver_wire(struct ing_deliver *d, const struct ing_deliver_stages *stages)
{
	d->stages = *stages;
}

void ing_deliver_free(struct ing_deliver *d)
{
	if (d == NULL)
		return;
	ing_must(ing_deliver_idle(d));
	free(d->lists);
	free(d);
}

bool ing_deliver_put(struct ing_deliver *d, struct ing_delivery **ref)
{
	struct ing_delivery *delivery = ING_TAKE(*ref);
	bool stores = d->stages.store != NULL && ing_rows_any(&delivery->rows);
	ing_must(delivery->state == MADE);
	/* Its token is finished after the last message. */
	ing_must(delivery->kind == ING_DELIVERY_CAPTURE || delivery->messages != NULL);
	report_cdx_lines(d, delivery);
	if (!stores && delivery->messages == NULL) {
		ing_delivery_free(delivery);
		return false;
	}
	add(d, delivery);
	if (stores)
		put_rows(delivery);
	else
		put_messages(delivery);
	return true;
}

bool ing_deliver_wants_rows(const struct ing_deliver *d)
{
	return d->stages.store != NULL;
}

bool ing_deliver_wants_cdx_lines(const struct ing_deliver *d)
{
	return d->stages.on_cdx != NULL;
}

size_t ing_deliver_max_value_bytes(const struct ing_deliver *d, enum ing_output output)
{
	size_t bytes = ing_emit_max_value_bytes(d->stages.emit, output);
	switch (ing_output_row(output)->size) {
	case ING_OUTPUT_SIZE_CONFIGURED:
		return ING_MIN(bytes, d->max_message_bytes);
	case ING_OUTPUT_SIZE_CUT:
		return bytes > HEADER_ROOM_BYTES ? bytes - HEADER_ROOM_BYTES : 0;
	case ING_OUTPUT_SIZE_TOPIC:
		break;
	}
	return bytes;
}

void ing_deliver_revoke(struct ing_deliver *d, int32_t partition_index, uint32_t epoch)
{
	struct ing_delivery *delivery;
	DL_FOREACH (*list_of_slot(d, partition_index), delivery) {
		if (delivery->token.epoch == epoch)
			cancel_delivery(delivery);
	}
}

void ing_deliver_cancel(struct ing_deliver *d)
{
	struct ing_delivery *delivery;
	for (size_t i = 0; i < d->list_count; i++)
		DL_FOREACH (d->lists[i], delivery)
			cancel_delivery(delivery);
}

bool ing_deliver_idle(const struct ing_deliver *d)
{
	return d->load.results + d->load.parked + d->load.dead_letters + d->load.captures == 0;
}

const struct ing_deliver_load *ing_deliver_load(const struct ing_deliver *d)
{
	return &d->load;
}

const char *ing_deliver_blocked_by(const struct ing_deliver *d)
{
	if (d->stages.store != NULL && ing_store_blocked(d->stages.store))
		return "database";
	if (ing_emit_blocked(d->stages.emit))
		return d->stages.output != NULL ? d->stages.output : "broker";
	return NULL;
}

uint64_t ing_deliver_oldest_ms(const struct ing_deliver *d)
{
	uint64_t oldest_ms = UINT64_MAX;
	const struct ing_delivery *delivery;
	for (size_t i = 0; i < d->list_count; i++)
		DL_FOREACH (d->lists[i], delivery)
			if (delivery->kind == ING_DELIVERY_RESULT)
				oldest_ms = ING_MIN(oldest_ms, delivery->accepted_ms);
	return oldest_ms;
}

void ing_deliver_stats(const struct ing_deliver *d, struct ing_deliver_stats *ret)
{
	*ret = d->stats;
	ret->storing = d->in_state[STORING];
	ret->emitting = d->in_state[EMITTING];
}
