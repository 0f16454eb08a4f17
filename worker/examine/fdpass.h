/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fdpass.h - a descriptor beside the bytes of a Unix socket (SCM_RIGHTS, unix(7)). Any thread.
 */
#pragma once
#include <sys/types.h>
#include "common/base/macros.h"

/* As send(2) with MSG_NOSIGNAL and flags; fd (-1: none) goes with the first byte, so it has gone
 * when the result is above 0. */
ssize_t ing_fd_send(int sock, const void *data, size_t bytes, int flags, int fd);
/* As recv(2). *ret_fd is the descriptor that came with these bytes (close-on-exec, the
 * caller's), or -1; NULL: none is wanted. More than was asked for is closed, and the call fails
 * with EPROTO. */
ssize_t ing_fd_recv(int sock, void *data, size_t bytes, int flags, int *ret_fd);
