/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The conductor: moves jobs from stage to stage until their status is decided; pipeline_end.c has
 * the rest. Loop thread.
 *
 * What surprises: archiving runs beside examining, so a job that has its status may still wait for
 * the disk; and a cancelled job whose rows, records or messages are under way cannot be freed
 * before those callbacks have come. A redelivered request is harmless everywhere (keyed upserts,
 * keyed results), so whatever is in doubt is dropped and done again.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/record/cdx.h"
#include "worker/emit/emit.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/job/hop.h"
#include "worker/job/html_biblio.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/yield.h"

#define TICK_MS 100
#define MAX_RETAINED_TEXT_BYTES                                                                    \
	((size_t)256 << 20) /* PDF texts waiting for the database or the broker */
#define MAX_MESSAGE_BYTES                                                                          \
	((size_t)256 << 20) /* requests waiting, as they came: 20,000 of ordinary ones are 10 MiB  \
			     */
#define BLOCKED_WORTH_SAYING_MS 1000

#define STATE(s) (1u << ING_JOB_##s)

/* For each state, the states it may be left for. */
static const unsigned edges[ING_JOB_STATES_] = {
	[ING_JOB_NEW] = STATE(WAITING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_WAITING] = STATE(FETCHING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_GATED] = STATE(FETCHING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_FETCHING] = STATE(GATED) | STATE(EXAMINING) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_EXAMINING] = STATE(GATED) | STATE(ARCHIVING) | STATE(CANCELLED),
	[ING_JOB_ARCHIVING] = STATE(STORING) | STATE(CANCELLED),
	[ING_JOB_STORING] = STATE(EMITTING) | STATE(CANCELLED),
	[ING_JOB_EMITTING] = STATE(CANCELLED),
};

static void on_granted(struct ing_gate_waiter *w);
static void on_refused(
	struct ing_gate_waiter *w, enum ing_gate_refusal why, unsigned retry_after_s);
static const struct ing_gate_user gate_user = {.granted = on_granted, .refused = on_refused};

static void on_fetched(void *ctx, struct ing_exchange *ex);
static void on_examined(void *ctx, struct ing_findings *f);
static void on_walls_examined(void *ctx, struct ing_findings *f);

/* --- states --- */

void ing_job_set_state(struct ing_job *job, enum ing_job_state state)
{
	struct ing_pipeline *p = job->pipeline;
	ing_must(edges[job->state] & (1u << state));
	if (job->state == ING_JOB_EXAMINING)
		DL_DELETE2(p->examining, job, exam_prev, exam_next);
	if (state == ING_JOB_EXAMINING)
		DL_APPEND2(p->examining, job, exam_prev, exam_next);
	p->stats.by_state[job->state]--;
	p->stats.by_state[state]++;
	job->state = state;
}

static unsigned count_decided(const struct ing_pipeline *p)
{
	const uint64_t *n = p->stats.by_state;
	return (unsigned)(n[ING_JOB_ARCHIVING] + n[ING_JOB_STORING] + n[ING_JOB_EMITTING] +
			  n[ING_JOB_CANCELLED]);
}

static const char *find_blockage(const struct ing_pipeline *p)
{
	if (p->stages.archive != NULL && ing_archive_blocked(p->stages.archive))
		return "disk";
	if (p->stages.store != NULL && ing_store_blocked(p->stages.store))
		return "database";
	if (ing_emit_blocked(p->stages.emit))
		return p->stages.output != NULL ? p->stages.output : "broker";
	return NULL;
}

