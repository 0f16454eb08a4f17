/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A process of the same program, from /proc/self/exe: it may have been replaced on disk meanwhile.
 */
#include "worker/ctl/self_run.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/io.h"

#define MAX_ARGS 512

static void close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static void exec_self(const struct ing_ctl *ctl, const char *const *args)
{
	const char *all[MAX_ARGS];
	size_t n = 0;
	all[n++] = "ingestctl";
	if (ctl->config_file != NULL) {
		all[n++] = "--config";
		all[n++] = ctl->config_file;
	}
	for (char *const *set = ctl->sets; set != NULL && *set != NULL && n < MAX_ARGS / 2; set++) {
		all[n++] = "--set";
		all[n++] = *set;
	}
	while (*args != NULL && n < MAX_ARGS - 1)
		all[n++] = *args++;
	all[n] = NULL;
	execv("/proc/self/exe", (char *const *)(uintptr_t)all);
}

static void become(
	const struct ing_ctl *ctl, const char *const *args, const int in[2], const int out[2])
{
	if (dup2(in[0], STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0)
		exec_self(ctl, args);
	_exit(ING_CTL_ENVIRONMENT);
}

/* 0, or errno. */
static int read_all(int fd, struct ing_buf *to)
{
	char block[16384];
	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));
		if (n > 0)
			ing_buf_add(to, block, (size_t)n);
		else if (n == 0)
			return 0;
		else if (errno != EINTR)
			return errno;
	}
}

static int wait_for(pid_t pid, int *ret_code, struct ing_error *err)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ing_error_sys(err, errno, "waitpid");
	if (!WIFEXITED(status))
		return ing_error_set(err, ING_FAIL_SYSTEM, "ended by signal %d", WTERMSIG(status));
	*ret_code = WEXITSTATUS(status);
	return 0;
}

static int talk(const char *input, const int in[2], const int out[2], struct ing_buf *ret)
{
	close(in[0]);
	close(out[1]);
	int failed = input != NULL ? ing_write_all(in[1], input, strlen(input)) : 0;
	close(in[1]);
	int broken = read_all(out[0], ret);
	close(out[0]);
	return failed != 0 && failed != EPIPE ? failed : broken;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_run_self(const struct ing_ctl *ctl, const char *const *args, const char *input,
	struct ing_buf *ret, int *ret_code, struct ing_error *err)
{
	int in[2], out[2];
	ing_must(input == NULL || strlen(input) <= ING_SELF_INPUT_BYTES);
	if (pipe2(in, O_CLOEXEC) != 0)
		return ing_error_sys(err, errno, "pipe");
	if (pipe2(out, O_CLOEXEC) != 0) {
		close_both(in);
		return ing_error_sys(err, errno, "pipe");
	}
	pid_t pid = fork();
	if (pid == 0)
		become(ctl, args, in, out);
	if (pid < 0) {
		int rc = ing_error_sys(err, errno, "fork");
		close_both(in);
		close_both(out);
		return rc;
	}
	int failed = talk(input, in, out, ret);
	int rc = wait_for(pid, ret_code, err);
	if (rc == 0 && failed != 0)
		rc = ing_error_sys(err, failed, "pipe");
	if (rc == 0 && ret->failed)
		rc = ing_error_set(err, ING_FAIL_TOO_BIG, "it printed too much");
	return rc;
}
