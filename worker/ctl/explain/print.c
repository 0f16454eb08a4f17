/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A request's life for people: what was asked, when it came, what was done, where the bytes are, what to
 * do next. All of it comes from outside, so it is printed harmlessly.
 */
#include "worker/ctl/explain/explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/status/screen.h"

#define OUT_BYTES ((size_t)4 << 20)
#define PIECE_BYTES 20000 /* a URL of the longest, and what is about it */

static void put(struct ing_screen *out, const char *fmt, ...) ING_PRINTF(2, 3);

/* A line feed at the end of fmt ends the line; one in a text does not. */
static void put(struct ing_screen *out, const char *fmt, ...)
{
	char piece[PIECE_BYTES];
	size_t n = strlen(fmt);
	bool ends = n > 0 && fmt[n - 1] == '\n';
	va_list ap;
	va_start(ap, fmt);
	int bytes = vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	if (ends && bytes > 0 && (size_t)bytes < sizeof(piece))
		piece[bytes - 1] = '\0';
	ing_screen_add(out, ING_TONE_PLAIN, piece);
	if (ends)
		ing_screen_end_line(out);
}

static const char *text(const json_t *o, const char *name)
{
	const char *s = ing_json_get_text(o, name);
	return s != NULL ? s : "";
}

static int64_t number(const json_t *o, const char *name)
{
	return ing_json_get_number(o, name);
}

/* To the second: "2026-11-23T07:30:00.123456+00:00" → "2026-11-23 07:30:00". */
static const char *when(const json_t *o, const char *name, char to[20])
{
	snprintf(to, 20, "%.19s", text(o, name));
	if (strlen(to) == 19 && to[10] == 'T')
		to[10] = ' ';
	return to[0] != '\0' ? to : "?";
}

static void add_duration(struct ing_screen *out, int64_t ms)
{
	if (ms < 1000)
		put(out, "%" PRId64 " ms", ms);
	else if (ms < 120000)
		put(out, "%.1f s", (double)ms / 1000);
	else if (ms < 7200000)
		put(out, "%" PRId64 " min", ms / 60000);
	else
		put(out, "%.1f h", (double)ms / 3600000);
}

/* Starts a line under a word in the first column, which is empty in the lines that follow. */
static void line(struct ing_screen *out, const char *word)
{
	ing_screen_printf(out, ING_TONE_SOFT, "%-9s ", word);
}

static void end(struct ing_screen *out)
{
	ing_screen_end_line(out);
}

static void add_request(struct ing_screen *out, const char *id, const json_t *life)
{
	const json_t *r = json_object_get(life, "request");
	char at[20];
	line(out, "request");
	put(out, "%s\n", id);
	if (!json_is_object(r))
		return;
	line(out, "");
	put(out, "%s %s\n", text(r, "ingest_type"), text(r, "base_url"));
	if (text(r, "link_source")[0] != '\0') {
		line(out, "");
		put(out, "from %s %s\n", text(r, "link_source"), text(r, "link_source_id"));
	}
	if (text(r, "created")[0] == '\0')
		return;
	line(out, "came");
	put(out, "%s, ", when(r, "created", at));
	if (text(r, "list")[0] != '\0')
		put(out, "by the list %s", text(r, "list"));
	else
		put(out, "%s", "as a message");
	const json_t *also = json_object_get(r, "also_in");
	for (size_t i = 0; i < json_array_size(also); i++)
		put(out, "%s %s", i == 0 ? "; also in" : ",",
			json_string_value(json_array_get(also, i)));
	end(out);
}

static void add_queued(struct ing_screen *out, const json_t *life)
{
	const json_t *q = json_object_get(life, "queued");
	char at[20];
	if (!json_is_object(q))
		return;
	line(out, "queued");
	put(out, "%s, by the plan %s for %s%s\n", when(q, "queued", at), text(q, "plan"),
		text(q, "topic"), ing_json_get_true(q, "unsent") ? ", not sent yet" : "");
}

/* --- visits --- */

static void add_part(struct ing_screen *out, const json_t *o, const char *name, const char *word,
	const char **before)
{
	int64_t ms = number(o, name);
	if (ms <= 0)
		return;
	put(out, "%s%s ", *before, word);
	add_duration(out, ms);
	*before = ", ";
}

