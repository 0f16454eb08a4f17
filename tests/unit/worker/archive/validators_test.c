/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What other people's tools say of our files: `warcio check` has to accept every record with its
 * digests, and the index that cdxj-indexer makes of a file has to be ours, line by line. Skipped
 * where the tools are not installed (deploy/deps --test puts them under the cache folder; ING_VENV
 * names another place).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/record/cdx.h"
#include "support.h"

enum { COUNT = 6 };

/* clang-format off */
static const struct {
	const char *url;
	const char *surt;
	const char *head;
	const char *mimetype;
	int status;
	size_t body_bytes;
	enum ing_truncated truncated;
} answers[COUNT] = {
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

/* Archive all answers into one file; its path. */
static void archive_answers(struct fixture *f, struct parcel parcels[COUNT], char ret_path[512])
{
	char *body = ing_alloc(3000000);
	for (size_t i = 0; i < 3000000; i++)
		body[i] = (char)(i * i >> 7);
	fixture_start(f);
	for (size_t i = 0; i < COUNT; i++) {
		parcel_init(
			&parcels[i], answers[i].url, answers[i].head, body, answers[i].body_bytes);
		parcels[i].exchange.truncated = answers[i].truncated;
		parcels[i].exchange.http_status = answers[i].status;
		parcel_put(f, &parcels[i]);
	}
	run_until_done(f, parcels, COUNT);
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
	/* every record was looked at: a block digest each, and a payload digest of each response */
	unsigned passes = 0;
	for (const char *at = text; (at = strstr(at, "digest pass")) != NULL; at++)
		passes++;
	assert_true(passes >= 1 + 2 * COUNT);
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
	for (size_t i = 0; i < COUNT; i++) {
		char datetime[ING_DT14_BYTES];
		ing_format_dt14(parcels[i].exchange.started, datetime);
		const struct ing_cdx cdx = {
			.surt = answers[i].surt,
			.datetime = datetime,
			.url = answers[i].url,
			.mimetype = answers[i].mimetype,
			.status = answers[i].status,
			.sha1b32 = parcels[i].item.payload_sha1b32,
			.csize = (int64_t)parcels[i].item.csize,
			.offset = (int64_t)parcels[i].item.offset,
			.filename = parcels[i].item.warc_name,
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

#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(warcio_accepts_the_file),
		CASE(the_indexers_lines_are_ours),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
