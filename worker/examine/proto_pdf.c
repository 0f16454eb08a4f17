/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is known of a PDF: whole in a reply, part by part from the process that reads it. Encoder and
 * decoder field by field in the same order.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "worker/examine/proto.h"
#include "worker/examine/proto_parts.h"
#include "worker/model/limits.h"

#define MAX_ERROR_BYTES ((size_t)2000) /* 500 characters of four bytes */
#define MAX_TEXT_BYTES ((size_t)ING_MAX_PDF_TEXT_CHARS * 4)
#define MAX_XMP_BYTES ((size_t)4 << 20)
#define MAX_INFO_BYTES ((size_t)1 << 20)
#define MAX_DATE_BYTES ((size_t)40)
#define MAX_VERSION_BYTES ((size_t)15)
#define MAX_PAGE_POINTS 1e9 /* PDF's own bound is 14,400 units times UserUnit */

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(unsigned char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_date_char(unsigned char c)
{
	return is_digit(c) || (c != '\0' && strchr("-+:.TZ", c) != NULL);
}

static bool is_version_char(unsigned char c)
{
	return is_digit(c) || c == '.';
}

static void put_hex_id(struct ing_buf *b, const char *s)
{
	ing_wire_put_word(b, s != NULL && strlen(s) == 32 ? s : NULL, 32, is_hex);
}

static char *get_hex_id(struct ing_wire *w)
{
	char *id = ing_wire_word(w, 32, is_hex);
	if (id != NULL && strlen(id) != 32)
		w->failed = true;
	return id;
}

static bool is_pdf_status(const char *s)
{
	static const char *const known[] = {ING_PDF_STATUSES};
	for (size_t i = 0; i < ING_ARRAY_LEN(known); i++)
		if (strcmp(s, known[i]) == 0)
			return true;
	return false;
}

static void put_pdf_status(struct ing_buf *b, const char *s)
{
	ing_must(s == NULL || is_pdf_status(s));
	ing_wire_put_whole(b, s, ING_PROTO_SLUG_BYTES);
}

static char *get_pdf_status(struct ing_wire *w)
{
	char *status = ing_wire_word(w, ING_PROTO_SLUG_BYTES, ing_proto_is_slug_char);
	if (status != NULL && !is_pdf_status(status))
		w->failed = true;
	return status;
}

/* What XML 1.0, section 2.2, does not allow, and what costs a writer of JSON six bytes each. */
static bool is_stray(char c)
{
	return (unsigned char)c < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

/* The work of writing a result goes by characters. */
static bool is_short_xmp(const char *s)
{
	size_t chars = 0;
	for (; *s != '\0'; s++)
		chars += ((unsigned char)*s & 0xc0) != 0x80;
	return chars <= ING_MAX_PDF_TEXT_CHARS;
}

static void put_xmp(struct ing_buf *b, const char *s)
{
	char *clean = s != NULL && is_short_xmp(s) ? ing_strdup(s) : NULL;
	for (char *c = clean; c != NULL && *c != '\0'; c++)
		*c = is_stray(*c) ? ' ' : *c;
	ing_wire_put_whole(b, clean, MAX_XMP_BYTES);
	free(clean);
}

static char *get_xmp(struct ing_wire *w)
{
	char *s = ing_wire_text(w, MAX_XMP_BYTES);
	if (s != NULL && !is_short_xmp(s))
		w->failed = true;
	for (const char *c = s; c != NULL && *c != '\0'; c++)
		w->failed |= is_stray(*c);
	return s;
}

/* The first and the last marker of a JPEG; nothing else in it is looked at. */
static bool is_thumbnail(const char *s, size_t bytes)
{
	return bytes >= ING_MIN_THUMBNAIL_BYTES && bytes <= ING_MAX_THUMBNAIL_BYTES &&
	       memcmp(s, "\xff\xd8\xff", 3) == 0 && memcmp(s + bytes - 2, "\xff\xd9", 2) == 0;
}

static void put_thumbnail(struct ing_buf *b, const struct ing_pdf_thumbnail *thumbnail)
{
	bool good = thumbnail->data != NULL && is_thumbnail(thumbnail->data, thumbnail->bytes);
	if (good)
		ing_wire_put_bytes(b, thumbnail->data, thumbnail->bytes);
	else
		ing_wire_put_text(b, NULL, 0);
}

static void get_thumbnail(struct ing_wire *w, struct ing_pdf *pdf)
{
	size_t bytes = 0;
	const char *s = ing_wire_bytes(w, ING_MAX_THUMBNAIL_BYTES, &bytes);
	if (s == NULL)
		return;
	if (!is_thumbnail(s, bytes)) {
		w->failed = true;
		return;
	}
	pdf->thumbnail = (struct ing_pdf_thumbnail){.data = ing_strndup(s, bytes), .bytes = bytes};
	pdf->has_page0_thumbnail = true;
}

const enum ing_proto_kind ing_proto_pdf_kinds[ING_PDF_PARTS_] = {
	[ING_PDF_TEXT] = ING_PROTO_PDF,
	[ING_PDF_INFO] = ING_PROTO_PDF_INFO,
	[ING_PDF_THUMBNAIL] = ING_PROTO_PDF_THUMBNAIL,
};

/* An Info dictionary that could not be decoded is a status of a PDF that is good otherwise. */
static void put_info(struct ing_buf *b, const struct ing_pdf *pdf)
{
	ing_wire_put_whole(b, pdf->info_json, MAX_INFO_BYTES);
	put_pdf_status(b, pdf->status);
	ing_wire_put_text(b, pdf->error_msg, MAX_ERROR_BYTES);
}

static void get_info(struct ing_wire *w, struct ing_pdf *pdf)
{
	pdf->info_json = ing_wire_text(w, MAX_INFO_BYTES);
	pdf->status = get_pdf_status(w);
	pdf->error_msg = ing_wire_text(w, MAX_ERROR_BYTES);
	if (pdf->status == NULL)
		w->failed = true;
}

static void move_info(struct ing_pdf *to, struct ing_pdf *from)
{
	free(to->info_json);
	free(to->status);
	free(to->error_msg);
	to->info_json = ING_TAKE(from->info_json);
	to->status = ING_TAKE(from->status);
	to->error_msg = ING_TAKE(from->error_msg);
}

static void move_thumbnail(struct ing_pdf *to, struct ing_pdf *from)
{
	free(to->thumbnail.data);
	to->thumbnail = from->thumbnail;
	to->has_page0_thumbnail = from->has_page0_thumbnail;
	from->thumbnail = (struct ing_pdf_thumbnail){0};
}

/* -------------------------------------------------------------------------------------------- */

void ing_proto_put_pdf_fields(struct ing_buf *b, const struct ing_pdf *pdf)
{
	put_pdf_status(b, pdf->status);
	ing_wire_put_text(b, pdf->error_msg, MAX_ERROR_BYTES);
	ing_wire_put_text(b, pdf->text, MAX_TEXT_BYTES);
	put_xmp(b, pdf->meta_xml);
	ing_wire_put_whole(b, pdf->info_json, MAX_INFO_BYTES);
	ing_wire_put_u32(b, pdf->page_count > 0 ? (uint32_t)pdf->page_count : 0);
	ing_wire_put_f64(b, pdf->page0_width, MAX_PAGE_POINTS);
	ing_wire_put_f64(b, pdf->page0_height, MAX_PAGE_POINTS);
	put_hex_id(b, pdf->permanent_id);
	put_hex_id(b, pdf->update_id);
	ing_wire_put_word(b, pdf->pdf_version, MAX_VERSION_BYTES, is_version_char);
	ing_wire_put_word(b, pdf->created, MAX_DATE_BYTES, is_date_char);
	ing_wire_put_u32(b, pdf->word_count);
	put_thumbnail(b, &pdf->thumbnail);
}

void ing_proto_get_pdf_fields(struct ing_wire *w, struct ing_pdf *pdf)
{
	pdf->status = get_pdf_status(w);
	pdf->error_msg = ing_wire_text(w, MAX_ERROR_BYTES);
	pdf->text = ing_wire_text(w, MAX_TEXT_BYTES);
	pdf->meta_xml = get_xmp(w);
	pdf->info_json = ing_wire_text(w, MAX_INFO_BYTES);
	pdf->page_count = (int)ing_wire_range(w, INT_MAX);
	pdf->page0_width = ing_wire_f64(w, MAX_PAGE_POINTS);
	pdf->page0_height = ing_wire_f64(w, MAX_PAGE_POINTS);
	pdf->permanent_id = get_hex_id(w);
	pdf->update_id = get_hex_id(w);
	pdf->pdf_version = ing_wire_word(w, MAX_VERSION_BYTES, is_version_char);
	pdf->created = ing_wire_word(w, MAX_DATE_BYTES, is_date_char);
	pdf->word_count = ing_wire_u32(w);
	get_thumbnail(w, pdf);
}

void ing_proto_put_pdf_part(struct ing_buf *b, enum ing_pdf_part part, const struct ing_pdf *pdf)
{
	size_t at = ing_proto_begin(b, ing_proto_pdf_kinds[part]);
	switch (part) {
	case ING_PDF_TEXT:
		ing_proto_put_pdf_fields(b, pdf);
		break;
	case ING_PDF_INFO:
		put_info(b, pdf);
		break;
	case ING_PDF_THUMBNAIL:
		put_thumbnail(b, &pdf->thumbnail);
		break;
	case ING_PDF_PARTS_:
		break;
	}
	ing_proto_end(b, at);
}

int ing_proto_get_pdf_part(
	const void *payload, size_t bytes, enum ing_pdf_part part, struct ing_pdf *pdf)
{
	struct ing_wire w;
	struct ing_pdf got = {0};
	ing_wire_init(&w, payload, bytes);
	switch (part) {
	case ING_PDF_TEXT:
		ing_proto_get_pdf_fields(&w, &got);
		w.failed |= got.status == NULL;
		break;
	case ING_PDF_INFO:
		get_info(&w, &got);
		break;
	case ING_PDF_THUMBNAIL:
		get_thumbnail(&w, &got);
		break;
	case ING_PDF_PARTS_:
		break;
	}
	bool good = ing_wire_end(&w);
	if (good && part == ING_PDF_TEXT) {
		ing_pdf_done(pdf);
		*pdf = got;
		got = (struct ing_pdf){0};
	} else if (good && part == ING_PDF_INFO) {
		move_info(pdf, &got);
	} else if (good) {
		move_thumbnail(pdf, &got);
	}
	ing_pdf_done(&got);
	return good ? 0 : -ING_FAIL_INVALID;
}
