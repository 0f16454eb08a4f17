/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * See seed_report.h.
 */
#include "worker/ctl/requests/seed_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "worker/ctl/ctl.h"

#define MAX_BAD_RECORDS 20 /* that are named */

/* -------------------------------------------------------------------------------------------- */

void ing_seed_print_bad(struct ing_seed_bad_records *bad, int64_t number, const char *why)
{
	if (bad->count++ >= MAX_BAD_RECORDS)
		return;
	fprintf(stderr, "%s:%" PRId64 ": ", bad->file, number);
	ing_ctl_print_harmless(why);
	fputc('\n', stderr);
	if (bad->count == MAX_BAD_RECORDS)
		fprintf(stderr, "ingestctl %s: further bad records are only counted\n", bad->verb);
}

void ing_seed_print_counts(const char *verb, const struct ing_seed_counts *counts)
{
	fprintf(stderr,
		"ingestctl %s: %" PRIu64 " record%s, %" PRIu64 " request%s, %" PRIu64 " bad\n",
		verb, counts->records, ING_PLURAL_S(counts->records), counts->requests,
		ING_PLURAL_S(counts->requests), counts->bad);
	for (size_t i = 0; i < counts->reasons; i++)
		if (counts->left_out[i].count > 0)
			fprintf(stderr, "  left out, %s: %" PRIu64 "\n", counts->left_out[i].reason,
				counts->left_out[i].count);
}
