/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searching: which elements are tested, in which order, for how long. A search tests the elements
 * of the rarest name, id or class of a chain's last step; with :matchText, whose effects depend on
 * the order, every element in document order. One thread, the matcher's.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/base/clock.h"

#define QUANTUM 8192                       /* ticks between two readings of the clock */
#define MAX_TEXT_BYTES ((size_t)256 << 20) /* of one element; pages have 64 MiB at most */
#define KEPT_BYTES ((size_t)1 << 20)       /* of each buffer, between pages */
#define MAX_EPOCH 0xfff

/* --- budget --- */

/* Most searches are shorter than reading the clock: these are charged by their ticks. */
static void start_clock(struct ing_matcher *m)
{
	m->fail = 0;
	m->fail_regex = NULL;
	m->clocked = false;
	m->ticks = QUANTUM;
	if (m->budget_ns != 0 && m->spent_ns > m->budget_ns)
		m->fail = ING_FAIL_TIMEOUT;
}

static void charge(struct ing_matcher *m)
{
	uint64_t ticks = (uint64_t)(QUANTUM - (int64_t)m->ticks);
	if (m->clocked) {
		uint64_t now = ing_thread_cpu_ns();
		m->spent_ns += now - m->clock_ns;
		m->clock_ns = now;
	} else {
		m->spent_ns += ticks * ING_SEL_NS_PER_TICK;
	}
	m->ticks = QUANTUM;
}

bool ing_sel_tick_slow(struct ing_matcher *m)
{
	charge(m);
	if (!m->clocked)
		m->clock_ns = ing_thread_cpu_ns();
	m->clocked = true;
	if (m->budget_ns != 0 && m->spent_ns > m->budget_ns && m->fail == 0)
		m->fail = ING_FAIL_TIMEOUT;
	return m->fail == 0;
}

/* --- neighbours --- */

static ing_node skip_to_element(struct ing_matcher *m, ing_node n)
{
	while (n != ING_NODE_NONE && !ing_tree_is_element(m->t, n)) {
		ing_sel_tick(m, 1);
		n = ing_tree_next_sibling(m->t, n);
	}
	return n;
}

ing_node ing_sel_next_element(struct ing_matcher *m, ing_node n)
{
	return skip_to_element(m, ing_tree_next_sibling(m->t, n));
}

ing_node ing_sel_first_element(struct ing_matcher *m, ing_node parent)
{
	return skip_to_element(m, ing_tree_first_child(m->t, parent));
}

ing_node ing_sel_prev_element(struct ing_matcher *m, ing_node n)
{
	n = m->t->nodes[n].prev;
	while (n != ING_NODE_NONE && !ing_tree_is_element(m->t, n)) {
		ing_sel_tick(m, 1);
		n = m->t->nodes[n].prev;
	}
	return n;
}

/* --- memory --- */

static void reserve_memos(struct ing_matcher *m, uint32_t count)
{
	if (count <= m->memo_cap)
		return;
	size_t added = count - m->memo_cap;
	m->memos = ing_realloc(m->memos, count * sizeof(m->memos[0]));
	m->scans = ing_realloc(m->scans, count * sizeof(*m->scans));
	memset(&m->memos[m->memo_cap], 0, added * sizeof(m->memos[0]));
	memset(m->scans + m->memo_cap, 0, added * sizeof(*m->scans));
	m->memo_cap = count;
}

static void reset_hints(struct ing_matcher *m, uint32_t count)
{
	if (count > m->hint_cap) {
		m->hints = ing_realloc(m->hints, count * sizeof(*m->hints));
		m->hint_cap = count;
	}
	for (uint32_t i = 0; i < count; i++)
		m->hints[i] = (struct ing_sel_hint){.lacks = ING_NODE_NONE, .has = ING_NODE_NONE};
}

static void drop_memos(struct ing_matcher *m)
{
	for (uint32_t i = 0; i < m->memo_cap; i++) {
		free(m->memos[i]);
		free(m->scans[i].skip);
	}
	free(m->memos);
	free(m->scans);
	m->memos = NULL;
	m->scans = NULL;
	m->memo_cap = 0;
	m->memo_bytes = 0;
}

static void drop_lists(struct ing_matcher *m)
{
	for (uint32_t i = 0; i < m->list_count; i++)
		free(m->lists[i]);
	m->list_count = 0;
}

static void shrink_buf(struct ing_buf *b)
{
	if (b->cap > KEPT_BYTES) {
		ing_buf_done(b);
		ing_buf_init(b, MAX_TEXT_BYTES);
	}
}