/* A later stage has enough to do: what is under way goes on, nobody is admitted. */
static void hold_gate(struct ing_pipeline *p)
{
	ing_gate_hold(
		p->stages.gate, p->blocked_by != NULL || count_decided(p) > p->conf.max_unacked ||
					ing_pool_waiting(p->stages.pool) > p->conf.max_unexamined ||
					p->text_bytes > MAX_RETAINED_TEXT_BYTES);
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

/* Full at the ceiling, and then until a sixteenth of it is free again. */
static bool is_full(const struct ing_pipeline *p)
{
	unsigned most = p->conf.max_waiting;
	size_t most_bytes = MAX_MESSAGE_BYTES;
	if (p->intake_paused) {
		most -= most / 16;
		most_bytes -= most_bytes / 16;
	}
	return p->job_count + p->dead_pending >= most || p->message_bytes >= most_bytes;
}

/* Backpressure: one place that decides whether requests are taken in and whether waiting ones are
 * admitted. */
static void balance(struct ing_pipeline *p)
{
	const char *blocked_by = find_blockage(p);
	note_blockage(p, blocked_by);
	hold_gate(p);
	bool pause = is_full(p) || blocked_by != NULL;
	if (pause != p->intake_paused && p->stages.intake != NULL && !p->draining) {
		p->intake_paused = pause;
		ing_intake_pause(p->stages.intake, ING_LANE_REQUESTS, pause);
	}
}

/* --- birth and death --- */

static struct ing_job *new_job(struct ing_pipeline *p, const struct ing_message *m)
{
	struct ing_job *job = ing_alloc(sizeof(*job));
	job->magic = ING_JOB_MAGIC;
	job->pipeline = p;
	job->token = m->token;
	job->born_ms = ing_now_ms();
	job->message = ing_strndup(m->value, m->value_bytes);
	job->message_bytes = m->value_bytes;
	p->message_bytes += m->value_bytes;
	job->waiter.user = &gate_user;
	DL_APPEND(p->jobs, job);
	p->job_count++;
	p->stats.accepted++;
	p->stats.by_state[ING_JOB_NEW]++;
	return job;
}

static void drop_message(struct ing_job *job)
{
	job->pipeline->message_bytes -= job->message_bytes;
	job->message_bytes = 0;
	free(ING_TAKE(job->message));
}

void ing_job_start_work(struct ing_job *job)
{
	struct ing_work *w = ing_alloc(sizeof(*w));
	struct ing_error err = {0};
	int rc = ing_request_parse(job->message, job->message_bytes, &w->request, &err);
	ing_must(rc == 0); /* the same bytes were parsed at intake */
	drop_message(job);
	ing_arena_init(&w->ar);
	w->jar = ing_cookies_new();
	w->hops_tail = &w->hops;
	w->work_left_ms = job->pipeline->conf.deadline_ms;
	job->work = w;
}

static void free_work(struct ing_work *w)
{
	if (w == NULL)
		return;
	for (struct ing_hop *hop = w->hops; hop != NULL; hop = hop->next)
		ing_exchange_unref(ING_TAKE(hop->exchange));
	ing_cookies_free(w->jar);
	ing_request_free(w->request);
	struct ing_findings f = {.pdf = w->pdf};
	ing_findings_done(&f);
	json_decref(w->biblio);
	free(w->result);
	free(w->text_message);
	ing_arena_done(&w->ar);
	free(w);
}

void ing_job_account_text(struct ing_job *job, size_t bytes)
{
	job->pipeline->text_bytes += bytes - job->work->text_bytes;
	job->work->text_bytes = bytes;
}

void ing_job_free(struct ing_job *job)
{
	struct ing_pipeline *p = job->pipeline;
	ing_must(job->waiter.state == ING_GATE_OUT);
	if (job->work != NULL)
		ing_job_account_text(job, 0);
	p->stats.by_state[job->state]--;
	DL_DELETE(p->jobs, job);
	p->job_count--;
	free_work(job->work);
	drop_message(job);
	job->magic = 0;
	free(job);
}

/* Callbacks of other threads that will still name this job. */
static bool owes_callback(const struct ing_job *job)
{
	const struct ing_work *w = job->work;
	return w != NULL && (w->archive_pending > 0 || w->emit_pending > 0 || w->rows.done != NULL);
}

static void cancel_job(struct ing_job *job)
{
	struct ing_pipeline *p = job->pipeline;
	if (job->state == ING_JOB_CANCELLED)
		return;
	ing_gate_leave(p->stages.gate, &job->waiter, NULL);
	if (job->work != NULL && job->work->transfer != NULL)
		ing_fetch_cancel(ING_TAKE(job->work->transfer));
	if (job->work != NULL && job->work->exam != NULL)
		ing_pool_cancel(ING_TAKE(job->work->exam));
	ing_job_set_state(job, ING_JOB_CANCELLED);
	p->stats.cancelled++;
	if (!owes_callback(job))
		ing_job_free(job);
}

bool ing_job_drop_cancelled(struct ing_job *job)
{
	if (job->state != ING_JOB_CANCELLED)
		return false;
	if (!owes_callback(job))
		ing_job_free(job);
	return true;
}

/* --- the hop loop --- */

static bool was_visited(void *ctx, const char *url)
{
	const struct ing_job *job = ctx;
	uint64_t version = ing_cookies_version(job->work->jar);
	for (const struct ing_hop *h = job->work->hops; h != NULL; h = h->next) {
		if (h->jar_version == version && strcmp(h->url, url) == 0)
			return true;
	}
	return false;
}

static struct ing_url_finding judge_url(void *ctx, const char *url)
{
	const struct ing_pipeline *p = ctx;
	return ing_urlrules_judge(p->conf.urlrules, url);
}

static struct ing_url_finding judge_next_url(void *ctx, const char *url)
{
	const struct ing_job *job = ctx;
	return judge_url(job->pipeline, url);
}

static struct ing_hop_view view_of(struct ing_job *job)
{
	const struct ing_work *w = job->work;
	return (struct ing_hop_view){
		.url = w->hop->url,
		.landings = w->landings,
		.redirects = w->redirects,
		.max_hops = job->pipeline->conf.max_hops,
		.max_redirects = job->pipeline->conf.max_redirects,
		.visited = was_visited,
		.verdict = judge_next_url,
		.ctx = job,
	};
}

static void add_hop(struct ing_job *job, const char *url, enum ing_hop_via via)
{
	struct ing_work *w = job->work;
	struct ing_hop *hop = ing_arena_alloc(&w->ar, sizeof(*hop));
	hop->job = job;
	hop->url = url;
	hop->via = via;
	hop->jar_version = ing_cookies_version(w->jar);
	*w->hops_tail = hop;
	w->hops_tail = &hop->next;
	w->hop = hop;
	w->hop_count++;
}

/* Takes url (heap). Leaves the host's slot (if any) behind before queueing for the next. */
static void go_to(struct ing_job *job, char *url, enum ing_hop_via via)
{
	struct ing_work *w = job->work;
	if (via == ING_VIA_LINK) {
		w->landings++;
		w->redirects = 0;
	} else {
		w->redirects++;
	}
	w->next_url = ing_arena_strdup(&w->ar, url);
	w->next_via = via;
	free(url);
	uint64_t now = ing_now_ms();
	w->work_left_ms = w->deadline_ms > now ? w->deadline_ms - now : 0;
	if (w->work_left_ms == 0) {
		ing_job_end(job, ING_STATUS_TIMEOUT,
			"the request's work took longer than job.deadline_ms");
		return;
	}
	ing_job_set_state(job, ING_JOB_GATED);
	ing_gate_enter(job->pipeline->stages.gate, &job->waiter, w->next_url,
		&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS});
}

