/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * HTML by hand, every value through ing_html_add() or ing_html_add_link().
 */
#include "worker/serve/page.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/data/json.h"
#include "common/markup/html_page.h"
#include "worker/model/status.h"
#include "worker/serve/serve_priv.h"

#define MAX_PAGE_BYTES ((size_t)4 << 20)
#define MAX_HOPS 100
#define PAGE_WAIT_MS 0

static const char policy[] =
	"default-src 'none'; script-src 'self'; img-src data:; style-src 'self'; connect-src 'self'; "
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

static const struct {
	const char *name, *words;
} types[] = {
	{"pdf", "PDF"},
	{"html", "article in HTML"},
	{"xml", "article in XML"},
	{"component", "any file"},
	{"src", "source"},
	{"publication", "publication"},
	{"webpage", "web page"},
};

static void add_form(struct ing_buf *out, const struct ing_serve *s)
{
	ing_buf_add_str(out,
		"<form method=\"post\" action=\"/\">\n"
		"<label for=\"what\">URL or DOI</label>\n"
		"<input id=\"what\" name=\"what\" required maxlength=\"8192\" autocomplete=\"off\" "
		"spellcheck=\"false\" placeholder=\"https://… or 10.1234/…\">\n"
		"<label for=\"type\">What to look for</label>\n<select id=\"type\" name=\"type\">");
	for (size_t i = 0; i < ING_ARRAY_LEN(types); i++)
		ing_buf_printf(
			out, "<option value=\"%s\">%s</option>", types[i].name, types[i].words);
	ing_buf_add_str(out,
		"</select>\n<label class=\"check\"><input type=\"checkbox\" name=\"force\" value=\"1\"> "
		"fetch it again, whatever is known</label>\n");
	if (s->bearers != NULL)
		ing_buf_add_str(out,
			"<label for=\"token\">Token</label>\n<input id=\"token\" name=\"token\" "
			"type=\"password\" required autocomplete=\"off\">\n");
	ing_buf_add_str(out, "<button>Save</button>\n</form>\n");
}

static void begin_page(struct ing_buf *out, const struct ing_serve *s, bool waiting)
{
	ing_buf_init(out, MAX_PAGE_BYTES);
	ing_buf_add_str(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>Save a paper</title>\n"
		"<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/page.css\">\n");
	if (waiting)
		ing_buf_add_str(out, "<script src=\"/page.js\" defer></script>\n<noscript><meta "
				     "http-equiv=\"refresh\" content=\"5\"></noscript>\n");
	ing_buf_add_str(out, "</head>\n<body>\n<main>\n<h1><a href=\"/\">Save a paper</a></h1>\n");
	add_form(out, s);
}

static void end_page(struct ing_buf *out, struct ing_http_exchange *x, unsigned status)
{
	ing_buf_add_str(out, "</main>\n</body>\n</html>\n");
	if (out->failed) {
		ing_buf_clear(out);
		out->failed = false;
		ing_buf_add_str(out,
			"<!DOCTYPE html>\n<title>Too large</title>\n<p>The result is too "
			"large for a page.\n");
	}
	ing_answer_common(x);
	ing_http_add_header(x, "Content-Type", "text/html; charset=utf-8");
	ing_http_add_header(x, "Content-Security-Policy", policy);
	ing_http_add_textn(x, out->data, out->len);
	ing_buf_done(out);
	ing_http_answer(x, status);
}

static void add_note(struct ing_buf *out, const char *kind, const char *words)
{
	ing_buf_printf(out, "<p class=\"note %s\" role=\"status\">", kind);
	ing_html_add(out, words);
	ing_buf_add_str(out, "</p>\n");
}

/* --- a result --- */

static void begin_row(struct ing_buf *out, const char *name)
{
	ing_buf_printf(out, "<tr><th scope=\"row\">%s</th><td>", name);
}

static void end_row(struct ing_buf *out)
{
	ing_buf_add_str(out, "</td></tr>\n");
}

static void add_text_row(struct ing_buf *out, const char *name, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	begin_row(out, name);
	ing_html_add(out, text);
	end_row(out);
}

static void add_link_row(struct ing_buf *out, const char *name, const char *url)
{
	if (url == NULL || url[0] == '\0')
		return;
	begin_row(out, name);
	ing_html_add_link(out, url, url);
	end_row(out);
}

static void add_number_row(struct ing_buf *out, const char *name, const json_t *number)
{
	if (!json_is_integer(number) || json_integer_value(number) < 0)
		return;
	begin_row(out, name);
	ing_html_add_count(out, (unsigned long long)json_integer_value(number));
	end_row(out);
}

