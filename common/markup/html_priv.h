/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html_priv.h - what html.c and html_fill.c share. One thread.
 */
#pragma once

struct ing_html;

/* lexbor's document node: it has <html>, <head> and <body> whatever the page was. */
const void *ing_html_top(const struct ing_html *h);
