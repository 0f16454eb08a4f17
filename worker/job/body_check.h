/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * body_check.h - what an examiner says of a body's bytes, compared with what is known of them: the
 * answer itself, and the digests that the archive thread took of the body as sent.
 *
 * An examiner may have been taken over by the document that it looked at. What it says of a page
 * cannot be checked without reading the page; what it says of the file can. Pure.
 */
#pragma once
#include <stdbool.h>
#include "worker/model/exchange.h"
#include "worker/model/findings.h"
#include "worker/visit/capture.h"

/* For error_message when findings contradict their body. */
extern const char ing_body_check_detail[];

/* As soon as the findings are there: true when they contradict the answer. A body with a content
 * coding cannot be as sent, one that is as sent has the answer's length, and one that was decoded
 * at most what was asked for. */
bool ing_body_contradicts(
	const struct ing_findings *f, const struct ing_exchange *ex, uint64_t max_body_bytes);

enum ing_body_check {
	ING_BODY_GOOD,         /* *file is complete */
	ING_BODY_CONTRADICTED, /* decoded, the examiner says, but it had no coding and is no gzip */
	ING_BODY_UNREADABLE,   /* it could not be read back here */
};
/* When the capture is archived: give a body that is as sent the digests that were taken of it;
 * believe those of a decoded body if there was something to decode. */
enum ing_body_check ing_body_settle(struct ing_file_meta *file, const struct ing_capture *c);
