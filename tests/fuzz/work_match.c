/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A document against a work: lines with the work's DOI, title and authors, and the document's DOI and title, then
 * its text. The first bit of the input says whether that is XML.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/publication/match.h"

#define LINES 5

FUZZ_BUDGET(.cpu_us = 4000, .cpu_byte_ns = 4000, .heap_kb = 1000, .heap_byte = 40);

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size == 0)
		return;
	const char *lines[LINES] = {"", "", "", "", ""};
	char *text = ing_utf8_clean((const char *)data + 1, size - 1, NULL), *at = text;
	for (int i = 0; i < LINES && at != NULL; i++) {
		lines[i] = at;
		at = strchr(at, '\n');
		if (at != NULL)
			*at++ = '\0';
	}
	const char *rest = at != NULL ? at : "";
	json_t *authors = json_array();
	ing_json_append(authors, ing_json_text(lines[2]));
	const struct ing_match_work work = {.doi = lines[0],
		.pmcid = "PMC1",
		.arxiv = lines[0],
		.title = lines[1],
		.authors = authors,
		.page_count = 10};
	const struct ing_match_document document = {.doi = lines[3],
		.title = lines[4],
		.text = rest,
		.text_bytes = strlen(rest),
		.is_markup = (data[0] & 1) != 0,
		.page_count = data[0]};
	struct ing_match *m = ing_match_new();
	ing_match_document(m, &work, &document);
	json_t *match = ing_match_json(m);
	double score = json_real_value(json_object_get(match, "score"));
	ing_must(match == NULL || (score >= 0 && score <= 1));
	json_decref(match);
	json_decref(authors);
	ing_match_free(m);
	free(text);
}
