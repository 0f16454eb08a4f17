/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a site's rules select is the main text; where there are none it is guessed.
 */
#include "worker/document/page_text.h"

#include <stdlib.h>

#include "common/base/macros.h"
#include "worker/model/version.h"
#include "worker/document/text/main_text.h"
#include "worker/document/text/plain.h"
#include "worker/document/text/tei.h"
#include "worker/document/text/tei_header.h"
#include "worker/document/words.h"
#include "worker/model/limits.h"

/* The text of a page is at most what its markup was decoded to. */
#define MAX_PLAIN_BYTES (2 * ING_MAX_SCRAPE_BYTES)

struct ing_page_text {
	struct ing_main_text *main_text;
	struct ing_buf plain;
};

static void select_text(struct ing_page_text *p, struct ing_scraper *s)
{
	struct ing_main_text_hints hints;
	hints.chosen = ing_scraper_text_nodes(s, &hints.chosen_count);
	ing_main_text_select(p->main_text, ing_scraper_tree(s), &hints);
}

/* Returns the TEI on the heap, or NULL when it is too large. */
static char *make_tei(struct ing_page_text *p, struct ing_scraper *s,
	const struct ing_scraped *found, const char *language)
{
	const struct ing_tei_source source = {.tree = ing_scraper_tree(s),
		.main_text = p->main_text,
		.biblio = found->biblio,
		.title = found->title,
		.language = language,
		.agent = "ingest-worker",
		.agent_version = ING_VERSION};
	struct ing_buf out;
	ing_buf_init(&out, ING_MAX_TEI_BYTES);
	if (ing_tei_write(&source, &out))
		return ing_buf_steal(&out);
	ing_buf_done(&out);
	return NULL;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_page_text *ing_page_text_new(void)
{
	struct ing_page_text *p = ing_alloc(sizeof(*p));
	p->main_text = ing_main_text_new();
	ing_buf_init(&p->plain, MAX_PLAIN_BYTES);
	return p;
}

void ing_page_text_free(struct ing_page_text *p)
{
	if (p == NULL)
		return;
	ing_main_text_free(p->main_text);
	ing_buf_done(&p->plain);
	free(p);
}

void ing_page_text_read(struct ing_page_text *p, struct ing_scraper *s, struct ing_scraped *found,
	struct ing_text_found *ret)
{
	char language[ING_TEI_LANGUAGE_BYTES];
	select_text(p, s);
	ing_buf_done(&p->plain); /* a large page's memory is not kept */
	ing_buf_init(&p->plain, MAX_PLAIN_BYTES);
	ing_main_text_plain(p->main_text, ing_scraper_tree(s), &p->plain);
	ret->word_count = ing_words_count(ing_buf_str(&p->plain));
	const char *tag = ing_tei_language(ing_scraper_language(s), language);
	ret->language = tag != NULL ? ing_strdup(tag) : NULL;
	ing_scraper_settle_scope(s, ret->word_count, found);
	if (ret->word_count == 0) {
		ret->status = ing_strdup("empty-xml");
		return;
	}
	ret->tei_xml = make_tei(p, s, found, tag);
	ret->status = ing_strdup(ret->tei_xml != NULL ? "success" : "tei-too-large");
}

const char *ing_page_text_plain(const struct ing_page_text *p)
{
	return ing_buf_str(&p->plain);
}
