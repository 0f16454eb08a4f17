/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SA_RESETHAND, so that the second signal has its usual effect.
 */
#include "worker/ctl/stop_signal.h"

#include <stddef.h>

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* -------------------------------------------------------------------------------------------- */

const volatile sig_atomic_t *ing_ctl_catch_stop(void)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return &stop;
}
