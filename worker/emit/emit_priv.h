/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * emit_priv.h - what the two kinds of emitter share: a table of functions behind emit.h. Loop
 * thread only.
 */
#pragma once
#include "worker/emit/emit.h"

#define ING_EMIT_MAGIC 0x656d6974u

struct ing_emit_ops {
	size_t (*max_value_bytes)(const struct ing_emit *e, enum ing_output topic);
	void (*put)(struct ing_emit *e, const struct ing_output_message *m,
		const struct ing_emit_user *user, void *ctx);
	bool (*has)(const struct ing_emit *e, enum ing_output output);
	unsigned (*outstanding)(const struct ing_emit *e);
	bool (*blocked)(const struct ing_emit *e);
	void (*free)(struct ing_emit *e);
};

struct ing_emit { /* first member of each kind */
	uint32_t magic;
	const struct ing_emit_ops *ops;
};
