/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage: bench-scrape RULES-FOLDER MILLISECONDS PAGE...
 *
 * CPU time of the scrape engine on each page, by stage, as one JSON line a page: microseconds of
 * this thread for one page, the mean over as many repetitions as fit into MILLISECONDS, after a
 * tenth of that to warm up. A page file is named HOST.html and is read as http://HOST/article/1.
 * Every stage begins with the page's bytes: lexbor alone, html with our limits between its
 * tokenizer and tree builder, tree with the copy into ours, and view with what ing_scrape() does
 * when nothing is wanted; the others want something of it. Beside it the memory that the page
 * takes.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <lexbor/html/html.h>

#include "common/base/buf.h"
#include "common/markup/html.h"
#include "tests/bench/heap.h"
#include "worker/model/limits.h"
#include "worker/scrape/scrape.h"

#define MAX_PAGE_BYTES ((size_t)16 << 20)

struct bench {
	const struct ing_rules *rules;
	struct ing_scraper *scraper;
	struct ing_html *html;
	struct ing_tree *tree;
	lxb_html_document_t *document;
	double limit_us;
};

static const struct ing_html_limits html_limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
	.names = ING_MAX_MARKUP_NAMES,
	.tree_bytes = ING_MAX_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

static void run_lexbor(struct bench *b, const struct ing_scrape_input *in)
{
	lxb_html_document_clean(b->document);
	if (lxb_html_document_parse(b->document, in->data, in->bytes) != LXB_STATUS_OK)
		exit(3);
}

static void run_html(struct bench *b, const struct ing_scrape_input *in)
{
	ing_html_parse(b->html, in->data, in->bytes, NULL, &html_limits);
}

static void run_tree(struct bench *b, const struct ing_scrape_input *in)
{
	ing_html_read(b->html, b->tree, in->data, in->bytes, NULL, &html_limits);
}

static void run_scrape(struct bench *b, const struct ing_scrape_input *in)
{
	struct ing_scraped found;
	ing_scrape(b->scraper, in, &found);
}

static const struct stage {
	const char *name;
	void (*run)(struct bench *b, const struct ing_scrape_input *in);
	unsigned want;
} stages[] = {
	{"lexbor", run_lexbor, 0},
	{"html", run_html, 0},
	{"tree", run_tree, 0},
	{"view", run_scrape, 0},
	{"biblio_links", run_scrape, ING_SCRAPE_BIBLIO | ING_SCRAPE_LINKS},
	{"rule", run_scrape, ING_SCRAPE_PUBLICATION},
	{"biblio_links_rule", run_scrape,
		ING_SCRAPE_BIBLIO | ING_SCRAPE_LINKS | ING_SCRAPE_PUBLICATION},
	{"examiner", run_scrape,
		ING_SCRAPE_BIBLIO | ING_SCRAPE_LINKS | ING_SCRAPE_WALLS | ING_SCRAPE_SCOPE},
	{"clean", run_scrape, ING_SCRAPE_WEBPAGE},
	{"all", run_scrape, ING_SCRAPE_ALL},
};

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static bool read_page(const char *path, struct ing_buf *to)
{
	ing_buf_init(to, MAX_PAGE_BYTES);
	FILE *f = fopen(path, "rb");
	if (f == NULL)
		return false;
	char block[65536];
	size_t n;
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		ing_buf_add(to, block, n);
	fclose(f);
	return !to->failed;
}

static double measure(struct bench *b, const struct stage *stage, const struct ing_scrape_input *in)
{
	double start = cpu_us();
	while (cpu_us() - start < b->limit_us / 10)
		stage->run(b, in);
	unsigned rounds = 0;
	start = cpu_us();
	double spent = 0;
	while (spent < b->limit_us) {
		stage->run(b, in);
		rounds++;
		spent = cpu_us() - start;
	}
	return spent / rounds;
}

/* What a fresh scraper has allocated while it holds the page, and at most while it reads it:
 * lexbor's memory included, all beyond what it has for an empty page. */
static void print_memory(const struct ing_rules *rules, const struct ing_scrape_input *in)
{
	size_t empty_bytes, held_bytes, peak_bytes;
	struct ing_scraped found;
	heap_count();
	struct ing_scraper *s = ing_scraper_new(rules);
	const struct ing_scrape_input empty = {.data = "", .want = 0};
	ing_scrape(s, &empty, &found);
	heap_stop(&empty_bytes, &peak_bytes);
	heap_count();
	ing_scrape(s, in, &found);
	heap_stop(&held_bytes, &peak_bytes);
	ing_scraper_free(s);
	printf(", \"empty_bytes\": %zu, \"held_bytes\": %zu, \"peak_bytes\": %zu}\n", empty_bytes,
		held_bytes, peak_bytes);
}

static void bench_page(struct bench *b, const char *path)
{
	struct ing_buf page;
	if (!read_page(path, &page)) {
		fprintf(stderr, "bench-scrape: %s cannot be read\n", path);
		exit(3);
	}
	const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	char url[300];
	snprintf(url, sizeof(url), "http://%.*s/article/1", (int)strcspn(name, "/") - 5, name);
	struct ing_scrape_input in = {.url = url,
		.data = ing_buf_str(&page),
		.bytes = page.len,
		.page_type = ING_PART_TYPE_DOI};
	printf("{\"page\": \"%s\", \"bytes\": %zu", name, page.len);
	for (size_t i = 0; i < ING_ARRAY_LEN(stages); i++) {
		in.want = stages[i].want;
		printf(", \"%s_us\": %.1f", stages[i].name, measure(b, &stages[i], &in));
	}
	in.want = ING_SCRAPE_ALL;
	print_memory(b->rules, &in);
	ing_buf_done(&page);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: bench-scrape RULES-FOLDER MILLISECONDS PAGE...\n");
		return 2;
	}
	/* As the examiner has it (worker/examine/examiner_main.c): memory is not given back between pages. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 8 << 20);
	struct ing_rule_files files;
	struct ing_report report;
	struct ing_error err = {0};
	ing_rule_files_init(&files);
	ing_report_init(&report);
	struct ing_rules *rules = NULL;
	if (ing_rule_files_read_dir(&files, argv[1], &err) == 0)
		rules = ing_rules_load(&files, &report);
	if (rules == NULL) {
		ing_report_to_error(&report, &err);
		fprintf(stderr, "bench-scrape: %s\n", err.msg);
		return 3;
	}
	struct bench b = {.rules = rules,
		.scraper = ing_scraper_new(rules),
		.html = ing_html_new(),
		.tree = ing_tree_new(),
		.document = lxb_html_document_create(),
		.limit_us = strtod(argv[2], NULL) * 1000};
	for (int i = 3; i < argc; i++)
		bench_page(&b, argv[i]);
	lxb_html_document_destroy(b.document);
	ing_tree_free(b.tree);
	ing_html_free(b.html);
	ing_scraper_free(b.scraper);
	ing_rules_free(rules);
	ing_rule_files_done(&files);
	ing_report_done(&report);
	return 0;
}
