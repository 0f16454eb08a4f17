/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * emit_priv.h - what the two kinds of emitter share: a table of functions behind emit.h. Loop
 * thread only.
 */
#pragma once
#include "worker/emit/emit.h"

#define ING_EMIT_MAGIC 0x656d6974u

/* Which records are dropped: of one epoch of a partition, or all of them. */
struct ing_emit_range {
	bool all;
	int32_t partition_index;
	uint32_t epoch;
};

struct ing_emit_ops {
	size_t (*max_value_bytes)(const struct ing_emit *e, enum ing_output topic);
	void (*put)(struct ing_emit *e, const struct ing_output_message *m,
		const struct ing_emit_user *user, void *ctx);
	bool (*has)(const struct ing_emit *e, enum ing_output output);
	void (*commit)(struct ing_emit *e, struct ing_emit_record *r);
	void (*drop)(struct ing_emit *e, const struct ing_emit_range *range);
	unsigned (*outstanding)(const struct ing_emit *e);
	bool (*blocked)(const struct ing_emit *e);
	const char *(*trouble)(const struct ing_emit *e); /* while it is blocked */
	void (*stats)(const struct ing_emit *e, struct ing_emit_stats *ret); /* NULL: none */
	void (*free)(struct ing_emit *e);
};

struct ing_emit { /* first member of each kind */
	uint32_t magic;
	const struct ing_emit_ops *ops;
	struct ing_positions_ops positions;
};

bool ing_emit_in_range(const struct ing_emit_range *range, const struct ing_emit_record *r);
