/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The way of a delivery: objects stored → side messages acknowledged → rows and outbox stored → message and position
 * committed. Loop thread; the callbacks are those of store and emit.
 *
 * What surprises: a cancelled delivery is not freed before all have called back, and what
 * they had begun may still be done: rows with an outbox row are stored, which the partition's next
 * owner finds and commits; or the commit succeeds, and then the request is answered.
 */
#include <stdlib.h>

#include "common/base/clock.h"
#include "worker/deliver/deliver_priv.h"
#include "worker/intake/intake.h"

#define LOG_EVERY_MS 5000

/* --- the end --- */

static void count_committed(struct ing_deliver *d, const struct ing_delivery *delivery)
{
	if (!ing_delivery_is_of_request(delivery))
		return;
	if (ing_delivery_is_new_result(delivery)) {
		d->stats.results++;
		d->stats.hits += delivery->status == ING_STATUS_SUCCESS;
		d->stats.by_status[delivery->status]++;
		d->stats.results_by_lane[delivery->lane]++;
		ing_histogram_add(d->stats.request_us, ING_METRIC_DURATION,
			(ing_now_ms() - delivery->accepted_ms) * 1000);
	} else if (delivery->answered) {
		d->stats.answered++;
	} else {
		d->stats.parked++;
		int tier = ing_tier_of_output(delivery->message.output);
		if (tier >= 0)
			d->stats.parked_by_tier[tier]++;
	}
}

static void finish(struct ing_delivery *delivery)
{
	count_committed(delivery->deliver, delivery);
	if (delivery->done != NULL && delivery->state != ING_DELIVERY_CANCELLED)
		delivery->done(delivery->ctx, delivery);
	ing_delivery_remove(delivery);
}

/* A callback has come. Returns false when the delivery was cancelled; it is freed with the last
 * one. */
static bool note_callback(struct ing_delivery *delivery)
{
	ing_must(delivery->magic == ING_DELIVERY_MAGIC && delivery->owed > 0);
	delivery->owed--;
	if (delivery->state != ING_DELIVERY_CANCELLED)
		return true;
	if (delivery->owed > 0)
		return false;
	if (ing_delivery_is_of_request(delivery))
		delivery->deliver->load.cancelled_total++;
	ing_delivery_remove(delivery);
	return false;
}

static void log_refusal(const struct ing_delivery *delivery, enum ing_output output)
{
	struct ing_log_throttle *gate = &delivery->deliver->refused_gate;
	if (delivery->kind == ING_DELIVERY_DEAD_LETTER)
		ing_log_throttled(gate, LOG_EVERY_MS, ING_LOG_ERROR,
			"a dead letter was refused for good and is dropped");
	else
		ing_log_throttled(gate, LOG_EVERY_MS, ING_LOG_ERROR,
			"%s: the %s of this request was refused for good",
			delivery->name != NULL ? delivery->name : "an answer in result_outbox",
			ing_output_row(output)->noun);
}

/* --- the message and the position --- */

static void on_committed(struct ing_emit_record *r, enum ing_emit_end end);

static void commit(struct ing_delivery *delivery, const struct ing_output_message *message)
{
	delivery->record.token = delivery->token;
	delivery->record.message = message;
	delivery->record.urgent = delivery->lane == ING_LANE_PRIORITY;
	delivery->record.done = on_committed;
	delivery->owed++;
	ing_emit_commit(delivery->deliver->stages.emit, &delivery->record);
}

static void replace_message(struct ing_delivery *delivery, const struct ing_output_message *m)
{
	free(delivery->message.value);
	delivery->message = *m;
	delivery->replaced = true;
}

/* A request needs a result, even when the broker takes less than it said. Rows and outbox stay as they
 * were stored. */
static bool shorten(struct ing_delivery *delivery)
{
	const struct ing_deliver *d = delivery->deliver;
	struct ing_output_message m = delivery->message;
	if (delivery->replaced || d->stages.shorten == NULL)
		return false;
	m.value = d->stages.shorten(m.value, m.value_bytes, m.value_bytes - 1, &m.value_bytes);
	if (m.value == NULL)
		return false;
	replace_message(delivery, &m);
	delivery->status = ING_STATUS_RESULT_TOO_LARGE;
	return true;
}

/* It cannot wait: its request ends. */
static void answer_parked(struct ing_delivery *delivery)
{
	struct ing_deliver *d = delivery->deliver;
	struct ing_output_message m = {.output = ING_OUTPUT_RESULTS};
	d->stages.answer_parked(d->stages.ctx, &delivery->ar, &delivery->message,
		ing_deliver_max_value_bytes(d, m.output), &m);
	replace_message(delivery, &m);
	delivery->answered = false;
	delivery->status = ING_STATUS_HOST_BACKOFF;
	ing_delivery_set_kind(delivery, ING_DELIVERY_RESULT);
}

/* Returns false when nothing is left to send. */
static bool make_sendable(struct ing_delivery *delivery)
{
	switch (ing_output_row(delivery->message.output)->refused) {
	case ING_OUTPUT_REFUSED_SHORTEST:
		return shorten(delivery);
	case ING_OUTPUT_REFUSED_ANSWERED:
		answer_parked(delivery);
		return true;
	case ING_OUTPUT_REFUSED_DROPPED:
		break;
	}
	return false;
}

static void on_refused(struct ing_delivery *delivery)
{
	log_refusal(delivery, delivery->message.output);
	commit(delivery, make_sendable(delivery) ? &delivery->message : NULL);
}

