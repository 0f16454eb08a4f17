/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * script.h - resources that answer as a script says, for tests of the assembly.
 */
#pragma once
#include <stdbool.h>
#include "worker/publication/assembly.h"

/* What the resource whose URL contains `url` says. Words, separated by spaces:
 *	title=TEXT abstract=TEXT …  an offer; '_' stands for a space
 *	title*40 fulltext*3000 …    one of so many characters, or entries
 *	…@og                        of this type; else the resource's
 *	link=URL@pdf_doi            a link
 *	author=NAME corresp=NAME/EMAIL
 *	journal=TEXT date=TEXT cited=7 licence=TEXT openalex=W1
 *	+oa +not-oa +preprint +xml +mined +manuscript
 *	!no-record !wrong-record !bad-answer !404 !fail
 *	final=URL                   the exchange ended there */
struct script_answer {
	const char *url, *says;
};

enum script_order {
	SCRIPT_IN_TURN,  /* each ask is answered at once */
	SCRIPT_TOGETHER, /* all that can be asked is asked, and the oldest answered */
	SCRIPT_REVERSED, /* the same, and the youngest answered */
};

struct script_run {
	struct ing_assembly *assembly;
	char asked[4096]; /* names of the resources in the order of the asks, with spaces */
	char urls[16384]; /* their URLs, a line each */
	unsigned most_at_once;
};

extern const struct ing_publication_settings script_settings;

/* Runs an assembly to its end. What is in no answer is 404. Free with ing_assembly_free(). */
void script_run(struct script_run *run, const struct ing_publication_settings *settings,
	const struct ing_assembly_request *request, const struct script_answer *answers,
	size_t count, enum script_order order);
/* "title:europepmc/40 doi:europepmc/10.1/X …": the parts that there are, with type and size, or the
 * identifier itself. */
void script_parts(const struct ing_assembly *a, char *ret, size_t bytes);
