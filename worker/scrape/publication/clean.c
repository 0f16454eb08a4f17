/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two passes over the flat tree. Forward, every element is classified once: to be removed, to be
 * removed unless it is around or inside the main content, or itself a mark of the main content; as
 * a subtree is a range of nodes, "has a main ancestor" is whether the last such range has ended.
 * Backward, the next mark of the main content is known at every element, so that "has a main
 * descendant" is a comparison of indexes.
 *
 * The first pass is made once a page, for both ways to clean it. As the elements of a page share a few
 * classes, what a class says is remembered, in a table of fixed size: values that share a slot are
 * judged again.
 */
#include "worker/scrape/publication/clean.h"

#include <string.h>

#include "common/base/macros.h"
#include "common/base/utf8.h"
#include "worker/scrape/jsoup/text.h"
#include "worker/scrape/biblio/meta.h"
#include "worker/scrape/publication/tokens.h"

#define MAX_NOSCRIPT_BYTES ((size_t)64 << 10) /* of a <noscript>'s text that is looked at */
#define MAX_DESCRIPTION_BYTES ((size_t)64 << 10)

/* What a name means, as that of an element or of an attribute. */
enum {
	TAG_MAIN = 1,
	TAG_TITLE = 2,
	TAG_MENU = 4,
	TAG_NOSCRIPT = 8,
	ATTR_NAME = 16, /* id, class */
	ATTR_ROLE = 32, /* role, aria-label */
};

/* Classes of an element. */
enum {
	REMOVE = 1,
	MAY_REMOVE = 2,
	MAIN = 4,        /* marks the main content for its ancestors and descendants */
	MAIN_TITLE = 8,  /* by its title: only for itself and its descendants */
	REFERENCES = 16, /* to be removed from a publication */
};

struct ing_clean_page {
	const uint8_t *found; /* classes by node; NULL: not classified yet */
	bool both;            /* both texts are wanted: they are made together */
	bool kept_publication;
	const char *kept; /* the text that was made with the other, in the arena; NULL: none */
	size_t kept_bytes;
};

#define SLOT_BITS 8

/* A class and what it says. */
struct judged {
	const char *value; /* NULL: none; the tree's */
	uint32_t bytes;
	uint8_t found;
};

struct cleaning {
	const struct ing_tree *tree;
	const uint8_t *names;  /* TAG_ and ATTR_ bits by name */
	ing_node noscript_end; /* before it a <noscript> has been looked through */
	struct judged slots[1 << SLOT_BITS];
};

static const uint8_t *map_names(const struct ing_view *v)
{
	static const struct {
		const char *name;
		uint8_t means;
	} known[] = {
		{"main", TAG_MAIN},
		{"article", TAG_MAIN},
		{"h1", TAG_TITLE},
		{"h2", TAG_TITLE},
		{"nav", TAG_MENU},
		{"menu", TAG_MENU},
		{"aside", TAG_MENU},
		{"footer", TAG_MENU},
		{"noscript", TAG_NOSCRIPT},
		{"id", ATTR_NAME},
		{"class", ATTR_NAME},
		{"role", ATTR_ROLE},
		{"aria-label", ATTR_ROLE},
	};
	const struct ing_tree *t = v->tree;
	uint8_t *means = ing_arena_alloc(v->arena, t->name_count);
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++) {
		uint32_t id = ing_tree_find_name(t, known[i].name, strlen(known[i].name));
		if (id != UINT32_MAX)
			means[id] = known[i].means;
	}
	return means;
}

static unsigned judge_name(const struct ing_tree_attr *a)
{
	unsigned found = 0, tokens = 0;
	enum ing_content_mark mark = ing_token_content_mark(a->value, a->bytes);
	if (mark != ING_CONTENT_NONE)
		found |= mark == ING_CONTENT_MAIN ? MAIN : MAIN_TITLE;
	struct ing_tokens ts = {.s = a->value, .end = a->value + a->bytes};
	const char *token = NULL;
	size_t bytes = 0;
	while (ing_tokens_next(&ts, &token, &bytes))
		tokens |= ing_token_classify_name(token, bytes);
	found |= tokens & ING_TOKEN_MENU ? REMOVE : 0;
	found |= tokens & ING_TOKEN_REFERENCES ? REFERENCES : 0;
	return tokens & ING_TOKEN_MAYBE ? found | MAY_REMOVE : found;
}

/* By the length and the ends of a value, whatever its length. */
static struct judged *slot_of(struct cleaning *c, const char *s, uint32_t bytes)
{
	uint64_t front = 0, back = 0;
	size_t n = ING_MIN(bytes, (uint32_t)sizeof(front));
	memcpy(&front, s, n);
	memcpy(&back, s + bytes - n, n);
	uint64_t h = (front ^ back * 31 ^ bytes) * UINT64_C(0x9e3779b97f4a7c15);
	return &c->slots[h >> (64 - SLOT_BITS)];
}

