/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libsystemd's notifications; only this file includes it.
 */
#include "worker/service/notify.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include "common/base/utf8.h"

#define STATUS_BYTES ((size_t)512)

void ing_notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void ing_notify_reloading(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		(unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000);
}

void ing_notify_stopping(unsigned more_ms)
{
	sd_notifyf(0, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%llu", (unsigned long long)more_ms * 1000);
}

void ing_notify_extend(unsigned more_ms)
{
	sd_notifyf(0, "EXTEND_TIMEOUT_USEC=%llu", (unsigned long long)more_ms * 1000);
}

void ing_notify_status(const char *fmt, ...)
{
	char text[STATUS_BYTES + 8];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	char *line = ing_utf8_clean(text, ing_utf8_cut(text, strlen(text), STATUS_BYTES), NULL);
	ing_must(line != NULL);
	for (char *c = line; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	sd_notifyf(0, "STATUS=%s", line);
	free(line);
}

void ing_notify_watchdog(void)
{
	sd_notify(0, "WATCHDOG=1");
}

unsigned ing_notify_watchdog_ms(void)
{
	uint64_t usec = 0;
	if (sd_watchdog_enabled(0, &usec) <= 0)
		return 0;
	return (unsigned)(usec / 2000);
}
