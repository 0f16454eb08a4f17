# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl serve and clients that are hostile, slow, many or unknown."""

import contextlib
import json
import re
import signal
import socket
import ssl
import subprocess
import threading
import time

import pytest

PAGE = "https://tidal-ecology.example/article/view/41"
REQUEST = {"ingest_type": "pdf", "base_url": PAGE}
UNKNOWN = "/ingest/" + "0" * 40
TOKEN = "a-token-that-is-long-enough"

pytestmark = pytest.mark.unfinished("nothing answers requests here")


def in_background(function):
    """Runs it in a thread; call what is returned for its value."""
    box = {}
    thread = threading.Thread(target=lambda: box.update(value=function()))
    thread.start()

    def value(timeout=60):
        thread.join(timeout)
        assert not thread.is_alive()
        return box["value"]
    return value


def status_of(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else None


def body_of(request):
    return json.dumps(request).encode()


@pytest.fixture
def server(lanes, api):
    with api(arguments=["--rate", 0]) as running:
        yield running


@pytest.mark.parametrize("head", [
    "Content-Length: 10\r\nContent-Length: 20",
    "Content-Length: 10\r\nContent-Length: 10",
    "Content-Length: 10\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: gzip, chunked",
    "Transfer-Encoding: xchunked",
    "Content-Length: +10",
    "Content-Length: 0x10",
    "Content-Length: -1",
    "Content-Length: 10, 10",
    "Content-Length: 99999999999999999999999",
    "Content-Length:",
    "Host: other.example",
])
def test_a_length_that_can_be_read_in_two_ways_ends_the_connection(server, head):
    """What stands behind it must not be taken for a request of its own."""
    smuggled = b"POST /ingest HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
    answer = server.raw(f"POST /ingest HTTP/1.1\r\nHost: a\r\n{head}\r\n\r\n".encode() + b"0\r\n\r\n" + smuggled)
    assert b"invalid-request" not in answer, answer  # what {} would be told
    assert status_of(answer) in (None, 400, 413, 501), answer
    assert server.get("/healthz").status == 200


@pytest.mark.parametrize("request_line", [
    b"GET", b"GET /healthz", b"GET /healthz HTTP/1.1 more", b"GET http://other/healthz HTTP/1.1",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET * HTTP/1.1", b"GET /ingest/%00 HTTP/1.1", b"GET /\xff\xfe HTTP/1.1",
    b"PRI * HTTP/2.0", b"GET /result?url=%00 HTTP/1.1", b"GET /result?url=%ff%fe HTTP/1.1", b"GET /ingest/../healthz HTTP/1.1",
    b"GET /" + b"a" * 100000 + b" HTTP/1.1", b"DELETE /ingest HTTP/1.1", b"CONNECT a:443 HTTP/1.1", b"TRACE / HTTP/1.1"])
def test_odd_request_lines(server, request_line):
    answer = server.raw(request_line + b"\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert status_of(answer) in (None, 400, 404, 405, 413, 414, 431, 500, 501, 505), answer[:200]
    assert server.get("/healthz").status == 200


def test_a_large_head_is_refused(server):
    answer = server.raw(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 100000 + b"\r\n\r\n")
    assert status_of(answer) in (None, 413, 431)
    answer = server.raw(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 20000 + b"\r\n")
    assert status_of(answer) in (None, 413, 431)
    assert server.get("/healthz").status == 200


def test_the_body_is_waited_for_when_it_is_wanted(lanes, api):
    body = body_of(REQUEST)
    head = f"POST /ingest HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\nConnection: close\r\n"
    with api() as server:
        with server.connect() as connection:
            connection.sendall(head.encode() + b"\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 100 ")
            connection.sendall(body)
            assert status_of(connection.recv(1000)) == 202
    token_file = server.log_path.parent / "tokens"
    token_file.write_text(TOKEN + "\n")
    with api("guarded", arguments=["--token-file", token_file]) as server:
        with server.connect() as connection:  # who may not ask need not send it
            connection.sendall(head.encode() + b"\r\n")
            assert status_of(connection.recv(1000)) == 401


def chunked(pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)


def test_bodies_in_chunks_are_bounded(server):
    head = b"POST /ingest HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    body = body_of(REQUEST)
    assert status_of(server.raw(head + chunked([body[:7], body[7:20], body[20:]]) + b"0\r\n\r\n")) == 202
    assert status_of(server.raw(head + b"zz\r\n")) in (None, 400, 413)
    assert status_of(server.raw(head + b"ffffffffffffffffff\r\n")) in (None, 400, 413)
    sent = 0
    with server.connect(10) as connection, contextlib.suppress(OSError):
        connection.sendall(head)
        while sent < 200 << 20:
            connection.sendall(chunked([b" " * 65536]))
            sent += 65536
    assert sent < 100 << 20, "it reads on and on"
    assert server.get("/healthz").status == 200


def test_a_body_over_the_limit_is_not_read(server):
    head = f"POST /ingest HTTP/1.1\r\nHost: a\r\nContent-Length: {3 << 20}\r\n\r\n"
    assert status_of(server.raw(head.encode())) == 413
    answer = server.post("/ingest", b"[" + b"0," * 900000 + b"0]")
    assert (answer.status, answer.json()["error"]["code"]) == (400, "invalid-request")
    answer = server.post("/ingest", b"[" * 100000)
    assert (answer.status, answer.json()["error"]["code"]) == (400, "invalid-request")


def test_paths_methods_and_ids_that_are_none(server):
    for method, path, status, code in (
            ("GET", "/nothing", 404, "not-found"), ("GET", "/ingest", 405, "method-not-allowed"),
            ("PUT", "/", 405, "method-not-allowed"), ("POST", UNKNOWN, 405, "method-not-allowed"),
            ("GET", "/ingest/", 404, "not-found"), ("GET", "/ingest/1", 400, "invalid-id"),
            ("GET", "/ingest/" + "g" * 40, 400, "invalid-id"), ("GET", UNKNOWN + "0", 400, "invalid-id"),
            ("GET", UNKNOWN, 404, "not-found"), ("GET", UNKNOWN.replace("0", "A"), 404, "not-found"),
            ("GET", "/ingest/%2e%2e", 400, "invalid-id"), ("GET", UNKNOWN + "?wait=x", 400, "invalid-wait"),
            ("GET", "/result", 400, "invalid-url"), ("GET", "/result?url=", 400, "invalid-url"),
            ("GET", "/result?url=http://a.example/&type=poem", 400, "invalid-type"),
            ("GET", "/result?url=http://a.example/&type=file", 404, "not-found")):
        answer = server.ask(method, path, body=b"{}" if method != "GET" else None)
        assert (answer.status, answer.json()["error"]["code"]) == (status, code), path
    assert server.ask("PUT", "/").headers["Allow"] == "GET, HEAD, POST"
    head = server.ask("HEAD", "/healthz")
    assert (head.status, head.body) == (200, b"")


def test_user_information_of_a_url_is_nowhere(worker, lanes, api, sql, web):
    """It is asked for without it, and looked for with or without."""
    secret = "https://reader:pass%20word@tidal-ecology.example/article/view/41"
    with worker(), api() as server:
        answer = server.post("/ingest?wait=50", {"ingest_type": "pdf", "base_url": secret})
        assert answer.json()["result"]["status"] == "success"
        assert sql("SELECT 1 FROM ingest_request") == []
        found = server.wait(lambda: (one := server.get(f"/result?url={secret}")).status == 200 and one)
        assert b"pass" not in found.body and b"reader" not in found.body
        assert found.json()["results"][0]["status"] == "success"
        assert b"pass" not in server.get("/result?url=https://reader:pass@other.example/").body
        assert "pass" not in server.log()


def test_tokens(lanes, api, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# of the test\n{TOKEN}\n")
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    with api(arguments=["--token-file", tokens]) as server:
        answer = server.post("/ingest", REQUEST)
        assert (answer.status, answer.json()["error"]["code"]) == (401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"
        for header in (TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer", "Basic YTpi", f"Bearer {TOKEN} x"):
            assert server.post("/ingest", REQUEST, headers={"Authorization": header}).status == 401
        answer = server.post("/ingest", REQUEST, headers=bearer)
        assert answer.status == 202
        assert server.get(answer.json()["location"]).status == 202
        assert server.get("/").status == 200
        # Another one, without a restart; a file that is no good changes nothing.
        tokens.write_text("another-token-of-the-test\n")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: server.post("/ingest", REQUEST, headers=bearer).status == 401)
        tokens.write_text("short\n")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: "stays in use" in server.log())
        other = {"Authorization": "Bearer another-token-of-the-test"}
        assert server.post("/ingest", REQUEST, headers=other).status == 202
    tokens.write_text(TOKEN)
    with api("private", arguments=["--token-file", tokens, "--private"], ready=False) as server:
        assert server.get(UNKNOWN).status == 401
        assert server.get(f"/result?url={PAGE}").status == 401
        assert server.get("/").status == 404
        assert server.get(UNKNOWN, headers=bearer).status == 404


def test_options_that_do_not_go(run_ctl, tmp_path):
    good = tmp_path / "token"
    good.write_text(TOKEN)
    for arguments, reason in (
            ([], "--listen"), (["--listen", "localhost:80"], "not ADDRESS:PORT"), (["--listen", "127.0.0.1"], "not ADDRESS:PORT"),
            (["--listen", "127.0.0.1:99999"], "not ADDRESS:PORT"), (["--listen", "::1:80"], "not ADDRESS:PORT"),
            (["--listen", "127.0.0.1:0", "--private"], "--token-file"), (["--listen", "127.0.0.1:0", "--tls-cert", "x"], "--tls-key"),
            (["--listen", "127.0.0.1:0", "--tls-cert", "/x", "--tls-key", "/x"], "/x"),
            (["--listen", "127.0.0.1:0", "--token-file", "/nothing"], "/nothing"), (["--listen", "127.0.0.1:0", "--rate", "-1"], "--rate"),
            (["--listen", "127.0.0.1:0", "--trusted-proxy", "proxy"], "--trusted-proxy"), (["--listen", "127.0.0.1:0", "--lane", "fast"], "fast"),
            (["--listen", "127.0.0.1:0", "more"], "more")):
        done = run_ctl("serve", *arguments)
        assert done.returncode == 2 and reason in done.stderr, (arguments, done.stderr)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run_ctl("serve", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
        assert done.returncode == 3 and "in use" in done.stderr


def test_clients_are_limited_by_address(lanes, api):
    with api(arguments=["--rate", 1, "--burst", 5, "--trusted-proxy", "127.0.0.0/8"]) as server:
        answers = [server.post("/ingest", REQUEST) for _ in range(8)]
        assert [answer.status for answer in answers[:5]] == [202] * 5
        refused = [answer for answer in answers if answer.status == 429]
        assert refused and all(int(answer.headers["Retry-After"]) >= 1 for answer in refused)
        assert server.get("/healthz").status == 200
        # Behind a proxy, by what it says; what the client itself sent stands in front of that.
        ask = lambda client: server.post("/ingest", REQUEST, headers={"X-Forwarded-For": client}).status
        assert ask("192.0.2.1") == 202 and ask("2001:db8::1") == 202
        assert {ask(f"192.0.2.{n}, 192.0.2.7") for n in range(10, 30)} == {202, 429}
    with api("direct", arguments=["--rate", 1, "--burst", 5]) as server:
        statuses = {server.post("/ingest", REQUEST, headers={"X-Forwarded-For": f"192.0.2.{n}"}).status for n in range(20)}
        assert statuses == {202, 429}


def test_a_large_batch_costs_as_much_as_its_requests(lanes, api):
    with api(arguments=["--rate", 1, "--burst", 5]) as server:
        assert server.post("/ingest", [REQUEST] * 50).status == 202
        answer = server.post("/ingest", REQUEST)
        assert answer.status == 429 and int(answer.headers["Retry-After"]) > 30


def test_pages_of_other_sites_cannot_send_requests(server):
    host = f"127.0.0.1:{server.port}"
    for headers, status in (({}, 202), ({"Origin": f"http://{host}"}, 202), ({"Sec-Fetch-Site": "same-origin"}, 202),
                            ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Sec-Fetch-Site": "cross-site"}, 403),
                            ({"Origin": f"http://{host}.evil.example"}, 403), ({"Sec-Fetch-Site": "same-site"}, 403)):
        assert server.post("/ingest", REQUEST, headers=headers).status == status, headers
        form = server.ask("POST", "/", body="what=https://a.example/", headers=headers)
        assert form.status == (403 if status == 403 else 303), headers


def test_slow_clients_are_cut_off(lanes, api):
    """They hold all connections there are, and send a byte now and then."""
    with api(arguments=["--max-connections", 20, "--rate", 0]) as server:
        slow = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
        for connection in slow:
            connection.sendall(b"POST /ingest HTTP/1.1\r\nHost: a\r\nX-")
        healthy = in_background(lambda: server.get("/healthz", timeout=90).status)
        left = list(slow)
        deadline = time.monotonic() + 90
        while left and time.monotonic() < deadline:
            for connection in list(left):
                try:
                    connection.sendall(b"a")
                    if connection.recv(100, socket.MSG_DONTWAIT) == b"":
                        left.remove(connection)
                except BlockingIOError:
                    pass
                except OSError:
                    left.remove(connection)
            time.sleep(0.5)
        assert not left, f"{len(left)} are still there"
        assert healthy(90) == 200
        for connection in slow:
            connection.close()


def test_many_clients_wait(lanes, api, produce, topics):
    """Each for a request of its own, and all for one."""
    result = {"request": REQUEST, "hit": False, "status": "no-pdf-link"}
    with api(arguments=["--rate", 0]) as server:
        identity = server.post("/ingest", REQUEST).json()["id"]
        waiting = []
        for number in range(400):
            connection = server.connect()
            path = f"/ingest/{identity}?wait=60" if number % 2 else "/ingest?wait=5"
            body = b"" if number % 2 else body_of({"ingest_type": "pdf", "base_url": f"{PAGE}?{number}"})
            method = "GET" if number % 2 else "POST"
            connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            waiting.append(connection)
        assert server.get("/healthz").status == 200
        produce(topics["results"], [json.dumps(result)], key=identity)
        answers = [connection.recv(65536) for connection in waiting]
        assert [status_of(answer) for answer in answers] == [202, 200] * 200
        for connection in waiting:
            connection.close()
        with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
            assert int(re.search(r"Threads:\s+(\d+)", file.read())[1]) < 30


def test_clients_that_go_while_they_wait(lanes, api, produce, topics):
    with api(arguments=["--rate", 0]) as server:
        identity = server.post("/ingest", REQUEST).json()["id"]
        for _ in range(50):
            with server.connect() as connection:
                connection.sendall(f"GET /ingest/{identity}?wait=60 HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        produce(topics["results"], [json.dumps({"request": REQUEST, "hit": False, "status": "timeout"})], key=identity)
        server.wait(lambda: server.get(f"/ingest/{identity}").status == 200)


def test_huge_results_are_in_memory_once(lanes, api, produce, topics):
    result = {"request": REQUEST, "hit": True, "status": "success", "publication": {"fulltext": "x" * 7_000_000}}
    with api(arguments=["--rate", 0, "--result-memory", 16 << 20]) as server:
        identity = server.post("/ingest", REQUEST).json()["id"]
        waiting = [server.connect() for _ in range(100)]
        for connection in waiting:
            connection.sendall(f"GET /ingest/{identity}?wait=60 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        time.sleep(1)  # until most of them wait: those who come later are answered at once
        produce(topics["results"], [json.dumps(result)], key=identity)
        server.wait(lambda: server.ask("HEAD", f"/ingest/{identity}").status == 200)
        with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
            rss = int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])
        assert rss < 400_000, f"{rss} KB"
        for connection in waiting:
            length = 0
            while piece := connection.recv(1 << 20):
                length += len(piece)
            assert length > 7_000_000
            connection.close()
        # Newer ones push it out, and nothing grows.
        for number in range(5):
            other = {"ingest_type": "pdf", "base_url": f"{PAGE}?{number}"}
            key = server.post("/ingest", other).json()["id"]
            produce(topics["results"], [json.dumps({**result, "request": other})], key=key)
            server.wait(lambda: server.ask("HEAD", f"/ingest/{key}").status == 200)
        assert server.get(f"/ingest/{identity}").status in (200, 202)
        assert "result" not in server.get(f"/ingest/{identity}").json()


def make_certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"], check=True, capture_output=True)


def certificate_of(server):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with context.wrap_socket(socket.create_connection(("127.0.0.1", server.port))) as connection:
        return connection.getpeercert(binary_form=True)


def test_tls_and_a_new_certificate_without_a_restart(lanes, api, tmp_path):
    make_certificate(tmp_path, "first.example")
    with api(arguments=["--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem"]) as server:
        kept = server.connect()
        first = certificate_of(server)
        assert server.post("/ingest", REQUEST).status == 202
        make_certificate(tmp_path, "second.example")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: certificate_of(server) != first)
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert status_of(kept.recv(1000)) == 200
        second = certificate_of(server)
        (tmp_path / "key.pem").write_text("nothing")
        server.process.send_signal(signal.SIGHUP)
        server.wait(lambda: "stays in use" in server.log())
        assert certificate_of(server) == second
        # No TLS, and half of it.
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                assert not plain.recv(1000).startswith(b"HTTP/1.1 200")
        assert server.get("/healthz").status == 200


def test_results_that_are_none(server, produce, topics):
    identity = server.post("/ingest", REQUEST).json()["id"]
    for value in ("", "[]", "nothing", '{"status":', b'{"a":"\xff"}'):
        produce(topics["results"], [value], key=identity)
    produce(topics["results"], ["{}"], key=b"\xff\x00")
    produce(topics["results"], ["{}"])
    produce(topics["results"], [json.dumps({"request": REQUEST, "hit": False, "status": "timeout"})], key=identity)
    answer = server.get(f"/ingest/{identity}?wait=50")
    assert answer.json()["result"]["status"] == "timeout"
