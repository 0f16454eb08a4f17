/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One line of a list: a comment, a rule about the page's looks, a line of a hosts file, or a rule about requests
 * with its options. An option that is not known makes the whole rule unsupported: without it the rule would
 * match what it is not meant for.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/macros.h"
#include "worker/document/filter/filter_priv.h"
#include "worker/scrape/jsoup/regex.h"

#define TYPE(t) (1u << ING_RESOURCE_##t)

struct span {
	const char *at, *end;
};

struct parsed {
	struct span pattern;
	unsigned flags;
	unsigned with, without; /* types */
	bool names_types;       /* with counts, even if it is empty */
	struct span pages, targets;
	bool denies_targets; /* they are those of denyallow */
	bool unsupported, inapplicable;
};

static size_t length(struct span s)
{
	return (size_t)(s.end - s.at);
}

static bool is(struct span s, const char *text)
{
	return length(s) == strlen(text) && memcmp(s.at, text, length(s)) == 0;
}

static bool begins(struct span s, const char *text)
{
	return length(s) >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static struct span trim(struct span s)
{
	while (s.at < s.end && is_space(*s.at))
		s.at++;
	while (s.at < s.end && is_space(s.end[-1]))
		s.end--;
	return s;
}

/* --- what kind of line it is --- */

/* "##", "#@#", "#?#", "#$#" and so on, behind nothing but host names, or an expression for them. */
static bool is_cosmetic(struct span s)
{
	for (const char *p = s.at; p + 1 < s.end; p++) {
		if (*p == '#') {
			const char *q = p + 1;
			while (q < s.end && q - p < 5 && strchr("@?$%^", *q) != NULL)
				q++;
			if (q < s.end && *q == '#')
				return true;
		}
	}
	return false;
}

static bool is_comment(struct span s)
{
	if (length(s) == 0 || *s.at == '!' || *s.at == '[')
		return true;
	return *s.at == '#' && (length(s) == 1 || is_space(s.at[1]) || s.at[1] == '!');
}

/* The address at the front of a line of a hosts file. */
static bool is_address(struct span s)
{
	bool has_mark = false;
	for (const char *p = s.at; p < s.end; p++) {
		has_mark |= *p == '.' || *p == ':';
		if (strchr("0123456789abcdefABCDEF.:%lo", *p) == NULL)
			return false;
	}
	return has_mark &&
	       (memchr(s.at, ':', length(s)) != NULL || begins(s, "0.") || begins(s, "127."));
}

static struct span next_word(struct span *rest)
{
	*rest = trim(*rest);
	struct span word = {rest->at, rest->at};
	while (word.end < rest->end && !is_space(*word.end))
		word.end++;
	rest->at = word.end;
	return word;
}

/* --- options --- */

static const struct {
	const char *name;
	unsigned types; /* 0: none that is asked for here */
} type_names[] = {
	{"script", TYPE(SCRIPT)},
	{"stylesheet", TYPE(STYLESHEET)},
	{"css", TYPE(STYLESHEET)},
	{"image", TYPE(IMAGE)},
	{"img", TYPE(IMAGE)},
	{"background", TYPE(IMAGE)},
	{"font", TYPE(FONT)},
	{"media", TYPE(MEDIA)},
	{"object", TYPE(MEDIA)},
	{"object-subrequest", TYPE(MEDIA)},
	{"subdocument", TYPE(SUBDOCUMENT)},
	{"frame", TYPE(SUBDOCUMENT)},
	{"other", TYPE(OTHER)},
	{"document", ING_FILTER_PAGE_TYPE},
	{"doc", ING_FILTER_PAGE_TYPE},
	{"all", ING_FILTER_ALL_TYPES},
	{"xmlhttprequest", 0},
	{"xhr", 0},
	{"ping", 0},
	{"beacon", 0},
	{"websocket", 0},
	{"webrtc", 0},
	{"popup", 0},
	{"popunder", 0},
	{"inline-script", 0},
	{"inline-font", 0},
	{"elemhide", 0},
	{"ehide", 0},
	{"generichide", 0},
	{"ghide", 0},
	{"specifichide", 0},
	{"shide", 0},
	{"genericblock", 0},
	{"cname", 0},
};

static const struct {
	const char *name;
	unsigned flag, flag_not; /* with "~"; 0: it may not have one */
} flag_names[] = {
	{"third-party", ING_FILTER_THIRD_PARTY, ING_FILTER_FIRST_PARTY},
	{"3p", ING_FILTER_THIRD_PARTY, ING_FILTER_FIRST_PARTY},
	{"first-party", ING_FILTER_FIRST_PARTY, ING_FILTER_THIRD_PARTY},
	{"1p", ING_FILTER_FIRST_PARTY, ING_FILTER_THIRD_PARTY},
	{"strict3p", ING_FILTER_OTHER_HOST, 0},
	{"strict1p", ING_FILTER_SAME_HOST, 0},
	{"important", ING_FILTER_IMPORTANT, 0},
	{"match-case", ING_FILTER_MATCH_CASE, 0},
	{"badfilter", ING_FILTER_BAD, 0},
};

static bool take_type(struct parsed *p, struct span name, bool is_not)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(type_names); i++) {
		if (!is(name, type_names[i].name))
			continue;
		if (is_not) {
			p->without |= type_names[i].types;
		} else {
			p->with |= type_names[i].types;
			p->names_types = true;
		}
		return true;
	}
	return false;
}

