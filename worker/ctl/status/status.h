/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * status.h - what the files of `ingestctl status` share: status.c has the verb, collect.c asks the workers, show.c and
 * screen.c say it to people. One thread.
 */
#pragma once
#include <stdbool.h>
#include "common/data/json.h"
#include "worker/ctl/ctl.h"

struct ing_conf;

/* The statuses of the workers of these instances (NULL-terminated; empty: of all that are not stopped), sorted by instance,
 * a new reference: those that run on this machine as they say themselves ("source": "worker"), unless local only, others as
 * the database has them ("source": "database", with age_ms). One that does not answer has only its instance, "state":
 * "silent" and why. */
json_t *ing_ctl_collect_statuses(const struct ing_conf *conf, char *const *instances, bool local);
