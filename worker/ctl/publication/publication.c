/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl publication and webpage: the command lines. publication_ask does what is asked, publication_kept
 * finds the verbs about what is kept.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/nearest.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/publication/ask.h"
#include "worker/ctl/publication/kept.h"
#include "worker/ctl/publication/kept_select.h"
#include "worker/ctl/usage.h"
#include "worker/model/part_type.h"
#include "worker/publication/resource.h"

#define MAX_WAIT_S 86400

enum {
	OPT_PART = 0x200,
	OPT_NOT_PART,
	OPT_QUICK,
	OPT_RESOURCE,
	OPT_OUT,
	OPT_WARC,
	OPT_FORCE,
	OPT_WAIT,
	OPT_HTML,
	OPT_PLAIN,
	OPT_JSON
};

struct command {
	struct ing_publication_ask_options o;
	json_t *members;
};

/* --- options --- */

static bool refuse_part(const struct command *c, const char *option, const char *name)
{
	struct ing_nearest n = ing_nearest_of(name, strlen(name));
	for (int i = 0; i < ING_PARTS_; i++)
		ing_nearest_try(&n, ing_part_name((enum ing_part_key)i));
	(void)ing_ctl_fail(ING_CTL_USAGE, c->o.verb, "%s: there is no part %s%s%s%s", option, name,
		n.best != NULL ? "; did you mean " : "", n.best != NULL ? n.best : "",
		n.best != NULL ? "?" : "");
	return false;
}

/* A comma list, added to that member. */
static bool add_parts(struct command *c, const char *option, const char *member, char *list)
{
	json_t *parts = json_object_get(c->members, member);
	if (parts == NULL) {
		parts = json_array();
		ing_json_set(c->members, member, parts);
	}
	for (char *rest = list, *name; (name = strsep(&rest, ",")) != NULL;) {
		if (ing_part_of_name(name) == ING_PARTS_)
			return refuse_part(c, option, name);
		ing_json_append(parts, ing_json_text(name));
	}
	return true;
}

static bool set_resource(struct command *c, const char *name)
{
	if (ing_publication_resource_of_name(name) != ING_PUBLICATION_RESOURCES_) {
		ing_json_set_text(c->members, "resource", name);
		return true;
	}
	struct ing_nearest n = ing_nearest_of(name, strlen(name));
	for (int i = 0; i < ING_PUBLICATION_RESOURCES_; i++)
		ing_nearest_try(
			&n, ing_publication_resource_name((enum ing_publication_resource)i));
	(void)ing_ctl_fail(ING_CTL_USAGE, c->o.verb, "--resource: there is no resource %s%s%s%s",
		name, n.best != NULL ? "; did you mean " : "", n.best != NULL ? n.best : "",
		n.best != NULL ? "?" : "");
	return false;
}

static bool set_wait(struct command *c, const char *text)
{
	uint64_t n = 0;
	if (strcmp(text, "0") != 0 && !ing_ctl_number(text, MAX_WAIT_S, &n)) {
		(void)ing_ctl_fail(ING_CTL_USAGE, c->o.verb,
			"--max-wait must be a number of seconds from 0 to %d", MAX_WAIT_S);
		return false;
	}
	c->o.max_wait_s = (long)n;
	return true;
}

static bool take_option(struct command *c, int option)
{
	switch (option) {
	case OPT_PART:
		return add_parts(c, "--part", "parts", optarg);
	case OPT_NOT_PART:
		return add_parts(c, "--not-part", "not_parts", optarg);
	case OPT_RESOURCE:
		return set_resource(c, optarg);
	case OPT_WAIT:
		return set_wait(c, optarg);
	case OPT_QUICK:
		ing_json_set_bool(c->members, "quick", true);
		return true;
	case OPT_FORCE:
		ing_json_set_bool(c->members, "force_recrawl", true);
		return true;
	case OPT_OUT:
		c->o.path = optarg;
		return true;
	case OPT_WARC:
		c->o.warc_dir = optarg;
		return true;
	case OPT_HTML:
		c->o.format = ING_ANSWERS_HTML;
		return true;
	case OPT_PLAIN:
		c->o.format = ING_ANSWERS_PLAIN;
		return true;
	case OPT_JSON:
		c->o.format = ING_ANSWERS_JSON;
		return true;
	default:
		return false; /* it has been said why */
	}
}

static void add_resources(struct ing_buf *to)
{
	for (int i = 0; i < ING_PUBLICATION_RESOURCES_; i++)
		ing_buf_printf(to, "%s%s", i > 0 ? " " : "",
			ing_publication_resource_name((enum ing_publication_resource)i));
}

static void add_part_names(struct ing_buf *to)
{
	for (int i = 0; i < ING_PARTS_; i++)
		ing_buf_printf(to, "%s%s", i > 0 ? " " : "", ing_part_name((enum ing_part_key)i));
}

