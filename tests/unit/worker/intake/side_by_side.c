/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A process per test, its output in an unnamed file until it is its turn to be shown.
 */
#include "side_by_side.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define MAX_TESTS 32

struct child {
	const char *name;
	pid_t pid;
	FILE *output;
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* exit(), not _exit(): the sanitizer looks for leaks there. */
static _Noreturn void run_one(const struct CMUnitTest *test, FILE *output)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is ended for its time leaves nothing */
	if (dup2(fileno(output), STDOUT_FILENO) < 0 || dup2(fileno(output), STDERR_FILENO) < 0)
		die("dup2");
	const struct CMUnitTest tests[] = {*test};
	exit(cmocka_run_group_tests_name(test->name, tests, NULL, NULL) == 0 ? 0 : 1);
}

static void show(FILE *output)
{
	char text[4096];
	size_t n;
	rewind(output);
	while ((n = fread(text, 1, sizeof(text), output)) > 0)
		fwrite(text, 1, n, stdout);
	fclose(output);
}

int run_side_by_side(const struct CMUnitTest *tests, size_t count, const char *part)
{
	struct child children[MAX_TESTS];
	size_t started = 0;
	int failed = 0;
	if (count > MAX_TESTS)
		return EXIT_FAILURE;
	for (size_t i = 0; i < count; i++) {
		if (strstr(tests[i].name, part) == NULL)
			continue;
		struct child *c = &children[started++];
		c->name = tests[i].name;
		c->output = tmpfile();
		if (c->output == NULL)
			die("tmpfile");
		fflush(stdout);
		c->pid = fork();
		if (c->pid < 0)
			die("fork");
		if (c->pid == 0)
			run_one(&tests[i], c->output);
	}
	for (size_t i = 0; i < started; i++) {
		int status;
		if (waitpid(children[i].pid, &status, 0) < 0)
			die("waitpid");
		show(children[i].output);
		if (WIFSIGNALED(status))
			printf("%s was ended by signal %d\n", children[i].name, WTERMSIG(status));
		if (status != 0)
			failed++;
	}
	printf("%zu tests, %d failed\n", started, failed);
	return started == 0 ? EXIT_FAILURE : failed;
}
