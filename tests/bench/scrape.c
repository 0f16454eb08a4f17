/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * usage: bench-scrape RULES-FOLDER MILLISECONDS PAGE...
 *
 * CPU time of the scrape engine on each page, by stage, as one JSON line a page: microseconds of
 * this thread for one page, the mean over as many repetitions as fit into MILLISECONDS, after a
 * tenth of that to warm up. A page file is named HOST.html and is read as http://HOST/article/1.
 * Beside it the memory that the page occupies while it is held.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "worker/scrape/scrape.h"

#define MAX_PAGE_BYTES ((size_t)16 << 20)

static const struct {
	const char *name;
	unsigned want;
} stages[] = {
	{"parse", 0},
	{"biblio_links", ING_SCRAPE_BIBLIO | ING_SCRAPE_LINKS},
	{"rule", ING_SCRAPE_PUBLICATION},
	{"biblio_links_rule", ING_SCRAPE_BIBLIO | ING_SCRAPE_LINKS | ING_SCRAPE_PUBLICATION},
	{"worker", ING_SCRAPE_BIBLIO | ING_SCRAPE_LINKS | ING_SCRAPE_WALLS | ING_SCRAPE_SCOPE},
	{"clean", ING_SCRAPE_WEBPAGE},
	{"all", ING_SCRAPE_ALL},
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

static double measure(struct ing_scraper *s, const struct ing_scrape_input *in, double limit_us)
{
	struct ing_scraped found;
	double start = cpu_us();
	while (cpu_us() - start < limit_us / 10)
		ing_scrape(s, in, &found);
	unsigned rounds = 0;
	start = cpu_us();
	double spent = 0;
	while (spent < limit_us) {
		ing_scrape(s, in, &found);
		rounds++;
		spent = cpu_us() - start;
	}
	return spent / rounds;
}

/* What a fresh scraper has allocated while it holds the page. */
static size_t held_bytes(const struct ing_rules *rules, const struct ing_scrape_input *in)
{
	struct ing_scraped found;
	struct ing_scraper *s = ing_scraper_new(rules);
	const struct ing_scrape_input empty = {.data = "", .want = 0};
	ing_scrape(s, &empty, &found);
	struct mallinfo2 before = mallinfo2();
	ing_scrape(s, in, &found);
	struct mallinfo2 after = mallinfo2();
	ing_scraper_free(s);
	return after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
}

static void bench_page(
	struct ing_scraper *s, const struct ing_rules *rules, const char *path, double limit_us)
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
		printf(", \"%s_us\": %.1f", stages[i].name, measure(s, &in, limit_us));
	}
	in.want = ING_SCRAPE_ALL;
	printf(", \"held_bytes\": %zu}\n", held_bytes(rules, &in));
	ing_buf_done(&page);
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fprintf(stderr, "usage: bench-scrape RULES-FOLDER MILLISECONDS PAGE...\n");
		return 2;
	}
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
	struct ing_scraper *s = ing_scraper_new(rules);
	for (int i = 3; i < argc; i++)
		bench_page(s, rules, argv[i], strtod(argv[2], NULL) * 1000);
	ing_scraper_free(s);
	ing_rules_free(rules);
	ing_rule_files_done(&files);
	ing_report_done(&report);
	return 0;
}
