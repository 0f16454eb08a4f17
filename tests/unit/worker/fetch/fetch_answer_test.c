/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What answers become: good ones, odd ones, broken ones, endless ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the first two above */
#include <cmocka.h>
#include "client.h"
#include "common/base/clock.h"
#include "web.h"
#include "worker/model/limits.h"

static struct web *web;
static struct client client;

/* ---- pages ---- */

#define SAYS(name, ...)                                                                            \
	static void name(struct web_conn *c)                                                       \
	{                                                                                          \
		static const char text[] = __VA_ARGS__;                                            \
		web_send(c, text, sizeof(text) - 1);                                               \
		c->over = true;                                                                    \
	}

SAYS(page_plain,
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Odd:  two  spaces \r\nContent-Length: 5\r\n\r\nhello")
SAYS(page_bare_lf, "HTTP/1.1 200 OK\nContent-Length: 5\nContent-Type: a/b\n\nhello")
SAYS(page_chunked,
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n")
SAYS(page_trailers, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nTrailer: Location\r\n\r\n"
		    "3\r\nabc\r\n0\r\nLocation: /evil\r\nSet-Cookie: t=1\r\n\r\n")
SAYS(page_empty_chunked, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n")
SAYS(page_interim,
	"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLocation: /no\r\n\r\n"
	"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
SAYS(page_until_close, "HTTP/1.0 200 OK\r\nContent-Type: x/y\r\n\r\nuntil the end")
SAYS(page_204, "HTTP/1.1 204 No Content\r\n\r\n")
SAYS(page_304, "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n")
SAYS(page_empty, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
SAYS(page_301, "HTTP/1.1 301 Moved\r\nLocation: ../elsewhere?a=b c\r\nContent-Length: 3\r\n\r\nbye")
SAYS(page_gzip,
	"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n\x1f\x8b\x08\x00\x00\x01")
SAYS(page_999, "HTTP/1.1 999 Go away\r\nContent-Length: 2\r\n\r\nno")
SAYS(page_long, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more than that")
SAYS(page_short, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello")
SAYS(page_short_chunk, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nhello")
SAYS(page_no_last_chunk, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
SAYS(page_bad_chunk, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
SAYS(page_nothing, "")
SAYS(page_garbage, "SSH-2.0-OpenSSH_9.2\r\n")
SAYS(page_http09, "<html>an old friend</html>")
SAYS(page_bad_status, "HTTP/1.1 abc What\r\nContent-Length: 2\r\n\r\nok")
SAYS(page_cut_head, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n")
SAYS(page_cut_line, "HTTP/1.1 200 OK\r\nContent-Ty")
SAYS(page_nul, "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok")
SAYS(page_folded, "HTTP/1.1 302 Found\r\nLocation: /a\r\n /b\r\nContent-Length: 0\r\n\r\n")
SAYS(page_folded_framing,
	"HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
SAYS(page_two_lengths, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!")
SAYS(page_vast_length, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello")
SAYS(page_te_gzip,
	"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
SAYS(page_only_interim, "HTTP/1.1 100 Continue\r\n\r\n")

static void page_reset_first(struct web_conn *c)
{
	web_reset(c);
}

static void page_reset_mid(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhello");
	web_wait(c, 200);
	web_reset(c);
}

static void page_never(struct web_conn *c)
{
	web_wait(c, -1);
}

static void page_never_ends(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello");
	web_wait(c, -1);
}

static void page_drip(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
	while (!c->over && web_wait(c, 50))
		web_say(c, "x");
}

static void page_drip_head(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nX: ");
	while (!c->over && web_wait(c, 50))
		web_say(c, "x");
}

static void page_endless_fields(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\n");
	for (unsigned i = 0; i < 5000 && !c->over; i++)
		web_sayf(c, "X-%u: y\r\n", i);
	web_wait(c, -1);
}

static void page_endless_head(struct web_conn *c)
{
	char line[8000];
	memset(line, 'x', sizeof(line));
	line[1] = ':';
	line[sizeof(line) - 1] = '\n';
	web_say(c, "HTTP/1.1 200 OK\r\n");
	for (unsigned i = 0; i < 100 && !c->over; i++)
		web_send(c, line, sizeof(line));
	web_wait(c, -1);
}

static void page_endless_line(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nX: ");
	for (unsigned i = 0; i < 100000 && !c->over; i++)
		web_say(c, "a line that goes on and on ");
	web_wait(c, -1);
}

static void page_endless_interim(struct web_conn *c)
{
	for (unsigned i = 0; i < 20000 && !c->over; i++)
		web_say(c, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n");
	web_wait(c, -1);
}

static void send_trailers(struct web_conn *c, const char *field)
{
	web_say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n");
	while (!c->over && web_wait(c, 0))
		web_say(c, field);
}

static void page_endless_trailers(struct web_conn *c)
{
	send_trailers(c, "X: y\r\n");
}

/* Few enough to be under the limit of their number, but long. */
static void page_long_trailers(struct web_conn *c)
{
	char field[2048];
	snprintf(field, sizeof(field), "X-Padding: %02000d\r\n", 0);
	send_trailers(c, field);
}

static void page_endless_body(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\n\r\n");
	while (!c->over && web_wait(c, 0))
		web_pattern(c, 0, 65536);
}

/* /fields?N: a head of N fields of 20 bytes each, the status line and an interim head included. */
static void page_fields(struct web_conn *c)
{
	const char *question = strchr(c->request, '?');
	size_t fields = strtoul(question + 1, NULL, 10) - 2;
	web_say(c, "HTTP/1.1 103 Early\r\nA: 5678901234567890\r\n\r\nHTTP/1.1 200 OK\r\n");
	for (size_t i = 0; i < fields; i++)
		web_say(c, "X: 4567890123456 8\r\n");
	web_say(c, "Content-Length: 0\r\n\r\n");
}

static void page_retry(struct web_conn *c)
{
	const char *question = strchr(c->request, '?');
	char value[128] = "";
	size_t len = strcspn(question + 1, " ");
	for (size_t i = 0; i < len && i < sizeof(value) - 1; i++)
		value[i] = question[1 + i] == '+' ? ' ' : question[1 + i];
	size_t end = strcspn(value, "@"); /* the Date is behind it */
	web_sayf(c,
		"HTTP/1.1 103 Early\r\nRetry-After: 7\r\n\r\n"
		"HTTP/1.1 503 Busy\r\nRetry-After: %.*s\r\nRetry-After: 9\r\n"
		"%s%s%sContent-Length: 0\r\n\r\n",
		(int)end, value, value[end] == '@' ? "Date: " : "",
		value[end] == '@' ? value + end + 1 : "", value[end] == '@' ? "\r\n" : "");
}

static void page_keep(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkept");
}

/* The kept connection dies under the second request: the client has to ask again on a new one. */
static void page_keep_once(struct web_conn *c)
{
	if (c->served > 0)
		web_reset(c);
	else
		web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkept");
}

/* Answers and closes without having said so: often the client sees it before it asks again. */
static void page_keep_then_close(struct web_conn *c)
{
	web_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkept");
	c->over = true;
}

static const struct web_page pages[] = {
	{"/plain", page_plain},
	{"/bare-lf", page_bare_lf},
	{"/chunked", page_chunked},
	{"/trailers", page_trailers},
	{"/empty-chunked", page_empty_chunked},
	{"/interim", page_interim},
	{"/until-close", page_until_close},
	{"/204", page_204},
	{"/304", page_304},
	{"/empty", page_empty},
	{"/301", page_301},
	{"/gzip", page_gzip},
	{"/999", page_999},
	{"/long", page_long},
	{"/short", page_short},
	{"/short-chunk", page_short_chunk},
	{"/no-last-chunk", page_no_last_chunk},
	{"/bad-chunk", page_bad_chunk},
	{"/nothing", page_nothing},
	{"/garbage", page_garbage},
	{"/http09", page_http09},
	{"/bad-status", page_bad_status},
	{"/cut-head", page_cut_head},
	{"/cut-line", page_cut_line},
	{"/nul", page_nul},
	{"/folded", page_folded},
	{"/folded-framing", page_folded_framing},
	{"/two-lengths", page_two_lengths},
	{"/vast-length", page_vast_length},
	{"/te-gzip", page_te_gzip},
	{"/only-interim", page_only_interim},
	{"/reset-first", page_reset_first},
	{"/reset-mid", page_reset_mid},
	{"/never", page_never},
	{"/never-ends", page_never_ends},
	{"/drip", page_drip},
	{"/drip-head", page_drip_head},
	{"/endless-fields", page_endless_fields},
	{"/endless-head", page_endless_head},
	{"/endless-line", page_endless_line},
	{"/endless-interim", page_endless_interim},
	{"/endless-trailers", page_endless_trailers},
	{"/long-trailers", page_long_trailers},
	{"/fields", page_fields},
	{"/retry", page_retry},
	{"/endless-body", page_endless_body},
	{"/keep", page_keep},
	{"/keep-once", page_keep_once},
	{"/keep-then-close", page_keep_then_close},
	{NULL, NULL},
};

/* ---- whole answers ---- */

/* clang-format off */
static const struct {
	const char *path, *head, *body;
	int status;
	const char *location, *type, *encoding;
} good_cases[] = {
	{.path = "/plain",
		.head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Odd:  two  spaces \r\nContent-Length: 5\r\n\r\n",
		.body = "hello", .status = 200, .type = "text/plain"},
	{.path = "/bare-lf", .head = "HTTP/1.1 200 OK\nContent-Length: 5\nContent-Type: a/b\n\n",
		.body = "hello", .status = 200, .type = "a/b"},
	{.path = "/chunked",
		.head = "HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n",
		.body = "hello, world", .status = 200},
	{.path = "/trailers",
		.head = "HTTP/1.1 200 OK\r\nX-Archive-Orig-transfer-encoding: chunked\r\nTrailer: Location\r\n\r\n",
		.body = "abc", .status = 200},
	{.path = "/empty-chunked",
		.head = "HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n\r\n",
		.body = "", .status = 200},
	{.path = "/interim", .head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", .body = "ok",
		.status = 200},
	{.path = "/until-close", .head = "HTTP/1.0 200 OK\r\nContent-Type: x/y\r\n\r\n",
		.body = "until the end", .status = 200, .type = "x/y"},
	{.path = "/204", .head = "HTTP/1.1 204 No Content\r\n\r\n", .body = "", .status = 204},
	{.path = "/304", .head = "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
		.body = "", .status = 304},
	{.path = "/empty", .head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .body = "",
		.status = 200},
	{.path = "/301",
		.head = "HTTP/1.1 301 Moved\r\nLocation: ../elsewhere?a=b c\r\nContent-Length: 3\r\n\r\n",
		.body = "bye", .status = 301, .location = "../elsewhere?a=b c"},
	{.path = "/gzip",
		.head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 6\r\n\r\n",
		.status = 200, .encoding = "gzip"},
	{.path = "/999", .head = "HTTP/1.1 999 Go away\r\nContent-Length: 2\r\n\r\n", .body = "no",
		.status = 999},
	{.path = "/long", .head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", .body = "hello",
		.status = 200},
	{.path = "/folded",
		.head = "HTTP/1.1 302 Found\r\nLocation: /a\r\n /b\r\nContent-Length: 0\r\n\r\n",
		.body = "", .status = 302, .location = "/a /b"},
};
/* clang-format on */

static void assert_text(const char *what, const char *got, const char *want)
{
	if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0))
		fail_msg("%s is [%s], want [%s]", what, got ? got : "NULL", want ? want : "NULL");
}

static void whole_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(good_cases); i++) {
		char request[4096];
		struct ing_exchange *ex = client_getf(
			&client, "http://127.0.0.1:%u%s", web_port(web), good_cases[i].path);
		assert_outcome(ex, ING_STATUS_SUCCESS);
		assert_true(ex->answered);
		assert_int_equal(ex->http_status, good_cases[i].status);
		assert_text("head", ing_buf_str(&ex->response), good_cases[i].head);
		assert_text("location", ex->location, good_cases[i].location);
		assert_text("type", ex->content_type, good_cases[i].type);
		assert_text("encoding", ex->content_encoding, good_cases[i].encoding);
		assert_text("ip", ex->ip, "127.0.0.1");
		assert_false(ex->set_cookie);
		assert_int_equal(ex->truncated, ING_TRUNC_NONE);
		assert_true(ex->started.tv_sec > 1600000000);
		char *body = body_of(ex);
		if (good_cases[i].body != NULL)
			assert_text("body", body, good_cases[i].body);
		else
			assert_memory_equal(body, "\x1f\x8b\x08\x00\x00\x01", 6);
		assert_int_equal(ex->body_fd < 0, ex->body_bytes == 0);
		free(body);
		web_last_request(web, request, sizeof(request));
		assert_text("request", ing_buf_str(&ex->request), request);
		ing_exchange_unref(ex);
	}
}

static void request_is_exact(void **state)
{
	(void)state;
	char want[1024];
	snprintf(want, sizeof(want),
		"GET /plain?q=%%20/../x HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
		"User-Agent: test/1 (+https://test.example/)\r\n"
		"Referer: http://from.example/page?x\r\n"
		"Accept: */*\r\n"
		"Accept-Encoding: gzip, deflate, br\r\n\r\n",
		web_port(web));
	char url[256];
	snprintf(url, sizeof(url), "http://user:secret@127.0.0.1:%u/plain?q=%%20/../x#part",
		web_port(web));
	struct ing_exchange *ex =
		client_get_with(&client, url, NULL, "http://name:pw@from.example/page?x#y", 0);
	assert_outcome(ex, ING_STATUS_SUCCESS);
	assert_string_equal(ing_buf_str(&ex->request), want);
	snprintf(want, sizeof(want), "http://127.0.0.1:%u/plain?q=%%20/../x", web_port(web));
	assert_string_equal(ex->url, want);
	ing_exchange_unref(ex);
	/* from https to http the referer is nobody's business */
	ex = client_get_with(&client, want, NULL, "https://from.example/", 0);
	assert_null(strstr(ing_buf_str(&ex->request), "Referer"));
	ing_exchange_unref(ex);
}

static void accept_is_what_the_caller_says(void **state)
{
	(void)state;
	char url[64];
	struct got got = {0};
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/plain", web_port(web));
	ing_fetch_start(client.fetch,
		&(struct ing_fetch_request){.url = url, .accept = "text/plain,*/*;q=0.8"},
		client_done, &got);
	client_wait(&client, &got);
	assert_outcome(got.ex, ING_STATUS_SUCCESS);
	assert_non_null(strstr(ing_buf_str(&got.ex->request),
		"\r\nAccept: text/plain,*/*;q=0.8\r\nAccept-Encoding: "));
	ing_exchange_unref(got.ex);
}

/* ---- broken answers ---- */

/* clang-format off */
static const struct {
	const char *path;
	enum ing_status outcome;
	bool answered;
	enum ing_truncated truncated;
	size_t body_bytes;
	bool transient;
} bad_cases[] = {
	{.path = "/short", .outcome = ING_STATUS_TRUNCATED_BODY, .answered = true,
		.truncated = ING_TRUNC_DISCONNECT, .body_bytes = 5, .transient = true},
	{.path = "/short-chunk", .outcome = ING_STATUS_TRUNCATED_BODY, .answered = true,
		.truncated = ING_TRUNC_DISCONNECT, .body_bytes = 5, .transient = true},
	{.path = "/no-last-chunk", .outcome = ING_STATUS_TRUNCATED_BODY, .answered = true,
		.truncated = ING_TRUNC_DISCONNECT, .body_bytes = 5, .transient = true},
	{.path = "/reset-mid", .outcome = ING_STATUS_TRUNCATED_BODY, .answered = true,
		.truncated = ING_TRUNC_DISCONNECT, .body_bytes = 5, .transient = true},
	{.path = "/bad-chunk", .outcome = ING_STATUS_READ_ERROR, .answered = true,
		.truncated = ING_TRUNC_UNSPECIFIED, .body_bytes = 5},
	{.path = "/two-lengths", .outcome = ING_STATUS_READ_ERROR, .answered = true,
		.truncated = ING_TRUNC_UNSPECIFIED},
	{.path = "/vast-length", .outcome = ING_STATUS_READ_ERROR, .answered = true,
		.truncated = ING_TRUNC_UNSPECIFIED},
	{.path = "/te-gzip", .outcome = ING_STATUS_READ_ERROR, .answered = true,
		.truncated = ING_TRUNC_UNSPECIFIED},
	{.path = "/nothing", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE,
		.transient = true},
	{.path = "/garbage", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE},
	{.path = "/http09", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE},
	{.path = "/bad-status", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE},
	{.path = "/cut-head", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE,
		.transient = true},
	{.path = "/cut-line", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE,
		.transient = true},
	{.path = "/nul", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE},
	{.path = "/folded-framing", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE},
	{.path = "/only-interim", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE,
		.transient = true},
	{.path = "/reset-first", .outcome = ING_STATUS_READ_ERROR, .truncated = ING_TRUNC_NONE,
		.transient = true},
	{.path = "/endless-fields", .outcome = ING_STATUS_HEADERS_TOO_LARGE,
		.truncated = ING_TRUNC_NONE},
	{.path = "/endless-head", .outcome = ING_STATUS_HEADERS_TOO_LARGE,
		.truncated = ING_TRUNC_NONE},
	{.path = "/endless-line", .outcome = ING_STATUS_HEADERS_TOO_LARGE,
		.truncated = ING_TRUNC_NONE},
	{.path = "/endless-interim", .outcome = ING_STATUS_HEADERS_TOO_LARGE,
		.truncated = ING_TRUNC_NONE},
	{.path = "/endless-trailers", .outcome = ING_STATUS_HEADERS_TOO_LARGE, .answered = true,
		.truncated = ING_TRUNC_NONE, .body_bytes = 2},
	{.path = "/long-trailers", .outcome = ING_STATUS_HEADERS_TOO_LARGE, .answered = true,
		.truncated = ING_TRUNC_NONE, .body_bytes = 2},
	{.path = "/endless-body", .outcome = ING_STATUS_BODY_TOO_LARGE, .answered = true,
		.truncated = ING_TRUNC_LENGTH, .body_bytes = (size_t)8 << 20},
};
/* clang-format on */

static void broken_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ING_ARRAY_LEN(bad_cases); i++) {
		struct ing_exchange *ex = client_getf(
			&client, "http://127.0.0.1:%u%s", web_port(web), bad_cases[i].path);
		assert_outcome(ex, bad_cases[i].outcome);
		if (ex->answered != bad_cases[i].answered ||
			ex->truncated != bad_cases[i].truncated ||
			ex->body_bytes != bad_cases[i].body_bytes)
			fail_msg("%s: answered %d, truncated %d, %zu bytes (%s)", bad_cases[i].path,
				ex->answered, (int)ex->truncated, ex->body_bytes, ex->detail);
		if (ex->transient != bad_cases[i].transient)
			fail_msg("%s: transient %d (%s)", bad_cases[i].path, ex->transient,
				ex->detail);
		assert_int_equal(ex->body_fd >= 0, ex->body_bytes > 0);
		ing_exchange_unref(ex);
	}
}

static void header_limits(void **state)
{
	(void)state;
	static const struct {
		unsigned fields;
		size_t max_bytes;
		unsigned max_fields;
		const char *detail; /* NULL: within the limits */
	} cases[] = {
		{.fields = 100, .max_bytes = 65536, .max_fields = 100},
		{.fields = 101, .max_bytes = 65536, .max_fields = 100, .detail = "too many fields"},
		{.fields = 100, .max_bytes = 2300, .max_fields = 1000},
		{.fields = 115, .max_bytes = 2300, .max_fields = 1000, .detail = "over its limit"},
		{.fields = 5000, .max_bytes = 1 << 20, .max_fields = 5000},
	};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct client c;
		struct ing_fetch_settings conf = client_settings();
		conf.max_header_bytes = cases[i].max_bytes;
		conf.max_header_fields = cases[i].max_fields;
		client_start(&c, &conf);
		struct ing_exchange *ex = client_getf(
			&c, "http://127.0.0.1:%u/fields?%u", web_port(web), cases[i].fields);
		assert_outcome(ex, cases[i].detail == NULL ? ING_STATUS_SUCCESS
							   : ING_STATUS_HEADERS_TOO_LARGE);
		if (cases[i].detail != NULL && strstr(ex->detail, cases[i].detail) == NULL)
			fail_msg("case %zu: %s", i, ex->detail);
		ing_exchange_unref(ex);
		client_stop(&c);
	}
}

/* A limit of one transfer's own, below that of the configuration; a larger one has no effect. */
static void own_body_limit(void **state)
{
	(void)state;
	static const size_t limits_bytes[] = {1, 4, 5, 1000, (size_t)1 << 40};
	char url[128];
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/plain", web_port(web));
	for (size_t i = 0; i < ING_ARRAY_LEN(limits_bytes); i++) {
		struct got got = {0};
		ing_fetch_start(client.fetch,
			&(struct ing_fetch_request){.url = url, .max_body_bytes = limits_bytes[i]},
			client_done, &got);
		client_wait(&client, &got);
		bool over = limits_bytes[i] < 5;
		assert_outcome(got.ex, over ? ING_STATUS_BODY_TOO_LARGE : ING_STATUS_SUCCESS);
		assert_int_equal(got.ex->truncated, over ? ING_TRUNC_LENGTH : ING_TRUNC_NONE);
		assert_int_equal(got.ex->body_bytes, over ? limits_bytes[i] : 5);
		assert_true(got.ex->answered);
		ing_exchange_unref(got.ex);
	}
	struct got got = {0};
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/endless-body", web_port(web));
	ing_fetch_start(client.fetch,
		&(struct ing_fetch_request){.url = url, .max_body_bytes = (size_t)1 << 40},
		client_done, &got);
	client_wait(&client, &got);
	assert_int_equal(got.ex->body_bytes, (size_t)8 << 20);
	ing_exchange_unref(got.ex);
}

/* A date is counted from the server's own Date, whatever our clock says. */
static void retry_after(void **state)
{
	(void)state;
	static const struct {
		const char *value;
		int64_t want;
	} cases[] = {{"120", 120}, {"0", 0}, {"soon", -1}, {"-5", -1},
		{"Sun,+06+Nov+1994+08:49:37+GMT", 0},
		{"Sun,+06+Nov+1994+08:49:37+GMT@Sun,+06+Nov+1994+08:49:07+GMT", 30},
		{"Sun,+06+Nov+2094+08:49:37+GMT@Sun,+06+Nov+2094+08:49:37+GMT", 0},
		{"Sun,+06+Nov+1994+08:49:37+GMT@yesterday", 0},
		{"120@Sun,+06+Nov+1994+08:49:07+GMT", 120}};
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct ing_exchange *ex = client_getf(
			&client, "http://127.0.0.1:%u/retry?%s", web_port(web), cases[i].value);
		assert_outcome(ex, ING_STATUS_SUCCESS);
		if (ex->retry_after_s != cases[i].want)
			fail_msg("%s: %lld", cases[i].value, (long long)ex->retry_after_s);
		ing_exchange_unref(ex);
	}
	struct ing_exchange *ex = client_getf(&client, "http://127.0.0.1:%u/plain", web_port(web));
	assert_int_equal(ex->retry_after_s, -1);
	ing_exchange_unref(ex);
}

/* ---- time ---- */

static void assert_took(const struct ing_exchange *ex, unsigned from_ms, unsigned to_ms)
{
	if (ex->total_us < from_ms * 1000 || ex->total_us > to_ms * 1000)
		fail_msg("%s took %u us (%s)", ex->url, ex->total_us, ex->detail);
}

static void limits(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *path;
		unsigned timeout_ms, stall_ms, min_speed, deadline_ms;
		unsigned from_ms, to_ms;
		bool answered;
	} cases[] = {
		{.path = "/never", .timeout_ms = 400, .stall_ms = 5000, .min_speed = 1,
			.from_ms = 380, .to_ms = 5000},
		{.path = "/never", .timeout_ms = 900, .stall_ms = 300, .min_speed = 1,
			.from_ms = 880, .to_ms = 5000}, /* thinking is no stall */
		{.path = "/never", .timeout_ms = 9000, .stall_ms = 9000, .min_speed = 1,
			.deadline_ms = 300, .from_ms = 280, .to_ms = 5000},
		{.path = "/never-ends", .timeout_ms = 400, .stall_ms = 5000, .min_speed = 1,
			.from_ms = 380, .to_ms = 5000, .answered = true},
		{.path = "/never-ends", .timeout_ms = 9000, .stall_ms = 300, .min_speed = 1,
			.from_ms = 280, .to_ms = 5000, .answered = true},
		{.path = "/drip", .timeout_ms = 9000, .stall_ms = 400, .min_speed = 1000,
			.from_ms = 380, .to_ms = 5000, .answered = true},
		{.path = "/drip", .timeout_ms = 800, .stall_ms = 400, .min_speed = 1,
			.from_ms = 780, .to_ms = 5000, .answered = true}, /* slow, but not a stall */
		{.path = "/drip-head", .timeout_ms = 9000, .stall_ms = 400, .min_speed = 1000,
			.from_ms = 380, .to_ms = 5000},
	};
	/* clang-format on */
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		struct client c;
		struct ing_fetch_settings conf = client_settings();
		char url[128];
		conf.timeout_ms = cases[i].timeout_ms;
		conf.stall_ms = cases[i].stall_ms;
		conf.min_speed_bytes = cases[i].min_speed;
		client_start(&c, &conf);
		snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", web_port(web), cases[i].path);
		uint64_t deadline = cases[i].deadline_ms ? ing_now_ms() + cases[i].deadline_ms : 0;
		struct ing_exchange *ex = client_get_with(&c, url, NULL, NULL, deadline);
		assert_outcome(ex, ING_STATUS_READ_TIMEOUT);
		assert_int_equal(ex->answered, cases[i].answered);
		assert_int_equal(
			ex->truncated, cases[i].answered ? ING_TRUNC_TIME : ING_TRUNC_NONE);
		assert_true(ex->transient);
		assert_null(strstr(ex->detail, "written to disk"));
		assert_took(ex, cases[i].from_ms, cases[i].to_ms);
		ing_exchange_unref(ex);
		client_stop(&c);
	}
}

static void deadline_in_the_past(void **state)
{
	(void)state;
	char url[128];
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/plain", web_port(web));
	struct ing_exchange *ex = client_get_with(&client, url, NULL, NULL, 1);
	/* it may win the race against the first sweep, but never hangs */
	assert_true(ex->outcome == ING_STATUS_READ_TIMEOUT || ex->outcome == ING_STATUS_SUCCESS);
	ing_exchange_unref(ex);
}

/* ---- connections ---- */

static void keeps_connections(void **state)
{
	(void)state;
	unsigned before = web_connections(web);
	for (int i = 0; i < 5; i++) {
		struct ing_exchange *ex =
			client_getf(&client, "http://127.0.0.1:%u/keep", web_port(web));
		assert_outcome(ex, ING_STATUS_SUCCESS);
		assert_string_equal(ex->ip, "127.0.0.1");
		ing_exchange_unref(ex);
	}
	assert_int_equal(web_connections(web) - before, 1);
}

/* Also more often than the number of times that curl puts up with. */
static void survives_dead_connections(void **state)
{
	(void)state;
	static const char *const paths[] = {"keep-once", "keep-then-close"};
	char request[4096];
	for (int i = 0; i < 30; i++) {
		struct ing_exchange *ex = client_getf(
			&client, "http://127.0.0.1:%u/%s?%d", web_port(web), paths[i / 15], i);
		assert_outcome(ex, ING_STATUS_SUCCESS);
		web_last_request(web, request, sizeof(request));
		assert_string_equal(ing_buf_str(&ex->request), request); /* once, not twice */
		ing_exchange_unref(ex);
	}
}

static int start_all(void **state)
{
	(void)state;
	struct ing_fetch_settings conf = client_settings();
	web = web_start(pages, NULL);
	client_start(&client, &conf);
	return 0;
}

static int stop_all(void **state)
{
	(void)state;
	client_stop(&client);
	web_stop(web);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_answers),
		cmocka_unit_test(request_is_exact),
		cmocka_unit_test(accept_is_what_the_caller_says),
		cmocka_unit_test(broken_answers),
		cmocka_unit_test(header_limits),
		cmocka_unit_test(own_body_limit),
		cmocka_unit_test(retry_after),
		cmocka_unit_test(limits),
		cmocka_unit_test(deadline_in_the_past),
		cmocka_unit_test(keeps_connections),
		cmocka_unit_test(survives_dead_connections),
	};
	return cmocka_run_group_tests(tests, start_all, stop_all);
}
