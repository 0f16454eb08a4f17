/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The socket of the journal. Without a connection: the journal may be started anew, at the same path.
 */
#include "worker/service/journald.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/log_line.h"

/* A burst of lines of requests is kept for a journal that is busy; the kernel's default has room for
 * some hundred. It is a wish: net.core.wmem_max bounds it. */
#define SEND_BUFFER_BYTES (8 << 20)

static struct sockaddr_un journal = {
	.sun_family = AF_UNIX, .sun_path = "/run/systemd/journal/socket"};
static const char *identifier;
static int fd = -1;
static atomic_uint left_out;

static bool has_no_room(int errnum)
{
	return errnum == EAGAIN || errnum == EWOULDBLOCK || errnum == ENOBUFS;
}

static bool send_bytes(const char *entry, size_t bytes)
{
	ssize_t sent;
	do
		sent = sendto(fd, entry, bytes, MSG_DONTWAIT | MSG_NOSIGNAL,
			(const struct sockaddr *)&journal, sizeof(journal));
	while (sent < 0 && errno == EINTR);
	return sent >= 0;
}

/* For ing_log_conf. */
static bool send_record(const struct ing_log_record *r)
{
	char entry[ING_LOG_ENTRY_BYTES];
	unsigned count = atomic_exchange(&left_out, 0);
	size_t n = ing_log_journal_entry(r, identifier, entry, sizeof(entry) - 64);
	if (count > 0)
		n += (size_t)snprintf(entry + n, 64, "INGEST_LEFT_OUT=%u\n", count);
	if (send_bytes(entry, n))
		return true;
	atomic_fetch_add(&left_out, has_no_room(errno) ? count + 1 : count);
	return has_no_room(errno);
}

/* -------------------------------------------------------------------------------------------- */

void ing_journald_set_socket(const char *path)
{
	snprintf(journal.sun_path, sizeof(journal.sun_path), "%s", path);
}

void ing_journald_log(const char *given_identifier, const struct ing_log_conf *conf)
{
	struct ing_log_conf with = *conf;
	identifier = given_identifier;
	if (conf->format != ING_LOG_FORMAT_JOURNAL) {
		ing_log_setup(conf);
		return;
	}
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int wanted = SEND_BUFFER_BYTES;
	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &wanted, sizeof(wanted));
	with.journal = fd >= 0 ? send_record : NULL;
	ing_log_setup(&with);
	if (fd < 0 || access(journal.sun_path, W_OK) != 0)
		ing_log(ING_LOG_WARNING,
			"log.format is journal, and there is no journal at %s: lines go to standard "
			"error as text",
			journal.sun_path);
}
