/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Selections against a real server: which requests, how many of each host, in which order, all told by their link_source_id.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/data/pg.h"
#include "tests/unit/worker/store/bench.h"
#include "worker/store/requests/selection.h"

#define WORDS(...)                                                                                 \
	{                                                                                          \
		.words = (const char *const[]){__VA_ARGS__},                                       \
		.count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)               \
	}
#define HOUR 3600

static const char *fresh(void)
{
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	return dsn;
}

/* --- what is read --- */

struct ids {
	struct ing_buf text; /* with a space before each */
	unsigned count;
};

static void read_into(const char *dsn, const struct ing_selection *s,
	enum ing_selection_order order, struct ids *ret)
{
	struct ing_error err = {0};
	struct ing_selection_reader *r = NULL;
	struct ing_stored_request q;
	int rc;
	*ret = (struct ids){0};
	ing_buf_init(&ret->text, 1 << 20);
	bench_check(ing_selection_open(dsn, s, order, &r, &err), &err);
	while ((rc = ing_selection_next(r, &q, &err)) == 1) {
		ing_buf_printf(&ret->text, " %s", q.link_source_id);
		ret->count++;
	}
	bench_check(rc, &err);
	ing_selection_close(r);
}

static int compare_words(const void *a, const void *b)
{
	const char *const *x = a;
	const char *const *y = b;
	return strcmp(*x, *y);
}

/* The ids in their alphabetical order. Caller frees. */
static char *sorted(const char *text)
{
	const char *words[4096];
	size_t count = 0;
	char *copy = strdup(text);
	char *rest = copy;
	struct ing_buf out;
	ing_buf_init(&out, 1 << 20);
	for (char *word; (word = strsep(&rest, " ")) != NULL;)
		if (word[0] != '\0')
			words[count++] = word;
	qsort(words, count, sizeof(words[0]), compare_words);
	for (size_t i = 0; i < count; i++)
		ing_buf_printf(&out, "%s%s", i > 0 ? " " : "", words[i]);
	free(copy);
	return ing_buf_steal(&out);
}

