/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job with many visits at once, cancelled midway. Gate, fetch and the web are real; leases are
 * counted here, and archive and examiners call back when the test lets them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/base/clock.h"
#include "stages.h"
#include "tests/unit/worker/fetch/client.h"
#include "tests/unit/worker/fetch/web.h"
#include "worker/deliver/deliver.h"
#include "worker/gate/fleet/lease.h"
#include "worker/gate/gate.h"
#include "worker/job/pipeline_priv.h"

#define HOSTS 5
#define VISITS 20
#define GIVE_UP_MS 60000

/* --- leases: asked for, and granted with the next turn of the loop --- */

struct ing_leases {
	struct ing_lease_user user;
	struct {
		bool asked, held;
	} hosts[HOSTS];
	unsigned granted, returned;
	uv_prepare_t grant;
};

static struct ing_leases leases;

static size_t index_of(const char *host)
{
	assert_true(host[0] == 'h' && host[1] >= '0' && host[1] < '0' + HOSTS);
	return (size_t)(host[1] - '0');
}

static void grant_asked(uv_prepare_t *handle)
{
	(void)handle;
	for (size_t i = 0; i < HOSTS; i++) {
		char host[] = "h0.example";
		host[1] = (char)('0' + i);
		if (!leases.hosts[i].asked)
			continue;
		leases.hosts[i].asked = false;
		leases.hosts[i].held = true;
		leases.granted++;
		leases.user.event(leases.user.ctx, &(struct ing_lease_event){
							   .host = host,
							   .type = ING_LEASE_GRANTED,
							   .until_ms = ing_now_ms() + 600000,
						   });
	}
}

void ing_leases_set_user(struct ing_leases *l, const struct ing_lease_user *user)
{
	l->user = *user;
}

bool ing_leases_away(const struct ing_leases *l)
{
	(void)l;
	return false;
}

void ing_leases_hurry(struct ing_leases *l, const char *host)
{
	(void)l;
	(void)host;
}

void ing_leases_request(struct ing_leases *l, const char *host)
{
	l->hosts[index_of(host)].asked = true;
}

void ing_leases_cancel(struct ing_leases *l, const char *host)
{
	l->hosts[index_of(host)].asked = false;
}

void ing_leases_update(struct ing_leases *l, const char *host, const struct ing_host_backoff *p)
{
	(void)p;
	assert_true(l->hosts[index_of(host)].held);
}

void ing_leases_release(struct ing_leases *l, const char *host, const struct ing_host_backoff *p)
{
	(void)p;
	assert_true(l->hosts[index_of(host)].held);
	l->hosts[index_of(host)].held = false;
	l->returned++;
}

/* --- the web --- */

static void say_page(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\npage");
}

static void say_redirect(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n");
}

/* More than fetch keeps in memory, and then nothing. */
static void stall(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4000000\r\n\r\n");
	web_pattern(c, 0, 2000000);
	web_wait(c, -1);
	c->over = true;
}

static void say_nothing(struct web_conn *c)
{
	web_wait(c, -1);
	c->over = true;
}

static const struct web_page pages[] = {
	{"/page", say_page},
	{"/redirect", say_redirect},
	{"/stall", stall},
	{NULL, say_nothing},
};

/* --- one job --- */

static struct client client;
static struct ing_gate *gate;
static struct ing_visits *visits;
static struct ing_deliver *deliver;
static struct ing_pipeline *pipeline;
static struct web *web;

static void turn_until(bool (*reached)(void))
{
	uint64_t give_up_ms = ing_now_ms() + GIVE_UP_MS;
	while (!reached()) {
		assert_true(ing_now_ms() < give_up_ms);
		client_turn(&client, 5);
	}
}

static void begin(void)
{
	static char routes[HOSTS][64];
	static char *connect_to[HOSTS + 1];
	fake_reset();
	memset(&leases, 0, sizeof(leases));
	web = web_start(pages, NULL);
	for (int i = 0; i < HOSTS; i++) {
		snprintf(routes[i], sizeof(routes[i]), "h%d.example:80:127.0.0.1:%u", i,
			web_port(web));
		connect_to[i] = routes[i];
	}
	struct ing_fetch_settings conf = client_settings();
	conf.connect_to = connect_to;
	conf.timeout_ms = conf.stall_ms = 10 * GIVE_UP_MS;
	client_start(&client, &conf);
	uv_prepare_init(&client.loop, &leases.grant);
	uv_prepare_start(&leases.grant, grant_asked);
	gate = ing_gate_new(
		&client.loop, &(struct ing_gate_conf){.settings = {.concurrency = 2 * VISITS,
							      .host_concurrency = 2,
							      .weights = {1, 1, 1, 1}},
				      .transfer_ms = 60000,
				      .leases = &leases});
	visits = ing_visits_new(&client.loop, &(struct ing_visits_conf){0});
	ing_visits_wire(
		visits, &(struct ing_visits_stages){
				.gate = gate, .fetch = client.fetch, .archive = FAKE_STAGE});
	deliver = fake_deliver_new(true, NULL);
	pipeline = ing_pipeline_new(
		&client.loop, &(struct ing_pipeline_conf){.settings = {.max_waiting = 10,
								  .max_hops = 100,
								  .max_redirects = 5,
								  .deadline_ms = 10 * GIVE_UP_MS},
				      .max_unacked = 10,
				      .max_body_bytes = 8000000});
	ing_pipeline_wire(pipeline, &(struct ing_stages){.intake = FAKE_STAGE,
					    .visits = visits,
					    .pool = FAKE_STAGE,
					    .deliver = deliver});
}

