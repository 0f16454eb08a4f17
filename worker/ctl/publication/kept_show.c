/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl publication show and export, webpage show and export: whole records, one after the other.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/markup/html_page.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/publication/kept_select.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/publication/pubfetcher_json.h"
#include "worker/ctl/publication/html.h"
#include "worker/ctl/publication/kept.h"
#include "worker/ctl/publication/text.h"
#include "worker/model/version.h"
#include "worker/publication/kept.h"

#define MAX_SHOWN_BYTES ((size_t)512 << 20) /* of one record */

enum format { TEXT, HTML, JSON, PUBFETCHER };

struct show {
	enum ing_kept_table table;
	enum format format;
	size_t count;
	bool failed; /* one was too long */
};

static bool is_webpage(const struct show *s)
{
	return s->table == ING_TABLE_WEBPAGE;
}

static void add_text(const struct show *s, json_t *record, struct ing_buf *out)
{
	if (s->count > 1)
		ing_buf_add_str(out, ING_PUBLICATION_TEXT_DIVIDER);
	if (is_webpage(s))
		ing_webpage_text(&record, 1, out);
	else
		ing_publication_text(&record, 1, out);
}

static void add_html(const struct show *s, const json_t *record, struct ing_buf *out)
{
	if (is_webpage(s))
		ing_webpage_html_add(out, record, s->count);
	else
		ing_publication_html_add(out, record, s->count);
}

static void add_pubfetcher(const struct show *s, const json_t *record, struct ing_buf *out)
{
	ing_buf_add_str(out, s->count > 1 ? ",\n" : "\n");
	ing_ctl_json_add(
		is_webpage(s) ? ing_pubfetcher_webpage(record) : ing_pubfetcher_publication(record),
		out);
}

static bool print_record(void *ctx, const char *const *values)
{
	struct show *s = ctx;
	struct ing_buf out;
	json_t *row = ing_json_parse(values[0], strlen(values[0]), &ing_json_own, NULL);
	json_t *record = is_webpage(s) ? ing_webpage_settled(row) : ing_publication_settled(row);
	s->count++;
	ing_buf_init(&out, MAX_SHOWN_BYTES);
	switch (s->format) {
	case TEXT:
		add_text(s, record, &out);
		break;
	case HTML:
		add_html(s, record, &out);
		break;
	case JSON:
		ing_ctl_json_add_line(ing_json_ref(record), &out);
		break;
	case PUBFETCHER:
		add_pubfetcher(s, record, &out);
		break;
	}
	s->failed |= out.failed;
	fwrite(ing_buf_str(&out), 1, out.len, stdout);
	ing_buf_done(&out);
	json_decref(record);
	json_decref(row);
	return !ferror(stdout) && !s->failed;
}

static void begin(const struct show *s)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_SHOWN_BYTES);
	if (s->format == HTML)
		ing_html_page_begin(&out, is_webpage(s) ? "Web pages" : "Publications");
	else if (s->format == PUBFETCHER)
		ing_buf_printf(&out,
			"{\"version\":{\"name\":\"ingest-worker\",\"url\":\"\",\"version\":\"%s\"},"
			"\"argv\":[],\"%ss\":[",
			ING_VERSION, ing_kept_table_name(s->table));
	fputs(ing_buf_str(&out), stdout);
	ing_buf_done(&out);
}

static void end(const struct show *s)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_SHOWN_BYTES);
	if (s->format == HTML)
		ing_html_page_end(&out);
	else if (s->format == PUBFETCHER)
		ing_buf_add_str(&out, "\n]}\n");
	fputs(ing_buf_str(&out), stdout);
	ing_buf_done(&out);
}

static int print_all(struct show *s, struct ing_kept_select *select, const struct ing_ctl *ctl)
{
	begin(s);
	int code = ing_kept_each(select, ctl, "record", print_record, s);
	if (s->failed)
		code = ing_ctl_fail(ING_CTL_ENVIRONMENT, select->verb, "a record is too long");
	if (code == ING_CTL_OK)
		end(s);
	if (!ing_ctl_flush_stdout(select->verb))
		return ING_CTL_ENVIRONMENT;
	return code == ING_CTL_OK && s->count == 0 ? ING_CTL_NEGATIVE : code;
}

