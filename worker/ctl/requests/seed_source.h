/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * seed_source.h - a source of seed lists (worker/seeds), as verbs load it by name. No state.
 */
#pragma once
#include "worker/seeds/source.h"

/* ING_CTL_OK and the source, or an exit code after messages. As ing_seed_source_load(). */
int ing_ctl_seed_source(const char *verb, const char *dir, const char *name,
	const char *const *settings, struct ing_seed_source **ret);
