/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A text is cut into blocks of lines of one kind, and these are set.
 */
#include "worker/ctl/usage_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/base/buf.h"

#define MIN_NAME_BYTES 6    /* "e.g." is none */
#define MAX_TERM_COLUMNS 24 /* a longer term has a line of its own */

enum kind { PARAGRAPH, ROWS, LITERAL };

struct block {
	enum kind kind;
	bool gap; /* an empty line stands before it */
	const char *at, *end;
};

static size_t line_bytes(const char *at)
{
	return strcspn(at, "\n");
}

static enum kind kind_of(const char *line)
{
	if (strncmp(line, "  ", 2) != 0)
		return PARAGRAPH;
	return memchr(line, '\t', line_bytes(line)) != NULL ? ROWS : LITERAL;
}

static const char *next_line(const char *at)
{
	at += line_bytes(at);
	return *at == '\n' ? at + 1 : at;
}

/* False at the end. */
static bool next_block(const char **rest, struct block *b)
{
	const char *at = *rest;
	b->gap = *at == '\n';
	while (*at == '\n')
		at++;
	if (*at == '\0')
		return false;
	b->at = at;
	b->kind = kind_of(at);
	while (*at != '\0' && *at != '\n' && kind_of(at) == b->kind)
		at = next_line(at);
	b->end = at;
	*rest = at;
	return true;
}

/* The next word between blanks and line ends; NULL at the end. */
static const char *next_word(const char **at, const char *end, size_t *ret_bytes)
{
	const char *word = *at;
	while (word < end && (*word == ' ' || *word == '\n' || *word == '\t'))
		word++;
	if (word == end)
		return NULL;
	const char *behind = word;
	while (behind < end && *behind != ' ' && *behind != '\n' && *behind != '\t')
		behind++;
	*at = behind;
	*ret_bytes = (size_t)(behind - word);
	return word;
}

/* --- for terminals --- */

/* The line that is begun has `column` columns so far. */
static void add_filled(struct ing_buf *to, const char *at, const char *end, size_t column,
	size_t indent, size_t width)
{
	size_t bytes;
	bool first = true; /* of its line */
	ing_buf_printf(to, "%*s", column < indent ? (int)(indent - column) : 0, "");
	column = ING_MAX(column, indent);
	for (const char *word; (word = next_word(&at, end, &bytes)) != NULL; first = false) {
		size_t columns = ing_usage_columns(word, bytes);
		if (!first && column + 1 + columns > width) {
			ing_buf_printf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			ing_buf_add_char(to, ' ');
			column++;
		}
		ing_buf_add(to, word, bytes);
		column += columns;
	}
	ing_buf_add_char(to, '\n');
}

static size_t term_bytes(const char *line)
{
	return strcspn(line, "\t");
}

static void add_rows(struct ing_buf *to, const struct block *b, size_t indent, size_t width)
{
	size_t widest = 0;
	for (const char *line = b->at; line < b->end; line = next_line(line)) {
		size_t columns = ing_usage_columns(line, term_bytes(line));
		if (columns <= MAX_TERM_COLUMNS)
			widest = ING_MAX(widest, columns);
	}
	for (const char *line = b->at; line < b->end; line = next_line(line)) {
		size_t bytes = term_bytes(line);
		size_t columns = indent + ing_usage_columns(line, bytes);
		ing_buf_printf(to, "%*s%.*s", (int)indent, "", (int)bytes, line);
		if (columns > indent + widest) {
			ing_buf_add_char(to, '\n');
			columns = 0;
		}
		add_filled(to, line + bytes + 1, line + line_bytes(line), columns,
			indent + widest + 2, width);
	}
}

/* --- mdoc --- */

static bool is_plain_word(const char *word, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (!isalpha((unsigned char)word[i]) && strchr("-',;:()", word[i]) == NULL)
			return i == bytes - 1 && word[i] == '.';
	return true;
}

static void add_escaped_char(struct ing_buf *to, char c, bool plain)
{
	static const struct {
		char c;
		const char *escaped;
	} escapes[] = {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"},
		{'~', "\\(ti"}, {'"', "\\(dq"}};
	for (size_t i = 0; i < ING_ARRAY_LEN(escapes); i++) {
		if (c == escapes[i].c && !(plain && (c == '-' || c == '\''))) {
			ing_buf_add_str(to, escapes[i].escaped);
			return;
		}
	}
	ing_buf_add_char(to, c);
}

static void add_escaped_bytes(struct ing_buf *to, const char *text, size_t bytes, bool plain)
{
	for (size_t i = 0; i < bytes; i++)
		add_escaped_char(to, text[i], plain);
}

/* Bytes of "--name" at the beginning; 0: there is none. */
static size_t option_bytes(const char *at, size_t bytes)
{
	if (bytes < 3 || strncmp(at, "--", 2) != 0 || !islower((unsigned char)at[2]))
		return 0;
	size_t n = 2;
	while (n < bytes &&
		(islower((unsigned char)at[n]) || isdigit((unsigned char)at[n]) ||
			(at[n] == '-' && n + 1 < bytes && isalnum((unsigned char)at[n + 1]))))
		n++;
	return n;
}

