/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The per-host lock. Loop thread.
 *
 * A host is in exactly one place: `ready` (it has waiters and may start one), `resting` (its pause
 * is not over; a binary heap by the time it ends), or neither (all its slots are taken, or nobody
 * waits). A host without waiters, transfers or pause is forgotten, so the table holds only hosts in
 * use. Grants are made from a uv_check-like pump, a few a turn, because starting hundreds of
 * transfers at once delays every timer of the loop by as many connects.
 */
#include "worker/gate/gate.h"

#include <string.h>
#include <uthash.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/net/url.h"

#define GRANTS_PER_TURN 16
#define MAX_KEY_BYTES                                                                              \
	256 /* RFC 1035 names end at 253; a longer "host" shares a queue with its namesakes by     \
	       prefix */

struct ing_gate_host {
	UT_hash_handle hh;
	struct ing_gate_host *prev, *next; /* in ready */
	struct ing_gate_waiter *queue;     /* first come, first served */
	unsigned waiting, holding;
	uint64_t rest_until_ms;
	size_t heap_index; /* in resting, 1-based; 0: not there */
	bool ready;
	char key[];
};

struct ing_gate {
	struct ing_gate_conf conf;
	struct ing_gate_host *hosts;
	struct ing_gate_host *ready; /* round robin */
	struct ing_gate_host **resting;
	size_t resting_count, resting_cap;
	struct ing_gate_waiter *oldest, *youngest;
	unsigned waiting, holding;
	bool held;
	uint64_t held_since_ms, held_ms; /* this hold's begin; all earlier holds together */
	uv_timer_t timer;                /* next end of a rest, or of somebody's patience */
	uv_idle_t pump;                  /* runs while there may be something to grant */
	unsigned handles;
};

/* --- the heap of resting hosts, by rest_until_ms --- */

static void heap_set(struct ing_gate *g, size_t i, struct ing_gate_host *h)
{
	g->resting[i] = h;
	h->heap_index = i + 1;
}

static void heap_up(struct ing_gate *g, size_t i)
{
	struct ing_gate_host *h = g->resting[i];
	while (i > 0) {
		size_t parent = (i - 1) / 2;
		if (g->resting[parent]->rest_until_ms <= h->rest_until_ms)
			break;
		heap_set(g, i, g->resting[parent]);
		i = parent;
	}
	heap_set(g, i, h);
}

static void heap_down(struct ing_gate *g, size_t i)
{
	struct ing_gate_host *h = g->resting[i];
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= g->resting_count)
			break;
		if (child + 1 < g->resting_count &&
			g->resting[child + 1]->rest_until_ms < g->resting[child]->rest_until_ms)
			child++;
		if (h->rest_until_ms <= g->resting[child]->rest_until_ms)
			break;
		heap_set(g, i, g->resting[child]);
		i = child;
	}
	heap_set(g, i, h);
}

static void heap_push(struct ing_gate *g, struct ing_gate_host *h)
{
	if (g->resting_count == g->resting_cap) {
		g->resting_cap = g->resting_cap ? g->resting_cap * 2 : 64;
		g->resting = ing_realloc(g->resting, g->resting_cap * sizeof(*g->resting));
	}
	g->resting[g->resting_count] = h;
	h->heap_index = ++g->resting_count;
	heap_up(g, g->resting_count - 1);
}

static struct ing_gate_host *heap_pop(struct ing_gate *g)
{
	struct ing_gate_host *h = g->resting[0];
	h->heap_index = 0;
	g->resting_count--;
	if (g->resting_count > 0) {
		g->resting[0] = g->resting[g->resting_count];
		heap_down(g, 0);
	}
	return h;
}

/* --- hosts --- */

/* The host of a URL without a leading "www." and without the root's dot, so that www.example.org,
 * example.org and example.org. share one lock. */
static void host_key(const char *url, char ret_key[MAX_KEY_BYTES])
{
	if (!ing_url_host(url, ret_key, MAX_KEY_BYTES))
		ret_key[0] = '\0';
	size_t bytes = strlen(ret_key);
	if (bytes > 1 && ret_key[bytes - 1] == '.')
		ret_key[bytes - 1] = '\0';
	if (strncmp(ret_key, "www.", 4) == 0 && ret_key[4] != '\0')
		memmove(ret_key, ret_key + 4, strlen(ret_key + 4) + 1);
}

