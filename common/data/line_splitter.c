/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines are collected in a buffer of the limit plus two bytes: one shows that a line is too long, the
 * other is for the CR that may precede the newline and does not count.
 */
#include "common/data/line_splitter.h"

#include <string.h>

static void gather(struct ing_line_splitter *s, size_t bytes)
{
	size_t room = s->line.max - s->line.len;
	ing_must(ing_buf_add(&s->line, s->chunk, ING_MIN(bytes, room)));
	s->chunk += bytes;
	s->chunk_bytes -= bytes;
}

static bool is_blank(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (text[i] != ' ' && text[i] != '\t')
			return false;
	return true;
}

/* The gathered line is whole: hand it out unless it is blank. */
static bool finish_line(struct ing_line_splitter *s, bool newline, struct ing_line *ret)
{
	size_t bytes = s->line.len;
	const char *text = ing_buf_str(&s->line);
	/* A line filled up to the ceiling was cut: its last byte is not the one before the
	 * newline. */
	if (newline && bytes > 0 && bytes < s->line.max && text[bytes - 1] == '\r')
		bytes--;
	s->given = true;
	int64_t number = s->number++;
	if (is_blank(text, bytes))
		return false;
	*ret = (struct ing_line){text, ING_MIN(bytes, s->max_bytes + 1), number};
	return true;
}

/* -------------------------------------------------------------------------------------------- */

void ing_line_splitter_init(struct ing_line_splitter *s, size_t max_bytes)
{
	*s = (struct ing_line_splitter){.max_bytes = max_bytes, .number = 1};
	ing_buf_init(&s->line, max_bytes + 2);
}

void ing_line_splitter_done(struct ing_line_splitter *s)
{
	ing_buf_done(&s->line);
}

void ing_line_splitter_feed(struct ing_line_splitter *s, const char *chunk, size_t bytes)
{
	ing_must(s->chunk_bytes == 0 && !s->ended);
	s->chunk = chunk;
	s->chunk_bytes = bytes;
}

void ing_line_splitter_end(struct ing_line_splitter *s)
{
	s->ended = true;
}

bool ing_line_splitter_next(struct ing_line_splitter *s, struct ing_line *ret)
{
	for (;;) {
		if (s->given)
			ing_buf_clear(&s->line);
		s->given = false;
		const char *newline =
			s->chunk_bytes == 0 ? NULL : memchr(s->chunk, '\n', s->chunk_bytes);
		if (newline != NULL) {
			gather(s, (size_t)(newline - s->chunk));
			s->chunk++;
			s->chunk_bytes--;
			if (finish_line(s, true, ret))
				return true;
			continue;
		}
		gather(s, s->chunk_bytes);
		return s->ended && s->line.len > 0 && finish_line(s, false, ret);
	}
}
