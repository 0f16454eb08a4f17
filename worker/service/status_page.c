/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The page is made of the JSON and nothing else. What holds the worker comes first; then numbers from the requests that come to
 * the results that go. A member that is missing leaves its part out.
 */
#include "worker/service/status_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/data/base64.h"
#include "common/data/digest.h"
#include "common/markup/html_page.h"
#include "worker/model/flow.h"
#include "worker/service/duration.h"
#include "worker/service/status_page_files.h"

#define SILENT_MS 5000 /* of a loop that turns each second at least */
#define MINUTES 60
#define CHART_HEIGHT 100

static int64_t number(const json_t *o, const char *key)
{
	return ing_json_get_number(o, key);
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = ing_json_get_text(o, key);
	return s != NULL ? s : "";
}

static void add(struct ing_buf *out, const json_t *o, const char *key)
{
	ing_html_add(out, text(o, key));
}

static void add_count(struct ing_buf *out, int64_t n)
{
	ing_html_add_count(out, n > 0 ? (unsigned long long)n : 0);
}

static void add_time(struct ing_buf *out, int64_t ms)
{
	ing_duration_add(ms > 0 ? (uint64_t)ms : 0, out);
}

static void add_bytes(struct ing_buf *out, int64_t bytes)
{
	if (bytes < INT64_C(1) << 30)
		ing_buf_printf(out, "%" PRId64 " MiB", bytes >> 20);
	else
		ing_buf_printf(out, "%.1f GiB", (double)bytes / (1 << 30));
}

static int64_t percent(int64_t part, int64_t of)
{
	return of > 0 ? (part * 100 + of / 2) / of : 0;
}

/* --- what holds it --- */

static void add_head(struct ing_buf *out, const json_t *s)
{
	ing_buf_add_str(out, "<header><h1>");
	add(out, s, "instance");
	ing_buf_add_str(out, "</h1>\n<p><span class=\"state\">");
	add(out, s, "state");
	ing_buf_add_str(out, "</span> for ");
	add_time(out, number(s, "uptime_s") * 1000);
	ing_buf_add_str(out, " on ");
	add(out, s, "machine");
	ing_buf_printf(out, ", process %" PRId64 ", version ", number(s, "pid"));
	add(out, s, "version");
	ing_buf_add_str(out, ", rules ");
	add(out, s, "rules");
	ing_buf_add_str(out, "</p></header>\n");
}

static const char *tone_of(const json_t *s, const json_t *holds)
{
	if (json_array_size(holds) == 0)
		return strcmp(text(s, "state"), "running") == 0 ? "good" : "fair";
	return ing_json_get_true(json_array_get(holds, 0), "trouble") ? "bad" : "fair";
}

static void add_holds(struct ing_buf *out, const json_t *s)
{
	const json_t *holds = json_object_get(s, "holds");
	bool idle = number(json_object_get(s, "jobs"), "under_way") == 0;
	const char *tone = tone_of(s, holds);
	ing_buf_printf(out,
		"<section class=\"held %s\" id=\"held\"><h2 class=\"%s\">Held by</h2>\n", tone,
		tone);
	if (json_array_size(holds) == 0)
		ing_buf_printf(out, "<p>nothing%s</p>\n", idle ? "; it has no requests" : "");
	for (size_t i = 0; i < json_array_size(holds); i++) {
		ing_buf_add_str(out, "<p>");
		add(out, json_array_get(holds, i), "words");
		ing_buf_add_str(out, "</p>\n");
	}
	ing_buf_add_str(out, "</section>\n");
}

/* --- numbers --- */

static void begin_tile(struct ing_buf *out)
{
	ing_buf_add_str(out, "<div><b>");
}

static void end_tile(struct ing_buf *out, const char *name)
{
	ing_buf_printf(out, "</b><span>%s</span></div>\n", name);
}