static void on_granted(struct ing_gate_waiter *waiter)
{
	struct ing_job *job = ING_CONTAINER(waiter, struct ing_job, waiter);
	ing_must(job->magic == ING_JOB_MAGIC);
	if (job->state == ING_JOB_WAITING) {
		ing_job_start_work(job);
		struct ing_decision d = ing_hop_start(job->work->request->base_url, NULL, NULL);
		ing_must(d.step == ING_STEP_LINK); /* it was at intake, rules and all */
		job->work->next_url = ing_arena_strdup(&job->work->ar, d.url);
		job->work->next_via = ING_VIA_START;
		free(d.url);
	}
	struct ing_work *w = job->work;
	const char *referer = w->next_via == ING_VIA_LINK ? w->hop->url : NULL;
	add_hop(job, w->next_url, w->next_via);
	w->deadline_ms = ing_now_ms() + w->work_left_ms;
	ing_job_set_state(job, ING_JOB_FETCHING);
	w->transfer = ing_fetch_start(job->pipeline->stages.fetch,
		&(struct ing_fetch_ask){.url = w->hop->url,
			.jar = w->jar,
			.referer = referer,
			.deadline_ms = w->deadline_ms},
		on_fetched, job);
}

static void on_refused(
	struct ing_gate_waiter *waiter, enum ing_gate_refusal why, unsigned retry_after_s)
{
	(void)why;
	(void)retry_after_s;
	struct ing_job *job = ING_CONTAINER(waiter, struct ing_job, waiter);
	ing_must(job->magic == ING_JOB_MAGIC);
	ing_job_end(job, ING_STATUS_HOST_BACKOFF,
		"the host's queue did not move within gate.max_wait_ms");
}

