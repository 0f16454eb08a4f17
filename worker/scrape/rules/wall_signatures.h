/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * wall_signatures.h - walls.yaml, its entries with a content signature: pages that are served in
 * place of the document (about cookies, captchas, logins, bot challenges, JavaScript stubs).
 *
 * Entries by URL alone are the gate's (worker/rules/url_rules.h). The table is part of struct
 * ing_rules; immutable, any thread.
 */
#pragma once
#include "worker/model/kinds.h"
#include "worker/scrape/rules/registry.h"
#include "worker/scrape/view.h"

struct ing_wall_match {
	enum ing_wall wall;
	const char *name, *detail; /* of the entry; as long as the rules */
	uint32_t rule;
};

struct ing_wall_signatures *ing_wall_signatures_load(
	struct ing_rules *rules, const struct ing_rule_files *files, struct ing_report *report);
void ing_wall_signatures_free(struct ing_wall_signatures *s);
size_t ing_wall_signatures_count(const struct ing_wall_signatures *s);

/* The first signature that the page bears. */
struct ing_wall_match ing_wall_signatures_find(
	const struct ing_wall_signatures *s, const struct ing_view *v);
/* "blocked-cookie"'s last word and so on: cookie, captcha, login, challenge; NULL for NONE. */
const char *ing_wall_name(enum ing_wall wall);
