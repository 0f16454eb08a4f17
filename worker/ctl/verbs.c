/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rows of the verbs, and nothing else.
 */
#include "worker/ctl/verbs.h"

#include <string.h>

#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"

const struct ing_verb ing_verbs[] = {
	{"Requests and results", ing_ctl_run, &ing_ctl_run_usage},
	{NULL, ing_ctl_submit, &ing_ctl_submit_usage},
	{NULL, ing_ctl_serve, &ing_ctl_serve_usage},
	{NULL, ing_ctl_results, &ing_ctl_results_usage},
	{NULL, ing_ctl_dead, &ing_ctl_dead_usage},
	{"Lists of requests", ing_ctl_seedlist, &ing_ctl_seedlist_usage},
	{NULL, ing_ctl_requests, &ing_ctl_requests_usage},
	{NULL, ing_ctl_reingest, &ing_ctl_reingest_usage},
	{NULL, ing_ctl_stats, &ing_ctl_stats_usage},
	{"Workers", ing_ctl_status, &ing_ctl_status_usage},
	{NULL, ing_ctl_fleet, &ing_ctl_fleet_usage},
	{NULL, ing_ctl_pause, &ing_ctl_pause_usage},
	{NULL, ing_ctl_drain, &ing_ctl_drain_usage},
	{NULL, ing_ctl_resume, &ing_ctl_resume_usage},
	{NULL, ing_ctl_explain, &ing_ctl_explain_usage},
	{NULL, ing_ctl_hosts, &ing_ctl_hosts_usage},
	{NULL, ing_ctl_parked, &ing_ctl_parked_usage},
	{NULL, ing_ctl_positions, &ing_ctl_positions_usage},
	{"Topics and database", ing_ctl_topics, &ing_ctl_topics_usage},
	{NULL, ing_ctl_db, &ing_ctl_db_usage},
	{"Documents", ing_ctl_extract, &ing_ctl_extract_usage},
	{NULL, ing_ctl_identify, &ing_ctl_identify_usage},
	{NULL, ing_ctl_scrape, &ing_ctl_scrape_usage},
	{NULL, ing_ctl_select, &ing_ctl_select_usage},
	{NULL, ing_ctl_url, &ing_ctl_url_usage},
	{NULL, ing_ctl_robots, &ing_ctl_robots_usage},
	{"Scraping rules", ing_ctl_rules, &ing_ctl_rules_usage},
	{NULL, ing_ctl_page, &ing_ctl_page_usage},
	{"Publications", ing_ctl_publication, &ing_ctl_publication_usage},
	{NULL, ing_ctl_webpage, &ing_ctl_webpage_usage},
	{NULL, ing_ctl_refs, &ing_ctl_refs_usage},
	{"Archive", ing_ctl_reexamine, &ing_ctl_reexamine_usage},
	{NULL, ing_ctl_warc, &ing_ctl_warc_usage},
	{"This manual", ing_ctl_help, &ing_ctl_help_usage},
	{0},
};

static void walk(const struct ing_usage *u, ing_verb_each_f *each, void *ctx)
{
	each(ctx, u);
	for (const struct ing_usage *const *b = u->below; b != NULL && *b != NULL; b++)
		walk(*b, each, ctx);
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_verb *ing_verb_of_name(const char *name)
{
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++)
		if (strcmp(v->usage->name, name) == 0)
			return v;
	return NULL;
}

void ing_verbs_walk(ing_verb_each_f *each, void *ctx)
{
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++)
		walk(v->usage, each, ctx);
}

void ing_verbs_print(FILE *to)
{
	fputs("usage: ingestctl [--config FILE] [--set KEY=VALUE]... VERB ...\n"
	      "       ingestctl VERB --help\n"
	      "       ingestctl help [VERB... | TOPIC]\n",
		to);
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++) {
		if (v->group != NULL)
			fprintf(to, "\n%s:\n", v->group);
		fprintf(to, "  %-12s %s\n", v->usage->name, v->usage->summary);
	}
	fputs("\nResults go to stdout, everything else to stderr.\n"
	      "Exit status: 0 success, 1 negative answer, 2 usage, 3 environment.\n",
		to);
}
