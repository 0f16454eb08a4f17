/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * files.h - files that the server sends as they are, compiled in (files.c is made by embed.cmake). Constant, any thread.
 */
#pragma once
#include <stddef.h>

struct ing_serve_file {
	const char *path, *type;
	const char *data;
	size_t bytes;
};

extern const struct ing_serve_file ing_serve_files[];
extern const size_t ing_serve_file_count;
