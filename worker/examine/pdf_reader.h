/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pdf_reader.h - the process that reads one PDF: forked from the zygote, which has never seen a
 * document, for an examiner. One thread.
 */
#pragma once
#include "common/base/macros.h"
#include "worker/examine/child.h"

struct ing_pdf_reader_request;

/* Called right after the fork. Closes the sandbox, takes request->body_bytes bytes from `sock`,
 * sends a frame for each part of what it finds (enum ing_pdf_part) and ends; never returns. The
 * zygote kills it at its time limit. */
ING_NORETURN void ing_pdf_reader_run(
	const struct ing_child_conf *conf, int sock, const struct ing_pdf_reader_request *request);
