/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * publication_ids.h - from what stands on the command line of `ingestctl publication` and `webpage`, or
 * in a file of theirs, to requests as `ingestctl run` reads them: a line each, numbered.
 *
 * A line of a file is an identifier or URL; or PMID, PMCID and DOI between tabs, of which some may be
 * empty. Empty lines and those that begin with # are nothing. One thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/data/json.h"

/* Member of a request with its place in the list, from 0; results have it, too. */
#define ING_ASK_NUMBER "ingestctl_number"

struct ing_ask_ids {
	const char *verb;      /* for messages */
	bool pages;            /* URLs of web pages, and nothing else */
	const json_t *members; /* of each request */

	/* Ours. */
	int fd; /* the requests; -1: none yet */
	size_t count;
	size_t bad;   /* lines that were reported and left out */
	char **names; /* as they were given */
};

/* Words that are identifiers, files or "-". False: it has been said why. done() is due in any case. */
bool ing_ask_ids_read(struct ing_ask_ids *ids, char *const *words, size_t count);
/* Safe on a zeroed one whose fd is -1. */
void ing_ask_ids_done(struct ing_ask_ids *ids);
