/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GROBID's answers: the first byte chooses a Content-Type, and whether it is a document or a list of
 * references. What is found must be valid, and fit into a reply whole.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/document/tei_header.h"
#include "worker/examine/proto_parts.h"
#include "worker/model/found_tei.h"
#include "worker/model/limits.h"

FUZZ_BUDGET(.cpu_us = 2000, .cpu_byte_ns = 300, .heap_kb = 2000, .heap_byte = 600);

static void check_text(const char *s)
{
	ing_must(s == NULL || ing_utf8_valid(s, strlen(s)));
}

static void check_object(const char *s)
{
	json_t *o = ing_json_parse(s, strlen(s), &ing_json_own, NULL);
	ing_must(json_is_object(json_object_get(o, "biblio")));
	json_decref(o);
}

static void check_sent(const struct ing_tei_found *tei)
{
	struct ing_tei_found again = {0};
	struct ing_wire w;
	struct ing_buf b;
	ing_buf_init(&b, ING_MAX_REPLY_BYTES);
	ing_proto_put_tei(&b, tei);
	ing_must(!b.failed);
	ing_wire_init(&w, b.data, b.len);
	ing_proto_get_tei(&w, &again);
	ing_must(ing_wire_end(&w) && strcmp(again.status, tei->status) == 0);
	ing_must((again.metadata_json != NULL) == (tei->metadata_json != NULL));
	ing_must((again.text != NULL) == (tei->text != NULL));
	ing_tei_found_done(&again);
	ing_buf_done(&b);
}

static void try_document(const uint8_t *data, size_t size, const char *content_type)
{
	struct ing_tei_found tei = {0};
	ing_tei_read(data, size, content_type, &tei);
	bool success = strcmp(tei.status, "success") == 0;
	ing_must((tei.error_msg == NULL) == success && (tei.text != NULL) == success);
	ing_must((tei.metadata_json != NULL) == success);
	check_text(tei.error_msg);
	check_text(tei.text);
	check_text(tei.version);
	if (success)
		check_object(tei.metadata_json);
	check_sent(&tei);
	ing_tei_found_done(&tei);
}

static void try_references(const uint8_t *data, size_t size, const char *content_type)
{
	struct ing_error err = {0};
	json_t *list = ing_tei_read_references(data, size, content_type, &err);
	ing_must((list == NULL) == (err.msg[0] != '\0'));
	for (size_t i = 0; i < json_array_size(list); i++)
		ing_must(json_is_array(json_object_get(json_array_get(list, i), "authors")));
	json_decref(list);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	static const char *const types[] = {NULL, "application/xml; charset=utf-8",
		"text/xml; charset=shift_jis", "text/xml; charset=utf-16"};
	if (size == 0)
		return;
	const char *content_type = types[data[0] % ING_ARRAY_LEN(types)];
	if ((data[0] & 0x40) != 0)
		try_references(data + 1, size - 1, content_type);
	else
		try_document(data + 1, size - 1, content_type);
}
