/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The client among an HTTP client that does what each test says: turns, further tries, a server that is
 * away, calling off. What goes over the wire is asked in tests/scenario/test_grobid.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <uv.h>

#include "common/base/buf.h"
#include "worker/grobid/grobid.h"

#define MOST 64

/* --- the HTTP client --- */

static struct ing_http_client_request *sent[MOST]; /* on their way, oldest first */
static size_t sent_count;
static unsigned sent_total, probes;
static char last_url[200];

int ing_http_client_new(struct uv_loop_s *loop, const struct ing_http_client_settings *settings,
	struct ing_http_client **ret, struct ing_error *err)
{
	(void)loop;
	(void)err;
	assert_true(settings->max_transfers > 1);
	*ret = (void *)sent;
	return 0;
}

void ing_http_client_free(struct ing_http_client *c)
{
	(void)c;
	sent_count = 0;
}

void ing_http_client_put(struct ing_http_client *c, struct ing_http_client_request *r)
{
	(void)c;
	assert_true(sent_count < MOST && r->transfer == NULL);
	r->transfer = (void *)r;
	sent[sent_count++] = r;
	sent_total++;
	probes += strcmp(r->method, "GET") == 0;
	snprintf(last_url, sizeof(last_url), "%s", r->url);
}

static void take_back(struct ing_http_client_request *r)
{
	size_t at = 0;
	while (at < sent_count && sent[at] != r)
		at++;
	assert_true(at < sent_count);
	memmove(&sent[at], &sent[at + 1], (--sent_count - at) * sizeof(sent[0]));
	r->transfer = NULL;
}

void ing_http_client_cancel(struct ing_http_client_request *r)
{
	if (r->transfer != NULL)
		take_back(r);
}

static void answer(const struct ing_http_client_answer *given)
{
	assert_true(sent_count > 0);
	struct ing_http_client_request *r = sent[0];
	struct ing_http_client_answer a = *given;
	take_back(r);
	a.detail = a.detail != NULL ? a.detail : "";
	r->done(r, &a);
	if (a.fd >= 0)
		close(a.fd);
}

