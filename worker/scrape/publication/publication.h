/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication.h - the parts of a publication (PubFetcher's model) that a page has: by the site's
 * rules, then by the <meta> schemes. Each part has the type of its source and is replaced only by a
 * better one.
 *
 * Pure; any thread that owns the view. JSON is returned as new references.
 */
#pragma once
#include "common/data/json.h"
#include "worker/scrape/rules/journals.h"
#include "worker/scrape/view.h"
#include "worker/scrape/rules/webpages.h"

enum ing_part_type { /* best to worst; the first ten are final, and none of them is better than another */
	ING_PART_TYPE_EUROPEPMC,
	ING_PART_TYPE_EUROPEPMC_XML,
	ING_PART_TYPE_EUROPEPMC_HTML,
	ING_PART_TYPE_PUBMED_XML,
	ING_PART_TYPE_PUBMED_HTML,
	ING_PART_TYPE_PMC_XML,
	ING_PART_TYPE_PMC_HTML,
	ING_PART_TYPE_DOI,
	ING_PART_TYPE_LINK,
	ING_PART_TYPE_LINK_OADOI,
	ING_PART_TYPE_CITATION,
	ING_PART_TYPE_EPRINTS,
	ING_PART_TYPE_BEPRESS,
	ING_PART_TYPE_LINK_CITATION,
	ING_PART_TYPE_LINK_EPRINTS,
	ING_PART_TYPE_DC,
	ING_PART_TYPE_OG,
	ING_PART_TYPE_TWITTER,
	ING_PART_TYPE_META,
	ING_PART_TYPE_LINK_META,
	ING_PART_TYPE_EXTERNAL,
	ING_PART_TYPE_OADOI,
	ING_PART_TYPE_PDF_EUROPEPMC,
	ING_PART_TYPE_PDF_PMC,
	ING_PART_TYPE_PDF_DOI,
	ING_PART_TYPE_PDF_LINK,
	ING_PART_TYPE_PDF_OADOI,
	ING_PART_TYPE_PDF_CITATION,
	ING_PART_TYPE_PDF_EPRINTS,
	ING_PART_TYPE_PDF_BEPRESS,
	ING_PART_TYPE_PDF_META,
	ING_PART_TYPE_WEBPAGE,
	ING_PART_TYPE_NA,
	ING_PART_TYPES_
};

/* Name in JSON ("link_citation"); whether a is better than b; whether it is final; the type of a
 * PDF that a page of this type links to. */
const char *ing_part_type_name(enum ing_part_type t);
bool ing_part_type_better(enum ing_part_type a, enum ing_part_type b);
bool ing_part_type_final(enum ing_part_type t);
enum ing_part_type ing_part_type_pdf(enum ing_part_type t);

/* {"pmid": {"content","type"} … "keywords": {"list","type"} … "abstract", "fulltext",
 * "corresp_author": [{"name","orcid","email","phone","uri"}], "oa", "preprint", "journal_title",
 * "pub_date"}; absent parts are null. `type`: of the page (doi: reached from a DOI). site may be
 * NULL: then title and full text come from the cleaned page, as type webpage. *ret_links gets
 * [{"url","type"}]. */
json_t *ing_publication_json(const struct ing_view *v, const struct ing_journal_site *site,
	enum ing_part_type type, json_t **ret_links);
/* Returns the PDF URL by the site's rules: the first link of pdf_a to another http(s) URL, else the
 * page's URL rewritten by pdf_src and pdf_dst; in the arena, or NULL when there is none. *ret_rule
 * is the number of the rule. */
const char *ing_publication_pdf_url(
	const struct ing_view *v, const struct ing_journal_site *site, uint32_t *ret_rule);
/* {"title","content","license","language"}; rule may be NULL. */
json_t *ing_webpage_json(const struct ing_view *v, const struct ing_webpage_rule *rule);
/* The language that the page declares (BCP 47, not checked), in the arena; NULL: none. */
const char *ing_webpage_language(const struct ing_view *v);
