# SPDX-License-Identifier: GPL-3.0-or-later
"""The real daemon as a child process of a test, and the configuration that it gets."""

import os
import re
import signal
import socket
import subprocess
import threading
import time

import yaml

READY_PATIENCE_S = 30
STOP_PATIENCE_S = 60


def nested(flat):
    """{"a.b": 1, "a.c": 2} as {"a": {"b": 1, "c": 2}}; members that are mappings already are merged."""
    tree = {}
    for key, value in flat.items():
        *path, last = key.split(".")
        node = tree
        for word in path:
            node = node.setdefault(word, {})
        if isinstance(value, dict) and isinstance(node.get(last), dict):
            node[last].update(value)
        else:
            node[last] = value
    return tree


def write_config(path, flat):
    path.write_text(yaml.safe_dump(nested(flat), sort_keys=False), encoding="utf-8")
    return path


class Worker:
    """One run of ingest-worker, from start() to its end. Its log is a file; it notifies a socket of ours."""

    def __init__(self, program, config, folder, log_name="worker.log", arguments=(), wrapper=(), env=None):
        self.command = [*wrapper, str(program), "--config", str(config), *arguments]
        self.env = env or {}
        self.log_path = folder / log_name
        self.socket_path = str(folder / "notify")
        self.notifications = []
        self.process = None
        self.socket = None

    def start(self, ready=True):
        """Starts it and, unless told not to, waits until it says that it is ready."""
        if os.path.exists(self.socket_path):
            os.unlink(self.socket_path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.socket_path)
        # Read all the time: a full socket would hold the worker's loop up.
        threading.Thread(target=self._listen, args=(self.socket,), daemon=True).start()
        # Appended: a worker that is started again in the same folder goes on in the same log.
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **self.env, "NOTIFY_SOCKET": self.socket_path})
        if ready:
            self.wait_notified("READY=1", READY_PATIENCE_S)
        return self

    def _listen(self, sock):
        try:
            while note := sock.recv(65536):
                self.notifications.append(note.decode())
        except OSError:
            pass  # closed: the worker has ended

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def tail(self, lines=60):
        return "\n".join(self.log().splitlines()[-lines:])

    def running(self):
        return self.process is not None and self.process.poll() is None

    def wait_notified(self, wanted, timeout):
        """Waits for a line of a notification, as READY=1 or STOPPING=1."""
        deadline = time.monotonic() + timeout
        while not any(wanted in note.split("\n") for note in self.notifications):
            if not self.running():
                raise AssertionError(f"the worker ended with {self.process.returncode}:\n{self.tail()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"no {wanted} within {timeout} s:\n{self.tail()}")
            time.sleep(0.02)

    def wait_log(self, pattern, timeout=30):
        """Waits until the log has a line that the regular expression finds."""
        deadline = time.monotonic() + timeout
        while True:
            found = re.search(pattern, self.log(), re.MULTILINE)
            if found:
                return found
            if not self.running() or time.monotonic() > deadline:
                raise AssertionError(f"nothing like {pattern!r} in the log:\n{self.tail()}")
            time.sleep(0.05)

    def wait_end(self, timeout=STOP_PATIENCE_S):
        """Waits for the end and returns the exit status."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the worker does not end:\n{self.tail()}") from None
        finally:
            self._close()

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self, timeout=STOP_PATIENCE_S):
        """Drains and ends it; returns the exit status."""
        if self.running():
            self.terminate()
        return self.wait_end(timeout)

    def kill(self):
        """kill -9, as a power cut would."""
        if self.running():
            self.process.kill()
        self.process.wait()
        self._close()

    def _close(self):
        if self.socket and self.process.poll() is not None:
            self.socket.shutdown(socket.SHUT_RD)  # wakes the reader, which close() alone does not
            self.socket.close()
            self.socket = None
