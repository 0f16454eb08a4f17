/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The loop's side of the leases: which hosts we hold or request, what is to be sent to the
 * database, and when the next round is due. All state is here, on the loop; the database thread
 * only carries rounds out (lease_round.c).
 *
 * An entry is in the table while its host is held or requested, has something to be sent, or is
 * part of the round under way. Entries with something to be sent are in the list `todo`. The answer
 * to a request may come after the request was cancelled or the lease released: then there is no
 * event, and a lease is released at once.
 */
#include "worker/gate/fleet/lease.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "worker/gate/fleet/lease_priv.h"

#define LEASES_MAGIC 0x4c454153u
#define WANTED_MS 1000     /* between two checks whether others want what we hold */
#define BLOCKS_MS 10000    /* the same for the table of blocks, unless the configuration says */
#define EXTEND_MAX_MS 5000 /* longest time between two checks for leases to be extended */
#define EXTEND_MIN_MS 50
#define FREE_MS 3000 /* longest time to release everything at the end */

struct ing_lease_entry {
	UT_hash_handle hh;
	struct ing_lease_entry *prev, *next; /* in todo */
	unsigned in_round;                   /* times that the round under way refers to it */
	bool queued;                         /* in todo */
	bool requested;                      /* the user waits for the event */
	bool request_sent;                   /* with the round under way */
	bool held;
	bool wanted_reported;            /* of this lease */
	bool update_due;                 /* backoff is to be written */
	bool release_due;                /* and the lease released */
	uint64_t until_ms;               /* held */
	struct ing_host_backoff backoff; /* last received or given */
	char host[];
};

struct ing_leases {
	unsigned magic;
	struct ing_lease_rounds rounds;
	unsigned lease_ms, round_ms, blocks_ms;
	uv_timer_t timer;
	struct ing_lease_entry *entries;
	struct ing_lease_entry *todo;
	unsigned held;
	bool under_way;      /* a round is with the database thread */
	bool more_due;       /* the last round was full: the next one need not wait */
	bool away;           /* as last reported */
	uint64_t planned_ms; /* when the timer fires, if it is active */
	uint64_t round_at_ms, extend_at_ms, wanted_at_ms, blocks_at_ms; /* not before */
	struct ing_lease_user user;
	void (*blocks)(void *ctx, const struct ing_lease_block *blocks, size_t count);
	void *blocks_ctx;
	char blocks_mark[sizeof(((struct ing_lease_round *)0)->blocks_mark)];
	struct ing_lease_stats stats;
};

/* -- entries -------------------------------------------------------------------------------- */

static struct ing_lease_entry *find(const struct ing_leases *l, const char *host)
{
	struct ing_lease_entry *e = NULL;
	HASH_FIND_STR(l->entries, host, e);
	return e;
}

static struct ing_lease_entry *find_or_add(struct ing_leases *l, const char *host)
{
	struct ing_lease_entry *e = find(l, host);
	if (e != NULL)
		return e;
	size_t bytes = strlen(host) + 1;
	e = ing_alloc(sizeof(*e) + bytes);
	memcpy(e->host, host, bytes);
	HASH_ADD_STR(l->entries, host, e);
	return e;
}

static void enqueue(struct ing_leases *l, struct ing_lease_entry *e)
{
	if (!e->queued)
		DL_APPEND(l->todo, e);
	e->queued = true;
}

static void dequeue(struct ing_leases *l, struct ing_lease_entry *e)
{
	if (e->queued)
		DL_DELETE(l->todo, e);
	e->queued = false;
}

static void drop_if_idle(struct ing_leases *l, struct ing_lease_entry *e)
{
	if (e->in_round > 0 || e->queued || e->held || e->requested)
		return;
	HASH_DEL(l->entries, e);
	free(e);
}

static void set_held(struct ing_leases *l, struct ing_lease_entry *e, bool held)
{
	if (held && !e->held)
		l->held++;
	if (!held && e->held)
		l->held--;
	e->held = held;
	e->wanted_reported = false;
}

