/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the workers of this machine have in memory, by the message that a topic has: of a request that waits
 * in a topic, this says whether a worker has read it.
 */
#include "worker/ctl/explain/explain.h"

#include <string.h>

#include "worker/conf/conf.h"
#include "worker/ctl/sockets.h"
#include "worker/service/control.h"

#define ASK_MS 3000

static void ask(struct ing_explain *e, const char *path, const json_t *message, json_t *list)
{
	struct ing_error err = {0};
	json_t *answer = NULL;
	json_t *question = json_object();
	ing_json_set_text(question, "ask", "request");
	json_object_update_missing(question, (json_t *)(uintptr_t)message);
	int rc = ing_control_ask(path, question, ASK_MS, &answer, &err);
	json_decref(question);
	if (rc == 0 && ing_json_get_true(answer, "known")) {
		ing_json_append(list, answer);
		return;
	}
	if (rc != 0 && rc != -ING_FAIL_UNAVAILABLE)
		ing_explain_miss(e, path, err.msg);
	json_decref(answer);
}

/* The newest message that is, or was, waiting. */
static const json_t *message_of(const struct ing_explain *e)
{
	static const char *const lists[] = {"parked", "waiting"};
	const json_t *newest = NULL;
	for (size_t i = 0; i < ING_ARRAY_LEN(lists); i++) {
		const json_t *list = ing_explain_get(e, lists[i]);
		for (size_t k = 0; k < json_array_size(list); k++) {
			const json_t *m = json_array_get(list, k);
			const char *time = ing_json_get_text(m, "time");
			const char *best = ing_json_get_text(newest, "time");
			if (newest == NULL ||
				(time != NULL && best != NULL && strcmp(time, best) > 0))
				newest = m;
		}
	}
	return newest;
}

/* -------------------------------------------------------------------------------------------- */

void ing_explain_workers(struct ing_explain *e)
{
	struct ing_ctl_sockets sockets = {0};
	struct ing_error err = {0};
	const json_t *message = message_of(e);
	json_t *list = json_array();
	ing_json_set(e->life, "workers", list);
	if (message == NULL)
		return;
	if (ing_ctl_sockets_find(e->conf->state_dir, &sockets, &err) != 0)
		ing_explain_miss(e, "workers", err.msg);
	for (size_t i = 0; i < sockets.count; i++)
		ask(e, sockets.paths[i], message, list);
	ing_ctl_sockets_done(&sockets);
}
