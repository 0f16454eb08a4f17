/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * extract_html.h - `ingestctl extract html --batch`: what the document step finds in many pages,
 * one JSON object a line. One thread.
 */
#pragma once

/* Each line of a file ("-": standard input) is {"url": TEXT, "html": TEXT}. Returns an exit code. */
int ing_ctl_extract_html_batch(const char *path);
