/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * shortage.h - running out of file descriptors: noticed once, told to all.
 *
 * The limit is the process's (RLIMIT_NOFILE, and the system's own), and so is what is known of it:
 * whoever cannot make a descriptor says so; whoever decides what is begun asks first. Without that
 * each would blame whom it just worked for.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* What errno says of a call that makes a descriptor: true for EMFILE and ENFILE, which is noted.
 * Any thread. */
bool ing_shortage_note(int errnum);
/* Some call has run out not long ago: begin nothing that needs descriptors. Over as soon as some
 * dozens can be had again, looked at once in 100 ms at most; or after a second, doubled with each
 * shortage that follows soon upon another, up to half a minute: what is idle may have to be used
 * before it is closed. One thread: the loop's. */
bool ing_shortage(void);
