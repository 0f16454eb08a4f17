/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * unix_socket.h - a listening UNIX socket in the file system, with a path of any length.
 *
 * The address of a UNIX socket has room for 107 bytes, paths do not care. So the socket is bound
 * under a short name through /proc/self/fd/FOLDER and gets its own name afterwards; which also means
 * that it has its mode before anybody can find it, and that a dead process's is replaced in one step.
 *
 * Owns: the folder's descriptor and the socket's name in it, not the descriptor of the socket. Any
 * thread, one at a time.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include "common/base/error.h"

struct ing_unix_socket {
	int folder; /* -1: there is none */
	char *path;
	const char *name; /* in path, behind the folder */
	dev_t dev;        /* of the socket, to know it by; ino is 0 while it has no name */
	ino_t ino;
	gid_t gid;
};

/* *ret_fd is bound, does not block and does not listen yet; the caller's. On failure nothing is left.
 * Error: -SYSTEM, also when something else than a socket is there. */
int ing_unix_socket_init(struct ing_unix_socket *s, const char *path, mode_t mode, int *ret_fd,
	struct ing_error *err) ING_MUST_CHECK;
/* Whether a process listens at the socket with this path. */
bool ing_unix_socket_answers(const char *path);
/* Removes the socket's name, unless it is another socket's by now. Done twice, or zero-initialised
 * with folder -1, is fine. */
void ing_unix_socket_done(struct ing_unix_socket *s);
