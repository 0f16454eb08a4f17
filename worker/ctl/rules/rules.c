/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl rules check | site | webpage | test | yield: the scraping rules, for those who write them.
 */
#include "worker/ctl/rules/rules.h"
#include "worker/ctl/usage.h"

#include <getopt.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/ctl/rules/csv.h"
#include "worker/ctl/rules/yield.h"
#include "worker/rules/host_rules.h"
#include "worker/rules/url_rules.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/rules/links.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/rules/wall_signatures.h"
#include "worker/scrape/rules/sites.h"
#include "worker/scrape/rules/webpages.h"
#include "worker/model/rule_hits.h"

#define VERB "rules"
#define MAX_LINE_BYTES ((size_t)1 << 20) /* no URL comes near */

static const char *site_of(
	const struct ing_rules *rules, const char *url, struct ing_rule_hits *hits)
{
	const struct ing_journal_site *site = ing_journals_site(rules->journals, url, hits);
	return site != NULL ? site->name : NULL;
}

static const char *webpage_of(
	const struct ing_rules *rules, const char *url, struct ing_rule_hits *hits)
{
	const struct ing_webpage_rule *rule = ing_webpages_find(rules->webpages, url, hits);
	return rule != NULL ? rule->pattern : NULL;
}

typedef const char *name_f(
	const struct ing_rules *rules, const char *url, struct ing_rule_hits *hits);

static void print_name(const struct ing_rules *rules, name_f *name_of, const char *url)
{
	struct ing_rule_hits hits;
	hits.count = 0;
	const char *name = name_of(rules, url, &hits);
	puts(name != NULL ? name : "null");
	for (size_t i = 0; i < hits.count; i++) {
		if (hits.items[i].flags & ING_RULE_FAILED)
			fprintf(stderr,
				"ingestctl " VERB
				": rule %s hit a limit: its URL expression needs too many steps for "
				"this URL of %zu bytes; treated as no match\n",
				rules->names[hits.items[i].rule], strlen(url));
	}
}

static int look_up_lines(const struct ing_rules *rules, name_f *name_of)
{
	struct ing_buf line;
	ing_buf_init(&line, MAX_LINE_BYTES);
	while (ing_ctl_read_line(stdin, &line))
		print_name(rules, name_of, ing_buf_str(&line));
	ing_buf_done(&line);
	if (ferror(stdin))
		return ing_ctl_fail(ING_CTL_ENVIRONMENT, VERB, "standard input cannot be read");
	return ING_CTL_OK;
}

static int look_up(const struct ing_ctl_rules *r, name_f *name_of, char *const *urls, size_t count)
{
	int code = ING_CTL_OK;
	for (size_t i = 0; i < count && code == ING_CTL_OK; i++) {
		if (strcmp(urls[i], "-") == 0)
			code = look_up_lines(r->rules, name_of);
		else
			print_name(r->rules, name_of, urls[i]);
	}
	return code;
}

static size_t count_filters(const struct ing_rule_files *files)
{
	size_t count = 0;
	for (size_t i = 0; i < files->count; i++)
		count += files->items[i].kind == ING_RULES_FILTERS;
	return count;
}

static int check(const struct ing_ctl_rules *r)
{
	const struct ing_report *report = &r->report;
	ing_report_print(report, true, stderr);
	if (report->errors > 0)
		return ing_ctl_fail(ING_CTL_NEGATIVE, VERB " check", "%zu error%s, %zu warning%s",
			report->errors, ING_PLURAL_S(report->errors), report->warnings,
			ING_PLURAL_S(report->warnings));
	size_t sites = ing_journals_count(r->rules->journals);
	size_t expressions = ing_journals_pattern_count(r->rules->journals);
	printf("journals: %zu site%s by %zu URL expression%s\n", sites, ING_PLURAL_S(sites),
		expressions, ING_PLURAL_S(expressions));
	printf("webpages: %zu\n", ing_webpages_count(r->rules->webpages));
	printf("links: %zu\n", ing_links_count(r->rules->links));
	printf("sites: %zu\n", ing_sites_count(r->rules->sites));
	printf("walls and blocklist: %zu by URL, %zu by what the page looks like\n",
		ing_url_rules_count(r->urls), ing_wall_signatures_count(r->rules->wall_signatures));
	printf("hosts: %zu\n", ing_host_rules_count(r->hosts));
	printf("filter lists: %zu\n", count_filters(&r->files));
	printf("no errors, %zu warning%s\n", report->warnings, ING_PLURAL_S(report->warnings));
	return ING_CTL_OK;
}

