/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an earlier request has left in the tables, as a result. Its hops, and what pages said, are
 * not there.
 */
#include "worker/job/existing.h"

#include "common/base/macros.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"
#include "worker/job/kept.h"
#include "worker/job/result_capture.h"
#include "worker/model/request.h"
#include "worker/model/settings.h"
#include "worker/model/status.h"
#include "worker/store/lookup/lookup.h"

static json_t *number_or_null(int n)
{
	return n > 0 ? json_integer(n) : NULL;
}

static json_t *terminal_json(const struct ing_row_result *r)
{
	json_t *o = json_object();
	ing_json_set_text(o, "terminal_url", r->terminal_url);
	ing_json_set_text(o, "terminal_dt", r->terminal_dt);
	ing_json_set(o, "terminal_status_code", number_or_null(r->terminal_status_code));
	if (r->terminal_sha1hex != NULL)
		ing_json_set_text(o, "terminal_sha1hex", r->terminal_sha1hex);
	ing_json_set(o, "wayback", ing_wayback_json(r->terminal_url, r->terminal_dt));
	return o;
}

/* Of a file without a row that has all of it nothing is told. */
static json_t *file_meta_json(const struct ing_row_file_meta *r)
{
	if (!r->present || r->md5hex == NULL || r->sha256hex == NULL || r->mimetype == NULL)
		return NULL;
	json_t *o = json_object();
	ing_json_set_count(o, "size_bytes", r->size_bytes);
	ing_json_set_text(o, "md5hex", r->md5hex);
	ing_json_set_text(o, "sha1hex", r->sha1hex);
	ing_json_set_text(o, "sha256hex", r->sha256hex);
	ing_json_set_text(o, "mimetype", r->mimetype);
	if (r->contains != NULL)
		ing_json_set(o, "contains", ing_contains_json(r->contains));
	return o;
}

static json_t *existing_json(const struct ing_earlier_result *earlier)
{
	json_t *o = json_object();
	ing_json_set_text(o, "status", earlier->rows.result.status);
	ing_json_set_text(o, "updated", earlier->updated);
	return o;
}

/* -------------------------------------------------------------------------------------------- */

uint64_t ing_existing_max_age_ms(
	const struct ing_job_settings *s, const struct ing_request *r, enum ing_lane lane)
{
	if (r->force_recrawl)
		return 0;
	if (r->skip_existing_max_age_ms >= 0)
		return (uint64_t)r->skip_existing_max_age_ms;
	uint64_t of_lane = s->lane_skip_existing_ms[lane];
	return of_lane > 0 ? of_lane : s->skip_existing_ms;
}

bool ing_existing_counts(const struct ing_earlier_result *earlier, uint64_t max_age_ms)
{
	const struct ing_row_result *r = &earlier->rows.result;
	int status = ing_status_from_slug(r->status);
	if (!r->hit && status >= 0 && ing_status_retry((enum ing_status)status) != ING_STATUS_NEVER)
		max_age_ms = ING_MIN(max_age_ms,
			(uint64_t)ing_status_retry_after_s((enum ing_status)status) * 1000);
	return earlier->age_ms <= max_age_ms;
}

void ing_existing_add(const struct ing_earlier_result *earlier,
	const struct ing_artifact_type *type, json_t *result)
{
	const struct ing_rows *rows = &earlier->rows;
	ing_json_set(result, "existing", existing_json(earlier));
	if (rows->result.terminal_url != NULL)
		ing_json_set(result, "terminal", terminal_json(&rows->result));
	json_t *file = file_meta_json(&rows->file_meta);
	if (file != NULL)
		ing_json_set(result, "file_meta", file);
	if (rows->cdx_count > 0)
		ing_json_set(result, "cdx",
			ing_row_cdx_json(&rows->cdx[0], rows->result.terminal_status_code));
	if (type->facts != NULL && type->facts->add_earlier != NULL)
		type->facts->add_earlier(rows, result);
	ing_job_add_kept(rows, result);
}