/* "gate.max_wait_ms": a hyphen in it would be taken for its own. */
static bool is_name(const char *word, size_t bytes)
{
	for (size_t i = 1; bytes > MIN_NAME_BYTES && i + 1 < bytes; i++)
		if (strchr("._", word[i]) != NULL && isalnum((unsigned char)word[i + 1]))
			return true;
	return false;
}

static void add_mdoc_word(struct ing_buf *to, const char *word, size_t bytes)
{
	bool plain = is_plain_word(word, bytes);
	ing_buf_add_str(to, is_name(word, bytes) ? "\\%" : "");
	for (size_t i = 0; i < bytes;) {
		bool begins = i == 0 || !isalnum((unsigned char)word[i - 1]);
		size_t n = begins ? option_bytes(word + i, bytes - i) : 0;
		if (n > 0) {
			ing_buf_add_str(to, "\\fB");
			add_escaped_bytes(to, word + i, n, false);
			ing_buf_add_str(to, "\\fP");
		} else {
			n = 1;
			add_escaped_char(to, word[i], plain);
		}
		i += n;
	}
}

static bool ends_sentence(const char *word, size_t bytes)
{
	while (bytes > 1 && strchr(")\"'", word[bytes - 1]) != NULL)
		bytes--;
	return bytes > 1 && strchr(".!?", word[bytes - 1]) != NULL && word[bytes - 2] != '.';
}

/* A sentence a line, so that the space behind it is the formatter's. */
static void add_mdoc_filled(struct ing_buf *to, const char *at, const char *end)
{
	size_t bytes;
	bool first = true;
	bool ended = false;
	for (const char *word; (word = next_word(&at, end, &bytes)) != NULL; first = false) {
		bool begins_line = first || (ended && !islower((unsigned char)word[0]));
		if (!first)
			ing_buf_add_char(to, begins_line ? '\n' : ' ');
		if (begins_line && (word[0] == '.' || word[0] == '\''))
			ing_buf_add_str(to, "\\&");
		add_mdoc_word(to, word, bytes);
		ended = ends_sentence(word, bytes);
	}
	ing_buf_add_char(to, '\n');
}

static void add_mdoc_rows(struct ing_buf *to, const struct block *b)
{
	ing_buf_add_str(to, ".Bl -tag -width Ds -compact\n");
	for (const char *line = b->at; line < b->end; line = next_line(line)) {
		size_t bytes = term_bytes(line);
		ing_buf_add_str(to, ".It ");
		const char *at = line;
		size_t n;
		for (const char *word; (word = next_word(&at, line + bytes, &n)) != NULL;) {
			ing_buf_add_str(to, "\\&"); /* it may be called as a macro is */
			add_escaped_bytes(to, word, n, false);
			ing_buf_add_char(to, ' ');
		}
		ing_buf_add_char(to, '\n');
		add_mdoc_filled(to, line + bytes + 1, line + line_bytes(line));
	}
	ing_buf_add_str(to, ".El\n");
}

static void add_mdoc_literal(struct ing_buf *to, const struct block *b)
{
	ing_buf_add_str(to, ".Bd -literal -offset indent\n");
	for (const char *line = b->at; line < b->end; line = next_line(line)) {
		ing_buf_add_str(to, line[2] == '.' || line[2] == '\'' ? "\\&" : "");
		add_escaped_bytes(to, line + 2, line_bytes(line) - 2, false);
		ing_buf_add_char(to, '\n');
	}
	ing_buf_add_str(to, ".Ed\n");
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_usage_columns(const char *text, size_t bytes)
{
	size_t columns = 0;
	for (size_t i = 0; i < bytes; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

void ing_usage_add_lines(struct ing_buf *to, const char *text, size_t indent, size_t width)
{
	struct block b;
	for (bool first = true; next_block(&text, &b); first = false) {
		if (b.gap && !first)
			ing_buf_add_char(to, '\n');
		if (b.kind == PARAGRAPH)
			add_filled(to, b.at, b.end, 0, indent, width);
		else if (b.kind == ROWS)
			add_rows(to, &b, indent, width);
		for (const char *line = b.at; b.kind == LITERAL && line < b.end;
			line = next_line(line))
			ing_buf_printf(
				to, "%*s%.*s\n", (int)indent, "", (int)line_bytes(line), line);
	}
}

void ing_usage_add_mdoc(struct ing_buf *to, const char *text)
{
	struct block b;
	for (bool first = true; next_block(&text, &b); first = false) {
		if (b.kind == PARAGRAPH) {
			ing_buf_add_str(to, first ? "" : ".Pp\n");
			add_mdoc_filled(to, b.at, b.end);
		} else if (b.kind == ROWS) {
			add_mdoc_rows(to, &b);
		} else {
			add_mdoc_literal(to, &b);
		}
	}
}

void ing_usage_add_escaped(struct ing_buf *to, const char *text)
{
	add_escaped_bytes(to, text, strlen(text), false);
}