static void release(
	struct ing_leases *l, struct ing_lease_entry *e, const struct ing_host_backoff *backoff)
{
	set_held(l, e, false);
	e->backoff = *backoff;
	e->release_due = true;
	enqueue(l, e);
	l->stats.returned++;
}

/* -- a round's orders ----------------------------------------------------------------------- */

static void order_update(
	struct ing_lease_update **updates, size_t *count, struct ing_lease_entry *e)
{
	if (*updates == NULL)
		*updates = ing_alloc(ING_LEASE_BATCH * sizeof(**updates));
	(*updates)[(*count)++] = (struct ing_lease_update){e, e->host, e->backoff};
	e->in_round++;
}

/* Everything that the entry has for the database; false: the round is full. */
static bool order_entry(struct ing_leases *l, struct ing_lease_round *r, struct ing_lease_entry *e)
{
	unsigned most = atomic_load(&l->rounds.batch);
	if ((e->release_due && r->release_count >= most) ||
		(e->update_due && r->update_count >= most) ||
		(e->requested && r->request_count >= most))
		return false;
	/* Both, if both are due: only the update is on the server's disk when it is answered. */
	if (e->update_due)
		order_update(&r->updates, &r->update_count, e);
	if (e->release_due)
		order_update(&r->releases, &r->release_count, e);
	e->release_due = e->update_due = false;
	if (e->requested) {
		if (r->requests == NULL)
			r->requests = ing_alloc(ING_LEASE_BATCH * sizeof(*r->requests));
		r->requests[r->request_count++] =
			(struct ing_lease_request){.entry = e, .host = e->host};
		e->request_sent = true;
		e->in_round++;
		l->stats.asked++;
	}
	dequeue(l, e);
	return true;
}

static void order_todo(struct ing_leases *l, struct ing_lease_round *r)
{
	struct ing_lease_entry *e = NULL;
	struct ing_lease_entry *next = NULL;
	DL_FOREACH_SAFE (l->todo, e, next) {
		if (!order_entry(l, r, e))
			break;
	}
	l->more_due = l->todo != NULL;
}

static uint64_t extend_every_ms(const struct ing_leases *l)
{
	uint64_t ms = l->lease_ms / 12;
	return ING_MIN(ING_MAX(ms, (uint64_t)EXTEND_MIN_MS), (uint64_t)EXTEND_MAX_MS);
}

/* Leases of which a third is gone. */
static void order_extends(struct ing_leases *l, struct ing_lease_round *r, uint64_t now)
{
	struct ing_lease_entry *e = NULL;
	struct ing_lease_entry *next = NULL;
	l->extend_at_ms = now + extend_every_ms(l);
	HASH_ITER (hh, l->entries, e, next) {
		if (!e->held || e->until_ms > now + (uint64_t)l->lease_ms * 2 / 3)
			continue;
		if (r->extends == NULL)
			r->extends = ing_alloc(ING_LEASE_BATCH * sizeof(*r->extends));
		if (r->extend_count >= atomic_load(&l->rounds.batch)) {
			l->extend_at_ms = now; /* the others with the next round */
			return;
		}
		r->extends[r->extend_count++] =
			(struct ing_lease_extend){.entry = e, .host = e->host};
		e->in_round++;
	}
}

/* What is due; NULL: nothing. */
static struct ing_lease_round *make_round(struct ing_leases *l)
{
	struct ing_lease_round *r = ing_lease_round_new();
	uint64_t now = ing_now_ms();
	if (l->more_due || now >= l->round_at_ms)
		order_todo(l, r);
	if (l->held > 0 && now >= l->extend_at_ms)
		order_extends(l, r, now);
	if (l->held > 0 && now >= l->wanted_at_ms) {
		r->check_wanted = true;
		l->wanted_at_ms = now + WANTED_MS;
	}
	if (l->blocks != NULL && now >= l->blocks_at_ms) {
		r->check_blocks = true;
		memcpy(r->blocks_mark, l->blocks_mark, sizeof(r->blocks_mark));
		l->blocks_at_ms = now + l->blocks_ms;
	}
	if (r->update_count + r->release_count + r->request_count + r->extend_count > 0 ||
		r->check_wanted || r->check_blocks) {
		l->round_at_ms = now + l->round_ms;
		return r;
	}
	ing_lease_round_free(r);
	return NULL;
}

