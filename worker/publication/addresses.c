/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Identifiers are quoted for where they stand: DOIs may hold any character.
 */
#include "worker/publication/addresses.h"

#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/macros.h"

#define KEY_FIELD "api_key=" /* the last of a query */
#define ARXIV_PREFIX "10.48550/ARXIV."
#define CSHL_PREFIX "10.1101/" /* of bioRxiv and medRxiv, and of journals whose DOIs have letters */
#define OPENRXIV_PREFIX "10.64898/"

/* Appends text with everything quoted but unreserved characters and those of `kept`. */
static void quote(struct ing_buf *out, const char *s, const char *kept)
{
	static const char hex[] = "0123456789ABCDEF";
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z') || strchr("-._~", c) != NULL ||
			     strchr(kept, c) != NULL;
		if (plain) {
			ing_buf_add_char(out, (char)c);
		} else {
			ing_buf_add_char(out, '%');
			ing_buf_add_char(out, hex[c >> 4]);
			ing_buf_add_char(out, hex[c & 15]);
		}
	}
}

/* Appends name=value, unless the value is "". */
static void add_field(struct ing_buf *out, char before, const char *name, const char *value)
{
	if (*value == '\0')
		return;
	ing_buf_printf(out, "%c%s=", before, name);
	quote(out, value, "");
}

static void add_base(struct ing_buf *out, const char *base)
{
	size_t n = strlen(base);
	while (n > 0 && base[n - 1] == '/')
		n--;
	ing_buf_add(out, base, n);
}

/* Appends doi:DOI in the language of queries, in which a DOI with other characters is a phrase. */
static void add_query_doi(struct ing_buf *query, const char *doi)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-_";
	const char *mark = doi[strspn(doi, plain)] == '\0' ? "" : "\"";
	ing_buf_printf(query, "doi:%s%s%s", mark, doi, mark);
}

static void add_search(const struct ing_publication_settings *s, enum ing_part_key key,
	const char *id, struct ing_buf *out)
{
	struct ing_buf query;
	ing_buf_init(&query, (size_t)8 << 10);
	if (key == ING_PART_PMID)
		ing_buf_printf(&query, "ext_id:%s src:med", id);
	else if (key == ING_PART_PMCID)
		ing_buf_printf(&query, "pmcid:%s", id);
	else
		add_query_doi(&query, id);
	ing_buf_add_str(out, "/search?resulttype=core&format=xml&query=");
	quote(out, ing_buf_str(&query), "");
	add_field(out, '&', "email", s->email);
	ing_buf_done(&query);
}

static void add_annotations(
	const struct ing_resource_call *call, const char *id, struct ing_buf *out)
{
	ing_buf_printf(out, "/annotationsByArticleIds?articleIds=%s%%3A%s&type=%s&format=XML",
		call->key == ING_PART_PMCID ? "PMC" : "MED", id,
		call->resource == ING_PUBLICATION_RESOURCE_EFO ? "Experimental%20Methods"
							       : "Gene%20Ontology");
}

static void add_efetch(const struct ing_publication_settings *s, const char *db, const char *id,
	struct ing_buf *out)
{
	ing_buf_printf(out, "/efetch.fcgi?retmode=xml&db=%s&id=%s", db, id);
	add_field(out, '&', "tool", s->tool);
	add_field(out, '&', "email", s->email);
	add_field(out, '&', "api_key", s->ncbi_api_key);
}

static void add_openalex(const struct ing_publication_settings *s, enum ing_part_key key,
	const char *id, struct ing_buf *out)
{
	ing_buf_printf(out, "/works/%s:", ing_part_name(key));
	quote(out, id, "/");
	add_field(out, '?', "mailto", s->email);
	add_field(out, *s->email != '\0' ? '&' : '?', "api_key", s->openalex_api_key);
}

static void add_doaj(const char *doi, struct ing_buf *out)
{
	struct ing_buf query;
	ing_buf_init(&query, (size_t)8 << 10);
	add_query_doi(&query, doi);
	ing_buf_add_str(out, "/search/articles/");
	quote(out, ing_buf_str(&query), ":");
	ing_buf_done(&query);
}

