/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * endpoint.h - the worker over HTTP for whoever watches it: /metrics, /healthz, /readyz.
 *
 * Owns: a thread with a loop of its own, the listening socket, its connections, the mailbox through
 * which the worker's loop hands it snapshots. The worker's loop does nothing for it but to fill the
 * mailbox; what clients do, slow, many or hostile ones, costs the endpoint's thread.
 *
 * It listens on loopback or at a UNIX socket (mode 0660). Users of this machine other than those of
 * peers.h get 403.
 *
 * Thread: functions are called by the loop's.
 */
#pragma once
#include "common/base/error.h"
#include "worker/model/settings.h"

struct ing_endpoint;
struct ing_mailbox;

#define ING_ENDPOINT_CONNECTIONS 64
/* Its connections, the listening socket, netlink, and what two loops of epoll need. */
#define ING_ENDPOINT_DESCRIPTORS (ING_ENDPOINT_CONNECTIONS + 12)

/* Listens, and starts the thread. Error: -CONFIG, -SYSTEM (the address is in use, …). */
int ing_endpoint_new(const struct ing_metrics_settings *settings, struct ing_endpoint **ret,
	struct ing_error *err) ING_MUST_CHECK;
/* Where struct ing_snapshot are put; borrowed. */
struct ing_mailbox *ing_endpoint_mailbox(struct ing_endpoint *e);
/* Where it listens, as clients are told it: "127.0.0.1:9108". */
void ing_endpoint_listening(const struct ing_endpoint *e, char *ret, size_t ret_bytes);
/* Ends all connections and the thread. NULL is fine. */
void ing_endpoint_free(struct ing_endpoint *e);
