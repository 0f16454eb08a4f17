/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists of hosts: the tables of `hosts top`, entries of `hosts blocks`, and all that is known as
 * lines of JSON. Reads the objects of hosts_ask.c, in which anything may be missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "worker/ctl/hosts/hosts.h"
#include "worker/ctl/hosts/words.h"
#include "worker/ctl/json_line.h"

/* --- top --- */

static int longest_host(const json_t *hosts)
{
	size_t i;
	json_t *o;
	size_t longest = strlen("HOST");
	json_array_foreach (hosts, i, o) {
		longest = ING_MAX(longest, strlen(ing_words_text(o, "host")));
	}
	return (int)ING_MIN(longest, (size_t)60);
}

static void print_top_line(const json_t *o, int width, bool worker)
{
	struct ing_buf cells[4];
	const json_t *delay = json_object_get(o, "delay");
	const json_t *last = json_object_get(o, "last_answer");
	for (size_t i = 0; i < ING_ARRAY_LEN(cells); i++)
		ing_buf_init(&cells[i], ING_WORDS_BYTES);
	ing_words_add(&cells[0], o, "host");
	if (worker)
		ing_buf_printf(&cells[1], "%7" PRId64 "  %4" PRId64 "  ",
			ing_words_number(o, "waiting"), ing_words_number(o, "holding"));
	if (json_is_object(delay)) {
		ing_words_add_time(&cells[2], ing_words_number(delay, "ms_left"));
		ing_buf_add_str(&cells[2], " ");
		ing_words_add(&cells[2], delay, "why");
	} else {
		ing_buf_add_str(&cells[2], "-");
	}
	if (json_is_object(last))
		ing_words_add_answer(&cells[3], last, false);
	else
		ing_buf_add_str(&cells[3], "-");
	printf("  %-*s  %s%-26s  %8" PRId64 "  %s\n", width, ing_buf_str(&cells[0]),
		ing_buf_str(&cells[1]), ing_buf_str(&cells[2]), ing_words_number(o, "failures"),
		ing_buf_str(&cells[3]));
	for (size_t i = 0; i < ING_ARRAY_LEN(cells); i++)
		ing_buf_done(&cells[i]);
}

static void print_list(const json_t *of, const char *key, const char *title, bool worker)
{
	size_t i;
	json_t *o;
	const json_t *hosts = json_object_get(of, key);
	struct ing_buf head;
	ing_buf_init(&head, ING_WORDS_BYTES);
	ing_buf_add_str(&head, worker ? "worker " : "database");
	ing_words_add(&head, of, "instance");
	printf("%s: %s%s\n", ing_buf_str(&head), title,
		json_array_size(hosts) == 0 ? ": none" : "");
	ing_buf_done(&head);
	if (json_array_size(hosts) == 0)
		return;
	int width = longest_host(hosts);
	printf("  %-*s  %s%-26s  %8s  %s\n", width, "HOST", worker ? "WAITING  BUSY  " : "",
		"PAUSE", "FAILURES", "LAST ANSWER");
	json_array_foreach (hosts, i, o) {
		print_top_line(o, width, worker);
	}
}

/* --- lines of JSON --- */

/* Each host of a list as a line, which says where it comes from. */
static void print_hosts_json(const json_t *of, const char *key, const char *list)
{
	size_t i;
	json_t *o;
	json_array_foreach (json_object_get(of, key), i, o) {
		json_t *line = json_pack("{s:O}", "source", json_object_get(of, "source"));
		json_object_set(line, "instance", json_object_get(of, "instance"));
		ing_json_set_text(line, "list", list);
		json_object_update_missing(line, o);
		ing_ctl_json_print(line);
	}
}

/* -------------------------------------------------------------------------------------------- */

void ing_ctl_print_top(const struct ing_ctl_known *k)
{
	size_t i;
	json_t *w;
	json_array_foreach (k->workers, i, w) {
		print_list(w, "most_waiting", "most requests waiting", true);
		print_list(w, "longest_held", "held longest", true);
	}
	if (k->database != NULL)
		print_list(k->database, "hosts",
			"held longest, then most failures in a row, then last asked", false);
}

void ing_ctl_print_block(const json_t *block)
{
	struct ing_buf line;
	ing_buf_init(&line, ING_WORDS_BYTES);
	ing_words_add(&line, block, "host");
	for (size_t i = line.len; i < 32; i++)
		ing_buf_add_char(&line, ' ');
	ing_buf_add_str(&line, "  ");
	ing_words_add_block(&line, block);
	puts(ing_buf_str(&line));
	ing_buf_done(&line);
}

void ing_ctl_print_json(const struct ing_ctl_known *k)
{
	size_t i;
	json_t *w;
	json_array_foreach (k->workers, i, w) {
		if (json_object_get(w, "most_waiting") == NULL) {
			ing_ctl_json_print(json_incref(w));
			continue;
		}
		print_hosts_json(w, "most_waiting", "most_waiting");
		print_hosts_json(w, "longest_held", "longest_held");
	}
	if (json_object_get(k->database, "hosts") != NULL)
		print_hosts_json(k->database, "hosts", "attention");
	else if (k->database != NULL)
		ing_ctl_json_print(json_incref(k->database));
	if (k->rules != NULL)
		ing_ctl_json_print(json_incref(k->rules));
}