static void start_archiving(struct ing_job *job)
{
	struct ing_hop *hop = job->work->hop;
	if (job->pipeline->stages.archive == NULL || !hop->exchange->answered)
		return;
	hop->archive.exchange = ing_exchange_ref(hop->exchange);
	hop->archive.done = ing_job_on_archived;
	hop->archive_pending = true;
	job->work->archive_pending++;
	ing_archive_put(job->pipeline->stages.archive, &hop->archive);
}

static void start_examining(struct ing_job *job, bool only_walls)
{
	struct ing_work *w = job->work;
	const struct ing_pipeline_conf *conf = &job->pipeline->conf;
	const struct ing_exchange *ex = w->hop->exchange;
	struct ing_question q = {
		.url = ex->url,
		.content_type = ex->content_type,
		.content_encoding = ex->content_encoding,
		.want = only_walls ? ING_WANT_WALLS
			: w->request->type == ING_TYPE_PDF
				? (unsigned)(ING_WANT_LINKS | ING_WANT_PDF)
				: ING_WANT_LINKS,
		.max_body_bytes = conf->max_body_bytes,
		.max_scrape_bytes = conf->max_scrape_bytes,
		.pdf_timeout_ms = conf->pdf_timeout_ms,
	};
	ing_job_set_state(job, ING_JOB_EXAMINING);
	w->exam = ing_pool_submit(job->pipeline->stages.pool, &q, ex->body_fd, ex->body_bytes,
		only_walls ? on_walls_examined : on_examined, job);
	hold_gate(job->pipeline);
}

static void on_fetched(void *ctx, struct ing_exchange *ex)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	struct ing_hop *hop = w->hop;
	w->transfer = NULL;
	hop->exchange = ex;
	hop->answered = ex->answered;
	hop->http_status = ex->http_status;
	char mimetype[ING_CDX_MIMETYPE_BYTES];
	ing_cdx_mimetype(ex->content_type, mimetype);
	hop->mimetype = ing_arena_strdup(&w->ar, mimetype);
	ing_format_dt14(ex->started, hop->datetime);
	ing_gate_leave(job->pipeline->stages.gate, &job->waiter, NULL);
	start_archiving(job);

	struct ing_hop_view view = view_of(job);
	struct ing_answer answer = {
		.outcome = ex->outcome,
		.answered = ex->answered,
		.http_status = ex->http_status,
		.location = ex->location,
		.set_cookie = ex->set_cookie,
		.body_bytes = ex->body_bytes,
		.content_type = ex->content_type,
	};
	struct ing_decision d = ing_hop_after_fetch(&view, &answer);
	if (d.step == ING_STEP_EXAMINE || d.step == ING_STEP_WALLS) {
		start_examining(job, d.step == ING_STEP_WALLS);
		return;
	}
	if (d.step == ING_STEP_REDIRECT) {
		ing_exchange_unref(ING_TAKE(hop->exchange));
		go_to(job, d.url, ING_VIA_REDIRECT);
		return;
	}
	bool late = ex->outcome != ING_STATUS_SUCCESS && ing_now_ms() >= w->deadline_ms;
	const char *words = d.words != NULL ? d.words : (ex->detail[0] != '\0' ? ex->detail : NULL);
	if (late)
		ing_job_end(job, ING_STATUS_TIMEOUT,
			"the request's work took longer than job.deadline_ms");
	else
		ing_job_end(job, d.status, words);
}

/* --- what a page says --- */

/* Of several pages the first with a title of its own describes the work; the page that was asked
 * for does so better than what led there. */
static void keep_biblio(struct ing_work *w, const struct ing_page *page)
{
	bool own;
	json_t *biblio = ing_html_biblio_new(page->biblio_json, page->title, &own);
	bool better = w->biblio == NULL || (own && !w->biblio_own_title) ||
		      (w->request->type == ING_TYPE_HTML && (own || !w->biblio_own_title));
	if (biblio == NULL || !better) {
		json_decref(biblio);
		return;
	}
	json_decref(w->biblio);
	w->biblio = biblio;
	w->biblio_own_title = own;
}

