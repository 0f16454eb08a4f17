# SPDX-License-Identifier: GPL-3.0-or-later
"""A name server for tests: every name is at the address that the test says.

    with NameServer({"*": "127.0.0.2"}) as names:
        settings["fetch.dns_servers"] = names.address
"""

import socket
import struct
import threading

TYPE_A = 1
NO_SUCH_NAME = 3


class NameServer:
    """UDP, loopback, a free port. addresses: {name: "127.0.0.2"}, "*" for all others; None: there is no such name.
    Asks for anything but A get an empty answer."""

    def __init__(self, addresses):
        self.addresses = addresses
        self.asked = []
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.sock.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        wake = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        wake.sendto(b"", self.sock.getsockname())
        wake.close()
        self.thread.join()
        self.sock.close()

    def _serve(self):
        while True:
            query, peer = self.sock.recvfrom(4096)
            if not query:
                return
            self.sock.sendto(self._reply(query), peer)

    def _reply(self, query):
        number, = struct.unpack_from(">H", query)
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode("ascii"))
            at += 1 + query[at]
        question = query[12:at + 5]
        kind, = struct.unpack_from(">H", query, at + 1)
        name = ".".join(labels).lower()
        self.asked.append((name, kind))
        address = self.addresses.get(name, self.addresses.get("*"))
        code = NO_SUCH_NAME if address is None else 0
        answers = b""
        if address is not None and kind == TYPE_A:
            answers = struct.pack(">HHHIH", 0xC00C, TYPE_A, 1, 60, 4) + socket.inet_aton(address)
        return struct.pack(">HHHHHH", number, 0x8180 | code, 1, 1 if answers else 0, 0, 0) + question + answers