/* The number of an article at arXiv in its DOI, or NULL. */
static const char *arxiv_number(const char *doi)
{
	size_t n = strlen(ARXIV_PREFIX);
	return strncasecmp(doi, ARXIV_PREFIX, n) == 0 && doi[n] != '\0' ? doi + n : NULL;
}

/* Whether a DOI may be of bioRxiv or medRxiv: their own parts begin with a digit. */
static bool may_be_biorxiv(const char *doi)
{
	static const char *const prefixes[] = {CSHL_PREFIX, OPENRXIV_PREFIX};
	for (size_t i = 0; i < ING_ARRAY_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i]);
		if (strncmp(doi, prefixes[i], n) == 0 && doi[n] >= '0' && doi[n] <= '9')
			return true;
	}
	return false;
}

/* Appends it quoted, in lower case: older ones have the name of an archive ("math/0211159"). */
static void add_lower(struct ing_buf *out, const char *number)
{
	struct ing_buf lower;
	ing_buf_init(&lower, (size_t)8 << 10);
	for (; *number != '\0'; number++)
		ing_buf_add_char(&lower,
			*number >= 'A' && *number <= 'Z' ? (char)(*number | 0x20) : *number);
	quote(out, ing_buf_str(&lower), "/");
	ing_buf_done(&lower);
}

static bool add_preprint(const struct ing_resource_call *call, const char *doi, struct ing_buf *out)
{
	if (call->resource == ING_PUBLICATION_RESOURCE_ARXIV) {
		const char *number = arxiv_number(doi);
		if (number == NULL)
			return false;
		ing_buf_add_str(out, "/query?id_list=");
		add_lower(out, number);
		return true;
	}
	if (!may_be_biorxiv(doi))
		return false;
	ing_buf_printf(out, "/details/%s/", call->variant == 0 ? "biorxiv" : "medrxiv");
	quote(out, doi, "/");
	return true;
}

/* Unpaywall itself refuses who has no address; what stands in for it may not care. */
static const char *unpaywall_base(const struct ing_publication_settings *s)
{
	bool is_public = strstr(s->unpaywall_url, "//api.unpaywall.org") != NULL;
	return is_public && *s->email == '\0' ? "" : s->unpaywall_url;
}

static const char *base_of(
	const struct ing_publication_settings *s, enum ing_publication_resource resource)
{
	switch (resource) {
	case ING_PUBLICATION_RESOURCE_EUROPEPMC:
	case ING_PUBLICATION_RESOURCE_EUROPEPMC_XML:
		return s->europepmc_url;
	case ING_PUBLICATION_RESOURCE_EFO:
	case ING_PUBLICATION_RESOURCE_GO:
		return s->annotations_url;
	case ING_PUBLICATION_RESOURCE_PUBMED_XML:
	case ING_PUBLICATION_RESOURCE_PMC_XML:
		return s->eutils_url;
	case ING_PUBLICATION_RESOURCE_PUBMED_HTML:
		return s->pubmed_url;
	case ING_PUBLICATION_RESOURCE_PMC_HTML:
		return s->pmc_url;
	case ING_PUBLICATION_RESOURCE_DOI:
		return s->doi_url;
	case ING_PUBLICATION_RESOURCE_UNPAYWALL:
		return unpaywall_base(s);
	case ING_PUBLICATION_RESOURCE_CROSSREF:
		return s->crossref_url;
	case ING_PUBLICATION_RESOURCE_DATACITE:
		return s->datacite_url;
	case ING_PUBLICATION_RESOURCE_OPENALEX:
		return s->openalex_url;
	case ING_PUBLICATION_RESOURCE_ARXIV:
		return s->arxiv_url;
	case ING_PUBLICATION_RESOURCE_BIORXIV:
		return s->biorxiv_url;
	case ING_PUBLICATION_RESOURCE_DOAJ:
		return s->doaj_url;
	case ING_PUBLICATION_RESOURCE_PAGE:
	case ING_PUBLICATION_RESOURCE_LINKED:
	case ING_PUBLICATION_RESOURCES_:
		break;
	}
	return "";
}

