/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selector_priv.h - the compiled selector and the matcher; for the files selector*.c only.
 *
 *   selector.c         public: compile, free; orders tests by cost, numbers memos
 *   selector_parse.c   text to struct ing_sel_group: combinators, types, ids, classes
 *   selector_args.c    arguments in brackets and parentheses
 *   selector_index.c   where a search looks: candidates, positions among siblings
 *   selector_words.c   elements by id and class
 *   selector_simple.c  whether an element passes one test
 *   selector_match.c   whether an element matches: combinators, :has, memos
 *   selector_search.c  public: matcher, budget, search
 *
 * A selector is a group of alternatives (commas); an alternative is a chain of steps; a step is a
 * compound of tests, and a combinator to the step before. At the top level and in :not and :is a
 * chain is matched from its end to its start ("is some ancestor ..."); in :has from its start to
 * its end ("has some descendant ..."), because then the answer for an element does not depend on
 * where :has started and can be kept.
 */
#pragma once
#include <stdbool.h>
#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/error.h"
#include "worker/scrape/jsoup/regex.h"
#include "worker/scrape/jsoup/selector.h"

#define ING_SEL_MAX_BYTES ((size_t)64 << 10)
/* Nesting of :not, :is, :has and steps of one chain: together they bound the recursion. */
#define ING_SEL_MAX_DEPTH 32
#define ING_SEL_MAX_STEPS 64

#define ING_SEL_NONE UINT32_MAX

enum ing_sel_op {
	ING_SEL_ALL,
	ING_SEL_TAG,
	ING_SEL_TAG_ANY_NS, /* *|tag */
	ING_SEL_TAG_NS,     /* ns|* */
	ING_SEL_ID,
	ING_SEL_CLASS,
	ING_SEL_ATTR, /* [k] */
	ING_SEL_ATTR_ANY,
	ING_SEL_ATTR_PREFIX,
	ING_SEL_ATTR_EQUALS,
	ING_SEL_ATTR_NOT_EQUALS,
	ING_SEL_ATTR_STARTS,
	ING_SEL_ATTR_ENDS,
	ING_SEL_ATTR_CONTAINS,
	ING_SEL_ATTR_MATCHES,
	ING_SEL_EQ,
	ING_SEL_LT,
	ING_SEL_GT,
	ING_SEL_NTH, /* an+b among `place` */
	ING_SEL_ONLY,
	ING_SEL_EMPTY,
	ING_SEL_BLANK,
	ING_SEL_ROOT,
	ING_SEL_HAS,
	ING_SEL_IS,
	ING_SEL_NOT,
	ING_SEL_CONTAINS,
	ING_SEL_MATCHES,
	ING_SEL_MATCH_TEXT,
};

/* Which text :contains and :matches look into. */
enum ing_sel_text {
	ING_SEL_TEXT,
	ING_SEL_OWN,
	ING_SEL_WHOLE,
	ING_SEL_WHOLE_OWN,
	ING_SEL_DATA,
};

/* Among which siblings, counted from which end. */
enum ing_sel_place {
	ING_SEL_CHILD,
	ING_SEL_LAST_CHILD,
	ING_SEL_OF_TYPE,
	ING_SEL_LAST_OF_TYPE,
	ING_SEL_PLACES_,
};

struct ing_sel_simple {
	uint8_t op;
	uint8_t text;              /* enum ing_sel_text */
	uint8_t place;             /* enum ing_sel_place */
	uint8_t cost;              /* enum ing_sel_cost */
	bool abs;                  /* of an attribute the absolute URL */
	bool root_dependent;       /* the answer depends on the root of the search */
	bool inner_root_dependent; /* :has whose inside does */
	int32_t a, b;              /* of an+b; b alone of :eq, :lt, :gt */
	uint32_t binding;  /* index of the tag, attribute, id or class in the page's bindings */
	uint32_t hint;     /* of :contains: number of its hint */
	const char *value; /* in lower case unless compared with case; NUL-terminated */
	uint32_t bytes;
	struct ing_regex *regex;     /* owned by the selector */
	const char *regex_text;      /* for messages */
	struct ing_sel_group *group; /* of :has, :is, :not */
	struct ing_sel_simple *next; /* as written; only while parsing */
};

/* Tests of a step run in this order; its combinator is checked before the expensive ones. */
enum ing_sel_cost {
	ING_SEL_COST_NAME,
	ING_SEL_COST_INDEX, /* id, class */
	ING_SEL_COST_ATTR,
	ING_SEL_COST_PLACE,
	ING_SEL_COST_EXPENSIVE_,                      /* from here on expensive */
	ING_SEL_COST_VALUE = ING_SEL_COST_EXPENSIVE_, /* regular expression, URL */
	ING_SEL_COST_GROUP,
	ING_SEL_COST_HAS,
	ING_SEL_COST_OWN_TEXT,
	ING_SEL_COST_TEXT,
};