static void send_round(struct ing_leases *l, struct ing_lease_round *r)
{
	l->under_way = true;
	l->stats.rounds++;
	ing_lease_rounds_send(&l->rounds, r);
}

static void on_timer(uv_timer_t *timer);

/* Set the timer to when the next round is due. */
static void plan(struct ing_leases *l)
{
	if (l->under_way)
		return;
	uint64_t due = UINT64_MAX;
	uint64_t now = ing_now_ms();
	if (l->todo != NULL)
		due = l->more_due ? 0 : l->round_at_ms;
	if (l->held > 0)
		due = ING_MIN(due, ING_MIN(l->extend_at_ms, l->wanted_at_ms));
	if (l->blocks != NULL)
		due = ING_MIN(due, l->blocks_at_ms);
	if (due == UINT64_MAX) {
		uv_timer_stop(&l->timer);
		return;
	}
	if (uv_is_active((uv_handle_t *)&l->timer) && l->planned_ms == due)
		return;
	l->planned_ms = due;
	uv_update_time(l->timer.loop);
	uv_timer_start(&l->timer, on_timer, due > now ? due - now : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
	struct ing_leases *l;
	ING_CAST_OBJ(l, timer->data, LEASES_MAGIC);
	struct ing_lease_round *r = l->under_way ? NULL : make_round(l);
	if (r != NULL)
		send_round(l, r);
	else
		plan(l);
}

/* -- a round's answers ---------------------------------------------------------------------- */

static void notify(struct ing_leases *l, const struct ing_lease_event *n)
{
	if (l->user.event != NULL)
		l->user.event(l->user.ctx, n);
}

static void take_extend(struct ing_leases *l, const struct ing_lease_extend *x)
{
	struct ing_lease_entry *e = x->entry;
	if (e->held && x->kept) {
		e->until_ms = x->until_ms;
		l->stats.extended++;
		notify(l, &(struct ing_lease_event){.host = e->host,
				  .type = ING_LEASE_GRANTED,
				  .until_ms = e->until_ms});
	} else if (e->held) {
		set_held(l, e, false);
		notify(l, &(struct ing_lease_event){.host = e->host, .type = ING_LEASE_LOST});
	}
	e->in_round--;
	drop_if_idle(l, e);
}

static void take_grant(struct ing_leases *l, const struct ing_lease_request *a)
{
	struct ing_lease_entry *e = a->entry;
	if (e->release_due)
		return; /* released meanwhile, having been held before: with the next round */
	if (!e->requested) {
		release(l, e, &a->backoff);
		return;
	}
	set_held(l, e, true);
	e->until_ms = a->until_ms;
	e->backoff = a->backoff;
	e->requested = false;
	l->stats.granted++;
	notify(l, &(struct ing_lease_event){.host = e->host,
			  .type = ING_LEASE_GRANTED,
			  .until_ms = a->until_ms,
			  .backoff = &a->backoff});
}

static void take_request(struct ing_leases *l, const struct ing_lease_request *a)
{
	struct ing_lease_entry *e = a->entry;
	e->request_sent = false;
	if (a->type == ING_LEASE_GRANTED) {
		take_grant(l, a);
	} else if (e->requested) {
		e->requested = false;
		set_held(l, e, false);
		notify(l, &(struct ing_lease_event){.host = e->host,
				  .type = a->type,
				  .retry_ms = a->retry_ms,
				  .holder = a->holder,
				  .backoff = &a->backoff});
	}
	if (e->requested)
		enqueue(l, e);
	e->in_round--;
	drop_if_idle(l, e);
}

static void take_wanted(struct ing_leases *l, const char *host)
{
	struct ing_lease_entry *e = find(l, host);
	if (e == NULL || !e->held || e->wanted_reported)
		return;
	e->wanted_reported = true;
	notify(l, &(struct ing_lease_event){.host = e->host, .type = ING_LEASE_WANTED});
}

static void end_updates(struct ing_leases *l, const struct ing_lease_update *updates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		updates[i].entry->in_round--;
		drop_if_idle(l, updates[i].entry);
	}
}

