/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines are written into a buffer of fixed size. `end` leaves room for what closes the line, and
 * each value has a ceiling of its own, so that a long message leaves room for the fields.
 */
#include "common/base/log_line.h"

#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"

#define CLOSING_BYTES 32 /* ING_LOG_CUT, or "truncated", and the line feed */
#define NAME_BYTES 32

struct line {
	char *to;
	size_t len, end; /* end: of what may be written before the closing */
	bool cut;
};

/* How the bytes of a value that may not stand as they are appear. */
enum quoting {
	IN_MESSAGE, /* \xHH */
	IN_QUOTES,  /* and \" \\ */
	IN_JSON,    /* \u00HH for control characters, and what is not UTF-8 as \\xHH */
};

static const char *level_word(enum ing_log_level level)
{
	switch (level) {
	case ING_LOG_FATAL:
		return "fatal";
	case ING_LOG_ERROR:
		return "error";
	case ING_LOG_WARNING:
		return "warning";
	case ING_LOG_INFO:
		return "info";
	case ING_LOG_DEBUG:
		break;
	}
	return "debug";
}

/* All of it or nothing. */
static bool put(struct line *l, const char *s, size_t bytes)
{
	if (bytes > l->end - l->len) {
		l->cut = true;
		return false;
	}
	memcpy(l->to + l->len, s, bytes);
	l->len += bytes;
	return true;
}

static bool put_str(struct line *l, const char *s)
{
	return put(l, s, strlen(s));
}

/* A character that a terminal or a reader of lines would take for more than text: C0, DEL, C1, and
 * the separators of lines and paragraphs. */
static bool is_control(const unsigned char *s, size_t n)
{
	return (n == 1 && (s[0] < 0x20 || s[0] == 0x7f)) ||
	       (n == 2 && s[0] == 0xc2 && s[1] < 0xa0) ||
	       (n == 3 && s[0] == 0xe2 && s[1] == 0x80 && (s[2] == 0xa8 || s[2] == 0xa9));
}

static size_t escape_bytes(const unsigned char *s, size_t n, const char *prefix, char *to)
{
	static const char digits[] = "0123456789abcdef";
	size_t out = 0;
	for (size_t i = 0; i < n; i++) {
		for (const char *p = prefix; *p != '\0'; p++)
			to[out++] = *p;
		to[out++] = digits[s[i] >> 4];
		to[out++] = digits[s[i] & 15];
	}
	return out;
}

