/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the first two above */
#include <cmocka.h>
#include "common/base/clock.h"
#include "web.h"

#define GIVE_UP_MS 30000
#define MAX_CONNECTIONS 512

static char *loopback[] = {(char[]){"127.0.0.0/8"}, NULL};

static void do_nothing(uv_timer_t *timer)
{
	(void)timer;
}

struct ing_fetch_settings client_settings(void)
{
	return (struct ing_fetch_settings){.user_agent = "test/1 (+https://test.example/)",
		.timeout_ms = 10000,
		.connect_timeout_ms = 8000,
		.stall_ms = 5000,
		.min_speed_bytes = 1,
		.max_body_bytes = (size_t)8 << 20,
		.memory_bytes = (size_t)64 << 20,
		.max_header_bytes = (size_t)256 << 10,
		.max_header_fields = 1000,
		.allow_address = loopback,
		.allow_port = web_ports()};
}

void client_start(struct client *c, const struct ing_fetch_settings *conf)
{
	struct ing_fetch_settings own = *conf;
	struct ing_error err = {0};
	snprintf(c->spool_dir, sizeof(c->spool_dir), "fetch-test.XXXXXX");
	assert_non_null(mkdtemp(c->spool_dir));
	if (own.spool_dir == NULL)
		own.spool_dir = c->spool_dir;
	assert_int_equal(uv_loop_init(&c->loop), 0);
	if (ing_fetch_new(&c->loop, &own, MAX_CONNECTIONS, &c->fetch, &err) != 0)
		fail_msg("%s", err.msg);
}

void client_stop(struct client *c)
{
	ing_fetch_free(c->fetch);
	uv_run(&c->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&c->loop), 0);
	assert_int_equal(rmdir(c->spool_dir), 0); /* spooled files have no names */
}

void client_done(void *ctx, struct ing_exchange *ex)
{
	struct got *got = ctx;
	got->calls++;
	got->ex = ex;
}

void client_wait(struct client *c, const struct got *got)
{
	uint64_t until = ing_now_ms() + GIVE_UP_MS;
	while (got->ex == NULL) {
		if (ing_now_ms() > until)
			fail_msg("no exchange within %d ms", GIVE_UP_MS);
		uv_run(&c->loop, UV_RUN_ONCE);
	}
	assert_int_equal(got->calls, 1);
}

void client_turn(struct client *c, unsigned ms)
{
	uint64_t until = ing_now_ms() + ms;
	uv_timer_t tick;
	uv_timer_init(&c->loop, &tick);
	uv_timer_start(&tick, do_nothing, 1, 5);
	while (ing_now_ms() < until)
		uv_run(&c->loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(&c->loop, UV_RUN_NOWAIT);
}

struct ing_exchange *client_get_with(struct client *c, const char *url, struct ing_cookies *jar,
	const char *referer, uint64_t deadline_ms)
{
	struct got got = {0};
	ing_fetch_start(c->fetch,
		&(struct ing_fetch_request){
			.url = url, .jar = jar, .referer = referer, .deadline_ms = deadline_ms},
		client_done, &got);
	assert_null(got.ex);
	client_wait(c, &got);
	return got.ex;
}

struct ing_exchange *client_get(struct client *c, const char *url)
{
	return client_get_with(c, url, NULL, NULL, 0);
}

struct ing_exchange *client_getf(struct client *c, const char *fmt, ...)
{
	char url[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(url, sizeof(url), fmt, ap);
	va_end(ap);
	return client_get(c, url);
}

char *body_of(const struct ing_exchange *ex)
{
	char *body = ing_alloc(ex->body_bytes + 1);
	size_t done = 0;
	while (done < ex->body_bytes) {
		ssize_t n = pread(ex->body_fd, body + done, ex->body_bytes - done, (off_t)done);
		if (n <= 0)
			fail_msg(
				"the body's descriptor has %zu of %zu bytes", done, ex->body_bytes);
		done += (size_t)n;
	}
	return body;
}

void assert_pattern(const struct ing_exchange *ex, size_t bytes)
{
	assert_int_equal(ex->body_bytes, bytes);
	char *body = body_of(ex);
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)body[i] != test_pattern(i))
			fail_msg("body differs at %zu of %zu", i, bytes);
	free(body);
}

void assert_outcome(const struct ing_exchange *ex, enum ing_status want)
{
	static const char *const slugs[] = {
#define STATUS(name, slug, hit, retry, after_s, tries, meaning) slug,
#include "worker/model/status.def"
#undef STATUS
	};
	if (ex->outcome != want)
		fail_msg("%s: outcome %s (%s), want %s", ex->url, slugs[ex->outcome], ex->detail,
			slugs[want]);
	if ((ex->detail[0] == '\0') != (want == ING_STATUS_SUCCESS))
		fail_msg("%s: detail is [%s]", ex->url, ex->detail);
}
