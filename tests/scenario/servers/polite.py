# SPDX-License-Identifier: GPL-3.0-or-later
"""A web server that watches its manners being respected.

It answers for any number of hosts, over http and https, and keeps a record of every request: which host, which
path, when it came and when its answer had been sent. Tests script the answers and judge the record.

    with PoliteServer(tls=web.authority) as server:
        server.page("a.test.example", "/paper", Answer(429, headers={"Retry-After": "1"}), Answer(body=PAGE))
        server.robots("a.test.example", "User-agent: *\\nDisallow: /private\\n")
        with worker({"fetch.connect_to": server.connect_to()}): …
        check_one_at_a_time(server.seen("a.test.example"), delay_s=0.2)

The times are on this machine's monotonic clock. A request starts when its first bytes have been read and ends just
before the last bytes of its answer go out, so that neither overlap nor too short a pause is ever seen where there
was none; only a fault of some milliseconds could pass.
"""

import dataclasses
import email.utils
import itertools
import socket
import ssl
import struct
import threading
import time

PAGE = b"The text of a file, with a sentence that is long enough to be one.\n"
TOLERANCE_S = 0.01
# certificates cover one label under each of these
NAMES = ("*.test.example", "*.polite.example", "test.example", "polite.example", "www.site.test.example")


@dataclasses.dataclass
class Answer:
    """What one request gets. headers: a dictionary, or a function that makes one when it is asked for."""

    status: int = 200
    body: bytes = PAGE
    headers: object = None
    type: str = "text/html; charset=utf-8"
    delay_s: float = 0.0
    reset: bool = False  # instead of any answer
    cut: int = -1  # send so many bytes of the body and end the connection
    close: bool = False  # end the connection after the answer

    def lines(self):
        given = self.headers() if callable(self.headers) else (self.headers or {})
        return {"Content-Type": self.type, "Content-Length": str(len(self.body)), **given}


def redirect(target, status=302):
    return Answer(status, b"", {"Location": target})


def text(content, **how):
    return Answer(body=content if isinstance(content, bytes) else content.encode(), type="text/plain", **how)


def http_date_in(seconds):
    """headers= of an answer whose Retry-After is a date so many seconds from then."""
    return lambda: {"Retry-After": email.utils.formatdate(time.time() + seconds, usegmt=True)}


@dataclasses.dataclass
class Request:
    """One line of the record."""

    host: str
    path: str
    scheme: str
    start: float
    end: float = 0.0  # 0: not ended yet
    status: int = 0  # 0: reset
    headers: dict = dataclasses.field(default_factory=dict)
    connection: int = 0  # counts from 0
    resumed: bool = False  # the connection is one of TLS that resumed a session


