/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A Kafka client for a command: errors to stderr; metadata is asked for until it is there or the time is up.
 */
#include "worker/ctl/topics/kafka.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/intake/lane_names.h"

#define SAY_EVERY_MS 10000
/* A cluster that makes topics by itself needs a moment for it. */
#define TOPIC_WAIT_MS 3000
#define ASK_EVERY_MS 200

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *ctx)
{
	(void)rk;
	static struct ing_log_throttle gate;
	unsigned more;
	if (ing_log_throttle_pass(&gate, SAY_EVERY_MS, &more))
		fprintf(stderr, "ingestctl %s: %s: %s (%u more before)\n", (const char *)ctx,
			rd_kafka_err2str((rd_kafka_resp_err_t)err), reason, more);
}

/* One question. Positive: the number of partitions; 0: not known (yet); negative: no answer, with
 * *ret_err. */
static int query_partitions(
	rd_kafka_t *rk, rd_kafka_topic_t *topic, int timeout_ms, rd_kafka_resp_err_t *ret_err)
{
	const struct rd_kafka_metadata *answer;
	*ret_err = rd_kafka_metadata(rk, 0, topic, &answer, timeout_ms);
	if (*ret_err != 0)
		return -1;
	int count = 0;
	if (answer->topic_cnt == 1) {
		*ret_err = answer->topics[0].err;
		count = *ret_err == 0 ? answer->topics[0].partition_cnt : 0;
	}
	rd_kafka_metadata_destroy(answer);
	return count;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_kafka_new(enum ing_kafka_role role, const char *verb, const char *brokers,
	const struct ing_conf *conf, const struct ing_kafka_setting *settings,
	ing_ctl_report_f *on_report, struct rd_kafka_s **ret, struct ing_error *err)
{
	rd_kafka_conf_t *made;
	int rc = ing_kafka_settings_new(
		role, brokers, "ingestctl", settings, &conf->kafka.properties, &made, err);
	if (rc < 0)
		return rc;
	rd_kafka_conf_set_error_cb(made, on_error);
	if (on_report != NULL)
		rd_kafka_conf_set_dr_msg_cb(made, on_report);
	/* Only given to on_error(), which only reads it. */
	rd_kafka_conf_set_opaque(made, (void *)(uintptr_t)verb);
	char reason[256];
	rd_kafka_type_t type = role == ING_KAFKA_CONSUMER ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER;
	*ret = rd_kafka_new(type, made, reason, sizeof(reason));
	if (*ret != NULL)
		return 0;
	rd_kafka_conf_destroy(made);
	return ing_error_set(err, ING_FAIL_CONFIG, "Kafka: %s", reason);
}

int ing_ctl_kafka_partitions(struct rd_kafka_s *rk, struct rd_kafka_topic_s *topic, int64_t wait_ms,
	bool wait_topic, int *ret_count, struct ing_error *err)
{
	const char *name = rd_kafka_topic_name(topic);
	int64_t start = (int64_t)ing_now_ms();
	for (;;) {
		int64_t left = start + wait_ms - (int64_t)ing_now_ms();
		rd_kafka_resp_err_t why;
		int count = query_partitions(rk, topic, (int)ING_MIN(ING_MAX(left, 1), 2000), &why);
		rd_kafka_poll(rk, 0); /* errors, to stderr */
		if (count > 0) {
			*ret_count = count;
			return 0;
		}
		int64_t waited = (int64_t)ing_now_ms() - start;
		bool passing = count < 0 || why == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
			       why == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || why == 0;
		bool patient = count < 0 || wait_topic || waited < TOPIC_WAIT_MS;
		if (passing && patient && waited < wait_ms) {
			usleep(ASK_EVERY_MS * 1000);
			continue;
		}
		if (count < 0)
			return ing_error_set(err, ING_FAIL_UNAVAILABLE, "no broker answers: %s",
				rd_kafka_err2str(why));
		if (why == 0 || why == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
			return ing_error_set(
				err, ING_FAIL_NOT_FOUND, "%s: there is no such topic", name);
		return ing_error_set(
			err, ING_FAIL_UNAVAILABLE, "%s: %s", name, rd_kafka_err2str(why));
	}
}

char *ing_ctl_lane_topic(const char *verb, const char *lane, const struct ing_conf *conf)
{
	enum ing_lane number = ING_LANE_REQUESTS;
	if (lane != NULL && !ing_lane_from_name(lane, &number)) {
		ing_ctl_fail(ING_CTL_USAGE, verb,
			"%s is no lane: priority, requests, daily or bulk", lane);
		return NULL;
	}
	char *topic = ing_lane_topic_name(number, conf->kafka.lane_topics);
	if (topic == NULL)
		ing_ctl_fail(ING_CTL_USAGE, verb, "the configuration has no topic of lane %s",
			lane != NULL ? lane : "requests");
	return topic;
}
