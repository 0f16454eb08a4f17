/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Columns are counted by code points: what may be wide counts as two, so a line is rather cut too early than wrapped.
 */
#include "worker/ctl/status/screen.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"

#define FIRST_WIDE 0x1100u
#define MAX_TEXT_BYTES 2048

static const char *const starts[ING_TONES_] = {
	[ING_TONE_PLAIN] = "",
	[ING_TONE_SOFT] = "\033[2m",
	[ING_TONE_BOLD] = "\033[1m",
	[ING_TONE_GOOD] = "\033[32m",
	[ING_TONE_WARN] = "\033[33m",
	[ING_TONE_BAD] = "\033[1;31m",
};

static bool is_shown(const struct ing_screen *s)
{
	return s->rows == 0 || s->row < s->rows;
}

/* Controls of ASCII and Latin-1, line separators, and what turns the direction of writing. */
static bool is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0x61c ||
	       c == 0xfeff;
}

static unsigned columns_of(uint32_t c)
{
	return c >= FIRST_WIDE && c != 0x2026 ? 2 : 1;
}

/* Append what of a text fits into `room` columns; returns how many it took. */
static unsigned add_shown(struct ing_buf *out, const char *text, unsigned room, bool *ret_cut)
{
	unsigned used = 0;
	size_t left = strlen(text);
	*ret_cut = false;
	while (left > 0) {
		uint32_t c;
		size_t n = ing_utf8_decode(text, left, &c);
		bool harmful = is_harmful(c);
		unsigned columns = harmful ? 1 : columns_of(c);
		if (used + columns > room) {
			*ret_cut = true;
			break;
		}
		char encoded[ING_UTF8_BYTES];
		if (harmful)
			ing_buf_add_char(out, '?');
		else
			ing_buf_add(out, encoded, ing_utf8_encode(c, encoded));
		used += columns;
		text += n;
		left -= n;
	}
	return used;
}

static void begin(struct ing_screen *s, enum ing_tone tone)
{
	if (s->color)
		ing_buf_add_str(s->out, starts[tone]);
}

static void end(struct ing_screen *s, enum ing_tone tone)
{
	if (s->color && tone != ING_TONE_PLAIN)
		ing_buf_add_str(s->out, "\033[0m");
}

static unsigned room_of(const struct ing_screen *s)
{
	return s->columns == 0 ? UINT32_MAX : s->columns - ING_MIN(s->column, s->columns);
}

static void add_blanks(struct ing_screen *s, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		ing_screen_add(s, ING_TONE_PLAIN, " ");
}

static void add_within(
	struct ing_screen *s, enum ing_tone tone, unsigned width, const char *text, bool right)
{
	unsigned needed = ing_screen_width(text);
	char cut[MAX_TEXT_BYTES];
	struct ing_buf piece;
	bool was_cut;
	ing_buf_init(&piece, sizeof(cut) - 1);
	if (needed > width) {
		needed = add_shown(&piece, text, width - 1, &was_cut) + 1;
		ing_buf_add_str(&piece, "…");
	} else {
		add_shown(&piece, text, width, &was_cut);
	}
	if (right)
		add_blanks(s, width - needed);
	ing_screen_add(s, tone, ing_buf_str(&piece));
	if (!right)
		add_blanks(s, width - needed);
	add_blanks(s, 2);
	ing_buf_done(&piece);
}

/* -------------------------------------------------------------------------------------------- */

void ing_screen_measure(struct ing_screen *s)
{
	struct winsize size;
	s->columns = s->rows = 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
		return;
	s->columns = size.ws_col;
	s->rows = size.ws_row;
}

void ing_screen_add(struct ing_screen *s, enum ing_tone tone, const char *text)
{
	bool cut;
	if (s->cut || !is_shown(s))
		return;
	begin(s, tone);
	s->column += add_shown(s->out, text, room_of(s), &cut);
	s->cut = cut;
	end(s, tone);
}

void ing_screen_printf(struct ing_screen *s, enum ing_tone tone, const char *fmt, ...)
{
	char text[MAX_TEXT_BYTES];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	ing_screen_add(s, tone, text);
}

void ing_screen_cell(struct ing_screen *s, enum ing_tone tone, unsigned width, const char *text)
{
	add_within(s, tone, width, text, false);
}

void ing_screen_number(struct ing_screen *s, enum ing_tone tone, unsigned width, const char *text)
{
	add_within(s, tone, width, text, true);
}

void ing_screen_tab(struct ing_screen *s, unsigned column)
{
	add_blanks(s, s->column < column ? column - s->column : 1);
}

/* Blanks at the end are nobody's. */
void ing_screen_end_line(struct ing_screen *s)
{
	if (is_shown(s)) {
		while (s->out->len > 0 && s->out->data[s->out->len - 1] == ' ')
			s->out->len--;
		if (s->redrawn)
			ing_buf_add_str(s->out, "\033[K");
		if (s->rows == 0 || s->row + 1 < s->rows)
			ing_buf_add_char(s->out, '\n');
	}
	s->row++;
	s->column = 0;
	s->cut = false;
}

unsigned ing_screen_width(const char *text)
{
	unsigned columns = 0;
	size_t left = strlen(text);
	while (left > 0) {
		uint32_t c;
		size_t n = ing_utf8_decode(text, left, &c);
		columns += is_harmful(c) ? 1 : columns_of(c);
		text += n;
		left -= n;
	}
	return columns;
}
