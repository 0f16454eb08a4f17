/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots_fetch.h - getting robots.txt files: visits without a job. Redirects and further tries are
 * a visit's; a file is believed only when it was examined, all its answers are archived and their
 * index rows are stored.
 *
 * Owns: the robots fetches under way, with their questions in the pool. Thread: loop only.
 * ing_robots_fetched() comes once for each, never from inside a call, unless they are cancelled.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "worker/model/lane.h"

struct ing_deliver;
struct ing_journal;
struct ing_pool;
struct ing_robots;
struct ing_robots_entry;
struct ing_robots_fetches;
struct ing_source;
struct ing_visits;

struct ing_robots_fetch_conf {
	unsigned max_redirects; /* in a row; RFC 9309 2.3.1.2 wants five at least */
	size_t max_body_bytes;  /* as sent; what is longer is cut, not refused */
	const char *agent;      /* fetch.user_agent, borrowed: whose rules count */
	unsigned deadline_ms;   /* work on one file; waiting does not count */
};

struct ing_robots_fetch_stages { /* borrowed */
	struct ing_visits *visits;
	struct ing_robots *robots; /* who is told */
	struct ing_pool *pool;
	struct ing_deliver *deliver;
	struct ing_journal *journal; /* NULL: none */
};

struct ing_robots_fetches *ing_robots_fetches_new(const struct ing_robots_fetch_conf *conf);
/* Copied; before the first file. */
void ing_robots_fetches_wire(
	struct ing_robots_fetches *all, const struct ing_robots_fetch_stages *stages);
void ing_robots_fetches_free(struct ing_robots_fetches *all); /* NULL is fine; idle */
/* Call off what waits, is being transferred or examined; robots is told nothing. Records and rows
 * under way may still be owed: run the loop until idle. */
void ing_robots_fetches_cancel(struct ing_robots_fetches *all);
bool ing_robots_fetches_idle(const struct ing_robots_fetches *all);

/* For struct ing_robots_conf.fetch, with the struct ing_robots_fetches as ctx: what comes is told to
 * stages.robots by ing_robots_fetched(); robots_outcome.h says what. */
void ing_robots_fetch_start(void *fetches, const char *url, void *token);
/* For struct ing_robots_fetcher, with the struct ing_robots_fetches as ctx.
 *
 * Somebody of this lane waits for the file: it is got with the urgency of the most urgent of them,
 * of the bulk lane until anybody says so. entry: of a waiter for which ing_robots_ask() has said
 * PENDING, which is the token that get() was given. */
void ing_robots_fetch_raise_lane(
	void *fetches, const struct ing_robots_entry *entry, enum ing_lane lane);
/* The file that somebody waits for, entry as above, waits for a host that is held. */
bool ing_robots_fetch_waits_for_hold(void *fetches, const struct ing_robots_entry *entry);
/* This message's request waits for the file: the fetch is recorded in the crash journal as a stage of
 * the first of them, or of one that must be alone, and then it is alone as well. */
void ing_robots_fetch_asked_by(void *fetches, const struct ing_robots_entry *entry,
	const struct ing_source *source, bool alone);
