/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a publication asks (publication.h), and what becomes of it. Loop thread; the callbacks are those of
 * visits and of examinations.
 *
 * What surprises: a visit may end inside ing_visit_start(), and the last answer ends the job: so further
 * asks are begun from one place, which is the last thing that every callback does. Only the one that comes
 * with the admission of the first visit may not do so: it is followed up with the next tick.
 */
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/net/url.h"
#include "worker/artifact/artifact.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/publication.h"
#include "worker/job/publication_request.h"
#include "worker/rules/rule_stats.h"

/* A host that is held for longer is not waited for: the others may have what is looked for. */
#define MAX_HOLD_MS 60000u

static struct ing_job *job_of(const struct ing_visit *v)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, v->ctx, ING_JOB_MAGIC);
	return job;
}

static struct ing_publication_visit *ask_of(struct ing_visit *v)
{
	const struct ing_job *job = job_of(v);
	if (v == &job->first)
		return job->publication->first;
	struct ing_job_visit *further = ING_CONTAINER(v, struct ing_job_visit, visit);
	return ING_CONTAINER(further, struct ing_publication_visit, further);
}

static const struct ing_publication_settings *settings_of(const struct ing_job *job)
{
	return &job->pipeline->conf.publication;
}

static uint64_t left_ms(const struct ing_job_publication *pub, uint64_t now_ms)
{
	return pub->end_ms > now_ms ? pub->end_ms - now_ms : 0;
}

/* --- asks --- */

static bool reads_pages(enum ing_publication_reader reader)
{
	return reader == ING_READ_PAGE || reader == ING_READ_PUBMED_HTML ||
	       reader == ING_READ_PMC_HTML;
}

/* Returns NULL when nothing is to be asked now. One that may have killed a process is to be alone at
 * work. */
static struct ing_publication_visit *next_ask(struct ing_job *job)
{
	struct ing_job_publication *pub = job->publication;
	struct ing_arena *ar = &job->work->ar;
	struct ing_assembly_ask ask;
	if ((job->alone && pub->open > 0) ||
		!ing_assembly_next(pub->assembly, ing_now_ms() - pub->began_ms, &ask))
		return NULL;
	struct ing_publication_visit *a = ing_arena_alloc(ar, sizeof(*a));
	a->id = ask.id;
	a->is_page = reads_pages(ask.read.reader);
	a->url = ing_arena_strdup(ar, ask.url);
	a->accept = ing_arena_strdup(ar, ask.accept);
	a->referer = ing_arena_strdup(ar, ask.referer);
	a->read = ask.read;
	a->read.pmid = ing_arena_strdup(ar, ask.read.pmid);
	a->read.pmcid = ing_arena_strdup(ar, ask.read.pmcid);
	a->read.doi = ing_arena_strdup(ar, ask.read.doi);
	a->host = "";
	a->visit = &a->further.visit;
	a->steps.jar = job->work->steps.jar;
	*pub->end = a;
	pub->end = &a->next;
	pub->open++;
	return a;
}

/* What the last step of a visit says. */
static void add_way(const struct ing_visit_step *step, struct ing_assembly_answer *answer)
{
	if (step == NULL)
		return;
	answer->final_url = step->url;
	answer->http_status = step->answered ? step->capture.http_status : 0;
}

static bool may_pass(enum ing_status status, int http_status)
{
	if (status == ING_STATUS_TERMINAL_BAD_STATUS)
		return http_status == 408 || http_status == 429 || http_status >= 500;
	return ing_status_retry(status) == ING_STATUS_SOON;
}

static void take_answer(
	struct ing_job *job, struct ing_publication_visit *a, struct ing_assembly_answer *answer)
{
	struct timespec now = ing_wall_now();
	answer->time_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	answer->transient = may_pass(answer->status, answer->http_status);
	a->is_over = true;
	job->publication->open--;
	if (a == job->publication->first)
		ing_job_leave_share(
			job); /* of its page's host, which it does not wait for any more */
	ing_assembly_answer(job->publication->assembly, a->id, answer);
}

