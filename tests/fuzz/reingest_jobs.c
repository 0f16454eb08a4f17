/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as reingest.yaml. What is refused comes with words and a position; what is read keeps its bounds.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <string.h>

#include "common/base/report.h"
#include "worker/ctl/enqueue/reingest_jobs.h"
#include "worker/model/status.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 1000, .heap_kb = 200, .heap_byte = 400);

static void use(const struct ing_reingest_job *job)
{
	const struct ing_selection *s = &job->selection;
	const struct ing_words *const all[] = {&s->lists, &s->types, &s->sources, &s->link_sources,
		&s->statuses, &s->doi_prefixes, &s->terminal_codes, &s->hosts, &s->domains,
		&s->without_hosts};
	ing_must(job->name[0] != '\0' && job->line > 0 && job->asked[0] != '\0');
	for (size_t i = 0; i < ING_ARRAY_LEN(all); i++)
		for (size_t k = 0; k < all[i]->count; k++)
			ing_must(all[i]->words[k][0] != '\0');
	ing_must(s->statuses.count <= ING_STATUS_COUNT_);
	ing_must(s->classes != 0 && (s->classes & ING_CLASS_QUEUED) == 0);
	ing_must(s->lost_after_s > 0 && s->request_age_from_s >= 0 && s->result_age_to_s >= 0);
	ing_must(s->share >= 0 && s->share <= 100);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	struct ing_report report;
	ing_report_init(&report);
	struct ing_reingest_jobs *jobs =
		ing_reingest_jobs_parse("jobs", (const char *)data, size, &report);
	ing_must((jobs == NULL) == (report.errors > 0));
	for (size_t i = 0; i < report.count; i++)
		ing_must(report.lines[i].text[0] != '\0' && report.lines[i].line >= 0);
	for (size_t i = 0; jobs != NULL && i < ing_reingest_jobs_count(jobs); i++) {
		use(ing_reingest_jobs_get(jobs, i));
		ing_must(ing_reingest_jobs_find(jobs, ing_reingest_jobs_get(jobs, i)->name) ==
			 ing_reingest_jobs_get(jobs, i));
	}
	ing_reingest_jobs_free(jobs);
	ing_report_done(&report);
}
