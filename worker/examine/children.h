/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * children.h - the zygote's forks: examiners, and for each of them at most one reader of a PDF.
 *
 * An examiner cannot fork, so there are never more than two processes for each that the pool has
 * asked for, and all are our own children: nothing is left behind when one dies. A reader dies at
 * its time limit and with its examiner. Examiners are not trusted: only a struct of fixed size
 * is read from them, nothing here waits for them, and one that sends a request out of turn is
 * killed. One thread.
 */
#pragma once
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include "worker/examine/child.h"

#define ING_MAX_EXAMINERS 1024 /* a pool asks for some per core */

struct ing_children_conf {
	struct ing_child_conf child;
	unsigned max_reader_ms; /* whatever an examiner asks for; 0: no bound */
	/* An examiner and its reader are dead and reaped. False: the pool is gone. */
	bool (*exited)(uint32_t id, int status, uint64_t cpu_us);
};

struct ing_children;

struct ing_children *ing_children_new(const struct ing_children_conf *conf);
/* Kills and reaps all; NULL is fine. */
void ing_children_free(struct ing_children *c);
/* Fork examiner `id` to serve `sock` (borrowed). Returns false when it cannot be forked. */
bool ing_children_spawn(struct ing_children *c, uint32_t id, int sock);
void ing_children_kill(struct ing_children *c, uint32_t id); /* unknown ids are ignored */
/* Reap the dead. Returns false when the pool is gone. */
bool ing_children_reap(struct ing_children *c);
/* Fill `fds` (room for ING_MAX_EXAMINERS) for poll(2), and *ret_ms with its timeout, -1 for none.
 * Returns how many. */
size_t ing_children_poll_fds(const struct ing_children *c, struct pollfd *fds, int *ret_ms);
/* After poll(2): read one request from each examiner that sent some, and kill readers past their
 * time limit. Only ing_children_reap(), spawn and kill may be called between the two. */
void ing_children_handle(struct ing_children *c, const struct pollfd *fds, size_t count);
