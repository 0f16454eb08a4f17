/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots_file.h - what is known of one robots.txt, and what follows from each attempt to get it
 * (RFC 9309 2.3.1, 2.4). Plain data and times handed in, so that every rule is a line in a table of
 * cases; the cache around it is robots.h's. Any thread, one at a time.
 *
 * An attempt ends in one of four ways:
 * - rules (2xx): good for 24 h;
 * - allow all (2.3.1.3; 3xx that lead nowhere, 4xx but 429): good for 24 h;
 * - unreachable (2.3.1.4; 429, 5xx, anything else that is no answer): disallow all, but rules that
 *   were had before are used on; after 30 days without an answer allow all. Asked again after
 *   5 min, doubling up to 1 h;
 * - failed: not even a connection, or the gate had no turn for it, or this worker had trouble of
 * its own. No verdict: URLs of that authority end the same way, for 30 s, or as long as the gate
 * says (1 h at most). Cache-Control is not looked at.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/gate/robots/robots.h"

struct ing_robots_txt;

enum ing_robots_kind {
	ING_ROBOTS_NOT_FETCHED,
	ING_ROBOTS_RULES,
	ING_ROBOTS_ALLOW_ALL,
	ING_ROBOTS_UNREACHABLE,
	ING_ROBOTS_FAILURE,
};

struct ing_robots_file {            /* zero-initialise; release with ing_robots_file_done() */
	enum ing_robots_kind kind;  /* of the last attempt */
	struct ing_robots_txt *txt; /* the rules had last; NULL: none, or withdrawn since */
	/* when there was a verdict last; before there was one, the first attempt */
	uint64_t verdict_ms;
	uint64_t attempt_ms;  /* end of the last attempt */
	uint64_t due_ms;      /* of the next */
	uint64_t retry_ms;    /* after HOST_BACKOFF: when the gate may have a turn */
	unsigned unreachable; /* unreachable in a row */
	int http_status;      /* of the last attempt; 0: none */
	enum ing_status outcome;
	char *detail; /* FAILURE */
};

void ing_robots_file_done(struct ing_robots_file *f);
/* An attempt has ended at now_ms. */
void ing_robots_file_update(
	struct ing_robots_file *f, const struct ing_robots_answer *a, uint64_t now_ms);
/* Is it to be asked for, at first or again? */
bool ing_robots_file_is_due(const struct ing_robots_file *f, uint64_t now_ms);
/* What counts at now_ms: as kind, but UNREACHABLE may have become RULES or ALLOW_ALL. */
enum ing_robots_kind ing_robots_file_kind(const struct ing_robots_file *f, uint64_t now_ms);
/* The verdict on an absolute URL. Words may be put into buf, and are then borrowed from there. */
struct ing_robots_view ing_robots_file_verdict(const struct ing_robots_file *f, const char *url,
	uint64_t now_ms, char *buf, size_t buf_bytes);
/* Of the rules that count; 0: none said. */
unsigned ing_robots_file_crawl_delay_ms(const struct ing_robots_file *f, uint64_t now_ms);
size_t ing_robots_file_bytes(const struct ing_robots_file *f); /* of memory, without *f itself */
