/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Entering, being granted or refused, leaving. Loop thread.
 *
 * Grants, refusals and lookups are made from an idle handle, the pump, a few per turn of the loop:
 * starting hundreds of transfers at once would delay every timer by as many connects. So no
 * callback comes from inside a call. Callbacks (which may leave, enter or hold) change the lists
 * that the pump works on, so it reads them again each time.
 */
#include "worker/gate/gate_priv.h"

#include <sys/random.h>
#include <utlist.h>

#include "common/base/clock.h"

#define GRANTS_PER_TURN 16
#define REFUSALS_PER_TURN 256
#define LOOKUPS_PER_TURN 64
/* Of a lane's waiters at a host that go ahead, in a row, while others wait. */
#define MAX_AHEAD 4

/* --- time --- */

/* The clock of waiting times. It stands still while nothing can be admitted: a wait for our own
 * database or disk is not the host's fault and must not end requests. */
static uint64_t wait_clock_ms(const struct ing_gate *g, uint64_t now_ms)
{
	return (ing_gate_frozen(g) ? g->frozen_since_ms : now_ms) - g->frozen_ms;
}

void ing_gate_refreeze(struct ing_gate *g, bool was_frozen)
{
	uint64_t now = ing_now_ms();
	if (!was_frozen && ing_gate_frozen(g))
		g->frozen_since_ms = now;
	else if (was_frozen && !ing_gate_frozen(g))
		g->frozen_ms += now - g->frozen_since_ms;
	ing_gate_arm(g);
}

void ing_gate_set_away(struct ing_gate *g, bool away)
{
	bool was_frozen = ing_gate_frozen(g);
	g->away = away;
	ing_gate_refreeze(g, was_frozen);
}

static unsigned seconds_left(uint64_t until_ms, uint64_t now_ms)
{
	uint64_t s = until_ms > now_ms ? (until_ms - now_ms + 999) / 1000 : 0;
	return (unsigned)ING_MAX(ING_MIN(s, (uint64_t)UINT32_MAX), (uint64_t)1);
}

/* --- waiters --- */

static void queue(struct ing_gate_host *h, struct ing_gate_waiter *w)
{
	w->host = h;
	w->state = ING_GATE_WAITING;
	w->before = 0;
	for (unsigned lane = 0; lane <= w->lane; lane++)
		w->before += h->waiting[lane];
	DL_APPEND(h->queue[w->lane][w->again], w);
	h->waiting[w->lane]++;
	h->queued++;
}

static void delay(struct ing_gate *g, struct ing_gate_host *h, struct ing_gate_waiter *w,
	uint64_t now_ms, unsigned delay_ms)
{
	w->host = h;
	ing_gate_delay_add(g, w, now_ms, delay_ms);
	h->waiting[w->lane]++;
	h->delayed++;
}

static void on_delay_end(struct ing_gate *g, struct ing_gate_waiter *w)
{
	uint64_t now = ing_now_ms();
	struct ing_gate_host *h = w->host;
	h->waiting[w->lane]--;
	h->delayed--;
	struct ing_gate_host *to = ing_gate_host_route(g, h, now);
	queue(to, w);
	ing_gate_place(g, to, now);
	if (to != h)
		ing_gate_place(g, h, now);
}

/* With gate.host_key domain or address, many robots.txt concern one host: the strictest counts. */
static void take_crawl_delay(
	struct ing_gate *g, struct ing_gate_host *h, const struct ing_gate_ticket *ticket)
{
	unsigned before_ms = h->backoff.crawl_delay_ms;
	if (ticket->crawl_delay_ms > before_ms ||
		(g->conf.settings.key == ING_KEY_HOST &&
			(ticket->crawl_delay_ms > 0 || ticket->robots_known)))
		ing_host_backoff_set_crawl_delay(
			&h->backoff, &g->conf.settings.backoff, ticket->crawl_delay_ms);
	if (h->backoff.crawl_delay_ms != before_ms)
		ing_gate_fleet_note(g, h); /* for the next holder, if we die */
}

static void join(struct ing_gate *g, struct ing_gate_waiter *w)
{
	w->older = g->youngest;
	w->younger = NULL;
	if (g->youngest != NULL)
		g->youngest->younger = w;
	else
		g->oldest = w;
	g->youngest = w;
	g->waiting++;
}

