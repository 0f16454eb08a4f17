/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Operators' orders: from the fleet's table, or by the control socket, to the stages that obey them; and the steps
 * of a drain. Loop thread.
 *
 * Drained: no lane is read, what is in memory is finished, then the group is left, which commits positions and cancels
 * what is left (requests that wait for a host which is held). A worker that starts under such an order does not join.
 * It stays in that state when the order becomes a pause, since it has no partitions that it could keep.
 */
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/base/utf8.h"
#include "worker/conf/conf.h"
#include "worker/engine/engine_priv.h"
#include "worker/fleet/fleet.h"
#include "worker/intake/intake.h"
#include "worker/job/job.h"
#include "worker/model/version.h"
#include "worker/service/status.h"

#define DRAIN_POLL_MS 200
#define WORDS_BYTES 4000

/* --- obeying --- */

static void log_instance(const struct ing_order *order)
{
	struct ing_buf words;
	if (order == NULL) {
		ing_log(ING_LOG_INFO, "no order for this instance any more: it goes on");
		return;
	}
	ing_buf_init(&words, WORDS_BYTES);
	ing_order_add_words(order, 0, &words);
	ing_log(ING_LOG_INFO, "order: this instance is %s", ing_buf_str(&words));
	ing_buf_done(&words);
}

static bool is_drain(const struct ing_order *order)
{
	return order != NULL && order->action == ING_ACTION_DRAIN;
}

/* Harmless at any time. */
static void go_on_draining(struct ing_engine *e)
{
	if (!is_drain(ing_orders_instance(e->orders))) {
		uv_timer_stop(&e->drain_timer);
		return;
	}
	if (!e->leaving && ing_pipeline_is_drained(e->pipeline)) {
		e->leaving = true;
		ing_intake_leave(e->outside.intake);
	}
	if (!ing_intake_is_away(e->outside.intake))
		return;
	ing_log(ING_LOG_INFO, "drained: this instance has no partitions any more");
	uv_timer_stop(&e->drain_timer);
	if (e->fleet != NULL)
		ing_fleet_hurry(e->fleet);
}

static void on_drain_timer(uv_timer_t *timer)
{
	go_on_draining(timer->data);
}

static void obey(struct ing_engine *e)
{
	const struct ing_order *order = ing_orders_instance(e->orders);
	int now = order != NULL ? (int)order->action : 0;
	ing_pipeline_on_orders(e->pipeline);
	if (now == e->obeyed)
		return;
	e->obeyed = now;
	log_instance(order);
	if (order == NULL && e->leaving) {
		e->leaving = false;
		ing_intake_join(e->outside.intake);
	}
	if (now == ING_ACTION_DRAIN)
		uv_timer_start(&e->drain_timer, on_drain_timer, DRAIN_POLL_MS, DRAIN_POLL_MS);
	go_on_draining(e);
}

/* --- the fleet's table --- */

static void on_orders(void *ctx, const struct ing_order *list, size_t count)
{
	struct ing_engine *e = ctx;
	size_t had = ing_orders_count(e->orders);
	size_t ignored = ing_orders_replace(e->orders, list, count, ing_now_ms());
	if (ignored > 0)
		ing_log(ING_LOG_WARNING,
			"fleet_order: %zu orders are ignored: they name no host or lane, or one that "
			"another names, or there are more than %d",
			ignored, ING_MAX_ORDERS);
	if (had > 0 || count > 0)
		ing_log(ING_LOG_INFO, "orders of operators: %zu in force, %zu before",
			ing_orders_count(e->orders), had);
	obey(e);
}

static void describe(void *ctx, struct ing_fleet_state *ret)
{
	ing_engine_describe(ctx, ret);
}

/* --- the control socket --- */

static json_t *refuse(const char *words)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", words);
	return o;
}

static bool fits(const char *text, size_t room)
{
	return text == NULL || (text[0] != '\0' && strlen(text) < room);
}

/* -------------------------------------------------------------------------------------------- */

int ing_engine_init_orders(struct ing_engine *e, struct ing_error *err)
{
	(void)err;
	e->orders = ing_orders_new(e->conf->instance);
	uv_timer_init(&e->loop, &e->drain_timer);
	e->drain_timer.data = e;
	return 0;
}

void ing_engine_done_orders(struct ing_engine *e)
{
	uv_close((uv_handle_t *)&e->drain_timer, NULL);
	ing_orders_free(ING_TAKE(e->orders));
	ing_engine_done_order_file(e);
}

int ing_engine_init_fleet(struct ing_engine *e, struct ing_error *err)
{
	const struct ing_conf *c = e->conf;
	char machine[256] = "";
	if (!e->shared || c->postgres.dsn[0] == '\0')
		return 0;
	if (gethostname(machine, sizeof(machine) - 1) != 0)
		machine[0] = '\0';
	const struct ing_fleet_conf conf = {
		.dsn = c->postgres.dsn,
		.instance = c->instance,
		.machine = machine,
		.version = ING_VERSION,
		.statement_ms = c->postgres.statement_ms,
	};
	return ing_fleet_new(&e->loop, &conf, &e->fleet, err);
}

void ing_engine_done_fleet(struct ing_engine *e)
{
	ing_fleet_free(ING_TAKE(e->fleet));
}

void ing_engine_wire_orders(struct ing_engine *e)
{
	if (e->fleet != NULL)
		ing_fleet_start(e->fleet, &(struct ing_fleet_user){e, describe, on_orders});
	else
		obey(e); /* what the last process was told by its socket */
}

json_t *ing_engine_order(struct ing_engine *e, const json_t *request)
{
	const char *action = ing_json_get_text(request, "action");
	struct ing_order order = {
		.why = ing_json_get_text(request, "why"), .by = ing_json_get_text(request, "by")};
	bool resume = action != NULL && strcmp(action, "resume") == 0;
	bool was = ing_orders_has_local(e->orders);
	if (!e->shared)
		return refuse("this is no worker");
	if (!resume && (action == NULL || !ing_order_action_from_name(action, &order.action)))
		return refuse("\"action\" must be \"pause\", \"drain\" or \"resume\"");
	if (!fits(order.why, ING_ORDER_WHY_BYTES) || !fits(order.by, ING_ORDER_TARGET_BYTES))
		return refuse("\"why\" or \"by\" is empty or too long");
	ing_orders_set_local(e->orders, resume ? NULL : &order, ing_now_ms());
	ing_engine_write_order(e);
	obey(e);
	if (e->fleet != NULL)
		ing_fleet_hurry(e->fleet);
	json_t *o = json_object();
	ing_json_set_text(o, "instance", e->conf->instance);
	ing_json_set_bool(o, "was", was);
	ing_json_set_text(o, "state", ing_status_phase_name(ing_engine_phase_now(e)));
	return o;
}

bool ing_engine_is_drained(const struct ing_engine *e)
{
	return e->leaving && ing_intake_is_away(e->outside.intake);
}

enum ing_status_phase ing_engine_phase_now(const struct ing_engine *e)
{
	const struct ing_order *order = ing_orders_instance(e->orders);
	if (e->phase == ING_PHASE_STOPPING)
		return e->phase;
	if (e->leaving)
		return ing_engine_is_drained(e) ? ING_PHASE_DRAINED : ING_PHASE_DRAINING;
	if (order == NULL)
		return e->phase;
	return order->action == ING_ACTION_PAUSE ? ING_PHASE_PAUSED : ING_PHASE_DRAINING;
}
