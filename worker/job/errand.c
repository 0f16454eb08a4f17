/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Errands, each a chain like a request's, but shorter: gate, fetch, archive and examiner side by
 * side, store, and then a redirect, another try or the end. Loop thread; callbacks are those of the
 * gate, of fetch, archive, pool and store. A body is not looked into here: what a robots.txt says
 * is the examiner's answer, in which only the rules are believed.
 *
 * What surprises: an errand goes first within its lane, because all who wait for the host there
 * wait for it, and its lane is that of the most urgent of them: a bulk list of many hosts must not
 * fill the priority lane with its files. What waits is small, for there may be one for each host
 * that anybody waits for; what an answer needs is made when it comes.
 */
#include "worker/job/errand.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/data/base32.h"
#include "common/data/digest.h"
#include "common/net/robots.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/job/capture.h"
#include "worker/job/hop.h"
#include "worker/job/retry.h"
#include "worker/job/truth.h"
#include "worker/rules/url_policy.h"
#include "worker/model/limits.h"

#define ERRAND_MAGIC 0x45525241u

/* All requests for a host end with its robots.txt, so more patience is due than with one of them:
 * half a minute of a host that is down. */
#define MORE_TRIES 3u

struct errand {
	unsigned magic;
	unsigned redirects, tries; /* of the chain; of url */
	int redirect_status;       /* of the last redirect */
	enum ing_lane lane;
	UT_hash_handle hh; /* by token */
	struct ing_errands *all;
	struct ing_gate_waiter waiter;
	void *token;
	char *url;              /* heap */
	uint64_t not_before_ms; /* ing_now_ms() clock: of the next try */
	uint64_t deadline_ms, work_left_ms;
	struct ing_transfer *transfer;
	struct answer *answer;
	bool owed;      /* a record or a row is under way */
	bool cancelled; /* and goes when it is no longer owed */
};

/* From the end of a transfer until it is known what comes of it. */
struct answer {
	struct errand *errand;
	struct ing_exchange *exchange;
	struct ing_exam_ticket *exam; /* of the body of a 2xx; NULL: none, or it is over */
	bool examined;
	struct ing_findings findings; /* once examined */
	bool archived;                /* or nobody archives it */
	bool indexed;                 /* there is a record to be indexed */
	char datetime[ING_DT14_BYTES];
	char mimetype[ING_CDX_MIMETYPE_BYTES];
	struct ing_archive_item archive;
	struct ing_store_item rows;
	struct ing_row_cdx row;
	char row_hex[ING_SHA1_HEX_BYTES];
};

struct ing_errands {
	struct ing_errand_conf conf;
	struct ing_stages stages;
	struct errand *errands;
};

static void on_fetched(void *ctx, struct ing_exchange *ex);

/* --- waiting and the end --- */

static void drop_answer(struct errand *e)
{
	struct answer *a = ING_TAKE(e->answer);
	if (a == NULL)
		return;
	if (a->exam != NULL)
		ing_pool_cancel(a->exam);
	ing_findings_done(&a->findings);
	ing_exchange_unref(a->exchange);
	free(a);
}

static void free_errand(struct errand *e)
{
	ing_must(e->waiter.state == ING_GATE_OUT && e->transfer == NULL && !e->owed);
	HASH_DEL(e->all->errands, e);
	drop_answer(e);
	free(e->url);
	e->magic = 0;
	free(e);
}

static void tell(struct errand *e, const struct ing_robots_answer *told)
{
	ing_robots_got(e->all->stages.robots, e->token, told);
	free_errand(e);
}

/* A redirect that cannot be followed: as if there were no file (RFC 9309 2.3.1.2). */
static void lead_nowhere(struct errand *e)
{
	tell(e, &(struct ing_robots_answer){
			.outcome = ING_STATUS_SUCCESS, .http_status = e->redirect_status});
}

static void queue_up(struct errand *e)
{
	uint64_t now = ing_now_ms();
	ing_gate_enter(e->all->stages.gate, &e->waiter, e->url,
		&(struct ing_gate_ticket){
			.lane = e->lane,
			.again = true,
			.delay_ms = e->not_before_ms > now ? (unsigned)(e->not_before_ms - now) : 0,
		});
}

static struct ing_url_decision judge(const struct errand *e, const char *url)
{
	const struct ing_errand_conf *conf = &e->all->conf;
	struct ing_url_decision f =
		ing_url_policy_decide(conf->url_rules, conf->blocked_hosts, url);
	if (f.only_at_end)
		f.rule = ING_URL_RULE_NONE;
	return f;
}

