/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The deliveries under way, by partition: what there is of them, and cancelling. Loop thread.
 */
#include <stdlib.h>
#include <utlist.h>

#include "worker/deliver/deliver_priv.h"
#include "worker/intake/intake.h"
#include "worker/model/tier.h"

/* Kept for the headers of a message whose value may be cut. */
#define HEADER_ROOM_BYTES 4096

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
	return ing_delivery_has_token(delivery) ? list_of_slot(d, delivery->token.partition_index)
						: list_at(d, 0);
}

static void count_delivery(struct ing_deliver *d, const struct ing_delivery *delivery, int by)
{
	unsigned n = (unsigned)by;
	switch (delivery->kind) {
	case ING_DELIVERY_RESULT:
	case ING_DELIVERY_ANSWERED:
		d->load.results += n;
		break;
	case ING_DELIVERY_PARKED:
		d->load.parked += n;
		break;
	case ING_DELIVERY_DEAD_LETTER:
		d->load.dead_letters += n;
		break;
	case ING_DELIVERY_CAPTURE:
		d->load.captures += n;
		break;
	case ING_DELIVERY_DOCUMENT:
		d->load.documents += n;
		break;
	}
	d->load.side_bytes += by > 0 ? delivery->side_bytes : -delivery->side_bytes;
	if (!ing_delivery_is_of_request(delivery))
		return;
	d->load.lanes[delivery->lane] += n;
	d->in_state[delivery->state] += n;
	d->load.cancelled += delivery->state == ING_DELIVERY_CANCELLED ? n : 0;
}

static void add(struct ing_deliver *d, struct ing_delivery *delivery)
{
	struct ing_delivery **list = list_of(d, delivery);
	delivery->deliver = d;
	DL_APPEND(*list, delivery);
	count_delivery(d, delivery, 1);
	d->stats.dead += delivery->kind == ING_DELIVERY_DEAD_LETTER;
}

static void report_cdx_lines(const struct ing_deliver *d, const struct ing_delivery *delivery)
{
	const struct ing_delivery_cdx_line *l;
	for (l = delivery->cdx_lines; l != NULL && d->stages.on_cdx != NULL; l = l->next)
		d->stages.on_cdx(d->stages.ctx, &l->cdx);
}

/* The store is told whom a row is about. */
static bool has_source(const struct ing_deliver *d, struct ing_delivery *delivery)
{
	bool needed = !d->stages.without_outbox && (ing_delivery_is_stored(d, delivery) ||
							   delivery->kind == ING_DELIVERY_ANSWERED);
	return !needed || ing_intake_source(d->stages.intake, delivery->token, &delivery->source);
}

/* Returns false when there is nothing to do for it. */
static bool is_wanted(const struct ing_deliver *d, struct ing_delivery *delivery)
{
	if (!ing_delivery_has_token(delivery))
		return ing_delivery_is_stored(d, delivery) || delivery->side_messages != NULL ||
		       ing_delivery_has_objects(d, delivery);
	return has_source(d, delivery);
}

/* ------------------------------------------------------------------------------------------ */

bool ing_delivery_has_token(const struct ing_delivery *delivery)
{
	return delivery->kind != ING_DELIVERY_CAPTURE && delivery->kind != ING_DELIVERY_DOCUMENT;
}

bool ing_delivery_is_of_request(const struct ing_delivery *delivery)
{
	return delivery->kind != ING_DELIVERY_DEAD_LETTER && ing_delivery_has_token(delivery);
}

void ing_delivery_set_kind(struct ing_delivery *delivery, enum ing_delivery_kind kind)
{
	count_delivery(delivery->deliver, delivery, -1);
	delivery->kind = kind;
	count_delivery(delivery->deliver, delivery, 1);
}

void ing_delivery_remove(struct ing_delivery *delivery)
{
	struct ing_deliver *d = ING_TAKE(delivery->deliver);
	count_delivery(d, delivery, -1);
	struct ing_delivery **list = list_of(d, delivery);
	DL_DELETE(*list, delivery);
	ing_delivery_free(delivery);
}

void ing_delivery_set_state(struct ing_delivery *delivery, enum ing_delivery_state state)
{
	struct ing_deliver *d = delivery->deliver;
	ing_must(delivery->state < (unsigned)state);
	if (ing_delivery_is_of_request(delivery)) {
		d->in_state[delivery->state]--;
		d->in_state[state]++;
		d->load.cancelled += state == ING_DELIVERY_CANCELLED;
	}
	delivery->state = (uint8_t)state;
}

void ing_delivery_cancel(struct ing_delivery *delivery)
{
	if (delivery->state == ING_DELIVERY_CANCELLED || !ing_delivery_has_token(delivery))
		return;
	ing_delivery_set_state(delivery, ING_DELIVERY_CANCELLED);
	struct ing_delivery_object *o = delivery->objects;
	for (; o != NULL; o = o->next)
		ing_objects_cancel(&o->put);
}

bool ing_delivery_is_new_result(const struct ing_delivery *delivery)
{
	return delivery->kind == ING_DELIVERY_RESULT && !delivery->answered;
}

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
	ing_must(delivery->state == ING_DELIVERY_MADE);
	report_cdx_lines(d, delivery);
	if (!is_wanted(d, delivery)) {
		ing_delivery_free(delivery);
		return false;
	}
	add(d, delivery);
	ing_delivery_begin(delivery);
	return true;
}

bool ing_deliver_wants_objects(const struct ing_deliver *d)
{
	return d->stages.objects != NULL;
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

unsigned ing_deliver_tiers(const struct ing_deliver *d)
{
	unsigned tiers = 0;
	for (int i = 0; i < ING_TIERS_; i++)
		if (ing_emit_has(d->stages.emit, ING_OUTPUT_OF_TIER(i)))
			tiers |= 1u << i;
	return tiers;
}

void ing_deliver_revoke(struct ing_deliver *d, int32_t partition_index, uint32_t epoch)
{
	struct ing_delivery *delivery;
	DL_FOREACH (*list_of_slot(d, partition_index), delivery) {
		if (delivery->token.epoch == epoch)
			ing_delivery_cancel(delivery);
	}
	ing_emit_drop(d->stages.emit, partition_index, epoch);
}

void ing_deliver_cancel(struct ing_deliver *d)
{
	struct ing_delivery *delivery;
	for (size_t i = 0; i < d->list_count; i++)
		DL_FOREACH (d->lists[i], delivery)
			ing_delivery_cancel(delivery);
	ing_emit_drop_all(d->stages.emit);
}

bool ing_deliver_idle(const struct ing_deliver *d)
{
	const struct ing_deliver_load *load = &d->load;
	return load->results + load->parked + load->dead_letters + load->captures +
		       load->documents ==
	       0;
}

const struct ing_deliver_load *ing_deliver_load(const struct ing_deliver *d)
{
	return &d->load;
}

const char *ing_deliver_blocked_by(const struct ing_deliver *d)
{
	if (d->stages.objects != NULL && ing_objects_blocked(d->stages.objects))
		return "object store";
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
			if (ing_delivery_is_of_request(delivery))
				oldest_ms = ING_MIN(oldest_ms, delivery->accepted_ms);
	return oldest_ms;
}

void ing_deliver_stats(const struct ing_deliver *d, struct ing_deliver_stats *ret)
{
	*ret = d->stats;
	ret->putting = d->in_state[ING_DELIVERY_PUTTING];
	ret->emitting = d->in_state[ING_DELIVERY_EMITTING];
	ret->storing = d->in_state[ING_DELIVERY_STORING];
	ret->committing = d->in_state[ING_DELIVERY_COMMITTING];
}
