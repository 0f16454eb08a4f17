/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Findings come from processes that read hostile bytes. JSON in them is parsed only if it is as
 * small and flat as it should be.
 */
#include "worker/artifact/findings_json.h"

#include <string.h>

#include "common/base/buf.h"
#include "common/data/json_text.h"
#include "common/data/json.h"
#include "worker/model/limits.h"
#include "worker/model/mask.h"

/* Of a PDF's Info dictionary: its commas, and itself. */
#define MAX_INFO_VALUES (ING_MAX_PDF_INFO_KEYS + 16u)

static json_t *take_masked(json_t *v)
{
	json_t *masked = ing_mask_json(v);
	json_decref(v);
	return masked;
}

/* ---------------------------------------------------------------------------------------------- */

json_t *ing_findings_text(const char *s)
{
	return take_masked(ing_json_text(s));
}

json_t *ing_contains_json(const char *list)
{
	json_t *types = json_array();
	for (const char *s = list; *s != '\0';) {
		size_t n = strcspn(s, ",");
		json_array_append_new(types, json_stringn(s, n));
		s += n + (s[n] == ',');
	}
	return types;
}

json_t *ing_file_meta_json(const struct ing_file_meta *file)
{
	json_t *o = json_object();
	ing_json_set_count(o, "size_bytes", file->size_bytes);
	ing_json_set(o, "md5hex", ing_findings_text(file->md5hex));
	ing_json_set(o, "sha1hex", ing_findings_text(file->sha1hex));
	ing_json_set(o, "sha256hex", ing_findings_text(file->sha256hex));
	ing_json_set(o, "mimetype", ing_findings_text(file->mimetype));
	if (file->contains[0] != '\0')
		ing_json_set(o, "contains", ing_contains_json(file->contains));
	return o;
}

json_t *ing_page_link_json(const struct ing_page_link *link)
{
	json_t *o = json_object();
	if (link->url == NULL)
		return o;
	ing_json_set(o, "url", ing_findings_text(link->url));
	ing_json_set(o, "technique", ing_findings_text(link->technique));
	if (link->stage != NULL)
		ing_json_set(o, "release_stage", ing_findings_text(link->stage));
	return o;
}

json_t *ing_pdf_info_json(const struct ing_pdf *pdf)
{
	static const struct ing_json_limits limits = {.depth = 1,
		.values = MAX_INFO_VALUES,
		.flags = ING_JSON_NUL | ING_JSON_REPEATED_KEYS};
	const char *text = pdf->info_json;
	json_t *info = text != NULL ? ing_json_parse(text, strlen(text), &limits, NULL) : NULL;
	if (json_is_object(info))
		return info;
	json_decref(info);
	return json_object();
}

json_t *ing_pdf_json(const struct ing_pdf *pdf, bool with_details)
{
	json_t *o = json_object();
	ing_json_set(o, "status", ing_findings_text(pdf->status));
	if (pdf->error_msg != NULL)
		ing_json_set(o, "error_msg", ing_findings_text(pdf->error_msg));
	ing_json_set_bool(o, "has_page0_thumbnail", pdf->has_page0_thumbnail);
	if (!with_details && !ing_pdf_is_read(pdf))
		return o;
	ing_json_set(o, "meta_xml", ing_findings_text(pdf->meta_xml));
	ing_json_set(o, "pdf_info", take_masked(ing_pdf_info_json(pdf)));
	ing_json_set_number(o, "word_count", pdf->word_count);
	json_t *extra = json_object();
	ing_json_set_number(extra, "page_count", pdf->page_count);
	ing_json_set(extra, "page0_height", json_real(pdf->page0_height));
	ing_json_set(extra, "page0_width", json_real(pdf->page0_width));
	ing_json_set(extra, "permanent_id", ing_findings_text(pdf->permanent_id));
	ing_json_set(extra, "update_id", ing_findings_text(pdf->update_id));
	ing_json_set(extra, "pdf_version", ing_findings_text(pdf->pdf_version));
	ing_json_set(o, "pdf_extra", extra);
	return o;
}

json_t *ing_xml_json(const struct ing_xml_found *xml)
{
	json_t *o = json_object();
	ing_json_set(o, "status", ing_findings_text(xml->status));
	if (xml->error_msg != NULL)
		ing_json_set(o, "error_msg", ing_findings_text(xml->error_msg));
	return o;
}

char *ing_findings_message(json_t *head, const char *member, const struct ing_derived *text,
	size_t max_bytes, size_t *ret_bytes)
{
	size_t bytes;
	char *members = ing_json_dump(head, &bytes);
	json_decref(head);
	struct ing_buf out;
	ing_buf_init(&out, max_bytes);
	ing_buf_add(&out, members, bytes - 1); /* without the closing brace */
	free(members);
	ing_buf_printf(&out, ",\"%s\":", member);
	ing_json_add_text(&out, text->data, text->bytes);
	ing_buf_add_char(&out, '}');
	if (!out.failed) {
		*ret_bytes = out.len;
		return ing_buf_steal(&out);
	}
	ing_buf_done(&out);
	return NULL;
}
