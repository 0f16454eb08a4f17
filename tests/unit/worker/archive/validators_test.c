/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What other people's tools say of our files: `warcio check` has to accept every record with its
 * digests, and so has `jwarc validate`, and the index that cdxj-indexer makes of a file has to be
 * ours, line by line. Skipped where the tools are not installed (deploy/deps --test puts them under the cache folder; ING_VENV
 * names another place).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <glob.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/record/cdx.h"
#include "support.h"

#define JAVA "/usr/bin/java"

/* The second half is the same answers again: their bodies are referred to. */
enum { ANSWERS = 6, COUNT = 2 * ANSWERS, REVISITS = 4, PAYLOADS = 8 };

/* clang-format off */
static const struct {
	const char *url;
	const char *surt;
	const char *head;
	const char *mimetype;
	int status;
	size_t body_bytes;
	enum ing_truncated truncated;
} answers[ANSWERS] = {
	{.url = "https://example.org/landing?a=1", .surt = "org,example)/landing?a=1",
		.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n\r\n",
		.mimetype = "text/html", .status = 200, .body_bytes = 20000,
		.truncated = ING_TRUNC_NONE},
	{.url = "http://example.org/paper.pdf", .surt = "org,example)/paper.pdf",
		.head = "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 3000000\r\n\r\n",
		.mimetype = "application/pdf", .status = 200, .body_bytes = 3000000,
		.truncated = ING_TRUNC_NONE},
	{.url = "http://example.org/moved", .surt = "org,example)/moved",
		.head = "HTTP/1.1 302 Found\r\nLocation: /paper.pdf\r\nContent-Type: text/plain\r\n\r\n",
		.mimetype = "text/plain", .status = 302, .truncated = ING_TRUNC_NONE},
	{.url = "http://example.org/cut", .surt = "org,example)/cut",
		.head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 900000\r\n\r\n",
		.mimetype = "text/plain", .status = 200, .body_bytes = 777,
		.truncated = ING_TRUNC_LENGTH},
	{.url = "http://example.org/zipped", .surt = "org,example)/zipped",
		.head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n"
			"X-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n",
		.mimetype = "text/html", .status = 200, .body_bytes = 512,
		.truncated = ING_TRUNC_NONE},
	{.url = "http://example.org/bare-line-ends", .surt = "org,example)/bare-line-ends",
		.head = "HTTP/1.1 404 Not Found\nContent-Type: text/html\n\n",
		.mimetype = "text/html", .status = 404, .body_bytes = 100,
		.truncated = ING_TRUNC_NONE},
};
/* clang-format on */

/* The tool's path, or NULL where it is not installed. */
static const char *find_tool(const char *name, char ret[512])
{
	const char *venv = getenv("ING_VENV");
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	if (venv != NULL)
		snprintf(ret, 512, "%s/bin/%s", venv, name);
	else if (cache != NULL)
		snprintf(ret, 512, "%s/ingest-worker/venv/bin/%s", cache, name);
	else
		snprintf(ret, 512, "%s/.cache/ingest-worker/venv/bin/%s", home != NULL ? home : "",
			name);
	if (access(ret, X_OK) == 0)
		return ret;
	print_message("%s is not installed: skipped\n", ret);
	return NULL;
}

