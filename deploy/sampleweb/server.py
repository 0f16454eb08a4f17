#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample web: many small sites on one loopback address, told apart by the Host field.

    python3 server.py --state DIR [--http-port N] [--https-port N] [--site FILE]… [--pages DIR]…

When it listens it writes DIR/ports.json: {"http": PORT, "https": PORT, "ca_file": PATH, "pid": PID}.
DIR/access.log gets a JSON object for each request answered. README.md describes the site file.

Tests import SampleWeb and add routes of their own, which may be Python functions.
"""

import argparse
import gzip
import http.server
import json
import os
import posixpath
import signal
import socket
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import certs  # noqa: E402
import makepdf  # noqa: E402

TYPES = {
    ".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8", ".xml": "text/xml",
    ".pdf": "application/pdf", ".png": "image/png", ".json": "application/json", ".css": "text/css",
}
# Names under these need no certificate of their own: tests use as many of them as they like.
WILDCARDS = ["*.many.example", "*.slow.example", "*.test.example"]
REQUEST_BODY_MAX = 1 << 20
KNOWN_KEYS = {"file", "body", "type", "status", "headers", "redirect", "location", "delay_s", "encode", "chunked",
              "cut_after", "cookie_bounce", "pdf", "repeat", "busy"}


class SiteError(Exception):
    """A site file says something that the server does not understand."""


class Reply:
    """One answer, before it is put on the wire."""

    def __init__(self, status=200, body=b"", headers=None, type="text/html; charset=utf-8"):
        self.status = status
        self.body = body.encode() if isinstance(body, str) else body
        self.headers = dict(headers or {})
        self.type = type
        self.delay_s = 0.0
        self.chunked = False
        self.cut_after = None  # send only so many bytes of the body, then close


def encode_body(body, coding):
    if coding == "gzip":
        return gzip.compress(body, mtime=0)
    if coding == "deflate":
        return zlib.compress(body)
    raise SiteError(f"unknown content coding {coding}")


class Site:
    """The routes of the site files and the pages below the page folders."""

    def __init__(self, site_files, page_dirs):
        self.page_dirs = [os.path.abspath(path) for path in page_dirs]
        self.routes = {}
        self.untrusted = set()
        self.misnamed = set()
        self.cache = {}
        self.busy = {}
        self.busy_lock = threading.Lock()
        for path in site_files:
            with open(path, encoding="utf-8") as file:
                self.add(json.load(file))

    def add(self, site):
        for host, entry in site["hosts"].items():
            kind = entry.get("certificate")
            if kind == "untrusted":
                self.untrusted.add(host)
            elif kind == "other-name":
                self.misnamed.add(host)
            for path, route in entry.get("routes", {}).items():
                if set(route) - KNOWN_KEYS:
                    raise SiteError(f"{host}{path}: unknown {', '.join(sorted(set(route) - KNOWN_KEYS))}")
                self.routes[host, path] = route

    def hosts(self):
        names = {host for host, _ in self.routes}
        for folder in self.page_dirs:
            names.update(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
        return sorted(name for name in names if "." in name and name not in self.untrusted | self.misnamed)

    def find_file(self, host, path):
        """The file for a path: itself, with .html, or the index.html of a folder. None if there is none."""
        clean = posixpath.normpath("/" + urllib.parse.unquote(path)).lstrip("/")
        for folder in self.page_dirs:
            base = os.path.join(folder, host, clean)
            for name in (base, base + ".html", os.path.join(base, "index.html")):
                if os.path.isfile(name):
                    return name
        return None

    def read(self, host, name):
        for folder in self.page_dirs:
            path = os.path.join(folder, host, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    return file.read()
        raise SiteError(f"no file {name} of {host}")

    def pdf(self, host, path, spec):
        """The PDF of a route; made when first asked for. Its text is a file or stands in the site file."""
        if (host, path) not in self.cache:
            spec = dict(spec)
            text = spec.pop("text", "")
            name = spec.pop("text_file", None)
            if name:
                with open(os.path.join(HERE, "texts", name), encoding="utf-8") as file:
                    text = file.read()
            self.cache[host, path] = makepdf.make_pdf(text=text, **spec)
        return self.cache[host, path]

    def reply(self, host, target, handler):
        """What the site answers to a request target (path and query)."""
        path = target.partition("?")[0]
        for key in ((host, target), (host, path), ("*", path)):
            if key in self.routes:
                route = self.routes[key]
                if callable(route):
                    return route(handler)
                return self._routed(host, target, route, handler)
        name = self.find_file(host, path)
        if name is None:
            return Reply(404, "<!DOCTYPE html><title>Not found</title><p>There is no such page here.</p>\n")
        with open(name, "rb") as file:
            return Reply(200, file.read(), type=TYPES.get(os.path.splitext(name)[1], "application/octet-stream"))

    def is_busy(self, host, target, times):
        """Whether this URL still answers that it is busy: so many times, then once not, and so on."""
        with self.busy_lock:
            count = self.busy.get((host, target), 0)
            self.busy[host, target] = 0 if count == times else count + 1
            return count < times

    def _routed(self, host, target, route, handler):
        reply = Reply(route.get("status", 200), headers=route.get("headers"))
        reply.delay_s = route.get("delay_s", 0)
        reply.chunked = route.get("chunked", False)
        reply.cut_after = route.get("cut_after")
        bounce = route.get("cookie_bounce")
        if bounce and (bounce != "once" or "session=" not in (handler.headers.get("Cookie") or "")):
            reply.status = 302
            reply.headers["Location"] = target
            value = f"{time.monotonic_ns():x}" if bounce == "restless" else "granted"
            reply.headers["Set-Cookie"] = f"session={value}; Path=/"
            return reply
        if self.is_busy(host, target, route.get("busy", 0)):
            reply.status = 503
            reply.headers["Retry-After"] = "1"
            reply.body = b"Busy; try again in a moment.\n"
            return reply
        if "redirect" in route:
            reply.status = route["redirect"]
            if "location" in route:
                reply.headers["Location"] = route["location"]
            return reply
        if "pdf" in route:
            reply.body, reply.type = self.pdf(host, target, route["pdf"]), "application/pdf"
        elif "file" in route:
            reply.body = self.read(host, route["file"])
            reply.type = TYPES.get(os.path.splitext(route["file"])[1], "application/octet-stream")
        else:
            reply.body = route.get("body", "").encode() * route.get("repeat", 1)
        reply.type = route.get("type", reply.type)
        if route.get("encode") == "br-file":  # the standard library has no encoder: the file is encoded already
            reply.headers["Content-Encoding"] = "br"
            reply.type = "text/html; charset=utf-8"
        elif "encode" in route:
            reply.headers["Content-Encoding"] = route["encode"]
            reply.body = encode_body(reply.body, route["encode"])
        return reply


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one connection's requests."""

    protocol_version = "HTTP/1.1"
    server_version = "sampleweb"
    sys_version = ""
    timeout = 120
    disable_nagle_algorithm = True

    def handle_any(self):
        started = time.time()
        host = (self.headers.get("Host") or "").rpartition("@")[2].lower()
        host = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        size = int(self.headers.get("Content-Length") or 0)
        if 0 < size <= REQUEST_BODY_MAX:
            self.rfile.read(size)
        web = self.server.web
        entry = {"ts_start": started, "host": host, "path": self.path, "method": self.command,
                 "peer": f"{self.client_address[0]}:{self.client_address[1]}",
                 "tls": isinstance(self.connection, ssl.SSLSocket),
                 "user_agent": self.headers.get("User-Agent")}
        web.enter(host)
        try:
            reply = web.site.reply(host, self.path, self)
            entry["status"] = reply.status if reply else None
            if reply:
                self.send(reply)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError, TimeoutError):
            entry["aborted"] = True
            self.close_connection = True
        finally:
            entry["ts_end"] = time.time()
            web.leave(host, entry)

    do_GET = do_HEAD = do_POST = handle_any

    def send(self, reply):
        if reply.delay_s:
            self.server.web.wait(reply.delay_s)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            for one in value if isinstance(value, list) else [value]:
                self.send_header(name, one)
        if reply.status not in (204, 304):
            self.send_header("Content-Type", reply.type)
            if reply.chunked:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command == "HEAD" or reply.status in (204, 304):
            return
        body = reply.body if reply.cut_after is None else reply.body[:reply.cut_after]
        if reply.chunked:
            for start in range(0, len(body), 4096):
                piece = body[start:start + 4096]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if reply.cut_after is None:
                self.wfile.write(b"0\r\n\r\n")
        else:
            self.wfile.write(body)
        if reply.cut_after is not None:
            self.wfile.flush()
            self.close_connection = True

    def log_message(self, *_):
        """The access log is written by handle_any; nothing goes to the terminal."""


