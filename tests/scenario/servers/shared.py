# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers that all tests of a run use at the same time, from several processes.

They live in one folder. Whoever needs one first starts it, under a lock; the process that has made the folder stops
them when all tests are over. A test cannot stop them.
"""

import contextlib
import fcntl

import private_servers

KINDS = ("postgres", "kafka")


@contextlib.contextmanager
def locked(folder):
    """No other process is in such a block of the same folder meanwhile."""
    with open(folder / "lock", "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def get(folder, kind):
    """The running server of that kind, "postgres" or "kafka"."""
    server = private_servers.SERVERS[kind](folder / kind)
    with locked(folder):
        server.start()

    def stop(**_):
        raise AssertionError(f"other tests use this server: mark the test private_servers({kind!r})")
    server.stop = stop
    return server


def stop_all(folder):
    for kind in KINDS:
        private_servers.SERVERS[kind](folder / kind).stop()
