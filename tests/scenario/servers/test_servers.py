# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers themselves: a test against a server that does not do what it says proves nothing."""

import gzip
import http.client
import json
import socket
import ssl
import time
import urllib.parse
import zlib

import psycopg
import pytest

from servers import scripted
from servers.worker import nested


def fetch(web, url, headers=None):
    """One request to the sample web, without following anything. Returns status, fields and body."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=web.ca_file)
        raw = socket.create_connection(("127.0.0.1", web.https_port), timeout=20)
        connection = http.client.HTTPConnection(parts.hostname)
        connection.sock = context.wrap_socket(raw, server_hostname=parts.hostname)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", web.http_port, timeout=20)
    try:
        target = parts.path + ("?" + parts.query if parts.query else "")
        connection.request("GET", target, headers={"Host": parts.hostname, **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def ask(port, data=b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", timeout=5):
    """What a raw server sends in answer, up to the end, a reset or the time limit."""
    got = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as sock:
        sock.sendall(data)
        try:
            while chunk := sock.recv(65536):
                got += chunk
        except TimeoutError:
            return got, "silent"
        except ConnectionResetError:
            return got, "reset"
    return got, "end"


@pytest.mark.parametrize("url,type_,start", [
    ("https://tidal-ecology.example/article/view/41", "text/html", b"<!DOCTYPE html>"),
    ("https://tidal-ecology.example/article/download/41/pdf", "application/pdf", b"%PDF-1.5"),
    ("https://press.northmoor.example/doi/pdf/10.5555/nm.2020.117?download=true&inline=1", "application/pdf", b"%PDF"),
    ("https://press.northmoor.example/doi/pdf/10.5555/nm.2020.119", "image/png", b"\x89PNG"),
    ("http://eprints.eastfen.example/id/eprint/2207/", "text/html", b"<!DOCTYPE html PUBLIC"),
    ("https://any-name.many.example/robots.txt", None, b"<!DOCTYPE html><title>Not found"),
])
def test_sample_pages(web, url, type_, start):
    status, headers, body = fetch(web, url)
    assert status == (200 if type_ else 404)
    assert body.startswith(start)
    if type_:
        assert headers["Content-Type"].startswith(type_)


def test_sample_codings(web):
    page = fetch(web, "https://tidal-ecology.example/article/view/42")
    assert page[1]["Content-Encoding"] == "gzip" and b"application/pdf" in gzip.decompress(page[2])
    page = fetch(web, "https://preprints.halcyon.example/abs/2311.0043")
    assert page[1]["Content-Encoding"] == "deflate" and b"citation_pdf_url" in zlib.decompress(page[2])
    page = fetch(web, "https://preprints.halcyon.example/abs/2311.0042")
    assert page[1]["Content-Encoding"] == "br"


def test_sample_cookie_bounce(web):
    url = "https://journals.meridian.example/article/9"
    status, headers, _ = fetch(web, url)
    assert (status, headers["Location"]) == (302, "/article/9")
    cookie = headers["Set-Cookie"].split(";")[0]
    assert fetch(web, url, {"Cookie": cookie})[0] == 200


def test_sample_certificates(web):
    with pytest.raises(ssl.SSLCertVerificationError):
        fetch(web, "https://nobody-vouches.example/paper.pdf")
    assert fetch(web, "https://never-heard-of.example/")[0] == 404


def test_sample_short_body(web):
    with pytest.raises(http.client.IncompleteRead):
        fetch(web, "http://broken.gannet.example/article/short.pdf")


def test_sample_log_and_python_routes(web):
    web.route("own.test.example", "/x", lambda handler: web_reply(handler))
    assert fetch(web, "http://own.test.example/x?y=1")[2] == b"hello /x?y=1"
    end = time.monotonic() + 10  # an answer is logged when it has gone out, which its reader may see first
    while not web.accesses("own.test.example") and time.monotonic() < end:
        time.sleep(0.01)
    entry = web.accesses("own.test.example")[-1]
    assert entry["status"] == 200 and entry["path"] == "/x?y=1" and entry["ts_end"] >= entry["ts_start"]
    assert web.most_at_once("own.test.example") == 1


def web_reply(handler):
    import server
    return server.Reply(200, f"hello {handler.path}", type="text/plain")


@pytest.mark.parametrize("script,want,ending", [
    (scripted.garbage_status_line, b"\x00\xffthis", "end"),
    (scripted.close_without_answer, b"", "end"),
    (scripted.reset_before_answer, b"", "reset"),
    (scripted.never_answer, b"", "silent"),
    (scripted.lie_about_length(b"abc", 10), b"Content-Length: 10", "end"),
    (scripted.reset_after(b"a" * 100, 50), b"Content-Length: 100", "reset"),
    (scripted.stall_after(b"a" * 100, 50), b"Content-Length: 100", "silent"),
    (scripted.truncated_chunks, b"1000\r\nonly", "end"),
    (scripted.raw(b"anything"), b"anything", "end"),
])
def test_scripted(script, want, ending):
    with scripted.ScriptedServer(script) as server:
        got, how = ask(server.port, timeout=1)
    assert want in got and how == ending


def test_scripted_endless_and_slow():
    with scripted.ScriptedServer(scripted.endless_body) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert sum(len(sock.recv(65536)) for _ in range(200)) > 1 << 18
    with scripted.ScriptedServer(scripted.drip(b"abcdef", 0.05)) as server:
        started = time.monotonic()
        got, how = ask(server.port, timeout=1)
        assert got.endswith(b"abcdef") and how == "end" and time.monotonic() - started >= 0.3


def test_scripted_over_tls(web):
    with scripted.ScriptedServer(scripted.body(b"secret"), tls=web.authority) as server:
        context = ssl.create_default_context(cafile=web.ca_file)
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as raw:
            with context.wrap_socket(raw, server_hostname="a.test.example") as sock:
                sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert sock.recv(65536).endswith(b"secret")


def test_kafka_survives_a_crash(kafka, produce, consume, topics):
    brokers = kafka.brokers()
    produce(topics["requests"], [json.dumps({"n": n}) for n in range(50)])
    kafka.stop(hard=True)
    assert not kafka.running()
    kafka.start()
    assert kafka.brokers() == brokers
    assert len(consume(topics["requests"], 50)) == 50


def test_kafka_takes_large_values(produce, consume, topics):
    produce(topics["pdf_text"], [b"x" * (8 << 20)], key="k")
    assert len(consume(topics["pdf_text"], 1)[0].value()) == 8 << 20


def test_postgres_survives_a_crash(postgres, tag):
    dsn = postgres.create_database(tag)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS n")
    postgres.stop(mode="immediate")
    assert not postgres.running()
    postgres.start()
    with psycopg.connect(dsn) as connection:
        assert connection.execute("SELECT n FROM t").fetchall() == [(1,)]


def test_nested_settings():
    assert nested({"a.b": 1, "a.c.d": 2, "e": 3}) == {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
    assert nested({"a.b": {"c": 1}, "a.b.d": 2}) == {"a": {"b": {"c": 1, "d": 2}}}
