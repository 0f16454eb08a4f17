/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How many publications are begun at once, and how long they may take (publication.h). Loop thread.
 *
 * Those that begin with a service's answer all begin at the same host, and wait there in no share of it:
 * only a few stand in its queue at a time. Those that begin with a page have a share of that page's host,
 * as any request.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/net/url.h"
#include "worker/job/pipeline_priv.h"
#include "worker/job/publication.h"
#include "worker/job/publication_request.h"

/* Begun at once: more than one host has for each of them to do, and each within its time. */
#define MAX_BEGUN 500
/* In the queue of the service that they begin with: what it answers in seconds. */
#define MAX_QUEUED 64
/* Of what those that are begun have found: as many ordinary full texts. */
#define MAX_BYTES ((size_t)256 << 20)

static struct ing_publications *all_of(const struct ing_job_publication *pub)
{
	return &pub->job->pipeline->publications;
}

static struct ing_job_publication **list_of(
	const struct ing_job_publication *pub, enum ing_publication_place place)
{
	struct ing_publications *all = all_of(pub);
	switch (place) {
	case ING_PLACE_HELD_BACK:
		return &all->held_back[pub->at_service];
	case ING_PLACE_QUEUED:
		return &all->queued;
	case ING_PLACE_BEGUN:
		return &all->begun;
	case ING_PLACE_NOWHERE:
		break;
	}
	return NULL;
}

/* The priority lane is not held back: who waits for it wants to know. */
static bool has_room(const struct ing_publications *all, const struct ing_job_publication *pub)
{
	if (pub->job->lane == ING_LANE_PRIORITY)
		return true;
	return all->begun_count < MAX_BEGUN && all->bytes <= MAX_BYTES && !all->is_crowded &&
	       (!pub->at_service || all->queued_count < MAX_QUEUED);
}

/* Let it wait for its first transfer. The job may be gone afterwards. */
static void queue_up(struct ing_job_publication *pub, const char *url)
{
	ing_publication_move(pub, pub->at_service ? ING_PLACE_QUEUED : ING_PLACE_NOWHERE);
	ing_visit_start(&pub->job->first, url, ING_VIA_START);
}

static void release(struct ing_pipeline *p, bool at_service)
{
	struct ing_publications *all = &p->publications;
	struct ing_job_publication *pub;
	while ((pub = all->held_back[at_service]) != NULL && has_room(all, pub)) {
		char *url = ing_job_derive_start(pub->job);
		queue_up(pub, url);
		free(url);
	}
}

static int compare_hosts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The hosts that asks wait for, once for each, in order. Heap. */
static const char **list_hosts(const struct ing_publications *all, size_t *ret_count)
{
	size_t count = 0;
	for (const struct ing_job_publication *pub = all->begun; pub != NULL; pub = pub->later)
		count += pub->open;
	const char **hosts = ing_alloc((count + 1) * sizeof(*hosts));
	*ret_count = 0;
	for (const struct ing_job_publication *pub = all->begun; pub != NULL; pub = pub->later)
		for (const struct ing_publication_visit *a = pub->first; a != NULL; a = a->next)
			if (!a->is_over && a->visit->state == ING_VISIT_WAITING)
				hosts[(*ret_count)++] = a->host;
	qsort(hosts, *ret_count, sizeof(*hosts), compare_hosts);
	return hosts;
}

/* Whether the asks that wait for one host take it half of a publication's time or more: the last of them
 * would hardly have its turn in time, and further publications would only add to them. */
static bool is_crowded(const struct ing_pipeline *p)
{
	size_t count;
	const char **hosts = list_hosts(&p->publications, &count);
	bool crowded = false;
	for (size_t i = 0, same; i < count && !crowded; i += same) {
		struct ing_gate_outlook outlook;
		for (same = 1; i + same < count && strcmp(hosts[i], hosts[i + same]) == 0;)
			same++;
		ing_visits_look_ahead(p->stages.visits, hosts[i], &outlook);
		crowded = same * outlook.pace_ms >= p->conf.publication.deadline_ms / 2;
	}
	free(hosts);
	return crowded;
}

/* While the worker itself cannot go on nobody's time passes, nor that of a request which an operator's order keeps
 * waiting. */
static void stop_clocks(struct ing_pipeline *p, uint64_t passed_ms)
{
	struct ing_job_publication *pub;
	DL_FOREACH2(p->publications.begun, pub, later)
	{
		if (p->blocked_by == NULL && !ing_job_is_ordered_to_wait(pub->job))
			continue;
		pub->began_ms += passed_ms;
		pub->end_ms += passed_ms;
	}
}

/* Not the first to begin is the first to end: clocks may have stood still. */
static void end_late(struct ing_pipeline *p, uint64_t now_ms)
{
	struct ing_job_publication *pub, *later;
	DL_FOREACH_SAFE2(p->publications.begun, pub, later, later)
	{
		if (now_ms >= pub->end_ms)
			ing_job_end_publication(pub->job);
	}
}

