/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files, rows, the saved page or answer of each, and the report. A child reads what is saved: it is
 * asked row by row, and forked again after a crash.
 */
#include "worker/ctl/rules/csv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "worker/ctl/helper.h"
#include "worker/ctl/rules/page_name.h"
#include "worker/ctl/rules/yield.h"
#include "worker/ctl/self_run.h"
#include "worker/model/limits.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/scrape.h"

#define VERB "rules test"
#define TIMEOUT_MS 60000
#define MAX_ANSWER_BYTES ((size_t)1 << 20)
#define MAX_FILE_BYTES ((size_t)64 << 20)

struct csv {
	const struct ing_ctl *ctl;
	const struct ing_csv_options *o;
	const struct ing_rules *rules;
	struct ing_scraper *scraper; /* in the child */
	struct ing_ctl_helper *helper;
	const char *file;
	unsigned long line;
	size_t rows, bad_rows, mismatches;
	bool failed; /* a file cannot be read */
};

/* --- in the child --- */

static void answer_error(struct ing_buf *out, const char *words)
{
	json_t *o = json_object();
	ing_json_set_text(o, "error", words);
	ing_json_add(out, o);
	json_decref(o);
}

/* {"kind","key","path"} */
static void read_row(void *ctx, const char *question, size_t bytes, struct ing_buf *out)
{
	struct csv *c = ctx;
	struct ing_buf data;
	json_t *q = ing_json_parse(question, bytes, &ing_json_own, NULL);
	const struct ing_csv_kind *kind = ing_csv_kind_of_name(ing_json_get_text(q, "kind"));
	const char *path = ing_json_get_text(q, "path");
	if (access(path, R_OK) != 0 ||
		!ing_ctl_read_file(VERB, path, ING_MAX_SCRAPE_BYTES, &data)) {
		answer_error(out, "the page cannot be read");
		json_decref(q);
		return;
	}
	if (c->scraper == NULL)
		c->scraper = ing_scraper_new(c->rules);
	json_t *o = ing_csv_read(c->scraper, c->rules, kind, ing_json_get_text(q, "key"),
		ing_buf_str(&data), data.len);
	ing_json_add(out, o);
	json_decref(o);
	json_decref(q);
	ing_buf_done(&data);
	ing_scraper_clear(c->scraper);
}

/* --- the report --- */