static void add_found(struct ing_matcher *m, ing_node n)
{
	if (m->found_count == m->found_cap) {
		m->found_cap = m->found_cap == 0 ? 256 : m->found_cap * 2;
		m->found = ing_realloc(m->found, m->found_cap * sizeof(*m->found));
	}
	m->found[m->found_count++] = n;
}

/* --- the search --- */

static bool is_impossible(const struct ing_matcher *m, const struct ing_sel_chain *c);

static bool all_impossible(const struct ing_matcher *m, const struct ing_sel_group *g)
{
	for (const struct ing_sel_chain *c = g->first; c != NULL; c = c->next) {
		if (!is_impossible(m, c))
			return false;
	}
	return true;
}

/* Whether no element of the page can pass, as it lacks the name, id or class. */
static bool never_passes(const struct ing_matcher *m, const struct ing_sel_simple *x)
{
	switch ((enum ing_sel_op)x->op) {
	case ING_SEL_TAG:
	case ING_SEL_ID:
	case ING_SEL_CLASS:
		return m->bounds[x->binding].count == 0;
	case ING_SEL_ATTR:
	case ING_SEL_ATTR_EQUALS:
	case ING_SEL_ATTR_STARTS:
	case ING_SEL_ATTR_ENDS:
	case ING_SEL_ATTR_CONTAINS:
	case ING_SEL_ATTR_MATCHES:
		return m->bounds[x->binding].name == ING_SEL_NONE;
	case ING_SEL_HAS:
	case ING_SEL_IS:
		return all_impossible(m, x->group);
	default:
		return false;
	}
}

static bool is_impossible(const struct ing_matcher *m, const struct ing_sel_chain *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		for (uint32_t k = 0; k < c->steps[i].count; k++) {
			if (never_passes(m, c->steps[i].tests[k]))
				return true;
		}
	}
	return false;
}

/* Test the candidates of one chain, up to `limit`. */
static void search_chain(
	struct ing_matcher *m, const struct ing_sel_chain *c, ing_node limit, bool first)
{
	struct ing_sel_source source;
	ing_sel_find_source(m, &c->steps[c->count - 1], &source);
	const ing_node *list = source.list;
	uint32_t k = list != NULL ? ing_sel_list_from(list, source.count, m->root) : m->root;
	for (; k < source.count; k++) {
		ing_node n = list != NULL ? list[k] : k;
		if (n >= limit || m->fail != 0)
			return;
		if (list == NULL && !ing_tree_is_element(m->t, n))
			continue;
		if (ing_sel_chain_matches(m, c, n)) {
			add_found(m, n);
			if (first)
				return;
		}
	}
}