static void on_granted(struct ing_gate_waiter *waiter)
{
	struct errand *e = ING_CONTAINER(waiter, struct errand, waiter);
	ing_must(e->magic == ERRAND_MAGIC);
	const struct ing_errand_conf *conf = &e->all->conf;
	struct ing_url_decision f = judge(e, e->url); /* a host may have been blocked meanwhile */
	if (f.rule != ING_URL_RULE_NONE) {
		ing_gate_leave(e->all->stages.gate, waiter, NULL);
		if (e->redirects > 0)
			lead_nowhere(e);
		else
			tell(e, &(struct ing_robots_answer){
					.outcome = ING_STATUS_SKIP_URL_BLOCKLIST,
					.words = f.detail});
		return;
	}
	e->tries++;
	e->deadline_ms = ing_now_ms() + e->work_left_ms;
	e->transfer = ing_fetch_start(e->all->stages.fetch,
		&(struct ing_fetch_ask){
			.url = e->url,
			.deadline_ms = e->deadline_ms,
			.max_body_bytes = conf->max_body_bytes,
			.tls_fallback = ing_url_policy_tls_fallback(
				conf->host_rules, conf->tls_fallback, e->url),
		},
		on_fetched, e);
}

static void on_refused(
	struct ing_gate_waiter *waiter, enum ing_gate_refusal why, unsigned retry_after_s)
{
	struct errand *e = ING_CONTAINER(waiter, struct errand, waiter);
	ing_must(e->magic == ERRAND_MAGIC);
	tell(e, &(struct ing_robots_answer){
			.outcome = ING_STATUS_HOST_BACKOFF,
			.retry_after_s = retry_after_s,
			.words = ing_retry_refusal_words(why),
		});
}

static const struct ing_gate_user gate_user = {.granted = on_granted, .refused = on_refused};

/* --- what an answer says --- */

static bool is_2xx(const struct ing_exchange *ex)
{
	return ex->answered && ex->http_status >= 200 && ex->http_status <= 299;
}

/* Whether the examiner's answer is one: its process may have been taken over by the file. */
static bool has_rules(const struct answer *a)
{
	return a->findings.exam == ING_EXAM_OK && a->findings.robots.txt != NULL;
}

/* What the examiner has to say to this answer: rules, or why there are none. */
static void tell_findings(const struct answer *a, struct ing_robots_answer *told)
{
	if (!a->examined)
		return; /* an empty file */
	if (has_rules(a)) {
		told->txt = a->findings.robots.txt;
		return;
	}
	told->outcome = ing_hop_exam_status(a->findings.exam);
	told->words = a->findings.detail;
	if (told->outcome == ING_STATUS_SUCCESS)
		told->outcome = ING_STATUS_PARSE_CRASH;
}

static void finish(struct errand *e)
{
	const struct answer *a = e->answer;
	const struct ing_exchange *ex = a->exchange;
	struct ing_robots_answer told = {
		.outcome = ex->outcome,
		.http_status = ex->answered ? ex->http_status : e->redirect_status,
		.words = ex->detail[0] != '\0' ? ex->detail : NULL,
	};
	if (e->redirects > 0 && (ex->outcome == ING_STATUS_BLOCKED_ADDRESS ||
					ex->outcome == ING_STATUS_INVALID_URL)) {
		lead_nowhere(e);
		return;
	}
	/* A status other than 2xx speaks for itself, however the body ended. */
	if (ex->answered && (!is_2xx(ex) || ex->outcome == ING_STATUS_BODY_TOO_LARGE))
		told.outcome = ING_STATUS_SUCCESS;
	if (told.outcome == ING_STATUS_SUCCESS)
		tell_findings(a, &told);
	tell(e, &told);
}

static void follow(struct errand *e)
{
	const struct ing_exchange *ex = e->answer->exchange;
	bool dropped_userinfo = false;
	char *to = ex->location != NULL
			   ? ing_hop_redirect_target(e->url, ex->location, &dropped_userinfo)
			   : NULL;
	e->redirect_status = ex->http_status;
	if (to != NULL && e->work_left_ms == 0) { /* where it leads nobody has seen */
		free(to);
		tell(e, &(struct ing_robots_answer){.outcome = ING_STATUS_TIMEOUT,
				.http_status = e->redirect_status,
				.words = ing_status_meaning(ING_STATUS_TIMEOUT)});
		return;
	}
	if (to == NULL || strcmp(to, e->url) == 0 || e->redirects >= e->all->conf.max_redirects ||
		judge(e, to).rule != ING_URL_RULE_NONE) {
		free(to);
		lead_nowhere(e);
		return;
	}
	free(e->url);
	e->url = to;
	e->redirects++;
	e->tries = 0;
	e->not_before_ms = 0;
	drop_answer(e);
	queue_up(e);
}

