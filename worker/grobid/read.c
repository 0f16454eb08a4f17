/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A document's way through GROBID: its row, its turn at GROBID, an examiner for the answer. Loop.
 *
 * A row that is not there, too old, of another version or of a failure is as none, and so is a database
 * that does not answer: asking GROBID again costs time, not truth.
 */
#include "worker/grobid/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/fd_shortage.h"
#include "common/base/io.h"
#include "common/data/json.h"
#include "worker/grobid/grobid_priv.h"
#include "worker/examine/pool.h"
#include "worker/model/findings.h"
#include "worker/model/grobid_facts.h"
#include "worker/model/limits.h"
#include "worker/model/rows.h"
#include "worker/store/lookup/lookup.h"

#define READING_MAGIC 0x47524f42u

struct ing_grobid_reading {
	unsigned magic;
	struct ing_grobid *g;
	char *sha1hex, *url, *content_type, *content_encoding;
	bool coded;
	struct ing_exam_request question_for_body;
	struct ing_lookup_question *question;
	struct ing_grobid_request request;
	struct ing_exam_task *task;
	int fd;         /* the answer's, while an examiner reads it; -1 */
	int decoded_fd; /* of the document, where it had to be decoded; -1 */
	ing_grobid_read_f *done;
	void *ctx;
};

static void free_reading(struct ing_grobid_reading *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->decoded_fd >= 0)
		close(r->decoded_fd);
	free(r->sha1hex);
	free(r->url);
	free(r->content_type);
	free(r->content_encoding);
	r->magic = 0;
	free(r);
}

static void finish(struct ing_grobid_reading *r, struct ing_grobid_facts *facts, char *text)
{
	r->done(r->ctx, facts, &text, text != NULL ? strlen(text) : 0);
	ing_grobid_facts_done(facts);
	free(text);
	free_reading(r);
}

static char *copy_or_null(const char *s)
{
	return s != NULL ? ing_strdup(s) : NULL;
}

/* Whether it is what GROBID's metadata is: from an examiner, or from a table that others may write. */
static bool is_metadata(const char *text)
{
	static const struct ing_json_limits limits = {
		.depth = ING_MAX_GROBID_METADATA_DEPTH, .values = ING_MAX_GROBID_METADATA_VALUES};
	json_t *o = text != NULL ? ing_json_parse(text, strlen(text), &limits, NULL) : NULL;
	bool good = json_is_object(json_object_get(o, "biblio"));
	json_decref(o);
	return good;
}

/* --- the examiner --- */

static void fail(struct ing_grobid_facts *facts, const char *status, const char *words)
{
	int code = facts->status_code;
	ing_grobid_facts_done(facts);
	facts->status_code = code;
	facts->status = ing_strdup(status);
	facts->error_msg = ing_strdup(words);
}

static void take_findings(struct ing_findings *f, struct ing_grobid_facts *facts, char **ret_text)
{
	struct ing_tei_found *tei = &f->tei;
	if (f->exam == ING_EXAM_NOT_STARTED || f->exam == ING_EXAM_UNREADABLE)
		fail(facts, "error",
			f->detail != NULL ? f->detail : "nobody could look into GROBID's answer");
	else if (f->exam != ING_EXAM_OK || tei->status == NULL)
		fail(facts, "bad-grobid-xml",
			f->exam == ING_EXAM_TIMEOUT ? "reading GROBID's answer took too long"
						    : "the reader of GROBID's answer crashed");
	else if (strcmp(tei->status, "success") != 0)
		fail(facts, tei->status, tei->error_msg != NULL ? tei->error_msg : "");
	else if (tei->version == NULL || tei->text == NULL || !is_metadata(tei->metadata_json))
		fail(facts, "bad-grobid-xml", "what was read of GROBID's answer cannot be true");
	else {
		facts->status = ING_TAKE(tei->status);
		facts->version = ING_TAKE(tei->version);
		facts->fatcat_release = ING_TAKE(tei->fatcat_release);
		facts->metadata_json = ING_TAKE(tei->metadata_json);
		*ret_text = ING_TAKE(tei->text);
	}
}

static void on_examined(void *ctx, struct ing_findings *f)
{
	struct ing_grobid_reading *r;
	ING_CAST_OBJ(r, ctx, READING_MAGIC);
	struct ing_grobid_facts facts = {.status_code = 200};
	char *text = NULL;
	r->task = NULL;
	take_findings(f, &facts, &text);
	if (text != NULL)
		r->g->stats.read++;
	else
		r->g->stats.unreadable++;
	ing_findings_done(f);
	finish(r, &facts, text);
}

static const struct ing_pool_user tei_user = {.done = on_examined};

/* --- GROBID --- */

static void examine(struct ing_grobid_reading *r, struct ing_grobid_answer *a)
{
	const struct ing_exam_request q = {.url = r->url,
		.content_type = a->content_type,
		.want = ING_WANT_TEI,
		.max_body_bytes = ING_MAX_GROBID_BYTES};
	size_t bytes = (size_t)a->bytes;
	r->fd = a->fd;
	a->fd = -1;
	r->task = ing_pool_submit(r->g->conf.pool, &q, bytes > 0 ? r->fd : -1, bytes, &tei_user, r);
}

static void on_answered(struct ing_grobid_request *request, struct ing_grobid_answer *a)
{
	struct ing_grobid_reading *r = ING_CONTAINER(request, struct ing_grobid_reading, request);
	if (a->fd >= 0) {
		examine(r, a);
		return;
	}
	struct ing_grobid_facts facts = {.status = ing_strdup(a->status),
		.status_code = a->status_code,
		.error_msg = ING_TAKE(a->error_msg)};
	finish(r, &facts, NULL);
}

