/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ctl.h - the frame that the verbs of ingestctl share.
 *
 * A verb is `int verb(int argc, char **argv, const struct ing_ctl *ctl)`: argv[0] is
 * "ingestctl VERB", with which getopt's complaints begin like our own; it parses its own options
 * with ing_ctl_option(), answers --help on stdout, writes results to stdout and everything else to
 * stderr, and returns one of the exit codes. One thread.
 */
#pragma once
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include "common/base/error.h"

struct ing_conf;

enum ing_ctl_exit {
	ING_CTL_OK = 0,
	ING_CTL_NEGATIVE = 1, /* the answer is no, or some of the input was bad */
	ING_CTL_USAGE = 2,
	ING_CTL_ENVIRONMENT = 3, /* a file, server or permission is missing */
	ING_CTL_INTERRUPTED = 4, /* run: by a signal, with requests left */
};

struct ing_ctl {
	const char *config_file; /* --config, or NULL */
	char *const *sets;       /* --set values, NULL-terminated */
};

struct option;
/* The next option of a verb, as getopt_long() gives it: -1 at the end, '?' when it has been said
 * what is wrong with one. --config and --set, which may stand before or behind the verb, are kept
 * for ing_ctl_given() here and not handed out. longs ends with {0}. */
int ing_ctl_option(int argc, char **argv, const char *shorts, const struct option *longs);
/* An option's number in decimal, from 1 to max. Returns false, and leaves *ret, for any other text. */
bool ing_ctl_number(const char *text, uint64_t max, uint64_t *ret);
/* What --config and --set have said so far. */
const struct ing_ctl *ing_ctl_given(void);

/* Load the configuration on first need. Errors are printed. 0, or the exit code to return. Caller
 * frees with ing_conf_free(). */
int ing_ctl_conf(const struct ing_ctl *ctl, struct ing_conf **ret);

/* The same, and postgres.dsn is set. verb is for the message when it is not. */
int ing_ctl_conf_with_database(const struct ing_ctl *ctl, const char *verb, struct ing_conf **ret);

/* The same, with sets of the verb's own that win over the file, and --set over them. first is
 * NULL-terminated. */
int ing_ctl_conf_over(const struct ing_ctl *ctl, char *const *first, struct ing_conf **ret);
/* KEY="VALUE" for it, with VALUE (UTF-8) as JSON has it, which YAML reads the same. Heap. */
char *ing_ctl_quoted_set(const char *key, const char *value);
/* Makes a folder for this process; the caller removes it. Empty on failure, which has been said. Returns
 * an exit code. */
#define ING_CTL_TEMP_BYTES 64
int ing_ctl_temp_dir(const char *verb, char ret[ING_CTL_TEMP_BYTES]);
/* Of the control socket in the folder of a run. */
#define ING_CTL_RUN_SOCKET "run.sock"

/* "ingestctl VERB: message" on stderr; returns code, for `return ing_ctl_fail(...)`. */
int ing_ctl_fail(enum ing_ctl_exit code, const char *verb, const char *fmt, ...) ING_PRINTF(3, 4);
/* On stderr, with control characters as \xNN: what a list does to a terminal is not its author's to say. */
void ing_ctl_print_harmless(const char *words);
/* Exit code that fits a failure: USAGE and CONFIG are 2, REJECT dispositions 1, the rest 3. */
enum ing_ctl_exit ing_ctl_exit_of(const struct ing_error *err);
/* Opens PATH for reading, "-" being stdin. NULL after a message on stderr. Close with
 * ing_ctl_close_input(). */
FILE *ing_ctl_open_input(const char *verb, const char *path);
void ing_ctl_close_input(FILE *f);
struct ing_buf;
/* The whole of a file, or of standard input, into *to (initialised here, the caller's): failed when
 * it is over max_bytes. False after a message on stderr. */
bool ing_ctl_read_file(const char *verb, const char *path, size_t max_bytes, struct ing_buf *to);
/* One line of any bytes without its end, into *line (initialised; its ceiling is the line's, a
 * longer one is read on to its end and failed). False at the end of the input, or when it cannot be
 * read: ferror(). */
bool ing_ctl_read_line(FILE *f, struct ing_buf *line);
/* Prints an answer to one line of a batch, whatever it holds; failed: it was too long. False: an
 * error. Lines are counted from 1. */
typedef bool ing_ctl_line_f(void *ctx, const struct ing_buf *line, unsigned long number);
/* fn for every line of a file that is not empty, and the exit code for it all. */
int ing_ctl_batch(
	const char *verb, const char *path, size_t max_line_bytes, ing_ctl_line_f *fn, void *ctx);
/* True when all that was written to stdout has reached it; else a message on stderr. Call before
 * returning success. */
bool ing_ctl_flush_stdout(const char *verb);

int ing_ctl_run(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_serve(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_submit(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_stats(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_seedlist(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_results(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_dead(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_topics(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_parked(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_positions(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_requests(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_db(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_identify(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_extract(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_scrape(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_select(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_help(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_status(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_fleet(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_pause(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_drain(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_resume(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_explain(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_hosts(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_url(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_robots(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_rules(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_refs(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_reingest(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_reexamine(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_page(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_publication(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_webpage(int argc, char **argv, const struct ing_ctl *ctl);
int ing_ctl_warc(int argc, char **argv, const struct ing_ctl *ctl);

struct ing_usage;
extern const struct ing_usage ing_ctl_db_usage;
extern const struct ing_usage ing_ctl_dead_usage;
extern const struct ing_usage ing_ctl_drain_usage;
extern const struct ing_usage ing_ctl_extract_usage;
extern const struct ing_usage ing_ctl_fleet_usage;
extern const struct ing_usage ing_ctl_help_usage;
extern const struct ing_usage ing_ctl_explain_usage;
extern const struct ing_usage ing_ctl_hosts_usage;
extern const struct ing_usage ing_ctl_identify_usage;
extern const struct ing_usage ing_ctl_page_usage;
extern const struct ing_usage ing_ctl_parked_usage;
extern const struct ing_usage ing_ctl_pause_usage;
extern const struct ing_usage ing_ctl_positions_usage;
extern const struct ing_usage ing_ctl_publication_usage;
extern const struct ing_usage ing_ctl_reexamine_usage;
extern const struct ing_usage ing_ctl_refs_usage;
extern const struct ing_usage ing_ctl_reingest_usage;
extern const struct ing_usage ing_ctl_requests_usage;
extern const struct ing_usage ing_ctl_results_usage;
extern const struct ing_usage ing_ctl_resume_usage;
extern const struct ing_usage ing_ctl_robots_usage;
extern const struct ing_usage ing_ctl_rules_usage;
extern const struct ing_usage ing_ctl_run_usage;
extern const struct ing_usage ing_ctl_scrape_usage;
extern const struct ing_usage ing_ctl_seedlist_usage;
extern const struct ing_usage ing_ctl_select_usage;
extern const struct ing_usage ing_ctl_serve_usage;
extern const struct ing_usage ing_ctl_stats_usage;
extern const struct ing_usage ing_ctl_status_usage;
extern const struct ing_usage ing_ctl_submit_usage;
extern const struct ing_usage ing_ctl_topics_usage;
extern const struct ing_usage ing_ctl_url_usage;
extern const struct ing_usage ing_ctl_warc_usage;
extern const struct ing_usage ing_ctl_webpage_usage;
