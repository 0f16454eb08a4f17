/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The cache of robots.txt files. Entries that are not in use are in a list by last use, and only
 * those can be evicted: not one that is being fetched, whose token is out, nor one whose waiters
 * are being called.
 */
#include "worker/gate/robots/robots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/net/url.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/robots/robots_file.h"

#define ENTRY_MAGIC 0x524f424fu
#define KEY_BYTES (sizeof("https://:65535") + ING_URL_HOST_BYTES)
#define FILE_PATH "/robots.txt"

struct ing_robots_entry {
	unsigned magic;
	bool is_fetching; /* its token is out */
	bool is_listed;   /* in the list by last use */
	UT_hash_handle hh;
	struct ing_robots_entry *prev, *next; /* by last use; or of those being fetched */
	struct ing_robots *robots;
	struct ing_robots_waiter waiters; /* a ring; this is its head */
	size_t waiting;
	uint64_t since_ms; /* it is being fetched */
	size_t bytes;      /* as counted in the cache's */
	struct ing_robots_file file;
	char key[]; /* scheme and authority, "https://example.org:8443" */
};

struct ing_robots {
	struct ing_robots_conf conf;
	ing_robots_done_f *done;
	struct ing_robots_entry *entries; /* by key */
	struct ing_robots_entry *used;    /* the one used last comes first */
	struct ing_robots_entry *fetching;
	struct ing_robots_stats stats;
	char detail[ING_ROBOTS_MAX_DETAIL_BYTES]; /* of the last view */
};

/* What of a URL counts here. */
struct place {
	char key[KEY_BYTES];
	char host[ING_URL_HOST_BYTES];
	bool is_robots_txt;
};

static bool read_place(const char *url, struct place *ret)
{
	struct ing_url_parts p;
	if (!ing_url_parts(url, strlen(url), NULL, &p))
		return false;
	int host_bytes = snprintf(ret->host, sizeof(ret->host), "%s", p.hostname);
	int key_bytes = snprintf(ret->key, sizeof(ret->key), "%s//%s%s%s", p.protocol, p.hostname,
		p.port[0] != '\0' ? ":" : "", p.port);
	bool good = strcmp(p.protocol, "https:") == 0 || strcmp(p.protocol, "http:") == 0;
	good = good && host_bytes > 0 && (size_t)host_bytes < sizeof(ret->host) && key_bytes > 0 &&
	       (size_t)key_bytes < sizeof(ret->key);
	ret->is_robots_txt = strcmp(p.pathname, FILE_PATH) == 0;
	ing_url_parts_done(&p);
	return good;
}

static uint64_t now_of(const struct ing_robots *r)
{
	return r->conf.now_ms != NULL ? r->conf.now_ms() : ing_now_ms();
}

static bool is_obeyed(const struct ing_robots *r, const char *host)
{
	const struct ing_host_rule *rule = ing_host_rules_find(r->conf.host_rules, host);
	if (rule == NULL || rule->obey_robots == ING_CHOICE_UNSET)
		return r->conf.obey;
	return rule->obey_robots == ING_CHOICE_YES;
}

static struct ing_robots_entry *find_entry(const struct ing_robots *r, const char *key)
{
	struct ing_robots_entry *e;
	HASH_FIND_STR(r->entries, key, e);
	return e;
}

/* --- the list by last use --- */

static void unlist_entry(struct ing_robots_entry *e)
{
	if (e->is_listed)
		DL_DELETE(e->robots->used, e);
	e->is_listed = false;
}

static void list_entry(struct ing_robots_entry *e)
{
	DL_PREPEND(e->robots->used, e);
	e->is_listed = true;
}

static void free_entry(struct ing_robots_entry *e)
{
	struct ing_robots *r = e->robots;
	unlist_entry(e);
	HASH_DEL(r->entries, e);
	r->stats.bytes -= e->bytes;
	ing_robots_file_done(&e->file);
	e->magic = 0;
	free(e);
}

static void evict_entries(struct ing_robots *r)
{
	while (r->used != NULL && (HASH_COUNT(r->entries) > r->conf.max_entries ||
					  r->stats.bytes > r->conf.max_bytes))
		free_entry(r->used->prev);
}

static void count_bytes(struct ing_robots_entry *e)
{
	struct ing_robots *r = e->robots;
	size_t bytes = sizeof(*e) + strlen(e->key) + 1 + ing_robots_file_bytes(&e->file);
	r->stats.bytes = r->stats.bytes - e->bytes + bytes;
	e->bytes = bytes;
}

static struct ing_robots_entry *add_entry(struct ing_robots *r, const char *key)
{
	size_t key_bytes = strlen(key);
	struct ing_robots_entry *e = ing_alloc(sizeof(*e) + key_bytes + 1);
	e->magic = ENTRY_MAGIC;
	e->robots = r;
	e->waiters.prev = e->waiters.next = &e->waiters;
	memcpy(e->key, key, key_bytes);
	HASH_ADD_STR(r->entries, key, e);
	count_bytes(e);
	evict_entries(r);
	return e;
}

