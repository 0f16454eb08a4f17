/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * key_file.h - files that hold a key or a password and nothing else. Any thread; reading blocks, as a
 * small local file does.
 */
#pragma once
#include <stddef.h>
#include "common/base/error.h"
#include "common/base/macros.h"

/* Path of such a file. A name without a slash is that of a credential, which systemd has put into a folder
 * of the unit's own (LoadCredential=); outside of a unit it is looked for where LoadCredential= would find it
 * (/etc/credstore), and else in the working directory. Heap. */
char *ing_key_file_path(const char *file) ING_MUST_CHECK;
/* Reads the first word of the file, which is cut to bytes - 1. Returns 0, or an errno; ENODATA: there is
 * none. */
int ing_key_file_read(const char *path, char *ret_key, size_t bytes) ING_MUST_CHECK;

/* Of a password, a key or a certificate. */
#define ING_KEY_FILE_MAX_BYTES ((size_t)256 << 10)
/* The whole text of such a file, named as ing_key_file_path() has it, but for the end of its last line.
 * *ret_text is heap. Error: -CONFIG, which names the file: it cannot be read, is empty, too large, or has a
 * zero byte in it. */
int ing_key_file_text(const char *file, char **ret_text, struct ing_error *err) ING_MUST_CHECK;
