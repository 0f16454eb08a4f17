/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * serve.h - the examiner: one question after the other from its socket, until that is closed. One
 * thread.
 */
#pragma once
#include "common/base/macros.h"

struct ing_sandbox;

struct ing_serve_conf {
	const struct ing_sandbox *sandbox;
	size_t memory_bytes; /* RLIMIT_AS of examiner and PDF fork, each; 0: none */
	int null_fd;         /* /dev/null to put in place of stderr, or -1 to keep it */
	int parent;          /* process id of the zygote */
};

/* Called right after the fork. Closes the sandbox, then serves `sock`; never returns. */
ING_NORETURN void ing_serve(const struct ing_serve_conf *conf, int sock);