/* The job may be gone afterwards. */
static void end_ask(struct ing_job *job, struct ing_publication_visit *a, enum ing_status status,
	const char *detail, const struct ing_visit_step *step)
{
	struct ing_assembly_answer answer = {.status = status, .detail = detail};
	add_way(step, &answer);
	take_answer(job, a, &answer);
	ing_job_go_on_with_publication(job);
}

static void note_retry_after(struct ing_job *job, unsigned retry_after_s)
{
	struct ing_job_publication *pub = job->publication;
	pub->retry_after_s = ING_MAX(pub->retry_after_s, retry_after_s);
}

/* --- what they bring --- */

static size_t length_or_none(const char *s)
{
	return s != NULL ? strlen(s) : 0;
}

static size_t count_bytes(const struct ing_publication_found *f)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < f->offer_count; i++) {
		const struct ing_publication_offer *o = &f->offers[i];
		bytes += length_or_none(o->text);
		for (uint32_t k = 0; k < o->term_count; k++)
			bytes += sizeof(o->terms[k]) + length_or_none(o->terms[k].term) +
				 length_or_none(o->terms[k].uri);
	}
	for (uint32_t i = 0; i < f->author_count; i++)
		bytes += sizeof(f->authors[i]) + length_or_none(f->authors[i].name);
	for (uint32_t i = 0; i < f->link_count; i++)
		bytes += sizeof(f->links[i]) + length_or_none(f->links[i].url);
	return bytes;
}

/* Whether a page with the signature of a wall is one: it says nothing of a publication. */
static bool is_empty_page(const struct ing_publication_found *f)
{
	for (uint32_t i = 0; i < f->offer_count; i++)
		if (f->offers[i].type != ING_PART_TYPE_WEBPAGE)
			return false;
	return f->link_count == 0;
}

/* Returns SUCCESS for findings that can be taken. */
static enum ing_status judge(const struct ing_publication_visit *a, const struct ing_findings *f,
	const char **ret_detail)
{
	*ret_detail = f->detail;
	if (f->exam != ING_EXAM_OK)
		return ing_exam_status(f->exam);
	if (f->publication.status == NULL) {
		*ret_detail = "the examiner has not said what it found";
		return ING_STATUS_PARSE_CRASH;
	}
	if (!a->is_page || f->page.wall == ING_WALL_NONE || !is_empty_page(&f->publication))
		return ING_STATUS_SUCCESS;
	struct ing_decision d = ing_hop_after_walls(f);
	*ret_detail = d.detail;
	return d.status;
}

static void on_examined(struct ing_job *job, struct ing_visit *v, struct ing_visit_step *step,
	struct ing_findings *f)
{
	struct ing_work *w = job->work;
	struct ing_publication_visit *a = ask_of(v);
	struct ing_assembly_answer answer = {0};
	ing_rule_stats_add(job->pipeline->conf.rule_stats, f->page.rules_digest, f->page.rule_hits,
		f->page.rule_hit_count);
	if (f->file.decoded)
		step->capture.body_sha1hex = ing_arena_strdup(&w->ar, f->file.sha1hex);
	answer.status = judge(a, f, &answer.detail);
	add_way(step, &answer);
	if (answer.status == ING_STATUS_SUCCESS) {
		answer.found = &f->publication;
		ing_job_account_derived(job, w->derived_bytes + count_bytes(&f->publication));
	}
	take_answer(job, a, &answer);
	if (ing_pipeline_is_over_publication_bytes(job->pipeline))
		ing_assembly_stop(job->publication->assembly);
	ing_job_go_on_with_publication(job);
}

