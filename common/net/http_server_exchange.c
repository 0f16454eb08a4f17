/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One request and its answer: what its head says, what is refused of heads, and the parts of an answer. The parts of a
 * body are handed to the kernel where they are, so that an answer that a thousand clients wait for is in memory once.
 */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/utf8.h"
#include "common/net/http_server_priv.h"

#define MAX_FORM_BYTES ((size_t)1 << 20)

/* Of the answer, until libmicrohttpd has sent it. */
struct sent_parts {
	size_t count;
	struct ing_blob *parts[];
};

static void free_sent(void *cls)
{
	struct sent_parts *sent = cls;
	for (size_t i = 0; i < sent->count; i++)
		ing_blob_unref(sent->parts[i]);
	free(sent);
}

static void add_part(struct ing_http_exchange *x, struct ing_blob *b)
{
	if (x->part_count == x->part_room) {
		x->part_room = ING_MAX(2 * x->part_room, (size_t)4);
		x->parts = ing_realloc(x->parts, x->part_room * sizeof(struct ing_blob *));
	}
	x->parts[x->part_count++] = b;
}

static void end_text(struct ing_http_exchange *x)
{
	size_t bytes = x->text.len;
	if (bytes > 0)
		add_part(x, ing_blob_new(ing_buf_steal(&x->text), bytes));
}

/* What is looked at before anybody acts on a head. */
struct head {
	unsigned lengths, codings, hosts;
	bool other_coding, nul, bad_length;
};

static enum MHD_Result look_at(void *cls, enum MHD_ValueKind kind, const char *key,
	size_t key_bytes, const char *value, size_t value_bytes)
{
	struct head *h = cls;
	if (memchr(key, '\0', key_bytes) != NULL ||
		(value != NULL && memchr(value, '\0', value_bytes) != NULL))
		h->nul = true;
	if (kind != MHD_HEADER_KIND || value == NULL)
		return MHD_YES;
	if (strcasecmp(key, "Content-Length") == 0) {
		h->lengths++;
		h->bad_length |= value_bytes == 0 || strspn(value, "0123456789") != value_bytes;
	} else if (strcasecmp(key, "Transfer-Encoding") == 0) {
		h->codings++;
		h->other_coding |= strcasecmp(value, "chunked") != 0;
	} else if (strcasecmp(key, "Host") == 0) {
		h->hosts++;
	}
	return MHD_YES;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* application/x-www-form-urlencoded. */
static char *decode_form(const char *s, size_t bytes)
{
	char *out = ing_alloc(bytes + 1);
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		int high = s[i] == '%' && i + 2 < bytes ? hex_digit(s[i + 1]) : -1;
		int low = high >= 0 ? hex_digit(s[i + 2]) : -1;
		out[n++] = s[i] == '+' ? ' ' : s[i];
		if (low < 0)
			continue;
		out[n - 1] = (char)(high * 16 + low);
		i += 2;
	}
	char *clean = ing_utf8_clean(out, n, NULL);
	free(out);
	ing_must(clean != NULL);
	return clean;
}

/* ------------------------------------------------------------------------------------------ */

struct ing_blob *ing_blob_new(char *data, size_t bytes)
{
	struct ing_blob *b = ing_alloc(sizeof(*b));
	*b = (struct ing_blob){.refs = 1, .bytes = bytes, .data = data};
	return b;
}

struct ing_blob *ing_blob_ref(struct ing_blob *b)
{
	if (b != NULL)
		b->refs++;
	return b;
}

void ing_blob_unref(struct ing_blob *b)
{
	if (b == NULL || --b->refs > 0)
		return;
	if (b->freed != NULL)
		b->freed(b->ctx, b);
	free(b->data);
	free(b);
}

const char *ing_http_refusal(struct ing_http_exchange *x)
{
	struct head h = {0};
	MHD_get_connection_values_n(x->mhd, MHD_HEADER_KIND, look_at, &h);
	MHD_get_connection_values_n(x->mhd, MHD_GET_ARGUMENT_KIND, look_at, &h);
	if (h.lengths > 1 || h.codings > 1 || (h.lengths > 0 && h.codings > 0))
		return "the length of the body is said more than once";
	if (h.bad_length)
		return "Content-Length: not a number";
	if (h.other_coding)
		return "Transfer-Encoding: chunked is all that is understood";
	if (h.hosts > 1)
		return "Host: said more than once";
	if (h.nul || x->connection->nul)
		return "a NUL in the request";
	if (x->path[0] != '/')
		return "the request target is not a path";
	return NULL;
}

