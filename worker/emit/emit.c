/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one interface in front of the two kinds of emitter.
 */
#include "worker/emit/emit_priv.h"

static const struct ing_emit_ops *ops_of(const struct ing_emit *e)
{
	ing_must(e != NULL && e->magic == ING_EMIT_MAGIC);
	return e->ops;
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_output topic)
{
	ing_must(topic < ING_OUTPUTS_);
	return ops_of(e)->max_value_bytes(e, topic);
}

void ing_emit_put(struct ing_emit *e, const struct ing_output_message *m,
	const struct ing_emit_user *user, void *ctx)
{
	ing_must(m->output < ING_OUTPUTS_);
	ops_of(e)->put(e, m, user, ctx);
}

bool ing_emit_has(const struct ing_emit *e, enum ing_output output)
{
	ing_must(output < ING_OUTPUTS_);
	return ops_of(e)->has(e, output);
}

void ing_emit_wire(struct ing_emit *e, const struct ing_positions_ops *positions)
{
	ing_must(ops_of(e) != NULL);
	e->positions = *positions;
}

void ing_emit_commit(struct ing_emit *e, struct ing_emit_record *r)
{
	ing_must(r->message == NULL || r->message->output < ING_OUTPUTS_);
	ing_must(e->positions.finish != NULL);
	r->dropped = false;
	ops_of(e)->commit(e, r);
}

void ing_emit_drop(struct ing_emit *e, int32_t partition_index, uint32_t epoch)
{
	ops_of(e)->drop(
		e, &(struct ing_emit_range){.partition_index = partition_index, .epoch = epoch});
}

void ing_emit_drop_all(struct ing_emit *e)
{
	ops_of(e)->drop(e, &(struct ing_emit_range){.all = true});
}

unsigned ing_emit_outstanding(const struct ing_emit *e)
{
	return ops_of(e)->outstanding(e);
}

bool ing_emit_blocked(const struct ing_emit *e)
{
	return ops_of(e)->blocked(e);
}

const char *ing_emit_trouble(const struct ing_emit *e)
{
	return ing_emit_blocked(e) ? ops_of(e)->trouble(e) : NULL;
}

void ing_emit_stats(const struct ing_emit *e, struct ing_emit_stats *ret)
{
	*ret = (struct ing_emit_stats){0};
	if (ops_of(e)->stats != NULL)
		ops_of(e)->stats(e, ret);
	ret->unacknowledged = ops_of(e)->outstanding(e);
}

void ing_emit_free(struct ing_emit *e)
{
	if (e != NULL)
		ops_of(e)->free(e);
}

bool ing_emit_in_range(const struct ing_emit_range *range, const struct ing_emit_record *r)
{
	return range->all || (r->token.partition_index == range->partition_index &&
				     r->token.epoch == range->epoch);
}