static struct ing_gate_stats gate_stats(void)
{
	struct ing_gate_stats s = {0};
	ing_gate_stats(gate, &s);
	return s;
}

static bool is_first_admitted(void)
{
	return pipeline->jobs[0]->work != NULL;
}

/* Of each host's four visits one is examined, one has been redirected and waits anew, and two are
 * in the middle of their transfers. */
static bool is_midway(void)
{
	return fake.exams.count == HOSTS && fake.archived.count == 2 * HOSTS &&
	       gate_stats().holding == 2 * HOSTS && gate_stats().waiting == HOSTS;
}

static void bring_midway(void)
{
	static const char *const paths[VISITS / HOSTS] = {"page", "redirect", "stall", "silence"};
	static const char text[] =
		"{\"ingest_type\":\"pdf\",\"base_url\":\"http://h0.example/page\"}";
	ing_pipeline_on_message(pipeline, &(struct ing_message){.value = text,
						  .value_bytes = sizeof(text) - 1,
						  .topic = "requests",
						  .lane = ING_LANE_REQUESTS});
	turn_until(is_first_admitted);
	struct ing_job *job = pipeline->jobs[0];
	for (int i = 1; i < VISITS; i++) {
		char url[64];
		snprintf(url, sizeof(url), "http://h%d.example/%s", i % HOSTS, paths[i / HOSTS]);
		ing_job_visit(job, url, NULL);
	}
	turn_until(is_midway);
	struct ing_pipeline_stats stats;
	ing_pipeline_stats(pipeline, &stats);
	assert_int_equal(stats.by_state[ING_JOB_FETCHING], 1);
	assert_int_equal(leases.granted, HOSTS);
	assert_int_equal(job->work->steps.count, 4 * HOSTS);
}

static bool is_idle(void)
{
	return ing_pipeline_idle(pipeline);
}

static void end(void)
{
	assert_int_equal(gate_stats().waiting + gate_stats().holding, 0);
	assert_int_equal(fake.exams.count, 0);
	assert_int_equal(fake.stored.count + fake.emitted.count, 0);
	assert_int_equal(fake.finished, 0);
	ing_pipeline_free(pipeline);
	ing_deliver_free(deliver);
	ing_visits_free(visits);
	ing_gate_free(gate);
	assert_int_equal(leases.returned, leases.granted);
	uv_close((uv_handle_t *)&leases.grant, NULL);
	client_stop(&client); /* fails when a handle or a spooled file is left */
	fake_reset();
}

static unsigned descriptors(void)
{
	unsigned count = 0;
	DIR *dir = opendir("/proc/self/fd");
	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

/* --- tests --- */

static void cancel_at_once(void)
{
	begin();
	bring_midway();
	ing_pipeline_cancel(pipeline);
	assert_int_equal(gate_stats().waiting + gate_stats().holding, 0);
	assert_false(is_idle()); /* the archive has ten records of it */
	fake_settle();
	assert_true(is_idle());
	web_stop(web);
	end();
}

/* Their servers go on with what they were asked: transfers run to their ends. */
static void revoke_partition(void)
{
	begin();
	bring_midway();
	ing_pipeline_on_revoked(pipeline, 0, 0);
	assert_int_equal(gate_stats().waiting, 0);
	assert_int_equal(gate_stats().holding, 2 * HOSTS);
	assert_int_equal(fake.exams.count, 0);
	fake_settle();
	assert_false(is_idle());
	web_stop(web);
	turn_until(is_idle);
	assert_int_equal(fake.archived.count, 0); /* nobody keeps their answers */
	end();
}

static void twenty_visits_of_a_job_leave_nothing_behind(void **state)
{
	void (*const ways[])(void) = {cancel_at_once, revoke_partition};
	(void)state;
	cancel_at_once(); /* what libraries open once is open then */
	unsigned before = descriptors();
	for (size_t i = 0; i < ING_ARRAY_LEN(ways); i++) {
		ways[i]();
		assert_int_equal(descriptors(), before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(twenty_visits_of_a_job_leave_nothing_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
