/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl status: what workers do and what holds them, once, or drawn again and again until Ctrl-C.
 *
 * The screen is drawn into a buffer and written whole, so that nothing flickers; the terminal's other screen is used, as top(1)
 * does, so that what stood there before comes back.
 */
#include "worker/ctl/status/status.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "worker/conf/conf.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/status/screen.h"
#include "worker/ctl/status/show.h"
#include "worker/ctl/stop_signal.h"
#include "worker/ctl/usage.h"

#define VERB "status"
#define SCREEN_BYTES ((size_t)4 << 20)
#define DEFAULT_EVERY_S 2
#define MAX_EVERY_S 3600

#define ENTER_SCREEN "\033[?1049h\033[?25l"
#define LEAVE_SCREEN "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_BELOW "\033[J"

enum when { AUTO, ALWAYS, NEVER };

struct view {
	bool follow, json, local, drawn; /* drawn: on the other screen of a terminal */
	enum when color;
	unsigned every_s;
	const char *dir;        /* of a run; NULL: state.dir */
	char *const *instances; /* NULL-terminated */
};

static const struct ing_option options[] = {
	{"follow", NULL, "go on, and draw it anew every --every seconds, until it is interrupted",
		.code = 'f', .letter = 'f'},
	{"every", "S", "seconds between two looks with --follow (2)", .code = 'e'},
	{"json", NULL, "print a line of JSON for each worker (schemas/worker-status.schema.json)",
		.code = 'j'},
	{"color", "WHEN", "colours: auto (on a terminal, unless NO_COLOR is set), always or never",
		.code = 'c', .words = "auto always never"},
	{"local", NULL, "leave out the workers on other machines, which the database knows",
		.code = 'l'},
	{"dir", "DIR", "ask the ingestctl run with this --out DIR", .code = 'd',
		.words = ING_WORDS_DIR},
	{0},
};

const struct ing_usage ing_ctl_status_usage = {
	.name = "status",
	.operands = ING_WORDS_INSTANCES,
	.synopsis = "[OPTION]... [INSTANCE]...",
	.summary = "what workers do, and what holds them",
	.text = "Asks the workers on this machine by their sockets in state.dir or folders directly\n"
		"below it, and the database (postgres.dsn) for those on other machines, which write a row\n"
		"every few seconds. Of one worker, or of those named, all is shown: what holds it, rates,\n"
		"requests by state, lanes, the hosts with the most waiting requests and what they wait for,\n"
		"results of the last hour by status, and the last failures. Of several, a table.\n"
		"\n"
		"\"held by\" is why it is not faster; what stands first is to be mended first.",
	.options = options,
	.exits = {ING_EXIT_OK, "an INSTANCE does not run, or does not answer", ING_EXIT_USAGE,
		"no worker runs, or none answers"},
	.examples = "  ingestctl status --follow\tlike top\n"
		    "  ingestctl status --json | jq -r .held_by\twhat holds each",
};

/* --- drawing --- */

static bool has_color(const struct view *v)
{
	const char *no = getenv("NO_COLOR");
	if (v->color != AUTO)
		return v->color == ALWAYS;
	return isatty(STDOUT_FILENO) && (no == NULL || no[0] == '\0');
}

static void show_time(struct ing_screen *s, const struct view *v)
{
	char now[ING_ISO8601_BYTES];
	ing_format_iso8601(ing_wall_now(), 0, now);
	ing_screen_printf(s, ING_TONE_SOFT, "%s, every %u s; Ctrl-C ends", now, v->every_s);
	ing_screen_end_line(s);
}

static void show_none(struct ing_screen *s)
{
	ing_screen_add(s, ING_TONE_WARN, "no worker runs with this state.dir");
	ing_screen_end_line(s);
}

static void show(struct ing_screen *s, const struct view *v, const json_t *list)
{
	size_t count = json_array_size(list);
	if (v->follow)
		show_time(s, v);
	if (count == 0)
		show_none(s);
	if (count > 1 && v->instances[0] == NULL) {
		ing_ctl_show_workers(s, list);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			ing_screen_end_line(s);
		ing_ctl_show_worker(s, json_array_get(list, i));
	}
}

static void write_text(const struct view *v, const json_t *list)
{
	struct ing_buf out;
	struct ing_screen s = {.out = &out, .color = has_color(v), .redrawn = v->drawn};
	ing_buf_init(&out, SCREEN_BYTES);
	if (isatty(STDOUT_FILENO))
		ing_screen_measure(&s);
	if (!v->drawn)
		s.rows = 0;
	if (v->drawn)
		ing_buf_add_str(&out, HOME);
	show(&s, v, list);
	if (v->drawn)
		ing_buf_add_str(&out, CLEAR_BELOW);
	fwrite(ing_buf_str(&out), 1, out.len, stdout);
	ing_buf_done(&out);
}

static void write_json(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		ing_ctl_json_print(json_incref(json_array_get(list, i)));
}

static bool is_gone(const char *state)
{
	return strcmp(state, "silent") == 0 || strcmp(state, "dead") == 0 ||
	       strcmp(state, "stopped") == 0;
}

