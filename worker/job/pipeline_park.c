/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that wait long do so in the topic of a tier (model/tier.h), not in memory. Loop thread.
 *
 * Why one is parked: its host has its share of the requests in memory; its host is held, or does
 * not come to it, for longer than gate.max_wait_ms; it has ended with a status that is worth
 * repeating soon. In the first case usually before there is a job, else instead of a result: what
 * was fetched is in the index, and the request begins anew when it comes back.
 *
 * An operator's order parks what is not to be in memory: new requests of a host that is drained, and those of a lane
 * that is not read which come back from a tier.
 *
 * What surprises: in the shortest tier a request waits for half of the time that it is expected to
 * wait, so that it is back before its host has nothing to do; its position in the queue is then
 * judged again. In the others all wait equally long, and what is due is always in front.
 */
#include "worker/job/pipeline_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/net/url.h"
#include "worker/deliver/deliver.h"
#include "worker/fleet/orders.h"
#include "worker/intake/lane_names.h"
#include "worker/job/publication_request.h"

/* From being parked to being back nothing is faster than this. */
#define LEAST_DELAY_MS 250u
/* What is due so soon is taken as due. */
#define EARLY_MS 1000
#define MAX_TEXT 400
/* Of what an order parks, or could not be asked for because of one: nobody knows when it will be taken back. */
#define ORDER_WAIT_MS ((uint64_t)10 * 60 * 1000)