static void add_rate_tile(struct ing_buf *out, double rate, const char *name)
{
	begin_tile(out);
	ing_buf_printf(out, rate < 10 ? "%.2f" : "%.0f", rate);
	end_tile(out, name);
}

static void add_count_tile(struct ing_buf *out, int64_t n, const char *name)
{
	begin_tile(out);
	add_count(out, n);
	end_tile(out, name);
}

static void add_share_tile(struct ing_buf *out, int64_t n, int64_t of, const char *name)
{
	begin_tile(out);
	add_count(out, n);
	ing_buf_add_str(out, " <small class=\"soft\">of ");
	add_count(out, of);
	ing_buf_add_str(out, "</small>");
	end_tile(out, name);
}

static void add_waiting_tile(
	struct ing_buf *out, int64_t n, const char *words, int64_t m, const char *more)
{
	begin_tile(out);
	add_count(out, n);
	ing_buf_printf(out, "</b><span>%s", words);
	add_count(out, m);
	ing_buf_printf(out, "%s</span></div>\n", more);
}

static void add_oldest_tile(struct ing_buf *out, const json_t *jobs)
{
	begin_tile(out);
	if (number(jobs, "under_way") > 0)
		add_time(out, number(jobs, "oldest_ms"));
	else
		ing_buf_add_str(out, "&ndash;");
	end_tile(out, "oldest request");
}

/* The folder that is in use and has the least. */
static void add_disk_tile(struct ing_buf *out, const json_t *disk)
{
	static const char *const keys[] = {
		"warc_free_bytes", "spool_free_bytes", "state_free_bytes", "store_free_bytes"};
	int64_t least = 0;
	for (size_t i = 0; i < ING_ARRAY_LEN(keys); i++) {
		int64_t n = number(disk, keys[i]);
		least = n > 0 && (least == 0 || n < least) ? n : least;
	}
	begin_tile(out);
	ing_buf_add_str(out, ing_json_get_true(disk, "low") ? "<span class=\"bad\">" : "<span>");
	add_bytes(out, least);
	ing_buf_add_str(out, "</span>");
	end_tile(out, "free on the fullest disk");
}

static void add_tiles(struct ing_buf *out, const json_t *s)
{
	const json_t *rates = json_object_get(s, "per_second");
	const json_t *jobs = json_object_get(s, "jobs");
	const json_t *gate = json_object_get(s, "gate");
	const json_t *examiners = json_object_get(s, "examiners");
	const json_t *grobid = json_object_get(s, "grobid");
	const json_t *loop = json_object_get(s, "loop");
	ing_buf_add_str(out, "<section class=\"tiles\">\n");
	add_rate_tile(out, real(rates, "results"), "results a second");
	add_rate_tile(out, real(rates, "hits"), "hits a second");
	add_rate_tile(out, real(rates, "parked"), "parked a second");
	add_share_tile(out, number(jobs, "under_way"), number(jobs, "most"), "requests under way");
	add_oldest_tile(out, jobs);
	add_count_tile(
		out, number(json_object_get(s, "intake"), "parked_lag"), "parked, to come back");
	add_share_tile(out, number(gate, "transfers"), number(gate, "concurrency"), "transfers");
	add_count_tile(out, number(gate, "waiting") + number(gate, "robots_waiting"),
		"wait for their host");
	add_share_tile(out, number(gate, "hosts_held"), number(gate, "hosts"), "hosts held");
	add_waiting_tile(out, number(examiners, "waiting"), "documents wait for ",
		number(examiners, "ready"), " examiners");
	if (ing_json_get_true(grobid, "away"))
		add_count_tile(out, number(grobid, "waiting"), "wait for GROBID, which is away");
	else if (json_is_object(grobid))
		add_waiting_tile(out, number(grobid, "waiting"), "wait for GROBID, which reads ",
			number(grobid, "working"), "");
	begin_tile(out);
	ing_buf_printf(out, "%" PRId64 " %%", number(loop, "percent"));
	end_tile(out, "of a core: the loop");
	add_disk_tile(out, json_object_get(s, "disk"));
	ing_buf_add_str(out, "</section>\n");
}

