/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Written without a tree of JSON values: it is made for every result.
 */
#include "worker/job/result_visits.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "common/data/json_text.h"
#include "worker/job/job.h"
#include "worker/job/resource.h"
#include "worker/model/rows.h"

#define URL_BYTES ((size_t)600)
/* For left_out, brackets, and the rest of a URL that is begun. */
#define TAIL_BYTES ((size_t)40)

/* A URL with all its tries. */
struct asked {
	const struct ing_visit_step *first, *last;
	uint64_t wait_ms, robots_ms, host_ms, transfer_ms;
	unsigned before, tries;
};

static void add_number(struct ing_buf *out, const char *name, uint64_t n)
{
	if (n > 0)
		ing_buf_printf(out, ",\"%s\":%" PRIu64, name, n);
}

static void add_text(struct ing_buf *out, const char *name, const char *text)
{
	if (text == NULL || !ing_utf8_valid(text, strlen(text)))
		return;
	ing_buf_printf(out, ",\"%s\":", name);
	ing_json_add_text(out, text, strlen(text));
}

static void add_time(struct ing_buf *out, const char *name, int64_t ms)
{
	char text[ING_ISO8601_BYTES];
	ing_format_iso8601(
		(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, 3, text);
	add_text(out, name, text);
}

/* URLs of services may have keys of the operator's in their queries. */
static void add_url(struct ing_buf *out, const struct ing_visit_step *s)
{
	size_t bytes = strlen(s->url);
	size_t shown = s->visit->user->is_service ? strcspn(s->url, "?") : bytes;
	shown = ing_utf8_cut(s->url, shown, URL_BYTES);
	ing_buf_add_str(out, ",\"url\":");
	ing_json_add_text(out, s->url, shown);
	if (shown < bytes)
		ing_buf_add_str(out, ",\"cut\":true");
}

static const char *via_name(enum ing_via via)
{
	switch (via) {
	case ING_VIA_REDIRECT:
		return "redirect";
	case ING_VIA_LINK:
		return "link";
	case ING_VIA_START:
	case ING_VIA_AGAIN:
	case ING_VIA_RESOURCE:
		break;
	}
	return NULL;
}

static bool same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

/* The chain, or what was asked for a publication; without sub-resources. */
struct cursor {
	struct ing_step_walk walk;
	const struct ing_visit_step *next; /* NULL: all were */
};

static struct cursor begin(const struct ing_work *w)
{
	struct cursor c;
	ing_step_walk_init(&c.walk, w);
	c.walk.resource = NULL;
	c.next = ing_step_walk_next(&c.walk);
	return c;
}

static struct asked collect(struct cursor *c)
{
	const struct ing_visit_step *s = c->next;
	struct asked a = {.first = s};
	do {
		a.last = s;
		a.wait_ms += s->waited.total_ms;
		a.robots_ms += s->waited.robots_ms;
		a.host_ms += s->waited.host_ms;
		a.before = ING_MAX(a.before, s->waited.before);
		a.transfer_ms += s->transfer_ms;
		a.tries++;
		s = ing_step_walk_next(&c->walk);
	} while (s != NULL && s->via == ING_VIA_AGAIN && s->visit == a.first->visit);
	c->next = s;
	return a;
}

/* known: the URL stands in a column. */
static void add_asked(struct ing_buf *out, const struct asked *a, bool known, bool is_terminal)
{
	size_t start = out->len;
	if (!known)
		add_url(out, a->first);
	add_text(out, "via", via_name(a->first->via));
	add_number(out, "wait_ms", a->wait_ms);
	add_number(out, "robots_ms", a->robots_ms);
	add_number(out, "host_ms", a->host_ms);
	add_number(out, "before", a->before);
	add_number(out, "ms", a->transfer_ms);
	add_number(out, "tries", a->tries > 1 ? a->tries : 0);
	if (a->last->answered) {
		add_number(out, "http", (uint64_t)a->last->capture.http_status);
		if (!is_terminal)
			add_text(out, "dt", a->last->capture.datetime);
	} else if (a->last->asked) {
		add_text(out, "failed", ing_status_slug(a->last->outcome));
	}
	if (out->len > start)
		out->data[start] = '{'; /* in place of the first comma */
	else
		ing_buf_add_char(out, '{');
	ing_buf_add_char(out, '}');
}

/* Back to where a URL began that has no room. */
static void undo(struct ing_buf *out, size_t len)
{
	out->len = len;
	out->failed = false;
}

static void add_urls(
	struct ing_buf *out, const struct ing_work *w, const struct ing_row_result *row)
{
	struct cursor c = begin(w);
	unsigned left_out = 0;
	ing_buf_add_str(out, ",\"urls\":[");
	out->max -= TAIL_BYTES;
	for (bool is_first = true; c.next != NULL; is_first = false) {
		size_t start = out->len;
		struct asked a = collect(&c);
		bool is_terminal = a.last == w->terminal;
		bool known = (is_first && same(a.first->url, row->base_url)) ||
			     (is_terminal && same(a.last->url, row->terminal_url));
		if (!is_first && left_out == 0)
			ing_buf_add_char(out, ',');
		add_asked(out, &a, known, is_terminal);
		if (out->failed || left_out > 0) {
			undo(out, start);
			left_out++;
		}
	}
	out->max += TAIL_BYTES;
	ing_buf_add_char(out, ']');
	add_number(out, "left_out", left_out);
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_result_visits(struct ing_work *w, const struct ing_visits_origin *origin,
	const struct ing_row_result *row)
{
	struct ing_buf out;
	ing_buf_init(&out, ING_VISITS_BYTES);
	add_time(&out, "came", origin->came_ms);
	out.data[0] = '{';
	ing_buf_printf(&out, ",\"took_ms\":%" PRIu64, origin->took_ms);
	add_text(&out, "instance", origin->instance);
	add_text(&out, "lane", ing_lane_name(origin->lane));
	add_text(&out, "topic", origin->topic);
	if (origin->partition >= 0)
		ing_buf_printf(&out, ",\"partition\":%" PRId32 ",\"offset\":%" PRId64,
			origin->partition, origin->offset);
	add_number(&out, "attempt", origin->attempt);
	add_number(&out, "parked", origin->parkings);
	if (origin->parkings > 0)
		add_time(&out, "first_seen", origin->first_seen_ms);
	add_urls(&out, w, row);
	ing_buf_add_char(&out, '}');
	char *copy = ing_arena_strndup(&w->ar, out.data, out.len);
	ing_buf_done(&out);
	return copy;
}
