/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Too few of something is told here, with numbers, before it shows as a failure of somebody else: a
 * transfer without a socket looks like a host that cannot be connected to, and libuv ends the
 * process when it cannot start its threads.
 */
#include "worker/engine/engine_limits.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

#include "worker/conf/conf.h"
#include "worker/service/endpoint.h"

/* Kept connections are as many as transfers, so that the next hop may use one. */
#define CONNECTIONS_A_TRANSFER 2u
/* A large body: two windows in memory, and its file, to write and to read. */
#define BODY_A_TRANSFER 4u
/* A body that waits for an examiner, or to be archived. */
#define WAITING_A_TRANSFER 1u
/* Its socket, and what is shared with it. */
#define DESCRIPTORS_AN_EXAMINER 2u
/* A request to GROBID: its connection, its answer, its body, and those of two that wait. */
#define DESCRIPTORS_A_READING 5u
/* The standard ones, the loop, rules, locks, the WARC file and its folder, brokers, database,
 * name servers, operators' questions, an examiner's socket before it is handed over. */
#define OTHERS 128u
/* libuv's pool (four unless its environment says otherwise), archive, database, leases,
 * look-ups, output, and a few of the broker's client. */
#define THREADS 12

uint64_t ing_engine_descriptors(unsigned concurrency, unsigned beside)
{
	uint64_t each = CONNECTIONS_A_TRANSFER + BODY_A_TRANSFER + WAITING_A_TRANSFER;
	return each * concurrency + beside + OTHERS;
}

unsigned ing_engine_connections(unsigned concurrency)
{
	return CONNECTIONS_A_TRANSFER * concurrency;
}

/* Who starts has raised it (ing_descriptors_reserve()). */
static uint64_t descriptor_limit(void)
{
	struct rlimit r;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return r.rlim_cur;
}

static int check_descriptors(const struct ing_conf *conf, unsigned examiners, struct ing_error *err)
{
	uint64_t limit = descriptor_limit();
	unsigned grobid =
		conf->grobid.url != NULL ? DESCRIPTORS_A_READING * conf->grobid.concurrency : 0;
	unsigned endpoint = conf->metrics.listen[0] != '\0' ? ING_ENDPOINT_DESCRIPTORS : 0;
	unsigned beside = DESCRIPTORS_AN_EXAMINER * examiners + grobid + endpoint;
	uint64_t need = ing_engine_descriptors(conf->gate.concurrency, beside);
	uint64_t base = ing_engine_descriptors(0, beside);
	uint64_t each = ing_engine_descriptors(1, beside) - base;
	if (need <= limit)
		return 0;
	char advice[80] = "";
	if (limit >= base + each)
		snprintf(advice, sizeof(advice), ", or lower gate.concurrency to %llu",
			(unsigned long long)((limit - base) / each));
	return ing_error_set(err, ING_FAIL_SYSTEM,
		"too few file descriptors: the limit is %llu, but gate.concurrency of %u needs "
		"%llu: raise the limit (ulimit -Hn, LimitNOFILE= of the unit)%s",
		(unsigned long long)limit, conf->gate.concurrency, (unsigned long long)need,
		advice);
}

static void *wait_for_end(void *end)
{
	pthread_mutex_lock(end);
	pthread_mutex_unlock(end);
	return NULL;
}

/* All at once, for a moment: each of those that are started later, one by one, would have a failure
 * of its own. */
static int check_threads(struct ing_error *err)
{
	pthread_t threads[THREADS];
	pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
	int count = 0;
	int errnum = 0;
	pthread_mutex_lock(&end);
	while (count < THREADS && errnum == 0) {
		errnum = pthread_create(&threads[count], NULL, wait_for_end, &end);
		count += errnum == 0;
	}
	pthread_mutex_unlock(&end);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&end);
	if (errnum == 0)
		return 0;
	return ing_error_sys(err, errnum,
		"cannot start %d threads, only %d (ulimit -u, TasksMax= of the unit)", THREADS,
		count);
}

/* -------------------------------------------------------------------------------------------- */

int ing_engine_check_limits(const struct ing_conf *conf, unsigned examiners, struct ing_error *err)
{
	int rc = check_descriptors(conf, examiners, err);
	return rc == 0 ? check_threads(err) : rc;
}
