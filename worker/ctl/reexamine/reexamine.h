/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * reexamine.h - what `ingestctl reexamine` is to do, as its parts share it. Plain data.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "worker/model/derived.h"
#include "worker/model/ingest_type.h"

#define ING_REEXAMINE "reexamine"
#define ING_REEXAMINE_MAX_TYPES 4
#define ING_REEXAMINE_MAX_WHERE 32

/* A value of --what. */
struct ing_reexamine_what {
	const char *name;
	bool pages; /* not documents, but the pages that led, or did not lead, to them; nothing is written */
	bool grobid;                                         /* GROBID reads them */
	enum ing_ingest_type types[ING_REEXAMINE_MAX_TYPES]; /* whose documents */
	size_t type_count;
	const char *mimetype; /* of them; NULL: any */
	unsigned derived;     /* what is written beside rows: bits 1 << enum ing_derived_kind */
	const char *missing;  /* condition of --missing; NULL: the tables do not say */
};

/* The command line. */
struct ing_reexamine_task {
	const struct ing_reexamine_what *what;
	const char *where[ING_REEXAMINE_MAX_WHERE +
			  2];         /* with the condition of --missing; NULL-terminated */
	const char *const *warc_dirs; /* NULL-terminated */
	uint32_t slice, slices;       /* from 1 */
	uint64_t limit;               /* documents; 0: none */
	bool dry_run;
	char after[41]; /* digests greater than this one; "" */
	char to[41];    /* and less than this one */
};

/* What has come of it. */
struct ing_reexamine_counts {
	uint64_t examined; /* read and looked into with success */
	uint64_t skipped;  /* reported, nothing was written of them */
	uint64_t bytes;    /* of the bodies */
};
