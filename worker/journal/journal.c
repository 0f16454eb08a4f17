/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The journal of this process. Suspects are in a table in memory as well, by their identity; the
 * file has what a successor must know.
 *
 * The file is written in place, also when it is begun anew: its blocks are allocated once, so that
 * no later write finds the disk full (a page of a mapped file that cannot be allocated is a SIGBUS).
 */
#include "worker/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "worker/journal/fault.h"
#include "worker/journal/journal_file.h"

#define NO_TOPIC ING_JOURNAL_TOPICS

struct key {
	uint64_t topic; /* its place in the file */
	int64_t partition, offset, timestamp_ms;
	uint64_t digest;
};

struct suspect {
	struct key key;
	uint32_t slot; /* in the file */
	UT_hash_handle hh;
};

struct ing_journal {
	struct ing_journal_file *file;
	struct suspect *suspects;
	unsigned alone; /* suspects that are not free to run with others */
	uint32_t free_records[ING_JOURNAL_RECORDS];
	unsigned free_count;
	struct ing_journal_stats stats;
};

static int64_t wall_ms(void)
{
	struct timespec now = ing_wall_now();
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- topics --- */

/* The place of a topic's name; if it has none yet, and may have one, it gets one. */
static unsigned find_topic(struct ing_journal_file *file, const char *name, bool add)
{
	for (unsigned i = 0; i < ING_JOURNAL_TOPICS; i++) {
		char *at = file->topics[i];
		if (at[0] == '\0' && add && strlen(name) < ING_JOURNAL_TOPIC_BYTES)
			memcpy(at, name, strlen(name) + 1);
		if (strcmp(at, name) == 0)
			return i;
	}
	return NO_TOPIC;
}

/* False: its topic has no place. */
static bool make_key(
	const struct ing_journal *j, const struct ing_source *s, bool add, struct key *ret)
{
	unsigned topic = find_topic(j->file, s->topic, add);
	*ret = (struct key){topic, s->partition, s->offset, s->timestamp_ms, s->digest};
	return topic != NO_TOPIC;
}

/* --- suspects --- */

static bool is_free(const struct ing_journal_record *r)
{
	return r->condemned == 0 && r->deaths + 1u < ING_JOURNAL_DEATHS;
}

static struct suspect *find_suspect(const struct ing_journal *j, const struct ing_source *source)
{
	struct key key;
	struct suspect *s = NULL;
	if (j->suspects != NULL && make_key(j, source, false, &key))
		HASH_FIND(hh, j->suspects, &key, sizeof(key), s);
	return s;
}

static void add_suspect(struct ing_journal *j, uint32_t slot, const struct ing_journal_record *r)
{
	struct suspect *s = ing_alloc(sizeof(*s));
	memcpy(&j->file->suspects[slot], r, sizeof(*r));
	s->key = (struct key){r->topic, r->partition, r->offset, r->timestamp_ms, r->digest};
	s->slot = slot;
	HASH_ADD(hh, j->suspects, key, sizeof(s->key), s);
	j->alone += !is_free(r);
	j->stats.suspects++;
	j->stats.condemned += r->condemned;
}

static void drop_suspect(struct ing_journal *j, struct suspect *s)
{
	struct ing_journal_record *r = &j->file->suspects[s->slot];
	j->alone -= !is_free(r);
	j->stats.suspects--;
	r->check = 0;
	HASH_DEL(j->suspects, s);
	free(s);
}

/* --- the file --- */

/* Returns a descriptor of a file of the right size with all of its blocks; or negative. */
static int open_file(const char *path, bool *ret_known_size, struct ing_error *err)
{
	struct stat st;
	int errnum = 0;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return ing_error_sys(err, errno, "crash journal: cannot open %s", path);
	if (fstat(fd, &st) != 0)
		errnum = errno;
	*ret_known_size = errnum == 0 && st.st_size == (off_t)sizeof(struct ing_journal_file);
	if (errnum == 0 && !*ret_known_size && ftruncate(fd, 0) != 0)
		errnum = errno;
	/* Of an old one too: a copy may have holes. */
	if (errnum == 0)
		errnum = posix_fallocate(fd, 0, sizeof(struct ing_journal_file));
	if (errnum == 0)
		return fd;
	close(fd);
	return ing_error_sys(err, errnum, "crash journal: no room for %s", path);
}

static int map_file(const char *path, struct ing_journal_file **ret, bool *ret_known_size,
	struct ing_error *err)
{
	int fd = open_file(path, ret_known_size, err);
	if (fd < 0)
		return fd;
	void *at = mmap(NULL, sizeof(**ret), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int errnum = errno;
	close(fd);
	if (at == MAP_FAILED)
		return ing_error_sys(err, errnum, "crash journal: cannot map %s", path);
	*ret = at;
	return 0;
}

/* From here on a death is one of this process. */
static void begin_file(struct ing_journal *j)
{
	struct ing_journal_file *file = j->file;
	file->head.fault = (struct ing_journal_fault){.state = ING_LIFE_RUNNING};
	memset(file->records, 0, sizeof(file->records));
	memset(file->suspects, 0, sizeof(file->suspects));
	memset(file->topics, 0, sizeof(file->topics));
	file->head.magic = ING_JOURNAL_MAGIC;
	for (uint32_t i = ING_JOURNAL_RECORDS; i > 0; i--)
		j->free_records[j->free_count++] = i;
}

static void log_past(const struct ing_journal_past *past)
{
	if (past->torn > 0)
		ing_log(ING_LOG_WARNING, "crash journal: %zu records are damaged and left out",
			past->torn);
	if (past->state == ING_LIFE_FAULT)
		ing_log(ING_LOG_ERROR,
			"the last process of this instance died by signal %d (%s) with %zu "
			"requests in flight, which are suspects now",
			past->signal, sigdescr_np(past->signal), past->in_flight);
	else if (past->state == ING_LIFE_RUNNING)
		ing_log(ING_LOG_WARNING,
			"the last process of this instance was killed, or its machine died, with "
			"%zu requests in flight",
			past->in_flight);
}

static void log_suspect(const struct ing_journal_past *past, const struct ing_journal_record *r)
{
	if (!is_free(r))
		ing_log(r->condemned ? ING_LOG_ERROR : ING_LOG_DEBUG,
			"%s [%" PRId32 "] offset %" PRId64 ": in flight at %u deaths: %s",
			past->topics[r->topic], r->partition, r->offset, r->deaths,
			r->condemned ? "goes to dead letters" : "will run alone");
}

static void take_past(struct ing_journal *j, const struct ing_journal_past *past)
{
	log_past(past);
	memcpy(j->file->topics, past->topics, sizeof(j->file->topics));
	for (size_t i = 0; i < past->suspect_count; i++) {
		log_suspect(past, &past->suspects[i]);
		add_suspect(j, (uint32_t)i, &past->suspects[i]);
	}
	if (j->alone > j->stats.condemned)
		ing_log(ING_LOG_WARNING,
			"%u requests were in flight at two deaths of this instance or more: each "
			"will run alone",
			j->alone - (unsigned)j->stats.condemned);
	j->stats.faults = past->state == ING_LIFE_FAULT;
}

/* --- records --- */

static void fill_record(struct ing_journal_record *r, const struct key *key)
{
	r->topic = (uint8_t)key->topic;
	r->deaths = r->condemned = 0;
	r->partition = (int32_t)key->partition;
	r->offset = key->offset;
	r->timestamp_ms = key->timestamp_ms;
	r->digest = key->digest;
	r->died_ms = 0;
	r->check = ing_journal_check(r);
}

static void add_record(
	struct ing_journal *j, struct ing_journal_mark *m, const struct ing_source *source)
{
	struct key key;
	if (j->free_count == 0 || !make_key(j, source, true, &key)) {
		j->stats.unrecorded++;
		return;
	}
	m->record = j->free_records[--j->free_count];
	fill_record(&j->file->records[m->record - 1], &key);
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_journal_stage_name(enum ing_journal_stage stage)
{
	static const char *const names[ING_STAGES_] = {[ING_STAGE_NONE] = "none",
		[ING_STAGE_INTAKE] = "intake",
		[ING_STAGE_FETCH] = "fetch",
		[ING_STAGE_EXAMINE] = "examine",
		[ING_STAGE_ARCHIVE] = "archive",
		[ING_STAGE_RESULT] = "result",
		[ING_STAGE_ROBOTS] = "robots"};
	return names[stage];
}

int ing_journal_open(const char *path, struct ing_journal **ret, struct ing_error *err)
{
	struct ing_journal_file *file = NULL;
	bool known_size = false;
	int rc = map_file(path, &file, &known_size, err);
	if (rc < 0)
		return rc;
	struct ing_journal *j = ing_alloc(sizeof(*j));
	struct ing_journal_past past;
	j->file = file;
	bool readable = ing_journal_read(file, sizeof(*file), wall_ms(), &past);
	begin_file(j);
	ing_fault_watch(&file->head.fault);
	if (readable)
		take_past(j, &past);
	else if (known_size)
		ing_log(ING_LOG_WARNING, "crash journal: %s is damaged and begun anew", path);
	ing_journal_past_done(&past);
	*ret = j;
	return 0;
}

void ing_journal_close(struct ing_journal *j)
{
	if (j == NULL)
		return;
	ing_fault_watch(NULL);
	j->file->head.fault.state = ING_LIFE_ENDED;
	munmap(j->file, sizeof(*j->file));
	struct suspect *s, *next;
	HASH_ITER (hh, j->suspects, s, next) {
		HASH_DEL(j->suspects, s);
		free(s);
	}
	free(j);
}

void ing_journal_enter(struct ing_journal *j, struct ing_journal_mark *m,
	const struct ing_source *source, enum ing_journal_stage stage)
{
	if (j == NULL)
		return;
	if (m->record == 0)
		add_record(j, m, source);
	if (m->record != 0)
		atomic_store_explicit(&j->file->records[m->record - 1].stage, (uint8_t)stage,
			memory_order_release);
}

void ing_journal_leave(struct ing_journal *j, struct ing_journal_mark *m)
{
	if (j == NULL || m->record == 0)
		return;
	atomic_store(&j->file->records[m->record - 1].stage, (uint8_t)ING_STAGE_NONE);
	j->free_records[j->free_count++] = m->record;
	m->record = 0;
}

unsigned ing_journal_others(const struct ing_journal *j, const struct ing_journal_mark *but)
{
	if (j == NULL)
		return 0;
	return ING_JOURNAL_RECORDS - j->free_count - (but != NULL && but->record != 0);
}

bool ing_journal_has_suspects(const struct ing_journal *j)
{
	return j != NULL && j->alone > 0;
}

enum ing_journal_verdict ing_journal_judge(const struct ing_journal *j,
	const struct ing_source *source, struct ing_journal_suspect *ret)
{
	const struct suspect *s = j != NULL ? find_suspect(j, source) : NULL;
	if (s == NULL)
		return ING_SUSPECT_FREE;
	const struct ing_journal_record *r = &j->file->suspects[s->slot];
	*ret = (struct ing_journal_suspect){r->deaths, (enum ing_journal_stage)r->stage};
	if (r->condemned)
		return ING_SUSPECT_CONDEMNED;
	return is_free(r) ? ING_SUSPECT_FREE : ING_SUSPECT_ALONE;
}

void ing_journal_acquit(struct ing_journal *j, const struct ing_source *source)
{
	struct suspect *s = j != NULL ? find_suspect(j, source) : NULL;
	if (s != NULL)
		drop_suspect(j, s);
}

void ing_journal_stats(const struct ing_journal *j, struct ing_journal_stats *ret)
{
	*ret = (struct ing_journal_stats){0};
	if (j == NULL)
		return;
	*ret = j->stats;
	ret->in_flight = ing_journal_others(j, NULL);
}