/* As of a chain's page: what is no wall may be gone with the next try. */
static void on_walls_examined(struct ing_job *job, struct ing_visit *v, struct ing_visit_step *step,
	struct ing_findings *f)
{
	struct ing_decision d = ing_hop_after_walls(f);
	bool is_wall = f->exam == ING_EXAM_OK && d.status != ING_STATUS_TERMINAL_BAD_STATUS;
	if (is_wall || !ing_visit_again(v))
		end_ask(job, ask_of(v), is_wall ? d.status : ING_STATUS_TERMINAL_BAD_STATUS,
			d.detail, step);
}

static void on_late(struct ing_job *job, struct ing_visit *v)
{
	(void)v;
	ing_job_end_publication(job);
}

static const struct ing_exam_use findings_use = {.examined = on_examined, .late = on_late};
static const struct ing_exam_use walls_use = {.examined = on_walls_examined, .late = on_late};

static void examine(
	struct ing_job *job, struct ing_publication_visit *a, const struct ing_visit_outcome *o)
{
	bool only_walls = o->end == ING_VISIT_WALLS;
	unsigned want = a->is_page ? ING_WANT_PUBLICATION | ING_WANT_WALLS | ING_WANT_PDF
				   : (unsigned)ING_WANT_PUBLICATION;
	struct ing_exam_request q =
		ing_job_question(job, o->exchange, only_walls ? (unsigned)ING_WANT_WALLS : want);
	if (!only_walls)
		q.publication = &a->read;
	ing_job_examine(job, a->visit, o, &q, only_walls ? &walls_use : &findings_use);
}

/* --- visits --- */

static char *get_url(struct ing_visit *v)
{
	struct ing_job *job = job_of(v);
	if (v == &job->first)
		return ing_job_derive_start(job);
	return ing_strdup(ask_of(v)->further.url);
}

static void on_admitted(struct ing_visit *v, struct ing_visit_params *ret)
{
	struct ing_job *job = job_of(v);
	struct ing_job_publication *pub = job->publication;
	if (pub->assembly == NULL) {
		ing_job_begin_publication(job);
		pub->fresh = true;
	}
	struct ing_publication_visit *a = ask_of(v);
	ing_work_clock_init(&a->clock, left_ms(pub, ing_now_ms()));
	*ret = (struct ing_visit_params){
		.url = v == &job->first ? job->work->start : a->further.url,
		.referer = a->referer,
		.arena = &job->work->ar,
		.steps = v == &job->first ? &job->work->steps : &a->steps,
		.clock = &a->clock,
		.accept = a->accept,
		.max_redirects = job->pipeline->conf.settings.max_redirects,
	};
	ing_job_update_state(job);
}

static bool may_wait(struct ing_visit *v, const char *url)
{
	struct ing_job *job = job_of(v);
	struct ing_job_publication *pub = job->publication;
	char host[ING_URL_HOST_BYTES];
	if (!ing_visits_host(job->pipeline->stages.visits, url, host, sizeof(host)))
		host[0] = '\0';
	bool is_begun = pub->assembly != NULL;
	/* One that begins with a page waits for it as any other request does. */
	if (!is_begun && !pub->at_service)
		return ing_job_take_share(job, url);
	uint64_t hold_ms = ing_job_hold_of(job, host);
	if (is_begun)
		ask_of(v)->host = ing_arena_strdup(&job->work->ar, host);
	if (hold_ms == 0)
		return true;
	if (!is_begun)
		ing_job_begin_publication(job);
	ing_job_give_up_ask(job, ask_of(v), hold_ms);
	return false;
}

static bool was_asked_before(const struct ing_visit *v, const char *url)
{
	const struct ing_job *job = job_of(v);
	if (v == &job->first)
		return ing_visit_steps_have(&job->work->steps, url);
	return ing_visit_steps_have(&ask_of((struct ing_visit *)(uintptr_t)v)->steps, url);
}

