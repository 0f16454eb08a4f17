/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether an element matches. Chains are followed backward at the top level and in :not and :is,
 * forward in :has (selector_priv.h says why). Each step keeps its answers about an element: two
 * answers of two bits, valid in the epoch stored beside them, so that every element is tested once
 * by every step, whatever the shape of the page; walks along ancestors and siblings are loops that
 * store the answer for all they passed. The C stack grows with the selector only. One thread.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <stdlib.h>
#include <string.h>

/* Answers in a memo, 0 being unknown: STEP is whether the step matches at the element, RUN whether
 * it matches at some ancestor, earlier sibling or later sibling. */
enum { NO = 1, YES = 2 };
#define STEP_SHIFT 0
#define RUN_SHIFT 2
#define EPOCH_SHIFT 4
#define MAX_EPOCH 0xfff

/* Of all memos: 32 steps of a page of a million nodes. */
#define MAX_MEMO_BYTES ((size_t)64 << 20)

/* --- memos --- */

static bool make_memo(struct ing_matcher *m, uint32_t number)
{
	size_t bytes = m->t->count * sizeof(uint16_t);
	if (m->memo_bytes + bytes > MAX_MEMO_BYTES) {
		m->fail = m->fail != 0 ? m->fail : ING_FAIL_TOO_BIG;
		return false;
	}
	m->memo_bytes += bytes;
	m->memos[number] = ing_alloc(bytes);
	return true;
}

static unsigned get_memo(
	struct ing_matcher *m, const struct ing_sel_step *step, ing_node n, unsigned shift)
{
	const uint16_t *memo = m->memos[step->memo];
	if (memo == NULL || memo[n] >> EPOCH_SHIFT != m->epoch)
		return 0;
	return memo[n] >> shift & 3u;
}

static bool set_memo(struct ing_matcher *m, const struct ing_sel_step *step, ing_node n,
	unsigned shift, bool answer)
{
	if (m->memos[step->memo] == NULL && !make_memo(m, step->memo))
		return answer;
	uint16_t *at = &m->memos[step->memo][n];
	if (*at >> EPOCH_SHIFT != m->epoch)
		*at = (uint16_t)(m->epoch << EPOCH_SHIFT);
	*at = (uint16_t)(*at | (answer ? YES : NO) << shift);
	return answer;
}

/* --- backward --- */

static bool matches_backward(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n);

/* Whether the step before matches some ancestor of n, up to the root of the search. */
static bool matches_ancestor(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	const struct ing_sel_step *before = &c->steps[i - 1];
	const struct ing_tree_node *nodes = m->t->nodes;
	ing_node at = n;
	unsigned answer = get_memo(m, before, at, RUN_SHIFT);
	while (answer == 0) {
		if (at == m->root || nodes[at].parent == ING_NODE_NONE || !ing_sel_tick(m, 1))
			answer = NO;
		else {
			at = nodes[at].parent;
			answer = matches_backward(m, c, i - 1, at)
					 ? YES
					 : get_memo(m, before, at, RUN_SHIFT);
			if (answer == 0 && at == m->root)
				answer = NO;
		}
	}
	for (ing_node k = n; k != at; k = nodes[k].parent)
		set_memo(m, before, k, RUN_SHIFT, answer == YES);
	return answer == YES;
}

/* Whether the step before matches some earlier sibling of n. */
static bool matches_earlier_sibling(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	const struct ing_sel_step *before = &c->steps[i - 1];
	ing_node at = n;
	unsigned answer = get_memo(m, before, at, RUN_SHIFT);
	while (answer == 0) {
		ing_node prev = ing_sel_prev_element(m, at);
		if (prev == ING_NODE_NONE || !ing_sel_tick(m, 1)) {
			answer = NO;
			break;
		}
		at = prev;
		answer = matches_backward(m, c, i - 1, at) ? YES
							   : get_memo(m, before, at, RUN_SHIFT);
	}
	for (ing_node k = n; k != at; k = ing_sel_prev_element(m, k))
		set_memo(m, before, k, RUN_SHIFT, answer == YES);
	if (n != at && get_memo(m, before, at, RUN_SHIFT) == 0 && answer == NO)
		set_memo(m, before, at, RUN_SHIFT, false); /* the first of them */
	return answer == YES;
}

/* Whether the step before step i, which matches n, matches where the combinator leads. */
static bool combinator_matches_backward(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	char combinator = c->steps[i].combinator;
	if (combinator == 0)
		return true;
	if (n == m->root)
		return false;
	ing_node parent = m->t->nodes[n].parent;
	if (i == 0) /* a leading combinator: the root of the search is on its left */
		return combinator == '>' && parent == m->root;
	switch (combinator) {
	case '>':
		return matches_backward(m, c, i - 1, parent);
	case '+':
		n = ing_sel_prev_element(m, n);
		return n != ING_NODE_NONE && matches_backward(m, c, i - 1, n);
	case '~':
		return matches_earlier_sibling(m, c, i, n);
	default:
		return matches_ancestor(m, c, i, n);
	}
}

