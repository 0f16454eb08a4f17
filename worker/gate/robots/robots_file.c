/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What follows from an attempt to fetch a robots.txt. An outcome that is not listed counts as
 * unreachable, the safe side.
 */
#include "worker/gate/robots/robots_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/robots.h"

#define SECOND_MS ((uint64_t)1000)
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * HOUR_MS)

#define FRESH_MS DAY_MS              /* RFC 9309 2.4: no longer than 24 hours */
#define UNREACHABLE_MS (30 * DAY_MS) /* 2.3.1.4: "a reasonably long period of time" */
#define RETRY_MS (5 * MINUTE_MS)
#define RETRY_MAX_MS HOUR_MS
#define FAILURE_MS (30 * SECOND_MS) /* so that a thousand URLs of a dead host need one attempt */
#define BACKOFF_MAX_MS HOUR_MS      /* a hold may be lifted before its time */

static enum ing_robots_kind kind_of_http(int http_status)
{
	if (http_status >= 200 && http_status < 300)
		return ING_ROBOTS_FILE_RULES;
	if (http_status >= 300 && http_status < 500 && http_status != 429)
		return ING_ROBOTS_FILE_ALLOW_ALL;
	return ING_ROBOTS_FILE_UNREACHABLE;
}

/* There was no answer. But after a redirect the authority itself has answered, so its URLs need not
 * end as the redirect did: its target is useless for good (allow all), or for now (unreachable). */
static enum ing_robots_kind kind_of_failure(
	const struct ing_robots_answer *a, enum ing_robots_kind when_redirected)
{
	return a->http_status == 0 ? ING_ROBOTS_FILE_FAILED : when_redirected;
}

static enum ing_robots_kind kind_of_answer(const struct ing_robots_answer *a)
{
	switch (a->outcome) {
	case ING_STATUS_SUCCESS:
		return kind_of_http(a->http_status);
	case ING_STATUS_REDIRECTS_EXCEEDED:
	case ING_STATUS_REDIRECT_LOOP:
	case ING_STATUS_BAD_REDIRECT:
		return ING_ROBOTS_FILE_ALLOW_ALL;
	case ING_STATUS_SKIP_URL_BLOCKLIST:
	case ING_STATUS_SKIP_WALL:
	case ING_STATUS_BLOCKED_WALL:
	case ING_STATUS_BLOCKED_LOGIN:
	case ING_STATUS_BLOCKED_CAPTCHA:
	case ING_STATUS_BLOCKED_CHALLENGE:
	case ING_STATUS_BLOCKED_COOKIE:
	case ING_STATUS_BLOCKED_ADDRESS:
	case ING_STATUS_INVALID_URL:
		return kind_of_failure(a, ING_ROBOTS_FILE_ALLOW_ALL);
	case ING_STATUS_CONNECT_ERROR:
	case ING_STATUS_TLS_ERROR:
	case ING_STATUS_INVALID_HOST_RESOLUTION:
		return kind_of_failure(a, ING_ROBOTS_FILE_UNREACHABLE);
	case ING_STATUS_HOST_BACKOFF:
	case ING_STATUS_WORKER_ERROR: /* says nothing about the host */
		return ING_ROBOTS_FILE_FAILED;
	default:
		return ING_ROBOTS_FILE_UNREACHABLE;
	}
}

static void set_verdict(struct ing_robots_file *f, uint64_t now_ms)
{
	ing_robots_txt_free(ING_TAKE(f->txt));
	f->unreachable = 0;
	f->verdict_ms = now_ms;
	f->due_ms = now_ms + FRESH_MS;
}

static void set_unreachable(struct ing_robots_file *f, uint64_t now_ms)
{
	uint64_t wait_ms = RETRY_MS;
	for (unsigned i = 0; i < f->unreachable && wait_ms < RETRY_MAX_MS; i++)
		wait_ms *= 2;
	f->due_ms = now_ms + ING_MIN(wait_ms, RETRY_MAX_MS);
	f->unreachable++;
}

static void set_failure(
	struct ing_robots_file *f, const struct ing_robots_answer *a, uint64_t now_ms)
{
	char detail[ING_ROBOTS_MAX_DETAIL_BYTES];
	snprintf(detail, sizeof(detail), "robots.txt could not be fetched: %s",
		a->detail != NULL ? a->detail : ing_status_meaning(a->outcome));
	f->detail = ing_strdup(detail);
	f->due_ms = now_ms + FAILURE_MS;
	if (a->outcome != ING_STATUS_HOST_BACKOFF)
		return;
	f->retry_ms = now_ms + ING_MAX(a->retry_after_s, 1) * SECOND_MS;
	f->due_ms = ING_MIN(f->retry_ms, now_ms + BACKOFF_MAX_MS);
}

/* Seconds left, rounded up, at least 1. */
static unsigned seconds_until(uint64_t then_ms, uint64_t now_ms)
{
	uint64_t left_ms = then_ms > now_ms ? then_ms - now_ms : 0;
	return (unsigned)ING_MAX((left_ms + SECOND_MS - 1) / SECOND_MS, 1);
}

