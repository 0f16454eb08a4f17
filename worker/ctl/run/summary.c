/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counters by name: of statuses, types and hosts. A summary that is there from a run before is asked for nothing but
 * how long it took: what was killed has not written its last numbers, but all its results.
 */
#include "worker/ctl/run/summary.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/hash.h"
#include "common/base/io.h"
#include "common/data/json.h"
#include "worker/deliver/deliver.h"
#include "worker/model/metrics.h"
#include "worker/model/request_facts.h"

#define TOP_HOSTS 20
#define MAX_SUMMARY_BYTES ((size_t)1 << 20)

struct counter {
	char *name;
	uint64_t results, hits, bytes;
	UT_hash_handle hh;
};

struct ing_run_summary {
	char *path, *warc_dir;
	struct counter *statuses, *types, *hosts;
	struct counter all;
	struct timespec started;
	uint64_t started_ms;
	int64_t earlier_ms; /* what the folder's runs before took */
	int64_t runs;       /* this one included */
};

static void count(struct counter **table, const char *name, const struct ing_result_facts *facts)
{
	struct counter *c = NULL;
	HASH_FIND_STR(*table, name, c);
	if (c == NULL) {
		c = ing_alloc(sizeof(*c));
		c->name = ing_strdup(name);
		HASH_ADD_KEYPTR(hh, *table, c->name, strlen(c->name), c);
	}
	c->results++;
	c->hits += facts->hit;
	c->bytes += facts->document_bytes;
}

static void free_table(struct counter *table)
{
	struct counter *c;
	struct counter *next;
	HASH_ITER (hh, table, c, next) {
		HASH_DEL(table, c);
		free(c->name);
		free(c);
	}
}

/* Most first; what is left by name. */
static int compare(const struct counter *a, const struct counter *b)
{
	if (a->results != b->results)
		return a->results > b->results ? -1 : 1;
	return strcmp(a->name, b->name);
}

static json_t *ratio(uint64_t part, uint64_t whole)
{
	return whole == 0 ? NULL : json_real((double)part / (double)whole);
}

static json_t *by_status(struct ing_run_summary *s)
{
	json_t *o = json_object();
	HASH_SORT(s->statuses, compare);
	for (const struct counter *c = s->statuses; c != NULL; c = c->hh.next)
		ing_json_set_count(o, c->name, c->results);
	return o;
}

static json_t *counts_of(const struct counter *c)
{
	json_t *o = json_object();
	ing_json_set_count(o, "results", c->results);
	ing_json_set_count(o, "hits", c->hits);
	ing_json_set_count(o, "document_bytes", c->bytes);
	return o;
}

static json_t *by_type(struct ing_run_summary *s)
{
	json_t *o = json_object();
	HASH_SORT(s->types, compare);
	for (const struct counter *c = s->types; c != NULL; c = c->hh.next)
		ing_json_set(o, c->name, counts_of(c));
	return o;
}

/* An insertion into a short list: no need to sort a hundred thousand hosts. */
static json_t *top_hosts(const struct ing_run_summary *s)
{
	const struct counter *top[TOP_HOSTS];
	size_t n = 0;
	json_t *list = json_array();
	for (const struct counter *c = s->hosts; c != NULL; c = c->hh.next) {
		size_t at = n;
		while (at > 0 && compare(c, top[at - 1]) < 0)
			at--;
		if (at == TOP_HOSTS)
			continue;
		n = ING_MIN(n + 1, (size_t)TOP_HOSTS);
		memmove(&top[at + 1], &top[at], (n - at - 1) * sizeof(top[0]));
		top[at] = c;
	}
	for (size_t i = 0; i < n; i++) {
		json_t *host = counts_of(top[i]);
		ing_json_set_text(host, "host", top[i]->name);
		ing_json_append(list, host);
	}
	return list;
}

/* Of the files in the folder; 0 without one. */
static uint64_t folder_bytes(const char *path)
{
	DIR *dir = opendir(path);
	uint64_t bytes = 0;
	if (dir == NULL)
		return 0;
	for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		struct stat st;
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	closedir(dir);
	return bytes;
}

static json_t *seconds(int64_t ms)
{
	return json_real((double)ms / 1000);
}

static json_t *cpu_seconds(const struct ing_metrics *m)
{
	json_t *o = json_object();
	ing_json_set(o, "process", json_real((double)m->process.cpu_us / 1e6));
	ing_json_set(o, "loop", json_real((double)m->process.loop_cpu_us / 1e6));
	ing_json_set(o, "archive", json_real((double)m->archive.cpu_ns / 1e9));
	ing_json_set(o, "examine", json_real((double)m->pool.cpu_us / 1e6));
	ing_json_set(o, "examine_pdf", json_real((double)m->pool.pdf_cpu_us / 1e6));
	return o;
}

static json_t *handshakes(const struct ing_metrics *m)
{
	json_t *o = json_object();
	ing_json_set_count(o, "handshakes", m->fetch.tls_handshakes);
	ing_json_set_count(o, "resumed", m->fetch.tls_resumed);
	return o;
}

