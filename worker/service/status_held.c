/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What holds the worker, in words. Each function looks at one cause and says it, or nothing. Their order in
 * the table is that in which an operator has to mend them: what is held for another reason is no cause.
 */
#include <inttypes.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/fleet/orders.h"
#include "worker/service/duration.h"
#include "worker/service/hosts_survey.h"
#include "worker/service/status_priv.h"

#define WORDS_BYTES ((size_t)2000)
#define SHORT_MS 1000           /* a hold that is shorter is the ordinary course of things */
#define NAMED_HOSTS 3           /* at most */
#define MOST_PERCENT 90         /* of the requests: "most of them" */
#define BUSY_PERCENT 90         /* of a core: the loop has no time left */
#define NO_ASSIGNMENT_MS 10000u /* joining a group takes some seconds */
#define SLOW_PACE_MS 2000       /* from one transfer of a host to the next: worth saying */
#define SLOW_MS 5000            /* a request takes less where nothing is slow */

static void add_requests(struct ing_buf *out, uint64_t n)
{
	ing_buf_printf(out, "%" PRIu64 " request%s", n, ING_PLURAL_S(n));
}

/* --- the worker itself --- */

static bool say_stopping(const struct ing_status_facts *f, struct ing_buf *out)
{
	if (f->phase != ING_PHASE_STOPPING)
		return false;
	ing_buf_add_str(out, "it is stopping: ");
	add_requests(out, f->metrics->pipeline.jobs);
	ing_buf_add_str(out, " under way may still finish");
	return true;
}

/* --- an operator --- */

/* The first for a host; NULL: there is none. */
static const struct ing_order *host_order(const struct ing_orders *orders)
{
	const struct ing_order *order = NULL;
	for (size_t i = 0; (order = ing_orders_get(orders, i)) != NULL; i++)
		if (order->kind == ING_TARGET_HOST)
			return order;
	return NULL;
}

static bool say_order(const struct ing_status_facts *f, struct ing_buf *out)
{
	const struct ing_order *order = ing_orders_instance(f->orders);
	size_t count = ing_orders_count(f->orders);
	if (order != NULL) {
		ing_order_add_words(order, f->now_ms, out);
		return true;
	}
	for (int i = 0; i < ING_LANES_ && order == NULL; i++)
		if (f->flow->lanes[i].configured)
			order = ing_orders_lane(f->orders, (enum ing_lane)i);
	if (order == NULL && f->metrics->pipeline.held_by_orders > 0)
		order = host_order(f->orders);
	if (order == NULL)
		return false;
	ing_buf_printf(out, "%s %s is ", ing_order_kind_name(order->kind), order->target);
	ing_order_add_words(order, f->now_ms, out);
	if (count > 1)
		ing_buf_printf(out, "; and %zu more order%s", count - 1, ING_PLURAL_S(count - 1));
	if (f->metrics->pipeline.held_by_orders > 0) {
		ing_buf_add_str(out, "; ");
		add_requests(out, f->metrics->pipeline.held_by_orders);
		ing_buf_add_str(out, " wait for that");
	}
	return true;
}

/* --- what is away --- */

static bool say_away(
	const struct ing_status_facts *f, enum ing_status_need need, struct ing_buf *out)
{
	const struct ing_status_away *away = &f->away[need];
	if (!away->is)
		return false;
	ing_buf_printf(out, "%s unavailable", ing_status_need_name(need));
	if (away->ms >= SHORT_MS) {
		ing_buf_add_str(out, " for ");
		ing_duration_add(away->ms, out);
	}
	if (away->words[0] != '\0')
		ing_buf_printf(out, ": %s", away->words);
	return true;
}

static bool say_database(const struct ing_status_facts *f, struct ing_buf *out)
{
	uint64_t storing = f->metrics->deliver.storing;
	if (!say_away(f, ING_NEEDS_DATABASE, out))
		return false;
	if (storing > 0) {
		ing_buf_add_str(out, "; rows of ");
		add_requests(out, storing);
		ing_buf_add_str(out, " wait for it");
	}
	return true;
}

static bool say_disk(const struct ing_status_facts *f, struct ing_buf *out)
{
	return say_away(f, ING_NEEDS_DISK, out);
}

static bool say_objects(const struct ing_status_facts *f, struct ing_buf *out)
{
	return say_away(f, ING_NEEDS_OBJECTS, out);
}