static int64_t wall_ms(void)
{
	struct timespec t = ing_wall_now();
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_urgent(enum ing_lane lane)
{
	return lane == ING_LANE_PRIORITY;
}

static int tier_of_topic(const struct ing_pipeline *p, const char *topic)
{
	for (int i = 0; i < ING_TIERS_; i++)
		if (p->tier_topics[i] != NULL && strcmp(p->tier_topics[i], topic) == 0)
			return i;
	return -1;
}

static const char *topic_of_lane(const struct ing_pipeline *p, enum ing_lane lane)
{
	const char *topic = p->lane_topics[lane];
	return topic != NULL ? topic : "requests";
}

static bool is_resolver(const struct ing_pipeline *p, const char *host)
{
	struct ing_gate_outlook outlook;
	ing_visits_look_ahead(p->stages.visits, host, &outlook);
	return outlook.resolver;
}

static bool is_too_old(const struct ing_pipeline *p, int64_t first_seen_ms)
{
	int64_t age_ms = wall_ms() - first_seen_ms;
	return age_ms > 0 && (uint64_t)age_ms >= p->conf.settings.parked_max_age_ms;
}

/* When a request of this host, which comes from a tier or (-1) from elsewhere, has its turn. */
static uint64_t wait_for_turn(const struct ing_pipeline *p, const char *host, int from_tier)
{
	struct ing_gate_outlook outlook;
	ing_visits_look_ahead(p->stages.visits, host, &outlook);
	uint64_t ahead = ing_shares_ahead(p->shares, host, from_tier, ing_now_ms());
	uint64_t order_ms = ing_orders_host(p->stages.orders, host) != NULL ? ORDER_WAIT_MS : 0;
	return ING_MAX(outlook.hold_ms, order_ms) +
	       ahead * ing_shares_pace_ms(p->shares, host, outlook.pace_ms);
}

/* A request of this host, taken then, is not to be in memory. */
static bool is_sent_away(const struct ing_pipeline *p, const char *host, uint64_t accepted_ms)
{
	const struct ing_order *order = ing_orders_host(p->stages.orders, host);
	return order != NULL && order->action == ING_ACTION_DRAIN && accepted_ms >= order->since_ms;
}

/* Returns the tier for a wait, or -1. */
static int choose_tier(const struct ing_pipeline *p, uint64_t wait_ms, uint64_t *ret_delay_ms)
{
	int tier = ing_tier_for(wait_ms, ing_deliver_tiers(p->stages.deliver));
	if (tier < 0)
		return -1;
	uint64_t delay_ms = ing_tier_delay_ms((enum ing_tier)tier);
	if (tier == ING_TIER_1M)
		delay_ms = ING_MIN(delay_ms, ING_MAX(wait_ms / 2, (uint64_t)LEAST_DELAY_MS));
	*ret_delay_ms = delay_ms;
	return tier;
}

/* The same for what is not due yet: all of it. */
static int choose_rest(const struct ing_pipeline *p, int64_t rest_ms, uint64_t *ret_delay_ms)
{
	return choose_tier(p, (uint64_t)rest_ms * (rest_ms < 60000 ? 2 : 1), ret_delay_ms);
}

/* --- the delivery --- */

enum reason { FOR_SHARE, FOR_HOST, FOR_RETRY, FOR_ORDER };

struct parking {
	enum reason reason;
	enum ing_tier tier;
	uint64_t delay_ms;
	unsigned attempt, replays, parkings; /* parkings: before this one */
	int64_t first_seen_ms;
	const char *host;
	enum ing_lane lane;
};

static void add_message(const struct ing_pipeline *p, const struct parking *park, const char *value,
	size_t value_bytes, const char *key, size_t key_bytes, struct ing_delivery *delivery)
{
	struct ing_parked_text text;
	struct ing_header headers[ING_PARKED_HEADERS];
	const struct ing_parked parked = {
		.attempt = ING_MIN(park->attempt, ING_PARKED_MAX_ATTEMPT),
		.replays = park->replays,
		.parkings = ING_MIN(park->parkings + 1, ING_PARKED_MAX_ATTEMPT),
		.not_before_ms = wall_ms() + (int64_t)park->delay_ms,
		.first_seen_ms = park->first_seen_ms,
		.host = park->host,
		.origin = topic_of_lane(p, park->lane),
	};
	size_t count = ing_parked_format(&parked, &text, headers);
	ing_delivery_add_message(delivery, &(struct ing_output_message){
						   .output = ING_OUTPUT_OF_TIER(park->tier),
						   .key = key,
						   .key_bytes = key_bytes,
						   .value = ing_strndup(value, value_bytes),
						   .value_bytes = value_bytes,
						   .headers = headers,
						   .header_count = count,
					   });
	delivery->lane = park->lane;
}

static void count(struct ing_pipeline *p, const struct parking *park)
{
	ing_shares_park(p->shares, park->host, park->tier, ing_now_ms());
	p->stats.parked_share += park->reason == FOR_SHARE;
	p->stats.parked_held += park->reason == FOR_HOST;
	p->stats.parked_retry += park->reason == FOR_RETRY;
	p->stats.parked_order += park->reason == FOR_ORDER;
}

/* --- jobs --- */

/* The host that a job waits for. host: ING_URL_HOST_BYTES. */
static const char *host_of_job(const struct ing_job *job, char *host)
{
	if (job->work->crowded != NULL)
		return job->work->crowded;
	if (job->share != NULL)
		return ing_share_host(job->share);
	if (job->work->start == NULL || !ing_visits_host(job->pipeline->stages.visits,
						job->work->start, host, ING_URL_HOST_BYTES))
		return "-";
	return host;
}

static bool may_be_parked_for(const struct ing_job *job, const char *host)
{
	const struct ing_pipeline *p = job->pipeline;
	uint64_t delay_ms;
	return (ing_orders_host(p->stages.orders, host) != NULL ||
		       !is_too_old(p, job->message->first_seen_ms)) &&
	       choose_tier(p, wait_for_turn(p, host, -1), &delay_ms) >= 0;
}

static void append_text(struct ing_work *w, const char *text)
{
	if (w->error_message == NULL) {
		w->error_message = ing_arena_strdup(&w->ar, text);
		return;
	}
	size_t bytes = strlen(w->error_message) + strlen(text) + 3;
	char *both = ing_arena_alloc(&w->ar, bytes);
	snprintf(both, bytes, "%s; %s", w->error_message, text);
	w->error_message = both;
}

static void say_too_old(struct ing_job *job)
{
	char text[MAX_TEXT];
	char when[ING_ISO8601_BYTES];
	int64_t ms = job->message->first_seen_ms;
	ing_format_iso8601((struct timespec){.tv_sec = ms / 1000}, 0, when);
	snprintf(text, sizeof(text), "first read at %s, and parked.max_age_ms has passed since",
		when);
	append_text(job->work, text);
}

static void say_tries(struct ing_job *job, unsigned tries)
{
	char text[MAX_TEXT];
	snprintf(text, sizeof(text), "the request was tried %u times, as job.max_attempts says",
		tries);
	append_text(job->work, text);
}

/* Why the job gets no result now, and for how long; false: it does. */
static bool plan(struct ing_job *job, struct parking *park)
{
	const struct ing_pipeline *p = job->pipeline;
	const struct ing_work *w = job->work;
	uint64_t retry_ms = (uint64_t)w->retry_after_s * 1000;
	uint64_t wait_ms;
	bool is_ordered = false; /* for as long as it takes */
	park->attempt = job->message->attempt;
	if (w->crowded != NULL) {
		wait_ms = wait_for_turn(p, park->host, -1);
		is_ordered = ing_orders_host(p->stages.orders, park->host) != NULL;
		park->reason = is_ordered ? FOR_ORDER : FOR_SHARE;
	} else if (is_urgent(park->lane)) {
		return false;
	} else if (w->status == ING_STATUS_HOST_BACKOFF) {
		wait_ms = retry_ms;
		park->reason = FOR_HOST;
	} else {
		unsigned tries = ++park->attempt;
		if (tries >= p->conf.settings.max_attempts) {
			if (tries > 1)
				say_tries(job, tries);
			return false;
		}
		wait_ms = ING_MAX((uint64_t)ing_status_retry_after_s(w->status) * 1000, retry_ms);
		park->reason = FOR_RETRY;
	}
	if (w->crowded == NULL && p->conf.longest_park_ms > 0 && wait_ms > p->conf.longest_park_ms)
		return false;
	int tier = choose_tier(p, wait_ms, &park->delay_ms);
	if (tier < 0)
		return false;
	park->tier = (enum ing_tier)tier;
	if (is_ordered || !is_too_old(p, park->first_seen_ms))
		return true;
	say_too_old(job);
	return false;
}

/* -------------------------------------------------------------------------------------------- */

void ing_pipeline_init_parking(struct ing_pipeline *p)
{
	const struct ing_pipeline_conf *c = &p->conf;
	p->shares = ing_shares_new(c->settings.max_waiting, c->settings.host_share);
	for (int i = 0; i < ING_LANES_; i++)
		p->lane_topics[i] = ing_lane_topic_name((enum ing_lane)i, c->lane_topics);
	for (int i = 0; i < ING_TIERS_; i++)
		p->tier_topics[i] = ing_tier_topic_name(
			(enum ing_tier)i, c->tier_topics[i], c->lane_topics[ING_LANE_REQUESTS]);
}

void ing_pipeline_done_parking(struct ing_pipeline *p)
{
	ing_shares_free(p->shares);
	for (int i = 0; i < ING_LANES_; i++)
		free(p->lane_topics[i]);
	for (int i = 0; i < ING_TIERS_; i++)
		free(p->tier_topics[i]);
}

/* A new message whose request is not to be in memory. */
static bool is_ordered_away(const struct ing_pipeline *p, const struct ing_message *m,
	const char *start, const char *host, bool is_parked)
{
	char of_start[ING_URL_HOST_BYTES];
	uint64_t now_ms = ing_now_ms();
	if (ing_orders_count(p->stages.orders) == 0)
		return false;
	if (is_parked && ing_orders_lane(p->stages.orders, m->lane) != NULL)
		return true;
	return is_sent_away(p, host, now_ms) || (ing_url_host(start, of_start, sizeof(of_start)) &&
							is_sent_away(p, of_start, now_ms));
}

void ing_pipeline_receive(struct ing_pipeline *p, const struct ing_message *m, const char *start,
	struct ing_arrival *ret)
{
	struct ing_parked *parked = &ret->parked;
	int from_tier = tier_of_topic(p, m->topic);
	int64_t now_ms = wall_ms();
	*ret = (struct ing_arrival){.tier = -1};
	ing_parked_parse(m->headers, m->header_count, parked);
	if (parked->first_seen_ms == 0 || parked->first_seen_ms > now_ms)
		parked->first_seen_ms = now_ms;
	if (from_tier >= 0 && m->timestamp_ms > 0)
		ing_histogram_add(p->stats.parked_us, ING_METRIC_DURATION,
			(uint64_t)ING_MAX(now_ms - m->timestamp_ms, (int64_t)0) * 1000);
	if (from_tier >= 0 && parked->host != NULL)
		ing_shares_unpark(p->shares, parked->host, (enum ing_tier)from_tier, ing_now_ms());
	if (start == NULL)
		return;
	/* Every publication begins at one of a few services, as if they were resolvers. */
	bool at_service = ing_publication_is_service(&p->conf.publication, start);
	ret->came_back = !at_service && parked->host != NULL && !is_resolver(p, parked->host);
	if (ret->came_back)
		snprintf(ret->host, sizeof(ret->host), "%s", parked->host);
	else if (at_service ||
		 !ing_visits_host(p->stages.visits, start, ret->host, sizeof(ret->host)) ||
		 is_resolver(p, ret->host))
		ret->host[0] = '\0';
	bool is_order = is_ordered_away(p, m, start, ret->host, from_tier >= 0);
	if (parked->not_before_ms > now_ms + EARLY_MS)
		ret->tier = choose_rest(p, parked->not_before_ms - now_ms, &ret->delay_ms);
	else if (is_order)
		ret->tier = choose_tier(p,
			ING_MAX(ORDER_WAIT_MS, wait_for_turn(p, ret->host, from_tier)),
			&ret->delay_ms);
	else if (ret->host[0] != '\0' && ing_shares_full(p->shares, ret->host, is_urgent(m->lane)))
		ret->tier = choose_tier(p, wait_for_turn(p, ret->host, from_tier), &ret->delay_ms);
	ret->for_order = ret->tier >= 0 && is_order;
	ret->for_share = ret->tier >= 0 && !is_order && parked->not_before_ms <= now_ms + EARLY_MS;
	if (ret->tier < 0 || is_order || !is_too_old(p, parked->first_seen_ms))
		return;
	ret->tier = -1;
	ret->too_old = true;
}

void ing_pipeline_park_message(struct ing_pipeline *p, const struct ing_message *m,
	const char *start, const struct ing_arrival *arrival)
{
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_PARKED);
	char passed[ING_URL_HOST_BYTES]; /* a resolver: it counts for none */
	const char *host = arrival->host;
	if (host[0] == '\0' && ing_visits_host(p->stages.visits, start, passed, sizeof(passed)))
		host = passed;
	const struct parking park = {
		.reason = arrival->for_order   ? FOR_ORDER
			  : arrival->for_share ? FOR_SHARE
					       : FOR_HOST,
		.tier = (enum ing_tier)arrival->tier,
		.delay_ms = arrival->delay_ms,
		.attempt = arrival->parked.attempt,
		.replays = arrival->parked.replays,
		.parkings = arrival->parked.parkings,
		.first_seen_ms = arrival->parked.first_seen_ms,
		.host = host,
		.lane = m->lane,
	};
	add_message(p, &park, m->value, m->value_bytes, m->key, m->key_bytes, delivery);
	delivery->token = m->token;
	delivery->accepted_ms = ing_now_ms();
	delivery->name = ing_arena_strdup(&delivery->ar, start);
	count(p, &park);
	ing_pipeline_deliver(p, delivery);
}

