/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules about URLs: the loader of their two files, and the matcher. Rules hang from the host that
 * they name; a host name is looked up whole and then with one label less at a time, so that a rule
 * for everything below a domain is found without a search.
 *
 * What is compared is what a reader of the URL sees: escapes undone and case ignored, since a DOI
 * comes as 10.2307/X as well as 10.2307%2Fx.
 */
#include "worker/gate/urlrules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <uthash.h>

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/data/yaml.h"
#include "common/net/url.h"

#define MAX_REPORT_LINE_BYTES 500
#define REPORT_TAIL_BYTES 32 /* for "(N more errors)" */

struct rule {
	struct rule *next;
	struct ing_url_finding finding;
	bool below;                       /* names below its host too */
	const char *path, *path_contains; /* NULL: any */
	const char *query_name, *query_value;
};

struct host {
	UT_hash_handle hh;
	struct rule *rules;
	const char *name; /* as ing_url_host() has it, less "www." and closing dot */
};

struct ing_urlrules {
	struct ing_arena arena;
	struct host *hosts;
	struct rule *anywhere; /* rules without a host */
	size_t count;
};

/* A URL, ready to be compared. */
struct target {
	struct ing_url_parts parts;
	const char *host;
	const char *path;   /* escapes undone */
	const char *params; /* "name=value" with escapes undone, a NUL behind each, "" at the end */
};

/* --- text --- */

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undo the escape at s, if it is one and not NUL's: the number of bytes it takes. */
static size_t read_escape(const char *s, char *ret)
{
	int high = s[0] == '%' ? hex_value(s[1]) : -1;
	int low = high >= 0 ? hex_value(s[2]) : -1;
	if (low < 0 || high + low == 0) {
		*ret = s[0];
		return 1;
	}
	*ret = (char)(high * 16 + low);
	return 3;
}

static void undo_escapes(char *s)
{
	char *to = s;
	while (*s != '\0')
		s += read_escape(s, to++);
	*to = '\0';
}

/* "?a=1&&b+c=%32" becomes "a=1" NUL "b c=2" NUL NUL, in place: both NULs fit, as '?' goes. */
static void split_query(char *query)
{
	const char *from = query;
	char *to = query;
	char *start = query;
	if (*from == '?')
		from++;
	while (*from != '\0') {
		if (*from == '&') {
			if (to != start)
				*to++ = '\0';
			start = to;
			from++;
		} else {
			from += read_escape(from, to);
			if (from[-1] == '+')
				*to = ' ';
			to++;
		}
	}
	if (to != start)
		*to++ = '\0';
	*to = '\0';
}

/* A host as rules are filed under: without a closing dot and "www.", unless that were all. Changes
 * host. */
static const char *bare_host(char *host)
{
	size_t bytes = strlen(host);
	if (bytes > 0 && host[bytes - 1] == '.')
		host[bytes - 1] = '\0';
	if (strncmp(host, "www.", 4) == 0 && strchr(host + 4, '.') != NULL)
		return host + 4;
	return host;
}

/* --- the loader --- */

struct loader {
	struct ing_urlrules *rules;
	struct ing_error report;
	unsigned left_out;
	const char *path;
	bool is_blocklist;
};

static void add_error(struct loader *l, int line, int column, const char *text)
{
	if (l->report.code == ING_FAIL_NONE) {
		ing_error_at(&l->report, ING_FAIL_CONFIG, line, column, "%s", text);
		return;
	}
	size_t used = strlen(l->report.msg);
	if (used + 1 + strlen(text) + REPORT_TAIL_BYTES > sizeof(l->report.msg))
		l->left_out++;
	else
		snprintf(l->report.msg + used, sizeof(l->report.msg) - used, "\n%s", text);
}

ING_PRINTF(3, 4)
static void add_error_at(struct loader *l, const struct ing_yaml_node *node, const char *fmt, ...)
{
	char text[MAX_REPORT_LINE_BYTES];
	int used =
		snprintf(text, sizeof(text), "%.300s:%d:%d: ", l->path, node->line, node->column);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text + used, sizeof(text) - (size_t)used, fmt, ap);
	va_end(ap);
	add_error(l, node->line, node->column, text);
}

