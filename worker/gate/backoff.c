/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules of back-off, one small function each. Any thread.
 *
 * With several slots, a report may come from a transfer that began before another one's report held
 * the host. Such a late report can lengthen a rest but not shorten it, and an open breaker ignores
 * it, good or bad: it waits for the one transfer that tries the host.
 */
#include "worker/gate/backoff.h"

#include "common/base/macros.h"

static void rest_until(struct ing_host_backoff *p, uint64_t until_ms, enum ing_rest why)
{
	if (until_ms > p->rest_until_ms) {
		p->rest_until_ms = until_ms;
		p->rest = why;
	}
}

/* Of equally long pauses the first reason is named. */
static void pause_host(struct ing_host_backoff *p, const struct ing_host_backoff_settings *settings,
	uint64_t now_ms)
{
	uint64_t adaptive = (uint64_t)p->response_ms * settings->adaptive_factor;
	if (settings->delay_ms > 0)
		rest_until(p, now_ms + settings->delay_ms, ING_REST_DELAY);
	if (p->crawl_delay_ms > 0)
		rest_until(p, now_ms + ING_MIN(p->crawl_delay_ms, settings->crawl_delay_max_ms),
			ING_REST_CRAWL_DELAY);
	if (adaptive > 0)
		rest_until(p, now_ms + ING_MIN(adaptive, settings->adaptive_max_ms),
			ING_REST_ADAPTIVE);
}

/* backoff_ms x 2^(nth - 1), at most backoff_max_ms, less up to a quarter. */
static uint64_t backoff(
	const struct ing_host_backoff_settings *settings, unsigned nth, uint32_t random)
{
	uint64_t ms = settings->backoff_ms;
	for (unsigned i = 1; i < nth && ms < settings->backoff_max_ms; i++)
		ms *= 2;
	ms = ING_MIN(ms, settings->backoff_max_ms);
	return ms - ms / 4 * random / UINT32_MAX;
}

static void hold_throttled(struct ing_host_backoff *p,
	const struct ing_host_backoff_settings *settings, int64_t retry_after_s, uint64_t now_ms,
	uint32_t random)
{
	if (retry_after_s < 0) {
		rest_until(p, now_ms + backoff(settings, p->failures, random), ING_REST_BACKOFF);
		return;
	}
	uint64_t ms = settings->retry_after_max_ms;
	if (retry_after_s < (int64_t)(ms / 1000))
		ms = (uint64_t)retry_after_s * 1000;
	if (ms > 0)
		rest_until(p, now_ms + ms, ING_REST_RETRY_AFTER);
}

