/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * recover.h - files that an earlier process of the same prefix and host has left open. Runs once,
 * before the archive thread starts.
 */
#pragma once
#include "common/base/error.h"

/* Every PREFIX-*-HOST.warc.gz.open in the folder is cut behind its last whole record, synced and
 * given its final name, or removed when it holds no record. Files of others, files that another
 * process is writing, and files whose final name is taken are left alone. Each is logged. Fails
 * only when the folder or a file cannot be read or changed. */
int ing_archive_recover(
	int dir_fd, const char *prefix, const char *host, struct ing_error *err) ING_MUST_CHECK;