static void add_states(struct ing_buf *out, const json_t *s)
{
	json_t *states = json_object_get(json_object_get(s, "jobs"), "by_state");
	const char *state;
	const char *between = "Requests under way: ";
	json_t *n;
	ing_buf_add_str(out, "<p class=\"soft\">");
	json_object_foreach (states, state, n) {
		if (json_integer_value(n) <= 0)
			continue;
		ing_buf_add_str(out, between);
		add_count(out, (int64_t)json_integer_value(n));
		ing_buf_add_char(out, ' ');
		ing_html_add(out, state);
		between = ", ";
	}
	ing_buf_add_str(out, "</p>\n");
}

/* --- the hour --- */

static int64_t minute(const json_t *list, size_t i)
{
	return (int64_t)json_integer_value(json_array_get(list, i));
}

static void add_bar(struct ing_buf *out, size_t i, int64_t n, int64_t most, const char *kind)
{
	int64_t height = most > 0 ? n * CHART_HEIGHT / most : 0;
	ing_buf_printf(out,
		"<rect class=\"%s\" x=\"%zu\" y=\"%" PRId64 "\" width=\"8\" height=\"%" PRId64
		"\"/>",
		kind, i * 10 + 1, CHART_HEIGHT - height, height);
}

static void add_chart(struct ing_buf *out, const json_t *minutes)
{
	const json_t *results = json_object_get(minutes, "results");
	const json_t *hits = json_object_get(minutes, "hits");
	int64_t most = 0;
	for (size_t i = 0; i < MINUTES; i++)
		most = ING_MAX(most, minute(results, i));
	ing_buf_printf(out,
		"<svg class=\"chart\" viewBox=\"0 0 600 %d\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"results by minute, at most %" PRId64 "\">\n",
		CHART_HEIGHT, most);
	for (size_t i = 0; i < MINUTES; i++) {
		ing_buf_printf(out,
			"<g><title>%zu min ago: %" PRId64 " results, %" PRId64 " hits</title>",
			MINUTES - 1 - i, minute(results, i), minute(hits, i));
		add_bar(out, i, minute(results, i), most, "all");
		add_bar(out, i, minute(hits, i), most, "hits");
		ing_buf_add_str(out, "</g>\n");
	}
	ing_buf_printf(out,
		"</svg>\n<p class=\"axis\"><span>an hour ago</span><span>at most %" PRId64
		" a minute</span><span>now</span></p>\n",
		most);
}

static void add_hour(struct ing_buf *out, const json_t *s)
{
	const json_t *hour = json_object_get(s, "hour");
	if (!json_is_object(hour))
		return;
	ing_buf_add_str(out, "<section id=\"hour\"><h2>Last hour: ");
	add_count(out, number(hour, "results"));
	ing_buf_printf(out, " result%s, %" PRId64 " %% hits, ",
		ING_PLURAL_S(number(hour, "results")),
		percent(number(hour, "hits"), number(hour, "results")));
	add_count(out, number(hour, "parked"));
	ing_buf_add_str(out, " parked, ");
	add_count(out, number(hour, "dead"));
	ing_buf_add_str(out, " dead letters</h2>\n");
	add_chart(out, json_object_get(hour, "minutes"));
	add_states(out, s);
	ing_buf_add_str(out, "</section>\n");
}

struct counted {
	const char *slug;
	int64_t count;
};

static int compare_counts(const void *a, const void *b)
{
	const struct counted *x = a;
	const struct counted *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->slug, y->slug);
}