static void add_hops(struct ing_buf *out, const json_t *hops)
{
	if (json_array_size(hops) == 0)
		return;
	ing_buf_add_str(out, "<h2>The way</h2>\n<ol class=\"hops\">\n");
	for (size_t i = 0; i < json_array_size(hops) && i < MAX_HOPS; i++) {
		const char *url = json_string_value(json_array_get(hops, i));
		ing_buf_add_str(out, "<li>");
		if (url != NULL)
			ing_html_add_link(out, url, url);
		ing_buf_add_str(out, "</li>\n");
	}
	ing_buf_add_str(out, "</ol>\n");
}

static void add_terminal(struct ing_buf *out, const json_t *result)
{
	const json_t *t = json_object_get(result, "terminal");
	const json_t *file = json_object_get(result, "file_meta");
	const json_t *cdx = json_object_get(result, "cdx");
	if (!json_is_object(t) && !json_is_object(file))
		return;
	ing_buf_add_str(out, "<h2>Where it ended</h2>\n<table>\n");
	add_link_row(out, "URL", ing_json_get_text(t, "terminal_url"));
	add_number_row(out, "HTTP status", json_object_get(t, "terminal_status_code"));
	add_text_row(out, "captured", ing_json_get_text(t, "terminal_dt"));
	add_link_row(out, "in the archive",
		ing_json_get_text(json_object_get(t, "wayback"), "archive_url"));
	add_text_row(out, "type", ing_json_get_text(file, "mimetype"));
	add_number_row(out, "bytes", json_object_get(file, "size_bytes"));
	add_text_row(out, "SHA-1", ing_json_get_text(file, "sha1hex"));
	add_text_row(out, "WARC file", ing_json_get_text(cdx, "warc_path"));
	ing_buf_add_str(out, "</table>\n");
}

static const char *meaning_of(const char *slug)
{
	int status = slug != NULL ? ing_status_from_slug(slug) : -1;
	return status >= 0 ? ing_status_meaning((enum ing_status)status) : NULL;
}

static void add_result(struct ing_buf *out, const char *id, const json_t *result)
{
	const json_t *request = json_object_get(result, "request");
	const char *status = ing_json_get_text(result, "status");
	bool hit = ing_json_get_true(result, "hit");
	const char *meaning = meaning_of(status);
	ing_buf_printf(out,
		"<section id=\"result\" class=\"%s\">\n<h2>What became of it</h2>\n<p class=\"status\">",
		hit ? "hit" : "miss");
	ing_html_add(out, status);
	ing_buf_add_str(out, "</p>\n");
	if (meaning != NULL)
		add_note(out, hit ? "good" : "bad", meaning);
	ing_buf_add_str(out, "<table>\n");
	add_link_row(out, "asked for", ing_json_get_text(request, "base_url"));
	add_text_row(out, "as", ing_json_get_text(request, "ingest_type"));
	add_text_row(out, "message", ing_json_get_text(result, "error_message"));
	add_text_row(out, "stored", ing_json_get_text(result, "updated"));
	add_text_row(out, "asked again", ing_json_get_text(result, "next_try"));
	ing_buf_add_str(out, "</table>\n");
	add_hops(out, json_object_get(result, "hops"));
	add_terminal(out, result);
	ing_buf_printf(out,
		"<p><a href=\"/ingest/%s\">the whole result as JSON</a></p>\n</section>\n", id);
}

static void add_queued(struct ing_buf *out, const char *id)
{
	ing_buf_printf(out, "<section id=\"waiting\" data-id=\"%s\">\n", id);
	add_note(out, "wait", "It is in the queue. This page shows the result when it is there.");
	ing_buf_add_str(out, "</section>\n");
}

/* --- what was typed --- */

/* The DOI in it, borrowed, or NULL. */
static const char *doi_in(const char *text)
{
	static const char *const prefixes[] = {"doi:", "https://doi.org/", "http://doi.org/",
		"https://dx.doi.org/", "http://dx.doi.org/", "https://www.doi.org/"};
	for (size_t i = 0; i < ING_ARRAY_LEN(prefixes); i++) {
		size_t bytes = strlen(prefixes[i]);
		if (strncasecmp(text, prefixes[i], bytes) == 0) {
			text += bytes + strspn(text + bytes, " ");
			break;
		}
	}
	return strncmp(text, "10.", 3) == 0 && strchr(text, '/') != NULL ? text : NULL;
}

