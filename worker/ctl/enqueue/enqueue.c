/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Signals are caught while batches are sent. Before that nothing is there to be ended in good order.
 */
#include "worker/ctl/enqueue/enqueue.h"

#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/enqueue/plan.h"
#include "worker/ctl/enqueue/send.h"
#include "worker/ctl/topics/kafka.h"
#include "worker/ctl/stop_signal.h"
#include "worker/database/schema.h"
#include "worker/store/requests/plan_batches.h"

#define BROKER_WAIT_MS 30000

static int fail(const struct ing_enqueue *e, const struct ing_error *err)
{
	return ing_ctl_fail(ing_ctl_exit_of(err), e->verb, "%s", err->msg);
}

/* What is left of an earlier run. */
static int look_at_plan(const struct ing_enqueue *e, struct ing_plan *ret, bool *ret_found)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	int rc = ing_schema_open(e->conf->postgres.dsn, &pg, &err);
	if (rc == 0 && ing_plan_find(pg, e->name, ret, ret_found, &err) != ING_PG_OK)
		rc = -(int)err.code;
	ing_pg_close(pg);
	return rc == 0 ? ING_CTL_OK : fail(e, &err);
}

static struct ing_enqueue_send sender_of(const struct ing_enqueue *e)
{
	return (struct ing_enqueue_send){.verb = e->verb,
		.brokers = e->brokers,
		.dsn = e->conf->postgres.dsn,
		.conf = e->conf,
		.name = e->name,
		.max_lag = e->max_lag,
		.take_over = e->take_over,
		.quiet = e->quiet,
		.stop = ing_ctl_catch_stop()};
}

static int send_planned(const struct ing_enqueue *e, const char *topic)
{
	uint64_t sent = 0;
	uint64_t since_ms = ing_now_ms();
	const struct ing_enqueue_send conf = sender_of(e);
	int code = ing_enqueue_send(&conf, &sent);
	double s = (double)(ing_now_ms() - since_ms) / 1000;
	if (code == ING_CTL_OK || sent > 0)
		fprintf(stderr,
			"ingestctl %s: plan %s: %" PRIu64 " request%s sent to %s in %.1f s\n",
			e->verb, e->name, sent, ING_PLURAL_S(sent), topic, s);
	if (code == ING_CTL_INTERRUPTED)
		ing_ctl_fail(ING_CTL_INTERRUPTED, e->verb,
			"plan %s: interrupted; the rest is sent by the next run", e->name);
	return code;
}

/* *ret_again: that was all that this command was for. */
static int finish_earlier(const struct ing_enqueue *e, bool *ret_again)
{
	struct ing_plan plan = {0};
	bool found = false;
	int code = look_at_plan(e, &plan, &found);
	int64_t left = plan.requests - plan.requests_sent;
	if (code == ING_CTL_OK && found && plan.sent < plan.planned) {
		fprintf(stderr,
			"ingestctl %s: plan %s: %" PRId64
			" request%s for %s that %s planned before %s not sent%s\n",
			e->verb, e->name, left, ING_PLURAL_S(left), plan.topic,
			left == 1 ? "was" : "were", left == 1 ? "is" : "are",
			e->dry_run ? "" : "; they go first");
		*ret_again =
			e->asked != NULL && plan.asked != NULL && strcmp(e->asked, plan.asked) == 0;
		if (!e->dry_run)
			code = send_planned(e, plan.topic);
	}
	ing_plan_done(&plan);
	return code;
}

static int plan_selection(const struct ing_enqueue *e, uint64_t *ret_requests)
{
	struct ing_error err = {0};
	const struct ing_enqueue_plan conf = {.verb = e->verb,
		.dsn = e->conf->postgres.dsn,
		.name = e->name,
		.topic = e->topic,
		.selection = e->selection,
		.asked = e->asked,
		.force_recrawl = e->force_recrawl,
		.dry_run = e->dry_run,
		.quiet = e->quiet};
	return ing_enqueue_plan(&conf, ret_requests, &err) == 0 ? ING_CTL_OK : fail(e, &err);
}

/* Before millions are planned for a topic that there is not. */
static int check_topic(const struct ing_enqueue *e)
{
	const struct ing_kafka_setting settings[] = {{NULL, NULL, false}};
	struct ing_error err = {0};
	rd_kafka_t *rk;
	int partitions = 0;
	if (ing_ctl_kafka_new(ING_KAFKA_PRODUCER, e->verb, e->brokers, e->conf, settings, NULL, &rk,
		    &err) != 0)
		return ing_ctl_fail(ING_CTL_USAGE, e->verb, "%s", err.msg);
	rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, e->topic, NULL);
	int rc = ing_ctl_kafka_partitions(rk, topic, BROKER_WAIT_MS, false, &partitions, &err);
	rd_kafka_topic_destroy(topic);
	rd_kafka_destroy(rk);
	return rc == 0 ? ING_CTL_OK : ing_ctl_fail(ING_CTL_ENVIRONMENT, e->verb, "%s", err.msg);
}

static int plan_and_send(const struct ing_enqueue *e)
{
	uint64_t requests = 0;
	int code = check_topic(e);
	if (code == ING_CTL_OK)
		code = plan_selection(e, &requests);
	if (code != ING_CTL_OK)
		return code;
	fprintf(stderr, "ingestctl %s: plan %s: %" PRIu64 " request%s planned for %s\n", e->verb,
		e->name, requests, ING_PLURAL_S(requests), e->topic);
	return requests > 0 ? send_planned(e, e->topic) : ING_CTL_OK;
}

static int count_selection(const struct ing_enqueue *e)
{
	uint64_t requests = 0;
	int code = plan_selection(e, &requests);
	if (code == ING_CTL_OK)
		printf("%" PRIu64 "\n", requests);
	return code == ING_CTL_OK && !ing_ctl_flush_stdout(e->verb) ? ING_CTL_ENVIRONMENT : code;
}

/* -------------------------------------------------------------------------------------------- */

int ing_enqueue_run(const struct ing_enqueue *e)
{
	bool again = false;
	int code = finish_earlier(e, &again);
	if (code != ING_CTL_OK || e->selection == NULL)
		return code;
	if (e->dry_run)
		return count_selection(e);
	if (!again)
		return plan_and_send(e);
	fprintf(stderr,
		"ingestctl %s: plan %s: that was for the same selection, which a break had left unfinished: nothing more is planned\n",
		e->verb, e->name);
	return ING_CTL_OK;
}

int ing_enqueue_drop(const struct ing_enqueue *e)
{
	uint64_t requests = 0;
	const struct ing_enqueue_send conf = sender_of(e);
	int code = ing_enqueue_abandon(&conf, &requests);
	if (code == ING_CTL_OK)
		fprintf(stderr, "ingestctl %s: plan %s: %" PRIu64 " request%s abandoned\n", e->verb,
			e->name, requests, ING_PLURAL_S(requests));
	return code;
}
