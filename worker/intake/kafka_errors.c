/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Errors of the consumer, and what is logged about them. Loop thread.
 *
 * librdkafka retries by itself after every error but a fatal one. It reports missing topics one by
 * one, at the start and whenever one appears or disappears; they are collected into one line. Every
 * topic but that of requests may be missing or not authorized: its lane is then empty. A missing topic
 * of requests is waited for and counts as an empty assignment.
 */
#include <string.h>

#include "common/base/buf.h"
#include "worker/intake/kafka_priv.h"

static void log_brokers_down(struct kafka_intake *in, rd_kafka_resp_err_t err, const char *reason)
{
	unsigned more;
	in->brokers_down = true;
	if (ing_log_throttle_pass(&in->brokers_throttle, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "%s: %s: %s (%u more suppressed)", in->name,
			rd_kafka_err2str(err), reason, more);
}

/* A worker without the topic of requests has an empty assignment, which counts as assigned. */
static void handle_missing_topic(struct kafka_intake *in, enum ing_lane lane)
{
	struct kafka_lane *l = &in->lanes[lane];
	if (!l->missing)
		l->missing_unreported = true;
	l->missing = true;
	if (lane != ING_LANE_REQUESTS || in->had_assignment || in->closing)
		return;
	in->had_assignment = true;
	in->ev.on_assigned(in->ev.ctx, 0);
}

/* Not authorized to read. For an optional topic that may be intended: a warning, once. For the topic
 * of requests it is an error. */
static void handle_denied(struct kafka_intake *in, enum ing_lane lane, const char *reason)
{
	unsigned more;
	if (lane == ING_LANE_REQUESTS || lane == ING_LANES_) {
		if (ing_log_throttle_pass(&in->error_throttle, ING_KAFKA_LOG_EVERY_MS, &more))
			ing_log(ING_LOG_ERROR, "%s: %s (%u more suppressed)", in->name, reason,
				more);
		return;
	}
	struct kafka_lane *l = &in->lanes[lane];
	if (!l->denied)
		ing_log(ING_LOG_WARNING,
			"%s: not authorized to read this topic, its lane stays empty", l->topic);
	l->denied = true;
}

/* Optional topics are reported in one line, after the first assignment. */
static void report_missing(struct kafka_intake *in)
{
	struct ing_buf names;
	bool any = false;
	ing_buf_init(&names, 4096);
	for (size_t i = 0; i < ING_LANES_; i++) {
		struct kafka_lane *l = &in->lanes[i];
		if (!l->missing_unreported || (i != ING_LANE_REQUESTS && !in->had_assignment))
			continue;
		l->missing_unreported = false;
		if (i == ING_LANE_REQUESTS) {
			ing_log(ING_LOG_WARNING, "%s: the topic does not exist, waiting for it",
				l->topic);
			continue;
		}
		ing_buf_printf(&names, "%s%s", any ? ", " : "", l->topic);
		any = true;
	}
	if (any)
		ing_log(ING_LOG_INFO, "%s: topics do not exist, their lanes stay empty",
			ing_buf_str(&names));
	ing_buf_done(&names);
}

static void report_fatal(struct kafka_intake *in)
{
	if (!in->fatal || in->fatal_reported || in->closing)
		return;
	in->fatal_reported = true;
	char reason[256] = "";
	rd_kafka_resp_err_t code = rd_kafka_fatal_error(in->rk, reason, sizeof(reason));
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_UNAVAILABLE, "%s: fatal consumer error: %s: %s", in->name,
		rd_kafka_err2name(code), reason);
	in->ev.on_fatal(in->ev.ctx, &err);
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_set_brokers_up(struct kafka_intake *in)
{
	if (in->brokers_down)
		ing_log(ING_LOG_INFO, "%s: brokers are reachable again", in->name);
	in->brokers_down = false;
}

void ing_kafka_handle_error(
	struct kafka_intake *in, const char *topic, rd_kafka_resp_err_t err, const char *reason)
{
	enum ing_lane lane = topic != NULL ? ing_kafka_lane_of(in, topic) : ING_LANES_;
	unsigned more;
	if (rd_kafka_fatal_error(in->rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		in->fatal = true; /* logged by report_fatal() */
		return;
	}
	switch ((int)err) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
		handle_missing_topic(in, lane != ING_LANES_ ? lane : ING_LANE_REQUESTS);
		break;
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
		handle_denied(in, lane, reason);
		break;
	case RD_KAFKA_RESP_ERR__TRANSPORT:
	case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
	case RD_KAFKA_RESP_ERR__RESOLVE:
	case RD_KAFKA_RESP_ERR__TIMED_OUT:
		log_brokers_down(in, err, reason);
		break;
	default: /* among them failed authentication, which librdkafka retries */
		if (ing_log_throttle_pass(&in->error_throttle, ING_KAFKA_LOG_EVERY_MS, &more))
			ing_log(ING_LOG_ERROR, "%s: %s: %s (%u more suppressed)", in->name,
				rd_kafka_err2str(err), reason, more);
	}
}

void ing_kafka_report(struct kafka_intake *in)
{
	report_missing(in);
	report_fatal(in);
}
