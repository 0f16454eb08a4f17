/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Publications and web pages in their tables: one row each, whoever writes them and by whatever identifiers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/data/pg.h"
#include "tests/unit/worker/store/bench.h"

#define ID(name, content, type)                                                                    \
	"\"" name "\":{\"content\":\"" content "\",\"type\":\"" type "\",\"size\":9}"
#define TITLE(text, type) ID("title", text, type)

/* An item with nothing but a publication. */
static void put(struct bench *b, struct entry *e, const char *record, const char *url)
{
	bench_fill(b, e, 1);
	e->rows = (struct ing_rows){.publication = {.present = true,
					    .url = url,
					    .record_json = record,
					    .rules = {720, 10080, 1440, -1, 3}}};
	ing_store_put(b->store, &e->item);
}

static void put_page(struct bench *b, struct entry *e, const char *record, const char *url)
{
	bench_fill(b, e, 1);
	e->rows = (struct ing_rows){.webpage = {.present = true,
					    .url = url,
					    .record_json = record,
					    .rules = {720, 10080, 1440, -1, 3}}};
	ing_store_put(b->store, &e->item);
}

static void a_publication_has_a_row_with_what_conditions_ask(void **state)
{
	(void)state;
	struct bench b;
	struct entry e;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	put(&b, &e,
		"{" ID("pmid", "1", "europepmc") "," ID("doi", "10.1234/A", "europepmc") "," TITLE(
			"A title",
			"doi") ",\"oa\":true,\"pub_date\":\"2016-04-18\","
			       "\"citationsCount\":12,\"fetchTime\":5,\"visitedSites\":["
			       "{\"url\":\"https://WWW.a.example:443/x\",\"type\":\"doi\"},"
			       "{\"url\":\"http://u:p@b.example?q\",\"type\":\"link\"},{\"url\":\"nonsense\"}]}",
		NULL);
	bench_wait(&b, 1);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM publication WHERE pmid = '1' AND pmcid IS NULL"
			" AND doi = '10.1234/A' AND registrant = '1234' AND doi_type = 'europepmc'"
			" AND title = 'A title' AND title_type = 'doi' AND title_size = 9"
			" AND oa AND preprint IS NULL AND pub_date >= '2016-01-01'"
			" AND citations = 12 AND fetch_time_ms = 5 AND retry_counter = 0"
			" AND hosts = '{a.example,b.example}' AND usable AND NOT empty"
			" AND NOT final AND url IS NULL AND created = updated"),
		1);
	bench_close(&b);
}

/* All orders of the same three records end in the same row. */
static void rows_that_turn_out_to_be_one_are_merged(void **state)
{
	(void)state;
	static const char *const records[] = {
		"{" ID("pmid", "1", "europepmc") "," TITLE("of PubMed", "citation") "}",
		"{" ID("doi", "10.1/A", "doi") "," ID("abstract", "An abstract", "doi") "}",
		"{" ID("pmid", "1", "europepmc") "," ID("doi", "10.1/A", "europepmc") "," TITLE(
			"of both", "europepmc") "}",
	};
	static const unsigned orders[][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	for (size_t i = 0; i < ING_ARRAY_LEN(orders); i++) {
		struct bench b;
		struct entry e[3];
		bench_open(&b, dsn, i % 2 == 0 ? 100 : 1);
		for (unsigned k = 0; k < 3; k++)
			put(&b, &e[k], records[orders[i][k]], NULL);
		bench_wait(&b, 3);
		assert_int_equal(bench_number(dsn, "SELECT count(*) FROM publication"), 1);
		assert_int_equal(
			bench_number(dsn, "SELECT count(*) FROM publication WHERE pmid = '1'"
					  " AND doi = '10.1/A' AND title = 'of both'"
					  " AND abstract_type = 'doi'"),
			1);
		bench_close(&b);
		bench_sql(dsn, "DELETE FROM publication");
	}
}

static void a_failed_fetch_takes_nothing_away(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[2];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	put(&b, &e[0],
		"{" ID("pmid", "1", "europepmc") "," TITLE("kept", "doi") ",\"fetchTime\":1000}",
		NULL);
	put(&b, &e[1],
		"{" ID("pmid", "1", "external") ",\"fetchTime\":2000,\"fetchException\":true}",
		NULL);
	bench_wait(&b, 2);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM publication WHERE title = 'kept'"
				  " AND pmid_type = 'europepmc' AND fetch_exception"
				  " AND fetch_time_ms = 1000 AND retry_counter = 1 AND NOT empty"),
		1);
	bench_close(&b);
}

