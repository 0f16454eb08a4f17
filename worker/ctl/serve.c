/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl serve: options, the loop, signals and the service manager. worker/serve does the rest.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "common/base/log.h"
#include "worker/conf/conf.h"
#include "worker/ctl/ctl.h"
#include "worker/ctl/usage.h"
#include "worker/intake/lane_names.h"
#include "worker/serve/serve.h"
#include "worker/service/journald.h"
#include "worker/service/notify.h"

#define VERB "serve"
#define MAX_PROXIES 64
#define STATUS_MS 1000
#define STOP_MORE_MS 20000 /* what it tells the service manager that stopping may take */

struct options {
	struct ing_serve_conf serve;
	const char *lane;
	char *proxies[MAX_PROXIES + 1];
	size_t proxy_count;
	uint64_t rate, burst, connections, per_address, requests, body_bytes, wait_s, result_bytes;
	bool no_rate;
};

struct running {
	uv_loop_t loop;
	uv_signal_t on_term, on_int, on_hup;
	uv_timer_t status;
	struct ing_serve *serve;
	bool stopping, broken;
	unsigned watchdog_ms;
};

enum {
	LISTEN = 0x200,
	LANE,
	BROKERS,
	TOKEN_FILE,
	PRIVATE,
	TLS_CERT,
	TLS_KEY,
	RATE,
	BURST,
	TRUSTED_PROXY,
	MAX_CONNECTIONS,
	MAX_PER_ADDRESS,
	MAX_REQUESTS,
	MAX_BODY,
	MAX_WAIT,
	RESULT_MEMORY,
};

static const struct ing_option options[] = {
	{"listen", "ADDRESS:PORT", "an IPv4 address, or IPv6 as [ADDRESS]:PORT; port 0 takes any",
		.code = LISTEN},
	{"lane", "LANE", "priority, requests, daily or bulk (priority)", .code = LANE,
		.words = ING_WORDS_LANES},
	{"brokers", "LIST", "instead of kafka.brokers", .code = BROKERS},
	{"token-file", "FILE",
		"bearer tokens, one per line, needed to submit; a name without a slash is that of a systemd "
		"credential",
		.code = TOKEN_FILE, .words = ING_WORDS_FILE},
	{"private", NULL, "reading needs a token, too, and there is no page", .code = PRIVATE},
	{"tls-cert", "FILE", "serve HTTPS with this certificate and its chain", .code = TLS_CERT,
		.words = ING_WORDS_FILE},
	{"tls-key", "FILE", "its key; both are read again on SIGHUP, as the tokens are",
		.code = TLS_KEY, .words = ING_WORDS_FILE},
	{"rate", "N", "requests per second and client address (default 10; 0: no limit)",
		.code = RATE},
	{"burst", "N", "requests that a client may send at once (default 100)", .code = BURST},
	{"trusted-proxy", "CIDR", "believe X-Forwarded-For of these peers; may be repeated",
		.code = TRUSTED_PROXY},
	{"max-connections", "N", "connections at once (default 1000)", .code = MAX_CONNECTIONS},
	{"max-per-address", "N", "connections of one peer address (default: no limit)",
		.code = MAX_PER_ADDRESS},
	{"max-requests", "N", "requests in one POST (default 1000)", .code = MAX_REQUESTS},
	{"max-body", "BYTES", "of one POST (default 2097152)", .code = MAX_BODY},
	{"max-wait", "SECONDS", "longest wait= (default 300)", .code = MAX_WAIT},
	{"result-memory", "BYTES", "for results that are kept to be read again (default 268435456)",
		.code = RESULT_MEMORY},
	{0},
};

/* -1: go on; else the exit code. */
static int take_number(const char *option, uint64_t max, uint64_t *ret)
{
	if (ing_ctl_number(optarg, max, ret))
		return -1;
	return ing_ctl_fail(ING_CTL_USAGE, VERB, "--%s: not a number from 1 to %llu: %s", option,
		(unsigned long long)max, optarg);
}

static int take_limit(struct options *o, int c)
{
	switch (c) {
	case RATE:
		o->no_rate = strcmp(optarg, "0") == 0;
		return o->no_rate ? -1 : take_number("rate", 1000000, &o->rate);
	case BURST:
		return take_number("burst", 1000000, &o->burst);
	case MAX_CONNECTIONS:
		return take_number("max-connections", 100000, &o->connections);
	case MAX_PER_ADDRESS:
		return take_number("max-per-address", 100000, &o->per_address);
	case MAX_REQUESTS:
		return take_number("max-requests", 10000, &o->requests);
	case MAX_BODY:
		return take_number("max-body", 16 << 20, &o->body_bytes);
	case MAX_WAIT:
		return take_number("max-wait", 3600, &o->wait_s);
	case RESULT_MEMORY:
		return take_number("result-memory", (uint64_t)1 << 40, &o->result_bytes);
	default:
		return ING_CTL_USAGE;
	}
}