class PoliteServer:
    """Two listeners, one record. tls=Authority (deploy/sampleweb/certs.py): also https; trusted=False: with a
    certificate that nobody vouches for. address: where it listens, of the loopback network."""

    def __init__(self, tls=None, trusted=True, address="127.0.0.1"):
        self.address = address
        self.context = tls.context(f"polite-{trusted}", list(NAMES), signed=trusted) if tls else None
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.scripts = {}
        self.record = []
        self.connections = itertools.count()
        self.listeners = []
        self.ports = {}

    def __enter__(self):
        self._listen("http", None)
        if self.context:
            self._listen("https", self.context)
        return self

    def __exit__(self, *_):
        self.ending.set()
        for listener, thread in self.listeners:
            listener.shutdown(socket.SHUT_RDWR)  # close() alone does not wake accept()
            listener.close()
            thread.join()

    # --- what it says ---

    def page(self, host, path, *answers):
        """The answers to a path, one for each request; the last one stays. An answer may be a function of the request. host "*" is any that has no page of
        its own, path "*" any path that has none, but for /robots.txt, which is not there until it is given."""
        with self.lock:
            self.scripts[host, path] = list(answers) or [Answer()]

    def robots(self, host, content, **how):
        self.page(host, "/robots.txt", text(content, **how))

    def connect_to(self, host=""):
        """Lines of fetch.connect_to that send this host, or everything, here."""
        ports = {"http": 80, "https": 443}
        return [f"{host}:{ports[scheme]}:{self.address}:{port}" for scheme, port in self.ports.items()]

    def _answer(self, host, path):
        with self.lock:
            for key in ((host, path), (host, "*"), ("*", path), ("*", "*")):
                if key in self.scripts and (path != "/robots.txt" or key[1] == path):
                    answers = self.scripts[key]
                    return answers.pop(0) if len(answers) > 1 else answers[0]
        return Answer(404, b"no such thing") if path == "/robots.txt" else Answer()

    # --- what it has seen ---

    def seen(self, host=None, path=None, robots=True):
        """Requests so far, in the order of their start: of a host, of a path, without those for robots.txt."""
        with self.lock:
            found = [one for one in self.record if (host is None or one.host == host) and
                     (path is None or one.path == path) and (robots or one.path != "/robots.txt")]
        return sorted(found, key=lambda one: one.start)

    def paths(self, host, robots=True):
        return [one.path for one in self.seen(host, robots=robots)]

    # --- listening ---

    def _listen(self, scheme, context):
        listener = socket.create_server((self.address, 0), backlog=512)
        self.ports[scheme] = listener.getsockname()[1]
        thread = threading.Thread(target=self._accept, args=(listener, scheme, context), daemon=True)
        self.listeners.append((listener, thread))
        thread.start()

    def _accept(self, listener, scheme, context):
        while not self.ending.is_set():
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock, scheme, context), daemon=True).start()

    def _serve(self, sock, scheme, context):
        try:
            sock.settimeout(60)
            if context:
                sock = context.wrap_socket(sock, server_side=True)
            with sock:
                number = next(self.connections)
                while self._serve_one(sock, scheme, number):
                    pass
        except OSError:
            sock.close()  # the peer has gone

    def _serve_one(self, sock, scheme, number):
        """Reads a request and answers it; False at the end of the connection."""
        data = sock.recv(65536)
        start = time.monotonic()
        while data and b"\r\n\r\n" not in data:
            more = sock.recv(65536)
            if not more:
                return False
            data += more
        if not data:
            return False
        first, *lines = data.split(b"\r\n\r\n", 1)[0].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        host = headers.get("host", "").split(":")[0].lower()
        request = Request(host, first.split(" ")[1], scheme, start, headers=headers, connection=number,
                          resumed=isinstance(sock, ssl.SSLSocket) and sock.session_reused)
        answer = self._answer(host, request.path)
        if callable(answer):
            answer = answer(request)
        with self.lock:
            self.record.append(request)
        try:
            return self._send(sock, request, answer)
        finally:
            request.end = request.end or time.monotonic()

    def _send(self, sock, request, answer):
        self.ending.wait(answer.delay_s)  # whoever hangs up meanwhile: servers go on with what they were asked
        request.end = time.monotonic()
        if answer.reset:
            if isinstance(sock, ssl.SSLSocket):
                sock = socket.socket(fileno=sock.detach())
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.close()
            return False
        request.status = answer.status
        head = "".join(f"{name}: {value}\r\n" for name, value in answer.lines().items())
        block = f"HTTP/1.1 {answer.status} Said\r\n{head}\r\n".encode("latin-1")
        body = answer.body if answer.cut < 0 else answer.body[:answer.cut]
        sock.sendall(block + body)
        return answer.cut < 0 and not answer.close


# --- judging the record ---


def most_at_once(requests):
    """How many of these requests were being served at the same moment, at most."""
    now = time.monotonic()
    moments = sorted([(one.start, 1) for one in requests] + [(one.end or now, -1) for one in requests])
    worst = count = 0
    for _, step in moments:
        count += step
        worst = max(worst, count)
    return worst


def gaps(requests):
    """The pause before each request but the first: from the end of whatever ended last before it came."""
    ordered = sorted(requests, key=lambda one: one.start)
    found = []
    for number, one in enumerate(ordered[1:], 1):
        found.append(one.start - max(before.end or one.start for before in ordered[:number]))
    return found


def check_one_at_a_time(requests, delay_s=0.0):
    """No two of these at once, and at least the delay between two."""
    assert most_at_once(requests) <= 1, [(one.host, one.path, one.start, one.end) for one in requests]
    short = [gap for gap in gaps(requests) if gap < delay_s - TOLERANCE_S]
    assert not short, f"pauses of {short} s instead of {delay_s} s"


