/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The state machine: rounds of calls, links, runs (assembly_priv.h).
 */
#include "worker/publication/assembly.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/publication/assembly_priv.h"
#include "worker/publication/identifiers.h"

static unsigned count_ids(const struct ing_assembly *a)
{
	return (unsigned)ing_known_has(&a->known, ING_PART_PMID) +
	       (unsigned)ing_known_has(&a->known, ING_PART_PMCID) +
	       (unsigned)ing_known_has(&a->known, ING_PART_DOI);
}

/* --- answers --- */

static void drop_found(struct ing_assembly *a, struct ing_asked *k)
{
	if (k->found == NULL)
		return;
	ing_publication_found_done(k->found);
	free(k->found);
	k->found = NULL;
	a->kept_bytes -= k->found_bytes;
}

static void asked_done(struct ing_assembly *a, struct ing_asked *k)
{
	drop_found(a, k);
	free(k->url);
	free(k->from);
	free(k->detail);
	free(k->final_url);
}

/* Whether an identifier may still turn out to be another one. */
static bool may_change(const struct ing_assembly *a)
{
	for (unsigned key = ING_PART_PMID; key <= ING_PART_DOI; key++)
		if (ing_known_has(&a->known, (enum ing_part_key)key) &&
			!ing_known_final(&a->known, (enum ing_part_key)key))
			return a->run + 1 < ING_MAX_ASSEMBLY_RUNS;
	return false;
}

/* What was found is kept for a further run, if there may be one; that of former ones until this one had
 * its chance to use it. */
static void drop_needless(struct ing_assembly *a)
{
	bool keep = may_change(a), is_used = a->call == ing_call_count;
	for (unsigned i = 0; i < a->asked_count; i++) {
		struct ing_asked *k = &a->asked[i];
		bool is_needless = !keep && (k->run == a->run || is_used);
		if (k->state == ING_ASK_TAKEN &&
			(is_needless || a->kept_bytes > ING_MAX_ASSEMBLY_KEPT_BYTES))
			drop_found(a, k);
	}
}

static void begin_run(struct ing_assembly *a)
{
	ing_known_clear(&a->known);
	ing_links_done(&a->links);
	a->run++;
	a->call = 0;
	a->known_ids = count_ids(a);
	a->links_asked = 0;
	a->flags = a->succeeded = a->lacking = 0;
	a->transient = false;
}

/* Takes an answer; the call that it belongs to is over. */
static void take(struct ing_assembly *a, unsigned asked)
{
	struct ing_asked *k = &a->asked[asked];
	k->state = ING_ASK_TAKEN;
	bool changed = ing_take_answer(a, asked);
	if (changed && a->run + 1 < ING_MAX_ASSEMBLY_RUNS)
		begin_run(a);
	else if (k->call != ING_CALL_LINK)
		a->call = k->call + 1;
	drop_needless(a);
}

/* --- which is next --- */

/* The ask of a call of this run whose answer is not taken; asked_count: none. */
static unsigned open_ask(const struct ing_assembly *a, unsigned call)
{
	unsigned i = 0;
	while (i < a->asked_count && (a->asked[i].run != a->run || a->asked[i].call != call ||
					     a->asked[i].state == ING_ASK_TAKEN))
		i++;
	return i;
}

/* An ask of a former run for the same, whose answer is good for this one, too; asked_count: none. */
static unsigned former_ask(
	const struct ing_assembly *a, const struct ing_resource_call *what, const char *url)
{
	unsigned i = 0;
	for (; i < a->asked_count; i++) {
		const struct ing_asked *k = &a->asked[i];
		bool is_lost = !k->awaited && k->status == ING_STATUS_SUCCESS && k->found == NULL;
		/* A record that contradicted the former identifiers may be right now. */
		bool is_wrong = strcmp(k->found_status, "wrong-record") == 0;
		if (k->run != a->run && k->what.resource == what->resource && !is_lost &&
			!is_wrong && strcmp(k->url, url) == 0)
			break;
	}
	return i;
}

