/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * archive_listing.h - what is inside of an archive or a compressed file: the media types of its
 * members.
 *
 * tar, gzip (of one file or of a tar) and zip are looked into, one level deep; archives within are
 * types themselves. Nothing is extracted but the fronts of some members. Bounded, whatever the
 * archive claims to hold: members looked at, bytes inflated, CPU time. Runs in examiners and in a
 * child of ingestctl. One thread.
 */
#pragma once
#include <stddef.h>

#include "worker/model/findings.h"

/* Whether there is something to be listed in a body of this media type. */
bool ing_archive_is_listed(const char *mimetype);
/* Types of members, what serves a reader of papers best first, divided by commas: TeX, documents,
 * tables and texts, pictures, others; a tar within gzip last. "" when nothing is known. What is behind a
 * limit or damaged is left out. */
void ing_archive_list(
	const void *data, size_t bytes, const char *mimetype, char ret[ING_CONTAINS_BYTES]);
