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
	void (*pause)(struct ing_intake *in, enum ing_lane lane, bool paused);
	void (*stop)(struct ing_intake *in);
	void (*stats)(const struct ing_intake *in, struct ing_intake_stats *ret);
	void (*free)(struct ing_intake *in);
};

struct ing_intake { /* first member of each kind */
	uint32_t magic;
	const struct ing_intake_ops *ops;
};
