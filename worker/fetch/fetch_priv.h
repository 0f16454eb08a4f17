/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fetch_priv.h - the state shared by the files of this room: the transfer, from start to done().
 *
 * A transfer is in one phase and in one list at any time. done() is called only by
 * deliver_finished() in fetch.c, when no callback of curl, c-ares or the spool is on the stack; so
 * it may start and cancel transfers.
 */
#pragma once
#include <curl/curl.h>
#include "common/base/log.h"
#include "common/net/addr.h"
#include "common/net/http.h"
#include "worker/fetch/fetch.h"
#include "common/net/multi.h"
#include "worker/fetch/resolve.h"
#include "worker/fetch/route.h"
#include "worker/fetch/spool.h"
#include "worker/fetch/starts.h"
#include "worker/fetch/tls_sessions.h"

#define ING_FETCH_MAGIC 0x46544348u
#define ING_TRANSFER_MAGIC 0x58465231u
#define ING_FETCH_TRIES 3  /* addresses of a host that are tried */
#define ING_FETCH_POOL 256 /* easy handles kept, some 8 KB each */

enum ing_transfer_phase {
	ING_TRANSFER_QUEUED,    /* waits to be started */
	ING_TRANSFER_RESOLVING, /* waits for addresses */
	ING_TRANSFER_RUNNING,   /* in the multi handle */
	ING_TRANSFER_FLUSHING,  /* answered; the rest of the body is being written to disk */
	ING_TRANSFER_FINISHED,  /* the exchange is ready; waits for done() */
};

/* Why a transfer was ended from here. curl then only reports CURLE_ABORTED_BY_CALLBACK or a write error.
 */
enum ing_transfer_abort {
	ING_ABORT_NONE,
	ING_ABORT_ADDRESS,   /* blocked address; see refusal */
	ING_ABORT_HEAD,      /* the head is bad or too large; see head */
	ING_ABORT_FRAMING,   /* whole head, but the body's framing cannot be trusted; see refusal */
	ING_ABORT_TRAILERS,  /* the trailer fields exceed the limits of a head */
	ING_ABORT_TOO_LARGE, /* max_body_bytes */
	ING_ABORT_SOCKET,    /* no socket could be made; see socket_errno */
	ING_ABORT_SPOOL,     /* the body cannot be stored */
	ING_ABORT_FLUSH,     /* the body came, but was not on disk in time */
	ING_ABORT_LIMIT,     /* timeout_ms or the deadline */
	ING_ABORT_STALL,     /* min_speed_bytes */
	ING_ABORT_DISK,      /* there is no room left for what it brings; see refusal */
};

struct ing_transfer {
	unsigned magic;
	enum ing_transfer_phase phase;
	struct ing_transfer *prev, *next;
	struct ing_fetch *fetch;
	ing_fetch_done_f *done;
	void *ctx;
	struct ing_cookies *jar; /* borrowed, or NULL */
	char *referer;           /* or NULL */
	struct curl_slist *headers;
	size_t max_body_bytes;
	bool tls_fallback;
	struct ing_exchange *ex;

	struct ing_target target;
	struct ing_route route;
	struct ing_dns_lookup lookup;
	struct ing_addr addrs[ING_FETCH_TRIES];
	unsigned addr_count, addr_at;
	bool both_families; /* both address families have been queried */
	bool unverified;    /* this attempt does not verify the certificate */
	bool offered;       /* the connection made in this attempt was offered one */

	CURL *easy; /* only while RUNNING */
	struct curl_slist *connect_to;
	char curl_error[CURL_ERROR_SIZE];
	struct ing_http_head head;
	struct ing_spool_body *body; /* NULL until the first byte */
	CURLcode rc;                 /* curl's result, once removed from the multi handle */
	enum ing_transfer_abort abort;
	const char *
		refusal; /* static; why an address or a framing was refused, or which folder is full */
	int socket_errno; /* of socket() */
	bool sent;        /* connected, the request is being written */
	bool paused;      /* by the spool: does not count as a stall */

