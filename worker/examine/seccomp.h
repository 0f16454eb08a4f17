/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * seccomp.h - the system calls left to a sandboxed process, compiled to kernel filters. One file
 * (seccomp.c) wraps libseccomp. One thread.
 */
#pragma once
#include "worker/examine/sandbox.h"

struct sock_fprog;

/* *ret->filter is heap, the caller's. 0 or -ING_FAIL_SYSTEM. */
int ing_seccomp_compile(
	enum ing_sandbox_level level, struct sock_fprog *ret, struct ing_error *err) ING_MUST_CHECK;