static void ask_grobid(struct ing_grobid_reading *r)
{
	r->request.done = on_answered;
	ing_grobid_put(r->g, &r->request);
}

/* --- a document that was sent with a content coding --- */

static int memfd_of(const struct ing_body_found *body)
{
	int fd = memfd_create("document", MFD_CLOEXEC);
	if (fd < 0) {
		ing_fd_shortage_note(errno);
		return -1;
	}
	if (ing_write_all(fd, body->data, body->bytes) == 0)
		return fd;
	close(fd);
	return -1;
}

static void on_decoded(void *ctx, struct ing_findings *f)
{
	struct ing_grobid_reading *r;
	ING_CAST_OBJ(r, ctx, READING_MAGIC);
	r->task = NULL;
	const char *words = NULL;
	/* Both times an examiner has said what it is. */
	if (f->exam != ING_EXAM_OK || strcmp(f->file.sha1hex, r->sha1hex) != 0)
		words = "the document could not be decoded again";
	else if (f->body.data == NULL)
		words = "the document was sent with a content coding, and is too large for that";
	else {
		r->decoded_fd = memfd_of(&f->body);
		words = r->decoded_fd < 0 ? "no descriptor or memory for the document" : NULL;
		r->request.body =
			(struct ing_http_client_body){.fd = r->decoded_fd, .bytes = f->body.bytes};
	}
	ing_findings_done(f);
	if (words == NULL) {
		ask_grobid(r);
		return;
	}
	struct ing_grobid_facts facts = {.status_code = ING_GROBID_NOT_SENT};
	fail(&facts, "error", words);
	finish(r, &facts, NULL);
}

static const struct ing_pool_user body_user = {.done = on_decoded};

static void decode(struct ing_grobid_reading *r)
{
	r->question_for_body.url = r->url;
	r->task = ing_pool_submit(r->g->conf.pool, &r->question_for_body, r->request.body.fd,
		(size_t)r->request.body.bytes, &body_user, r);
}

static void begin(struct ing_grobid_reading *r)
{
	if (r->coded)
		decode(r);
	else
		ask_grobid(r);
}

/* --- the row --- */

static bool is_wanted_version(const struct ing_grobid_settings *conf, const char *version)
{
	for (char *const *v = conf->reuse_versions; v != NULL && *v != NULL; v++)
		if (strncmp(version, *v, strlen(*v)) == 0)
			return true;
	return false;
}

static bool is_good_row(
	const struct ing_grobid *g, const struct ing_row_grobid *row, uint64_t age_ms)
{
	const struct ing_grobid_settings *conf = &g->conf.settings;
	return row != NULL && row->status_code == 200 && row->status != NULL &&
	       strcmp(row->status, "success") == 0 && row->grobid_version != NULL &&
	       is_wanted_version(conf, row->grobid_version) && is_metadata(row->metadata_json) &&
	       (conf->reuse_max_age_ms == 0 || age_ms <= conf->reuse_max_age_ms);
}

static void on_row(void *ctx, const struct ing_row_grobid *row, uint64_t age_ms)
{
	struct ing_grobid_reading *r;
	ING_CAST_OBJ(r, ctx, READING_MAGIC);
	r->question = NULL;
	if (!is_good_row(r->g, row, age_ms)) {
		begin(r);
		return;
	}
	struct ing_grobid_facts facts = {.status = ing_strdup(row->status),
		.status_code = row->status_code,
		.version = ing_strdup(row->grobid_version),
		.fatcat_release = copy_or_null(row->fatcat_release),
		.metadata_json = ing_strdup(row->metadata_json),
		.reused = true};
	r->g->stats.reused++;
	finish(r, &facts, NULL);
}

/* -------------------------------------------------------------------------------------------- */

struct ing_grobid_reading *ing_grobid_read(struct ing_grobid *g,
	const struct ing_grobid_document *document, ing_grobid_read_f *done, void *ctx)
{
	struct ing_grobid_reading *r = ing_alloc(sizeof(*r));
	r->magic = READING_MAGIC;
	r->g = g;
	r->fd = r->decoded_fd = -1;
	r->sha1hex = ing_strdup(document->sha1hex);
	r->url = ing_strdup(document->url);
	r->request.body = (struct ing_http_client_body){
		.fd = document->body_fd, .bytes = document->body_bytes};
	r->coded = document->coded;
	r->content_type = copy_or_null(document->content_type);
	r->content_encoding = copy_or_null(document->content_encoding);
	r->question_for_body = (struct ing_exam_request){.content_type = r->content_type,
		.content_encoding = r->content_encoding,
		.want = ING_WANT_BODY,
		.max_body_bytes = document->max_body_bytes,
		.max_ratio = document->max_ratio};
	r->done = done;
	r->ctx = ctx;
	if (g->conf.lookup != NULL && !document->again)
		r->question = ing_lookup_grobid(g->conf.lookup, r->sha1hex, on_row, r);
	if (r->question == NULL)
		begin(r);
	return r;
}

void ing_grobid_read_cancel(struct ing_grobid_reading *r)
{
	if (r == NULL)
		return;
	ing_lookup_cancel(r->question);
	ing_grobid_cancel(&r->request);
	if (r->task != NULL)
		ing_pool_cancel(r->task);
	free_reading(r);
}
