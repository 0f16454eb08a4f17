/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * robots.txt: "agent LF URL LF file". What is asked twice is answered alike, a file without rules
 * for the agent forbids nothing, and the longest answer is bounded by the file.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/net/robots.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 50, .heap_kb = 20, .heap_byte = 10);

/* Cuts a line off the front. */
static char *take_line(const char **text, size_t *bytes)
{
	const char *end = memchr(*text, '\n', *bytes);
	size_t n = end != NULL ? (size_t)(end - *text) : *bytes;
	char *line = ing_strndup(*text, n);
	*text += n + (end != NULL);
	*bytes -= n + (end != NULL);
	return line;
}

void fuzz_target(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	char *agent = take_line(&text, &size);
	char *url = take_line(&text, &size);
	char *file = ing_alloc(size + 1); /* of the exact size, so that reading on is seen */
	memcpy(file, text, size);
	struct ing_robots_txt *r = ing_robots_txt_parse(file, size, agent);
	unsigned line = 0;
	bool allowed = ing_robots_txt_allows(r, url, &line);
	ing_must(allowed || line > 0);
	ing_must(line <= size + 1);
	ing_must(ing_robots_txt_allows(r, url, NULL) == allowed);
	ing_must(ing_robots_txt_allows(r, "http://h/robots.txt", NULL));
	ing_must(ing_robots_txt_crawl_delay_ms(r) <= INT32_MAX);
	ing_must(ing_robots_txt_bytes(r) <= 64 + size * 10);
	ing_robots_txt_free(r);
	free(file);
	free(agent);
	free(url);
}
