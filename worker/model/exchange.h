/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * exchange.h - one HTTP request and its answer, as sent over the wire: what the archive records and
 * the examiner parses.
 *
 * Made by fetch, then immutable. Reference-counted on the loop thread only: the archive thread
 * borrows it between ing_archive_put() and its callback, during which the job's reference keeps it
 * alive. The last unref closes the body's file descriptor and returns its bytes to the memory
 * account.
 */
#pragma once
#include <stdbool.h>
#include <time.h>
#include "common/base/buf.h"
#include "worker/model/status.h"

/* WARC 1.1 5.13: why a record is shorter than the answer. */
enum ing_truncated {
	ING_TRUNC_NONE,
	ING_TRUNC_LENGTH,
	ING_TRUNC_TIME,
	ING_TRUNC_DISCONNECT,
	ING_TRUNC_UNSPECIFIED
};

/* A name server's failure is cached for this long: an earlier try fails without a query. */
#define ING_FETCH_NAME_FAILURE_MS 30000

struct ing_exchange {
	unsigned magic;
	unsigned refs;
	char *url;               /* as fetched: absolute, WHATWG-serialised, without fragment */
	struct timespec started; /* UTC; WARC-Date and the CDX datetime */
	char ip[46];             /* the peer's address in text, "" when never connected */
	/* How it ended: ING_STATUS_SUCCESS when a whole answer came (whatever its HTTP status),
	 * else connect-error, tls-error, read-error, read-timeout, truncated-body, body-too-large,
	 * headers-too-large, invalid-host-resolution, blocked-address, invalid-url; or worker-error
	 * when it failed here (spool.dir, memory, descriptors): nothing against the host. */
	enum ing_status outcome;
	char detail[256];        /* text for error_message; "" on success */
	bool answered;           /* a whole header block came: there is something to archive */
	struct ing_buf request;  /* exact request head (and nothing else: GET has no body) */
	struct ing_buf response; /* exact final response head with its blank line; never an interim
				    1xx or CONNECT answer; Transfer-Encoding is renamed
				    X-Archive-Orig-Transfer-Encoding, because the body below has no
				    transfer coding any more */
	int http_status;         /* 100 to 999 */
	char *location;          /* raw Location value, or NULL */
	char *content_type;      /* raw, or NULL */
	char *content_encoding;  /* raw, joined by ", " when repeated, or NULL */
	bool set_cookie;         /* at least one Set-Cookie came */
	int64_t retry_after_s;   /* of Retry-After, from the end of the exchange on (RFC 9110
				    10.2.3); -1: none, or neither a number nor a date */
	bool transient; /* the next try may succeed: connection refused or reset, timeout, failed
			   name server; not a certificate, a blocked address or a name that does
			   not exist */
	bool no_descriptor;    /* this process had no file descriptor left: not counted as a try */
	bool unverified;       /* the certificate was not verified (fetch.tls_fallback) */
	bool dropped_userinfo; /* the URL asked for had user information, which was not sent */
	int body_fd; /* memfd or unlinked file, only to be read, offset meaningless; -1 when there
			is no byte. Not to be given to another process: a memfd gets other bodies */
	size_t body_bytes; /* transfer coding removed, content coding still on; the file may be
			      longer */
	enum ing_truncated truncated;
	/* time spent, for STATUS and the bench; microseconds */
	unsigned dns_us, total_us;
	/* Set by whoever made it: called by the last unref, frees everything. NULL:
	 * ing_exchange_free() is called. */
	void (*destroy)(struct ing_exchange *ex);
};

#define ING_EXCHANGE_MAGIC 0x45584348u

struct ing_exchange *ing_exchange_ref(struct ing_exchange *ex);
void ing_exchange_unref(struct ing_exchange *ex); /* NULL is fine */

/* For makers. An empty exchange with one reference and no body, at the front of `bytes` of heap (at
 * least its own size). */
struct ing_exchange *ing_exchange_new(size_t bytes);
/* What a destroy() ends with: strings, buffers, the descriptor, the memory itself. */
void ing_exchange_free(struct ing_exchange *ex);