/* 0: they are there; 1: not all of them; 3: none. */
static int judge(const struct view *v, const json_t *list)
{
	size_t count = json_array_size(list), wanted = 0, answering = 0;
	for (; v->instances[wanted] != NULL; wanted++) {
		bool found = false;
		for (size_t i = 0; i < count && !found; i++)
			found = strcmp(ing_json_get_text(json_array_get(list, i), "instance"),
					v->instances[wanted]) == 0;
		if (!found && !v->follow)
			(void)ing_ctl_fail(ING_CTL_NEGATIVE, VERB, "%s: no such worker runs here",
				v->instances[wanted]);
	}
	for (size_t i = 0; i < count; i++) {
		const char *state = ing_json_get_text(json_array_get(list, i), "state");
		answering += state == NULL || !is_gone(state);
	}
	if (answering == 0)
		return ING_CTL_ENVIRONMENT;
	return answering < ING_MAX(wanted, count) ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

static int look(const struct view *v, const struct ing_conf *conf)
{
	json_t *list = ing_ctl_collect_statuses(conf, v->instances, v->local);
	int code = judge(v, list);
	if (v->json)
		write_json(list);
	else if (json_array_size(list) > 0 || v->follow)
		write_text(v, list);
	if (code == ING_CTL_ENVIRONMENT && json_array_size(list) == 0 && !v->follow)
		(void)ing_ctl_fail(
			code, VERB, "no worker runs with this state.dir: %s", conf->state_dir);
	json_decref(list);
	return code;
}

/* --- again and again --- */

static void on_resize(int number)
{
	(void)number; /* it wakes the wait */
}

static void wait_for_next(const struct view *v, const volatile sig_atomic_t *stop)
{
	struct timespec time = {.tv_sec = (time_t)v->every_s};
	if (*stop == 0)
		(void)ppoll(NULL, 0, &time, NULL); /* a signal ends it */
}

static int follow(struct view *v, const struct ing_conf *conf)
{
	const volatile sig_atomic_t *stop = ing_ctl_catch_stop();
	struct sigaction resize = {.sa_handler = on_resize};
	sigaction(SIGWINCH, &resize, NULL);
	v->drawn = !v->json && isatty(STDOUT_FILENO);
	bool good = true;
	if (v->drawn)
		fputs(ENTER_SCREEN, stdout);
	while (*stop == 0 && good) {
		(void)look(v, conf);
		good = fflush(stdout) == 0;
		wait_for_next(v, stop);
	}
	if (v->drawn)
		fputs(LEAVE_SCREEN, stdout);
	return ING_CTL_OK;
}

/* --- the command line --- */

static int take_color(struct view *v)
{
	static const char *const words[] = {
		[AUTO] = "auto", [ALWAYS] = "always", [NEVER] = "never"};
	for (size_t i = 0; i < ING_ARRAY_LEN(words); i++) {
		if (strcmp(words[i], optarg) != 0)
			continue;
		v->color = (enum when)i;
		return -1;
	}
	return ing_ctl_fail(ING_CTL_USAGE, VERB, "--color must be auto, always or never");
}

static int take_every(struct view *v)
{
	uint64_t n;
	if (!ing_ctl_number(optarg, MAX_EVERY_S, &n))
		return ing_ctl_fail(ING_CTL_USAGE, VERB,
			"--every must be a number of seconds from 1 to %d", MAX_EVERY_S);
	v->every_s = (unsigned)n;
	return -1;
}

static int take(void *ctx, int option)
{
	struct view *v = ctx;
	switch (option) {
	case 'f':
		v->follow = true;
		return -1;
	case 'j':
		v->json = true;
		return -1;
	case 'l':
		v->local = true;
		return -1;
	case 'd':
		v->dir = optarg;
		return -1;
	case 'c':
		return take_color(v);
	default:
		return take_every(v);
	}
}

/* A run stands alone: its folder is asked, and nothing else. */
static int load_conf(const struct ing_ctl *ctl, const char *dir, struct ing_conf **ret)
{
	char no_database[] = "postgres.dsn=";
	if (dir == NULL)
		return ing_ctl_conf(ctl, ret);
	if (!ing_utf8_valid(dir, strlen(dir)))
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--dir: the name is not valid UTF-8");
	char *first[] = {ing_ctl_quoted_set("state.dir", dir), no_database, NULL};
	int code = ing_ctl_conf_over(ctl, first, ret);
	free(first[0]);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_status(int argc, char **argv, const struct ing_ctl *ctl)
{
	struct view v = {.every_s = DEFAULT_EVERY_S};
	struct ing_conf *conf = NULL;
	int code = ing_usage_take(&ing_ctl_status_usage, argc, argv, take, &v);
	if (code >= 0)
		return code;
	v.instances = argv + optind;
	code = load_conf(ctl, v.dir, &conf);
	if (code != ING_CTL_OK)
		return code;
	code = v.follow ? follow(&v, conf) : look(&v, conf);
	ing_conf_free(conf);
	return ing_ctl_flush_stdout(VERB) ? code : ING_CTL_ENVIRONMENT;
}
