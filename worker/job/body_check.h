/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * body_check.h - whether an examiner's findings agree with what is known about the body otherwise:
 * the answer, and the digests that the archive thread took of the body as sent.
 *
 * The document may have taken over the examiner that parsed it. What the examiner says about a page
 * cannot be checked without parsing the page; what it says about the file can. Pure.
 */
#pragma once
#include <stdbool.h>
#include "worker/model/exchange.h"
#include "worker/model/findings.h"
#include "worker/visit/capture.h"

/* For error_message when findings contradict their body. */
extern const char ing_body_check_detail[];

/* To be called with new findings. Returns true when they contradict the answer: a body with a
 * content coding has to be decoded, one that was not decoded has the length of the answer, and a
 * decoded one is at most max_body_bytes long. */
bool ing_body_contradicts(
	const struct ing_findings *f, const struct ing_exchange *ex, uint64_t max_body_bytes);

enum ing_body_check {
	ING_BODY_GOOD,         /* *file is complete */
	ING_BODY_CONTRADICTED, /* the body is said to be decoded, but was not compressed */
	ING_BODY_UNREADABLE,   /* the archive thread could not read the body */
};
/* To be called when the capture is archived. Fills in the digests of a body that was not decoded;
 * those of a decoded one are believed if there was something to decode. */
enum ing_body_check ing_body_settle(struct ing_file_meta *file, const struct ing_capture *c);
