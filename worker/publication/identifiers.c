/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Hosts and paths of the sites that name publications by identifiers.
 */
#include "worker/publication/identifiers.h"

#include <string.h>
#include <strings.h>

#include "common/net/url.h"
#include "worker/scrape/biblio/ident.h"

#define F1000_DOI "10.12688/F1000RESEARCH"

/* A path of such a site, and what identifier follows it. */
struct id_path {
	const char *prefix;
	enum ing_part_key key;
};

static const struct id_path ncbi_paths[] = {{"/pmc/articles/pmid/", ING_PART_PMID},
	{"/pmc/articles/", ING_PART_PMCID}, {"/articles/pmid/", ING_PART_PMID},
	{"/articles/", ING_PART_PMCID}, {"/pubmed/", ING_PART_PMID}, {"/m/pubmed/", ING_PART_PMID},
	{NULL, ING_PARTS_}};
static const struct id_path pubmed_paths[] = {
	{"/pubmed/", ING_PART_PMID}, {"/", ING_PART_PMID}, {NULL, ING_PARTS_}};
static const struct id_path europepmc_paths[] = {{"/article/pmc/", ING_PART_PMCID},
	{"/article/med/", ING_PART_PMID}, {"/abstract/med/", ING_PART_PMID},
	{"/articles/pmid/", ING_PART_PMID}, {"/articles/", ING_PART_PMCID},
	{"/backend/ptpmcrender.fcgi?accid=", ING_PART_PMCID}, {NULL, ING_PARTS_}};

static const struct {
	const char *host; /* without "www." */
	const struct id_path *paths;
} sites[] = {
	{"ncbi.nlm.nih.gov", ncbi_paths},
	{"pmc.ncbi.nlm.nih.gov", ncbi_paths},
	{"pubmed.ncbi.nlm.nih.gov", pubmed_paths},
	{"europepmc.org", europepmc_paths},
	{"ukpmc.ac.uk", europepmc_paths},
	{"pubmedcentralcanada.ca", ncbi_paths},
	{"pubmedcentral.nih.gov", ncbi_paths},
};

/* The host without "www.", and what follows it; false: it is no URL. */
static bool split(const char *url, char host[ING_URL_HOST_BYTES], const char **ret_path)
{
	char whole[ING_URL_HOST_BYTES];
	const char *rest = strstr(url, "://");
	if (rest == NULL || !ing_url_host(url, whole, sizeof(whole)))
		return false;
	const char *name = strncmp(whole, "www.", 4) == 0 ? whole + 4 : whole;
	memcpy(host, name, strlen(name) + 1);
	*ret_path = rest + 3 + strcspn(rest + 3, "/?#");
	return true;
}

/* The identifier at the front of a path's rest: up to the next delimiter. "7" is PMC7 where a PMCID is
 * expected. */
static bool take_id(enum ing_part_key key, const char *s, struct ing_buf *ret)
{
	size_t bytes = strcspn(s, "/?#&.");
	char number[32];
	if (key == ING_PART_PMCID && bytes > 0 && bytes < sizeof(number) - 3 && s[0] >= '0' &&
		s[0] <= '9') {
		memcpy(number, "PMC", 3);
		memcpy(number + 3, s, bytes);
		return ing_identifier_normal(key, number, bytes + 3, ret);
	}
	return ing_identifier_normal(key, s, bytes, ret);
}

static enum ing_part_key find_id(const struct id_path *paths, const char *path, struct ing_buf *ret)
{
	for (; paths->prefix != NULL; paths++) {
		size_t n = strlen(paths->prefix);
		if (strncasecmp(path, paths->prefix, n) == 0 && take_id(paths->key, path + n, ret))
			return paths->key;
	}
	const char *term = strstr(path, "term="); /* PubMed's search */
	if (term != NULL && take_id(ING_PART_PMID, term + strlen("term="), ret))
		return ING_PART_PMID;
	return ING_PARTS_;
}

/* Whether `longer` is the other with a version appended: one of . _ - or V or both, then digits. */
static bool is_version_of(const char *longer, const char *s)
{
	size_t n = strlen(s);
	if (strncmp(longer, s, n) != 0)
		return false;
	const char *mark = longer + n, *version = mark;
	version += *version != '\0' && strchr("._-", *version) != NULL;
	version += *version == 'V';
	return version > mark && *version != '\0' &&
	       strspn(version, "0123456789") == strlen(version);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_identifier_normal(enum ing_part_key key, const char *s, size_t bytes, struct ing_buf *ret)
{
	if (key == ING_PART_PMID)
		return ing_ident_pmid(s, bytes, ret);
	if (key == ING_PART_PMCID)
		return ing_ident_pmcid(s, bytes, ret);
	return key == ING_PART_DOI && ing_ident_doi(s, bytes, true, ret);
}

bool ing_identifier_of_url(const char *url, enum ing_part_key *ret_key, struct ing_buf *ret)
{
	char host[ING_URL_HOST_BYTES];
	const char *path;
	*ret_key = ING_PARTS_;
	if (!split(url, host, &path))
		return false;
	for (size_t i = 0; i < ING_ARRAY_LEN(sites); i++)
		if (strcmp(host, sites[i].host) == 0) {
			*ret_key = find_id(sites[i].paths, path, ret);
			return true;
		}
	return false;
}

bool ing_identifier_is_resolver(const char *url)
{
	char host[ING_URL_HOST_BYTES];
	const char *path;
	return split(url, host, &path) &&
	       (strcmp(host, "doi.org") == 0 || strcmp(host, "dx.doi.org") == 0);
}

bool ing_identifier_same_work(const char *a, const char *b, const char *url)
{
	char host[ING_URL_HOST_BYTES];
	const char *path;
	if (is_version_of(a, b) || is_version_of(b, a))
		return true;
	if (strncmp(a, F1000_DOI, strlen(F1000_DOI)) == 0 &&
		strncmp(b, F1000_DOI, strlen(F1000_DOI)) == 0)
		return true;
	return url != NULL && split(url, host, &path) && strcmp(host, "zenodo.org") == 0;
}
