/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sandbox.h - what a process that examines hostile bytes may still do: compute, read fonts, reply.
 * Prepared once in the zygote (filters compiled, folders opened), entered by each fork in a tenth
 * of a millisecond. One thread.
 *
 * - Root becomes nobody; no capabilities, no new privileges, not dumpable.
 * - Two or three descriptors. Standard error is /dev/null unless the log level is debug, since it
 *   repeats the document's text; the environment is not passed on.
 * - A list of system calls: others end the process, but opening for writing, sockets, forks and
 *   signals fail with an error number. A PDF reader cannot receive descriptors or set limits.
 * - No memory is made executable, so a body cannot be mapped as code, and no library can be loaded:
 *   the zygote loads what is otherwise opened when first needed (ing_document_warm()).
 * - Landlock, where the kernel has it, leaves the folders of fonts, poppler's tables and libraries.
 * - When memory is short the kernel ends these processes first (oom_score_adj 1000, zygote 900).
 *
 * Works as root and as an ordinary user, on bare kernels and under a service manager's
 * MemoryDenyWriteExecute and system call filter; needs seccomp.
 *
 * Sanitized builds are not a security boundary: the sanitizer reserves terabytes of address space
 * and reads /proc for its reports. There RLIMIT_AS and Landlock are left out, and a system call
 * that is not listed fails with EPERM instead of ending the process.
 */
#pragma once
#include <stdbool.h>
#include "common/base/error.h"

struct ing_sandbox;

enum ing_sandbox_level {
	ING_SANDBOX_EXAMINER, /* may receive descriptors and lower its own limits */
	ING_SANDBOX_PDF,      /* neither */
	ING_SANDBOX_LEVELS_
};

/* Returns 0, -ING_FAIL_SYSTEM or -ING_FAIL_UNSUPPORTED. Caller frees. */
int ing_sandbox_new(struct ing_sandbox **ret, struct ing_error *err) ING_MUST_CHECK;
void ing_sandbox_free(struct ing_sandbox *sb); /* NULL is fine */
/* The ABI version of the Landlock in use, 0 without. */
int ing_sandbox_landlock(const struct ing_sandbox *sb);

/* Close the sandbox around the calling process, which from then on dies with its parent. There is
 * no way back; on failure the caller must exit. memory_bytes is RLIMIT_AS, 0 for none. */
int ing_sandbox_enter(const struct ing_sandbox *sb, enum ing_sandbox_level level,
	size_t memory_bytes, struct ing_error *err) ING_MUST_CHECK;
/* From now on at most `seconds` more of CPU time for this process, then SIGXCPU; a backstop behind
 * the wall clock. */
void ing_sandbox_limit_cpu(unsigned seconds);
