/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A recursive descent over words, numbers, quoted texts and signs. Each comparison is wrapped so that it is
 * true or false, never null.
 *
 *	any  := all { "or" all }
 *	all  := one { "and" one }
 *	one  := "not" one | "(" any ")" | NAME [ OP VALUE | "is" [ "not" ] "null" | "in" "(" VALUE { "," VALUE } ")" ]
 */
#include "worker/ctl/publication/kept_condition.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/nearest.h"
#include "worker/model/part_type.h"

#define MAX_SQL_BYTES ((size_t)256 << 10)
#define MAX_DEPTH 40
#define MAX_NAME 40

enum kind {
	TEXT,
	NUMBER,
	TRUTH,
	DAY,    /* YYYY-MM-DD, or its front */
	MOMENT, /* milliseconds in a column */
	TYPE,   /* of a part */
	HOSTS,  /* list of texts */
	SITES,  /* member of the objects of a list */
};

struct field {
	enum kind kind;
	char sql[512];
};

/* Beside those of parts. sql: NULL: the name is the column. */
static const struct name {
	const char *name;
	enum kind kind;
	const char *sql;
} publication_names[] = {
	{"pmid", TEXT, NULL},
	{"pmcid", TEXT, NULL},
	{"doi", TEXT, NULL},
	{"registrant", TEXT, NULL},
	{"url", TEXT, NULL},
	{"journal", TEXT, NULL},
	{"publisher", TEXT, NULL},
	{"licence", TEXT, NULL},
	{"corresp_author", TEXT, "nullif(record ->> 'corresp_author', '[]')"},
	{"authors", TEXT, "nullif(record ->> 'authors', '[]')"},
	{"pub_date", DAY, NULL},
	{"oa", TRUTH, NULL},
	{"preprint", TRUTH, NULL},
	{"citations", NUMBER, NULL},
	{"host", HOSTS, "hosts"},
	{"sites", NUMBER,
		"CASE jsonb_typeof(visited_sites) WHEN 'array' THEN jsonb_array_length(visited_sites) END"},
	{"site.url", SITES, "url"},
	{"site.type", SITES, "type"},
	{"site.from", SITES, "from"},
	{"fetch_time", MOMENT, "fetch_time_ms"},
	{"retry_counter", NUMBER, NULL},
	{"fetch_exception", TRUTH, NULL},
	{"empty", TRUTH, NULL},
	{"usable", TRUTH, NULL},
	{"final", TRUTH, NULL},
	{"totally_final", TRUTH, NULL},
	{"created", MOMENT, "(extract(epoch FROM created) * 1000)::bigint"},
	{"updated", MOMENT, "(extract(epoch FROM updated) * 1000)::bigint"},
};

static const struct name webpage_names[] = {
	{"start_url", TEXT, NULL},
	{"final_url", TEXT, NULL},
	{"host", TEXT, NULL},
	{"title", TEXT, NULL},
	{"title.size", NUMBER, "title_size"},
	{"content", TEXT, "(record ->> 'content')"},
	{"content.size", NUMBER, "content_size"},
	{"content_type", TEXT, NULL},
	{"status_code", NUMBER, NULL},
	{"license", TEXT, NULL},
	{"language", TEXT, NULL},
	{"fetch_time", MOMENT, "fetch_time_ms"},
	{"retry_counter", NUMBER, NULL},
	{"fetch_exception", TRUTH, NULL},
	{"empty", TRUTH, NULL},
	{"usable", TRUTH, NULL},
	{"final", TRUTH, NULL},
	{"broken", TRUTH, NULL},
	{"created", MOMENT, "(extract(epoch FROM created) * 1000)::bigint"},
	{"updated", MOMENT, "(extract(epoch FROM updated) * 1000)::bigint"},
};

static const char *const part_members[] = {
	"size", "type", "content", "url", "host", "time", "usable", "final"};

struct parser {
	struct ing_condition *c;
	const char *at;
	struct ing_error *err;
	bool failed;
	int depth;
};

/* --- names --- */

static const struct name *names_of(enum ing_kept_table table, size_t *ret_count)
{
	bool is_webpage = table == ING_TABLE_WEBPAGE;
	*ret_count = is_webpage ? ING_ARRAY_LEN(webpage_names) : ING_ARRAY_LEN(publication_names);
	return is_webpage ? webpage_names : publication_names;
}

