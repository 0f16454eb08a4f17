/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A page or a PDF by the rules of webpages.yaml; a plain text is its own content.
 */
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/publication/pdf_parts.h"
#include "worker/model/findings.h"
#include "worker/scrape/publication/publication.h"
#include "worker/scrape/scrape.h"

static char *copy(struct ing_text_value v)
{
	return v.text != NULL ? ing_utf8_clean(v.text, v.bytes, NULL) : NULL;
}

static char *copy_or_null(const char *s)
{
	return s != NULL ? ing_strdup(s) : NULL;
}

static void read_page(const struct ing_scraped *page, struct ing_webpage_found *ret)
{
	const struct ing_webpage_fields *fields = page->webpage;
	ret->read = page->end != ING_SCRAPE_TOO_LARGE;
	ret->rule = copy_or_null(page->webpage_rule);
	if (fields == NULL)
		return;
	ret->title = copy(fields->title);
	ret->content = copy(fields->content);
	ret->license = copy(fields->license);
	ret->language = copy(fields->language);
}

static void read_text(const struct ing_publication_body *body, struct ing_webpage_found *ret)
{
	size_t bytes = ing_utf8_cut(
		body->data, body->bytes, ING_MIN(body->bytes, ING_MAX_WEBPAGE_BYTES / 3));
	ret->read = true;
	if (bytes > 0)
		ret->content = ing_utf8_clean(body->data, bytes, NULL);
}

/* -------------------------------------------------------------------------------------------- */

void ing_webpage_read(const struct ing_publication_body *body, struct ing_webpage_found *ret)
{
	if (body->page != NULL) {
		read_page(body->page, ret);
	} else if (body->pdf != NULL) {
		ret->read = ing_pdf_is_read(body->pdf);
		ret->title = ing_pdf_parts_title(body->pdf);
		ret->content = ing_pdf_parts_text(body->pdf);
	} else if (strcmp(body->mimetype, "text/plain") == 0) {
		read_text(body, ret);
	}
}
