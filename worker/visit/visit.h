/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * visit.h - one URL followed politely to one outcome: blocks and URL rules, robots.txt, the gate,
 * the transfer, the archive; redirects and further tries included.
 *
 * Who uses it: a job, which has one visit after another or several side by side, and the robots
 * fetch (robots_fetch.h). Looking into bodies, index rows and statuses of requests are the owner's.
 *
 * Ownership: struct ing_visit is embedded in its owner and small, because a million of them may
 * wait. What it needs beyond that is made when the gate admits it, in an arena that the owner gives
 * and keeps until the visit is idle. The owner frees both; there is nothing else to free.
 * Thread: loop only.
 *
 * Order of calls: ing_visit_init(), ing_visit_start(), then from the visit
 *   url()       any number of times until it is admitted;
 *   admitted()  once, before its first transfer (never if it ends or is cancelled before);
 *   changed()   when it begins to transfer, or waits again;
 *   done()      once, with the outcome, unless it is cancelled. After an outcome of WALLS the owner
 *               may call ing_visit_again(); if that returns true, done() comes once more;
 *   settled()   whenever the last of what it owes has come: archive callbacks, and after
 *               ing_visit_cancel() the end of its transfer. Before or after done().
 * All but settled() may come from inside ing_visit_start() and ing_visit_again(). The owner may free
 * the visit from inside done() and settled(), if it is idle.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "worker/model/exchange.h"
#include "worker/gate/gate.h"
#include "worker/gate/robots/robots.h"
#include "worker/rules/url_rules.h"
#include "worker/store/lookup/lookup.h"
#include "worker/visit/capture.h"
#include "worker/visit/target.h"
#include "worker/visit/work_clock.h"

struct ing_source;
struct uv_loop_s;
struct ing_arena;
struct ing_archive;
struct ing_cookies;
struct ing_fetch;
struct ing_blocked_hosts;
struct ing_host_rules;
struct ing_orders;
struct ing_originals;
struct ing_url_rules;
struct ing_visit;
struct ing_visit_run;
struct ing_visits;

/* How long a URL waited before its transfer. What is neither robots.txt's nor the host's was ours:
 * the database, the disk, the broker, other requests' examinations. */
struct ing_visit_wait {
	uint32_t total_ms, robots_ms, host_ms;
	uint32_t before; /* requests that waited for the host when it began to */
};

/* One URL asked for, once: each redirect and each try is a step of its own. In the owner's arena.
 */
struct ing_visit_step {
	struct ing_visit_step *next; /* in the list */
	struct ing_visit *visit;
	const char *url;
	enum ing_via via;
	uint64_t jar_version;    /* of the cookies when the URL was asked for */
	bool asked;              /* a transfer was begun, and has ended: */
	enum ing_status outcome; /* so (struct ing_exchange) */
	uint32_t transfer_ms;    /* it took so long */
	struct ing_visit_wait waited;
	bool answered;              /* a header block came; else capture has the URL alone */
	bool archiving;             /* its record is under way */
	struct ing_capture capture; /* body_sha1hex is for the owner to set */
	/* What its record may refer to; the question in which of them is under way, or NULL. */
	const struct ing_original *originals[ING_LOOKUP_CAPTURES];
	const struct ing_archive_original *offered[ING_LOOKUP_CAPTURES]; /* their records */
	struct ing_lookup_question *question;
};

/* The steps of all visits of an owner, in the order in which they were asked for, and its cookies.
 * Zero-initialised: without cookies. */
struct ing_visit_steps {
	struct ing_visit_step *first, *last;
	unsigned count;
	struct ing_cookies *jar; /* NULL: none are kept or sent */
};

/* With an empty cookie jar; release with ing_visit_steps_done(). Steps are the arena's. */
void ing_visit_steps_init(struct ing_visit_steps *steps);
void ing_visit_steps_done(struct ing_visit_steps *steps);
/* Was url asked for, with the cookies as they are now? */
bool ing_visit_steps_have(const struct ing_visit_steps *steps, const char *url);

/* What the owner gives at admission. Everything is borrowed until the visit is idle. */
struct ing_visit_params {
	const char *url; /* as given to ing_visit_start() */
	struct ing_arena *arena;
	struct ing_visit_steps *steps;
	struct ing_work_clock *clock; /* runs during transfers; at its end the visit ends */
	const char *referer;          /* of the first step; NULL: none */
	const char *accept;           /* the Accept field; NULL: anything */
	unsigned max_redirects;       /* in a row */
	unsigned more_tries;          /* as in ing_retry_worth() */
	size_t max_body_bytes;        /* less than fetch.max_body_bytes; 0: that */
};