static bool say_broker(const struct ing_status_facts *f, struct ing_buf *out)
{
	return say_away(f, ING_NEEDS_BROKER, out);
}

static bool say_grobid(const struct ing_status_facts *f, struct ing_buf *out)
{
	return say_away(f, ING_NEEDS_GROBID, out);
}

static bool say_partitions(const struct ing_status_facts *f, struct ing_buf *out)
{
	const struct ing_intake_stats *in = &f->metrics->intake;
	uint64_t up_ms = f->now_ms - f->started_ms;
	if (!f->has_partitions)
		return false;
	if (f->phase == ING_PHASE_STARTING && up_ms >= NO_ASSIGNMENT_MS) {
		ing_buf_add_str(out, "no partitions have been assigned to it for ");
		ing_duration_add(up_ms, out);
		ing_buf_add_str(
			out, ": the brokers cannot be reached, or the group does not settle");
	} else if (f->phase == ING_PHASE_RUNNING && in->partitions == 0) {
		ing_buf_add_str(
			out, "it has no partitions: the other workers of its group have all");
	} else if (in->partitions_held > 0) {
		ing_buf_printf(out,
			"%" PRIu64 " of %" PRIu64
			" partitions are not read because of their position maps (ingestctl positions show)",
			in->partitions_held, in->partitions);
	} else if (in->partitions_starting > 0) {
		ing_buf_printf(out,
			"%" PRIu64 " of %" PRIu64
			" partitions are not read yet: brokers or database have not answered",
			in->partitions_starting, in->partitions);
	} else if (in->partitions_full > 0) {
		ing_buf_printf(out,
			"%" PRIu64 " of %" PRIu64
			" partitions are not read until their oldest requests are finished",
			in->partitions_full, in->partitions);
	} else {
		return false;
	}
	return true;
}

/* --- what is full --- */

/* What the pipeline has seen to be away, and no stage says so any more: it is about to go on. */
static bool say_whatever_is_away(const struct ing_status_facts *f, struct ing_buf *out)
{
	for (int i = 0; i < ING_NEEDS_; i++)
		if (f->away[i].is)
			return false; /* said */
	ing_buf_printf(out, "%s unavailable", f->flow->away);
	return true;
}

static bool say_full(const struct ing_status_facts *f, struct ing_buf *out)
{
	const struct ing_metrics *m = f->metrics;
	switch (f->flow->hold) {
	case ING_FLOW_OPEN:
	case ING_FLOW_ORDER:
		return false;
	case ING_FLOW_AWAY:
		return say_whatever_is_away(f, out);
	case ING_FLOW_SUSPECTS:
		ing_buf_add_str(out,
			"requests that were in flight when a process died are done one at a time");
		break;
	case ING_FLOW_UNACKED:
		ing_buf_printf(out,
			"%u results wait for database or broker (storing %" PRIu64
			", sending %" PRIu64 ", committing %" PRIu64 ")",
			f->flow->unacked, m->deliver.storing, m->deliver.emitting,
			m->deliver.committing);
		break;
	case ING_FLOW_EXAMINERS:
		ing_buf_printf(out,
			"examiners: %" PRIu64 " documents wait for one of %" PRIu64
			" examiners, which are all at work",
			m->pool.waiting, m->pool.examiners_ready);
		break;
	case ING_FLOW_GROBID:
		ing_buf_printf(out,
			"GROBID: %" PRIu64 " documents wait for it, %" PRIu64 " are being read",
			m->grobid.waiting, m->grobid.working);
		break;
	case ING_FLOW_TEXTS:
		ing_buf_add_str(out,
			"texts of documents whose results wait to be stored fill their memory");
		break;
	}
	if (f->flow->hold_ms >= SHORT_MS) {
		ing_buf_add_str(out, ", for ");
		ing_duration_add(f->flow->hold_ms, out);
	}
	return true;
}

static bool say_transfers(const struct ing_status_facts *f, struct ing_buf *out)
{
	const struct ing_gate_stats *g = &f->metrics->gate;
	if (f->concurrency == 0 || g->holding < f->concurrency || g->waiting == 0)
		return false;
	ing_buf_printf(
		out, "all %u transfers of gate.concurrency are under way, and ", f->concurrency);
	add_requests(out, g->waiting);
	ing_buf_add_str(out, " wait");
	return true;
}

