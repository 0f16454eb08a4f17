/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One pass, a recursion for each level that is kept. Output is never longer than the text, so it is written without checks.
 */
#include "worker/seeds/prune.h"

#include <string.h>

#include "worker/seeds/source_priv.h"

#define MAX_DEPTH 200 /* of what is kept */

struct scan {
	const char *p, *end;
	char *out;
	int depth;
};

static void skip_space(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\r' || *s->p == '\n'))
		s->p++;
}

static bool take(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

/* From its opening to behind its closing quote. */
static bool skip_string(struct scan *s)
{
	const char *begin = ++s->p;
	for (;;) {
		const char *quote = memchr(s->p, '"', (size_t)(s->end - s->p));
		if (quote == NULL)
			return false;
		const char *back = quote;
		while (back > begin && back[-1] == '\\')
			back--;
		s->p = quote + 1;
		if ((quote - back) % 2 == 0)
			return true;
		begin = s->p; /* the backslashes before it have been counted */
	}
}

static bool skip_nested(struct scan *s)
{
	static const unsigned char means[256] = {
		['"'] = 1, ['{'] = 2, ['['] = 2, ['}'] = 3, [']'] = 3};
	size_t open = 0;
	while (s->p < s->end) {
		switch (means[(unsigned char)*s->p]) {
		case 1:
			if (!skip_string(s))
				return false;
			continue;
		case 2:
			open++;
			break;
		case 3:
			open--;
			break;
		default:
			break;
		}
		s->p++;
		if (open == 0)
			return true;
	}
	return false;
}

static bool skip_value(struct scan *s)
{
	if (s->p == s->end)
		return false;
	if (*s->p == '"')
		return skip_string(s);
	if (*s->p == '{' || *s->p == '[')
		return skip_nested(s);
	const char *begin = s->p;
	while (s->p < s->end && strchr(",]} \t\r\n:\"{[", *s->p) == NULL)
		s->p++;
	return s->p > begin;
}

static void copy(struct scan *s, const char *from, const char *to)
{
	size_t bytes = (size_t)(to - from);
	memcpy(s->out, from, bytes);
	s->out += bytes;
}

static const struct ing_seed_member *find_member(
	const struct ing_seed_member *members, const char *name, size_t bytes)
{
	for (; members != NULL; members = members->next)
		if (members->bytes == bytes && memcmp(members->name, name, bytes) == 0)
			return members;
	return NULL;
}

static bool copy_value(struct scan *s, const struct ing_seed_member *m);

/* A name, its colon and its value; any: one has been kept before. */
static bool copy_member(struct scan *s, const struct ing_seed_member *m, bool *any)
{
	static const struct ing_seed_member whole = {.whole = true};
	const char *name = s->p;
	if (s->p == s->end || *s->p != '"' || !skip_string(s))
		return false;
	const char *end = s->p;
	size_t bytes = (size_t)(end - name) - 2;
	skip_space(s);
	if (!take(s, ':'))
		return false;
	skip_space(s);
	/* One with an escape in it may be any. */
	const struct ing_seed_member *found = memchr(name + 1, '\\', bytes) != NULL
						      ? &whole
						      : find_member(m->members, name + 1, bytes);
	if (found == NULL)
		return skip_value(s);
	if (*any)
		*s->out++ = ',';
	*any = true;
	copy(s, name, end);
	*s->out++ = ':';
	return copy_value(s, found);
}

/* Behind a value: false when neither another nor the end follows. */
static bool take_end(struct scan *s, char close, bool *ret_end)
{
	skip_space(s);
	*ret_end = take(s, close);
	return *ret_end || take(s, ',');
}

static bool copy_object(struct scan *s, const struct ing_seed_member *m)
{
	bool any = false;
	*s->out++ = *s->p++;
	skip_space(s);
	for (bool end = take(s, '}'); !end;) {
		skip_space(s);
		if (!copy_member(s, m, &any) || !take_end(s, '}', &end))
			return false;
	}
	*s->out++ = '}';
	return true;
}

static bool copy_list(struct scan *s, const struct ing_seed_member *m)
{
	*s->out++ = *s->p++;
	skip_space(s);
	for (bool end = take(s, ']'); !end;) {
		skip_space(s);
		if (!copy_value(s, m) || !take_end(s, ']', &end))
			return false;
		if (!end)
			*s->out++ = ',';
	}
	*s->out++ = ']';
	return true;
}

static bool copy_value(struct scan *s, const struct ing_seed_member *m)
{
	const char *begin = s->p;
	bool good;
	if (m->whole || s->p == s->end || (*s->p != '{' && *s->p != '[')) {
		good = skip_value(s);
		copy(s, begin, s->p);
		return good;
	}
	if (++s->depth > MAX_DEPTH)
		return false;
	good = *s->p == '{' ? copy_object(s, m) : copy_list(s, m);
	s->depth--;
	return good;
}

/* --- what is read --- */

static struct ing_seed_member *add_member(
	struct ing_arena *ar, struct ing_seed_member *to, const char *name)
{
	const struct ing_seed_member *found = find_member(to->members, name, strlen(name));
	if (found != NULL)
		return (struct ing_seed_member *)(uintptr_t)found; /* ours, from here */
	struct ing_seed_member *m = ing_arena_alloc(ar, sizeof(*m));
	m->name = name;
	m->bytes = strlen(name);
	m->next = to->members;
	to->members = m;
	return m;
}

static struct ing_seed_member *add_path(
	struct ing_arena *ar, struct ing_seed_member *to, const struct ing_seed_path *path)
{
	for (size_t i = 0; i < path->count; i++) {
		to = add_member(ar, to, path->steps[i].name);
		if (path->steps[i].where != NULL)
			add_member(ar, to, path->steps[i].where)->whole = true;
	}
	return to;
}

static void add_value(struct ing_arena *ar, struct ing_seed_member *record,
	struct ing_seed_member *item, const struct ing_seed_value *v)
{
	if (v == NULL)
		return;
	for (const struct ing_seed_path *p = v->paths; p != NULL; p = p->next)
		add_path(ar, p->of_item ? item : record, p)->whole = true;
	for (size_t i = 0; i < v->part_count; i++)
		add_value(ar, record, item, &v->parts[i]);
}

static void add_rules(struct ing_arena *ar, struct ing_seed_member *record,
	struct ing_seed_member *item, const struct ing_seed_rule *r)
{
	for (; r != NULL; r = r->next)
		add_value(ar, record, item, &r->value);
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_seed_member *ing_seed_members(struct ing_seed_source *source)
{
	struct ing_arena *ar = &source->arena;
	struct ing_seed_member *record = ing_arena_alloc(ar, sizeof(*record));
	add_rules(ar, record, record, source->rules);
	for (const struct ing_seed_template *t = source->templates; t != NULL; t = t->next) {
		struct ing_seed_member *item =
			t->each != NULL ? add_path(ar, record, t->each) : record;
		for (size_t i = 0; i < t->count; i++)
			add_value(ar, record, item, &t->fields[i].value);
		add_value(ar, record, item, t->when);
		add_value(ar, record, item, t->unless);
		add_rules(ar, record, item, t->rules);
	}
	return record;
}

bool ing_seed_prune(
	const struct ing_seed_member *read, const char *json, size_t bytes, struct ing_buf *ret)
{
	struct scan s = {.p = json, .end = json + bytes};
	ing_buf_clear(ret);
	char *out = ing_buf_reserve(ret, bytes);
	skip_space(&s);
	if (out == NULL || s.p == s.end || *s.p != '{')
		return false;
	s.out = out;
	if (!copy_object(&s, read))
		return false;
	skip_space(&s);
	if (s.p != s.end)
		return false;
	ing_buf_commit(ret, (size_t)(s.out - out));
	return true;
}
