/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * src: the source of a paper in one file: TeX, a word processor's document, or an archive. Requests
 * name its URL; pages are not searched for it. Where a paper has no source, its PDF comes instead: that is
 * wrong-mimetype, with the facts of the PDF.
 */
#include "worker/artifact/artifact.h"

static const char *const mimetypes[] = {
	"text/x-tex",
	"application/gzip",
	"application/x-bzip",
	"application/x-bzip2",
	"application/zip",
	"application/x-tar",
	"application/msword",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	NULL,
};

const struct ing_artifact_type ing_artifact_src = {
	.mimetypes = mimetypes,
	.accept = "application/gzip,application/x-tar,application/zip,*/*;q=0.8",
	.want = ING_WANT_LINKS | ING_WANT_PDF | ING_WANT_CONTENTS,
	.link = ING_ARTIFACT_NO_LINK,
	.no_link_status = ING_STATUS_WRONG_MIMETYPE,
	.no_link_detail = "a page came in place of a source file",
	.facts = &ing_artifact_pdf_facts,
};
