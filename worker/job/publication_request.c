/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests for publications. No state.
 */
#include "worker/job/publication_request.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "common/base/arena.h"

/* arXiv's DOIs are made of its numbers, without their version. */
#define ARXIV_DOI "10.48550/arXiv."

static const char *skip_prefix(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);
	return strncasecmp(s, prefix, n) == 0 ? s + n : s;
}

static size_t length_without_version(const char *id)
{
	size_t end = strlen(id);
	size_t at = end;
	while (at > 0 && isdigit((unsigned char)id[at - 1]))
		at--;
	return at > 1 && at < end && (id[at - 1] == 'v' || id[at - 1] == 'V') ? at - 1 : end;
}

static const char *join(struct ing_arena *ar, const char *prefix, const char *s, size_t bytes)
{
	size_t n = strlen(prefix);
	char *both = ing_arena_alloc(ar, n + bytes + 1);
	memcpy(both, prefix, n);
	memcpy(both + n, s, bytes);
	both[n + bytes] = '\0';
	return both;
}

/* The DOI of an article at arXiv. */
static const char *doi_of_arxiv(struct ing_arena *ar, const char *id)
{
	const char *number = skip_prefix(id, "arxiv:");
	return join(ar, ARXIV_DOI, number, length_without_version(number));
}

enum id { PMID, PMCID, DOI };

static const char **id_of(struct ing_assembly_request *r, enum id id)
{
	return id == PMID ? &r->pmid : id == PMCID ? &r->pmcid : &r->doi;
}

/* A text of ext_ids, which has to be what its name says. text NULL: there is none. */
static int read_id(const char *text, enum id id, struct ing_arena *ar,
	struct ing_assembly_request *ret, struct ing_error *err)
{
	static const char *const names[] = {"pmid", "pmcid", "doi"};
	struct ing_assembly_request one = {0};
	if (text == NULL)
		return 0;
	if (ing_assembly_parse_id(text, ar, &one, err) != 0 || *id_of(&one, id) == NULL)
		return ing_error_set(err, ING_FAIL_INVALID, "ext_ids.%s is none", names[id]);
	*id_of(ret, id) = *id_of(&one, id);
	return 0;
}

static int read_ids(const struct ing_request_publication *p, struct ing_arena *ar,
	struct ing_assembly_request *ret, struct ing_error *err)
{
	const char *pmcid = p->pmcid;
	const char *doi = p->doi;
	if (pmcid != NULL && isdigit((unsigned char)pmcid[0]))
		pmcid = join(ar, "PMC", pmcid, strlen(pmcid));
	if (doi == NULL && p->arxiv != NULL)
		doi = doi_of_arxiv(ar, p->arxiv);
	int rc = read_id(p->pmid, PMID, ar, ret, err);
	if (rc == 0)
		rc = read_id(pmcid, PMCID, ar, ret, err);
	if (rc == 0)
		rc = read_id(doi, DOI, ar, ret, err);
	return rc;
}

static bool has_base(const char *url, const char *base)
{
	size_t n = base != NULL ? strlen(base) : 0;
	while (n > 0 && base[n - 1] == '/')
		n--;
	return n > 0 && strncmp(url, base, n) == 0 && (url[n] == '/' || url[n] == '?');
}

/* -------------------------------------------------------------------------------------------- */

int ing_publication_request(const struct ing_request *r, struct ing_arena *ar,
	struct ing_assembly_request *ret, struct ing_error *err)
{
	const struct ing_request_publication *p = &r->publication;
	*ret = (struct ing_assembly_request){0};
	int rc = 0;
	if (!r->derived)
		rc = ing_assembly_parse_id(r->base_url, ar, ret, err);
	if (rc == 0)
		rc = read_ids(p, ar, ret, err);
	ret->parts = p->parts;
	ret->quick = p->quick;
	ret->only = p->resource != NULL ? ing_publication_resource_of_name(p->resource)
					: ING_PUBLICATION_RESOURCES_;
	return rc;
}

bool ing_publication_is_service(const struct ing_publication_settings *s, const char *url)
{
	const char *const bases[] = {s->europepmc_url, s->annotations_url, s->eutils_url,
		s->unpaywall_url, s->crossref_url, s->datacite_url, s->openalex_url, s->arxiv_url,
		s->biorxiv_url, s->doaj_url};
	for (size_t i = 0; i < ING_ARRAY_LEN(bases); i++)
		if (has_base(url, bases[i]))
			return true;
	return false;
}