static const struct ing_option options[] = {
	{"journals", "FILE", "additional file like journals.yaml; may be repeated", .code = 'j',
		.of = "check site test", .words = ING_WORDS_FILE},
	{"webpages", "FILE", "additional file like webpages.yaml; may be repeated", .code = 'w',
		.of = "check webpage test", .words = ING_WORDS_FILE},
	{"csv", NULL,
		"the arguments are CSV files: journals.csv, webpages.csv, or of a resource (pubmed-xml.csv "
		"...)",
		.code = 'c', .of = "test"},
	{"pages", "DIR", "folder of saved pages; default: pages beside the CSV file", .code = 'p',
		.of = "test", .words = ING_WORDS_DIR},
	{"live", NULL, "fetch pages and ask services, instead of reading saved ones", .code = 'l',
		.of = "test"},
	{"kind", "KIND", "kind of the CSV files, whatever their names", .code = 'k', .of = "test"},
	{"yield", "FILE", "rule-yield.json, of which the report shows what the rules have found",
		.code = 'y', .of = "test", .words = ING_WORDS_FILE},
	{"days", "N", "in the last N days (1 to 30; default 30)", .code = 'd', .of = "test yield"},
	{0},
};

static const struct ing_usage check_usage = {
	.name = "rules check",
	.synopsis = "[--journals FILE]... [--webpages FILE]...",
	.summary = "print all errors in the rules",
	.text = "Prints all errors, as FILE:LINE:COLUMN: error: TEXT, or the number of rules. The lists of "
		"resources.filters are to be there, too.\n\n"
		"Warns of each regular expression that is slow: it is looked for in an ordinary page of 1 MB "
		"and in texts made of its own repeated, and its steps are counted, so that the result is the "
		"same on every machine.",
	.parent = &ing_ctl_rules_usage,
};

static const struct ing_usage site_usage = {
	.name = "rules site",
	.synopsis = "[--journals FILE]... URL...|-",
	.summary = "print the journal rule that applies to a URL",
	.text = "Prints for each URL the name of the journal rule that applies to its pages, or null. With - the "
		"URLs are lines of standard input.",
	.parent = &ing_ctl_rules_usage,
};

static const struct ing_usage webpage_usage = {
	.name = "rules webpage",
	.synopsis = "[--webpages FILE]... URL...|-",
	.summary = "print the webpage rule that applies to a URL",
	.text = "Prints for each URL the URL expression of the webpage rule that applies, or null. With - the "
		"URLs are lines of standard input.",
	.parent = &ing_ctl_rules_usage,
};

static const struct ing_usage test_usage = {
	.name = "rules test",
	.synopsis = "[--journals FILE]... [--webpages FILE]... [NAME...]\n"
		    "--csv [--live | --pages DIR] [--kind KIND] [--yield FILE [--days N]] FILE...",
	.summary = "run the tests of the rules, or compare with CSV files",
	.text = "Runs the tests of all entries, or of those named (\"plos\", \"links.yaml\", \"links.yaml "
		"pdf/embed\"), and prints expected and actual values of failures.\n\n"
		"With --csv, sizes of parts are compared with those in PubFetcher's CSV files: of saved pages, "
		"which \"ingestctl page save\" names, or fetched ones.",
	.details =
		"An entry that names a source must have a page that it matches and one that it does not; "
		"otherwise it counts as a failure.\n\n"
		"The sizes are UTF-16 code units of text, entries of lists. The files are journals.csv and "
		"webpages.csv, whose rows end with a URL, or those of a resource (europepmc.csv, "
		"europepmc-xml.csv, europepmc-efo.csv, europepmc-go.csv, europepmc-mined.csv, pubmed-xml.csv, "
		"pubmed-html.csv, pmc-xml.csv, pmc-html.csv, oadoi.csv), whose rows begin with an identifier. "
		"Of a site's page only what its rules give counts. Saved answers of resources are "
		"KIND-IDENTIFIER.xml (.json, .html). All mismatches, rows that cannot be read and pages that "
		"are missing are in one report; with --yield it says what the rule behind a mismatch has found "
		"in the last days.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_rules_usage,
};

