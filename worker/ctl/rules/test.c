/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ingestctl rules test: reads each test's page as the examiners would, in a child with limits, and
 * compares what came with what the test says. A child reads the pages of many tests, as a fork for
 * each would take most of the time; of each it sends a line: whether the entry matched, and the
 * object that `ingestctl scrape` would print. They are compared here. When a child fails, its tests
 * are run again in a child each, so that the one at fault is known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/net/url_match.h"
#include "worker/ctl/child.h"
#include "worker/ctl/rules/rules.h"
#include "worker/ctl/rules/compare.h"
#include "worker/rules/host_rules.h"
#include "worker/rules/url_rules.h"
#include "worker/rules/rule_reader.h"
#include "worker/scrape/rules/rules.h"
#include "worker/scrape/scrape.h"

#define TIMEOUT_MS 30000
#define MAX_PAGE_BYTES ((size_t)16 << 20)
#define MAX_BATCH 100 /* tests read by one child, whose answers have to fit its ceiling */
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

struct batch {
	const struct ing_rules *rules;
	const struct ing_rule_test *tests[MAX_BATCH];
	size_t count;
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

static bool read_page(const struct ing_rule_test *test, struct ing_buf *page)
{
	struct ing_buf path;
	static char block[64 << 10];
	const char *slash = strrchr(test->file, '/');
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

/* Returns what came of the test's page, a new reference. */
static json_t *scrape_page(struct ing_scraper *s, const struct ing_rules *rules,
	const struct ing_rule_test *test, struct ing_buf *page)
{
	const struct ing_rule_page_text *text = &test->inline_page;
	struct ing_scraped found;
	ing_buf_clear(page);
	if (text->text == NULL && !read_page(test, page))
		return json_pack("{s:s}", "error", "the page cannot be read");
	const struct ing_scrape_input in = {
		.url = test->url,
		.data = text->text != NULL ? text->text : ing_buf_str(page),
		.bytes = text->text != NULL ? text->bytes : page->len,
		.xml = test->xml,
		.want = ING_SCRAPE_ALL,
		.page_type = ING_PART_TYPE_DOI,
	};
	ing_scrape(s, &in, &found);
	return json_pack("{s:b,s:o}", "matched", has_matched(rules, found.rule_hits, test->rule),
		"scraped", ing_scraped_json(&found, test->url));
}

static void scrape_batch(void *ctx, struct ing_buf *out)
{
	const struct batch *batch = ctx;
	struct ing_buf page;
	struct ing_scraper *s = ing_scraper_new(batch->rules);
	ing_buf_init(&page, MAX_PAGE_BYTES);
	for (size_t i = 0; i < batch->count; i++) {
		json_t *o = scrape_page(s, batch->rules, batch->tests[i], &page);
		if (o != NULL)
			ing_json_add(out, o);
		ing_buf_add_char(out, '\n');
		json_decref(o);
	}
	ing_buf_done(&page);
	ing_scraper_free(s);
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

static void print_place(const struct run *run, const struct ing_rule_test *test)
{
	printf("%s:%d: %s: %s: ", test->file, test->line, run->rules->names[test->rule],
		test->page != NULL ? test->page : "inline page");
}

ING_PRINTF(3, 4)
static void fail_test(struct run *run, const struct ing_rule_test *test, const char *fmt, ...)
{
	va_list ap;
	print_place(run, test);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	run->failed++;
}

struct mismatches {
	const struct run *run;
	const struct ing_rule_test *test;
};

static void print_mismatch(void *ctx, const struct ing_rule_difference *d)
{
	const struct mismatches *m = ctx;
	print_place(m->run, m->test);
	printf("%s: expected %s, came %s\n", d->path, d->wanted, d->came);
}

static void judge_answer(
	struct run *run, const struct ing_rule_test *test, const char *line, size_t bytes)
{
	struct mismatches m = {.run = run, .test = test};
	json_t *o = ing_json_parse(line, bytes, &ing_json_own, NULL);
	bool matched = ing_json_get_true(o, "matched");
	const json_t *scraped = json_object_get(o, "scraped");
	const json_t *error = json_object_get(o, "error");
	if (scraped == NULL)
		fail_test(run, test, "%s", error != NULL ? json_string_value(error) : "no answer");
	else if (matched != test->matches)
		fail_test(run, test, "expected that it %s, it %s",
			test->matches ? "matches" : "does not match",
			matched ? "matches" : "does not");
	else if (test->expect != NULL &&
		 !ing_rule_agrees(test->expect, scraped, print_mismatch, &m))
		run->failed++;
	json_decref(o);
}

static void judge_answers(struct run *run, const struct batch *batch, const struct ing_buf *answers)
{
	const char *line = ing_buf_str(answers);
	for (size_t i = 0; i < batch->count; i++) {
		size_t bytes = strcspn(line, "\n");
		judge_answer(run, batch->tests[i], line, bytes);
		line += line[bytes] == '\n' ? bytes + 1 : bytes;
	}
}

static void run_batch(struct run *run, struct batch *batch)
{
	struct ing_buf answers;
	struct ing_error err = {0};
	if (batch->count == 0)
		return;
	if (ing_ctl_child(scrape_batch, batch, TIMEOUT_MS, &answers, &err) == 0) {
		judge_answers(run, batch, &answers);
		ing_buf_done(&answers);
	} else if (batch->count == 1) {
		fail_test(run, batch->tests[0], "%s", err.msg);
	} else {
		for (size_t i = 0; i < batch->count; i++) {
			struct batch one = {
				.rules = batch->rules, .tests = {batch->tests[i]}, .count = 1};
			run_batch(run, &one);
		}
	}
	batch->count = 0;
}

static void run_tests(struct run *run)
{
	struct batch batch = {.rules = run->rules};
	for (const struct ing_rule_test *t = run->rules->tests; t != NULL; t = t->next) {
		if (!is_named(run, run->rules->names[t->rule]))
			continue;
		run->tests++;
		run->kinds[t->rule] |= t->matches ? HAS_MATCHING : HAS_OTHER;
		batch.tests[batch.count++] = t;
		if (batch.count == MAX_BATCH)
			run_batch(run, &batch);
	}
	run_batch(run, &batch);
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
	char name[ING_RULE_PATH_BYTES];
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
	run_tests(&run);
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