static struct ing_gate_host *find_host(struct ing_gate *g, const char *url)
{
	char key[MAX_KEY_BYTES];
	host_key(url, key);
	struct ing_gate_host *h;
	HASH_FIND_STR(g->hosts, key, h);
	if (h == NULL) {
		size_t bytes = strlen(key);
		h = ing_alloc(sizeof(*h) + bytes + 1);
		memcpy(h->key, key, bytes + 1);
		HASH_ADD_KEYPTR(hh, g->hosts, h->key, bytes, h);
	}
	return h;
}

static void drop_host(struct ing_gate *g, struct ing_gate_host *h)
{
	HASH_DEL(g->hosts, h);
	free(h);
}

/* Put a host where it belongs after anything about it has changed. May free it. */
static void place_host(struct ing_gate *g, struct ing_gate_host *h, uint64_t now_ms)
{
	bool resting = h->rest_until_ms > now_ms;
	if (resting && h->heap_index == 0)
		heap_push(g, h);
	bool ready = !resting && h->waiting > 0 && h->holding < g->conf.host_concurrency;
	if (ready && !h->ready)
		DL_APPEND(g->ready, h);
	else if (!ready && h->ready)
		DL_DELETE(g->ready, h);
	h->ready = ready;
	if (!resting && h->heap_index == 0 && h->waiting == 0 && h->holding == 0)
		drop_host(g, h);
}

/* --- waiters --- */

/* The clock of the waiters' patience. It stands while the gate is held: a wait for our own database
 * or disk is not the host's fault, and must not end requests. */
static uint64_t patience_ms(const struct ing_gate *g, uint64_t now_ms)
{
	return (g->held ? g->held_since_ms : now_ms) - g->held_ms;
}

static void join(struct ing_gate *g, struct ing_gate_waiter *w, struct ing_gate_host *h)
{
	w->host = h;
	w->state = ING_GATE_WAITING;
	DL_APPEND(h->queue, w);
	h->waiting++;
	w->older = g->youngest;
	w->younger = NULL;
	if (g->youngest != NULL)
		g->youngest->younger = w;
	else
		g->oldest = w;
	g->youngest = w;
	g->waiting++;
}

static void quit(struct ing_gate *g, struct ing_gate_waiter *w)
{
	struct ing_gate_host *h = w->host;
	DL_DELETE(h->queue, w);
	h->waiting--;
	if (w->older != NULL)
		w->older->younger = w->younger;
	else
		g->oldest = w->younger;
	if (w->younger != NULL)
		w->younger->older = w->older;
	else
		g->youngest = w->older;
	g->waiting--;
}

/* --- the pump --- */

static bool can_grant(const struct ing_gate *g)
{
	return !g->held && g->ready != NULL && g->holding < g->conf.concurrency;
}

static void arm(struct ing_gate *g);

static void grant_next(struct ing_gate *g)
{
	struct ing_gate_host *h = g->ready;
	struct ing_gate_waiter *w = h->queue;
	DL_DELETE(
		g->ready, h); /* place_host() appends it again behind the others if it may go on */
	h->ready = false;
	quit(g, w);
	w->state = ING_GATE_HOLDING;
	h->holding++;
	g->holding++;
	place_host(g, h, ing_now_ms());
	w->user->granted(w);
}

static void on_pump(uv_idle_t *idle)
{
	struct ing_gate *g = idle->data;
	for (unsigned i = 0; i < GRANTS_PER_TURN && can_grant(g); i++)
		grant_next(g);
	if (!can_grant(g))
		uv_idle_stop(&g->pump);
	arm(g);
}

static void on_timer(uv_timer_t *timer)
{
	struct ing_gate *g = timer->data;
	uint64_t now = ing_now_ms();
	while (g->resting_count > 0 && g->resting[0]->rest_until_ms <= now)
		place_host(g, heap_pop(g), now);
	while (g->conf.max_wait_ms > 0 && g->oldest != NULL &&
		g->oldest->since_ms + g->conf.max_wait_ms <= patience_ms(g, now)) {
		struct ing_gate_waiter *w = g->oldest;
		struct ing_gate_host *h = w->host;
		quit(g, w);
		w->state = ING_GATE_OUT;
		w->host = NULL;
		place_host(g, h, now);
		w->user->refused(w, ING_GATE_WAITED, 1);
	}
	arm(g);
}