static const struct ing_usage yield_usage = {
	.name = "rules yield",
	.synopsis = "[--days N] FILE...",
	.summary = "print what the rules have found, by the files of workers",
	.text = "Prints how often each rule was applied, found something, met a limit and led to a document in "
		"the last N days, by the files rule-yield.json of workers (in state.dir), added up; "
		"tab-separated.",
	.operands = ING_WORDS_FILE,
	.parent = &ing_ctl_rules_usage,
};

static const struct ing_usage *const verbs_below[] = {
	&check_usage, &site_usage, &webpage_usage, &test_usage, &yield_usage, NULL};

enum action { CHECK, SITE, WEBPAGE, TEST, YIELD, ACTIONS_ };

struct options {
	struct ing_ctl_rule_options files;
	struct ing_csv_options csv;
	uint64_t days;
	const char *yields; /* a file for the report; or NULL */
};

static int print_yields(const struct options *o, char *const *files, size_t count)
{
	if (count == 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "yield needs a rule-yield.json");
	struct ing_ctl_yields *y = ing_ctl_yields_new();
	bool good = true;
	for (size_t i = 0; i < count && good; i++)
		good = ing_ctl_yields_read(y, files[i], (unsigned)o->days);
	if (good)
		ing_ctl_yields_print(y);
	ing_ctl_yields_free(y);
	return !good                        ? ING_CTL_NEGATIVE
	       : ing_ctl_flush_stdout(VERB) ? ING_CTL_OK
					    : ING_CTL_ENVIRONMENT;
}

static int run_tests(const struct ing_ctl *ctl, const struct ing_ctl_rules *r, struct options *o,
	char *const *args, size_t count)
{
	if (!o->csv.csv)
		return ing_ctl_rules_test(r, args, count);
	if (o->yields != NULL) {
		o->csv.yields = ing_ctl_yields_new();
		if (!ing_ctl_yields_read(o->csv.yields, o->yields, (unsigned)o->days)) {
			ing_ctl_yields_free(o->csv.yields);
			return ING_CTL_NEGATIVE;
		}
	}
	int code = ing_ctl_rules_csv(ctl, r, &o->csv, args, count);
	ing_ctl_yields_free(o->csv.yields);
	return code;
}

static int run_action(enum action action, const struct ing_ctl *ctl, struct options *o,
	char *const *args, size_t count)
{
	struct ing_ctl_rules r;
	int code = ing_ctl_rules_load(ctl, &o->files, VERB, &r);
	if (code == ING_CTL_OK && action == CHECK) {
		code = check(&r);
	} else if (code == ING_CTL_OK && r.report.errors > 0) {
		ing_report_print(&r.report, false, stderr);
		code = ING_CTL_USAGE;
	} else if (code == ING_CTL_OK && action == TEST) {
		code = run_tests(ctl, &r, o, args, count);
	} else if (code == ING_CTL_OK) {
		code = look_up(&r, action == SITE ? site_of : webpage_of, args, count);
	}
	ing_ctl_rules_done(&r);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}

static int read_filters(char *const *filters, struct ing_rule_files *files, struct ing_error *err)
{
	for (; filters != NULL && *filters != NULL; filters++) {
		struct ing_error bad = {0};
		if (ing_rule_files_read(files, ING_RULES_FILTERS, *filters, &bad) != 0)
			return ing_error_set(err, bad.code, "resources.filters: %s", bad.msg);
	}
	return 0;
}

