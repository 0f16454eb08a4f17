/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl publication and webpage: the command lines. publication_ask does what is asked, publication_kept
 * finds the verbs about what is kept.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/base/nearest.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/publication_ask.h"
#include "worker/ctl/publication_kept.h"
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

#define OPTIONS_OF_BOTH                                                                            \
	{"out", required_argument, NULL, OPT_OUT}, {"warc", required_argument, NULL, OPT_WARC},    \
		{"force", no_argument, NULL, OPT_FORCE},                                           \
		{"max-wait", required_argument, NULL, OPT_WAIT},                                   \
		{"html", no_argument, NULL, OPT_HTML}, {"plain", no_argument, NULL, OPT_PLAIN},    \
		{"json", no_argument, NULL, OPT_JSON}, {"help", no_argument, NULL, 'h'},           \
	{                                                                                          \
		0                                                                                  \
	}

static const struct option publication_options[] = {
	{"part", required_argument, NULL, OPT_PART},
	{"not-part", required_argument, NULL, OPT_NOT_PART},
	{"quick", no_argument, NULL, OPT_QUICK},
	{"resource", required_argument, NULL, OPT_RESOURCE},
	OPTIONS_OF_BOTH,
};

static const struct option webpage_options[] = {OPTIONS_OF_BOTH};

/* --- help --- */

#define HELP_OF_BOTH                                                                                 \
	"  --html, --plain, --json   as a page for people, as text, as JSON (default)\n"             \
	"  --out FILE                into a file instead of standard output\n"                       \
	"  --warc DIR                archive what was fetched, as WARC files\n"                      \
	"  --force                   fetch it even if the database has it\n"                         \
	"  --max-wait S              maximum time to wait for a host, as with ingestctl run\n\n"     \
	"With postgres.dsn in the configuration they are kept there, and what is kept and not due\n" \
	"again (publication.*) is not fetched.\n"                                                    \
	"Exit status: 0 all were found, 1 some were not, 2 usage or configuration, 3 environment,\n" \
	"4 interrupted.\n"

static void print_publication_help(void)
{
	printf("usage: ingestctl publication [OPTION]... ID|FILE|-...\n"
	       "       ingestctl publication list|show|export|stats|import ...  (each has --help)\n\n"
	       "Puts a publication together from Europe PMC, PubMed, PMC, its publisher, Unpaywall and\n"
	       "others: title, keywords, MeSH and mined terms, abstract, full text, corresponding authors\n"
	       "and more, each with where it was found. Prints a JSON object a line, in the order given.\n"
	       "ID is a PMID, PMCID, DOI or URL. A FILE has one a line, or PMID, PMCID and DOI between\n"
	       "tabs.\n\n"
	       "  --part LIST               only these parts (commas between): pmid pmcid doi title\n"
	       "                            keywords mesh efo go abstract fulltext\n"
	       "  --not-part LIST           all but these\n"
	       "  --quick                   no second tries, links only while there is time\n"
	       "  --resource NAME           ask this one alone:");
	for (int i = 0; i < ING_PUBLICATION_RESOURCES_; i++)
		printf("%s%s", i % 6 == 0 ? "\n                            " : " ",
			ing_publication_resource_name((enum ing_publication_resource)i));
	printf("\n" HELP_OF_BOTH);
}

static void print_webpage_help(void)
{
	printf("usage: ingestctl webpage [OPTION]... URL|FILE|-...\n"
	       "       ingestctl webpage list|show|export|stats|import ...  (each has --help)\n\n"
	       "Reads web pages by the rules of webpages.yaml, or the main content without: title, content,\n"
	       "licence, language. Prints a JSON object a line, in the order given.\n\n" HELP_OF_BOTH);
}

/* --- both --- */

static int ask(int argc, char **argv, const struct ing_ctl *ctl, const struct option *options,
	struct command *c)
{
	int option;
	c->o.max_wait_s = -1;
	c->o.members = c->members = json_object();
	while ((option = ing_ctl_option(argc, argv, "h", options)) != -1) {
		if (option == 'h') {
			if (c->o.pages)
				print_webpage_help();
			else
				print_publication_help();
			return ING_CTL_OK;
		}
		if (!take_option(c, option))
			return ING_CTL_USAGE;
	}
	if (optind == argc)
		return ing_ctl_fail(
			ING_CTL_USAGE, c->o.verb, "give %s, FILE, or -", c->o.pages ? "URL" : "ID");
	return ing_publication_ask(ctl, &c->o, argv + optind, (size_t)(argc - optind));
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_publication(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct command c = {.o = {.verb = "publication"}};
	int code;
	if (ing_ctl_kept(ING_TABLE_PUBLICATION, argc, argv, ctl, &code))
		return code;
	code = ask(argc, argv, ctl, publication_options, &c);
	json_decref(c.members);
	return code;
}

int ing_ctl_webpage(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct command c = {.o = {.verb = "webpage", .pages = true}};
	int code;
	if (ing_ctl_kept(ING_TABLE_WEBPAGE, argc, argv, ctl, &code))
		return code;
	code = ask(argc, argv, ctl, webpage_options, &c);
	json_decref(c.members);
	return code;
}
