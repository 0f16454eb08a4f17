/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/base/signals.h"

#include <stddef.h>

#include "common/base/macros.h"

int ing_thread_create(pthread_t *ret, void *(*run)(void *arg), void *arg)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
	sigset_t mask;
	sigset_t before;
	sigfillset(&mask);
	for (size_t i = 0; i < ING_ARRAY_LEN(faults); i++)
		sigdelset(&mask, faults[i]);
	pthread_sigmask(SIG_SETMASK, &mask, &before); /* a thread begins with its maker's mask */
	int errnum = pthread_create(ret, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return errnum;
}
