/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * manual.h - what is written of the tables of verbs, statuses, metrics and configuration keys: `ingestctl help`, the parts of
 * manual pages that the frames in deploy/man have place for, and the functions that the completions of shells ask (deploy/completion).
 * Pure but for what is printed; one thread.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct ing_buf;
struct ing_usage;

#define ING_MANUAL_MAX_BYTES ((size_t)4 << 20)

/* A section for each group of verbs, and one for each table of options that several have in common. */
void ing_manual_add_verbs(struct ing_buf *to);
void ing_manual_add_examples(struct ing_buf *to);
void ing_manual_add_statuses(struct ing_buf *to);
void ing_manual_add_metrics(struct ing_buf *to);
void ing_manual_add_keys(struct ing_buf *to);

/* Functions of the shell that say what may stand where; described: with a sentence behind each word, as zsh shows it. */
void ing_completion_add(bool described, struct ing_buf *to);
/* A line "VERB<tab>--option" for each option of each verb, for tests. */
void ing_completion_add_list(struct ing_buf *to);

/* A line for each word that `ingestctl help` knows best: verbs, topics, statuses. */
void ing_completion_add_help_words(struct ing_buf *to);

/* --- topics of help --- */

struct ing_topic {
	const char *name, *summary;
	void (*add)(struct ing_buf *to); /* a text as usage.h has it */
};
extern const struct ing_topic ing_topics[]; /* end with {0} */
/* What there is about a status, a metric, a configuration key or the keys below one. False: no such name. */
bool ing_topic_add_entry(const char *name, struct ing_buf *to);
