/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Publications and web pages that are kept, as they answer requests: by which keys, and only while they may
 * not be fetched again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/worker/store/bench.h"
#include "worker/store/lookup/lookup.h"

#define MINUTES(n) (INT64_C(60000) * (n))
#define NOW INT64_C(1800000000000)

struct asked {
	struct bench *b;
	unsigned answers;
	bool found, hit;
	char status[64], record[512], updated[32];
};

static void on_answer(void *ctx, const struct ing_earlier_result *r)
{
	struct asked *a = ctx;
	a->answers++;
	a->b->done++;
	a->found = r != NULL;
	if (r == NULL)
		return;
	const struct ing_row_kept *row =
		r->rows.webpage.present ? &r->rows.webpage : &r->rows.publication;
	assert_true(row->present);
	a->hit = r->rows.result.hit;
	snprintf(a->status, sizeof(a->status), "%s", r->rows.result.status);
	snprintf(a->record, sizeof(a->record), "%s", row->record_json);
	snprintf(a->updated, sizeof(a->updated), "%s", r->updated);
}

static void ask(struct asked *a, struct bench *b, struct ing_lookup *l, struct ing_lookup_kept what)
{
	*a = (struct asked){.b = b};
	what.now_ms = NOW;
	what.rules = (struct ing_refetch_rules){720, 10080, 1440, -1, 3};
	assert_non_null(ing_lookup_kept(l, &what, on_answer, a));
}

static struct ing_lookup *open_lookup(struct bench *b, const char *dsn)
{
	struct ing_lookup *l = NULL;
	struct ing_error err = {0};
	bench_check(ing_lookup_new(&b->loop,
			    &(struct ing_postgres_settings){.dsn = dsn, .statement_ms = 5000}, &l,
			    &err),
		&err);
	return l;
}

static void a_publication_answers_by_each_of_its_keys(void **state)
{
	(void)state;
	struct bench b;
	struct asked a[7];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_sql(dsn,
		"INSERT INTO publication (url, record) VALUES ('https://a.example/{\"\\,}',"
		" '{\"pmid\":{\"content\":\"1\"},\"pmcid\":{\"content\":\"PMC1\"},"
		"\"doi\":{\"content\":\"10.1/A\"},\"usable\":true,\"final\":true,\"empty\":false,"
		"\"fetchTime\":1,\"fetchException\":false}'),"
		" (NULL, '{\"pmid\":{\"content\":\"2\"},\"usable\":false,\"final\":true,"
		"\"empty\":false,\"fetchTime\":1,\"fetchException\":false}')");
	ask(&a[0], &b, l, (struct ing_lookup_kept){.pmid = "1"});
	ask(&a[1], &b, l, (struct ing_lookup_kept){.pmcid = "PMC1", .doi = "10.1/NONE"});
	ask(&a[2], &b, l, (struct ing_lookup_kept){.doi = "10.1/A"});
	ask(&a[3], &b, l, (struct ing_lookup_kept){.url = "https://a.example/{\"\\,}"});
	ask(&a[4], &b, l, (struct ing_lookup_kept){.pmid = "3", .doi = ""});
	ask(&a[5], &b, l, (struct ing_lookup_kept){.pmid = "2", .doi = "10.1/A"}); /* two */
	ask(&a[6], &b, l, (struct ing_lookup_kept){.pmid = "2"});
	bench_wait(&b, 7);
	for (size_t i = 0; i < 4; i++) {
		assert_true(a[i].found);
		assert_true(a[i].hit);
		assert_string_equal(a[i].status, "success");
		assert_non_null(strstr(a[i].record, "10.1/A"));
		assert_int_equal(strlen(a[i].updated), 20);
	}
	assert_false(a[4].found);
	assert_false(a[5].found);
	assert_true(a[6].found);
	assert_false(a[6].hit);
	assert_string_equal(a[6].status, "empty-publication");
	ing_lookup_free(l);
	bench_close(&b);
}

static const struct {
	const char *name, *members;
	int64_t age_ms;
	bool found;
} ages[] = {
	{"final", "\"final\":true,\"empty\":false", MINUTES(99999), true},
	{"not final, tries left", "\"final\":false,\"empty\":false,\"retryCounter\":2", 0, false},
	{"not final, no tries left", "\"final\":false,\"empty\":false,\"retryCounter\":3", 0, true},
	{"its cool-down is over", "\"final\":false,\"empty\":false,\"retryCounter\":3",
		MINUTES(10080), false},
	{"a source failed", "\"final\":true,\"fetchException\":true,\"retryCounter\":3",
		MINUTES(1440), false},
	{"never as a whole", "\"final\":true,\"empty\":false", NOW, false},
	{"without any state", "\"x\":1", MINUTES(1), false},
};

static void one_that_may_be_fetched_again_is_no_answer(void **state)
{
	(void)state;
	struct bench b;
	struct asked a[2 * ING_ARRAY_LEN(ages)];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	for (unsigned i = 0; i < ING_ARRAY_LEN(ages); i++) {
		char sql[1024];
		char key[32];
		snprintf(key, sizeof(key), "%u", i + 1);
		snprintf(sql, sizeof(sql),
			"INSERT INTO publication (record) VALUES ('{\"pmid\":{\"content\":\"%s\"},"
			"\"fetchTime\":%lld,%s}'); INSERT INTO webpage (start_url, record)"
			" VALUES ('%s', '{\"fetchTime\":%lld,%s}')",
			key, (long long)(NOW - ages[i].age_ms), ages[i].members, key,
			(long long)(NOW - ages[i].age_ms), ages[i].members);
		bench_sql(dsn, sql);
		ask(&a[2 * i], &b, l, (struct ing_lookup_kept){.pmid = key});
		ask(&a[2 * i + 1], &b, l, (struct ing_lookup_kept){.is_webpage = true, .url = key});
	}
	bench_wait(&b, ING_ARRAY_LEN(a));
	for (size_t i = 0; i < ING_ARRAY_LEN(a); i++)
		if (a[i].found != ages[i / 2].found)
			fail_msg("%s", ages[i / 2].name);
	ing_lookup_free(l);
	bench_close(&b);
}

static void a_web_page_is_told_with_the_status_of_its_request(void **state)
{
	(void)state;
	struct bench b;
	struct asked a;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	struct ing_lookup *l = open_lookup(&b, dsn);
	bench_sql(dsn, "INSERT INTO webpage (start_url, record) VALUES ('https://a.example/',"
		       " '{\"fetchTime\":1799999990000,\"empty\":true,\"retryCounter\":3}');"
		       "INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
		       " VALUES ('webpage', 'https://a.example/', false, 'terminal-bad-status')");
	ask(&a, &b, l, (struct ing_lookup_kept){.is_webpage = true, .url = "https://a.example/"});
	bench_wait(&b, 1);
	assert_true(a.found);
	assert_false(a.hit);
	assert_string_equal(a.status, "terminal-bad-status");
	ing_lookup_free(l);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_publication_answers_by_each_of_its_keys),
		WITH_SERVER(one_that_may_be_fetched_again_is_no_answer),
		WITH_SERVER(a_web_page_is_told_with_the_status_of_its_request),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
