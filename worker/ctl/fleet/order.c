/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl pause | drain | resume: orders for workers, hosts and lanes. They go into the fleet's table, which every
 * worker reads; those for an instance, without a database or with --local, to the worker's control socket.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/nearest.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/fleet/fleet.h"
#include "worker/ctl/hosts/hosts.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/sockets.h"
#include "worker/ctl/usage.h"
#include "worker/database/schema.h"
#include "worker/intake/lane_names.h"
#include "worker/service/control.h"

#define HONOURED_WITHIN_S 30
#define MAX_WAIT_S 86400
#define POLL_MS 500
#define ASK_MS (ING_CONTROL_TIMEOUT_MS + 3000)
#define MAX_TARGETS 1000
#define SOCKET_END ".sock"

enum verb { VERB_PAUSE, VERB_DRAIN, VERB_RESUME };

static const char *const verb_names[] = {
	[VERB_PAUSE] = "pause", [VERB_DRAIN] = "drain", [VERB_RESUME] = "resume"};

struct target {
	enum ing_order_kind kind;
	char text[ING_ORDER_TARGET_BYTES];
};

struct request {
	enum verb verb;
	struct target *targets; /* heap */
	size_t count;
	const char *why;
	unsigned wait_s; /* 0: no waiting */
	bool json, local, all;
	const struct ing_conf *conf;
};

static const char *name_of(const struct request *r)
{
	return verb_names[r->verb];
}

/* --- the command line --- */

static int add_target(struct request *r, enum ing_order_kind kind, const char *text)
{
	struct target t = {.kind = kind};
	enum ing_lane lane;
	char host[ING_CTL_HOST_BYTES];
	if (r->count == MAX_TARGETS)
		return ing_ctl_fail(ING_CTL_USAGE, name_of(r), "too many targets at once");
	if (kind == ING_TARGET_LANE && !ing_lane_from_name(text, &lane))
		return ing_ctl_fail(ING_CTL_USAGE, name_of(r),
			"%s: not a lane: priority, requests, daily or bulk", text);
	if (kind == ING_TARGET_HOST) {
		bool is_url = strstr(text, "://") != NULL;
		bool good =
			is_url ? ing_ctl_host_of(text, host) : ing_ctl_host_name(text, true, host);
		if (!good)
			return ing_ctl_fail(ING_CTL_USAGE, name_of(r),
				"%s: not a host name or a URL with one", text);
		text = host;
	}
	if (text[0] == '\0' || strlen(text) >= sizeof(t.text))
		return ing_ctl_fail(ING_CTL_USAGE, name_of(r), "a name must have 1 to %zu bytes",
			sizeof(t.text) - 1);
	snprintf(t.text, sizeof(t.text), "%s", text);
	if ((r->count & (r->count - 1)) == 0)
		r->targets = ing_realloc(
			r->targets, (r->count == 0 ? 1 : 2 * r->count) * sizeof(*r->targets));
	r->targets[r->count++] = t;
	return -1;
}

static int take_option(void *ctx, int option)
{
	struct request *r = ctx;
	uint64_t n;
	switch (option) {
	case 'j':
		r->json = true;
		return -1;
	case 'L':
		r->local = true;
		return -1;
	case 'a':
		r->all = true;
		return -1;
	case 'w':
		r->why = optarg;
		return -1;
	case 'H':
		return add_target(r, ING_TARGET_HOST, optarg);
	case 'l':
		return add_target(r, ING_TARGET_LANE, optarg);
	default:
		if (!ing_ctl_number(optarg, MAX_WAIT_S, &n))
			return ing_ctl_fail(ING_CTL_USAGE, name_of(r),
				"--wait must be a number of seconds from 1 to %d", MAX_WAIT_S);
		r->wait_s = (unsigned)n;
		return -1;
	}
}

/* -1: go on. */
static int check_request(const struct request *r)
{
	if (r->all && r->count > 0)
		return ing_ctl_fail(
			ING_CTL_USAGE, name_of(r), "--all takes back every order: name none");
	if (r->count == 0 && !r->all)
		return ing_ctl_fail(ING_CTL_USAGE, name_of(r),
			"give an INSTANCE, --host HOST or --lane LANE (ingestctl fleet lists instances "
			"and orders)");
	for (size_t i = 0; i < r->count; i++)
		if (r->local && r->targets[i].kind != ING_TARGET_INSTANCE)
			return ing_ctl_fail(ING_CTL_USAGE, name_of(r),
				"--local is for instances, not for a host or a lane");
	if (r->why != NULL && (r->why[0] == '\0' || strlen(r->why) >= ING_ORDER_WHY_BYTES))
		return ing_ctl_fail(ING_CTL_USAGE, name_of(r), "--why must have 1 to %d bytes",
			ING_ORDER_WHY_BYTES - 1);
	return -1;
}