/* Run it with its output in a file of the fixture; returns its exit code. */
static int run_tool(char *const argv[], const char *output)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(
		&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	assert_int_equal(posix_spawn(&pid, argv[0], &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static char *read_text(const char *path)
{
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	char *text = ing_alloc(65536);
	size_t bytes = fread(text, 1, 65535, in);
	text[bytes] = '\0';
	fclose(in);
	return text;
}

static unsigned count_of(const char *text, const char *part)
{
	unsigned count = 0;
	for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}

/* Archive all answers into one file, then once more; its path. */
static void archive_answers(struct fixture *f, struct parcel parcels[COUNT], char ret_path[512])
{
	static const char date[] = "2026-01-02T03:03:04.123456Z";
	struct ing_archive_original known[ANSWERS];
	const struct ing_archive_original *offered[ANSWERS];
	char *body = ing_alloc(3000000);
	for (size_t i = 0; i < 3000000; i++)
		body[i] = (char)(i * i >> 7);
	fixture_start(f);
	for (size_t k = 0; k < COUNT; k++) {
		size_t i = k % ANSWERS;
		struct parcel *p = &parcels[k];
		parcel_init(p, answers[i].url, answers[i].head, body, answers[i].body_bytes);
		p->exchange.truncated = answers[i].truncated;
		p->exchange.http_status = answers[i].status;
		if (k >= ANSWERS && answers[i].body_bytes > 0 &&
			answers[i].truncated == ING_TRUNC_NONE) {
			known[i] = (struct ing_archive_original){.url = answers[i].url,
				.record_id = parcels[i].item.record_id,
				.record_date = date};
			memcpy(known[i].payload_sha1, parcels[i].item.body.sha1, 20);
			offered[i] = &known[i];
			p->item.originals = &offered[i];
			p->item.original_count = 1;
			p->exchange.started.tv_sec++;
		}
		parcel_put(f, p);
		if (k + 1 == ANSWERS)
			run_until_done(f, parcels, ANSWERS);
	}
	run_until_done(f, parcels, COUNT);
	struct ing_archive_stats stats;
	ing_archive_stats(f->archive, &stats);
	assert_int_equal(stats.revisits, REVISITS);
	fixture_stop(f);
	assert_int_equal(look_around(f).files, 1);
	snprintf(ret_path, 512, "%s/%s", f->path, parcels[0].item.warc_name);
	free(body);
}

static void warcio_accepts_the_file(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[COUNT];
	char tool[512];
	char path[512];
	char output[512];
	char check[] = "check";
	char verbose[] = "-v";
	if (find_tool("warcio", tool) == NULL)
		skip();
	archive_answers(f, parcels, path);
	snprintf(output, sizeof(output), "%s/output", f->path);
	int rc = run_tool((char *[]){tool, check, verbose, path, NULL}, output);
	char *text = read_text(output);
	if (rc != 0)
		fail_msg("warcio check: %d: %s", rc, text);
	/* Every record was looked at. Those of revisits are jwarc's to check. */
	assert_int_equal(count_of(text, "digest pass"), 1 + 2 * COUNT - REVISITS);
	assert_int_equal(count_of(text, "digest present but not checked (revisit)"), REVISITS);
	free(text);
	for (size_t i = 0; i < COUNT; i++)
		parcel_done(&parcels[i]);
}

static void the_indexers_lines_are_ours(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[COUNT];
	char tool[512];
	char path[512];
	char output[512];
	char cdx11[] = "--cdx11";
	struct ing_buf ours;
	if (find_tool("cdxj-indexer", tool) == NULL)
		skip();
	archive_answers(f, parcels, path);
	ing_buf_init(&ours, 65536);
	ing_buf_add_str(&ours, ING_CDX_HEADER);
	for (size_t k = 0; k < COUNT; k++) {
		size_t i = k % ANSWERS;
		char datetime[ING_DT14_BYTES];
		ing_format_dt14(parcels[k].exchange.started, datetime);
		bool revisit = parcels[k].item.refers_to != NULL;
		const struct ing_cdx cdx = {
			.surt = answers[i].surt,
			.datetime = datetime,
			.url = answers[i].url,
			.mimetype = revisit ? "warc/revisit" : answers[i].mimetype,
			.status = answers[i].status,
			.sha1b32 = parcels[k].item.payload_sha1b32,
			.csize = (int64_t)parcels[k].item.csize,
			.offset = (int64_t)parcels[k].item.offset,
			.filename = parcels[k].item.warc_name,
		};
		assert_true(ing_cdx_format(&cdx, &ours));
	}
	snprintf(output, sizeof(output), "%s/output", f->path);
	int rc = run_tool((char *[]){tool, cdx11, path, NULL}, output);
	char *theirs = read_text(output);
	assert_int_equal(rc, 0);
	assert_string_equal(theirs, ing_buf_str(&ours));
	free(theirs);
	ing_buf_done(&ours);
	for (size_t i = 0; i < COUNT; i++)
		parcel_done(&parcels[i]);
}

/* jwarc's jar, of whatever version, or NULL where it is not installed. */
static const char *find_jar(char ret[512])
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char pattern[512];
	glob_t found;
	if (cache != NULL)
		snprintf(pattern, sizeof(pattern), "%s/ingest-worker/jwarc-*.jar", cache);
	else
		snprintf(pattern, sizeof(pattern), "%s/.cache/ingest-worker/jwarc-*.jar",
			home != NULL ? home : "");
	bool there = access(JAVA, X_OK) == 0 && glob(pattern, 0, NULL, &found) == 0;
	if (!there) {
		print_message("%s, or Java, is not installed: skipped\n", pattern);
		return NULL;
	}
	snprintf(ret, 512, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	return ret;
}

static void jwarc_accepts_the_file(void **state)
{
	struct fixture *f = *state;
	struct parcel parcels[COUNT];
	char jar[512];
	char path[512];
	char output[512];
	char java[] = JAVA;
	char serial[] = "-XX:+UseSerialGC";
	char run[] = "-jar";
	char validate[] = "validate";
	char verbose[] = "-v";
	if (find_jar(jar) == NULL)
		skip();
	archive_answers(f, parcels, path);
	snprintf(output, sizeof(output), "%s/output", f->path);
	int rc =
		run_tool((char *[]){java, serial, run, jar, validate, verbose, path, NULL}, output);
	char *text = read_text(output);
	/* Its only objection is that a cut body is shorter than its Content-Length: it does not ask
	 * for WARC-Truncated. */
	assert_int_equal(count_of(text, "block digest pass"), 1 + 2 * COUNT);
	assert_int_equal(count_of(text, "payload digest pass"), PAYLOADS);
	unsigned cut = count_of(text, "ERROR: invalid HTTP header Content-Length: 900000\n");
	if (rc != 1 || cut != 2 || count_of(text, "ERROR") != cut || count_of(text, "fail") > 0)
		fail_msg("jwarc validate: %d: %s", rc, text);
	free(text);
	for (size_t i = 0; i < COUNT; i++)
		parcel_done(&parcels[i]);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(warcio_accepts_the_file),
		CASE(the_indexers_lines_are_ours),
		CASE(jwarc_accepts_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
