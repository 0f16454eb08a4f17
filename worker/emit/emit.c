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
