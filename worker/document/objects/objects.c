/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The queue of objects, and when they are tried again.
 *
 * An object is waiting, running (an attempt of the backend's has it) or ended (done() is due). After a
 * failure it goes to the end of the queue, and only one object at a time is tried until one is stored: it
 * is another one each time, so that a bad object does not hold up the rest.
 */
#include "worker/document/objects/objects.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>
#include <uv.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "worker/document/objects/backend.h"

#define FIRST_DELAY_MS 250
#define MAX_DELAY_MS 30000
#define MAX_RETRY_AFTER_S 600
/* A single failure that is soon over holds up nobody, and is not logged. */
#define BLOCKED_AFTER_MS 1000
/* The same of a store that does not fail, but does not answer either. */
#define SILENT_AFTER_MS 5000
#define LOG_EVERY_MS 60000
/* An object that fails so often while others are stored will not be taken. */
#define MAX_STRANGE_FAILURES 5

enum state { IDLE, WAITING, RUNNING, ENDED };

struct ing_objects {
	uv_loop_t *loop;
	struct ing_object_backend *backend;
	struct ing_object *waiting, *running, *ended;
	unsigned waiting_count, running_count;
	size_t bytes;         /* of all */
	uint64_t progress_ms; /* when one was stored last, or the first of these was put */
	uv_timer_t *timer;
	uv_idle_t *kick; /* calls done() of ended ones, begins others */
	/* While nothing can be stored: */
	bool failing;
	bool logged;
	uint64_t failing_since_ms, not_before_ms;
	unsigned delay_ms;
	/* Of the last line about it, also when it has recovered in between. */
	enum ing_object_outcome why;
	uint64_t next_log_ms;
	char trouble[300]; /* of the last failure */
	struct ing_objects_stats stats;
};

static struct ing_object **list_of(struct ing_objects *s, enum state state)
{
	return state == WAITING ? &s->waiting : state == RUNNING ? &s->running : &s->ended;
}

static void set_state(struct ing_object *o, enum state state)
{
	struct ing_objects *s = o->store;
	if (o->state != IDLE)
		DL_DELETE(*list_of(s, (enum state)o->state), o);
	s->waiting_count -= o->state == WAITING;
	s->running_count -= o->state == RUNNING;
	o->state = (uint8_t)state;
	s->waiting_count += state == WAITING;
	s->running_count += state == RUNNING;
	if (state != IDLE)
		DL_APPEND(*list_of(s, state), o);
}

static void on_kick(uv_idle_t *kick);

static void kick(struct ing_objects *s)
{
	uv_idle_start(s->kick, on_kick);
}

/* --- the end of an object --- */

static void report(struct ing_object *o, enum ing_object_end end)
{
	struct ing_objects *s = o->store;
	set_state(o, IDLE);
	s->bytes -= o->bytes;
	o->store = NULL;
	if (s->waiting_count + s->running_count == 0)
		s->failing = false; /* nobody waits, so nobody knows */
	o->done(o, end);
}

/* --- failures --- */

static const char *word_of(enum ing_object_outcome outcome)
{
	static const char *const words[ING_OBJECT_OUTCOME_COUNT_] = {
		[ING_OBJECT_OUTCOME_STORED] = "stored",
		[ING_OBJECT_OUTCOME_UNFIT] = "the object is too large",
		[ING_OBJECT_OUTCOME_AWAY] = "unavailable",
		[ING_OBJECT_OUTCOME_BUSY] = "busy",
		[ING_OBJECT_OUTCOME_DENIED] = "access denied",
		[ING_OBJECT_OUTCOME_MISSING] = "no such bucket or folder",
		[ING_OBJECT_OUTCOME_FULL] = "full",
		[ING_OBJECT_OUTCOME_STRANGE] = "refused",
	};
	return words[outcome];
}

/* An operator has to act. */
static bool is_error(enum ing_object_outcome outcome)
{
	return outcome != ING_OBJECT_OUTCOME_AWAY && outcome != ING_OBJECT_OUTCOME_BUSY;
}

static void count_failure(struct ing_objects *s, enum ing_object_outcome outcome)
{
	s->stats.failed_away += outcome == ING_OBJECT_OUTCOME_AWAY;
	s->stats.failed_busy += outcome == ING_OBJECT_OUTCOME_BUSY;
	s->stats.failed_denied += outcome == ING_OBJECT_OUTCOME_DENIED;
	s->stats.failed_missing += outcome == ING_OBJECT_OUTCOME_MISSING;
	s->stats.failed_full += outcome == ING_OBJECT_OUTCOME_FULL;
	s->stats.failed_strange += outcome == ING_OBJECT_OUTCOME_STRANGE;
}

/* Once, each minute, and when the reason is another one; a store that comes and goes is not logged more
 * often. */
static void log_failure(struct ing_objects *s, const struct ing_object_verdict *v, uint64_t now_ms)
{
	bool news = s->why != v->outcome;
	if (now_ms - s->failing_since_ms < BLOCKED_AFTER_MS && !is_error(v->outcome))
		return;
	if (!news && now_ms < s->next_log_ms)
		return;
	s->logged = true;
	s->why = v->outcome;
	s->next_log_ms = now_ms + LOG_EVERY_MS;
	ing_log(is_error(v->outcome) ? ING_LOG_ERROR : ING_LOG_WARNING,
		"object store %s: %s: %s; %u objects wait until it takes them", s->backend->name,
		word_of(v->outcome), v->detail, s->waiting_count + s->running_count);
}

static void note_failure(struct ing_objects *s, const struct ing_object_verdict *v)
{
	uint64_t now_ms = ing_now_ms();
	count_failure(s, v->outcome);
	if (!s->failing)
		s->failing_since_ms = now_ms;
	s->failing = true;
	snprintf(s->trouble, sizeof(s->trouble), "%s: %s", word_of(v->outcome), v->detail);
	log_failure(s, v, now_ms);
	if (now_ms < s->not_before_ms)
		return; /* one of those that ran when the first one failed */
	s->delay_ms = s->delay_ms == 0 ? FIRST_DELAY_MS : ING_MIN(2 * s->delay_ms, MAX_DELAY_MS);
	unsigned asked_ms = ING_MIN(v->retry_after_s, MAX_RETRY_AFTER_S) * 1000;
	s->not_before_ms = now_ms + ING_MAX(s->delay_ms, asked_ms);
}

static void note_success(struct ing_objects *s)
{
	if (s->failing && s->logged)
		ing_log(ING_LOG_INFO, "object store %s: takes objects again after %llu s",
			s->backend->name,
			(unsigned long long)(ing_now_ms() - s->failing_since_ms) / 1000);
	s->failing = s->logged = false;
	s->delay_ms = 0;
	s->not_before_ms = 0;
	s->progress_ms = ing_now_ms();
}

static bool is_hopeless(struct ing_object *o, enum ing_object_outcome outcome)
{
	const struct ing_objects *s = o->store;
	if (outcome != ING_OBJECT_OUTCOME_STRANGE)
		return outcome == ING_OBJECT_OUTCOME_UNFIT;
	if (o->failures++ == 0)
		o->others_stored = s->stats.stored;
	return o->failures >= MAX_STRANGE_FAILURES && s->stats.stored > o->others_stored;
}

/* --- attempts --- */

static void refuse(struct ing_object *o, const struct ing_object_verdict *v)
{
	struct ing_objects *s = o->store;
	char path[ING_DERIVED_PATH_BYTES];
	ing_derived_path(o->kind, o->sha1hex, path);
	ing_log(ING_LOG_ERROR, "object store %s: %s is left out: %s: %s", s->backend->name, path,
		word_of(v->outcome), v->detail);
	s->stats.refused++;
	report(o, ING_OBJECT_REFUSED);
}

static void on_ended(struct ing_object_attempt *a)
{
	struct ing_object *o = a->object;
	struct ing_objects *s = o->store;
	struct ing_object_verdict verdict = a->verdict;
	o->attempt = NULL;
	s->backend->free_attempt(a);
	kick(s);
	if (verdict.outcome == ING_OBJECT_OUTCOME_STORED) {
		note_success(s);
		s->stats.stored++;
		s->stats.stored_bytes += o->bytes;
		report(o, ING_OBJECT_STORED);
		return;
	}
	if (o->cancelled) {
		report(o, ING_OBJECT_CANCELLED);
		return;
	}
	if (is_hopeless(o, verdict.outcome)) {
		refuse(o, &verdict);
		return;
	}
	set_state(o, WAITING);
	note_failure(s, &verdict);
}

/* @locality pool */
static void on_work(uv_work_t *work)
{
	struct ing_object_attempt *a = ING_CONTAINER(work, struct ing_object_attempt, work);
	a->backend->prepare(a);
}

static void on_worked(uv_work_t *work, int status)
{
	struct ing_object_attempt *a = ING_CONTAINER(work, struct ing_object_attempt, work);
	(void)status;
	a->in_pool = false;
	if (!a->decided && a->object->cancelled)
		ing_object_decide(a, ING_OBJECT_OUTCOME_AWAY, "cancelled");
	if (a->decided)
		on_ended(a);
	else
		a->backend->send(a);
}

static void begin(struct ing_object *o)
{
	struct ing_objects *s = o->store;
	struct ing_object_attempt *a = s->backend->new_attempt(s->backend, o);
	a->object = o;
	a->backend = s->backend;
	a->ended = on_ended;
	a->in_pool = true;
	o->attempt = a;
	set_state(o, RUNNING);
	ing_must(uv_queue_work(s->loop, &a->work, on_work, on_worked) == 0);
}

static void on_timer(uv_timer_t *timer)
{
	kick(timer->data);
}

static void begin_some(struct ing_objects *s)
{
	unsigned limit = s->failing ? 1 : s->backend->max_running;
	while (s->waiting != NULL && s->running_count < limit) {
		uint64_t now_ms = ing_now_ms();
		if (now_ms < s->not_before_ms) {
			uv_timer_start(s->timer, on_timer, s->not_before_ms - now_ms, 0);
			return;
		}
		begin(s->waiting);
	}
}

static void on_kick(uv_idle_t *handle)
{
	struct ing_objects *s = handle->data;
	uv_idle_stop(handle);
	while (s->ended != NULL)
		report(s->ended, ING_OBJECT_CANCELLED);
	begin_some(s);
}

/* -------------------------------------------------------------------------------------------- */

void ing_object_decide(
	struct ing_object_attempt *a, enum ing_object_outcome outcome, const char *fmt, ...)
{
	va_list ap;
	a->decided = true;
	a->verdict.outcome = outcome;
	va_start(ap, fmt);
	vsnprintf(a->verdict.detail, sizeof(a->verdict.detail), fmt, ap);
	va_end(ap);
}

bool ing_objects_wanted(const struct ing_objects_settings *settings)
{
	return settings->endpoint[0] != '\0' || settings->dir[0] != '\0';
}

int ing_objects_new(struct uv_loop_s *loop, const struct ing_objects_settings *settings,
	const char *user_agent, const char *instance, struct ing_objects **ret,
	struct ing_error *err)
{
	struct ing_object_backend *backend = NULL;
	int rc = settings->endpoint[0] != '\0'
			 ? ing_object_s3_new(loop, settings, user_agent, &backend, err)
			 : ing_object_folder_new(settings, instance, &backend, err);
	if (rc != 0)
		return rc;
	struct ing_objects *s = ing_alloc(sizeof(*s));
	s->loop = loop;
	s->backend = backend;
	s->timer = ing_alloc(sizeof(*s->timer));
	s->kick = ing_alloc(sizeof(*s->kick));
	ing_must(uv_timer_init(loop, s->timer) == 0 && uv_idle_init(loop, s->kick) == 0);
	s->timer->data = s;
	s->kick->data = s;
	*ret = s;
	return 0;
}

static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

void ing_objects_free(struct ing_objects *s)
{
	if (s == NULL)
		return;
	ing_must(s->waiting == NULL && s->running == NULL && s->ended == NULL);
	uv_close((uv_handle_t *)s->timer, free_handle);
	uv_close((uv_handle_t *)s->kick, free_handle);
	s->backend->free(s->backend);
	free(s);
}

void ing_objects_put(struct ing_objects *s, struct ing_object *o)
{
	ing_must(o->store == NULL);
	o->store = s;
	o->cancelled = false;
	if (s->waiting_count + s->running_count == 0)
		s->progress_ms = ing_now_ms();
	s->bytes += o->bytes;
	set_state(o, WAITING);
	kick(s);
}

void ing_objects_cancel(struct ing_object *o)
{
	struct ing_objects *s = o->store;
	if (s == NULL || o->cancelled)
		return;
	o->cancelled = true;
	if (o->attempt != NULL && o->attempt->in_pool)
		return; /* on_worked() comes */
	if (o->attempt != NULL) {
		s->backend->stop(o->attempt);
		s->backend->free_attempt(ING_TAKE(o->attempt));
	}
	set_state(o, ENDED);
	kick(s);
}

const char *ing_objects_trouble(const struct ing_objects *s)
{
	if (!ing_objects_blocked(s))
		return NULL;
	return s->failing ? s->trouble : "it has not answered";
}

bool ing_objects_blocked(const struct ing_objects *s)
{
	uint64_t now_ms = ing_now_ms();
	if (s->waiting_count + s->running_count == 0)
		return false;
	return now_ms - s->progress_ms >= SILENT_AFTER_MS ||
	       (s->failing && now_ms - s->failing_since_ms >= BLOCKED_AFTER_MS);
}

void ing_objects_stats(const struct ing_objects *s, struct ing_objects_stats *ret)
{
	*ret = s->stats;
	ret->waiting = s->waiting_count;
	ret->running = s->running_count;
	ret->waiting_bytes = s->bytes;
	ret->blocked = ing_objects_blocked(s);
}