static void on_done(struct ing_visit *v, const struct ing_visit_outcome *o)
{
	struct ing_job *job = job_of(v);
	if (job->publication->assembly == NULL) /* it was not admitted */
		ing_job_begin_publication(job);
	struct ing_work *w = job->work;
	struct ing_publication_visit *a = ask_of(v);
	w->dropped_userinfo |= o->dropped_userinfo;
	w->unverified |= o->unverified;
	if (o->end == ING_VISIT_EXAMINE || (o->end == ING_VISIT_WALLS && a->is_page)) {
		examine(job, a, o);
		return;
	}
	if (o->end == ING_VISIT_WALLS && ing_visit_again(v))
		return;
	note_retry_after(job, o->retry_after_s);
	end_ask(job, a, o->status, o->detail, o->step);
}

static bool needs_browser(const struct ing_stages *s, const json_t *resource, const char *key)
{
	const char *url = json_string_value(json_object_get(resource, key));
	return url != NULL && s->needs_browser != NULL &&
	       s->needs_browser(s->rules_ctx, url, false);
}

/* Say of everything that was asked for whether only a browser can read it. */
static void say_browsers(const struct ing_stages *s, json_t *resources)
{
	size_t i;
	json_t *o;
	json_array_foreach (resources, i, o) {
		bool needed = needs_browser(s, o, "url") || needs_browser(s, o, "final_url");
		ing_json_set_bool(o, "needs_browser", needed);
	}
}

/* -------------------------------------------------------------------------------------------- */

#define USER                                                                                       \
	.source = ing_job_visit_source, .accepted_ms = ing_job_accepted_ms, .url = get_url,        \
	.admitted = on_admitted, .changed = ing_job_on_visit_changed, .may_wait = may_wait,        \
	.asked_before = was_asked_before, .no_descriptor = ing_job_on_no_descriptor,               \
	.done = on_done, .settled = ing_job_on_visit_settled

const struct ing_visit_user ing_publication_page_user = {USER};
const struct ing_visit_user ing_publication_service_user = {USER, .is_service = true};

struct ing_decision ing_pipeline_start(const struct ing_pipeline *p, const struct ing_request *r,
	ing_verdict_fn *verdict, void *ctx)
{
	struct ing_assembly_request request;
	struct ing_error err = {0};
	struct ing_decision d;
	struct ing_arena ar;
	if (!ing_artifact_type(r->type)->is_assembled)
		return ing_target_start(r->base_url, verdict, ctx);
	ing_arena_init(&ar);
	if (ing_publication_request(r, &ar, &request, &err) == 0) {
		char *url = ing_assembly_first_url(&p->conf.publication, &request);
		d = url != NULL ? ing_target_start(url, verdict, ctx)
				: ing_target_end(ING_STATUS_EMPTY_PUBLICATION,
					  "no resource can be asked with this identifier");
		free(url);
	} else {
		d = ing_target_end(ING_STATUS_INVALID_URL,
			"base_url or an identifier is no URL, PMID, PMCID or DOI");
	}
	ing_arena_done(&ar);
	return d;
}

void ing_job_begin_publication(struct ing_job *job)
{
	struct ing_job_publication *pub = job->publication;
	struct ing_assembly_request request;
	struct ing_error err = {0};
	if (job->work == NULL)
		ing_job_start_work(job);
	int rc = ing_publication_request(job->work->request, &job->work->ar, &request, &err);
	ing_must(rc == 0); /* it was read at intake */
	ing_publication_move(pub, ING_PLACE_BEGUN);
	pub->began_ms = ing_now_ms();
	pub->end_ms = pub->began_ms + settings_of(job)->deadline_ms;
	ing_work_clock_init(&job->work->clock, settings_of(job)->deadline_ms);
	pub->assembly = ing_assembly_new(settings_of(job), &request);
	pub->end = &pub->first;
	struct ing_publication_visit *a = next_ask(job);
	ing_must(a != NULL); /* its URL is where the job began */
	a->visit = &job->first;
	a->host = ing_arena_strdup(&job->work->ar, pub->host);
}

