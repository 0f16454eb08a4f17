/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf_fork.h - reading one PDF in a process of its own, forked from the examiner. One thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct ing_pdf;
struct ing_sandbox;

struct ing_pdf_limits {
	unsigned timeout_ms; /* wall clock; CPU time is held to a little more */
	size_t memory_bytes; /* RLIMIT_AS, 0: none */
};

/* Fill *pdf, whose status is set in any case: "crash" or "error-timeout" if the fork did not live
 * to answer. `closes` are descriptors that the fork has no business with. *ret_cpu_us is what the
 * fork used. */
void ing_pdf_fork(const struct ing_sandbox *sb, const struct ing_pdf_limits *limits,
	const int closes[2], const void *data, size_t bytes, struct ing_pdf *pdf,
	uint64_t *ret_cpu_us);
