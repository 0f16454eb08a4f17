/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line of a list: whatever is taken for plain has the row that the parser makes of it.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/arena.h"
#include "common/data/json.h"
#include "worker/model/request.h"
#include "worker/model/request_plain.h"
#include "worker/model/request_row.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 200, .heap_kb = 500, .heap_byte = 100);

static void check_text(const char *a, const char *b)
{
	ing_must((a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0));
}

static void check_row(const struct ing_row_request *a, const struct ing_row_request *b)
{
	ing_must(a->present == b->present);
	check_text(a->link_source, b->link_source);
	check_text(a->link_source_id, b->link_source_id);
	check_text(a->ingest_type, b->ingest_type);
	check_text(a->base_url, b->base_url);
	check_text(a->ingest_request_source, b->ingest_request_source);
	check_text(a->release_stage, b->release_stage);
	check_text(a->request_json, b->request_json);
	check_text(a->request_id, b->request_id);
	check_text(a->document, b->document);
	check_text(a->host, b->host);
	check_text(a->doi_prefix, b->doi_prefix);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_arena ar;
	struct ing_row_request plain;
	const char *created;
	ing_arena_init(&ar);
	if (ing_request_plain_row((const char *)data, size, &ar, &plain, &created)) {
		struct ing_request *r = NULL;
		struct ing_row_request row;
		ing_must(ing_request_parse((const char *)data, size, &r, NULL) == 0);
		ing_request_row(r, &ar, &row);
		check_row(&plain, &row);
		check_text(created, ing_json_get_text(r->json, "created"));
		/* Nothing in it is masked, and what says how it is done is not there. */
		check_text(row.base_url, r->base_url);
		ing_must(!r->force_recrawl && r->skip_existing_max_age_ms == -1 && !r->derived);
		ing_request_free(r);
	}
	ing_arena_done(&ar);
}
