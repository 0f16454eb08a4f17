/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sizes and codings are known at once. The first bytes of a body, which tell gzip, may be on a slow
 * disk: the archive thread looks at them, not the loop.
 */
#include "worker/job/body_check.h"

#include "common/data/base32.h"
#include "common/data/decode.h"

const char ing_body_check_detail[] = "the examiner's findings contradict the body";

/* -------------------------------------------------------------------------------------------- */

bool ing_body_contradicts(
	const struct ing_findings *f, const struct ing_exchange *ex, uint64_t max_body_bytes)
{
	if (f->file.mimetype[0] == '\0')
		return false;
	if (f->file.decoded)
		return f->file.size_bytes > max_body_bytes;
	return ing_decode_needed(ex->content_encoding) || f->file.size_bytes != ex->body_bytes;
}

enum ing_body_check ing_body_settle(struct ing_file_meta *file, const struct ing_capture *c)
{
	const struct ing_archive_item *item = &c->archive;
	if (file->decoded && c->coded)
		return ING_BODY_GOOD;
	if (!item->digested)
		return ING_BODY_UNREADABLE;
	if (file->decoded)
		return item->gzip ? ING_BODY_GOOD : ING_BODY_CONTRADICTED;
	file->size_bytes = item->body.bytes;
	ing_hex_encode(item->body.md5, sizeof(item->body.md5), file->md5hex);
	ing_hex_encode(item->body.sha1, sizeof(item->body.sha1), file->sha1hex);
	ing_hex_encode(item->body.sha256, sizeof(item->body.sha256), file->sha256hex);
	return ING_BODY_GOOD;
}
