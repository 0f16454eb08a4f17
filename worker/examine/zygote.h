/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * zygote.h - the process from which examiners are forked: everything loaded, nothing hostile ever
 * seen. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_zygote_conf {
	size_t memory_bytes; /* of an examiner, and of a PDF's reader; 0: no limit */
	unsigned timeout_ms; /* of a document, and so the longest for a PDF; 0: no bound */
	bool rules;          /* they are at ING_RULES_FD; else examiners have none */
	bool keep_stderr;    /* examiners may write to it: for developers, as its text is hostile */
};

/* Enter the sandbox, each level in a fork of its own, and end. Returns the exit code; what is refused is said on
 * standard error. */
int ing_zygote_prove(const struct ing_zygote_conf *conf);
/* Serve the pool on ING_ZYGOTE_FD until it hangs up; every examiner is dead on return. Returns the
 * exit code. */
int ing_zygote_run(const struct ing_zygote_conf *conf);
