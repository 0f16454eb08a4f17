/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wall_signatures.h - signatures of walls.yaml: pages that are served in place of the document
 * (cookie pages, captchas, logins, bot challenges, JavaScript stubs), recognised by their content.
 *
 * Entries about URLs alone are in worker/rules/url_rules.h. The table is part of struct ing_rules;
 * immutable, any thread.
 */
#pragma once
#include "worker/model/kinds.h"
#include "worker/scrape/rules/registry.h"
#include "worker/scrape/view.h"

struct ing_wall_match {
	enum ing_wall wall;
	const char *name, *detail; /* `name` and `why` of the entry; as long as the rules */
	uint32_t rule;
};

struct ing_wall_signatures *ing_wall_signatures_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_wall_signatures_free(struct ing_wall_signatures *s);
size_t ing_wall_signatures_count(const struct ing_wall_signatures *s);

/* Returns the first signature that matches the page; wall is ING_WALL_NONE when none does. */
struct ing_wall_match ing_wall_signatures_find(
	const struct ing_wall_signatures *s, const struct ing_view *v);
/* Returns "cookie", "captcha", "login", "challenge", or NULL for NONE. */
const char *ing_wall_name(enum ing_wall wall);
