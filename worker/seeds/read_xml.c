/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * XML of any length: each record element becomes an object of its own. Names are without prefixes.
 *
 *	<article key="a/1"><ee type="oa">https://…</ee><title>On <i>x</i></title></article>
 *	{"#name":"article","@key":"a/1","ee":{"@type":"oa","#text":"https://…"},
 *	 "title":{"i":{"#text":"x"},"#text":"On x"}}
 *
 * Elements of one name are a list when there are several.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/markup/xml_events.h"
#include "worker/rules/rule_reader.h"
#include "worker/seeds/formats.h"
#include "worker/seeds/source_priv.h"

#define MAX_NAMES 16
#define MAX_DEPTH 64                     /* of elements in a record */
#define MAX_TEXT_BYTES ((size_t)8 << 20) /* of a record, with its attributes */
#define MAX_ELEMENTS 100000              /* of a record */

struct settings {
	const char *names[MAX_NAMES]; /* of record elements */
	size_t count;                 /* 0: every child of the root */
};

struct open_element {
	json_t *object;
	size_t text_start;
};

struct xml {
	const struct settings *settings;
	struct ing_seed_converter *to;
	struct ing_xml_events *events;
	unsigned outside; /* elements that are open around the record */
	struct open_element open[MAX_DEPTH];
	unsigned depth;  /* of them: 0 is outside of a record */
	unsigned below;  /* elements that are open below what is kept */
	const char *why; /* the record is bad */
	size_t attribute_bytes, elements;
	int64_t line;
	struct ing_buf text;
};

static const char *local_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	return colon != NULL && colon[1] != '\0' ? colon + 1 : name;
}

static bool is_record(const struct xml *r, const char *name)
{
	if (r->settings->count == 0)
		return r->outside == 1;
	for (size_t i = 0; i < r->settings->count; i++)
		if (strcmp(r->settings->names[i], name) == 0)
			return true;
	return false;
}

static void set_attributes(struct xml *r, json_t *object, const char *const *attributes)
{
	for (; attributes != NULL && attributes[0] != NULL; attributes += 2) {
		char key[128];
		const char *value = attributes[1] != NULL ? attributes[1] : "";
		const char *name = local_name(attributes[0]);
		r->attribute_bytes += strlen(value);
		if (strlen(name) >= sizeof(key) - 1 || r->attribute_bytes > MAX_TEXT_BYTES)
			continue;
		key[0] = '@';
		memcpy(key + 1, name, strlen(name) + 1);
		ing_json_set_text(object, key, value);
	}
}

static void push(struct xml *r, const char *const *attributes)
{
	struct open_element *e = &r->open[r->depth++];
	e->object = json_object();
	e->text_start = r->text.len;
	set_attributes(r, e->object, attributes);
}

static void begin_record(struct xml *r, const char *name, const char *const *attributes)
{
	ing_buf_clear(&r->text);
	r->why = NULL;
	r->attribute_bytes = r->elements = 0;
	r->line = ing_xml_events_line(r->events);
	push(r, attributes);
	ing_json_set_text(r->open[0].object, "#name", name);
}

/* What is too much of a record is left out; it is bad then. */
static bool fits(struct xml *r)
{
	if (r->depth == MAX_DEPTH)
		r->why = "nested too deep";
	else if (r->elements > MAX_ELEMENTS)
		r->why = "too many elements";
	else if (r->attribute_bytes > MAX_TEXT_BYTES || r->text.failed)
		r->why = "longer than the limit";
	return r->why == NULL;
}

static void on_open(void *ctx, const char *name, const char *const *attributes)
{
	struct xml *r = ctx;
	name = local_name(name);
	if (r->depth == 0 && !is_record(r, name)) {
		r->outside++;
		return;
	}
	if (r->depth == 0) {
		begin_record(r, name, attributes);
		return;
	}
	r->elements++;
	if (r->below > 0 || !fits(r))
		r->below++;
	else
		push(r, attributes);
}

