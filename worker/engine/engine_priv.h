/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * engine_priv.h - what the files of worker/engine share: the table of parts.
 */
#pragma once
#include "worker/engine/engine.h"

/* Made in the order of the table, freed in the reverse order. */
struct ing_engine_part {
	int (*init)(struct ing_engine *e, struct ing_error *err); /* leaves nothing on failure */
	void (*done)(struct ing_engine *e);
};

extern const struct ing_engine_part ing_engine_parts[];
extern const size_t ing_engine_part_count;

/* engine_keys.c */
int ing_engine_init_publication(struct ing_engine *e, struct ing_error *err);
void ing_engine_done_publication(struct ing_engine *e);

/* Timers of engine_stop.c and engine_rules.c. */
void ing_engine_init_stop(struct ing_engine *e);
void ing_engine_done_stop(struct ing_engine *e);
void ing_engine_init_rule_stats(struct ing_engine *e);
void ing_engine_done_rule_stats(struct ing_engine *e);
void ing_engine_write_rule_stats(const struct ing_engine *e); /* now; if they are kept */
