/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The life of a findings record. Any thread, both sides of the socket.
 */
#include "worker/model/findings.h"

#include <stdlib.h>
#include <string.h>

#include "common/net/robots.h"

void ing_findings_init(struct ing_findings *f)
{
	*f = (struct ing_findings){.publication.citations = -1};
}

void ing_pdf_done(struct ing_pdf *pdf)
{
	free(pdf->status);
	free(pdf->error_msg);
	free(pdf->text);
	free(pdf->meta_xml);
	free(pdf->info_json);
	free(pdf->permanent_id);
	free(pdf->update_id);
	free(pdf->pdf_version);
	free(pdf->created);
	free(pdf->thumbnail.data);
	*pdf = (struct ing_pdf){0};
}

bool ing_pdf_is_read(const struct ing_pdf *pdf)
{
	return strcmp(pdf->status, "success") == 0 || strcmp(pdf->status, "bad-unicode") == 0;
}

static void free_link(struct ing_page_link *link)
{
	free(link->url);
	free(link->technique);
	free(link->stage);
}

void ing_page_done(struct ing_page *page)
{
	for (size_t i = 0; i < ING_LINK_KINDS_; i++)
		free_link(&page->links[i]);
	free_link(&page->next);
	free(page->title);
	free(page->wall_detail);
	free(page->platform);
	free(page->scope);
	free(page->biblio_json);
	free(page->rule_hits);
	*page = (struct ing_page){0};
}

void ing_findings_done(struct ing_findings *f)
{
	free(f->detail);
	ing_page_done(&f->page);
	ing_pdf_done(&f->pdf);
	ing_robots_txt_free(f->robots.txt);
	ing_text_found_done(&f->text);
	ing_xml_found_done(&f->xml);
	ing_resources_found_done(&f->resources);
	ing_tei_found_done(&f->tei);
	free(f->body.data);
	ing_publication_found_done(&f->publication);
	ing_webpage_found_done(&f->webpage);
	ing_findings_init(f);
}

enum ing_status ing_exam_status(enum ing_exam exam)
{
	switch (exam) {
	case ING_EXAM_OK:
		break;
	case ING_EXAM_BAD_ENCODING:
		return ING_STATUS_BAD_CONTENT_ENCODING;
	case ING_EXAM_TOO_LARGE:
		return ING_STATUS_BODY_TOO_LARGE;
	case ING_EXAM_CRASH:
		return ING_STATUS_PARSE_CRASH;
	case ING_EXAM_TIMEOUT:
		return ING_STATUS_PARSE_TIMEOUT;
	case ING_EXAM_UNREADABLE:
	case ING_EXAM_NOT_STARTED:
		return ING_STATUS_WORKER_ERROR;
	}
	return ING_STATUS_SUCCESS;
}
