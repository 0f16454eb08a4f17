/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the status says of facts: what holds a worker, in which order, and the numbers in their places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/buf.h"
#include "worker/fleet/orders.h"
#include "worker/service/hosts_survey.h"
#include "worker/service/recent.h"
#include "worker/service/status.h"

#define NOW_MS UINT64_C(100000000)

/* A worker that runs, and the parts that a case may change. */
struct world {
	struct ing_status_facts facts;
	struct ing_metrics metrics;
	struct ing_flow flow;
	struct ing_hosts_survey survey;
	struct ing_survey_host hosts[3];
};

static struct ing_recent *recent;
static const struct ing_hosts_sources sources = {.instance = "w1"};

static void init_world(struct world *w)
{
	*w = (struct world){0};
	w->metrics.intake.partitions = 4;
	w->metrics.absent[ING_METRIC_ROOM_grobid] = true;
	w->flow.max_waiting = 20000;
	w->facts = (struct ing_status_facts){
		.instance = "w1",
		.version = "1.0",
		.machine = "m",
		.rules_digest = "00ff",
		.pid = 7,
		.phase = ING_PHASE_RUNNING,
		.has_partitions = true,
		.now = {.tv_sec = 1700000090},
		.started = {.tv_sec = 1700000000},
		.now_ms = NOW_MS,
		.started_ms = NOW_MS - 90000,
		.metrics = &w->metrics,
		.flow = &w->flow,
		.recent = recent,
		.hosts = &sources,
		.concurrency = 256,
	};
}

/* --- cases --- */

static void nothing(struct world *w)
{
	w->metrics.gate.waiting = 3; /* they have just come */
	w->survey.requests[ING_NEED_TURN] = 3;
	w->survey.hosts[ING_NEED_TURN] = 3;
	w->facts.survey = &w->survey;
}

static void database(struct world *w)
{
	w->flow.away = "database";
	w->flow.hold = ING_FLOW_AWAY;
	w->facts.away[ING_NEEDS_DATABASE] =
		(struct ing_status_away){.is = true, .ms = 42500, .words = "connection refused"};
}

static void database_with_rows(struct world *w)
{
	database(w);
	w->metrics.deliver.storing = 12;
}

static void broker(struct world *w)
{
	w->facts.away[ING_NEEDS_BROKER].is = true;
}

static void away_a_moment_ago(struct world *w)
{
	w->flow.away = "broker";
	w->flow.hold = ING_FLOW_AWAY;
}

static void stopping(struct world *w)
{
	w->facts.phase = ING_PHASE_STOPPING;
	w->metrics.pipeline.jobs = 1;
	database(w); /* it stops all the same */
}

static void starting(struct world *w)
{
	w->facts.phase = ING_PHASE_STARTING;
	w->metrics.intake.partitions = 0;
}

static void just_started(struct world *w)
{
	starting(w);
	w->facts.started_ms = NOW_MS - 5000;
}

static void no_partitions(struct world *w)
{
	w->metrics.intake.partitions = 0;
}

static void lines_of_a_file(struct world *w)
{
	no_partitions(w);
	w->facts.has_partitions = false;
}

static void partitions_starting(struct world *w)
{
	w->metrics.intake.partitions_starting = 3;
}

static void maps(struct world *w)
{
	w->metrics.intake.partitions_held = 1;
}

static void maps_full(struct world *w)
{
	w->metrics.intake.partitions_full = 2;
}

static void unacked(struct world *w)
{
	w->flow.hold = ING_FLOW_UNACKED;
	w->flow.hold_ms = 200000;
	w->flow.unacked = 1100;
	w->metrics.deliver.storing = 1090;
	w->metrics.deliver.committing = 10;
}

static void examiners(struct world *w)
{
	w->flow.hold = ING_FLOW_EXAMINERS;
	w->metrics.pool.waiting = 64;
	w->metrics.pool.examiners_ready = 2;
}

static void grobid(struct world *w)
{
	w->flow.hold = ING_FLOW_GROBID;
	w->flow.hold_ms = 9000000;
	w->metrics.grobid.waiting = 17;
	w->metrics.grobid.working = 8;
}

