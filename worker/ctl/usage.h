/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage.h - what a verb of ingestctl is called, what it takes and what it does: a table for each, from which come the
 * options that getopt accepts, --help, `ingestctl help`, ingestctl(1), and the completion of bash and zsh.
 *
 *     static const struct ing_option options[] = {
 *             {"count", "N", "list at most N", .code = 'n'},
 *             {"format", "F", "how it is printed", .code = 'f', .words = "table json"},
 *             {0},
 *     };
 *     const struct ing_usage ing_ctl_dance_usage = {.name = "dance", .synopsis = "[OPTION]... HOST",
 *             .summary = "say who dances", .text = "…", .options = options,
 *             .exits = {ING_EXIT_OK, "nobody does", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT}};
 *
 *     for (int c; (c = ing_usage_next(&ing_ctl_dance_usage, argc, argv)) != -1;)
 *             switch (c) {
 *             case 'n': …optarg…
 *             default: return ing_usage_code(c);
 *             }
 *     …operands from argv[optind]…
 *
 * --help, --config and --set belong to every verb and stand in no table. A row in verbs.c makes the verb known.
 *
 * Texts are one string each: a line that is followed by another goes on in the same paragraph; an empty line ends a
 * paragraph; lines that begin with two blanks are kept as they are, or, with a tab in them, are the rows of a list:
 * "  TERM\tTEXT". A sentence of an option begins in lower case and ends without a full stop. Everything is constant; one
 * thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ing_buf;

/* What is completed for a value or an operand: words with blanks between, or one of these; NULL: nothing, or what
 * .add_words has. "," before the words: a list with commas. "!VERB ARGUMENT...": the first word of each line that this command of ingestctl prints. */
#define ING_WORDS_FILE "@file"
#define ING_WORDS_DIR "@dir"
#define ING_WORDS_KEYS "@keys"                        /* KEY= of the configuration */
#define ING_WORDS_INSTANCES "!help --print instances" /* workers on this machine */
#define ING_WORDS_SOURCES "!seedlist --list"
#define ING_WORDS_STATUSES "@statuses" /* of results, a list with commas */
#define ING_WORDS_TYPES "@types"       /* of requests, a list with commas */
#define ING_WORDS_LANES "priority requests daily bulk"

/* A number that is a macro, for texts. */
#define ING_USAGE_NUMBER_(n) #n
#define ING_USAGE_NUMBER(n) ING_USAGE_NUMBER_(n)

struct ing_option {
	const char *name;  /* long, without "--" */
	const char *value; /* the name of its value; NULL: it takes none */
	const char *text;  /* NULL: accepted, and shown nowhere */
	const char *words; /* completion of its value */
	const char *of;    /* last words of those verbs below (.parent) that take it; NULL: all */
	void (*add_words)(struct ing_buf *
			to); /* words from another table, which follow the text; with blanks between */
	int code;            /* what ing_usage_next() returns */
	char letter;         /* its short form; 0: none */
};

/* Options that several verbs have in common. */
struct ing_options {
	const char *
		name; /* the heading under which the manual has them, once for all verbs; NULL: it repeats them */
	const char *title; /* a line before them; NULL: none */
	const struct ing_option *rows;
	const char *notes;                     /* a text behind them; NULL: none */
	void (*add_notes)(struct ing_buf *to); /* text from another table, behind .notes */
};

#define ING_EXITS 5
#define ING_EXIT_OK "success"
#define ING_EXIT_USAGE "usage or configuration"
#define ING_EXIT_ENVIRONMENT "a file, a server or a permission is missing"
#define ING_EXIT_INTERRUPTED "interrupted"

struct ing_usage {
	const char *name;     /* "requests load" */
	const char *synopsis; /* what stands behind the name; a line for each form */
	const char *summary;  /* for lists of verbs: no capital, no full stop */
	const char *text;
	void (*add_text)(struct ing_buf *to); /* text from another table, behind .text */
	const char *details; /* more text, for the manual page and `ingestctl help VERB` */
	const struct ing_option *options;        /* end with {0}; NULL: none */
	const struct ing_options *const *shared; /* end with NULL; NULL: none */
	const char *notes;                       /* text behind the options */
	const char *exits[ING_EXITS]; /* what exit status 0, 1 … mean; NULL: does not occur */
	const char *examples;         /* text */
	const char *operands;         /* completion */
	const struct ing_usage *const *below; /* its verbs, end with NULL; NULL: it has none */
	const struct ing_usage *
		parent; /* set: its options are those of the parent that name it in .of, or name nobody, and it
					   has no tables of its own */
	bool own_help; /* ing_usage_next() returns 'h' and prints nothing */
};

/* --- for verbs --- */

/* The next option: its code, with the value in optarg; -1 at the end, operands begin at argv[optind] then; 'h' when help was
 * asked for and printed; '?' after a message. Begins with optind as it is (1). */
int ing_usage_next(const struct ing_usage *u, int argc, char **argv);
/* The exit code to end with after 'h' or '?'. */
int ing_usage_code(int c);
/* All options to take(), which returns -1, or the exit code to end with. -1, or that code. */
typedef int ing_usage_take_f(void *ctx, int option);
int ing_usage_take(
	const struct ing_usage *u, int argc, char **argv, ing_usage_take_f *take, void *ctx);
/* The same of a verb without operands. */
int ing_usage_take_all(
	const struct ing_usage *u, int argc, char **argv, ing_usage_take_f *take, void *ctx);
/* "expected explain, top or block" on stderr, with the nearest if word (may be NULL) is near one. Returns USAGE. */
int ing_usage_refuse_below(const struct ing_usage *u, const char *word);

/* --- for those who print --- */

/* Its i-th option of all that it takes, or NULL. *ret_group (may be NULL) is the one that it is from, or NULL. */
const struct ing_option *ing_usage_option(
	const struct ing_usage *u, size_t i, const struct ing_options **ret_group);
/* --config, --set, --help: of every verb, end with {0}. Their codes are not used. */
extern const struct ing_option ing_usage_common[];
/* "load" of "requests load". */
const char *ing_usage_last_word(const struct ing_usage *u);
/* .notes and what .add_notes has to say. Appended. */
void ing_usage_add_notes(const struct ing_options *group, struct ing_buf *to);
/* The text of an option with the words that follow it. Appended. */
void ing_usage_add_option_text(const struct ing_option *o, struct ing_buf *to);
/* .text and what .add_text has to say. Appended. */
void ing_usage_add_text(const struct ing_usage *u, struct ing_buf *to);
/* "Exit status: 0 success, 1 …": its own, or those of the parent. Appended. */
void ing_usage_add_exits(const struct ing_usage *u, struct ing_buf *to);

/* As --help, or with details and examples, too. */
void ing_usage_print_help(const struct ing_usage *u, bool whole, FILE *to);
/* Columns of lines for it: a terminal's, within bounds, else 90. */
size_t ing_usage_width(FILE *to);