static bool add_path(const struct ing_publication_settings *s, const struct ing_resource_call *call,
	const char *id, struct ing_buf *out)
{
	switch (call->resource) {
	case ING_PUBLICATION_RESOURCE_EUROPEPMC:
		add_search(s, call->key, id, out);
		return true;
	case ING_PUBLICATION_RESOURCE_EUROPEPMC_XML:
		ing_buf_printf(out, "/%s/fullTextXML", id);
		return true;
	case ING_PUBLICATION_RESOURCE_EFO:
	case ING_PUBLICATION_RESOURCE_GO:
		add_annotations(call, id, out);
		return true;
	case ING_PUBLICATION_RESOURCE_PUBMED_XML:
		add_efetch(s, "pubmed", id, out);
		return true;
	case ING_PUBLICATION_RESOURCE_PMC_XML:
		add_efetch(s, "pmc", id + strlen("PMC"), out);
		return true;
	case ING_PUBLICATION_RESOURCE_PUBMED_HTML:
		ing_buf_printf(out, "/?term=%s", id);
		return true;
	case ING_PUBLICATION_RESOURCE_PMC_HTML:
		ing_buf_printf(out, "/articles/%s/", id);
		return true;
	case ING_PUBLICATION_RESOURCE_DOI:
		ing_buf_add_char(out, '/');
		quote(out, id, "/!$&'()*+,;=:@");
		return true;
	case ING_PUBLICATION_RESOURCE_UNPAYWALL:
		ing_buf_add_char(out, '/');
		quote(out, id, "/");
		add_field(out, '?', "email", s->email);
		return true;
	case ING_PUBLICATION_RESOURCE_CROSSREF:
		ing_buf_add_str(out, "/works/");
		quote(out, id, "/");
		add_field(out, '?', "mailto", s->email);
		return true;
	case ING_PUBLICATION_RESOURCE_DATACITE:
		ing_buf_add_str(out, "/dois/");
		quote(out, id, "/");
		return true;
	case ING_PUBLICATION_RESOURCE_OPENALEX:
		add_openalex(s, call->key, id, out);
		return true;
	case ING_PUBLICATION_RESOURCE_ARXIV:
	case ING_PUBLICATION_RESOURCE_BIORXIV:
		return add_preprint(call, id, out);
	case ING_PUBLICATION_RESOURCE_DOAJ:
		add_doaj(id, out);
		return true;
	case ING_PUBLICATION_RESOURCE_PAGE:
	case ING_PUBLICATION_RESOURCE_LINKED:
	case ING_PUBLICATION_RESOURCES_:
		break;
	}
	return false;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_resource_url(const struct ing_publication_settings *settings,
	const struct ing_resource_call *call, const char *id, struct ing_buf *out)
{
	const char *base = base_of(settings, call->resource);
	if (*base == '\0')
		return false;
	add_base(out, base);
	return add_path(settings, call, id, out) && !out->failed;
}

const char *ing_resource_accept(enum ing_publication_resource resource)
{
	switch (resource) {
	case ING_PUBLICATION_RESOURCE_EUROPEPMC:
	case ING_PUBLICATION_RESOURCE_EUROPEPMC_XML:
	case ING_PUBLICATION_RESOURCE_EFO:
	case ING_PUBLICATION_RESOURCE_GO:
		return "application/xml, text/xml";
	case ING_PUBLICATION_RESOURCE_UNPAYWALL:
	case ING_PUBLICATION_RESOURCE_CROSSREF:
	case ING_PUBLICATION_RESOURCE_OPENALEX:
	case ING_PUBLICATION_RESOURCE_BIORXIV:
	case ING_PUBLICATION_RESOURCE_DOAJ:
		return "application/json";
	case ING_PUBLICATION_RESOURCE_DATACITE:
		return "application/vnd.api+json";
	default:
		return NULL;
	}
}

size_t ing_resource_shown_bytes(const char *url)
{
	const char *key = strstr(url, KEY_FIELD);
	bool is_field = key != NULL && key > url && (key[-1] == '?' || key[-1] == '&');
	return is_field ? (size_t)(key - 1 - url) : strlen(url);
}
