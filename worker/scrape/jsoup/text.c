/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Text of subtrees. One loop goes over the range of nodes and calls a visitor when an element is
 * entered and left; the visitors are the text functions. A pseudo element of :matchText contains
 * its own text.
 */
#include "worker/scrape/jsoup/text.h"

#include <endian.h>
#include <string.h>

#include "common/base/utf8.h"

#define PIECE_BYTES ((size_t)4096) /* normalised at a time */
#define PRESERVE_LEVELS 6          /* an element and its five nearest ancestors */

/* What was written since `start`: the buffer may have held something before. */
struct writer {
	const struct ing_tree *t;
	struct ing_buf *out;
	size_t start;
	ing_node keep_end;   /* from it on no element that keeps white space is open */
	uint32_t *from, *to; /* of a map */
};

struct visitor {
	void (*text)(struct writer *w, ing_node n);  /* text or CDATA */
	void (*enter)(struct writer *w, ing_node n); /* an element, pseudo ones too */
	void (*leave)(struct writer *w, ing_node n);
};

/* --- what bytes are --- */

/* Bytes above ASCII are below 0. */
typedef signed char lanes __attribute__((vector_size(16)));

enum class {
	PLAIN,
	WHITE,
	MAYBE_C2, /* U+00A0 or U+00AD, perhaps */
	MAYBE_E2, /* U+200B, perhaps */
};

static enum class class_of(unsigned char c) {
	static const uint8_t classes[256] = {['\t'] = WHITE,
		['\n'] = WHITE,
		['\f'] = WHITE,
		['\r'] = WHITE,
		[' '] = WHITE,
		[0xc2] = MAYBE_C2,
		[0xe2] = MAYBE_E2};
	return classes[c];
}

/* Whether something other than plain text stands at s, and how many bytes of it. */
static size_t special_at(const char *s, size_t bytes, bool *ret_white)
{
	*ret_white = true;
	switch (class_of((unsigned char)*s)) {
	case WHITE:
		return 1;
	case MAYBE_C2:
		*ret_white = bytes >= 2 && s[1] == '\xa0';
		return bytes >= 2 && (s[1] == '\xa0' || s[1] == '\xad') ? 2 : 0;
	case MAYBE_E2:
		*ret_white = false;
		return bytes >= 3 && s[1] == '\x80' && s[2] == '\x8b' ? 3 : 0;
	case PLAIN:
	default:
		return 0;
	}
}

/* The same sixteen bytes at a time: the compiler has instructions for them on most machines. */
static size_t copy_many_words(char *to, const char *s, size_t bytes, bool *drop)
{
	size_t n = 0;
	while (bytes - n > sizeof(lanes) && !(*drop && s[n] == ' ')) {
		lanes some, next;
		memcpy(&some, s + n, sizeof(some));
		memcpy(&next, s + n + 1, sizeof(next));
		lanes bad = (some < ' ') | ((some == ' ') & (next == ' '));
		uint64_t halves[2];
		memcpy(halves, &bad, sizeof(halves));
		if ((halves[0] | halves[1]) != 0)
			break;
		memcpy(to + n, &some, sizeof(some));
		n += sizeof(some);
		*drop = s[n - 1] == ' ';
	}
	return n;
}

/* Copy what stays as it is, eight bytes at a time: ASCII without control characters in which no
 * space follows a space (`drop`: nor begins). Most of a text is that, its words too short to be
 * looked for one by one. */
static size_t copy_words(char *to, const char *s, size_t bytes, bool *drop)
{
	const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f), high = ~low7;
	size_t n = copy_many_words(to, s, bytes, drop);
	for (; bytes - n >= 8; n += 8) {
		uint64_t eight;
		memcpy(&eight, s + n, 8);
		eight = le64toh(eight);
		uint64_t printable = (eight & low7) + UINT64_C(0x6060606060606060);
		uint64_t other = eight ^ UINT64_C(0x2020202020202020);
		uint64_t spaces = ~(((other & low7) + low7) | other) & high;
		if (((eight | ~printable) & high) != 0 || (spaces & spaces << 8) != 0 ||
			(*drop && (spaces & 0x80) != 0))
			break;
		memcpy(to + n, s + n, 8);
		*drop = spaces >> 63 != 0;
	}
	return n;
}