/* The user may call anything but free from inside its callbacks, so an entry's event comes last,
 * and the entry is not freed while the round refers to it. */
static void take_round(struct ing_leases *l, struct ing_lease_round *r)
{
	l->stats.database_us += r->database_us;
	end_updates(l, r->updates, r->update_count);
	end_updates(l, r->releases, r->release_count);
	for (size_t i = 0; i < r->extend_count; i++)
		take_extend(l, &r->extends[i]);
	for (size_t i = 0; i < r->request_count; i++)
		take_request(l, &r->requests[i]);
	for (size_t i = 0; i < r->wanted_count; i++)
		take_wanted(l, r->wanted[i]);
	if (r->check_blocks && r->blocks_changed && l->blocks != NULL) {
		memcpy(l->blocks_mark, r->blocks_mark, sizeof(l->blocks_mark));
		l->blocks(l->blocks_ctx, r->blocks, r->block_count);
	}
}

/* -- begin and end -------------------------------------------------------------------------- */

static void free_closed(uv_handle_t *handle)
{
	struct ing_leases *l;
	ING_CAST_OBJ(l, handle->data, LEASES_MAGIC);
	l->magic = 0;
	free(l);
}

static void free_entries(struct ing_leases *l)
{
	struct ing_lease_entry *e = NULL;
	struct ing_lease_entry *next = NULL;
	HASH_ITER (hh, l->entries, e, next) {
		HASH_DEL(l->entries, e);
		free(e);
	}
}

static void release_all(struct ing_leases *l)
{
	struct ing_lease_entry *e = NULL;
	struct ing_lease_entry *next = NULL;
	HASH_ITER (hh, l->entries, e, next) {
		e->requested = false;
		if (e->held)
			release(l, e, &e->backoff);
	}
}

/* Rounds of releases only, while the database is there, within FREE_MS; other leases expire. */
static void finish_rounds(struct ing_leases *l)
{
	uint64_t until = ing_now_ms() + FREE_MS;
	while (ing_now_ms() < until && !ing_pg_thread_blocked(l->rounds.thread)) {
		if (!l->under_way) {
			release_all(l);
			if (l->todo == NULL)
				return;
			struct ing_lease_round *r = ing_lease_round_new();
			order_todo(l, r);
			send_round(l, r);
		}
		struct ing_lease_round *r = ing_lease_rounds_wait(&l->rounds, 50);
		if (r == NULL)
			continue;
		take_round(l, r);
		ing_lease_round_free(r);
		l->under_way = false;
	}
}

static int64_t random_session(void)
{
	int64_t id = 0;
	ing_must(getrandom(&id, sizeof(id), 0) == (ssize_t)sizeof(id));
	return (id & INT64_MAX) | 1;
}

/* ------------------------------------------------------------------------------------------ */

