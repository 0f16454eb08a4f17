/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * webpage: a page that is no article's, such as a tool's, or a PDF: its title, content, licence and
 * language by the rules of its site (webpages.yaml), with the names that PubFetcher gives them.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/artifact/artifact.h"
#include "worker/artifact/findings_json.h"

#define LEAST_USABLE_UNITS 50 /* of title and content together; PubFetcher's */

static const char *const mimetypes[] = {"text/html", "application/xhtml+xml", "application/xml",
	"text/xml", "text/plain", "application/pdf", NULL};

static void keep(struct ing_artifact *a, struct ing_findings *f)
{
	ing_webpage_found_done(&a->webpage);
	a->webpage = f->webpage;
	f->webpage = (struct ing_webpage_found){0};
}

static size_t count_units(const char *s)
{
	return s != NULL ? ing_utf8_utf16_units(s, strlen(s)) : 0;
}

/* Of the index's 14 digits. */
static void set_time(json_t *o, const char *dt, const char *name, const char *human_name)
{
	struct tm t = {0};
	char text[ING_ISO8601_BYTES];
	if (dt == NULL || sscanf(dt, "%4d%2d%2d%2d%2d%2d", &t.tm_year, &t.tm_mon, &t.tm_mday,
				  &t.tm_hour, &t.tm_min, &t.tm_sec) != 6)
		return;
	t.tm_year -= 1900;
	t.tm_mon -= 1;
	time_t s = timegm(&t);
	ing_format_iso8601((struct timespec){.tv_sec = s}, 0, text);
	ing_json_set_number(o, name, (int64_t)s * 1000);
	ing_json_set_text(o, human_name, text);
}

/* What the result says already of the way. */
static void add_way(const json_t *result, json_t *o)
{
	const json_t *hops = json_object_get(result, "hops");
	const json_t *terminal = json_object_get(result, "terminal");
	const char *type = ing_json_get_text(json_object_get(result, "cdx"), "mimetype");
	if (type != NULL && strcmp(type, "warc/revisit") == 0)
		type = ing_json_get_text(json_object_get(result, "file_meta"), "mimetype");
	ing_json_set_text(o, "startUrl", json_string_value(json_array_get(hops, 0)));
	ing_json_set_text(o, "finalUrl", ing_json_get_text(terminal, "terminal_url"));
	ing_json_set_text(o, "contentType", type);
	ing_json_set(
		o, "statusCode", ing_json_ref(json_object_get(terminal, "terminal_status_code")));
	const char *dt = ing_json_get_text(terminal, "terminal_dt");
	set_time(o, dt, "contentTime", "contentTimeHuman");
	set_time(o, dt, "fetchTime", "fetchTimeHuman");
	ing_json_set_number(o, "retryCounter", 0);
	ing_json_set_bool(o, "fetchException", false);
}

static void add_to_result(const struct ing_artifact *a, json_t *result)
{
	const struct ing_webpage_found *w = &a->webpage;
	size_t title = count_units(w->title);
	size_t content = count_units(w->content);
	bool usable = title + content >= LEAST_USABLE_UNITS;
	if (!w->read)
		return;
	json_t *o = json_object();
	add_way(result, o);
	ing_json_set(o, "title", ing_findings_text(w->title));
	ing_json_set_text(o, "content", w->content);
	ing_json_set(o, "license", ing_findings_text(w->license));
	ing_json_set(o, "language", ing_findings_text(w->language));
	ing_json_set_count(o, "titleLength", title);
	ing_json_set_count(o, "contentLength", content);
	ing_json_set_text(o, "rule", w->rule);
	ing_json_set_bool(o, "empty", title + content == 0);
	ing_json_set_bool(o, "usable", usable);
	ing_json_set_bool(o, "broken", false); /* only an answer of status 200 gets here */
	ing_json_set_bool(o, "final", usable && content > 0);
	ing_json_set(result, "webpage", o);
}

static bool shrink_result(json_t *result)
{
	json_t *o = json_object_get(result, "webpage");
	if (ing_json_get_text(o, "content") == NULL)
		return false;
	ing_json_set(o, "content", NULL);
	ing_json_set_bool(o, "content_dropped", true);
	return true;
}

static const struct ing_artifact_facts facts = {
	.keep = keep,
	.add_to_result = add_to_result,
	.shrink_result = shrink_result,
};

/* ---------------------------------------------------------------------------------------------- */

const struct ing_artifact_type ing_artifact_webpage = {
	.mimetypes = mimetypes,
	.accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
	.want = ING_WANT_WALLS | ING_WANT_WEBPAGE | ING_WANT_PDF,
	.link = ING_ARTIFACT_NO_LINK,
	.facts = &facts,
};
