/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kinds of files with expectations, as PubFetcher's are published. The key's column has the label
 * "id" or "url".
 */
#include "worker/ctl/rules/csv.h"

#include <string.h>

#define COLUMNS(...)                                                                               \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define JATS_COLUMNS                                                                               \
	COLUMNS("id", "pmid", "pmcid", "doi", "title", "keywords", "abstract", "fulltext",         \
		"corresp", "journal")

static const struct ing_csv_kind kinds[] = {
	{"journals",
		COLUMNS("pmid", "pmcid", "doi", "title", "keywords", "abstract", "fulltext",
			"links", "corresp", "url"),
		ING_CSV_SITE, ING_READ_PAGE, ING_PART_TYPE_DOI, NULL},
	{"webpages", COLUMNS("title", "content", "license", "language", "url"), ING_CSV_WEBPAGE,
		ING_READ_PAGE, ING_PART_TYPE_WEBPAGE, NULL},
	{"europepmc-xml", JATS_COLUMNS, ING_CSV_PMCID, ING_READ_JATS, ING_PART_TYPE_EUROPEPMC_XML,
		NULL},
	{"pmc-xml", JATS_COLUMNS, ING_CSV_PMCID, ING_READ_JATS, ING_PART_TYPE_PMC_XML, NULL},
	{"pmc-html",
		COLUMNS("id", "pmid", "pmcid", "doi", "title", "keywords", "abstract", "fulltext",
			"corresp", "links"),
		ING_CSV_PMCID, ING_READ_PMC_HTML, ING_PART_TYPE_PMC_HTML, NULL},
	{"pubmed-xml",
		COLUMNS("id", "pmid", "pmcid", "doi", "title", "keywords", "mesh", "abstract",
			"journal", "date", "corresp"),
		ING_CSV_PMID, ING_READ_PUBMED_XML, ING_PART_TYPE_PUBMED_XML, NULL},
	{"pubmed-html",
		COLUMNS("id", "pmid", "pmcid", "doi", "title", "keywords", "mesh", "abstract"),
		ING_CSV_PMID, ING_READ_PUBMED_HTML, ING_PART_TYPE_PUBMED_HTML, NULL},
	{"europepmc",
		COLUMNS("id", "pmid", "pmcid", "doi", "title", "keywords", "mesh", "abstract",
			"journal", "date", "corresp", "oa", "html", "pdf", "mined"),
		ING_CSV_PMID, ING_READ_EUROPEPMC, ING_PART_TYPE_EUROPEPMC, NULL},
	{"oadoi", COLUMNS("id", "oa", "links", "title", "journal"), ING_CSV_DOI, ING_READ_UNPAYWALL,
		ING_PART_TYPE_OADOI, NULL},
	{"europepmc-efo", COLUMNS("id", "efo"), ING_CSV_PMID, ING_READ_EFO, ING_PART_TYPE_EUROPEPMC,
		NULL},
	{"europepmc-go", COLUMNS("id", "go"), ING_CSV_PMID, ING_READ_GO, ING_PART_TYPE_EUROPEPMC,
		NULL},
	{"europepmc-mined", COLUMNS("id", "efo", "go"), ING_CSV_PMID,
		.answers = (const char *const[]){"europepmc-efo", "europepmc-go", NULL}},
};

static bool is_url(const char *s)
{
	return strncasecmp(s, "http://", 7) == 0 || strncasecmp(s, "https://", 8) == 0;
}

/* -------------------------------------------------------------------------------------------- */

size_t ing_csv_columns(const struct ing_csv_kind *kind)
{
	size_t n = 0;
	while (kind->columns[n] != NULL)
		n++;
	return n;
}

bool ing_csv_is_url_kind(const struct ing_csv_kind *kind)
{
	return kind->key == ING_CSV_SITE || kind->key == ING_CSV_WEBPAGE;
}

const struct ing_csv_kind *ing_csv_kind_of_name(const char *name)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

bool ing_csv_split(const struct ing_csv_kind *kind, char *row, char *ret[ING_CSV_MAX_COLUMNS])
{
	size_t count = ing_csv_columns(kind);
	for (size_t i = 0; i + 1 < count; i++) {
		char *comma = strchr(row, ',');
		if (comma == NULL)
			return false;
		*comma = '\0';
		ret[i] = row;
		row = comma + 1;
	}
	ret[count - 1] = row;
	return ing_csv_is_url_kind(kind) || strchr(row, ',') == NULL;
}

const struct ing_csv_kind *ing_csv_kind_of_row(const char *row)
{
	char copy[ING_CSV_MAX_ROW_BYTES];
	char *columns[ING_CSV_MAX_COLUMNS];
	for (size_t i = 0; i < ING_ARRAY_LEN(kinds); i++) {
		if (!ing_csv_is_url_kind(&kinds[i]) || strlen(row) >= sizeof(copy))
			continue;
		memcpy(copy, row, strlen(row) + 1);
		if (ing_csv_split(&kinds[i], copy, columns) &&
			is_url(columns[ing_csv_columns(&kinds[i]) - 1]))
			return &kinds[i];
	}
	return NULL;
}