static void expect(const char *dsn, const struct ing_selection *s, enum ing_selection_order order,
	const char *name, const char *want)
{
	struct ids ids;
	read_into(dsn, s, order, &ids);
	char *got = sorted(ing_buf_str(&ids.text));
	if (strcmp(got, want) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", name, got, want);
	free(got);
	ing_buf_done(&ids.text);
}

/* --- rows --- */

/* Requests, of which the fields that a test does not name are derived from its id. */
static const char functions[] =
	"CREATE FUNCTION ask(id text, url text, host text DEFAULT NULL, list integer DEFAULT NULL,"
	"  source text DEFAULT 'unpaywall', type text DEFAULT 'pdf', prefix text DEFAULT NULL,"
	"  link text DEFAULT 'doi', age interval DEFAULT '1 day') RETURNS void LANGUAGE sql AS $$"
	" INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url,"
	"  ingest_request_source, request, request_id, document, list_id, host, doi_prefix, created)"
	" VALUES (link, id, type, url, source, '{}', md5('request ' || id)::uuid,"
	"  md5(type || regexp_replace(url, '^https?://(www\\.)?', ''))::uuid, list,"
	"  coalesce(host, regexp_replace(url, '^https?://(www\\.)?([^/]*).*', '\\2')), prefix, now() - age) $$;"
	"CREATE FUNCTION answer(url text, status text, retry interval DEFAULT NULL,"
	"  age interval DEFAULT '1 hour', tries integer DEFAULT 1, code integer DEFAULT 200,"
	"  type text DEFAULT 'pdf') RETURNS void LANGUAGE sql AS $$"
	" INSERT INTO ingest_file_result (ingest_type, base_url, updated, hit, status, attempts,"
	"  terminal_status_code, next_try, document)"
	" VALUES (type, url, now() - age, status = 'success', status, tries, code, now() + retry,"
	"  md5(type || regexp_replace(url, '^https?://(www\\.)?', ''))::uuid) $$;"
	"CREATE FUNCTION queue(url text, age interval DEFAULT '2 hours', type text DEFAULT 'pdf')"
	" RETURNS void LANGUAGE sql AS $$ INSERT INTO document_queued (document, queued, plan_id)"
	" VALUES (md5(type || regexp_replace(url, '^https?://(www\\.)?', ''))::uuid, now() - age, 1) $$;";

static const char *with_rows(const char *sql)
{
	const char *dsn = fresh();
	bench_sql(dsn, functions);
	bench_sql(dsn, sql);
	return dsn;
}

static void conditions_select_what_they_say(void **state)
{
	(void)state;
	const char *dsn = with_rows(
		"SELECT ask('a', 'https://x.org/a', age => '3 days'),"
		" ask('b', 'https://sub.x.org/b', source => 'doaj', link => 'doaj'),"
		" ask('c', 'https://notx.org/c', type => 'xml'),"
		" ask('d', 'https://doi.org/10.5/d', prefix => '10.5'),"
		" ask('e', 'https://y.net/e', source => NULL, prefix => '10.55', age => '10 days');"
		"SELECT answer('https://x.org/a', 'success', age => '2 hours'),"
		" answer('https://sub.x.org/b', 'no-pdf-link', '1 day', tries => 3),"
		" answer('https://notx.org/c', 'terminal-bad-status', '-1 minute', code => 404, type => 'xml',"
		"  age => '30 hours')");
	/* clang-format off */
	const struct {
		const char *name;
		struct ing_selection s;
		const char *want;
	} cases[] = {
		{"all", {.limit = 0}, "a b c d e"},
		{"type", {.types = WORDS("xml")}, "c"},
		{"types", {.types = WORDS("xml", "pdf")}, "a b c d e"},
		{"source", {.sources = WORDS("doaj")}, "b"},
		{"link source", {.link_sources = WORDS("doaj")}, "b"},
		{"status", {.statuses = WORDS("success", "no-pdf-link")}, "a b"},
		{"terminal status", {.terminal_codes = WORDS("404", "500")}, "c"},
		{"host", {.hosts = WORDS("x.org")}, "a"},
		{"domain", {.domains = WORDS("x.org")}, "a b"},
		{"domains of several depths", {.domains = WORDS("net", "sub.x.org")}, "b e"},
		{"a domain's characters are no pattern", {.domains = WORDS("%.org", "_.org", "x_org")}, ""},
		{"all but hosts", {.without_hosts = WORDS("x.org", "doi.org")}, "c e"},
		{"DOI prefix", {.doi_prefixes = WORDS("10.5")}, "d"},
		{"age of the request, at least", {.request_age_from_s = 48 * HOUR}, "a e"},
		{"age of the request, less than", {.request_age_to_s = 96 * HOUR}, "a b c d"},
		{"age of the request", {.request_age_from_s = 48 * HOUR, .request_age_to_s = 96 * HOUR}, "a"},
		{"age of the result, at least", {.result_age_from_s = 2 * HOUR}, "a c"},
		{"age of the result, less than", {.result_age_to_s = 24 * HOUR}, "a b"},
		{"attempts below", {.attempts_below = 3}, "a c d e"},
		{"attempts below, with a status", {.attempts_below = 3, .statuses = WORDS("no-pdf-link")}, ""},
		{"never asked", {.classes = ING_CLASS_NEVER_ASKED}, "d e"},
		{"hit", {.classes = ING_CLASS_HIT}, "a"},
		{"due", {.classes = ING_CLASS_RETRY_DUE}, "c"},
		{"later", {.classes = ING_CLASS_RETRY_LATER}, "b"},
		{"due or later", {.classes = ING_CLASS_RETRY_DUE | ING_CLASS_RETRY_LATER}, "b c"},
		{"due or never asked", {.classes = ING_CLASS_RETRY_DUE | ING_CLASS_NEVER_ASKED}, "c d e"},
		{"new", {.only_new = true}, "d e"},
		{"all at once", {.types = WORDS("pdf"), .sources = WORDS("unpaywall"), .hosts = WORDS("x.org"),
			.statuses = WORDS("success"), .request_age_to_s = 96 * HOUR, .attempts_below = 2}, "a"},
		{"nothing", {.types = WORDS("html")}, ""},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		expect(dsn, &cases[i].s, ING_ORDER_STORED, cases[i].name, cases[i].want);
		expect(dsn, &cases[i].s, ING_ORDER_INTERLEAVED, cases[i].name, cases[i].want);
	}
}

static void created_is_from_inclusive_to_exclusive(void **state)
{
	(void)state;
	const char *dsn =
		with_rows("SELECT ask('a', 'https://x.org/a'), ask('b', 'https://x.org/b');"
			  "UPDATE ingest_request SET created = '2026-11-01T00:00:00.001Z'"
			  " WHERE link_source_id = 'a';"
			  "UPDATE ingest_request SET created = '2026-11-02T00:00:00Z'"
			  " WHERE link_source_id = 'b'");
	const int64_t first = INT64_C(1793491200000); /* 2026-11-01T00:00:00Z */
	const int64_t day = INT64_C(86400000);
	struct ing_selection s = {.created_from_ms = first + 1, .created_to_ms = first + day};
	expect(dsn, &s, ING_ORDER_STORED, "both", "a");
	s = (struct ing_selection){.created_from_ms = first + 2};
	expect(dsn, &s, ING_ORDER_STORED, "from", "b");
	s = (struct ing_selection){.created_to_ms = first + day + 1};
	expect(dsn, &s, ING_ORDER_STORED, "to", "a b");
}

static void every_request_has_a_class(void **state)
{
	(void)state;
	const char *dsn = with_rows(
		"SELECT ask('never', 'https://x.org/1'), ask('queued', 'https://x.org/2'),"
		" ask('due', 'https://x.org/3'), ask('later', 'https://x.org/4'),"
		" ask('ended', 'https://x.org/5'), ask('hit', 'https://x.org/6'),"
		" ask('again', 'https://x.org/7'), ask('hit-again', 'https://x.org/8');"
		"SELECT queue('https://x.org/2'), queue('https://x.org/3'), queue('https://x.org/6'),"
		" queue('https://x.org/7', '1 minute'), queue('https://x.org/8', '1 minute');"
		"SELECT answer('https://x.org/3', 'timeout', '-1 second'),"
		" answer('https://x.org/4', 'timeout', '1 minute'), answer('https://x.org/5', 'invalid-url'),"
		" answer('https://x.org/6', 'success'), answer('https://x.org/7', 'timeout', '-1 second'),"
		" answer('https://x.org/8', 'success')");
	static const struct {
		unsigned classes;
		const char *want;
	} cases[] = {
		{ING_CLASS_NEVER_ASKED, "never"},
		{ING_CLASS_QUEUED, "again hit-again queued"},
		{ING_CLASS_RETRY_DUE, "due"},
		{ING_CLASS_RETRY_LATER, "later"},
		{ING_CLASS_ENDED, "ended"},
		{ING_CLASS_HIT, "hit hit-again"},
		{63, "again due ended hit hit-again later never queued"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		const struct ing_selection s = {.classes = cases[i].classes};
		expect(dsn, &s, ING_ORDER_STORED, "class", cases[i].want);
	}
}

static void what_was_queued_too_long_ago_is_lost(void **state)
{
	(void)state;
	const char *dsn = with_rows(
		"SELECT ask('never', 'https://x.org/1'), ask('queued', 'https://x.org/2'),"
		" ask('lost', 'https://x.org/3'), ask('lost-again', 'https://x.org/4'),"
		" ask('queued-again', 'https://x.org/5'), ask('hit-again', 'https://x.org/6');"
		"SELECT queue('https://x.org/2', '13 days'), queue('https://x.org/3', '15 days'),"
		" queue('https://x.org/4', '15 days'), queue('https://x.org/5', '13 days'),"
		" queue('https://x.org/6', '13 days');"
		"SELECT answer('https://x.org/4', 'timeout', '-1 day', '20 days'),"
		" answer('https://x.org/5', 'timeout', '-1 day', '20 days'),"
		" answer('https://x.org/6', 'success', age => '20 days')");
	static const struct {
		struct ing_selection s;
		const char *want;
	} cases[] = {
		{{.classes = ING_CLASS_NEVER_ASKED}, "lost never"},
		{{.classes = ING_CLASS_NEVER_ASKED, .lost_only = true}, "lost"},
		{{.classes = ING_CLASS_RETRY_DUE}, "lost-again"},
		{{.classes = ING_CLASS_QUEUED}, "hit-again queued queued-again"},
		{{.lost_only = true, .not_queued = true}, "lost lost-again"},
		{{.not_queued = true}, "lost lost-again never"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_selection s = cases[i].s;
		s.lost_after_s = 14 * 24 * HOUR;
		expect(dsn, &s, ING_ORDER_STORED, "lost", cases[i].want);
		expect(dsn, &s, ING_ORDER_INTERLEAVED, "lost", cases[i].want);
	}
	const struct ing_selection s = {.not_queued = true};
	expect(dsn, &s, ING_ORDER_INTERLEAVED, "not queued", "never");
}

static void what_is_known_under_another_writing_of_its_url_is_not_new(void **state)
{
	(void)state;
	const char *dsn = with_rows(
		"SELECT ask('answered', 'https://www.x.org/1'), ask('queued', 'http://x.org/2'),"
		" ask('path', 'https://x.org/A'), ask('type', 'https://x.org/1', type => 'xml'),"
		" ask('failed', 'http://www.x.org/4');"
		"SELECT answer('http://x.org/1', 'success'), queue('https://www.x.org/2'),"
		" answer('https://x.org/a', 'success'), answer('https://x.org/4', 'timeout', '-1 second')");
	struct ing_selection s = {.only_new = true};
	expect(dsn, &s, ING_ORDER_STORED, "new", "path type");
	s = (struct ing_selection){.classes = ING_CLASS_HIT};
	expect(dsn, &s, ING_ORDER_STORED, "hit", "answered");
	s = (struct ing_selection){.classes = ING_CLASS_RETRY_DUE};
	expect(dsn, &s, ING_ORDER_STORED, "due", "failed");
	s = (struct ing_selection){.classes = ING_CLASS_QUEUED | ING_CLASS_NEVER_ASKED};
	expect(dsn, &s, ING_ORDER_STORED, "not yet", "path queued type");
}

static void of_several_results_of_a_document_the_best_counts(void **state)
{
	(void)state;
	const char *dsn =
		with_rows("SELECT ask('hit', 'https://x.org/1'), ask('newest', 'https://x.org/2');"
			  "SELECT answer('https://x.org/1', 'success', age => '9 days'),"
			  " answer('http://x.org/1', 'timeout', '-1 second'),"
			  " answer('https://x.org/2', 'timeout', '-1 second', age => '2 days'),"
			  " answer('http://x.org/2', 'no-pdf-link', '1 day', age => '1 day'),"
			  " answer('http://www.x.org/2', 'read-error', '1 day', age => '3 days')");
	struct ing_selection s = {.statuses = WORDS("timeout", "read-error")};
	expect(dsn, &s, ING_ORDER_STORED, "not the best", "");
	s = (struct ing_selection){.statuses = WORDS("success", "no-pdf-link")};
	expect(dsn, &s, ING_ORDER_STORED, "the best", "hit newest");
}

#define SET_DATABASE(value)                                                                        \
	"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = " value   \
	"', current_database()); END $$"

static void values_are_never_sql(void **state)
{
	(void)state;
	static const char *const hostile[] = {"'", "''", "\\", "\\'",
		"\\\\'); DROP TABLE ingest_request; --", "\"", "{}", "}", "{\"a\"}", "a,b", "$1",
		"%", "_", "a\nb", "a\tb", "NULL", "null", "é\U0001F600", "E'\\047", "$$", "/*",
		"; SELECT pg_sleep(9)"};
	const char *dsn = with_rows("SELECT 1");
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	for (size_t i = 0; i < ING_ARRAY_LEN(hostile); i++)
		bench_check(
			(int)ing_pg_query(pg, NULL,
				"SELECT ask('n' || $2, 'https://x.org/' || $2, host => $1,"
				" source => $1, link => $1, prefix => $1)",
				(const char *const[]){hostile[i], (char[]){(char)('a' + i), '\0'}},
				2, NULL, NULL, &err),
			&err);
	bench_check((int)ing_pg_query(pg, NULL,
			    "INSERT INTO request_list (name) SELECT unnest($1::text[])",
			    (const char *const[]){"{\"'\",\"\\\\'; DROP\"}"}, 1, NULL, NULL, &err),
		&err);
	ing_pg_close(pg);
	/* Each word selects the row that has it, and no other, however the server reads reverse solidi. */
	for (int conforming = 0; conforming < 2; conforming++) {
		bench_sql(dsn, conforming ? SET_DATABASE("on") : SET_DATABASE("off"));
		for (size_t i = 0; i < ING_ARRAY_LEN(hostile); i++) {
			char want[3] = {'n', (char)('a' + i), '\0'};
			const struct ing_words words = {&hostile[i], 1};
			const struct ing_selection each[] = {{.sources = words}, {.hosts = words},
				{.link_sources = words}, {.doi_prefixes = words}};
			for (size_t k = 0; k < ING_ARRAY_LEN(each); k++)
				expect(dsn, &each[k], ING_ORDER_STORED, hostile[i], want);
			const struct ing_selection none[] = {{.types = words}, {.statuses = words}};
			for (size_t k = 0; k < ING_ARRAY_LEN(none); k++)
				expect(dsn, &none[k], ING_ORDER_STORED, hostile[i], "");
		}
		const struct ing_selection domain = {.domains = WORDS("E'\\047")};
		expect(dsn, &domain, ING_ORDER_STORED, "domain", "ns");
	}
	const struct ing_selection list = {.lists = WORDS("\\'; DROP")};
	expect(dsn, &list, ING_ORDER_STORED, "list", "");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
	(void)state;
	const char *dsn = fresh();
	struct ing_error err = {0};
	struct ing_selection_reader *r = NULL;
	const struct ing_selection s = {.hosts = WORDS("\xff\xfe")};
	assert_int_equal(
		ing_selection_open(dsn, &s, ING_ORDER_STORED, &r, &err), -ING_FAIL_INVALID);
	const struct ing_selection code = {.terminal_codes = WORDS("4x")};
	ing_error_clear(&err);
	assert_int_equal(
		ing_selection_open(dsn, &code, ING_ORDER_STORED, &r, &err), -ING_FAIL_INVALID);
}

/* --- lists --- */

static const char lists_sql[] =
	"INSERT INTO request_list (name, priority) VALUES ('first', 0), ('second', 0), ('other', 5);"
	"SELECT ask('a', 'https://x.org/a', list => 1), ask('b', 'https://x.org/b', list => 1),"
	" ask('c', 'https://y.org/c', list => 2), ask('d', 'https://y.org/d', list => 3),"
	" ask('e', 'https://y.org/e');"
	"INSERT INTO request_list_member SELECT md5('request ' || id)::uuid, list FROM (VALUES"
	" ('a', 2), ('e', 2), ('e', 3), ('b', 3)) v (id, list)";

static void a_list_has_what_it_brought_and_what_was_there(void **state)
{
	(void)state;
	const char *dsn = with_rows(lists_sql);
	const struct {
		struct ing_selection s;
		const char *want;
	} cases[] = {
		{{.lists = WORDS("first")}, "a b"},
		{{.lists = WORDS("second")}, "a c e"},
		{{.lists = WORDS("first", "second")}, "a b c e"},
		{{.lists = WORDS("second", "second")}, "a c e"},
		{{.lists = WORDS("second", "other")}, "a b c d e"},
		{{.lists = WORDS("second"), .hosts = WORDS("x.org")}, "a"},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		expect(dsn, &cases[i].s, ING_ORDER_STORED, "list", cases[i].want);
		expect(dsn, &cases[i].s, ING_ORDER_INTERLEAVED, "list", cases[i].want);
	}
}

static void a_list_of_higher_priority_goes_first(void **state)
{
	(void)state;
	const char *dsn = with_rows(lists_sql);
	struct ids ids;
	struct ing_selection s = {.lists = WORDS("first", "other"), .random = true};
	read_into(dsn, &s, ING_ORDER_INTERLEAVED, &ids);
	assert_int_equal(ids.count, 4);
	/* Of the other list are b (which it has too), d and e. */
	assert_string_equal(ing_buf_str(&ids.text) + strlen(ing_buf_str(&ids.text)) - 2, " a");
	ing_buf_done(&ids.text);
	s.limit = 3;
	expect(dsn, &s, ING_ORDER_INTERLEAVED, "limit", "b d e");
	expect(dsn, &s, ING_ORDER_STORED, "limit, stored", "b d e");
}

static void a_list_that_does_not_exist_is_named_with_its_nearest(void **state)
{
	(void)state;
	const char *dsn = with_rows(lists_sql);
	struct ing_error err = {0};
	struct ing_selection_reader *r = NULL;
	struct ing_selection s = {.lists = WORDS("first", "secnd")};
	assert_int_equal(
		ing_selection_open(dsn, &s, ING_ORDER_STORED, &r, &err), -ING_FAIL_NOT_FOUND);
	assert_string_equal(err.msg, "there is no list \"secnd\"; did you mean \"second\"?");
	ing_error_clear(&err);
	s = (struct ing_selection){.lists = WORDS("nothing like it")};
	assert_int_equal(
		ing_selection_open(dsn, &s, ING_ORDER_STORED, &r, &err), -ING_FAIL_NOT_FOUND);
	assert_string_equal(err.msg, "there is no list \"nothing like it\"");
}

/* --- how many of each host, and where --- */

#define MAX_HOSTS 64

struct tally { /* of the first words of the ids, up to the dash: their hosts */
	char hosts[MAX_HOSTS][32];
	unsigned requests[MAX_HOSTS];
	unsigned count, total;
};

static unsigned *tally_of(struct tally *t, const char *host, size_t bytes)
{
	for (unsigned i = 0; i < t->count; i++)
		if (strlen(t->hosts[i]) == bytes && memcmp(t->hosts[i], host, bytes) == 0)
			return &t->requests[i];
	assert_true(t->count < MAX_HOSTS && bytes < sizeof(t->hosts[0]));
	memcpy(t->hosts[t->count], host, bytes);
	return &t->requests[t->count++];
}

static struct tally tally(const char *ids)
{
	struct tally t = {0};
	while (*ids != '\0') {
		ids++;
		++*tally_of(&t, ids, strcspn(ids, "-"));
		t.total++;
		ids += strcspn(ids, " ");
	}
	return t;
}

/* No host that has many stays away, or comes, for longer than chance would have it. */
static void expect_even(const char *ids, const struct tally *t)
{
	struct tally seen = {0};
	unsigned last[MAX_HOSTS] = {0};
	unsigned at = 0;
	while (*ids != '\0') {
		ids++;
		unsigned *n = tally_of(&seen, ids, strcspn(ids, "-"));
		unsigned host = (unsigned)(n - seen.requests);
		unsigned all = 0;
		for (unsigned i = 0; i < t->count; i++)
			if (strcmp(t->hosts[i], seen.hosts[host]) == 0)
				all = t->requests[i];
		at++;
		double due = (double)all * at / t->total;
		if (all >= 4 &&
			(at - last[host] > 3 * t->total / all + 3 || ++*n > due + all * 0.15 + 1))
			fail_msg("%s: the last was %u before, %u of %u are there, not %g",
				seen.hosts[host], at - last[host], *n, at, due);
		last[host] = at;
		ids += strcspn(ids, " ");
	}
}

static struct tally read_tally(
	const char *dsn, const struct ing_selection *s, enum ing_selection_order order, bool even)
{
	struct ids ids;
	read_into(dsn, s, order, &ids);
	struct tally t = tally(ing_buf_str(&ids.text));
	assert_int_equal(t.total, ids.count);
	if (even)
		expect_even(ing_buf_str(&ids.text), &t);
	ing_buf_done(&ids.text);
	return t;
}

/* 100 of big, one of each other, but for the resolver's: 40 of one prefix and 10 of another. */
static const char hosts_sql[] =
	"SELECT ask('big-' || n, 'https://big.org/' || n) FROM generate_series(1, 100) n;"
	"SELECT ask('mid-' || n, 'https://mid.org/' || n) FROM generate_series(1, 20) n;"
	"SELECT ask('h' || n || '-1', 'https://h' || n || '.org/') FROM generate_series(1, 30) n;"
	"SELECT ask('doi-' || n, 'https://doi.org/10.1/' || n, prefix => '10.1') FROM"
	" generate_series(1, 40) n;"
	"SELECT ask('dx-' || n, 'https://dx.doi.org/10.2/' || n, host => 'dx.doi.org', prefix => '10.2')"
	" FROM generate_series(1, 10) n;";

static void limits_hold_for_each_host(void **state)
{
	(void)state;
	const char *dsn = with_rows(hosts_sql);
	static const struct {
		const char *name;
		struct ing_selection s;
		unsigned total, big, mid, doi, dx;
	} cases[] = {
		{"all", {.limit = 0}, 200, 100, 20, 40, 10},
		{"per host", {.per_host = 15}, 85, 15, 15, 15, 10},
		/* 10 of each of four and 30: 10 of 70 are 14 %, 11 of 73 were too many. */
		{"share", {.share = 15}, 70, 10, 10, 10, 10},
		{"share, per host", {.share = 15, .per_host = 4}, 46, 4, 4, 4, 4},
		{"share, and a limit that cannot be filled", {.share = 15, .limit = 150}, 70, 10,
			10, 10, 10},
		{"share that is no limit", {.share = 50}, 200, 100, 20, 40, 10},
		{"share that nobody can keep", {.share = 2}, 0, 0, 0, 0, 0},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		for (int k = 0; k < 4; k++) {
			struct ing_selection s = cases[i].s;
			s.random = k % 2 != 0;
			struct tally t = read_tally(dsn, &s,
				k / 2 != 0 ? ING_ORDER_INTERLEAVED : ING_ORDER_STORED, k / 2 != 0);
			print_message("%s %d\n", cases[i].name, k);
			assert_int_equal(t.total, cases[i].total);
			if (t.total == 0)
				continue;
			assert_int_equal(*tally_of(&t, "big", 3), cases[i].big);
			assert_int_equal(*tally_of(&t, "mid", 3), cases[i].mid);
			assert_int_equal(*tally_of(&t, "doi", 3), cases[i].doi);
			assert_int_equal(*tally_of(&t, "dx", 2), cases[i].dx);
		}
	}
}

static void a_share_with_a_limit_fills_it(void **state)
{
	(void)state;
	const char *dsn = with_rows(hosts_sql);
	for (int k = 0; k < 4; k++) {
		struct ing_selection s = {
			.share = 20, .limit = 60, .random = k % 2 != 0, .seed = 3};
		struct tally t = read_tally(
			dsn, &s, k / 2 != 0 ? ING_ORDER_INTERLEAVED : ING_ORDER_STORED, k / 2 != 0);
		assert_int_equal(t.total, 60);
		for (unsigned i = 0; i < t.count; i++)
			assert_in_range(t.requests[i], 1, 12);
	}
}

static void a_limit_takes_of_each_host_in_proportion(void **state)
{
	(void)state;
	const char *dsn = with_rows(hosts_sql);
	struct ing_selection s = {.limit = 100};
	struct tally t = read_tally(dsn, &s, ING_ORDER_INTERLEAVED, false);
	assert_int_equal(t.total, 100);
	assert_in_range(*tally_of(&t, "big", 3), 49, 51);
	assert_in_range(*tally_of(&t, "mid", 3), 9, 11);
	assert_in_range(*tally_of(&t, "doi", 3), 19, 21);
	/* With a share the largest has that, not what a limit would leave of it in proportion. */
	s = (struct ing_selection){.limit = 50, .share = 20};
	t = read_tally(dsn, &s, ING_ORDER_INTERLEAVED, true);
	assert_int_equal(t.total, 50);
	assert_int_equal(*tally_of(&t, "big", 3), 10);
}

static void a_document_is_once_in_what_is_for_topics(void **state)
{
	(void)state;
	const char *dsn = with_rows(
		"SELECT ask('a-1', 'https://x.org/1'), ask('a-2', 'http://www.x.org/1'), ask('a-3', 'http://x.org/2'),"
		" ask('a-4', 'http://x.org/1', type => 'xml'), ask('b-1', 'https://doi.org/10.1/a', prefix => '10.1'),"
		" ask('b-2', 'http://doi.org/10.1/a', prefix => '10.2')");
	struct ing_selection s = {.limit = 0};
	expect(dsn, &s, ING_ORDER_STORED, "stored", "a-1 a-2 a-3 a-4 b-1 b-2");
	expect(dsn, &s, ING_ORDER_INTERLEAVED, "interleaved", "a-1 a-3 a-4 b-1");
	/* Two of three are 67 %, three of four 75. */
	s.share = 74;
	expect(dsn, &s, ING_ORDER_INTERLEAVED, "share", "a-1 a-3 b-1");
}

static void slices_are_disjoint_and_make_the_whole(void **state)
{
	(void)state;
	const char *dsn = with_rows(hosts_sql);
	for (int filled = 1; filled >= 0; filled--) {
		if (!filled)
			bench_sql(dsn,
				"UPDATE ingest_request SET request_id = NULL, document = NULL"
				" WHERE link_source_id LIKE '%7'");
		for (unsigned slices = 1; slices <= 7; slices += 3) {
			struct ing_buf all;
			ing_buf_init(&all, 1 << 20);
			for (unsigned k = 1; k <= slices; k++) {
				struct ids ids;
				const struct ing_selection s = {.slice = k, .slices = slices};
				read_into(dsn, &s, ING_ORDER_STORED, &ids);
				assert_in_range(ids.count, 100 / slices, 400 / slices);
				ing_buf_add_str(&all, ing_buf_str(&ids.text));
				ing_buf_done(&ids.text);
			}
			char *got = sorted(ing_buf_str(&all));
			const struct ing_selection whole = {.limit = 0};
			expect(dsn, &whole, ING_ORDER_STORED, "slices", got);
			free(got);
			ing_buf_done(&all);
		}
	}
}

/* The ids in their order. Caller frees. */
static char *read_order(
	const char *dsn, const struct ing_selection *s, enum ing_selection_order order)
{
	struct ids ids;
	read_into(dsn, s, order, &ids);
	return ing_buf_steal(&ids.text);
}

static void a_seed_gives_the_same_order_whatever_way_requests_are_stored(void **state)
{
	(void)state;
	const char *first = with_rows(hosts_sql);
	const char *second = with_rows(hosts_sql);
	bench_sql(second,
		"CREATE TEMP TABLE t AS SELECT * FROM ingest_request; DELETE FROM ingest_request;"
		"INSERT INTO ingest_request SELECT * FROM t ORDER BY md5(base_url)");
	static const struct ing_selection cases[] = {{.random = true, .seed = 7},
		{.random = true, .seed = 7, .limit = 20}, {.random = true, .seed = 7, .share = 20},
		{.random = true, .seed = UINT64_MAX, .per_host = 3}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		for (int order = 0; order < 2; order++) {
			struct ing_selection other = cases[i];
			other.seed = 8;
			char *a = read_order(first, &cases[i], (enum ing_selection_order)order);
			char *b = read_order(second, &cases[i], (enum ing_selection_order)order);
			char *c = read_order(first, &other, (enum ing_selection_order)order);
			assert_string_equal(a, b);
			assert_string_not_equal(a, c);
			free(a);
			free(b);
			free(c);
		}
	}
}

/* --- counts --- */

static bool add_count(void *ctx, const char *value, uint64_t requests)
{
	struct ing_buf *out = ctx;
	ing_buf_printf(out, "%s=%lu ", value, (unsigned long)requests);
	return true;
}

static void counts_are_those_of_what_would_be_read(void **state)
{
	(void)state;
	const char *dsn = with_rows(
		"INSERT INTO request_list (name) VALUES ('l');"
		"SELECT ask('a', 'https://x.org/a', list => 1, prefix => '10.5'), ask('b', 'https://x.org/b', source => NULL),"
		" ask('c', 'https://y.org/c', type => 'xml', link => ''), ask('d', 'nohost', host => '');"
		"UPDATE ingest_request SET host = NULL WHERE link_source_id = 'd';"
		"UPDATE ingest_request SET created = '2026-11-01T23:59:59Z';"
		"SELECT answer('https://x.org/a', 'success'), answer('https://x.org/b', 'timeout', '1 day'), queue('nohost')");
	/* clang-format off */
	const struct {
		const char *by;
		struct ing_selection s;
		const char *want;
	} cases[] = {
		{NULL, {.limit = 0}, "=4 "},
		{NULL, {.limit = 3}, "=3 "},
		{NULL, {.hosts = WORDS("nowhere.org")}, ""},
		{NULL, {.per_host = 1}, "=3 "},
		{"host", {.limit = 0}, "x.org=2 =1 y.org=1 "},
		{"host", {.per_host = 1}, "=1 x.org=1 y.org=1 "},
		{"host", {.types = WORDS("xml")}, "y.org=1 "},
		{"status", {.limit = 0}, "=2 success=1 timeout=1 "},
		{"status", {.classes = ING_CLASS_HIT}, "success=1 "},
		{"class", {.limit = 0}, "hit=1 never-asked=1 queued=1 retry-later=1 "},
		{"class", {.per_host = 5, .random = true}, "hit=1 never-asked=1 queued=1 retry-later=1 "},
		{"list", {.limit = 0}, "=3 l=1 "},
		{"source", {.limit = 0}, "unpaywall=3 =1 "},
		{"link-source", {.limit = 0}, "doi=3 =1 "},
		{"type", {.limit = 0}, "pdf=3 xml=1 "},
		{"doi-prefix", {.limit = 0}, "=3 10.5=1 "},
		{"day", {.limit = 0}, "2026-11-01=4 "},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_error err = {0};
		struct ing_buf out;
		ing_buf_init(&out, 4096);
		bench_check(
			ing_selection_count(dsn, &cases[i].s, cases[i].by, add_count, &out, &err),
			&err);
		assert_string_equal(ing_buf_str(&out), cases[i].want);
		ing_buf_done(&out);
	}
	struct ing_error err = {0};
	const struct ing_selection all = {.limit = 0};
	assert_int_equal(
		ing_selection_count(dsn, &all, "1); DROP", add_count, NULL, &err), -ING_FAIL_USAGE);
}

/* --- rows of before --- */

static void rows_that_are_not_filled_are_found_by_their_own_url(void **state)
{
	(void)state;
	const char *dsn = with_rows(
		"SELECT ask('new', 'https://x.org/1'), ask('hit', 'https://x.org/2'), ask('other', 'http://x.org/2'),"
		" ask('due', 'https://x.org/3');"
		"SELECT answer('https://x.org/2', 'success'), answer('https://x.org/3', 'timeout', '-1 second')");
	static const char *const states[] = {
		"UPDATE ingest_file_result SET document = NULL",
		"UPDATE ingest_request SET request_id = NULL, document = NULL, host = NULL, doi_prefix = NULL",
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(states); i++) {
		bench_sql(dsn, states[i]);
		struct ing_selection s = {.only_new = true};
		expect(dsn, &s, ING_ORDER_STORED, "new", "new other");
		s = (struct ing_selection){.classes = ING_CLASS_HIT};
		expect(dsn, &s, ING_ORDER_STORED, "hit", "hit");
		s = (struct ing_selection){.classes = ING_CLASS_NEVER_ASKED | ING_CLASS_RETRY_DUE};
		expect(dsn, &s, ING_ORDER_STORED, "never asked or due", "due new other");
	}
	struct ing_selection s = {.random = true, .limit = 3};
	struct ids ids;
	read_into(dsn, &s, ING_ORDER_STORED, &ids);
	assert_int_equal(ids.count, 3);
	ing_buf_done(&ids.text);
	/* A topic would get again what it has. */
	struct ing_error err = {0};
	struct ing_selection_reader *r = NULL;
	assert_int_equal(
		ing_selection_open(dsn, &s, ING_ORDER_INTERLEAVED, &r, &err), -ING_FAIL_INVALID);
	assert_non_null(strstr(err.msg, "ingestctl db fill"));
}

static void texts_come_as_they_are_stored(void **state)
{
	(void)state;
	static const char *const texts[] = {"\\", "\\\\", "\\N", "\\t", "a\tb", "a\nb", "\r\n",
		"\b\f\v", "\\.", "x\\", "\x01\x7f", "é\U0001F600", "''\"", "\\x41\\101"};
	const char *dsn = with_rows("SELECT 1");
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	bench_check(ing_pg_open(dsn, -1, 30000, &pg, &err), &err);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++)
		bench_check(
			(int)ing_pg_query(pg, NULL,
				"INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url,"
				" ingest_request_source, release_stage, request, host, doi_prefix, created) VALUES"
				" ($1, $1, $1, $1, $1, $1, jsonb_build_object('n', 1e400, 't', $1::text), $1, $1,"
				" '2026-11-23 01:02:03.45+01')",
				&texts[i], 1, NULL, NULL, &err),
			&err);
	ing_pg_close(pg);
	struct ing_selection_reader *r = NULL;
	struct ing_stored_request q;
	const struct ing_selection all = {.limit = 0};
	bench_check(ing_selection_open(dsn, &all, ING_ORDER_STORED, &r, &err), &err);
	for (size_t i = 0; i < ING_ARRAY_LEN(texts); i++) {
		assert_int_equal(ing_selection_next(r, &q, &err), 1);
		const char *const got[] = {q.link_source, q.link_source_id, q.ingest_type,
			q.base_url, q.ingest_request_source, q.release_stage, q.host, q.doi_prefix};
		for (size_t k = 0; k < ING_ARRAY_LEN(got); k++)
			assert_string_equal(got[k], texts[i]);
		assert_string_equal(q.created, "2026-11-23T00:02:03.45Z");
		assert_null(q.request_id);
		assert_null(q.document);
		assert_non_null(strstr(q.request_json, "\"n\": 1000000000"));
	}
	assert_int_equal(ing_selection_next(r, &q, &err), 0);
	ing_selection_close(r);
}

static void groups_are_hosts_but_prefixes_at_a_resolver(void **state)
{
	(void)state;
	static const char *const hosts[] = {
		"doi.org", "dx.doi.org", "x.org", "xdoi.org", "doi.org.x"};
	const char *dsn = fresh();
	for (size_t i = 0; i < ING_ARRAY_LEN(hosts); i++) {
		char sql[400];
		snprintf(sql, sizeof(sql),
			"SELECT (" ING_SELECTION_GROUP_SQL(
				"q") " = '10.1')::integer FROM"
				     " (VALUES ('%s', '10.1')) q (host, doi_prefix)",
			hosts[i]);
		assert_int_equal(bench_number(dsn, sql), ing_is_doi_resolver(hosts[i]));
	}
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM (VALUES (NULL, NULL), ('doi.org', NULL)) q"
				  " (host, doi_prefix) WHERE " ING_SELECTION_GROUP_SQL(
					  "q") " IN ('', 'doi.org')"),
		2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(conditions_select_what_they_say),
		WITH_SERVER(created_is_from_inclusive_to_exclusive),
		WITH_SERVER(every_request_has_a_class),
		WITH_SERVER(what_was_queued_too_long_ago_is_lost),
		WITH_SERVER(what_is_known_under_another_writing_of_its_url_is_not_new),
		WITH_SERVER(of_several_results_of_a_document_the_best_counts),
		WITH_SERVER(values_are_never_sql),
		WITH_SERVER(bytes_that_are_no_text_are_refused),
		WITH_SERVER(a_list_has_what_it_brought_and_what_was_there),
		WITH_SERVER(a_list_of_higher_priority_goes_first),
		WITH_SERVER(a_list_that_does_not_exist_is_named_with_its_nearest),
		WITH_SERVER(limits_hold_for_each_host),
		WITH_SERVER(a_share_with_a_limit_fills_it),
		WITH_SERVER(a_limit_takes_of_each_host_in_proportion),
		WITH_SERVER(a_document_is_once_in_what_is_for_topics),
		WITH_SERVER(slices_are_disjoint_and_make_the_whole),
		WITH_SERVER(a_seed_gives_the_same_order_whatever_way_requests_are_stored),
		WITH_SERVER(counts_are_those_of_what_would_be_read),
		WITH_SERVER(rows_that_are_not_filled_are_found_by_their_own_url),
		WITH_SERVER(texts_come_as_they_are_stored),
		WITH_SERVER(groups_are_hosts_but_prefixes_at_a_resolver),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
