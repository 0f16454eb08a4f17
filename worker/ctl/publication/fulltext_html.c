/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which blocks are headings: one short line without the end of a sentence that is the name of a section as
 * papers have them, or that stands before a paragraph. What is between a line of a table and a heading
 * remains a guess; a wrong one costs a bold line.
 */
#include "worker/ctl/publication/fulltext_html.h"

#include <ctype.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/markup/html_page.h"

#define MAX_HEADING_BYTES 120
/* Of a layout: shorter ones are headings, numbers and parts of tables, and say nothing of its width. */
#define MIN_LINE_BYTES 30
#define MIN_PARAGRAPH_BYTES 140 /* that a heading may stand before, whatever its end */
#define MIN_SENTENCE_BYTES 60   /* the same, when it ends as a sentence does */

static const char *const sections[] = {"abbreviations", "abstract", "acknowledgement",
	"acknowledgements", "acknowledgment", "acknowledgments", "appendix", "author contributions",
	"authors' contributions", "availability", "availability and requirements",
	"availability of data and materials", "background", "case presentation", "case report",
	"competing interests", "conclusion", "conclusions", "conclusions and future work",
	"conflict of interest", "conflicts of interest", "data availability",
	"data availability statement", "discussion", "discussion and conclusion",
	"discussion and conclusions", "ethics statement", "evaluation", "experimental procedures",
	"findings", "funding", "future work", "implementation", "introduction", "limitations",
	"materials and methods", "method", "methods", "methods and materials", "objective",
	"objectives", "patients and methods", "related work", "results", "results and discussion",
	"statistical analysis", "summary", "supplementary data", "supplementary information",
	"supplementary material", "supporting information"};