static void add_status_row(struct ing_buf *out, const struct counted *c, int64_t all, int64_t most)
{
	ing_buf_add_str(out, "<tr><td>");
	ing_html_add(out, c->slug);
	ing_buf_add_str(out, "</td><td class=\"n\">");
	add_count(out, c->count);
	ing_buf_printf(out,
		"</td><td class=\"n\">%" PRId64
		" %%</td><td><svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\"><rect class=\"%s\" width=\"%" PRId64
		"\" height=\"8\"/></svg></td></tr>\n",
		percent(c->count, all), strcmp(c->slug, "success") == 0 ? "hits" : "all",
		percent(c->count, most));
}

static void add_statuses(struct ing_buf *out, const json_t *s)
{
	const json_t *hour = json_object_get(s, "hour");
	json_t *by_status = json_object_get(hour, "by_status");
	size_t count = json_object_size(by_status), n = 0;
	const char *slug;
	json_t *value;
	if (count == 0)
		return;
	struct counted *list = ing_alloc(count * sizeof(*list));
	json_object_foreach (by_status, slug, value)
		list[n++] = (struct counted){slug, (int64_t)json_integer_value(value)};
	qsort(list, n, sizeof(*list), compare_counts);
	ing_buf_add_str(out,
		"<section id=\"statuses\"><h2>Results of the last hour by status</h2>\n<table><thead><tr>"
		"<th>Status</th><th class=\"n\">Results</th><th class=\"n\">Share</th><th></th></tr></thead>\n");
	for (size_t i = 0; i < n; i++)
		add_status_row(out, &list[i], number(hour, "results"), list[0].count);
	ing_buf_add_str(out, "</table></section>\n");
	free(list);
}

/* --- lanes and hosts --- */

static void add_number_cell(struct ing_buf *out, const char *name, int64_t n)
{
	ing_buf_printf(out, "<td class=\"n\" data-name=\"%s\">", name);
	add_count(out, n);
	ing_buf_add_str(out, "</td>");
}

static void add_lane(struct ing_buf *out, const json_t *lane)
{
	const char *not_read = text(lane, "not_read");
	ing_buf_add_str(out, "<tr><td class=\"host\">");
	add(out, lane, "lane");
	ing_buf_add_str(out, "</td>");
	if (json_is_integer(json_object_get(lane, "lag")))
		add_number_cell(out, "lag", number(lane, "lag"));
	else
		ing_buf_add_str(out, "<td class=\"n\" data-name=\"lag\">&ndash;</td>");
	add_number_cell(out, "under way", number(lane, "jobs"));
	add_number_cell(out, "results/min", number(lane, "results_minute"));
	ing_buf_printf(out, "<td class=\"why%s\">", not_read[0] != '\0' ? " fair" : "");
	ing_html_add(out, not_read[0] != '\0' ? ing_flow_pause_words(not_read) : "being read");
	ing_buf_add_str(out, " <span class=\"soft\">");
	add(out, lane, "topic");
	ing_buf_add_str(out, "</span></td></tr>\n");
}

static void add_lanes(struct ing_buf *out, const json_t *s)
{
	const json_t *lanes = json_object_get(s, "lanes");
	if (json_array_size(lanes) == 0)
		return;
	ing_buf_add_str(out,
		"<section id=\"lanes\"><h2>Lanes</h2>\n<table class=\"cards\"><thead><tr><th>Lane</th>"
		"<th class=\"n\">Lag</th><th class=\"n\">Under way</th><th class=\"n\">Results/min</th>"
		"<th></th></tr></thead>\n");
	for (size_t i = 0; i < json_array_size(lanes); i++)
		add_lane(out, json_array_get(lanes, i));
	ing_buf_add_str(out, "</table></section>\n");
}

