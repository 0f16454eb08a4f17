/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl rules check | site | webpage | test | yield: the scraping rules, for those who write them.
 */
#include "worker/ctl/rules.h"

#include <getopt.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/conf/conf.h"
#include "worker/ctl/rules_csv.h"
#include "worker/ctl/rules_yield.h"
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

static void print_help(void)
{
	puts("usage: ingestctl rules check   [--journals FILE]... [--webpages FILE]...\n"
	     "       ingestctl rules site    [--journals FILE]... URL...|-\n"
	     "       ingestctl rules webpage [--webpages FILE]... URL...|-\n"
	     "       ingestctl rules test    [--journals FILE]... [--webpages FILE]... [NAME...]\n"
	     "       ingestctl rules test    --csv [--live | --pages DIR] [--kind KIND] [--yield FILE] FILE...\n"
	     "       ingestctl rules yield   [--days N] FILE...\n"
	     "\n"
	     "The rules are those in rules.dir (--set rules.dir=DIR), followed by the given files.\n"
	     "check    print all errors, as FILE:LINE:COLUMN: error: TEXT; the lists of resources.filters\n"
	     "         are to be there, too\n"
	     "site     print for each URL the name of the journal rule that applies, or null;\n"
	     "         with - the URLs are lines of standard input\n"
	     "webpage  the same for webpages: the URL expression of the rule\n"
	     "test     run the tests of all entries, or of those named (\"plos\", \"links.yaml\",\n"
	     "         \"links.yaml pdf/embed\"), and print expected and actual values of failures\n"
	     "\n"
	     "         with --csv, compare sizes of parts with those in PubFetcher's CSV files: of saved\n"
	     "         pages, which `ingestctl page save` names, or fetched ones\n"
	     "yield    print how often each rule was applied, found something, met a limit and led to a\n"
	     "         document in the last N days (1 to 30; default 30), by the files rule-yield.json of\n"
	     "         workers (in state.dir), added up; tab-separated\n"
	     "\n"
	     "  --journals FILE  additional file like journals.yaml\n"
	     "  --webpages FILE  additional file like webpages.yaml\n"
	     "  --csv            the arguments are CSV files: journals.csv, webpages.csv, or of a resource\n"
	     "                   (pubmed-xml.csv ...)\n"
	     "  --pages DIR      folder of saved pages; default: pages beside the CSV file\n"
	     "  --live           fetch pages and ask services, instead of reading saved ones\n"
	     "  --kind KIND      kind of the CSV files, whatever their names\n"
	     "  --yield FILE     rule-yield.json, of which the report shows what the rules have found\n"
	     "  --days N         in the last N days (1 to 30; default 30)\n"
	     "  --help           print this text\n"
	     "\n"
	     "Exit status: 0 success, 1 check found errors or a test failed, 2 usage, or errors in\n"
	     "the rules to apply, 3 a file cannot be read.");
}

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
		ret->rules = ing_rules_load(&ret->files, &ret->report);
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
	static const struct option options[] = {
		{"journals", required_argument, NULL, 'j'},
		{"webpages", required_argument, NULL, 'w'},
		{"days", required_argument, NULL, 'd'},
		{"csv", no_argument, NULL, 'c'},
		{"live", no_argument, NULL, 'l'},
		{"pages", required_argument, NULL, 'p'},
		{"kind", required_argument, NULL, 'k'},
		{"yield", required_argument, NULL, 'y'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	for (;;) {
		int c = ing_ctl_option(argc, argv, "h", options);
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
		case 'h':
			print_help();
			return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
		default:
			return ING_CTL_USAGE; /* it has been said why */
		}
	}
}

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
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "expected check, site, webpage, test or yield");
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
	return run_action((enum action)action, ctl, &o, args, count);
}
