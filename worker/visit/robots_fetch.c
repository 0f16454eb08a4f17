/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Robots fetches: visit, archive and examiner side by side, then the index rows, then the word to
 * robots. Loop thread; callbacks are those of visits, pool and deliver. A body is not looked into
 * here: what a robots.txt says is the examiner's answer, in which only the rules are believed.
 *
 * What surprises: a robots fetch goes first within its lane, because all who wait for the host
 * there wait for it, and its lane is that of the most urgent of them: a bulk list of many hosts
 * must not fill the priority lane with its files. What waits is small, for there may be one for
 * each host that anybody waits for; the rest is made at admission.
 */
#include "worker/visit/robots_fetch.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/arena.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/net/robots.h"
#include "worker/deliver/deliver.h"
#include "worker/examine/pool.h"
#include "worker/journal/journal.h"
#include "worker/model/limits.h"
#include "worker/visit/robots_outcome.h"
#include "worker/visit/visit.h"

#define ROBOTS_FETCH_MAGIC 0x52425446u

/* All requests for a host end with its robots.txt, so it is tried more often than one of them: for
 * half a minute of a host that is down. */
#define MORE_TRIES 3u

/* RFC 9309, section 2.3, says text/plain; some servers call it something else. */
#define ACCEPT "text/plain,*/*;q=0.8"

struct robots_fetch {
	unsigned magic;
	bool cancelled;    /* and goes when nothing is owed any more */
	UT_hash_handle hh; /* by token */
	struct ing_robots_fetches *all;
	void *token;
	char *url; /* heap */
	struct ing_visit visit;
	struct ing_source asker; /* topic NULL: nobody's message */
	struct work *work;       /* from admission on */
};

struct work {
	struct robots_fetch *fetch;
	struct ing_arena ar;
	struct ing_visit_steps steps;
	struct ing_work_clock clock;
	bool over;                        /* the visit has ended, with: */
	struct ing_visit_outcome outcome; /* exchange is our reference; detail is in the arena */
	struct ing_exam_task *exam;       /* of the body of a 2xx; NULL: none, or it is over */
	bool examined;
	struct ing_findings findings; /* once examined */
	bool storing;                 /* its index rows are under way */
	struct ing_journal_mark mark;
};

struct ing_robots_fetches {
	struct ing_robots_fetch_conf conf;
	struct ing_robots_fetch_stages stages;
	struct robots_fetch *fetches;
};

static void advance(struct robots_fetch *f);

/* --- the end --- */

static void free_work(struct work *w)
{
	if (w == NULL)
		return;
	ing_journal_leave(w->fetch->all->stages.journal, &w->mark);
	if (w->exam != NULL)
		ing_pool_cancel(w->exam);
	ing_findings_done(&w->findings);
	ing_exchange_unref(w->outcome.exchange);
	ing_arena_done(&w->ar);
	free(w);
}

static void free_fetch(struct robots_fetch *f)
{
	ing_must(ing_visit_is_idle(&f->visit));
	HASH_DEL(f->all->fetches, f);
	free_work(f->work);
	free(f->url);
	f->magic = 0;
	free(f);
}

/* All answers are on disk, and their rows in the table; unless a body could not be read back. */
static void report_outcome(struct robots_fetch *f)
{
	const struct work *w = f->work;
	const struct ing_robots_answer told = ing_robots_outcome(&w->outcome,
		w->examined ? &w->findings : NULL, ing_visit_has_lost_answer(&f->visit));
	ing_robots_fetched(f->all->stages.robots, f->token, &told);
	free_fetch(f);
}

static void report_not_admitted(struct robots_fetch *f, const struct ing_visit_outcome *o)
{
	const struct ing_robots_answer told = ing_robots_outcome(o, NULL, false);
	ing_robots_fetched(f->all->stages.robots, f->token, &told);
	free_fetch(f);
}

/* --- to the index --- */

static void on_indexed(void *ctx, const struct ing_delivery *delivery)
{
	struct robots_fetch *f;
	(void)delivery;
	ING_CAST_OBJ(f, ctx, ROBOTS_FETCH_MAGIC);
	f->work->storing = false;
	if (f->cancelled)
		free_fetch(f);
	else
		report_outcome(f);
}

static void add_cdx_lines(const struct work *w, struct ing_delivery *delivery)
{
	struct ing_buf surt;
	struct ing_cdx line;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	for (const struct ing_visit_step *s = w->steps.first; s != NULL; s = s->next) {
		if (ing_capture_line(&s->capture, &surt, &line))
			ing_delivery_add_cdx_line(delivery, &line);
	}
	ing_buf_done(&surt);
}

