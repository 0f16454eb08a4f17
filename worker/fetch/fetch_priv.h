/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fetch_priv.h - what the files of this room share: the transfer, from start to done().
 *
 * A transfer is in one phase and in one list at any time. Nobody's done() is called but from
 * deliver_finished() in fetch.c, when nothing of curl, c-ares or the spool is on the stack; so it
 * may start and cancel what it likes.
 */
#pragma once
#include <curl/curl.h>
#include "common/base/log.h"
#include "common/net/addr.h"
#include "common/net/http.h"
#include "worker/fetch/fetch.h"
#include "worker/fetch/multi.h"
#include "worker/fetch/resolve.h"
#include "worker/fetch/route.h"
#include "worker/fetch/spool.h"

#define ING_FETCH_MAGIC 0x46544348u
#define ING_TRANSFER_MAGIC 0x58465231u
#define ING_FETCH_TRIES 3  /* addresses of a host that are tried */
#define ING_FETCH_POOL 256 /* easy handles kept, some 8 KB each */

enum ing_phase {
	ING_PHASE_QUEUED,    /* waits for its turn to begin */
	ING_PHASE_RESOLVING, /* waits for addresses */
	ING_PHASE_RUNNING,   /* in the multi handle */
	ING_PHASE_FLUSHING,  /* answered; the rest of the body is on its way to the disk */
	ING_PHASE_FINISHED,  /* the exchange is ready; waits for done() */
};

/* Why we ended a transfer ourselves; curl then only says that a callback refused. */
enum ing_abort {
	ING_ABORT_NONE,
	ING_ABORT_ADDRESS,   /* the guard; see refusal */
	ING_ABORT_HEAD,      /* the head is bad or too large; see head */
	ING_ABORT_FRAMING,   /* whole head, but the body's framing cannot be trusted; see refusal */
	ING_ABORT_TRAILERS,  /* the fields behind the body are over the limits of a head */
	ING_ABORT_TOO_LARGE, /* max_body_bytes */
	ING_ABORT_SOCKET,    /* no socket could be made; see short_errno */
	ING_ABORT_SPOOL,     /* the body cannot be stored */
	ING_ABORT_FLUSH,     /* the body came, but was not on disk in time */
	ING_ABORT_LIMIT,     /* timeout_ms or the deadline */
	ING_ABORT_STALL,     /* min_speed_bytes */
};

struct ing_transfer {
	unsigned magic;
	enum ing_phase phase;
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
	struct ing_lookup lookup;
	struct ing_addr addrs[ING_FETCH_TRIES];
	unsigned addr_count, addr_at;
	bool both_families; /* there are no further addresses to ask for */
	bool unverified;    /* this attempt does not verify the certificate */

	CURL *easy; /* only while RUNNING */
	struct curl_slist *connect_to;
	char curl_words[CURL_ERROR_SIZE];
	struct ing_http_head head;
	struct ing_body *body; /* NULL until the first byte */
	CURLcode rc;           /* curl's last word, once it has left the multi handle */
	enum ing_abort abort;
	const char *refusal; /* static words */
	int short_errno;     /* of what the system had no more of */
	bool sent;           /* connected, the request is being written */
	bool paused;         /* by us: the time does not count as a stall */

	uint64_t deadline_ms; /* the caller's; 0: none */
	uint64_t limit_ms, connect_limit_ms, flush_limit_ms;
	uint64_t began_us;
	uint64_t mark_ms;                /* stall: since then, 0 before the answer begins, ... */
	uint64_t mark_bytes, wire_bytes; /* ... this many bytes came */
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
	struct ing_spool *spool;
	struct ing_address_wait *lookups; /* of ing_fetch_lookup() */
	CURL *pool[ING_FETCH_POOL];
	unsigned pool_count;
	struct ing_transfer *queued, *active,
		*finished; /* lists: QUEUED, the three between, FINISHED */
	unsigned count;
	struct uv_idle_s *kick;   /* "as soon as possible, but not from inside" */
	struct uv_timer_s *pace;  /* begins what is queued */
	struct uv_timer_s *sweep; /* limits and stalls */
	bool wake_wanted;
	unsigned start_tokens;
	uint64_t start_refilled_ms;
	uint64_t exchanges, body_bytes;
};

/* easy.c: one handle, its options, its callbacks. */
CURL *ing_easy_new(void);
/* Make t->easy ready for the address at addr_at; connect_ms bounds TCP and TLS. */
void ing_easy_prepare(struct ing_transfer *t, unsigned connect_ms);
/* Read what curl knows into the exchange, while the handle still has it. */
void ing_easy_report(struct ing_transfer *t);
/* Undo what binds the handle to the transfer. It must be out of the multi handle. */
void ing_easy_detach(struct ing_transfer *t);

/* outcome.c: how a transfer ended. */
struct ing_verdict {
	enum ing_status status;
	bool passing; /* as ing_exchange.passing */
};
/* words: what curl says besides, for a few codes that mean several things. */
struct ing_verdict ing_outcome_of_curl(
	CURLcode rc, bool sent, enum ing_http_state head, const char *words);
bool ing_outcome_abort_is_passing(enum ing_abort abort);
/* The handshake worked, and only the certificate is not to be trusted. */
bool ing_outcome_is_unverified(CURLcode rc);
/* Fill the exchange's outcome and what its head says. Once, at the very end. */
void ing_outcome_decide(struct ing_transfer *t);

/* transfer.c: the way of one transfer. None of these calls done(). */
struct ing_transfer *ing_transfer_new(struct ing_fetch *f, const struct ing_fetch_ask *ask);
void ing_transfer_begin(struct ing_transfer *t);             /* from QUEUED on */
void ing_transfer_left(struct ing_transfer *t, CURLcode rc); /* the multi handle reports its end */
void ing_transfer_sweep(struct ing_transfer *t, uint64_t now_ms); /* may end it */
void ing_transfer_drop(struct ing_transfer *t);         /* in any phase: out of everything, freed */
void ing_transfer_try_again(void *ctx);                 /* spool: a paused body may go on */
void ing_transfer_body_landed(void *ctx);               /* spool: the body is complete */
void ing_transfer_account_head(struct ing_transfer *t); /* the head has grown */

/* lookup.c: forget whoever waits in ing_fetch_lookup(). */
void ing_lookups_drop(struct ing_fetch *f);

/* fetch.c */
void ing_fetch_kick(struct ing_fetch *f); /* something is finished, queued or to be woken */
