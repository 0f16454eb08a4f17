/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fault.h - notes when this process dies by its own fault: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS,
 * and SIGABRT, which is what ing_must(), the C library and the manager's watchdog use. The signal
 * then takes its usual course (core, sanitizer's report).
 *
 * Only for threads that do not block these signals (common/base/signals.h): the kernel kills the
 * others without calling a handler, which looks like SIGKILL. librdkafka's are such.
 */
#pragma once

struct ing_journal_fault;

/* From now on faults are noted there, memory that outlives the process; NULL: no more. A process
 * that is forked notes nothing. */
void ing_fault_watch(struct ing_journal_fault *to);
