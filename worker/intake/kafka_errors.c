/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Errors of the consumer, and what is logged about them. Loop thread.
 *
 * librdkafka retries by itself after every error but a fatal one. It reports missing topics one by
 * one, at the start and whenever one appears or disappears; they are collected into one line. Every
 * topic but that of requests may be missing or not authorized. A missing topic
 * of requests is waited for and counts as an empty assignment.
 */
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/intake/kafka_priv.h"

static void log_brokers_down(struct kafka_intake *in, rd_kafka_resp_err_t err, const char *reason)
{
	in->all_brokers_down |= err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
	snprintf(in->brokers_error, sizeof(in->brokers_error), "%s: %s", rd_kafka_err2str(err),
		reason);
	in->brokers_down |= ing_log_throttled(&in->brokers_throttle, ING_KAFKA_LOG_EVERY_MS,
		ING_LOG_WARNING, "%s: %s: %s", in->name, rd_kafka_err2str(err), reason);
}

/* A worker without the topic of requests has an empty assignment, which counts as assigned. */
static void handle_missing_topic(struct kafka_intake *in, unsigned topic)
{
	struct kafka_topic *t = &in->topics[topic];
	if (!t->missing)
		t->missing_unreported = true;
	t->missing = true;
	if (topic != ING_LANE_REQUESTS || in->had_assignment || in->closing)
		return;
	in->had_assignment = true;
	in->ev.on_assigned(in->ev.ctx, 0);
}

/* Not authorized to read. For an optional topic that may be intended: a warning, once. For the topic
 * of requests it is an error. */
static void handle_denied(struct kafka_intake *in, unsigned topic, const char *reason)
{
	if (topic == ING_LANE_REQUESTS || topic == ING_INTAKE_TOPICS) {
		ing_log_throttled(&in->error_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_ERROR,
			"%s: %s", in->name, reason);
		return;
	}
	struct kafka_topic *t = &in->topics[topic];
	if (!t->denied)
		ing_log(ING_LOG_WARNING,
			"%s: not authorized to read this topic, nothing is read from it", t->name);
	t->denied = true;
}

/* Optional topics are reported in one line, after the first assignment. */
static void report_missing(struct kafka_intake *in)
{
	struct ing_buf names;
	bool any = false;
	ing_buf_init(&names, 4096);
	for (size_t i = 0; i < ING_INTAKE_TOPICS; i++) {
		struct kafka_topic *t = &in->topics[i];
		if (!t->missing_unreported || (i != ING_LANE_REQUESTS && !in->had_assignment))
			continue;
		t->missing_unreported = false;
		if (i == ING_LANE_REQUESTS) {
			ing_log(ING_LOG_WARNING, "%s: the topic does not exist, waiting for it",
				t->name);
			continue;
		}
		ing_buf_printf(&names, "%s%s", any ? ", " : "", t->name);
		any = true;
	}
	if (any)
		ing_log(ING_LOG_INFO, "%s: topics do not exist, nothing is read from them",
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
	in->brokers_down = in->all_brokers_down = false;
}

void ing_kafka_handle_error(
	struct kafka_intake *in, const char *topic, rd_kafka_resp_err_t err, const char *reason)
{
	unsigned number = topic != NULL ? ing_kafka_topic_of(in, topic) : ING_INTAKE_TOPICS;
	if (rd_kafka_fatal_error(in->rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		in->fatal = true; /* logged by report_fatal() */
		return;
	}
	switch ((int)err) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
		handle_missing_topic(
			in, number != ING_INTAKE_TOPICS ? number : (unsigned)ING_LANE_REQUESTS);
		break;
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
		handle_denied(in, number, reason);
		break;
	case RD_KAFKA_RESP_ERR__TRANSPORT:
	case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
	case RD_KAFKA_RESP_ERR__RESOLVE:
	case RD_KAFKA_RESP_ERR__TIMED_OUT:
		log_brokers_down(in, err, reason);
		break;
	default: /* among them failed authentication, which librdkafka retries */
		ing_log_throttled(&in->error_throttle, ING_KAFKA_LOG_EVERY_MS, ING_LOG_ERROR,
			"%s: %s: %s", in->name, rd_kafka_err2str(err), reason);
	}
}

void ing_kafka_report(struct kafka_intake *in)
{
	report_missing(in);
	report_fatal(in);
}
