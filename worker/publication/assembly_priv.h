/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * assembly_priv.h - the state of an assembly, for its own files.
 *
 * An assembly is a list of calls, which is gone through in rounds: as long as a round has found a
 * further identifier there is another one. Answers are taken in the order of the calls, so that what
 * results is what asking one after the other would give. A call is made before the answers of those
 * in front of it are there if none of them can make it needless.
 * After the rounds, links are followed one by one; one that gave an identifier leads to another round.
 * When an identifier turns out to be another one, everything is emptied and begins again: that is a
 * new run. Answers of former runs are kept while that can happen, so that nothing is asked for twice.
 */
#pragma once
#include "common/base/macros.h"
#include "worker/publication/addresses.h"
#include "worker/publication/assembly.h"
#include "worker/publication/links.h"
#include "worker/publication/known.h"

#define ING_MAX_ASSEMBLY_ASKS 250u
#define ING_MAX_ASSEMBLY_RUNS 16u /* then a changed identifier is taken, and that is all */
/* Of answers that are kept though nobody may need them again. */
#define ING_MAX_ASSEMBLY_KEPT_BYTES ((size_t)4 << 20)

/* What a call may give; the bits of parts are 1 << enum ing_part_key. */
enum ing_gives {
	ING_GIVES_IDS = 1 << ING_PART_PMID | 1 << ING_PART_PMCID | 1 << ING_PART_DOI,
	ING_GIVES_TITLE = 1 << ING_PART_TITLE,
	ING_GIVES_KEYWORDS = 1 << ING_PART_KEYWORDS,
	ING_GIVES_MESH = 1 << ING_PART_MESH,
	ING_GIVES_EFO = 1 << ING_PART_EFO,
	ING_GIVES_GO = 1 << ING_PART_GO,
	ING_GIVES_ABSTRACT = 1 << ING_PART_ABSTRACT,
	ING_GIVES_FULLTEXT = 1 << ING_PART_FULLTEXT,
	ING_GIVES_OA = 1 << ING_PARTS_,
	ING_GIVES_AUTHORS = ING_GIVES_OA << 1,
	ING_GIVES_OPENALEX = ING_GIVES_OA << 2,
	/* What is not asked for itself, but decides about later calls. */
	ING_GIVES_RESULT = ING_GIVES_OA << 3,     /* of Europe PMC's search: XML? mined terms? */
	ING_GIVES_MANUSCRIPT = ING_GIVES_OA << 4, /* is it an author's? */
	ING_GIVES_AGENCY = ING_GIVES_OA << 5,     /* of the DOI: is it Crossref's? */
};

enum ing_ask_state { ING_ASK_UNDER_WAY, ING_ASK_ANSWERED, ING_ASK_TAKEN };

struct ing_asked {
	unsigned run, call; /* call: index; ING_CALL_LINK */
	struct ing_resource_call what;
	enum ing_ask_state state;
	bool awaited; /* its answer has not come yet */
	char *url, *from;
	enum ing_part_type type;
	/* the answer */
	enum ing_status status;
	char *detail, *final_url;
	int http_status;
	int64_t time_ms;
	bool transient;
	struct ing_publication_found *found; /* NULL: failed, or not kept */
	char found_status[16];               /* "": failed */
	size_t found_bytes;
};

#define ING_CALL_LINK 1000u

struct ing_assembly {
	const struct ing_publication_settings *settings;
	enum ing_publication_resource only;
	unsigned parts;
	bool quick;
	char *page_url; /* to begin with; NULL */

	struct ing_known known;
	struct ing_assembly_links links;
	struct ing_asked *asked; /* in the order in which they were asked */
	unsigned asked_count;
	size_t kept_bytes;

	unsigned run;
	unsigned call;        /* the first whose answer is not taken */
	unsigned known_ids;   /* when the round began */
	unsigned links_asked; /* in this run */
	unsigned flags;       /* enum ing_publication_flag: what was said in this run */
	unsigned succeeded;   /* bits 1 << resource: gave something in this run */
	unsigned lacking;     /* the same: has no record */
	bool transient;       /* an answer of this run failed in a way that may pass */
	bool stopped, idle;
	uint64_t elapsed_ms;
};

/* --- assembly_calls.c: which calls there are, and which of them is due --- */

extern const struct ing_resource_call ing_calls[];
extern const unsigned ing_call_count;

enum ing_due {
	ING_DUE_NOT,
	ING_DUE_NOW,
	ING_DUE_PERHAPS, /* that depends on answers that are not there */
};

/* What the answer to a call may give: bits of enum ing_gives. */
unsigned ing_call_gives(const struct ing_resource_call *call);
/* coming: what calls in front of it may still give. *ret_url: heap, with NOW. */
enum ing_due ing_call_due(const struct ing_assembly *a, const struct ing_resource_call *call,
	unsigned coming, char **ret_url);
/* Bits of what is missing: wanted and not final. */
unsigned ing_missing(const struct ing_assembly *a, unsigned gives);
/* The link to be followed now, or NULL. */
const struct ing_assembly_link *ing_link_due(const struct ing_assembly *a);

/* --- assembly_take.c: what answers change --- */

/* The service says that it has none. */
bool ing_asked_has_none(const struct ing_asked *k);

/* Takes an answer into the record. Returns whether an identifier changed, and everything has to begin
 * again. */
bool ing_take_answer(struct ing_assembly *a, unsigned asked);
