/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An answer on its way to the archive, and back. Loop thread; the callbacks are those of the look-up
 * and of the archive.
 *
 * Before the archive thread gets it, it is looked up whether an earlier record may have the same
 * body: in memory, else in the table. Digests are the archive thread's: it compares them, and writes
 * a revisit record or the whole. So nothing waits but the answer itself, and that not longer than the
 * table can be asked at once.
 */
#include <string.h>

#include "common/base/arena.h"
#include "worker/fetch/fetch.h"
#include "worker/store/lookup/lookup.h"
#include "worker/visit/originals.h"
#include "worker/visit/visit_priv.h"

/* Set what its record refers to, if that is one of those offered. */
static void record_original(struct ing_visit_step *step)
{
	const struct ing_archive_item *item = &step->capture.archive;
	for (size_t i = 0; item->refers_to != NULL && i < item->original_count; i++)
		if (item->refers_to == step->offered[i])
			step->capture.original = step->originals[i];
}

static void on_archived(struct ing_archive_item *item)
{
	struct ing_visit_step *step = ING_CONTAINER(item, struct ing_visit_step, capture.archive);
	struct ing_visit *v = step->visit;
	struct ing_visit_run *r = v->run;
	struct ing_originals *originals = v->visits->stages.originals;
	ing_must(v->magic == ING_VISIT_MAGIC && step->archiving);
	step->archiving = false;
	r->archiving--;
	r->lost_answer |= item->lost;
	record_original(step);
	if (originals != NULL && ing_originals_want(originals, item->exchange))
		ing_originals_add(originals, &step->capture);
	ing_exchange_unref(ING_TAKE(item->exchange));
	if (!ing_visit_owes(v))
		v->user->settled(v);
}

static void put(struct ing_visit_step *step)
{
	const struct ing_visits_stages *s = &step->visit->visits->stages;
	ing_archive_put(s->archive, &step->capture.archive, ing_fetch_active(s->fetch));
}

/* The table cdx has one row for a URL and a second: an original of this second would take that of the
 * revisit. */
static void offer(struct ing_visit_step *step, const struct ing_original *original)
{
	struct ing_archive_item *item = &step->capture.archive;
	if (original != NULL && strcmp(original->row.datetime, step->capture.datetime) != 0 &&
		item->original_count < ING_ARRAY_LEN(step->offered)) {
		step->originals[item->original_count] = original;
		step->offered[item->original_count++] = &original->record;
		item->originals = step->offered;
	}
}

static void on_captures(void *ctx, const struct ing_row_cdx *rows, size_t count)
{
	struct ing_visit_step *step = ctx;
	step->question = NULL;
	for (size_t i = 0; i < count; i++)
		offer(step, ing_original_of_row(&rows[i], step->visit->run->params.arena));
	put(step);
}

/* Look for what a record of the answer may refer to. True: put() comes with what is found. */
static bool look_for_originals(struct ing_visit_step *step, const struct ing_exchange *ex)
{
	const struct ing_visits_stages *s = &step->visit->visits->stages;
	if (s->originals == NULL || !ing_originals_want(s->originals, ex))
		return false;
	const struct ing_original *cached = ing_originals_find(
		s->originals, step->url, step->capture.coded, step->visit->run->params.arena);
	offer(step, cached);
	if (cached == NULL && s->lookup != NULL)
		step->question = ing_lookup_captures(s->lookup, step->url, on_captures, step);
	return step->question != NULL;
}

/* -------------------------------------------------------------------------------------------- */

void ing_visit_archive(struct ing_visit *v, struct ing_exchange *ex)
{
	struct ing_visit_step *step = v->run->step;
	if (v->visits->stages.archive == NULL || !ex->answered)
		return;
	step->capture.archive.exchange = ing_exchange_ref(ex);
	step->capture.archive.done = on_archived;
	step->archiving = true;
	v->run->archiving++;
	if (!look_for_originals(step, ex))
		put(step);
}

void ing_visit_archive_now(struct ing_visit *v)
{
	const struct ing_visit_run *r = v->run;
	struct ing_visit_step *step = r != NULL ? r->params.steps->first : NULL;
	for (; step != NULL; step = step->next) {
		if (step->visit != v || step->question == NULL)
			continue;
		ing_lookup_cancel(ING_TAKE(step->question));
		put(step);
	}
}