static void add_order(struct ing_buf *out, const json_t *order)
{
	const char *why = text(order, "why");
	ing_buf_add_str(out, "<li><b>");
	add(out, order, "action");
	ing_buf_add_str(out, "</b> ");
	add(out, order, "kind");
	ing_buf_add_char(out, ' ');
	add(out, order, "target");
	ing_buf_add_str(out, why[0] != '\0' ? ": " : "");
	ing_html_add(out, why);
	ing_buf_add_str(out, " <span class=\"soft\">");
	add(out, order, "by");
	ing_buf_add_str(out, text(order, "by")[0] != '\0' ? ", " : "");
	add_time(out, number(order, "age_ms"));
	ing_buf_add_str(out, " ago</span></li>\n");
}

static void add_orders(struct ing_buf *out, const json_t *s)
{
	const json_t *orders = json_object_get(s, "orders");
	const json_t *first = json_object_get(orders, "first");
	if (json_array_size(first) == 0)
		return;
	ing_buf_add_str(out, "<section id=\"orders\"><h2>");
	add_count(out, number(orders, "count"));
	ing_buf_printf(out, " order%s of operators, which keep%s ",
		ING_PLURAL_S(number(orders, "count")), number(orders, "count") == 1 ? "s" : "");
	add_count(out, number(orders, "held"));
	ing_buf_add_str(
		out, " requests waiting (ingestctl resume)</h2>\n<ul class=\"failures\">\n");
	for (size_t i = 0; i < json_array_size(first); i++)
		add_order(out, json_array_get(first, i));
	ing_buf_add_str(out, "</ul></section>\n");
}

static void add_host(struct ing_buf *out, const json_t *host)
{
	ing_buf_add_str(out, "<tr><td class=\"host\">");
	add(out, host, "host");
	ing_buf_add_str(out, "</td>");
	add_number_cell(out, "waiting", number(host, "waiting") + number(host, "robots_waiting"));
	add_number_cell(out, "running", number(host, "holding"));
	ing_buf_add_str(out, "<td class=\"n t\" data-name=\"one each\">");
	add_time(out, number(host, "pace_ms"));
	ing_buf_add_str(out, "</td><td class=\"why\">");
	add(out, host, "why");
	ing_buf_add_str(out, "</td></tr>\n");
}

static void add_host_list(
	struct ing_buf *out, const json_t *list, const char *id, const char *title)
{
	if (json_array_size(list) == 0)
		return;
	ing_buf_printf(out,
		"<section id=\"%s\"><h2>%s</h2>\n<table class=\"cards\"><thead><tr><th>Host</th><th class=\"n\">Waiting</th>"
		"<th class=\"n\">Running</th><th class=\"n\">One each</th><th>Waits for</th></tr></thead>\n",
		id, title);
	for (size_t i = 0; i < json_array_size(list); i++)
		add_host(out, json_array_get(list, i));
	ing_buf_add_str(out, "</table></section>\n");
}

static void add_hosts(struct ing_buf *out, const json_t *s)
{
	const json_t *hosts = json_object_get(s, "hosts");
	add_host_list(out, json_object_get(hosts, "most_waiting"), "hosts",
		"Hosts with the most waiting requests");
	add_host_list(
		out, json_object_get(hosts, "longest_held"), "held-hosts", "Hosts held longest");
}

/* --- failures --- */

static void add_failure(struct ing_buf *out, const json_t *f)
{
	const char *at = text(f, "at");
	const char *clock = strchr(at, 'T');
	const char *url = text(f, "last_url");
	ing_buf_add_str(out, "<li><span class=\"soft\" title=\"");
	ing_html_add(out, at);
	ing_buf_add_str(out, "\">");
	ing_html_addn(
		out, clock != NULL ? clock + 1 : "", clock != NULL ? strnlen(clock + 1, 8) : 0);
	ing_buf_add_str(out, "</span> <b class=\"fair\">");
	add(out, f, "status");
	ing_buf_add_str(out, "</b> <span class=\"soft\">");
	add(out, f, "type");
	ing_buf_add_str(out, ", ");
	add(out, f, "lane");
	ing_buf_add_str(out, ", after ");
	add_time(out, number(f, "took_ms"));
	ing_buf_add_str(out, "</span><br>");
	url = url[0] != '\0' ? url : text(f, "url");
	ing_html_add_link(out, url, url);
	if (text(f, "message")[0] != '\0') {
		ing_buf_add_str(out, "<br>");
		add(out, f, "message");
	}
	ing_buf_add_str(out, "<br><code>ingestctl explain request ");
	add(out, f, "id");
	ing_buf_add_str(out, "</code></li>\n");
}

