/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * backoff.h - how long a host is not asked after an answer: the pause between transfers,
 * Retry-After, back-off, the circuit breaker. Arithmetic over plain data and times given as
 * arguments, so that every rule is a row in a table of test cases. Any thread.
 *
 * A host rests until rest_until_ms. Rests are of two kinds. A pause is due after every transfer:
 * max(configured delay, Crawl-delay, adaptive_factor x last response time within adaptive_max_ms).
 * A hold is asked for by the host or follows from its failures:
 * - 429 and 503: for Retry-After up to retry_after_max_ms, or without it for
 *   backoff_ms x 2^(failures - 1) up to backoff_max_ms;
 * - breaker: breaker_failures failures in a row (429, 503, other 5xx, connections refused, reset or
 *   silent) open it for backoff_ms x 2^(opens - 1) up to backoff_max_ms. Then a single transfer is
 *   let through (half-open); its success closes the breaker, its failure opens it again.
 * Times that we chose (not Retry-After) are shortened at random by up to a quarter, so that hosts
 * that failed together are not tried together. No report shortens a rest.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/settings.h"

#define ING_HOST_BACKOFF_EXPIRE_MS (10 * 60 * 1000)

enum ing_breaker { ING_BREAKER_CLOSED, ING_BREAKER_OPEN, ING_BREAKER_HALF_OPEN };

/* Why a host rests: up to WORKER_DIED pauses, the others holds. WORKER_DIED: the last worker that had its
 * lease did not give it back, so nobody knows when it has last asked the host. */
enum ing_rest {
	ING_REST_NONE,
	ING_REST_DELAY,
	ING_REST_CRAWL_DELAY,
	ING_REST_ADAPTIVE,
	ING_REST_WORKER_DIED,
	ING_REST_RETRY_AFTER,
	ING_REST_BACKOFF,
	ING_REST_BREAKER,
	ING_RESTS_
};

/* What is known of a host, and shared by the fleet. Zero-initialised: nothing. */
struct ing_host_backoff {
	uint64_t rest_until_ms; /* ing_now_ms() clock */
	enum ing_rest rest;     /* why */
	enum ing_breaker breaker;
	unsigned failures; /* in a row */
	unsigned opens;    /* of the breaker, in a row */
	unsigned crawl_delay_ms;
	unsigned response_ms; /* of the last answer */
	int http_status;      /* of the last answer; 0: none came */
	const char *outcome; /* slug of how the last transfer ended, static; NULL: none ended yet */
	uint64_t answered_ms; /* when it ended, same clock; 0: never */
};

enum ing_answer_kind {
	ING_ANSWER_NONE, /* the host was not asked (address guard, DNS): nothing changes */
	/* The host was asked, but we did not wait for the answer: it rests, and nothing else
	 * changes. */
	ING_ANSWER_CANCELLED,
	ING_ANSWER_GOOD,
	ING_ANSWER_THROTTLED, /* 429, 503 */
	ING_ANSWER_FAILED,    /* other 5xx, no connection, TLS or answer broken off, timeout */
};

struct ing_gate_report {
	enum ing_answer_kind kind;
	int http_status;       /* 0: none */
	const char *outcome;   /* status slug, static */
	int64_t retry_after_s; /* Retry-After (RFC 9110 10.2.3), past dates 0; -1: none */
	unsigned response_ms;  /* from connecting to the last byte */
};

/* The Crawl-delay of robots.txt, 0: none. It counts for later pauses and for the present one, which
 * the transfer of that robots.txt has begun. */
void ing_host_backoff_set_crawl_delay(struct ing_host_backoff *p,
	const struct ing_host_backoff_settings *settings, unsigned crawl_delay_ms);

/* The report of a transfer that was cancelled; the gate knows how long it took. */
extern const struct ing_gate_report ing_gate_cancelled;

/* A transfer has ended at now_ms. random: any 32 random bits, for the jitter. */
void ing_host_backoff_report(struct ing_host_backoff *p,
	const struct ing_host_backoff_settings *settings, const struct ing_gate_report *report,
	uint64_t now_ms, uint32_t random);
/* The rest is over and somebody is about to start: an open breaker becomes half-open. */
void ing_host_backoff_start(struct ing_host_backoff *p, uint64_t now_ms);
/* Merge what the fleet knows of a host: the later rest counts; failures, the breaker and the last
 * answer are those of the later answer; a Crawl-delay is taken over. */
void ing_host_backoff_merge(struct ing_host_backoff *p, const struct ing_host_backoff *fleet);
/* Forget failures when ING_HOST_BACKOFF_EXPIRE_MS have passed since the last answer and the end of
 * its rest. For hosts that nobody waits for, and for what the fleet knows. */
void ing_host_backoff_expire(struct ing_host_backoff *p, uint64_t now_ms);
uint64_t ing_host_backoff_expires_at(const struct ing_host_backoff *p); /* ing_now_ms() clock */
/* Transfers at a time that the host's state allows: 1 until an open breaker has closed, else
 * `configured`. */
unsigned ing_host_backoff_slots(const struct ing_host_backoff *p, unsigned configured);
/* How long the host would be held if it failed once more; 0 when it has not failed. */
uint64_t ing_host_backoff_next_hold_ms(
	const struct ing_host_backoff *p, const struct ing_host_backoff_settings *settings);
/* The rest under way is a hold, not a pause. */
bool ing_host_backoff_is_hold(const struct ing_host_backoff *p, uint64_t now_ms);
/* Is there anything to remember while nobody waits: a rest under way, failures, a breaker that is
 * not closed? */
bool ing_host_backoff_is_active(const struct ing_host_backoff *p, uint64_t now_ms);

const char *ing_rest_name(enum ing_rest rest);          /* "retry-after" */
const char *ing_breaker_name(enum ing_breaker breaker); /* "half-open" */
