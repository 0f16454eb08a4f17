/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of readers, and what each of them would otherwise do for itself.
 */
#include "worker/document/publication/readers_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/document/publication/record.h"

#define MAX_ERROR_BYTES 500

static const struct {
	const char *name;
	ing_publication_reader_f *read; /* NULL: there is none yet */
	bool pages;
} readers[ING_PUBLICATION_READERS_] = {
	[ING_READ_PAGE] = {"page", ing_publication_read_page, true},
	[ING_READ_EUROPEPMC] = {"europepmc", ing_publication_read_europepmc, false},
	[ING_READ_EFO] = {"efo", ing_publication_read_efo, false},
	[ING_READ_GO] = {"go", ing_publication_read_go, false},
	[ING_READ_JATS] = {"jats", ing_publication_read_jats, false},
	[ING_READ_PUBMED_XML] = {"pubmed-xml", ing_publication_read_pubmed_xml, false},
	[ING_READ_PUBMED_HTML] = {"pubmed-html", ing_publication_read_pubmed_html, true},
	[ING_READ_PMC_HTML] = {"pmc-html", ing_publication_read_pmc_html, true},
	[ING_READ_UNPAYWALL] = {"unpaywall", ing_publication_read_unpaywall, false},
	[ING_READ_CROSSREF] = {"crossref", ing_publication_read_crossref, false},
	[ING_READ_DATACITE] = {"datacite", ing_publication_read_datacite, false},
	[ING_READ_OPENALEX] = {"openalex", ing_publication_read_openalex, false},
	[ING_READ_ARXIV] = {"arxiv", ing_publication_read_arxiv, false},
	[ING_READ_BIORXIV] = {"biorxiv", ing_publication_read_biorxiv, false},
	[ING_READ_DOAJ] = {"doaj", ing_publication_read_doaj, false},
};

/* -------------------------------------------------------------------------------------------- */

void ing_publication_fail(
	struct ing_publication_found *ret, const char *status, const char *fmt, ...)
{
	char words[MAX_ERROR_BYTES + 1];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	free(ret->status);
	free(ret->error_msg);
	ret->status = ing_strdup(status);
	ret->error_msg = ing_utf8_clean(words, strlen(words), NULL);
}

void ing_publication_read(const struct ing_publication_ask *ask,
	const struct ing_publication_body *body, struct ing_publication_found *ret)
{
	ing_must(ask->reader < ING_PUBLICATION_READERS_);
	if (readers[ask->reader].read == NULL)
		ing_publication_fail(
			ret, "bad-answer", "there is no reader \"%s\"", readers[ask->reader].name);
	else
		readers[ask->reader].read(ask, body, ret);
	ing_record_clear();
	ing_publication_keep_parts(ret, ask->parts);
	if (ret->status == NULL)
		ret->status = ing_strdup("success");
}

bool ing_publication_reads_pages(enum ing_publication_reader reader)
{
	return reader < ING_PUBLICATION_READERS_ && readers[reader].pages;
}
