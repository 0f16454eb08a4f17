/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage: bench-html MILLISECONDS PAGE...
 *
 * CPU time of the main text of each page, as one JSON line a page: microseconds of this thread for
 * parsing it and for choosing and writing its text once it is parsed, means over as many repetitions as
 * fit into MILLISECONDS each, after a tenth of that to warm up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/buf.h"
#include "common/markup/html.h"
#include "worker/document/text/main_text.h"
#include "worker/document/text/plain.h"
#include "worker/model/limits.h"

#define MAX_PAGE_BYTES ((size_t)16 << 20)

static const struct ing_html_limits limits = {
	.open_elements = ING_MAX_OPEN_ELEMENTS,
	.tag_attributes = ING_MAX_TAG_ATTRIBUTES,
	.names = ING_MAX_MARKUP_NAMES,
	.tree_bytes = ING_MAX_TREE_BYTES,
	.cpu_ms = ING_MAX_PAGE_CPU_MS,
};

struct bench {
	struct ing_html *html;
	struct ing_tree *tree;
	struct ing_main_text *main_text;
	struct ing_buf page, text;
};

static double cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static bool read_page(const char *path, struct ing_buf *to)
{
	char block[65536];
	size_t n;
	ing_buf_clear(to);
	FILE *f = fopen(path, "rbe");
	if (f == NULL)
		return false;
	while ((n = fread(block, 1, sizeof(block), f)) > 0)
		ing_buf_add(to, block, n);
	fclose(f);
	return !to->failed;
}

static void parse(struct bench *b)
{
	ing_html_read(b->html, b->tree, ing_buf_str(&b->page), b->page.len, NULL, &limits);
}

static void write_text(struct bench *b)
{
	ing_buf_clear(&b->text);
	ing_main_text_select(b->main_text, b->tree, NULL);
	ing_main_text_plain(b->main_text, b->tree, &b->text);
}

static double measure(struct bench *b, void (*step)(struct bench *b), double limit_us)
{
	double start = cpu_us();
	do
		step(b);
	while (cpu_us() - start < limit_us / 10);
	unsigned rounds = 0;
	double spent = 0;
	start = cpu_us();
	while (spent < limit_us) {
		step(b);
		rounds++;
		spent = cpu_us() - start;
	}
	return spent / rounds;
}

static void bench_page(struct bench *b, const char *path, double limit_us)
{
	if (!read_page(path, &b->page)) {
		fprintf(stderr, "bench-html: %s cannot be read\n", path);
		exit(3);
	}
	double parse_us = measure(b, parse, limit_us);
	double text_us = measure(b, write_text, limit_us);
	const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	printf("{\"page\": \"%s\", \"bytes\": %zu, \"text_bytes\": %zu, \"parse_us\": %.1f, \"text_us\": %.1f}\n",
		name, b->page.len, b->text.len, parse_us, text_us);
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: bench-html MILLISECONDS PAGE...\n");
		return 2;
	}
	struct bench b = {
		.html = ing_html_new(), .tree = ing_tree_new(), .main_text = ing_main_text_new()};
	ing_buf_init(&b.page, MAX_PAGE_BYTES);
	ing_buf_init(&b.text, MAX_PAGE_BYTES);
	for (int i = 2; i < argc; i++)
		bench_page(&b, argv[i], strtod(argv[1], NULL) * 1000);
	ing_buf_done(&b.page);
	ing_buf_done(&b.text);
	ing_main_text_free(b.main_text);
	ing_tree_free(b.tree);
	ing_html_free(b.html);
	return 0;
}