static bool is_blank(const char *s, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (class_of((unsigned char)s[i]) != WHITE)
			return false;
	}
	return true;
}

/* --- elements --- */

static uint32_t flags_of(const struct ing_tree *t, ing_node n)
{
	return t->names[t->nodes[ing_tree_attr_owner(t, n)].el.name].flags;
}

static bool is_text(const struct ing_tree *t, ing_node n)
{
	return t->nodes[n].kind == ING_NODE_TEXT || t->nodes[n].kind == ING_NODE_CDATA;
}

/* Whether white space of text node n is kept: the flag is on its parent or a near ancestor. */
static bool is_preserved(const struct ing_tree *t, ing_node n, uint32_t flag)
{
	if (t->nodes[n].kind == ING_NODE_CDATA)
		return true;
	ing_node at = t->nodes[n].pseudo ? n : t->nodes[n].parent;
	for (int i = 0; i < PRESERVE_LEVELS && at != ING_NODE_NONE; i++) {
		if ((flags_of(t, at) & flag) != 0)
			return true;
		at = t->nodes[at].parent;
	}
	return false;
}

/* The end of n's subtree when white space may be kept in all of it, by an element around it. */
static ing_node keep_end_above(const struct ing_tree *t, ing_node n)
{
	ing_node at = t->nodes[n].parent;
	for (int i = 0; i < PRESERVE_LEVELS && at != ING_NODE_NONE; i++) {
		if ((flags_of(t, at) & (ING_NAME_PRESERVE | ING_NAME_VERBATIM)) != 0)
			return t->nodes[n].end;
		at = t->nodes[at].parent;
	}
	return 0;
}

/* --- writing --- */

static size_t written(const struct writer *w)
{
	return w->out->len - w->start;
}

/* The i-th byte from the end (1 is the last one) is c. */
static bool ends_in(const struct writer *w, size_t i, char c)
{
	return written(w) >= i && w->out->data[w->out->len - i] == c;
}

static void trim_written(struct writer *w)
{
	if (written(w) == 0)
		return;
	const char *s = w->out->data + w->start;
	size_t bytes = written(w);
	ing_text_trim(&s, &bytes);
	memmove(w->out->data + w->start, s, bytes);
	w->out->len = w->start + bytes;
	w->out->data[w->out->len] = '\0';
}

static void drop_written(struct writer *w)
{
	w->out->len = w->start;
	w->out->failed = false;
	if (w->out->data != NULL)
		w->out->data[w->start] = '\0';
}

/* No more goes in; what was added since `start` ends with a whole character. */
static void end_at_ceiling(struct ing_buf *out, size_t start)
{
	out->failed = true;
	size_t at = out->len;
	while (at > start && (out->data[at - 1] & 0xc0) == 0x80)
		at--;
	if (at == start || ing_utf8_sequence(out->data + at - 1, out->len - at + 1) > 0)
		return;
	out->len = at - 1;
	out->data[out->len] = '\0';
}

static void add_all(struct ing_buf *out, const char *s, size_t bytes)
{
	size_t fit = out->failed ? 0 : ING_MIN(bytes, out->max - out->len);
	size_t start = out->len;
	ing_buf_add(out, s, fit);
	if (fit < bytes)
		end_at_ceiling(out, start);
}

static void add_raw(struct writer *w, ing_node n)
{
	add_all(w->out, w->t->nodes[n].text.data, w->t->nodes[n].text.bytes);
}

/* An element is entered. */
static void keep_within(struct writer *w, ing_node n, uint32_t flags)
{
	if ((flags & (ING_NAME_PRESERVE | ING_NAME_VERBATIM)) != 0)
		w->keep_end = ING_MAX(w->keep_end, w->t->nodes[n].end);
}

static bool keeps_space(const struct writer *w, ing_node n, uint32_t flag)
{
	bool may_keep = n < w->keep_end || w->t->nodes[n].kind == ING_NODE_CDATA;
	return may_keep && is_preserved(w->t, n, flag);
}