static void keep_page(struct ing_work *w, const struct ing_page *page)
{
	const struct ing_page_link *link = ing_hop_link(w->request, page);
	w->saw_page = true;
	w->link.url = ing_arena_strdup(&w->ar, link != NULL ? link->url : NULL);
	w->link.technique = ing_arena_strdup(&w->ar, link != NULL ? link->technique : NULL);
	w->link.stage = ing_arena_strdup(&w->ar, link != NULL ? link->stage : NULL);
	w->platform = ing_arena_strdup(&w->ar, page->platform);
	w->scope = ing_arena_strdup(&w->ar, page->scope);
	keep_biblio(w, page);
}

/* Keep what the result needs of the findings; the rest is freed by the caller. */
static void keep_findings(struct ing_job *job, struct ing_findings *f)
{
	struct ing_work *w = job->work;
	if (f->exam != ING_EXAM_OK)
		return;
	w->has_file = true;
	w->file = f->file;
	w->hop->body_sha1hex = ing_arena_strdup(&w->ar, f->file.sha1hex);
	if (ing_mimetype_is_html(f->file.mimetype))
		keep_page(w, &f->page);
	if (f->pdf.status != NULL) {
		w->pdf = f->pdf;
		f->pdf = (struct ing_pdf){0};
		w->has_pdf = true;
		ing_job_account_text(job, w->pdf.text != NULL ? strlen(w->pdf.text) : 0);
	}
}

static void count_uses(const struct ing_job *job, const struct ing_page *page)
{
	ing_yield_count(job->pipeline->conf.yield, page->rules_digest, page->uses, page->use_count);
}

/* The rule behind a link that is followed: should the request end well, it has led there. */
static void note_followed(struct ing_job *job, const struct ing_page *page)
{
	struct ing_work *w = job->work;
	const struct ing_page_link *link = ing_hop_link(w->request, page);
	const char *name =
		ing_yield_name(job->pipeline->conf.yield, page->rules_digest, link->rule);
	if (name == NULL)
		return;
	struct ing_followed *f = ing_arena_alloc(&w->ar, sizeof(*f));
	f->rule = ing_arena_strdup(&w->ar, name);
	f->next = w->followed;
	w->followed = f;
}

static void on_examined(void *ctx, struct ing_findings *f)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	w->exam = NULL;
	hold_gate(job->pipeline);
	ing_exchange_unref(ING_TAKE(w->hop->exchange));
	struct ing_hop_view view = view_of(job);
	struct ing_decision d = ing_hop_after_examine(&view, w->request, f);
	count_uses(job, &f->page);
	keep_findings(job, f);
	if (d.step == ING_STEP_LINK) {
		note_followed(job, &f->page);
		go_to(job, d.url, ING_VIA_LINK);
	} else {
		w->loop_ended_normally = d.status == ING_STATUS_SUCCESS ||
					 d.status == ING_STATUS_WRONG_MIMETYPE ||
					 d.status == ING_STATUS_MISMATCH_HASH;
		ing_job_end(job, d.status, d.words != NULL ? d.words : f->detail);
	}
	ing_findings_done(f);
}

/* The body of an answer with a bad status: it is no document and says nothing else. */
static void on_walls_examined(void *ctx, struct ing_findings *f)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	job->work->exam = NULL;
	hold_gate(job->pipeline);
	ing_exchange_unref(ING_TAKE(job->work->hop->exchange));
	count_uses(job, &f->page);
	struct ing_decision d = ing_hop_after_walls(f);
	ing_job_end(job, d.status, d.words);
	ing_findings_done(f);
}

/* --- the tick: deadlines and backpressure --- */

static void check_deadline(struct ing_job *job, uint64_t now_ms)
{
	if (now_ms < job->work->deadline_ms)
		return;
	ing_pool_cancel(ING_TAKE(job->work->exam));
	ing_job_end(job, ING_STATUS_TIMEOUT, "the request's work took longer than job.deadline_ms");
}