static void add_failures(struct ing_buf *out, const json_t *s)
{
	const json_t *list = json_object_get(s, "failures");
	if (json_array_size(list) == 0)
		return;
	ing_buf_add_str(out,
		"<section id=\"failures\"><h2>Last results that are no hits (times in UTC)</h2>\n"
		"<ul class=\"failures\">\n");
	for (size_t i = 0; i < json_array_size(list); i++)
		add_failure(out, json_array_get(list, i));
	ing_buf_add_str(out, "</ul></section>\n");
}

/* --- the frame --- */

static void begin_page(struct ing_buf *out, const json_t *status)
{
	ing_buf_add_str(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
	add(out, status, "instance");
	ing_buf_add_str(out, " &ndash; ingest-worker</title>\n<style>");
	ing_buf_add_str(out, ing_status_page_css);
	ing_buf_add_str(out,
		"</style>\n<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>\n"
		"</head>\n<body>\n<div id=\"page\">\n");
}

static void end_page(struct ing_buf *out, const json_t *status)
{
	ing_buf_add_str(out, "<footer>");
	add(out, status, "now");
	ing_buf_add_str(out,
		"; the same as data: <a href=\"/status.json\">/status.json</a>; numbers over time: "
		"<a href=\"/metrics\">/metrics</a></footer>\n</div>\n<script>");
	ing_buf_add_str(out, ing_status_page_js);
	ing_buf_add_str(out, "</script>\n</body>\n</html>\n");
}

static void add_silence(struct ing_buf *out, const json_t *status, uint64_t silence_ms)
{
	if (silence_ms >= SILENT_MS)
		ing_buf_printf(out,
			"<p class=\"stale\" role=\"alert\">The worker's loop has not turned for %" PRIu64
			" s: %s</p>\n",
			silence_ms / 1000,
			status != NULL ? "what stands below is what it said before."
				       : "it says nothing.");
	else if (status == NULL)
		ing_buf_add_str(
			out, "<p class=\"stale\">The worker has not said anything yet.</p>\n");
}

static void add_source(struct ing_buf *out, const char *kind, const char *source)
{
	struct ing_digests digests;
	char encoded[ING_BASE64_CHARS(sizeof(digests.sha256)) + 1];
	ing_digest(ING_DIGEST_SHA256, source, strlen(source), &digests);
	ing_base64_encode(digests.sha256, sizeof(digests.sha256), encoded);
	ing_buf_printf(out, "%s 'sha256-%s'; ", kind, encoded);
}

/* -------------------------------------------------------------------------------------------- */

void ing_status_page(const json_t *status, uint64_t silence_ms, struct ing_buf *out)
{
	begin_page(out, status);
	add_silence(out, status, silence_ms);
	if (status != NULL) {
		add_head(out, status);
		add_holds(out, status);
		add_tiles(out, status);
		add_hour(out, status);
		add_lanes(out, status);
		add_orders(out, status);
		add_hosts(out, status);
		add_statuses(out, status);
		add_failures(out, status);
	}
	end_page(out, status);
}

char *ing_status_page_policy(void)
{
	struct ing_buf out;
	ing_buf_init(&out, 1000);
	ing_buf_add_str(&out, "default-src 'none'; ");
	add_source(&out, "style-src", ing_status_page_css);
	add_source(&out, "script-src", ing_status_page_js);
	ing_buf_add_str(&out,
		"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'");
	return ing_buf_steal(&out);
}
