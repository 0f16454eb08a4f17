/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A row of COPY's text format and the line of JSON that it becomes, whatever the database sends.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/pg.h"
#include "tests/fuzz/target.h"
#include "worker/store/requests/selection.h"

#define COLUMNS 9

FUZZ_BUDGET(.cpu_us = 300, .cpu_byte_ns = 200, .heap_kb = 16, .heap_byte = 32, .out_bytes = 512,
	.out_byte = 12);

static void write_line(char *const *values, bool force_recrawl, bool with_created)
{
	struct ing_buf out;
	const struct ing_stored_request q = {
		.ingest_type = values[0],
		.base_url = values[1],
		.link_source = values[2],
		.link_source_id = values[3],
		.ingest_request_source = values[4],
		.release_stage = values[5],
		.created = values[6],
		.request_json = values[7],
		.request_id = values[8],
	};
	ing_buf_init(&out, 64 << 20);
	ing_must(ing_stored_request_line(&q, force_recrawl, with_created, &out));
	fuzz_wrote(out.len);
	ing_buf_done(&out);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	char *values[COLUMNS] = {0};
	char *row = ing_alloc(size + 1);
	memcpy(row, data, size);
	row[size] = '\n';
	size_t count = ing_pg_copy_columns(row, size, values, COLUMNS);
	ing_must(count >= 1);
	for (size_t i = 0; i < ING_MIN(count, (size_t)COLUMNS); i++)
		ing_must(values[i] == NULL ||
			 (values[i] >= row && values[i] + strlen(values[i]) <= row + size));
	write_line(values, false, true);
	write_line(values, true, false);
	free(row);
}
