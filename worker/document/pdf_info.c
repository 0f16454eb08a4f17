/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The only file that includes qpdf, whose C interface shows a file's objects as they are: poppler's
 * for C tells eight entries of the Info dictionary and nothing else, and as qpdf gives the bytes of
 * a string, it is for us to say what they mean. It opens what needs no password.
 */
#include "worker/document/pdf_info.h"

#include <qpdf/qpdf-c.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "worker/document/pdf_string.h"
#include "worker/model/limits.h"

#define MAX_KEY_BYTES ((size_t)200)

struct reading {
	qpdf_data pdf;
	qpdf_oh dictionary;
	json_t *info;
	char *undecodable; /* the first such key */
	size_t bytes;      /* of all values */
};

/* Whichever keys a hostile dictionary has more than we take, these are taken. */
static const char *const wanted[] = {"/Title", "/Author", "/Subject", "/Keywords", "/Creator",
	"/Producer", "/CreationDate", "/ModDate", "/doi", "/DOI", "/WPS-ARTICLEDOI"};

/* NULL for what is no single value. */
static char *value_text(const struct reading *r, qpdf_oh value, bool *undecodable)
{
	size_t bytes = 0;
	switch (qpdf_oh_get_type_code(r->pdf, value)) {
	case ot_string: {
		const char *s = qpdf_oh_get_binary_string_value(r->pdf, value, &bytes);
		return ing_pdf_string(s, bytes, ING_MAX_PDF_INFO_BYTES, undecodable);
	}
	case ot_name: {
		const char *s = qpdf_oh_get_name(r->pdf, value) + 1; /* without its slash */
		return ing_pdf_string(s, strlen(s), ING_MAX_PDF_INFO_BYTES, undecodable);
	}
	case ot_boolean:
	case ot_integer:
	case ot_real: {
		const char *s = qpdf_oh_unparse_resolved(r->pdf, value);
		return ing_pdf_string(s, strlen(s), ING_MAX_PDF_INFO_BYTES, undecodable);
	}
	default:
		return NULL;
	}
}

static bool is_date_key(const char *key)
{
	return strcmp(key, "CreationDate") == 0 || strcmp(key, "ModDate") == 0;
}

static void set_value(struct reading *r, const char *key, const char *text)
{
	bool is_date = is_date_key(key);
	if (is_date && json_object_get(r->info, key) != NULL)
		return;
	char *date = is_date || strncmp(text, "D:", 2) == 0 ? ing_pdf_date(text) : NULL;
	ing_json_set_text(r->info, key, date != NULL ? date : text);
	r->bytes += strlen(key) + strlen(text);
	free(date);
}

/* `name` has its slash. */
static void read_entry(struct reading *r, const char *name)
{
	bool undecodable = false;
	qpdf_oh value = qpdf_oh_get_key(r->pdf, r->dictionary, name);
	char *text = value_text(r, value, &undecodable);
	size_t bytes = ing_utf8_cut(name + 1, strlen(name + 1), MAX_KEY_BYTES);
	undecodable |= !ing_utf8_valid(name + 1, bytes);
	char *key = ing_utf8_clean(name + 1, bytes, NULL);
	ing_must(key != NULL);
	if (text != NULL && key[0] != '\0')
		set_value(r, key, text);
	if (undecodable && r->undecodable == NULL)
		r->undecodable = ING_TAKE(key);
	free(key);
	free(text);
	qpdf_oh_release(r->pdf, value);
}

static void read_entries(struct reading *r)
{
	for (size_t i = 0; i < ING_ARRAY_LEN(wanted); i++) {
		if (qpdf_oh_has_key(r->pdf, r->dictionary, wanted[i]))
			read_entry(r, wanted[i]);
	}
	qpdf_oh_begin_dict_key_iter(r->pdf, r->dictionary);
	while (json_object_size(r->info) < ING_MAX_PDF_INFO_KEYS &&
		r->bytes < ING_MAX_PDF_INFO_SUM_BYTES && qpdf_oh_dict_more_keys(r->pdf)) {
		char *name = ing_strdup(qpdf_oh_dict_next_key(r->pdf));
		read_entry(r, name);
		free(name);
	}
}

/* -------------------------------------------------------------------------------------------- */

char *ing_pdf_info_add(const void *data, size_t bytes, json_t *info)
{
	struct reading r = {.pdf = qpdf_init(), .info = info};
	qpdf_silence_errors(r.pdf);
	qpdf_set_suppress_warnings(r.pdf, QPDF_TRUE);
	if (qpdf_read_memory(r.pdf, "", data, bytes, NULL) < QPDF_ERRORS) {
		qpdf_oh trailer = qpdf_get_trailer(r.pdf);
		r.dictionary = qpdf_oh_get_key(r.pdf, trailer, "/Info");
		if (qpdf_oh_is_dictionary(r.pdf, r.dictionary))
			read_entries(&r);
	}
	if (qpdf_has_error(r.pdf))
		qpdf_get_error(r.pdf); /* or it is printed */
	qpdf_cleanup(&r.pdf);
	return r.undecodable;
}
