/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The examiner's reader of what the process with a PDF answers: the one that a document is
 * likeliest to have taken over. What is accepted holds its promises, and goes on to the worker
 * unchanged.
 */
#include "tests/fuzz/target.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/examine/proto.h"
#include "worker/model/limits.h"

FUZZ_BUDGET(.cpu_us = 200, .cpu_byte_ns = 50, .heap_kb = 64, .heap_byte = 20);

static void check_text(const char *s, size_t max_bytes)
{
	if (s == NULL)
		return;
	ing_must(strlen(s) <= max_bytes && ing_utf8_valid(s, strlen(s)));
}

static void check_status(const char *status)
{
	static const char *const known[] = {ING_PDF_STATUSES};
	bool found = false;
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		found |= strcmp(known[i], status) == 0;
	ing_must(found);
}

static void check_pdf(const struct ing_pdf *pdf)
{
	ing_must(pdf->status != NULL);
	check_status(pdf->status);
	/* An ill-formed byte becomes three. */
	check_text(pdf->error_msg, 3 * 2000);
	check_text(pdf->text, 3 * 4 * (size_t)ING_MAX_PDF_TEXT_CHARS);
	check_text(pdf->meta_xml, (size_t)3 << 22);
	check_text(pdf->info_json, (size_t)3 << 20);
	ing_must(pdf->page_count >= 0);
	ing_must(isfinite(pdf->page0_width) && pdf->page0_width >= 0);
	ing_must(isfinite(pdf->page0_height) && pdf->page0_height >= 0);
	ing_must(pdf->permanent_id == NULL || strlen(pdf->permanent_id) == 32);
	ing_must(pdf->update_id == NULL || strlen(pdf->update_id) == 32);
}

static bool is_same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* As the examiner's reply carries it. */
static void check_way(const struct ing_pdf *pdf)
{
	struct ing_buf b;
	struct ing_pdf again = {0};
	ing_buf_init(&b, ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_proto_put_pdf_part(&b, ING_PDF_TEXT, pdf);
	ing_must(!b.failed && b.len <= ING_PROTO_HEAD_BYTES + ING_MAX_REPLY_BYTES);
	ing_must(ing_proto_get_pdf_part(b.data + ING_PROTO_HEAD_BYTES, b.len - ING_PROTO_HEAD_BYTES,
			 ING_PDF_TEXT, &again) == 0);
	ing_must(is_same(pdf->status, again.status) && is_same(pdf->created, again.created));
	ing_must(pdf->page_count == again.page_count && pdf->word_count == again.word_count);
	ing_pdf_done(&again);
	ing_buf_done(&b);
}

void fuzz_target(const uint8_t *data, size_t size)
{
	for (enum ing_pdf_part part = ING_PDF_TEXT; part < ING_PDF_PARTS_; part++) {
		struct ing_pdf pdf = {0};
		if (ing_proto_get_pdf_part(data, size, part, &pdf) == 0) {
			ing_must(pdf.thumbnail.bytes <= ING_MAX_THUMBNAIL_BYTES);
			if (part != ING_PDF_THUMBNAIL)
				check_pdf(&pdf);
			if (part == ING_PDF_TEXT)
				check_way(&pdf);
		} else {
			ing_must(pdf.status == NULL && pdf.text == NULL);
		}
		ing_must(part != ING_PDF_TEXT || pdf.text == NULL || pdf.status != NULL);
		ing_pdf_done(&pdf);
	}
}
