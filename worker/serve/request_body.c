/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A request is parsed twice, as part of the body and as the message that is made of it: what is produced is what was
 * checked.
 */
#include "worker/serve/request_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/json.h"
#include "worker/model/limits.h"
#include "worker/model/request.h"

#define MAX_ERRORS 20
/* A request has some dozen; a body of two megabytes of commas would keep the loop busy for longer than it should. */
#define MAX_VALUES 200000

struct reading {
	const struct ing_body_limits *limits;
	struct ing_body *body;
	json_t *errors;
	size_t index;
	long line; /* 0: there are none */
	bool failed;
};

/* "member: reason" of message, which begins with "request: " when it is about the whole. */
static void add_error(struct reading *r, const char *message)
{
	r->failed = true;
	if (json_array_size(r->errors) >= MAX_ERRORS)
		return;
	json_t *o = json_object();
	const char *colon = strstr(message, ": ");
	ing_json_set_count(o, "index", r->index);
	if (r->line > 0)
		ing_json_set_number(o, "line", r->line);
	bool whole = colon == NULL || strncmp(message, "request: ", 9) == 0;
	ing_json_set(
		o, "member", whole ? NULL : ing_json_textn(message, (size_t)(colon - message)));
	ing_json_set_text(o, "reason", colon == NULL ? message : colon + 2);
	ing_json_append(r->errors, o);
}

static json_t *parse_json(struct reading *r, const char *s, size_t bytes)
{
	static const struct ing_json_limits limits = {
		.depth = ING_MAX_REQUEST_DEPTH + 1, .values = MAX_VALUES, .flags = ING_JSON_NUL};
	struct ing_error err = {0};
	json_t *o = NULL;
	if (!ing_utf8_valid(s, bytes)) {
		add_error(r, "request: not valid UTF-8");
		return NULL;
	}
	o = ing_json_parse(s, bytes, &limits, &err);
	if (o == NULL) {
		ing_error_context(&err, "request");
		add_error(r, err.msg);
	}
	return o;
}

/* The message that o makes, checked. What it starts from is said in it: the identity of a request, by which its result is
 * told from others, has base_url as it was received. */
static void take_request(struct reading *r, json_t *o)
{
	struct ing_error err = {0};
	struct ing_request *request = NULL;
	size_t bytes;
	char *message = ing_json_dump(o, &bytes);
	int rc = ing_request_parse(message, bytes, &request, &err);
	if (rc == 0 && request->derived) {
		ing_json_set_text(o, "base_url", request->base_url);
		ing_request_free(ING_TAKE(request));
		free(message);
		message = ing_json_dump(o, &bytes);
		rc = ing_request_parse(message, bytes, &request, &err);
	}
	if (rc != 0) {
		add_error(r, err.msg);
		free(message);
		return;
	}
	struct ing_body *b = r->body;
	if ((b->count & (b->count - 1)) == 0)
		b->requests = ing_realloc(
			b->requests, ING_MAX(2 * b->count, (size_t)1) * sizeof(*b->requests));
	b->requests[b->count++] = (struct ing_body_request){request, message, bytes};
}

static void take_value(struct reading *r, json_t *o)
{
	if (r->index >= r->limits->max_requests) {
		if (r->index == r->limits->max_requests)
			add_error(r, "request: there are more than are taken at once");
	} else if (!json_is_object(o)) {
		add_error(r, "request: not a JSON object");
	} else {
		json_t *source = json_object_get(o, "ingest_request_source");
		if (r->limits->source != NULL && (source == NULL || json_is_null(source)))
			ing_json_set_text(o, "ingest_request_source", r->limits->source);
		take_request(r, o);
	}
	r->index++;
}

static void take_lines(struct reading *r, const char *data, size_t bytes)
{
	r->body->many = true;
	while (bytes > 0 && r->index <= r->limits->max_requests) {
		const char *end = memchr(data, '\n', bytes);
		size_t length = end != NULL ? (size_t)(end - data) : bytes;
		r->line++;
		size_t blank = strspn(data, " \t\r");
		if (blank < length) {
			json_t *o = parse_json(r, data, length);
			if (o != NULL)
				take_value(r, o);
			else
				r->index++;
			json_decref(o);
		}
		length += end != NULL;
		data += length;
		bytes -= length;
	}
}

/* An object, a newline, another object. */
static bool looks_like_lines(const char *data, size_t bytes)
{
	const char *end = memchr(data, '\n', bytes);
	if (end == NULL || data[0] != '{')
		return false;
	const char *next = end + strspn(end, " \t\r\n");
	while (end > data && strchr(" \t\r", end[-1]) != NULL)
		end--;
	return *next == '{' && end > data && end[-1] == '}';
}

static void take_whole(struct reading *r, const char *data, size_t bytes)
{
	json_t *o = parse_json(r, data, bytes);
	r->body->many = json_is_array(o);
	if (o != NULL && !json_is_array(o)) {
		take_value(r, o);
	} else if (o != NULL) {
		if (json_array_size(o) == 0)
			add_error(r, "request: an empty array");
		for (size_t i = 0; i < json_array_size(o) && i <= r->limits->max_requests; i++)
			take_value(r, json_array_get(o, i));
	}
	json_decref(o);
}

/* ------------------------------------------------------------------------------------------ */

int ing_body_parse(const char *data, size_t bytes, bool lines, const struct ing_body_limits *limits,
	struct ing_body *ret, struct json_t **ret_errors)
{
	struct reading r = {.limits = limits, .body = ret, .errors = json_array()};
	*ret = (struct ing_body){0};
	if (lines || looks_like_lines(data, bytes))
		take_lines(&r, data, bytes);
	else
		take_whole(&r, data, bytes);
	if (!r.failed && ret->count == 0)
		add_error(&r, "request: there is none");
	if (!r.failed) {
		json_decref(r.errors);
		return 0;
	}
	ing_body_done(ret);
	*ret_errors = r.errors;
	return -ING_FAIL_INVALID;
}

void ing_body_done(struct ing_body *b)
{
	for (size_t i = 0; i < b->count; i++) {
		ing_request_free(b->requests[i].request);
		free(b->requests[i].message);
	}
	free(b->requests);
	*b = (struct ing_body){0};
}