static void transfers(struct world *w)
{
	w->metrics.gate.waiting = 1;
	w->metrics.gate.holding = 256;
}

static void hot_host(struct world *w)
{
	w->metrics.gate.waiting = 960;
	w->metrics.gate.holding = 1;
	w->survey.hosts[ING_NEED_SLOT] = 1;
	w->survey.requests[ING_NEED_SLOT] = 950;
	w->survey.hosts[ING_NEED_REST] = 1;
	w->survey.requests[ING_NEED_REST] = 10;
	w->hosts[0] =
		(struct ing_survey_host){.waiting = 950, .key = "hot.example", .pace_ms = 10000};
	w->hosts[0].view.need = ING_NEED_SLOT;
	w->hosts[1] = (struct ing_survey_host){
		.waiting = 10, .key = "b.example", .held = true, .pace_ms = 10000};
	w->hosts[1].view.need = ING_NEED_REST;
	w->hosts[1].view.rest_ms = 41200;
	w->hosts[1].view.backoff.rest = ING_REST_BREAKER;
	w->survey.waiting = w->hosts;
	w->survey.waiting_count = 2;
	w->facts.survey = &w->survey;
}

static void robots(struct world *w)
{
	hot_host(w);
	w->metrics.gate.waiting = 1;
	w->metrics.robots.waiting = 40;
	w->survey.hosts[ING_NEED_REST] = 0;
	w->survey.requests[ING_NEED_REST] = 0;
	w->survey.requests[ING_NEED_SLOT] = 1;
	w->survey.waiting_count = 1;
	w->hosts[0].waiting = 1;
	w->hosts[0].robots_waiting = 40;
	w->hosts[0].pace_ms = 1000;
}

static void room(struct world *w)
{
	hot_host(w);
	w->hosts[0].view.need = ING_NEED_ROOM;
	w->hosts[0].pace_ms = 0;
	w->survey.hosts[ING_NEED_SLOT] = 0;
	w->survey.requests[ING_NEED_SLOT] = 0;
	w->survey.hosts[ING_NEED_ROOM] = 1;
	w->survey.requests[ING_NEED_ROOM] = 951;
	w->metrics.pool.waiting = 4;
	w->metrics.pool.examiners_ready = 2;
}

static void loop(struct world *w)
{
	w->facts.loop_percent = 97;
}

static void slow_examiners(struct world *w)
{
	w->metrics.pipeline.jobs = 9;
	w->metrics.pipeline.oldest_ms = 5000;
	w->metrics.pipeline.by_state[ING_JOB_EXAMINING] = 7;
	w->metrics.pool.waiting = 3;
	w->metrics.pool.waiting_late = 2;
	w->metrics.pool.examiners_ready = 2;
}

static void slow_grobid(struct world *w)
{
	slow_examiners(w);
	w->metrics.pipeline.by_state[ING_JOB_EXAMINING] = 3;
	w->metrics.pipeline.by_state[ING_JOB_DERIVING] = 6;
	w->metrics.grobid.working = 4;
	w->metrics.grobid.waiting = 2;
	w->metrics.grobid.answered = 3;
	w->metrics.grobid.answer_ms = 36000;
}

static void slow_database(struct world *w)
{
	slow_examiners(w);
	w->metrics.pipeline.by_state[ING_JOB_EXAMINING] = 0;
	w->metrics.deliver.storing = 9;
}

static void quick_enough(struct world *w)
{
	slow_database(w);
	w->metrics.pipeline.oldest_ms = 4999;
}

static void hosts_not_looked_at(struct world *w)
{
	hot_host(w);
	w->facts.survey = NULL;
	w->metrics.gate.hosts_resting = 7;
	w->metrics.gate.hosts_held = 2;
}

/* As many as may be asked wait for their turn: then the hosts hold nothing. */
static void hosts_ready(struct world *w)
{
	hot_host(w);
	w->survey.hosts[ING_NEED_TURN] = 100;
	w->survey.requests[ING_NEED_TURN] = 500;
}

