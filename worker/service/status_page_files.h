/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * status_page_files.h - the style and the script of the status page, compiled in (status_page_files.c is made by
 * embed_page.cmake). Constant, any thread.
 */
#pragma once

extern const char ing_status_page_css[];
extern const char ing_status_page_js[];