static void an_identifier_that_was_wrong_is_dropped(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[3];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 1);
	put(&b, &e[0],
		"{" ID("pmid", "1", "europepmc") "," ID("doi", "10.1/WRONG", "external") "," TITLE(
			"of another", "doi") "}",
		NULL);
	put(&b, &e[1],
		"{" ID("pmid", "1", "europepmc") "," ID("doi", "10.1/RIGHT", "europepmc") "}",
		NULL);
	/* It is free for its own publication. */
	put(&b, &e[2],
		"{" ID("pmid", "2", "europepmc") "," ID("doi", "10.1/WRONG", "europepmc") "}",
		NULL);
	bench_wait(&b, 3);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM publication"), 2);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM publication WHERE pmid = '1'"
					   " AND doi = '10.1/RIGHT' AND title IS NULL"),
		1);
	bench_close(&b);
}

static void two_publications_do_not_become_one(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[2];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	put(&b, &e[0],
		"{" ID("pmid", "1", "europepmc") "," ID("doi", "10.1/A", "europepmc") "," TITLE(
			"first", "doi") "}",
		NULL);
	put(&b, &e[1],
		"{" ID("pmid", "1", "europepmc") "," ID("doi", "10.1/B", "europepmc") "," TITLE(
			"second", "doi") "}",
		NULL);
	bench_wait(&b, 2);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM publication WHERE (doi = '10.1/A' AND"
			" pmid IS NULL AND title = 'first') OR (doi = '10.1/B' AND pmid = '1'"
			" AND title = 'second')"),
		2);
	bench_close(&b);
}

static void one_that_was_asked_for_by_its_page_is_known_by_it(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[3];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 1);
	put(&b, &e[0], "{" TITLE("by its page", "webpage") "}", "https://a.example/paper");
	put(&b, &e[1], "{" ID("doi", "10.1/A", "doi") "," TITLE("by its DOI", "doi") "}", NULL);
	put(&b, &e[2], "{" ID("doi", "10.1/A", "doi") "}", "https://a.example/paper");
	bench_wait(&b, 3);
	assert_int_equal(
		bench_number(dsn, "SELECT count(*) FROM publication WHERE doi = '10.1/A'"
				  " AND url = 'https://a.example/paper' AND title = 'by its DOI'"),
		1);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM publication"), 1);
	bench_close(&b);
}

static void what_cannot_be_kept_is_skipped(void **state)
{
	(void)state;
	static const char *const records[] = {"", "[]", "{", "{}", "null",
		"{" TITLE("without any key", "doi") "}", "{\"pmid\":{\"content\":7,\"size\":1}}"};
	struct bench b;
	struct entry e[ING_ARRAY_LEN(records) + 1];
	struct ing_store_stats stats;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 100);
	for (unsigned i = 0; i < ING_ARRAY_LEN(records); i++)
		put(&b, &e[i], records[i], NULL);
	put(&b, &e[ING_ARRAY_LEN(records)],
		"{" ID("pmid", "1", "doi") "," TITLE(
			"NUL \\u0000 and half \\ud83d", "doi") ",\"citationsCount\":1e999999}",
		NULL);
	bench_wait(&b, ING_ARRAY_LEN(e));
	ing_store_stats(b.store, &stats);
	assert_int_equal(stats.skipped + stats.refused, ING_ARRAY_LEN(records) + 1);
	bench_close(&b);
}

static void a_web_page_has_a_row_by_its_url(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[3];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 2);
	put_page(&b, &e[0],
		"{\"startUrl\":\"https://www.a.example/\",\"finalUrl\":\"https://www.b.example/en\","
		"\"title\":\"A tool\",\"content\":\"Its page has more than fifty characters of text, "
		"so it is usable.\",\"statusCode\":200,\"fetchTime\":1000}",
		"https://www.a.example/");
	put_page(&b, &e[1],
		"{\"startUrl\":\"https://www.a.example/\",\"statusCode\":503,\"fetchTime\":2000,"
		"\"fetchException\":true}",
		"https://www.a.example/");
	put_page(&b, &e[2], "{\"title\":\"no URL\"}", NULL);
	bench_wait(&b, 3);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM webpage WHERE start_url = 'https://www.a.example/'"
			" AND host = 'b.example' AND title = 'A tool' AND status_code = 200"
			" AND title_size = 6 AND content_size > 50 AND final AND NOT broken"
			" AND fetch_time_ms = 1000 AND retry_counter = 1 AND fetch_exception"),
		1);
	bench_close(&b);
}

#define WRITERS 3u
#define PAPERS 15u
#define ROUNDS 5u

/* By PMID and DOI, by DOI and PMCID, or by PMCID and PMID: two of them meet in each. */
static void describe(char *to, size_t bytes, unsigned paper, unsigned kind)
{
	static const char *const pairs[][2] = {
		{"pmid", "doi"}, {"doi", "pmcid"}, {"pmcid", "pmid"}};
	snprintf(to, bytes,
		"{\"%s\":{\"content\":\"%s%u\",\"type\":\"doi\",\"size\":9},"
		"\"%s\":{\"content\":\"%s%u\",\"type\":\"doi\",\"size\":9},"
		"\"visitedSites\":[{\"url\":\"https://a.example/%u\"}]}",
		pairs[kind][0], pairs[kind][0], paper, pairs[kind][1], pairs[kind][1], paper, kind);
}