ING_PRINTF(3, 4)
static void report(struct csv *c, const char *key, const char *fmt, ...)
{
	va_list ap;
	printf("%s:%lu: ", c->file, c->line);
	if (key != NULL)
		printf("%s: ", key);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* What the rule behind a mismatch has found in the last days. */
static void print_yield(
	const struct csv *c, const struct ing_csv_kind *kind, const char *site, const char *label)
{
	char name[512];
	bool is_rule = strcmp(label, "links") != 0 && strcmp(label, "corresp") != 0;
	if (c->o->yields == NULL || site == NULL || !is_rule)
		return;
	snprintf(name, sizeof(name), "%s %s %s",
		kind->key == ING_CSV_SITE ? "journals.yaml" : "webpages.yaml", site, label);
	struct ing_ctl_yield y = ing_ctl_yields_of(c->o->yields, name);
	printf("\t%s: applied %llu, found something %llu\n", name, (unsigned long long)y.applied,
		(unsigned long long)y.matched);
}

/* As it would stand in the file. */
static void format_value(const json_t *value, char *ret, size_t bytes)
{
	if (json_is_string(value))
		snprintf(ret, bytes, "%s", json_string_value(value));
	else
		snprintf(ret, bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
}

static void compare(struct csv *c, const struct ing_csv_kind *kind, char *const *columns,
	const char *key, const json_t *answer)
{
	const char *error = ing_json_get_text(answer, "error");
	const char *site = ing_json_get_text(answer, "site");
	if (error != NULL) {
		report(c, key, "%s", error);
		c->bad_rows++;
		return;
	}
	for (size_t i = 0; kind->columns[i] != NULL; i++) {
		char came[256];
		const char *label = kind->columns[i];
		const json_t *value = json_object_get(answer, label);
		if (value == NULL) /* the key */
			continue;
		format_value(value, came, sizeof(came));
		if (strcmp(came, columns[i]) == 0)
			continue;
		report(c, key, "%s%s%s: expected %s, found %s", site != NULL ? site : "",
			site != NULL ? " " : "", label, columns[i], came);
		print_yield(c, kind, site, label);
		c->mismatches++;
	}
}

/* --- where the answer is --- */

static char *saved_path(const struct csv *c, const struct ing_csv_kind *kind, const char *key)
{
	static const char *const endings[] = {".xml", ".json", ".html"};
	const char *slash = strrchr(c->file, '/');
	struct ing_buf path;
	ing_buf_init(&path, 65536);
	if (c->o->pages != NULL)
		ing_buf_add_str(&path, c->o->pages);
	else
		ing_buf_printf(&path, "%.*spages", slash != NULL ? (int)(slash - c->file) + 1 : 0,
			c->file);
	size_t folder = path.len;
	for (size_t i = 0; i < ING_ARRAY_LEN(endings); i++) {
		char *name = ing_page_name(key, false);
		name[strlen(name) - strlen(".html")] = '\0';
		path.len = folder;
		if (ing_csv_is_url_kind(kind))
			ing_buf_printf(&path, "/%s%s", name, endings[i]);
		else
			ing_buf_printf(&path, "/%s-%s%s", kind->name, name, endings[i]);
		free(name);
		if (access(ing_buf_str(&path), F_OK) == 0)
			break;
	}
	return ing_buf_steal(&path);
}

static bool read_answer(struct csv *c, const struct ing_csv_kind *kind, const char *key,
	const char *path, struct ing_buf *answer, struct ing_error *err)
{
	json_t *q = json_object();
	ing_json_set_text(q, "kind", kind->name);
	ing_json_set_text(q, "key", key);
	ing_json_set_text(q, "path", path);
	char *question = ing_json_dump(q, NULL);
	json_decref(q);
	int rc = ing_ctl_helper_ask(c->helper, question, strlen(question), answer, err);
	free(question);
	return rc == 0;
}

static void test_saved(struct csv *c, const struct ing_csv_kind *kind, char *const *columns,
	const char *key, const char *path)
{
	struct ing_buf answer;
	struct ing_error err = {0};
	if (access(path, F_OK) != 0) {
		report(c, key, "there is no saved page %s", path);
		c->bad_rows++;
		return;
	}
	ing_buf_init(&answer, MAX_ANSWER_BYTES);
	if (!read_answer(c, kind, key, path, &answer, &err)) {
		report(c, key, "%s", err.msg);
		c->bad_rows++;
	} else {
		json_t *o = ing_json_parse(ing_buf_str(&answer), answer.len, &ing_json_own, NULL);
		compare(c, kind, columns, key, o);
		json_decref(o);
	}
	ing_buf_done(&answer);
}

/* By other verbs of this program, each in a process of its own. NULL: err says why. */
static json_t *ask_resource(
	const struct csv *c, const char *resource, const char *key, struct ing_error *err)
{
	const char *const args[] = {"publication", "--resource", resource, "--json", key, NULL};
	struct ing_buf printed;
	int code = 0;
	ing_buf_init(&printed, MAX_FILE_BYTES);
	int rc = ing_ctl_run_self(c->ctl, args, NULL, &printed, &code, err);
	if (rc == 0 && printed.len == 0)
		rc = ing_error_set(err, ING_FAIL_INVALID, "it cannot be asked about");
	json_t *o = rc == 0 ? ing_json_parse(ing_buf_str(&printed), printed.len, &ing_json_own, err)
			    : NULL;
	ing_buf_done(&printed);
	return o;
}

static bool save_page(const struct csv *c, const char *url, const char *path, struct ing_error *err)
{
	const char *const args[] = {"page", "save", "--out", path, url, NULL};
	struct ing_buf printed;
	int code = 0;
	ing_buf_init(&printed, MAX_ANSWER_BYTES);
	int rc = ing_ctl_run_self(c->ctl, args, NULL, &printed, &code, err);
	ing_buf_done(&printed);
	if (rc == 0 && code != ING_CTL_OK)
		rc = ing_error_set(err, ING_FAIL_INVALID, "the page cannot be fetched");
	return rc == 0;
}

static void test_live_page(
	struct csv *c, const struct ing_csv_kind *kind, char *const *columns, const char *key)
{
	struct ing_error err = {0};
	char dir[] = "/tmp/ingestctl-csv.XXXXXX";
	char path[sizeof(dir) + 16];
	if (mkdtemp(dir) == NULL) {
		report(c, key, "%s: %s", dir, strerror(errno));
		c->failed = true;
		return;
	}
	snprintf(path, sizeof(path), "%s/page.html", dir);
	if (save_page(c, key, path, &err)) {
		test_saved(c, kind, columns, key, path);
	} else {
		report(c, key, "%s", err.msg);
		c->bad_rows++;
	}
	(void)unlink(path);
	(void)rmdir(dir);
}

static void test_live(
	struct csv *c, const struct ing_csv_kind *kind, char *const *columns, const char *key)
{
	struct ing_error err = {0};
	if (ing_csv_is_url_kind(kind)) {
		test_live_page(c, kind, columns, key);
		return;
	}
	json_t *publication = ask_resource(c, kind->name, key, &err);
	json_t *o = publication != NULL ? ing_csv_of_publication(publication) : NULL;
	if (o != NULL) {
		compare(c, kind, columns, key, o);
	} else {
		report(c, key, "%s", err.msg);
		c->bad_rows++;
	}
	json_decref(o);
	json_decref(publication);
}

/* --- rows --- */

static const struct ing_csv_kind *kind_of(const struct csv *c, const char *row)
{
	const char *slash = strrchr(c->file, '/');
	char name[64];
	snprintf(name, sizeof(name), "%s", slash != NULL ? slash + 1 : c->file);
	char *dot = strrchr(name, '.');
	if (dot != NULL)
		*dot = '\0';
	const struct ing_csv_kind *kind =
		ing_csv_kind_of_name(c->o->kind != NULL ? c->o->kind : name);
	return kind != NULL ? kind : ing_csv_kind_of_row(row);
}

static void test_answer(struct csv *c, const struct ing_csv_kind *kind, char *const *columns)
{
	const char *key = columns[ing_csv_is_url_kind(kind) ? ing_csv_columns(kind) - 1 : 0];
	char *path = c->o->live ? NULL : saved_path(c, kind, key);
	if (path != NULL)
		test_saved(c, kind, columns, key, path);
	else
		test_live(c, kind, columns, key);
	free(path);
}

/* A row is bad once, however many of its answers are missing. */
static void test_answers(struct csv *c, const struct ing_csv_kind *kind, char *const *columns)
{
	size_t bad_rows = c->bad_rows;
	for (size_t i = 0; kind->answers[i] != NULL; i++) {
		char *own[] = {columns[0], columns[i + 1]};
		test_answer(c, ing_csv_kind_of_name(kind->answers[i]), own);
	}
	if (c->bad_rows > bad_rows)
		c->bad_rows = bad_rows + 1;
}

static void test_row(struct csv *c, char *row)
{
	char *columns[ING_CSV_MAX_COLUMNS];
	const struct ing_csv_kind *kind = kind_of(c, row);
	c->rows++;
	if (kind == NULL) {
		report(c, NULL,
			"of which kind this file is cannot be told by its name: use --kind");
		c->bad_rows++;
	} else if (!ing_csv_split(kind, row, columns)) {
		report(c, NULL, "not the %zu columns of %s", ing_csv_columns(kind), kind->name);
		c->bad_rows++;
	} else if (kind->answers != NULL) {
		test_answers(c, kind, columns);
	} else {
		test_answer(c, kind, columns);
	}
}

/* Without blanks at its ends, in place. */
static char *trimmed(char *s)
{
	s += strspn(s, " \t\r");
	for (size_t n = strlen(s); n > 0 && strchr(" \t\r", s[n - 1]) != NULL; n--)
		s[n - 1] = '\0';
	return s;
}

static void test_file(struct csv *c, const char *path)
{
	struct ing_buf line;
	c->file = path;
	c->line = 0;
	FILE *f = ing_ctl_open_input(VERB, path);
	if (f == NULL) {
		c->failed = true;
		return;
	}
	ing_buf_init(&line, ING_CSV_MAX_ROW_BYTES);
	while (ing_ctl_read_line(f, &line)) {
		c->line++;
		char *copy = ing_strdup(ing_buf_str(&line));
		char *row = trimmed(copy);
		if (line.failed) {
			report(c, NULL, "the line is over %d bytes", ING_CSV_MAX_ROW_BYTES);
			c->bad_rows++;
		} else if (c->line > 1 && row[0] != '\0' && row[0] != '#') {
			test_row(c, row);
		}
		free(copy);
	}
	c->failed |= ferror(f) != 0;
	ing_buf_done(&line);
	ing_ctl_close_input(f);
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_rules_csv(const struct ing_ctl *ctl, const struct ing_ctl_rules *rules,
	const struct ing_csv_options *o, char *const *files, size_t count)
{
	struct csv c = {.ctl = ctl, .o = o, .rules = rules->rules};
	if (o->kind != NULL && ing_csv_kind_of_name(o->kind) == NULL)
		return ing_ctl_fail(ING_CTL_USAGE, VERB, "--kind: there is no kind %s", o->kind);
	c.helper = ing_ctl_helper_new(read_row, &c, TIMEOUT_MS);
	for (size_t i = 0; i < count; i++)
		test_file(&c, files[i]);
	ing_ctl_helper_free(c.helper);
	printf("%zu row%s, %zu of them could not be tested, %zu mismatch%s\n", c.rows,
		ING_PLURAL_S(c.rows), c.bad_rows, c.mismatches, c.mismatches == 1 ? "" : "es");
	if (c.failed)
		return ING_CTL_ENVIRONMENT;
	return c.bad_rows + c.mismatches > 0 ? ING_CTL_NEGATIVE : ING_CTL_OK;
}
