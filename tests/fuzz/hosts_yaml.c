/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as hosts.yaml. What is refused comes with words; what loads keeps its bounds, and each
 * entry is found again under its own name. The bytes are a block's host and a name asked for, too.
 */
#include "tests/fuzz/target.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/report.h"
#include "common/net/url.h"
#include "common/net/url_match.h"
#include "worker/rules/host_rules.h"
#include "worker/rules/rule_reader.h"
#include "worker/rules/rule_files.h"

FUZZ_BUDGET(.cpu_us = 1000, .cpu_byte_ns = 500, .heap_kb = 200, .heap_byte = 200);

static void use(const struct ing_host_rules *r)
{
	char name[ING_URL_HOST_BYTES + 6];
	size_t count = 0;
	for (const struct ing_host_rule *h = ing_host_rules_entries(r); h != NULL; h = h->next) {
		count++;
		ing_must(h->why[0] != '\0' && h->line > 0 && h->file != NULL);
		ing_must(h->delay_ms <= 3600000 && h->concurrency >= 1 && h->concurrency <= 1000);
		const char *host = h->host + (h->host[0] == '.');
		/* "www." and a closing dot go once, and a host may have had two of either. */
		snprintf(
			name, sizeof(name), "%s%s.", strchr(host, '.') != NULL ? "www." : "", host);
		if (strlen(name) >= ING_URL_HOST_BYTES)
			continue;
		const struct ing_host_rule *found = ing_host_rules_find(r, name);
		ing_must(found == h || h->host[0] == '.'); /* its own entry goes before ".NAME" */
		ing_must(found != NULL && found->pattern != NULL);
		for (const struct ing_url_test *t = h->tests; t != NULL; t = t->next)
			ing_url_target_free(ing_url_target_new(t->url));
	}
	ing_must(count == ing_host_rules_count(r));
}

static void load(const uint8_t *data, size_t size)
{
	struct ing_rule_files files;
	struct ing_report report;
	struct ing_host_rules *r = NULL;
	ing_rule_files_init(&files);
	ing_report_init(&report);
	files.items[0] = (struct ing_rule_file){.kind = ING_RULES_HOSTS,
		.path = ing_strdup("hosts.yaml"),
		.text = ing_strndup((const char *)data, size),
		.bytes = size};
	files.count = 1;
	int rc = ing_host_rules_load_files(&files, &r, &report);
	ing_must((rc == 0) == (report.errors == 0) && (rc == 0) == (r != NULL));
	for (size_t i = 0; i < report.count; i++)
		ing_must(report.lines[i].text[0] != '\0' && report.lines[i].line >= 0);
	if (r != NULL)
		use(r);
	ing_host_rules_free(r);
	ing_report_done(&report);
	ing_rule_files_done(&files);
}

static void block(const uint8_t *data, size_t size)
{
	char *text = ing_strndup((const char *)data, size);
	struct ing_blocked_hosts *b = ing_blocked_hosts_new();
	(void)ing_blocked_hosts_add(b, text, "why");
	(void)ing_blocked_hosts_find(b, text);
	ing_must(!ing_blocked_hosts_add(b, text, "why")); /* no host, or there already */
	ing_blocked_hosts_free(b);
	free(text);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	if (size == 0)
		return;
	load(data, size);
	block(data, size);
}
