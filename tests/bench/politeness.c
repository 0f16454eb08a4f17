/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What politeness costs, without the web: memory of waiting hosts and requests in the gate, and the
 * lease traffic that PostgreSQL carries.
 *
 *	bench-politeness memory HOSTS WAITERS
 *	bench-politeness leases DSN SECONDS BATCH NAME
 *
 * Prints one JSON object. `leases` is one worker of a fleet: it asks for BATCH hosts that nobody
 *else has, and returns them with what a fetch would have taught; several of them are started beside
 *one another.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/base/clock.h"
#include "worker/gate/gate.h"
#include "worker/gate/fleet/lease.h"
#include "worker/job/job.h"
#include "worker/service/hosts_survey.h"

#define HOST_BYTES 128

/* --- memory --- */

static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

static void ignore_grant(struct ing_gate_waiter *w)
{
	(void)w;
}

static void ignore_refusal(
	struct ing_gate_waiter *w, enum ing_gate_refusal why, unsigned retry_after_s)
{
	(void)w;
	(void)why;
	(void)retry_after_s;
}

static const struct ing_gate_user user = {.granted = ignore_grant, .refused = ignore_refusal};

static void enter(struct ing_gate *g, struct ing_gate_waiter *w, uint64_t host)
{
	char url[HOST_BYTES];
	snprintf(url, sizeof(url), "https://journal-%" PRIu64 ".university-press.example/a", host);
	w->user = &user;
	ing_gate_enter(g, w, url, &(struct ing_gate_ticket){.lane = ING_LANE_BULK});
}

/* CPU time of a look at all hosts, for the status: the longest of some. */
static double survey_ms(const struct ing_gate *g)
{
	uint64_t longest_ns = 0;
	for (int i = 0; i < 5; i++) {
		struct ing_hosts_survey s;
		uint64_t began_ns = ing_thread_cpu_ns();
		ing_hosts_survey(g, NULL, 10, &s);
		uint64_t took_ns = ing_thread_cpu_ns() - began_ns;
		longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
		ing_hosts_survey_done(&s);
	}
	return (double)longest_ns / 1e6;
}

static int measure_memory(uint64_t hosts, uint64_t waiters)
{
	uv_loop_t loop;
	ing_must(uv_loop_init(&loop) == 0);
	struct ing_gate_conf conf = {
		.settings = {.concurrency = 1, .host_concurrency = 1, .weights = {1, 1, 1, 1}}};
	struct ing_gate *g = ing_gate_new(&loop, &conf);
	ing_gate_hold(g, true);
	struct ing_gate_waiter *first = calloc(hosts, sizeof(*first));
	struct ing_gate_waiter *more = calloc(waiters, sizeof(*more));
	ing_must(first != NULL && more != NULL);
	size_t before = heap_bytes();
	uint64_t start = ing_now_ms();
	for (uint64_t i = 0; i < hosts; i++)
		enter(g, &first[i], i);
	size_t with_hosts = heap_bytes();
	for (uint64_t i = 0; i < waiters; i++)
		enter(g, &more[i], i % (hosts / 100 + 1));
	size_t with_all = heap_bytes();
	uint64_t elapsed_ms = ing_now_ms() - start;
	printf("{\"hosts\":%" PRIu64 ",\"waiters\":%" PRIu64
	       ",\"bytes_per_waiting_host\":%.1f,\"gate_bytes_per_waiter\":%.1f,"
	       "\"waiter_bytes\":%zu,\"job_bytes\":%zu,\"enter_us\":%.2f,\"survey_ms\":%.2f}\n",
		hosts, waiters, (double)(with_hosts - before) / (double)hosts,
		(double)(with_all - with_hosts) / (double)waiters, sizeof(struct ing_gate_waiter),
		sizeof(struct ing_job), (double)elapsed_ms * 1000 / (double)(hosts + waiters),
		survey_ms(g));
	for (uint64_t i = 0; i < hosts; i++)
		ing_gate_leave(g, &first[i], NULL);
	for (uint64_t i = 0; i < waiters; i++)
		ing_gate_leave(g, &more[i], NULL);
	ing_gate_free(g);
	uv_run(&loop, UV_RUN_DEFAULT);
	free(first);
	free(more);
	return uv_loop_close(&loop) == 0 ? 0 : 1;
}

