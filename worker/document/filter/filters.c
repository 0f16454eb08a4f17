/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists, and decisions. A request is left out when a rule matches it and no exception does; an important
 * rule knows no exceptions. An exception of type document spares all of a page.
 */
#include "worker/document/filter/filters.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/macros.h"
#include "common/net/psl.h"
#include "common/net/url.h"
#include "worker/document/filter/filter_priv.h"
#include "worker/scrape/jsoup/regex.h"

#define MAX_TEXT_BYTES ((size_t)256 << 20)
/* Of a URL that expressions see. */
#define MAX_REGEX_URL_BYTES ((size_t)2048)

struct ing_filter_page {
	const struct ing_filters *filters;
	char host[ING_URL_HOST_BYTES]; /* "": unknown */
	struct ing_filter_names names;
	bool spared;
};

/* One request, while rules are tried. */
struct trial {
	const struct ing_filter_page *page;
	struct ing_filter_url url;
	unsigned type;
	char host[ING_URL_HOST_BYTES];
	struct ing_filter_names names; /* of host; made when a rule asks */
	bool has_names, has_party, is_third_party;
	bool blocked, important, excepted;
};

/* --- lists --- */

/* Conditions of uBlock Origin's lists, of which what can be: this is none of its browsers, and has none of
 * their abilities. */
