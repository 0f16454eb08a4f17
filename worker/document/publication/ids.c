/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Services write identifiers in several ways, and answer with records of other papers.
 */
#include "worker/document/publication/ids.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/macros.h"
#include "worker/scrape/biblio/ident.h"

#define MAX_ID_BYTES ((size_t)2048)

static bool make_doi(const char *text, struct ing_buf *ret)
{
	return ing_ident_doi(text, strlen(text), true, ret);
}

static bool make_pmid(const char *text, struct ing_buf *ret)
{
	return ing_ident_pmid_in(text, strlen(text), ret);
}

/* With its prefix in any case, or without. */
static bool make_pmcid(const char *text, struct ing_buf *ret)
{
	char id[64];
	text += strspn(text, " \t\r\n");
	int n = snprintf(
		id, sizeof(id), "PMC%s", strncasecmp(text, "PMC", 3) == 0 ? text + 3 : text);
	while (n > 0 && (size_t)n < sizeof(id) && strchr(" \t\r\n", id[n - 1]) != NULL)
		id[--n] = '\0';
	return n > 0 && (size_t)n < sizeof(id) && ing_ident_pmcid(id, (size_t)n, ret);
}

/* Bytes of the DOI without the version that it ends in: one of . _ -, perhaps "v", and up to two digits. */
static size_t unversioned(const char *doi)
{
	size_t bytes = strlen(doi), n = bytes;
	while (n > 0 && doi[n - 1] >= '0' && doi[n - 1] <= '9')
		n--;
	if (n == bytes || bytes - n > 2)
		return bytes;
	if (n > 0 && (doi[n - 1] == 'V' || doi[n - 1] == 'v'))
		n--;
	bool divided = n > 0 && strchr("._-", doi[n - 1]) != NULL;
	return divided ? n - 1 : bytes;
}

/* -------------------------------------------------------------------------------------------- */

const char *ing_publication_id(struct ing_arena *ar, enum ing_part_key key, const char *text)
{
	if (text == NULL)
		return NULL;
	struct ing_buf id;
	ing_buf_init(&id, MAX_ID_BYTES);
	bool good = key == ING_PART_PMID    ? make_pmid(text, &id)
		    : key == ING_PART_PMCID ? make_pmcid(text, &id)
					    : make_doi(text, &id);
	const char *copy = good ? ing_arena_strdup(ar, ing_buf_str(&id)) : NULL;
	ing_buf_done(&id);
	return copy;
}

bool ing_publication_same_doi(const char *a, const char *b)
{
	static const char f1000[] = "10.12688/";
	if (a == NULL || b == NULL)
		return false;
	if (strcasecmp(a, b) == 0)
		return true;
	size_t a_bytes = strlen(a), b_bytes = strlen(b), a_stem = unversioned(a),
	       b_stem = unversioned(b);
	/* One of them is the other with a version. */
	if ((a_stem == b_bytes || b_stem == a_bytes) &&
		strncasecmp(a, b, ING_MIN(a_bytes, b_bytes)) == 0)
		return true;
	/* Only where DOIs always have a version are two versions those of one work. */
	return a_stem == b_stem && a_stem < a_bytes && b_stem < b_bytes &&
	       strncasecmp(a, b, a_stem) == 0 && strncasecmp(a, f1000, sizeof(f1000) - 1) == 0;
}

static const char *contradicted(struct ing_arena *ar, const char *name, const char *known)
{
	struct ing_buf words;
	ing_buf_init(&words, MAX_ID_BYTES + 16);
	ing_buf_printf(&words, "%s %s", name, known);
	const char *copy = ing_arena_strdup(ar, ing_buf_str(&words));
	ing_buf_done(&words);
	return copy;
}

const char *ing_publication_contradiction(struct ing_arena *ar,
	const struct ing_publication_ask *ask, const struct ing_publication_ids *ids)
{
	const char *pmid = ing_publication_id(ar, ING_PART_PMID, ask->pmid);
	const char *pmcid = ing_publication_id(ar, ING_PART_PMCID, ask->pmcid);
	const char *doi = ing_publication_id(ar, ING_PART_DOI, ask->doi);
	if (pmid != NULL && ids->pmid != NULL && strcmp(pmid, ids->pmid) != 0)
		return contradicted(ar, "PMID", pmid);
	if (pmcid != NULL && ids->pmcid != NULL && strcmp(pmcid, ids->pmcid) != 0)
		return contradicted(ar, "PMCID", pmcid);
	if (doi != NULL && ids->doi != NULL && !ing_publication_same_doi(doi, ids->doi))
		return contradicted(ar, "DOI", doi);
	return NULL;
}

void ing_publication_offer_ids(const struct ing_publication_ask *ask,
	const struct ing_publication_ids *ids, struct ing_publication_found *ret)
{
	const struct {
		enum ing_part_key key;
		const char *id;
	} all[] = {
		{ING_PART_PMID, ids->pmid}, {ING_PART_PMCID, ids->pmcid}, {ING_PART_DOI, ids->doi}};
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++)
		if (all[i].id != NULL)
			ing_publication_offer_text(
				ret, all[i].key, ask->type, all[i].id, strlen(all[i].id));
}