class Listener(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """One listening socket; each connection has a thread, which also makes its TLS handshake."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024

    def __init__(self, web, port, context=None):
        self.web = web
        self.context = context
        super().__init__(("127.0.0.1", port), Handler)

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)  # HTTPServer's own looks the host name up, which may be slow
        self.server_name, self.server_port = self.server_address[:2]

    def finish_request(self, request, client_address):
        if self.context:
            request.settimeout(30)
            # Takes the descriptor over: from here on the plain socket is an empty shell.
            with self.context.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)
        else:
            super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        kind = sys.exc_info()[0]
        if kind and not issubclass(kind, (OSError, ssl.SSLError)):
            super().handle_error(request, client_address)


class SampleWeb:
    """The sites, their two listening ports and the access log."""

    def __init__(self, state, site_files=(), page_dirs=(), http_port=0, https_port=0):
        self.state = os.path.abspath(state)
        os.makedirs(self.state, exist_ok=True)
        self.site = Site([os.path.join(HERE, "site.json"), *site_files],
                         [os.path.join(HERE, "pages"), *page_dirs])
        self.authority = certs.Authority(os.path.join(self.state, "tls"))
        self.ca_file = self.authority.ca_file
        self.log_lock = threading.Lock()
        self.log = []
        self.active = {}
        self.most = {}
        self.ending = threading.Event()
        self.log_file = open(os.path.join(self.state, "access.log"), "a", encoding="utf-8", buffering=1)
        self.listeners = [self._listen(http_port, None), self._listen(https_port, self._tls())]
        self.http_port, self.https_port = (listener.server_port for listener in self.listeners)
        self.threads = []

    def _listen(self, port, context):
        try:
            return Listener(self, port, context)
        except OSError:
            if not port:
                raise
            return Listener(self, 0, context)  # the port of last time is taken: any other will do

    def _tls(self):
        default = self.authority.context("sites", self.site.hosts() + WILDCARDS)
        known = set(self.site.hosts())

        def choose(sock, name, _context):
            if name is None or name in known or any(name.endswith(card[1:]) for card in WILDCARDS):
                return
            if name in self.site.untrusted:
                sock.context = self.authority.context("untrusted", [name], signed=False)
            elif name in self.site.misnamed:
                sock.context = self.authority.context("other-name", ["somebody-else.example"])
            else:
                sock.context = self.authority.context("name-" + name, [name])

        default.sni_callback = choose
        return default

    def route(self, host, path, what):
        """Adds a route: a dictionary as in the site file, or a function that gets the request handler and
        returns a Reply (or None when it has answered by itself). host "*" answers for every host."""
        self.site.routes[host, path] = what
        self.site.cache.pop((host, path), None)

    def untrusted(self, host):
        """From now on nobody vouches for that host's certificate."""
        self.site.untrusted.add(host)

    def enter(self, host):
        with self.log_lock:
            self.active[host] = self.active.get(host, 0) + 1
            self.most[host] = max(self.most.get(host, 0), self.active[host])

    def leave(self, host, entry):
        with self.log_lock:
            self.active[host] -= 1
            self.log.append(entry)
            self.log_file.write(json.dumps(entry) + "\n")

    def accesses(self, host=None):
        """The requests answered so far, in the order in which they ended."""
        with self.log_lock:
            return [entry for entry in self.log if host is None or entry["host"] == host]

    def most_at_once(self, host):
        """The largest number of requests that host was answering at one time."""
        with self.log_lock:
            return self.most.get(host, 0)

    def wait(self, seconds):
        """Sleeps, but not past the end of the server."""
        self.ending.wait(seconds)

    def start(self):
        for listener in self.listeners:
            thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
            thread.start()
            self.threads.append(thread)
        ports = {"http": self.http_port, "https": self.https_port, "ca_file": self.ca_file, "pid": os.getpid()}
        path = os.path.join(self.state, "ports.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(ports, file)
        os.replace(path + ".new", path)
        return ports

    def stop(self):
        self.ending.set()
        for listener in self.listeners:
            listener.shutdown()
            listener.server_close()
        self.log_file.close()

    def connect_to(self):
        """What fetch.connect_to must be for every URL to end up here."""
        return [f":80:127.0.0.1:{self.http_port}", f":443:127.0.0.1:{self.https_port}"]


def last_ports(state):
    try:
        with open(os.path.join(state, "ports.json"), encoding="utf-8") as file:
            ports = json.load(file)
        return ports["http"], ports["https"]
    except (OSError, ValueError, KeyError):
        return 0, 0


def main():
    parser = argparse.ArgumentParser(description="Serves the sample web on the loopback address.")
    parser.add_argument("--state", required=True, help="folder for certificates, ports.json and access.log")
    parser.add_argument("--http-port", type=int, help="default: that of the last run, or any")
    parser.add_argument("--https-port", type=int, help="default: that of the last run, or any")
    parser.add_argument("--site", action="append", default=[], help="another site file")
    parser.add_argument("--pages", action="append", default=[], help="another folder of pages")
    args = parser.parse_args()
    old_http, old_https = last_ports(args.state)
    signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        web = SampleWeb(args.state, args.site, args.pages,
                        old_http if args.http_port is None else args.http_port,
                        old_https if args.https_port is None else args.https_port)
    except (SiteError, certs.CertificateError, OSError, ValueError) as error:
        print(f"sampleweb: {error}", file=sys.stderr)
        return 3
    web.start()
    signal.sigwait(signals)
    web.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