static int read_files(const struct ing_ctl_rule_options *o, const struct ing_conf *conf,
	struct ing_rule_files *files, struct ing_error *err)
{
	int rc = ing_rule_files_read_dir(files, conf->rules_dir, err);
	for (size_t i = 0; i < o->count && rc == 0; i++)
		rc = ing_rule_files_read(files, o->items[i].kind, o->items[i].path, err);
	if (rc == 0 && o->filters)
		rc = read_filters(conf->filters, files, err);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_ctl_rules_option(struct ing_ctl_rule_options *o, enum ing_rule_kind kind, const char *path)
{
	if (o->count == ING_ARRAY_LEN(o->items)) {
		ing_ctl_fail(ING_CTL_USAGE, VERB, "more than %d files", ING_MAX_RULE_FILES);
		return false;
	}
	o->items[o->count].kind = kind;
	o->items[o->count].path = path;
	o->count++;
	return true;
}

int ing_ctl_rules_load(const struct ing_ctl *ctl, const struct ing_ctl_rule_options *o,
	const char *verb, struct ing_ctl_rules *ret)
{
	struct ing_conf *conf = NULL;
	struct ing_error err = {0};
	*ret = (struct ing_ctl_rules){0};
	ing_rule_files_init(&ret->files);
	ing_report_init(&ret->report);
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	if (read_files(o, conf, &ret->files, &err) != 0) {
		code = ing_ctl_fail(ING_CTL_ENVIRONMENT, verb, "%s", err.msg);
	} else {
		ret->rules = o->thorough ? ing_rules_load_thoroughly(&ret->files, &ret->report)
					 : ing_rules_load(&ret->files, &ret->report);
		if (ing_url_rules_load_files(&ret->files, &ret->urls, &ret->report) != 0)
			ing_must(ret->report.errors > 0);
		if (ing_host_rules_load_files(&ret->files, &ret->hosts, &ret->report) != 0)
			ing_must(ret->report.errors > 0);
		ing_report_sort(&ret->report);
	}
	ing_conf_free(conf);
	return code;
}

void ing_ctl_rules_done(struct ing_ctl_rules *r)
{
	ing_rules_free(r->rules);
	ing_url_rules_free(r->urls);
	ing_host_rules_free(r->hosts);
	ing_report_done(&r->report);
	ing_rule_files_done(&r->files);
	*r = (struct ing_ctl_rules){0};
}

/* -1: go on. */
static int read_options(struct options *o, int argc, char **argv)
{
	for (;;) {
		int c = ing_usage_next(&ing_ctl_rules_usage, argc, argv);
		switch (c) {
		case -1:
			return -1;
		case 'j':
		case 'w':
			if (!ing_ctl_rules_option(&o->files,
				    c == 'j' ? ING_RULES_JOURNALS : ING_RULES_WEBPAGES, optarg))
				return ING_CTL_USAGE;
			break;
		case 'd':
			if (!ing_ctl_number(optarg, ING_CTL_YIELD_DAYS, &o->days))
				return ing_ctl_fail(ING_CTL_USAGE, VERB,
					"--days must be a number from 1 to %u", ING_CTL_YIELD_DAYS);
			break;
		case 'c':
			o->csv.csv = true;
			break;
		case 'l':
			o->csv.live = true;
			break;
		case 'p':
			o->csv.pages = optarg;
			break;
		case 'k':
			o->csv.kind = optarg;
			break;
		case 'y':
			o->yields = optarg;
			break;
		default:
			return ing_usage_code(c);
		}
	}
}

const struct ing_usage ing_ctl_rules_usage = {
	.name = "rules",
	.summary = "check the scraping rules, find the one that applies, run their tests",
	.text = "The rules are those in rules.dir (--set rules.dir=DIR), followed by the given files.",
	.options = options,
	.exits = {ING_EXIT_OK, "check found errors or a test failed",
		"usage, or errors in the rules to apply", "a file cannot be read"},
	.below = verbs_below,
};

int ing_ctl_rules(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const char *const actions[ACTIONS_] = {"check", "site", "webpage", "test", "yield"};
	struct options o = {.days = ING_CTL_YIELD_DAYS};
	optind = 1;
	int code = read_options(&o, argc, argv);
	if (code != -1)
		return code;
	size_t action = 0;
	while (optind < argc && action < ACTIONS_ && strcmp(actions[action], argv[optind]) != 0)
		action++;
	if (optind == argc || action == ACTIONS_)
		return ing_usage_refuse_below(
			&ing_ctl_rules_usage, optind < argc ? argv[optind] : NULL);
	size_t count = (size_t)(argc - optind - 1);
	char *const *args = argv + optind + 1;
	if (action == CHECK && count > 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB " check", "takes no arguments");
	if ((action == SITE || action == WEBPAGE) && count == 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s needs a URL", actions[action]);
	if ((o.csv.live || o.csv.pages != NULL || o.csv.kind != NULL || o.yields != NULL) &&
		!o.csv.csv)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "--live, --pages, --kind and --yield go with --csv");
	if (o.csv.csv && (action != TEST || count == 0))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--csv goes with test, and needs a file");
	if (action == YIELD)
		return print_yields(&o, args, count);
	o.files.filters = action == CHECK;
	o.files.thorough = action == CHECK;
	return run_action((enum action)action, ctl, &o, args, count);
}
