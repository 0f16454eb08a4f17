# SPDX-License-Identifier: GPL-3.0-or-later
"""A real S3 server (moto's, which checks signatures), and a front before it that makes it fail.

    with S3Server(folder) as server, Front(server.port) as front:
        settings = {"s3.endpoint": f"http://127.0.0.1:{front.port}", …}
        front.mode = FULL
        server.objects()    # {name: bytes} of the bucket

A client signs the Host that it sends, which is the front's, and is passed on as it is.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time

PASS = "pass"        # what the client sends goes to the server, and back
AWAY = "away"        # connections are closed at once
SILENT = "silent"    # requests are taken, and never answered
FULL = "507 Insufficient Storage", "XMinioStorageFull"
BUSY = "503 Slow Down", "SlowDown"
QUOTA = "403 Forbidden", "QuotaExceeded"
BUCKET = "bucket"
PATIENCE_S = 60


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return sock.getsockname()[1]


class S3Server:
    """Keys and bucket are made before signatures are checked: so many requests are free."""

    def __init__(self, folder):
        self.folder = folder
        self.port = free_port()
        self.process = None
        self.access_key = self.secret_key = ""

    def __enter__(self):
        log = open(self.folder / "s3.log", "wb")  # pylint: disable=consider-using-with
        with log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", "from moto.server import main; main()", "-H", "127.0.0.1", "-p", str(self.port)],
                stdout=log, stderr=log, env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": "4"})
        deadline = time.monotonic() + PATIENCE_S
        while not self._is_up():
            assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "s3.log").read_text()
            time.sleep(0.1)
        iam = self.client("iam")
        iam.create_user(UserName="worker")
        everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
        iam.put_user_policy(UserName="worker", PolicyName="all", PolicyDocument=json.dumps(everything))
        key = iam.create_access_key(UserName="worker")["AccessKey"]
        self.client("s3").create_bucket(Bucket=BUCKET)
        self.access_key, self.secret_key = key["AccessKeyId"], key["SecretAccessKey"]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def _is_up(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def client(self, service):
        import boto3
        return boto3.client(service, endpoint_url=f"http://127.0.0.1:{self.port}", region_name="us-east-1",
                            aws_access_key_id=self.access_key or "any", aws_secret_access_key=self.secret_key or "any")

    def objects(self):
        s3 = self.client("s3")
        names = [one["Key"] for one in s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])]
        return {name: s3.get_object(Bucket=BUCKET, Key=name)["Body"].read() for name in names}

    def clear(self):
        s3 = self.client("s3")
        for one in s3.list_objects_v2(Bucket=BUCKET).get("Contents", []):
            s3.delete_object(Bucket=BUCKET, Key=one["Key"])

    def content_type(self, name):
        return self.client("s3").head_object(Bucket=BUCKET, Key=name)["ContentType"]


class Front:
    """mode may be changed at any time; it holds for requests that begin after that. One request for each connection."""

    def __init__(self, port):
        self.target = port
        self.mode = PASS
        self.puts = 0  # requests that were taken, in whatever mode
        self.ending = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.set()
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        while not self.ending.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            mode = self.mode
            if mode == AWAY:
                return
            request = self._read(client)
            self.puts += 1
            if mode == SILENT:
                self.ending.wait(PATIENCE_S)
            elif mode == PASS:
                client.sendall(self._ask(request))
            else:
                body = f"<Error><Code>{mode[1]}</Code><Message>of the test</Message></Error>".encode()
                client.sendall(f"HTTP/1.1 {mode[0]}\r\nContent-Type: application/xml\r\nConnection: close\r\n"
                               f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    @staticmethod
    def _read(client):
        data = b""
        while b"\r\n\r\n" not in data:
            data += Front._receive(client)
        head, _, body = data.partition(b"\r\n\r\n")
        lines = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if b"expect" in lines:
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < int(lines.get(b"content-length", 0)):
            body += Front._receive(client)
        return head, body

    @staticmethod
    def _receive(client):
        data = client.recv(1 << 20)
        if not data:
            raise ConnectionResetError
        return data

    def _ask(self, request):
        """Expect was answered here, and was not signed."""
        head, body = request
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"expect:", b"connection:"))]
        with socket.create_connection(("127.0.0.1", self.target), timeout=PATIENCE_S) as server:
            server.sendall(b"\r\n".join([*lines, b"Connection: close", b"", b""]) + body)
            answer = b""
            while data := server.recv(1 << 20):
                answer += data
            return answer