static bool is_true(const char *s, const char *end)
{
	static const char name[] = "ext_ublock";
	while (s < end && *s == ' ')
		s++;
	while (end > s && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	bool is_not = s < end && *s == '!';
	s += is_not;
	bool known =
		(size_t)(end - s) == sizeof(name) - 1 && memcmp(s, name, sizeof(name) - 1) == 0;
	return known != is_not;
}

struct conditions {
	unsigned depth;
	unsigned off; /* the depth from which on lines are skipped; 0: none are */
};

static bool begins(const char *s, const char *end, const char *word)
{
	size_t bytes = strlen(word);
	return (size_t)(end - s) >= bytes && memcmp(s, word, bytes) == 0;
}

/* False when the line is no condition. */
static bool take_condition(struct conditions *c, const char *s, const char *end)
{
	if (begins(s, end, "!#if")) {
		c->depth++;
		if (c->off == 0 && !is_true(s + 4, end))
			c->off = c->depth;
	} else if (begins(s, end, "!#else")) {
		if (c->off == 0 && c->depth > 0)
			c->off = c->depth;
		else if (c->off == c->depth)
			c->off = 0;
	} else if (begins(s, end, "!#endif")) {
		if (c->off == c->depth)
			c->off = 0;
		c->depth -= c->depth > 0;
	} else {
		return false;
	}
	return true;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The keys of rules with $badfilter, sorted. Heap. */
static uint64_t *collect_bad(const struct ing_filters *f, size_t *ret_count)
{
	uint64_t *bad = ing_alloc((f->rule_count + 1) * sizeof(*bad));
	size_t count = 0;
	for (size_t i = 0; i < f->rule_count; i++)
		if ((f->rules[i].flags & ING_FILTER_BAD) != 0)
			bad[count++] = f->keys[i];
	qsort(bad, count, sizeof(*bad), compare);
	*ret_count = count;
	return bad;
}

static void cancel_bad(struct ing_filters *f)
{
	size_t bad_count;
	uint64_t *bad = collect_bad(f, &bad_count);
	size_t kept = 0;
	for (size_t i = 0; i < f->rule_count; i++) {
		const struct ing_filter_rule *r = &f->rules[i];
		bool is_bad = (r->flags & ING_FILTER_BAD) != 0;
		bool is_cancelled =
			bsearch(&f->keys[i], bad, bad_count, sizeof(*bad), compare) != NULL;
		f->counts.cancelled += is_cancelled && !is_bad;
		if (is_cancelled)
			continue;
		if ((r->flags & ING_FILTER_EXCEPTION) != 0)
			f->counts.exceptions++;
		else
			f->counts.blocking++;
		f->rules[kept++] = *r;
	}
	f->rule_count = kept;
	free(bad);
}

/* --- decisions --- */

static bool is_third_party(const char *host, const char *page)
{
	const char *a = ing_psl_registered(host);
	const char *b = ing_psl_registered(page);
	if (a == NULL || b == NULL)
		return strcmp(host, page) != 0;
	return strcmp(a, b) != 0;
}

static bool party_matches(struct trial *t, unsigned flags)
{
	const unsigned asked = ING_FILTER_THIRD_PARTY | ING_FILTER_FIRST_PARTY;
	if ((flags & ING_FILTER_OTHER_HOST) != 0 && strcmp(t->host, t->page->host) == 0)
		return false;
	if ((flags & ING_FILTER_SAME_HOST) != 0 && strcmp(t->host, t->page->host) != 0)
		return false;
	if ((flags & asked) == 0 || (flags & asked) == asked)
		return true;
	if (!t->has_party)
		t->is_third_party = is_third_party(t->host, t->page->host);
	t->has_party = true;
	return t->is_third_party == ((flags & ING_FILTER_THIRD_PARTY) != 0);
}

static bool target_matches(struct trial *t, uint32_t number)
{
	if (number > 0 && !t->has_names)
		ing_filter_names_of(t->host, &t->names);
	t->has_names |= number > 0;
	return ing_filter_hosts_match(t->page->filters, number, &t->names);
}

static bool rule_matches(struct trial *t, const struct ing_filter_rule *r)
{
	const struct ing_filters *f = t->page->filters;
	if ((r->types & t->type) == 0 || !party_matches(t, r->flags) ||
		!ing_filter_hosts_match(f, r->pages, &t->page->names))
		return false;
	if ((r->flags & ING_FILTER_REGEX) != 0)
		return target_matches(t, r->targets) &&
		       ing_regex_find(f->regexes[r->regex], t->url.text,
			       ING_MIN(t->url.bytes, MAX_REGEX_URL_BYTES)) == ING_REGEX_YES;
	return ing_filter_pattern_matches(r, ing_buf_str(&f->text) + r->pattern, &t->url) &&
	       target_matches(t, r->targets);
}

static bool try_blocking(void *ctx, const struct ing_filter_rule *r)
{
	struct trial *t = ctx;
	bool is_important = (r->flags & ING_FILTER_IMPORTANT) != 0;
	if (t->blocked && !is_important)
		return true;
	if (rule_matches(t, r)) {
		t->blocked = true;
		t->important = is_important;
	}
	return !t->important;
}

static bool try_exception(void *ctx, const struct ing_filter_rule *r)
{
	struct trial *t = ctx;
	t->excepted = rule_matches(t, r);
	return !t->excepted;
}

/* False when the URL has no host. */
static bool begin_trial(
	struct trial *t, const struct ing_filter_page *p, const char *url, unsigned type)
{
	*t = (struct trial){.page = p, .type = type};
	const char *slashes = strstr(url, "://");
	if (slashes == NULL || !ing_url_host(url, t->host, sizeof(t->host)))
		return false;
	struct ing_filter_url *u = &t->url;
	u->text = url;
	u->bytes = strlen(url);
	u->lower = ing_strndup(url, u->bytes);
	for (size_t i = 0; i < u->bytes; i++)
		if (u->lower[i] >= 'A' && u->lower[i] <= 'Z')
			u->lower[i] = (char)(u->lower[i] + ('a' - 'A'));
	u->host = (size_t)(slashes - url) + 3;
	u->host_end = u->host + strcspn(url + u->host, "/?#");
	const char *at = memchr(url + u->host, '@', u->host_end - u->host);
	if (at != NULL)
		u->host = (size_t)(at - url) + 1;
	u->host_end = ING_MIN(u->host_end, u->host + strlen(t->host));
	return true;
}

static void end_trial(struct trial *t)
{
	free(t->url.lower);
}

/* An exception for the page itself. */
static bool is_spared(const struct ing_filter_page *p, const char *url)
{
	struct trial t;
	if (!begin_trial(&t, p, url, ING_FILTER_PAGE_TYPE))
		return false;
	ing_filter_each(p->filters, &p->filters->exceptions, &t.url, &p->names, try_exception, &t);
	end_trial(&t);
	return t.excepted;
}

/* -------------------------------------------------------------------------------------------- */

struct ing_filters *ing_filters_new(void)
{
	struct ing_filters *f = ing_alloc(sizeof(*f));
	ing_buf_init(&f->text, MAX_TEXT_BYTES);
	return f;
}

void ing_filters_free(struct ing_filters *f)
{
	if (f == NULL)
		return;
	for (size_t i = 0; i < f->regex_count; i++)
		ing_regex_free(f->regexes[i]);
	free(f->blocking.words.heads);
	free(f->blocking.hosts.heads);
	free(f->exceptions.words.heads);
	free(f->exceptions.hosts.heads);
	ing_buf_done(&f->text);
	free(f->rules);
	free(f->keys);
	free(f->hosts);
	free(f->hashes);
	free(f->regexes);
	free(f->links);
	free(f);
}

void ing_filters_add(struct ing_filters *f, const char *text, size_t bytes)
{
	struct conditions conditions = {0};
	const char *end = text + bytes;
	ing_must(f->blocking.words.heads == NULL); /* it is not sealed */
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline != NULL ? newline : end;
		if (!take_condition(&conditions, text, line_end) && conditions.off == 0)
			ing_filter_add_line(f, text, (size_t)(line_end - text));
		text = newline != NULL ? newline + 1 : end;
	}
}

void ing_filters_seal(struct ing_filters *f)
{
	cancel_bad(f);
	free(ING_TAKE(f->keys));
	ing_filter_make_index(f);
}

const struct ing_filter_counts *ing_filters_counts(const struct ing_filters *f)
{
	return &f->counts;
}

size_t ing_filters_bytes(const struct ing_filters *f)
{
	size_t heads = (size_t)f->blocking.words.mask + f->blocking.hosts.mask +
		       f->exceptions.words.mask + f->exceptions.hosts.mask + 4;
	return f->rule_room * sizeof(*f->rules) + f->host_room * sizeof(*f->hosts) +
	       f->hash_room * sizeof(*f->hashes) + f->link_room * sizeof(*f->links) +
	       heads * sizeof(uint32_t) + f->text.cap;
}

struct ing_filter_page *ing_filter_page_new(const struct ing_filters *f, const char *url)
{
	struct ing_filter_page *p = ing_alloc(sizeof(*p));
	p->filters = f;
	if (url == NULL || !ing_url_host(url, p->host, sizeof(p->host)))
		return p;
	ing_filter_names_of(p->host, &p->names);
	p->spared = is_spared(p, url);
	return p;
}

void ing_filter_page_free(struct ing_filter_page *p)
{
	free(p);
}

bool ing_filters_block(
	const struct ing_filter_page *p, const char *url, enum ing_resource_type type)
{
	struct trial t;
	if (p->spared || !begin_trial(&t, p, url, 1u << type))
		return false;
	const struct ing_filters *f = p->filters;
	ing_filter_each(f, &f->blocking, &t.url, &p->names, try_blocking, &t);
	if (t.blocked && !t.important)
		ing_filter_each(f, &f->exceptions, &t.url, &p->names, try_exception, &t);
	end_trial(&t);
	return t.blocked && !t.excepted;
}
