/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * intake_priv.h - what the two kinds of intake share: a table of functions behind intake.h. Loop
 * thread only.
 */
#pragma once
#include "worker/intake/intake.h"

#define ING_INTAKE_MAGIC 0x696e746bu

struct ing_intake_ops {
	void (*start)(struct ing_intake *in);
	void (*finish)(struct ing_intake *in, struct ing_token t);
	/* Of struct ing_positions_ops, with the intake as ctx. Lines: NULL. */
	struct ing_positions *(*begin_commit)(
		void *ctx, const struct ing_token *tokens, size_t count);
	void (*end_commit)(void *ctx, struct ing_positions *p, bool committed);
	bool (*source)(const struct ing_intake *in, struct ing_token t, struct ing_source *ret);
	void (*fenced)(struct ing_intake *in, struct ing_token t);
	void (*pause)(struct ing_intake *in, enum ing_lane lane, bool paused);
	void (*hold_lane)(struct ing_intake *in, enum ing_lane lane, bool held);
	/* Away: it has left the group, or does not join it. */
	void (*set_away)(struct ing_intake *in, bool away);
	bool (*is_away)(const struct ing_intake *in);
	void (*stop)(struct ing_intake *in);
	const char *(*trouble)(const struct ing_intake *in); /* NULL: none ever */
	void (*stats)(const struct ing_intake *in, struct ing_intake_stats *ret);
	void (*free)(struct ing_intake *in);
};

struct ing_intake { /* first member of each kind */
	uint32_t magic;
	const struct ing_intake_ops *ops;
};