static void add_normalised(struct writer *w, ing_node n)
{
	const struct ing_tree_node *node = &w->t->nodes[n];
	if (keeps_space(w, n, ING_NAME_PRESERVE))
		add_raw(w, n);
	else
		ing_text_normalise(node->text.data, node->text.bytes, ends_in(w, 1, ' '), w->out);
}

static void add_space(struct writer *w)
{
	if (!ends_in(w, 1, ' '))
		ing_buf_add_char(w->out, ' ');
}

/* --- the walk --- */

static bool is_skipped(const uint64_t *skip, ing_node n)
{
	return skip != NULL && (skip[n / 64] >> n % 64 & 1) != 0;
}

/* From a node to the first that is not before `until`, which is returned; the end of root when all is done. */
static inline __attribute__((always_inline)) ing_node walk_part(struct writer *w,
	const struct visitor *v, ing_node root, const uint64_t *skip, ing_node from, ing_node until)
{
	const struct ing_tree *t = w->t;
	const ing_node end = t->nodes[root].end;
	ing_node next;
	for (ing_node n = from; n < end && !w->out->failed; n = next) {
		if (n >= until)
			return n;
		ing_node at = n;
		next = n + 1;
		if (is_skipped(skip, n) && ing_tree_is_element(t, n)) {
			next = t->nodes[n].end;
			if (n == root)
				return end;
			at = t->nodes[n].parent;
		} else {
			if (ing_tree_is_element(t, n))
				v->enter(w, n);
			if (is_text(t, n))
				v->text(w, n);
		}
		while (t->nodes[at].end == next) {
			if (ing_tree_is_element(t, at))
				v->leave(w, at);
			if (at == root)
				return end;
			at = t->nodes[at].parent;
		}
	}
	return end;
}

static void walk(struct writer *w, const struct visitor *v, ing_node root, const uint64_t *skip)
{
	w->keep_end = keep_end_above(w->t, root);
	walk_part(w, v, root, skip, root, ING_NODE_NONE);
}

/* text() */

static void enter_plain(struct writer *w, ing_node n)
{
	uint32_t flags = flags_of(w->t, n);
	keep_within(w, n, flags);
	if (written(w) > 0 && (flags & (ING_NAME_BLOCK | ING_NAME_BREAK)) != 0)
		add_space(w);
}

/* After a block, an element that is no block gets a space. Unknown names count as blocks there. */
static void leave_plain(struct writer *w, ing_node n)
{
	if ((flags_of(w->t, n) & ING_NAME_BLOCK) == 0)
		return;
	ing_node next = ing_tree_next_sibling(w->t, n);
	if (next == ING_NODE_NONE)
		return;
	bool inline_next = ing_tree_is_element(w->t, next)
				   ? (flags_of(w->t, next) & ING_NAME_INLINE) != 0
				   : is_text(w->t, next);
	if (inline_next)
		add_space(w);
}

static const struct visitor plain = {add_normalised, enter_plain, leave_plain};

/* The same, noting where each element begins and ends. */

static void enter_mapped(struct writer *w, ing_node n)
{
	enter_plain(w, n);
	w->from[n] = (uint32_t)w->out->len;
}

static void leave_mapped(struct writer *w, ing_node n)
{
	w->to[n] = (uint32_t)w->out->len;
	leave_plain(w, n);
}

static const struct visitor mapped = {add_normalised, enter_mapped, leave_mapped};

/* wholeText() */

static void enter_whole(struct writer *w, ing_node n)
{
	if ((flags_of(w->t, n) & ING_NAME_BREAK) != 0)
		ing_buf_add_char(w->out, '\n');
}

static void leave_whole(struct writer *w, ing_node n)
{
	(void)w;
	(void)n;
}

static const struct visitor whole = {add_raw, enter_whole, leave_whole};

/* Formatted text. */

static void add_formatted(struct writer *w, ing_node n)
{
	const struct ing_tree_node *node = &w->t->nodes[n];
	if (keeps_space(w, n, ING_NAME_VERBATIM))
		add_raw(w, n);
	else
		ing_text_normalise(node->text.data, node->text.bytes,
			written(w) == 0 || ends_in(w, 1, ' ') || ends_in(w, 1, '\n'), w->out);
}

