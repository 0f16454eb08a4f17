/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a text begins and ends: steps of the last pass that depend on
 * neighbours.
 */
#include "worker/document/text/refine.h"

#include <string.h>

#include "common/base/macros.h"
#include "worker/document/text/phrases.h"

#define END_TENTHS 8     /* of the text that must be before a heading of what follows it */
#define END_CHARS 40     /* of such a heading, when it is none by its element */
#define HEADED_CHARS 200 /* of a paragraph that belongs to its heading, whatever that says */
#define LINE_CHARS 60    /* of a line beside the text */
#define DATED_CHARS 140  /* of one with a date */
#define DATE_DIGITS 4
#define CLOSING_CHARS 450 /* a longer paragraph is text, however it begins */
#define LINKS_BEHIND 2    /* blocks of links behind a heading that make it theirs */
#define TEXT_BEHIND 160   /* characters of a text that a linked heading belongs to */
#define MANY_NETWORKS 2
#define NETWORKS_CHARS 300
#define LEAD_BLOCKS 40 /* between headline and container */
#define LEAD_CHARS 50
#define LEAD_OPEN_CHARS 90 /* when it does not end a sentence */

/* A line that is neither text nor part of a list. */
static bool is_line(const struct ing_text_block *b)
{
	if (b->ended || ing_text_is_paragraph(b) || ing_text_is_heading(b) ||
		(b->mark & (ING_MARK_ITEM | ING_MARK_CELL)) != 0)
		return false;
	return b->chars < LINE_CHARS || (b->chars < DATED_CHARS && b->digits >= DATE_DIGITS);
}

static int64_t weight(const struct ing_text_block *b)
{
	return ing_text_is_paragraph(b) ? (int64_t)b->chars - b->link_chars : 0;
}

/* Whether a paragraph is about the page: by its beginning, or as it names several networks. */
static bool closes(struct ing_main_text *m, const struct ing_text_block *b)
{
	static const char *const networks[] = {"facebook", "twitter", "instagram", "telegram",
		"whatsapp", "youtube", "linkedin", "tiktok", "pinterest", "newsletter"};
	unsigned found = 0;
	ing_main_text_fold(m, b);
	const char *s = ing_buf_str(&m->folded);
	if (ing_phrases_of(s, m->folded.len) & ING_PHRASE_CLOSING)
		return true;
	for (size_t i = 0; i < ING_ARRAY_LEN(networks); i++)
		found += strstr(s, networks[i]) != NULL;
	return found >= MANY_NETWORKS && b->chars <= NETWORKS_CHARS;
}

/* A heading like "Related work", with text of its own behind it. */
static bool heads_text(const struct ing_main_text *m, uint32_t i, uint32_t to)
{
	const struct ing_text_block *next = &m->blocks[i + 1];
	return ing_text_is_heading(&m->blocks[i]) && i + 1 < to && next->why == ING_VERDICT_KEPT &&
	       ing_text_is_paragraph(next) && next->chars >= HEADED_CHARS;
}

/* -------------------------------------------------------------------------------------------- */

void ing_refine_cut_end(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	int64_t total = 0;
	int64_t seen = 0;
	bool cut = false;
	for (uint32_t i = from; i < to; i++) {
		if (m->blocks[i].why == ING_VERDICT_KEPT)
			total += weight(&m->blocks[i]);
	}
	for (uint32_t i = from; i < to; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why != ING_VERDICT_KEPT)
			continue;
		seen += weight(b);
		bool late = seen * 10 >= total * END_TENTHS;
		if (cut)
			b->why = ING_VERDICT_END;
		else if (b->phrase != 0 && (late || !heads_text(m, i, to)))
			b->why = ING_VERDICT_PHRASE;
		cut = cut || (late && b->phrase == ING_PHRASE_END && !(b->mark & ING_MARK_CELL) &&
				     (ing_text_is_heading(b) || b->chars <= END_CHARS));
	}
}

void ing_refine_trim_lead(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why != ING_VERDICT_KEPT)
			continue;
		if (ing_text_is_paragraph(b))
			return;
		if (is_line(b))
			b->why = ING_VERDICT_LEAD;
	}
}

void ing_refine_trim_tail(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = to; i-- > from;) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why != ING_VERDICT_KEPT)
			continue;
		if (b->mark & (ING_MARK_ITEM | ING_MARK_CELL))
			return;
		bool closing = b->chars <= CLOSING_CHARS && closes(m, b);
		if (!closing && !ing_text_is_heading(b) && !is_line(b))
			return;
		b->why = ING_VERDICT_TAIL;
	}
}

void ing_refine_drop_headings(struct ing_main_text *m, uint32_t from, uint32_t to)
{
	int next_level = 0; /* of the next kept block; 7: it is no heading */
	unsigned links = 0; /* blocks of links before that one */
	uint32_t chars = 0; /* of that one */
	for (uint32_t i = to; i-- > from;) {
		struct ing_text_block *b = &m->blocks[i];
		links += b->why == ING_VERDICT_LINKS;
		if (b->why != ING_VERDICT_KEPT)
			continue;
		int level = 7;
		if (ing_text_is_heading(b)) {
			level = ing_main_text_level(m, b);
			if (next_level <= level || links >= LINKS_BEHIND ||
				(ing_text_is_links(b->link_chars, b->chars) &&
					chars < TEXT_BEHIND)) {
				b->why = ING_VERDICT_HEADING;
				continue;
			}
		}
		next_level = level;
		links = 0;
		chars = level == 7 ? b->chars : 0;
	}
}

void ing_refine_keep_lead(struct ing_main_text *m, uint32_t from)
{
	uint32_t first = from > LEAD_BLOCKS ? from - LEAD_BLOCKS : 0;
	uint32_t headline = from;
	for (uint32_t i = from; i-- > first && headline == from;) {
		if (m->blocks[i].why != ING_VERDICT_NAMED &&
			ing_main_text_is_title(m, &m->blocks[i]))
			headline = i;
	}
	for (uint32_t i = headline; i < from; i++) {
		struct ing_text_block *b = &m->blocks[i];
		if (b->why == ING_VERDICT_OUTSIDE && i > headline &&
			b->link_chars * 3 <= b->chars &&
			(b->chars >= LEAD_OPEN_CHARS || (b->chars >= LEAD_CHARS && b->ended)) &&
			!ing_refine_in_caption(m, b))
			b->why = ING_VERDICT_KEPT;
	}
}
