/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Backpressure: how much is taken in, from which lane, and when nobody is admitted. Loop thread.
 *
 * Half of intake.max_waiting is shared out among the lanes by weight, so that a full bulk lane
 * never keeps the priority lane out; the other half is whoever's comes first, so that a lane alone
 * has room. What is full stays closed until a sixteenth is free again: pausing a partition drops
 * what the broker's client has fetched ahead.
 */
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/shortage.h"
#include "worker/deliver/deliver.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/job/pipeline_priv.h"

/* PDF texts waiting for the database or the broker. */
#define MAX_RETAINED_TEXT_BYTES ((size_t)256 << 20)
/* Requests waiting, as they came: 20,000 of ordinary ones are 10 MiB. */
#define MAX_MESSAGE_BYTES ((size_t)256 << 20)
#define BLOCKED_WORTH_SAYING_MS 1000

static unsigned count_decided(const struct ing_pipeline *p)
{
	const uint64_t *n = p->stats.by_state;
	return (unsigned)(n[ING_JOB_ARCHIVING] + n[ING_JOB_CANCELLED]) +
	       ing_deliver_load(p->stages.deliver)->results;
}

static size_t count_text_bytes(const struct ing_pipeline *p)
{
	return p->text_bytes + ing_deliver_load(p->stages.deliver)->side_bytes;
}

static const char *find_blockage(const struct ing_pipeline *p)
{
	if (ing_shortage())
		return "descriptors";
	if (ing_archive_blocked(p->stages.archive) || ing_fetch_blocked(p->stages.fetch))
		return "disk";
	if (ing_gate_blocked(p->stages.gate))
		return "database";
	return ing_deliver_blocked_by(p->stages.deliver);
}

/* A start, or a moment of more than the output takes, is not worth a word. */
static void note_blockage(struct ing_pipeline *p, const char *blocked_by)
{
	uint64_t now = ing_now_ms();
	if (blocked_by != NULL && p->blocked_by == NULL)
		p->blocked_since_ms = now;
	if (blocked_by != NULL && !p->blocked_said &&
		now - p->blocked_since_ms >= BLOCKED_WORTH_SAYING_MS) {
		p->blocked_said = true;
		ing_log(ING_LOG_WARNING, "%s unavailable: intake stopped until it is back",
			blocked_by);
	} else if (blocked_by == NULL && p->blocked_said) {
		p->blocked_said = false;
		ing_log(ING_LOG_INFO, "%s available again: intake goes on", p->blocked_by);
	}
	p->blocked_by = blocked_by;
}

/* What each lane has to itself, one at least unless all is next to nothing; the rest, which is
 * returned, is for all. */
static unsigned share_out(const struct ing_pipeline_conf *conf, unsigned ret_own[ING_LANES_])
{
	uint64_t weights = 0;
	for (int i = 0; i < ING_LANES_; i++)
		weights += conf->weights[i];
	unsigned rest = conf->max_waiting;
	for (int i = 0; i < ING_LANES_; i++) {
		uint64_t half = conf->max_waiting / 2;
		ret_own[i] = weights > 0 ? (unsigned)(half * conf->weights[i] / weights) : 0;
		if (ret_own[i] == 0 && conf->weights[i] > 0 && half >= ING_LANES_)
			ret_own[i] = 1;
		rest -= ret_own[i];
	}
	return rest;
}

/* Requests of a lane that are at hand. */
static unsigned count_of(const struct ing_pipeline *p, int lane)
{
	return p->lane_jobs[lane] + ing_deliver_load(p->stages.deliver)->lanes[lane];
}

static size_t most_message_bytes(enum ing_lane lane)
{
	return MAX_MESSAGE_BYTES + (lane == ING_LANE_PRIORITY ? MAX_MESSAGE_BYTES / 8 : 0);
}

/* -------------------------------------------------------------------------------------------- */

bool ing_pipeline_is_full(const struct ing_pipeline *p, enum ing_lane lane)
{
	unsigned own[ING_LANES_];
	unsigned shared = share_out(&p->conf, own);
	unsigned used = ing_deliver_load(p->stages.deliver)->dead_letters;
	for (int i = 0; i < ING_LANES_; i++) {
		unsigned count = count_of(p, i);
		used += count > own[i] ? count - own[i] : 0;
	}
	size_t most_bytes = most_message_bytes(lane);
	if (p->paused[lane]) {
		own[lane] -= own[lane] / 16;
		shared -= shared / 16;
		most_bytes -= most_bytes / 16;
	}
	return p->message_bytes >= most_bytes || (count_of(p, lane) >= own[lane] && used >= shared);
}

void ing_pipeline_hold_gate(struct ing_pipeline *p)
{
	ing_gate_hold(p->stages.gate, p->blocked_by != NULL ||
					      count_decided(p) > p->conf.max_unacked ||
					      ing_pool_is_full(p->stages.pool) ||
					      count_text_bytes(p) > MAX_RETAINED_TEXT_BYTES);
}

void ing_pipeline_balance(struct ing_pipeline *p)
{
	const char *blocked_by = find_blockage(p);
	note_blockage(p, blocked_by);
	ing_pipeline_hold_gate(p);
	if (p->stages.intake == NULL || p->draining)
		return;
	for (int i = 0; i < ING_LANES_; i++) {
		enum ing_lane lane = (enum ing_lane)i;
		bool pause = blocked_by != NULL || ing_pipeline_is_full(p, lane);
		if (pause == p->paused[lane])
			continue;
		p->paused[lane] = pause;
		ing_intake_pause(p->stages.intake, lane, pause);
	}
}