static void enter_formatted(struct writer *w, ing_node n)
{
	uint32_t flags = flags_of(w->t, n);
	keep_within(w, n, flags);
	if (written(w) > 0 && (flags & (ING_NAME_BLOCK | ING_NAME_BREAK)) != 0 &&
		!ends_in(w, 1, '\n'))
		ing_buf_add_char(w->out, '\n');
	if (written(w) > 1 && (flags & ING_NAME_MARGIN) != 0 && !ends_in(w, 2, '\n'))
		ing_buf_add_char(w->out, '\n');
}

static void leave_formatted(struct writer *w, ing_node n)
{
	uint32_t flags = flags_of(w->t, n);
	if (written(w) == 0 || (flags & ING_NAME_BLOCK) == 0 || ends_in(w, 1, '\n'))
		return;
	ing_buf_add_char(w->out, '\n');
	if ((flags & ING_NAME_MARGIN) != 0)
		ing_buf_add_char(w->out, '\n');
}

static const struct visitor formatted = {add_formatted, enter_formatted, leave_formatted};

static ing_node format_part(
	struct writer *w, ing_node root, const uint64_t *skip, ing_node from, ing_node until)
{
	return walk_part(w, &formatted, root, skip, from, until);
}

/* The first node that is in `more` and not in `skip`; `end` when there is none before it. */
static ing_node first_further(ing_node n, ing_node end, const uint64_t *skip, const uint64_t *more)
{
	for (; n < end; n = (n / 64 + 1) * 64) {
		uint64_t further = (more[n / 64] & ~skip[n / 64]) >> n % 64;
		if (further != 0)
			return ING_MIN(n + (ing_node)__builtin_ctzll(further), end);
	}
	return end;
}

/* Whether what is written next does not depend on which of the two it follows. */
static bool end_alike(const struct writer *a, const struct writer *b)
{
	return written(a) > 1 && written(b) > 1 &&
	       memcmp(a->out->data + a->out->len - 2, b->out->data + b->out->len - 2, 2) == 0;
}

/* To `until`, what both write in the same way. */
static ing_node format_once(struct writer *one, struct writer *two, ing_node root,
	const uint64_t *skip, ing_node from, ing_node until)
{
	size_t before = one->out->len;
	ing_node at = format_part(one, root, skip, from, until);
	two->keep_end = one->keep_end;
	if (one->out->len > before)
		ing_buf_add(two->out, one->out->data + before, one->out->len - before);
	return at;
}

/* Direct children of n that are text, and <br>; of a text node or pseudo element, itself. */
static void walk_own(struct writer *w, const struct visitor *v, ing_node n)
{
	const struct ing_tree *t = w->t;
	w->keep_end = t->nodes[n].end;
	if (is_text(t, n)) {
		v->text(w, n);
		return;
	}
	if (!ing_tree_is_element(t, n))
		return;
	for (ing_node c = ing_tree_first_child(t, n); c != ING_NODE_NONE && !w->out->failed;
		c = ing_tree_next_sibling(t, c)) {
		if (ing_tree_is_element(t, c))
			v->enter(w, c);
		else if (is_text(t, c))
			v->text(w, c);
	}
}

static void enter_own(struct writer *w, ing_node n)
{
	if ((flags_of(w->t, n) & ING_NAME_BREAK) != 0)
		add_space(w);
}

static const struct visitor own = {add_normalised, enter_own, leave_whole};

/* -------------------------------------------------------------------------------------------- */

void ing_text(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	struct writer w = {.t = t, .out = out, .start = out->len};
	walk(&w, &plain, n, NULL);
	trim_written(&w);
}

bool ing_text_map(const struct ing_tree *t, struct ing_buf *out, uint32_t *from, uint32_t *to)
{
	struct writer w = {.t = t, .out = out, .from = from, .to = to};
	ing_must(out->len == 0 && out->max < UINT32_MAX);
	walk(&w, &mapped, ING_NODE_DOCUMENT, NULL);
	return !out->failed;
}

void ing_text_own(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	struct writer w = {.t = t, .out = out, .start = out->len};
	walk_own(&w, &own, n);
	trim_written(&w);
}

