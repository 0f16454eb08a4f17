/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The row is the worker's (request_row.h, table.h), with `created` behind it: so a request is the same row, whoever
 * brings it first.
 */
#include "worker/store/requests/load_line.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/data/json.h"
#include "worker/model/limits.h"
#include "worker/model/request.h"
#include "worker/model/request_plain.h"
#include "worker/model/request_row.h"
#include "worker/store/table.h"

#define MAX_SHARE_BYTES ((size_t)1 << 30) /* a block is far smaller, however its text is escaped */

static const struct ing_table *request_table(void)
{
	size_t i = 0;
	while (strcmp(ing_tables[i].name, "ingest_request") != 0)
		i++;
	return &ing_tables[i];
}

static int check_bytes(const char *name, const char *value, size_t max_bytes, struct ing_error *err)
{
	if (strlen(value) <= max_bytes)
		return 0;
	return ing_error_set(err, ING_FAIL_INVALID, "%s: longer than %zu bytes", name, max_bytes);
}

/* What masks it makes another request of it. */
static int check_masked(
	const char *name, const char *said, const char *masked, struct ing_error *err)
{
	if (said == NULL || strcmp(said, masked) == 0)
		return 0;
	return ing_error_set(
		err, ING_FAIL_INVALID, "%s: has a user name or password, which is not kept", name);
}

static int check_bytes_of_key(const struct ing_row_request *row, struct ing_error *err)
{
	int rc = check_bytes("base_url", row->base_url, ING_MAX_BASE_URL_BYTES, err);
	if (rc == 0)
		rc = check_bytes("link_source", row->link_source, ING_MAX_LINK_SOURCE_BYTES, err);
	if (rc == 0)
		rc = check_bytes(
			"link_source_id", row->link_source_id, ING_MAX_LINK_SOURCE_ID_BYTES, err);
	return rc;
}

/* The row of any line. */
static int parse_row(const struct ing_request *r, struct ing_arena *ar, struct ing_row_request *row,
	const char **ret_created, struct ing_error *err)
{
	const json_t *created = json_object_get(r->json, "created");
	ing_request_row(r, ar, row);
	int rc = check_masked("base_url", r->base_url, row->base_url, err);
	if (rc == 0)
		rc = check_masked("link_source", r->link_source, row->link_source, err);
	if (rc == 0)
		rc = check_masked("link_source_id", r->link_source_id, row->link_source_id, err);
	*ret_created = json_string_value(created);
	if (rc == 0 && created != NULL && !json_is_null(created) && !json_is_string(created))
		rc = ing_error_set(err, ING_FAIL_INVALID, "created: not a string");
	return rc;
}

static struct ing_load_row *add_row(struct ing_load_share *s)
{
	if (s->count == s->room) {
		s->room = ING_MAX(2 * s->room, (size_t)256);
		s->rows = ing_realloc(s->rows, s->room * sizeof(*s->rows));
	}
	return &s->rows[s->count++];
}

static void add_line(const struct ing_rows *rows, const char *created, struct ing_buf *text)
{
	ing_must(ing_table_row(request_table(), rows, 0, 0, text));
	text->len -= strlen("0\n"); /* its number within a batch of the store's */
	ing_buf_add_str(text, created != NULL ? created : "\\N");
	ing_buf_add_char(text, '\n');
}

static void add_to_share(const struct ing_rows *rows, const char *created,
	const struct ing_buf *key, struct ing_load_share *s)
{
	if (s->text.max == 0)
		ing_buf_init(&s->text, MAX_SHARE_BYTES);
	struct ing_load_row *row = add_row(s);
	*row = (struct ing_load_row){.key = s->text.len, .key_bytes = (unsigned)key->len};
	ing_buf_add(&s->text, key->data, key->len);
	row->line = s->text.len;
	add_line(rows, created, &s->text);
	ing_must(!s->text.failed);
	row->line_bytes = (unsigned)(s->text.len - row->line);
}

static int take_row(struct ing_rows *rows, const char *created, struct ing_load_share *shares,
	unsigned streams, struct ing_error *err)
{
	struct ing_row_request *row = &rows->request;
	if (row->link_source == NULL)
		row->link_source = "";
	if (row->link_source_id == NULL)
		row->link_source_id = "";
	int rc = check_bytes_of_key(row, err);
	if (rc == 0 && created != NULL && !ing_time_fits(created))
		rc = ing_error_set(err, ING_FAIL_INVALID, "created: no RFC 3339 date and time");
	if (rc != 0)
		return rc;
	struct ing_buf key;
	ing_buf_init(&key, 8192);
	ing_load_key(row, &key);
	ing_must(!key.failed);
	add_to_share(rows, created, &key, &shares[ing_load_stream_of(key.data, key.len, streams)]);
	ing_buf_done(&key);
	return 0;
}

static int load_parsed(const char *line, size_t bytes, struct ing_arena *ar, const char *created,
	struct ing_load_share *shares, unsigned streams, struct ing_error *err)
{
	struct ing_request *r = NULL;
	struct ing_rows rows = {0};
	const char *said;
	int rc = ing_request_parse(line, bytes, &r, err);
	if (rc == 0)
		rc = parse_row(r, ar, &rows.request, &said, err);
	if (rc == 0)
		rc = take_row(&rows, said != NULL ? said : created, shares, streams, err);
	ing_request_free(r);
	return rc;
}

/* -------------------------------------------------------------------------------------------- */

int ing_load_line(const char *line, size_t bytes, const char *created,
	struct ing_load_share *shares, unsigned streams, struct ing_error *err)
{
	struct ing_rows rows = {0};
	struct ing_arena ar;
	const char *said;
	int rc;
	ing_arena_init(&ar);
	if (ing_request_plain_row(line, bytes, &ar, &rows.request, &said))
		rc = take_row(&rows, said != NULL ? said : created, shares, streams, err);
	else
		rc = load_parsed(line, bytes, &ar, created, shares, streams, err);
	ing_arena_done(&ar);
	return rc;
}

void ing_load_columns(struct ing_buf *out)
{
	const struct ing_table *t = request_table();
	for (size_t i = 0; i < t->column_count; i++)
		ing_buf_printf(out, "%s, ", t->columns[i].name);
	ing_buf_add_str(out, "created");
}