enum ing_visit_end {
	ING_VISIT_EXAMINE, /* a whole answer of status 200 or 226: look into it */
	ING_VISIT_WALLS,   /* a bad status whose body may say that it is a wall's */
	ING_VISIT_ENDED,   /* with a status */
};

struct ing_visit_outcome {
	enum ing_visit_end end;
	enum ing_status status;        /* ENDED; WALLS: what it is if it is no wall */
	const char *detail;            /* for error_message; borrowed during the call; NULL: none */
	unsigned retry_after_s;        /* when it may be worth coming back; 0: not said */
	struct ing_exchange *exchange; /* of the last step; borrowed during the call: take a
					  reference to keep it. NULL: the end came without one */
	struct ing_visit_step *step;   /* the last; NULL: nothing was asked for */
	unsigned redirects;            /* followed */
	int redirect_status;           /* HTTP status of the last redirect, 0: none */
	bool dropped_userinfo; /* a URL on the way had user information, which was not sent */
	bool unverified;       /* a certificate on the way was not verified */
};

/* What kind of owner; shared by all of a kind. */
struct ing_visit_user {
	/* The URL, as given to ing_visit_start(): heap, the visit frees it. */
	char *(*url)(struct ing_visit *v);
	/* *ret is zero-initialised. */
	void (*admitted)(struct ing_visit *v, struct ing_visit_params *ret);
	void (*changed)(struct ing_visit *v); /* NULL: not wanted */
	/* It is about to wait for the host of url. False: it may not; the owner has ended or
	 * cancelled it, and it may be gone. NULL: it always may. */
	bool (*may_wait)(struct ing_visit *v, const char *url);
	/* Was url asked for before, with the cookies as they are now? */
	bool (*asked_before)(const struct ing_visit *v, const char *url);
	/* There was no descriptor for a transfer. NULL: not wanted. */
	void (*no_descriptor)(struct ing_visit *v);
	void (*done)(struct ing_visit *v, const struct ing_visit_outcome *o);
	void (*settled)(struct ing_visit *v);
	/* When its request was taken (ing_now_ms()), for orders that concern new ones. NULL: long ago. */
	uint64_t (*accepted_ms)(const struct ing_visit *v);
	/* Whose message it is; false: nobody's. NULL: nobody's either. */
	bool (*source)(const struct ing_visit *v, struct ing_source *ret);
	bool is_robots_txt; /* robots.txt is not asked; the visit goes first within its lane */
	/* The URL is of a service for programs, which has terms of its own: robots.txt is not asked for it,
	 * but for what it redirects to; and no Referer tells that, since the URL may have a key in it. */
	bool is_service;
};

enum ing_visit_state {
	ING_VISIT_NEW,
	ING_VISIT_WAITING, /* for robots.txt, for its turn, between two tries, for an order to end */
	ING_VISIT_TRANSFER,
	ING_VISIT_DONE,
	ING_VISIT_CANCELLED,
};

#define ING_VISIT_MAGIC 0x56495349u

struct ing_visit { /* ing_visit_init(); the fields are the visit's own, but ctx and state */
	struct ing_gate_waiter waiter;
	struct ing_robots_waiter robots;
	struct ing_visits *visits;
	const struct ing_visit_user *user;
	void *ctx;                 /* the owner's */
	struct ing_visit_run *run; /* from admission on; in the owner's arena */
	unsigned magic;
	uint8_t state;  /* enum ing_visit_state */
	uint8_t lane;   /* enum ing_lane */
	uint8_t via;    /* enum ing_via: how the first URL came up */
	bool alone : 1; /* it may have killed a process: admitted when nobody else is at work */
	bool held : 1;  /* by an operator's order */
	/* Low bits of ing_now_ms() when the URL began to wait; how long of that for robots.txt. */
	uint32_t since_ms, robots_ms;
};

/* --- all of them --- */

struct ing_visits_conf {
	const struct ing_url_rules *url_rules;         /* borrowed; NULL: none */
	const struct ing_host_rules *host_rules;       /* borrowed; NULL: none */
	const struct ing_blocked_hosts *blocked_hosts; /* borrowed; NULL: none */
	const struct ing_orders *orders;               /* borrowed; NULL: none */
	bool tls_fallback;                             /* where host_rules do not say */
};

/* Who fetches the robots.txt files that visits wait for: robots_fetch.h. entry: that of a visit which
 * waits for its file. */