int ing_leases_new(struct uv_loop_s *loop, const struct ing_lease_conf *conf,
	struct ing_leases **ret, struct ing_error *err)
{
	struct ing_leases *l = ing_alloc(sizeof(*l));
	*l = (struct ing_leases){.magic = LEASES_MAGIC,
		.lease_ms = conf->lease_ms,
		.round_ms = conf->round_ms,
		.blocks_ms = conf->blocks_ms != 0 ? conf->blocks_ms : BLOCKS_MS,
		.rounds = {.leases = l,
			.session = {.instance = ing_strdup(conf->instance),
				.id = random_session(),
				.lease_ms = conf->lease_ms,
				.takeover_rest_ms = conf->takeover_rest_ms,
				.expired_rest_ms = conf->expired_rest_ms}}};
	ing_pace_init(&l->rounds.pace, ING_LEASE_BATCH, conf->statement_ms);
	int rc = ing_lease_rounds_start(&l->rounds, loop, conf->dsn, err);
	if (rc != 0) {
		free(l->rounds.session.instance);
		free(l);
		return rc;
	}
	ing_must(uv_timer_init(loop, &l->timer) == 0);
	l->timer.data = l;
	*ret = l;
	return 0;
}

void ing_leases_set_user(struct ing_leases *l, const struct ing_lease_user *user)
{
	l->user = *user;
}

void ing_leases_free(struct ing_leases *l)
{
	if (l == NULL)
		return;
	l->user = (struct ing_lease_user){0};
	l->blocks = NULL;
	release_all(l);
	finish_rounds(l);
	ing_lease_rounds_stop(&l->rounds);
	free(l->rounds.session.instance);
	free_entries(l);
	uv_close((uv_handle_t *)&l->timer, free_closed);
}

void ing_leases_request(struct ing_leases *l, const char *host)
{
	struct ing_lease_entry *e = find_or_add(l, host);
	e->requested = true;
	if (!e->request_sent)
		enqueue(l, e);
	plan(l);
}

void ing_leases_hurry(struct ing_leases *l, const char *host)
{
	struct ing_lease_entry *e = find(l, host);
	if (e == NULL || !e->queued || l->todo == e)
		return;
	DL_DELETE(l->todo, e);
	DL_PREPEND(l->todo, e);
}

void ing_leases_cancel(struct ing_leases *l, const char *host)
{
	struct ing_lease_entry *e = find(l, host);
	if (e == NULL)
		return;
	e->requested = false;
	if (!e->update_due && !e->release_due)
		dequeue(l, e);
	drop_if_idle(l, e);
}

void ing_leases_update(struct ing_leases *l, const char *host, const struct ing_host_backoff *p)
{
	struct ing_lease_entry *e = find(l, host);
	if (e == NULL || !e->held)
		return;
	e->backoff = *p;
	e->update_due = true;
	enqueue(l, e);
	plan(l);
}

void ing_leases_release(struct ing_leases *l, const char *host, const struct ing_host_backoff *p)
{
	struct ing_lease_entry *e = find(l, host);
	if (e == NULL || !e->held)
		return;
	release(l, e, p);
	plan(l);
}

bool ing_leases_away(const struct ing_leases *l)
{
	return l->away;
}

const char *ing_leases_trouble(const struct ing_leases *l)
{
	return l->away ? ing_pg_thread_trouble(l->rounds.thread) : NULL;
}

void ing_leases_on_blocks(struct ing_leases *l,
	void (*fn)(void *ctx, const struct ing_lease_block *blocks, size_t count), void *ctx)
{
	l->blocks = fn;
	l->blocks_ctx = ctx;
	l->blocks_mark[0] = '\0';
	l->blocks_at_ms = 0;
	plan(l);
}

/* -- lease_priv.h --------------------------------------------------------------------------- */

void ing_leases_take_round(struct ing_leases *l, struct ing_lease_round *r)
{
	ing_must(r->done);
	take_round(l, r);
	ing_lease_round_free(r);
	l->under_way = false;
	plan(l);
}

void ing_leases_set_away(struct ing_leases *l, bool away)
{
	l->away = away;
	if (l->user.state != NULL)
		l->user.state(l->user.ctx, away);
}

void ing_leases_stats(const struct ing_leases *l, struct ing_lease_stats *ret)
{
	*ret = l->stats;
}