static void file_under(struct ing_urlrules *r, const char *host, struct rule *rule)
{
	struct host *h;
	HASH_FIND_STR(r->hosts, host, h);
	if (h == NULL) {
		h = ing_arena_alloc(&r->arena, sizeof(*h));
		h->name = ing_arena_strdup(&r->arena, host);
		HASH_ADD_KEYPTR(hh, r->hosts, h->name, strlen(h->name), h);
	}
	rule->next = h->rules;
	h->rules = rule;
}

/* The name that a rule's host is filed under; buf has ING_URL_HOST_BYTES. NULL: not a host. */
static const char *read_host(const char *text, char *buf)
{
	char url[sizeof("http://") + ING_URL_HOST_BYTES];
	if (text[strcspn(text, "/\\:@?#%*[] \t\r\n")] != '\0' || text[0] == '\0' ||
		text[0] == '.' || strlen(text) >= ING_URL_HOST_BYTES - 1)
		return NULL;
	snprintf(url, sizeof(url), "http://%s/", text);
	if (!ing_url_host(url, buf, ING_URL_HOST_BYTES))
		return NULL;
	return bare_host(buf);
}

/* A key's value as text; NULL when the key is absent or an error has been noted. */
static char *get_text(struct loader *l, const struct ing_yaml_node *entry, const char *key)
{
	const struct ing_yaml_node *value = ing_yaml_get(entry, key);
	if (value == NULL)
		return NULL;
	if (value->kind != ING_YAML_SCALAR) {
		add_error_at(l, value, "%s must be a text, not %s", key, ing_yaml_kind_name(value));
		return NULL;
	}
	if (value->bytes == 0 || ing_yaml_is_null(value) || strlen(value->text) != value->bytes) {
		add_error_at(l, value, "%s must not be empty, nor hold a NUL", key);
		return NULL;
	}
	return ing_arena_strdup(&l->rules->arena, value->text);
}

static char *get_path(struct loader *l, const struct ing_yaml_node *entry, const char *key)
{
	char *text = get_text(l, entry, key);
	if (text != NULL)
		undo_escapes(text);
	return text;
}

static void read_query(struct loader *l, const struct ing_yaml_node *entry, struct rule *rule)
{
	char *text = get_text(l, entry, "query");
	if (text == NULL)
		return;
	if (text[0] == '?' || text[0] == '=' || strchr(text, '&') != NULL) {
		add_error_at(l, ing_yaml_get(entry, "query"),
			"query must be one parameter, NAME or NAME=VALUE");
		return;
	}
	char *equals = strchr(text, '=');
	if (equals != NULL) {
		*equals = '\0';
		rule->query_value = equals + 1;
	}
	rule->query_name = text;
}

static void read_verdict(struct loader *l, const struct ing_yaml_node *entry, struct rule *rule)
{
	if (l->is_blocklist) {
		rule->finding.verdict = ING_URL_BLOCKLIST;
		return;
	}
	const struct ing_yaml_node *value = ing_yaml_get(entry, "verdict");
	if (value == NULL)
		add_error_at(l, entry, "an entry needs a verdict: wall or cookie");
	else if (value->kind == ING_YAML_SCALAR && strcmp(value->text, "wall") == 0)
		rule->finding.verdict = ING_URL_WALL;
	else if (value->kind == ING_YAML_SCALAR && strcmp(value->text, "cookie") == 0)
		rule->finding.verdict = ING_URL_COOKIE;
	else
		add_error_at(l, value, "verdict must be wall or cookie");
	value = ing_yaml_get(entry, "only_at_end");
	if (value == NULL)
		return;
	if (value->kind == ING_YAML_SCALAR && strcmp(value->text, "true") == 0)
		rule->finding.only_at_end = true;
	else if (value->kind != ING_YAML_SCALAR || strcmp(value->text, "false") != 0)
		add_error_at(l, value, "only_at_end must be true or false");
}

