/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between the decided status and the delivery: GROBID reads the document. The job has left its host
 * and its deadline behind; it keeps the body, which counts against fetch.memory_bytes until GROBID
 * is done. Whatever becomes of that, the document was found, and the request is answered. Loop
 * thread.
 */
#include "worker/artifact/artifact.h"
#include "worker/grobid/grobid.h"
#include "worker/grobid/read.h"
#include "worker/job/pipeline_priv.h"

static void on_read(void *ctx, struct ing_grobid_facts *facts, char **text, size_t bytes)
{
	struct ing_job *job;
	ING_CAST_OBJ(job, ctx, ING_JOB_MAGIC);
	struct ing_work *w = job->work;
	w->reading = NULL;
	ing_job_drop_document(job);
	ing_artifact_keep_grobid(&w->artifact, facts, text, bytes);
	ing_job_account_derived(job, ing_artifact_derived_bytes(&w->artifact));
	ing_pipeline_hold_gate(job->pipeline);
	ing_job_deliver_in_turn(job);
}

/* -------------------------------------------------------------------------------------------- */

void ing_job_keep_document(struct ing_job *job, struct ing_exchange *exchange)
{
	if (job->pipeline->stages.grobid == NULL)
		return;
	ing_job_drop_document(job);
	job->work->document = ing_exchange_ref(exchange);
}

void ing_job_drop_document(struct ing_job *job)
{
	ing_exchange_unref(ING_TAKE(job->work->document));
}

bool ing_job_is_for_grobid(const struct ing_job *job)
{
	const struct ing_work *w = job->work;
	return w->document != NULL && w->document_found &&
	       ing_artifact_is_for_grobid(&w->artifact, ing_artifact_type(w->request->type));
}

bool ing_job_derive(struct ing_job *job)
{
	struct ing_work *w = job->work;
	if (w->status != ING_STATUS_SUCCESS || !ing_job_is_for_grobid(job))
		return false;
	ing_job_set_state(job, ING_JOB_DERIVING);
	w->reading = ing_grobid_read(job->pipeline->stages.grobid,
		&(struct ing_grobid_document){.sha1hex = w->artifact.file.sha1hex,
			.url = w->document->url,
			.body_fd = w->document->body_fd,
			.body_bytes = w->document->body_bytes,
			.coded = w->artifact.file.decoded,
			.content_type = w->document->content_type,
			.content_encoding = w->document->content_encoding,
			.max_body_bytes = job->pipeline->conf.max_body_bytes,
			.max_ratio = job->pipeline->conf.settings.max_ratio},
		on_read, job);
	ing_pipeline_hold_gate(job->pipeline);
	return true;
}

void ing_job_cancel_deriving(struct ing_job *job)
{
	if (job->work != NULL)
		ing_grobid_read_cancel(ING_TAKE(job->work->reading));
}