static const struct {
	const char *name;
	void (*set)(struct world *w);
	const char *want; /* NULL: nothing holds it */
} cases[] = {
	{"nothing", nothing, NULL},
	{"stopping", stopping, "it is stopping: 1 request under way may still finish"},
	{"database", database, "database unavailable for 42 s: connection refused"},
	{"database with rows", database_with_rows,
		"database unavailable for 42 s: connection refused; rows of 12 requests wait for it"},
	{"broker", broker, "broker unavailable"},
	{"away a moment ago", away_a_moment_ago, "broker unavailable"},
	{"starting", starting,
		"no partitions have been assigned to it for 90 s: the brokers cannot be reached, or the "
		"group does not settle"},
	{"just started", just_started, NULL},
	{"no partitions", no_partitions,
		"it has no partitions: the other workers of its group have all"},
	{"lines of a file", lines_of_a_file, NULL},
	{"partitions starting", partitions_starting,
		"3 of 4 partitions are not read yet: brokers or database have not answered"},
	{"maps", maps,
		"1 of 4 partitions are not read because of their position maps (ingestctl positions "
		"show)"},
	{"maps full", maps_full,
		"2 of 4 partitions are not read until their oldest requests are finished"},
	{"unacked", unacked,
		"1100 results wait for database or broker (storing 1090, sending 0, committing 10), for "
		"3 min"},
	{"examiners", examiners,
		"examiners: 64 documents wait for one of 2 examiners, which are all at work"},
	{"GROBID", grobid, "GROBID: 17 documents wait for it, 8 are being read, for 2 h 30 min"},
	{"transfers", transfers,
		"all 256 transfers of gate.concurrency are under way, and 1 request wait"},
	{"hot host", hot_host,
		"all 960 waiting requests are for 2 hosts that may not be asked now: hot.example (950: "
		"its transfer is under way; one each 10 s), b.example (10: breaker, 42 s left)"},
	{"hosts, not looked at", hosts_not_looked_at,
		"960 requests wait for their hosts, of which 7 are in a pause and 2 held"},
	{"robots", robots,
		"all 41 waiting requests are for 1 host that may not be asked now: hot.example (41 "
		"for its robots.txt: its transfer is under way)"},
	{"room", room,
		"examiners: 4 documents wait for one of 2, and until they are examined 951 requests of the "
		"same domains wait: hot.example (950: too many of its documents wait for examiners), "
		"b.example (10: breaker, 42 s left)"},
	{"loop", loop, "its loop has no time left: it takes 97 % of a core"},
	{"slow examiners", slow_examiners,
		"7 of 9 requests are with examiners: 5 documents wait, 2 examiners"},
	{"slow GROBID", slow_grobid,
		"6 of 9 requests are with GROBID: it reads 4, 2 wait, and an answer takes 12 s"},
	{"slow database", slow_database,
		"9 of 9 requests wait for the database to have their rows"},
	{"quick enough", quick_enough, NULL},
	{"hosts ready", hosts_ready, NULL},
};

static void what_holds_a_worker_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct world w;
		struct ing_buf words;
		init_world(&w);
		cases[i].set(&w);
		ing_buf_init(&words, 1000);
		bool held = ing_status_held_by(&w.facts, &words);
		if (held != (cases[i].want != NULL) ||
			strcmp(ing_buf_str(&words), held ? cases[i].want : "") != 0)
			fail_msg("%s: \"%s\"", cases[i].name, ing_buf_str(&words));
		json_t *status = ing_status_json(&w.facts, 0);
		const char *in_json = ing_json_get_text(status, "held_by");
		if (held)
			assert_string_equal(in_json, cases[i].want);
		else
			assert_null(in_json);
		assert_int_equal(json_array_size(json_object_get(status, "holds")) > 0, held);
		json_decref(status);
		ing_buf_done(&words);
	}
}

static void all_that_holds_it_is_listed_the_first_to_mend_first(void **state)
{
	(void)state;
	struct world w;
	init_world(&w);
	database(&w);
	partitions_starting(&w);
	json_t *status = ing_status_json(&w.facts, 0);
	const json_t *holds = json_object_get(status, "holds");
	assert_int_equal(json_array_size(holds), 2);
	assert_string_equal(ing_json_get_text(json_array_get(holds, 0), "what"), "database");
	assert_true(ing_json_get_true(json_array_get(holds, 0), "trouble"));
	assert_string_equal(ing_json_get_text(json_array_get(holds, 1), "what"), "partitions");
	json_decref(status);
}