static int compare_nodes(const void *a, const void *b)
{
	const ing_node *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/* Sort the matches of several chains into document order, each once. */
static void merge_found(struct ing_matcher *m)
{
	qsort(m->found, m->found_count, sizeof(*m->found), compare_nodes);
	size_t kept = 0;
	for (size_t i = 0; i < m->found_count; i++) {
		if (kept == 0 || m->found[kept - 1] != m->found[i])
			m->found[kept++] = m->found[i];
	}
	m->found_count = kept;
}

static void search_indexed(struct ing_matcher *m, bool first)
{
	unsigned finding_chains = 0;
	ing_node limit = m->t->nodes[m->root].end;
	for (const struct ing_sel_chain *c = m->sel->group->first; c != NULL; c = c->next) {
		if (is_impossible(m, c))
			continue;
		size_t before = m->found_count;
		search_chain(m, c, limit, first);
		finding_chains += m->found_count > before;
		if (first && m->found_count > before)
			limit = m->found[m->found_count - 1];
	}
	if (finding_chains > 1)
		merge_found(m);
}

/* Test every element in document order, with pseudo elements made on the way. */
static void search_in_order(struct ing_matcher *m, bool first)
{
	for (ing_node n = m->root; n < m->t->nodes[m->root].end && m->fail == 0; n++) {
		if (!ing_tree_is_element(m->t, n))
			continue;
		if (ing_sel_matches(m, m->sel->group, n)) {
			add_found(m, n);
			if (first)
				return;
		}
	}
}

static int report(struct ing_matcher *m, struct ing_error *err)
{
	if (m->text.failed || m->lower.failed) {
		ing_buf_clear(&m->text);
		ing_buf_clear(&m->lower);
		m->fail = m->fail != 0 ? m->fail : ING_FAIL_TOO_BIG;
	}
	if (m->fail == 0)
		return 0;
	m->found_count = 0;
	if (m->fail == ING_FAIL_TIMEOUT)
		return ing_error_set(err, ING_FAIL_TIMEOUT,
			"selector %.200s: the page's %u ms for selectors are used up", m->sel->text,
			(unsigned)(m->budget_ns / 1000000));
	if (m->fail_regex != NULL)
		return ing_error_set(err, ING_FAIL_TOO_BIG,
			"selector %.200s: the regular expression %.200s needs too many steps on this "
			"page",
			m->sel->text, m->fail_regex);
	return ing_error_set(err, ING_FAIL_TOO_BIG,
		"selector %.200s: needs too much memory on this page", m->sel->text);
}

static int search(struct ing_matcher *m, const struct ing_selector *s, ing_node root, bool first,
	struct ing_error *err)
{
	ing_must(m->t != NULL && root < m->t->count);
	m->sel = s;
	m->root = root;
	m->in_order = s->has_match_text;
	m->uncached = false;
	m->found_count = 0;
	start_clock(m);
	m->top = root == ING_NODE_DOCUMENT ? ing_sel_first_element(m, root) : ING_NODE_NONE;
	reserve_memos(m, s->memos);
	reset_hints(m, s->hints);
	ing_sel_new_epoch(m);
	if (m->fail == 0 && ing_sel_make_bounds(m, s)) {
		if (m->in_order)
			search_in_order(m, first);
		else
			search_indexed(m, first);
	}
	charge(m);
	drop_lists(m);
	return report(m, err);
}

/* -------------------------------------------------------------------------------------------- */

void ing_sel_new_epoch(struct ing_matcher *m)
{
	if (m->last_epoch == MAX_EPOCH) {
		for (uint32_t i = 0; i < m->memo_cap; i++) {
			if (m->memos[i] != NULL)
				memset(m->memos[i], 0, m->t->count * sizeof(uint16_t));
			m->scans[i].epoch = 0;
		}
		m->last_epoch = 0;
	}
	m->epoch = ++m->last_epoch;
}

void ing_sel_drop_map(struct ing_matcher *m)
{
	free(ING_TAKE(m->text_from));
	free(ING_TAKE(m->text_to));
	ing_buf_clear(&m->page_text);
	m->text_work = 0;
}

struct ing_matcher *ing_matcher_new(void)
{
	struct ing_matcher *m = ing_alloc(sizeof(*m));
	if (getrandom(&m->seed, sizeof(m->seed), 0) != sizeof(m->seed))
		m->seed = (uint64_t)time(NULL) ^ (uint64_t)(uintptr_t)m;
	ing_buf_init(&m->text, MAX_TEXT_BYTES);
	ing_buf_init(&m->lower, MAX_TEXT_BYTES);
	ing_buf_init(&m->page_text, MAX_TEXT_BYTES);
	return m;
}

void ing_matcher_free(struct ing_matcher *m)
{
	if (m == NULL)
		return;
	drop_memos(m);
	ing_sel_drop_index(m);
	drop_lists(m);
	ing_sel_drop_map(m);
	ing_buf_done(&m->page_text);
	ing_buf_done(&m->text);
	ing_buf_done(&m->lower);
	free(m->lists);
	free(m->bounds);
	free(m->hints);
	free(m->found);
	free(m);
}

void ing_matcher_bind(struct ing_matcher *m, struct ing_tree *t, unsigned cpu_ms)
{
	drop_memos(m);
	ing_sel_drop_index(m);
	ing_sel_drop_map(m);
	shrink_buf(&m->page_text);
	shrink_buf(&m->text);
	shrink_buf(&m->lower);
	if (m->found_cap * sizeof(*m->found) > KEPT_BYTES) {
		free(ING_TAKE(m->found));
		m->found_cap = 0;
	}
	m->found_count = 0;
	m->t = t;
	m->budget_ns = (uint64_t)cpu_ms * 1000000;
	m->spent_ns = 0;
	m->last_epoch = 0;
	m->id_name = ing_tree_find_name(t, "id", 2);
	m->class_name = ing_tree_find_name(t, "class", 5);
}

int ing_select(struct ing_matcher *m, const struct ing_selector *s, ing_node root,
	struct ing_matches *ret, struct ing_error *err)
{
	int rc = search(m, s, root, false, err);
	if (rc == 0)
		*ret = (struct ing_matches){.nodes = m->found, .count = m->found_count};
	return rc;
}

int ing_select_first(struct ing_matcher *m, const struct ing_selector *s, ing_node root,
	ing_node *ret, struct ing_error *err)
{
	int rc = search(m, s, root, true, err);
	if (rc == 0)
		*ret = m->found_count > 0 ? m->found[0] : ING_NODE_NONE;
	return rc;
}
