# SPDX-License-Identifier: GPL-3.0-or-later
"""`ingestctl serve` as a process, and a plain HTTP client. Each of its answers is checked against the OpenAPI document."""

import contextlib
import http.client
import json
import re
import signal
import socket
import ssl
import subprocess
import time

from servers.openapi import OpenApi

OPENAPI = OpenApi()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)


class Api:
    """start() waits until it listens (and, unless ready is False, until requests are accepted)."""

    def __init__(self, program, config, folder, arguments=(), env=None):
        self.log_path = folder / "serve.log"
        self.command = [program, "--config", config, "serve", "--listen", "127.0.0.1:0", *map(str, arguments)]
        self.tls = "--tls-cert" in self.command
        self.env = env
        self.process = None
        self.port = None

    def start(self, ready=True):
        before = len(self.log()) if self.log_path.exists() else 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env)
        found = self.wait(lambda: re.search(r"listening at https?://127\.0\.0\.1:(\d+)", self.log()[before:]))
        self.port = int(found[1])
        if ready:
            self.wait(lambda: self.get("/healthz").json()["kafka"])

    def wait(self, condition, timeout=60):
        deadline = time.monotonic() + timeout
        while True:
            assert self.process.poll() is None, f"it ended with {self.process.returncode}:\n{self.log()}"
            with contextlib.suppress(OSError, http.client.HTTPException):
                value = condition()
                if value:
                    return value
            assert time.monotonic() < deadline, f"still not after {timeout} s:\n{self.log()}"
            time.sleep(0.05)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def stop(self, number=signal.SIGTERM, timeout=60):
        self.process.send_signal(number)
        return self.process.wait(timeout)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def connect(self, timeout=60):
        """A socket."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        if not self.tls:
            return plain
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context.wrap_socket(plain)

    def ask(self, method, path, body=None, headers=None, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.sock = self.connect(timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            found = Answer(answer.status, answer.headers, answer.read())
            OPENAPI.check(method, path, found.status, found.headers, found.body)
            return found
        finally:
            connection.close()

    def get(self, path, **how):
        return self.ask("GET", path, **how)

    def post(self, path, body, **how):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        return self.ask("POST", path, body=body, **how)

    def raw(self, data, timeout=60):
        """What comes back for these bytes until the server ends the connection."""
        with self.connect(timeout) as connection:
            connection.sendall(data)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while piece := connection.recv(65536):
                    received += piece
            return received