/* --- waiting --- */

static void add_waiter(struct ing_robots_entry *e, struct ing_robots_waiter *w)
{
	ing_must(w->entry == NULL);
	w->entry = e;
	w->next = &e->waiters;
	w->prev = e->waiters.prev;
	w->prev->next = w;
	e->waiters.prev = w;
	e->waiting++;
	e->robots->stats.waiting++;
}

static void remove_waiter(struct ing_robots_waiter *w)
{
	struct ing_robots_entry *e = w->entry;
	w->prev->next = w->next;
	w->next->prev = w->prev;
	w->prev = w->next = NULL;
	w->entry = NULL;
	e->waiting--;
	e->robots->stats.waiting--;
}

/* Call the present waiters. One that asks again and has to wait again, because the verdict has
 * expired already, is called another time. */
static void call_waiters(struct ing_robots_entry *e)
{
	struct ing_robots_waiter ring = e->waiters;
	if (e->waiting == 0)
		return;
	ring.prev->next = ring.next->prev = &ring;
	e->waiters.prev = e->waiters.next = &e->waiters;
	while (ring.next != &ring) {
		struct ing_robots_waiter *w = ring.next;
		remove_waiter(w);
		e->robots->done(w);
	}
}

static void fetch_file(struct ing_robots_entry *e)
{
	char url[KEY_BYTES + sizeof(FILE_PATH)];
	struct ing_robots *r = e->robots;
	snprintf(url, sizeof(url), "%s" FILE_PATH, e->key);
	unlist_entry(e);
	e->is_fetching = true;
	DL_APPEND(r->fetching, e);
	e->since_ms = ing_now_ms();
	r->stats.fetched++;
	r->conf.fetch(r->conf.ctx, url, e);
}

static struct ing_robots_view find_verdict(
	struct ing_robots *r, const struct ing_robots_entry *e, const char *url, uint64_t now_ms)
{
	return ing_robots_file_verdict(&e->file, url, now_ms, r->detail, sizeof(r->detail));
}

/* With a waiter. */
static struct ing_robots_view ask_entry(struct ing_robots *r, struct ing_robots_entry *e,
	const char *url, struct ing_robots_waiter *waiter)
{
	uint64_t now_ms = now_of(r);
	if (e->is_fetching || ing_robots_file_is_due(&e->file, now_ms)) {
		add_waiter(e, waiter);
		if (!e->is_fetching)
			fetch_file(e);
		return (struct ing_robots_view){.verdict = ING_ROBOTS_PENDING};
	}
	if (e->is_listed) {
		unlist_entry(e);
		list_entry(e);
	}
	struct ing_robots_view v = find_verdict(r, e, url, now_ms);
	r->stats.hits++;
	r->stats.disallowed += v.verdict == ING_ROBOTS_DISALLOWED;
	return v;
}

/* --- for operators --- */

static const char *verdict_name(enum ing_robots_kind kind)
{
	static const char *const names[] = {
		[ING_ROBOTS_FILE_NOT_FETCHED] = "pending",
		[ING_ROBOTS_FILE_RULES] = "rules",
		[ING_ROBOTS_FILE_ALLOW_ALL] = "allow-all",
		[ING_ROBOTS_FILE_UNREACHABLE] = "unreachable",
		[ING_ROBOTS_FILE_FAILED] = "failed",
	};
	return names[kind];
}

static void describe_entry(
	const struct ing_robots *r, const struct ing_robots_entry *e, struct ing_robots_info *ret)
{
	const struct ing_robots_file *f = &e->file;
	uint64_t now_ms = now_of(r);
	enum ing_robots_kind kind = ing_robots_file_kind(f, now_ms);
	bool is_heard = kind == ING_ROBOTS_FILE_RULES || kind == ING_ROBOTS_FILE_ALLOW_ALL;
	ret->known = true;
	snprintf(ret->url, sizeof(ret->url), "%s" FILE_PATH, e->key);
	ret->verdict = verdict_name(kind);
	ret->http_status = f->http_status;
	ret->crawl_delay_ms = ing_robots_file_crawl_delay_ms(f, now_ms);
	ret->waiting = (unsigned)e->waiting;
	ret->bytes = e->bytes;
	if (kind == ING_ROBOTS_FILE_NOT_FETCHED)
		return;
	ret->age_ms = now_ms - (is_heard ? f->verdict_ms : f->attempt_ms);
	ret->expires_ms = f->due_ms > now_ms ? f->due_ms - now_ms : 0;
	if (is_heard)
		return;
	char buf[ING_ROBOTS_MAX_DETAIL_BYTES];
	struct ing_robots_view v = ing_robots_file_verdict(f, ret->url, now_ms, buf, sizeof(buf));
	snprintf(ret->detail, sizeof(ret->detail), "%s", v.detail != NULL ? v.detail : "");
	if (v.verdict == ING_ROBOTS_FAILED)
		ret->outcome = ing_status_slug(v.outcome);
}