void ing_text_whole(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	struct writer w = {.t = t, .out = out, .start = out->len};
	walk(&w, &whole, n, NULL);
}

void ing_text_whole_own(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	struct writer w = {.t = t, .out = out, .start = out->len};
	walk_own(&w, &whole, n);
}

void ing_text_data(const struct ing_tree *t, ing_node n, struct ing_buf *out)
{
	for (ing_node end = t->nodes[n].end; n < end && !out->failed; n++) {
		const struct ing_tree_node *node = &t->nodes[n];
		if (node->kind == ING_NODE_DATA || node->kind == ING_NODE_COMMENT ||
			node->kind == ING_NODE_CDATA)
			add_all(out, node->text.data, node->text.bytes);
	}
}

bool ing_text_has(const struct ing_tree *t, ing_node n)
{
	for (ing_node end = t->nodes[n].end; n < end; n++) {
		if (is_text(t, n) && !is_blank(t->nodes[n].text.data, t->nodes[n].text.bytes))
			return true;
	}
	return false;
}

void ing_text_formatted(
	const struct ing_tree *t, ing_node n, const uint64_t *skip, struct ing_buf *out)
{
	struct writer w = {.t = t, .out = out, .start = out->len};
	walk(&w, &formatted, n, skip);
	trim_written(&w);
}

void ing_text_formatted_twice(const struct ing_tree *t, ing_node n, const uint64_t *skip,
	const uint64_t *more, struct ing_buf *out, struct ing_buf *out_more)
{
	struct writer one = {
		.t = t, .out = out, .start = out->len, .keep_end = keep_end_above(t, n)};
	struct writer two = {
		.t = t, .out = out_more, .start = out_more->len, .keep_end = one.keep_end};
	const ing_node end = t->nodes[n].end;
	bool alike = true;
	for (ing_node at = n; at < end && !out->failed && !out_more->failed;) {
		ing_node further = first_further(at, end, skip, more);
		if (alike && at < further) {
			at = format_once(&one, &two, n, skip, at, further);
			continue;
		}
		/* One that only `more` leaves out, or the next node, until both end in the same way. */
		ing_node until = at < further ? at + 1 : t->nodes[at].end;
		format_part(&two, n, more, at, until);
		at = format_part(&one, n, skip, at, until);
		alike = end_alike(&one, &two);
	}
	if (out->failed || out_more->failed) { /* each ends where its own ceiling is */
		drop_written(&one);
		drop_written(&two);
		ing_text_formatted(t, n, skip, out);
		ing_text_formatted(t, n, more, out_more);
		return;
	}
	trim_written(&one);
	trim_written(&two);
}

bool ing_text_is_preserved(const struct ing_tree *t, ing_node text)
{
	return is_preserved(t, text, ING_NAME_PRESERVE);
}

void ing_text_normalise(const char *s, size_t bytes, bool lead, struct ing_buf *out)
{
	bool drop = lead; /* white space here is dropped */
	size_t start = out->len;
	size_t i = 0;
	while (i < bytes && !out->failed) {
		/* What is written is never longer than what was read. */
		size_t room = ING_MIN(out->max - out->len, ING_MIN(bytes - i, PIECE_BYTES));
		char *to = room > 0 ? ing_buf_reserve(out, room) : NULL;
		if (to == NULL)
			break;
		size_t n = 0;
		for (size_t end = i + room; i < end;) {
			size_t words = copy_words(to + n, s + i, end - i, &drop);
			n += words;
			i += words;
			if (i == end)
				break;
			bool white;
			size_t special = special_at(s + i, bytes - i, &white);
			if (special == 0) {
				to[n++] = s[i++];
				drop = false;
				continue;
			}
			if (white && !drop) {
				to[n++] = ' ';
				drop = true;
			}
			i += special;
		}
		ing_buf_commit(out, n);
	}
	if (i < bytes)
		end_at_ceiling(out, start);
}

void ing_text_trim(const char **s, size_t *bytes)
{
	while (*bytes > 0 && (unsigned char)(*s)[*bytes - 1] <= ' ')
		(*bytes)--;
	while (*bytes > 0 && (unsigned char)**s <= ' ') {
		(*s)++;
		(*bytes)--;
	}
}
