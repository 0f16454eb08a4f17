/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether examiners can close their sandbox in this place: asked once, before anything is taken that
 * could only be read outside of one. The answer is that of an examiner that tries, and ends.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "worker/examine/ipc.h"
#include "worker/examine/pool_priv.h"

#define PROOF_MS 30000 /* some dozens of libraries are loaded, perhaps from a slow disk */
#define MAX_SAID_BYTES 512

struct proof {
	pid_t pid;
	int fd; /* what it says */
	char said[MAX_SAID_BYTES];
	size_t said_bytes;
};

static int start_proof(struct proof *p, const char *path)
{
	int ends[2];
	char *env[ING_EXAMINER_ENVIRONMENT];
	char option[] = "--prove-sandbox";
	char *program = NULL;
	memcpy(&program, &path, sizeof(program)); /* argv has no const */
	char *argv[] = {program, option, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	int rc = posix_spawn(&p->pid, path, &files, &attr, argv, ing_examiner_environment(env));
	ing_examiner_environment_free(env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	p->fd = ends[0];
	if (rc != 0)
		close(p->fd);
	return rc;
}

/* Until it closes its end by ending, or its time is over: then it is ended. */
static void listen_to(struct proof *p)
{
	uint64_t started_ms = ing_now_ms();
	uint64_t spent_ms = 0;
	bool ended = false;
	while (!ended && spent_ms < PROOF_MS && p->said_bytes < sizeof(p->said) - 1) {
		struct pollfd pfd = {.fd = p->fd, .events = POLLIN};
		if (poll(&pfd, 1, (int)(PROOF_MS - spent_ms)) > 0) {
			ssize_t got = read(p->fd, p->said + p->said_bytes,
				sizeof(p->said) - 1 - p->said_bytes);
			ended = got <= 0;
			p->said_bytes += got > 0 ? (size_t)got : 0;
		}
		spent_ms = ing_now_ms() - started_ms;
	}
	if (!ended)
		kill(p->pid, SIGKILL);
	close(p->fd);
	p->said[p->said_bytes] = '\0';
}

/* Its first line, without the severity that is meant for the journal. */
static const char *first_line(struct proof *p)
{
	char *line = p->said;
	line[strcspn(line, "\n")] = '\0';
	if (line[0] == '<' && line[1] != '\0' && line[2] == '>')
		line += 3;
	return line;
}

/* -------------------------------------------------------------------------------------------- */

/* What is found in a document must not depend on the user's environment, and examiners must not see
 * passwords in it. */
char **ing_examiner_environment(char *ret_env[ING_EXAMINER_ENVIRONMENT])
{
	static const char *const fixed[] = {"LC_ALL=C.UTF-8", "TZ=UTC0", "HOME=/nonexistent"};
	static const char *const kept[] = {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS",
		"LLVM_PROFILE_FILE", "LD_LIBRARY_PATH", "FONTCONFIG_FILE", "FONTCONFIG_PATH",
		"MAGIC"};
	size_t count = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(fixed); i++)
		ret_env[count++] = ing_strdup(fixed[i]);
	for (size_t i = 0; i < ING_ARRAY_LEN(kept); i++) {
		const char *value = getenv(kept[i]);
		if (value == NULL)
			continue;
		size_t bytes = strlen(kept[i]) + strlen(value) + 2;
		ret_env[count] = ing_alloc(bytes);
		snprintf(ret_env[count++], bytes, "%s=%s", kept[i], value);
	}
	ing_must(count < ING_EXAMINER_ENVIRONMENT);
	ret_env[count] = NULL;
	return ret_env;
}

void ing_examiner_environment_free(char **env)
{
	for (size_t i = 0; env[i] != NULL; i++)
		free(env[i]);
}

int ing_pool_prove_sandbox(const char *examiner_path, struct ing_error *err)
{
	struct proof p = {.pid = -1};
	int status = 0;
	int rc = start_proof(&p, examiner_path);
	if (rc != 0)
		return ing_error_sys(err, rc, "examiner: cannot start %s", examiner_path);
	listen_to(&p);
	while (waitpid(p.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return ing_error_set(err, ING_FAIL_SYSTEM,
		"%s: documents are read in a sandbox only, which needs seccomp filters: the service manager, the container's"
		" profile or the kernel has to allow them",
		p.said_bytes > 0 ? first_line(&p) : "examiner: cannot close its sandbox");
}