/* The answer is on disk, and its row in the table; unless its body could not be read back. */
static void believe(struct errand *e)
{
	const struct ing_exchange *ex = e->answer->exchange;
	unsigned delay_ms;
	uint32_t random;
	if (e->answer->archive.lost) {
		tell(e, &(struct ing_robots_answer){.outcome = ING_STATUS_WORKER_ERROR,
				.words = "its body cannot be read back"});
		return;
	}
	ing_must(getrandom(&random, sizeof(random), 0) == sizeof(random));
	if (ex->answered && ing_hop_is_redirect(ex->http_status)) {
		follow(e);
	} else if (e->work_left_ms > 0 &&
		   ing_retry_worth(ex, e->tries, MORE_TRIES, random, &delay_ms)) {
		e->not_before_ms = ing_now_ms() + delay_ms;
		e->tries -= ex->starved ? 1 : 0;
		drop_answer(e);
		queue_up(e);
	} else {
		finish(e);
	}
}

/* --- to the archive and the table --- */

static bool drop_cancelled(struct errand *e)
{
	e->owed = false;
	if (!e->cancelled)
		return false;
	free_errand(e);
	return true;
}

static void on_stored(struct ing_store_item *item)
{
	struct answer *a = ING_CONTAINER(item, struct answer, rows);
	struct errand *e = a->errand;
	ing_must(e->magic == ERRAND_MAGIC && e->answer == a);
	if (!drop_cancelled(e))
		believe(e);
}

/* Whether the examiner knows the digest of the file: it has decoded it, to its end. */
static bool has_digest(const struct answer *a)
{
	return has_rules(a) && !a->findings.robots.cut && a->findings.file.decoded &&
	       ing_truth_is_coded(a->exchange);
}

static void index_answer(struct errand *e)
{
	const struct ing_stages *s = &e->all->stages;
	struct answer *a = e->answer;
	struct ing_capture capture = {
		.url = e->url,
		.datetime = a->datetime,
		.mimetype = a->mimetype,
		.http_status = a->exchange->http_status,
		.body_sha1hex = has_digest(a) ? a->findings.file.sha1hex : NULL,
		.archive = &a->archive,
	};
	struct ing_cdx line;
	struct ing_buf surt;
	ing_buf_init(&surt, 4 * ING_MAX_URL_BYTES);
	if (s->on_cdx != NULL && ing_capture_line(&capture, &surt, &line))
		s->on_cdx(s->ctx, &line);
	ing_buf_done(&surt);
	if (s->store == NULL || !ing_capture_row(&capture, a->row_hex, &a->row)) {
		believe(e);
		return;
	}
	a->rows = (struct ing_store_item){.done = on_stored, .cdx = &a->row, .cdx_count = 1};
	e->owed = true;
	ing_store_put(s->store, &a->rows);
}

/* The row needs both the record's place and the decoded digest. */
static void go_on(struct errand *e)
{
	const struct answer *a = e->answer;
	if (!a->archived || a->exam != NULL)
		return;
	if (a->indexed)
		index_answer(e);
	else
		believe(e);
}

static void on_archived(struct ing_archive_item *item)
{
	struct answer *a = ING_CONTAINER(item, struct answer, archive);
	struct errand *e = a->errand;
	ing_must(e->magic == ERRAND_MAGIC && e->answer == a);
	if (drop_cancelled(e))
		return;
	a->archived = true;
	go_on(e);
}

static void on_examined(void *ctx, struct ing_findings *findings)
{
	struct errand *e;
	ING_CAST_OBJ(e, ctx, ERRAND_MAGIC);
	struct answer *a = e->answer;
	a->exam = NULL;
	a->examined = true;
	a->findings = *findings;
	go_on(e);
}

static void start_archiving(struct errand *e)
{
	struct answer *a = e->answer;
	if (e->all->stages.archive == NULL || !a->exchange->answered) {
		a->archived = true;
		return;
	}
	a->indexed = true;
	a->archive = (struct ing_archive_item){.exchange = a->exchange, .done = on_archived};
	e->owed = true;
	ing_archive_put(e->all->stages.archive, &a->archive);
}

/* Being examined counts against no deadline of the errand's: the pool's own limits end it. */
static const struct ing_pool_user robots_user = {.done = on_examined};

