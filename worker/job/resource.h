/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * resource.h - the sub-resources of a page that is a hit: what it takes to show it (scripts, style
 * sheets, images, …), each with a visit of its own.
 *
 * They are visited side by side once the page has been accepted, a few at once and one of a host, and the
 * request ends when the last of them has, or at resources.deadline_ms. Nothing that becomes of them
 * touches the chain of hops: its steps, its end, what is said of the document. In the arena of the job's
 * work. Thread: loop only.
 */
#pragma once
#include "worker/job/job.h"
#include "worker/model/found_resources.h"

enum ing_resource_state {
	ING_SUB_WAITS,   /* for its turn in the job */
	ING_SUB_VISITED, /* its visit is under way */
	ING_SUB_READ,    /* an examiner looks into it */
	ING_SUB_OVER,
};

struct ing_resource {
	struct ing_job_visit visit;
	struct ing_resource *next; /* in document order; behind a style sheet what it refers to */
	uint8_t type;              /* enum ing_resource_type */
	uint8_t state;             /* enum ing_resource_state */
	uint8_t depth;             /* style sheets that lead here from the page */
	uint32_t hash;             /* of its URL */
	const char *host;          /* that it waits for or is fetched from */
	struct ing_visit_steps steps;
	struct ing_visit_step *step; /* the last; NULL: it was not asked for */
	/* OVER: SUCCESS when it is archived, else why it is not. */
	enum ing_status status;
	struct ing_file_meta *file;   /* NULL: nobody has looked into it */
	char decided[ING_DT14_BYTES]; /* when it was over */
};

struct ing_job_resources {
	struct ing_job *job;
	struct ing_job_resources *earlier, *later; /* of the pipeline */
	struct ing_resource *first;
	unsigned count;
	unsigned open;     /* not OVER */
	unsigned visited;  /* VISITED */
	unsigned left_out; /* over ING_MAX_RESOURCES */
	unsigned filtered; /* left out by filter lists, beside those */
	unsigned failed;   /* of count; once all are settled */
	uint64_t end_ms;   /* ing_now_ms() clock */
	bool strict;       /* one that is not archived fails the page */
	bool listed;       /* in the pipeline's list */
	bool starting, start_again;
};

/* The steps of a job: those of the chain, then those of each sub-resource, or of each ask of a
 * publication. */
struct ing_step_walk {
	const struct ing_resource *resource;     /* next to come */
	const struct ing_publication_visit *ask; /* the same */
	const struct ing_visit_step *step;
};
void ing_step_walk_init(struct ing_step_walk *walk, const struct ing_work *w);
const struct ing_visit_step *ing_step_walk_next(struct ing_step_walk *walk); /* NULL: all were */

/* pipeline_resources.c */
/* What is fetched for requests of the job's type and lane. */
enum ing_resource_mode ing_job_resource_mode(
	const struct ing_job *job, const struct ing_request *r);
/* Visit them; the job ends with SUCCESS once that is over. It may be gone afterwards. */
void ing_job_visit_resources(struct ing_job *job, const struct ing_resources_found *found);
/* Nothing more is visited: what is open is over. Harmless without any. */
void ing_job_close_resources(struct ing_job *job);
/* Every exchange is on disk: which of them are archived is known now. Returns how many are not. */
unsigned ing_job_settle_resources(struct ing_job *job);
/* End those whose time is up. */
void ing_pipeline_check_resources(struct ing_pipeline *p, uint64_t now_ms);
