/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The handler stores to mapped memory, reads a clock and puts the former action back. A fault that
 * the processor has found is met again on return; one that was sent is sent again.
 */
#include "worker/journal/fault.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/base/macros.h"
#include "worker/journal/journal_file.h"

/* For the stack that has overflowed: the loop's thread has another for the handler. */
#define STACK_BYTES ((size_t)64 << 10)

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGABRT};
static struct sigaction before[ING_ARRAY_LEN(signals)];
static struct ing_journal_fault *_Atomic noted_to;
static pid_t own_pid;
static char handler_stack[STACK_BYTES];
static stack_t stack_before;

static void note(int number)
{
	struct ing_journal_fault *to = atomic_load(&noted_to);
	struct timespec now;
	if (to == NULL || getpid() != own_pid)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	to->signal = number;
	to->died_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	atomic_store(&to->state, (uint32_t)ING_LIFE_FAULT);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)context;
	note(number);
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++)
		if (signals[i] == number)
			sigaction(number, &before[i], NULL);
	if (info->si_code <= 0) /* sent by kill(2) or raise(3) */
		raise(number);
}

static void put_back(void)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++)
		sigaction(signals[i], &before[i], NULL);
	sigaltstack(&stack_before, NULL);
}

static void install(void)
{
	const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigemptyset(&action.sa_mask);
	sigaltstack(NULL, &stack_before);
	if ((stack_before.ss_flags & SS_DISABLE) != 0) /* else a sanitizer has one */
		sigaltstack(&stack, NULL);
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++)
		sigaction(signals[i], &action, &before[i]);
}

/* -------------------------------------------------------------------------------------------- */

void ing_fault_watch(struct ing_journal_fault *to)
{
	bool watched = atomic_load(&noted_to) != NULL;
	own_pid = getpid();
	atomic_store(&noted_to, to);
	if (to != NULL && !watched)
		install();
	else if (to == NULL && watched)
		put_back();
}
