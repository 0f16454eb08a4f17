/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fault.h - what the calls of libingfault ask before and after the call that they stand in front of.
 * Any thread of the program.
 */
#pragma once
#include <dlfcn.h>
#include <errno.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* 0: let it pass; else an errno. May wait, or end the program. fd: of the call, or -1; path: of the
 * call (of SQL: its text), or NULL. */
int fault(const char *call, int fd, const char *path);
/* After the real call: ends the program where a rule says so. */
void after_call(const char *call);

/* What the call returns when it is to fail follows from how: errnum is at hand there. */
#define STAND_IN_FOR(type, name, fd, path, parameters, arguments, failed)                          \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		static __typeof__(&name) real;                                                     \
		if (real == NULL)                                                                  \
			real = REAL(name);                                                         \
		int errnum = fault(#name, fd, path);                                               \
		if (errnum == 0) {                                                                 \
			type result_of_call = real arguments;                                      \
			after_call(#name);                                                         \
			return result_of_call;                                                     \
		}                                                                                  \
		errno = errnum;                                                                    \
		return failed;                                                                     \
	}

/* A call with a descriptor or none, that returns -1 for an error. */
#define STAND_IN(type, name, fd, parameters, arguments)                                            \
	STAND_IN_FOR(type, name, fd, NULL, parameters, arguments, -1)