struct ing_sel_step {
	struct ing_sel_simple **tests;   /* by cost */
	struct ing_sel_simple **written; /* in the order of the text */
	uint32_t count, cheap;           /* tests[0 .. cheap) are not expensive */
	char combinator; /* to the step before, or a leading one: ' ' '>' '+' '~'; 0: none */
	uint32_t memo;   /* number of its memo */
};

struct ing_sel_chain {
	struct ing_sel_step *steps;
	uint32_t count;
	struct ing_sel_chain *next;
};

struct ing_sel_group {
	struct ing_sel_chain *first;
	uint32_t count;
	bool root_dependent;
};

/* A name used in the selector, looked up in each page. */
enum ing_sel_kind { ING_SEL_NAME, ING_SEL_ID_VALUE, ING_SEL_CLASS_VALUE };
struct ing_sel_binding {
	enum ing_sel_kind kind;
	const char *text;
	uint32_t bytes;
	struct ing_sel_binding *next;
};

struct ing_selector {
	char *text;
	struct ing_arena ar; /* everything below */
	struct ing_sel_group *group;
	struct ing_sel_binding *first_binding, **last_binding;
	uint32_t bindings, memos, hints;
	struct ing_sel_regex *regexes;
	bool has_match_text; /* has :matchText */
};

struct ing_sel_regex {
	struct ing_regex *regex;
	const char *text;
	bool in_text; /* of elements, not in an attribute */
	struct ing_sel_regex *next;
};

/* ASCII letters of eight bytes in lower case. */
#define ING_SEL_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))
static inline uint64_t ing_sel_lower_eight(uint64_t eight)
{
	uint64_t low7 = eight & ING_SEL_EACH(0x7f);
	uint64_t from_a = low7 + ING_SEL_EACH(0x80 - 'A');
	uint64_t past_z = low7 + ING_SEL_EACH(0x7f - 'Z');
	return eight | ((from_a & ~past_z & ~eight & ING_SEL_EACH(0x80)) >> 2);
}

/* --- parsing --- */

struct ing_sel_parser {
	const char *s; /* the text less white space at its ends */
	size_t bytes, at;
	size_t skipped; /* characters before s */
	unsigned depth;
	enum ing_fail code; /* of the next error, when it is not SYNTAX */
	struct ing_selector *sel;
	struct ing_error *err;
};

/* -SYNTAX (or -p->code) at byte `at`. */
int ing_sel_error(struct ing_sel_parser *p, size_t at, const char *fmt, ...) ING_PRINTF(3, 4);
/* A group up to `close`, which is left (')'; 0: the end of the text). */
int ing_sel_parse_group(struct ing_sel_parser *p, char close, struct ing_sel_group **ret);
/* [...] and :pseudo, p->at being on the bracket and the colon. */
int ing_sel_parse_attr(struct ing_sel_parser *p, struct ing_sel_simple *ret);
int ing_sel_parse_pseudo(struct ing_sel_parser *p, struct ing_sel_simple *ret);
void ing_sel_skip_space(struct ing_sel_parser *p);
bool ing_sel_is_space(char c);
uint32_t ing_sel_bind(
	struct ing_selector *sel, enum ing_sel_kind kind, const char *text, size_t bytes);
/* Set a copy of s as the value, in lower case if `lower`. */
void ing_sel_set_value(struct ing_selector *sel, struct ing_sel_simple *x, const char *s,
	size_t bytes, bool lower);

/* --- matching --- */

struct ing_sel_bound {
	uint32_t name;        /* of a tag or attribute: id in the tree, or NONE */
	const ing_node *list; /* elements of that tag, id or class, in document order */
	uint32_t count;
};

/* Elements by a word of an attribute (selector_words.c). */
struct ing_sel_index {
	struct ing_sel_word *words;
	uint32_t word_count, word_cap;
	uint32_t *slots; /* open addressing: number + 1 of a word, or 0 */
	uint32_t slot_count;
	ing_node *list; /* grouped by word */
	bool ready;
};

/* Candidates for the elements of a step. */
struct ing_sel_source {
	const ing_node *list; /* in document order; NULL: all nodes */
	uint32_t count;
	bool empty; /* the page has none */
};

/* Candidates for descendants in a step of :has, without those known not to match. */
struct ing_sel_scan {
	struct ing_sel_source source;
	uint32_t *skip; /* the next candidate, with path halving as in union-find */
	uint16_t epoch;
};