static const struct ing_option publication_options[] = {
	{"part", "LIST", "only these parts (commas between)", .code = OPT_PART, .words = ",",
		.add_words = add_part_names},
	{"not-part", "LIST", "all but these", .code = OPT_NOT_PART, .words = ING_KEPT_PARTS},
	{"quick", NULL, "no second tries, links only while there is time (publication.quick_ms)",
		.code = OPT_QUICK},
	{"resource", "NAME", "ask this one alone", .code = OPT_RESOURCE,
		.add_words = add_resources},
	{0},
};

static const struct ing_option options_of_both[] = {
	{"html", NULL, "as a page for people", .code = OPT_HTML},
	{"plain", NULL, "as text", .code = OPT_PLAIN},
	{"json", NULL, "as JSON objects, one a line (default)", .code = OPT_JSON},
	{"out", "FILE", "into a file instead of standard output", .code = OPT_OUT,
		.words = ING_WORDS_FILE},
	{"warc", "DIR", "archive what was fetched, as WARC files", .code = OPT_WARC,
		.words = ING_WORDS_DIR},
	{"force", NULL, "fetch it even if the database has it", .code = OPT_FORCE},
	{"max-wait", "S", "maximum time to wait for a host, as with ingestctl run",
		.code = OPT_WAIT},
	{0},
};

static const struct ing_options of_both = {.rows = options_of_both};
static const struct ing_options *const shared[] = {&of_both, NULL};

/* --- both --- */

static int ask(int argc, char **argv, const struct ing_ctl *ctl, const struct ing_usage *usage,
	struct command *c)
{
	int option;
	c->o.max_wait_s = -1;
	c->o.members = c->members = json_object();
	while ((option = ing_usage_next(usage, argc, argv)) != -1) {
		if (option == 'h')
			return ing_usage_code(option);
		if (!take_option(c, option))
			return ING_CTL_USAGE;
	}
	if (optind == argc)
		return ing_ctl_fail(
			ING_CTL_USAGE, c->o.verb, "give %s, FILE, or -", c->o.pages ? "URL" : "ID");
	return ing_publication_ask(ctl, &c->o, argv + optind, (size_t)(argc - optind));
}

/* -------------------------------------------------------------------------------------------- */

#define NOTES                                                                                             \
	"With postgres.dsn in the configuration they are kept there, and what is kept and not due again " \
	"(publication.*) is not fetched."

const struct ing_usage ing_ctl_publication_usage = {
	.name = "publication",
	.synopsis = "[OPTION]... ID|FILE|-...\nlist|show|export|stats|import ...",
	.summary =
		"put together publications from all places that have them; list those that are kept",
	.text = "Puts a publication together from Europe PMC, PubMed, PMC, its publisher, Unpaywall and others: "
		"title, keywords, MeSH and mined terms, abstract, full text, corresponding authors and more, "
		"each with where it was found. Prints a JSON object a line, in the order given. ID is a PMID, "
		"PMCID, DOI or URL. A FILE has one a line, or PMID, PMCID and DOI between tabs; empty lines "
		"and those that begin with # do not count.",
	.options = publication_options,
	.shared = shared,
	.notes = NOTES,
	.exits = {"all were found", "some were not", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT,
		ING_EXIT_INTERRUPTED},
	.operands = ING_WORDS_FILE,
	.below = ing_kept_publication_below,
};

const struct ing_usage ing_ctl_webpage_usage = {
	.name = "webpage",
	.synopsis = "[OPTION]... URL|FILE|-...\nlist|show|export|stats|import ...",
	.summary = "read web pages; list those that are kept",
	.text = "Reads web pages by the rules of webpages.yaml, or the main content without: title, content, "
		"licence, language. Prints a JSON object a line, in the order given.",
	.shared = shared,
	.notes = NOTES,
	.exits = {"all were found", "some were not", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT,
		ING_EXIT_INTERRUPTED},
	.operands = ING_WORDS_FILE,
	.below = ing_kept_webpage_below,
};

int ing_ctl_publication(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct command c = {.o = {.verb = "publication"}};
	int code;
	if (ing_ctl_kept(ING_TABLE_PUBLICATION, argc, argv, ctl, &code))
		return code;
	code = ask(argc, argv, ctl, &ing_ctl_publication_usage, &c);
	json_decref(c.members);
	return code;
}

int ing_ctl_webpage(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct command c = {.o = {.verb = "webpage", .pages = true}};
	int code;
	if (ing_ctl_kept(ING_TABLE_WEBPAGE, argc, argv, ctl, &code))
		return code;
	code = ask(argc, argv, ctl, &ing_ctl_webpage_usage, &c);
	json_decref(c.members);
	return code;
}
