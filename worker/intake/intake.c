/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The one interface in front of the two kinds of intake.
 */
#include "worker/intake/intake_priv.h"

static const struct ing_intake_ops *ops_of(const struct ing_intake *in)
{
	ing_must(in != NULL && in->magic == ING_INTAKE_MAGIC);
	return in->ops;
}

static void finish_token(void *ctx, struct ing_token t)
{
	ing_intake_finish(ctx, t);
}

/* -------------------------------------------------------------------------------------------- */

void ing_intake_start(struct ing_intake *in)
{
	ops_of(in)->start(in);
}

void ing_intake_finish(struct ing_intake *in, struct ing_token t)
{
	ops_of(in)->finish(in, t);
}

struct ing_positions_ops ing_intake_positions_ops(struct ing_intake *in)
{
	return (struct ing_positions_ops){
		.ctx = in,
		.begin = ops_of(in)->begin_commit,
		.end = ops_of(in)->end_commit,
		.finish = finish_token,
	};
}

bool ing_intake_source(const struct ing_intake *in, struct ing_token t, struct ing_source *ret)
{
	return ops_of(in)->source(in, t, ret);
}

void ing_intake_fenced(struct ing_intake *in, struct ing_token t)
{
	ops_of(in)->fenced(in, t);
}

void ing_intake_pause(struct ing_intake *in, enum ing_lane lane, bool paused)
{
	ops_of(in)->pause(in, lane, paused);
}

void ing_intake_hold_lane(struct ing_intake *in, enum ing_lane lane, bool held)
{
	ops_of(in)->hold_lane(in, lane, held);
}

void ing_intake_leave(struct ing_intake *in)
{
	ops_of(in)->set_away(in, true);
}

void ing_intake_join(struct ing_intake *in)
{
	ops_of(in)->set_away(in, false);
}

bool ing_intake_is_away(const struct ing_intake *in)
{
	return ops_of(in)->is_away(in);
}

void ing_intake_stop(struct ing_intake *in)
{
	ops_of(in)->stop(in);
}

const char *ing_intake_trouble(const struct ing_intake *in)
{
	return ops_of(in)->trouble != NULL ? ops_of(in)->trouble(in) : NULL;
}

void ing_intake_stats(const struct ing_intake *in, struct ing_intake_stats *ret)
{
	ops_of(in)->stats(in, ret);
}

void ing_intake_free(struct ing_intake *in)
{
	if (in != NULL)
		ops_of(in)->free(in);
}