static const struct ing_option show_options[] = {
	{"plain", NULL, "as text (default)", .code = 'p'},
	{"html", NULL, "as a page for people", .code = 't'},
	{"json", NULL, "as JSON objects, one a line", .code = 'j'},
	{0},
};

static const struct ing_option export_options[] = {
	{"lines", NULL, "as JSON objects of our own, one a line (for import --lines)", .code = 'j'},
	{0},
};

static const struct ing_usage *usage_of(enum ing_kept_table table, bool is_export)
{
	if (table == ING_TABLE_WEBPAGE)
		return is_export ? &ing_ctl_webpage_export_usage : &ing_ctl_webpage_show_usage;
	return is_export ? &ing_ctl_publication_export_usage : &ing_ctl_publication_show_usage;
}

static int run(
	enum ing_kept_table table, bool is_export, int argc, char **argv, const struct ing_ctl *ctl)
{
	const struct ing_usage *usage = usage_of(table, is_export);
	struct show s = {.table = table, .format = is_export ? PUBFETCHER : TEXT};
	struct ing_kept_select select;
	int c;
	int code = ING_CTL_OK;
	ing_kept_select_init(&select, table, usage->name);
	while (code == ING_CTL_OK && (c = ing_usage_next(usage, argc, argv)) != -1) {
		if (c == 'h') {
			ing_kept_select_done(&select);
			return ing_usage_code(c);
		}
		if (c == 'p' || c == 'j' || c == 't')
			s.format = c == 'p' ? TEXT : c == 'j' ? JSON : HTML;
		else if (!ing_kept_select_option(&select, c, optarg))
			code = ING_CTL_USAGE;
	}
	if (code == ING_CTL_OK &&
		!ing_kept_select_keys(&select, argv + optind, (size_t)(argc - optind)))
		code = ING_CTL_USAGE;
	if (code == ING_CTL_OK)
		code = print_all(&s, &select, ctl);
	ing_kept_select_done(&select);
	return code;
}

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_publication_show_usage = {
	.name = "publication show",
	.synopsis = "[OPTION]... " ING_KEPT_KEYS,
	.summary = "print publications that are kept, whole",
	.text = "Prints what is kept of it, as text.",
	.options = show_options,
	.shared = ing_kept_publication_shared,
	.exits = {"some were found", "none", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

const struct ing_usage ing_ctl_publication_export_usage = {
	.name = "publication export",
	.synopsis = "[OPTION]... " ING_KEPT_KEYS,
	.summary = "print publications that are kept, for other programs",
	.text = "Prints what is kept in the form of PubFetcher's JSON output.",
	.options = export_options,
	.shared = ing_kept_publication_shared,
	.exits = {"some were found", "none", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

const struct ing_usage ing_ctl_webpage_show_usage = {
	.name = "webpage show",
	.synopsis = "[OPTION]... [URL]...",
	.summary = "print web pages that are kept, whole",
	.text = "Prints what is kept of it, as text.",
	.options = show_options,
	.shared = ing_kept_webpage_shared,
	.exits = {"some were found", "none", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

const struct ing_usage ing_ctl_webpage_export_usage = {
	.name = "webpage export",
	.synopsis = "[OPTION]... [URL]...",
	.summary = "print web pages that are kept, for other programs",
	.text = "Prints what is kept in the form of PubFetcher's JSON output.",
	.options = export_options,
	.shared = ing_kept_webpage_shared,
	.exits = {"some were found", "none", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

int ing_ctl_kept_show(enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl)
{
	return run(table, false, argc, argv, ctl);
}

int ing_ctl_kept_export(enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl)
{
	return run(table, true, argc, argv, ctl);
}
