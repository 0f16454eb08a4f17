/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A made-up fetch: the part of the stages (stages.h) that some tests have in earnest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "stages.h"
#include "worker/fetch/fetch.h"

struct ing_transfer {
	char *url;
	ing_fetch_done_f *done;
	void *ctx;
};

struct ing_cookies {
	uint64_t version;
};

struct ing_cookies *ing_cookies_new(void)
{
	return ing_alloc(sizeof(struct ing_cookies));
}

void ing_cookies_free(struct ing_cookies *jar)
{
	free(jar);
}

uint64_t ing_cookies_version(const struct ing_cookies *jar)
{
	return jar->version;
}

struct ing_transfer *ing_fetch_start(
	struct ing_fetch *f, const struct ing_fetch_request *ask, ing_fetch_done_f *done, void *ctx)
{
	(void)f;
	ing_must(ask->deadline_ms >= ing_now_ms());
	snprintf(fake.last_referer, sizeof(fake.last_referer), "%s",
		ask->referer != NULL ? ask->referer : "");
	fake.last_tls_fallback = ask->tls_fallback;
	fake.last_max_body_bytes = ask->max_body_bytes;
	struct ing_transfer *t = ing_alloc(sizeof(*t));
	*t = (struct ing_transfer){.url = ing_strdup(ask->url), .done = done, .ctx = ctx};
	fake_list_add(&fake.fetches, t);
	return t;
}

bool ing_fetch_blocked(const struct ing_fetch *f)
{
	(void)f;
	return fake.spool_blocked;
}

size_t ing_fetch_active(const struct ing_fetch *f)
{
	(void)f;
	return 0;
}

void ing_fetch_cancel(struct ing_transfer *t)
{
	fake_list_take(&fake.fetches, t);
	free(t->url);
	free(t);
}

static int make_body(const void *body, size_t bytes)
{
	int fd = memfd_create("body", MFD_CLOEXEC);
	ing_must(fd >= 0 && write(fd, body, bytes) == (ssize_t)bytes);
	return fd;
}

static char *copy_or_null(const char *s)
{
	return s != NULL ? ing_strdup(s) : NULL;
}

void fake_fetch_answer(const struct fake_answer *answer)
{
	struct ing_transfer *t = fake_list_take_at(&fake.fetches, 0);
	struct ing_exchange *ex = ing_exchange_new(sizeof(*ex));
	ex->url = ING_TAKE(t->url);
	ex->outcome = answer->outcome;
	ex->started = ing_wall_now();
	ex->started.tv_sec += answer->later_s;
	ex->answered = answer->http_status != 0;
	ex->http_status = answer->http_status;
	ex->location = copy_or_null(answer->location);
	ex->content_type = copy_or_null(answer->content_type);
	ex->content_encoding = copy_or_null(answer->content_encoding);
	ex->transient = answer->transient;
	ex->unverified = answer->unverified;
	ex->dropped_userinfo = answer->dropped_userinfo;
	ex->retry_after_s = answer->retry_after_s != 0 ? answer->retry_after_s : -1;
	if (answer->outcome != ING_STATUS_SUCCESS)
		snprintf(ex->detail, sizeof(ex->detail), "a test's failure");
	if (answer->body_bytes > 0)
		ex->body_fd = make_body(answer->body, answer->body_bytes);
	ex->body_bytes = answer->body_bytes;
	ing_fetch_done_f *done = t->done;
	void *ctx = t->ctx;
	free(t);
	done(ctx, ex);
}

/* Bodies of statuses that walls are fond of have no type and so may be pages; those of other bad ones
 * are no pages. */
static bool may_be_page(int http_status)
{
	return http_status < 400 || http_status == 401 || http_status == 403 ||
	       http_status == 429 || http_status == 503;
}

void fake_fetch_done(int http_status, const char *location)
{
	fake_fetch_answer(&(struct fake_answer){
		.http_status = http_status,
		.content_type = may_be_page(http_status) ? NULL : "text/plain",
		.location = location,
		.body = "ten bytes.",
		.body_bytes = location == NULL ? 10 : 0,
	});
}

const char *fake_fetch_url(void)
{
	ing_must(fake.fetches.count > 0);
	const struct ing_transfer *t = fake.fetches.items[0];
	return t->url;
}
