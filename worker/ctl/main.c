/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl: finds the verb and hands over. One thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/log.h"
#include "common/base/nearest.h"
#include "worker/model/version.h"
#include "worker/ctl/ctl.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv, const struct ing_ctl *ctl);
	const char *sentence;
} verbs[] = {
	{"run", ing_ctl_run, "run the whole pipeline without servers: requests in, results out"},
	{"submit", ing_ctl_submit, "validate request lines and produce them to Kafka"},
	{"seedlist", ing_ctl_seedlist,
		"turn a list of others (Unpaywall, a CSV file …) into request lines"},
	{"serve", ing_ctl_serve, "serve the on-demand HTTP API: requests in, results out"},
	{"results", ing_ctl_results, "print the results topic"},
	{"requests", ing_ctl_requests, "lists of requests in the database"},
	{"stats", ing_ctl_stats, "how it stands: counts of requests, results and files"},
	{"dead", ing_ctl_dead, "list dead letters, print one, or replay them"},
	{"topics", ing_ctl_topics, "create or check the Kafka topics"},
	{"parked", ing_ctl_parked, "count parked requests by host and by when they are due"},
	{"positions", ing_ctl_positions,
		"show the group's committed positions, or give up a map that cannot be read"},
	{"db", ing_ctl_db, "migrate the database schema, or show its version"},
	{"hosts", ing_ctl_hosts, "explain why a host is fast, slow, waiting or blocked; block it"},
	{"url", ing_ctl_url, "clean or parse URLs, or print their SURT"},
	{"robots", ing_ctl_robots, "check a URL against a robots.txt file"},
	{"scrape", ing_ctl_scrape, "print everything that is extracted from a page"},
	{"select", ing_ctl_select, "print the elements of a page that match a selector"},
	{"rules", ing_ctl_rules,
		"check the scraping rules, find the one that applies, run their tests"},
	{"page", ing_ctl_page, "save a page for the tests of a scraping rule"},
	{"publication", ing_ctl_publication,
		"put together publications from all places that have them; list those that are kept"},
	{"webpage", ing_ctl_webpage, "read web pages; list those that are kept"},
	{"identify", ing_ctl_identify, "print size, digests and media type of files"},
	{"extract", ing_ctl_extract, "print what the worker extracts from a PDF or HTML file"},
	{"refs", ing_ctl_refs, "have GROBID parse the references of Crossref's records"},
	{"reingest", ing_ctl_reingest,
		"put requests onto their lane again that are worth asking again"},
	{"reexamine", ing_ctl_reexamine, "examine archived documents again, without fetching"},
	{"warc", ing_ctl_warc, "verify or index WARC files, or print one record"},
};

static void print_help(FILE *to)
{
	fprintf(to, "usage: ingestctl [--config FILE] [--set KEY=VALUE]... VERB ...\n"
		    "       ingestctl VERB --help\n\n");
	for (size_t i = 0; i < ING_ARRAY_LEN(verbs); i++)
		fprintf(to, "  %-11s %s\n", verbs[i].name, verbs[i].sentence);
	fprintf(to, "\nResults go to stdout, everything else to stderr.\n"
		    "Exit status: 0 success, 1 negative answer, 2 usage, 3 environment.\n");
}

/* The "+" of our own scan stays in force until getopt is told to begin with 0; a verb's options may
 * stand behind its arguments. */
static void begin_options_anew(char **argv)
{
	static const struct option none[] = {{0}};
	optind = 0;
	(void)getopt_long(1, argv, "", none, NULL);
	optind = 1;
}

static int refuse_verb(const char *word)
{
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	for (size_t i = 0; i < ING_ARRAY_LEN(verbs); i++)
		ing_nearest_try(&n, verbs[i].name);
	if (n.best != NULL)
		return ing_ctl_fail(
			ING_CTL_USAGE, word, "no such verb; did you mean '%s'?", n.best);
	return ing_ctl_fail(ING_CTL_USAGE, word, "no such verb; ingestctl --help lists them");
}

/* Descriptors 0 to 2 that are closed would be given to the next file opened, and results or words
 * written into it. In their place stand ones that refuse: reading 0, writing 1 and 2. */
static void hold_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
			_exit(ING_CTL_ENVIRONMENT);
	}
}

/* -------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	static char called[32]; /* with which getopt's words begin */
	hold_standard_descriptors();
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, which every verb reports */
	ing_log_init(ING_LOG_WARNING);
	for (;;) {
		int c = ing_ctl_option(argc, argv, "+h", options);
		if (c == -1)
			break;
		switch (c) {
		case 'h':
			print_help(stdout);
			return ING_CTL_OK;
		case 'V':
			printf("ingestctl %s\n", ING_VERSION);
			return ING_CTL_OK;
		default:
			return ING_CTL_USAGE; /* it has been said why */
		}
	}
	if (optind == argc) {
		print_help(stderr);
		return ING_CTL_USAGE;
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(verbs); i++) {
		if (strcmp(argv[optind], verbs[i].name) == 0) {
			int first = optind;
			begin_options_anew(argv);
			snprintf(called, sizeof(called), "ingestctl %s", verbs[i].name);
			argv[first] = called;
			return verbs[i].run(argc - first, argv + first, ing_ctl_given());
		}
	}
	return refuse_verb(argv[optind]);
}
