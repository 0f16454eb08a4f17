/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Backpressure: when intake of a lane is paused, and when the gate admits no request. Loop thread.
 *
 * Half of intake.max_waiting is reserved for the lanes by weight (intake.weight_*, of lanes that have
 * a topic), so that a full bulk lane never keeps the priority lane out; the other half is taken first
 * come, first served. A request counts until its result is acknowledged, a dead letter too. Intake
 * also pauses at 256 MiB of requests, of the priority lane an eighth later, and while database, disk
 * or broker is away. A lane goes on when a sixteenth is free again, so that it is not paused and
 * resumed with every request.
 *
 * Intake is also paused while a suspect (pipeline_suspects.c) waits to be alone, or is.
 *
 * The gate is held while something is away, while messages wait to be parsed alone, while the examiners' pool is full, while too many
 * documents wait for GROBID, and while too many
 * results, or 256 MiB of documents' texts, wait for database or broker.
 */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/deliver/deliver.h"
#include "worker/grobid/grobid.h"
#include "worker/examine/pool.h"
#include "worker/job/pipeline_priv.h"
#include "worker/store/lookup/lookup.h"

/* Of messages beside results, and of texts that will be part of one: what waits for the disk, the
 * database or the broker. */
#define MAX_SIDE_BYTES ((size_t)256 << 20)
/* Of waiting requests, as they came: 20,000 ordinary ones have 10 MiB. */
#define MAX_MESSAGE_BYTES ((size_t)256 << 20)
#define LOG_BLOCKED_AFTER_MS 1000

static unsigned count_decided(const struct ing_pipeline *p)
{
	const uint64_t *n = p->stats.by_state;
	return (unsigned)(n[ING_JOB_ARCHIVING] + n[ING_JOB_CANCELLED]) +
	       ing_deliver_load(p->stages.deliver)->results;
}

static size_t count_side_bytes(const struct ing_pipeline *p)
{
	return p->derived_bytes + ing_deliver_load(p->stages.deliver)->side_bytes;
}

static const char *find_blockage(const struct ing_pipeline *p)
{
	if (p->stages.lookup != NULL && ing_lookup_blocked(p->stages.lookup))
		return "database";
	const char *blocked_by = ing_visits_blocked_by(p->stages.visits);
	if (blocked_by == NULL)
		blocked_by = ing_deliver_blocked_by(p->stages.deliver);
	if (blocked_by == NULL && p->stages.grobid != NULL && ing_grobid_blocks(p->stages.grobid))
		blocked_by = "GROBID";
	return blocked_by;
}

/* Short interruptions, as at the start, are not logged. */
static void log_blockage(struct ing_pipeline *p, const char *blocked_by)
{
	uint64_t now = ing_now_ms();
	if (blocked_by != NULL && p->blocked_by == NULL)
		p->blocked_since_ms = now;
	if (blocked_by != NULL && !p->blocked_logged &&
		now - p->blocked_since_ms >= LOG_BLOCKED_AFTER_MS) {
		p->blocked_logged = true;
		ing_log(ING_LOG_WARNING, "%s unavailable: intake stopped until it is back",
			blocked_by);
	} else if (blocked_by == NULL && p->blocked_logged) {
		p->blocked_logged = false;
		ing_log(ING_LOG_INFO, "%s available again: intake goes on", p->blocked_by);
	}
	p->blocked_by = blocked_by;
}

/* The places reserved for each lane, at least one unless there are fewer places than lanes. Returns
 * the number of places for all. */
static unsigned divide_places(
	const struct ing_pipeline_conf *conf, unsigned ret_reserved[ING_LANES_])
{
	uint64_t weights = 0;
	for (int i = 0; i < ING_LANES_; i++)
		weights += conf->weights[i];
	unsigned rest = conf->settings.max_waiting;
	for (int i = 0; i < ING_LANES_; i++) {
		uint64_t half = conf->settings.max_waiting / 2;
		ret_reserved[i] = weights > 0 ? (unsigned)(half * conf->weights[i] / weights) : 0;
		if (ret_reserved[i] == 0 && conf->weights[i] > 0 && half >= ING_LANES_)
			ret_reserved[i] = 1;
		rest -= ret_reserved[i];
	}
	return rest;
}

static unsigned count_in_lane(const struct ing_pipeline *p, int lane)
{
	return p->lane_jobs[lane] + ing_deliver_load(p->stages.deliver)->lanes[lane];
}

static size_t max_message_bytes(enum ing_lane lane)
{
	return MAX_MESSAGE_BYTES + (lane == ING_LANE_PRIORITY ? MAX_MESSAGE_BYTES / 8 : 0);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_pipeline_is_full(const struct ing_pipeline *p, enum ing_lane lane)
{
	unsigned reserved[ING_LANES_];
	unsigned shared = divide_places(&p->conf, reserved);
	unsigned used = ing_deliver_load(p->stages.deliver)->dead_letters;
	for (int i = 0; i < ING_LANES_; i++) {
		unsigned count = count_in_lane(p, i);
		used += count > reserved[i] ? count - reserved[i] : 0;
	}
	size_t max_bytes = max_message_bytes(lane);
	if (p->paused[lane]) {
		reserved[lane] -= reserved[lane] / 16;
		shared -= shared / 16;
		max_bytes -= max_bytes / 16;
	}
	if (p->stages.lookup != NULL && ing_lookup_is_full(p->stages.lookup))
		return true;
	return p->message_bytes >= max_bytes ||
	       (count_in_lane(p, lane) >= reserved[lane] && used >= shared);
}

bool ing_pipeline_takes(const struct ing_pipeline *p, enum ing_lane lane)
{
	return !p->draining && !p->paused[lane];
}

void ing_pipeline_hold_gate(struct ing_pipeline *p)
{
	ing_visits_hold(p->stages.visits,
		p->blocked_by != NULL || p->suspects != NULL ||
			count_decided(p) > p->conf.max_unacked ||
			ing_pool_is_full(p->stages.pool) ||
			(p->stages.grobid != NULL && ing_grobid_is_full(p->stages.grobid)) ||
			count_side_bytes(p) > MAX_SIDE_BYTES);
}

void ing_pipeline_balance(struct ing_pipeline *p)
{
	const char *blocked_by = find_blockage(p);
	log_blockage(p, blocked_by);
	ing_pipeline_hold_gate(p);
	if (p->stages.intake == NULL || p->draining)
		return;
	for (int i = 0; i < ING_LANES_; i++) {
		enum ing_lane lane = (enum ing_lane)i;
		bool pause = blocked_by != NULL || ing_pipeline_waits_for_suspects(p) ||
			     ing_pipeline_is_full(p, lane);
		if (pause == p->paused[lane])
			continue;
		p->paused[lane] = pause;
		ing_intake_pause(p->stages.intake, lane, pause);
	}
}
