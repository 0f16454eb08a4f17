/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * child.h - what every fork of the zygote does first: keep its own sockets and nothing else, close
 * the sandbox around itself, die with the zygote. One thread.
 */
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include "worker/examine/sandbox.h"

#define ING_CHILD_FD 3 /* the first of a fork's sockets; others follow */

struct ing_child_conf {
	const struct ing_sandbox *sandbox;
	size_t memory_bytes; /* RLIMIT_AS of each fork; 0: none */
	int null_fd;         /* /dev/null to put in place of stderr, or -1 to keep it */
	int parent;          /* process id of the zygote */
	int oom_fd; /* as ing_child_raise_oom_score() sets them; -1: the score stays as it is */
	int oom_score;
};

/* Called right after the fork. The sockets move to ING_CHILD_FD and on, in their order; every other
 * descriptor but 0 to 2 is closed. Ends the process when anything fails. */
void ing_child_enter_sandbox(const struct ing_child_conf *conf, enum ing_sandbox_level level,
	const int *socks, size_t count);
/* Make the calling process, the zygote, a likelier choice of the kernel's when memory runs out, unless
 * it is as likely already; a descriptor for that stays open in *conf. */
void ing_child_raise_oom_score(struct ing_child_conf *conf);
/* fork() whose child is the likeliest. The score is inherited, which saves the child the 0.07 ms of
 * finding its own in /proc. */
pid_t ing_child_fork(const struct ing_child_conf *conf);