static struct ing_robots_view verdict_of_rules(
	const struct ing_robots_file *f, const char *url, char *buf, size_t buf_bytes)
{
	unsigned line = 0;
	struct ing_robots_view v = {
		.verdict = ING_ROBOTS_ALLOWED,
		.crawl_delay_ms = ing_robots_txt_crawl_delay_ms(f->txt),
	};
	if (ing_robots_txt_allows(f->txt, url, &line))
		return v;
	snprintf(buf, buf_bytes, "robots.txt line %u disallows it", line);
	v.verdict = ING_ROBOTS_DISALLOWED;
	v.detail = buf;
	return v;
}

static struct ing_robots_view verdict_unreachable(
	const struct ing_robots_file *f, uint64_t now_ms, char *buf, size_t buf_bytes)
{
	if (f->outcome == ING_STATUS_SUCCESS)
		snprintf(buf, buf_bytes, "robots.txt is unreachable (HTTP %d)", f->http_status);
	else
		snprintf(buf, buf_bytes, "robots.txt is unreachable (%s)",
			ing_status_slug(f->outcome));
	return (struct ing_robots_view){
		.verdict = ING_ROBOTS_DISALLOWED,
		.retry_after_s = seconds_until(f->due_ms, now_ms),
		.detail = buf,
	};
}

static struct ing_robots_view verdict_of_failure(const struct ing_robots_file *f, uint64_t now_ms)
{
	struct ing_robots_view v = {
		.verdict = ING_ROBOTS_FAILED,
		.outcome = f->outcome,
		.detail = f->detail,
	};
	if (f->outcome == ING_STATUS_HOST_BACKOFF)
		v.retry_after_s = seconds_until(f->retry_ms, now_ms);
	return v;
}

/* -------------------------------------------------------------------------------------------- */

void ing_robots_file_done(struct ing_robots_file *f)
{
	ing_robots_txt_free(f->txt);
	free(f->detail);
	*f = (struct ing_robots_file){0};
}

void ing_robots_file_update(
	struct ing_robots_file *f, const struct ing_robots_answer *a, uint64_t now_ms)
{
	if (f->kind == ING_ROBOTS_FILE_NOT_FETCHED)
		f->verdict_ms = now_ms;
	free(ING_TAKE(f->detail));
	f->kind = kind_of_answer(a);
	f->attempt_ms = now_ms;
	f->outcome = a->outcome;
	f->http_status = a->http_status;
	switch (f->kind) {
	case ING_ROBOTS_FILE_RULES:
		set_verdict(f, now_ms);
		f->txt = a->txt != NULL ? ing_robots_txt_copy(a->txt)
					: ing_robots_txt_new(NULL, 0, 0);
		break;
	case ING_ROBOTS_FILE_ALLOW_ALL:
		set_verdict(f, now_ms);
		break;
	case ING_ROBOTS_FILE_FAILED:
		set_failure(f, a, now_ms);
		break;
	default:
		set_unreachable(f, now_ms);
	}
}

bool ing_robots_file_is_due(const struct ing_robots_file *f, uint64_t now_ms)
{
	return f->kind == ING_ROBOTS_FILE_NOT_FETCHED || now_ms >= f->due_ms;
}

enum ing_robots_kind ing_robots_file_kind(const struct ing_robots_file *f, uint64_t now_ms)
{
	if (f->kind != ING_ROBOTS_FILE_UNREACHABLE)
		return f->kind;
	if (now_ms - f->verdict_ms >= UNREACHABLE_MS)
		return ING_ROBOTS_FILE_ALLOW_ALL;
	return f->txt != NULL ? ING_ROBOTS_FILE_RULES : ING_ROBOTS_FILE_UNREACHABLE;
}

struct ing_robots_view ing_robots_file_verdict(const struct ing_robots_file *f, const char *url,
	uint64_t now_ms, char *buf, size_t buf_bytes)
{
	switch (ing_robots_file_kind(f, now_ms)) {
	case ING_ROBOTS_FILE_RULES:
		return verdict_of_rules(f, url, buf, buf_bytes);
	case ING_ROBOTS_FILE_ALLOW_ALL:
		return (struct ing_robots_view){.verdict = ING_ROBOTS_ALLOWED};
	case ING_ROBOTS_FILE_UNREACHABLE:
		return verdict_unreachable(f, now_ms, buf, buf_bytes);
	case ING_ROBOTS_FILE_FAILED:
		return verdict_of_failure(f, now_ms);
	default:
		return (struct ing_robots_view){.verdict = ING_ROBOTS_PENDING};
	}
}

unsigned ing_robots_file_crawl_delay_ms(const struct ing_robots_file *f, uint64_t now_ms)
{
	bool counts = ing_robots_file_kind(f, now_ms) == ING_ROBOTS_FILE_RULES;
	return counts ? ing_robots_txt_crawl_delay_ms(f->txt) : 0;
}

size_t ing_robots_file_bytes(const struct ing_robots_file *f)
{
	return (f->txt != NULL ? ing_robots_txt_bytes(f->txt) : 0) +
	       (f->detail != NULL ? strlen(f->detail) + 1 : 0);
}
