/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stages.h - stages that keep what they are given until the test lets them call back, oldest first.
 *
 * They define the functions of fetch, archive, pool, store, emit, intake, robots and the hosts'
 * rules which the pipeline and visits call, and so take the place of the libraries that have
 * them. One thread.
 */
#pragma once
#include <stdbool.h>
#include <uv.h>
#include "common/base/arena.h"
#include "worker/model/findings.h"
#include "worker/model/parked.h"
#include "worker/rules/host_rules.h"
#include "worker/gate/robots/robots.h"
#include "worker/intake/intake.h"

/* A pointer for the stages' handles, which nobody here looks into. */
#define FAKE_STAGE ((void *)&fake)
#define FAKE_PENDING 1024

struct fake_list {
	void *items[FAKE_PENDING];
	size_t count;
};

struct fake {
	struct fake_list fetches, exams, archived, objects, stored, emitted; /* callbacks owed */
	bool blocked;                                                        /* the database */
	bool spool_blocked;
	bool examiners_busy;     /* questions are not taken before fake_exam_taken() */
	unsigned exam_places;    /* questions beyond which the pool is full; 0: never */
	bool paused[ING_LANES_]; /* intake, by the pipeline */
	bool held[ING_LANES_];   /* the same, by order */
	int finished;            /* tokens */
	int pruned;              /* rows of the outbox */
	struct ing_token last_finished;
	char *last_result; /* given to the results topic */
	unsigned tiers;    /* in which requests can be parked: bits */
	/* For deliver; NULL: none is refused. */
	void (*answer_parked)(void *ctx, struct ing_arena *ar,
		const struct ing_output_message *parked, size_t max_value_bytes,
		struct ing_output_message *ret);
	unsigned parked; /* requests put there */
	int last_tier;
	char last_parked[512], last_parked_key[64];
	struct ing_parked last_headers; /* host and origin: */
	char last_host[128], last_origin[128];
	/* of an examiner */
	unsigned last_want;
	bool last_body_cut;
	char last_agent[64], last_encoding[64]; /* "": none */
	unsigned false_findings;                /* that the pool was told of */
	bool unreadable;                        /* bodies, for the archive */
	/* of the last transfer that was started */
	char last_referer[128]; /* "": none */
	bool last_tls_fallback;
	size_t last_max_body_bytes;
	/* robots */
	struct ing_robots_view robots;   /* what is answered; zero-initialised: all allowed */
	unsigned asked;                  /* how often it was */
	unsigned robots_cost_ms;         /* CPU time of each answer */
	struct fake_list robots_waiters; /* done() owed */
	struct ing_robots_answer told; /* by the last ing_robots_fetched(); words copied, no txt */
	int told_rules;                /* how many; -1: no txt */
	char told_words[256];
	unsigned told_count;
	void *told_token;
	/* hosts' rules: of one host each */
	const char *blocked_host;
	struct ing_host_rule rule;
	/* the tables */
	struct fake_list questions; /* not answered */
	/* GROBID */
	struct fake_list readings;
	bool grobid_full, grobid_blocks;
	bool lookup_blocked, lookup_full;
	char last_asked[256];  /* type and base_url */
	unsigned result_rows;  /* of ingest_file_result, stored */
	unsigned request_rows; /* of ingest_request */
	unsigned kept_rows;    /* of publication and webpage */
	char last_kept[4096];  /* the last of these records */
	char last_kept_url[256];
	int last_keep;        /* enum ing_keep */
	unsigned teixml_rows; /* of html_meta, of pages with main text */
	unsigned rows;        /* of CDX, stored */
	char last_row_sha1hex[41], last_row_cdx_sha1hex[41]; /* "": none */
};

extern struct fake fake;

void fake_list_add(struct fake_list *l, void *item);
void *fake_list_take_at(struct fake_list *l, size_t at);
void fake_list_take(struct fake_list *l, const void *item); /* fails when it is not there */

void fake_reset(void);
/* Each ends the oldest of its kind. location NULL: a body of ten bytes. */
void fake_fetch_done(int http_status, const char *location);
struct fake_answer {
	enum ing_status outcome;
	int http_status;      /* 0: not answered */
	const char *location; /* or NULL */
	const void *body;     /* or NULL */
	size_t body_bytes;
	const char *content_type, *content_encoding; /* or NULL */
	bool transient, unverified, dropped_userinfo;
	int64_t retry_after_s; /* 0 is taken as none */
	int later_s;           /* when it was asked for, from now on */
};
void fake_fetch_answer(const struct fake_answer *answer);
const char *fake_fetch_url(void); /* of the oldest transfer */
/* Wake the oldest that waits for robots.txt. */
void fake_robots_done(void);
void fake_exam_done_page(const char *next_url); /* an HTML page; NULL: without a link */
void fake_exam_done_pdf(const char *text);
void fake_exam_done_robots(const char *file);
void fake_exam_done_badly(enum ing_exam exam, const char *detail);
void fake_exam_taken(bool taken); /* the oldest; false: it waits again */
struct ing_findings;
void fake_exam_done(struct ing_findings *f, const char *mimetype); /* f lacks the file's facts */
void fake_exam_says(struct ing_findings *f);                       /* f as it is, true or not */
struct ing_earlier_result;
void fake_lookup_done(
	const struct ing_earlier_result *r); /* the oldest question; NULL: nothing is there */
struct ing_row_cdx;
void fake_lookup_captures_done(const struct ing_row_cdx *rows, size_t count);
void fake_grobid_done(
	const char *status, int status_code, const char *tei); /* tei NULL: a failure */
void fake_archive_done(void); /* a revisit record, if one of the originals has its body */
void fake_archive_lose(void); /* its body cannot be read back */
void fake_object_done(void);
void fake_store_done(void);
/* Of the oldest message or record that waits: would it be sent now? */
bool fake_emit_is_wanted(void);
void fake_emit_done(bool ok);
/* The real one, among the made-up store, emit and intake. on_cdx may be NULL. */
struct ing_deliver;
struct ing_cdx;
typedef char *fake_shorten_f(const char *result, size_t bytes, size_t max_bytes, size_t *ret_bytes);
extern fake_shorten_f *fake_shorten; /* of a refused result; NULL at first */
extern bool fake_with_objects;       /* there is an object store; not at first */
struct ing_deliver *fake_deliver_new(
	bool with_store, void (*on_cdx)(void *ctx, const struct ing_cdx *line));
/* All that archive, store and emit owe, and what comes of it. */
void fake_settle(void);
void fake_turn(uv_loop_t *loop, uint64_t ms); /* run the loop so long */