static bool pass_tests(struct ing_matcher *m, const struct ing_sel_step *step, uint32_t from,
	uint32_t to, ing_node n)
{
	for (uint32_t k = from; k < to; k++) {
		if (!ing_sel_passes(m, step->tests[k], n))
			return false;
	}
	return m->fail == 0;
}

/* In the order that :matchText depends on: tests from the last to the first, then the step before.
 * */
static bool pass_in_order(struct ing_matcher *m, const struct ing_sel_step *step, ing_node n)
{
	for (uint32_t k = step->count; k > 0; k--) {
		if (!ing_sel_passes(m, step->written[k - 1], n))
			return false;
	}
	return m->fail == 0;
}

static bool step_matches_backward(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	const struct ing_sel_step *step = &c->steps[i];
	if (!ing_sel_tick(m, 1))
		return false;
	if (m->in_order)
		return pass_in_order(m, step, n) && combinator_matches_backward(m, c, i, n);
	return pass_tests(m, step, 0, step->cheap, n) && combinator_matches_backward(m, c, i, n) &&
	       pass_tests(m, step, step->cheap, step->count, n);
}

/* Whether the chain up to step i matches n; kept. */
static bool matches_backward(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	unsigned known = get_memo(m, &c->steps[i], n, STEP_SHIFT);
	if (known != 0)
		return known == YES;
	return set_memo(m, &c->steps[i], n, STEP_SHIFT, step_matches_backward(m, c, i, n));
}

/* --- forward --- */

static bool matches_forward(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n);

static struct ing_sel_scan *find_scan(struct ing_matcher *m, const struct ing_sel_step *step)
{
	struct ing_sel_scan *scan = &m->scans[step->memo];
	if (scan->epoch == m->epoch)
		return scan;
	ing_sel_find_source(m, step, &scan->source);
	uint32_t count = scan->source.count;
	free(scan->skip);
	scan->skip = ing_alloc((count + (size_t)1) * sizeof(*scan->skip));
	for (uint32_t i = 0; i <= count; i++)
		scan->skip[i] = i;
	ing_sel_tick(m, (int32_t)(count / 16));
	scan->epoch = m->epoch;
	return scan;
}

/* Index of the first candidate from i on; halves paths on the way. */
static uint32_t follow(uint32_t *skip, uint32_t i)
{
	while (skip[i] != i) {
		skip[i] = skip[skip[i]];
		i = skip[i];
	}
	return i;
}

/* Whether step i matches some descendant of n. Elements that do not match are skipped from then on.
 * */
static bool matches_descendant(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	const struct ing_tree *t = m->t;
	struct ing_sel_scan *scan = find_scan(m, &c->steps[i]);
	const ing_node *list = scan->source.list;
	uint32_t count = scan->source.count;
	if (scan->source.empty)
		return false;
	uint32_t k = list != NULL ? ing_sel_list_from(list, count, n + 1) : n + 1;
	for (k = follow(scan->skip, k); k < count; k = follow(scan->skip, k)) {
		ing_node at = list != NULL ? list[k] : k;
		if (at >= t->nodes[n].end || !ing_sel_tick(m, 1))
			return false;
		if (ing_tree_is_element(t, at) && matches_forward(m, c, i, at))
			return true;
		scan->skip[k] = k + 1;
	}
	return false;
}

/* The same where answers cannot be kept from one :has to the next. */
static bool matches_descendant_uncached(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	for (ing_node at = n + 1; at < m->t->nodes[n].end; at++) {
		if (!ing_sel_tick(m, 1))
			return false;
		if (ing_tree_is_element(m->t, at) && matches_forward(m, c, i, at))
			return true;
	}
	return false;
}

static bool matches_child(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	for (ing_node at = ing_sel_first_element(m, n); at != ING_NODE_NONE;
		at = ing_sel_next_element(m, at)) {
		if (!ing_sel_tick(m, 1))
			return false;
		if (matches_forward(m, c, i, at))
			return true;
	}
	return false;
}

/* Whether step i matches some later sibling of n. */
static bool matches_later_sibling(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	const struct ing_sel_step *step = &c->steps[i];
	ing_node at = n;
	unsigned answer = get_memo(m, step, at, RUN_SHIFT);
	while (answer == 0) {
		ing_node next = ing_sel_next_element(m, at);
		if (next == ING_NODE_NONE || !ing_sel_tick(m, 1)) {
			answer = NO;
			break;
		}
		at = next;
		answer = matches_forward(m, c, i, at) ? YES : get_memo(m, step, at, RUN_SHIFT);
	}
	for (ing_node k = n; k != at; k = ing_sel_next_element(m, k))
		set_memo(m, step, k, RUN_SHIFT, answer == YES);
	if (n != at && get_memo(m, step, at, RUN_SHIFT) == 0 && answer == NO)
		set_memo(m, step, at, RUN_SHIFT, false); /* the last of them */
	return answer == YES;
}

