/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One lock: a block is a thousand lines, so it is taken seldom. The reader puts blocks in their order, so a ring by index
 * is enough: place i % ING_LOAD_BLOCKS is free when all have given its last block back.
 */
#include "worker/ctl/requests/load_blocks.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/signals.h"
#include "worker/model/limits.h"
#include "worker/store/requests/load_line.h"

#define MAX_PARSERS 8
#define LARGE_LINE_BYTES ((size_t)64 << 10)
#define MAX_WORDS_BYTES                                                                            \
	((size_t)64 << 20) /* a block of lines of one byte each has a megabyte of words */

struct ing_load_blocks {
	const struct ing_load_list *list;
	const char *created;
	bool numbered;
	pthread_mutex_t lock, large; /* large: who has it parses a large line */
	pthread_cond_t room, work, ready;
	struct ing_load_block ring[ING_LOAD_BLOCKS];
	int64_t put, parsing, open; /* blocks that were put, given to a parser; may be taken */
	size_t bytes;
	bool ended, stopped;
	pthread_t parsers[MAX_PARSERS];
	unsigned parser_count;
};

static struct ing_load_block *block_at(struct ing_load_blocks *b, int64_t index)
{
	return &b->ring[index % ING_LOAD_BLOCKS];
}

/* --- parsing --- */

/* The message may quote the line: control characters are made harmless, so that it stays one line. */
static void add_bad(struct ing_load_block *block, int64_t line, const struct ing_error *err)
{
	struct ing_buf *words = &block->bad_words;
	block->bad++;
	ing_buf_printf(words, "%" PRId64 ": ", line);
	for (const char *c = err->msg; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			ing_buf_printf(words, "\\x%02x", (unsigned)(unsigned char)*c);
		else
			ing_buf_add_char(words, *c);
	}
	ing_buf_add_char(words, '\n');
}

static bool is_blank(const char *line, size_t bytes)
{
	return bytes == 0 || (bytes == 1 && line[0] == '\r');
}

/* A megabyte of tiny values makes a tree of a hundred: one at a time. */
static int load_line(struct ing_load_blocks *b, struct ing_load_block *block, const char *line,
	size_t bytes, struct ing_error *err)
{
	bool large = bytes > LARGE_LINE_BYTES;
	if (large)
		pthread_mutex_lock(&b->large);
	int rc = ing_load_line(line, bytes, b->created, block->shares, b->list->streams, err);
	if (large)
		pthread_mutex_unlock(&b->large);
	return rc;
}

static void parse_line(struct ing_load_blocks *b, struct ing_load_block *block, int64_t number,
	const char *line, size_t bytes)
{
	struct ing_error err = {0};
	int rc;
	if (is_blank(line, bytes))
		return;
	block->lines++;
	if (b->numbered && line[0] == ING_LOAD_BAD_MARK)
		rc = ing_error_set(&err, ING_FAIL_INVALID, "%.*s", (int)(bytes - 1), line + 1);
	else
		rc = load_line(b, block, line, bytes, &err);
	if (rc != 0)
		add_bad(block, number, &err);
}

/* Takes the number off the line. */
static int64_t take_number(const char **line, size_t *bytes)
{
	char *behind;
	int64_t number = strtoll(*line, &behind, 10);
	*bytes -= (size_t)(behind + 1 - *line);
	*line = behind + 1;
	return number;
}

static void parse_block(struct ing_load_blocks *b, struct ing_load_block *block)
{
	const char *text = block->text.data;
	const char *end = text + block->text.len;
	for (int64_t number = block->first_line; text < end; number++) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		size_t bytes = (size_t)((line_end != NULL ? line_end : end) - text);
		const char *line = text;
		text += bytes + 1;
		int64_t said = b->numbered ? take_number(&line, &bytes) : number;
		parse_line(b, block, said, line, bytes);
	}
}

static size_t bytes_of(const struct ing_load_block *block)
{
	size_t bytes = block->text.cap + block->bad_words.cap;
	for (unsigned i = 0; i < ING_LOAD_MAX_STREAMS; i++)
		bytes += block->shares[i].text.cap +
			 block->shares[i].room * sizeof(*block->shares[i].rows);
	return bytes;
}

static void recount(struct ing_load_blocks *b, struct ing_load_block *block)
{
	size_t bytes = bytes_of(block);
	b->bytes = b->bytes - block->bytes + bytes;
	block->bytes = bytes;
}

static void empty_block(struct ing_load_block *block)
{
	ing_buf_done(&block->text);
	ing_buf_done(&block->bad_words);
	for (unsigned i = 0; i < ING_LOAD_MAX_STREAMS; i++)
		ing_load_share_done(&block->shares[i]);
	ing_buf_init(&block->text, SIZE_MAX / 8);
	ing_buf_init(&block->bad_words, MAX_WORDS_BYTES);
	block->bad = block->lines = 0;
	block->parsed = false;
}

