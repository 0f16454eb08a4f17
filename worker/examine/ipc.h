/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ipc.h - what the pool and its zygote, and the zygote and its examiners tell each other: one
 * struct a packet over SOCK_SEQPACKET pairs.
 *
 * Both ends are ours and run on one machine, so the structs go as they are. The zygote never sees a
 * document's bytes, and believes nothing of what an examiner asks.
 */
#pragma once
#include <stdint.h>

#define ING_ZYGOTE_FD 3      /* where the zygote finds its end */
#define ING_RULES_FD 4       /* and, with --rules, the rule files (worker/rules/rule_files.h) */
#define ING_ZYGOTE_VERSION 2 /* an upgrade may leave an old worker with a new executable */

enum ing_zygote_message_kind {
	ING_ZYGOTE_READY =
		1, /* zygote: warmed, able to close a sandbox; `status` is its Landlock ABI */
	ING_ZYGOTE_SPAWN, /* pool: fork examiner `id`; its socket comes along */
	ING_ZYGOTE_KILL,  /* pool: SIGKILL to `id`; unknown ids are ignored (it may have died by
			      itself) */
	ING_ZYGOTE_EXIT,  /* zygote: `id` and its reader are gone; its wait status, the CPU time of
			      both */
};

struct ing_zygote_message {
	uint32_t version;
	uint32_t kind;
	uint32_t id;
	int32_t status;
	uint64_t cpu_us; /* its own and of all its readers */
};

/* An examiner cannot fork. For a PDF it asks the zygote for a reader, a process of its own, over a
 * second SOCK_SEQPACKET pair (its link), one struct a packet. It has one reader at a time: asking
 * before ENDED has come is a fault for which the examiner is killed. */
#define ING_PDF_READER_VERSION 1

struct ing_pdf_reader_request {
	uint32_t version;
	uint32_t timeout_ms; /* from now; the reader is killed then */
	uint64_t body_bytes; /* that the reader is going to get */
};

enum ing_pdf_reader_event_kind {
	ING_PDF_READER_STARTED =
		1,            /* a stream to the reader comes along: bytes in, one frame out */
	ING_PDF_READER_ENDED, /* it is dead and reaped, or could not be forked */
};

struct ing_pdf_reader_event {
	uint32_t version;
	uint32_t kind;
	int32_t status;     /* of ENDED: its wait status */
	uint32_t timed_out; /* of ENDED: 1 when it was killed at its time limit */
	uint64_t cpu_us;
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
