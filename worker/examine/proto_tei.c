/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GROBID's answer. Encoder and decoder field by field in the same order.
 */
#include <string.h>

#include "common/base/utf8.h"
#include "worker/examine/proto_parts.h"
#include "worker/model/found_tei.h"
#include "worker/model/limits.h"

#define MAX_VERSION_BYTES ((size_t)64)
#define RELEASE_BYTES ((size_t)26)
#define MAX_ERROR_BYTES (ING_UTF8_BYTES * ING_MAX_GROBID_ERROR_CHARS)

static bool is_version_char(unsigned char c)
{
	return c > ' ' && c <= '~';
}

static bool is_release_char(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
}

static bool is_status(const char *s)
{
	static const char *const known[] = {ING_TEI_STATUSES};
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		if (strcmp(s, known[i]) == 0)
			return true;
	return false;
}

void ing_proto_put_tei(struct ing_buf *b, const struct ing_tei_found *tei)
{
	bool whole_release =
		tei->fatcat_release != NULL && strlen(tei->fatcat_release) == RELEASE_BYTES;
	ing_must(tei->status == NULL || is_status(tei->status));
	ing_wire_put_word(b, tei->status, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	if (tei->status == NULL)
		return;
	ing_wire_put_text(b, tei->error_msg, MAX_ERROR_BYTES);
	ing_wire_put_word(b, tei->version, MAX_VERSION_BYTES, is_version_char);
	ing_wire_put_word(
		b, whole_release ? tei->fatcat_release : NULL, RELEASE_BYTES, is_release_char);
	ing_wire_put_whole(b, tei->metadata_json, ING_MAX_BIBLIO_BYTES);
	ing_wire_put_whole(b, tei->text, ING_MAX_GROBID_BYTES);
}

void ing_proto_get_tei(struct ing_wire *w, struct ing_tei_found *tei)
{
	tei->status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	if (tei->status == NULL)
		return;
	tei->error_msg = ing_wire_text(w, MAX_ERROR_BYTES);
	tei->version = ing_wire_word(w, MAX_VERSION_BYTES, is_version_char);
	tei->fatcat_release = ing_wire_word(w, RELEASE_BYTES, is_release_char);
	tei->metadata_json = ing_wire_text(w, ING_MAX_BIBLIO_BYTES);
	tei->text = ing_wire_text(w, ING_MAX_GROBID_BYTES);
	if (!is_status(tei->status) ||
		(tei->fatcat_release != NULL && strlen(tei->fatcat_release) != RELEASE_BYTES))
		w->failed = true;
}
