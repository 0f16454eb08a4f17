/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The control socket: what it is asked is answered from the stages' state.
 */
#include <string.h>

#include "worker/engine/engine_priv.h"
#include "worker/job/job.h"
#include "worker/service/control.h"
#include "worker/service/hosts.h"

/* {"topic", "partition", "offset"}: the message that asked. */
static json_t *explain_request(const struct ing_engine *e, const json_t *request)
{
	const char *topic = ing_json_get_text(request, "topic");
	int64_t partition = ing_json_get_number(request, "partition");
	json_t *answer = ing_pipeline_explain(e->pipeline, topic != NULL ? topic : "",
		partition >= 0 && partition <= INT32_MAX ? (int32_t)partition : -1,
		ing_json_get_number(request, "offset"));
	ing_json_set_text(answer, "instance", e->control_name);
	return answer;
}

static json_t *on_request(void *ctx, const json_t *request)
{
	struct ing_engine *e = ctx;
	const char *ask = ing_json_get_text(request, "ask");
	if (ask != NULL && strcmp(ask, "status") == 0)
		return ing_engine_status(e, ING_SHOW_ALL);
	if (ask != NULL && strcmp(ask, "order") == 0)
		return ing_engine_order(e, request);
	if (ask != NULL && strcmp(ask, "request") == 0)
		return explain_request(e, request);
	const struct ing_hosts_sources hosts = ing_engine_hosts(e);
	return ing_hosts_answer(&hosts, request);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_hosts_sources ing_engine_hosts(const struct ing_engine *e)
{
	return (struct ing_hosts_sources){
		.gate = e->gate,
		.robots = e->robots,
		.host_rules = e->rules.host_rules,
		.blocked_hosts = e->blocks,
		.orders = e->orders,
		.instance = e->control_name,
	};
}

int ing_engine_open_control(
	struct ing_engine *e, const char *path, const char *name, struct ing_error *err)
{
	e->control_name = name;
	return ing_control_new(&e->loop, path, on_request, e, &e->control, err);
}
