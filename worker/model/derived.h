/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * derived.h - what is made of a document and kept beside it (derived.def): text, a thumbnail, XML.
 * Plain data, any thread.
 */
#pragma once
#include <stddef.h>

#include "worker/model/outputs.h"

enum ing_derived_kind {
#define DERIVED(NAME, output, folder, extension, content_type) ING_DERIVED_##NAME,
#include "worker/model/derived.def"
#undef DERIVED
	ING_DERIVED_
};

/* The bytes of one; data (heap) NULL: there is none. A NUL follows them where they are text. */
struct ing_derived {
	char *data;
	size_t bytes;
};

/* A row of the table. Strings are static. */
struct ing_derived_row {
	const char *name; /* "PDF_TEXT" */
	enum ing_output output;
	const char *folder, *extension, *content_type;
};

/* "folder/aa/bb/SHA1extension" and its NUL fit. */
#define ING_DERIVED_PATH_BYTES 80

const struct ing_derived_row *ing_derived_row(enum ing_derived_kind kind);
/* The object's path in the store, without a prefix. sha1hex: of the document, 40 lower-case hex digits. */
void ing_derived_path(
	enum ing_derived_kind kind, const char *sha1hex, char ret_path[ING_DERIVED_PATH_BYTES]);
/* Frees what there was. Takes data. */
void ing_derived_set(struct ing_derived *d, char *data, size_t bytes);
void ing_derived_done(struct ing_derived *d);
