/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The lease thread: takes a round, executes it until it has happened, hands it back. The database's
 * troubles end here: a lost connection is made again, for ever, and the round repeated on it, which
 * it is made for. Meanwhile `away` is set, and the loop grants nothing because no answers come.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/log.h"
#include "worker/gate/fleet/lease_priv.h"

#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 5000
#define CONFLICT_MIN_MS 2
#define REMIND_MS 60000 /* a trouble that lasts is logged again after this long */

static void sleep_ms(struct ing_lease_thread *t, unsigned ms)
{
	/* Spread by a quarter, so that the workers of a fleet do not come back all at once. */
	unsigned spread = (unsigned)rand_r(&t->seed) % (ms / 4 + 1);
	struct pollfd fd = {.fd = t->stop_fd, .events = POLLIN};
	int rc;
	do {
		rc = poll(&fd, 1, (int)(ms - spread));
	} while (rc < 0 && errno == EINTR);
}

static unsigned backoff_ms(unsigned failures, unsigned min_ms)
{
	unsigned ms = min_ms << ING_MIN(failures, 10u);
	return ING_MIN(ms, (unsigned)BACKOFF_MAX_MS);
}

static void set_away(struct ing_lease_thread *t, bool away)
{
	if (atomic_exchange(&t->away, away) != away)
		uv_async_send(t->async);
}

/* The environment's fault: say so once, wait, and the caller tries again, on the same connection if
 * it still has it. */
static void wait_out(
	struct ing_lease_thread *t, struct ing_log_gate *gate, const struct ing_error *err)
{
	if (atomic_load(&t->stopping))
		return;
	if (!atomic_load(&t->away))
		*gate = (struct ing_log_gate){0};
	set_away(t, true);
	if (ing_log_gate_pass(gate, REMIND_MS, NULL))
		ing_log(ING_LOG_WARNING,
			"%s; no host is leased from it, so nothing new is fetched; trying again",
			err->msg);
	sleep_ms(t, backoff_ms(t->failures, BACKOFF_MIN_MS));
	t->failures++;
}

static void note_success(struct ing_lease_thread *t)
{
	t->failures = 0;
	if (atomic_load(&t->away))
		ing_log(ING_LOG_INFO, "database: leasing hosts again");
	set_away(t, false);
}

/* Of a slow database rounds are short, so that leases are extended between two of them. */
static unsigned batch_of(const struct ing_pace *pace)
{
	return ING_MAX(
		ING_MIN(4 * pace->rows, (unsigned)ING_LEASE_BATCH), (unsigned)ING_LEASE_BATCH_MIN);
}

static void note_pace(struct ing_lease_thread *t)
{
	bool slow = t->pace.rows < ING_LEASE_BATCH_MIN;
	atomic_store(&t->batch, batch_of(&t->pace));
	if (slow && ing_log_gate_pass(&t->slow_gate, REMIND_MS, NULL))
		ing_log(ING_LOG_WARNING, "database: slow: hosts are leased %u at a time",
			t->pace.rows);
}

static void execute(
	struct ing_lease_thread *t, struct ing_log_gate *gate, struct ing_lease_round *r)
{
	unsigned conflicts = 0;
	while (!atomic_load(&t->stopping)) {
		struct ing_error err = {0};
		if (t->pg == NULL && ing_lease_connect(t->dsn, t->stop_fd, &t->pg, &err) != 0) {
			wait_out(t, gate, &err);
			continue;
		}
		enum ing_pg_rc rc = ing_lease_execute(t->pg, &t->session, &t->pace, r, &err);
		note_pace(t);
		switch (rc) {
		case ING_PG_OK:
			note_success(t);
			r->done = true;
			return;
		case ING_PG_CONFLICT:
			sleep_ms(t, backoff_ms(conflicts++, CONFLICT_MIN_MS));
			break;
		case ING_PG_REFUSED: /* nothing we send should be: not ours to work around */
		case ING_PG_LOST:
		case ING_PG_SILENT:
		case ING_PG_TROUBLE:
			ing_pg_close(ING_TAKE(t->pg));
			wait_out(t, gate, &err);
			break;
		case ING_PG_SLOW: /* a single host; the next try may take longer */
		case ING_PG_LOCKED:
			wait_out(t, gate, &err);
			break;
		case ING_PG_STOPPED:
			return;
		}
	}
}

static void *run(void *ctx)
{
	struct ing_lease_thread *t = ctx;
	struct ing_log_gate gate = {0};
	while (!atomic_load(&t->stopping)) {
		struct ing_node *list = ing_queue_wait_all(&t->in, -1);
		while (list != NULL) {
			struct ing_node *next = list->next;
			execute(t, &gate, ING_CONTAINER(list, struct ing_lease_round, node));
			ing_queue_push(&t->out, list);
			uv_async_send(t->async);
			list = next;
		}
	}
	return NULL;
}

static void free_rounds(struct ing_queue *q)
{
	struct ing_node *list = ing_queue_take_all(q);
	while (list != NULL) {
		struct ing_node *next = list->next;
		ing_lease_round_free(ING_CONTAINER(list, struct ing_lease_round, node));
		list = next;
	}
	ing_queue_done(q);
}

/* -------------------------------------------------------------------------------------------- */

void ing_lease_thread_start(struct ing_lease_thread *t)
{
	t->seed = (unsigned)t->session.id;
	atomic_store(&t->batch, batch_of(&t->pace));
	ing_queue_init(&t->in);
	ing_queue_init(&t->out);
	ing_must(pthread_create(&t->thread, NULL, run, t) == 0);
	pthread_setname_np(t->thread, "ing-lease");
}

void ing_lease_thread_stop(struct ing_lease_thread *t)
{
	atomic_store(&t->stopping, true);
	ing_must(write(t->stop_fd, &(uint64_t){1}, sizeof(uint64_t)) == sizeof(uint64_t));
	ing_queue_close(&t->in);
	pthread_join(t->thread, NULL);
	free_rounds(&t->in);
	free_rounds(&t->out);
	ing_lease_thread_done(t);
}

void ing_lease_thread_done(struct ing_lease_thread *t)
{
	ing_pg_close(ING_TAKE(t->pg));
	close(t->stop_fd);
	free(t->dsn);
	free(t->session.instance);
}