static void add_rows(struct work *w, struct ing_delivery *delivery)
{
	unsigned most = ING_CAPTURE_ROWS * (w->steps.count + 1);
	struct ing_row_cdx *rows = ing_arena_alloc(&w->ar, most * sizeof(*rows));
	char *hex = ing_arena_alloc(&w->ar, most * ING_SHA1_HEX_BYTES);
	size_t n = 0;
	for (const struct ing_visit_step *s = w->steps.first; s != NULL; s = s->next)
		ing_capture_add_rows(&s->capture, hex + n * ING_SHA1_HEX_BYTES, rows, &n);
	ing_delivery_set_rows(delivery, &(struct ing_rows){.cdx = rows, .cdx_count = n});
}

/* The rows need the records' places and the digest of the file, which the examiner knows if it has
 * decoded it to its end. */
static void index_answers(struct robots_fetch *f)
{
	struct work *w = f->work;
	const struct ing_findings *found = &w->findings;
	if (ing_robots_outcome_has_rules(found) && !found->robots.cut && found->file.decoded)
		w->steps.last->capture.body_sha1hex = found->file.sha1hex;
	struct ing_deliver *deliver = f->all->stages.deliver;
	struct ing_delivery *delivery = ing_delivery_new(ING_DELIVERY_CAPTURE);
	if (ing_deliver_wants_cdx_lines(deliver))
		add_cdx_lines(w, delivery);
	if (ing_deliver_wants_rows(deliver))
		add_rows(w, delivery);
	delivery->done = on_indexed;
	delivery->ctx = f;
	w->storing = ing_deliver_put(deliver, &delivery);
	if (!w->storing)
		report_outcome(f);
}

/* --- what the visit brings --- */

static void on_examined(void *ctx, struct ing_findings *findings)
{
	struct robots_fetch *f;
	ING_CAST_OBJ(f, ctx, ROBOTS_FETCH_MAGIC);
	struct work *w = f->work;
	w->exam = NULL;
	w->examined = true;
	w->findings = *findings;
	advance(f);
}

/* Being examined is no work on the fetch's clock: the pool's own limits end it. */
static const struct ing_pool_user robots_user = {.done = on_examined};

/* Of a body that fetch has cut short the first part counts. */
static void start_examining(struct robots_fetch *f, const struct ing_exchange *ex)
{
	if (!ing_robots_outcome_needs_exam(ex))
		return;
	struct ing_exam_request q = {
		.url = ex->url,
		.content_type = ex->content_type,
		.content_encoding = ex->content_encoding,
		.want = ING_WANT_ROBOTS,
		.max_body_bytes = ING_ROBOTS_TXT_MAX_BYTES,
		.agent = f->all->conf.agent,
		.body_cut = ex->outcome == ING_STATUS_BODY_TOO_LARGE,
	};
	f->work->exam = ing_pool_submit(
		f->all->stages.pool, &q, ex->body_fd, ex->body_bytes, &robots_user, f);
}

/* Something that was waited for has come. f may be gone afterwards. */
static void advance(struct robots_fetch *f)
{
	const struct work *w = f->work;
	if (ing_visit_owes(&f->visit) || w->exam != NULL || w->storing)
		return;
	if (f->cancelled)
		free_fetch(f);
	else if (w->over)
		index_answers(f);
}

static char *get_url(struct ing_visit *v)
{
	const struct robots_fetch *f = v->ctx;
	return ing_strdup(f->url);
}

static void on_admitted(struct ing_visit *v, struct ing_visit_params *ret)
{
	struct robots_fetch *f = v->ctx;
	const struct ing_robots_fetch_conf *conf = &f->all->conf;
	struct work *w = ing_alloc(sizeof(*w));
	w->fetch = f;
	ing_arena_init(&w->ar);
	ing_work_clock_init(&w->clock, conf->deadline_ms);
	f->work = w;
	if (f->asker.topic != NULL)
		ing_journal_enter(f->all->stages.journal, &w->mark, &f->asker, ING_STAGE_ROBOTS);
	*ret = (struct ing_visit_params){
		.url = f->url,
		.arena = &w->ar,
		.steps = &w->steps,
		.clock = &w->clock,
		.max_redirects = conf->max_redirects,
		.accept = ACCEPT,
		.more_tries = MORE_TRIES,
		.max_body_bytes = conf->max_body_bytes,
	};
}

/* Without cookies there is no sense in asking the same URL at once. */
static bool was_asked_before(const struct ing_visit *v, const char *url)
{
	const struct robots_fetch *f = v->ctx;
	return strcmp(f->work->steps.last->url, url) == 0;
}

