/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * folder.h - folders that the configuration names.
 */
#pragma once
#include "common/base/error.h"

/* Make the folder and those above it that are missing (mode 0755 less the umask). `what` names it
 * in the error. */
int ing_folder_make(const char *path, const char *what, struct ing_error *err) ING_MUST_CHECK;
