/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules from a text, as if it were the only file of the rules folder.
 */
#include "rules_helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rules_helper_init(struct rules_helper *h)
{
	*h = (struct rules_helper){.matcher = ing_matcher_new()};
	ing_rule_files_init(&h->files);
	ing_report_init(&h->report);
	view_helper_init(&h->page);
}

static void drop_rules(struct rules_helper *h)
{
	ing_rules_free(ING_TAKE(h->rules));
	ing_report_done(&h->report);
	ing_rule_files_done(&h->files);
	ing_rule_files_init(&h->files);
	ing_report_init(&h->report);
}

void rules_helper_done(struct rules_helper *h)
{
	drop_rules(h);
	ing_matcher_free(h->matcher);
	view_helper_done(&h->page);
}

bool rules_helper_load(struct rules_helper *h, enum ing_rule_kind kind, const char *yaml)
{
	drop_rules(h);
	h->files.items[0] = (struct ing_rule_file){
		.kind = kind,
		.path = ing_strdup("rules.yaml"),
		.text = ing_strdup(yaml),
		.bytes = strlen(yaml),
	};
	h->files.count = 1;
	h->rules = ing_rules_load(&h->files, &h->report);
	return h->rules != NULL;
}

const struct ing_view *rules_helper_read(
	struct rules_helper *h, const char *page, size_t bytes, const char *url)
{
	h->view = *view_helper_read(&h->page, page, bytes, url);
	h->view.matcher = h->matcher;
	ing_matcher_bind(h->matcher, h->view.tree, 0);
	return &h->view;
}

unsigned rules_helper_did(const struct rules_helper *h, const char *rule)
{
	for (size_t i = 0; i < h->page.rule_hits.count; i++) {
		const struct ing_rule_hit *hit = &h->page.rule_hits.items[i];
		if (strcmp(h->rules->names[hit->rule], rule) == 0)
			return hit->flags;
	}
	return 0;
}

bool rules_helper_has_error(const struct rules_helper *h, int line, int column, const char *words)
{
	for (size_t i = 0; i < h->report.count; i++) {
		const struct ing_report_line *l = &h->report.lines[i];
		if (!l->warning && l->line == line && l->column == column &&
			strstr(l->text, words) != NULL)
			return true;
	}
	return false;
}

unsigned rules_helper_unsaid(struct rules_helper *h, enum ing_rule_kind kind,
	const struct rules_mistake *mistakes, size_t count)
{
	unsigned unsaid = 0;
	for (size_t i = 0; i < count; i++) {
		const struct rules_mistake *m = &mistakes[i];
		if (!rules_helper_load(h, kind, m->yaml) &&
			rules_helper_has_error(h, m->line, m->column, m->words))
			continue;
		unsaid++;
		fprintf(stderr, "%s: wants %d:%d: %s\n", m->yaml, m->line, m->column, m->words);
		for (size_t n = 0; n < h->report.count; n++)
			fprintf(stderr, "  %d:%d: %s\n", h->report.lines[n].line,
				h->report.lines[n].column, h->report.lines[n].text);
	}
	return unsaid;
}