/* The next character of s as it is to appear, in to (24 bytes). *ret_taken: how many bytes of s. */
static size_t escape_next(
	const unsigned char *s, size_t bytes, enum quoting quoting, char *to, size_t *ret_taken)
{
	size_t n = ing_utf8_sequence((const char *)s, bytes);
	*ret_taken = n == 0 ? 1 : n;
	if (n == 0)
		return escape_bytes(s, 1, quoting == IN_JSON ? "\\\\x" : "\\x", to);
	/* U+0000 is valid, but not in every reader's strings. */
	if (n == 1 && quoting == IN_JSON && s[0] != '\0' && (s[0] < 0x20 || s[0] == 0x7f))
		return escape_bytes(s, 1, "\\u00", to);
	if (is_control(s, n))
		return escape_bytes(s, n, quoting == IN_JSON ? "\\\\x" : "\\x", to);
	if (n == 1 && quoting != IN_MESSAGE && (s[0] == '"' || s[0] == '\\')) {
		to[0] = '\\';
		to[1] = (char)s[0];
		return 2;
	}
	memcpy(to, s, n);
	return n;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* At most `most` bytes of the line, and whole characters. */
static void put_escaped(
	struct line *l, const char *s, size_t bytes, size_t most, enum quoting quoting)
{
	const unsigned char *from = (const unsigned char *)s;
	size_t stop = ING_MIN(l->end, l->len + most);
	for (size_t i = 0; i < bytes;) {
		char one[24];
		size_t taken = 1, n = 1;
		if (is_plain(from[i]))
			one[0] = s[i];
		else
			n = escape_next(from + i, bytes - i, quoting, one, &taken);
		if (n > stop - l->len) {
			l->cut = true;
			return;
		}
		memcpy(l->to + l->len, one, n);
		l->len += n;
		i += taken;
	}
}

static struct line start_line(char *to, size_t room)
{
	return (struct line){.to = to, .end = room - CLOSING_BYTES};
}

/* Half of it for the message, a quarter for each field. */
static size_t most_of_message(const struct line *l)
{
	return l->end / 2;
}

static size_t most_of_field(const struct line *l)
{
	return l->end / 4;
}

/* Room for a value of any use behind `before` bytes; else the field is left out. */
static bool has_room(struct line *l, size_t before)
{
	if (l->end - l->len >= before + 24)
		return true;
	l->cut = true;
	return false;
}

/* The text of a number or truth; field->text otherwise. */
static const char *value_text(
	const struct ing_log_field *f, const char *yes, const char *no, char number[static 24])
{
	if (f->value == ING_LOG_TEXT)
		return f->text;
	if (f->value == ING_LOG_BOOL)
		return f->number != 0 ? yes : no;
	snprintf(number, 24, "%lld", (long long)f->number);
	return number;
}

/* --- text --- */

static bool needs_quotes(const char *s)
{
	if (*s == '\0')
		return true;
	for (; *s != '\0'; s++)
		if (*s == ' ' || *s == '"' || *s == '\\' || (unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

static void put_text_field(struct line *l, const struct ing_log_field *f)
{
	char number[24];
	const char *value = value_text(f, "yes", "no", number);
	if (value == NULL || !has_room(l, strlen(f->name) + 4))
		return;
	bool quoted = f->value == ING_LOG_TEXT && needs_quotes(value);
	put_str(l, " ");
	put_str(l, f->name);
	put_str(l, quoted ? "=\"" : "=");
	l->end -= quoted;
	put_escaped(l, value, strlen(value), most_of_field(l), quoted ? IN_QUOTES : IN_MESSAGE);
	l->end += quoted;
	if (quoted)
		put_str(l, "\"");
}

/* --- JSON --- */

static void put_json_text(
	struct line *l, const char *name, const char *s, size_t bytes, size_t most)
{
	if (!has_room(l, strlen(name) + 6))
		return;
	put_str(l, ",\"");
	put_str(l, name);
	put_str(l, "\":\"");
	l->end--;
	put_escaped(l, s, bytes, most, IN_JSON);
	l->end++;
	put_str(l, "\"");
}

static void put_json_field(struct line *l, const struct ing_log_field *f)
{
	char number[24];
	const char *value = value_text(f, "true", "false", number);
	if (value == NULL)
		return;
	if (f->value == ING_LOG_TEXT) {
		put_json_text(l, f->name, value, strlen(value), most_of_field(l));
		return;
	}
	if (!has_room(l, strlen(f->name) + 4))
		return;
	put_str(l, ",\"");
	put_str(l, f->name);
	put_str(l, "\":");
	put_str(l, value);
}

/* --- the journal --- */

static void put_entry_text(
	struct line *l, const char *name, const char *s, size_t bytes, size_t most)
{
	if (!has_room(l, strlen(name) + 2))
		return;
	put_str(l, name);
	put_str(l, "=");
	l->end--;
	put_escaped(l, s, bytes, most, IN_MESSAGE);
	l->end++;
	put_str(l, "\n");
}

/* INGEST_ and the name in capitals: the journal's own fields have no prefix. */
static void put_entry_field(struct line *l, const struct ing_log_field *f)
{
	char number[24], name[sizeof("INGEST_") + NAME_BYTES] = "INGEST_";
	const char *value = value_text(f, "yes", "no", number);
	size_t n = strlen(f->name), at = strlen(name);
	if (value == NULL)
		return;
	ing_must(n <= NAME_BYTES);
	for (size_t i = 0; i < n; i++) {
		char c = f->name[i];
		ing_must((c >= 'a' && c <= 'z') || c == '_');
		name[at + i] = c == '_' ? c : (char)(c - 'a' + 'A');
	}
	put_entry_text(l, name, value, strlen(value), most_of_field(l));
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_log_text_line(
	const struct ing_log_record *r, struct timespec now, bool priority, char *to, size_t room)
{
	struct line l = start_line(to, room);
	if (priority) {
		l.len = (size_t)snprintf(to, room, "<%d>", (int)r->level);
	} else {
		char when[ING_ISO8601_BYTES];
		ing_format_iso8601(now, 3, when);
		l.len = (size_t)snprintf(to, room, "%s %s: ", when, level_word(r->level));
	}
	put_escaped(&l, r->message, r->message_bytes,
		r->field_count > 0 ? most_of_message(&l) : l.end, IN_MESSAGE);
	for (size_t i = 0; i < r->field_count; i++)
		put_text_field(&l, &r->fields[i]);
	l.end = room;
	if (l.cut || r->cut)
		put_str(&l, ING_LOG_CUT);
	put_str(&l, "\n");
	return l.len;
}

size_t ing_log_json_line(
	const struct ing_log_record *r, struct timespec now, bool priority, char *to, size_t room)
{
	struct line l = start_line(to, room);
	char when[ING_ISO8601_BYTES], start[8] = "";
	ing_format_iso8601(now, 3, when);
	if (priority)
		snprintf(start, sizeof(start), "<%d>", (int)r->level);
	l.len = (size_t)snprintf(
		to, room, "%s{\"time\":\"%s\",\"level\":\"%s\"", start, when, level_word(r->level));
	if (r->instance[0] != '\0')
		put_json_text(&l, "instance", r->instance, strlen(r->instance), most_of_field(&l));
	put_json_text(&l, "message", r->message, r->message_bytes, most_of_message(&l));
	for (size_t i = 0; i < r->field_count; i++)
		put_json_field(&l, &r->fields[i]);
	l.end = room;
	if (l.cut || r->cut)
		put_str(&l, ",\"truncated\":true");
	put_str(&l, "}\n");
	return l.len;
}

size_t ing_log_journal_entry(
	const struct ing_log_record *r, const char *identifier, char *to, size_t room)
{
	struct line l = start_line(to, room);
	char level = (char)('0' + (int)r->level);
	put_entry_text(&l, "PRIORITY", &level, 1, 1);
	put_entry_text(&l, "SYSLOG_IDENTIFIER", identifier, strlen(identifier), 64);
	put_entry_text(&l, "MESSAGE", r->message, r->message_bytes, most_of_message(&l));
	if (r->instance[0] != '\0')
		put_entry_text(
			&l, "INGEST_INSTANCE", r->instance, strlen(r->instance), most_of_field(&l));
	for (size_t i = 0; i < r->field_count; i++)
		put_entry_field(&l, &r->fields[i]);
	l.end = room;
	if (l.cut || r->cut)
		put_str(&l, "INGEST_TRUNCATED=1\n");
	return l.len;
}
