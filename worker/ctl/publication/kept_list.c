/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl publication list, webpage list: a line for each that is kept, by the columns of its row alone.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/markup/html_page.h"
#include "worker/ctl/json_line.h"
#include "worker/ctl/usage.h"
#include "worker/ctl/publication/kept_select.h"
#include "worker/ctl/publication/kept.h"
#include "worker/ctl/publication/words.h"

#define MAX_LINE_BYTES ((size_t)1 << 20)

#define STATE(more)                                                                                \
	"CASE WHEN empty THEN 'empty' WHEN NOT usable THEN 'non-usable'"                           \
	" WHEN NOT final THEN 'non-final' " more "WHEN final THEN 'final' END AS state"

/* Columns and their names in JSON; those of lines for people come first. */
static const char publication_columns[] = "pmid, pmcid, doi, " STATE(
	"WHEN totally_final THEN 'totally final' ") ", pub_date, journal, title, url, oa, preprint, citations, fulltext_type, fulltext_size,"
						    " fetch_time_ms, fetch_exception";
static const char *const publication_names[] = {"pmid", "pmcid", "doi", "state", "pub_date",
	"journal_title", "title", "url", "oa", "preprint", "citationsCount", "fulltext_type",
	"fulltext_size", "fetchTime", "fetchException", NULL};
static const char webpage_columns[] = "start_url, " STATE(
	"") ", status_code, title, final_url, content_type, license, language, content_size,"
	    " fetch_time_ms, fetch_exception";
static const char *const webpage_names[] = {"startUrl", "state", "statusCode", "title", "finalUrl",
	"contentType", "license", "language", "contentLength", "fetchTime", "fetchException", NULL};

enum format { LINES, IDS, JSON, HTML };

struct list {
	enum ing_kept_table table;
	enum format format;
	size_t count;
};

static bool is_webpage(const struct list *l)
{
	return l->table == ING_TABLE_WEBPAGE;
}

/* Tabs and control characters of a value would be taken for the line's. */
static void print_shown(const char *s)
{
	for (; s != NULL && *s != '\0'; s++)
		putchar((unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s);
}

static void print_line(const char *const *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			putchar('\t');
		print_shown(values[i]);
	}
	putchar('\n');
}

static json_t *value_of(const char *name, const char *text)
{
	static const char *const numbers[] = {"citationsCount", "fulltext_size", "fetchTime",
		"statusCode", "contentLength", NULL};
	static const char *const truths[] = {"oa", "preprint", "fetchException", NULL};
	if (text == NULL)
		return NULL;
	for (size_t i = 0; numbers[i] != NULL; i++)
		if (strcmp(name, numbers[i]) == 0)
			return json_integer(ing_pg_int64(text));
	for (size_t i = 0; truths[i] != NULL; i++)
		if (strcmp(name, truths[i]) == 0)
			return json_boolean(text[0] == 't');
	return ing_json_text(text);
}

static void print_json(const char *const *names, const char *const *values)
{
	json_t *o = json_object();
	for (size_t i = 0; names[i] != NULL; i++)
		ing_json_set(o, names[i], value_of(names[i], values[i]));
	ing_ctl_json_print(o);
}

static const char *or_none(const char *s)
{
	return s != NULL ? s : "";
}

/* What its link leads to, heap. */
static char *address_of(const struct list *l, const char *const *v)
{
	if (is_webpage(l))
		return ing_strdup(v[0]);
	if (v[2] != NULL)
		return ing_id_url("https://doi.org/", v[2]);
	if (v[0] != NULL)
		return ing_id_url("https://pubmed.ncbi.nlm.nih.gov/", v[0]);
	if (v[1] != NULL)
		return ing_id_url("https://www.ncbi.nlm.nih.gov/pmc/articles/", v[1]);
	return ing_strdup(or_none(v[7]));
}

static void print_item(const struct list *l, const char *const *v)
{
	struct ing_buf out;
	char *address = address_of(l, v);
	const char *title = is_webpage(l) ? v[3] : v[6];
	const char *const small[] = {is_webpage(l) ? v[0] : v[5], is_webpage(l) ? NULL : v[4],
		is_webpage(l) ? v[1] : v[3]};
	ing_buf_init(&out, MAX_LINE_BYTES);
	ing_buf_add_str(&out, "<li><span dir=\"auto\">");
	ing_html_add_link(&out, address, title != NULL ? title : address);
	ing_buf_add_str(&out, "</span> <small dir=\"auto\">");
	for (size_t i = 0; i < ING_ARRAY_LEN(small); i++) {
		if (small[i] == NULL)
			continue;
		ing_buf_add_str(&out, i > 0 ? " · " : "");
		ing_html_add(&out, small[i]);
	}
	ing_buf_add_str(&out, "</small></li>\n");
	fputs(ing_buf_str(&out), stdout);
	ing_buf_done(&out);
	free(address);
}

