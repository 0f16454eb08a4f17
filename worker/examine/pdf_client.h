/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf_client.h - an examiner has a PDF read by a process of its own, which the zygote forks. One
 * thread.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct ing_pdf;

/* Fill *pdf, whose status is set in any case: "bad-pdf" if the reader died before it
 * sent any text, "error-timeout" if it sent none within timeout_ms of wall clock (its CPU time is
 * held to a little more), "crash" if it could not be started. A reader that ends
 * after the text leaves out only what it had not sent by then. `link` is the
 * examiner's end to the zygote (ipc.h); one that breaks ends the process. *ret_cpu_us is what
 * the reader used. */
void ing_pdf_client_read(int link, unsigned timeout_ms, const void *data, size_t bytes,
	struct ing_pdf *pdf, uint64_t *ret_cpu_us);