static void count_failure(struct ing_host_backoff *p,
	const struct ing_host_backoff_settings *settings, uint64_t now_ms, uint32_t random)
{
	bool opens = p->breaker == ING_BREAKER_HALF_OPEN ||
		     (p->breaker == ING_BREAKER_CLOSED && settings->breaker_failures > 0 &&
			     p->failures >= settings->breaker_failures);
	if (!opens)
		return;
	if (p->opens < UINT32_MAX)
		p->opens++;
	p->breaker = ING_BREAKER_OPEN;
	rest_until(p, now_ms + backoff(settings, p->opens, random), ING_REST_BREAKER);
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_gate_report ing_gate_cancelled = {
	.kind = ING_ANSWER_CANCELLED, .retry_after_s = -1};

void ing_host_backoff_set_crawl_delay(struct ing_host_backoff *p,
	const struct ing_host_backoff_settings *settings, unsigned crawl_delay_ms)
{
	p->crawl_delay_ms = crawl_delay_ms;
	if (p->answered_ms != 0)
		rest_until(p,
			p->answered_ms + ING_MIN(crawl_delay_ms, settings->crawl_delay_max_ms),
			ING_REST_CRAWL_DELAY);
}

void ing_host_backoff_report(struct ing_host_backoff *p,
	const struct ing_host_backoff_settings *settings, const struct ing_gate_report *report,
	uint64_t now_ms, uint32_t random)
{
	if (report->kind == ING_ANSWER_NONE)
		return;
	p->response_ms = report->response_ms;
	if (report->kind != ING_ANSWER_CANCELLED) {
		p->http_status = report->http_status;
		p->outcome = report->outcome;
		p->answered_ms = now_ms;
	}
	if (p->rest_until_ms <= now_ms)
		p->rest = ING_REST_NONE;
	pause_host(p, settings, now_ms);
	if (report->kind == ING_ANSWER_CANCELLED)
		return;
	if (report->kind == ING_ANSWER_GOOD) {
		if (p->breaker == ING_BREAKER_OPEN)
			return;
		p->failures = p->opens = 0;
		p->breaker = ING_BREAKER_CLOSED;
		return;
	}
	if (p->failures < UINT32_MAX)
		p->failures++;
	if (report->kind == ING_ANSWER_THROTTLED)
		hold_throttled(p, settings, report->retry_after_s, now_ms, random);
	count_failure(p, settings, now_ms, random);
}

void ing_host_backoff_start(struct ing_host_backoff *p, uint64_t now_ms)
{
	if (p->breaker == ING_BREAKER_OPEN && p->rest_until_ms <= now_ms)
		p->breaker = ING_BREAKER_HALF_OPEN;
}

void ing_host_backoff_merge(struct ing_host_backoff *p, const struct ing_host_backoff *fleet)
{
	rest_until(p, fleet->rest_until_ms, fleet->rest);
	if (fleet->crawl_delay_ms > 0)
		p->crawl_delay_ms = fleet->crawl_delay_ms;
	if (fleet->answered_ms < p->answered_ms &&
		!(fleet->answered_ms == 0 && fleet->failures > p->failures))
		return;
	p->breaker = fleet->breaker;
	p->failures = fleet->failures;
	p->opens = fleet->opens;
	if (fleet->answered_ms == 0)
		return;
	p->response_ms = fleet->response_ms;
	p->http_status = fleet->http_status;
	p->outcome = fleet->outcome;
	p->answered_ms = fleet->answered_ms;
}

uint64_t ing_host_backoff_expires_at(const struct ing_host_backoff *p)
{
	return ING_MAX(p->rest_until_ms, p->answered_ms) + ING_HOST_BACKOFF_EXPIRE_MS;
}

void ing_host_backoff_expire(struct ing_host_backoff *p, uint64_t now_ms)
{
	if (now_ms < ing_host_backoff_expires_at(p))
		return;
	p->failures = p->opens = 0;
	p->breaker = ING_BREAKER_CLOSED;
	p->rest = ING_REST_NONE;
}

uint64_t ing_host_backoff_next_hold_ms(
	const struct ing_host_backoff *p, const struct ing_host_backoff_settings *settings)
{
	return p->failures > 0 ? backoff(settings, p->failures, 0) : 0;
}

unsigned ing_host_backoff_slots(const struct ing_host_backoff *p, unsigned configured)
{
	return p->breaker == ING_BREAKER_CLOSED ? configured : 1;
}

bool ing_host_backoff_is_hold(const struct ing_host_backoff *p, uint64_t now_ms)
{
	return p->rest_until_ms > now_ms && p->rest >= ING_REST_RETRY_AFTER;
}

bool ing_host_backoff_is_active(const struct ing_host_backoff *p, uint64_t now_ms)
{
	return p->rest_until_ms > now_ms || p->failures > 0 || p->breaker != ING_BREAKER_CLOSED;
}

const char *ing_rest_name(enum ing_rest rest)
{
	static const char *const names[ING_RESTS_] = {
		[ING_REST_NONE] = "none",
		[ING_REST_DELAY] = "delay",
		[ING_REST_CRAWL_DELAY] = "crawl-delay",
		[ING_REST_ADAPTIVE] = "adaptive",
		[ING_REST_WORKER_DIED] = "worker-died",
		[ING_REST_RETRY_AFTER] = "retry-after",
		[ING_REST_BACKOFF] = "backoff",
		[ING_REST_BREAKER] = "breaker",
	};
	ing_must((unsigned)rest < ING_RESTS_);
	return names[rest];
}

const char *ing_breaker_name(enum ing_breaker breaker)
{
	switch (breaker) {
	case ING_BREAKER_OPEN:
		return "open";
	case ING_BREAKER_HALF_OPEN:
		return "half-open";
	case ING_BREAKER_CLOSED:
		break;
	}
	return "closed";
}
