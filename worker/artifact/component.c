/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * component: a file that belongs to a paper or a data set: a figure, a table, a recording, a
 * supplement. Pages lead to it by their component link. A component that is a PDF has a PDF's
 * facts.
 */
#include "worker/artifact/artifact.h"

static const char *const mimetypes[] = {
	"image/jpeg",
	"image/tiff",
	"image/png",
	"image/gif",
	"audio/mpeg",
	"video/mp4",
	"video/mpeg",
	"text/plain",
	"text/csv",
	"text/x-r-source",
	"text/tab-separated-values",
	"text/x-rst",
	"application/x-rlang-transport",
	"application/json",
	"application/xml",
	"text/xml",
	"application/pdf",
	"application/gzip",
	"application/x-bzip",
	"application/x-bzip2",
	"application/zip",
	"application/x-rar",
	"application/x-7z-compressed",
	"application/x-tar",
	"application/vnd.ms-powerpoint",
	"application/vnd.ms-excel",
	"application/msword",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	NULL,
};

const struct ing_artifact_type ing_artifact_component = {
	.mimetypes = mimetypes,
	.accept = "*/*",
	.want = ING_WANT_LINKS | ING_WANT_PDF | ING_WANT_CONTENTS,
	.link = ING_LINK_COMPONENT,
	.no_link_status = ING_STATUS_WRONG_MIMETYPE,
	.no_link_detail = "the page names no component",
	.facts = &ing_artifact_pdf_facts,
};