static void add_waits(struct ing_screen *out, const json_t *v)
{
	const char *before = " (";
	int64_t ours = number(v, "wait_ms") - number(v, "robots_ms") - number(v, "host_ms");
	put(out, "%s", "waited ");
	add_duration(out, number(v, "wait_ms"));
	add_part(out, v, "robots_ms", "for robots.txt", &before);
	add_part(out, v, "host_ms", "for its host", &before);
	if (number(v, "before") > 0)
		put(out, ", %" PRId64 " before it", number(v, "before"));
	if (ours > 0 && before[0] == ',') {
		put(out, "%s", ", in the worker ");
		add_duration(out, ours);
	}
	put(out, "%s", before[0] == ',' ? "); " : "; ");
}

static void add_visit(struct ing_screen *out, const json_t *v, const char *url)
{
	line(out, "");
	put(out, "  %s%s%s%s\n", text(v, "via"), text(v, "via")[0] != '\0' ? ": " : "", url,
		ing_json_get_true(v, "cut") ? "..." : "");
	line(out, "");
	put(out, "%s", "    ");
	if (number(v, "wait_ms") > 0)
		add_waits(out, v);
	if (number(v, "http") > 0)
		put(out, "HTTP %" PRId64, number(v, "http"));
	else
		put(out, "%s", text(v, "failed")[0] != '\0' ? text(v, "failed") : "not asked");
	if (number(v, "ms") > 0) {
		put(out, "%s", " in ");
		add_duration(out, number(v, "ms"));
	}
	if (number(v, "tries") > 1)
		put(out, ", %" PRId64 " tries", number(v, "tries"));
	end(out);
}

static void add_visits(struct ing_screen *out, const json_t *result)
{
	const json_t *visits = json_object_get(result, "visits");
	const json_t *urls = json_object_get(visits, "urls");
	size_t n = json_array_size(urls);
	char at[20];
	if (!json_is_object(visits))
		return;
	line(out, "read");
	put(out, "%s by %s from %s (lane %s)", when(visits, "came", at), text(visits, "instance"),
		text(visits, "topic")[0] != '\0' ? text(visits, "topic") : "its topic",
		text(visits, "lane"));
	if (json_is_integer(json_object_get(visits, "partition")))
		put(out, " [%" PRId64 "] offset %" PRId64, number(visits, "partition"),
			number(visits, "offset"));
	end(out);
	if (number(visits, "parked") > 0) {
		line(out, "");
		put(out,
			"first seen %s, parked %" PRId64 " times, tried %" PRId64 " times before\n",
			when(visits, "first_seen", at), number(visits, "parked"),
			number(visits, "attempt"));
	}
	line(out, "visits");
	put(out, "%s", "done in ");
	add_duration(out, number(visits, "took_ms"));
	end(out);
	for (size_t i = 0; i < n; i++) {
		const json_t *v = json_array_get(urls, i);
		const char *url = ing_json_get_text(v, "url");
		if (url == NULL && i == 0)
			url = text(result, "base_url");
		add_visit(out, v, url != NULL ? url : text(result, "terminal_url"));
	}
	if (number(visits, "left_out") > 0) {
		line(out, "");
		put(out, "  and %" PRId64 " more\n", number(visits, "left_out"));
	}
}

static void add_result(struct ing_screen *out, const json_t *life)
{
	const json_t *r = json_object_get(life, "result");
	char at[20], next[20];
	if (!json_is_object(r))
		return;
	add_visits(out, r);
	line(out, "result");
	put(out, "%s%s, %s, attempt %" PRId64 "\n", text(r, "status"),
		ing_json_get_true(r, "hit") ? " (hit)" : "", when(r, "updated", at),
		number(r, "attempts"));
	if (text(r, "error_message")[0] != '\0') {
		line(out, "");
		put(out, "%s\n", text(r, "error_message"));
	}
	if (text(r, "next_try")[0] != '\0') {
		line(out, "");
		put(out, "worth asking again from %s\n", when(r, "next_try", next));
	}
}

static void add_document(struct ing_screen *out, const json_t *life)
{
	const json_t *d = json_object_get(life, "document");
	const json_t *pdf = json_object_get(d, "pdf");
	const json_t *html = json_object_get(d, "html");
	if (!json_is_object(d))
		return;
	line(out, "document");
	put(out, "%s, %" PRId64 " bytes, sha1 %s\n", text(d, "mimetype"), number(d, "size_bytes"),
		text(d, "sha1hex"));
	if (json_is_object(pdf)) {
		line(out, "");
		put(out, "pdf_meta %s, %" PRId64 " pages, %" PRId64 " words\n", text(pdf, "status"),
			number(pdf, "page_count"), number(pdf, "word_count"));
	}
	if (json_is_object(html)) {
		line(out, "");
		put(out, "html_meta %s, %s, %" PRId64 " words\n", text(html, "status"),
			text(html, "scope"), number(html, "word_count"));
	}
}

