/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The time left follows from the bytes of the input that were read: with compressed ones of the packed bytes.
 */
#include "worker/ctl/requests/load_progress.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"

static void clear_line(const struct ing_load_progress *p)
{
	if (p->terminal)
		fputs("\r\033[K", stderr);
}

static int64_t sum(const struct ing_load_counts *c)
{
	return c->added + c->known + c->elsewhere + c->bad;
}

static void draw_left(const struct ing_load_progress *p, uint64_t bytes, uint64_t elapsed_ms)
{
	if (p->size == 0 || bytes == 0 || bytes >= p->size)
		return;
	uint64_t left_s =
		(uint64_t)((double)elapsed_ms * (double)(p->size - bytes) / (double)bytes / 1000);
	fprintf(stderr, "  %u%%  %" PRIu64 ":%02u:%02u left", (unsigned)(bytes * 100 / p->size),
		left_s / 3600, (unsigned)(left_s / 60 % 60), (unsigned)(left_s % 60));
}

/* The first of the lines of words. Returns the bytes of those that were printed. */
static void show_first(struct ing_load_progress *p, const char *words, size_t bytes)
{
	const char *end = words + bytes;
	while (words < end && p->shown < ING_LOAD_BAD_SHOWN) {
		const char *line_end = memchr(words, '\n', (size_t)(end - words));
		fprintf(stderr, "%s:%.*s\n", p->input, (int)(line_end - words), words);
		words = line_end + 1;
		p->shown++;
	}
	if (words >= end || p->shown > ING_LOAD_BAD_SHOWN)
		return;
	p->shown++;
	fputs("ingestctl requests load: more bad lines are not shown: --bad FILE names all\n",
		stderr);
}

static void write_all(struct ing_load_progress *p, const char *words, size_t bytes)
{
	const char *end = words + bytes;
	while (words < end) {
		const char *line_end = memchr(words, '\n', (size_t)(end - words));
		fprintf(p->bad, "%s:%.*s\n", p->input, (int)(line_end - words), words);
		words = line_end + 1;
	}
	p->bad_failed |= fflush(p->bad) != 0;
}

/* -------------------------------------------------------------------------------------------- */

void ing_load_progress_init(struct ing_load_progress *p, const char *input, int fd)
{
	struct stat st;
	*p = (struct ing_load_progress){
		.input = input, .terminal = isatty(STDERR_FILENO) != 0, .started_ms = ing_now_ms()};
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		p->size = (uint64_t)st.st_size;
	pthread_mutex_init(&p->lock, NULL);
}

void ing_load_progress_done(struct ing_load_progress *p)
{
	pthread_mutex_destroy(&p->lock);
}

void ing_load_progress_draw(struct ing_load_progress *p, const struct ing_load_state *state)
{
	if (!p->terminal)
		return;
	uint64_t elapsed_ms = ing_now_ms() - p->started_ms;
	int64_t stored = sum(&state->counts);
	pthread_mutex_lock(&p->lock);
	clear_line(p);
	fprintf(stderr, "%" PRId64 " lines, %" PRId64 " new, %" PRId64 " bad", stored,
		state->counts.added, state->counts.bad);
	if (elapsed_ms > 0)
		fprintf(stderr, "  %.0f/s", (double)stored * 1000 / (double)elapsed_ms);
	if (state->folding)
		fputs("  adding up counts", stderr);
	else if (state->blocked)
		fputs("  waiting for the database", stderr);
	else
		draw_left(p, state->bytes, elapsed_ms);
	fflush(stderr);
	pthread_mutex_unlock(&p->lock);
}

void ing_load_progress_clear(struct ing_load_progress *p)
{
	pthread_mutex_lock(&p->lock);
	clear_line(p);
	pthread_mutex_unlock(&p->lock);
}

void ing_load_progress_words(struct ing_load_progress *p, const char *words)
{
	pthread_mutex_lock(&p->lock);
	clear_line(p);
	fprintf(stderr, "ingestctl requests load: %s\n", words);
	pthread_mutex_unlock(&p->lock);
}

void ing_load_progress_bad(struct ing_load_progress *p, const char *words, size_t bytes)
{
	pthread_mutex_lock(&p->lock);
	if (p->bad != NULL) {
		write_all(p, words, bytes);
	} else if (p->shown <= ING_LOAD_BAD_SHOWN) {
		clear_line(p);
		show_first(p, words, bytes);
	}
	pthread_mutex_unlock(&p->lock);
}
