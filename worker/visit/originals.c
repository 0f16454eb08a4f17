/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cache is a hash table of URLs with the entries in the order of their last use. An entry is one
 * piece of memory, its texts behind it.
 */
#include "worker/visit/originals.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/arena.h"
#include "common/base/hash.h"
#include "common/data/base32.h"
#include "worker/model/exchange.h"
#include "worker/visit/capture.h"

struct entry {
	UT_hash_handle hh;
	struct entry *prev, *next;    /* by use, the latest last */
	struct ing_original original; /* its texts are this entry's */
	char text[];
};

struct ing_originals {
	struct ing_archive_settings settings;
	struct entry *by_url, *by_use;
	size_t count;
};

/* Copies texts one behind the other into memory that has room for all of them. */
static const char *put_text(char **at, const char *s)
{
	if (s == NULL)
		return NULL;
	size_t bytes = strlen(s) + 1;
	char *copy = memcpy(*at, s, bytes);
	*at += bytes;
	return copy;
}

static void drop(struct ing_originals *o, struct entry *e)
{
	HASH_DELETE(hh, o->by_url, e);
	DL_DELETE(o->by_use, e);
	o->count--;
	free(e);
}

static struct entry *find(struct ing_originals *o, const char *url)
{
	struct entry *e = NULL;
	HASH_FIND_STR(o->by_url, url, e);
	return e;
}

static struct entry *new_entry(const struct ing_capture *c)
{
	const struct ing_archive_item *item = &c->archive;
	const char *mimetype = c->mimetype != NULL ? c->mimetype : "";
	struct entry *e = ing_alloc(sizeof(*e) + strlen(c->url) + strlen(c->datetime) +
				    strlen(mimetype) + strlen(item->warc_name) +
				    strlen(item->record_id) + strlen(c->record_date) + 6);
	char *at = e->text;
	struct ing_original *original = &e->original;
	memcpy(original->record.payload_sha1, item->body.sha1, sizeof(item->body.sha1));
	original->record.url = put_text(&at, c->url);
	original->record.record_id = put_text(&at, item->record_id);
	original->record.record_date = put_text(&at, c->record_date);
	original->coded = c->coded;
	original->row = (struct ing_row_cdx){
		.url = original->record.url,
		.datetime = put_text(&at, c->datetime),
		.mimetype = put_text(&at, c->mimetype),
		.warc_path = put_text(&at, item->warc_name),
		.warc_csize = item->csize,
		.warc_offset = item->offset,
		.record_id = original->record.record_id,
		.record_date = original->record.record_date,
	};
	return e;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_originals *ing_originals_new(const struct ing_archive_settings *settings)
{
	struct ing_originals *o = ing_alloc(sizeof(*o));
	o->settings = *settings;
	return o;
}

void ing_originals_free(struct ing_originals *o)
{
	if (o == NULL)
		return;
	while (o->by_use != NULL)
		drop(o, o->by_use);
	free(o);
}

bool ing_originals_want(const struct ing_originals *o, const struct ing_exchange *ex)
{
	return o->settings.revisits && ex->answered && ex->outcome == ING_STATUS_SUCCESS &&
	       ex->truncated == ING_TRUNC_NONE && ex->body_fd >= 0 &&
	       ex->body_bytes >= o->settings.revisit_min_bytes &&
	       (ex->http_status == 200 || ex->http_status == 226);
}

const struct ing_original *ing_originals_find(
	struct ing_originals *o, const char *url, bool coded, struct ing_arena *ar)
{
	struct entry *e = find(o, url);
	if (e == NULL || e->original.coded != coded)
		return NULL;
	DL_DELETE(o->by_use, e);
	DL_APPEND(o->by_use, e);
	struct ing_original *copy = ing_arena_alloc(ar, sizeof(*copy));
	*copy = e->original;
	copy->record.url = copy->row.url = ing_arena_strdup(ar, e->original.row.url);
	copy->record.record_id = copy->row.record_id =
		ing_arena_strdup(ar, e->original.row.record_id);
	copy->record.record_date = copy->row.record_date =
		ing_arena_strdup(ar, e->original.row.record_date);
	copy->row.datetime = ing_arena_strdup(ar, e->original.row.datetime);
	copy->row.mimetype = ing_arena_strdup(ar, e->original.row.mimetype);
	copy->row.warc_path = ing_arena_strdup(ar, e->original.row.warc_path);
	return copy;
}

const struct ing_original *ing_original_of_row(const struct ing_row_cdx *row, struct ing_arena *ar)
{
	struct ing_original *copy = ing_arena_alloc(ar, sizeof(*copy));
	const char *sha1hex = row->cdx_sha1hex != NULL ? row->cdx_sha1hex : row->sha1hex;
	if (sha1hex == NULL || row->record_id == NULL || row->record_date == NULL ||
		!ing_hex_decode(
			sha1hex, copy->record.payload_sha1, sizeof(copy->record.payload_sha1)))
		return NULL;
	const struct ing_rows rows = {.cdx = row, .cdx_count = 1};
	struct ing_rows own;
	ing_rows_copy(ar, &rows, &own);
	copy->row = own.cdx[0];
	copy->record.url = copy->row.url;
	copy->record.record_id = copy->row.record_id;
	copy->record.record_date = copy->row.record_date;
	copy->indexed = true;
	return copy;
}

void ing_originals_add(struct ing_originals *o, const struct ing_capture *c)
{
	if (o->settings.revisit_cache == 0 || c->archive.warc_name[0] == '\0' ||
		c->archive.refers_to != NULL)
		return;
	struct entry *e = find(o, c->url);
	if (e != NULL)
		drop(o, e);
	else if (o->count >= o->settings.revisit_cache)
		drop(o, o->by_use);
	e = new_entry(c);
	HASH_ADD_KEYPTR(hh, o->by_url, e->original.row.url, strlen(e->original.row.url), e);
	DL_APPEND(o->by_use, e);
	o->count++;
}