static void on_done(struct ing_visit *v, const struct ing_visit_outcome *o)
{
	struct robots_fetch *f = v->ctx;
	ing_must(f->magic == ROBOTS_FETCH_MAGIC);
	if (f->work == NULL) {
		report_not_admitted(f, o);
		return;
	}
	if (o->end == ING_VISIT_WALLS && ing_visit_again(v))
		return;
	struct work *w = f->work;
	w->over = true;
	w->outcome = *o;
	w->outcome.detail = ing_arena_strdup(&w->ar, o->detail);
	if (o->exchange != NULL) {
		ing_exchange_ref(o->exchange);
		start_examining(f, o->exchange);
	}
	advance(f);
}

/* An answer that is lost will be told as such, whatever comes. */
static void on_settled(struct ing_visit *v)
{
	struct robots_fetch *f = v->ctx;
	ing_must(f->magic == ROBOTS_FETCH_MAGIC);
	if (ing_visit_has_lost_answer(v) && !f->work->over) {
		ing_visit_cancel(v, false);
		f->work->over = true;
	}
	advance(f);
}

static const struct ing_visit_user user = {
	.url = get_url,
	.admitted = on_admitted,
	.asked_before = was_asked_before,
	.done = on_done,
	.settled = on_settled,
	.is_robots_txt = true,
};

static struct robots_fetch *find_fetch(
	const struct ing_robots_fetches *all, const struct ing_robots_entry *entry)
{
	struct robots_fetch *f;
	const void *token = entry;
	HASH_FIND_PTR(all->fetches, &token, f);
	return f;
}

/* ---------------------------------------------------------------------------------------------- */

struct ing_robots_fetches *ing_robots_fetches_new(const struct ing_robots_fetch_conf *conf)
{
	struct ing_robots_fetches *all = ing_alloc(sizeof(*all));
	all->conf = *conf;
	return all;
}

void ing_robots_fetches_wire(
	struct ing_robots_fetches *all, const struct ing_robots_fetch_stages *stages)
{
	all->stages = *stages;
}

void ing_robots_fetches_free(struct ing_robots_fetches *all)
{
	if (all == NULL)
		return;
	ing_must(all->fetches == NULL);
	free(all);
}

void ing_robots_fetches_cancel(struct ing_robots_fetches *all)
{
	struct robots_fetch *f;
	struct robots_fetch *next;
	HASH_ITER (hh, all->fetches, f, next) {
		struct work *w = f->work;
		ing_visit_cancel(&f->visit, true);
		f->cancelled = true;
		if (w != NULL && w->exam != NULL)
			ing_pool_cancel(ING_TAKE(w->exam));
		if (!ing_visit_owes(&f->visit) && (w == NULL || !w->storing))
			free_fetch(f);
	}
}

bool ing_robots_fetches_idle(const struct ing_robots_fetches *all)
{
	return all->fetches == NULL;
}

void ing_robots_fetch_start(void *fetches, const char *url, void *token)
{
	struct ing_robots_fetches *all = fetches;
	struct robots_fetch *f = ing_alloc(sizeof(*f));
	f->magic = ROBOTS_FETCH_MAGIC;
	f->all = all;
	f->token = token;
	f->url = ing_strdup(url);
	HASH_ADD_PTR(all->fetches, token, f);
	ing_visit_init(&f->visit, all->stages.visits, &user, f, ING_LANE_BULK);
	ing_visit_start(&f->visit, url, ING_VIA_START);
}

void ing_robots_fetch_raise_lane(
	void *fetches, const struct ing_robots_entry *entry, enum ing_lane lane)
{
	struct robots_fetch *f = find_fetch(fetches, entry);
	if (f != NULL && f->visit.lane > lane)
		ing_visit_set_lane(&f->visit, lane);
}

bool ing_robots_fetch_waits_for_hold(void *fetches, const struct ing_robots_entry *entry)
{
	const struct robots_fetch *f = find_fetch(fetches, entry);
	return f != NULL && ing_visit_waits_for_hold(&f->visit);
}

void ing_robots_fetch_asked_by(void *fetches, const struct ing_robots_entry *entry,
	const struct ing_source *source, bool alone)
{
	struct robots_fetch *f = find_fetch(fetches, entry);
	if (f == NULL || f->work != NULL)
		return;
	if (f->asker.topic == NULL || (alone && !f->visit.alone))
		f->asker = *source;
	if (alone)
		ing_visit_set_alone(&f->visit);
}