static void on_text(void *ctx, const char *text, size_t bytes)
{
	struct xml *r = ctx;
	if (r->depth > 1)
		ing_buf_add(&r->text, text, bytes);
}

/* The first of a name is a member by itself. Takes child. */
static void add_child(json_t *parent, const char *name, json_t *child)
{
	json_t *before = json_object_get(parent, name);
	if (before == NULL) {
		ing_json_set(parent, name, child);
	} else if (json_is_array(before)) {
		ing_json_append(before, child);
	} else {
		json_t *list = json_array();
		ing_json_append(list, ing_json_ref(before));
		ing_json_append(list, child);
		ing_json_set(parent, name, list);
	}
}

static void end_record(struct xml *r)
{
	json_t *record = ING_TAKE(r->open[0].object);
	if (fits(r) && !ing_seed_is_stopped(r->to))
		ing_seed_give_object(r->to, r->line, record);
	else if (r->why != NULL)
		ing_seed_bad(r->to, r->line, "%s", r->why);
	json_decref(record);
	r->depth = 0;
}

static void on_close(void *ctx, const char *name)
{
	struct xml *r = ctx;
	if (r->depth == 0) {
		r->outside--;
	} else if (r->below > 0) {
		r->below--;
	} else if (r->depth == 1) {
		end_record(r);
	} else {
		struct open_element *e = &r->open[--r->depth];
		const char *text = ing_buf_str(&r->text) + e->text_start;
		size_t bytes = r->text.len - e->text_start;
		if (bytes > 0)
			ing_json_set(e->object, "#text", ing_json_textn(text, bytes));
		add_child(r->open[r->depth - 1].object, local_name(name), ING_TAKE(e->object));
	}
}

static int told(int rc, struct ing_error *err)
{
	if (rc != 0 && err != NULL && err->line > 0)
		ing_error_context(err, "line %d", err->line);
	return rc;
}

static int feed(void *reader, const char *bytes, size_t count, struct ing_error *err)
{
	struct xml *r = reader;
	return told(ing_xml_events_feed(r->events, bytes, count, err), err);
}

static int end(void *reader, struct ing_error *err)
{
	struct xml *r = reader;
	return told(ing_xml_events_end(r->events, err), err);
}

static void close_xml(void *reader)
{
	struct xml *r = reader;
	ing_xml_events_free(r->events);
	for (unsigned i = 0; i < r->depth; i++)
		json_decref(r->open[i].object);
	ing_buf_done(&r->text);
	free(r);
}

static void *open_xml(const void *settings, struct ing_seed_converter *to)
{
	static const struct ing_xml_events_user user = {on_open, on_text, on_close};
	struct xml *r = ing_alloc(sizeof(*r));
	r->settings = settings;
	r->to = to;
	r->events = ing_xml_events_new(&user, r);
	ing_buf_init(&r->text, MAX_TEXT_BYTES);
	return r;
}

static const void *read_settings(const struct ing_seed_loader *l, const struct ing_yaml_node *map)
{
	static const char *const known[] = {"record"};
	struct settings *s = ing_arena_alloc(l->rd->arena, sizeof(*s));
	const char *at = ing_seed_setting(l, map, "record");
	if (map != NULL)
		ing_rule_read_keys(l->rd, map, "reader", known, ING_ARRAY_LEN(known));
	while (at != NULL && *(at += strspn(at, " ")) != '\0') {
		size_t bytes = strcspn(at, " ");
		if (s->count == MAX_NAMES) {
			ing_rule_read_error(l->rd, map, "more than %d names of records", MAX_NAMES);
			break;
		}
		s->names[s->count++] = ing_arena_strndup(l->rd->arena, at, bytes);
		at += bytes;
	}
	return s;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_seed_format ing_seed_format_xml = {
	.name = "xml",
	.settings = read_settings,
	.open = open_xml,
	.feed = feed,
	.end = end,
	.close = close_xml,
};
