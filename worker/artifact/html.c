/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html: a page is the document, unless it links to another page with the full text.
 */
#include "worker/artifact/artifact.h"

static const char *const mimetypes[] = {"text/html", "application/xhtml+xml", NULL};

const struct ing_artifact_type ing_artifact_html = {
	.mimetypes = mimetypes,
	.accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
	.want = ING_WANT_LINKS,
	.link = ING_LINK_HTML,
	.has_resources = true,
};
