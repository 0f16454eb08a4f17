/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Workers that do nothing but lease.
 */
#include "tests/unit/worker/gate/lease_client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "tests/unit/worker/store/bench.h"

static void nothing(uv_timer_t *t)
{
	(void)t;
}

const char *fleet_database(void)
{
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	return dsn;
}

static void open_on(struct fleet *f, const char *dsn)
{
	*f = (struct fleet){.dsn = dsn,
		.conf = {.lease_ms = 60000,
			.round_ms = 10,
			.takeover_rest_ms = 1000,
			.expired_rest_ms = 1000,
			.blocks_ms = 100}};
	assert_int_equal(uv_loop_init(&f->loop), 0);
	uv_timer_init(&f->loop, &f->tick);
	uv_timer_start(&f->tick, nothing, 5, 5);
}

void fleet_open(struct fleet *f)
{
	open_on(f, fleet_database());
}

void fleet_close(struct fleet *f)
{
	uv_close((uv_handle_t *)&f->tick, NULL);
	uv_run(&f->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&f->loop), 0);
}

void fleet_run(struct fleet *f, unsigned ms)
{
	uint64_t until = ing_now_ms() + ms;
	while (ing_now_ms() < until)
		uv_run(&f->loop, UV_RUN_ONCE);
}

long fleet_rows(const struct fleet *f)
{
	return bench_number(f->dsn, "SELECT count(*) FROM host_state");
}

long fleet_held(const struct fleet *f)
{
	return bench_number(f->dsn, "SELECT count(*) FROM host_state WHERE holder IS NOT NULL");
}

static void record_event(void *ctx, const struct ing_lease_event *n)
{
	struct lease_client *w = ctx;
	if ((w->event_count & (w->event_count - 1)) == 0)
		w->events = ing_realloc(w->events,
			(w->event_count == 0 ? 1 : 2 * w->event_count) * sizeof(*w->events));
	struct client_event *t = &w->events[w->event_count++];
	*t = (struct client_event){.type = n->type,
		.at_ms = ing_now_ms(),
		.until_ms = n->until_ms,
		.retry_ms = n->retry_ms,
		.has_backoff = n->backoff != NULL};
	snprintf(t->host, sizeof(t->host), "%s", n->host);
	snprintf(t->holder, sizeof(t->holder), "%s", n->holder != NULL ? n->holder : "");
	if (n->backoff != NULL)
		t->backoff = *n->backoff;
	if (w->on_event != NULL)
		w->on_event(w, t);
}

static void record_state(void *ctx, bool away)
{
	struct lease_client *w = ctx;
	*(away ? &w->went_away : &w->came_back) += 1;
	assert_int_equal(ing_leases_away(w->l), away);
}

static int try_open(
	struct fleet *f, struct lease_client *w, const char *instance, struct ing_error *err)
{
	struct ing_lease_conf conf = f->conf;
	*w = (struct lease_client){0};
	conf.dsn = f->dsn;
	conf.instance = instance;
	int rc = ing_leases_new(&f->loop, &conf, &w->l, err);
	if (rc == 0)
		ing_leases_set_user(
			w->l, &(struct ing_lease_user){
				      .ctx = w, .event = record_event, .state = record_state});
	return rc;
}

void client_open(struct fleet *f, struct lease_client *w, const char *instance)
{
	struct ing_error err = {0};
	bench_check(try_open(f, w, instance, &err), &err);
}

void client_close(struct lease_client *w)
{
	ing_leases_free(w->l);
	free(w->events);
}

static void open_with(struct fleet *f, const struct ing_lease_conf *conf)
{
	fleet_open(f);
	if (conf == NULL)
		return;
	unsigned *const to[] = {&f->conf.lease_ms, &f->conf.round_ms, &f->conf.takeover_rest_ms,
		&f->conf.expired_rest_ms, &f->conf.statement_ms, &f->conf.blocks_ms};
	const unsigned from[] = {conf->lease_ms, conf->round_ms, conf->takeover_rest_ms,
		conf->expired_rest_ms, conf->statement_ms, conf->blocks_ms};
	for (size_t i = 0; i < ING_ARRAY_LEN(to); i++) {
		if (from[i] != 0)
			*to[i] = from[i];
	}
}

void solo_open(struct fleet *f, const struct ing_lease_conf *conf, struct lease_client *a)
{
	open_with(f, conf);
	client_open(f, a, "a");
}

