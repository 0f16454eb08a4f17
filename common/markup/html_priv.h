/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * html_priv.h - what html.c, html_depth.c and html_fill.c share. One thread.
 */
#pragma once
#include <lexbor/html/base.h>
#include <lexbor/html/token.h>

/* Before token is built: close elements until another one stands no deeper than open_elements
 * (16 at least), and leave formatting elements closed that would be opened again past it. The
 * tree is at most four levels deeper: <tbody>, <tr> and what closes at once close nothing. A
 * page pays for each token what the standard's own look for an open <p> costs it: a walk over
 * the open elements. */
void ing_html_limit_depth(
	lxb_html_tree_t *tree, const lxb_html_token_t *token, size_t open_elements);
