/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The calls of a round and their conditions.
 *
 * A call is asked for what is missing of that which it may give (its reasons). If calls in front of it
 * may give all of that, it has to wait for them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/publication/assembly_priv.h"
#include "worker/publication/identifiers.h"

#define CALL(resource, key)                                                                        \
	{                                                                                          \
		ING_PUBLICATION_RESOURCE_##resource, ING_PART_##key, 0                             \
	}

const struct ing_resource_call ing_calls[] = {
	{ING_PUBLICATION_RESOURCE_PAGE, ING_PARTS_, 0},
	CALL(EUROPEPMC, PMID),
	CALL(EUROPEPMC, PMCID),
	CALL(EUROPEPMC, DOI),
	CALL(EUROPEPMC_XML, PMCID),
	CALL(EFO, PMCID),
	CALL(EFO, PMID),
	CALL(GO, PMCID),
	CALL(GO, PMID),
	CALL(PUBMED_XML, PMID),
	CALL(PUBMED_HTML, PMID),
	CALL(PMC_XML, PMCID),
	CALL(DOI, DOI),
	CALL(UNPAYWALL, DOI),
	CALL(CROSSREF, DOI),
	CALL(DATACITE, DOI),
	CALL(OPENALEX, DOI),
	CALL(OPENALEX, PMID),
	CALL(OPENALEX, PMCID),
	CALL(ARXIV, DOI),
	CALL(BIORXIV, DOI),
	{ING_PUBLICATION_RESOURCE_BIORXIV, ING_PART_DOI, 1},
	CALL(DOAJ, DOI),
	CALL(PMC_HTML, PMCID),
};
const unsigned ing_call_count = ING_ARRAY_LEN(ing_calls);

#define TEXTS (ING_GIVES_TITLE | ING_GIVES_ABSTRACT | ING_GIVES_FULLTEXT)
#define PARTS ((1u << ING_PARTS_) - 1)
/* Of a record of a service; of a page. */
#define RECORD                                                                                     \
	(ING_GIVES_IDS | ING_GIVES_TITLE | ING_GIVES_KEYWORDS | ING_GIVES_ABSTRACT |               \
		ING_GIVES_AUTHORS | ING_GIVES_OA)
#define PAGE (RECORD | ING_GIVES_FULLTEXT)

/* Of a resource: what it may give, and nothing else is taken of it; and for what of that, or of what
 * its links lead to, it is asked. */
#define R(resource, gives, asked_for) [ING_PUBLICATION_RESOURCE_##resource] = {gives, asked_for}
static const struct {
	unsigned gives, asked_for;
} resources[ING_PUBLICATION_RESOURCES_] = {
	R(PAGE, PAGE, PARTS),
	R(EUROPEPMC, RECORD | ING_GIVES_MESH | ING_GIVES_RESULT | ING_GIVES_MANUSCRIPT,
		PARTS | ING_GIVES_OA),
	R(EUROPEPMC_XML, PAGE, 1 << ING_PART_PMID | 1 << ING_PART_DOI | TEXTS | ING_GIVES_KEYWORDS),
	R(EFO, ING_GIVES_EFO, ING_GIVES_EFO),
	R(GO, ING_GIVES_GO, ING_GIVES_GO),
	R(PUBMED_XML, RECORD | ING_GIVES_MESH,
		ING_GIVES_IDS | ING_GIVES_TITLE | ING_GIVES_MESH | ING_GIVES_ABSTRACT),
	R(PUBMED_HTML, RECORD | ING_GIVES_MESH, ING_GIVES_TITLE | ING_GIVES_ABSTRACT),
	R(PMC_XML, PAGE | ING_GIVES_MANUSCRIPT, ING_GIVES_IDS | TEXTS | ING_GIVES_KEYWORDS),
	R(DOI, PAGE, TEXTS | ING_GIVES_KEYWORDS),
	R(UNPAYWALL, ING_GIVES_IDS | ING_GIVES_TITLE | ING_GIVES_OA, TEXTS | ING_GIVES_OA),
	R(CROSSREF, RECORD | ING_GIVES_AGENCY,
		ING_GIVES_TITLE | ING_GIVES_FULLTEXT | ING_GIVES_AUTHORS),
	R(DATACITE, RECORD, ING_GIVES_TITLE | ING_GIVES_FULLTEXT | ING_GIVES_AUTHORS),
	R(OPENALEX, RECORD | ING_GIVES_MESH | ING_GIVES_OPENALEX, ING_GIVES_OPENALEX),
	R(ARXIV, RECORD, TEXTS | ING_GIVES_AUTHORS),
	R(BIORXIV, RECORD, TEXTS | ING_GIVES_AUTHORS),
	R(DOAJ, RECORD, ING_GIVES_FULLTEXT),
	R(PMC_HTML, PAGE, TEXTS),
	R(LINKED, PAGE, 0),
};

static bool has(unsigned set, enum ing_publication_resource r)
{
	return (set >> r & 1) != 0;
}

