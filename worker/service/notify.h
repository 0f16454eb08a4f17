/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * notify.h - telling the service manager how we are (sd_notify(3)). Every call is harmless without
 * one. Loop thread.
 */
#pragma once
#include "common/base/macros.h"

void ing_notify_ready(void);                /* READY=1: at the start, and after a reload */
void ing_notify_reloading(void);            /* RELOADING=1, until READY=1 */
void ing_notify_stopping(unsigned more_ms); /* STOPPING=1, and as ing_notify_extend() */
/* EXTEND_TIMEOUT_USEC: within so long the worker has ended, or says so again. It is said every
 * second while the loop turns, so that a drain may take as long as it needs and a worker that hangs
 * is ended. */
void ing_notify_extend(unsigned more_ms);
/* STATUS=: a line, cut at 512 bytes. Controls become blanks: a line feed would begin another assignment. */
void ing_notify_status(const char *fmt, ...) ING_PRINTF(1, 2);
void ing_notify_watchdog(void); /* WATCHDOG=1: the loop has turned */
/* How often to call it, in ms: half of WatchdogSec; 0 when the manager asks for none. */
unsigned ing_notify_watchdog_ms(void);