/* Of a body that fetch has cut short the first part counts; one that broke off is tried again. */
static void start_examining(struct errand *e)
{
	struct answer *a = e->answer;
	const struct ing_exchange *ex = a->exchange;
	const struct ing_errand_conf *conf = &e->all->conf;
	bool cut = ex->outcome == ING_STATUS_BODY_TOO_LARGE;
	if (!is_2xx(ex) || ex->body_bytes == 0 || (ex->outcome != ING_STATUS_SUCCESS && !cut))
		return;
	struct ing_question q = {
		.url = e->url,
		.content_type = ex->content_type,
		.content_encoding = ex->content_encoding,
		.want = ING_WANT_ROBOTS,
		.max_body_bytes = ING_ROBOTS_TXT_MAX_BYTES,
		.agent = conf->agent,
		.body_cut = cut,
	};
	a->exam = ing_pool_submit(
		e->all->stages.pool, &q, ex->body_fd, ex->body_bytes, &robots_user, e);
}

static void on_fetched(void *ctx, struct ing_exchange *ex)
{
	struct errand *e;
	ING_CAST_OBJ(e, ctx, ERRAND_MAGIC);
	const struct ing_stages *s = &e->all->stages;
	uint64_t now = ing_now_ms();
	e->work_left_ms = e->deadline_ms > now ? e->deadline_ms - now : 0;
	e->transfer = NULL;
	struct ing_gate_report report = ing_retry_report(ex);
	ing_gate_leave(s->gate, &e->waiter, &report);

	struct answer *a = ing_alloc(sizeof(*a));
	e->answer = a;
	a->errand = e;
	a->exchange = ex;
	ing_format_dt14(ex->started, a->datetime);
	ing_cdx_mimetype(ex->content_type, a->mimetype);
	start_archiving(e);
	start_examining(e);
	go_on(e);
}

static struct errand *find_errand(
	const struct ing_errands *all, const struct ing_robots_entry *entry)
{
	struct errand *e;
	const void *token = entry;
	HASH_FIND_PTR(all->errands, &token, e);
	return e;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_errands *ing_errands_new(const struct ing_errand_conf *conf)
{
	struct ing_errands *all = ing_alloc(sizeof(*all));
	all->conf = *conf;
	return all;
}

void ing_errands_wire(struct ing_errands *all, const struct ing_stages *stages)
{
	all->stages = *stages;
}

void ing_errands_free(struct ing_errands *all)
{
	if (all == NULL)
		return;
	ing_must(all->errands == NULL);
	free(all);
}

void ing_errands_get_robots(void *errands, const char *url, void *token)
{
	struct ing_errands *all = errands;
	struct errand *e = ing_alloc(sizeof(*e));
	e->magic = ERRAND_MAGIC;
	e->all = all;
	e->waiter.user = &gate_user;
	e->token = token;
	e->url = ing_strdup(url);
	e->work_left_ms = all->conf.deadline_ms;
	e->lane = ING_LANE_BULK; /* until somebody hurries it */
	HASH_ADD_PTR(all->errands, token, e);
	queue_up(e);
}

void ing_errands_hurry(
	struct ing_errands *all, const struct ing_robots_entry *entry, enum ing_lane lane)
{
	struct errand *e = find_errand(all, entry);
	if (e == NULL || e->lane <= lane)
		return;
	e->lane = lane;
	if (e->waiter.state != ING_GATE_WAITING && e->waiter.state != ING_GATE_SNOOZING)
		return;
	ing_gate_leave(all->stages.gate, &e->waiter, NULL);
	queue_up(e);
}

bool ing_errands_wait_for_hold(const struct ing_errands *all, const struct ing_robots_entry *entry)
{
	const struct errand *e = find_errand(all, entry);
	return e != NULL && ing_gate_waits_for_hold(&e->waiter);
}

void ing_errands_cancel(struct ing_errands *all)
{
	struct errand *e;
	struct errand *next;
	HASH_ITER (hh, all->errands, e, next) {
		ing_gate_leave(all->stages.gate, &e->waiter,
			e->transfer != NULL ? &ing_gate_called_off : NULL);
		if (e->transfer != NULL)
			ing_fetch_cancel(ING_TAKE(e->transfer));
		if (e->answer != NULL && e->answer->exam != NULL)
			ing_pool_cancel(ING_TAKE(e->answer->exam));
		e->cancelled = true;
		if (!e->owed)
			free_errand(e);
	}
}

bool ing_errands_idle(const struct ing_errands *all)
{
	return all->errands == NULL;
}

void ing_errands_set_rules(struct ing_errands *all, const struct ing_url_rules *url_rules,
	const struct ing_host_rules *host_rules)
{
	all->conf.url_rules = url_rules;
	all->conf.host_rules = host_rules;
}
