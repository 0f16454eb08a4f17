/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots_outcome.h - what robots is told of a visit to a robots.txt, and which answers have rules
 * to look for. Pure functions over plain data, so that every rule is a line in a table of cases.
 *
 * SUCCESS is told with the HTTP status: of a 2xx with its rules; of a redirect when it leads
 * nowhere (too many of them, no URL, one that the rules or the guard refuse). BODY_TOO_LARGE is no
 * failure: the first part counts. A redirect that there is no time to follow is TIMEOUT. A body of
 * 2xx that cannot be decoded is BAD_CONTENT_ENCODING; one that its examiner did not survive, or has
 * answered with nonsense, PARSE_CRASH, or PARSE_TIMEOUT; a host blocked by its operator
 * SKIP_URL_BLOCKLIST; a host that the gate gives up HOST_BACKOFF; an answer that could not be
 * archived WORKER_ERROR.
 */
#pragma once
#include <stdbool.h>

struct ing_exchange;
struct ing_findings;
struct ing_robots_answer;
struct ing_visit_outcome;

/* The body of a 2xx, whole or its first part; an empty one has no rules. */
bool ing_robots_outcome_needs_exam(const struct ing_exchange *ex);
/* Whether the examiner's answer is one: its process may have been taken over by the file. */
bool ing_robots_outcome_has_rules(const struct ing_findings *findings);
/* findings: NULL when nothing was examined. lost: an answer could not be archived. What is returned
 * borrows from both. */
struct ing_robots_answer ing_robots_outcome(
	const struct ing_visit_outcome *o, const struct ing_findings *findings, bool lost);