static void on_committed(struct ing_emit_record *r, enum ing_emit_end end)
{
	struct ing_delivery *delivery = ING_CONTAINER(r, struct ing_delivery, record);
	if (end == ING_EMIT_COMMITTED) {
		ing_must(delivery->owed == 1);
		if (delivery->in_outbox)
			ing_store_prune(delivery->deliver->stages.store, &delivery->source);
		finish(delivery);
		return;
	}
	if (end == ING_EMIT_DROPPED)
		ing_delivery_cancel(delivery);
	if (note_callback(delivery))
		on_refused(delivery);
}

static void put_record(struct ing_delivery *delivery)
{
	ing_delivery_set_state(delivery, ING_DELIVERY_COMMITTING);
	commit(delivery, &delivery->message);
}

static void put_record_or_finish(struct ing_delivery *delivery)
{
	if (ing_delivery_has_token(delivery))
		put_record(delivery);
	else
		finish(delivery);
}

/* --- rows and outbox --- */

static void take_answer(struct ing_delivery *delivery, struct ing_answer *a)
{
	delivery->answered = true;
	struct ing_output_message m = a->message;
	m.value = ING_TAKE(a->message.value);
	ing_delivery_add_message(delivery, &m);
	ing_answer_free(a);
}

static void on_stored(struct ing_store_item *item)
{
	struct ing_delivery *delivery = ING_CONTAINER(item, struct ing_delivery, item);
	const struct ing_deliver *d = delivery->deliver;
	struct ing_answer *answer = ING_TAKE(item->answer);
	if (item->end == ING_STORE_FENCED) {
		if (delivery->state != ING_DELIVERY_CANCELLED)
			ing_intake_fenced(d->stages.intake, delivery->token);
		ing_delivery_cancel(delivery);
	}
	if (!note_callback(delivery)) {
		ing_answer_free(answer);
		return;
	}
	if (answer != NULL)
		take_answer(delivery, answer);
	put_record_or_finish(delivery);
}

static void store_or_commit(struct ing_delivery *delivery)
{
	if (!ing_delivery_is_stored(delivery->deliver, delivery)) {
		put_record_or_finish(delivery);
		return;
	}
	ing_delivery_set_state(delivery, ING_DELIVERY_STORING);
	delivery->in_outbox =
		ing_delivery_has_token(delivery) && !delivery->deliver->stages.without_outbox;
	delivery->item = (struct ing_store_item){
		.rows = &delivery->rows,
		.source = delivery->in_outbox ? &delivery->source : NULL,
		.urgent = ing_delivery_has_token(delivery) && delivery->lane == ING_LANE_PRIORITY,
		.message = delivery->in_outbox ? &delivery->message : NULL,
		.done = on_stored,
	};
	delivery->owed++;
	ing_store_put(delivery->deliver->stages.store, &delivery->item);
}

/* --- side messages --- */

static void on_emitted(void *ctx, bool ok)
{
	const struct ing_delivery_side_message *m = ctx;
	struct ing_delivery *delivery = m->delivery;
	if (!note_callback(delivery))
		return;
	if (!ok)
		log_refusal(delivery, m->m.output);
	if (delivery->owed == 0)
		store_or_commit(delivery);
}

/* emit asks before it gives a message to the broker. */
static bool is_wanted(const void *ctx)
{
	const struct ing_delivery_side_message *m = ctx;
	return m->delivery->state != ING_DELIVERY_CANCELLED;
}

static const struct ing_emit_user emit_user = {.done = on_emitted, .wanted = is_wanted};

static void put_side_messages(struct ing_delivery *delivery)
{
	ing_delivery_set_state(delivery, ING_DELIVERY_EMITTING);
	struct ing_delivery_side_message *m = delivery->side_messages;
	for (; m != NULL; m = m->next) {
		struct ing_output_message given = m->m;
		m->m.value = NULL;
		delivery->owed++;
		ing_emit_put(delivery->deliver->stages.emit, &given, &emit_user, m);
	}
}

static void emit_or_store(struct ing_delivery *delivery)
{
	if (delivery->side_messages != NULL)
		put_side_messages(delivery);
	else
		store_or_commit(delivery);
}

/* --- objects --- */

/* One that was refused for good is left out, as a message is; the object store has logged it. */
static void on_put(struct ing_object *put, enum ing_object_end end)
{
	struct ing_delivery_object *o = ING_CONTAINER(put, struct ing_delivery_object, put);
	struct ing_delivery *delivery = o->delivery;
	(void)end;
	delivery->deliver->load.side_bytes -= o->content.bytes;
	delivery->side_bytes -= o->content.bytes;
	ing_derived_done(&o->content);
	if (note_callback(delivery) && delivery->owed == 0)
		emit_or_store(delivery);
}

static void put_objects(struct ing_delivery *delivery)
{
	ing_delivery_set_state(delivery, ING_DELIVERY_PUTTING);
	struct ing_delivery_object *o = delivery->objects;
	for (; o != NULL; o = o->next) {
		o->put.done = on_put;
		delivery->owed++;
		ing_objects_put(delivery->deliver->stages.objects, &o->put);
	}
}

/* -------------------------------------------------------------------------------------------- */

/* A result and its rows; what else has rows. A parked request alone needs no outbox: the transaction
 * that holds it with its position is all there is. */
bool ing_delivery_is_stored(const struct ing_deliver *d, const struct ing_delivery *delivery)
{
	return d->stages.store != NULL && ing_rows_any(&delivery->rows);
}

bool ing_delivery_has_objects(const struct ing_deliver *d, const struct ing_delivery *delivery)
{
	return d->stages.objects != NULL && delivery->objects != NULL;
}

void ing_delivery_begin(struct ing_delivery *delivery)
{
	if (ing_delivery_has_objects(delivery->deliver, delivery))
		put_objects(delivery);
	else
		emit_or_store(delivery);
}
