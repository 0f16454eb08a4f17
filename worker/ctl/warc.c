/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl warc verify | index | cat: the command line.
 */
#include "worker/ctl/warc.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/ctl/ctl.h"

#define VERB ING_CTL_WARC

static void print_help(void)
{
	puts("usage: ingestctl warc verify FILE...\n"
	     "       ingestctl warc index [--cdxj] FILE...\n"
	     "       ingestctl warc cat [--raw] FILE OFFSET\n"
	     "\n"
	     "verify reads .warc.gz files: every gzip member must be one record with the length and the\n"
	     "SHA-1 digests that its header gives, and belong to the warcinfo record before it. A line\n"
	     "for each fault, with file and offset, and one for each file; exit status 1 if there is a\n"
	     "fault.\n"
	     "index prints a sorted CDX index of eleven fields, or CDXJ.\n"
	     "cat writes the payload of the record at that offset: of an HTTP message its body, as it\n"
	     "was sent.\n"
	     "\n"
	     "  --cdxj  lines of key, time and JSON\n"
	     "  --raw   the whole record, with its header and that of HTTP\n"
	     "  --help  print this text");
}

static int run_cat(char **arguments, int count, bool raw)
{
	char *end;
	if (count != 2)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "cat takes a file and an offset");
	errno = 0;
	unsigned long long offset = strtoull(arguments[1], &end, 10);
	if (errno != 0 || *end != '\0' || arguments[1][0] < '0' || arguments[1][0] > '9')
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "%s is no offset", arguments[1]);
	return ing_ctl_warc_cat(arguments[0], offset, raw);
}

static int run_subcommand(char **arguments, int count, bool cdxj, bool raw)
{
	const char *what = count > 0 ? arguments[0] : "";
	if (strcmp(what, "cat") == 0)
		return run_cat(arguments + 1, count - 1, raw);
	if (strcmp(what, "verify") != 0 && strcmp(what, "index") != 0)
		return ing_ctl_fail(
			ING_CTL_USAGE, VERB, "one of verify, index, cat is needed; see --help");
	if (count < 2)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "no file given; see --help");
	return what[0] == 'v' ? ing_ctl_warc_verify(arguments + 1, count - 1)
			      : ing_ctl_warc_index(arguments + 1, count - 1, cdxj);
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_warc(int argc, char **argv, const struct ing_ctl *ctl)
{
	static const struct option options[] = {
		{"cdxj", no_argument, NULL, 'j'},
		{"raw", no_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	bool cdxj = false, raw = false;
	(void)ctl;
	optind = 1;
	for (;;) {
		int c = ing_ctl_option(argc, argv, "h", options);
		if (c == -1)
			break;
		switch (c) {
		case 'j':
			cdxj = true;
			break;
		case 'r':
			raw = true;
			break;
		case 'h':
			print_help();
			return ing_ctl_flush_stdout(VERB) ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
		default:
			return ING_CTL_USAGE;
		}
	}
	int code = run_subcommand(argv + optind, argc - optind, cdxj, raw);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
