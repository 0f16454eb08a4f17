/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A JATS document from bytes to the document written anew and the parts of its publication. What
 * was written is read without an error, and written alike the second time.
 */
#include "tests/fuzz/target.h"

#include <string.h>

#include "common/base/utf8.h"
#include "worker/document/xml/xml_document.h"

FUZZ_BUDGET(.cpu_us = 6000, .cpu_byte_ns = 2000, .heap_kb = 4000, .heap_byte = 1500);

#define JATS "application/jats+xml"

static void check_found(const struct ing_xml_found *found)
{
	bool success = strcmp(found->status, "success") == 0;
	ing_must((found->jats_xml != NULL) == success);
	ing_must((found->error_msg == NULL) == success);
	ing_must(!success || ing_utf8_valid(found->jats_xml, strlen(found->jats_xml)));
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static struct ing_xml_reader *reader; /* reused, as examiners do */
	if (reader == NULL)
		reader = ing_xml_reader_new();
	struct ing_xml_found found = {0}, again = {0};
	ing_xml_read(reader, data, size, JATS, NULL, &found);
	check_found(&found);
	json_t *publication = ing_xml_reader_publication(reader);
	ing_must(publication == NULL || json_is_object(publication));
	json_decref(publication);
	if (found.jats_xml != NULL) {
		ing_xml_read(reader, found.jats_xml, strlen(found.jats_xml), JATS, NULL, &again);
		check_found(&again);
		ing_must(again.jats_xml != NULL && strcmp(again.jats_xml, found.jats_xml) == 0);
	}
	ing_xml_reader_clear(reader);
	ing_xml_found_done(&found);
	ing_xml_found_done(&again);
}
