# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers themselves: a test against a server that does not do what it says proves nothing."""

import base64
import gzip
import hashlib
import http.client
import json
import signal
import socket
import ssl
import time
import urllib.parse
import zlib

import psycopg
import pytest

from servers import account, polite, runs, scripted, stalls
from servers.names import NameServer
from servers.relay import Relay
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


@pytest.mark.private_servers("kafka")
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


@pytest.mark.private_servers("postgres")
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


def get(port, host, path):
    return ask(port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode(), timeout=0.3)


def test_the_polite_server_answers_as_scripted_and_keeps_a_record():
    with polite.PoliteServer() as server:
        server.page("a.example", "/x", polite.Answer(503, b"later"), polite.Answer(body=b"now"))
        server.page("a.example", "/gone", polite.Answer(reset=True))
        server.page("a.example", "/cut", polite.Answer(body=b"12345", cut=2))
        port = server.ports["http"]
        assert get(port, "a.example", "/x")[0].startswith(b"HTTP/1.1 503 ")
        for _ in range(2):
            assert get(port, "a.example", "/x")[0].endswith(b"\r\n\r\nnow")
        assert get(port, "a.example", "/gone") == (b"", "reset")
        assert get(port, "a.example", "/cut")[0].endswith(b"\r\n\r\n12")
        assert get(port, "b.example", "/robots.txt")[0].startswith(b"HTTP/1.1 404 ")
        assert server.paths("a.example") == ["/x", "/x", "/x", "/gone", "/cut"]
        assert [one.status for one in server.seen("a.example", "/x")] == [503, 200, 200]


def test_the_checks_of_politeness_see_what_is_impolite():
    def request(start, end):
        return polite.Request("a.example", "/", "http", start, end)
    calm = [request(1.0, 2.0), request(2.5, 3.0), request(3.5, 4.0)]
    polite.check_one_at_a_time(calm, 0.5)
    assert polite.most_at_once(calm) == 1 and polite.gaps(calm) == [0.5, 0.5]
    for late in (request(3.9, 5.0), request(4.2, 5.0), request(2.1, 2.2)):
        with pytest.raises(AssertionError):
            polite.check_one_at_a_time(calm + [late], 0.5)
    long = [request(1.0, 9.0), request(2.0, 3.0), request(4.0, 5.0)]
    assert polite.most_at_once(long) == 2


