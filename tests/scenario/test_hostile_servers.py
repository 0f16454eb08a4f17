# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that misbehave: each misdeed has its status, ends in time, and does not hold the others up."""

import gzip
import random
import time

import pytest
from server import Reply

from servers import scripted
from servers.scripted import ScriptedServer

GOOD = "https://tidal-ecology.example/article/view/41"
# A host that has been slow is not to be waited for: what passes by itself is tried again.
HASTY = {"fetch.timeout_ms": 3000, "fetch.connect_timeout_ms": 2000, "fetch.stall_ms": 1500,
         "fetch.max_body_bytes": 4 << 20, "fetch.max_header_bytes": 64 << 10, "fetch.max_header_fields": 200,
         "gate.adaptive_factor": 0, "gate.backoff_ms": 100}

PAGE = b"<!doctype html><title>x</title><p>no link here"
# Ten megabytes of zeros.
BROTLI_BOMB = bytes.fromhex("cbffff3ff82700e2b14020f7fe2fff2c31f04f00c46111808e2306")


def gzip_of(data, level=9):
    return gzip.compress(data, level)


def coded(data, coding):
    return scripted.body(data, headers=b"Content-Encoding: %s\r\n" % coding)


def wordy(megabytes):
    """Text of which gzip makes a tenth or so, not a thousandth."""
    rng = random.Random(7)
    words = [b"%x" % rng.getrandbits(40) for _ in range(500)]
    return b" ".join(rng.choice(words) for _ in range(megabytes * 100_000))[:megabytes << 20]


