/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * patience.h - how long one host is left alone after an answer: the polite pause, Retry-After,
 * back-off, the breaker. Pure arithmetic over plain data and times handed in, so that every rule is
 * a line in a table of cases. Any thread.
 *
 * pause = max(configured, Crawl-delay, adaptive_factor x last response time within
 * adaptive_max_ms). 429 and 503 hold the whole host: for Retry-After up to retry_after_max_ms, or
 * without it for backoff_ms x 2^(failures - 1) up to backoff_max_ms. Failures in a row (429, 503,
 * other 5xx, connections refused, reset or silent) open the breaker at breaker_failures: the host
 * is held for backoff_ms x 2^(opens - 1) up to backoff_max_ms, then a single transfer tries it
 * (half-open): good closes, bad opens anew. What we chose ourselves (not Retry-After) is shortened
 * by up to a quarter at random, so that hosts that failed together are not tried together. No
 * report makes a rest shorter.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/settings.h"

#define ING_PATIENCE_FADE_MS (10 * 60 * 1000)

enum ing_breaker { ING_BREAKER_CLOSED, ING_BREAKER_OPEN, ING_BREAKER_HALF_OPEN };

/* Why a host rests. The first three are the everyday pause; those after are holds. */
enum ing_rest {
	ING_REST_NONE,
	ING_REST_DELAY,
	ING_REST_CRAWL_DELAY,
	ING_REST_ADAPTIVE,
	ING_REST_RETRY_AFTER,
	ING_REST_BACKOFF,
	ING_REST_BREAKER,
	ING_RESTS_
};

/* What is known of a host; what the fleet shares. Zero-initialised: a stranger. */
struct ing_patience {
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
	ING_ANSWER_NONE,       /* the host was not asked (guard, DNS): nothing is learnt */
	ING_ANSWER_CALLED_OFF, /* it was, but we did not wait for the answer: it rests, and no more
				  is learnt */
	ING_ANSWER_GOOD,
	ING_ANSWER_THROTTLED, /* 429, 503 */
	ING_ANSWER_FAILED,    /* other 5xx, no connection, TLS or answer broken off, timeout */
};

struct ing_gate_report {
	enum ing_answer_kind kind;
	int http_status;       /* 0: none */
	const char *outcome;   /* status slug, static */
	int64_t retry_after_s; /* as said (RFC 9110 10.2.3), past dates 0; -1: not said */
	unsigned response_ms;  /* from connecting to the last byte */
};

/* What robots.txt says of pauses, 0 nothing: for those to come, and for the one under way, which
 * the answer with that robots.txt has begun. */
void ing_patience_crawl_delay(struct ing_patience *p, const struct ing_patience_settings *settings,
	unsigned crawl_delay_ms);

/* The whole report of a transfer that was begun and called off; how long it took the gate knows. */
extern const struct ing_gate_report ing_gate_called_off;

/* A transfer has ended at now_ms. random: any 32 random bits, for the jitter. */
void ing_patience_report(struct ing_patience *p, const struct ing_patience_settings *settings,
	const struct ing_gate_report *report, uint64_t now_ms, uint32_t random);
/* The rest is over and somebody is about to start: an open breaker becomes half-open. */
void ing_patience_start(struct ing_patience *p, uint64_t now_ms);
/* What the fleet knows of a host joins what we know: the later rest wins; failures, the breaker and
 * the last answer are those of whoever heard from the host last; a Crawl-delay is taken over. */
void ing_patience_merge(struct ing_patience *p, const struct ing_patience *fleet);
/* Failures are forgotten once the host has been left alone for ING_PATIENCE_FADE_MS after its last
 * answer and its rest. For hosts that nobody waits for, and for what the fleet knows. */
void ing_patience_fade(struct ing_patience *p, uint64_t now_ms);
uint64_t ing_patience_fades_at(const struct ing_patience *p); /* ing_now_ms() clock */
/* Transfers at a time that the host's state allows: 1 until an open breaker has closed, else
 * `configured`. */
unsigned ing_patience_slots(const struct ing_patience *p, unsigned configured);
/* How long the host would be held if it failed once more; 0 when it has not failed. */
uint64_t ing_patience_next_hold_ms(
	const struct ing_patience *p, const struct ing_patience_settings *settings);
/* Held by the host's own word or failures, not just for the everyday pause. */
bool ing_patience_is_hold(const struct ing_patience *p, uint64_t now_ms);
/* Worth remembering while nobody waits: a rest under way, failures in a row, a breaker not
 * closed. */
bool ing_patience_matters(const struct ing_patience *p, uint64_t now_ms);

const char *ing_rest_name(enum ing_rest rest);          /* "retry-after" */
const char *ing_breaker_name(enum ing_breaker breaker); /* "half-open" */
