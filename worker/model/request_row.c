/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "worker/model/request_row.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/data/json.h"
#include "worker/model/mask.h"
#include "worker/model/request.h"
#include "worker/model/request_facts.h"

/* Members that have a column. */
static const char *const columns[] = {"link_source", "link_source_id", "ingest_type", "base_url",
	"ingest_request_source", "release_stage", "created"};

static bool has_column(const char *member)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(columns); i++)
		if (strcmp(columns[i], member) == 0)
			return true;
	return false;
}

/* The catalogue's identifier stands at the top, too, where the replaced system's readers look for it. */
static void add_release_ident(const struct ing_request *r, json_t *o)
{
	const char *ident = ing_json_get_text(json_object_get(r->json, "fatcat"), "release_ident");
	if (ident != NULL)
		ing_json_set_text(o, "release_ident", ident);
}

static void add_identity(const struct ing_request *r, json_t *o)
{
	if (r->derived)
		ing_json_set(o, "base_url", NULL);
	if (r->type_alias != NULL)
		ing_json_set_text(o, "ingest_type", r->type_alias);
}

static const char *other_members(const struct ing_request *r, struct ing_arena *ar)
{
	const char *name;
	json_t *value;
	json_t *o = json_object();
	json_object_foreach (r->json, name, value) {
		if (!has_column(name) && !json_is_null(value))
			ing_json_set(o, name, ing_json_ref(value));
	}
	add_release_ident(r, o);
	add_identity(r, o);
	json_t *masked = ing_mask_json(o);
	size_t bytes;
	char *text = ing_json_dump(masked, &bytes);
	const char *copy = ing_arena_strndup(ar, text, bytes);
	free(text);
	json_decref(masked);
	json_decref(o);
	return copy;
}

static const char *id_text(struct ing_arena *ar, const unsigned char id[ING_FACT_ID_BYTES])
{
	char *text = ing_arena_alloc(ar, ING_FACT_ID_TEXT_BYTES);
	ing_fact_id_text(id, text);
	return text;
}

static const char *text_or_null(struct ing_arena *ar, const char *s)
{
	return s[0] != '\0' ? ing_arena_strdup(ar, s) : NULL;
}

static bool has_text(const char *s)
{
	return s != NULL && s[0] != '\0';
}

/* -------------------------------------------------------------------------------------------- */

void ing_request_row(const struct ing_request *r, struct ing_arena *ar, struct ing_row_request *ret)
{
	struct ing_request_facts facts;
	ing_request_facts(r, &facts);
	*ret = (struct ing_row_request){
		.link_source = ing_mask_url(ar, r->link_source),
		.link_source_id = ing_mask_url(ar, r->link_source_id),
		.ingest_type = r->ingest_type,
		.base_url = ing_mask_url(ar, r->base_url),
		.ingest_request_source = ing_mask_url(ar, r->ingest_request_source),
		.release_stage = ing_mask_url(ar, r->release_stage),
		.request_json = other_members(r, ar),
	};
	ing_request_row_facts(&facts, ar, ret);
}

void ing_request_row_facts(
	const struct ing_request_facts *facts, struct ing_arena *ar, struct ing_row_request *row)
{
	row->present = has_text(row->link_source) && has_text(row->link_source_id);
	row->request_id = id_text(ar, facts->request_id);
	row->document = id_text(ar, facts->document);
	row->host = text_or_null(ar, facts->host);
	row->doi_prefix = text_or_null(ar, facts->doi_prefix);
}