static void set_field(struct field *f, enum kind kind, const char *fmt, ...) ING_PRINTF(3, 4);
static void set_field(struct field *f, enum kind kind, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	f->kind = kind;
	int n = vsnprintf(f->sql, sizeof(f->sql), fmt, args);
	va_end(args);
	ing_must(n > 0 && (size_t)n < sizeof(f->sql));
}

/* Sizes of identifiers are not kept: one that is there is long enough. */
static void set_usable(struct field *f, enum ing_part_key key)
{
	const char *part = ing_part_name(key);
	unsigned long least = 1;
	if (key <= ING_PART_DOI) {
		set_field(f, TRUTH, "(%s IS NOT NULL)", part);
		return;
	}
	while (!ing_part_size_usable(key, ING_PART_TYPE_DOI, least))
		least++;
	set_field(f, TRUTH, "(%s_size >= %lu%s)", part, least,
		key == ING_PART_FULLTEXT ? " AND fulltext_type <> 'webpage'" : "");
}

/* Usable, and of a type that is final. */
static void set_final(struct field *f, enum ing_part_key key)
{
	struct ing_buf types;
	ing_buf_init(&types, sizeof(f->sql));
	for (unsigned t = 0; t < ING_PART_TYPES_; t++)
		if (ing_part_type_final((enum ing_part_type)t))
			ing_buf_printf(&types, "%s'%s'", types.len > 0 ? ", " : "",
				ing_part_type_name((enum ing_part_type)t));
	struct field usable;
	set_usable(&usable, key);
	set_field(f, TRUTH, "(%s AND %s_type IN (%s))", usable.sql, ing_part_name(key),
		ing_buf_str(&types));
	ing_buf_done(&types);
}

static bool find_part(const char *name, size_t bytes, struct field *ret)
{
	char part[MAX_NAME];
	const char *dot = memchr(name, '.', bytes);
	size_t n = dot != NULL ? (size_t)(dot - name) : bytes;
	snprintf(part, sizeof(part), "%.*s", (int)ING_MIN(n, sizeof(part) - 1), name);
	enum ing_part_key key = ing_part_of_name(part);
	if (key == ING_PARTS_)
		return false;
	if (dot == NULL) {
		if (key == ING_PART_TITLE)
			set_field(ret, TEXT, "title");
		else
			set_field(ret, TRUTH, "coalesce(%s_size > 0, false)", part);
		return true;
	}
	char member[MAX_NAME];
	snprintf(member, sizeof(member), "%.*s", (int)ING_MIN(bytes - n - 1, sizeof(member) - 1),
		dot + 1);
	if (strcmp(member, "size") == 0 && key > ING_PART_DOI)
		set_field(ret, NUMBER, "%s_size", part);
	else if (strcmp(member, "type") == 0)
		set_field(ret, TYPE, "%s_type", part);
	else if (strcmp(member, "content") == 0)
		set_field(ret, TEXT, "(record #>> '{%s,%s}')", part,
			ing_part_is_list(key) ? "list" : "content");
	else if (strcmp(member, "url") == 0)
		set_field(ret, TEXT, "(record #>> '{%s,url}')", part);
	else if (strcmp(member, "host") == 0)
		set_field(ret, TEXT, "record_host(record #>> '{%s,url}')", part);
	else if (strcmp(member, "time") == 0)
		set_field(ret, MOMENT, "record_number(record #> '{%s,timestamp}')", part);
	else if (strcmp(member, "usable") == 0)
		set_usable(ret, key);
	else if (strcmp(member, "final") == 0)
		set_final(ret, key);
	else
		return false;
	return true;
}

static void suggest(
	enum ing_kept_table table, const char *name, size_t bytes, struct ing_nearest *n)
{
	size_t count;
	const struct name *names = names_of(table, &count);
	*n = ing_nearest_of(name, bytes);
	for (size_t i = 0; i < count; i++)
		ing_nearest_try(n, names[i].name);
	for (unsigned i = 0; i < ING_PARTS_ && table == ING_TABLE_PUBLICATION; i++)
		ing_nearest_try(n, ing_part_name((enum ing_part_key)i));
}