static struct ing_asked *add_ask(struct ing_assembly *a)
{
	bool is_full = (a->asked_count & (a->asked_count - 1)) == 0; /* room in powers of two */
	if (is_full)
		a->asked = ing_realloc(a->asked,
			(a->asked_count == 0 ? 1 : (size_t)a->asked_count * 2) * sizeof(*a->asked));
	struct ing_asked *k = &a->asked[a->asked_count++];
	*k = (struct ing_asked){0};
	return k;
}

/* Asks, or takes the answer of a former run. Takes url. Returns the new ask, or NULL. */
static struct ing_asked *ask(struct ing_assembly *a, unsigned call,
	const struct ing_resource_call *what, char *url, enum ing_part_type type, const char *from)
{
	unsigned former = former_ask(a, what, url);
	bool is_new = former == a->asked_count;
	struct ing_asked *k = is_new ? add_ask(a) : &a->asked[former];
	k->run = a->run;
	k->call = call;
	k->what = *what;
	k->type = type;
	if (!is_new) {
		k->state = k->awaited ? ING_ASK_UNDER_WAY : ING_ASK_ANSWERED;
		free(url);
		return NULL;
	}
	k->state = ING_ASK_UNDER_WAY;
	k->awaited = true;
	k->url = url;
	k->from = from != NULL ? ing_strdup(from) : NULL;
	return k;
}

/* Takes what can be taken in order, and passes what is not due. */
static void advance(struct ing_assembly *a)
{
	for (;;) {
		bool in_round = a->call < ing_call_count;
		unsigned open = open_ask(a, in_round ? a->call : ING_CALL_LINK);
		char *url;
		if (open < a->asked_count) {
			if (a->asked[open].state == ING_ASK_UNDER_WAY)
				return;
			take(a, open);
		} else if (in_round) {
			if (ing_call_due(a, &ing_calls[a->call], 0, &url) == ING_DUE_NOW) {
				free(url);
				return;
			}
			a->call++;
		} else if (count_ids(a) > a->known_ids) {
			a->known_ids = count_ids(a);
			a->call = 0;
		} else {
			return;
		}
	}
}

/* Asks for what of the round can be asked now. Returns the new ask, or NULL; *ret_again: answers of a
 * former run were used. */
static struct ing_asked *ask_call(struct ing_assembly *a, bool *ret_again)
{
	unsigned coming = 0;
	for (unsigned i = a->call; i < ing_call_count; i++) {
		char *url;
		enum ing_due due = ING_DUE_PERHAPS;
		if (open_ask(a, i) == a->asked_count)
			due = ing_call_due(a, &ing_calls[i], coming, &url);
		if (due == ING_DUE_NOW) {
			enum ing_part_type type =
				ing_publication_resource_type(ing_calls[i].resource);
			struct ing_asked *k = ask(a, i, &ing_calls[i], url, type, NULL);
			*ret_again = k == NULL;
			return k;
		}
		if (due == ING_DUE_PERHAPS)
			coming |= ing_call_gives(&ing_calls[i]);
	}
	return NULL;
}

static struct ing_asked *ask_link(struct ing_assembly *a, bool *ret_again)
{
	static const struct ing_resource_call what = {
		ING_PUBLICATION_RESOURCE_LINKED, ING_PARTS_, 0};
	bool is_late = a->quick && a->elapsed_ms > a->settings->quick_ms;
	if (is_late || open_ask(a, ING_CALL_LINK) < a->asked_count)
		return NULL;
	const struct ing_assembly_link *link = ing_link_due(a);
	if (link == NULL)
		return NULL;
	a->links_asked++;
	enum ing_part_type type = link->type;
	char *url = ing_strdup(link->url),
	     *from = link->from != NULL ? ing_strdup(link->from) : NULL;
	ing_links_tried(&a->links, url);
	struct ing_asked *k = ask(a, ING_CALL_LINK, &what, url, type, from);
	free(from);
	*ret_again = k == NULL;
	return k;
}

