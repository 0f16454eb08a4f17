/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingest-worker: the command line of the daemon.
 */
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>

#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/base/options.h"
#include "common/data/pg_dsn.h"
#include "worker/conf/conf.h"
#include "worker/model/libraries.h"
#include "worker/engine/daemon.h"
#include "worker/engine/ruleset.h"
#include "worker/service/journald.h"

#define MAX_SETS 256

struct options {
	const char *config_file;
	char *sets[MAX_SETS + 1];
	size_t set_count;
	bool check_config, dump_config, dump_man;
};

/* A check of the configuration includes the rule files and the filter lists. */
static enum ing_daemon_exit check_rules(const struct ing_conf *conf)
{
	struct ing_ruleset rules;
	struct ing_report report;
	struct ing_error err = {0};
	ing_report_init(&report);
	int rc = ing_ruleset_load(conf->rules_dir, conf->filters, &rules, &report, &err);
	ing_report_print(&report, true, stderr);
	ing_report_done(&report);
	if (rc != 0) {
		fprintf(stderr, "%s\n", err.msg);
		return err.code == ING_FAIL_CONFIG ? ING_DAEMON_CONFIG : ING_DAEMON_ENVIRONMENT;
	}
	ing_ruleset_done(&rules);
	printf("ingest-worker: the configuration is good\n");
	return ING_DAEMON_OK;
}

static void log_warnings(const struct ing_report *report)
{
	char line[1200];
	for (size_t i = 0; i < report->count; i++) {
		ing_report_format_line(&report->lines[i], line, sizeof(line));
		ing_log(ING_LOG_WARNING, "%s", line);
	}
}

/* What the first lines of --help do not say; one for each option. */
static const struct {
	const char *head, *sentence;
} helps[] = {
	{"--config FILE", "read the configuration from this file"},
	{"--set KEY=VALUE",
		"set a key after the file has been read; VALUE is YAML; may be repeated"},
	{"--check-config", "check the configuration and the rules, print all errors, and exit"},
	{"--dump-config", "print the configuration in force, and exit"},
	{"--dump-man", "print the keys of ingest-worker.conf(5) as mdoc, and exit"},
	{"--version", "print the version and those of the libraries in use, and exit"},
	{"--help", "print this text"},
};

static void print_usage(FILE *to)
{
	fprintf(to,
		"usage: ingest-worker [--config FILE] [--set KEY=VALUE]...\n"
		"                     [--check-config] [--dump-config] [--dump-man] [--version] [--help]\n");
}

static void print_help(void)
{
	print_usage(stdout);
	printf("\nFetches documents for the requests on Kafka's topics, until it is told to stop.\n\n");
	for (size_t i = 0; i < ING_ARRAY_LEN(helps); i++)
		printf("  %-15s  %s\n", helps[i].head, helps[i].sentence);
	printf("\nExit status: 0 stopped by a signal, 1 another worker has its place, 2 usage or configuration,\n"
	       "3 the environment is not usable. ingest-worker(8), ingest-worker.conf(5)\n");
}

/* Returns -1 to go on, or the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"set", required_argument, NULL, 's'},
		{"check-config", no_argument, NULL, 'k'},
		{"dump-config", no_argument, NULL, 'd'},
		{"dump-man", no_argument, NULL, 'm'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	for (;;) {
		int c = ing_options_next(argc, argv, "h", options);
		if (c == -1)
			break;
		switch (c) {
		case 'c':
			o->config_file = optarg;
			break;
		case 's':
			if (o->set_count == MAX_SETS) {
				fprintf(stderr, "ingest-worker: more than %d --set\n", MAX_SETS);
				return ING_DAEMON_CONFIG;
			}
			o->sets[o->set_count++] = optarg;
			break;
		case 'k':
			o->check_config = true;
			break;
		case 'd':
			o->dump_config = true;
			break;
		case 'm':
			o->dump_man = true;
			break;
		case 'V':
			ing_libraries_print("ingest-worker", stdout);
			return ING_DAEMON_OK;
		case 'h':
			print_help();
			return ING_DAEMON_OK;
		default:
			print_usage(stderr);
			return ING_DAEMON_CONFIG;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "ingest-worker: unexpected argument: %s\n", argv[optind]);
		return ING_DAEMON_CONFIG;
	}
	return -1;
}

/* -------------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	struct options options = {0};
	setlocale(LC_CTYPE, "C.UTF-8");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* until the loop runs, which reloads the rules */
	int code = parse_options(argc, argv, &options);
	if (code >= 0)
		return code;
	if (options.dump_man) {
		ing_conf_dump_man(stdout);
		return ING_DAEMON_OK;
	}
	struct ing_conf *conf = NULL;
	struct ing_report report = {0};
	/* A dump is also a template for a first file, so it needs no contact. */
	enum ing_conf_use use = options.dump_config ? ING_CONF_CTL : ING_CONF_DAEMON;
	if (ing_conf_load(options.config_file, options.sets, use, &conf, &report) != 0) {
		ing_report_print_errors(&report, stderr);
		ing_report_done(&report);
		return ING_DAEMON_CONFIG;
	}
	code = ING_DAEMON_OK;
	if (options.dump_config) {
		ing_conf_dump(conf, stdout);
	} else if (options.check_config) {
		ing_report_print(&report, true, stderr);
		code = (int)check_rules(conf);
	} else {
		ing_journald_log("ingest-worker", &(struct ing_log_conf){
							  .max_level = conf->log_level,
							  .format = conf->log_format,
							  .instance = conf->instance,
							  .never_wait = true,
						  });
		log_warnings(&report);
		ing_pg_use_password_file(conf->postgres.password_file);
		ing_descriptors_reserve();
		code = (int)ing_daemon_run(conf);
	}
	ing_report_done(&report);
	ing_conf_free(conf);
	return code;
}
