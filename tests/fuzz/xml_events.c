/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * XML as a stream: the first byte says how the rest is cut. Whatever the cut, the events are those of
 * the whole; elements are closed in the order in which they were opened.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/markup/xml_events.h"

FUZZ_BUDGET(.cpu_us = 4000, .cpu_byte_ns = 3000, .heap_kb = 3000, .heap_byte = 400);

struct seen {
	struct ing_buf all; /* but for texts, which come in other pieces */
	struct ing_buf open;
	size_t text;
};

static void on_open(void *ctx, const char *name, const char *const *attributes)
{
	struct seen *s = ctx;
	ing_buf_printf(&s->all, "<%s", name);
	for (; attributes != NULL && *attributes != NULL; attributes += 2)
		ing_buf_printf(&s->all, " %s=%s", attributes[0], attributes[1]);
	ing_buf_printf(&s->open, "%s<", name);
}

static void on_text(void *ctx, const char *text, size_t bytes)
{
	struct seen *s = ctx;
	ing_must(bytes > 0 && text != NULL && s->open.len > 0);
	s->text += bytes;
}

static void on_close(void *ctx, const char *name)
{
	struct seen *s = ctx;
	size_t bytes = strlen(name) + 1;
	ing_must(s->open.len >= bytes);
	ing_must(memcmp(s->open.data + s->open.len - bytes, name, bytes - 1) == 0);
	s->open.len -= bytes;
	ing_buf_printf(&s->all, "/%zu", s->text);
}

static int read_pieces(const char *data, size_t size, size_t step, struct seen *ret)
{
	static const struct ing_xml_events_user user = {on_open, on_text, on_close};
	struct ing_error err = {0};
	int rc = 0;
	*ret = (struct seen){0};
	ing_buf_init(&ret->all, (size_t)64 << 20);
	ing_buf_init(&ret->open, (size_t)64 << 20);
	struct ing_xml_events *x = ing_xml_events_new(&user, ret);
	for (size_t at = 0; at < size && rc == 0; at += step)
		rc = ing_xml_events_feed(x, data + at, ING_MIN(step, size - at), &err);
	if (rc == 0)
		rc = ing_xml_events_end(x, &err);
	ing_must(rc == -(int)err.code && (rc == 0 || err.line > 0));
	ing_must(rc != 0 || ret->open.len == 0);
	ing_xml_events_free(x);
	return rc;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size < 2)
		return;
	/* libxml2 looks at all of an unfinished tag again with each piece. */
	size_t step = ING_MAX(data[0] % 61 + 1u, size / 64);
	struct seen whole, pieces;
	int rc = read_pieces((const char *)data + 1, size - 1, size, &whole);
	int rc2 = read_pieces((const char *)data + 1, size - 1, step, &pieces);
	/* Where markup is too long, and how much of a text came before an error, depends on the cut. */
	if (rc == 0 && rc2 == 0) {
		ing_must(whole.all.len == pieces.all.len && whole.text == pieces.text);
		ing_must(whole.all.len == 0 ||
			 memcmp(whole.all.data, pieces.all.data, whole.all.len) == 0);
	}
	ing_must((rc == 0) == (rc2 == 0));
	ing_buf_done(&whole.all);
	ing_buf_done(&whole.open);
	ing_buf_done(&pieces.all);
	ing_buf_done(&pieces.open);
}