static bool find_name(enum ing_kept_table table, const char *name, size_t bytes, struct field *ret)
{
	size_t count;
	const struct name *names = names_of(table, &count);
	for (size_t i = 0; i < count; i++) {
		const char *known = names[i].name;
		if (strlen(known) != bytes || memcmp(known, name, bytes) != 0)
			continue;
		set_field(ret, names[i].kind, "%s", names[i].sql != NULL ? names[i].sql : known);
		return true;
	}
	return table == ING_TABLE_PUBLICATION && find_part(name, bytes, ret);
}

/* --- text --- */

static void fail(struct parser *p, const char *at, const char *what)
{
	if (!p->failed && *at == '\0')
		ing_error_set(p->err, ING_FAIL_SYNTAX, "%s at its end", what);
	else if (!p->failed)
		ing_error_set(p->err, ING_FAIL_SYNTAX, "%s at \"%.30s\"", what, at);
	p->failed = true;
}

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static size_t word_bytes(const char *s)
{
	size_t n = 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.')
		n++;
	return n;
}

static bool take_word(struct parser *p, const char *word)
{
	skip_space(p);
	size_t n = strlen(word);
	if (word_bytes(p->at) != n || strncasecmp(p->at, word, n) != 0)
		return false;
	p->at += n;
	return true;
}

