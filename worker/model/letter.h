/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * letter.h - what the headers of a dead letter say. A dead letter is a message that is no request,
 * or must not be one any more, in the dead-letter topic: key and value unchanged (the value cut
 * where it would not fit), its own headers, and those below, which say where it came from and why.
 *
 * `ingestctl dead replay` produces it again, with ING_LETTER_REPLAYS counted up, and a note beside
 * it in the dead-letter topic: a message without a value, with ING_LETTER_REPLAYED.
 *
 * Headers are outside bytes: anyone may write to the topic. What is missing or malformed is taken
 * as if it was not there. Pure, any thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/outputs.h"

#define ING_LETTER_TOPIC "__dlq.errors.topic"
#define ING_LETTER_PARTITION "__dlq.errors.partition"
#define ING_LETTER_OFFSET "__dlq.errors.offset"
#define ING_LETTER_MESSAGE "__dlq.errors.message"
#define ING_LETTER_REASON "ingest.errors.reason"
#define ING_LETTER_STAGE "ingest.errors.stage"
#define ING_LETTER_POSITION "ingest.errors.position"
#define ING_LETTER_TIME "ingest.errors.time"
#define ING_LETTER_VALUE_BYTES "ingest.errors.value-bytes"
#define ING_LETTER_KEY_BYTES "ingest.errors.key-bytes"
#define ING_LETTER_REPLAYS "ingest.replays"   /* of the message: how often it was produced again */
#define ING_LETTER_REPLAYED "ingest.replayed" /* of a note: PARTITION:OFFSET of the letter */

#define ING_LETTER_MAX_REPLAYS 1000000u /* larger numbers are malformed */

struct ing_letter {
	/* Borrowed; NULL: not given. */
	const char *topic, *message, *reason, *stage, *position, *time;
	int32_t partition; /* -1: not given, like the next three */
	int64_t offset;
	int64_t value_bytes, key_bytes; /* of the whole message; more than it has: cut, left out */
	unsigned replays;
	/* A note: of which letter. */
	bool is_note;
	int32_t replayed_partition;
	int64_t replayed_offset;
};

/* Headers that are none of these are ignored; of several with a name the last one counts. */
void ing_letter_parse(
	const struct ing_header *headers, size_t header_count, struct ing_letter *ret);
/* A header that says why a message died: not the message's own. */
bool ing_letter_has_header(const char *name);
/* "PARTITION:OFFSET", or "OFFSET" of partition 0. */
bool ing_letter_read_place(const char *text, int32_t *ret_partition, int64_t *ret_offset);
