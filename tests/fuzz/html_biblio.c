/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The worker's reader of a bibliographic record, that is, of JSON from a process that a page may
 * have taken over. Whatever it is: a record with a title of a text, or none, and no more than was
 * said.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/artifact/html_biblio.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 200, .heap_kb = 50, .heap_byte = 20);

void fuzz_target(const uint8_t *data, size_t size)
{
	/* As it comes off the wire: valid UTF-8, no NUL. */
	char *text = ing_utf8_clean((const char *)data, size, NULL);
	bool own = false;
	if (text == NULL)
		return;
	json_t *o = ing_html_biblio_new(text, NULL, &own);
	ing_must((o != NULL) == own);
	if (o != NULL) {
		char *said = json_dumps(o, JSON_COMPACT);
		ing_must(said != NULL);
		ing_must(json_is_string(json_object_get(o, "title")));
		while (ing_html_biblio_shrink(o))
			;
		ing_must(json_object_get(o, "raw_references") == NULL);
		free(said);
	}
	json_decref(o);
	o = ing_html_biblio_new(text, "page", &own);
	ing_must(o != NULL);
	json_decref(o);
	free(text);
}
