/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * page.h - the page at /: a form that takes a URL or a DOI, and what became of a request.
 *
 * It is made here and works without its script, which only asks when there is something new. What it shows is from
 * results and hostile pages: all of it is text, of URLs only http and https become links, and the policy of the page
 * allows no script and no style but its own two files. Loop thread only.
 */
#pragma once
#include <stddef.h>

struct ing_http_exchange;
struct ing_serve;

/* json: an answer of GET /ingest/ID. */
void ing_page_answer_json(struct ing_serve *s, struct ing_http_exchange *x, const char *id,
	const char *json, size_t bytes);
/* state: "queued", "done" (it is not kept), "unknown", "away" (the database). */
void ing_page_answer_state(
	struct ing_serve *s, struct ing_http_exchange *x, const char *id, const char *state);
