# SPDX-License-Identifier: GPL-3.0-or-later
"""A TCP relay in front of a server, whose network can be lost.

While it is frozen nothing is passed on in either direction and nothing is closed: connections stay open, new
ones are accepted, as with a host that vanished behind something that answers for it. What was open then stays
dead when it is thawed; new connections work.

    with Relay(port_of_the_server) as relay:
        connect("127.0.0.1", relay.port)
        relay.freeze()
"""

import contextlib
import socket
import threading


class Relay:
    def __init__(self, port):
        self.target = port
        self.frozen = threading.Event()
        self.lock = threading.Lock()
        self.open = []  # sockets of both sides; kept, so that nothing is closed before the end
        self.dead = set()
        self.accepted_in_vain = 0  # connections, while it was frozen
        self.ending = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.threads = []

    def __enter__(self):
        self._spawn(self._accept)
        return self

    def __exit__(self, *_):
        self.ending.set()
        for sock in [self.listener, *self.open]:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self.threads:
            thread.join(5)

    def freeze(self):
        self.frozen.set()
        with self.lock:
            self.dead = set(self.open)

    def thaw(self):
        with self.lock:
            self.dead = set(self.open)  # those of the time between, too
        self.frozen.clear()

    def _spawn(self, run, *arguments):
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self):
        while not self.ending.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.open.append(client)
            if self.frozen.is_set():
                self.accepted_in_vain += 1
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            with self.lock:
                self.open.append(server)
            self._spawn(self._pass_on, client, server)
            self._spawn(self._pass_on, server, client)

    def _pass_on(self, source, sink):
        with contextlib.suppress(OSError):
            while True:
                data = source.recv(65536)
                if source in self.dead or self.frozen.is_set():
                    return
                if not data:
                    sink.shutdown(socket.SHUT_WR)
                    return
                sink.sendall(data)
