/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xml_writer.h - elements and text as a well-formed XML document in UTF-8.
 *
 * A prefix that the document uses without declaring it (its DTD did) is declared in the root:
 * with the namespace it is known for, or with one of ours. The caller sees to it that elements
 * nest, and that names and text have XML's characters only. One thread.
 */
#pragma once
#include "common/base/buf.h"
#include "common/base/error.h"

struct ing_xml_writer;

struct ing_xml_writer *ing_xml_writer_new(struct ing_buf *out); /* empty; borrowed */
void ing_xml_writer_free(struct ing_xml_writer *w);             /* NULL is fine */
/* attrs: names and values in turn, NULL-terminated, or NULL. */
void ing_xml_writer_open(struct ing_xml_writer *w, const char *name, const char *const *attrs);
void ing_xml_writer_text(struct ing_xml_writer *w, const char *s, size_t bytes);
void ing_xml_writer_close(struct ing_xml_writer *w, const char *name);
/* Call once, when the root is closed. Returns 0; -SYNTAX when names are not as Namespaces in XML
 * has them, or too many prefixes are in use; -TOO_BIG when the document does not fit. */
int ing_xml_writer_finish(struct ing_xml_writer *w, struct ing_error *err) ING_MUST_CHECK;