/* --- a worker on this machine --- */

/* "DIR/INSTANCE.sock" among the sockets; NULL: there is none. */
static const char *find_socket(const struct ing_ctl_sockets *sockets, const char *instance)
{
	size_t bytes = strlen(instance);
	for (size_t i = 0; i < sockets->count; i++) {
		const char *name = strrchr(sockets->paths[i], '/');
		name = name != NULL ? name + 1 : sockets->paths[i];
		if (strncmp(name, instance, bytes) == 0 && strcmp(name + bytes, SOCKET_END) == 0)
			return sockets->paths[i];
	}
	return NULL;
}

/* New reference, or NULL with *err. */
static json_t *ask_worker(const struct request *r, const char *instance, struct ing_error *err)
{
	struct ing_ctl_sockets sockets = {0};
	json_t *answer = NULL;
	json_t *question = json_object();
	int rc = ing_ctl_sockets_find(r->conf->state_dir, &sockets, err);
	const char *path = rc == 0 ? find_socket(&sockets, instance) : NULL;
	ing_json_set_text(question, "ask", "order");
	ing_json_set_text(question, "action", name_of(r));
	ing_json_set_text(question, "why", r->why);
	ing_json_set_text(question, "by", ing_ctl_operator());
	if (path != NULL)
		rc = ing_control_ask(path, question, ASK_MS, &answer, err);
	else if (rc == 0)
		rc = ing_error_set(err, ING_FAIL_UNAVAILABLE,
			"no worker %s below %s on this machine", instance, r->conf->state_dir);
	const char *refused = ing_json_get_text(answer, "error");
	if (rc == 0 && refused != NULL) {
		rc = ing_error_set(err, ING_FAIL_UNSUPPORTED, "%s: %s", instance, refused);
		json_decref(answer);
	}
	ing_ctl_sockets_done(&sockets);
	json_decref(question);
	return rc == 0 ? answer : NULL;
}

static void say_local(const struct request *r, const char *instance, const json_t *answer)
{
	if (r->json) {
		json_t *o = json_object();
		ing_json_set_text(o, "kind", "instance");
		ing_json_set_text(o, "target", instance);
		ing_json_set_text(o, "order", name_of(r));
		ing_json_set_bool(o, "local", true);
		ing_json_set_text(o, "state", ing_json_get_text(answer, "state"));
		ing_ctl_json_print(o);
		return;
	}
	printf("%s: %s; it is %s\n", instance,
		r->verb == VERB_RESUME ? "goes on as far as this worker's own order held it"
				       : "obeys until it is resumed",
		ing_json_get_text(answer, "state"));
}

static int order_locally(const struct request *r)
{
	int code = ING_CTL_OK;
	for (size_t i = 0; i < r->count; i++) {
		struct ing_error err = {0};
		json_t *answer = ask_worker(r, r->targets[i].text, &err);
		if (answer == NULL) {
			code = ing_ctl_fail(ing_ctl_exit_of(&err), name_of(r), "%s", err.msg);
			ing_error_clear(&err);
			continue;
		}
		say_local(r, r->targets[i].text, answer);
		if (r->verb == VERB_RESUME && !json_is_true(json_object_get(answer, "was")))
			code = ing_ctl_fail(ING_CTL_NEGATIVE, name_of(r),
				"%s: had no order by its socket", r->targets[i].text);
		json_decref(answer);
	}
	return code;
}

/* --- the fleet --- */

struct lookout {                 /* for the workers that have obeyed */
	const struct target *of; /* NULL: all targets concern all workers */
	int64_t since_ms;        /* how long ago the order was given */
	enum verb verb;
	unsigned concerned, obeyed;
	char similar[ING_ORDER_TARGET_BYTES]; /* an instance whose name is near */
	bool known;                           /* there is such an instance */
};

static bool is_drained(const struct ing_worker_row *row)
{
	return strcmp(row->state, "drained") == 0 || strcmp(row->state, "stopped") == 0;
}

static bool is_near(const char *word, const char *name)
{
	struct ing_nearest n = ing_nearest_of(word, strlen(word));
	ing_nearest_try(&n, name);
	return n.best != NULL;
}

