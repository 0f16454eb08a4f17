/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * control.h - what the pool and its zygote tell each other: one struct a packet over a
 * SOCK_SEQPACKET pair.
 *
 * Both ends are ours and run on one machine, so the struct goes as it is. The zygote never sees a
 * document's bytes.
 */
#pragma once
#include <stdint.h>

#define ING_CONTROL_FD 3 /* where the zygote finds its end */
#define ING_RULES_FD 4   /* and, with --rules, the rule files (worker/scrape/rules/rule_files.h) */
#define ING_CONTROL_VERSION 2 /* an upgrade may leave an old worker with a new executable */

enum ing_control_kind {
	ING_CONTROL_READY =
		1, /* zygote: warmed, able to close a sandbox; `status` is its Landlock ABI */
	ING_CONTROL_SPAWN, /* pool: fork examiner `id`; its socket comes along */
	ING_CONTROL_KILL,  /* pool: SIGKILL to `id`; unknown ids are ignored (it may have died by
			      itself) */
	ING_CONTROL_EXIT, /* zygote: `id` is gone, with wait status `status`, after cpu_us in all */
};

struct ing_control {
	uint32_t version;
	uint32_t kind;
	uint32_t id;
	int32_t status;
	uint64_t cpu_us; /* its own and of its children that it waited for */
};

/* Exit codes of zygote and examiners, apart from those that sanitizers use. */
enum ing_examiner_exit {
	ING_EXIT_USAGE = 2,
	ING_EXIT_SANDBOX = 81, /* could not be closed */
	ING_EXIT_PROTOCOL,     /* an order that cannot be read, or a socket that broke */
	ING_EXIT_MEMORY,       /* no memory for the reply */
	ING_EXIT_ORPHAN,       /* the parent died first */
	ING_EXIT_FORK,         /* the zygote could not fork */
	ING_EXIT_RULES,        /* the rule files cannot be loaded */
};
