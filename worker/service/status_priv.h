/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * status_priv.h - what the files of the status share.
 */
#pragma once
#include "worker/service/status.h"

const char *ing_status_need_name(enum ing_status_need need); /* "database" */
/* Everything that holds the worker, the most urgent first: [{"what": a word of the schema, "words"}]. */
json_t *ing_status_holds_json(const struct ing_status_facts *f);