def test_the_name_server_answers_for_names():
    def query(name, kind):
        labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
        return b"\x12\x34\x01\x00\x00\x01" + bytes(6) + labels + b"\x00" + bytes([0, kind, 0, 1])
    with NameServer({"*": "127.0.0.9", "none.example": None}) as names:
        host, port = names.address.split(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(5)
            for name, kind, code, tail in (("a.example", 1, 0, socket.inet_aton("127.0.0.9")),
                                           ("a.example", 28, 0, b"\x00\x1c\x00\x01"),
                                           ("none.example", 1, 3, b"\x00\x01\x00\x01")):
                sock.sendto(query(name, kind), (host, int(port)))
                reply = sock.recv(512)
                assert reply[:2] == b"\x12\x34" and reply[3] & 15 == code and reply.endswith(tail)
    assert names.asked == [("a.example", 1), ("a.example", 28), ("none.example", 1)]


def test_a_long_turn_of_a_worker_fails_its_test(worker, host_rules):
    """Reading so many rules again takes some hundred milliseconds of CPU time: also where the kernel looks at its timers seldom
    it does so in them."""
    host_rules([{"host": f"host-{number}.example", "delay_ms": 1000} for number in range(30000)])
    with pytest.raises(AssertionError, match="loop (stalled|blocked): 1 ms .* in one turn") as failed:
        with worker(env={stalls.VARIABLE: "1"}) as daemon:
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait_log("rules reloaded")
    assert "ing_engine_run" in str(failed.value)


def test_a_stall_that_is_accepted_fails_nothing(monkeypatch):
    log = "loop blocked: 100 ms in calls that wait in one turn\n/bin/x(wait_long+0x3) [0x1]\nloop: end of the stack\n"
    with pytest.raises(AssertionError, match="wait_long"):
        stalls.check(log)
    monkeypatch.setitem(stalls.ACCEPTED, "wait_long", "the test")
    stalls.check(log)
    stalls.check("info: nothing of the kind\n")


ASKED = json.dumps({"ingest_type": "pdf", "base_url": "http://a.example/"}).encode()
EXACTLY, REPEATED, UNFINISHED = account.Allowed(), account.Allowed(repeated=True), account.Allowed(unfinished=True)


@pytest.mark.parametrize("asked,results,dead,groups,passes", [
    ([ASKED], [ASKED], [], 1, (EXACTLY, REPEATED, UNFINISHED)),
    ([ASKED], [], [], 1, (UNFINISHED,)),
    ([ASKED], [ASKED, ASKED], [], 1, (REPEATED,)),
    ([ASKED, ASKED], [ASKED, ASKED], [], 1, (EXACTLY, REPEATED, UNFINISHED)),
    ([ASKED, ASKED], [ASKED], [], 1, (UNFINISHED,)),
    ([ASKED], [ASKED, ASKED], [], 2, (EXACTLY, REPEATED, UNFINISHED)),
    ([ASKED], [ASKED], [], 2, (UNFINISHED,)),
    ([], [ASKED], [], 1, ()),
    ([b"no JSON"], [], [b"no JSON"], 1, (EXACTLY, REPEATED, UNFINISHED)),
    ([b"no JSON"], [], [], 1, (UNFINISHED,)),
    ([b"no JSON"], [], [b"no JSON", b"no JSON"], 1, (REPEATED,)),
    ([ASKED], [], [ASKED], 1, (EXACTLY, REPEATED, UNFINISHED)),
    ([ASKED], [ASKED], [ASKED], 1, (REPEATED,)),
])
def test_results_are_counted_exactly(asked, results, dead, groups, passes):
    keys = [account.identity_of(one) for one in results]
    for allowed in (EXACTLY, REPEATED, UNFINISHED):
        if allowed in passes:
            account.check_counts(asked, keys, dead, allowed, groups)
        else:
            with pytest.raises(AssertionError, match="results of [0-9]+ requests"):
                account.check_counts(asked, keys, dead, allowed, groups)


FILE = {"ingest_type": "file", "base_url": "http://a.example/"}
DONE = {"request": {"ingest_type": "pdf", "base_url": "http://a.example/"}, "hit": False}
BY_DOI = {"ingest_type": "pdf", "ext_ids": {"doi": "10.1/x"}}
BY_DOI_DONE = {"request": {**BY_DOI, "base_url": "https://doi.org/10.1/x"}, "hit": False}
BAD = {"value_base64": base64.b64encode(b"\xff").decode()}


@pytest.mark.parametrize("inputs,results,letters,passes", [
    ([(FILE,)], [DONE], [], (EXACTLY, REPEATED, UNFINISHED)),
    ([(FILE,)], [], [], (UNFINISHED,)),
    ([(FILE,)], [DONE, DONE], [], (REPEATED,)),
    ([(FILE, FILE)], [DONE], [], (UNFINISHED,)),
    ([(FILE,), (FILE,)], [DONE, DONE], [], (EXACTLY, REPEATED, UNFINISHED)),
    ([(FILE,), ("--resume", FILE)], [DONE], [], (EXACTLY, REPEATED, UNFINISHED)),
    ([(FILE,), ("--resume", FILE, FILE)], [DONE], [], (UNFINISHED,)),
    ([(BY_DOI,)], [BY_DOI_DONE], [], (EXACTLY, REPEATED, UNFINISHED)),
    ([(b"\xff", b"", FILE)], [DONE], [BAD], (EXACTLY, REPEATED, UNFINISHED)),
    ([(b"\xff",)], [], [], (UNFINISHED,)),
    ([()], [DONE], [], ()),
    ([(FILE,)], [{**DONE, "hit": True}], [], ()),
])
def test_results_of_a_run_are_counted_exactly(tmp_path, inputs, results, letters, passes):
    """Beside what was in the folder before."""
    (tmp_path / "results.jsonl").write_text('{"status":"success"}\n', encoding="utf-8")
    folder = runs.Folder(tmp_path)
    for lines in inputs:
        resume, lines = "--resume" in lines, [line for line in lines if line != "--resume"]
        folder.run(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines), resume)
    with open(tmp_path / "results.jsonl", "a", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in results)
    (tmp_path / "dead-letters.jsonl").write_text("".join(json.dumps(one) + "\n" for one in letters), encoding="utf-8")
    for allowed in (EXACTLY, REPEATED, UNFINISHED):
        if allowed in passes:
            folder.settle(allowed)
        else:
            with pytest.raises(AssertionError, match="results of [0-9]+ requests|hits without their record"):
                folder.settle(allowed)


