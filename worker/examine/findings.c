/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The life of a findings record. Any thread, both sides of the socket.
 */
#include "worker/examine/findings.h"

#include <stdlib.h>

void ing_findings_init(struct ing_findings *f)
{
	*f = (struct ing_findings){0};
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
	*pdf = (struct ing_pdf){0};
}

void ing_findings_done(struct ing_findings *f)
{
	free(f->detail);
	free(f->page.next_url);
	free(f->page.next_technique);
	free(f->page.title);
	ing_pdf_done(&f->pdf);
	*f = (struct ing_findings){0};
}
