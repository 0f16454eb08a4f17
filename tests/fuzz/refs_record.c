/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A record of Crossref as it is given to `ingestctl refs`; and a citation by itself, cleaned. The first byte
 * chooses.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/ctl/reexamine/refs_record.h"

/* The first citation that is escaped has a parser of entities made. */
FUZZ_BUDGET(.cpu_us = 3000, .cpu_byte_ns = 1000, .heap_kb = 1500, .heap_byte = 200);

static void try_record(const char *line, size_t bytes)
{
	struct ing_refs_record r;
	struct ing_error err = {0};
	int rc = ing_refs_record_read(line, bytes, &r, &err);
	ing_must((rc == 0) == (err.msg[0] == '\0'));
	if (rc != 0)
		return;
	ing_must(r.count <= ING_REFS_MOST && r.doi != NULL && strchr(r.doi, '/') != NULL);
	ing_must(r.left_out == 0 || r.count == ING_REFS_MOST);
	for (size_t i = 0; i < r.count; i++)
		ing_must(ing_utf8_valid(r.citations[i].text, strlen(r.citations[i].text)));
	ing_refs_record_done(&r);
}

static void try_citation(const char *data, size_t bytes)
{
	char *text = ing_utf8_clean(data, bytes, NULL);
	char *clean = ing_refs_clean(text);
	ing_must(ing_utf8_valid(clean, strlen(clean)));
	ing_must(strlen(clean) <= strlen(text) * 3); /* the longest an entity grows */
	free(clean);
	free(text);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size == 0)
		return;
	if (data[0] == '&')
		try_citation((const char *)data + 1, size - 1);
	else
		try_record((const char *)data, size);
}
