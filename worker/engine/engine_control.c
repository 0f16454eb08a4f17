/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The control socket: requests about hosts are answered from the stages' state.
 */
#include "worker/engine/engine.h"
#include "worker/service/control.h"
#include "worker/service/hosts.h"

static json_t *on_request(void *ctx, const json_t *request)
{
	const struct ing_engine *e = ctx;
	return ing_hosts_answer(
		&(struct ing_hosts_sources){
			.gate = e->gate,
			.robots = e->robots,
			.host_rules = e->rules.host_rules,
			.blocked_hosts = e->blocks,
			.instance = e->control_name,
		},
		request);
}

/* -------------------------------------------------------------------------------------------- */

int ing_engine_open_control(
	struct ing_engine *e, const char *path, const char *name, struct ing_error *err)
{
	e->control_name = name;
	return ing_control_new(&e->loop, path, on_request, e, &e->control, err);
}
