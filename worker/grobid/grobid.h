/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * grobid.h - client of a GROBID server: documents and citations to TEI.
 *
 * Owns: an HTTP client, the requests' turns, their further tries, and the knowledge whether the server
 * can be reached. Thread: loop.
 *
 * A request is embedded in its owner, who fills in the members down to done() and puts it. What they
 * point to is borrowed until done(), which is called once, never from inside a call; in it the request
 * may be put again or freed. Not after ing_grobid_cancel().
 *
 * At most `concurrency` requests are at work, those included that rest before a further try; the others
 * wait in the order in which they came. Tried again are a 503 (all of GROBID's threads are busy), for up to
 * timeout_ms since the first one; a connection that broke, once; what fails on this machine. A server that cannot be
 * connected to is tried for some seconds; then it is away: whatever waits, and whatever comes, ends as
 * error-connect at once, and only a probe asks every few seconds whether it is back.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"
#include "common/net/http_client.h"
#include "worker/model/metrics.h"
#include "worker/model/settings.h"

struct uv_loop_s;
struct ing_grobid;
struct ing_lookup;
struct ing_pool;

/* Larger documents are not sent (blob-too-large). */
#define ING_GROBID_MAX_BODY_BYTES ((uint64_t)256 << 20)
/* Of error_msg, in characters. */
#define ING_GROBID_MAX_MESSAGE_CHARS ((size_t)10000)

/* Instead of an HTTP status, where there was none. The first three are those of the replaced system's
 * crawler. */
#define ING_GROBID_NO_CONNECTION (-2)
#define ING_GROBID_LOST (-3)
#define ING_GROBID_TIMEOUT (-4)
#define ING_GROBID_NOT_SENT (-5)

struct ing_grobid_answer {
	/* "success" when GROBID says so; nobody has looked at what it sent. "error": another HTTP
	 * status, more than ING_MAX_GROBID_BYTES, or ING_GROBID_NOT_SENT; "error-connect",
	 * "error-timeout", "blob-too-large". Static. */
	const char *status;
	int status_code; /* of HTTP, or ING_GROBID_x */
	char *error_msg; /* heap, UTF-8; NULL on success. done() may take it */
	int fd;          /* of a success: a memfd; else -1. done() may take it and leave -1 */
	uint64_t bytes;
	const char *content_type; /* or NULL; gone after done() */
};

enum ing_grobid_service {
	ING_GROBID_DOCUMENT,  /* processFulltextDocument: a PDF */
	ING_GROBID_CITATIONS, /* processCitationList: strings as a form (ing_grobid_form_add()) */
	ING_GROBID_SERVICES_
};

struct ing_grobid_request {
	enum ing_grobid_service service;
	struct ing_http_client_body body; /* the PDF, or the form */
	void (*done)(struct ing_grobid_request *r, struct ing_grobid_answer *a);

	/* The client's own; zero-initialise. */
	struct ing_grobid *grobid; /* NULL: it is not under way */
	struct ing_grobid_request *prev, *next;
	struct ing_grobid_request **list;
	struct ing_http_client_request http;
	struct ing_http_client_part *parts;
	struct ing_grobid_answer end; /* in the list of those that have ended */
	uint64_t first_ms;            /* 0: not tried yet */
	uint64_t rest_until_ms;       /* 0: a transfer is under way */
	unsigned busy, broken, local; /* tries that ended so */
	char *content_type;           /* of end */
};

struct ing_grobid_conf {
	struct ing_grobid_settings settings; /* with a url */
	const char *user_agent;
	/* For ing_grobid_read() (read.h); else NULL. lookup NULL: there is no database. */
	struct ing_pool *pool;
	struct ing_lookup *lookup;
};

/* conf: its strings and lists are borrowed from the configuration. */
int ing_grobid_new(struct uv_loop_s *loop, const struct ing_grobid_conf *conf,
	struct ing_grobid **ret, struct ing_error *err) ING_MUST_CHECK;
/* NULL is fine. Requests that are under way are dropped. Not from inside done(). The loop must turn
 * once more to close the handles. */
void ing_grobid_free(struct ing_grobid *g);
void ing_grobid_put(struct ing_grobid *g, struct ing_grobid_request *r);
void ing_grobid_cancel(struct ing_grobid_request *r); /* fine for one that is not under way */

/* More requests wait than should: no further documents should be fetched for it. */
bool ing_grobid_is_full(const struct ing_grobid *g);
/* The same, and no request has ended for long: it is GROBID that everybody waits for. */
bool ing_grobid_blocks(const struct ing_grobid *g);
/* Its rows of worker/model/metrics.def, as they are now. */
void ing_grobid_stats(const struct ing_grobid *g, struct ing_grobid_stats *ret);

struct ing_buf;
/* Append a citation to the body of ING_GROBID_CITATIONS, which begins empty. */
void ing_grobid_form_add(struct ing_buf *form, const char *citation);