static unsigned classify_name(struct cleaning *c, const struct ing_tree_attr *a)
{
	struct judged *j = slot_of(c, a->value, a->bytes);
	if (j->value == NULL || j->bytes != a->bytes || memcmp(j->value, a->value, a->bytes) != 0)
		*j = (struct judged){a->value, a->bytes, (uint8_t)judge_name(a)};
	return j->found;
}

static unsigned classify_role(const struct ing_tree_attr *a)
{
	unsigned found = 0, tokens = 0;
	struct ing_tokens ts = {.s = a->value, .end = a->value + a->bytes};
	const char *token = NULL;
	size_t bytes = 0;
	while (ing_tokens_next(&ts, &token, &bytes))
		tokens |= ing_token_classify_role(token, bytes);
	found |= tokens & ING_TOKEN_ROLE_MENU ? REMOVE : 0;
	found |= tokens & ING_TOKEN_ROLE_MAYBE ? MAY_REMOVE : 0;
	found |= tokens & ING_TOKEN_ROLE_MAIN ? MAIN : 0;
	return found;
}

/* Whether a <noscript> asks for JavaScript. One inside another is not read again. */
static bool requires_javascript(struct cleaning *c, ing_node n)
{
	if (n < c->noscript_end)
		return false;
	struct ing_buf text;
	ing_buf_init(&text, MAX_NOSCRIPT_BYTES);
	ing_text(c->tree, n, &text);
	bool found = strcasestr(ing_buf_str(&text), "javascript") != NULL;
	ing_buf_done(&text);
	c->noscript_end = c->tree->nodes[n].end;
	return found;
}

static unsigned classify_element(struct cleaning *c, ing_node n)
{
	const struct ing_tree_node *node = &c->tree->nodes[n];
	unsigned tag = c->names[node->el.name], found = 0;
	if (tag != 0) {
		found |= tag & TAG_MAIN ? MAIN : 0;
		found |= tag & TAG_TITLE ? MAIN_TITLE : 0;
		found |= tag & TAG_MENU ? REMOVE : 0;
		if (tag & TAG_NOSCRIPT && requires_javascript(c, n))
			found |= REMOVE;
	}
	for (unsigned i = 0; i < node->attr_count; i++) {
		const struct ing_tree_attr *a = &c->tree->attrs[node->el.attrs + i];
		unsigned means = c->names[a->name];
		if (a->bytes == 0 || !(means & (ATTR_NAME | ATTR_ROLE)))
			continue;
		found |= means & ATTR_NAME ? classify_name(c, a) : classify_role(a);
	}
	return found;
}

/* Whether the body or an ancestor of it is itself marked as main content: then only what is surely
 * navigation is removed. */
static bool is_inside_main(struct cleaning *c, ing_node body)
{
	for (ing_node n = body; n != ING_NODE_NONE; n = c->tree->nodes[n].parent)
		if (classify_element(c, n) & (MAIN | MAIN_TITLE))
			return true;
	return false;
}

/* Returns the classes of all nodes, in the arena; of elements in or around the main content without
 * MAY_REMOVE. */
static const uint8_t *classify_all(const struct ing_view *v)
{
	const struct ing_tree *t = v->tree;
	uint8_t *found = ing_arena_alloc(v->arena, t->count);
	struct cleaning c = {.tree = t, .names = map_names(v)};
	ing_node body = ing_tree_body(t), end = t->nodes[body].end;
	/* Within main_end there is an ancestor that is main. */
	ing_node main_end = is_inside_main(&c, body) ? end : 0;
	for (ing_node n = body + 1; n < end; n++) {
		if (t->nodes[n].kind != ING_NODE_ELEMENT)
			continue;
		unsigned f = classify_element(&c, n);
		if (f & (MAIN | MAIN_TITLE))
			main_end = ING_MAX(main_end, t->nodes[n].end);
		if (n < main_end)
			f &= ~(unsigned)MAY_REMOVE;
		found[n] = (uint8_t)f;
	}
	return found;
}

static const uint8_t *classify_page(const struct ing_view *v)
{
	if (v->cleaned == NULL)
		return classify_all(v);
	if (v->cleaned->found == NULL)
		v->cleaned->found = classify_all(v);
	return v->cleaned->found;
}

static void set_bit(uint64_t *bits, ing_node n)
{
	bits[n / 64] |= (uint64_t)1 << n % 64;
}