static int take_option(void *ctx, int c)
{
	struct options *o = ctx;
	struct ing_serve_conf *s = &o->serve;
	switch (c) {
	case LISTEN:
		s->listen = optarg;
		return -1;
	case LANE:
		o->lane = optarg;
		return -1;
	case BROKERS:
		s->brokers = optarg;
		return -1;
	case TOKEN_FILE:
		s->token_file = optarg;
		return -1;
	case PRIVATE:
		s->is_private = true;
		return -1;
	case TLS_CERT:
		s->cert_file = optarg;
		return -1;
	case TLS_KEY:
		s->key_file = optarg;
		return -1;
	case TRUSTED_PROXY:
		if (o->proxy_count == MAX_PROXIES)
			return ing_ctl_fail(
				ING_CTL_USAGE, VERB, "--trusted-proxy: given too often");
		o->proxies[o->proxy_count++] = optarg;
		return -1;
	default:
		return take_limit(o, c);
	}
}

static int check_options(struct options *o)
{
	struct ing_serve_conf *s = &o->serve;
	struct ing_error err = {0};
	if (s->listen == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "give --listen ADDRESS:PORT");
	if ((s->cert_file == NULL) != (s->key_file == NULL))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--tls-cert and --tls-key go together");
	if (s->is_private && s->token_file == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--private needs --token-file");
	if (ing_cidr_list_init(&s->proxies, o->proxies, &err) != 0)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--trusted-proxy: %s", err.msg);
	s->rate = o->no_rate ? 0 : (double)o->rate;
	s->burst = (double)o->burst;
	s->max_connections = (unsigned)o->connections;
	s->max_per_address = (unsigned)o->per_address;
	s->max_requests = o->requests;
	s->max_body_bytes = o->body_bytes;
	s->max_wait_s = (unsigned)o->wait_s;
	s->result_bytes = o->result_bytes;
	return -1;
}

/* -1: go on; else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
	optind = 1;
	int code = ing_usage_take_all(&ing_ctl_serve_usage, argc, argv, take_option, o);
	return code < 0 ? check_options(o) : code;
}

/* --- running --- */

static void stop(struct running *r)
{
	if (r->stopping)
		return;
	r->stopping = true;
	ing_notify_stopping(STOP_MORE_MS);
	ing_serve_stop(r->serve);
}

/* The second one does not wait for what is under way. */
static void on_signal(uv_signal_t *s, int signum)
{
	struct running *r = s->data;
	if (r->stopping) {
		uv_stop(&r->loop);
		return;
	}
	ing_log(ING_LOG_INFO, "%s: stopping", strsignal(signum));
	stop(r);
}

static void on_sighup(uv_signal_t *s, int signum)
{
	(void)signum;
	struct running *r = s->data;
	ing_notify_reloading();
	ing_serve_reload(r->serve);
	ing_notify_ready();
}

static void on_status(uv_timer_t *timer)
{
	struct running *r = timer->data;
	char text[256];
	ing_serve_status(r->serve, text, sizeof(text));
	ing_notify_status("%s", text);
	ing_notify_watchdog();
}

static void on_broken(void *ctx, const char *why)
{
	struct running *r = ctx;
	ing_log(ING_LOG_ERROR, "Kafka: %s", why);
	r->broken = true;
	stop(r);
}

static void on_stopped(void *ctx)
{
	struct running *r = ctx;
	uv_stop(&r->loop);
}

static void start_handles(struct running *r)
{
	uv_signal_t *signals[] = {&r->on_term, &r->on_int, &r->on_hup};
	for (size_t i = 0; i < ING_ARRAY_LEN(signals); i++) {
		uv_signal_init(&r->loop, signals[i]);
		signals[i]->data = r;
	}
	uv_signal_start(&r->on_term, on_signal, SIGTERM);
	uv_signal_start(&r->on_int, on_signal, SIGINT);
	uv_signal_start(&r->on_hup, on_sighup, SIGHUP);
	uv_timer_init(&r->loop, &r->status);
	r->status.data = r;
	r->watchdog_ms = ing_notify_watchdog_ms();
	unsigned every =
		r->watchdog_ms > 0 ? ING_MIN(r->watchdog_ms, (unsigned)STATUS_MS) : STATUS_MS;
	uv_timer_start(&r->status, on_status, every, every);
}

static void close_handles(struct running *r)
{
	uv_close((uv_handle_t *)&r->on_term, NULL);
	uv_close((uv_handle_t *)&r->on_int, NULL);
	uv_close((uv_handle_t *)&r->on_hup, NULL);
	uv_close((uv_handle_t *)&r->status, NULL);
}

static void warn_if_open(const struct ing_serve_conf *conf, const char *address)
{
	bool loopback = strncmp(address, "127.", 4) == 0 || strncmp(address, "[::1]", 5) == 0;
	if (!loopback && conf->token_file == NULL)
		ing_log(ING_LOG_WARNING,
			"whoever reaches %s may submit requests: there is no --token-file",
			address);
	if (!loopback && conf->token_file != NULL && conf->cert_file == NULL)
		ing_log(ING_LOG_WARNING,
			"tokens are sent to %s without encryption: there is no --tls-cert",
			address);
}

static int run(struct running *r, struct ing_serve_conf *conf, const struct ing_conf *worker)
{
	struct ing_error err = {0};
	conf->ctx = r;
	conf->broken = on_broken;
	conf->stopped = on_stopped;
	ing_must(uv_loop_init(&r->loop) == 0);
	int rc = ing_serve_new(&r->loop, conf, worker, &r->serve, &err);
	if (rc == 0) {
		start_handles(r);
		warn_if_open(conf, ing_serve_address(r->serve));
		ing_log(ING_LOG_INFO, "listening at %s://%s",
			conf->cert_file != NULL ? "https" : "http", ing_serve_address(r->serve));
		ing_notify_ready();
		uv_run(&r->loop, UV_RUN_DEFAULT);
		ing_serve_free(r->serve);
		close_handles(r);
	}
	uv_run(&r->loop, UV_RUN_DEFAULT); /* handles close */
	uv_loop_close(&r->loop);
	if (rc != 0)
		return ing_ctl_fail(ing_ctl_exit_of(&err), VERB, "%s", err.msg);
	return r->broken ? ING_CTL_ENVIRONMENT : ING_CTL_OK;
}

static int find_topics(
	const struct options *o, const struct ing_conf *conf, char **ret, char **ret_other)
{
	enum ing_lane lane = ING_LANE_PRIORITY;
	if (o->lane != NULL && !ing_lane_from_name(o->lane, &lane))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"%s is no lane: priority, requests, daily or bulk", o->lane);
	*ret = ing_lane_topic_name(lane, conf->kafka.lane_topics);
	if (o->lane == NULL)
		*ret_other = ing_lane_topic_name(ING_LANE_REQUESTS, conf->kafka.lane_topics);
	if (*ret == NULL)
		*ret = ING_TAKE(*ret_other);
	if (*ret == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"the configuration has no topic of lane %s",
			o->lane != NULL ? o->lane : "priority");
	return ING_CTL_OK;
}

