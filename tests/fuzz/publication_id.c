/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A text as people write identifiers. What is found is in its normal form, is found again in the URLs that are
 * made of it, and cannot lead them to another host.
 */
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/net/url.h"
#include "worker/publication/addresses.h"
#include "worker/publication/assembly_priv.h"
#include "worker/publication/identifiers.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 3000, .heap_kb = 300, .heap_byte = 60);

static const struct ing_publication_settings settings = {
	.europepmc_url = "https://services.test/a",
	.annotations_url = "https://services.test/b",
	.eutils_url = "https://services.test/c/",
	.pmc_url = "https://services.test",
	.pubmed_url = "https://services.test",
	.doi_url = "https://services.test",
	.unpaywall_url = "https://services.test/v2",
	.crossref_url = "https://services.test",
	.datacite_url = "https://services.test",
	.openalex_url = "https://services.test",
	.arxiv_url = "https://services.test/api",
	.biorxiv_url = "https://services.test",
	.doaj_url = "https://services.test/api",
	.email = "a@b.example",
	.tool = "tool",
	.ncbi_api_key = "key",
	.openalex_api_key = "",
	.deadline_ms = 1,
};

static void check_normal(enum ing_part_key key, const char *id)
{
	struct ing_buf again;
	ing_buf_init(&again, ING_MAX_PUBLICATION_ID_BYTES);
	ing_must(ing_identifier_normal(key, id, strlen(id), &again));
	ing_must(strcmp(ing_buf_str(&again), id) == 0);
	ing_buf_done(&again);
}

static void check_url(const struct ing_resource_call *call, const char *id)
{
	struct ing_buf url;
	char host[ING_URL_HOST_BYTES];
	ing_buf_init(&url, (size_t)16 << 10);
	if (ing_resource_url(&settings, call, id, &url)) {
		for (size_t i = 0; i < url.len; i++)
			ing_must(url.data[i] > ' ' && url.data[i] < 0x7F);
		ing_must(ing_url_host(ing_buf_str(&url), host, sizeof(host)));
		ing_must(strcmp(host, "services.test") == 0);
		ing_must(strchr(ing_buf_str(&url), '#') == NULL);
	}
	ing_buf_done(&url);
}

static void check_id(enum ing_part_key key, const char *id)
{
	if (id == NULL)
		return;
	check_normal(key, id);
	for (unsigned i = 0; i < ing_call_count; i++)
		if (ing_calls[i].key == key)
			check_url(&ing_calls[i], id);
	ing_must(!ing_identifier_same_work(id, id, NULL) || key == ING_PART_DOI);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_arena ar;
	struct ing_assembly_request request;
	char *text = ing_strndup((const char *)data, size);
	ing_arena_init(&ar);
	if (ing_assembly_parse_id(text, &ar, &request, NULL) == 0) {
		check_id(ING_PART_PMID, request.pmid);
		check_id(ING_PART_PMCID, request.pmcid);
		check_id(ING_PART_DOI, request.doi);
		ing_must(request.url == NULL || ing_url_is_web(request.url));
		struct ing_assembly *a = ing_assembly_new(&settings, &request);
		struct ing_assembly_ask ask;
		ing_must(ing_assembly_next(a, 0, &ask));
		ing_assembly_free(a);
	}
	ing_arena_done(&ar);
	free(text);
}
