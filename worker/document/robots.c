/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Examines a robots.txt. Other documents are refused when they are too large or truncated; of this one
 * the part that was received counts, up to the limit (RFC 9309 2.5), so that a file that is too long
 * does not allow everything.
 */
#include <string.h>

#include "common/base/utf8.h"
#include "common/data/base32.h"
#include "common/data/decode.h"
#include "common/data/digest_many.h"
#include "common/net/robots.h"
#include "worker/document/document.h"
#include "worker/model/findings.h"

/* An incomplete line is left out: a path without its end would forbid, or allow, far more than was
 * meant. */
static size_t cut_last_line(const char *text, size_t bytes)
{
	while (bytes > 0 && text[bytes - 1] != '\n' && text[bytes - 1] != '\r')
		bytes--;
	return bytes;
}

static void identify(const void *data, size_t bytes, bool decoded, struct ing_file_meta *ret)
{
	static const char type[] = "text/plain"; /* its contents are not sniffed */
	memcpy(ret->mimetype, type, sizeof(type));
	ret->decoded = decoded;
	ret->size_bytes = bytes;
	if (!decoded)
		return;
	struct ing_digests d;
	ing_digest_one(ING_DIGEST_ALL, data, bytes, &d);
	ing_hex_encode(d.md5, sizeof(d.md5), ret->md5hex);
	ing_hex_encode(d.sha1, sizeof(d.sha1), ret->sha1hex);
	ing_hex_encode(d.sha256, sizeof(d.sha256), ret->sha256hex);
}

/* -------------------------------------------------------------------------------------------- */

void ing_document_robots(
	const struct ing_exam_request *q, const void *data, size_t bytes, struct ing_findings *ret)
{
	struct ing_buf file;
	struct ing_error err = {0};
	ing_buf_init(&file, (size_t)ING_MIN(q->max_body_bytes, ING_ROBOTS_TXT_MAX_BYTES));
	int rc = ing_decode(q->content_encoding, data, bytes, &file, &err);
	bool cut = q->body_cut || rc == -ING_FAIL_TOO_BIG;
	if (rc == 0 || rc == -ING_FAIL_TOO_BIG || (rc == -ING_FAIL_TRUNCATED && cut)) {
		const char *text = ing_buf_str(&file);
		size_t whole = cut ? cut_last_line(text, file.len) : file.len;
		ret->exam = ING_EXAM_OK;
		identify(text, file.len, ing_decode_needed(q->content_encoding), &ret->file);
		ret->robots.txt = ing_robots_txt_parse(text, whole, q->agent);
		ret->robots.cut = cut;
	} else {
		ret->exam = ING_EXAM_BAD_ENCODING;
		ret->detail = ing_utf8_clean(err.msg, strlen(err.msg), NULL);
	}
	ing_buf_done(&file);
}