static bool is_awaiting(const struct ing_assembly *a)
{
	for (unsigned i = 0; i < a->asked_count; i++)
		if (a->asked[i].awaited)
			return true;
	return false;
}

static void fill_ask(
	const struct ing_assembly *a, const struct ing_asked *k, struct ing_assembly_ask *ret)
{
	*ret = (struct ing_assembly_ask){.id = (unsigned)(k - a->asked),
		.resource = k->what.resource,
		.url = k->url,
		.accept = ing_resource_accept(k->what.resource),
		.referer = k->from,
		.read = {.reader = ing_publication_resource_reader(k->what.resource),
			.type = k->type,
			.pmid = ing_known_text(&a->known, ING_PART_PMID),
			.pmcid = ing_known_text(&a->known, ING_PART_PMCID),
			.doi = ing_known_text(&a->known, ING_PART_DOI),
			.parts = a->parts}};
}

/* --- the beginning --- */

static void give_id(struct ing_assembly *a, enum ing_part_key key, const char *s)
{
	struct ing_buf id;
	ing_buf_init(&id, ING_MAX_PUBLICATION_ID_BYTES);
	if (s != NULL && !ing_known_has(&a->known, key) &&
		ing_identifier_normal(key, s, strlen(s), &id))
		ing_known_offer_id(&a->known, key, ing_buf_str(&id),
			&(struct ing_known_source){.type = ING_PART_TYPE_EXTERNAL});
	ing_buf_done(&id);
}