/* No URL is fetched until the file is fetched again. */
static bool is_blocking(const struct ing_robots_info *info)
{
	return info->detail[0] != '\0' && info->expires_ms > 0;
}

static void explain_place(
	const struct ing_robots *r, const struct place *place, struct ing_robots_info *ret)
{
	const struct ing_robots_entry *e = find_entry(r, place->key);
	if (!is_obeyed(r, place->host)) {
		ret->known = true;
		ret->verdict = "ignored";
	} else if (e != NULL) {
		describe_entry(r, e, ret);
	}
}

/* -------------------------------------------------------------------------------------------- */

struct ing_robots *ing_robots_new(const struct ing_robots_conf *conf)
{
	struct ing_robots *r = ing_alloc(sizeof(*r));
	r->conf = *conf;
	return r;
}

void ing_robots_wire(struct ing_robots *r, ing_robots_done_f *done)
{
	r->done = done;
}

void ing_robots_free(struct ing_robots *r)
{
	struct ing_robots_entry *e;
	struct ing_robots_entry *next;
	if (r == NULL)
		return;
	ing_must(r->stats.waiting == 0);
	HASH_ITER (hh, r->entries, e, next)
		free_entry(e);
	free(r);
}

struct ing_robots_view ing_robots_ask(
	struct ing_robots *r, const char *url, struct ing_robots_waiter *waiter)
{
	struct place place;
	if (!read_place(url, &place))
		return (struct ing_robots_view){
			.verdict = ING_ROBOTS_FAILED,
			.outcome = ING_STATUS_INVALID_URL,
			.detail = ing_status_meaning(ING_STATUS_INVALID_URL),
		};
	if (place.is_robots_txt || !is_obeyed(r, place.host))
		return (struct ing_robots_view){.verdict = ING_ROBOTS_ALLOWED};
	struct ing_robots_entry *e = find_entry(r, place.key);
	if (waiter == NULL)
		return e != NULL ? find_verdict(r, e, url, now_of(r))
				 : (struct ing_robots_view){.verdict = ING_ROBOTS_PENDING};
	if (e == NULL)
		e = add_entry(r, place.key);
	return ask_entry(r, e, url, waiter);
}

void ing_robots_leave(struct ing_robots_waiter *w)
{
	if (w->entry != NULL)
		remove_waiter(w);
}

void ing_robots_fetched(struct ing_robots *r, void *token, const struct ing_robots_answer *a)
{
	struct ing_robots_entry *e;
	ING_CAST_OBJ(e, token, ENTRY_MAGIC);
	ing_must(e->robots == r && e->is_fetching);
	ing_robots_file_update(&e->file, a, now_of(r));
	count_bytes(e);
	r->stats.unreachable += e->file.kind == ING_ROBOTS_FILE_UNREACHABLE;
	e->is_fetching = false;
	DL_DELETE(r->fetching, e);
	ing_histogram_add(
		r->stats.fetch_us, ING_METRIC_DURATION, (ing_now_ms() - e->since_ms) * 1000);
	call_waiters(e);
	evict_entries(r); /* before it is listed: the latest file is kept, whatever its size */
	if (!e->is_fetching)
		list_entry(e);
}

void ing_robots_set_host_rules(struct ing_robots *r, const struct ing_host_rules *rules)
{
	r->conf.host_rules = rules;
}

void ing_robots_explain(const struct ing_robots *r, const char *host, struct ing_robots_info *ret)
{
	static const char *const before[] = {"https://", "http://", "https://www.", "http://www."};
	char url[KEY_BYTES];
	struct place place;
	*ret = (struct ing_robots_info){.verdict = "pending"};
	for (size_t i = 0; i < ING_ARRAY_LEN(before) && !is_blocking(ret); i++) {
		struct ing_robots_info info = {0};
		int bytes = snprintf(url, sizeof(url), "%s%s/", before[i], host);
		if (bytes > 0 && (size_t)bytes < sizeof(url) && read_place(url, &place))
			explain_place(r, &place, &info);
		if (info.known && (!ret->known || is_blocking(&info)))
			*ret = info;
	}
}

void ing_robots_each_awaited(const struct ing_robots *r,
	void (*fn)(void *ctx, const char *origin, unsigned waiting), void *ctx)
{
	for (const struct ing_robots_entry *e = r->fetching; e != NULL; e = e->next)
		if (e->waiting > 0)
			fn(ctx, e->key, (unsigned)e->waiting);
}

void ing_robots_stats(const struct ing_robots *r, struct ing_robots_stats *ret)
{
	*ret = r->stats;
	ret->entries = HASH_COUNT(r->entries);
}
