/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the Kafka intake makes of errors, and says about them. Loop thread.
 *
 * librdkafka tries on by itself after all of them but a fatal one. Topics that are not there are
 * told one by one, at the start and whenever one comes or goes; we gather them into one line.
 */
#include <string.h>

#include "common/base/buf.h"
#include "worker/intake/kafka_priv.h"

static void note_trouble(struct kafka_intake *in, rd_kafka_resp_err_t err, const char *reason)
{
	unsigned more;
	in->trouble = true;
	if (ing_log_gate_pass(&in->trouble_gate, ING_KAFKA_LOG_EVERY_MS, &more))
		ing_log(ING_LOG_WARNING, "%s: %s: %s (%u more such)", in->name,
			rd_kafka_err2str(err), reason, more);
}

/* The group waits for the topic to appear; that this worker is here with nothing to do is an
 * assignment, too. */
static void note_missing_topic(struct kafka_intake *in, enum ing_lane lane)
{
	struct kafka_lane *l = &in->lanes[lane];
	if (!l->missing)
		l->missing_new = true;
	l->missing = true;
	if (lane != ING_LANE_REQUESTS || in->had_assignment || in->closing)
		return;
	in->had_assignment = true;
	in->ev.on_assigned(in->ev.ctx, 0);
}

/* Refused permissions: a human should look. Without an optional topic its lane stays empty, which
 * may be what the cluster's owner wants; without that of requests nothing goes. */
static void note_denied(struct kafka_intake *in, enum ing_lane lane, const char *reason)
{
	unsigned more;
	if (lane == ING_LANE_REQUESTS || lane == ING_LANES_) {
		if (ing_log_gate_pass(&in->error_gate, ING_KAFKA_LOG_EVERY_MS, &more))
			ing_log(ING_LOG_ERROR, "%s: %s (%u more such)", in->name, reason, more);
		return;
	}
	struct kafka_lane *l = &in->lanes[lane];
	if (!l->denied)
		ing_log(ING_LOG_WARNING, "%s: the topic may not be read: its lane stays empty",
			l->topic);
	l->denied = true;
}

/* librdkafka tells of one topic after the other: what is optional is said when the assignment is
 * there, in one line. */
static void say_missing(struct kafka_intake *in)
{
	struct ing_buf names;
	bool any = false;
	ing_buf_init(&names, 4096);
	for (size_t i = 0; i < ING_LANES_; i++) {
		struct kafka_lane *l = &in->lanes[i];
		if (!l->missing_new || (i != ING_LANE_REQUESTS && !in->had_assignment))
			continue;
		l->missing_new = false;
		if (i == ING_LANE_REQUESTS) {
			ing_log(ING_LOG_WARNING, "%s: there is no such topic; waiting for it",
				l->topic);
			continue;
		}
		ing_buf_printf(&names, "%s%s", any ? ", " : "", l->topic);
		any = true;
	}
	if (any)
		ing_log(ING_LOG_INFO, "%s: not there; the lanes stay empty until they are",
			ing_buf_str(&names));
	ing_buf_done(&names);
}

static void say_fatal(struct kafka_intake *in)
{
	if (!in->fatal || in->fatal_said || in->closing)
		return;
	in->fatal_said = true;
	char reason[256] = "";
	rd_kafka_resp_err_t code = rd_kafka_fatal_error(in->rk, reason, sizeof(reason));
	struct ing_error err = {0};
	ing_error_set(&err, ING_FAIL_UNAVAILABLE, "%s: the consumer cannot go on: %s: %s", in->name,
		rd_kafka_err2name(code), reason);
	in->ev.on_fatal(in->ev.ctx, &err);
}

/* -------------------------------------------------------------------------------------------- */

void ing_kafka_note_contact(struct kafka_intake *in)
{
	if (in->trouble)
		ing_log(ING_LOG_INFO, "%s: the brokers answer again", in->name);
	in->trouble = false;
}

void ing_kafka_note_error(
	struct kafka_intake *in, const char *topic, rd_kafka_resp_err_t err, const char *reason)
{
	enum ing_lane lane = topic != NULL ? ing_kafka_lane_of(in, topic) : ING_LANES_;
	unsigned more;
	if (rd_kafka_fatal_error(in->rk, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR) {
		in->fatal = true; /* say_fatal() has the words */
		return;
	}
	switch ((int)err) {
	case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
	case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
		note_missing_topic(in, lane != ING_LANES_ ? lane : ING_LANE_REQUESTS);
		break;
	case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
		note_denied(in, lane, reason);
		break;
	case RD_KAFKA_RESP_ERR__TRANSPORT:
	case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
	case RD_KAFKA_RESP_ERR__RESOLVE:
	case RD_KAFKA_RESP_ERR__TIMED_OUT:
		note_trouble(in, err, reason);
		break;
	default: /* among them refused credentials: librdkafka tries on, a human should look */
		if (ing_log_gate_pass(&in->error_gate, ING_KAFKA_LOG_EVERY_MS, &more))
			ing_log(ING_LOG_ERROR, "%s: %s: %s (%u more such)", in->name,
				rd_kafka_err2str(err), reason, more);
	}
}

void ing_kafka_say(struct kafka_intake *in)
{
	say_missing(in);
	say_fatal(in);
}
