/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl rules test: reads each test's page as the examiners would, in a child with limits, and
 * compares what came with what the test says. The child sends whether the entry matched and the
 * object that `ingestctl scrape` would print; it is compared here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/data/yaml.h"
#include "common/net/url_match.h"
#include "worker/ctl/child.h"
#include "worker/ctl/rules.h"
#include "worker/rules/host_rules.h"
#include "worker/rules/url_rules.h"
#include "worker/rules/rule_reader.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/scrape.h"

#define TIMEOUT_MS 30000
#define MAX_PAGE_BYTES ((size_t)16 << 20)
#define MAX_SHOWN_BYTES 200 /* of a value in a message */
#define MAX_PATH_BYTES 300  /* of a value's place in the object */
#define UNVERIFIED "unverified"

/* What the tests of an entry were about. */
enum { HAS_MATCHING = 1, HAS_OTHER = 2 };

struct run {
	const struct ing_rules *rules;
	unsigned char *kinds; /* of each rule: HAS_ bits */
	char *const *names;
	size_t name_count;
	size_t entries, tests, failed, supported, unverified, lacking;
};

struct task {
	const struct ing_rules *rules;
	const struct ing_rule_test *test;
	struct ing_buf page;
};

/* --- in the child --- */

static bool has_matched(
	const struct ing_rules *rules, const struct ing_rule_hits *hits, uint32_t entry)
{
	for (size_t i = 0; i < hits->count; i++) {
		const struct ing_rule_hit *hit = &hits->items[i];
		if ((hit->flags & ING_RULE_MATCHED) != 0 && hit->rule < rules->count &&
			rules->entries[hit->rule] == entry)
			return true;
	}
	return false;
}

static bool is_xml(const char *path)
{
	size_t bytes = strlen(path);
	return bytes > 4 && strcmp(path + bytes - 4, ".xml") == 0;
}

static void scrape_page(void *ctx, struct ing_buf *out)
{
	const struct task *task = ctx;
	const struct ing_scrape_input in = {
		.url = task->test->url,
		.data = ing_buf_str(&task->page),
		.bytes = task->page.len,
		.xml = is_xml(task->test->page),
		.want = ING_SCRAPE_ALL,
	};
	struct ing_scraped found;
	struct ing_scraper *s = ing_scraper_new(task->rules);
	ing_scrape(s, &in, &found);
	json_t *o = json_pack("{s:b,s:o}", "matched",
		has_matched(task->rules, found.rule_hits, task->test->rule), "scraped",
		ing_scraped_json(&found, task->test->url));
	if (o != NULL)
		ing_json_add(out, o);
	json_decref(o);
	ing_scraper_free(s);
}

/* --- comparing --- */

/* Where two values differ, and how. */
struct difference {
	char path[MAX_PATH_BYTES];
	char wanted[MAX_SHOWN_BYTES], came[MAX_SHOWN_BYTES];
};

static const char *text_of_json(const json_t *o, char *buf, size_t bytes)
{
	switch (json_typeof(o)) {
	case JSON_STRING:
		return json_string_value(o);
	case JSON_INTEGER:
		snprintf(buf, bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(o));
		return buf;
	case JSON_REAL:
		snprintf(buf, bytes, "%g", json_real_value(o));
		return buf;
	case JSON_TRUE:
		return "true";
	case JSON_FALSE:
		return "false";
	default:
		return NULL;
	}
}

static void record_difference(struct difference *d, const char *path,
	const struct ing_yaml_node *wanted, const json_t *came)
{
	char *text = came != NULL ? ing_json_dump(came, NULL) : NULL;
	snprintf(d->path, sizeof(d->path), "%s", path);
	if (wanted == NULL)
		snprintf(d->wanted, sizeof(d->wanted), "nothing more");
	else if (wanted->kind == ING_YAML_SCALAR)
		snprintf(d->wanted, sizeof(d->wanted), "%s",
			ing_yaml_is_null(wanted) ? "null" : wanted->text);
	else
		snprintf(d->wanted, sizeof(d->wanted), "%s of %zu", ing_yaml_kind_name(wanted),
			wanted->count);
	snprintf(d->came, sizeof(d->came), "%s", text != NULL ? text : "nothing");
	free(text);
}