/* Whether step i matches where its combinator leads from n. */
static bool combinator_matches_forward(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	switch (c->steps[i].combinator) {
	case '>':
		return matches_child(m, c, i, n);
	case '+':
		n = ing_sel_next_element(m, n);
		return n != ING_NODE_NONE && matches_forward(m, c, i, n);
	case '~':
		return matches_later_sibling(m, c, i, n);
	default:
		return m->uncached ? matches_descendant_uncached(m, c, i, n)
				   : matches_descendant(m, c, i, n);
	}
}

/* Whether the chain from step i on matches, starting at n; kept. */
static bool matches_forward(
	struct ing_matcher *m, const struct ing_sel_chain *c, uint32_t i, ing_node n)
{
	const struct ing_sel_step *step = &c->steps[i];
	unsigned known = get_memo(m, step, n, STEP_SHIFT);
	if (known != 0)
		return known == YES;
	if (!ing_sel_tick(m, 1))
		return false;
	bool holds =
		m->in_order ? pass_in_order(m, step, n) : pass_tests(m, step, 0, step->count, n);
	holds = holds && (i + 1 == c->count || combinator_matches_forward(m, c, i + 1, n));
	return set_memo(m, step, n, STEP_SHIFT, holds);
}

/* :has with one alternative. Without a leading combinator the chain may start at n itself, unless
 * it would have to leave n's subtree for its siblings. */
static bool has_chain(struct ing_matcher *m, const struct ing_sel_chain *c, ing_node n)
{
	if (combinator_matches_forward(m, c, 0, n))
		return true;
	char second = c->count > 1 ? c->steps[1].combinator : 0;
	return c->steps[0].combinator == 0 && (second == ' ' || second == '>') &&
	       matches_forward(m, c, 0, n);
}

static bool leads_to_siblings(const struct ing_sel_chain *c)
{
	char leading = c->steps[0].combinator;
	return leading == '+' || leading == '~';
}

/* In jsoup's order, which matters for :matchText only: all alternatives of each descendant in turn,
 * from their ends. jsoup 1.16.1 does not look at siblings. */
static bool has_group_in_order(struct ing_matcher *m, const struct ing_sel_group *g, ing_node n)
{
	for (ing_node at = n + 1; at < m->t->nodes[n].end && ing_sel_tick(m, 1); at++) {
		if (ing_tree_is_element(m->t, at) && ing_sel_matches(m, g, at))
			return true;
	}
	for (const struct ing_sel_chain *c = g->first; c != NULL; c = c->next) {
		if (leads_to_siblings(c) && has_chain(m, c, n))
			return true;
	}
	return false;
}

static bool has_group(struct ing_matcher *m, const struct ing_sel_group *g, ing_node n)
{
	for (const struct ing_sel_chain *c = g->first; c != NULL; c = c->next) {
		if (has_chain(m, c, n))
			return true;
	}
	return false;
}

/* With n as the root of the search inside, whose answers are valid for n only. */
static bool has_group_uncached(struct ing_matcher *m, const struct ing_sel_group *g, ing_node n)
{
	ing_node root = m->root;
	uint16_t epoch = m->epoch;
	bool uncached = m->uncached;
	ing_sel_new_epoch(m);
	m->root = n;
	m->uncached = true;
	bool has = m->in_order ? has_group_in_order(m, g, n) : has_group(m, g, n);
	m->root = root;
	m->uncached = uncached;
	/* Answers of the outer epoch are still valid, unless epochs started again. */
	if (m->epoch > epoch)
		m->epoch = epoch;
	return has;
}

/* -------------------------------------------------------------------------------------------- */

bool ing_sel_chain_matches(struct ing_matcher *m, const struct ing_sel_chain *c, ing_node n)
{
	return step_matches_backward(m, c, c->count - 1, n);
}

bool ing_sel_matches(struct ing_matcher *m, const struct ing_sel_group *g, ing_node n)
{
	for (const struct ing_sel_chain *c = g->first; c != NULL; c = c->next) {
		if (ing_sel_chain_matches(m, c, n))
			return true;
	}
	return false;
}

bool ing_sel_passes_group(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n)
{
	if (x->op == ING_SEL_NOT)
		return !ing_sel_matches(m, x->group, n);
	if (x->op == ING_SEL_IS)
		return ing_sel_matches(m, x->group, n);
	return x->inner_root_dependent || m->in_order ? has_group_uncached(m, x->group, n)
						      : has_group(m, x->group, n);
}
