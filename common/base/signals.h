/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * signals.h - the signals of threads beside the loop's: none but those of a fault (SIGSEGV, SIGBUS,
 * SIGFPE, SIGILL, SIGSYS, SIGABRT), which no thread may block, as their handler would not be called
 * then. That goes for SIGXFSZ too: with it blocked, a file size limit is a write error like others.
 */
#pragma once
#include <pthread.h>
#include <signal.h>

/* pthread_create() of a thread with such a mask. Returns its error, or 0. */
int ing_thread_create(pthread_t *ret, void *(*run)(void *arg), void *arg);