/* Maps by the keys given, lists whole, scalars as text. The depth is bounded by YAML's. */
static bool agrees(const struct ing_yaml_node *wanted, const json_t *came, const char *path,
	struct difference *d)
{
	char buf[64];
	char below[MAX_PATH_BYTES];
	bool same = came != NULL;
	if (same && wanted->kind == ING_YAML_SCALAR) {
		const char *text = text_of_json(came, buf, sizeof(buf));
		same = ing_yaml_is_null(wanted) ? json_is_null(came)
						: text != NULL && strcmp(text, wanted->text) == 0;
	} else if (same && wanted->kind == ING_YAML_LIST) {
		same = json_is_array(came) && json_array_size(came) == wanted->count;
		size_t i = 0;
		for (const struct ing_yaml_node *n = wanted->first; same && n != NULL;
			n = n->next) {
			snprintf(below, sizeof(below), "%s[%zu]", path, i);
			if (!agrees(n, json_array_get(came, i++), below, d))
				return false;
		}
	} else if (same) {
		same = json_is_object(came);
		for (const struct ing_yaml_node *k = wanted->first; same && k != NULL;
			k = k->next) {
			snprintf(below, sizeof(below), "%s%s%s", path, *path != '\0' ? "." : "",
				k->text);
			if (!agrees(k->value, json_object_get(came, k->text), below, d))
				return false;
		}
	}
	if (!same)
		record_difference(d, path, wanted, came);
	return same;
}

/* --- running --- */

/* "links.yaml pdf/embed", its beginning "links.yaml", or its end "pdf/embed". */
static bool is_named(const struct run *run, const char *name)
{
	const char *space = strchr(name, ' ');
	size_t file_bytes = space != NULL ? (size_t)(space - name) : 0;
	for (size_t i = 0; i < run->name_count; i++) {
		const char *wanted = run->names[i];
		if (strcmp(name, wanted) == 0 || (space != NULL && strcmp(space + 1, wanted) == 0))
			return true;
		if (file_bytes > 0 && strlen(wanted) == file_bytes &&
			strncmp(name, wanted, file_bytes) == 0)
			return true;
	}
	return run->name_count == 0;
}

static bool read_page(const struct ing_rule_test *test, struct ing_buf *page)
{
	struct ing_buf path;
	static char block[64 << 10];
	const char *slash = strrchr(test->file, '/');
	ing_buf_init(page, MAX_PAGE_BYTES);
	ing_buf_init(&path, 16384);
	if (slash != NULL && test->page[0] != '/')
		ing_buf_add(&path, test->file, (size_t)(slash - test->file) + 1);
	ing_buf_add_str(&path, test->page);
	FILE *f = fopen(ing_buf_str(&path), "rbe");
	ing_buf_done(&path);
	if (f == NULL)
		return false;
	for (size_t n = fread(block, 1, sizeof(block), f); n > 0 && !page->failed;
		n = fread(block, 1, sizeof(block), f))
		ing_buf_add(page, block, n);
	bool good = !ferror(f) && !page->failed;
	fclose(f);
	return good;
}

ING_PRINTF(3, 4)
static void fail_test(struct run *run, const struct ing_rule_test *test, const char *fmt, ...)
{
	va_list ap;
	printf("%s:%d: %s: %s: ", test->file, test->line, run->rules->names[test->rule],
		test->page);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	run->failed++;
}

static void judge_answer(
	struct run *run, const struct ing_rule_test *test, const struct ing_buf *answer)
{
	struct difference d;
	json_t *o = ing_json_parse(ing_buf_str(answer), answer->len, &ing_json_own, NULL);
	bool matched = ing_json_get_true(o, "matched");
	const json_t *scraped = json_object_get(o, "scraped");
	if (scraped == NULL)
		fail_test(run, test, "no answer");
	else if (matched != test->matches)
		fail_test(run, test, "expected that it %s, it %s",
			test->matches ? "matches" : "does not match",
			matched ? "matches" : "does not");
	else if (test->expect != NULL && !agrees(test->expect, scraped, "", &d))
		fail_test(run, test, "%s: expected %s, came %s", d.path, d.wanted, d.came);
	json_decref(o);
}