/* Wake up for whatever comes first. */
static void arm(struct ing_gate *g)
{
	if (can_grant(g) && !uv_is_active((uv_handle_t *)&g->pump))
		uv_idle_start(&g->pump, on_pump);
	uint64_t next = UINT64_MAX;
	if (g->resting_count > 0)
		next = g->resting[0]->rest_until_ms;
	if (g->conf.max_wait_ms > 0 && g->oldest != NULL && !g->held)
		next = ING_MIN(next, g->oldest->since_ms + g->held_ms + g->conf.max_wait_ms);
	if (next == UINT64_MAX) {
		uv_timer_stop(&g->timer);
		return;
	}
	uint64_t now = ing_now_ms();
	uv_update_time(g->timer.loop);
	uv_timer_start(&g->timer, on_timer, next > now ? next - now : 0, 0);
}

static void on_closed(uv_handle_t *handle)
{
	struct ing_gate *g = handle->data;
	if (--g->handles == 0)
		free(g);
}

/* ----------------------------------------------------------------------------------------------------------
 */

struct ing_gate *ing_gate_new(struct uv_loop_s *loop, const struct ing_gate_conf *conf)
{
	ing_must(conf->concurrency > 0 && conf->host_concurrency > 0);
	struct ing_gate *g = ing_alloc(sizeof(*g));
	g->conf = *conf;
	uv_timer_init(loop, &g->timer);
	g->timer.data = g;
	uv_idle_init(loop, &g->pump);
	g->pump.data = g;
	g->handles = 2;
	return g;
}

void ing_gate_free(struct ing_gate *g)
{
	if (g == NULL)
		return;
	ing_must(g->waiting == 0 && g->holding == 0);
	struct ing_gate_host *h;
	struct ing_gate_host *next;
	HASH_ITER (hh, g->hosts, h, next)
		drop_host(g, h);
	free(g->resting);
	uv_close((uv_handle_t *)&g->timer, on_closed);
	uv_close((uv_handle_t *)&g->pump, on_closed);
}

void ing_gate_enter(struct ing_gate *g, struct ing_gate_waiter *w, const char *url,
	const struct ing_gate_ticket *ticket)
{
	ing_must(w->state == ING_GATE_OUT && w->user != NULL);
	w->lane = (uint8_t)ticket->lane;
	struct ing_gate_host *h = find_host(g, url);
	uint64_t now = ing_now_ms();
	w->since_ms = patience_ms(g, now);
	join(g, w, h);
	place_host(g, h, now);
	if (can_grant(g) || g->waiting == 1)
		arm(g);
}

void ing_gate_leave(
	struct ing_gate *g, struct ing_gate_waiter *w, const struct ing_gate_report *report)
{
	(void)report;
	struct ing_gate_host *h = w->host;
	uint64_t now = ing_now_ms();
	if (w->state == ING_GATE_WAITING) {
		quit(g, w);
	} else if (w->state == ING_GATE_HOLDING) {
		h->holding--;
		g->holding--;
		if (g->conf.patience.delay_ms > 0 &&
			h->rest_until_ms < now + g->conf.patience.delay_ms) {
			h->rest_until_ms = now + g->conf.patience.delay_ms;
			if (h->heap_index > 0)
				heap_down(g, h->heap_index - 1);
		}
	} else {
		return;
	}
	w->state = ING_GATE_OUT;
	w->host = NULL;
	place_host(g, h, now);
	arm(g);
}

void ing_gate_hold(struct ing_gate *g, bool held)
{
	if (g->held == held)
		return;
	uint64_t now = ing_now_ms();
	if (held)
		g->held_since_ms = now;
	else
		g->held_ms += now - g->held_since_ms;
	g->held = held;
	arm(g);
}

unsigned ing_gate_waiting(const struct ing_gate *g)
{
	return g->waiting;
}

unsigned ing_gate_holding(const struct ing_gate *g)
{
	return g->holding;
}