/* Of a core. */
static bool say_loop(const struct ing_status_facts *f, struct ing_buf *out)
{
	if (f->loop_percent < BUSY_PERCENT)
		return false;
	ing_buf_printf(out, "its loop has no time left: it takes %u %% of a core", f->loop_percent);
	return true;
}

/* --- hosts --- */

/* "hot.example (950: delay, 3 s left; one each 10 s)" */
static void add_host(const struct ing_survey_host *h, struct ing_buf *out)
{
	ing_buf_printf(out, "%s (%u", h->key, h->waiting + h->robots_waiting);
	if (h->robots_waiting > 0)
		ing_buf_add_str(out, " for its robots.txt");
	ing_buf_add_str(out, ": ");
	ing_survey_add_why(h, out);
	if (!h->held && h->pace_ms >= SLOW_PACE_MS) {
		ing_buf_add_str(out, "; one each ");
		ing_duration_add(h->pace_ms, out);
	}
	ing_buf_add_char(out, ')');
}

static void name_hosts(const struct ing_hosts_survey *s, struct ing_buf *out)
{
	size_t named = ING_MIN(s->waiting_count, (size_t)NAMED_HOSTS);
	for (size_t i = 0; i < named; i++) {
		ing_buf_add_str(out, i > 0 ? ", " : "");
		add_host(&s->waiting[i], out);
	}
}

static void say_unseen_hosts(const struct ing_gate_stats *g, uint64_t waiting, struct ing_buf *out)
{
	add_requests(out, waiting);
	ing_buf_printf(out, " wait for their hosts, of which %" PRIu64 " are in a pause",
		g->hosts_resting);
	if (g->hosts_held > 0)
		ing_buf_printf(out, " and %" PRIu64 " held", g->hosts_held);
}

/* Documents of some domains fill the places that they may have among those that wait for an examiner. */
static bool waits_for_room(const struct ing_status_facts *f)
{
	const struct ing_hosts_survey *s = f->survey;
	return s != NULL && s->requests[ING_NEED_ROOM] > 0 &&
	       2 * s->requests[ING_NEED_ROOM] >= f->metrics->gate.waiting;
}

static bool say_room(const struct ing_status_facts *f, struct ing_buf *out)
{
	const struct ing_hosts_survey *s = f->survey;
	const struct ing_pool_stats *p = &f->metrics->pool;
	if (f->flow->hold != ING_FLOW_OPEN || !waits_for_room(f))
		return false;
	ing_buf_printf(out,
		"examiners: %" PRIu64 " documents wait for one of %" PRIu64
		", and until they are examined ",
		p->waiting + p->waiting_late, p->examiners_ready);
	add_requests(out, s->requests[ING_NEED_ROOM]);
	ing_buf_printf(out, " of the same domains wait: ");
	name_hosts(s, out);
	return true;
}

/* Nothing else is in the way, and yet there are free transfers and requests that wait. */
static bool say_hosts(const struct ing_status_facts *f, struct ing_buf *out)
{
	const struct ing_hosts_survey *s = f->survey;
	const struct ing_gate_stats *g = &f->metrics->gate;
	uint64_t waiting = g->waiting + f->metrics->robots.waiting;
	if (f->flow->hold != ING_FLOW_OPEN || waiting == 0 || g->holding >= f->concurrency ||
		waits_for_room(f))
		return false;
	if (s == NULL) {
		if (g->hosts_resting > 0)
			say_unseen_hosts(g, waiting, out);
		return g->hosts_resting > 0;
	}
	uint64_t queued = 0;
	unsigned hosts = 0;
	for (int i = 0; i < ING_GATE_NEEDS_; i++) {
		queued += s->requests[i];
		hosts += s->hosts[i];
	}
	uint64_t ready = s->requests[ING_NEED_TURN];
	if (hosts == 0 || (queued - ready) * 100 < queued * MOST_PERCENT)
		return false;
	ing_buf_printf(out,
		"%s %" PRIu64 " waiting request%s for %u host%s that may not be asked now: ",
		ready == 0 ? "all" : "most of the", waiting, waiting == 1 ? " is" : "s are", hosts,
		ING_PLURAL_S(hosts));
	name_hosts(s, out);
	return true;
}

/* --- where the requests are --- */

struct stage {
	const char *words;
	uint64_t count;
};

