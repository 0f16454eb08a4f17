/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The engine's parts that need no request. Results are never sent, so there are no transactions: a
 * running worker of the same instance is not fenced.
 */
#include "worker/ctl/reexamine/stages.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "worker/conf/conf.h"
#include "worker/conf/paths.h"
#include "worker/deliver/deliver.h"
#include "worker/grobid/grobid.h"
#include "worker/document/objects/objects.h"
#include "worker/emit/emit.h"
#include "worker/examine/pool.h"
#include "worker/store/store.h"

#define CLIENT_BYTES 300

static int open_rules(
	struct ing_reexamine_stages *s, const struct ing_conf *conf, struct ing_error *err)
{
	struct ing_report report;
	ing_report_init(&report);
	int rc = ing_ruleset_load(conf->rules_dir, conf->filters, &s->rules, &report, err);
	ing_ruleset_log_report(&report);
	ing_report_done(&report);
	return rc;
}

static int open_pool(
	struct ing_reexamine_stages *s, const struct ing_conf *conf, struct ing_error *err)
{
	struct ing_pool_conf pool = {
		.settings = conf->examine,
		.examiner_path = ing_path_examiner(),
		.rules_fd = s->rules.fd,
	};
	if (pool.settings.processes == 0)
		pool.settings.processes = uv_available_parallelism();
	/* Nobody else waits for them, so that one that has to wait has not been forgotten. */
	pool.settings.max_wait_ms = UINT32_MAX;
	s->examiners = pool.settings.processes;
	pool.capacity = 4 * s->examiners;
	int rc = ing_pool_prove_sandbox(pool.examiner_path, err);
	if (rc != 0)
		return rc;
	return ing_pool_new(&s->loop, &pool, &s->pool, err);
}

/* Without brokers messages go nowhere. */
static int open_emit(struct ing_reexamine_stages *s, const struct ing_conf *conf,
	void (*on_fatal)(void *ctx, const struct ing_error *err), void *ctx, struct ing_error *err)
{
	if (conf->kafka.brokers[0] == '\0') {
		s->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		return ing_emit_lines_new(&s->loop, s->null_fd, NULL, &s->emit, err);
	}
	struct ing_kafka_settings kafka = conf->kafka;
	char client[CLIENT_BYTES];
	kafka.delivery = ING_GUARANTEE_AT_LEAST_ONCE;
	snprintf(client, sizeof(client), "%s-reexamine", conf->instance);
	return ing_emit_kafka_new(&s->loop, &kafka, client, on_fatal, ctx, &s->emit, err);
}

static int open_writers(struct ing_reexamine_stages *s, const struct ing_conf *conf,
	void (*on_fatal)(void *ctx, const struct ing_error *err), void *ctx, struct ing_error *err)
{
	int rc = ing_store_new(&s->loop, &conf->postgres, &s->store, err);
	if (rc == 0)
		rc = open_emit(s, conf, on_fatal, ctx, err);
	if (rc != 0)
		return rc;
	if (ing_objects_wanted(&conf->objects))
		rc = ing_objects_new(&s->loop, &conf->objects, conf->fetch.user_agent,
			conf->instance, &s->objects, err);
	if (rc != 0)
		return rc;
	s->deliver = ing_deliver_new(conf->kafka.max_message_bytes);
	ing_deliver_wire(s->deliver,
		&(struct ing_deliver_stages){
			.store = s->store, .emit = s->emit, .objects = s->objects, .ctx = ctx});
	return 0;
}

static int open_grobid(
	struct ing_reexamine_stages *s, const struct ing_conf *conf, struct ing_error *err)
{
	const struct ing_grobid_conf grobid = {
		.settings = conf->grobid, .user_agent = conf->fetch.user_agent, .pool = s->pool};
	return ing_grobid_new(&s->loop, &grobid, &s->grobid, err);
}

/* ------------------------------------------------------------------------------------------ */

int ing_reexamine_stages_open(struct ing_reexamine_stages *s, const struct ing_conf *conf,
	const struct ing_reexamine_parts *parts,
	void (*on_fatal)(void *ctx, const struct ing_error *err), void *ctx, struct ing_error *err)
{
	*s = (struct ing_reexamine_stages){.rules.fd = -1, .null_fd = -1};
	int rc = uv_loop_init(&s->loop);
	if (rc != 0)
		return ing_error_set(err, ING_FAIL_SYSTEM, "loop: %s", uv_strerror(rc));
	s->has_loop = true;
	rc = open_rules(s, conf, err);
	if (rc == 0 && parts->writes)
		rc = open_writers(s, conf, on_fatal, ctx, err);
	if (rc == 0)
		rc = open_pool(s, conf, err);
	return rc == 0 && parts->grobid ? open_grobid(s, conf, err) : rc;
}

void ing_reexamine_stages_close(struct ing_reexamine_stages *s)
{
	if (!s->has_loop)
		return;
	ing_grobid_free(ING_TAKE(s->grobid));
	ing_pool_free(ING_TAKE(s->pool));
	ing_deliver_free(ING_TAKE(s->deliver));
	ing_objects_free(ING_TAKE(s->objects));
	ing_emit_free(ING_TAKE(s->emit));
	ing_store_free(ING_TAKE(s->store));
	uv_run(&s->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&s->loop);
	ing_ruleset_done(&s->rules);
	if (s->null_fd >= 0)
		close(s->null_fd);
	s->has_loop = false;
}

const char *ing_reexamine_stages_blocked_by(const struct ing_reexamine_stages *s)
{
	return s->deliver != NULL ? ing_deliver_blocked_by(s->deliver) : NULL;
}