static int memfd_of(const char *text)
{
	int fd = memfd_create("answer", MFD_CLOEXEC);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static void answer_http(unsigned status, const char *body)
{
	answer(&(struct ing_http_client_answer){.end = ING_HTTP_CLIENT_ANSWERED,
		.status = status,
		.content_type = "application/xml",
		.bytes = strlen(body),
		.fd = memfd_of(body)});
}

static void fail_as(enum ing_http_client_end end)
{
	answer(&(struct ing_http_client_answer){.end = end, .fd = -1, .detail = "words"});
}

/* --- a test's requests --- */

struct asked {
	struct ing_grobid_request request;
	int ended; /* how often */
	char status[32], words[64], type[64];
	int code;
	bool has_fd;
};

static uv_loop_t loop;
static struct ing_grobid *g;
static struct asked asked[MOST];
static unsigned told, slow_ms; /* how many ends, and how long each takes its owner */

static void on_done(struct ing_grobid_request *request, struct ing_grobid_answer *a)
{
	struct asked *q = ING_CONTAINER(request, struct asked, request);
	q->ended++;
	told++;
	uv_sleep(slow_ms);
	q->code = a->status_code;
	q->has_fd = a->fd >= 0;
	snprintf(q->status, sizeof(q->status), "%s", a->status);
	snprintf(q->words, sizeof(q->words), "%s", a->error_msg != NULL ? a->error_msg : "");
	snprintf(q->type, sizeof(q->type), "%s", a->content_type != NULL ? a->content_type : "");
	assert_true(q->has_fd == (strcmp(a->status, "success") == 0));
	assert_true((a->error_msg == NULL) == q->has_fd);
}

static void stop(uv_timer_t *t)
{
	uv_stop(t->loop);
}

static void turn(uint64_t ms)
{
	uv_timer_t t;
	uv_timer_init(&loop, &t);
	uv_update_time(&loop);
	uv_timer_start(&t, stop, ms, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&t, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

static void begin(unsigned concurrency, unsigned timeout_ms)
{
	struct ing_error err = {0};
	memset(asked, 0, sizeof(asked));
	sent_count = 0;
	sent_total = probes = told = slow_ms = 0;
	assert_int_equal(uv_loop_init(&loop), 0);
	assert_int_equal(ing_grobid_new(&loop,
				 &(struct ing_grobid_conf){.settings = {.url = "http://g:1/base//",
								   .timeout_ms = timeout_ms,
								   .concurrency = concurrency},
					 .user_agent = "tests"},
				 &g, &err),
		0);
}

static void end(void)
{
	ing_grobid_free(g);
	uv_run(&loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&loop), 0);
}

static void put(size_t i)
{
	asked[i].request.service = ING_GROBID_DOCUMENT;
	asked[i].request.body = (struct ing_http_client_body){.fd = -1, .bytes = 100};
	asked[i].request.done = on_done;
	ing_grobid_put(g, &asked[i].request);
}

static struct ing_grobid_stats stats(void)
{
	struct ing_grobid_stats s;
	ing_grobid_stats(g, &s);
	return s;
}

static void expect(size_t i, const char *status, int code)
{
	if (asked[i].ended != 1 || strcmp(asked[i].status, status) != 0 || asked[i].code != code)
		fail_msg("%zu: %d, %s %d", i, asked[i].ended, asked[i].status, asked[i].code);
}

/* --- */

static void requests_take_their_turns(void **state)
{
	(void)state;
	begin(2, 60000);
	for (size_t i = 0; i < 7; i++)
		put(i);
	assert_int_equal(sent_count, 0); /* not from inside the call */
	assert_int_equal(asked[0].ended, 0);
	turn(5);
	assert_int_equal(sent_count, 2);
	assert_string_equal(last_url, "http://g:1/base/api/processFulltextDocument");
	assert_int_equal(stats().waiting, 5);
	assert_true(ing_grobid_is_full(g)); /* over twice as many as are at work */
	assert_false(ing_grobid_blocks(g)); /* but not for long */
	answer_http(200, "<TEI/>");
	assert_int_equal(asked[0].ended, 0); /* nor from inside the answer */
	turn(5);
	expect(0, "success", 200);
	assert_string_equal(asked[0].type, "application/xml");
	assert_int_equal(sent_count, 2);
	assert_false(ing_grobid_is_full(g));
	for (size_t i = 1; i < 7; i++) {
		answer_http(i % 2 ? 200 : 500, i % 2 ? "" : "no");
		turn(5);
		expect(i, i % 2 ? "success" : "error", i % 2 ? 200 : 500);
	}
	assert_int_equal(sent_count, 0);
	assert_int_equal(stats().answered, 4);
	assert_int_equal(stats().error, 3);
	end();
}

static void ends_have_their_words_and_codes(void **state)
{
	static const struct {
		enum ing_http_client_end end;
		const char *status;
		int code;
	} cases[] = {
		{ING_HTTP_CLIENT_TIMEOUT, "error-timeout", -4},
		{ING_HTTP_CLIENT_TOO_LARGE, "error", 0},
	};
	(void)state;
	begin(1, 60000);
	for (size_t i = 0; i < ING_ARRAY_LEN(cases); i++) {
		put(i);
		turn(5);
		fail_as(cases[i].end);
		turn(5);
		expect(i, cases[i].status, cases[i].code);
	}
	put(7);
	asked[8].request = (struct ing_grobid_request){
		.done = on_done, .body = {.fd = -1, .bytes = ING_GROBID_MAX_BODY_BYTES + 1}};
	ing_grobid_put(g, &asked[8].request);
	turn(5);
	expect(8, "blob-too-large", -5); /* whoever is at work */
	assert_int_equal(sent_count, 1);
	answer_http(200, "");
	turn(5);
	expect(7, "success", 200);
	end();
}

static void a_busy_server_is_left_alone_for_a_while(void **state)
{
	(void)state;
	begin(1, 60000);
	put(0);
	put(1);
	turn(5);
	answer_http(503, "busy");
	turn(300);
	assert_int_equal(sent_count, 0); /* its place is kept: nobody else goes instead */
	turn(1200);
	assert_int_equal(sent_count, 1);
	answer_http(200, "");
	turn(5);
	expect(0, "success", 200);
	assert_int_equal(stats().busy, 1);
	ing_grobid_cancel(&asked[1].request);
	end();
	begin(1, 500); /* no time for another try */
	put(0);
	turn(5);
	answer_http(503, "busy");
	turn(5);
	expect(0, "error", 503);
	assert_string_equal(asked[0].words, "busy");
	end();
}

static void a_broken_connection_is_tried_once_more(void **state)
{
	(void)state;
	begin(1, 60000);
	put(0);
	turn(5);
	for (int i = 0; i < 2; i++) {
		fail_as(ING_HTTP_CLIENT_BROKEN);
		turn(5);
		assert_int_equal(asked[0].ended, i);
		turn(1100);
	}
	expect(0, "error-connect", -3);
	assert_int_equal(sent_total, 2);
	end();
}

/* For some seconds one at work tries again; then all end, and who comes later at once. */
static void a_server_that_is_away_is_probed_alone(void **state)
{
	(void)state;
	begin(2, 60000);
	for (size_t i = 0; i < 5; i++)
		put(i);
	turn(5);
	unsigned tries = 0;
	while (asked[4].ended == 0 && tries < 40) {
		while (sent_count > 0) {
			fail_as(ING_HTTP_CLIENT_CONNECT);
			tries++;
		}
		turn(300);
	}
	assert_true(tries >= 8 && tries < 20); /* of two, each second */
	for (size_t i = 0; i < 5; i++)
		expect(i, "error-connect", -2);
	assert_int_equal(stats().away, 1);
	assert_int_equal(stats().error_connect, 5);
	unsigned before = sent_total;
	put(6);
	assert_int_equal(asked[6].ended, 0);
	turn(5);
	expect(6, "error-connect", -2);
	assert_int_equal(sent_total, before);
	while (sent_count == 0)
		turn(200);
	assert_int_equal(probes, 1);
	assert_string_equal(last_url, "http://g:1/base/api/isalive");
	answer(&(struct ing_http_client_answer){
		.end = ING_HTTP_CLIENT_ANSWERED, .status = 500, .fd = -1});
	assert_int_equal(stats().away, 0);
	put(7);
	turn(5);
	assert_int_equal(sent_count, 1);
	answer_http(200, "");
	turn(5);
	expect(7, "success", 200);
	end();
}

/* One tries again; a server that comes back is not asked by all at once before it is known to be there. */
static void nobody_begins_while_connections_fail(void **state)
{
	(void)state;
	begin(3, 60000);
	put(0);
	turn(5);
	fail_as(ING_HTTP_CLIENT_CONNECT);
	put(1);
	put(2);
	turn(300);
	assert_int_equal(sent_count, 0);
	turn(1000);
	assert_int_equal(sent_count, 1);
	answer_http(200, "");
	turn(5);
	expect(0, "success", 200);
	assert_int_equal(sent_count, 2);
	assert_int_equal(stats().unreached, 1);
	ing_grobid_cancel(&asked[1].request);
	ing_grobid_cancel(&asked[2].request);
	end();
}

static void requests_can_be_called_off_in_any_state(void **state)
{
	(void)state;
	begin(1, 60000);
	put(0); /* at work */
	put(1); /* waits */
	turn(5);
	ing_grobid_cancel(&asked[1].request);
	ing_grobid_cancel(&asked[0].request);
	ing_grobid_cancel(&asked[0].request);
	assert_int_equal(sent_count, 0);
	put(2); /* rests */
	turn(5);
	answer_http(503, "busy");
	ing_grobid_cancel(&asked[2].request);
	put(3); /* has ended, and was not told */
	turn(5);
	answer_http(500, "no");
	ing_grobid_cancel(&asked[3].request);
	put(4); /* likewise, with an answer */
	turn(5);
	answer_http(200, "<TEI/>");
	ing_grobid_cancel(&asked[4].request);
	turn(1500);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(asked[i].ended, 0);
	assert_int_equal(sent_count, 0);
	put(5);
	put(6);
	turn(5);
	end(); /* with requests under way */
}

static void many_ends_are_told_over_several_turns(void **state)
{
	(void)state;
	begin(2, 60000);
	slow_ms = 50;
	for (size_t i = 0; i < 4; i++) {
		asked[i].request.body.bytes = ING_GROBID_MAX_BODY_BYTES + 1;
		asked[i].request.done = on_done;
		ing_grobid_put(g, &asked[i].request);
	}
	while (told < 4) {
		unsigned before = told;
		uv_run(&loop, UV_RUN_NOWAIT); /* one turn */
		uv_sleep(1);
		assert_true(told <= before + 1);
	}
	for (size_t i = 0; i < 4; i++)
		expect(i, "blob-too-large", ING_GROBID_NOT_SENT);
	end();
}

static void citations_are_a_form(void **state)
{
	struct ing_buf form;
	(void)state;
	ing_buf_init(&form, 1000);
	ing_grobid_form_add(&form, "A & B, \"é\" 1-2.");
	ing_grobid_form_add(&form, "");
	assert_string_equal(form.data, "consolidateCitations=0&includeRawCitations=1"
				       "&citations=A+%26+B%2C+%22%C3%A9%22+1-2.&citations=");
	ing_buf_done(&form);
	ing_buf_init(&form, 60);
	ing_grobid_form_add(&form, "longer than there is room for");
	assert_true(form.failed);
	ing_buf_done(&form);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_take_their_turns),
		cmocka_unit_test(ends_have_their_words_and_codes),
		cmocka_unit_test(a_busy_server_is_left_alone_for_a_while),
		cmocka_unit_test(a_broken_connection_is_tried_once_more),
		cmocka_unit_test(a_server_that_is_away_is_probed_alone),
		cmocka_unit_test(nobody_begins_while_connections_fail),
		cmocka_unit_test(requests_can_be_called_off_in_any_state),
		cmocka_unit_test(many_ends_are_told_over_several_turns),
		cmocka_unit_test(citations_are_a_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