/* Out of the queue or the wheel. Its host is to be placed after that. */
static void quit(struct ing_gate *g, struct ing_gate_waiter *w)
{
	struct ing_gate_host *h = w->host;
	if (w->state == ING_GATE_DELAYED) {
		ing_gate_delay_remove(g, w);
		h->delayed--;
	} else {
		DL_DELETE(h->queue[w->lane][w->again], w);
		h->queued--;
	}
	h->waiting[w->lane]--;
	if (g->alone == w) {
		g->alone = NULL;
		ing_gate_refreeze(g, true);
	}
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

/* However many go ahead, the others get on. */
static struct ing_gate_waiter *first_waiter(const struct ing_gate_host *h)
{
	unsigned lane = ing_gate_best_lane(h);
	struct ing_gate_waiter *again = h->queue[lane][1];
	struct ing_gate_waiter *other = h->queue[lane][0];
	bool is_others_turn = other != NULL && h->ahead >= MAX_AHEAD;
	return again != NULL && !is_others_turn ? again : other;
}

/* When to try again: after the host's rest, after the present waiters have had their turns, and not
 * before a failing host would have been held once more. */
static unsigned retry_after_s(
	const struct ing_gate *g, const struct ing_gate_host *h, uint64_t now_ms)
{
	uint64_t at_ms = now_ms + ING_MAX(ing_host_backoff_next_hold_ms(
						  &h->backoff, &g->conf.settings.backoff),
					  (uint64_t)h->queued * h->delay_ms / h->concurrency);
	return seconds_left(ING_MAX(at_ms, h->backoff.rest_until_ms), now_ms);
}

static void refuse(struct ing_gate *g, struct ing_gate_waiter *w, enum ing_gate_refusal reason,
	uint64_t now_ms)
{
	struct ing_gate_host *h = w->host;
	unsigned retry_s = reason == ING_GATE_HELD ? seconds_left(h->backoff.rest_until_ms, now_ms)
						   : retry_after_s(g, h, now_ms);
	quit(g, w);
	w->state = ING_GATE_OUT;
	w->host = NULL;
	g->refused++;
	ing_gate_place(g, h, now_ms);
	w->user->refused(w, reason, retry_s);
}

/* --- the pump --- */

void ing_gate_grant(struct ing_gate *g, struct ing_gate_host *h, struct ing_gate_waiter *w)
{
	uint64_t now = ing_now_ms();
	quit(g, w);
	bool went_ahead = w->again && h->queue[w->lane][0] != NULL;
	h->ahead = went_ahead ? (uint8_t)ING_MIN(h->ahead + 1, MAX_AHEAD) : 0;
	w->state = ING_GATE_HOLDING;
	w->waited_ms = wait_clock_ms(g, now) - w->since_ms;
	ing_histogram_add(g->wait_us, ING_METRIC_DURATION, (uint64_t)w->waited_ms * 1000);
	w->since_ms = now;
	ing_gate_unplace(g, h); /* and to the end of the ring, if it goes on */
	ing_host_backoff_start(&h->backoff, now);
	h->holding++;
	g->holding++;
	g->grants++;
	ing_gate_addr_take(h);
	ing_gate_place(g, h, now);
	w->user->granted(w);
}

static void grant_next(struct ing_gate *g)
{
	struct ing_gate_host *h = ing_gate_next_turn(g);
	uint64_t now = ing_now_ms();
	/* Time has passed since it became ready: its lease may have become too short, and the slot
	 * of its address may be another host's. */
	if (ing_gate_host_need(g, h, now) != ING_NEED_TURN) {
		ing_gate_place(g, h, now);
		return;
	}
	struct ing_gate_waiter *w = first_waiter(h);
	if (w->alone) {
		g->alone = w;
		ing_gate_refreeze(g, false);
		return;
	}
	ing_gate_grant(g, h, w);
}

static bool can_refuse(const struct ing_gate *g)
{
	return !ing_gate_frozen(g) && g->refusing != NULL;
}

static void refuse_next(struct ing_gate *g)
{
	struct ing_gate_host *h = g->refusing;
	uint64_t now = ing_now_ms();
	if (ing_gate_host_refuses(g, h, now))
		refuse(g, first_waiter(h), ING_GATE_HELD, now);
	else
		ing_gate_place(g, h, now);
}

static bool can_pump(const struct ing_gate *g)
{
	return ing_gate_can_grant(g) || can_refuse(g) || ing_gate_can_lookup(g);
}

static void on_pump(uv_idle_t *idle)
{
	struct ing_gate *g = idle->data;
	for (unsigned i = 0; i < LOOKUPS_PER_TURN && ing_gate_can_lookup(g); i++)
		ing_gate_lookup_next(g);
	for (unsigned i = 0; i < GRANTS_PER_TURN && ing_gate_can_grant(g); i++)
		grant_next(g);
	for (unsigned i = 0; i < REFUSALS_PER_TURN && can_refuse(g); i++)
		refuse_next(g);
	if (!can_pump(g))
		uv_idle_stop(&g->pump);
	ing_gate_arm(g);
}

/* When the oldest waiter reaches gate.max_wait_ms. */
static uint64_t wait_limit_end(const struct ing_gate *g)
{
	if (g->conf.settings.max_wait_ms == 0 || g->oldest == NULL || ing_gate_frozen(g))
		return GATE_NEVER;
	return g->oldest->since_ms + g->frozen_ms + g->conf.settings.max_wait_ms;
}

static void on_timer(uv_timer_t *timer)
{
	struct ing_gate *g = timer->data;
	g->armed_ms = GATE_NEVER;
	uint64_t now = ing_now_ms();
	struct ing_gate_host *h;
	while ((h = ing_gate_wake_pop(g, now)) != NULL)
		ing_gate_place(g, h, now);
	ing_gate_delay_end(g, now, on_delay_end);
	for (unsigned i = 0; i < REFUSALS_PER_TURN && wait_limit_end(g) <= now; i++)
		refuse(g, g->oldest, ING_GATE_WAITED, now);
	ing_gate_arm(g);
}

void ing_gate_arm(struct ing_gate *g)
{
	if (can_pump(g) && !uv_is_active((uv_handle_t *)&g->pump))
		uv_idle_start(&g->pump, on_pump);
	uint64_t next = ING_MIN(ing_gate_delay_next(g), wait_limit_end(g));
	if (g->heap_count > 0)
		next = ING_MIN(next, g->heap[0]->wake_ms);
	if (next == g->armed_ms)
		return;
	g->armed_ms = next;
	if (next == GATE_NEVER) {
		uv_timer_stop(&g->timer);
		return;
	}
	uint64_t now = ing_now_ms();
	uv_update_time(g->timer.loop);
	uv_timer_start(&g->timer, on_timer, next > now ? next - now : 0, 0);
}

/* --- the end of a transfer --- */

/* xorshift64*: jitter needs no secrecy. */
static uint32_t next_random(struct ing_gate *g)
{
	g->random ^= g->random >> 12;
	g->random ^= g->random << 25;
	g->random ^= g->random >> 27;
	return (uint32_t)(g->random * 0x2545f4914f6cdd1d >> 32);
}

/* Returns true when the fleet must be told at once. */
static bool learn(struct ing_gate *g, struct ing_gate_host *h, const struct ing_gate_report *report,
	uint64_t now_ms)
{
	struct ing_host_backoff_settings settings = g->conf.settings.backoff;
	struct ing_host_backoff before = h->backoff;
	settings.delay_ms = h->delay_ms;
	settings.adaptive_factor = h->resolver ? 0 : settings.adaptive_factor;
	ing_host_backoff_report(&h->backoff, &settings, report, now_ms, next_random(g));
	const struct ing_host_backoff *p = &h->backoff;
	bool held = ing_host_backoff_is_hold(p, now_ms) && p->rest_until_ms > before.rest_until_ms;
	g->holds += held;
	g->breaker_opens += p->breaker == ING_BREAKER_OPEN && before.breaker != ING_BREAKER_OPEN;
	return held || p->breaker != before.breaker;
}

static void end_transfer(struct ing_gate *g, struct ing_gate_host *h,
	const struct ing_gate_report *report, uint64_t now_ms)
{
	h->holding--;
	g->holding--;
	/* Before the lease may be released, which is not written as safely. */
	if (report != NULL && learn(g, h, report, now_ms))
		ing_gate_fleet_note(g, h);
	ing_gate_addr_give(g, h, now_ms);
	ing_gate_place(g, h, now_ms);
}

static void on_closed(uv_handle_t *handle)
{
	struct ing_gate *g = handle->data;
	if (--g->handles == 0)
		free(g);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_gate *ing_gate_new(struct uv_loop_s *loop, const struct ing_gate_conf *conf)
{
	ing_must(conf->settings.concurrency > 0 && conf->settings.host_concurrency > 0);
	struct ing_gate *g = ing_alloc(sizeof(*g));
	g->conf = *conf;
	g->armed_ms = GATE_NEVER;
	if (getrandom(&g->random, sizeof(g->random), 0) != sizeof(g->random) || g->random == 0)
		g->random = ing_now_ms() | 1;
	uv_timer_init(loop, &g->timer);
	g->timer.data = g;
	uv_idle_init(loop, &g->pump);
	g->pump.data = g;
	g->handles = 2;
	ing_gate_fleet_start(g);
	return g;
}

void ing_gate_free(struct ing_gate *g)
{
	if (g == NULL)
		return;
	ing_must(g->waiting == 0 && g->holding == 0);
	ing_gate_fleet_stop(g);
	ing_gate_drop_hosts(g);
	free(g->heap);
	uv_close((uv_handle_t *)&g->timer, on_closed);
	uv_close((uv_handle_t *)&g->pump, on_closed);
}

void ing_gate_enter(struct ing_gate *g, struct ing_gate_waiter *w, const char *url,
	const struct ing_gate_ticket *ticket)
{
	ing_must(w->state == ING_GATE_OUT && w->user != NULL);
	ing_must((unsigned)ticket->lane < ING_LANES_);
	uint64_t now = ing_now_ms();
	struct ing_gate_host *h = ing_gate_host_of_url(g, url, now);
	w->lane = (uint8_t)ticket->lane;
	w->again = ticket->again;
	w->alone = ticket->alone;
	w->since_ms = wait_clock_ms(g, now);
	take_crawl_delay(g, h, ticket);
	join(g, w);
	if (ticket->delay_ms > 0)
		delay(g, h, w, now, ticket->delay_ms);
	else
		queue(h, w);
	ing_gate_place(g, h, now);
	ing_gate_arm(g);
}

void ing_gate_leave(
	struct ing_gate *g, struct ing_gate_waiter *w, const struct ing_gate_report *report)
{
	if (w->state == ING_GATE_OUT)
		return;
	uint64_t now = ing_now_ms();
	struct ing_gate_host *h = ING_TAKE(w->host);
	if (w->state == ING_GATE_HOLDING) {
		struct ing_gate_report took =
			report != NULL ? *report : (struct ing_gate_report){0};
		if (took.kind == ING_ANSWER_CANCELLED)
			took.response_ms =
				(unsigned)ING_MIN(now - w->since_ms, (uint64_t)UINT32_MAX);
		end_transfer(g, h, report != NULL ? &took : NULL, now);
	} else {
		w->host = h;
		quit(g, w);
		w->host = NULL;
		ing_gate_place(g, h, now);
	}
	w->state = ING_GATE_OUT;
	ing_gate_arm(g);
}

void ing_gate_hold(struct ing_gate *g, bool held)
{
	bool was_frozen = ing_gate_frozen(g);
	if (g->held == held)
		return;
	g->held = held;
	ing_gate_refreeze(g, was_frozen);
}

void ing_gate_set_host_rules(struct ing_gate *g, const struct ing_host_rules *rules)
{
	g->conf.host_rules = rules;
	ing_gate_rules_apply(g, ing_now_ms());
	ing_gate_arm(g);
}

bool ing_gate_blocked(const struct ing_gate *g)
{
	return g->away;
}

bool ing_gate_waits_for_hold(const struct ing_gate_waiter *w)
{
	return (w->state == ING_GATE_WAITING || w->state == ING_GATE_DELAYED) &&
	       ing_host_backoff_is_hold(&w->host->backoff, ing_now_ms());
}
