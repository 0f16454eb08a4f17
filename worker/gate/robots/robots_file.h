/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots_file.h - what is known of one robots.txt, and what follows from each attempt to fetch it
 * (RFC 9309 2.3.1, 2.4). Plain data, times are arguments, so that every rule is a row in a table of
 * test cases; the cache is robots.h's. Any thread, one at a time.
 *
 * An attempt ends in one of four ways:
 * - rules (2xx): valid for 24 h;
 * - allow all (2.3.1.3; redirects that lead nowhere, 4xx but 429): valid for 24 h;
 * - unreachable (2.3.1.4; 429, 5xx, any other answer that cannot be used): disallow all, but
 * earlier
 *   rules stay in force; after 30 days without a usable answer allow all. Fetched again after 5
 *   min, doubled up to 1 h;
 * - failed: no connection, or the gate refused, or a fault of this worker. No verdict: URLs of that
 *   authority end in the same way, for 30 s, or for as long as the gate says (up to 1 h).
 * Cache-Control is ignored.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/gate/robots/robots.h"

struct ing_robots_txt;

enum ing_robots_kind {
	ING_ROBOTS_FILE_NOT_FETCHED,
	ING_ROBOTS_FILE_RULES,
	ING_ROBOTS_FILE_ALLOW_ALL,
	ING_ROBOTS_FILE_UNREACHABLE,
	ING_ROBOTS_FILE_FAILED,
};

struct ing_robots_file {            /* zero-initialise; release with ing_robots_file_done() */
	enum ing_robots_kind kind;  /* of the last attempt */
	struct ing_robots_txt *txt; /* the last rules; NULL: none, or replaced by allow all */
	/* time of the last verdict; before the first one, of the first attempt */
	uint64_t verdict_ms;
	uint64_t attempt_ms;  /* end of the last attempt */
	uint64_t due_ms;      /* of the next */
	uint64_t retry_ms;    /* after HOST_BACKOFF: when the gate may admit it */
	unsigned unreachable; /* times in a row */
	int http_status;      /* of the last attempt; 0: none */
	enum ing_status outcome;
	char *detail; /* FAILURE */
};

void ing_robots_file_done(struct ing_robots_file *f);
/* An attempt has ended at now_ms. */
void ing_robots_file_update(
	struct ing_robots_file *f, const struct ing_robots_answer *a, uint64_t now_ms);
/* Must it be fetched, for the first time or again? */
bool ing_robots_file_is_due(const struct ing_robots_file *f, uint64_t now_ms);
/* What is in force at now_ms: as kind, but UNREACHABLE may have become RULES or ALLOW_ALL. */
enum ing_robots_kind ing_robots_file_kind(const struct ing_robots_file *f, uint64_t now_ms);
/* The verdict on an absolute URL. Its detail may be written into buf and borrowed from there. */
struct ing_robots_view ing_robots_file_verdict(const struct ing_robots_file *f, const char *url,
	uint64_t now_ms, char *buf, size_t buf_bytes);
/* Of the rules in force; 0: none. */
unsigned ing_robots_file_crawl_delay_ms(const struct ing_robots_file *f, uint64_t now_ms);
size_t ing_robots_file_bytes(const struct ing_robots_file *f); /* of memory, without *f itself */
