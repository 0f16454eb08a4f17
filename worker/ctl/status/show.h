/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * show.h - workers' statuses (schemas/worker-status.schema.json) as people read them: a table of workers, or all that is
 * known of one. Anything may be missing of an object. Pure; one thread.
 */
#pragma once
#include "common/data/json.h"

struct ing_screen;

/* A line for each, and what holds them. */
void ing_ctl_show_workers(struct ing_screen *s, const json_t *list);
void ing_ctl_show_worker(struct ing_screen *s, const json_t *status);
