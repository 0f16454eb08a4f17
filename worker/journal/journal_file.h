/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * journal_file.h - the layout of the crash journal, and reading one that another process left: torn,
 * old or hostile bytes give nothing or valid records, never an error of ours. Pure; any thread.
 *
 * The file has a fixed size: head, names of topics, suspects, records of requests in flight. A
 * record is written by one thread; its check is over all but its stage, which is written last and
 * says whether the record is in use. Numbers are the machine's own: the file does not travel.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/journal/journal.h"

#define ING_JOURNAL_MAGIC UINT64_C(0x314c4e524a474e49) /* "INGJRNL1" */
#define ING_JOURNAL_TOPICS 32u
#define ING_JOURNAL_TOPIC_BYTES 256u /* Kafka's have 249 at most */
#define ING_JOURNAL_SUSPECTS 4096u
#define ING_JOURNAL_RECORDS 4096u
#define ING_JOURNAL_DEATHS 3u /* of which one is alone: condemned */

/* How the process came to its end. What is neither was killed. */
enum ing_journal_state { ING_LIFE_RUNNING = 1, ING_LIFE_ENDED, ING_LIFE_FAULT };

/* Written by a signal handler of any thread. */
struct ing_journal_fault {
	_Atomic uint32_t state; /* enum ing_journal_state */
	int32_t signal;
	int64_t died_ms; /* CLOCK_REALTIME */
};

struct ing_journal_head {
	uint64_t magic;
	struct ing_journal_fault fault;
	uint8_t pad[4096 - 8 - sizeof(struct ing_journal_fault)];
};

struct ing_journal_record {
	uint32_t check;
	_Atomic uint8_t stage; /* enum ing_journal_stage; of a suspect: at its last death */
	uint8_t topic;         /* in the table of names */
	uint8_t deaths;        /* of a suspect */
	uint8_t condemned;     /* of a suspect */
	int32_t partition;
	uint32_t pad;
	int64_t offset, timestamp_ms;
	uint64_t digest;
	int64_t died_ms; /* of a suspect: its last death */
	uint64_t pad2[2];
};

struct ing_journal_file {
	struct ing_journal_head head;
	char topics[ING_JOURNAL_TOPICS][ING_JOURNAL_TOPIC_BYTES]; /* "": free */
	struct ing_journal_record suspects[ING_JOURNAL_SUSPECTS]; /* check 0: free */
	struct ing_journal_record records[ING_JOURNAL_RECORDS];
};
_Static_assert(sizeof(struct ing_journal_head) == 4096, "a page");
_Static_assert(sizeof(struct ing_journal_record) == 64, "a cache line");

/* What another process left. */
struct ing_journal_past {
	enum ing_journal_state state; /* of that process */
	int signal;                   /* with FAULT */
	int64_t died_ms;
	size_t in_flight; /* requests */
	size_t torn;      /* records and suspects that are none */
	/* Those of before, and with FAULT those in flight, each with one death more. Valid topics,
	 * stages and counts; no request twice. Heap. */
	struct ing_journal_record *suspects;
	size_t suspect_count;
	char (*topics)[ING_JOURNAL_TOPIC_BYTES]; /* heap; terminated, ING_JOURNAL_TOPICS */
};

uint32_t ing_journal_check(const struct ing_journal_record *r); /* never 0 */
bool ing_journal_same(const struct ing_journal_record *a, const struct ing_journal_record *b);
/* False when the bytes are no journal of this version; nothing is to be freed then. now_ms: suspects
 * that have died over 30 days before are left out; of too many the oldest. */
bool ing_journal_read(
	const void *bytes, size_t count, int64_t now_ms, struct ing_journal_past *ret);
void ing_journal_past_done(struct ing_journal_past *past);
