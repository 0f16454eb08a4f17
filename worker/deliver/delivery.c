/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Making a delivery: everything that it refers to is copied into its arena, so that its maker can
 * be freed. Values, which may be megabytes, are not copied but handed on.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "worker/deliver/deliver_priv.h"

static const void *own_bytes(struct ing_arena *ar, const void *data, size_t bytes)
{
	return data != NULL ? ing_arena_strndup(ar, data, bytes) : NULL;
}

static const struct ing_header *own_headers(
	struct ing_arena *ar, const struct ing_header *headers, size_t count)
{
	if (count == 0)
		return NULL;
	struct ing_header *own = ing_arena_alloc(ar, count * sizeof(*own));
	for (size_t i = 0; i < count; i++) {
		own[i].name = ing_arena_strdup(ar, headers[i].name);
		own[i].value = ing_arena_strdup(ar, headers[i].value);
	}
	return own;
}

static struct ing_output_message own_message(
	struct ing_arena *ar, const struct ing_output_message *m)
{
	struct ing_output_message own = *m;
	own.key = own_bytes(ar, m->key, m->key_bytes);
	own.headers = own_headers(ar, m->headers, m->header_count);
	return own;
}

/* Parked requests are those whose refusal is answered. */
static bool answers_request(enum ing_output output)
{
	return output == ING_OUTPUT_RESULTS || output == ING_OUTPUT_DEAD ||
	       ing_output_row(output)->refused == ING_OUTPUT_REFUSED_ANSWERED;
}

/* ------------------------------------------------------------------------------------------ */

struct ing_delivery *ing_delivery_new(enum ing_delivery_kind kind)
{
	struct ing_delivery *delivery = ing_alloc(sizeof(*delivery));
	delivery->magic = ING_DELIVERY_MAGIC;
	delivery->kind = kind;
	ing_arena_init(&delivery->ar);
	return delivery;
}

void ing_delivery_free(struct ing_delivery *delivery)
{
	if (delivery == NULL)
		return;
	ing_must(delivery->magic == ING_DELIVERY_MAGIC && delivery->deliver == NULL);
	struct ing_delivery_object *o = delivery->objects;
	for (; o != NULL; o = o->next)
		ing_derived_done(&o->content);
	const struct ing_delivery_side_message *m = delivery->side_messages;
	for (; m != NULL; m = m->next)
		free(m->m.value);
	free(delivery->message.value);
	ing_arena_done(&delivery->ar);
	delivery->magic = 0;
	free(delivery);
}

void ing_delivery_set_rows(struct ing_delivery *delivery, const struct ing_rows *rows)
{
	ing_rows_copy(&delivery->ar, rows, &delivery->rows);
}

void ing_delivery_add_cdx_line(struct ing_delivery *delivery, const struct ing_cdx *line)
{
	struct ing_arena *ar = &delivery->ar;
	struct ing_delivery_cdx_line *l = ing_arena_alloc(ar, sizeof(*l));
	l->cdx = *line;
	l->cdx.surt = ing_arena_strdup(ar, line->surt);
	l->cdx.datetime = ing_arena_strdup(ar, line->datetime);
	l->cdx.url = ing_arena_strdup(ar, line->url);
	l->cdx.mimetype = ing_arena_strdup(ar, line->mimetype);
	l->cdx.sha1b32 = ing_arena_strdup(ar, line->sha1b32);
	l->cdx.redirect = ing_arena_strdup(ar, line->redirect);
	l->cdx.meta = ing_arena_strdup(ar, line->meta);
	l->cdx.filename = ing_arena_strdup(ar, line->filename);
	LL_APPEND(delivery->cdx_lines, l);
}

void ing_delivery_add_rule(struct ing_delivery *delivery, const char *name)
{
	struct ing_delivery_rule *rule = ing_arena_alloc(&delivery->ar, sizeof(*rule));
	rule->name = ing_arena_strdup(&delivery->ar, name);
	LL_APPEND(delivery->rules, rule);
}

void ing_delivery_add_object(struct ing_delivery *delivery, enum ing_derived_kind kind,
	const char *sha1hex, struct ing_derived *content)
{
	struct ing_delivery_object *own = ing_arena_alloc(&delivery->ar, sizeof(*own));
	own->delivery = delivery;
	own->content = *content;
	*content = (struct ing_derived){0};
	own->put = (struct ing_object){
		.kind = kind,
		.sha1hex = ing_arena_strdup(&delivery->ar, sha1hex),
		.data = own->content.data,
		.bytes = own->content.bytes,
	};
	delivery->side_bytes += own->content.bytes;
	LL_APPEND(delivery->objects, own);
}

void ing_delivery_add_message(struct ing_delivery *delivery, const struct ing_output_message *m)
{
	if (answers_request(m->output)) {
		free(delivery->message.value);
		delivery->message = own_message(&delivery->ar, m);
		return;
	}
	struct ing_delivery_side_message *own = ing_arena_alloc(&delivery->ar, sizeof(*own));
	own->delivery = delivery;
	own->m = own_message(&delivery->ar, m);
	delivery->side_bytes += m->value_bytes;
	LL_APPEND(delivery->side_messages, own);
}