static bool take_flag(struct parsed *p, struct span name, bool is_not)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(flag_names); i++) {
		unsigned flag = is_not ? flag_names[i].flag_not : flag_names[i].flag;
		if (flag == 0 || !is(name, flag_names[i].name))
			continue;
		p->flags |= flag;
		return true;
	}
	return false;
}

/* NAME=VALUE. */
static bool take_value(struct parsed *p, struct span name, struct span value)
{
	if (is(name, "domain") || is(name, "from")) {
		p->pages = value;
	} else if (is(name, "to") || is(name, "denyallow")) {
		p->denies_targets = is(name, "denyallow");
		p->unsupported |= p->targets.at != NULL;
		p->targets = value;
	} else if (is(name, "redirect-rule")) {
		p->inapplicable = true; /* what to answer a request with that others block */
	} else {
		/* A request that is answered with something else is one that is not made. */
		return is(name, "redirect") || is(name, "rewrite") || is(name, "reason");
	}
	return length(value) > 0;
}

static void take_option(struct parsed *p, struct span option)
{
	const char *equals = memchr(option.at, '=', length(option));
	bool is_not = begins(option, "~");
	struct span name = {option.at + is_not, equals != NULL ? equals : option.end};
	bool known = false;
	if (equals != NULL)
		known = !is_not && take_value(p, name, (struct span){equals + 1, option.end});
	else if (length(name) > 0 && *name.at == '_')
		known = true; /* something to separate others with */
	else
		known = take_type(p, name, is_not) || take_flag(p, name, is_not) ||
			is(name, "empty") || is(name, "mp4");
	p->unsupported |= !known;
}

static bool is_option_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '~';
}

/* Names, with values or without, separated by commas. */
static bool are_options(struct span s)
{
	bool in_name = true;
	bool is_empty = true;
	for (const char *p = s.at; p < s.end; p++) {
		if (*p == ',') {
			if (is_empty)
				return false;
			in_name = is_empty = true;
		} else if (*p == '=') {
			in_name = false;
		} else if (in_name && !is_option_char(*p)) {
			return false;
		} else {
			is_empty = false;
		}
	}
	return !is_empty;
}

/* Where options begin: behind the last "$" that they may follow. NULL: there are none. */
static const char *find_options(struct span s)
{
	const char *found = NULL;
	for (const char *p = s.end; p > s.at && found == NULL;) {
		p--;
		if (*p == '$' && are_options((struct span){p + 1, s.end}))
			found = p + 1;
	}
	return found;
}