# What the server does: the script, the status, and words of error_message where several bounds share a status.
MISDEEDS = {
    # before and instead of an answer
    "never answers": (scripted.never_answer, "read-timeout"),
    "garbage": (scripted.garbage_status_line, "read-error"),
    "closes without a word": (scripted.close_without_answer, "read-error"),
    "resets before the answer": (scripted.reset_before_answer, "read-error"),
    # heads
    "endless headers": (scripted.endless_headers, "headers-too-large"),
    "too many headers": (scripted.endless_small_headers, "headers-too-large", "too many fields"),
    "too many bytes of headers": (scripted.large_headers(100, 1000), "headers-too-large", "over its limit"),
    "a header line of a mebibyte": (scripted.huge_header_line, "headers-too-large", "a header line exceeds"),
    "interim answers for ever": (scripted.endless_interim, "headers-too-large"),
    "headers that drip": (scripted.drip_headers(0.3), "read-timeout"),
    "head without end": (scripted.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"), "read-error"),
    # bodies
    "endless body": (scripted.endless_body, "body-too-large"),
    "endless chunks": (scripted.endless_chunks, "body-too-large"),
    "body that drips": (scripted.drip(b"<p>" + b"x" * 1000, 0.3), "read-timeout", "bytes per second"),
    "body that trickles": (scripted.trickle(b"<p>" + b"x" * 1000, 0.2), "read-timeout", "fetch.timeout_ms"),
    "stalls in the body": (scripted.stall_after(b"x" * 5000, 1000), "read-timeout"),
    "resets in the body": (scripted.reset_after(b"x" * 5000, 1000), "truncated-body"),
    # lengths
    "announces more than it sends": (scripted.lie_about_length(b"<p>short", 5000), "truncated-body"),
    "announces less than it sends": (scripted.lie_about_length(PAGE + b"x" * 5000, len(PAGE)), "no-pdf-link"),
    "announces two lengths": (scripted.headers(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"hello!"), "read-error"),
    "announces a negative length": (scripted.headers(b"Content-Length: -5\r\n", b"hello"), "read-error"),
    "announces more than a number holds": (
        scripted.headers(b"Content-Length: 99999999999999999999999\r\n", b"hello"), "read-error", "Content-Length"),
    "announces exabytes": (scripted.headers(b"Content-Length: 9223372036854775807\r\n", b"x" * 50000), "read-timeout"),
    # chunks
    "ends within a chunk": (scripted.truncated_chunks, "truncated-body"),
    "a chunk size that is none": (scripted.bad_chunk, "read-error"),
    "a negative chunk": (scripted.chunked_nonsense(b"-5\r\nhello\r\n0\r\n\r\n"), "read-error"),
    "a chunk size of twenty digits": (scripted.chunked_nonsense(b"fffffffffffffffffff\r\nhello"), "read-error"),
    "a chunk longer than its size": (scripted.chunked_nonsense(b"3\r\nhello\r\n0\r\n\r\n"), "read-error"),
    "a chunk extension without end": (scripted.endless_chunk_extension, "read-timeout"),
    "trailers without end": (scripted.endless_trailers, "headers-too-large"),
    "another transfer coding": (scripted.headers(b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"), "read-error"),
    # what is small on the wire
    "a gzip bomb": (coded(gzip_of(bytes(64 << 20)), b"gzip"), "body-too-large", "over the limit"),
    "a small gzip bomb": (coded(gzip_of(bytes(3 << 20)), b"gzip"), "body-too-large", "over 400 times its size"),
    "a gzip bomb in gzip": (coded(gzip_of(gzip_of(bytes(64 << 20))), b"gzip, gzip"), "body-too-large", "times its size"),
    "a brotli bomb": (coded(BROTLI_BOMB, b"br"), "body-too-large", "over 400 times its size"),
    "much text in gzip": (coded(gzip_of(wordy(6), 6), b"gzip"), "body-too-large", "over the limit"),
    "gzip that is none": (coded(b"\x1f\x8b\x08" + b"garbage" * 100, b"gzip"), "bad-content-encoding"),
    # redirects
    "redirects for ever": (scripted.redirect_for_ever, "redirects-exceeded"),
    "redirects for ever across hosts": (scripted.redirect_across_hosts(b".wander.example"), "redirects-exceeded"),
}


def test_each_misdeed_has_its_status_and_the_others_go_on(worker, submit, results_by_url):
    servers, requests, lines, wanted = [], [], [], {}
    try:
        for number, (name, (script, *expected)) in enumerate(MISDEEDS.items()):
            server = ScriptedServer(script).__enter__()
            servers.append(server)
            lines.append(server.connect_to(f"m{number}.test.example"))
            if "across hosts" in name:
                wanderer = server
            url = f"http://m{number}.test.example/{name.replace(' ', '-')}"
            requests.append({"ingest_type": "pdf", "base_url": url})
            wanted[url] = expected
        lines.append(wanderer.connect_to(port=80))
        wanted[GOOD] = ["success"]
        submit(requests + [{"ingest_type": "pdf", "base_url": GOOD}])
        started = time.monotonic()
        with worker({**HASTY, "fetch.connect_to": lines}):
            found = results_by_url(len(wanted), timeout=90)
        assert {url: result["status"] for url, result in found.items()} == {url: want[0] for url, want in wanted.items()}
        for url, want in wanted.items():
            if len(want) > 1:
                assert want[1] in found[url]["error_message"], url
        assert time.monotonic() - started < 60
    finally:
        for server in servers:
            server.__exit__()


@pytest.mark.parametrize("script, statuses", [
    (scripted.stall_handshake, ("connect-error", "tls-error")),
    (scripted.stall_within_handshake, ("connect-error", "tls-error")),
    (scripted.reset_within_handshake, ("tls-error",)),
    (scripted.raw(b"HTTP/1.1 400 This is plain HTTP\r\n\r\n"), ("tls-error",)),
])
def test_a_handshake_that_stalls_or_breaks_ends(worker, submit, results, script, statuses):
    def silently(connection):  # a handshake has no blank line to wait for
        connection.read_request = lambda: connection.sock.recv(65536)
        script(connection)
    with ScriptedServer(silently) as server:
        submit({"ingest_type": "pdf", "base_url": "https://stall.test.example/"})
        with worker({**HASTY, "fetch.connect_to": server.connect_to("stall.test.example", 443)}):
            assert results(1, timeout=30)[0]["status"] in statuses


def test_a_body_that_stalls_behind_tls_ends(worker, submit, results, web):
    with ScriptedServer(scripted.stall_after(b"x" * 5000, 1000), tls=web.authority) as server:
        submit({"ingest_type": "pdf", "base_url": "https://stall.test.example/"})
        with worker({**HASTY, "fetch.connect_to": server.connect_to("stall.test.example", 443)}):
            assert results(1, timeout=30)[0]["status"] == "read-timeout"


def test_a_certificate_for_another_name(worker, submit, results, web):
    """Refused; with fetch.tls_fallback taken, and the result says so."""
    url = "https://renamed.test.example/"
    with ScriptedServer(scripted.body(PAGE), tls=web.authority, names=("before.example",)) as server:
        lines = server.connect_to("renamed.test.example", 443)
        submit({"ingest_type": "pdf", "base_url": url})
        with worker({**HASTY, "fetch.connect_to": lines}):
            assert results(1, timeout=30)[0]["status"] == "tls-error"
        assert server.requests and not any(server.requests), "something was asked before the certificate was known"
        submit({"ingest_type": "pdf", "base_url": url})
        with worker({**HASTY, "fetch.connect_to": lines, "fetch.tls_fallback": True}):
            result = results(2, timeout=30)[-1]
    assert result["status"] == "no-pdf-link"
    assert result["tls_unverified"] is True


def test_ports_that_no_web_server_has(worker, submit, results_by_url, web):
    """Refused before anything is looked up or connected to, also behind a redirect; of a URL that connect_to
    leads elsewhere, its own port counts."""
    with ScriptedServer(scripted.body(PAGE)) as server:
        web.route("ports.test.example", "/", {"redirect": 302, "location": "http://ports.test.example:25/"})
        wanted = {"http://refused.test.example:22/": "blocked-address",
                  "http://refused.test.example:8080/": "blocked-address",
                  "http://ports.test.example/": "blocked-address",
                  "http://allowed.test.example:8081/": "no-pdf-link"}
        submit([{"ingest_type": "pdf", "base_url": url} for url in wanted])
        lines = [server.connect_to(f"{name}.test.example", port) for name, port in
                 (("refused", 22), ("refused", 8080), ("ports", 25), ("allowed", 8081))]
        with worker({"fetch.connect_to": lines, "fetch.allow_port": [8081]}):
            found = results_by_url(len(wanted), timeout=30)
        assert {url: result["status"] for url, result in found.items()} == wanted
        assert len(server.accepted) == 1


def test_user_information_is_dropped(worker, submit, results):
    with ScriptedServer(scripted.body(PAGE)) as server:
        submit({"ingest_type": "pdf", "base_url": "http://reader:hush@named.test.example/"})
        with worker({"fetch.connect_to": server.connect_to("named.test.example")}):
            result = results(1, timeout=30)[0]
    assert result["status"] == "no-pdf-link"
    assert result["userinfo_dropped"] is True
    assert "hush" not in str(result["hops"]) + str(result["terminal"])
    asked = b"".join(server.requests)
    assert b"hush" not in asked and b"authorization" not in asked.lower()


def test_nobody_is_listening(worker, submit, results):
    with ScriptedServer(scripted.never_answer) as server:
        port = server.port
    submit({"ingest_type": "pdf", "base_url": "http://gone.test.example/"})
    with worker({**HASTY, "fetch.connect_to": f"gone.test.example:80:127.0.0.1:{port}"}):
        assert results(1, timeout=30)[0]["status"] == "connect-error"


def test_the_deadline_of_a_request_ends_its_work(worker, submit, results, web):
    """Each answer comes in time, but together they take longer than the request may."""
    def slowly(handler):
        time.sleep(0.8)  # the server's time to answer
        number = int(handler.path.rsplit("/", 1)[1])
        return Reply(302, b"", {"Location": f"/step/{number + 1}"})
    for number in range(20):
        web.route("steps.test.example", f"/step/{number}", slowly)
    submit({"ingest_type": "pdf", "base_url": "http://steps.test.example/step/0"})
    started = time.monotonic()
    with worker({"job.deadline_ms": 3000}):
        result = results(1, timeout=30)[0]
    assert result["status"] == "timeout"
    assert 2 <= len(result["hops"]) <= 6
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("url", ["http://127.0.0.1/x", "http://2130706433/x", "http://0x7f.1/x", "http://[::1]/x",
                                 "http://[::ffff:127.0.0.1]/x", "http://localhost/x", "http://10.0.0.1/x",
                                 "http://169.254.169.254/latest/meta-data"])
def test_private_addresses_are_never_connected_to(worker, submit, results, url):
    """Without exemption; connect_to is off, so that the address in the URL is what would be connected to."""
    submit({"ingest_type": "pdf", "base_url": url})
    with worker(arguments=["--set", "fetch.allow_address=[]", "--set", "fetch.connect_to=[]"]):
        assert results(1, timeout=30)[0]["status"] == "blocked-address"


def test_a_redirect_to_a_private_address_is_refused(worker, submit, results, web):
    web.route("rebind.test.example", "/", {"redirect": 302, "location": "http://169.254.169.254/latest"})
    submit({"ingest_type": "pdf", "base_url": "http://rebind.test.example/"})
    with worker({"fetch.connect_to": "169.254.169.254:80:169.254.169.254:80"}):
        result = results(1, timeout=30)[0]
    assert result["status"] == "blocked-address"
    assert result["terminal"]["terminal_url"] == "http://169.254.169.254/latest"


def test_environment_proxies_are_ignored(worker, submit, results, monkeypatch):
    with ScriptedServer(scripted.body(b"<p>proxied")) as proxy:
        for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        submit({"ingest_type": "pdf", "base_url": GOOD})
        with worker():
            assert results(1)[0]["status"] == "success"
        assert proxy.accepted == []


def test_two_hundred_slow_hosts_are_asked_at_once(worker, submit, results, web):
    def slowly(_):
        time.sleep(3)  # the server's time to answer
        return Reply(200, b"Text of a file.\n")
    for number in range(200):
        web.route(f"slow{number}.test.example", "/", slowly)
    submit([{"ingest_type": "component", "base_url": f"http://slow{number}.test.example/"} for number in range(200)])
    with worker():
        started = time.monotonic()
        found = results(200, timeout=60)
        took = time.monotonic() - started
    assert {one["status"] for one in found} == {"success"}
    assert took < 30, "one after the other they would take ten minutes"


def submit_slow_pages(web, submit, host, count, delay_s):
    """Submits `count` pages of one host, each of which is answered after delay_s."""
    def slowly(_):
        time.sleep(delay_s)  # the server's time to answer
        return Reply(200, b"Text of a file.\n")
    for number in range(count):
        web.route(host, f"/{number}", slowly)
    submit([{"ingest_type": "component", "base_url": f"http://{host}/{number}"} for number in range(count)])


def test_a_host_is_never_asked_twice_at_once(worker, submit, results, web):
    submit_slow_pages(web, submit, "single.test.example", 30, delay_s=0.05)
    with worker({"gate.host_delay_ms": 20}):
        results(30, timeout=60)
    assert web.most_at_once("single.test.example") == 1
    seen = sorted(web.accesses("single.test.example"), key=lambda entry: entry["ts_start"])
    gaps = [later["ts_start"] - earlier["ts_end"] for earlier, later in zip(seen, seen[1:])]
    assert min(gaps) >= 0.015


def test_waiting_too_long_for_a_host_is_host_backoff(worker, submit, results, web):
    submit_slow_pages(web, submit, "busy.test.example", 6, delay_s=2)
    with worker({"gate.max_wait_ms": 3000}):
        statuses = [one["status"] for one in results(6, timeout=30)]
    assert "host-backoff" in statuses and "success" in statuses
