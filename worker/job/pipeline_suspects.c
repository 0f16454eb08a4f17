/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Requests that may have killed a process. Every request is recorded in the crash journal while it
 * is in a stage; one that was so at two deaths goes through its stages alone: first its message is
 * parsed, when nobody is at work, then the gate admits it at each hop when nobody is, and nobody else
 * until it is through. One that was alone when the worker died a third time goes to dead letters.
 * Loop thread.
 *
 * What surprises: "at work" is to have a record in the journal; waiting, for a host or for the
 * database, is not. A job's record lasts from its admission, over transfer, examination and archive,
 * to the next hop or the delivery.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/log.h"
#include "worker/deliver/dead_letter.h"
#include "worker/deliver/deliver.h"
#include "worker/job/pipeline_priv.h"

/* A message that waits to be parsed. */
struct ing_held_message {
	struct ing_held_message *next;
	struct ing_message m; /* in ar, but for the topic, which is intake's and outlives tokens */
	struct ing_arena ar;
};

static enum ing_journal_stage stage_of(struct ing_job *job)
{
	switch ((enum ing_job_state)job->state) {
	case ING_JOB_FETCHING:
		return ING_STAGE_FETCH;
	case ING_JOB_EXAMINING:
	case ING_JOB_DERIVING: /* an examiner reads GROBID's answer */
		return ING_STAGE_EXAMINE;
	case ING_JOB_ARCHIVING:
		return ING_STAGE_ARCHIVE;
	default: /* between two hops records may still be under way, or a cancelled transfer */
		return ing_job_owes(job) ? ING_STAGE_ARCHIVE : ING_STAGE_NONE;
	}
}

/* --- messages that wait to be parsed --- */

static void free_held(struct ing_pipeline *p, struct ing_held_message *held)
{
	p->message_bytes -= held->m.value_bytes;
	ing_arena_done(&held->ar);
	free(held);
}

static const void *copy(struct ing_arena *ar, const void *bytes, size_t count)
{
	return bytes != NULL ? ing_arena_strndup(ar, bytes, count) : NULL;
}

static void hold(struct ing_pipeline *p, const struct ing_message *m)
{
	struct ing_held_message *held = ing_alloc(sizeof(*held));
	struct ing_arena *ar = &held->ar;
	ing_arena_init(ar);
	struct ing_header *headers = ing_arena_alloc(ar, m->header_count * sizeof(*headers));
	for (size_t i = 0; i < m->header_count; i++)
		headers[i] = (struct ing_header){ing_arena_strdup(ar, m->headers[i].name),
			ing_arena_strdup(ar, m->headers[i].value)};
	held->m = *m;
	held->m.value = copy(ar, m->value, m->value_bytes);
	held->m.key = copy(ar, m->key, m->key_bytes);
	held->m.headers = headers;
	p->message_bytes += m->value_bytes;
	LL_APPEND(p->suspects, held);
}

static void send_to_dead_letters(
	struct ing_pipeline *p, const struct ing_message *m, const struct ing_journal_suspect *s)
{
	struct ing_deliver *deliver = p->stages.deliver;
	const char *stage = ing_journal_stage_name(s->stage);
	struct ing_delivery *letter = ing_dead_letter_poison(
		m, s->deaths, stage, ing_deliver_max_value_bytes(deliver, ING_OUTPUT_DEAD));
	const struct ing_log_field fields[] = {
		ING_LOG_FIELD_TEXT("topic", m->topic),
		ING_LOG_FIELD_NUMBER("partition", m->partition),
		ING_LOG_FIELD_NUMBER("offset", m->token.offset),
		ING_LOG_FIELD_TEXT("stage", stage),
	};
	ing_log_fields(ING_LOG_ERROR, fields, ING_ARRAY_LEN(fields),
		"the worker has died %u times with this request: dead letter", s->deaths);
	ing_deliver_put(deliver, &letter);
}

/* -------------------------------------------------------------------------------------------- */

void ing_job_enter_stage(struct ing_job *job, enum ing_journal_stage stage)
{
	struct ing_journal *journal = job->pipeline->stages.journal;
	struct ing_journal_mark *mark = &job->work->mark;
	struct ing_source source = {0};
	if (journal != NULL && (mark->record != 0 || ing_job_source(job, &source)))
		ing_journal_enter(journal, mark, &source, stage);
}

void ing_job_note_stage(struct ing_job *job)
{
	if (job->work == NULL)
		return;
	enum ing_journal_stage stage = stage_of(job);
	if (stage != ING_STAGE_NONE)
		ing_job_enter_stage(job, stage);
	else
		ing_journal_leave(job->pipeline->stages.journal, &job->work->mark);
}

void ing_job_acquit(struct ing_job *job)
{
	struct ing_journal *journal = job->pipeline->stages.journal;
	struct ing_source source;
	if (journal != NULL && ing_job_source(job, &source))
		ing_journal_acquit(journal, &source);
}

bool ing_pipeline_take_suspect(struct ing_pipeline *p, const struct ing_message *m)
{
	struct ing_source source;
	struct ing_journal_suspect suspect;
	if (m->answer != NULL || !ing_journal_has_suspects(p->stages.journal) ||
		!ing_intake_source(p->stages.intake, m->token, &source))
		return false;
	switch (ing_journal_judge(p->stages.journal, &source, &suspect)) {
	case ING_SUSPECT_FREE:
		return false;
	case ING_SUSPECT_ALONE:
		hold(p, m);
		return true;
	case ING_SUSPECT_CONDEMNED:
		send_to_dead_letters(p, m, &suspect);
		return true;
	}
	return false;
}

bool ing_pipeline_waits_for_suspects(const struct ing_pipeline *p)
{
	return p->suspects != NULL || (p->stages.journal != NULL && p->alone_at_work) ||
	       ing_visits_want_alone(p->stages.visits);
}

void ing_pipeline_serve_suspects(struct ing_pipeline *p)
{
	if (p->stages.journal == NULL || ing_journal_others(p->stages.journal, NULL) > 0)
		return;
	if (p->alone_at_work)
		ing_visits_alone_over(p->stages.visits);
	p->alone_at_work = false;
	while (p->suspects != NULL) {
		struct ing_held_message *held = p->suspects;
		LL_DELETE(p->suspects, held);
		ing_pipeline_accept(p, &held->m, true);
		free_held(p, held);
	}
	if (!ing_visits_want_alone(p->stages.visits))
		return;
	p->alone_at_work = true;
	ing_visits_admit_alone(p->stages.visits);
}

void ing_pipeline_drop_suspects(struct ing_pipeline *p, const struct ing_token *of)
{
	struct ing_held_message *held, *next;
	LL_FOREACH_SAFE (p->suspects, held, next) {
		if (of != NULL && (held->m.token.partition_index != of->partition_index ||
					  held->m.token.epoch != of->epoch))
			continue;
		LL_DELETE(p->suspects, held);
		free_held(p, held);
	}
}
