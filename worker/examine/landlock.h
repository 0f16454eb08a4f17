/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * landlock.h - the part of the file system that examiners may read, by the kernel's Landlock. One
 * thread.
 */
#pragma once

/* Open the rule set. The kernel's ABI version and *ret_fd (caller closes), or 0 and -1 where
 * Landlock is missing, switched off, refused by an outer filter, or of no use (sanitized
 * builds). */
int ing_landlock_prepare(int *ret_fd);
/* Restrict the calling process; needs no-new-privileges. 0, or -1 and errno. */
int ing_landlock_enter(int fd);
