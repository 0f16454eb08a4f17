/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * journald.h - the log's backend for systemd-journald: an entry with fields for each record, in the
 * journal's native protocol (a datagram to /run/systemd/journal/socket).
 *
 * sd_journal_sendv(3) sends the same, but waits for as long as the journal does not read, and says
 * nothing when there is none; the loop must not wait, so the datagram is sent here. What the
 * journal has no room for is counted, and told in the next entry that it takes (the field
 * INGEST_LEFT_OUT). Entries are small enough to be sent without a memfd.
 *
 * Thread: any, once ing_journald_log() has returned.
 */
#pragma once
#include <stdbool.h>
#include "common/base/log.h"

/* ing_log_setup() with this backend, if the format asks for the journal and there is one; what
 * cannot be sent goes to stderr as text, and so does all without a journal, which is said once.
 * identifier: SYSLOG_IDENTIFIER, borrowed. Before threads start, once. */
void ing_journald_log(const char *identifier, const struct ing_log_conf *conf);

/* Where the journal listens. Tests listen elsewhere. */
void ing_journald_set_socket(const char *path);
