/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * grobid_priv.h - the client's insides: grobid.c (turns, further tries, whether the server is there),
 * grobid_call.c (one try: what is sent, what its end means), read.c (a document from its row or its
 * body to facts). Thread: loop.
 */
#pragma once
#include <uv.h>

#include "worker/grobid/grobid.h"

enum ing_grobid_reach {
	ING_GROBID_REACHED,
	ING_GROBID_SUSPECT, /* connections fail: those at work try again, nobody else begins */
	ING_GROBID_AWAY,    /* given up: only probes are sent */
};

struct ing_grobid {
	struct ing_grobid_conf conf;
	struct ing_http_client *http;
	char *urls[ING_GROBID_SERVICES_], *probe_url;
	struct ing_grobid_request *waiting, *working, *ended; /* lists, oldest first */
	unsigned waiting_count, working_count;
	enum ing_grobid_reach reach;
	uint64_t suspect_since_ms,
		probe_at_ms; /* of SUSPECT and AWAY; of AWAY, 0: one is under way */
	struct ing_http_client_request probe;
	uint64_t last_end_ms;
	uv_timer_t *timer; /* the next rest that is over, probe, or end that is to be told */
	struct ing_grobid_stats stats;
};

/* What became of a try. */
enum ing_grobid_try {
	ING_GROBID_TRY_END,       /* *ret_answer says how */
	ING_GROBID_TRY_BUSY,      /* 503 */
	ING_GROBID_TRY_UNREACHED, /* no connection */
	ING_GROBID_TRY_LOST,      /* the connection broke */
	ING_GROBID_TRY_LOCAL,     /* something was missing on this machine */
};

/* Send it; done() comes with the end of the try. */
void ing_grobid_call(struct ing_grobid *g, struct ing_grobid_request *r,
	void (*done)(struct ing_http_client_request *r, struct ing_http_client_answer *a));
/* ret_answer is set for every end, as it is to be told if there is no further try. Takes a->fd of a
 * success. */
enum ing_grobid_try ing_grobid_judge(
	struct ing_http_client_answer *a, struct ing_grobid_answer *ret_answer);
void ing_grobid_call_done(struct ing_grobid_request *r);