static void add_captures(struct ing_screen *out, const json_t *life)
{
	const json_t *list = json_object_get(life, "captures");
	const json_t *objects = json_object_get(life, "objects");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *c = json_array_get(list, i);
		line(out, i == 0 ? "bytes" : "");
		put(out, "%s offset %" PRId64 ", %" PRId64 " bytes: ",
			text(c, "file")[0] != '\0' ? text(c, "file") : text(c, "warc_path"),
			number(c, "warc_offset"), number(c, "warc_csize"));
		if (text(c, "file")[0] == '\0')
			put(out, "%s", "not on this machine");
		else if (text(c, "fault")[0] != '\0')
			put(out, "%s", text(c, "fault"));
		else
			put(out, "%s, whole", text(c, "record_type"));
		end(out);
		line(out, "");
		put(out, "  cdx %s %s\n", text(c, "datetime"), text(c, "url"));
	}
	for (size_t i = 0; i < json_array_size(objects); i++) {
		line(out, i == 0 ? "objects" : "");
		put(out, "%s\n", json_string_value(json_array_get(objects, i)));
	}
}

/* --- topics and workers --- */

static void add_places(struct ing_screen *out, const json_t *life, const char *name,
	const char *word, const char *what, const char *more)
{
	const json_t *list = json_object_get(life, name);
	char at[20];
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *m = json_array_get(list, i);
		line(out, i == 0 ? word : "");
		put(out, "%s [%" PRId64 "] offset %" PRId64 ", %s", text(m, "topic"),
			number(m, "partition"), number(m, "offset"), when(m, "time", at));
		if (text(m, what)[0] != '\0')
			put(out, ", %s%s", more, text(m, what));
		end(out);
	}
}

static void add_workers(struct ing_screen *out, const json_t *life)
{
	const json_t *list = json_object_get(life, "workers");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *w = json_array_get(list, i);
		const json_t *visits = json_object_get(w, "visits");
		line(out, "now");
		put(out, "in %s for ", text(w, "instance"));
		add_duration(out, number(w, "age_ms"));
		put(out, ": %s, %s\n", text(w, "state"), text(w, "state_words"));
		for (size_t k = 0; k < json_array_size(visits); k++) {
			const json_t *v = json_array_get(visits, k);
			line(out, "");
			put(out, "  %s: %s for ", text(v, "url"), text(v, "for"));
			add_duration(out, number(v, "since_ms"));
			if (number(v, "before") > 0)
				put(out, ", %" PRId64 " were before it", number(v, "before"));
			end(out);
		}
	}
}

static void add_missing(struct ing_screen *out, const json_t *life)
{
	const json_t *missing = json_object_get(life, "missing");
	const json_t *looked = json_object_get(life, "looked");
	for (size_t i = 0; i < json_array_size(looked); i++) {
		const json_t *l = json_array_get(looked, i);
		const char *how = text(l, "end");
		if (strcmp(how, "time") != 0 && strcmp(how, "no time") != 0)
			continue;
		line(out, "not read");
		put(out, "%s: %" PRId64 " messages, then the time was up (--wait)\n",
			text(l, "topic"), number(l, "messages"));
	}
	for (size_t i = 0; i < json_array_size(missing); i++) {
		const json_t *m = json_array_get(missing, i);
		line(out, "not asked");
		put(out, "%s: %s\n", text(m, "source"), text(m, "why"));
	}
}

static void add_next(struct ing_screen *out, const json_t *life)
{
	const json_t *next = json_object_get(life, "next");
	for (size_t i = 0; i < json_array_size(next); i++) {
		const json_t *n = json_array_get(next, i);
		line(out, i == 0 ? "next" : "");
		put(out, "%s\n", text(n, "say"));
		if (text(n, "run")[0] != '\0') {
			line(out, "");
			put(out, "  %s\n", text(n, "run"));
		}
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_explain_print(const char *id, const json_t *life)
{
	struct ing_buf text;
	struct ing_screen out = {.out = &text};
	ing_buf_init(&text, OUT_BYTES);
	add_request(&out, id, life);
	add_queued(&out, life);
	add_result(&out, life);
	add_document(&out, life);
	add_captures(&out, life);
	add_places(&out, life, "results", "answer", "status", "");
	add_places(&out, life, "waiting", "waits", "none", "");
	add_places(&out, life, "parked", "parked", "due", "due ");
	add_places(&out, life, "dead_letters", "dead", "error", "");
	add_workers(&out, life);
	add_missing(&out, life);
	add_next(&out, life);
	fwrite(ing_buf_str(&text), 1, text.len, stdout);
	ing_buf_done(&text);
}
