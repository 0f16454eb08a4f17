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
#include "worker/model/libraries.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/verbs.h"

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
	for (const struct ing_verb *v = ing_verbs; v->usage != NULL; v++)
		ing_nearest_try(&n, v->usage->name);
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
			ing_verbs_print(stdout);
			return ING_CTL_OK;
		case 'V':
			ing_libraries_print("ingestctl", stdout);
			return ing_ctl_flush_stdout("--version") ? ING_CTL_OK : ING_CTL_ENVIRONMENT;
		default:
			return ING_CTL_USAGE; /* it has been said why */
		}
	}
	if (optind == argc) {
		ing_verbs_print(stderr);
		return ING_CTL_USAGE;
	}
	const struct ing_verb *verb = ing_verb_of_name(argv[optind]);
	if (verb == NULL)
		return refuse_verb(argv[optind]);
	int first = optind;
	begin_options_anew(argv);
	snprintf(called, sizeof(called), "ingestctl %s", verb->usage->name);
	argv[first] = called;
	return verb->run(argc - first, argv + first, ing_ctl_given());
}