static void look_at(void *ctx, const struct ing_worker_row *row)
{
	struct lookout *l = ctx;
	bool is_it = l->of == NULL || strcmp(row->instance, l->of->text) == 0;
	l->known |= l->of != NULL && is_it;
	if (l->of != NULL && !is_it && is_near(l->of->text, row->instance))
		snprintf(l->similar, sizeof(l->similar), "%s", row->instance);
	/* One that is silent may be at work. */
	if (!is_it || strcmp(row->state, "stopped") == 0 || row->age_ms > ING_WORKER_DEAD_MS)
		return;
	l->concerned++;
	bool has_read = row->orders_ms >= 0 && row->orders_ms < l->since_ms;
	bool waits_for_drain = l->verb == VERB_DRAIN && l->of != NULL;
	l->obeyed += has_read && (!waits_for_drain || is_drained(row));
}

static int look(struct ing_pg *pg, const struct request *r, const struct target *t,
	uint64_t given_ms, struct lookout *ret, struct ing_error *err)
{
	*ret = (struct lookout){
		.of = t != NULL && t->kind == ING_TARGET_INSTANCE ? t : NULL,
		.since_ms = (int64_t)(ing_now_ms() - given_ms),
		.verb = r->verb,
	};
	return ing_fleet_table_workers(pg, NULL, look_at, ret, err);
}

/* Waits until the workers concerned have obeyed. */
static int wait_for_workers(
	struct ing_pg *pg, const struct request *r, const struct target *t, uint64_t given_ms)
{
	const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
	struct ing_error err = {0};
	struct lookout l;
	for (;;) {
		if (look(pg, r, t, given_ms, &l, &err) != 0)
			return ing_ctl_fail(ing_ctl_exit_of(&err), name_of(r), "%s", err.msg);
		if (l.obeyed == l.concerned ||
			ing_now_ms() - given_ms >= (uint64_t)r->wait_s * 1000)
			break;
		nanosleep(&pause, NULL);
	}
	if (!r->json)
		printf("obeyed by %u of %u workers\n", l.obeyed, l.concerned);
	if (l.obeyed == l.concerned)
		return ING_CTL_OK;
	return ing_ctl_fail(ING_CTL_NEGATIVE, name_of(r),
		"not by all workers within %u s; the order stays in force", r->wait_s);
}

/* A name that nobody has is more often a mistake than a worker that is to come. */
static void warn_of_strangers(struct ing_pg *pg, const struct request *r, const struct target *t)
{
	struct ing_error err = {0};
	struct lookout l;
	if (t->kind != ING_TARGET_INSTANCE || look(pg, r, t, 0, &l, &err) != 0 || l.known) {
		ing_error_clear(&err);
		return;
	}
	(void)ing_ctl_fail(ING_CTL_OK, name_of(r),
		"note: no worker called %s has been seen in this database lately; the order waits for "
		"one%s%s%s",
		t->text, l.similar[0] != '\0' ? " (did you mean " : "", l.similar,
		l.similar[0] != '\0' ? "?)" : "");
}

static void say_given(const struct request *r, const struct target *t)
{
	if (r->json) {
		json_t *o = json_object();
		ing_json_set_text(o, "kind", ing_order_kind_name(t->kind));
		ing_json_set_text(o, "target", t->text);
		ing_json_set_text(o, "order", name_of(r));
		ing_json_set_number(o, "honoured_within_s", HONOURED_WITHIN_S);
		ing_ctl_json_print(o);
		return;
	}
	char *target = ing_ctl_shown(t->text);
	printf("%s %s: %s; workers obey within %d s\n", ing_order_kind_name(t->kind), target,
		r->verb == VERB_RESUME  ? "goes on"
		: r->verb == VERB_PAUSE ? "paused until ingestctl resume"
					: "drained until ingestctl resume",
		HONOURED_WITHIN_S);
	free(target);
}

static int give(struct ing_pg *pg, const struct request *r, const struct target *t)
{
	struct ing_error err = {0};
	const struct ing_order order = {
		.kind = t->kind,
		.action = r->verb == VERB_PAUSE ? ING_ACTION_PAUSE : ING_ACTION_DRAIN,
		.target = t->text,
		.why = r->why,
		.by = ing_ctl_operator(),
	};
	if (ing_fleet_table_order(pg, &order, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), name_of(r), "%s", err.msg);
	say_given(r, t);
	warn_of_strangers(pg, r, t);
	return ING_CTL_OK;
}

