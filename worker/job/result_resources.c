/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entries have the replaced system's members. One that is not archived has its status beside them, and
 * as time when that was decided, if no answer came.
 */
#include "worker/job/result_resources.h"

#include <stdio.h>
#include <string.h>

#include "common/net/surt.h"
#include "worker/model/limits.h"

static const char *const type_names[ING_RESOURCE_TYPES_] = {
	[ING_RESOURCE_SCRIPT] = "script",
	[ING_RESOURCE_STYLESHEET] = "stylesheet",
	[ING_RESOURCE_IMAGE] = "image",
	[ING_RESOURCE_MEDIA] = "media",
	[ING_RESOURCE_SUBDOCUMENT] = "subdocument",
	[ING_RESOURCE_FONT] = "font",
	[ING_RESOURCE_OTHER] = "other",
};

/* Of the index's 14 digits. */
static void set_timestamp(json_t *o, const char *dt)
{
	char text[ING_ISO8601_BYTES];
	snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", dt, dt + 4, dt + 6, dt + 8,
		dt + 10, dt + 12);
	ing_json_set_text(o, "timestamp", text);
}

static void set_surt(json_t *o, const char *url)
{
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	if (!ing_surt(url, &surt)) {
		ing_buf_clear(&surt);
		ing_buf_add_str(&surt, url); /* a URL whose key cannot be written is its own */
	}
	ing_json_set_text(o, "surt", ing_buf_str(&surt));
	ing_buf_done(&surt);
}

static void set_file(json_t *o, const struct ing_resource *r)
{
	const struct ing_file_meta *file = r->file;
	ing_json_set_text(o, "sha1hex", file->sha1hex);
	ing_json_set_text(o, "sha256hex", file->sha256hex);
	ing_json_set_count(o, "size", file->size_bytes);
}

static json_t *entry(const struct ing_resource *r)
{
	const struct ing_visit_step *step = r->step;
	bool answered = step != NULL && step->answered;
	const char *url = step != NULL ? step->url : r->visit.url;
	json_t *o = json_object();
	set_surt(o, url);
	set_timestamp(o, answered ? step->capture.datetime : r->decided);
	ing_json_set_text(o, "url", url);
	ing_json_set_text(o, "resource_type", type_names[r->type]);
	if (strcmp(url, r->visit.url) != 0)
		ing_json_set_text(o, "source_url", r->visit.url);
	if (answered) {
		ing_json_set_text(o, "mimetype", step->capture.mimetype);
		ing_json_set_number(o, "status_code", step->capture.http_status);
	}
	if (r->status == ING_STATUS_SUCCESS)
		set_file(o, r);
	else
		ing_json_set_text(o, "status", ing_status_slug(r->status));
	return o;
}

/* -------------------------------------------------------------------------------------------- */

json_t *ing_resources_json(const struct ing_job_resources *rs)
{
	json_t *list = json_array();
	for (const struct ing_resource *r = rs->first; r != NULL; r = r->next)
		ing_json_append(list, entry(r));
	return list;
}

void ing_resources_add(const struct ing_job_resources *rs, json_t *result)
{
	json_t *counts = json_object();
	ing_json_set_number(counts, "found", rs->count + rs->left_out);
	ing_json_set_number(counts, "filtered", rs->filtered);
	ing_json_set_number(counts, "archived", rs->count - rs->failed);
	ing_json_set_number(counts, "failed", rs->failed);
	ing_json_set_bool(counts, "truncated", rs->left_out > 0);
	ing_json_set(result, "html_resources", ing_resources_json(rs));
	ing_json_set(result, "html_resources_count", counts);
}

bool ing_resources_shrink(json_t *result)
{
	if (json_array_size(json_object_get(result, "html_resources")) == 0)
		return false;
	ing_json_set(result, "html_resources", json_array());
	ing_json_set_bool(json_object_get(result, "html_resources_count"), "truncated", true);
	return true;
}
