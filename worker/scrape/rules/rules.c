/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads the tables one after the other. Each loader goes on after an error, so that one report has
 * all of them; a set with an error is not returned.
 */
#include "worker/scrape/rules/rules.h"

#include <stdlib.h>

#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/rules/wall_signatures.h"
#include "worker/scrape/rules/sites.h"
#include "worker/scrape/rules/slow_patterns.h"
#include "worker/scrape/rules/webpages.h"

static struct ing_rules *load(const struct ing_rule_files *files, struct ing_report *report,
	struct ing_slow_patterns *slow)
{
	size_t errors_before = report->errors;
	struct ing_rules *r = ing_alloc(sizeof(*r));
	ing_rules_init(r);
	r->slow = slow;
	r->digest = ing_rule_files_digest(files);
	r->journals = ing_journals_load(r, files, report);
	r->webpages = ing_webpages_load(r, files, report);
	r->links = ing_links_load(r, files, report);
	r->sites = ing_sites_load(r, files, report);
	r->wall_signatures = ing_wall_signatures_load(r, files, report);
	r->slow = NULL;
	if (report->errors == errors_before)
		return r;
	ing_rules_free(r);
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_rules *ing_rules_load(const struct ing_rule_files *files, struct ing_report *report)
{
	return load(files, report, NULL);
}

struct ing_rules *ing_rules_load_thoroughly(
	const struct ing_rule_files *files, struct ing_report *report)
{
	struct ing_slow_patterns *slow = ing_slow_patterns_new();
	struct ing_rules *r = load(files, report, slow);
	ing_slow_patterns_free(slow);
	return r;
}

void ing_rules_free(struct ing_rules *r)
{
	if (r == NULL)
		return;
	ing_journals_free(r->journals);
	ing_webpages_free(r->webpages);
	ing_links_free(r->links);
	ing_sites_free(r->sites);
	ing_wall_signatures_free(r->wall_signatures);
	ing_rules_done(r);
	free(r);
}

bool ing_rules_need_browser(const struct ing_rules *r, const char *url, bool is_webpage)
{
	if (ing_journals_javascript(r->journals, url))
		return true;
	const struct ing_webpage_rule *rule =
		is_webpage ? ing_webpages_find(r->webpages, url, NULL) : NULL;
	return rule != NULL && rule->javascript == ING_JS_YES;
}
