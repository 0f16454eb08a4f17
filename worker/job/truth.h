/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * truth.h - what an examiner says of a body's bytes, held against what is known of them: the answer
 * itself, and the digests that the archive thread took of the body as sent.
 *
 * An examiner may have been taken over by the document that it looked at. What it says of a page
 * cannot be checked without reading the page; what it says of the file can. Pure.
 */
#pragma once
#include <stdbool.h>
#include "worker/archive/archive.h"
#include "worker/model/findings.h"
#include "worker/model/exchange.h"

/* Words for error_message when findings of this answer are found untrue. */
extern const char ing_truth_words[];

/* As soon as the findings are there: true when they contradict the answer. A body with a content
 * coding cannot be as sent, one that is as sent has the answer's length, and one that was decoded
 * at most what was asked for. */
bool ing_truth_contradicts(
	const struct ing_findings *f, const struct ing_exchange *ex, uint64_t max_body_bytes);

/* Whether the body had a content coding that was to be taken off. */
bool ing_truth_is_coded(const struct ing_exchange *ex);

enum ing_truth {
	ING_TRUTH_GOOD,    /* *file is complete */
	ING_TRUTH_LIE,     /* no gzip was sent that could have been decoded unsaid */
	ING_TRUTH_UNKNOWN, /* the body could not be read back here */
};
/* When the archive has called back: give a body that is as sent the digests that were taken of it;
 * believe those of a decoded body if there was something to decode. */
enum ing_truth ing_truth_settle(
	struct ing_file_meta *file, bool coded, const struct ing_archive_item *item);
