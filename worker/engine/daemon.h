/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * daemon.h - the running daemon: the engine with Kafka and PostgreSQL, signals, the service manager.
 */
#pragma once

struct ing_conf;

enum ing_daemon_exit {
	ING_DAEMON_OK = 0,
	ING_DAEMON_RUNTIME = 1,
	ING_DAEMON_CONFIG = 2,
	ING_DAEMON_ENVIRONMENT = 3
};

/* Run until a signal or a fatal error; conf is borrowed. The calling thread becomes the loop
 * thread. Logs why it could not start or had to end. Exits the process itself on a second signal, or
 * when something unfinished cannot be waited for. */
enum ing_daemon_exit ing_daemon_run(const struct ing_conf *conf);
