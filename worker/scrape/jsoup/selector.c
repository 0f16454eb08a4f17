/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compiles a selector: parses it, then decides the order of tests and which of them depend on the
 * root of a search. A compiled selector is one arena and its regular expressions. Any thread.
 */
#include "worker/scrape/jsoup/selector_priv.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"

static enum ing_sel_cost text_cost(enum ing_sel_text text)
{
	return text == ING_SEL_OWN || text == ING_SEL_WHOLE_OWN ? ING_SEL_COST_OWN_TEXT
								: ING_SEL_COST_TEXT;
}

static enum ing_sel_cost group_cost(const struct ing_sel_group *g, enum ing_sel_cost least)
{
	enum ing_sel_cost cost = least;
	for (const struct ing_sel_chain *c = g->first; c != NULL; c = c->next) {
		for (uint32_t i = 0; i < c->count; i++) {
			const struct ing_sel_step *step = &c->steps[i];
			if (c->count > 1)
				cost = ING_MAX(cost, ING_SEL_COST_GROUP);
			if (step->count > 0)
				cost = ING_MAX(cost, step->tests[step->count - 1]->cost);
		}
	}
	return cost;
}

static enum ing_sel_cost cost_of(const struct ing_sel_simple *x)
{
	if (x->abs)
		return ING_SEL_COST_VALUE;
	switch ((enum ing_sel_op)x->op) {
	case ING_SEL_ALL:
	case ING_SEL_TAG:
	case ING_SEL_TAG_ANY_NS:
	case ING_SEL_TAG_NS:
		return ING_SEL_COST_NAME;
	case ING_SEL_ID:
	case ING_SEL_CLASS:
		return ING_SEL_COST_INDEX;
	case ING_SEL_ATTR:
	case ING_SEL_ATTR_ANY:
	case ING_SEL_ATTR_PREFIX:
	case ING_SEL_ATTR_EQUALS:
	case ING_SEL_ATTR_NOT_EQUALS:
	case ING_SEL_ATTR_STARTS:
	case ING_SEL_ATTR_ENDS:
	case ING_SEL_ATTR_CONTAINS:
		return ING_SEL_COST_ATTR;
	case ING_SEL_ATTR_MATCHES:
		return ING_SEL_COST_VALUE;
	case ING_SEL_IS:
	case ING_SEL_NOT:
		return group_cost(x->group, ING_SEL_COST_PLACE);
	case ING_SEL_HAS:
		return group_cost(x->group, ING_SEL_COST_HAS);
	case ING_SEL_CONTAINS:
	case ING_SEL_MATCHES:
		return text_cost((enum ing_sel_text)x->text);
	default:
		return ING_SEL_COST_PLACE;
	}
}

/* Stable, so that tests of one cost keep the author's order. */
static void sort_tests(struct ing_selector *sel, struct ing_sel_step *step)
{
	step->tests = ing_arena_alloc(&sel->ar, step->count * sizeof(struct ing_sel_simple *));
	uint32_t at = 0;
	for (unsigned cost = 0; cost <= ING_SEL_COST_TEXT; cost++) {
		if (cost == ING_SEL_COST_EXPENSIVE_)
			step->cheap = at;
		for (uint32_t i = 0; i < step->count; i++) {
			if (step->written[i]->cost == cost)
				step->tests[at++] = step->written[i];
		}
	}
}

static void finish_group(struct ing_selector *sel, struct ing_sel_group *g);

static void finish_simple(struct ing_selector *sel, struct ing_sel_simple *x)
{
	if (x->group != NULL)
		finish_group(sel, x->group);
	x->cost = (uint8_t)cost_of(x);
	x->root_dependent =
		x->op == ING_SEL_ROOT || x->op == ING_SEL_LT ||
		((x->op == ING_SEL_IS || x->op == ING_SEL_NOT) && x->group->root_dependent);
	if (x->op == ING_SEL_CONTAINS)
		x->hint = sel->hints++;
	if (x->op != ING_SEL_HAS)
		return;
	for (const struct ing_sel_chain *c = x->group->first; c != NULL; c = c->next) {
		for (uint32_t i = 0; i < c->count; i++) {
			for (uint32_t k = 0; k < c->steps[i].count; k++)
				x->inner_root_dependent = x->inner_root_dependent ||
							  c->steps[i].tests[k]->root_dependent;
		}
	}
}

/* Recursion by nesting, which the parser bounds. */
static void finish_group(struct ing_selector *sel, struct ing_sel_group *g)
{
	for (struct ing_sel_chain *c = g->first; c != NULL; c = c->next) {
		g->root_dependent =
			g->root_dependent || c->count > 1 || c->steps[0].combinator != 0;
		for (uint32_t i = 0; i < c->count; i++) {
			struct ing_sel_step *step = &c->steps[i];
			step->memo = sel->memos++;
			for (uint32_t k = 0; k < step->count; k++) {
				finish_simple(sel, step->written[k]);
				g->root_dependent =
					g->root_dependent || step->written[k]->root_dependent;
			}
			sort_tests(sel, step);
		}
	}
}

/* Without the white space around it; columns count from the text's true beginning. */
static void start(struct ing_sel_parser *p, const char *text, size_t bytes)
{
	size_t from = 0;
	while (from < bytes && (unsigned char)text[from] <= ' ')
		from++;
	while (bytes > from && (unsigned char)text[bytes - 1] <= ' ')
		bytes--;
	p->s = text + from;
	p->bytes = bytes - from;
	p->skipped = from;
}

static int check_text(struct ing_sel_parser *p)
{
	if (p->bytes > ING_SEL_MAX_BYTES)
		return ing_sel_error(p, 0, "a selector of over %zu bytes", ING_SEL_MAX_BYTES);
	for (size_t at = 0; at < p->bytes;) {
		size_t n = ing_utf8_sequence(p->s + at, p->bytes - at);
		if (n == 0)
			return ing_sel_error(p, at, "the selector is not valid UTF-8");
		at += n;
	}
	if (p->bytes == 0)
		return ing_sel_error(p, 0, "the selector is empty");
	return 0;
}

/* -------------------------------------------------------------------------------------------- */

int ing_selector_compile(
	const char *text, size_t bytes, struct ing_selector **ret, struct ing_error *err)
{
	struct ing_selector *sel = ing_alloc(sizeof(*sel));
	struct ing_sel_parser p = {.sel = sel, .err = err};
	ing_arena_init(&sel->ar);
	sel->last_binding = &sel->first_binding;
	start(&p, text, bytes);
	int rc = check_text(&p);
	if (rc == 0)
		rc = ing_sel_parse_group(&p, 0, &sel->group);
	if (rc < 0) {
		ing_selector_free(sel);
		return rc;
	}
	sel->text = ing_strndup(text, bytes);
	finish_group(sel, sel->group);
	*ret = sel;
	return 0;
}

void ing_selector_free(struct ing_selector *s)
{
	if (s == NULL)
		return;
	for (struct ing_sel_regex *r = s->regexes; r != NULL; r = r->next)
		ing_regex_free(r->regex);
	ing_arena_done(&s->ar);
	free(s->text);
	free(s);
}

const char *ing_selector_regex(const struct ing_selector *s, size_t i, bool *ret_in_text)
{
	const struct ing_sel_regex *r = s->regexes;
	for (; r != NULL && i > 0; i--)
		r = r->next;
	if (r == NULL)
		return NULL;
	*ret_in_text = r->in_text;
	return r->text;
}

const char *ing_selector_text(const struct ing_selector *s)
{
	return s->text;
}
