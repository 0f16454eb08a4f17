/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One try of a request: the forms of GROBID's services, and what an answer means. Loop.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "worker/grobid/grobid_priv.h"
#include "worker/model/limits.h"

#define STATUS_OK 200
#define STATUS_BUSY 503
#define CITATIONS_OPTIONS "consolidateCitations=0&includeRawCitations=1"

/* What the replaced system asks for: nothing is looked up at Crossref (too slow for everything that is
 * harvested), raw strings of references and affiliations stay, elements have their coordinates. */
static const struct {
	const char *name, *value;
} options[] = {
	{"consolidateHeader", "0"},
	{"consolidateCitations", "0"},
	{"includeRawCitations", "1"},
	{"includeRawAffiliations", "1"},
	{"teiCoordinates", "ref"},
	{"teiCoordinates", "figure"},
	{"teiCoordinates", "persName"},
	{"teiCoordinates", "formula"},
	{"teiCoordinates", "biblStruct"},
	{"segmentSentences", "1"},
};
#define PARTS (ING_ARRAY_LEN(options) + 1)

static struct ing_http_client_part *make_parts(const struct ing_grobid_request *r)
{
	struct ing_http_client_part *parts = ing_alloc(PARTS * sizeof(*parts));
	parts[0] = (struct ing_http_client_part){.name = "input",
		.filename = "input.pdf",
		.content_type = "application/pdf",
		.body = r->body};
	for (size_t i = 0; i < ING_ARRAY_LEN(options); i++)
		parts[i + 1] = (struct ing_http_client_part){.name = options[i].name,
			.body = {.data = options[i].value, .bytes = strlen(options[i].value)}};
	return parts;
}

/* The beginning of an answer that is no success, in words. */
static char *words_of(const struct ing_http_client_answer *a)
{
	char *raw = ing_alloc(ING_UTF8_BYTES * ING_GROBID_MAX_MESSAGE_CHARS);
	ssize_t n = a->fd >= 0 ? pread(a->fd, raw, ING_UTF8_BYTES * ING_GROBID_MAX_MESSAGE_CHARS, 0)
			       : 0;
	char *words = ing_utf8_clean(raw, n > 0 ? (size_t)n : 0, NULL);
	free(raw);
	ing_must(words != NULL);
	char *end = words;
	for (size_t chars = 0; *end != '\0' && chars < ING_GROBID_MAX_MESSAGE_CHARS; chars++)
		end += ing_utf8_sequence(end, strlen(end));
	*end = '\0';
	return words;
}

static void end_as(struct ing_grobid_answer *ret, const char *status, int code, const char *words)
{
	ret->status = status;
	ret->status_code = code;
	ret->error_msg = ing_strdup(words);
}

static enum ing_grobid_try judge_answer(
	struct ing_http_client_answer *a, struct ing_grobid_answer *ret)
{
	ret->status_code = (int)a->status;
	if (a->status == STATUS_OK) {
		ret->status = "success";
		ret->fd = a->fd;
		ret->bytes = a->bytes;
		ret->content_type = a->content_type;
		a->fd = -1;
		return ING_GROBID_TRY_END;
	}
	ret->status = "error";
	ret->error_msg = words_of(a);
	return a->status == STATUS_BUSY ? ING_GROBID_TRY_BUSY : ING_GROBID_TRY_END;
}

/* -------------------------------------------------------------------------------------------- */

void ing_grobid_call(struct ing_grobid *g, struct ing_grobid_request *r,
	void (*done)(struct ing_http_client_request *r, struct ing_http_client_answer *a))
{
	static const char *const document_fields[] = {"Accept: application/xml", NULL};
	static const char *const form_fields[] = {"Accept: application/xml",
		"Content-Type: application/x-www-form-urlencoded; charset=utf-8", NULL};
	bool is_form = r->service == ING_GROBID_CITATIONS;
	if (!is_form && r->parts == NULL)
		r->parts = make_parts(r);
	r->http = (struct ing_http_client_request){
		.method = "POST",
		.url = g->urls[r->service],
		.fields = is_form ? form_fields : document_fields,
		.parts = r->parts,
		.part_count = is_form ? 0 : PARTS,
		.max_answer_bytes = ING_MAX_GROBID_BYTES,
		.answer_to_fd = true,
		.timeout_ms = g->conf.settings.timeout_ms,
		.done = done,
	};
	if (is_form)
		r->http.body = r->body;
	ing_http_client_put(g->http, &r->http);
}

enum ing_grobid_try ing_grobid_judge(
	struct ing_http_client_answer *a, struct ing_grobid_answer *ret)
{
	*ret = (struct ing_grobid_answer){.fd = -1};
	switch (a->end) {
	case ING_HTTP_CLIENT_ANSWERED:
		return judge_answer(a, ret);
	case ING_HTTP_CLIENT_TOO_LARGE:
		end_as(ret, "error", (int)a->status, "response XML too large");
		return ING_GROBID_TRY_END;
	case ING_HTTP_CLIENT_TIMEOUT:
		end_as(ret, "error-timeout", ING_GROBID_TIMEOUT, a->detail);
		return ING_GROBID_TRY_END;
	case ING_HTTP_CLIENT_CONNECT:
		end_as(ret, "error-connect", ING_GROBID_NO_CONNECTION, a->detail);
		return ING_GROBID_TRY_UNREACHED;
	case ING_HTTP_CLIENT_BROKEN:
		end_as(ret, "error-connect", ING_GROBID_LOST, a->detail);
		return ING_GROBID_TRY_LOST;
	case ING_HTTP_CLIENT_LOCAL:
	case ING_HTTP_CLIENT_ENDS_:
		break;
	}
	end_as(ret, "error", ING_GROBID_NOT_SENT, a->detail);
	return ING_GROBID_TRY_LOCAL;
}

void ing_grobid_call_done(struct ing_grobid_request *r)
{
	ing_http_client_cancel(&r->http);
	free(ING_TAKE(r->parts));
	free(ING_TAKE(r->end.error_msg));
	if (r->end.fd >= 0)
		close(r->end.fd);
	r->end = (struct ing_grobid_answer){.fd = -1};
}

/* As application/x-www-form-urlencoded (URL Standard, section 5.2). */
void ing_grobid_form_add(struct ing_buf *form, const char *citation)
{
	if (form->len == 0)
		ing_buf_add_str(form, CITATIONS_OPTIONS);
	ing_buf_add_str(form, "&citations=");
	for (const char *s = citation; *s != '\0' && !form->failed; s++) {
		unsigned char c = (unsigned char)*s;
		bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
			     (c >= 'A' && c <= 'Z') || strchr("*-._", c) != NULL;
		if (plain)
			ing_buf_add_char(form, *s);
		else if (c == ' ')
			ing_buf_add_char(form, '+');
		else
			ing_buf_printf(form, "%%%02X", c);
	}
}