/* Those that wait for a host which is held. */
static void check_queued(struct ing_pipeline *p)
{
	struct ing_job_publication *pub, *later;
	DL_FOREACH_SAFE2(p->publications.queued, pub, later, later)
	{
		struct ing_job *job = pub->job;
		uint64_t hold_ms =
			ing_visit_waits_for_hold(&job->first) ? ing_job_hold_of(job, pub->host) : 0;
		if (hold_ms == 0)
			continue;
		ing_job_begin_publication(job);
		ing_job_give_up_ask(job, pub->first, hold_ms);
	}
}

/* The first of its asks that waits for a host which is held for too long; NULL: none does. */
static struct ing_publication_visit *find_held(
	const struct ing_job_publication *pub, uint64_t *ret_hold_ms)
{
	for (struct ing_publication_visit *a = pub->first; a != NULL; a = a->next) {
		if (a->is_over || !ing_visit_waits_for_hold(a->visit))
			continue;
		*ret_hold_ms = ing_job_hold_of(pub->job, a->host);
		if (*ret_hold_ms > 0)
			return a;
	}
	return NULL;
}

/* One thing of each at a time: it may be the job's end. */
static void check_begun(struct ing_pipeline *p)
{
	struct ing_job_publication *pub, *later;
	DL_FOREACH_SAFE2(p->publications.begun, pub, later, later)
	{
		uint64_t hold_ms = 0;
		struct ing_publication_visit *held = find_held(pub, &hold_ms);
		bool fresh = pub->fresh;
		pub->fresh = false;
		if (held != NULL)
			ing_job_give_up_ask(pub->job, held, hold_ms);
		else if (fresh)
			ing_job_go_on_with_publication(pub->job);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_publication_move(struct ing_job_publication *pub, enum ing_publication_place place)
{
	struct ing_publications *all = all_of(pub);
	struct ing_job_publication **from = list_of(pub, (enum ing_publication_place)pub->place);
	struct ing_job_publication **to = list_of(pub, place);
	if (from != NULL)
		DL_DELETE2(*from, pub, earlier, later);
	if (to != NULL)
		DL_APPEND2(*to, pub, earlier, later);
	all->held_back_count -= pub->place == ING_PLACE_HELD_BACK;
	all->held_back_count += place == ING_PLACE_HELD_BACK;
	all->queued_count -= pub->place == ING_PLACE_QUEUED;
	all->begun_count -= pub->place == ING_PLACE_BEGUN;
	all->queued_count += place == ING_PLACE_QUEUED;
	all->begun_count += place == ING_PLACE_BEGUN;
	pub->place = (uint8_t)place;
}

void ing_job_init_publication(struct ing_job *job, bool quick, const char *start)
{
	const struct ing_pipeline *p = job->pipeline;
	struct ing_job_publication *pub = ing_alloc(sizeof(*pub));
	char host[ING_URL_HOST_BYTES];
	if (!ing_visits_host(p->stages.visits, start, host, sizeof(host)))
		host[0] = '\0';
	pub->job = job;
	pub->quick = quick;
	pub->at_service = ing_publication_is_service(&p->conf.publication, start);
	pub->host = ing_strdup(host);
	job->publication = pub;
	ing_job_init_first_visit(
		job, pub->at_service ? &ing_publication_service_user : &ing_publication_page_user);
}

void ing_job_wait_for_publication(struct ing_job *job, const char *url)
{
	struct ing_job_publication *pub = job->publication;
	struct ing_publications *all = all_of(pub);
	if (all->held_back[pub->at_service] == NULL && has_room(all, pub))
		queue_up(pub, url);
	else if (has_room(all, pub) && job->lane == ING_LANE_PRIORITY)
		queue_up(pub, url);
	else
		ing_publication_move(pub, ING_PLACE_HELD_BACK);
}

void ing_job_close_publication(struct ing_job *job)
{
	if (job->publication != NULL)
		ing_publication_move(job->publication, ING_PLACE_NOWHERE);
}

void ing_job_free_publication(struct ing_job *job)
{
	struct ing_job_publication *pub = ING_TAKE(job->publication);
	if (pub == NULL)
		return;
	ing_publication_move(pub, ING_PLACE_NOWHERE);
	ing_assembly_free(pub->assembly);
	json_decref(pub->json);
	free(pub->host);
	free(pub);
}

void ing_pipeline_check_publications(struct ing_pipeline *p, uint64_t now_ms)
{
	struct ing_publications *all = &p->publications;
	if (all->checked_ms > 0)
		stop_clocks(p, now_ms - all->checked_ms);
	all->checked_ms = now_ms;
	end_late(p, now_ms);
	check_begun(p);
	check_queued(p);
	all->is_crowded = is_crowded(p);
	release(p, true);
	release(p, false);
}

bool ing_pipeline_is_over_publication_bytes(const struct ing_pipeline *p)
{
	return p->publications.bytes > 2 * MAX_BYTES;
}
