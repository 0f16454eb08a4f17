/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys are those of the rows (result_kept.h).
 */
#include "worker/job/kept.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "worker/artifact/artifact.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/publication.h"
#include "worker/job/publication_request.h"
#include "worker/model/limits.h"
#include "worker/model/mask.h"
#include "worker/model/request.h"
#include "worker/publication/kept.h"
#include "worker/store/lookup/lookup.h"

static int64_t wall_ms(void)
{
	struct timespec t = ing_wall_now();
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static json_t *read_record(const char *json)
{
	return ing_json_parse(json, strlen(json), &ing_json_own, NULL);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_job_asks_kept(const struct ing_request *request)
{
	bool is_kept =
		request->type == ING_INGEST_PUBLICATION || request->type == ING_INGEST_WEBPAGE;
	return is_kept && !request->force_recrawl && request->skip_existing_max_age_ms != 0;
}

bool ing_job_kept_question(const struct ing_pipeline *p, const struct ing_request *request,
	struct ing_arena *ar, struct ing_lookup_kept *ret)
{
	struct ing_assembly_request a;
	struct ing_error err = {0};
	*ret = (struct ing_lookup_kept){.is_webpage = request->type == ING_INGEST_WEBPAGE,
		.now_ms = wall_ms(),
		.rules = ing_refetch_rules(&p->conf.publication)};
	if (ret->is_webpage) {
		ret->url = ing_mask_url(ar, request->base_url);
		return strlen(ret->url) <= ING_MAX_BASE_URL_BYTES;
	}
	if (ing_publication_request(request, ar, &a, &err) != 0)
		return false;
	ret->pmid = a.pmid;
	ret->pmcid = a.pmcid;
	ret->doi = a.doi;
	if (a.pmid != NULL || a.pmcid != NULL || a.doi != NULL)
		return true;
	ret->url = a.url != NULL ? ing_mask_url(ar, a.url) : NULL; /* as its row has it */
	return ret->url != NULL && strlen(ret->url) <= ING_MAX_BASE_URL_BYTES;
}

void ing_job_add_kept(const struct ing_rows *rows, json_t *result)
{
	json_t *record = NULL;
	if (rows->publication.present) {
		record = read_record(rows->publication.record_json);
		ing_json_set(result, "publication", ing_publication_settled(record));
	} else if (rows->webpage.present) {
		record = read_record(rows->webpage.record_json);
		ing_json_set(result, "webpage", ing_webpage_settled(record));
	}
	json_decref(record);
}
