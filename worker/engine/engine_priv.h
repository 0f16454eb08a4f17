/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * engine_priv.h - what the files of worker/engine share: the table of parts.
 */
#pragma once
#include "worker/engine/engine.h"

struct ing_fleet_state;

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

/* engine_control.c */
struct ing_hosts_sources ing_engine_hosts(const struct ing_engine *e);

/* engine_away.c: which of them cannot be reached, and why */
void ing_engine_away(struct ing_engine *e, uint64_t now_ms, struct ing_status_away ret[ING_NEEDS_]);

/* engine_status.c */
struct ing_stages;
void ing_engine_init_status(struct ing_engine *e);
void ing_engine_done_status(struct ing_engine *e);
/* What happens to requests is told to the status, and by it to e->outside. */
void ing_engine_wire_status(struct ing_engine *e, struct ing_stages *stages);

/* Timers of engine_stop.c and engine_rules.c. */
void ing_engine_init_stop(struct ing_engine *e);
void ing_engine_done_stop(struct ing_engine *e);
void ing_engine_init_rule_stats(struct ing_engine *e);
void ing_engine_done_rule_stats(struct ing_engine *e);
void ing_engine_write_rule_stats(const struct ing_engine *e); /* now; if they are kept */

/* engine_orders.c: operators' orders, and what the fleet's table says of this worker. */
int ing_engine_init_orders(struct ing_engine *e, struct ing_error *err);
void ing_engine_done_orders(struct ing_engine *e);
int ing_engine_init_fleet(struct ing_engine *e, struct ing_error *err);
void ing_engine_done_fleet(struct ing_engine *e);
/* After all stages are wired, before the first message: what is ordered now is obeyed. */
void ing_engine_wire_orders(struct ing_engine *e);
/* {"ask":"order","action":"pause"|"drain"|"resume","why":…,"by":…} of the control socket. */
json_t *ing_engine_order(struct ing_engine *e, const json_t *request);
/* engine_order_file.c: write the order of the control socket, or that there is none. */
void ing_engine_write_order(struct ing_engine *e);
void ing_engine_done_order_file(struct ing_engine *e);
/* As it is with the orders. */
enum ing_status_phase ing_engine_phase_now(const struct ing_engine *e);
/* engine_status.c: the row of the fleet's table. */
void ing_engine_describe(struct ing_engine *e, struct ing_fleet_state *ret);
