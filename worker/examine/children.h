/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * children.h - the zygote's forks: examiners, and for each of them at most one reader of a PDF.
 *
 * An examiner cannot fork, so there are never more than two processes for each that the pool has
 * asked for, and all are our own children: nothing is left behind when one dies. A reader dies at
 * its time limit and with its examiner. Examiners are not trusted: of what they say, one struct of
 * a fixed size is read, nothing here waits for them, and whoever asks out of turn is killed. One
 * thread.
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
/* Kills and reaps everybody; NULL is fine. */
void ing_children_free(struct ing_children *c);
/* Fork examiner `id` to serve `sock` (borrowed). False when that cannot be done. */
bool ing_children_spawn(struct ing_children *c, uint32_t id, int sock);
void ing_children_kill(struct ing_children *c, uint32_t id); /* unknown ids are ignored */
/* Whoever has died. False: the pool is gone. */
bool ing_children_reap(struct ing_children *c);
/* What to wait for: fills `fds` (room for ING_MAX_EXAMINERS), returns how many, and in *ret_ms the
 * time for poll(2), -1 for any. */
size_t ing_children_poll_fds(const struct ing_children *c, struct pollfd *fds, int *ret_ms);
/* After poll(2): one request from each examiner that has some, and the end of readers out of time.
 * Nothing may come between the two but ing_children_reap(), spawn and kill. */
void ing_children_handle(struct ing_children *c, const struct pollfd *fds, size_t count);
