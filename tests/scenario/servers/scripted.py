# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of raw sockets that misbehaves exactly as a test says.

Each connection is handed to a script, a function of one Connection. The scripts below are the usual
misdeeds; a test may pass any function of its own. Every wait ends when the server is stopped, so that a
script that never answers does not hold a test up.

    with ScriptedServer(never_answer) as server:
        config = {"fetch.connect_to": [f"silent.test.example:80:127.0.0.1:{server.port}", *web.connect_to()]}

With tls=Authority (deploy/sampleweb/certs.py) each connection is wrapped before the script runs; the script
stall_handshake needs none, for it never answers the client's first flight.
"""

import socket
import struct
import threading
import time


class Connection:
    """One accepted connection and what has been read from it."""

    def __init__(self, server, sock, number):
        self.server = server
        self.sock = sock
        self.number = number  # counts from 0
        self.request = b""

    def read_request(self):
        """Reads up to the blank line and returns the first line without its end; b"" if the peer has gone."""
        while b"\r\n\r\n" not in self.request:
            data = self.sock.recv(65536)
            if not data:
                return b""
            self.request += data
        return self.request.split(b"\r\n", 1)[0]

    def send(self, data):
        self.sock.sendall(data)

    def pause(self, seconds):
        """Waits; False when the server is being stopped."""
        return not self.server.ending.wait(seconds)

    def hold(self):
        """Keeps the connection open and silent until the peer closes it or the server is stopped."""
        self.sock.settimeout(0.1)
        while not self.server.ending.is_set():
            try:
                if not self.sock.recv(65536):
                    return
            except TimeoutError:
                continue

    def reset(self):
        """Closes with a reset instead of an orderly end."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class ScriptedServer:
    """Listens on a free port of the loopback address; each connection has a thread."""

    def __init__(self, script, tls=None, names=("*.test.example",)):
        self.script = script
        self.context = tls.context("scripted-" + "-".join(names), list(names)) if tls else None
        self.ending = threading.Event()
        self.lock = threading.Lock()
        self.accepted = []  # time of each connection
        self.requests = []  # what each connection sent, as far as the script has read it
        self.problems = []  # errors of scripts that are not the peer's going away
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        # close() alone does not wake an accept that is waiting.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()
        if self.problems:
            raise AssertionError(f"a script failed: {self.problems[0]!r}")

    def connect_to(self, host="", port=80):
        """A line of fetch.connect_to that sends that host and port here."""
        return f"{host}:{port}:127.0.0.1:{self.port}"

    def _accept(self):
        while not self.ending.is_set():
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                number = len(self.accepted)
                self.accepted.append(time.time())
            threading.Thread(target=self._serve, args=(sock, number), daemon=True).start()

    def _serve(self, sock, number):
        connection = Connection(self, sock, number)
        try:
            if self.context:
                sock.settimeout(30)
                connection.sock = self.context.wrap_socket(sock, server_side=True)
            with connection.sock:
                self.script(connection)
        except OSError:
            pass  # the peer has gone, or was thrown out: what the tests are about
        except Exception as error:  # pylint: disable=broad-except
            self.problems.append(error)
        finally:
            with self.lock:
                self.requests.append(connection.request)
            if not connection.sock._closed:  # pylint: disable=protected-access
                connection.sock.close()


OK = b"HTTP/1.1 200 OK\r\n"
HTML = b"Content-Type: text/html\r\n"


def never_answer(connection):
    """Takes the request and says nothing, ever."""
    connection.read_request()
    connection.hold()


def stall_handshake(connection):
    """For https without tls=…: takes the client's greeting and never answers it."""
    connection.sock.recv(65536)
    connection.hold()


def garbage_status_line(connection):
    connection.read_request()
    connection.send(b"\x00\xffthis is no HTTP\r\n\r\n")


def close_without_answer(connection):
    connection.read_request()


def reset_before_answer(connection):
    connection.read_request()
    connection.reset()


def endless_headers(connection):
    """Header fields until the peer has had enough."""
    connection.read_request()
    connection.send(OK)
    number = 0
    while connection.pause(0):
        connection.send(b"".join(b"X-Filler-%d: %s\r\n" % (number + i, b"x" * 200) for i in range(100)))
        number += 100


def endless_body(connection):
    """A body without length and without end."""
    connection.read_request()
    connection.send(OK + HTML + b"Connection: close\r\n\r\n")
    block = b"<p>more of the same</p>\n" * 2048
    while connection.pause(0):
        connection.send(block)