struct ing_robots_fetcher {
	void (*raise_lane)(void *ctx, const struct ing_robots_entry *entry, enum ing_lane lane);
	bool (*waits_for_hold)(void *ctx, const struct ing_robots_entry *entry);
	void *ctx; /* NULL: nobody is told */
	/* Whose message waits for the file, and whether it must be alone. NULL: nobody is told. */
	void (*asked_by)(void *ctx, const struct ing_robots_entry *entry,
		const struct ing_source *source, bool alone);
};

struct ing_visits_stages { /* borrowed */
	struct ing_gate *gate;
	struct ing_robots *robots; /* NULL: nobody asks */
	struct ing_robots_fetcher robots_fetcher;
	struct ing_fetch *fetch;
	struct ing_archive *archive;     /* NULL: nothing is kept */
	struct ing_originals *originals; /* NULL: there are no revisit records */
	struct ing_lookup *lookup;       /* NULL: there is no table of captures */
	struct ing_disk *disk;           /* NULL: nobody looks */
};

struct ing_visits *ing_visits_new(struct uv_loop_s *loop, const struct ing_visits_conf *conf);
/* Copied; before the first visit. */
void ing_visits_wire(struct ing_visits *all, const struct ing_visits_stages *stages);
/* NULL is fine. Nobody may be waiting; run the loop once more to close its handle. */
void ing_visits_free(struct ing_visits *all);
/* Other rules from now on; the ones before are not looked at again. */
void ing_visits_set_rules(struct ing_visits *all, const struct ing_url_rules *url_rules,
	const struct ing_host_rules *host_rules);
/* What visits wait for ("descriptors", "disk", "database"), or NULL. */
const char *ing_visits_blocked_by(const struct ing_visits *all);
/* While held no visit is admitted, and the time of those that wait does not count. */
void ing_visits_hold(struct ing_visits *all, bool held);
/* The orders have changed. */
void ing_visits_on_orders(struct ing_visits *all);
/* Visits that an order keeps waiting. */
unsigned ing_visits_held_by_orders(const struct ing_visits *all);
/* The host that a URL's requests wait for (ing_gate_key()), and what is to be expected of it. */
bool ing_visits_host(const struct ing_visits *all, const char *url, char *ret, size_t ret_bytes);
void ing_visits_look_ahead(
	const struct ing_visits *all, const char *host, struct ing_gate_outlook *ret);
/* It is the turn of a visit that must be alone: nobody else is admitted, until nobody is at work any
 * more (ing_visits_admit_alone()) and the visit is through (ing_visits_alone_over()). */
bool ing_visits_want_alone(const struct ing_visits *all);
void ing_visits_admit_alone(struct ing_visits *all);
void ing_visits_alone_over(struct ing_visits *all);
/* What blocks and URL rules say of a URL. An ing_verdict_fn: visits is a struct ing_visits. */
struct ing_url_decision ing_visits_judge(void *visits, const char *url);

/* --- one of them --- */

void ing_visit_init(struct ing_visit *v, struct ing_visits *all, const struct ing_visit_user *user,
	void *ctx, enum ing_lane lane);
/* Begin to wait. url: clean (ing_target_start(), ing_target_clean()) and let pass by the rules. */
void ing_visit_start(struct ing_visit *v, const char *url, enum ing_via via);
/* Wait for another try of the last URL, if its answer may be better then and the clock allows one;
 * else false. After done(). */
bool ing_visit_again(struct ing_visit *v);
/* done() will not come. A transfer under way keeps its host until it ends, for its server goes on
 * with it; at_once breaks it off, and the host rests as after an answer that took as long. In any
 * state; a visit that has ended stays so. May be called again with at_once. */
void ing_visit_cancel(struct ing_visit *v, bool at_once);
/* How urgent it is from now on, and if it waits in the gate, there. */
void ing_visit_set_lane(struct ing_visit *v, enum ing_lane lane);
/* It must be alone from now on. */
void ing_visit_set_alone(struct ing_visit *v);

/* What is or will be asked for; NULL: it was not admitted yet, its owner knows. Borrowed. */
const char *ing_visit_url(const struct ing_visit *v);
/* settled() is still to come. */
bool ing_visit_owes(const struct ing_visit *v);
/* It does not wait and owes nothing: it may be freed. */
bool ing_visit_is_idle(const struct ing_visit *v);
/* It waits for a host that is held, or for an order to end, itself or its robots.txt: that may take long. */
bool ing_visit_waits_for_hold(const struct ing_visit *v);
/* It waits for an order to end. */
bool ing_visit_waits_for_order(const struct ing_visit *v);
/* An answer could not be archived, because its body could not be read back. */
bool ing_visit_has_lost_answer(const struct ing_visit *v);
