/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libraries.h - the answer to --version: the program's version, and those of the libraries that this process has loaded, which
 * may be newer than the ones it was built with; and by which of the CPU's instructions bodies are digested. One thread.
 */
#pragma once
#include <stdio.h>

/* "PROGRAM VERSION", then a line "NAME VERSION" for each library, then "digests INSTRUCTIONS". */
void ing_libraries_print(const char *program, FILE *to);
