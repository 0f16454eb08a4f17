/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xml: an article as XML, mostly JATS. Landing pages lead to it by their XML link. A document that
 * is not well-formed is a document all the same, and says so in xml_meta.
 */
#include <stdlib.h>
#include <string.h>

#include "common/data/json.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"

static const char *const mimetypes[] = {
	"application/xml", "text/xml", "application/jats+xml", "application/tei+xml", NULL};

static void keep(struct ing_artifact *a, struct ing_findings *f)
{
	if (f->xml.status == NULL)
		return;
	ing_xml_found_done(&a->xml);
	a->xml = f->xml;
	f->xml = (struct ing_xml_found){0};
	char *jats = ING_TAKE(a->xml.jats_xml);
	ing_derived_set(&a->derived[ING_DERIVED_JATS], jats, jats != NULL ? strlen(jats) : 0);
}

static void add_to_result(const struct ing_artifact *a, json_t *result)
{
	if (a->xml.status != NULL)
		ing_json_set(result, "xml_meta", ing_xml_json(&a->xml));
}

static bool shrink_result(json_t *result)
{
	return json_object_del(json_object_get(result, "xml_meta"), "error_msg") == 0;
}

/* No table has facts about XML. */
static char *message(struct ing_artifact *a, enum ing_derived_kind kind, json_t *source,
	size_t max_bytes, size_t *ret_bytes)
{
	const struct ing_derived *jats = &a->derived[ING_DERIVED_JATS];
	(void)source;
	if (kind != ING_DERIVED_JATS || jats->data == NULL)
		return NULL;
	json_t *o = json_object();
	ing_json_set_text(o, "sha1hex", a->file.sha1hex);
	ing_json_set_text(o, "status", a->xml.status);
	char *value = ing_findings_message(o, "jats_xml", jats, max_bytes, ret_bytes);
	if (value == NULL) {
		free(a->xml.status);
		a->xml.status = ing_strdup("text-too-large");
		free(a->xml.error_msg);
		a->xml.error_msg =
			ing_strdup("the document does not fit into kafka.max_message_bytes");
	}
	return value;
}

/* ---------------------------------------------------------------------------------------------- */

static const struct ing_artifact_facts facts = {
	.keep = keep,
	.add_to_result = add_to_result,
	.shrink_result = shrink_result,
	.message = message,
};

const struct ing_artifact_type ing_artifact_xml = {
	.mimetypes = mimetypes,
	.accept = "application/xml,text/xml;q=0.9,text/html;q=0.8,application/xhtml+xml;q=0.8,"
		  "*/*;q=0.7",
	.want = ING_WANT_LINKS | ING_WANT_XML,
	.link = ING_LINK_XML,
	.no_link_status = ING_STATUS_WRONG_MIMETYPE,
	.no_link_detail = "the page names no XML document",
	.facts = &facts,
};