static void workers_with_the_same_publications_do_not_get_in_each_others_way(void **state)
{
	(void)state;
	static struct entry e[WRITERS][PAPERS * ROUNDS];
	static char records[WRITERS][PAPERS * ROUNDS][512];
	struct bench b[WRITERS];
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	for (unsigned w = 0; w < WRITERS; w++)
		bench_open_for(&b[w], dsn, w == 0 ? 16 : 1, 1); /* a refusal of one row is final */
	/* Each worker in another order, each with another pair of identifiers. */
	for (unsigned i = 0; i < PAPERS * ROUNDS; i++) {
		for (unsigned w = 0; w < WRITERS; w++) {
			unsigned paper = w == 0 ? i % PAPERS : (i * (7 + 2 * w) + w) % PAPERS;
			describe(records[w][i], sizeof(records[w][i]), paper, (w + i / PAPERS) % 3);
			put(&b[w], &e[w][i], records[w][i], NULL);
		}
	}
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	for (bool all = false; !all && ing_now_ms() < until;) {
		all = true;
		for (unsigned w = 0; w < WRITERS; w++) {
			uv_run(&b[w].loop, UV_RUN_NOWAIT);
			all &= b[w].done == PAPERS * ROUNDS;
		}
		uv_sleep(1);
	}
	for (unsigned w = 0; w < WRITERS; w++) {
		struct ing_store_stats stats;
		assert_int_equal(b[w].done, PAPERS * ROUNDS);
		ing_store_stats(b[w].store, &stats);
		assert_int_equal(stats.refused, 0);
		assert_int_equal(stats.skipped, 0);
		bench_close(&b[w]);
	}
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM publication"), PAPERS);
	assert_int_equal(
		bench_number(dsn,
			"SELECT count(*) FROM publication WHERE substr(pmid, 5) = substr(doi, 4)"
			" AND substr(pmcid, 6) = substr(doi, 4)"
			" AND jsonb_array_length(visited_sites) = 3"),
		PAPERS);
}

/* While a writer waits for a row, another one moves its identifier to a row that it cannot have seen. */
static void an_identifier_that_moves_meanwhile_is_found_again(void **state)
{
	(void)state;
	struct bench b;
	struct entry e[3];
	struct ing_pg *pg = NULL;
	struct ing_store_stats stats;
	const char *dsn = cluster_database(&bench_cluster);
	bench_migrate(dsn);
	bench_open(&b, dsn, 1);
	put(&b, &e[0], "{" ID("pmid", "1", "doi") "}", NULL);
	put(&b, &e[1], "{" ID("doi", "10.1/A", "doi") "," ID("pmcid", "PMC1", "doi") "}", NULL);
	bench_wait(&b, 2);
	assert_int_equal(ing_pg_open(dsn, -1, 30000, &pg, NULL), 0);
	assert_int_equal(
		ing_pg_exec(pg, "BEGIN; SELECT FROM publication ORDER BY id FOR UPDATE", NULL),
		ING_PG_OK);
	put(&b, &e[2], "{" ID("pmcid", "PMC1", "doi") "," TITLE("late", "doi") "}", NULL);
	uint64_t until = ing_now_ms() + WAIT_LIMIT_MS;
	while (bench_number(dsn, "SELECT count(*) FROM pg_locks WHERE NOT granted") == 0)
		assert_true(ing_now_ms() < until);
	assert_int_equal(ing_pg_exec(pg,
				 "DELETE FROM publication WHERE pmcid = 'PMC1';"
				 "UPDATE publication SET record = record ||"
				 " '{" ID("pmcid", "PMC1", "doi") "}' WHERE pmid = '1'; COMMIT",
				 NULL),
		ING_PG_OK);
	bench_wait(&b, 3);
	ing_store_stats(b.store, &stats);
	assert_int_equal(stats.refused, 0);
	assert_int_equal(bench_number(dsn, "SELECT count(*) FROM publication WHERE pmid = '1'"
					   " AND pmcid = 'PMC1' AND title = 'late'"),
		1);
	ing_pg_close(pg);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SERVER(a_publication_has_a_row_with_what_conditions_ask),
		WITH_SERVER(rows_that_turn_out_to_be_one_are_merged),
		WITH_SERVER(a_failed_fetch_takes_nothing_away),
		WITH_SERVER(an_identifier_that_was_wrong_is_dropped),
		WITH_SERVER(two_publications_do_not_become_one),
		WITH_SERVER(one_that_was_asked_for_by_its_page_is_known_by_it),
		WITH_SERVER(what_cannot_be_kept_is_skipped),
		WITH_SERVER(a_web_page_has_a_row_by_its_url),
		WITH_SERVER(an_identifier_that_moves_meanwhile_is_found_again),
		WITH_SERVER(workers_with_the_same_publications_do_not_get_in_each_others_way),
	};
	return cmocka_run_group_tests(tests, bench_start, bench_stop);
}
