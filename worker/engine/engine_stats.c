/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every stage's metrics in one struct. Each room of metrics.def has its function here: one that is
 * missing, or that no room asks for, is an error of the compiler. Runs on the loop's thread, every
 * second: no stage walks over its hosts, files or waiting requests for it.
 */
#include <sys/resource.h>

#include "worker/archive/archive.h"
#include "worker/deliver/deliver.h"
#include "worker/disk/disk.h"
#include "worker/grobid/grobid.h"
#include "worker/document/objects/objects.h"
#include "worker/emit/emit.h"
#include "worker/engine/engine.h"
#include "worker/examine/pool.h"
#include "worker/fetch/fetch.h"
#include "worker/fleet/orders.h"
#include "worker/gate/fleet/lease.h"
#include "worker/gate/gate.h"
#include "worker/gate/robots/robots.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/journal/journal.h"
#include "worker/model/metrics.h"
#include "worker/service/turn.h"
#include "worker/scrape/rules/registry.h"
#include "worker/store/lookup/lookup.h"
#include "worker/store/store.h"

static void fill_pipeline(const struct ing_engine *e, struct ing_pipeline_stats *ret)
{
	ing_pipeline_stats(e->pipeline, ret);
}

static void fill_deliver(const struct ing_engine *e, struct ing_deliver_stats *ret)
{
	ing_deliver_stats(e->deliver, ret);
}

static void fill_emit(const struct ing_engine *e, struct ing_emit_stats *ret)
{
	ing_emit_stats(e->outside.emit, ret);
}

static void fill_fetch(const struct ing_engine *e, struct ing_fetch_stats *ret)
{
	ing_fetch_stats(e->fetch, ret);
}

static void fill_journal(const struct ing_engine *e, struct ing_journal_stats *ret)
{
	ing_journal_stats(e->outside.journal, ret);
}

static void fill_disk(const struct ing_engine *e, struct ing_disk_stats *ret)
{
	ing_disk_stats(e->disk, ret);
}

static void fill_archive(const struct ing_engine *e, struct ing_archive_stats *ret)
{
	ing_archive_stats(e->archive, ret);
}

static void fill_objects(const struct ing_engine *e, struct ing_objects_stats *ret)
{
	if (e->objects != NULL)
		ing_objects_stats(e->objects, ret);
}

static void fill_pool(const struct ing_engine *e, struct ing_pool_stats *ret)
{
	ing_pool_stats(e->pool, ret);
}

static void fill_grobid(const struct ing_engine *e, struct ing_grobid_stats *ret)
{
	if (e->grobid != NULL)
		ing_grobid_stats(e->grobid, ret);
}

static void fill_store(const struct ing_engine *e, struct ing_store_stats *ret)
{
	if (e->outside.store != NULL)
		ing_store_stats(e->outside.store, ret);
}

static uint64_t cpu_us(int who)
{
	struct rusage u;
	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void fill_lookup(const struct ing_engine *e, struct ing_lookup_stats *ret)
{
	if (e->lookup != NULL)
		ing_lookup_stats(e->lookup, ret);
}

static void fill_process(const struct ing_engine *e, struct ing_process_stats *ret)
{
	ret->cpu_us = cpu_us(RUSAGE_SELF);
	ret->loop_cpu_us = cpu_us(RUSAGE_THREAD);
	/* A sample is a double, which holds no more than 53 bits. */
	ret->rules = e->rules.digest & UINT32_MAX;
	ret->orders = ing_orders_count(e->orders);
}

static void fill_intake(const struct ing_engine *e, struct ing_intake_stats *ret)
{
	ing_intake_stats(e->outside.intake, ret);
}

static void fill_gate(const struct ing_engine *e, struct ing_gate_stats *ret)
{
	ing_gate_stats(e->gate, ret);
}

static void fill_robots(const struct ing_engine *e, struct ing_robots_stats *ret)
{
	ing_robots_stats(e->robots, ret);
}

static void fill_turn(const struct ing_engine *e, struct ing_turn_stats *ret)
{
	ing_turns_stats(e->turns, ret);
}

static void fill_lease(const struct ing_engine *e, struct ing_lease_stats *ret)
{
	if (e->leases != NULL)
		ing_leases_stats(e->leases, ret);
}

/* Known to the daemon alone (engine_publish.c) and to the endpoint's thread: they are added there. */
static void fill_ready(const struct ing_engine *e, struct ing_ready_stats *ret)
{
	(void)e;
	(void)ret;
}

static void fill_endpoint(const struct ing_engine *e, struct ing_endpoint_stats *ret)
{
	(void)e;
	(void)ret;
}

/* -------------------------------------------------------------------------------------------- */

void ing_engine_metrics(const struct ing_engine *e, struct ing_metrics *ret)
{
	*ret = (struct ing_metrics){
		.absent[ING_METRIC_ROOM_lease] = e->leases == NULL,
		.absent[ING_METRIC_ROOM_lookup] = e->lookup == NULL,
		.absent[ING_METRIC_ROOM_grobid] = e->grobid == NULL,
		.absent[ING_METRIC_ROOM_objects] = e->objects == NULL,
		.absent[ING_METRIC_ROOM_ready] = true,
		.absent[ING_METRIC_ROOM_endpoint] = true,
	};
#define ROOM(room, files) fill_##room(e, &ret->room);
#include "worker/model/metrics.def"
}
