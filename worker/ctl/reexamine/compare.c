/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page is judged as a job judges it (worker/job/hop), with the URLs that are known to have been asked for.
 */
#include "worker/ctl/reexamine/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "worker/artifact/artifact.h"
#include "worker/ctl/reexamine/rows.h"
#include "worker/engine/ruleset.h"
#include "worker/job/hop.h"
#include "worker/rules/url_policy.h"
#include "worker/scrape/rules/rules.h"

/* Names that are counted; what comes of later ones is counted together. */
#define MAX_NAMES 100000
#define MANY_NAMES "(others)"
#define PRINTED_NAMES 50
#define NO_RULE "(none)"

enum change { SAME, GAINED, LOST, CHANGED, CHANGES_ };

static const char *const change_names[] = {
	[SAME] = "same", [GAINED] = "gained", [LOST] = "lost", [CHANGED] = "changed"};

struct tally {
	UT_hash_handle hh;
	uint64_t counts[CHANGES_];
	char name[];
};

struct ing_reexamine_compare {
	const struct ing_ruleset *rules;
	uint64_t counts[CHANGES_];
	struct tally *by_rule, *by_host;
};

/* --- counting --- */

static struct tally *find_tally(struct tally **all, const char *name)
{
	struct tally *t;
	HASH_FIND_STR(*all, name, t);
	if (t == NULL && HASH_COUNT(*all) >= MAX_NAMES && strcmp(name, MANY_NAMES) != 0)
		return find_tally(all, MANY_NAMES);
	if (t != NULL)
		return t;
	t = ing_alloc(sizeof(*t) + strlen(name) + 1);
	memcpy(t->name, name, strlen(name) + 1);
	HASH_ADD_STR(*all, name, t);
	return t;
}