static void take_options(struct parsed *p, struct span s)
{
	while (s.at < s.end) {
		const char *comma = memchr(s.at, ',', length(s));
		const char *end = comma != NULL ? comma : s.end;
		take_option(p, (struct span){s.at, end});
		s.at = comma != NULL ? comma + 1 : s.end;
	}
}

/* --- the pattern --- */

static bool is_regex(struct span s)
{
	return length(s) > 1 && *s.at == '/' && s.end[-1] == '/';
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* "example.com" or "192.0.2.1" is a line of a list of hosts; "-ad.js" is not. */
static bool is_bare_host(struct span s)
{
	const char *dot = NULL;
	bool has_letter = false;
	for (const char *p = s.at; p < s.end; p++) {
		if (!is_alnum(*p) && *p != '-' && *p != '.')
			return false;
		has_letter |= *p >= 'a';
		if (*p == '.')
			dot = p;
	}
	if (dot == NULL || !is_alnum(*s.at) || !is_alnum(s.end[-1]))
		return false;
	return !has_letter || (s.end - dot > 2 && dot[1] >= 'a');
}

static void take_anchors(struct parsed *p)
{
	struct span *s = &p->pattern;
	if (begins(*s, "||")) {
		s->at += 2;
		p->flags |= ING_FILTER_AT_HOST;
	} else if (begins(*s, "|")) {
		s->at++;
		p->flags |= ING_FILTER_AT_START;
	}
	if (s->at < s->end && s->end[-1] == '|') {
		s->end--;
		p->flags |= ING_FILTER_AT_END;
	}
	while (s->at < s->end && *s->at == '*') {
		s->at++;
		p->flags &= ~(unsigned)(ING_FILTER_AT_HOST | ING_FILTER_AT_START);
	}
	while (s->at < s->end && s->end[-1] == '*') {
		s->end--;
		p->flags &= ~(unsigned)ING_FILTER_AT_END;
	}
}

static void take_pattern(struct parsed *p)
{
	if (is_regex(p->pattern)) {
		p->pattern.at++;
		p->pattern.end--;
		p->flags |= ING_FILTER_REGEX;
	} else if (is_bare_host(p->pattern)) {
		p->flags |= ING_FILTER_AT_HOST;
	} else {
		take_anchors(p);
	}
}

static void add_text(struct ing_filters *f, const struct parsed *p, bool is_host)
{
	for (const char *c = p->pattern.at; c < p->pattern.end; c++) {
		bool is_upper = *c >= 'A' && *c <= 'Z' && (p->flags & ING_FILTER_MATCH_CASE) == 0;
		ing_buf_add_char(&f->text, is_upper ? (char)(*c + ('a' - 'A')) : *c);
	}
	if (is_host)
		ing_buf_add_char(&f->text, '^');
}

/* Returns the number of the expression; SIZE_MAX: it does not compile. */
static size_t add_regex(struct ing_filters *f, const struct parsed *p)
{
	unsigned flags = ING_REGEX_BYTES;
	struct ing_regex *regex;
	struct ing_error err = {0};
	if ((p->flags & ING_FILTER_MATCH_CASE) == 0)
		flags |= ING_REGEX_NO_CASE;
	if (ing_regex_compile(p->pattern.at, length(p->pattern), flags, &regex, &err) != 0)
		return SIZE_MAX;
	ING_FILTER_GROW(f->regexes, f->regex_count, f->regex_room);
	f->regexes[f->regex_count] = regex;
	return f->regex_count++;
}

/* --- the rule --- */

static uint64_t add_to_key(uint64_t key, uint64_t value)
{
	return (key ^ value) * 0x100000001b3u;
}

static uint64_t add_hosts_to_key(const struct ing_filters *f, uint64_t key, uint32_t number)
{
	const struct ing_filter_hosts *h = number > 0 ? &f->hosts[number] : NULL;
	key = add_to_key(key, h != NULL ? h->with : UINT32_MAX);
	for (uint32_t i = 0; h != NULL && i < h->with + h->without; i++)
		key = add_to_key(key, f->hashes[h->first + i]);
	return key;
}

static uint64_t key_of(
	const struct ing_filters *f, const struct ing_filter_rule *r, struct span pattern)
{
	uint64_t key = ing_filter_hash(pattern.at, length(pattern));
	key = add_to_key(key, r->flags & ~(unsigned)ING_FILTER_BAD);
	key = add_to_key(key, r->types);
	return add_hosts_to_key(f, add_hosts_to_key(f, key, r->pages), r->targets);
}

static unsigned types_of(const struct parsed *p)
{
	unsigned types = p->names_types ? p->with : ING_FILTER_ALL_TYPES;
	if ((p->flags & ING_FILTER_EXCEPTION) == 0)
		types &= ING_FILTER_ALL_TYPES; /* pages are not asked about */
	return types & ~p->without;
}

/* A rule that is about nothing in particular would leave out everything. */
static bool is_for_all(const struct parsed *p, unsigned types)
{
	return length(p->pattern) == 0 && p->pages.at == NULL && p->targets.at == NULL &&
	       types == ING_FILTER_ALL_TYPES;
}

static bool read_hosts(struct ing_filters *f, struct span s, bool denied, uint32_t *ret)
{
	if (s.at != NULL)
		*ret = ing_filter_read_hosts(f, s.at, s.end, denied);
	return s.at == NULL || *ret > 0;
}

static void add_rule(struct ing_filters *f, const struct parsed *p, bool is_host)
{
	struct ing_filter_rule r = {.flags = (uint16_t)p->flags, .types = (uint16_t)types_of(p)};
	if (p->inapplicable || (r.types == 0 && !p->unsupported)) {
		f->counts.inapplicable++;
		return;
	}
	if (p->unsupported || is_for_all(p, r.types) || !read_hosts(f, p->pages, false, &r.pages) ||
		!read_hosts(f, p->targets, p->denies_targets, &r.targets)) {
		f->counts.unsupported++;
		return;
	}
	r.pattern = (uint32_t)f->text.len;
	add_text(f, p, is_host);
	r.bytes = (uint32_t)f->text.len - r.pattern;
	if ((p->flags & ING_FILTER_REGEX) != 0 && (p->flags & ING_FILTER_BAD) == 0) {
		size_t number = add_regex(f, p);
		if (number == SIZE_MAX) {
			f->counts.unsupported++;
			return;
		}
		r.regex = (uint32_t)number;
	}
	if (f->rule_count == f->rule_room) {
		ING_FILTER_GROW(f->rules, f->rule_count, f->rule_room);
		f->keys = ing_realloc(f->keys, f->rule_room * sizeof(*f->keys));
	}
	f->keys[f->rule_count] = key_of(f, &r, p->pattern);
	f->rules[f->rule_count++] = r;
}

static void add_request_rule(struct ing_filters *f, struct span s)
{
	struct parsed p = {0};
	if (begins(s, "@@")) {
		s.at += 2;
		p.flags |= ING_FILTER_EXCEPTION;
	}
	const char *options = find_options(s);
	p.pattern = (struct span){s.at, options != NULL ? options - 1 : s.end};
	if (options != NULL)
		take_options(&p, (struct span){options, s.end});
	bool is_host = !is_regex(p.pattern) && is_bare_host(p.pattern);
	take_pattern(&p);
	add_rule(f, &p, is_host);
}

/* The names behind the address; those of the machine itself are in every such file. */
static void add_hosts_line(struct ing_filters *f, struct span rest)
{
	for (;;) {
		struct span host = next_word(&rest);
		if (length(host) == 0 || *host.at == '#')
			return;
		if (is_bare_host(host) && !begins(host, "localhost."))
			add_rule(f, &(struct parsed){.pattern = host, .flags = ING_FILTER_AT_HOST},
				true);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_filter_add_line(struct ing_filters *f, const char *line, size_t bytes)
{
	struct span s = trim((struct span){line, line + bytes});
	struct span rest = s;
	if (is_comment(s))
		return;
	if (is_address(next_word(&rest)))
		add_hosts_line(f, rest);
	else if (is_cosmetic(s))
		f->counts.cosmetic++;
	else
		add_request_rule(f, s);
}
