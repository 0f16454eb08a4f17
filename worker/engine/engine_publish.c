/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The worker's state for threads that show it. What is wrong is said in words for whoever reads
 * /readyz at night; the numbers ing_ready say the same.
 */
#include <stdio.h>

#include "common/base/clock.h"
#include "worker/archive/archive.h"
#include "worker/conf/conf.h"
#include "worker/disk/disk.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine.h"
#include "worker/fetch/fetch.h"
#include "worker/gate/gate.h"
#include "worker/service/mailbox.h"
#include "worker/service/snapshot.h"
#include "worker/store/lookup/lookup.h"
#include "worker/store/store.h"

static const char *wrong_with_partitions(struct ing_engine_phase phase)
{
	if (phase.stopping)
		return "the worker stops";
	return phase.assigned ? ""
			      : "none were assigned yet: the brokers or the group do not answer";
}

static const char *wrong_with_brokers(const struct ing_engine *e, const struct ing_metrics *m)
{
	if (m->intake.brokers_down)
		return "none can be reached";
	return ing_emit_blocked(e->outside.emit) ? "results are not acknowledged: intake waits"
						 : "";
}

static const char *wrong_with_database(const struct ing_engine *e)
{
	bool away = (e->outside.store != NULL && ing_store_blocked(e->outside.store)) ||
		    (e->lookup != NULL && ing_lookup_blocked(e->lookup)) ||
		    ing_gate_blocked(e->gate);
	return away ? "does not answer: intake waits for it" : "";
}

static const char *wrong_with_disk(const struct ing_engine *e)
{
	if (e->disk != NULL && ing_disk_low(e->disk))
		return "less than disk.stop_bytes are free, or it does not answer: nothing new is fetched";
	if (e->archive != NULL && ing_archive_blocked(e->archive))
		return "WARC files cannot be written: intake waits";
	return ing_fetch_blocked(e->fetch) ? "bodies cannot be written to spool.dir" : "";
}

static const char *wrong_with_examiners(const struct ing_metrics *m)
{
	return m->pool.examiners_ready > 0 ? "" : "none is running";
}

/* Heap. */
static char *status_text(struct ing_engine *e)
{
	size_t bytes;
	json_t *status = ing_engine_status(e, ING_SHOW_ALL);
	char *text = ing_json_dump(status, &bytes);
	json_decref(status);
	return text;
}

static bool check(struct ing_snapshot *s, enum ing_ready_check what, const char *wrong)
{
	snprintf(s->wrong[what], sizeof(s->wrong[what]), "%s", wrong);
	return wrong[0] == '\0';
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_publish(struct ing_engine *e, struct ing_engine_phase phase,
	const struct ing_metrics *metrics, struct ing_mailbox *to)
{
	uint64_t begun_cpu_ns = ing_thread_cpu_ns();
	struct ing_snapshot *s = ing_snapshot_new();
	uint64_t now_ms = ing_now_ms();
	s->metrics = *metrics;
	struct ing_ready_stats *ready = &s->metrics.ready;
	s->metrics.absent[ING_METRIC_ROOM_ready] = false;
	ready->partitions = check(s, ING_READY_PARTITIONS, wrong_with_partitions(phase));
	ready->brokers = check(s, ING_READY_BROKERS, wrong_with_brokers(e, metrics));
	ready->database = check(s, ING_READY_DATABASE, wrong_with_database(e));
	ready->disk = check(s, ING_READY_DISK, wrong_with_disk(e));
	ready->examiners = check(s, ING_READY_EXAMINERS, wrong_with_examiners(metrics));
	ready->snapshot_cpu_ns = e->publish_cpu_ns;
	s->detailed = ing_mailbox_asked(to, now_ms, ING_SNAPSHOT_ASKED_MS);
	if (s->detailed)
		s->status = status_text(e);
	ing_mailbox_put(to, s);
	ing_mailbox_set_worked(to, now_ms);
	e->publish_cpu_ns += ing_thread_cpu_ns() - begun_cpu_ns;
}
