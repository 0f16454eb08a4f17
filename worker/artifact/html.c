/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html: a page is the document, unless it links to another page with the full text. What is on it
 * (its scope) decides whether it is one; its main text is kept as TEI.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/macros.h"
#include "common/data/json.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/model/mask.h"
#include "worker/model/rows.h"
#include "worker/model/version.h"

#define AGENT "ingest-worker/" ING_VERSION

static const char *const mimetypes[] = {"text/html", "application/xhtml+xml", NULL};

/* Scopes that are not here are wrong-scope. */
static const struct {
	const char *scope;
	enum ing_status status;
} scopes[] = {
	{"article-fulltext", ING_STATUS_SUCCESS},
	{"unknown", ING_STATUS_UNKNOWN_SCOPE},
	{"blocked-cookie", ING_STATUS_BLOCKED_COOKIE},
	{"blocked-captcha", ING_STATUS_BLOCKED_CAPTCHA},
	{"blocked-login", ING_STATUS_BLOCKED_LOGIN},
	{"blocked-forbidden", ING_STATUS_BLOCKED_FORBIDDEN},
	{"blocked-paywall", ING_STATUS_BLOCKED_PAYWALL},
};

static enum ing_status status_of_scope(const char *scope)
{
	if (scope == NULL) /* the page was not read */
		return ING_STATUS_UNKNOWN_SCOPE;
	for (size_t i = 0; i < ING_ARRAY_LEN(scopes); i++)
		if (strcmp(scope, scopes[i].scope) == 0)
			return scopes[i].status;
	return ING_STATUS_WRONG_SCOPE;
}

static enum ing_status judge(const struct ing_page *page)
{
	return status_of_scope(page->scope);
}

/* The text of a page that is no article is of no use to readers of articles. */
static bool is_worth_keeping(const struct ing_artifact *a)
{
	enum ing_status status = status_of_scope(a->scope);
	return status == ING_STATUS_SUCCESS || status == ING_STATUS_UNKNOWN_SCOPE;
}

static void keep(struct ing_artifact *a, struct ing_findings *f)
{
	ing_text_found_done(&a->text);
	ing_derived_done(&a->derived[ING_DERIVED_HTML_TEI]);
	if (!ing_artifact_accepts(&ing_artifact_html, f->file.mimetype))
		return;
	a->text = f->text;
	f->text = (struct ing_text_found){0};
	char *tei = ING_TAKE(a->text.tei_xml);
	if (tei != NULL && is_worth_keeping(a))
		ing_derived_set(&a->derived[ING_DERIVED_HTML_TEI], tei, strlen(tei));
	else
		free(tei);
	if (a->text.status == NULL)
		a->text.status = ing_strdup("page-too-large");
}

static json_t *html_body_json(const struct ing_artifact *a)
{
	json_t *o = json_object();
	ing_json_set(o, "status", ing_findings_text(a->text.status));
	ing_json_set_text(o, "agent", AGENT);
	ing_json_set_number(o, "word_count", a->text.word_count);
	if (a->text.language != NULL)
		ing_json_set(o, "language", ing_findings_text(a->text.language));
	return o;
}

static void add_to_result(const struct ing_artifact *a, json_t *result)
{
	if (a->text.status != NULL)
		ing_json_set(result, "html_body", html_body_json(a));
}

static const char *dump(const json_t *value, struct ing_arena *ar)
{
	if (value == NULL)
		return NULL;
	json_t *masked = ing_mask_json(value);
	char *text = ing_json_dump(masked, NULL);
	const char *copy = ing_arena_strdup(ar, text);
	free(text);
	json_decref(masked);
	return copy;
}

static void fill_rows(const struct ing_artifact *a, struct ing_arena *ar, struct ing_rows *rows)
{
	if (a->text.status == NULL)
		return;
	rows->html_meta = (struct ing_row_html_meta){
		.present = true,
		.sha1hex = a->file.sha1hex,
		.status = ing_status_slug(status_of_scope(a->scope)),
		.scope = a->scope,
		.has_teixml = a->derived[ING_DERIVED_HTML_TEI].data != NULL,
		.word_count = (long)a->text.word_count,
		.biblio_json = dump(a->biblio, ar),
	};
}

static void add_earlier(const struct ing_rows *rows, json_t *result)
{
	const struct ing_row_html_meta *r = &rows->html_meta;
	if (!r->present)
		return;
	json_t *o = json_object();
	ing_json_set_text(o, "status", r->has_teixml ? "success" : "empty-xml");
	if (r->word_count >= 0)
		ing_json_set_number(o, "word_count", r->word_count);
	ing_json_set(result, "html_body", o);
	if (r->scope != NULL)
		ing_json_set_text(result, "scope", r->scope);
	const char *text = r->biblio_json;
	json_t *biblio =
		text != NULL ? ing_json_parse(text, strlen(text), &ing_json_own, NULL) : NULL;
	if (json_is_object(biblio))
		ing_json_set(result, "html_biblio", ing_json_ref(biblio));
	json_decref(biblio);
}

static char *message(struct ing_artifact *a, enum ing_derived_kind kind, json_t *source,
	size_t max_bytes, size_t *ret_bytes)
{
	(void)source;
	const struct ing_derived *tei = &a->derived[ING_DERIVED_HTML_TEI];
	if (kind != ING_DERIVED_HTML_TEI || tei->data == NULL)
		return NULL;
	json_t *o = json_object();
	ing_json_set_text(o, "key", a->file.sha1hex);
	ing_json_set_text(o, "sha1hex", a->file.sha1hex);
	json_t *facts = html_body_json(a);
	json_object_update(o, facts);
	json_decref(facts);
	char *value = ing_findings_message(o, "tei_xml", tei, max_bytes, ret_bytes);
	if (value == NULL) {
		free(a->text.status);
		a->text.status = ing_strdup("text-too-large");
	}
	return value;
}

static const struct ing_artifact_facts facts = {
	.keep = keep,
	.add_to_result = add_to_result,
	.fill_rows = fill_rows,
	.add_earlier = add_earlier,
	.message = message,
};

/* ---------------------------------------------------------------------------------------------- */

const struct ing_artifact_type ing_artifact_html = {
	.mimetypes = mimetypes,
	.accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
	.want = ING_WANT_LINKS | ING_WANT_TEXT,
	.link = ING_LINK_HTML,
	.judge = judge,
	.has_resources = true,
	.facts = &facts,
};
