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

size_t ing_emit_max_value_bytes(const struct ing_emit *e, enum ing_emit_topic topic)
{
	ing_must(topic < ING_EMIT_TOPICS_);
	return ops_of(e)->max_value_bytes(e, topic);
}

void ing_emit_put(
	struct ing_emit *e, const struct ing_emit_msg *msg, ing_emit_done_f *done, void *ctx)
{
	ing_must(msg->topic < ING_EMIT_TOPICS_);
	ops_of(e)->put(e, msg, done, ctx);
}

unsigned ing_emit_outstanding(const struct ing_emit *e)
{
	return ops_of(e)->outstanding(e);
}

bool ing_emit_blocked(const struct ing_emit *e)
{
	return ops_of(e)->blocked(e);
}

void ing_emit_free(struct ing_emit *e)
{
	if (e != NULL)
		ops_of(e)->free(e);
}
