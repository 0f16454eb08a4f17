/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xml_events.h - an XML document of any length, element by element as its bytes come.
 *
 * Nothing is kept of what was read: memory is that of a tag and of the names in the document (libxml2
 * keeps each once). Nothing is fetched. Of entities those of XML and HTML's names for characters are
 * known; a declaration in the document defines nothing, and the reference to such an entity is U+FFFD. One
 * document may follow another, each with its XML declaration. One thread at a time.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "common/base/error.h"

struct ing_xml_events;

/* Names as in the document, with their prefixes; everything is UTF-8 and borrowed for the call. */
struct ing_xml_events_user {
	/* attributes: name, value, name, value …, NULL; or NULL when there are none. */
	void (*open)(void *ctx, const char *name, const char *const *attributes);
	/* A piece of text, also of CDATA. */
	void (*text)(void *ctx, const char *text, size_t bytes);
	void (*close)(void *ctx, const char *name);
};

struct ing_xml_events *ing_xml_events_new(const struct ing_xml_events_user *user, void *ctx);
void ing_xml_events_free(struct ing_xml_events *x); /* NULL is fine */
/* 0; -SYNTAX with line and column: not well-formed, or bytes that are not in its encoding; -TOO_DEEP:
 * more than 256 elements in one another; -TOO_BIG: a tag, a comment or a DOCTYPE of over
 * ING_XML_EVENTS_MARKUP_BYTES. After a failure it only fails. */
#define ING_XML_EVENTS_MARKUP_BYTES ((size_t)256 << 10)
int ing_xml_events_feed(struct ing_xml_events *x, const char *bytes, size_t count,
	struct ing_error *err) ING_MUST_CHECK;
/* There is no more: -TRUNCATED when an element is open. Nothing at all is no failure. */
int ing_xml_events_end(struct ing_xml_events *x, struct ing_error *err) ING_MUST_CHECK;
/* For callbacks: the line of the document that is being read, from 1. */
int ing_xml_events_line(const struct ing_xml_events *x);