/* --- leases --- */

struct traffic {
	uv_loop_t loop;
	uv_timer_t end;
	struct ing_leases *leases;
	const char *name;
	uint64_t next, outstanding, granted, refused;
	unsigned batch;
	bool ended;
};

static void ask_more(struct traffic *t)
{
	while (!t->ended && t->outstanding < t->batch) {
		char host[HOST_BYTES];
		snprintf(host, sizeof(host), "h%" PRIu64 ".%s.example", t->next++, t->name);
		t->outstanding++;
		ing_leases_request(t->leases, host);
	}
}

static void on_event(void *ctx, const struct ing_lease_event *n)
{
	struct traffic *t = ctx;
	if (n->type == ING_LEASE_GRANTED && n->backoff != NULL) {
		struct ing_host_backoff p = *n->backoff;
		struct ing_host_backoff_settings conf = {.delay_ms = 500};
		struct ing_gate_report report = {.kind = ING_ANSWER_GOOD,
			.http_status = 200,
			.outcome = "success",
			.retry_after_s = -1,
			.response_ms = 80};
		ing_host_backoff_report(&p, &conf, &report, ing_now_ms(), 0);
		ing_leases_release(t->leases, n->host, &p);
		t->granted++;
	} else if (n->type == ING_LEASE_HELD || n->type == ING_LEASE_RESTING) {
		t->refused++;
	} else {
		return;
	}
	t->outstanding--;
	if (t->outstanding <= t->batch / 2)
		ask_more(t);
}

static void on_state(void *ctx, bool away)
{
	(void)ctx;
	if (away)
		fprintf(stderr, "bench-politeness: the database is away\n");
}

static void on_end(uv_timer_t *timer)
{
	struct traffic *t = timer->data;
	t->ended = true;
	uv_close((uv_handle_t *)timer, NULL);
	uv_stop(&t->loop);
}

static int measure_leases(const char *dsn, unsigned seconds, unsigned batch, const char *name)
{
	struct traffic t = {.name = name, .batch = batch};
	struct ing_error err = {0};
	ing_must(uv_loop_init(&t.loop) == 0);
	struct ing_lease_conf conf = {
		.dsn = dsn, .instance = name, .lease_ms = 60000, .round_ms = 50};
	if (ing_leases_new(&t.loop, &conf, &t.leases, &err) != 0) {
		fprintf(stderr, "bench-politeness: %s\n", err.msg);
		return 3;
	}
	struct ing_lease_user lease_user = {.ctx = &t, .event = on_event, .state = on_state};
	ing_leases_set_user(t.leases, &lease_user);
	uv_timer_init(&t.loop, &t.end);
	t.end.data = &t;
	uv_timer_start(&t.end, on_end, (uint64_t)seconds * 1000, 0);
	ask_more(&t);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	struct ing_lease_stats s;
	ing_leases_stats(t.leases, &s);
	printf("{\"name\":\"%s\",\"seconds\":%u,\"granted\":%" PRIu64 ",\"refused\":%" PRIu64
	       ",\"rounds\":%" PRIu64 ",\"database_ms_per_hundred\":%.3f}\n",
		name, seconds, t.granted, t.refused, s.rounds,
		t.granted > 0 ? (double)s.database_us / 10 / (double)t.granted : 0.0);
	ing_leases_free(t.leases);
	uv_run(&t.loop, UV_RUN_DEFAULT);
	return uv_loop_close(&t.loop) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "memory") == 0)
		return measure_memory(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	if (argc == 6 && strcmp(argv[1], "leases") == 0)
		return measure_leases(argv[2], (unsigned)strtoul(argv[3], NULL, 10),
			(unsigned)strtoul(argv[4], NULL, 10), argv[5]);
	fprintf(stderr, "usage: bench-politeness memory HOSTS WAITERS\n"
			"       bench-politeness leases DSN SECONDS BATCH NAME\n");
	return 2;
}
