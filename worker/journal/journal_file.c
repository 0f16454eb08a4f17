/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A predecessor's journal. All that is taken from it is checked first, because the file can be any
 * bytes after a crash of the machine.
 */
#include "worker/journal/journal_file.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/macros.h"

#define FORGET_MS (INT64_C(30) * 24 * 3600 * 1000)

/* No secret: the check is against torn writes. */
static const uint64_t check_key[2] = {UINT64_C(0x6a6f75726e616c31), UINT64_C(0x636865636b)};

struct identity {
	int64_t topic, partition, offset, timestamp_ms;
	uint64_t digest;
};

/* A suspect being counted. */
struct entry {
	struct identity key;
	struct ing_journal_record record;
	bool counted; /* this death */
	UT_hash_handle hh;
};

struct reading {
	const struct ing_journal_file *file;
	struct ing_journal_past *past;
	struct entry *all;
};

static struct identity identity_of(const struct ing_journal_record *r)
{
	return (struct identity){r->topic, r->partition, r->offset, r->timestamp_ms, r->digest};
}

static bool is_valid(const struct reading *rd, const struct ing_journal_record *r)
{
	return r->check == ing_journal_check(r) && r->topic < ING_JOURNAL_TOPICS &&
	       rd->past->topics[r->topic][0] != '\0' && r->stage < ING_STAGES_ &&
	       r->partition >= 0 && r->offset >= 0;
}

static struct entry *find_or_add(struct reading *rd, const struct ing_journal_record *r)
{
	struct entry *e;
	struct identity key = identity_of(r);
	HASH_FIND(hh, rd->all, &key, sizeof(key), e);
	if (e != NULL)
		return e;
	e = ing_alloc(sizeof(*e));
	e->key = key;
	memcpy(&e->record, r, sizeof(*r));
	HASH_ADD(hh, rd->all, key, sizeof(e->key), e);
	return e;
}

/* The clock may have been set back since. */
static bool is_recent(int64_t died_ms, int64_t now_ms)
{
	return died_ms > now_ms - FORGET_MS && died_ms < now_ms + FORGET_MS;
}

static void take_suspects(struct reading *rd, int64_t now_ms)
{
	for (size_t i = 0; i < ING_JOURNAL_SUSPECTS; i++) {
		const struct ing_journal_record *r = &rd->file->suspects[i];
		if (r->check == 0)
			continue;
		if (!is_valid(rd, r) || r->deaths == 0 || r->condemned > 1)
			rd->past->torn++;
		else if (is_recent(r->died_ms, now_ms))
			find_or_add(rd, r);
	}
}

/* Marks each request in flight once, however many records it has. Returns how many there are. */
static size_t accuse(struct reading *rd)
{
	size_t count = 0;
	for (size_t i = 0; i < ING_JOURNAL_RECORDS; i++) {
		const struct ing_journal_record *r = &rd->file->records[i];
		if (r->stage == ING_STAGE_NONE)
			continue;
		if (!is_valid(rd, r)) {
			rd->past->torn++;
			continue;
		}
		if (rd->past->state != ING_LIFE_FAULT) {
			count++;
			continue;
		}
		struct entry *e = find_or_add(rd, r);
		count += !e->counted;
		e->counted = true;
		e->record.stage = r->stage;
	}
	return count;
}

/* Whoever was the only one in flight has died alone. */
static void count_deaths(struct reading *rd, int64_t now_ms)
{
	struct entry *e, *next;
	HASH_ITER (hh, rd->all, e, next) {
		struct ing_journal_record *r = &e->record;
		if (!e->counted)
			continue;
		r->deaths = (uint8_t)(r->deaths < UINT8_MAX ? r->deaths + 1 : UINT8_MAX);
		r->condemned |= r->deaths >= ING_JOURNAL_DEATHS && rd->past->in_flight == 1;
		r->died_ms = now_ms;
	}
}

static int by_death(const void *a, const void *b)
{
	const struct ing_journal_record *x = a, *y = b;
	return (y->died_ms > x->died_ms) - (y->died_ms < x->died_ms);
}

/* The youngest deaths first. */
static void list_suspects(struct reading *rd)
{
	struct ing_journal_past *past = rd->past;
	struct entry *e, *next;
	past->suspects = ing_alloc(HASH_COUNT(rd->all) * sizeof(*past->suspects));
	HASH_ITER (hh, rd->all, e, next) {
		struct ing_journal_record *r = &past->suspects[past->suspect_count++];
		memcpy(r, &e->record, sizeof(*r));
		r->check = ing_journal_check(r);
		HASH_DEL(rd->all, e);
		free(e);
	}
	qsort(past->suspects, past->suspect_count, sizeof(*past->suspects), by_death);
	past->suspect_count = ING_MIN(past->suspect_count, (size_t)ING_JOURNAL_SUSPECTS);
}

static void copy_topics(const struct ing_journal_file *file, struct ing_journal_past *past)
{
	past->topics = ing_alloc(sizeof(file->topics));
	memcpy(past->topics, file->topics, sizeof(file->topics));
	for (size_t i = 0; i < ING_JOURNAL_TOPICS; i++)
		past->topics[i][ING_JOURNAL_TOPIC_BYTES - 1] = '\0';
}

/* -------------------------------------------------------------------------------------------- */

uint32_t ing_journal_check(const struct ing_journal_record *r)
{
	const struct {
		int64_t words[7];
		uint64_t digest;
	} all = {{r->topic, r->deaths, r->condemned, r->partition, r->offset, r->timestamp_ms,
			 r->died_ms},
		r->digest};
	uint32_t check = (uint32_t)ing_siphash(check_key, &all, sizeof(all));
	return check != 0 ? check : 1;
}

bool ing_journal_same(const struct ing_journal_record *a, const struct ing_journal_record *b)
{
	struct identity x = identity_of(a), y = identity_of(b);
	return memcmp(&x, &y, sizeof(x)) == 0;
}

bool ing_journal_read(const void *bytes, size_t count, int64_t now_ms, struct ing_journal_past *ret)
{
	const struct ing_journal_file *file = bytes;
	struct reading rd = {.file = file, .past = ret};
	*ret = (struct ing_journal_past){0};
	if (count != sizeof(*file) || file->head.magic != ING_JOURNAL_MAGIC)
		return false;
	uint32_t state = file->head.fault.state;
	ret->state = state == ING_LIFE_ENDED || state == ING_LIFE_FAULT
			     ? (enum ing_journal_state)state
			     : ING_LIFE_RUNNING;
	ret->signal = file->head.fault.signal;
	ret->died_ms = file->head.fault.died_ms;
	copy_topics(file, ret);
	take_suspects(&rd, now_ms);
	ret->in_flight = accuse(&rd);
	count_deaths(&rd, now_ms);
	list_suspects(&rd);
	return true;
}

void ing_journal_past_done(struct ing_journal_past *past)
{
	free(past->suspects);
	free(past->topics);
	*past = (struct ing_journal_past){0};
}