static void run_test(struct run *run, const struct ing_rule_test *test)
{
	struct task task = {.rules = run->rules, .test = test};
	struct ing_buf answer;
	struct ing_error err = {0};
	run->tests++;
	run->kinds[test->rule] |= test->matches ? HAS_MATCHING : HAS_OTHER;
	if (!read_page(test, &task.page)) {
		fail_test(run, test, "the page cannot be read");
	} else if (ing_ctl_child(scrape_page, &task, TIMEOUT_MS, &answer, &err) != 0) {
		fail_test(run, test, "%s", err.msg);
	} else {
		judge_answer(run, test, &answer);
		ing_buf_done(&answer);
	}
	ing_buf_done(&task.page);
}

/* Is an entry one to be relied on? It says where it comes from, and its tests show both sides. */
static void count_entry(struct run *run, const char *source, unsigned kinds, const char *what)
{
	run->entries++;
	if (source == NULL || strncmp(source, UNVERIFIED, strlen(UNVERIFIED)) == 0) {
		run->unverified++;
	} else if (kinds == (HAS_MATCHING | HAS_OTHER)) {
		run->supported++;
	} else {
		printf("%s: has a source, but no test that it must %s\n", what,
			(kinds & HAS_MATCHING) == 0 ? "match" : "not match");
		run->lacking++;
	}
}

static void run_url_entry(struct run *run, const struct ing_url_entry *e)
{
	char name[MAX_PATH_BYTES];
	unsigned kinds = 0;
	const char *slash = strrchr(e->file, '/');
	snprintf(name, sizeof(name), "%s %s", slash != NULL ? slash + 1 : e->file, e->why);
	if (!is_named(run, name))
		return;
	for (const struct ing_url_test *t = e->tests; t != NULL; t = t->next) {
		struct ing_url_target *target = ing_url_target_new(t->url);
		bool matched = target != NULL && ing_url_matches(e->pattern, target);
		ing_url_target_free(target);
		run->tests++;
		kinds |= t->matches ? HAS_MATCHING : HAS_OTHER;
		if (matched == t->matches)
			continue;
		printf("%s:%d: %s: %s: expected that it %s, it %s\n", e->file, t->line, e->why,
			t->url, t->matches ? "matches" : "does not match",
			matched ? "matches" : "does not");
		run->failed++;
	}
	count_entry(run, e->source, kinds, name);
}

static void run_host_rule(struct run *run, const struct ing_host_rule *h)
{
	const struct ing_url_entry entry = {
		.file = h->file,
		.line = h->line,
		.why = h->host,
		.source = h->source,
		.pattern = h->pattern,
		.tests = h->tests,
	};
	run_url_entry(run, &entry);
}

static int finish(struct run *run)
{
	if (run->entries == 0 && run->name_count > 0)
		return ing_ctl_fail(ING_CTL_USAGE, "rules test", "no such entry");
	printf("%zu entr%s, %zu test%s, %zu failed; %zu supported, %zu unverified", run->entries,
		run->entries == 1 ? "y" : "ies", run->tests, ING_PLURAL_S(run->tests), run->failed,
		run->supported, run->unverified);
	if (run->lacking > 0)
		printf(", %zu lack%s tests", run->lacking, run->lacking == 1 ? "s" : "");
	putchar('\n');
	return run->failed + run->lacking > 0 ? ING_CTL_NEGATIVE : ING_CTL_OK;
}

/* -------------------------------------------------------------------------------------------- */

int ing_ctl_rules_test(const struct ing_ctl_rules *r, char *const *names, size_t count)
{
	const struct ing_rules *rules = r->rules;
	struct run run = {.rules = rules,
		.kinds = ing_alloc(rules->count + 1),
		.names = names,
		.name_count = count};
	for (const struct ing_rule_test *t = rules->tests; t != NULL; t = t->next) {
		if (is_named(&run, rules->names[t->rule]))
			run_test(&run, t);
	}
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->entries[i] == i && is_named(&run, rules->names[i]))
			count_entry(&run, rules->sources[i], run.kinds[i], rules->names[i]);
	}
	for (const struct ing_url_entry *e = ing_url_rules_entries(r->urls); e != NULL; e = e->next)
		run_url_entry(&run, e);
	for (const struct ing_host_rule *h = ing_host_rules_entries(r->hosts); h != NULL;
		h = h->next)
		run_host_rule(&run, h);
	int code = finish(&run);
	free(run.kinds);
	return code;
}
