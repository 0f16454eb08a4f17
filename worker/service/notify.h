/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * notify.h - telling the service manager how we are (sd_notify(3)). Every call is harmless without
 * one. Loop thread.
 */
#pragma once
#include "common/base/macros.h"

void ing_notify_ready(void);                    /* READY=1: at the start, and after a reload */
void ing_notify_reloading(void);                /* RELOADING=1, until READY=1 */
void ing_notify_stopping(unsigned may_take_ms); /* STOPPING=1, and how long that may take */
void ing_notify_status(const char *fmt, ...) ING_PRINTF(1, 2);
void ing_notify_watchdog(void); /* WATCHDOG=1: the loop has turned */
/* How often to call it, in ms: half of WatchdogSec; 0 when the manager asks for none. */
unsigned ing_notify_watchdog_ms(void);
