/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication.h - a job that puts a publication together: an assembly (worker/publication) says what is
 * asked for, each ask has a visit and an examination of its own, and when nothing is left to ask the job
 * ends.
 *
 * Before its first visit is admitted such a job is as small as any other. Only so many are begun at once,
 * since each keeps what it has found; the others are held back, or wait in the queues of hosts. Its time
 * (publication.deadline_ms) begins with its first transfer, and waiting counts.
 * Thread: loop only.
 */
#pragma once
#include "worker/job/job.h"
#include "worker/publication/assembly.h"

/* One ask. In the arena of the job's work, as its strings are. */
struct ing_publication_visit {
	struct ing_job_visit further;       /* of the first ask: not used */
	struct ing_visit *visit;            /* in further; of the first ask that of the job */
	struct ing_publication_visit *next; /* in the order of the asks */
	struct ing_publication_ask read;
	unsigned id;
	bool is_page; /* pages are read, not answers of a service */
	bool is_over; /* the assembly has its answer */
	const char *url, *accept, *referer;
	const char *host; /* that it waits for or is fetched from; "": not known */
	struct ing_visit_steps steps;
	struct ing_work_clock clock; /* what is left of the publication's time */
};

enum ing_publication_place {
	ING_PLACE_NOWHERE,   /* new, or over */
	ING_PLACE_HELD_BACK, /* until there is room */
	ING_PLACE_QUEUED,    /* its first visit waits */
	ING_PLACE_BEGUN,
};

/* Of a job; heap. */
struct ing_job_publication {
	struct ing_job *job;
	struct ing_job_publication *earlier, *later; /* in the list of its place */
	uint8_t place;                               /* enum ing_publication_place */
	bool at_service;            /* it begins with the answer of a service, else with a page */
	bool quick, fresh;          /* fresh: it has just been admitted, more may be asked */
	bool going_on, go_on_again; /* one call at a time decides what is asked */
	char *host;                 /* of its first URL; "": not known */
	/* From here on only once it is begun. */
	struct ing_assembly *assembly;
	struct ing_publication_visit *first, **end; /* asks */
	unsigned open;                              /* of them, not over */
	unsigned retry_after_s;                     /* longest time that a host wants; 0: none */
	uint64_t began_ms, end_ms;                  /* ing_now_ms() clock */
	json_t *json;                               /* NULL: nobody has asked for it yet */
};

/* All publications of a pipeline. */
struct ing_publications {
	/* Lists, oldest first: held back, by whether they begin with a service's answer; begin with one and
	 * wait for it; begun. */
	struct ing_job_publication *held_back[2], *queued, *begun;
	unsigned held_back_count, queued_count, begun_count;
	size_t bytes; /* kept of those that are begun, of which derived_bytes knows nothing */
	/* So many asks wait for a host that some may not have their turn in time. */
	bool is_crowded;
	uint64_t checked_ms; /* ing_now_ms() clock: the last look at them */
};

/* --- pipeline_publication.c: what is asked, and what becomes of it --- */

/* Where a request begins: as ing_target_start(), of any type. */
struct ing_decision ing_pipeline_start(const struct ing_pipeline *p, const struct ing_request *r,
	ing_verdict_fn *verdict, void *ctx);
/* Make what a begun publication has: its assembly and its first ask, which is the job's first visit. */
void ing_job_begin_publication(struct ing_job *job);
/* Ask what can be asked now, or end the job, if that is all. It may be gone afterwards. */
void ing_job_go_on_with_publication(struct ing_job *job);
/* Its host is held for longer than it is waited for: nothing comes of the ask. The job may be gone. */
void ing_job_give_up_ask(struct ing_job *job, struct ing_publication_visit *ask, uint64_t hold_ms);
/* The time is up: what is under way is broken off, and the job ends. It may be gone. */
void ing_job_end_publication(struct ing_job *job);
/* For how long the host of an ask, or of a first visit that waits, is held; 0: for no longer than may be
 * waited for. host: as ing_visits_host(). */
uint64_t ing_job_hold_of(const struct ing_job *job, const char *host);
/* The publication of a job that ends, as far as it was put together, a new reference; NULL: it was not begun.
 * It is made once: what one caller leaves out of it, later ones do not have. */
json_t *ing_job_publication_json(const struct ing_job *job);
extern const struct ing_visit_user ing_publication_page_user, ing_publication_service_user;

/* --- pipeline_publications.c: how many at once, and how long --- */

/* The job, which is new, is one for a publication that begins at this URL. */
void ing_job_init_publication(struct ing_job *job, bool quick, const char *start);
/* As ing_job_wait(), whose state is set. */
void ing_job_wait_for_publication(struct ing_job *job, const char *url);
/* It is in another place now. */
void ing_publication_move(struct ing_job_publication *pub, enum ing_publication_place place);
/* It is over: nothing more is asked, and what was found stays. Harmless without a publication. */
void ing_job_close_publication(struct ing_job *job);
/* The same. */
void ing_job_free_publication(struct ing_job *job);
/* What time brings: ends, holds of hosts, room for those that are held back. */
void ing_pipeline_check_publications(struct ing_pipeline *p, uint64_t now_ms);
/* What the publications keep is too much: those that are begun ask no more. */
bool ing_pipeline_is_over_publication_bytes(const struct ing_pipeline *p);