static void *parse_all(void *arg)
{
	struct ing_load_blocks *b = arg;
	pthread_mutex_lock(&b->lock);
	for (;;) {
		while (b->parsing == b->put && !b->stopped)
			pthread_cond_wait(&b->work, &b->lock);
		if (b->stopped)
			break;
		struct ing_load_block *block = block_at(b, b->parsing++);
		pthread_mutex_unlock(&b->lock);
		parse_block(b, block);
		ing_buf_done(&block->text);
		pthread_mutex_lock(&b->lock);
		recount(b, block);
		block->parsed = true;
		pthread_cond_broadcast(&b->ready);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

static unsigned wanted_parsers(const struct ing_load_list *list)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned most = processors > 0 ? (unsigned)ING_MIN(processors, MAX_PARSERS) : 1;
	return ING_MIN(list->streams, most);
}

/* --- the ring --- */

/* Streams that have come further in an earlier load do not take it. */
static unsigned count_users(const struct ing_load_list *list, int64_t index)
{
	unsigned n = 0;
	for (unsigned i = 0; i < list->streams; i++)
		n += list->at[i].block <= index;
	return n;
}

static bool has_room(const struct ing_load_blocks *b, const struct ing_load_block *block)
{
	return block->users == 0 && b->bytes < ING_LOAD_BLOCKS_BYTES;
}

/* -------------------------------------------------------------------------------------------- */

int ing_load_blocks_new(const struct ing_load_list *list, const char *created, bool numbered,
	struct ing_load_blocks **ret, struct ing_error *err)
{
	struct ing_load_blocks *b = ing_alloc(sizeof(*b));
	b->list = list;
	b->created = created;
	b->numbered = numbered;
	pthread_mutex_init(&b->lock, NULL);
	pthread_mutex_init(&b->large, NULL);
	pthread_cond_init(&b->room, NULL);
	pthread_cond_init(&b->work, NULL);
	pthread_cond_init(&b->ready, NULL);
	for (size_t i = 0; i < ING_LOAD_BLOCKS; i++)
		empty_block(&b->ring[i]);
	unsigned wanted = wanted_parsers(list);
	for (; b->parser_count < wanted; b->parser_count++) {
		int rc = ing_thread_create(&b->parsers[b->parser_count], parse_all, b);
		if (rc != 0) {
			ing_load_blocks_free(b);
			return ing_error_sys(err, rc, "threads");
		}
	}
	*ret = b;
	return 0;
}

void ing_load_blocks_stop(struct ing_load_blocks *b)
{
	pthread_mutex_lock(&b->lock);
	b->stopped = true;
	pthread_cond_broadcast(&b->room);
	pthread_cond_broadcast(&b->work);
	pthread_cond_broadcast(&b->ready);
	pthread_mutex_unlock(&b->lock);
}

void ing_load_blocks_free(struct ing_load_blocks *b)
{
	if (b == NULL)
		return;
	ing_load_blocks_stop(b);
	for (unsigned i = 0; i < b->parser_count; i++)
		pthread_join(b->parsers[i], NULL);
	for (size_t i = 0; i < ING_LOAD_BLOCKS; i++)
		empty_block(&b->ring[i]);
	pthread_cond_destroy(&b->room);
	pthread_cond_destroy(&b->work);
	pthread_cond_destroy(&b->ready);
	pthread_mutex_destroy(&b->lock);
	pthread_mutex_destroy(&b->large);
	free(b);
}

struct ing_load_block *ing_load_blocks_begin(struct ing_load_blocks *b, int64_t index)
{
	struct ing_load_block *block = block_at(b, index);
	pthread_mutex_lock(&b->lock);
	while (!has_room(b, block) && !b->stopped)
		pthread_cond_wait(&b->room, &b->lock);
	bool stopped = b->stopped;
	if (!stopped) {
		block->index = index;
		block->users = count_users(b->list, index);
	}
	pthread_mutex_unlock(&b->lock);
	return stopped ? NULL : block;
}

void ing_load_blocks_put(struct ing_load_blocks *b, struct ing_load_block *block)
{
	pthread_mutex_lock(&b->lock);
	recount(b, block);
	if (b->put == 0)
		b->parsing = block->index;
	b->put = block->index + 1;
	pthread_cond_signal(&b->work);
	pthread_mutex_unlock(&b->lock);
}

void ing_load_blocks_open(struct ing_load_blocks *b, int64_t upto)
{
	pthread_mutex_lock(&b->lock);
	b->open = upto;
	pthread_cond_broadcast(&b->ready);
	pthread_mutex_unlock(&b->lock);
}

void ing_load_blocks_end(struct ing_load_blocks *b)
{
	pthread_mutex_lock(&b->lock);
	b->ended = true;
	pthread_cond_broadcast(&b->ready);
	pthread_mutex_unlock(&b->lock);
}

size_t ing_load_blocks_take(
	struct ing_load_blocks *b, int64_t from, size_t max, const struct ing_load_block **ret)
{
	size_t n = 0;
	pthread_mutex_lock(&b->lock);
	while (!b->stopped) {
		int64_t upto = ING_MIN(b->put, b->open);
		while (n < max && from + (int64_t)n < upto &&
			block_at(b, from + (int64_t)n)->parsed) {
			ret[n] = block_at(b, from + (int64_t)n);
			n++;
		}
		if (n > 0 || (b->ended && from >= upto))
			break;
		pthread_cond_wait(&b->ready, &b->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return n;
}

void ing_load_blocks_give_back(struct ing_load_blocks *b, int64_t from, int64_t upto)
{
	pthread_mutex_lock(&b->lock);
	for (int64_t i = from; i < upto; i++) {
		struct ing_load_block *block = block_at(b, i);
		ing_must(block->users > 0 && block->index == i);
		if (--block->users > 0)
			continue;
		empty_block(block);
		recount(b, block);
	}
	pthread_cond_broadcast(&b->room);
	pthread_mutex_unlock(&b->lock);
}

bool ing_load_blocks_stopped(struct ing_load_blocks *b)
{
	pthread_mutex_lock(&b->lock);
	bool stopped = b->stopped;
	pthread_mutex_unlock(&b->lock);
	return stopped;
}