void ing_job_reserve_share(struct ing_job *job, const struct ing_arrival *arrival)
{
	job->share = ing_shares_enter(job->pipeline->shares, arrival->host,
		is_urgent((enum ing_lane)job->lane), ing_now_ms());
	job->reserved = arrival->came_back;
}

void ing_job_leave_share(struct ing_job *job)
{
	bool served =
		job->state != ING_JOB_CANCELLED && job->work != NULL && job->work->steps.count > 0;
	ing_shares_leave(job->pipeline->shares, ING_TAKE(job->share),
		is_urgent((enum ing_lane)job->lane), served, ing_now_ms());
}

bool ing_job_take_share(struct ing_job *job, const char *url)
{
	struct ing_pipeline *p = job->pipeline;
	char host[ING_URL_HOST_BYTES];
	if (!ing_visits_host(p->stages.visits, url, host, sizeof(host)))
		return true;
	if (job->share != NULL && strcmp(ing_share_host(job->share), host) == 0) {
		job->reserved = false;
		return true;
	}
	if (job->reserved || is_resolver(p, host))
		return true;
	bool urgent = is_urgent((enum ing_lane)job->lane);
	if ((ing_shares_full(p->shares, host, urgent) || is_sent_away(p, host, job->accepted_ms)) &&
		may_be_parked_for(job, host)) {
		if (job->work == NULL) /* the tables were asked first */
			ing_job_start_work(job);
		job->work->crowded = ing_arena_strdup(&job->work->ar, host);
		ing_job_end_crowded(job);
		return false;
	}
	ing_job_leave_share(job);
	job->share = ing_shares_enter(p->shares, host, urgent, ing_now_ms());
	return true;
}

