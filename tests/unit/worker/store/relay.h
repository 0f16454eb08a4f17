/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * relay.h - a TCP relay in front of a PostgreSQL server, in a thread of its own, that cuts a
 * connection at its COMMIT.
 */
#pragma once
#include <stddef.h>

enum relay_cut {
	RELAY_ANSWER, /* the server has committed and said so, its answer is thrown away */
	RELAY_ASKED,  /* as soon as the server has been asked */
};

struct relay;

/* dsn: of the server, on TCP. ret_dsn: the same through the relay. */
struct relay *relay_start(const char *dsn, char *ret_dsn, size_t bytes);
void relay_stop(struct relay *r);
/* The next `count` COMMITs that are asked for. */
void relay_cut(struct relay *r, enum relay_cut how, int count);
int relay_cuts_left(const struct relay *r);