struct MHD_Response *ing_http_response(struct ing_http_exchange *x, bool last)
{
	end_text(x);
	struct sent_parts *sent = ing_alloc(
		sizeof(*sent) + ING_MAX(x->part_count, (size_t)1) * sizeof(struct ing_blob *));
	struct MHD_IoVec *vec = ing_alloc(ING_MAX(x->part_count, (size_t)1) * sizeof(*vec));
	for (size_t i = 0; i < x->part_count; i++) {
		sent->parts[i] = x->parts[i];
		vec[i] = (struct MHD_IoVec){x->parts[i]->data, x->parts[i]->bytes};
	}
	sent->count = x->part_count;
	x->part_count = 0;
	struct MHD_Response *r =
		MHD_create_response_from_iovec(vec, (unsigned)sent->count, free_sent, sent);
	free(vec);
	ing_must(r != NULL);
	for (unsigned i = 0; i < x->header_count; i++)
		MHD_add_response_header(r, x->headers[i].name, x->headers[i].value);
	if (last)
		MHD_add_response_header(r, "Connection", "close");
	return r;
}

void ing_http_exchange_free(struct ing_http_exchange *x)
{
	if (x == NULL)
		return;
	for (size_t i = 0; i < x->part_count; i++)
		ing_blob_unref(x->parts[i]);
	free(x->parts);
	for (unsigned i = 0; i < x->header_count; i++)
		free(x->headers[i].value);
	ing_buf_done(&x->text);
	ing_buf_done(&x->body);
	free(x->path);
	free(x);
}

const char *ing_http_method(const struct ing_http_exchange *x)
{
	return x->method;
}

const char *ing_http_path(const struct ing_http_exchange *x)
{
	return x->path;
}

const char *ing_http_header(const struct ing_http_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

const char *ing_http_query(const struct ing_http_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->mhd, MHD_GET_ARGUMENT_KIND, name);
}

char *ing_http_form_value(const struct ing_http_exchange *x, const char *name)
{
	const char *s = ing_buf_str(&x->body);
	size_t left = ING_MIN(x->body.len, MAX_FORM_BYTES);
	size_t name_bytes = strlen(name);
	while (left > 0) {
		const char *end = memchr(s, '&', left);
		size_t bytes = end != NULL ? (size_t)(end - s) : left;
		if (bytes > name_bytes && memcmp(s, name, name_bytes) == 0 && s[name_bytes] == '=')
			return decode_form(s + name_bytes + 1, bytes - name_bytes - 1);
		s += ING_MIN(bytes + 1, left);
		left -= ING_MIN(bytes + 1, left);
	}
	return NULL;
}

const char *ing_http_body(const struct ing_http_exchange *x, size_t *ret_bytes)
{
	*ret_bytes = x->body.len;
	return ing_buf_str(&x->body);
}

unsigned ing_http_mark(const struct ing_http_exchange *x)
{
	return x->connection->mark;
}

const struct ing_addr *ing_http_peer(const struct ing_http_exchange *x)
{
	return &x->connection->peer;
}

void **ing_http_slot(struct ing_http_exchange *x)
{
	return &x->slot;
}

void ing_http_add_header(struct ing_http_exchange *x, const char *name, const char *value)
{
	ing_must(x->header_count < ING_HTTP_HEADERS);
	x->headers[x->header_count].name = name;
	x->headers[x->header_count++].value = ing_strdup(value);
}

void ing_http_add_text(struct ing_http_exchange *x, const char *text)
{
	ing_http_add_textn(x, text, strlen(text));
}

void ing_http_add_textn(struct ing_http_exchange *x, const char *text, size_t bytes)
{
	ing_must(ing_buf_add(&x->text, text, bytes));
}

void ing_http_add_blob(struct ing_http_exchange *x, struct ing_blob *b)
{
	end_text(x);
	add_part(x, ing_blob_ref(b));
}

bool ing_http_answered(const struct ing_http_exchange *x)
{
	return x->answered;
}