/* The longest of the metas that describe the page, with its white space folded; of several as long
 * the first. */
static void add_description(const struct ing_view *v, struct ing_buf *out)
{
	static const char *const names[] = {"description", "meta.description", "dc.description",
		"og.description", "twitter.description"};
	struct ing_buf text, best;
	ing_buf_init(&text, MAX_DESCRIPTION_BYTES);
	ing_buf_init(&best, MAX_DESCRIPTION_BYTES);
	size_t best_units = 0;
	const struct ing_meta *best_meta = NULL;
	for (size_t i = 0; i < ING_ARRAY_LEN(names); i++) {
		const struct ing_meta *m = NULL;
		while ((m = ing_metas_find_dotted(v, m, names[i])) != NULL) {
			if (m->content_bytes == 0)
				continue;
			ing_buf_clear(&text);
			ing_text_normalise(m->content, m->content_bytes, true, &text);
			const char *s = ing_buf_str(&text);
			size_t bytes = text.len;
			ing_text_trim(&s, &bytes);
			size_t units = text.failed ? 0 : ing_utf8_utf16_units(s, bytes);
			if (units < best_units || units == 0 ||
				(units == best_units && m->node > best_meta->node))
				continue;
			best_units = units;
			best_meta = m;
			ing_buf_clear(&best);
			ing_buf_add(&best, s, bytes);
		}
	}
	ing_buf_add(out, ing_buf_str(&best), best.len);
	ing_buf_done(&text);
	ing_buf_done(&best);
}

/* A text whose body is being written. */
struct text {
	struct ing_buf *out;
	size_t described; /* where the description ends, and the body begins */
	size_t body;
};

static struct text begin_text(const struct ing_view *v, struct ing_buf *out)
{
	struct text ret = {.out = out};
	size_t before = out->len;
	add_description(v, out);
	ret.described = out->len;
	if (out->len > before)
		ing_buf_add_str(out, "\n\n");
	ret.body = out->len;
	return ret;
}

static void end_text(const struct text *text)
{
	struct ing_buf *out = text->out;
	if (out->len > text->body || out->data == NULL)
		return;
	out->len = text->described;
	out->data[out->len] = '\0';
}

/* Appends one body, and keeps the text with the other. */
static void add_both_bodies(const struct ing_view *v, bool publication, struct ing_buf *out)
{
	struct ing_clean_page *page = v->cleaned;
	struct ing_buf other;
	ing_buf_init(&other, out->max);
	struct text text = begin_text(v, &other);
	ing_text_formatted_twice(v->tree, ing_tree_body(v->tree), ing_clean_mark(v, false),
		ing_clean_mark(v, true), publication ? &other : out, publication ? out : &other);
	end_text(&text);
	page->kept = ing_arena_strndup(v->arena, ing_buf_str(&other), other.len);
	page->kept_bytes = other.len;
	page->kept_publication = !publication;
	ing_buf_done(&other);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_clean_page *ing_clean_page_new(struct ing_arena *ar, bool both)
{
	struct ing_clean_page *p = ing_arena_alloc(ar, sizeof(*p));
	p->both = both;
	return p;
}

const uint64_t *ing_clean_mark(const struct ing_view *v, bool publication)
{
	const struct ing_tree *t = v->tree;
	const uint8_t *found = classify_page(v);
	uint64_t *skip = ing_arena_alloc(v->arena, (t->count / 64 + 1) * sizeof(*skip));
	ing_node body = ing_tree_body(t), end = t->nodes[body].end;
	unsigned remove = publication ? REMOVE | REFERENCES : REMOVE;
	ing_node next_main = ING_NODE_NONE;
	for (ing_node n = end - 1; n > body; n--) {
		unsigned f = found[n];
		if (f & remove || (f & MAY_REMOVE && next_main >= t->nodes[n].end))
			set_bit(skip, n);
		if (f & MAIN)
			next_main = n;
	}
	return skip;
}

void ing_clean_text(const struct ing_view *v, bool publication, struct ing_buf *out)
{
	struct ing_clean_page *page = v->cleaned;
	if (page != NULL && page->kept != NULL && page->kept_publication == publication) {
		ing_buf_add(out, page->kept, page->kept_bytes);
		return;
	}
	struct text text = begin_text(v, out);
	if (page != NULL && page->both)
		add_both_bodies(v, publication, out);
	else
		ing_text_formatted(
			v->tree, ing_tree_body(v->tree), ing_clean_mark(v, publication), out);
	end_text(&text);
}

uint32_t ing_clean_word_count(const struct ing_view *v)
{
	return ing_text_word_count(v->tree, ing_tree_body(v->tree), ING_CLEAN_MAX_TEXT_BYTES);
}