static void check_keys(struct loader *l, const struct ing_yaml_node *entry)
{
	static const char *const known[] = {"host", "path", "path_contains", "query", "why",
		"verdict", "only_at_end"}; /* the last two only of walls */
	size_t count = ING_ARRAY_LEN(known) - (l->is_blocklist ? 2 : 0);
	for (const struct ing_yaml_node *key = entry->first; key != NULL; key = key->next) {
		size_t i = 0;
		while (i < count && strcmp(known[i], key->text) != 0)
			i++;
		if (i == count)
			add_error_at(l, key,
				"there is no key \"%.60s\"; there are host, path, "
				"path_contains, query, why%s",
				key->text, l->is_blocklist ? "" : ", verdict, only_at_end");
	}
}

static void read_entry(struct loader *l, const struct ing_yaml_node *entry)
{
	if (entry->kind != ING_YAML_MAP) {
		add_error_at(l, entry, "an entry must be a map, not %s", ing_yaml_kind_name(entry));
		return;
	}
	struct rule *rule = ing_arena_alloc(&l->rules->arena, sizeof(*rule));
	check_keys(l, entry);
	read_verdict(l, entry, rule);
	read_query(l, entry, rule);
	rule->path_contains = get_path(l, entry, "path_contains");
	rule->path = get_path(l, entry, "path");
	if (rule->path != NULL && rule->path[0] != '/')
		add_error_at(l, ing_yaml_get(entry, "path"), "path must begin with a slash");
	if (ing_yaml_get(entry, "why") == NULL)
		add_error_at(l, entry, "an entry needs a why");
	rule->finding.why = get_text(l, entry, "why");
	const char *host = get_text(l, entry, "host");
	l->rules->count++;
	if (host != NULL) {
		char buf[ING_URL_HOST_BYTES];
		rule->below = host[0] == '.';
		host = read_host(host + (rule->below ? 1 : 0), buf);
		if (host == NULL)
			add_error_at(l, ing_yaml_get(entry, "host"),
				"host must be a host name, or .NAME for it and all names below");
		else
			file_under(l->rules, host, rule);
	} else if (ing_yaml_get(entry, "host") == NULL) {
		if (ing_yaml_get(entry, "path") == NULL &&
			ing_yaml_get(entry, "path_contains") == NULL &&
			ing_yaml_get(entry, "query") == NULL)
			add_error_at(
				l, entry, "an entry needs one of host, path, path_contains, query");
		rule->next = l->rules->anywhere;
		l->rules->anywhere = rule;
	}
}

/* -SYSTEM when the file is there and cannot be read; what is wrong in it goes into the report. */
static int load_file(struct loader *l, const char *dir, const char *name, struct ing_error *err)
{
	struct ing_buf path;
	ing_buf_init(&path, 8192);
	ing_buf_printf(&path, "%s/%s", dir, name);
	l->path = ing_buf_str(&path);
	struct ing_yaml *doc = NULL;
	struct ing_error bad = {0};
	int rc = ing_yaml_load(l->path, &ING_YAML_LIMITS_DEFAULT, &doc, &bad);
	if (rc == 0) {
		const struct ing_yaml_node *root = ing_yaml_root(doc);
		if (root->kind == ING_YAML_LIST) {
			for (const struct ing_yaml_node *e = root->first; e != NULL; e = e->next)
				read_entry(l, e);
		} else if (!ing_yaml_is_null(root)) {
			add_error_at(l, root, "the file must be a list of entries, not %s",
				ing_yaml_kind_name(root));
		}
	} else if (rc == -ING_FAIL_SYSTEM) {
		if (err != NULL && err->code == ING_FAIL_NONE)
			*err = bad;
	} else {
		if (rc != -ING_FAIL_NOT_FOUND)
			add_error(l, bad.line, bad.column, bad.msg);
		rc = 0;
	}
	ing_yaml_free(doc);
	ing_buf_done(&path);
	return rc;
}