def endless_chunks(connection):
    connection.read_request()
    connection.send(OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n")
    block = b"<p>more of the same</p>\n" * 2048
    while connection.pause(0):
        connection.send(b"%x\r\n%s\r\n" % (len(block), block))


def huge_header_line(connection):
    """One field of 1 MiB."""
    connection.read_request()
    connection.send(OK + b"X-Long: " + b"x" * (1 << 20) + b"\r\n\r\n")


def body(data, *, content_type=b"text/html", headers=b""):
    """An ordinary answer with these bytes."""
    def script(connection):
        while connection.read_request():
            connection.send(OK + b"Content-Type: " + content_type + b"\r\n" + headers +
                            b"Content-Length: %d\r\n\r\n" % len(data) + data)
            connection.request = b""
    return script


def raw(data):
    """These bytes and no others, then the end of the connection."""
    def script(connection):
        connection.read_request()
        connection.send(data)
    return script


def drip(data, seconds_per_byte):
    """An ordinary answer whose body comes a byte at a time."""
    def script(connection):
        connection.read_request()
        connection.send(OK + HTML + b"Content-Length: %d\r\n\r\n" % len(data))
        for byte in data:
            if not connection.pause(seconds_per_byte):
                return
            connection.send(bytes([byte]))
    return script


def drip_headers(seconds_per_byte):
    """A header block that comes a byte at a time and has no end."""
    def script(connection):
        connection.read_request()
        connection.send(OK + b"X-Slow: ")
        while connection.pause(seconds_per_byte):
            connection.send(b"x")
    return script


def stall_after(data, sent):
    """Announces all of data, sends so many bytes of it and falls silent."""
    def script(connection):
        connection.read_request()
        connection.send(OK + HTML + b"Content-Length: %d\r\n\r\n" % len(data) + data[:sent])
        connection.hold()
    return script


def reset_after(data, sent):
    """Announces all of data, sends so many bytes of it and resets the connection."""
    def script(connection):
        connection.read_request()
        connection.send(OK + HTML + b"Content-Length: %d\r\n\r\n" % len(data) + data[:sent])
        # Let the bytes out first: a reset overtakes what is still waiting to be sent.
        connection.pause(0.2)
        connection.reset()
    return script


def lie_about_length(data, announced):
    """Announces another length than it sends, and closes."""
    def script(connection):
        connection.read_request()
        connection.send(OK + HTML + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % announced + data)
    return script


def redirect_for_ever(connection):
    """Each answer redirects to a path that has not been there before."""
    while True:
        line = connection.read_request()
        if not line:
            return
        connection.send(b"HTTP/1.1 302 Found\r\nLocation: /%d-%d\r\nContent-Length: 0\r\n\r\n" %
                        (connection.number, time.monotonic_ns()))
        connection.request = b""


def truncated_chunks(connection):
    """Ends within a chunk."""
    connection.read_request()
    connection.send(OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n1000\r\nonly a little")


def bad_chunk(connection):
    """A chunk size that is no number."""
    connection.read_request()
    connection.send(OK + HTML + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")


def chunked_nonsense(after_head):
    """These bytes where chunks are to be, then silence."""
    def script(connection):
        connection.read_request()
        connection.send(OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n" + after_head)
        connection.hold()
    return script


def endless_chunk_extension(connection):
    """A chunk's size, and behind it an extension that never ends."""
    connection.read_request()
    connection.send(OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n5;note=")
    while connection.pause(0.01):
        connection.send(b"x" * 4096)


def endless_trailers(connection):
    connection.read_request()
    connection.send(OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n")
    while connection.pause(0.01):
        connection.send(b"X-Trailer: one more\r\n" * 100)


def endless_small_headers(connection):
    """Fields so small that their number is over its limit long before their bytes are."""
    connection.read_request()
    connection.send(OK)
    while connection.pause(0):
        connection.send(b"X: y\r\n" * 100)


def large_headers(count, size):
    """A head of so many fields of so many bytes each."""
    def script(connection):
        connection.read_request()
        connection.send(OK + b"".join(b"X-%d: %s\r\n" % (number, b"x" * size) for number in range(count)))
        connection.hold()
    return script


def endless_interim(connection):
    """One 103 after the other, and never an answer."""
    connection.read_request()
    while connection.pause(0):
        connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n" * 100)


def headers(fields, data=b""):
    """An answer with these header lines as they are, then the data and silence."""
    def script(connection):
        connection.read_request()
        connection.send(OK + HTML + fields + b"\r\n" + data)
        connection.hold()
    return script


def trickle(block, seconds_per_block):
    """A body without length and without end, slow but never below the least speed."""
    def script(connection):
        connection.read_request()
        connection.send(OK + HTML + b"Connection: close\r\n\r\n")
        while connection.pause(seconds_per_block):
            connection.send(block)
    return script


def redirect_across_hosts(suffix):
    """Each answer redirects to a host that has not been there before."""
    def script(connection):
        while connection.read_request():
            connection.send(b"HTTP/1.1 302 Found\r\nLocation: http://h%d%s/\r\nContent-Length: 0\r\n\r\n" %
                            (time.monotonic_ns(), suffix))
            connection.request = b""
    return script


def stall_within_handshake(connection):
    """For https without tls=…: the head of a record that would be the server's greeting, and no more."""
    connection.sock.recv(65536)
    connection.send(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03")
    connection.hold()


def reset_within_handshake(connection):
    """For https without tls=…."""
    connection.sock.recv(65536)
    connection.reset()