static char *request_of(const char *what, const char *type, bool force, size_t *ret_bytes)
{
	json_t *o = json_object();
	const char *doi = doi_in(what);
	ing_json_set_text(o, "ingest_type", type);
	if (doi != NULL) {
		json_t *ids = json_object();
		ing_json_set_text(ids, "doi", doi);
		ing_json_set(o, "ext_ids", ids);
	} else if (strstr(what, "://") == NULL) {
		struct ing_buf url;
		ing_buf_init(&url, 4 * ING_HTTP_URL_BYTES);
		ing_buf_printf(&url, "https://%s", what);
		ing_json_set_text(o, "base_url", ing_buf_str(&url));
		ing_buf_done(&url);
	} else {
		ing_json_set_text(o, "base_url", what);
	}
	if (force)
		ing_json_set_bool(o, "force_recrawl", true);
	char *text = ing_json_dump(o, ret_bytes);
	json_decref(o);
	return text;
}

static void answer_problem(
	struct ing_serve *s, struct ing_http_exchange *x, unsigned status, const char *words)
{
	struct ing_buf out;
	begin_page(&out, s, false);
	add_note(&out, "bad", words);
	end_page(&out, x, status);
}

static void trim(char *text)
{
	char *from = text + strspn(text, " \t\r\n");
	size_t bytes = strlen(from);
	while (bytes > 0 && strchr(" \t\r\n", from[bytes - 1]) != NULL)
		bytes--;
	memmove(text, from, bytes);
	text[bytes] = '\0';
}

static void ask(
	struct ing_serve *s, struct ing_http_exchange *x, char *what, const char *type, bool force)
{
	static const struct ing_body_limits limits = {1, "savepapernow-web"};
	struct ing_body body;
	json_t *errors;
	size_t bytes;
	trim(what);
	if (what[0] == '\0' || strlen(what) > ING_HTTP_URL_BYTES) {
		answer_problem(s, x, 400, "Give a URL or a DOI.");
		return;
	}
	char *request = request_of(what, type != NULL ? type : "pdf", force, &bytes);
	if (ing_body_parse(request, bytes, false, &limits, &body, &errors) == 0) {
		ing_serve_ask(s, x, &body, PAGE_WAIT_MS, true);
	} else {
		const char *reason = ing_json_get_text(json_array_get(errors, 0), "reason");
		answer_problem(s, x, 400, reason);
		json_decref(errors);
	}
	free(request);
}

/* ------------------------------------------------------------------------------------------ */

void ing_page_answer_json(struct ing_serve *s, struct ing_http_exchange *x, const char *id,
	const char *json, size_t bytes)
{
	struct ing_buf out;
	struct ing_error err = {0};
	json_t *answer = ing_json_parse(json, bytes, &ing_json_own, &err);
	const json_t *result = json_object_get(answer, "result");
	begin_page(&out, s, result == NULL);
	if (result != NULL)
		add_result(&out, id, result);
	else
		add_queued(&out, id);
	json_decref(answer);
	end_page(&out, x, 200);
}

void ing_page_answer_state(
	struct ing_serve *s, struct ing_http_exchange *x, const char *id, const char *state)
{
	struct ing_buf out;
	bool queued = strcmp(state, "queued") == 0;
	begin_page(&out, s, queued);
	if (queued)
		add_queued(&out, id);
	else if (strcmp(state, "done") == 0)
		add_note(&out, "good",
			"It has been answered. The result is not kept here any more.");
	else if (strcmp(state, "away") == 0)
		add_note(&out, "bad", "The database does not answer now. Try again in a minute.");
	else
		add_note(&out, "bad", "No such request is known.");
	end_page(&out, x, strcmp(state, "unknown") == 0 ? 404 : 200);
}

void ing_serve_page(struct ing_serve *s, struct ing_http_exchange *x)
{
	const char *id = ing_http_query(x, "id");
	const char *problem = ing_http_query(x, "problem");
	if (id != NULL) {
		ing_serve_look(s, x, id, 0, true);
		return;
	}
	if (problem != NULL && strcmp(problem, "away") == 0) {
		answer_problem(s, x, 503, "Requests cannot be taken now. Try again in a minute.");
		return;
	}
	struct ing_buf out;
	begin_page(&out, s, false);
	end_page(&out, x, 200);
}

void ing_serve_page_post(struct ing_serve *s, struct ing_http_exchange *x)
{
	char *token = ing_http_form_value(x, "token");
	char *what = ing_http_form_value(x, "what");
	char *type = ing_http_form_value(x, "type");
	char *force = ing_http_form_value(x, "force");
	if (s->bearers != NULL && (token == NULL || !ing_bearers_have(s->bearers, token)))
		answer_problem(s, x, 401, "The token is not valid.");
	else if (what == NULL)
		answer_problem(s, x, 400, "Give a URL or a DOI.");
	else if (ing_broker_why_not(s->broker) != NULL)
		answer_problem(s, x, 503, "Requests cannot be taken now. Try again in a minute.");
	else
		ask(s, x, what, type, force != NULL);
	free(token);
	free(what);
	free(type);
	free(force);
}