static void on_tick(uv_timer_t *timer)
{
	struct ing_pipeline *p = timer->data;
	uint64_t now = ing_now_ms();
	struct ing_job *job;
	struct ing_job *next;
	/* Transfers end by themselves (they were given the deadline); only examiners have to be
	 * called off. */
	DL_FOREACH_SAFE2(p->examining, job, next, exam_next)
	check_deadline(job, now);
	balance(p);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* ----------------------------------------------------------------------------------------------------------
 */

struct ing_pipeline *ing_pipeline_new(struct uv_loop_s *loop, const struct ing_pipeline_conf *conf)
{
	struct ing_pipeline *p = ing_alloc(sizeof(*p));
	p->conf = *conf;
	uv_timer_init(loop, &p->tick);
	p->tick.data = p;
	return p;
}

void ing_pipeline_wire(struct ing_pipeline *p, const struct ing_stages *stages)
{
	p->stages = *stages;
	uv_timer_start(&p->tick, on_tick, TICK_MS, TICK_MS);
}

void ing_pipeline_set_rules(struct ing_pipeline *p, const struct ing_urlrules *urlrules,
	const struct ing_hostrules *hostrules)
{
	p->conf.urlrules = urlrules;
	p->conf.hostrules = hostrules;
}

void ing_pipeline_free(struct ing_pipeline *p)
{
	if (p == NULL)
		return;
	ing_must(p->job_count == 0);
	uv_close((uv_handle_t *)&p->tick, on_closed);
}

void ing_pipeline_on_message(struct ing_pipeline *p, const struct ing_message *m)
{
	if (p->draining)
		return; /* never finished, so it comes again to whoever is next */
	struct ing_request *request = NULL;
	struct ing_error err = {0};
	if (ing_request_parse(m->value, m->value_bytes, &request, &err) != 0) {
		ing_pipeline_bury(p, m, &err);
		balance(p);
		return;
	}
	struct ing_job *job = new_job(p, m);
	struct ing_decision start = ing_hop_start(request->base_url, judge_url, p);
	if (request->type != ING_TYPE_PDF && request->type != ING_TYPE_HTML) {
		ing_job_end(job, ING_STATUS_NOT_IMPLEMENTED, "this version handles pdf and html");
	} else if (start.step == ING_STEP_END) {
		ing_job_end(job, start.status, start.words);
	} else {
		ing_job_set_state(job, ING_JOB_WAITING);
		ing_gate_enter(p->stages.gate, &job->waiter, start.url,
			&(struct ing_gate_ticket){.lane = ING_LANE_REQUESTS});
	}
	free(start.url);
	ing_request_free(request);
	if (is_full(p))
		balance(p);
}

void ing_pipeline_on_revoked(struct ing_pipeline *p, int32_t partition_slot, uint32_t epoch)
{
	struct ing_job *job;
	struct ing_job *next;
	DL_FOREACH_SAFE (p->jobs, job, next) {
		if (job->token.partition_slot == partition_slot && job->token.epoch == epoch)
			cancel_job(job);
	}
}

void ing_pipeline_drain(struct ing_pipeline *p)
{
	p->draining = true;
	balance(p);
	struct ing_job *job;
	struct ing_job *next;
	DL_FOREACH_SAFE (p->jobs, job, next) {
		if (job->state == ING_JOB_WAITING)
			cancel_job(job);
	}
}

void ing_pipeline_cancel(struct ing_pipeline *p)
{
	struct ing_job *job;
	struct ing_job *next;
	DL_FOREACH_SAFE (p->jobs, job, next)
		cancel_job(job);
}

bool ing_pipeline_idle(const struct ing_pipeline *p)
{
	return p->job_count == 0 && p->dead_pending == 0;
}

const char *ing_pipeline_blocked_by(const struct ing_pipeline *p)
{
	return p->blocked_by;
}

void ing_pipeline_stats(const struct ing_pipeline *p, struct ing_pipeline_stats *ret)
{
	*ret = p->stats;
	ret->jobs = p->job_count;
	/* Jobs are appended in order of arrival, so the first one is the oldest. */
	uint64_t since = p->jobs != NULL ? p->jobs->born_ms : 0;
	ret->oldest_ms = since > 0 ? ing_now_ms() - since : 0;
}