@pytest.mark.parametrize("words,found", [
    (["run", "--out", "d", "-"], ("d", "-", False)),
    (["--set", "a=b", "run", "x.jsonl", "--resume", "--out=d"], ("d", "x.jsonl", True)),
    (["run", "-"], None), (["run", "--out", "d"], None), (["submit", "--out", "d", "-"], None), ([], None),
])
def test_a_run_with_a_folder_is_known_by_its_words(words, found):
    got = runs.parse(words)
    assert got and (str(got[0]), *got[1:]) == found or got is found


def test_a_hit_needs_a_record_that_can_be_read(tmp_path):
    """One byte of the payload, its place, its length, its digest, its URL, its file: each is noticed."""
    digest = base64.b32encode(hashlib.sha1(b"hello").digest()).decode()
    text = (b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
            b"WARC-Payload-Digest: sha1:" + digest.encode() + b"\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
            b"Content-Type: application/http; msgtype=response\r\nContent-Length: 24\r\n\r\n"
            b"HTTP/1.1 200 OK\r\n\r\nhello\r\n\r\n")
    member = gzip.compress(text)
    (tmp_path / "x.warc.gz").write_bytes(gzip.compress(b"first") + member + gzip.compress(b"last"))
    (tmp_path / "y.warc.gz").write_bytes(gzip.compress(text.replace(b"hello", b"jello")))
    cdx = {"warc_path": "x.warc.gz", "warc_offset": len(gzip.compress(b"first")), "warc_csize": len(member),
           "sha1b32": digest, "url": "http://a.example/"}
    hit = {"hit": True, "request": {"ingest_type": "pdf", "base_url": "http://a.example/"}}
    account.check_hits([{**hit, "cdx": cdx}], [tmp_path], True)
    account.check_hits([hit], [tmp_path], archived=False)
    account.check_hits([{**hit, "hit": False}], [tmp_path], True)
    bad = [{}, {"warc_path": "z.warc.gz"}, {"warc_offset": 0}, {"warc_csize": len(member) - 1},
           {"warc_csize": len(member) + 30}, {"sha1b32": digest[::-1]}, {"url": "http://b.example/"},
           {"warc_path": "y.warc.gz", "warc_offset": 0, "warc_csize": (tmp_path / "y.warc.gz").stat().st_size}]
    for change in bad:
        with pytest.raises(AssertionError, match="1 hits without their record"):
            account.check_hits([{**hit, "cdx": {**cdx, **change} if change else {}}], [tmp_path], True)


def test_a_relay_loses_its_network_and_finds_it_again():
    def echo(connection):
        while data := connection.sock.recv(100):
            connection.send(data)

    def ask(sock):
        sock.sendall(b"x")
        return sock.recv(1)
    with scripted.ScriptedServer(echo) as server, Relay(server.port) as relay:
        with socket.create_connection(("127.0.0.1", relay.port), 5) as old:
            assert ask(old) == b"x"
            relay.freeze()
            old.settimeout(0.2)
            with pytest.raises(TimeoutError):
                ask(old)
            with socket.create_connection(("127.0.0.1", relay.port), 0.2) as between:
                with pytest.raises(TimeoutError):
                    ask(between)
                relay.thaw()
                with pytest.raises(TimeoutError):
                    ask(between)
            with pytest.raises(TimeoutError):
                ask(old)
            with socket.create_connection(("127.0.0.1", relay.port), 5) as new:
                assert ask(new) == b"x"
        assert relay.accepted_in_vain == 1
