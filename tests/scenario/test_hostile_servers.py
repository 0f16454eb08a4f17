# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that misbehave: each misdeed has its status, ends in time, and does not hold the others up."""

import time

import pytest

from servers import scripted
from servers.scripted import ScriptedServer

GOOD = "https://tidal-ecology.example/article/view/41"
HASTY = {"fetch.timeout_ms": 3000, "fetch.connect_timeout_ms": 2000, "fetch.stall_ms": 1500,
         "fetch.max_body_bytes": 4 << 20}

MISDEEDS = {
    "never answers": (scripted.never_answer, "read-timeout"),
    "garbage": (scripted.garbage_status_line, "read-error"),
    "closes without a word": (scripted.close_without_answer, "read-error"),
    "resets before the answer": (scripted.reset_before_answer, "read-error"),
    "endless headers": (scripted.endless_headers, "headers-too-large"),
    "a header line of a mebibyte": (scripted.huge_header_line, "headers-too-large"),
    "headers that drip": (scripted.drip_headers(0.3), "read-timeout"),
    "endless body": (scripted.endless_body, "body-too-large"),
    "endless chunks": (scripted.endless_chunks, "body-too-large"),
    "body that drips": (scripted.drip(b"<p>" + b"x" * 1000, 0.3), "read-timeout"),
    "stalls in the body": (scripted.stall_after(b"x" * 5000, 1000), "read-timeout"),
    "resets in the body": (scripted.reset_after(b"x" * 5000, 1000), "truncated-body"),
    "announces more than it sends": (scripted.lie_about_length(b"<p>short", 5000), "truncated-body"),
    "ends within a chunk": (scripted.truncated_chunks, "truncated-body"),
    "a chunk size that is none": (scripted.bad_chunk, "read-error"),
    "redirects for ever": (scripted.redirect_for_ever, "redirects-exceeded"),
    "head without end": (scripted.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"), "read-error"),
}


def test_each_misdeed_has_its_status_and_the_others_go_on(worker, submit, results_by_url):
    servers, requests, lines, wanted = [], [], [], {}
    try:
        for number, (name, (script, status)) in enumerate(MISDEEDS.items()):
            server = ScriptedServer(script).__enter__()
            servers.append(server)
            lines.append(server.connect_to(f"m{number}.test.example"))
            url = f"http://m{number}.test.example/{name.replace(' ', '-')}"
            requests.append({"ingest_type": "pdf", "base_url": url})
            wanted[url] = status
        wanted[GOOD] = "success"
        submit(requests + [{"ingest_type": "pdf", "base_url": GOOD}])
        started = time.monotonic()
        with worker({**HASTY, "fetch.connect_to": lines}):
            found = results_by_url(len(wanted), timeout=60)
        assert {url: result["status"] for url, result in found.items()} == wanted
        assert time.monotonic() - started < 45
    finally:
        for server in servers:
            server.__exit__()


def test_a_stalled_handshake_ends(worker, submit, results):
    with ScriptedServer(scripted.stall_handshake) as server:
        submit({"ingest_type": "pdf", "base_url": "https://stall.test.example/"})
        with worker({**HASTY, "fetch.connect_to": server.connect_to("stall.test.example", 443)}):
            assert results(1, timeout=20)[0]["status"] in ("connect-error", "tls-error")


def test_nobody_is_listening(worker, submit, results):
    with ScriptedServer(scripted.never_answer) as server:
        port = server.port
    submit({"ingest_type": "pdf", "base_url": "http://gone.test.example/"})
    with worker({**HASTY, "fetch.connect_to": f"gone.test.example:80:127.0.0.1:{port}"}):
        assert results(1, timeout=20)[0]["status"] == "connect-error"


def test_the_deadline_of_a_request_ends_its_work(worker, submit, results, web):
    """Each answer comes in time, but together they take longer than the request may."""
    from server import Reply

    def slowly(handler):
        time.sleep(0.8)
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
    from server import Reply

    def slowly(_):
        time.sleep(3)
        return Reply(200, b"<!doctype html><title>x</title><p>no link here")
    for number in range(200):
        web.route(f"slow{number}.test.example", "/", slowly)
    submit([{"ingest_type": "html", "base_url": f"http://slow{number}.test.example/"} for number in range(200)])
    with worker():
        started = time.monotonic()
        found = results(200, timeout=60)
        took = time.monotonic() - started
    assert {one["status"] for one in found} == {"success"}
    assert took < 30, "one after the other they would take ten minutes"


def test_a_host_is_never_asked_twice_at_once(worker, submit, results, web):
    from server import Reply

    def briefly(_):
        time.sleep(0.05)
        return Reply(200, b"<!doctype html><title>x</title>")
    for number in range(30):
        web.route("single.test.example", f"/{number}", briefly)
    submit([{"ingest_type": "html", "base_url": f"http://single.test.example/{number}"} for number in range(30)])
    with worker({"gate.host_delay_ms": 20}):
        results(30, timeout=60)
    assert web.most_at_once("single.test.example") == 1
    seen = sorted(web.accesses("single.test.example"), key=lambda entry: entry["ts_start"])
    gaps = [later["ts_start"] - earlier["ts_end"] for earlier, later in zip(seen, seen[1:])]
    assert min(gaps) >= 0.015


def test_waiting_too_long_for_a_host_is_host_backoff(worker, submit, results, web):
    from server import Reply

    def slowly(_):
        time.sleep(2)
        return Reply(200, b"<!doctype html><title>x</title>")
    for number in range(6):
        web.route("busy.test.example", f"/{number}", slowly)
    submit([{"ingest_type": "html", "base_url": f"http://busy.test.example/{number}"} for number in range(6)])
    with worker({"gate.max_wait_ms": 3000}):
        statuses = [one["status"] for one in results(6, timeout=30)]
    assert "host-backoff" in statuses and "success" in statuses