static void set_run(
	const struct ing_run_summary *s, uint64_t results, const struct ing_metrics *m, json_t *o)
{
	char text[ING_ISO8601_BYTES];
	int64_t ms = (int64_t)(ing_now_ms() - s->started_ms);
	json_t *run = json_object();
	ing_format_iso8601(s->started, 3, text);
	ing_json_set_text(run, "started", text);
	ing_format_iso8601(ing_wall_now(), 3, text);
	ing_json_set_text(run, "updated", text);
	ing_json_set(run, "seconds", seconds(ms));
	ing_json_set_count(run, "results", results);
	ing_json_set(run, "results_per_second",
		ms <= 0 ? NULL : json_real((double)results * 1000 / (double)ms));
	ing_json_set(run, "cpu_seconds", cpu_seconds(m));
	ing_json_set(run, "tls", handshakes(m));
	ing_json_set(o, "run", run);
	ing_json_set_number(o, "runs", s->runs);
	ing_json_set(o, "seconds", seconds(s->earlier_ms + ms));
}

static json_t *input_of(const struct ing_run_counts *c)
{
	json_t *o = json_object();
	ing_json_set_count(o, "invalid", c->bad + c->was_bad);
	ing_json_set_count(o, "skipped", c->had_result);
	return o;
}

static json_t *describe(struct ing_run_summary *s, enum ing_summary_state state,
	const struct ing_run_counts *counts, const struct ing_metrics *metrics)
{
	static const char *const states[] = {"running", "complete", "interrupted", "failed"};
	json_t *o = json_object();
	ing_json_set_text(o, "state", states[state]);
	ing_json_set_count(o, "results", s->all.results);
	ing_json_set_count(o, "hits", s->all.hits);
	ing_json_set(o, "hit_ratio", ratio(s->all.hits, s->all.results));
	ing_json_set_count(o, "document_bytes", s->all.bytes);
	ing_json_set_count(o, "warc_bytes", folder_bytes(s->warc_dir));
	ing_json_set(o, "by_status", by_status(s));
	ing_json_set(o, "by_type", by_type(s));
	ing_json_set_count(o, "hosts", HASH_COUNT(s->hosts));
	ing_json_set(o, "top_hosts", top_hosts(s));
	ing_json_set(o, "input", input_of(counts));
	set_run(s, counts->results, metrics, o);
	return o;
}

/* What is missing or malformed counts as a folder of which nothing is known. */
static void read_times(struct ing_run_summary *s)
{
	char *text = ing_alloc(MAX_SUMMARY_BYTES);
	FILE *f = fopen(s->path, "re");
	size_t bytes = f != NULL ? fread(text, 1, MAX_SUMMARY_BYTES, f) : 0;
	json_t *o = ing_json_parse(text, bytes, &ing_json_own, NULL);
	double before = json_number_value(json_object_get(o, "seconds"));
	int64_t runs = ing_json_get_number(o, "runs");
	if (before > 0 && before < 1e12)
		s->earlier_ms = (int64_t)(before * 1000 + 0.5);
	if (runs > 0 && runs < INT32_MAX)
		s->runs += runs;
	json_decref(o);
	if (f != NULL)
		fclose(f);
	free(text);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_run_summary *ing_run_summary_new(const char *dir, const char *warc_dir)
{
	struct ing_run_summary *s = ing_alloc(sizeof(*s));
	struct ing_buf path;
	ing_buf_init(&path, 65536);
	ing_buf_printf(&path, "%s/summary.json", dir);
	*s = (struct ing_run_summary){.path = ing_buf_steal(&path),
		.warc_dir = ing_strdup(warc_dir),
		.started = ing_wall_now(),
		.started_ms = ing_now_ms(),
		.runs = 1};
	read_times(s);
	return s;
}

void ing_run_summary_free(struct ing_run_summary *s)
{
	if (s == NULL)
		return;
	free_table(s->statuses);
	free_table(s->types);
	free_table(s->hosts);
	free(s->warc_dir);
	free(s->path);
	free(s);
}

void ing_run_summary_add_earlier(struct ing_run_summary *s, const json_t *result)
{
	const json_t *request = json_object_get(result, "request");
	const char *type = ing_json_get_text(request, "ingest_type");
	const char *url = ing_json_get_text(request, "base_url");
	int64_t bytes = ing_json_get_number(json_object_get(result, "file_meta"), "size_bytes");
	const char *status = ing_json_get_text(result, "status");
	char host[ING_URL_HOST_BYTES] = "";
	if (url != NULL)
		ing_fact_host(url, host);
	const struct ing_result_facts facts = {.ingest_type = type != NULL ? type : "",
		.host = host,
		.hit = ing_json_get_true(result, "hit"),
		.document_bytes = bytes > 0 ? (uint64_t)bytes : 0};
	ing_run_summary_add(s, status != NULL ? status : "", &facts);
}

void ing_run_summary_add(
	struct ing_run_summary *s, const char *status, const struct ing_result_facts *facts)
{
	s->all.results++;
	s->all.hits += facts->hit;
	s->all.bytes += facts->document_bytes;
	count(&s->statuses, status, facts);
	count(&s->types, facts->ingest_type != NULL ? facts->ingest_type : "", facts);
	if (facts->host != NULL && facts->host[0] != '\0')
		count(&s->hosts, facts->host, facts);
}

int ing_run_summary_write(struct ing_run_summary *s, enum ing_summary_state state,
	const struct ing_run_counts *counts, const struct ing_metrics *metrics,
	struct ing_error *err)
{
	if (s == NULL)
		return 0;
	json_t *o = describe(s, state, counts, metrics);
	char *text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	ing_must(text != NULL);
	int rc = ing_replace_file(s->path, text, strlen(text), err);
	free(text);
	json_decref(o);
	return rc;
}