struct block {
	const char *s;
	size_t bytes;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The next block at *text, without white space at its ends. Returns false at the end. */
static bool next_block(const char **text, struct block *ret)
{
	const char *s = *text;
	while (is_space(*s))
		s++;
	const char *end = strstr(s, "\n\n");
	if (end == NULL)
		end = s + strlen(s);
	*text = end;
	while (end > s && is_space(end[-1]))
		end--;
	*ret = (struct block){s, (size_t)(end - s)};
	return end > s;
}

/* "2.1 " or "IV. " at its front. *ret_depth: numbers in it. */
static size_t skip_number(const struct block *b, unsigned *ret_depth)
{
	size_t i = 0;
	*ret_depth = 0;
	while (i < b->bytes && (isdigit((unsigned char)b->s[i]) || b->s[i] == '.')) {
		bool begins = b->s[i] != '.' && (i == 0 || b->s[i - 1] == '.');
		*ret_depth += begins;
		i++;
	}
	size_t after = i;
	while (after < b->bytes && is_space(b->s[after]))
		after++;
	return i > 0 && i <= 8 && after > i ? after : 0;
}

static bool is_section(const struct block *b, size_t from)
{
	size_t bytes = b->bytes - from;
	if (bytes > 0 && (b->s[b->bytes - 1] == ':' || b->s[b->bytes - 1] == '.'))
		bytes--;
	for (size_t i = 0; i < ING_ARRAY_LEN(sections); i++)
		if (strlen(sections[i]) == bytes &&
			strncasecmp(sections[i], b->s + from, bytes) == 0)
			return true;
	return false;
}

static bool may_be_heading(const struct block *b)
{
	unsigned depth = 0;
	if (b->bytes == 0 || b->bytes > MAX_HEADING_BYTES || memchr(b->s, '\n', b->bytes) != NULL)
		return false;
	size_t from = skip_number(b, &depth);
	unsigned char first = (unsigned char)b->s[from < b->bytes ? from : 0];
	return (isupper(first) || first >= 0x80) && strchr(".;,:!=|)", b->s[b->bytes - 1]) == NULL;
}

static bool is_paragraph(const struct block *b)
{
	return b->bytes >= MIN_PARAGRAPH_BYTES ||
	       (b->bytes >= MIN_SENTENCE_BYTES && b->s[b->bytes - 1] == '.');
}

/* Whether b, with what follows it, is a heading: 3 or 4, or 0. */
static int heading_level(const struct block *b, const char *rest)
{
	unsigned depth = 0;
	size_t from = skip_number(b, &depth);
	struct block next;
	if (b->bytes <= MAX_HEADING_BYTES && is_section(b, from))
		return depth > 1 ? 4 : 3;
	if (!may_be_heading(b) || !next_block(&rest, &next))
		return 0;
	if (!is_paragraph(&next) && may_be_heading(&next) && !next_block(&rest, &next))
		return 0;
	if (!is_paragraph(&next))
		return 0;
	return depth == 1 ? 3 : 4;
}

static void add_lines(struct ing_buf *out, const struct block *b)
{
	const char *s = b->s;
	const char *end = s + b->bytes;
	for (;;) {
		const char *line = memchr(s, '\n', (size_t)(end - s));
		ing_html_addn(out, s, (size_t)((line != NULL ? line : end) - s));
		if (line == NULL)
			return;
		ing_buf_add_str(out, "<br>\n");
		s = line + 1;
	}
}

/* "Results:" at the front of a paragraph, as abstracts have it: its length, or 0. */
static size_t label_bytes(const struct block *b)
{
	const char *colon = memchr(b->s, ':', ING_MIN(b->bytes, (size_t)MAX_HEADING_BYTES));
	struct block label = {b->s, colon != NULL ? (size_t)(colon - b->s) : 0};
	return colon != NULL && is_section(&label, 0) ? label.bytes + 1 : 0;
}

static void add_paragraph(struct ing_buf *out, const struct block *b)
{
	size_t label = label_bytes(b);
	struct block rest = {b->s + label, b->bytes - label};
	ing_buf_add_str(out, "<p dir=\"auto\">");
	if (label > 0) {
		ing_buf_add_str(out, "<strong>");
		ing_html_addn(out, b->s, label);
		ing_buf_add_str(out, "</strong>");
	}
	add_lines(out, &rest);
	ing_buf_add_str(out, "</p>\n");
}

/* text behind part, if it begins with it and a blank line (or nothing) follows; whatever the white space, and a
 * full stop at the part's end. */
static const char *behind(const char *text, const char *part)
{
	const char *s = text;
	const char *p = part != NULL ? part : "";
	const char *first = p;
	for (;; s++, p++) {
		while (is_space(*p))
			p++;
		if (*p == '\0' || (p[0] == '.' && p[1] == '\0'))
			break;
		while (is_space(*s))
			s++;
		if (*s != *p)
			return text;
	}
	s += *s == '.';
	bool has_it = p > first && (*s == '\0' || strncmp(s, "\n\n", 2) == 0);
	return has_it ? s + strspn(s, "\n") : text;
}

/* --- text of a layout --- */

static struct block next_line(const char **text)
{
	const char *s = *text;
	size_t n = strcspn(s, "\n\f");
	*text = s + n + (s[n] == '\n');
	while (n > 0 && is_space(*s)) {
		s++;
		n--;
	}
	while (n > 0 && is_space(s[n - 1]))
		n--;
	return (struct block){s, n};
}

static size_t usual_line_bytes(const char *text)
{
	size_t sum = 0;
	size_t count = 0;
	while (*text != '\0') {
		struct block line = next_line(&text);
		text += *text == '\f';
		if (line.bytes < MIN_LINE_BYTES)
			continue;
		sum += line.bytes;
		count++;
	}
	return count > 0 ? sum / count : 0;
}

static void end_paragraph(struct ing_buf *out, size_t *start)
{
	if (out->len > *start)
		ing_buf_add_str(out, "\n\n");
	*start = out->len;
}

/* start: of the paragraph in out. */
static void add_layout_line(struct ing_buf *out, size_t start, const struct block *line)
{
	size_t n = out->len;
	bool is_divided = n > start + 1 && out->data[n - 1] == '-' &&
			  isalpha((unsigned char)out->data[n - 2]) &&
			  islower((unsigned char)line->s[0]);
	if (is_divided)
		out->data[--out->len] = '\0';
	else if (n > start)
		ing_buf_add_char(out, ' ');
	ing_buf_add(out, line->s, line->bytes);
}

/* -------------------------------------------------------------------------------------------- */

char *ing_fulltext_reflowed(const char *text)
{
	struct ing_buf out;
	size_t usual = usual_line_bytes(text);
	size_t start = 0;
	ing_buf_init(&out, 2 * strlen(text) + 1024);
	while (*text != '\0') {
		struct block line = next_line(&text);
		unsigned depth = 0;
		bool is_alone = line.bytes > 0 && line.bytes <= MAX_HEADING_BYTES &&
				is_section(&line, skip_number(&line, &depth));
		/* Paragraphs go on behind the end of a page. */
		bool ends_page = *text == '\f';
		text += ends_page;
		if ((line.bytes == 0 && !ends_page) || is_alone)
			end_paragraph(&out, &start);
		if (line.bytes == 0)
			continue;
		add_layout_line(&out, start, &line);
		bool ends_sentence = strchr(".?!:", line.s[line.bytes - 1]) != NULL;
		if (is_alone || (ends_sentence && line.bytes < usual * 3 / 4))
			end_paragraph(&out, &start);
	}
	return out.data != NULL ? ing_buf_steal(&out) : ing_strdup("");
}

bool ing_fulltext_html(
	struct ing_buf *out, const char *text, const char *title, const char *abstract)
{
	const char *rest = behind(behind(text, title), abstract);
	bool is_less = rest != text;
	struct block b;
	while (next_block(&rest, &b)) {
		int level = heading_level(&b, rest);
		if (level == 0) {
			add_paragraph(out, &b);
			continue;
		}
		ing_buf_printf(out, "<h%d dir=\"auto\">", level);
		ing_html_addn(out, b.s, b.bytes);
		ing_buf_printf(out, "</h%d>\n", level);
	}
	return is_less;
}

void ing_paragraphs_html(struct ing_buf *out, const char *text)
{
	struct block b;
	while (next_block(&text, &b))
		add_paragraph(out, &b);
}
