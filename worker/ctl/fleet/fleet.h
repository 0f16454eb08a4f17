/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fleet.h - what the verbs `fleet`, `pause`, `drain` and `resume` share: rows of the fleet's tables as JSON
 * and as text. One thread.
 */
#pragma once
#include "common/data/json.h"
#include "worker/fleet/table.h"

struct ing_buf;

/* {"record":"worker", …} and {"record":"order", …}, as README.md describes them. */
json_t *ing_ctl_worker_json(const struct ing_worker_row *row);
json_t *ing_ctl_order_json(const struct ing_order *order);
/* "host example.org: paused by anna 5 min ago: they asked". Appended, without control characters. */
void ing_ctl_add_order(const struct ing_order *order, struct ing_buf *out);
/* A text of the database as it may go to a terminal: without control characters. Heap. */
char *ing_ctl_shown(const char *text);
/* Who it is that gives orders, for those who read them later; NULL: not known. */
const char *ing_ctl_operator(void);