static void add_stage_details(const struct ing_status_facts *f, const struct stage *at,
	const struct stage *stages, struct ing_buf *out)
{
	const struct ing_pool_stats *p = &f->metrics->pool;
	const struct ing_grobid_stats *g = &f->metrics->grobid;
	if (at == &stages[0])
		ing_buf_printf(out, ": %" PRIu64 " documents wait, %" PRIu64 " examiners",
			p->waiting + p->waiting_late, p->examiners_ready);
	if (at != &stages[1])
		return;
	ing_buf_printf(out, ": it reads %" PRIu64 ", %" PRIu64 " wait", g->working, g->waiting);
	if (g->answered > 0) {
		ing_buf_add_str(out, ", and an answer takes ");
		ing_duration_add(g->answer_ms / g->answered, out);
	}
}

/* Nothing is in the way, and yet they take long: the stage that has most of them is slow. */
static bool say_stage(const struct ing_status_facts *f, struct ing_buf *out)
{
	const uint64_t *by_state = f->metrics->pipeline.by_state;
	const struct ing_deliver_stats *d = &f->metrics->deliver;
	const struct stage stages[] = {
		{"are with examiners", by_state[ING_JOB_EXAMINING]},
		{"are with GROBID", by_state[ING_JOB_DERIVING]},
		{"are transfers, and their hosts are slow to answer", by_state[ING_JOB_FETCHING]},
		{"wait for the database to say whether they were answered before",
			by_state[ING_JOB_LOOKING_UP]},
		{"wait for the disk to have what was fetched", by_state[ING_JOB_ARCHIVING]},
		{"wait for the object store to have their objects", d->putting},
		{"wait for the database to have their rows", d->storing},
		{"wait for the broker to have their results", d->emitting + d->committing},
	};
	uint64_t jobs = f->metrics->pipeline.jobs;
	const struct stage *most = &stages[0];
	for (size_t i = 1; i < ING_ARRAY_LEN(stages); i++)
		most = stages[i].count > most->count ? &stages[i] : most;
	if (f->flow->hold != ING_FLOW_OPEN || jobs == 0 || 2 * most->count < jobs ||
		f->metrics->pipeline.oldest_ms < SLOW_MS)
		return false;
	ing_buf_printf(out, "%" PRIu64 " of %" PRIu64 " request%s %s", most->count, jobs,
		ING_PLURAL_S(jobs), most->words);
	add_stage_details(f, most, stages, out);
	return true;
}

/* -------------------------------------------------------------------------------------------- */

static const struct {
	const char *what;
	bool trouble; /* to be mended; else it is how things are */
	bool (*say)(const struct ing_status_facts *f, struct ing_buf *out);
} causes[] = {
	{"stopping", false, say_stopping},
	{"order", false, say_order},
	{"database", true, say_database},
	{"disk", true, say_disk},
	{"object-store", true, say_objects},
	{"broker", true, say_broker},
	{"grobid", true, say_grobid},
	{"partitions", true, say_partitions},
	{"full", true, say_full},
	{"loop", false, say_loop},
	{"transfers", false, say_transfers},
	{"examiners", true, say_room},
	{"hosts", false, say_hosts},
	{"stage", false, say_stage},
};

json_t *ing_status_holds_json(const struct ing_status_facts *f)
{
	json_t *list = json_array();
	struct ing_buf words;
	ing_buf_init(&words, WORDS_BYTES);
	for (size_t i = 0; i < ING_ARRAY_LEN(causes); i++) {
		ing_buf_clear(&words);
		if (!causes[i].say(f, &words))
			continue;
		json_t *o = json_object();
		ing_json_set_text(o, "what", causes[i].what);
		ing_json_set_bool(o, "trouble", causes[i].trouble);
		ing_json_set_text(o, "words", ing_buf_str(&words));
		ing_json_append(list, o);
	}
	ing_buf_done(&words);
	return list;
}

const char *ing_status_need_name(enum ing_status_need need)
{
	static const char *const names[ING_NEEDS_] = {
		[ING_NEEDS_DATABASE] = "database",
		[ING_NEEDS_DISK] = "disk",
		[ING_NEEDS_OBJECTS] = "object store",
		[ING_NEEDS_BROKER] = "broker",
		[ING_NEEDS_GROBID] = "GROBID",
	};
	return names[need];
}

bool ing_status_held_by(const struct ing_status_facts *f, struct ing_buf *out)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(causes); i++)
		if (causes[i].say(f, out))
			return true;
	return false;
}