void ing_job_end_crowded(struct ing_job *job)
{
	char text[MAX_TEXT];
	char room[ING_URL_HOST_BYTES];
	if (job->work == NULL)
		ing_job_start_work(job);
	const char *host = host_of_job(job, room);
	if (job->work->crowded == NULL)
		job->work->crowded = ing_arena_strdup(&job->work->ar, host);
	if (is_sent_away(job->pipeline, host, job->accepted_ms)) {
		ing_job_end(
			job, ING_STATUS_HOST_BACKOFF, "an operator has ordered to drain its host");
		return;
	}
	bool counts_itself = job->share != NULL && strcmp(ing_share_host(job->share), host) == 0;
	snprintf(text, sizeof(text), "%" PRIu64 " requests of this host are before it",
		ing_shares_ahead(job->pipeline->shares, host, -1, ing_now_ms()) - counts_itself);
	ing_job_end(job, ING_STATUS_HOST_BACKOFF, text);
}

struct ing_delivery *ing_job_make_parked(struct ing_job *job)
{
	struct ing_pipeline *p = job->pipeline;
	const struct ing_job_message *m = job->message;
	char room[ING_URL_HOST_BYTES];
	if (ing_status_retry(job->work->status) != ING_STATUS_SOON)
		return NULL;
	struct parking park = {.lane = (enum ing_lane)job->lane,
		.replays = m->replays,
		.parkings = m->parkings,
		.first_seen_ms = m->first_seen_ms};
	park.host = host_of_job(job, room);
	if (!plan(job, &park))
		return NULL;
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_PARKED);
	ing_job_add_captures(job, delivery);
	add_message(p, &park, m->data, m->value_bytes, m->has_key ? m->data + m->value_bytes : NULL,
		m->key_bytes, delivery);
	count(p, &park);
	return delivery;
}