/* ------------------------------------------------------------------------------------------ */

const struct ing_usage ing_ctl_serve_usage = {
	.name = "serve",
	.synopsis = "--listen ADDRESS:PORT [OPTION]...",
	.summary = "serve the on-demand HTTP API: requests in, results out",
	.text = "Serves the on-demand HTTP API: POST /ingest takes requests and, with ?wait=SECONDS, answers with "
		"their results; GET /ingest/ID and GET /result?url=URL tell what became of requests; GET / is "
		"a page for people; GET /openapi.json describes it all. Requests go to a topic, results are "
		"read from theirs: any number of these serve any number of workers.",
	.details =
		"POST /ingest takes a request, an array of requests or JSON lines, and answers 202 with where "
		"the result will be, unless it waits for it. On SIGTERM clients that wait are told where the "
		"result will be.",
	.options = options,
	.exits = {"stopped by a signal", NULL, ING_EXIT_USAGE,
		"the address is taken, or Kafka cannot be written to any more"},
};

int ing_ctl_serve(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct options o = {.rate = 10,
		.burst = 100,
		.connections = 1000,
		.requests = 1000,
		.body_bytes = 2 << 20,
		.wait_s = 300,
		.result_bytes = 256 << 20};
	int code = parse_options(argc, argv, &o);
	if (code >= 0)
		return code;
	struct ing_conf *conf = NULL;
	char *topic = NULL;
	char *other = NULL;
	struct running r = {0};
	signal(SIGPIPE, SIG_IGN);
	code = ing_ctl_conf(ctl, &conf);
	if (code == ING_CTL_OK) {
		ing_journald_log("ingest-api", &(struct ing_log_conf){
						       .max_level = conf->log_level,
						       .format = conf->log_format,
						       .never_wait = true,
					       });
		code = find_topics(&o, conf, &topic, &other);
	}
	if (code == ING_CTL_OK) {
		o.serve.requests_topic = topic;
		o.serve.other_topic = other;
		code = run(&r, &o.serve, conf);
	}
	free(topic);
	free(other);
	ing_cidr_list_done(&o.serve.proxies);
	ing_conf_free(conf);
	return code;
}