static void parts_are_there_when_asked_for(void **state)
{
	(void)state;
	struct world w;
	init_world(&w);
	hot_host(&w);
	w.flow.lanes[ING_LANE_BULK] =
		(struct ing_flow_lane){.configured = true, .jobs = 9, .pause = ING_PAUSE_FULL};
	w.facts.lane_topics[ING_LANE_BULK] = "requests-bulk";
	json_t *status = ing_status_json(&w.facts, 0);
	assert_null(json_object_get(status, "hosts"));
	assert_null(json_object_get(status, "hour"));
	assert_string_equal(ing_json_get_text(status, "state"), "running");
	assert_int_equal(ing_json_get_number(status, "uptime_s"), 90);
	assert_true(json_is_null(json_object_get(status, "grobid")));
	const json_t *lanes = json_object_get(status, "lanes");
	assert_int_equal(json_array_size(lanes), 1);
	assert_string_equal(ing_json_get_text(json_array_get(lanes, 0), "lane"), "bulk");
	assert_string_equal(ing_json_get_text(json_array_get(lanes, 0), "not_read"), "full");
	json_decref(status);
	status = ing_status_json(&w.facts, ING_SHOW_ALL);
	const json_t *hosts = json_object_get(status, "hosts");
	assert_int_equal(json_array_size(json_object_get(hosts, "most_waiting")), 2);
	const json_t *needs = json_object_get(hosts, "needs");
	assert_int_equal(ing_json_get_number(json_object_get(needs, "slot"), "requests"), 950);
	assert_int_equal(json_object_size(needs), 2);
	assert_true(json_is_array(json_object_get(status, "failures")));
	assert_true(json_is_object(json_object_get(status, "hour")));
	json_decref(status);
}

/* Not one for a lane that this worker does not read. */
static void the_order_that_holds_requests_is_named(void **state)
{
	(void)state;
	struct world w;
	struct ing_buf words;
	struct ing_orders *orders = ing_orders_new("w1");
	const struct ing_order list[] = {
		{.kind = ING_TARGET_LANE, .action = ING_ACTION_PAUSE, .target = "daily"},
		{.kind = ING_TARGET_HOST, .action = ING_ACTION_PAUSE, .target = "a.example"}};
	assert_int_equal(ing_orders_replace(orders, list, 2, NOW_MS), 0);
	init_world(&w);
	w.facts.orders = orders;
	w.flow.lanes[ING_LANE_REQUESTS].configured = true;
	w.metrics.pipeline.held_by_orders = 5;
	ing_buf_init(&words, 1000);
	assert_true(ing_status_held_by(&w.facts, &words));
	assert_string_equal(ing_buf_str(&words),
		"host a.example is paused 0 s ago; and 1 more order; 5 requests wait for that");
	ing_buf_done(&words);
	ing_orders_free(orders);
}

static void a_lag_that_is_not_known_is_none(void **state)
{
	(void)state;
	struct world w;
	init_world(&w);
	w.flow.lanes[ING_LANE_BULK].configured = true;
	w.metrics.intake.lag_bulk = 7;
	for (w.metrics.intake.partitions_measured = 0; w.metrics.intake.partitions_measured < 2;
		w.metrics.intake.partitions_measured++) {
		json_t *status = ing_status_json(&w.facts, 0);
		const json_t *lane = json_array_get(json_object_get(status, "lanes"), 0);
		const json_t *lag = json_object_get(lane, "lag");
		if (w.metrics.intake.partitions_measured == 0)
			assert_true(json_is_null(lag));
		else
			assert_int_equal(json_integer_value(lag), 7);
		json_decref(status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_holds_a_worker_is_said),
		cmocka_unit_test(all_that_holds_it_is_listed_the_first_to_mend_first),
		cmocka_unit_test(parts_are_there_when_asked_for),
		cmocka_unit_test(the_order_that_holds_requests_is_named),
		cmocka_unit_test(a_lag_that_is_not_known_is_none),
	};
	recent = ing_recent_new(NOW_MS);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	ing_recent_free(recent);
	return rc;
}
