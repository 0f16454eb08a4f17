/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * selection.h - which stored requests: conditions as plain data, and as SQL with parameters.
 *
 * A selection owns nothing: its texts are borrowed from whoever parsed them. ing_selection_reader owns a
 * connection and a transaction that only reads, so that all of one reading is of one moment. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/base/error.h"
#include "worker/model/request_facts.h"

struct ing_buf;

/* Requests that have this in common are one host's, for limits and interleaving: their host, but at a DOI resolver the
 * prefix of their DOI. SQL over the columns of ingest_request under the alias q; '' for what has no host. */
#define ING_SELECTION_GROUP_SQL(q)                                                                 \
	"coalesce(CASE WHEN " q ".host IN ('doi.org', 'dx.doi.org') THEN " q ".doi_prefix END, " q \
	".host, '')"

/* Any of them; none: no condition. */
struct ing_words {
	const char *const *words;
	size_t count;
};

/* What has become of a request. */
enum ing_request_class {
	ING_CLASS_NEVER_ASKED = 1, /* no result, and its document was never queued */
	ING_CLASS_QUEUED = 2,      /* its document was queued later than its last result came */
	ING_CLASS_RETRY_DUE = 4,   /* its last result is worth asking again, and it is time */
	ING_CLASS_RETRY_LATER = 8, /* it is worth asking again, later */
	ING_CLASS_ENDED = 16,      /* no hit, and not worth asking again */
	ING_CLASS_HIT = 32,
};

struct ing_selection {
	struct ing_words lists, types, sources, link_sources, statuses, doi_prefixes;
	struct ing_words terminal_codes; /* HTTP statuses, as text */
	struct ing_words hosts;          /* as ing_fact_host() gives them */
	struct ing_words domains;        /* a host and all below it */
	struct ing_words without_hosts;  /* hosts and all below them that are left out */
	unsigned classes; /* of enum ing_request_class, any of them; 0: no condition */
	bool only_new;    /* documents that were never queued nor have any result */
	/* Milliseconds since 1970, from (inclusive) and to (exclusive); 0: no condition. Of the request's creation. */
	int64_t created_from_ms, created_to_ms;
	/* Seconds of age at least and less than; 0: no condition. */
	int64_t request_age_from_s, request_age_to_s, result_age_from_s, result_age_to_s;
	unsigned attempts_below; /* 0: no condition */
	/* A document that was queued at least so many seconds ago counts as not queued: whatever became of it, no result
	 * of it will come. 0: it is queued until there is one. */
	int64_t lost_after_s;
	bool lost_only; /* documents that were queued later than their last result came; for lost_after_s */
	bool not_queued; /* documents that are not queued */
	/* Disjoint parts by document, 1 <= slice <= slices; 0: all. The same document is always in the same part. */
	unsigned slice, slices;
	/* What of all these: */
	uint64_t limit;    /* requests; 0: no limit */
	uint64_t per_host; /* requests of one host (ING_SELECTION_GROUP_SQL); 0: no limit */
	double share; /* percent of what is selected that one host may have at most; 0: no limit */
	bool random;  /* in the order that seed gives, else in that in which they are stored */
	uint64_t seed;
};

enum ing_selection_order {
	ING_ORDER_STORED, /* fastest; with `random`, the seed's */
	ING_ORDER_INTERLEAVED, /* each host spread evenly over the whole, each document once: for topics */
};

/* A request as it is stored: texts borrowed until the next, NULL for what it has not. */
struct ing_stored_request {
	const char *request_id, *document; /* UUIDs */
	const char *ingest_type, *base_url, *link_source, *link_source_id, *ingest_request_source,
		*release_stage;
	const char *created;      /* RFC 3339 */
	const char *request_json; /* object: what has no column of its own */
	const char *host, *doi_prefix;
};

struct ing_selection_reader;

/* The first request may be long in coming: what has to be sorted is sorted then. Error: as ing_schema_open();
 * -ING_FAIL_NOT_FOUND: there is no such list; -ING_FAIL_INVALID: a value that the server refuses, or rows that need `ingestctl db
 * fill`. */
int ing_selection_open(const char *dsn, const struct ing_selection *s,
	enum ing_selection_order order, struct ing_selection_reader **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* 1: *ret is the next; 0: that was all. Negative: the server went away. */
int ing_selection_next(struct ing_selection_reader *r, struct ing_stored_request *ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Of a selection with a share, from its opening on; else all 0. */
struct ing_selection_facts {
	uint64_t hosts, candidates; /* for which the conditions hold, and their requests */
	uint64_t cap;               /* of one host; 0: there are too few hosts for such a share */
	uint64_t total;             /* how many requests are selected */
};
const struct ing_selection_facts *ing_selection_facts(const struct ing_selection_reader *r);
void ing_selection_close(struct ing_selection_reader *r); /* NULL is fine */

/* Count what would be read in stored order: a call for each value with its requests, the most first; without `by` one call with an
 * empty value, or none. by: a name of ing_selection_list_counted(). Error: as ing_selection_open(); -ING_FAIL_USAGE: there is no such by. */
typedef bool ing_selection_count_f(
	void *ctx, const char *value, uint64_t requests); /* false: enough */
int ing_selection_count(const char *dsn, const struct ing_selection *s, const char *by,
	ing_selection_count_f *each, void *ctx, struct ing_error *err) ING_MUST_CHECK;
/* Append the names of what can be counted by, with commas between. */
void ing_selection_list_counted(struct ing_buf *out);

/* Append the request as a line of JSON without its end, as the worker reads it. */
bool ing_stored_request_line(const struct ing_stored_request *q, bool force_recrawl,
	bool with_created, struct ing_buf *out);
