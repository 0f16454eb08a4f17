/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line of the log for each finished request (log.requests). Its message is always the same, so that
 * it can be searched for; what happened stands in its fields. URLs of requests may have passwords and
 * come here masked.
 */
#include <string.h>

#include "common/base/log.h"
#include "worker/conf/conf.h"
#include "worker/deliver/deliver.h"
#include "worker/engine/engine.h"
#include "worker/intake/intake.h"
#include "worker/model/lane.h"
#include "worker/model/status.h"

#define DEAD_LETTER_MS 5000

/* An answer from the tables says nothing of the web: it is no failure, whatever it was. */
static bool is_wanted(
	enum ing_log_requests which, enum ing_status status, const struct ing_result_facts *f)
{
	if (which == ING_LOG_REQUESTS_OFF || f->key == NULL)
		return false;
	return which == ING_LOG_REQUESTS_ALL || (!f->hit && status != ING_STATUS_EXISTING);
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_log_result(
	const struct ing_engine *e, enum ing_status status, const struct ing_result_facts *f)
{
	if (!is_wanted(e->conf->log_requests, status, f) || !ing_log_wants(ING_LOG_INFO))
		return;
	bool moved = f->last_url != NULL && f->url != NULL && strcmp(f->last_url, f->url) != 0;
	const struct ing_log_field fields[] = {
		ING_LOG_FIELD_TEXT("job", f->key),
		ING_LOG_FIELD_TEXT("status", ing_status_slug(status)),
		ING_LOG_FIELD_BOOL("hit", f->hit),
		ING_LOG_FIELD_TEXT("type", f->ingest_type),
		ING_LOG_FIELD_TEXT("lane", ing_lane_name(f->lane)),
		ING_LOG_FIELD_NUMBER("ms", f->took_ms),
		ING_LOG_FIELD_NUMBER("bytes", f->document_bytes),
		ING_LOG_FIELD_TEXT("host", f->host),
		ING_LOG_FIELD_TEXT("url", f->url),
		ING_LOG_FIELD_TEXT("last_url", moved ? f->last_url : NULL),
		ING_LOG_FIELD_TEXT("error", f->message),
	};
	ing_log_fields(ING_LOG_INFO, fields, ING_ARRAY_LEN(fields), "request finished");
}

void ing_engine_log_dead_letter(
	const struct ing_engine *e, const struct ing_message *m, const struct ing_error *err)
{
	static struct ing_log_throttle throttle; /* of one daemon */
	unsigned suppressed = 0;
	if (e->conf->log_requests == ING_LOG_REQUESTS_OFF &&
		!ing_log_throttle_pass(&throttle, DEAD_LETTER_MS, &suppressed))
		return;
	const struct ing_log_field fields[] = {
		ING_LOG_FIELD_TEXT("topic", m->topic),
		ING_LOG_FIELD_NUMBER("partition", m->partition),
		ING_LOG_FIELD_NUMBER("offset", m->token.offset),
		ING_LOG_FIELD_TEXT("lane", ing_lane_name(m->lane)),
		ING_LOG_FIELD_TEXT("error", err->msg),
		ING_LOG_FIELD_SUPPRESSED(suppressed),
	};
	ing_log_fields(ING_LOG_WARNING, fields, ING_ARRAY_LEN(fields), "dead letter");
}
