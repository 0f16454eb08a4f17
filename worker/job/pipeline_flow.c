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
 * Intake is also paused, and the gate held, by an operator's order (pipeline_orders.c), and intake
 * while a suspect (pipeline_suspects.c) waits to be alone, or is.
 *
 * The gate is held while something is away, while messages wait to be parsed alone, while the examiners' pool is full, while too many
 * documents wait for GROBID, and while too many
 * results, or 256 MiB of documents' texts, wait for database or broker.
 */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/deliver/deliver.h"
#include "worker/fleet/orders.h"
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

/* Whether there is no room for a further request of this lane, and of what kind. */
static enum ing_flow_pause find_fullness(const struct ing_pipeline *p, enum ing_lane lane)
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
		return ING_PAUSE_LOOKUPS;
	if (p->message_bytes >= max_bytes)
		return ING_PAUSE_BYTES;
	return count_in_lane(p, lane) >= reserved[lane] && used >= shared ? ING_PAUSE_FULL
									  : ING_PAUSE_NONE;
}

static enum ing_flow_pause find_pause(const struct ing_pipeline *p, enum ing_lane lane)
{
	if (ing_orders_instance(p->stages.orders) != NULL)
		return ING_PAUSE_ORDER;
	if (p->blocked_by != NULL)
		return ING_PAUSE_AWAY;
	return ing_pipeline_waits_for_suspects(p) ? ING_PAUSE_SUSPECTS : find_fullness(p, lane);
}

/* Why it is not read, if it is not. */
static enum ing_flow_pause say_pause(const struct ing_pipeline *p, enum ing_lane lane)
{
	if (ing_pipeline_leaves_lane(p, lane))
		return ING_PAUSE_ORDER;
	return p->paused[lane] ? find_pause(p, lane) : ING_PAUSE_NONE;
}

static enum ing_flow_hold find_hold(const struct ing_pipeline *p)
{
	const struct ing_order *order = ing_orders_instance(p->stages.orders);
	if (order != NULL && order->action == ING_ACTION_PAUSE)
		return ING_FLOW_ORDER;
	if (p->blocked_by != NULL)
		return ING_FLOW_AWAY;
	if (p->suspects != NULL)
		return ING_FLOW_SUSPECTS;
	if (count_decided(p) > p->conf.max_unacked)
		return ING_FLOW_UNACKED;
	if (ing_pool_is_full(p->stages.pool))
		return ING_FLOW_EXAMINERS;
	if (p->stages.grobid != NULL && ing_grobid_is_full(p->stages.grobid))
		return ING_FLOW_GROBID;
	return count_side_bytes(p) > MAX_SIDE_BYTES ? ING_FLOW_TEXTS : ING_FLOW_OPEN;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_pipeline_is_full(const struct ing_pipeline *p, enum ing_lane lane)
{
	return find_fullness(p, lane) != ING_PAUSE_NONE;
}

bool ing_pipeline_takes(const struct ing_pipeline *p, enum ing_lane lane)
{
	return !p->draining && !p->paused[lane];
}

void ing_pipeline_hold_gate(struct ing_pipeline *p)
{
	enum ing_flow_hold hold = find_hold(p);
	if (hold != p->hold)
		p->hold_since_ms = ing_now_ms();
	p->hold = hold;
	ing_visits_hold(p->stages.visits, hold != ING_FLOW_OPEN);
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
		bool pause = find_pause(p, lane) != ING_PAUSE_NONE;
		if (pause == p->paused[lane])
			continue;
		p->paused[lane] = pause;
		ing_intake_pause(p->stages.intake, lane, pause);
	}
}

void ing_pipeline_flow(const struct ing_pipeline *p, struct ing_flow *ret)
{
	*ret = (struct ing_flow){
		.hold = p->hold,
		.hold_ms = p->hold != ING_FLOW_OPEN ? ing_now_ms() - p->hold_since_ms : 0,
		.away = p->blocked_by,
		.unacked = count_decided(p),
		.max_unacked = p->conf.max_unacked,
		.max_waiting = p->conf.settings.max_waiting,
		.draining = p->draining,
	};
	for (int i = 0; i < ING_LANES_; i++)
		ret->lanes[i] = (struct ing_flow_lane){
			.configured = p->conf.weights[i] > 0,
			.jobs = count_in_lane(p, i),
			.pause = say_pause(p, (enum ing_lane)i),
		};
}