/* An order that came by the socket ends, too, if the worker is on this machine. */
static bool resume_local(const struct request *r, const struct target *t)
{
	struct ing_error err = {0};
	if (t->kind != ING_TARGET_INSTANCE)
		return false;
	json_t *answer = ask_worker(r, t->text, &err);
	bool was = json_is_true(json_object_get(answer, "was"));
	json_decref(answer);
	ing_error_clear(&err);
	return was;
}

static int take_back(struct ing_pg *pg, const struct request *r, const struct target *t)
{
	struct ing_error err = {0};
	bool was = false;
	if (ing_fleet_table_resume(pg, t->kind, t->text, &was, &err) != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), name_of(r), "%s", err.msg);
	if (!resume_local(r, t) && !was)
		return ing_ctl_fail(ING_CTL_NEGATIVE, name_of(r),
			"%s %s: no such order is in force (ingestctl fleet lists them)",
			ing_order_kind_name(t->kind), t->text);
	say_given(r, t);
	return ING_CTL_OK;
}

/* Orders that came by the sockets of this machine's workers, of whatever name. */
static void take_back_local(const struct request *r)
{
	struct ing_ctl_sockets sockets = {0};
	struct ing_error err = {0};
	if (ing_ctl_sockets_find(r->conf->state_dir, &sockets, &err) != 0)
		ing_error_clear(&err);
	for (size_t i = 0; i < sockets.count; i++) {
		struct target t = {.kind = ING_TARGET_INSTANCE};
		const char *name = strrchr(sockets.paths[i], '/');
		name = name != NULL ? name + 1 : sockets.paths[i];
		snprintf(t.text, sizeof(t.text), "%.*s", (int)(strlen(name) - strlen(SOCKET_END)),
			name);
		if (resume_local(r, &t))
			say_given(r, &t);
	}
	ing_ctl_sockets_done(&sockets);
}

static void collect(void *ctx, const struct ing_order *order)
{
	struct request *r = ctx;
	struct target t = {.kind = order->kind};
	snprintf(t.text, sizeof(t.text), "%s", order->target);
	if ((r->count & (r->count - 1)) == 0)
		r->targets = ing_realloc(
			r->targets, (r->count == 0 ? 1 : 2 * r->count) * sizeof(*r->targets));
	r->targets[r->count++] = t;
}

static int order_fleet(struct request *r)
{
	struct ing_error err = {0};
	struct ing_pg *pg = NULL;
	int code = ING_CTL_OK;
	int rc = ing_schema_open(r->conf->postgres.dsn, &pg, &err);
	if (rc == 0 && r->all)
		rc = ing_fleet_table_orders(pg, collect, r, &err);
	if (rc != 0) {
		ing_pg_close(pg);
		return ing_ctl_fail(ing_ctl_exit_of(&err), name_of(r), "%s%s", err.msg,
			r->all ? ""
			       : " (with --local the order goes to a worker of this machine directly)");
	}
	uint64_t given_ms = 0;
	if (r->all)
		take_back_local(r);
	for (size_t i = 0; i < r->count; i++) {
		int one = r->verb == VERB_RESUME ? take_back(pg, r, &r->targets[i])
						 : give(pg, r, &r->targets[i]);
		code = ING_MAX(code, one);
		given_ms = ing_now_ms();
	}
	for (size_t i = 0; i < r->count && r->wait_s > 0 && code == ING_CTL_OK; i++)
		code = wait_for_workers(pg, r, &r->targets[i], given_ms);
	ing_pg_close(pg);
	return code;
}

static int carry_out(struct request *r, const struct ing_ctl *ctl)
{
	struct ing_conf *conf = NULL;
	int code = ing_ctl_conf(ctl, &conf);
	if (code != ING_CTL_OK)
		return code;
	r->conf = conf;
	bool has_database = conf->postgres.dsn[0] != '\0';
	for (size_t i = 0; i < r->count; i++)
		if (!has_database && r->targets[i].kind != ING_TARGET_INSTANCE)
			code = ING_CTL_USAGE;
	if (code != ING_CTL_OK || (!has_database && r->all))
		code = ing_ctl_fail(ING_CTL_USAGE, name_of(r),
			"orders for hosts and lanes, and --all, need postgres.dsn");
	else if (r->local || !has_database)
		code = order_locally(r);
	else
		code = order_fleet(r);
	ing_conf_free(conf);
	return ing_ctl_flush_stdout(name_of(r)) ? code : ING_CTL_ENVIRONMENT;
}