void pair_open(struct fleet *f, const struct ing_lease_conf *conf, struct lease_client *a,
	struct lease_client *b)
{
	solo_open(f, conf, a);
	client_open(f, b, "b");
}

void fleet_open_dead(struct fleet *f, const struct ing_lease_conf *conf, struct lease_client *w,
	const char *instance, uint64_t *ret_until_ms)
{
	static const char *const hosts[] = {"a.example"};
	open_with(f, conf);
	client_kill(f, "a", hosts, 1, ret_until_ms);
	client_open(f, w, instance);
}

void solo_close(struct fleet *f, struct lease_client *a)
{
	client_close(a);
	fleet_close(f);
}

void pair_close(struct fleet *f, struct lease_client *a, struct lease_client *b)
{
	client_close(a);
	solo_close(f, b);
}

static struct client_event *next_unread(struct lease_client *w, const char *host)
{
	for (size_t i = w->first_unread; i < w->event_count; i++) {
		struct client_event *t = &w->events[i];
		if (t->read || strcmp(t->host, host) != 0)
			continue;
		t->read = true;
		while (w->first_unread < w->event_count && w->events[w->first_unread].read)
			w->first_unread++;
		return t;
	}
	return NULL;
}

const struct client_event *client_wait(struct fleet *f, struct lease_client *w, const char *host)
{
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	for (;;) {
		const struct client_event *t = next_unread(w, host);
		if (t != NULL)
			return t;
		if (ing_now_ms() > until)
			fail_msg("no event of %s", host);
		uv_run(&f->loop, UV_RUN_ONCE);
	}
}

const struct client_event *client_request(struct fleet *f, struct lease_client *w, const char *host)
{
	ing_leases_request(w->l, host);
	return client_wait(f, w, host);
}

const struct client_event *client_acquire(struct fleet *f, struct lease_client *w, const char *host)
{
	for (;;) {
		const struct client_event *t = client_request(f, w, host);
		if (t->type == ING_LEASE_GRANTED)
			return t;
		assert_true(t->type == ING_LEASE_HELD || t->type == ING_LEASE_RESTING);
		assert_in_range(t->retry_ms, 1, 3600000);
		fleet_run(f, t->retry_ms);
	}
}

void client_release(
	struct fleet *f, struct lease_client *w, const char *host, struct ing_host_backoff backoff)
{
	ing_leases_release(w->l, host, &backoff);
	fleet_run(f, 300);
}

size_t client_unread(const struct lease_client *w)
{
	size_t n = 0;
	for (size_t i = 0; i < w->event_count; i++)
		n += !w->events[i].read;
	return n;
}

struct ing_host_backoff resting(unsigned ms)
{
	uint64_t now = ing_now_ms();
	return (struct ing_host_backoff){.rest_until_ms = now + ms,
		.rest = ING_REST_DELAY,
		.http_status = 200,
		.outcome = "success",
		.answered_ms = now};
}

/* In the child, where a failed assertion would go on with the parent's tests. */
static void hold(const struct fleet *like, const char *instance, const char *const *hosts,
	size_t count, int out)
{
	struct fleet f;
	struct lease_client w;
	uint64_t deadline = ing_now_ms() + WAIT_LIMIT_MS;
	open_on(&f, like->dsn);
	f.conf = like->conf;
	if (try_open(&f, &w, instance, NULL) != 0)
		_exit(2);
	for (size_t i = 0; i < count; i++)
		ing_leases_request(w.l, hosts[i]);
	while (w.event_count < count && ing_now_ms() < deadline)
		uv_run(&f.loop, UV_RUN_ONCE);
	for (size_t i = 0; i < count; i++) {
		if (i >= w.event_count || w.events[i].type != ING_LEASE_GRANTED)
			_exit(3);
	}
	if (write(out, &w.events[0].until_ms, sizeof(uint64_t)) != (ssize_t)sizeof(uint64_t))
		_exit(4);
	for (;;)
		pause(); /* the loop stands still: nothing is extended */
}

void client_kill(const struct fleet *f, const char *instance, const char *const *hosts,
	size_t count, uint64_t *ret_until_ms)
{
	int fds[2];
	int status = 0;
	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(fds[0]);
		hold(f, instance, hosts, count, fds[1]);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], ret_until_ms, sizeof(*ret_until_ms)), sizeof(*ret_until_ms));
	close(fds[0]);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}