/* What was noted while loading, as an error of the caller's. */
static int end_report(struct loader *l, struct ing_error *err)
{
	if (l->report.code == ING_FAIL_NONE)
		return 0;
	size_t used = strlen(l->report.msg);
	if (l->left_out > 0)
		snprintf(l->report.msg + used, sizeof(l->report.msg) - used, "\n(%u more errors)",
			l->left_out);
	if (err != NULL && err->code == ING_FAIL_NONE)
		*err = l->report;
	return -ING_FAIL_CONFIG;
}

/* --- the matcher --- */

static bool has_param(const struct target *t, const struct rule *rule)
{
	size_t name_bytes = strlen(rule->query_name);
	for (const char *p = t->params; *p != '\0'; p += strlen(p) + 1) {
		if (strncasecmp(p, rule->query_name, name_bytes) != 0 ||
			(p[name_bytes] != '=' && p[name_bytes] != '\0'))
			continue;
		const char *value = p[name_bytes] == '=' ? p + name_bytes + 1 : "";
		if (rule->query_value == NULL || strcasecmp(value, rule->query_value) == 0)
			return true;
	}
	return false;
}

static bool matches(const struct target *t, const struct rule *rule)
{
	if (rule->path != NULL && strncasecmp(t->path, rule->path, strlen(rule->path)) != 0)
		return false;
	if (rule->path_contains != NULL && strcasestr(t->path, rule->path_contains) == NULL)
		return false;
	return rule->query_name == NULL || has_param(t, rule);
}

/* The severer verdict counts, and of equal ones the one that keeps us from fetching. */
static bool is_severer(const struct ing_url_finding *a, const struct ing_url_finding *b)
{
	if (a->verdict != b->verdict)
		return a->verdict < b->verdict;
	return !a->only_at_end && b->only_at_end;
}

static void scan_rules(const struct target *t, const struct rule *rules, bool whole_host,
	struct ing_url_finding *best)
{
	for (const struct rule *rule = rules; rule != NULL; rule = rule->next) {
		if ((whole_host || rule->below) && is_severer(&rule->finding, best) &&
			matches(t, rule))
			*best = rule->finding;
	}
}

/* ----------------------------------------------------------------------------------------------------------
 */

int ing_urlrules_load(const char *dir, struct ing_urlrules **ret, struct ing_error *err)
{
	struct stat st;
	if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
		return ing_error_set(
			err, ING_FAIL_CONFIG, "rules.dir: there is no folder %.400s", dir);
	struct loader l = {.rules = ing_alloc(sizeof(*l.rules)), .is_blocklist = true};
	ing_arena_init(&l.rules->arena);
	int rc = load_file(&l, dir, "blocklist.yaml", err);
	l.is_blocklist = false;
	if (rc == 0)
		rc = load_file(&l, dir, "walls.yaml", err);
	if (rc == 0)
		rc = end_report(&l, err);
	if (rc == 0)
		*ret = l.rules;
	else
		ing_urlrules_free(l.rules);
	return rc;
}

void ing_urlrules_free(struct ing_urlrules *r)
{
	if (r == NULL)
		return;
	HASH_CLEAR(hh, r->hosts);
	ing_arena_done(&r->arena);
	free(r);
}

size_t ing_urlrules_count(const struct ing_urlrules *r)
{
	return r != NULL ? r->count : 0;
}

struct ing_url_finding ing_urlrules_judge(const struct ing_urlrules *r, const char *url)
{
	struct ing_url_finding best = {.verdict = ING_URL_NONE};
	struct target t = {0};
	if (r == NULL || r->count == 0 || !ing_url_parts(url, strlen(url), NULL, &t.parts))
		return best;
	undo_escapes(t.parts.pathname);
	t.path = t.parts.pathname;
	split_query(t.parts.search);
	/* An empty search is a single NUL, which is the list's end too. */
	t.params = t.parts.search;
	t.host = bare_host(t.parts.hostname);
	scan_rules(&t, r->anywhere, true, &best);
	for (const char *name = t.host; name != NULL;) {
		const struct host *h;
		HASH_FIND_STR(r->hosts, name, h);
		if (h != NULL)
			scan_rules(&t, h->rules, name == t.host, &best);
		name = strchr(name, '.');
		if (name != NULL)
			name++;
	}
	ing_url_parts_done(&t.parts);
	return best;
}