static bool take_sign(struct parser *p, char c)
{
	skip_space(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

/* A comparison's sign or word; NULL: there is none. */
static const char *take_op(struct parser *p)
{
	static const char *const signs[] = {
		"!~*", "!~", "~*", "~", "!=", "<>", "<=", ">=", "=", "<", ">"};
	static const char *const words[] = {"like", "better", "worse"};
	skip_space(p);
	for (size_t i = 0; i < ING_ARRAY_LEN(signs); i++) {
		if (strncmp(p->at, signs[i], strlen(signs[i])) == 0) {
			p->at += strlen(signs[i]);
			return signs[i];
		}
	}
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++)
		if (take_word(p, words[i])) {
			if (words[i][0] != 'l')
				(void)take_word(p, "than");
			return words[i];
		}
	return NULL;
}

/* In quotes of either kind, doubled inside; or up to white space, a comma or a parenthesis. Heap; NULL: failed. */
static char *take_value(struct parser *p)
{
	struct ing_buf value;
	skip_space(p);
	const char *start = p->at;
	char quote = *p->at;
	ing_buf_init(&value, MAX_SQL_BYTES);
	if (quote != '\'' && quote != '"') {
		size_t n = strcspn(p->at, " \t\r\n(),'\"");
		ing_buf_add(&value, p->at, n);
		p->at += n;
		if (n == 0)
			fail(p, start, "a value is expected");
		return p->failed ? (ing_buf_done(&value), NULL) : ing_buf_steal(&value);
	}
	for (p->at++; *p->at != '\0'; p->at++) {
		if (*p->at == quote && p->at[1] != quote)
			break;
		p->at += *p->at == quote;
		ing_buf_add_char(&value, *p->at);
	}
	if (*p->at == '\0')
		fail(p, start, "a quote without its end");
	else
		p->at++;
	ing_buf_add(&value, "", 0);
	if (p->failed || value.failed) {
		ing_buf_done(&value);
		return NULL;
	}
	return value.data != NULL ? ing_buf_steal(&value) : ing_strdup("");
}

/* --- SQL --- */

static bool is_number(const char *s)
{
	s += *s == '-';
	size_t n = strspn(s, "0123456789");
	return n > 0 && n < 19 && s[n] == '\0';
}

static bool is_day(const char *s)
{
	static const char form[] = "dddd-dd-dd";
	size_t n = strlen(s);
	if (n != 4 && n != 7 && n != 10)
		return false;
	for (size_t i = 0; i < n; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != form[i])
			return false;
	return true;
}

static bool is_truth(const char *s)
{
	return strcasecmp(s, "true") == 0 || strcasecmp(s, "false") == 0;
}

/* The number of a parameter with this value, which is taken. */
static int add_value(struct parser *p, char *value)
{
	struct ing_condition *c = p->c;
	if (c->value_count == ING_CONDITION_VALUES) {
		fail(p, p->at, "too many values");
		free(value);
		return 1;
	}
	c->values[c->value_count++] = value;
	return c->value_count;
}

static bool is_one_of(const char *op, const char *const *ops)
{
	while (*ops != NULL && strcmp(op, *ops) != 0)
		ops++;
	return *ops != NULL;
}

static bool is_order(const char *op)
{
	return is_one_of(op, (const char *const[]){"=", "!=", "<>", "<", "<=", ">", ">=", NULL});
}

static bool is_pattern(const char *op)
{
	return is_one_of(op, (const char *const[]){"~", "~*", "!~", "!~*", "like", NULL});
}

/* Types that are better, or worse, than one. */
static void add_types(struct parser *p, const struct field *f, bool better, enum ing_part_type than)
{
	const char *between = "";
	ing_buf_printf(&p->c->sql, "coalesce(%s IN (", f->sql);
	for (unsigned t = 0; t < ING_PART_TYPES_; t++) {
		enum ing_part_type type = (enum ing_part_type)t;
		bool is_in = better ? ing_part_type_better(type, than)
				    : ing_part_type_better(than, type);
		if (!is_in)
			continue;
		ing_buf_printf(&p->c->sql, "%s'%s'", between, ing_part_type_name(type));
		between = ", ";
	}
	ing_buf_printf(&p->c->sql, "%s), false)", between[0] == '\0' ? "NULL" : "");
}

/* Words for what is wrong with comparing a field like that; NULL: nothing. */
static const char *refuse_comparison(const struct field *f, const char *op, const char *value)
{
	bool is_equal = is_one_of(op, (const char *const[]){"=", "!=", "<>", NULL});
	bool is_better = strcmp(op, "better") == 0 || strcmp(op, "worse") == 0;
	bool fits = is_equal || is_pattern(op);
	switch (f->kind) {
	case NUMBER:
		if (!is_number(value))
			return "a number is expected";
		fits = is_order(op);
		break;
	case DAY:
		if (!is_day(value))
			return "a day is expected (YYYY, YYYY-MM or YYYY-MM-DD)";
		fits = is_order(op);
		break;
	case TRUTH:
		if (!is_truth(value))
			return "true or false is expected";
		fits = is_equal;
		break;
	case TYPE:
		if (!is_pattern(op) && ing_part_type_of_name(value) == ING_PART_TYPES_)
			return "there is no such type of a part";
		fits |= is_better;
		break;
	case MOMENT:
		fits = is_order(op);
		break;
	case TEXT:
		fits |= is_order(op);
		break;
	case HOSTS:
	case SITES:
		break;
	}
	return fits ? NULL : "such values cannot be compared like that";
}

/* sign: of SQL, without a negation. */
static void write_comparison(struct parser *p, const struct field *f, const char *sign, int n)
{
	static const char *const casts[] = {[TEXT] = "text",
		[NUMBER] = "bigint",
		[TRUTH] = "boolean",
		[DAY] = "text",
		[TYPE] = "text"};
	struct ing_buf *sql = &p->c->sql;
	bool is_equal = strcmp(sign, "=") == 0;
	if (f->kind == MOMENT)
		ing_buf_printf(sql, "%s %s (extract(epoch FROM $%d::timestamptz) * 1000)::bigint",
			f->sql, sign, n);
	else if (f->kind == HOSTS && is_equal)
		ing_buf_printf(sql, "%s @> ARRAY[regexp_replace(lower($%d::text), '^www[.]', '')]",
			f->sql, n);
	else if (f->kind == HOSTS)
		ing_buf_printf(sql,
			"EXISTS (SELECT FROM unnest(%s) AS host WHERE host %s $%d::text)", f->sql,
			sign, n);
	else if (f->kind == SITES)
		ing_buf_printf(sql,
			"EXISTS (SELECT FROM jsonb_array_elements(CASE jsonb_typeof(visited_sites)"
			" WHEN 'array' THEN visited_sites ELSE '[]' END) AS site"
			" WHERE site ->> '%s' %s $%d::text)",
			f->sql, sign, n);
	else
		ing_buf_printf(sql, "%s %s $%d::%s", f->sql, sign, n, casts[f->kind]);
}

/* Takes the value. A negation is that of the whole: of several hosts none is it. */
static void add_comparison(
	struct parser *p, const struct field *f, const char *op, const char *at, char *value)
{
	const char *wrong = refuse_comparison(f, op, value);
	bool is_not = op[0] == '!' || strcmp(op, "<>") == 0;
	const char *sign = !is_not ? op : strncmp(op, "!~", 2) == 0 ? op + 1 : "=";
	if (wrong != NULL)
		fail(p, at, wrong);
	if (wrong != NULL || strcmp(op, "better") == 0 || strcmp(op, "worse") == 0) {
		if (wrong == NULL)
			add_types(p, f, op[0] == 'b', ing_part_type_of_name(value));
		free(value);
		return;
	}
	int n = add_value(p, value);
	ing_buf_add_str(&p->c->sql, is_not ? "NOT coalesce(" : "coalesce(");
	write_comparison(p, f, strcmp(sign, "like") == 0 ? "LIKE" : sign, n);
	ing_buf_add_str(&p->c->sql, ", false)");
}

/* That it is known. */
static void add_presence(struct parser *p, const struct field *f, bool is_there)
{
	if (f->kind == SITES)
		ing_buf_printf(&p->c->sql, "visited_sites IS %sNULL", is_there ? "NOT " : "");
	else
		ing_buf_printf(&p->c->sql, "(%s) IS %sNULL", f->sql, is_there ? "NOT " : "");
}

static void parse_list(struct parser *p, const struct field *f)
{
	const char *between = "(";
	if (!take_sign(p, '('))
		fail(p, p->at, "( is expected");
	do {
		skip_space(p);
		const char *at = p->at;
		char *value = take_value(p);
		ing_buf_add_str(&p->c->sql, between);
		if (value != NULL)
			add_comparison(p, f, "=", at, value);
		between = " OR ";
	} while (!p->failed && take_sign(p, ','));
	ing_buf_add_char(&p->c->sql, ')');
	if (!take_sign(p, ')'))
		fail(p, p->at, ") is expected");
}

static void parse_comparison(struct parser *p)
{
	struct field f;
	skip_space(p);
	const char *name = p->at;
	size_t bytes = word_bytes(name);
	if (bytes == 0) {
		fail(p, name, "a name is expected");
		return;
	}
	if (!find_name(p->c->table, name, bytes, &f)) {
		struct ing_nearest n;
		char what[160];
		suggest(p->c->table, name, bytes, &n);
		snprintf(what, sizeof(what), "there is no such name%s%s%s",
			n.best != NULL ? " (did you mean " : "", n.best != NULL ? n.best : "",
			n.best != NULL ? "?)" : "");
		fail(p, name, what);
		return;
	}
	p->at += bytes;
	if (take_word(p, "is")) {
		bool is_not = take_word(p, "not");
		if (!take_word(p, "null"))
			fail(p, p->at, "null is expected");
		add_presence(p, &f, is_not);
		return;
	}
	if (take_word(p, "in")) {
		parse_list(p, &f);
		return;
	}
	const char *op = take_op(p);
	if (op == NULL && f.kind == TRUTH) {
		ing_buf_printf(&p->c->sql, "coalesce(%s, false)", f.sql);
	} else if (op == NULL) {
		add_presence(p, &f, true);
	} else {
		skip_space(p);
		const char *at = p->at;
		char *value = take_value(p);
		if (value != NULL)
			add_comparison(p, &f, op, at, value);
	}
}

static void parse_any(struct parser *p);

static void parse_one(struct parser *p)
{
	if (++p->depth > MAX_DEPTH) {
		fail(p, p->at, "nested too deep");
	} else if (take_word(p, "not")) {
		ing_buf_add_str(&p->c->sql, "NOT (");
		parse_one(p);
		ing_buf_add_char(&p->c->sql, ')');
	} else if (take_sign(p, '(')) {
		ing_buf_add_char(&p->c->sql, '(');
		parse_any(p);
		ing_buf_add_char(&p->c->sql, ')');
		if (!take_sign(p, ')'))
			fail(p, p->at, ") is expected");
	} else {
		parse_comparison(p);
	}
	p->depth--;
}

static void parse_all(struct parser *p)
{
	parse_one(p);
	while (!p->failed && take_word(p, "and")) {
		ing_buf_add_str(&p->c->sql, " AND ");
		parse_one(p);
	}
}

static void parse_any(struct parser *p)
{
	parse_all(p);
	while (!p->failed && take_word(p, "or")) {
		ing_buf_add_str(&p->c->sql, " OR ");
		parse_all(p);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_condition_init(struct ing_condition *c, enum ing_kept_table table)
{
	*c = (struct ing_condition){.table = table};
	ing_buf_init(&c->sql, MAX_SQL_BYTES);
	ing_buf_add_str(&c->sql, "true");
}

void ing_condition_done(struct ing_condition *c)
{
	ing_buf_done(&c->sql);
	for (int i = 0; i < c->value_count; i++)
		free(c->values[i]);
	c->value_count = 0;
}

int ing_condition_add(struct ing_condition *c, const char *text, struct ing_error *err)
{
	struct parser p = {.c = c, .at = text, .err = err};
	ing_buf_add_str(&c->sql, " AND (");
	parse_any(&p);
	skip_space(&p);
	if (!p.failed && *p.at != '\0')
		fail(&p, p.at, "and, or, or the end is expected");
	ing_buf_add_char(&c->sql, ')');
	if (!p.failed && c->sql.failed)
		fail(&p, text, "it is too long");
	return p.failed ? -ING_FAIL_SYNTAX : 0;
}

int ing_condition_add_value(struct ing_condition *c, const char *name, const char *op,
	const char *value, struct ing_error *err)
{
	struct parser p = {.c = c, .at = value, .err = err};
	struct field f;
	ing_must(find_name(c->table, name, strlen(name), &f));
	ing_buf_add_str(&c->sql, " AND ");
	add_comparison(&p, &f, op, value, ing_strdup(value));
	return p.failed ? -ING_FAIL_SYNTAX : 0;
}

int ing_condition_order(
	enum ing_kept_table table, const char *text, struct ing_buf *ret, struct ing_error *err)
{
	const char *key = table == ING_TABLE_WEBPAGE ? "start_url" : "id";
	while (*text != '\0') {
		struct field f;
		size_t bytes = strcspn(text, ",");
		size_t name = strcspn(text, ",:");
		bool desc =
			name < bytes && bytes - name == 5 && memcmp(text + name, ":desc", 5) == 0;
		bool asc =
			name == bytes || (bytes - name == 4 && memcmp(text + name, ":asc", 4) == 0);
		if (!find_name(table, text, name, &f) || f.kind == SITES || (!desc && !asc))
			return ing_error_set(err, ING_FAIL_SYNTAX, "nothing is ordered by \"%.*s\"",
				(int)bytes, text);
		ing_buf_printf(ret, "%s%s NULLS LAST, ", f.sql, desc ? " DESC" : "");
		text += bytes;
		text += *text == ',';
	}
	ing_buf_add_str(ret, key);
	return 0;
}

void ing_condition_add_names(enum ing_kept_table table, struct ing_buf *to)
{
	static const char *const kinds[] = {[TEXT] = "text",
		[NUMBER] = "number",
		[TRUTH] = "true or false",
		[DAY] = "day",
		[MOMENT] = "time",
		[TYPE] = "type of a part",
		[HOSTS] = "any of the hosts",
		[SITES] = "any of the visited sites"};
	size_t count;
	const struct name *names = names_of(table, &count);
	for (size_t i = 0; i < count; i++)
		ing_buf_printf(to, "  %s\t%s\n", names[i].name, kinds[names[i].kind]);
	if (table == ING_TABLE_WEBPAGE)
		return;
	ing_buf_add_str(to, "  PART\tthat it is there; title: its text\n");
	for (size_t i = 0; i < ING_ARRAY_LEN(part_members); i++) {
		struct field f;
		char name[MAX_NAME];
		int n = snprintf(name, sizeof(name), "title.%s", part_members[i]);
		ing_must(find_part(name, (size_t)n, &f));
		ing_buf_printf(to, "  PART.%s\t%s\n", part_members[i], kinds[f.kind]);
	}
}