/* DOIs of agencies other than Crossref, of which much is asked for. */
static bool is_datacite_doi(const char *doi)
{
	static const char *const prefixes[] = {
		"10.48550/ARXIV.", "10.5281/ZENODO.", "10.6084/M9.", "10.5061/DRYAD."};
	for (size_t i = 0; i < ING_ARRAY_LEN(prefixes); i++)
		if (strncmp(doi, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Whether a condition of a resource holds that is not about missing parts. coming: the answers that may
 * still change that. */
static enum ing_due condition(
	const struct ing_assembly *a, const struct ing_resource_call *call, unsigned coming)
{
	const char *doi = ing_known_text(&a->known, ING_PART_DOI);
	unsigned needs = 0; /* the answers that it depends on */
	bool holds = true;
	switch (call->resource) {
	case ING_PUBLICATION_RESOURCE_EUROPEPMC:
		needs = ING_GIVES_RESULT;
		if (has(a->succeeded, call->resource))
			return ING_DUE_NOT;
		if ((coming & needs) != 0)
			return ING_DUE_PERHAPS;
		break;
	case ING_PUBLICATION_RESOURCE_EUROPEPMC_XML:
		needs = ING_GIVES_RESULT;
		holds = (a->flags & ING_PUBLICATION_HAS_XML) != 0;
		break;
	case ING_PUBLICATION_RESOURCE_EFO:
	case ING_PUBLICATION_RESOURCE_GO:
		needs = ING_GIVES_RESULT;
		holds = (a->flags & ING_PUBLICATION_HAS_MINED) != 0;
		break;
	case ING_PUBLICATION_RESOURCE_CROSSREF:
		return doi != NULL && is_datacite_doi(doi) ? ING_DUE_NOT : ING_DUE_NOW;
	case ING_PUBLICATION_RESOURCE_DATACITE:
		needs = ING_GIVES_AGENCY;
		holds = has(a->lacking, ING_PUBLICATION_RESOURCE_CROSSREF) ||
			*a->settings->crossref_url == '\0' || (doi != NULL && is_datacite_doi(doi));
		break;
	case ING_PUBLICATION_RESOURCE_OPENALEX:
		if (a->quick)
			return ING_DUE_NOT;
		needs = ING_GIVES_OPENALEX; /* of the call before it */
		holds = call->key == ING_PART_DOI || doi == NULL || has(a->lacking, call->resource);
		break;
	case ING_PUBLICATION_RESOURCE_BIORXIV:
		if (call->variant == 0)
			break;
		needs = ING_GIVES_ABSTRACT; /* of the call before it */
		holds = has(a->lacking, call->resource);
		break;
	case ING_PUBLICATION_RESOURCE_DOAJ:
		needs = ING_GIVES_OA;
		holds = ing_known_is_oa(&a->known);
		break;
	case ING_PUBLICATION_RESOURCE_PMC_HTML:
		needs = ING_GIVES_MANUSCRIPT;
		holds = (a->flags & ING_PUBLICATION_MANUSCRIPT) != 0;
		break;
	default:
		break;
	}
	if (holds)
		return ING_DUE_NOW;
	return (coming & needs) != 0 ? ING_DUE_PERHAPS : ING_DUE_NOT;
}

/* What is missing for which the call is made. */
static unsigned reasons(const struct ing_assembly *a, const struct ing_resource_call *call)
{
	unsigned asked_for = resources[call->resource].asked_for;
	bool xml_failed = false;
	if (call->resource == ING_PUBLICATION_RESOURCE_PUBMED_HTML)
		xml_failed = !has(a->succeeded, ING_PUBLICATION_RESOURCE_PUBMED_XML);
	if (xml_failed)
		asked_for |= ING_GIVES_IDS | ING_GIVES_MESH;
	if (call->resource == ING_PUBLICATION_RESOURCE_PMC_HTML &&
		!has(a->succeeded, ING_PUBLICATION_RESOURCE_PMC_XML))
		asked_for |= ING_GIVES_IDS | ING_GIVES_KEYWORDS;
	/* Pages are asked for identifiers if nothing else is wanted. */
	bool ids_alone = (a->parts & ~(unsigned)ING_GIVES_IDS) == 0;
	if (ids_alone && ing_publication_resource_reader(call->resource) == ING_READ_PAGE)
		asked_for |= ING_GIVES_IDS;
	return ing_missing(a, asked_for);
}

static bool was_asked(const struct ing_assembly *a, const char *url)
{
	for (unsigned i = 0; i < a->asked_count; i++)
		if (a->asked[i].run == a->run && strcmp(a->asked[i].url, url) == 0)
			return true;
	return false;
}

/* The URL of a call, heap; NULL: it has none, or was asked for. */
static char *make_url(const struct ing_assembly *a, const struct ing_resource_call *call)
{
	struct ing_buf url;
	bool good = true;
	ing_buf_init(&url, (size_t)16 << 10);
	if (call->key == ING_PARTS_)
		ing_buf_add_str(&url, a->page_url != NULL ? a->page_url : "");
	else
		good = ing_resource_url(
			a->settings, call, ing_known_text(&a->known, call->key), &url);
	good = good && url.len > 0 && !was_asked(a, ing_buf_str(&url));
	char *ret = good ? ing_buf_steal(&url) : NULL;
	ing_buf_done(&url);
	return ret;
}

/* The only resource that is wanted, whatever its conditions: each of its calls until one succeeds. */
static enum ing_due only_due(const struct ing_assembly *a, const struct ing_resource_call *call)
{
	if (call->resource != a->only || has(a->succeeded, a->only))
		return ING_DUE_NOT;
	for (unsigned i = 0; i < a->asked_count; i++)
		if (a->asked[i].run == a->run && a->asked[i].state != ING_ASK_TAKEN)
			return ING_DUE_PERHAPS;
	return ING_DUE_NOW;
}

/* What a link of a type may give. */
static unsigned link_gives(enum ing_part_type type)
{
	if (ing_part_type_is_pdf(type))
		return ING_GIVES_TITLE | ING_GIVES_FULLTEXT;
	unsigned gives = TEXTS | ING_GIVES_KEYWORDS;
	return type == ING_PART_TYPE_LINK_OADOI ? gives & ~(unsigned)ING_GIVES_KEYWORDS : gives;
}

/* Whether a link may give something that is missing, and better than what there is. */
static bool is_useful(const struct ing_assembly *a, const struct ing_assembly_link *link)
{
	unsigned missing = ing_missing(a, link_gives(link->type));
	bool useful = false;
	for (unsigned key = 0; key < ING_PARTS_; key++) {
		const struct ing_known_part *p = &a->known.parts[key];
		bool is_short = key == ING_PART_FULLTEXT &&
				!ing_known_usable(&a->known, (enum ing_part_key)key);
		if ((missing >> key & 1) != 0 &&
			(is_short || ing_part_type_better(link->type, p->from.type)))
			useful = true;
	}
	bool has_text = (missing & ING_GIVES_FULLTEXT) == 0;
	if (useful && has_text && !ing_part_type_is_pdf(link->type))
		return !ing_known_visited(&a->known, link->url);
	return useful;
}

/* -------------------------------------------------------------------------------------------- */

unsigned ing_call_gives(const struct ing_resource_call *call)
{
	return resources[call->resource].gives;
}

unsigned ing_missing(const struct ing_assembly *a, unsigned gives)
{
	unsigned missing = 0;
	for (unsigned key = 0; key < ING_PARTS_; key++)
		if ((gives & a->parts & 1u << key) != 0 &&
			!ing_known_final(&a->known, (enum ing_part_key)key))
			missing |= 1u << key;
	bool wants_text = (a->parts & ING_GIVES_FULLTEXT) != 0;
	bool wants_title = (a->parts & ING_GIVES_TITLE) != 0;
	bool wants_ids = (a->parts & ING_GIVES_IDS) != 0;
	if (wants_text && !ing_known_is_oa(&a->known))
		missing |= gives & ING_GIVES_OA;
	if (wants_title && a->known.authors.count == 0)
		missing |= gives & ING_GIVES_AUTHORS;
	if (wants_ids && a->known.fields[ING_KNOWN_OPENALEX_ID].text == NULL)
		missing |= gives & ING_GIVES_OPENALEX;
	return missing;
}

enum ing_due ing_call_due(const struct ing_assembly *a, const struct ing_resource_call *call,
	unsigned coming, char **ret_url)
{
	enum ing_due due = a->only != ING_PUBLICATION_RESOURCES_ ? only_due(a, call)
								 : condition(a, call, coming);
	if (due == ING_DUE_NOT)
		return ING_DUE_NOT;
	unsigned missing = 0;
	if (a->only == ING_PUBLICATION_RESOURCES_) {
		missing = reasons(a, call);
		if (missing == 0)
			return ING_DUE_NOT;
	}
	if (call->key != ING_PARTS_ && !ing_known_has(&a->known, call->key))
		return (coming & 1u << call->key) != 0 ? ING_DUE_PERHAPS : ING_DUE_NOT;
	char *url = make_url(a, call);
	if (url == NULL)
		return ING_DUE_NOT;
	if (due == ING_DUE_NOW && (missing == 0 || (missing & ~coming) != 0)) {
		*ret_url = url;
		return ING_DUE_NOW;
	}
	free(url);
	return ING_DUE_PERHAPS;
}

const struct ing_assembly_link *ing_link_due(const struct ing_assembly *a)
{
	unsigned texts = TEXTS | ING_GIVES_KEYWORDS;
	bool ids_alone = (a->parts & ~(unsigned)ING_GIVES_IDS) == 0;
	if (a->only != ING_PUBLICATION_RESOURCES_ || a->links_asked >= a->settings->max_links ||
		(ing_missing(a, texts) == 0 && !ids_alone) ||
		(ids_alone && ing_missing(a, ING_GIVES_IDS) == 0))
		return NULL;
	for (uint32_t i = 0; i < a->links.count; i++)
		if (ids_alone ? !ing_part_type_is_pdf(a->links.items[i].type)
			      : is_useful(a, &a->links.items[i]))
			return &a->links.items[i];
	return NULL;
}
