/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html_page.h - HTML pages that are written for people: a frame with its own style, light, dark and
 * for print, without scripts and without anything from elsewhere; and values of any origin, escaped.
 *
 * Texts may come from hostile pages: whatever they hold they stay text, and of URLs only http, https
 * and mailto become links. Beyond out's ceiling nothing is added and out->failed is set. Pure.
 */
#pragma once
#include <stddef.h>

struct ing_buf;

void ing_html_page_begin(struct ing_buf *out, const char *title);
void ing_html_page_end(struct ing_buf *out);

/* Text, or the value of a quoted attribute. Control characters are dropped; NULL is "". */
void ing_html_add(struct ing_buf *out, const char *text);
void ing_html_addn(struct ing_buf *out, const char *text, size_t bytes);
/* <a> to url with the text, or the text alone when url is none that a page may link to. */
void ing_html_add_link(struct ing_buf *out, const char *url, const char *text);
/* <a> to an address of e-mail, or its text alone when it is none. */
void ing_html_add_email(struct ing_buf *out, const char *address);
/* "12,345" */
void ing_html_add_count(struct ing_buf *out, unsigned long long n);
/* The day of an RFC 3339 time, with the whole of it for the pointer that rests there. NULL: nothing. */
void ing_html_add_day(struct ing_buf *out, const char *time);
