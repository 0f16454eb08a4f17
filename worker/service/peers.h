/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * peers.h - which users of this machine may talk to a listening socket of the worker.
 *
 * Root, the user of the process itself, and those that are named. Of a UNIX socket also members of
 * its file's group, whom its mode lets in. The kernel says who is at the other end: of a UNIX socket
 * SO_PEERCRED, of a TCP connection over loopback the other socket's owner by sock_diag(7). A TCP
 * client that has closed its end already has no owner, and is nobody.
 *
 * Owns: the netlink socket. Thread: any, one at a time. Blocks for as long as the kernel takes to look
 * one socket up.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include "common/base/error.h"

struct ing_peers;

/* users: names or numbers; NULL-terminated, or NULL for none. gid: of the UNIX socket's file, -1 for
 * TCP. Error: -CONFIG (there is no such user, or this process' user namespace does not have it),
 * -SYSTEM (netlink is not available; what to do is part of the message). */
int ing_peers_new(char *const *users, gid_t gid, struct ing_peers **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Whether whoever is at the other end of this connected socket may use it. */
bool ing_peers_allow(struct ing_peers *p, int fd);
void ing_peers_free(struct ing_peers *p); /* NULL is fine */