static int compare_tallies(const struct tally *a, const struct tally *b)
{
	uint64_t x = a->counts[GAINED] + a->counts[LOST] + a->counts[CHANGED];
	uint64_t y = b->counts[GAINED] + b->counts[LOST] + b->counts[CHANGED];
	if (x != y)
		return x > y ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void free_tallies(struct tally *all)
{
	struct tally *t;
	struct tally *next;
	HASH_ITER (hh, all, t, next) {
		HASH_DEL(all, t);
		free(t);
	}
}

static json_t *tallies_json(struct tally **all, const char *key)
{
	json_t *list = json_array();
	HASH_SORT(*all, compare_tallies);
	for (const struct tally *t = *all; t != NULL; t = t->hh.next) {
		if (json_array_size(list) == PRINTED_NAMES)
			break;
		json_t *o = json_object();
		ing_json_set_text(o, key, t->name);
		for (int i = 0; i < CHANGES_; i++)
			ing_json_set_count(o, change_names[i], t->counts[i]);
		json_array_append_new(list, o);
	}
	return list;
}

/* --- judging --- */

struct view {
	const struct ing_reexamine_compare *compare;
	const struct ing_reexamine_document *document;
};

static bool was_asked_before(void *ctx, const char *url)
{
	const struct view *v = ctx;
	return strcmp(url, v->document->url) == 0 || strcmp(url, v->document->base_url) == 0;
}

static struct ing_url_decision judge_url(void *ctx, const char *url)
{
	const struct view *v = ctx;
	return ing_url_policy_decide(v->compare->rules->url_rules, NULL, url);
}

static struct ing_decision decide(const struct ing_reexamine_compare *c,
	const struct ing_reexamine_document *d, struct ing_findings *f)
{
	struct view known = {c, d};
	const struct ing_request request = {.type = d->type};
	const struct ing_hop_view view = {.url = d->url,
		.max_hops = 1,
		.asked_before = was_asked_before,
		.verdict = judge_url,
		.ctx = &known};
	return ing_hop_after_examine(&view, &request, f);
}

/* These said nothing of the last page, or of what the request had asked for. */
static bool is_about_page(const char *status)
{
	static const char *const others[] = {
		"link-loop", "max-hops-exceeded", "mismatch-hash", "wrong-mimetype", NULL};
	for (const char *const *other = others; *other != NULL; other++)
		if (strcmp(*other, status) == 0)
			return false;
	return true;
}

static enum change change_of(const struct ing_reexamine_document *d, const struct ing_decision *now)
{
	bool leads = now->step == ING_STEP_LINK;
	bool found = !leads && now->status == ING_STATUS_SUCCESS;
	if (d->hit && ing_artifact_accepts(ing_artifact_type(d->type), "text/html"))
		return found ? SAME : leads ? CHANGED : LOST;
	if (d->hit)
		return leads ? SAME : LOST;
	if (leads || found)
		return is_about_page(d->status) ? GAINED : SAME;
	return strcmp(d->status, ing_status_slug(now->status)) == 0 || !is_about_page(d->status)
		       ? SAME
		       : CHANGED;
}

/* --- telling --- */

static const char *rule_of(const struct ing_reexamine_compare *c, const struct ing_page *page,
	const struct ing_page_link *link)
{
	const struct ing_rules *rules = c->rules->rules;
	if (link == NULL)
		return NO_RULE;
	if (link->rule < rules->count && page->rules_digest == rules->digest)
		return rules->names[link->rule];
	return link->technique != NULL ? link->technique : NO_RULE;
}

static void print_difference(const struct ing_reexamine_document *d, enum change change,
	const struct ing_decision *now, const char *rule)
{
	json_t *o = json_object();
	json_t *then = json_object();
	json_t *today = json_object();
	ing_json_set_text(o, "sha1hex", d->sha1hex);
	ing_json_set_text(o, "ingest_type", ing_ingest_type_name(d->type));
	ing_json_set_text(o, "base_url", d->base_url);
	ing_json_set_text(o, "url", d->url);
	ing_json_set_text(o, "host", d->host);
	ing_json_set_text(o, "change", change_names[change]);
	ing_json_set(then, "hit", json_boolean(d->hit));
	ing_json_set_text(then, "status", d->status);
	ing_json_set(o, "then", then);
	if (now->step == ING_STEP_LINK)
		ing_json_set_text(today, "link", now->url);
	else
		ing_json_set_text(today, "status", ing_status_slug(now->status));
	ing_json_set(o, "now", today);
	ing_json_set_text(o, "rule", rule);
	char *text = ing_json_dump(o, NULL);
	puts(text);
	free(text);
	json_decref(o);
}

/* ------------------------------------------------------------------------------------------ */

struct ing_reexamine_compare *ing_reexamine_compare_new(const struct ing_ruleset *rules)
{
	struct ing_reexamine_compare *c = ing_alloc(sizeof(*c));
	c->rules = rules;
	return c;
}

void ing_reexamine_compare_free(struct ing_reexamine_compare *c)
{
	if (c == NULL)
		return;
	free_tallies(c->by_rule);
	free_tallies(c->by_host);
	free(c);
}

void ing_reexamine_compare(struct ing_reexamine_compare *c, const struct ing_reexamine_document *d,
	struct ing_findings *f)
{
	struct ing_decision now = decide(c, d, f);
	enum change change = change_of(d, &now);
	const struct ing_page_link *link =
		now.step == ING_STEP_LINK ? ing_artifact_link(ing_artifact_type(d->type), &f->page)
					  : NULL;
	const char *rule = rule_of(c, &f->page, link);
	c->counts[change]++;
	find_tally(&c->by_rule, rule)->counts[change]++;
	find_tally(&c->by_host, d->host != NULL ? d->host : NO_RULE)->counts[change]++;
	if (change != SAME)
		print_difference(d, change, &now, rule);
	free(now.url);
}

json_t *ing_reexamine_compare_json(struct ing_reexamine_compare *c)
{
	json_t *o = json_object();
	for (int i = 0; i < CHANGES_; i++)
		ing_json_set_count(o, change_names[i], c->counts[i]);
	ing_json_set(o, "by_rule", tallies_json(&c->by_rule, "rule"));
	ing_json_set(o, "by_host", tallies_json(&c->by_host, "host"));
	return o;
}