/* A URL that stands for an identifier is one. */
static void give_url(struct ing_assembly *a, const char *url)
{
	struct ing_buf id;
	enum ing_part_key key = ING_PARTS_;
	ing_buf_init(&id, ING_MAX_PUBLICATION_ID_BYTES);
	if (ing_identifier_is_resolver(url)) {
		give_id(a, ING_PART_DOI, url);
		key = ING_PART_DOI;
	} else if (ing_identifier_of_url(url, &key, &id) && key != ING_PARTS_) {
		give_id(a, key, ing_buf_str(&id));
	}
	ing_buf_done(&id);
	if (key == ING_PARTS_ || !ing_known_has(&a->known, key))
		a->page_url = ing_strdup(url);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_assembly *ing_assembly_new(
	const struct ing_publication_settings *settings, const struct ing_assembly_request *request)
{
	struct ing_assembly *a = ing_alloc(sizeof(*a));
	a->settings = settings;
	bool is_link = request->only == ING_PUBLICATION_RESOURCE_LINKED;
	a->only = is_link ? ING_PUBLICATION_RESOURCE_PAGE : request->only;
	a->parts = request->parts != 0 ? request->parts : (1u << ING_PARTS_) - 1;
	a->quick = request->quick;
	ing_known_init(&a->known);
	ing_links_init(&a->links);
	give_id(a, ING_PART_PMID, request->pmid);
	give_id(a, ING_PART_PMCID, request->pmcid);
	give_id(a, ING_PART_DOI, request->doi);
	if (request->url != NULL && a->only == ING_PUBLICATION_RESOURCE_PAGE)
		a->page_url = ing_strdup(request->url);
	else if (request->url != NULL)
		give_url(a, request->url);
	a->known_ids = count_ids(a);
	return a;
}

void ing_assembly_free(struct ing_assembly *a)
{
	if (a == NULL)
		return;
	for (unsigned i = 0; i < a->asked_count; i++)
		asked_done(a, &a->asked[i]);
	free(a->asked);
	free(a->page_url);
	ing_known_done(&a->known);
	ing_links_done(&a->links);
	free(a);
}

char *ing_assembly_first_url(
	const struct ing_publication_settings *settings, const struct ing_assembly_request *request)
{
	struct ing_assembly *a = ing_assembly_new(settings, request);
	struct ing_assembly_ask first;
	char *url = ing_assembly_next(a, 0, &first) ? ing_strdup(first.url) : NULL;
	ing_assembly_free(a);
	return url;
}

bool ing_assembly_next(struct ing_assembly *a, uint64_t elapsed_ms, struct ing_assembly_ask *ret)
{
	a->elapsed_ms = elapsed_ms;
	if (!a->stopped && elapsed_ms >= a->settings->deadline_ms)
		ing_assembly_stop(a);
	struct ing_asked *k = NULL;
	for (bool again = true; again && !a->stopped;) {
		again = false;
		advance(a);
		if (a->asked_count == ING_MAX_ASSEMBLY_ASKS)
			break;
		k = a->call < ing_call_count ? ask_call(a, &again) : ask_link(a, &again);
	}
	a->idle = k == NULL && !is_awaiting(a);
	if (k != NULL)
		fill_ask(a, k, ret);
	return k != NULL;
}

void ing_assembly_answer(
	struct ing_assembly *a, unsigned id, const struct ing_assembly_answer *answer)
{
	ing_must(id < a->asked_count && a->asked[id].awaited);
	struct ing_asked *k = &a->asked[id];
	k->awaited = false;
	k->status = answer->status;
	k->detail = answer->detail != NULL ? ing_strdup(answer->detail) : NULL;
	k->final_url = answer->final_url != NULL ? ing_strdup(answer->final_url) : NULL;
	k->http_status = answer->http_status;
	k->time_ms = answer->time_ms;
	k->transient = answer->transient;
	const struct ing_publication_found *found = answer->found;
	if (answer->status == ING_STATUS_SUCCESS && found != NULL) {
		const char *status = found->status != NULL ? found->status : "success";
		strncpy(k->found_status, status, sizeof(k->found_status) - 1);
		if (k->detail == NULL && found->error_msg != NULL)
			k->detail = ing_strdup(found->error_msg);
		k->found = ing_alloc(sizeof(*k->found));
		k->found_bytes = ing_publication_found_copy(found, k->found);
		a->kept_bytes += k->found_bytes;
	}
	k->state = ING_ASK_ANSWERED;
	if (!a->stopped)
		advance(a);
	a->idle = false;
}

bool ing_assembly_is_over(const struct ing_assembly *a)
{
	return a->stopped || a->idle;
}

/* Answers that came early are taken, though some in front of them are missing; if an identifier changes
 * now, what there is of former runs is taken once more. */
void ing_assembly_stop(struct ing_assembly *a)
{
	if (a->stopped)
		return;
	a->stopped = true;
	for (unsigned i = 0; i < a->asked_count; i++) {
		struct ing_asked *k = &a->asked[i];
		bool is_wrong = strcmp(k->found_status, "wrong-record") == 0;
		bool is_open = k->run == a->run && k->state == ING_ASK_ANSWERED;
		bool is_former = k->run != a->run && !k->awaited && k->found != NULL && !is_wrong;
		if (!is_open && !is_former)
			continue;
		k->run = a->run;
		k->state = ING_ASK_TAKEN;
		if (ing_take_answer(a, i) && a->run + 1 < ING_MAX_ASSEMBLY_RUNS) {
			begin_run(a);
			i = UINT_MAX; /* the next is 0 */
		}
	}
}

enum ing_status ing_assembly_status(const struct ing_assembly *a, const char **ret_detail)
{
	*ret_detail = NULL;
	if (ing_known_any_usable(&a->known))
		return ING_STATUS_SUCCESS;
	for (unsigned i = 0; i < a->asked_count && ing_known_empty(&a->known); i++) {
		const struct ing_asked *k = &a->asked[i];
		bool failed = k->run == a->run && !k->awaited && k->status != ING_STATUS_SUCCESS &&
			      !ing_asked_has_none(k);
		if (failed) {
			*ret_detail = k->detail;
			return k->status;
		}
	}
	return ING_STATUS_EMPTY_PUBLICATION;
}

bool ing_assembly_has_exception(const struct ing_assembly *a)
{
	return a->transient;
}