static int run(enum verb verb, const struct ing_usage *usage, int argc, char **argv,
	const struct ing_ctl *ctl)
{
	struct request r = {.verb = verb};
	optind = 1;
	int code = ing_usage_take(usage, argc, argv, take_option, &r);
	for (int i = optind; code < 0 && i < argc; i++)
		code = add_target(&r, ING_TARGET_INSTANCE, argv[i]);
	if (code < 0)
		code = check_request(&r);
	if (code < 0)
		code = carry_out(&r, ctl);
	free(r.targets);
	return code;
}

static const struct ing_option rows[] = {
	{"host", "HOST|URL", "a host; .HOST includes its subdomains", .code = 'H'},
	{"lane", "LANE", "a lane: priority, requests, daily or bulk", .code = 'l',
		.words = ING_WORDS_LANES},
	{"local", NULL,
		"order the worker on this machine directly, by its control socket, as is done without a database",
		.code = 'L'},
	{"wait", "SECONDS", "wait until the workers concerned, but dead ones, have obeyed",
		.code = 's'},
	{"json", NULL, "print JSON lines", .code = 'j'},
	{0},
};
static const struct ing_options shared_options = {.rows = rows};
static const struct ing_options *const shared[] = {&shared_options, NULL};

static const struct ing_option why_options[] = {
	{"why", "TEXT", "the reason, shown by fleet, status and hosts explain", .code = 'w'},
	{0},
};
static const struct ing_option all_options[] = {
	{"all", NULL,
		"take back every order of the database, and those given by --local on this machine",
		.code = 'a'},
	{0},
};

#define EXITS(well)                                                                                \
	{                                                                                          \
		well, "not obeyed in time, or refused", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT       \
	}
#define SYNOPSIS "[OPTION]... INSTANCE...\n[OPTION]... --host HOST|URL | --lane LANE"
#define HELD                                                                                          \
	"\n\nAn order holds until it is taken back (resume), also for workers that start later. The " \
	"time for which requests wait because of it does not count against them. Workers obey "       \
	"within 30 seconds; ingestctl fleet lists the orders in force."

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_pause_usage = {
	.name = "pause",
	.operands = ING_WORDS_INSTANCES,
	.synopsis = SYNOPSIS,
	.summary = "have a worker, a host or a lane rest until it is resumed",
	.text = "INSTANCE: the worker starts no transfer and takes no request; it keeps its partitions, and what waits "
		"in it waits. --host: no request is made to the host; requests for it wait, or are parked. --lane: the "
		"lane is not read, and nothing of it starts." HELD,
	.options = why_options,
	.shared = shared,
	.exits = EXITS("the order is given"),
	.examples = "A site complains:\n\n"
		    "  ingestctl pause --host example.org --why \"mail of 23 November\" --wait 30",
};

const struct ing_usage ing_ctl_drain_usage = {
	.name = "drain",
	.operands = ING_WORDS_INSTANCES,
	.synopsis = SYNOPSIS,
	.summary = "have a worker, a host or a lane finish what is under way, and nothing more",
	.text = "INSTANCE: the worker takes no request, finishes what it has (but for requests whose host is held, "
		"which others take over) and gives its partitions to the others; it stays up until it is resumed "
		"or stopped. --host: what is in memory is finished, new requests are parked. --lane: the lane is not "
		"read, what is in memory is finished." HELD,
	.options = why_options,
	.shared = shared,
	.exits = EXITS("the order is given; with --wait: and obeyed"),
	.examples = "Before a machine is restarted:\n\n"
		    "  ingestctl drain worker-3 --why \"new disk\" --wait 900",
};

const struct ing_usage ing_ctl_resume_usage = {
	.name = "resume",
	.operands = ING_WORDS_INSTANCES,
	.synopsis = SYNOPSIS "\n--all",
	.summary = "take back an order of pause or drain",
	.text = "Takes back what pause or drain ordered: the worker, the host or the lane goes on. A drained worker joins "
		"the others again.",
	.options = all_options,
	.shared = shared,
	.exits = {"the order is taken back", "there was none, or not all workers know it in time",
		ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

int ing_ctl_pause(int argc, char **argv, const struct ing_ctl *ctl)
{
	return run(VERB_PAUSE, &ing_ctl_pause_usage, argc, argv, ctl);
}

int ing_ctl_drain(int argc, char **argv, const struct ing_ctl *ctl)
{
	return run(VERB_DRAIN, &ing_ctl_drain_usage, argc, argv, ctl);
}

int ing_ctl_resume(int argc, char **argv, const struct ing_ctl *ctl)
{
	return run(VERB_RESUME, &ing_ctl_resume_usage, argc, argv, ctl);
}
