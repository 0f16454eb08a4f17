/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * key_file.h - files that hold a key or a password and nothing else. Any thread; reading blocks, as a
 * small local file does.
 */
#pragma once
#include <stddef.h>
#include "common/base/macros.h"

/* Path of such a file. A name without a slash is that of a credential, which systemd has put into a folder
 * of the unit's own (LoadCredential=). Heap. */
char *ing_key_file_path(const char *file) ING_MUST_CHECK;
/* Reads the first word of the file, which is cut to bytes - 1. Returns 0, or an errno; ENODATA: there is
 * none. */
int ing_key_file_read(const char *path, char *ret_key, size_t bytes) ING_MUST_CHECK;
