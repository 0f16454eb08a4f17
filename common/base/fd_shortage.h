/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fd_shortage.h - whether this process, or the system, is out of file descriptors.
 *
 * Whoever fails to create a descriptor reports the errno here; whoever starts work that needs
 * descriptors asks first. Otherwise each would take the failure for one of the host or the document
 * at hand.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* errnum: of a call that creates a descriptor. Returns true for EMFILE and ENFILE, which begins a
 * shortage. Any thread. */
bool ing_fd_shortage_note(int errnum);
/* Returns true during a shortage: start nothing that needs descriptors. It ends as soon as 32 can be
 * created again (tried every 100 ms at most), or after a second, which is doubled up to half a minute
 * for each shortage that soon follows another: idle descriptors may have to be used before they are
 * closed. Loop thread only. */
bool ing_fd_shortage(void);
