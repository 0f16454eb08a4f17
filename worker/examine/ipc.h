/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ipc.h - messages between pool and zygote, and between zygote and examiners: one struct per
 * packet over SOCK_SEQPACKET pairs.
 *
 * Both ends are ours and run on one machine, so the structs are sent as they are. The zygote never
 * sees a document's bytes, and does not trust what an examiner sends.
 */
#pragma once
#include <stdint.h>

#define ING_ZYGOTE_FD 3      /* the zygote's end */
#define ING_RULES_FD 4       /* and, with --rules, the rule files (worker/rules/rule_files.h) */
#define ING_ZYGOTE_VERSION 2 /* an upgrade may leave an old worker with a new executable */

enum ing_zygote_message_kind {
	/* Zygote: libraries and rules are loaded, the sandbox works; `status` is its Landlock ABI. */
	ING_ZYGOTE_READY = 1,
	/* Pool: fork examiner `id`; its socket is passed along. */
	ING_ZYGOTE_SPAWN,
	/* Pool: SIGKILL to `id`; unknown ids are ignored, since it may have died by itself. */
	ING_ZYGOTE_KILL,
	/* Zygote: `id` and its reader are reaped; its wait status, the CPU time of both. */
	ING_ZYGOTE_EXIT,
};

struct ing_zygote_message {
	uint32_t version;
	uint32_t kind;
	uint32_t id;
	int32_t status;
	uint64_t cpu_us; /* its own and of all its readers */
};

/* An examiner cannot fork. For a PDF it asks the zygote for a reader, a process of its own, over a
 * second SOCK_SEQPACKET pair (its link), one struct a packet. It has one reader at a time: an
 * examiner that asks before ENDED has come is killed. */
#define ING_PDF_READER_VERSION 1

struct ing_pdf_reader_request {
	uint32_t version;
	uint32_t timeout_ms; /* from now; the reader is killed then */
	uint64_t body_bytes; /* of the PDF */
};

enum ing_pdf_reader_event_kind {
	/* A stream to the reader is passed along: bytes in, frames out. */
	ING_PDF_READER_STARTED = 1,
	/* It is reaped, or could not be forked. */
	ING_PDF_READER_ENDED,
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
	ING_EXIT_PROTOCOL,     /* a message that cannot be read, or a broken socket */
	ING_EXIT_MEMORY,       /* no memory for the reply */
	ING_EXIT_ORPHAN,       /* the parent died first */
	ING_EXIT_FORK,         /* the zygote could not fork */
	ING_EXIT_RULES,        /* the rule files cannot be loaded */
};
