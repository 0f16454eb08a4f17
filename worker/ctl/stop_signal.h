/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stop_signal.h - SIGINT and SIGTERM as a flag, for a command that ends in good order at the first of them. The second
 * ends it at once. State: one flag, of the process.
 */
#pragma once
#include <signal.h>

/* Catches them from now on. The flag is 0 until then. */
const volatile sig_atomic_t *ing_ctl_catch_stop(void);
