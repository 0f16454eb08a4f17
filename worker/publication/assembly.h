/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * assembly.h - one publication put together from many resources: which of them to ask next, what
 * their answers change, when that is all, and the publication as JSON.
 *
 * A state machine without I/O: the owner (worker/job) asks for URLs and has the answers examined. What
 * results does not depend on the order in which answers arrive: they are taken in the order of the
 * asks, so that one which came early is kept until those before it are in.
 *
 * Ownership: the assembly copies what it is given and frees it with itself. Strings it hands out are
 * its own, and good until the next call that is not const. Thread: any one; the loop's in the daemon.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/data/json.h"
#include "worker/model/found_publication.h"
#include "worker/model/settings.h"
#include "worker/model/status.h"
#include "worker/publication/resource.h"

struct ing_assembly;

/* What is asked for. Strings are copied. */
struct ing_assembly_request {
	/* In normal form (PMC with its prefix, DOI in upper case), or NULL; at least one, or url. */
	const char *pmid, *pmcid, *doi;
	const char *url; /* of a page to begin with, or NULL */
	unsigned parts;  /* wanted: bits 1 << enum ing_part_key; 0: all */
	bool quick; /* no second tries, and links only while there is time: publication.quick_ms */
	/* This resource alone, whatever its preconditions; ING_PUBLICATION_RESOURCES_: all that are needed. */
	enum ing_publication_resource only;
};

/* Identifiers and addresses as people write them: a bare PMID, PMCID or DOI, with their prefixes or
 * in the URL of a resolver, PubMed, PMC or Europe PMC; else an http(s) URL. Fills *ret, whose strings
 * are the arena's. Returns 0 or -ING_FAIL_INVALID with words. */
struct ing_arena;
struct ing_error;
int ing_assembly_parse_id(const char *text, struct ing_arena *ar, struct ing_assembly_request *ret,
	struct ing_error *err);

/* settings: borrowed for its life. */
struct ing_assembly *ing_assembly_new(const struct ing_publication_settings *settings,
	const struct ing_assembly_request *request);
void ing_assembly_free(struct ing_assembly *a); /* NULL is fine */
/* The first URL that such an assembly asks for, heap; NULL: there is none. */
char *ing_assembly_first_url(const struct ing_publication_settings *settings,
	const struct ing_assembly_request *request);

struct ing_assembly_ask {
	unsigned id; /* for the answer */
	enum ing_publication_resource resource;
	const char *url;
	const char *accept;              /* the Accept field; NULL: anything */
	const char *referer;             /* the page that has the link; or NULL */
	struct ing_publication_ask read; /* for the examiner */
};

/* The next resource to be asked now, beside those that are under way. Call it until it returns false, at
 * the beginning and after each answer. elapsed_ms: of the publication's own time. */
bool ing_assembly_next(struct ing_assembly *a, uint64_t elapsed_ms, struct ing_assembly_ask *ret);

/* What became of one. */
struct ing_assembly_answer {
	/* SUCCESS: it was examined; else why not. */
	enum ing_status status;
	const char *detail;    /* words, or NULL */
	int http_status;       /* 0: none */
	const char *final_url; /* after redirects; NULL: nothing was asked for */
	int64_t time_ms;       /* since 1970 */
	bool transient;        /* it may be worth asking again later */
	const struct ing_publication_found *found; /* with SUCCESS */
};
void ing_assembly_answer(
	struct ing_assembly *a, unsigned id, const struct ing_assembly_answer *answer);

/* Nothing is under way and nothing is left to ask. */
bool ing_assembly_is_over(const struct ing_assembly *a);
/* Its time is up: nothing more is asked, and answers that come are not waited for. */
void ing_assembly_stop(struct ing_assembly *a);

/* SUCCESS: a part other than the identifiers is usable. EMPTY_PUBLICATION: nothing was found. Else the
 * status of the first resource that failed, if one might have given something. */
enum ing_status ing_assembly_status(const struct ing_assembly *a, const char **ret_detail);
/* A resource failed in a way that may pass. */
bool ing_assembly_has_exception(const struct ing_assembly *a);
/* The publication (worker/publication/README.md), a new reference. */
json_t *ing_assembly_json(const struct ing_assembly *a);
