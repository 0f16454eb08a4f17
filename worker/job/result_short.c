/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shortest results. No state.
 */
#include "worker/job/result_short.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/model/limits.h"
#include "worker/model/status.h"

/* The members that identify a request, each cut to max_bytes. */
static json_t *identity_json(const json_t *request, size_t max_bytes)
{
	static const char *const names[] = {
		"ingest_type", "base_url", "link_source", "link_source_id"};
	json_t *o = json_object();
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		const char *s = ing_json_get_text(request, names[i]);
		if (s != NULL)
			ing_json_set(o, names[i],
				ing_json_textn(s, ing_utf8_cut(s, strlen(s), max_bytes)));
	}
	return o;
}

/* -------------------------------------------------------------------------------------------- */

char *ing_result_shortest(const json_t *request, size_t max_bytes, size_t *ret_bytes)
{
	const enum ing_status status = ING_STATUS_RESULT_TOO_LARGE;
	for (size_t cut = ING_MAX_TERMINAL_URL_BYTES;; cut /= 2) {
		json_t *o = json_object();
		ing_json_set(o, "request", identity_json(request, cut));
		ing_json_set_bool(o, "hit", false);
		ing_json_set_text(o, "status", ing_status_slug(status));
		ing_json_set_text(o, "error_message", ing_status_meaning(status));
		char *s = ing_json_dump(o, ret_bytes);
		json_decref(o);
		if (*ret_bytes <= max_bytes || cut == 0)
			return s;
		free(s);
	}
}

char *ing_result_shorten(const char *result, size_t bytes, size_t max_bytes, size_t *ret_bytes)
{
	json_t *o = ing_json_parse(result, bytes, &ing_json_own, NULL);
	const json_t *request = o != NULL ? json_object_get(o, "request") : NULL;
	char *s = NULL;
	size_t got = 0;
	if (json_is_object(request))
		s = ing_result_shortest(request, max_bytes, &got);
	json_decref(o);
	if (s != NULL && got > max_bytes) {
		free(s);
		return NULL;
	}
	if (s != NULL)
		*ret_bytes = got;
	return s;
}