static bool print_row(void *ctx, const char *const *values)
{
	struct list *l = ctx;
	l->count++;
	switch (l->format) {
	case LINES:
		print_line(values, is_webpage(l) ? 4 : 7);
		break;
	case IDS:
		print_line(values, is_webpage(l) ? 1 : 3);
		break;
	case JSON:
		print_json(is_webpage(l) ? webpage_names : publication_names, values);
		break;
	case HTML:
		print_item(l, values);
		break;
	}
	return !ferror(stdout);
}

static void print_frame(const struct list *l, bool begin)
{
	struct ing_buf out;
	ing_buf_init(&out, MAX_LINE_BYTES);
	if (begin) {
		ing_html_page_begin(&out, is_webpage(l) ? "Web pages" : "Publications");
		ing_buf_add_str(&out, "<nav class=\"papers\"><ol>\n");
	} else {
		ing_buf_add_str(&out, "</ol></nav>\n");
		ing_html_page_end(&out);
	}
	fputs(ing_buf_str(&out), stdout);
	ing_buf_done(&out);
}

static int print_all(struct list *l, struct ing_kept_select *s, const struct ing_ctl *ctl)
{
	if (l->format == HTML)
		print_frame(l, true);
	int code = ing_kept_each(
		s, ctl, is_webpage(l) ? webpage_columns : publication_columns, print_row, l);
	if (l->format == HTML)
		print_frame(l, false);
	if (!ing_ctl_flush_stdout(s->verb))
		return ING_CTL_ENVIRONMENT;
	return code == ING_CTL_OK && l->count == 0 ? ING_CTL_NEGATIVE : code;
}

static const struct ing_option publication_options[] = {
	{"ids", NULL, "only PMID, PMCID and DOI", .code = 'i'},
	{"plain", NULL, "those lines (default)", .code = 'p'},
	{"json", NULL, "JSON objects, one a line", .code = 'j'},
	{"html", NULL, "a page of links", .code = 't'},
	{0},
};

static const struct ing_option webpage_options[] = {
	{"ids", NULL, "only the URL", .code = 'i'},
	{"plain", NULL, "those lines (default)", .code = 'p'},
	{"json", NULL, "JSON objects, one a line", .code = 'j'},
	{"html", NULL, "a page of links", .code = 't'},
	{0},
};

/* -------------------------------------------------------------------------------------------- */

const struct ing_usage ing_ctl_publication_list_usage = {
	.name = "publication list",
	.synopsis = "[OPTION]... " ING_KEPT_KEYS,
	.summary = "list publications that are kept in the database",
	.text = "Prints a line for each that is kept, with tabs between: PMID, PMCID, DOI, state, date, journal, "
		"title.",
	.options = publication_options,
	.shared = ing_kept_publication_shared,
	.exits = {"some were found", "none", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
	.examples =
		"Publications of one publisher whose full text could be better, for another try:\n\n"
		"  ingestctl publication list --ids --host nature.com --where 'not fulltext.final' |\n"
		"      ingestctl publication --force -",
};

const struct ing_usage ing_ctl_webpage_list_usage = {
	.name = "webpage list",
	.synopsis = "[OPTION]... [URL]...",
	.summary = "list web pages that are kept in the database",
	.text = "Prints a line for each that is kept, with tabs between: URL, state, HTTP status, title.",
	.options = webpage_options,
	.shared = ing_kept_webpage_shared,
	.exits = {"some were found", "none", ING_EXIT_USAGE, ING_EXIT_ENVIRONMENT},
};

int ing_ctl_kept_list(enum ing_kept_table table, int argc, char **argv, const struct ing_ctl *ctl)
{
	const struct ing_usage *usage = table == ING_TABLE_WEBPAGE
						? &ing_ctl_webpage_list_usage
						: &ing_ctl_publication_list_usage;
	struct list l = {.table = table};
	struct ing_kept_select s;
	int c;
	int code = ING_CTL_OK;
	ing_kept_select_init(&s, table, usage->name);
	while (code == ING_CTL_OK && (c = ing_usage_next(usage, argc, argv)) != -1) {
		if (c == 'h') {
			ing_kept_select_done(&s);
			return ing_usage_code(c);
		}
		if (c == 'p')
			l.format = LINES;
		else if (c == 'i' || c == 'j' || c == 't')
			l.format = c == 'i' ? IDS : c == 'j' ? JSON : HTML;
		else if (!ing_kept_select_option(&s, c, optarg))
			code = ING_CTL_USAGE;
	}
	if (code == ING_CTL_OK && !ing_kept_select_keys(&s, argv + optind, (size_t)(argc - optind)))
		code = ING_CTL_USAGE;
	if (code == ING_CTL_OK)
		code = print_all(&l, &s, ctl);
	ing_kept_select_done(&s);
	return code;
}