/* What a :contains has found so far. An element's text is a range of its ancestors' texts: below an
 * element without the words no element has them, above one with them every element has them. */
struct ing_sel_hint {
	ing_node lacks, has;
	ing_node from, to; /* no text node in this range has the words by itself, */
	bool hit;          /* but `to` has */
};

struct ing_matcher {
	struct ing_tree *t;
	uint64_t seed;
	/* Budget (selector_search.c). */
	uint64_t budget_ns, spent_ns, clock_ns;
	int32_t ticks;
	bool clocked;
	int fail; /* ING_FAIL_x: the search is over */
	const char *fail_regex;
	/* The search. */
	const struct ing_selector *sel;
	ing_node root;
	ing_node top;  /* the page's first element, for :root */
	bool in_order; /* the selector has :matchText, whose effects depend on the order of tests */
	bool uncached; /* inside a :has whose answers cannot be kept */
	struct ing_sel_bound *bounds;
	uint32_t bound_cap;
	/* Memos: for each numbered step 16 bits a node: an epoch, and two answers of two bits. */
	uint16_t **memos;
	struct ing_sel_scan *scans;
	uint32_t memo_cap;
	size_t memo_bytes;
	struct ing_sel_hint *hints;
	uint32_t hint_cap;
	uint16_t epoch, last_epoch;
	/* Indexes of the page. */
	struct ing_sel_index ids, classes;
	uint32_t *places[ING_SEL_PLACES_]; /* by node, from 1; of children of a `placed` node */
	uint8_t *placed;                   /* bits by enum ing_sel_place / 2 */
	uint32_t *type_counts;             /* scratch by name */
	uint32_t id_name, class_name;
	/* Lists made for a search, freed at its end. */
	ing_node **lists;
	uint32_t list_count, list_cap;
	struct ing_buf text, lower;
	/* The page's text and the range of each element in it (text.h), made when many elements'
	 * texts have been read. */
	struct ing_buf page_text;
	uint32_t *text_from, *text_to; /* NULL: not made */
	uint64_t text_work;
	ing_node *found;
	size_t found_count, found_cap;
};

#define ING_SEL_NS_PER_TICK 16 /* about the cost of testing a name */

/* Charge work to the budget. Returns false to stop, when it is used up or the search has failed. */
bool ing_sel_tick_slow(struct ing_matcher *m);
static inline bool ing_sel_tick(struct ing_matcher *m, int32_t ticks)
{
	m->ticks -= ticks;
	return m->ticks > 0 ? m->fail == 0 : ing_sel_tick_slow(m);
}

/* Neighbours among elements, pseudo elements included, or NONE. */
ing_node ing_sel_next_element(struct ing_matcher *m, ing_node n);
ing_node ing_sel_prev_element(struct ing_matcher *m, ing_node n);
ing_node ing_sel_first_element(struct ing_matcher *m, ing_node parent);

/* selector_index.c */
bool ing_sel_make_bounds(struct ing_matcher *m, const struct ing_selector *sel);
bool ing_sel_list_has(const ing_node *list, uint32_t count, ing_node n);
/* Index of the first node in list that is not before n. */
uint32_t ing_sel_list_from(const ing_node *list, uint32_t count, ing_node n);
uint32_t ing_sel_place(struct ing_matcher *m, ing_node n, enum ing_sel_place place);
void ing_sel_forget_places(struct ing_matcher *m, ing_node parent);
/* Find the shortest list that has all elements of a step. */
void ing_sel_find_source(
	struct ing_matcher *m, const struct ing_sel_step *step, struct ing_sel_source *ret);
void ing_sel_drop_index(struct ing_matcher *m);
void ing_sel_drop_map(struct ing_matcher *m);

/* selector_words.c: the elements with an id or a class; ret stays as it is when there are none. */
void ing_sel_look_up(struct ing_matcher *m, struct ing_sel_index *x, bool classes,
	const struct ing_sel_binding *b, struct ing_sel_bound *ret);
void ing_sel_drop_words(struct ing_sel_index *x);

/* selector_simple.c: all tests but :has, :is, :not. */
bool ing_sel_passes(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n);
/* selector_match.c */
bool ing_sel_matches(struct ing_matcher *m, const struct ing_sel_group *g, ing_node n);
bool ing_sel_chain_matches(struct ing_matcher *m, const struct ing_sel_chain *c, ing_node n);
bool ing_sel_passes_group(struct ing_matcher *m, const struct ing_sel_simple *x, ing_node n);
/* Forget all memos. */
void ing_sel_new_epoch(struct ing_matcher *m);