	uint64_t deadline_ms; /* the caller's; 0: none */
	uint64_t limit_ms, connect_limit_ms, flush_limit_ms;
	uint64_t began_us;
	uint64_t stall_from_ms;    /* the stall period began then; 0 before the answer begins */
	uint64_t stall_from_bytes; /* wire_bytes then */
	uint64_t wire_bytes;
};

struct ing_fetch {
	unsigned magic;
	struct uv_loop_s *loop;
	struct ing_fetch_settings settings;
	char *ca_file;
	struct ing_cidr_list allow, deny;
	struct ing_ports ports;
	struct ing_routes routes;
	struct ing_multi *multi;
	struct ing_resolver *resolver;
	struct ing_tls_sessions *tls;
	struct ing_spool *spool;
	struct ing_address_wait *lookups; /* of ing_fetch_lookup() */
	CURL *pool[ING_FETCH_POOL];
	unsigned pool_count;
	struct ing_transfer *queued, *active,
		*finished; /* lists: QUEUED, the three between, FINISHED */
	unsigned count;
	struct uv_idle_s *kick;    /* runs in the next turn of the loop */
	struct uv_timer_s *pace;   /* starts queued transfers */
	struct uv_timer_s *limits; /* checks limits and stalls */
	bool wake_wanted;
	struct ing_starts starts;
	struct ing_fetch_stats stats; /* what is counted here */
};

/* easy.c: one handle, its options, its callbacks. */
CURL *ing_easy_new(void);
/* Whether a new connection would be offered a TLS session. */
bool ing_easy_may_resume(const struct ing_transfer *t);
/* A connection that was offered a session, or did not pass verification, has failed. */
void ing_easy_forget_session(const struct ing_transfer *t);
/* Sets t->easy up for the address at addr_at; connect_ms bounds TCP and TLS. */
void ing_easy_prepare(struct ing_transfer *t, unsigned connect_ms);
/* Copies curl's timings into the exchange. The handle must still be in the multi handle. */
void ing_easy_report(struct ing_transfer *t);
/* Resets the handle. It must be out of the multi handle. */
void ing_easy_detach(struct ing_transfer *t);

/* outcome.c: how a transfer ended. */
struct ing_outcome {
	enum ing_status status;
	bool transient; /* as ing_exchange.transient */
};
/* detail: curl's error text, which tells some codes with several meanings apart. */
struct ing_outcome ing_outcome_of_curl(
	CURLcode rc, bool sent, enum ing_http_state head, const char *detail);
bool ing_outcome_abort_is_transient(enum ing_transfer_abort abort);
/* The TLS handshake succeeded but the certificate could not be verified. */
bool ing_outcome_is_unverified(CURLcode rc);
/* Sets the exchange's outcome and the fields from its head. Once, at the end. */
void ing_outcome_decide(struct ing_transfer *t);

/* transfer.c: the phases of one transfer. None of these calls done(). */
struct ing_transfer *ing_transfer_new(struct ing_fetch *f, const struct ing_fetch_request *req);
void ing_transfer_begin(struct ing_transfer *t);                  /* from QUEUED on */
void ing_transfer_curl_done(struct ing_transfer *t, CURLcode rc); /* curl has ended the transfer */
void ing_transfer_check_limits(struct ing_transfer *t, uint64_t now_ms); /* may end it */
/* There is no room for it on the disk of `key`. In any phase; an answer that has come whole stays. */
void ing_transfer_abort_disk(struct ing_transfer *t, const char *key);
void ing_transfer_free(struct ing_transfer *t);         /* in any phase */
void ing_transfer_resume_body(void *ctx);               /* spool: a paused body may go on */
void ing_transfer_body_written(void *ctx);              /* spool: the body is written */
void ing_transfer_account_head(struct ing_transfer *t); /* the head has grown */

/* lookup.c: cancels all pending ing_fetch_lookup(). */
void ing_lookups_drop(struct ing_fetch *f);

/* fetch.c */
void ing_fetch_kick(struct ing_fetch *f); /* a transfer is finished, queued or to be resumed */