/* Begin an ask. The visit may end at once. */
static void start(struct ing_job *job, struct ing_publication_visit *a)
{
	struct ing_decision d;
	bool dropped = false;
	char *url = ing_target_clean(a->url, &dropped);
	if (url == NULL) {
		end_ask(job, a, ING_STATUS_INVALID_URL, NULL, NULL);
		return;
	}
	a->further.url = ing_arena_strdup(&job->work->ar, url);
	free(url);
	if (ing_target_is_refused(a->further.url, ING_VIA_RESOURCE, ing_visits_judge,
		    job->pipeline->stages.visits, &d)) {
		end_ask(job, a, d.status, d.detail, NULL);
		return;
	}
	a->further.is_hop = true;
	ing_job_add_visit(job, &a->further,
		a->is_page ? &ing_publication_page_user : &ing_publication_service_user);
	ing_visit_start(&a->further.visit, a->further.url, ING_VIA_RESOURCE);
}

static void finish(struct ing_job *job)
{
	struct ing_job_publication *pub = job->publication;
	const char *detail = NULL;
	enum ing_status status = ing_assembly_status(pub->assembly, &detail);
	if (ing_status_retry(status) == ING_STATUS_SOON)
		job->work->retry_after_s = pub->retry_after_s;
	ing_job_end(job, status, detail);
}

void ing_job_go_on_with_publication(struct ing_job *job)
{
	struct ing_job_publication *pub = job->publication;
	pub->go_on_again = true;
	if (pub->going_on)
		return;
	pub->going_on = true;
	while (pub->go_on_again) {
		struct ing_publication_visit *a;
		pub->go_on_again = false;
		while ((a = next_ask(job)) != NULL)
			start(job, a);
	}
	pub->going_on = false;
	if (ing_assembly_is_over(pub->assembly))
		finish(job);
	else
		ing_job_update_state(job);
}

void ing_job_give_up_ask(struct ing_job *job, struct ing_publication_visit *a, uint64_t hold_ms)
{
	unsigned seconds = (unsigned)((hold_ms + 999) / 1000);
	char detail[100];
	snprintf(detail, sizeof(detail), "the host is held for %u s more", seconds);
	ing_visit_cancel(a->visit, false);
	note_retry_after(job, seconds);
	end_ask(job, a, ING_STATUS_HOST_BACKOFF, detail, NULL);
}

void ing_job_end_publication(struct ing_job *job)
{
	struct ing_job_publication *pub = job->publication;
	pub->going_on = true; /* answers lead to nothing more */
	ing_job_cancel_visits(job, true);
	for (struct ing_publication_visit *a = pub->first; a != NULL; a = a->next) {
		struct ing_assembly_answer answer = {.status = ING_STATUS_TIMEOUT,
			.detail = "publication.deadline_ms had passed"};
		if (!a->is_over)
			take_answer(job, a, &answer);
	}
	ing_assembly_stop(pub->assembly);
	finish(job);
}

uint64_t ing_job_hold_of(const struct ing_job *job, const char *host)
{
	const struct ing_job_publication *pub = job->publication;
	struct ing_gate_outlook outlook;
	uint64_t most_ms = MAX_HOLD_MS;
	ing_visits_look_ahead(job->pipeline->stages.visits, host, &outlook);
	if (pub->quick)
		most_ms = 0;
	else if (pub->assembly != NULL)
		most_ms = ING_MIN(most_ms, left_ms(pub, ing_now_ms()));
	return outlook.hold_ms > most_ms ? outlook.hold_ms : 0;
}

json_t *ing_job_publication_json(const struct ing_job *job)
{
	struct ing_job_publication *pub = job->publication;
	if (pub == NULL || pub->assembly == NULL)
		return NULL;
	if (pub->json == NULL) {
		pub->json = ing_assembly_json(pub->assembly);
		say_browsers(&job->pipeline->stages, json_object_get(pub->json, "resources"));
	}
	return json_incref(pub->json);
}
