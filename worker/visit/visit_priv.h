/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * visit_priv.h - the insides of visits, shared by their files: visit.c (birth, cancelling, the
 * end), visit_wait.c (rules, robots.txt, the gate), visit_orders.c (operators' orders), visit_archive.c (the archive), visit_transfer.c (transfers,
 * redirects, tries). Thread: loop only.
 */
#pragma once
#include <uv.h>

#include "worker/visit/visit.h"

struct ing_visits {
	struct ing_visits_conf conf;
	struct ing_visits_stages stages;
	uv_idle_t waking;
	struct ing_robots_waiter *woken; /* list: visits that go on asking robots.txt */
	uint64_t robots_ns;              /* spent on that since the turn began */
	struct ing_robots_waiter *held;  /* list: visits that an order keeps waiting */
	unsigned held_count;
};

/* What a visit has from its admission on. In the owner's arena. */
struct ing_visit_run {
	struct ing_visit_params params;
	const char *url; /* to be asked for next; arena */
	enum ing_via via;
	const char *referer;                  /* for url; NULL: none */
	struct ing_visit_step *step;          /* the last; NULL: nothing was asked for yet */
	unsigned tries;                       /* of url so far */
	unsigned redirects, cookie_redirects; /* followed; those of them that set a cookie */
	int redirect_status;
	uint64_t not_before_ms; /* ing_now_ms() clock: of the next try */
	bool may_go_better;     /* with another try, which is to come in again_ms at least */
	unsigned again_ms;
	struct ing_transfer *transfer;
	unsigned archiving; /* steps whose records are under way */
	bool lost_answer, dropped_userinfo, unverified;
};

/* visit.c */
/* Make what a visit has from now on, if it has not. */
void ing_visit_admit(struct ing_visit *v);
/* Tell the owner. v may be gone afterwards. */
void ing_visit_end(struct ing_visit *v, const struct ing_visit_outcome *o);
/* The same, without an exchange. */
void ing_visit_end_with(
	struct ing_visit *v, enum ing_status status, const char *detail, unsigned retry_after_s);

/* visit_wait.c */
void ing_visit_init_waiting(struct ing_visit *v);
/* For struct ing_robots. */
void ing_visit_on_robots(struct ing_robots_waiter *waiter);
/* A URL begins to wait. */
void ing_visit_begin_waiting(struct ing_visit *v);
/* In WAITING: ask robots.txt, then enter the gate. url: NULL for run->url, which is there then. The
 * visit may have ended, and be gone, afterwards. */
void ing_visit_queue_up(struct ing_visit *v, const char *url);
/* Out of robots' list, of that of those that are to ask again, and of that of those that an order holds. */
void ing_visit_leave_robots(struct ing_visit *v);
void ing_visits_on_waking(uv_idle_t *waking);

/* visit_orders.c */
/* An order keeps it from asking for url: it waits until the orders change. False: none does. */
bool ing_visit_obey(struct ing_visit *v, const char *url);
/* The same of a visit whose turn it is, which gives its slot back. */
bool ing_visit_obey_at_turn(struct ing_visit *v);
void ing_visit_leave_held(struct ing_visit *v);

/* visit_archive.c */
/* Archive the answer of the last step, if there is one. */
void ing_visit_archive(struct ing_visit *v, struct ing_exchange *ex);
/* Those of its answers that wait for a look-up wait no longer. */
void ing_visit_archive_now(struct ing_visit *v);

/* visit_transfer.c */
/* The gate has let it pass. */
void ing_visit_ask(struct ing_visit *v);
/* Append a step for run->url. */
void ing_visit_add_step(struct ing_visit *v);
/* Wait again. v may be gone afterwards. */
void ing_visit_wait_again(struct ing_visit *v);
