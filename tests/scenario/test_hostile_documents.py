# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents made to break their parsers: each affects the status of its own request only."""

import gzip
import io
import os
import signal
import struct
import subprocess
import tarfile
import time
import zipfile
import zlib

import pytest

import makepdf
from server import Reply

HOST = "hostile.test.example"
GOOD = "https://tidal-ecology.example/article/view/41"
# Short, so that a document that hangs times out within the time of a test.
LIMITS = {"examine.timeout_ms": 8000, "job.deadline_ms": 60000}


def pdf_of(objects, root=1):
    """A PDF of these numbered objects with a correct cross-reference table."""
    out = io.BytesIO()
    out.write(b"%PDF-1.7\n")
    places = {}
    for number, body in objects.items():
        places[number] = out.tell()
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (max(objects) + 1))
    for number in range(1, max(objects) + 1):
        out.write(b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n")
    out.write(b"trailer << /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (max(objects) + 1, root, start))
    return out.getvalue()


def stream(data, extra=b""):
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), extra, data)


def flate_bomb():
    """A kilobyte that inflates, twice over, to a quarter of a gigabyte of page content, two hundred times."""
    content = zlib.compress(b" " * (1 << 28), 9)
    twice = zlib.compress(content, 9)
    return pdf_of({
        1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents [%s] >>" % (b"4 0 R " * 200),
        4: stream(twice, b"/Filter [/FlateDecode /FlateDecode]")})


def page_bomb():
    """Two million pages, all of them one object."""
    return pdf_of({
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Count 2000000 /Kids [%s] >>" % (b"3 0 R " * 2000),
        3: b"<< /Type /Pages /Parent 2 0 R /Count 1000 /Kids [%s] >>" % (b"4 0 R " * 1000),
        4: b"<< /Type /Page /Parent 3 0 R /MediaBox [0 0 612 792] /Contents 5 0 R "
           b"/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        5: stream(b"BT /F1 9 Tf 10 10 Td (word word word word) Tj ET")})


def many_pages():
    """Sixty thousand pages of their own, each with its words."""
    count = 60_000
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Count %d /Kids [%s] >>" % (count, b" ".join(b"%d 0 R" % (n + 5) for n in range(count))),
        3: stream(b"BT /F1 9 Tf 10 10 Td (twenty words of the same kind on every page) Tj ET"),
        4: b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"}
    for number in range(count):
        objects[number + 5] = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R /Resources 4 0 R >>"
    return pdf_of(objects)


def endless_objects():
    """Pages whose kids are themselves, and a length that points to its own stream."""
    return pdf_of({
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Count 5 /Kids [2 0 R 2 0 R 3 0 R] /Parent 2 0 R >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources 3 0 R >>",
        4: b"<< /Length 4 0 R >>\nstream\nq Q\nendstream"})


def recursive_forms():
    """A form that draws itself twice, and itself twice, …"""
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R "
           b"/Resources << /XObject << /X 10 0 R >> >> >>",
        4: stream(b"/X Do /X Do /X Do")}
    for number in range(10, 40):
        objects[number] = stream(b"/X Do /X Do /X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] "
                                 b"/Resources << /XObject << /X %d 0 R >> >>" % (number + 1))
    objects[40] = stream(b"0 0 m 1 1 l S", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]")
    return pdf_of(objects)


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("paper.pdf", b"%PDF-1.4 not really")
    return out.getvalue()


GOOD_PDF = makepdf.make_pdf("A fine paper", "Some words about creeks. " * 200, pages=3)
LINK = b'<meta name="citation_pdf_url" content="/good.pdf">'

# name: bytes, content type, acceptable statuses of the request, of pdf_meta (None: there is none)
DOCUMENTS = {
    "truncated.pdf": (GOOD_PDF[: len(GOOD_PDF) // 2], "application/pdf", {"success"},
                      {"success", "parse-error", "empty-pdf", "empty-page0", "bad-pdf"}),
    "encrypted.pdf": (makepdf.make_pdf("x", "y", password="secret"), "application/pdf", {"success"}, {"parse-error"}),
    "zip.pdf": (zipped(), "application/pdf", {"wrong-mimetype"}, None),
    "pagebomb.pdf": (page_bomb(), "application/pdf", {"success"}, {"success", "text-too-large", "error-timeout", "bad-pdf", "parse-error", "empty-pdf", "empty-page0"}),
    "manypages.pdf": (many_pages(), "application/pdf", {"success"}, {"text-too-large", "error-timeout", "bad-pdf"}),
    "endless.pdf": (endless_objects(), "application/pdf", {"success"},
                    {"success", "parse-error", "empty-pdf", "empty-page0", "bad-pdf", "error-timeout", "bad-pdf"}),
    "forms.pdf": (recursive_forms(), "application/pdf", {"success"}, {"success", "error-timeout", "bad-pdf"}),
    "flate.pdf": (flate_bomb(), "application/pdf", {"success"}, {"error-timeout", "bad-pdf", "success", "parse-error"}),
    "only-magic.pdf": (b"%PDF-1.7\n", "application/pdf", {"success"}, {"parse-error", "empty-pdf", "bad-pdf"}),
    "deep.html": (b"<!doctype html>" + LINK + b"<div>" * 200_000, "text/html", {"success", "no-pdf-link", "parse-timeout"}, ...),
    "attributes.html": (b"<!doctype html>" + LINK + b"<p " + b" ".join(b"a%d=1" % n for n in range(100_000)) + b">",
                        "text/html", {"success", "no-pdf-link", "parse-timeout", "parse-crash"}, ...),
    "formatting.html": (b"<!doctype html>" + LINK + b"".join(b"<b id=x%d><p>" % n for n in range(20_000)),
                        "text/html", {"success", "no-pdf-link", "parse-timeout", "parse-crash"}, ...),
    "entities.xml": (b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">' +
                     b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(12)) +
                     b"]><l>&m;</l>", "application/xml", {"no-pdf-link", "wrong-mimetype"}, None),
}
BOMBS = {
    "gzip": (lambda data: zlib.compressobj(9, zlib.DEFLATED, 31), "body-too-large"),
    "deflate": (lambda data: zlib.compressobj(9, zlib.DEFLATED, 15), "body-too-large"),
}


def zip_of_names(count):
    """A zip of so many empty files, by hand: the library takes a minute for a million."""
    local = bytearray()
    directory = bytearray()
    for number in range(count):
        name = b"%07d" % number
        rest = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0)
        directory += b"PK\1\2" + struct.pack("<H", 20) + rest + struct.pack("<HHHII", 0, 0, 0, 0, len(local)) + name
        local += b"PK\3\4" + rest + name
    total = min(count, 65535)
    return bytes(local + directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, total, total, len(directory), len(local), 0))


def tar_gz_of(name, bytes_):
    """A tar of one file of zeros, compressed a thousandfold."""
    out = io.BytesIO()
    with gzip.open(out, "wb") as packed, tarfile.open(fileobj=packed, mode="w|") as tar:
        member = tarfile.TarInfo(name)
        member.size = bytes_
        tar.addfile(member, open("/dev/zero", "rb"))
    return out.getvalue()


ARTICLE = b"<?xml version='1.0'?><article dtd-version='1.2'><front/>"
REFERENCE = b"<ref id='r'><mixed-citation>A. <source>B</source> <year>1</year></mixed-citation></ref>"
LAUGHS = b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(12))
# name: what makes the bytes, the request's type, what its facts say: xml_meta.status, or file_meta.contains
OTHERS = {
    "many-references.xml": (lambda: ARTICLE + b"<back><ref-list>" + REFERENCE * 70_000 + b"</ref-list></back></article>", "xml", "success"),
    "a-million-references.xml": (lambda: ARTICLE + b"<back><ref-list>" + REFERENCE * 1_000_000 + b"</ref-list></back></article>", "xml",
                                 "text-too-large"),
    "deep.xml": (lambda: ARTICLE + b"<sec>" * 1_000_000, "xml", "xml-parse-error"),
    "laughs.xml": (lambda: b"<?xml version='1.0'?><!DOCTYPE article [<!ENTITY a 'ha'>" + LAUGHS + b"]><article dtd-version='1'>&m;</article>",
                   "xml", "success"),
    "external.xml": (lambda: b"<?xml version='1.0'?><!DOCTYPE article SYSTEM 'file:///dev/zero' [<!ENTITY a SYSTEM 'file:///etc/passwd'>"
                     b"<!ENTITY % p SYSTEM 'http://tidal-ecology.example/'> %p;]><article dtd-version='1'>&a;</article>", "xml", "success"),
    "wide.xml": (lambda: ARTICLE + b"<a " + b" ".join(b"a%d='1'" % n for n in range(100_000)) + b"/>", "xml", "text-too-large"),
    "large.xml": (lambda: b"<?xml version='1.0'?><doc>" + b"<p>Words in it.</p>" * 5_000_000 + b"</doc>", "xml", "text-too-large"),
    "long.xml": (lambda: b"<?xml version='1.0'?><doc>" + b"word " * 26_000_000 + b"</doc>", "xml", "success"),
    "names.zip": (lambda: zip_of_names(1_000_000), "src", None),
    "bomb.tar.gz": (lambda: tar_gz_of("zeros", 1 << 30), "src", ["application/octet-stream", "application/x-tar"]),
    "nested.gz": (lambda: gzip.compress(gzip.compress(gzip.compress(b"words"))), "src", ["application/gzip"]),
}


@pytest.fixture
def served(web):
    web.route(HOST, "/good.pdf", lambda _: Reply(200, GOOD_PDF, type="application/pdf"))
    for name, (data, content_type, _, _) in DOCUMENTS.items():
        web.route(HOST, "/" + name, lambda _, d=data, t=content_type: Reply(200, d, type=t))


def test_each_hostile_document_has_its_status(worker, submit, results_by_url, served):
    wanted = {f"http://{HOST}/{name}": name for name in DOCUMENTS}
    submit([{"ingest_type": "pdf", "base_url": url} for url in wanted] +
           [{"ingest_type": "pdf", "base_url": GOOD}])
    started = time.monotonic()
    with worker(LIMITS) as daemon:
        found = results_by_url(len(wanted) + 1, timeout=150)
        assert daemon.running()
    problems = {}
    for url, name in wanted.items():
        _, _, statuses, metas = DOCUMENTS[name]
        result = found[url]
        meta = result.get("pdf_meta", {}).get("status")
        if result["status"] not in statuses or (metas is not ... and meta not in (metas or {None})):
            problems[name] = (result["status"], meta, result.get("error_message"))
    assert not problems
    assert found[GOOD]["status"] == "success"
    assert time.monotonic() - started < 150


def test_hostile_xml_and_archives_are_hits_that_say_so(worker, submit, results_by_url, web):
    """Each is a document of its type, whatever can be found in it."""
    wanted = {f"http://{HOST}/{name}": (kind, facts) for name, (_, kind, facts) in OTHERS.items()}
    for name, (make, _, _) in OTHERS.items():
        web.route(HOST, "/" + name, lambda _, m=make: Reply(200, m(), type="application/octet-stream"))
    submit([{"ingest_type": kind, "base_url": url} for url, (kind, _) in wanted.items()])
    with worker({**LIMITS, "gate.host_concurrency": 4}) as daemon:
        found = results_by_url(len(wanted), timeout=150)
        assert daemon.running()
    assert {url: one["status"] for url, one in found.items()} == dict.fromkeys(wanted, "success")
    facts = {url: found[url]["xml_meta"]["status"] if kind == "xml" else found[url]["file_meta"].get("contains")
             for url, (kind, _) in wanted.items()}
    assert facts == {url: one for url, (_, one) in wanted.items()}


def test_hostile_pages_and_style_sheets_are_read_in_part(worker, submit, results, web):
    """100,000 candidates of a srcset, 16 MB of CSS: the page is a hit, with the first of what it is made of."""
    candidates = ", ".join(f"/{number}.png {number}w" for number in range(1, 100_001))
    web.route(HOST, "/page", lambda _: Reply(200, b"<!doctype html><title>A page</title><meta name=citation_fulltext_html_url content=http://"
                                             + HOST.encode() + b"/page><p>Words.</p><link rel=stylesheet href=/deep.css>"
                                             b"<link rel=stylesheet href=/wide.css><img srcset='%s'>" % candidates.encode()))
    web.route(HOST, "/deep.css", lambda _: Reply(200, b"a{b:url(" * 2_000_000, type="text/css"))
    web.route(HOST, "/wide.css", lambda _: Reply(200, b"@import '/x.css';".ljust(16_000_000, b"("), type="text/css"))
    submit({"ingest_type": "html", "base_url": f"http://{HOST}/page"})
    with worker({**LIMITS, "gate.host_delay_ms": 0, "gate.adaptive_factor": 0, "gate.robots": "ignore"}) as daemon:
        result = results(1, timeout=120)[0]
        assert daemon.running()
    assert result["status"] == "success"
    listed = {one["url"].rsplit("/", 1)[1]: one.get("status") for one in result["html_resources"]}
    assert len(listed) == 200 and result["html_resources_count"]["truncated"]
    assert listed["deep.css"] is None and listed["wide.css"] is None
    assert "1.png" in listed and "198.png" in listed


def test_compressed_bombs_are_too_large(worker, submit, results_by_url, web):
    wanted = {}
    for coding, (make, status) in BOMBS.items():
        packer = make(None)
        data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(300)) + packer.flush()
        web.route(HOST, "/bomb-" + coding, lambda _, d=data, c=coding: Reply(200, d, {"Content-Encoding": c}))
        wanted[f"http://{HOST}/bomb-{coding}"] = status
    submit([{"ingest_type": "pdf", "base_url": url} for url in wanted])
    with worker(LIMITS):
        found = results_by_url(len(wanted), timeout=60)
    assert {url: one["status"] for url, one in found.items()} == wanted


def test_broken_codings(worker, submit, results_by_url, web):
    cases = {"unknown": (b"x" * 100, "zstd"), "cut": (zlib.compress(b"<p>" * 10000)[:20], "deflate")}
    for name, (data, coding) in cases.items():
        web.route(HOST, "/" + name, lambda _, d=data, c=coding: Reply(200, d, {"Content-Encoding": c}))
    submit([{"ingest_type": "pdf", "base_url": f"http://{HOST}/{name}"} for name in cases])
    with worker(LIMITS):
        found = results_by_url(len(cases))
    assert {one["status"] for one in found.values()} == {"bad-content-encoding"}


def test_a_killed_examiner_costs_only_its_document(worker, submit, results, served, web, wait_until):
    """kill -9 of every examiner and of the zygote: the worker continues."""
    def examiners():
        listing = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
        table = [line.split(None, 2) for line in listing.splitlines()[1:]]
        family = {daemon.pid}
        for _ in range(3):
            family |= {int(pid) for pid, parent, _ in table if int(parent) in family}
        return [int(pid) for pid, _, args in table if int(pid) in family and "ingest-examiner" in args]
    with worker(LIMITS) as daemon:
        for number in range(3):
            wait_until(lambda: len(examiners()) >= 2)
            for pid in examiners():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            submit({"ingest_type": "pdf", "base_url": f"{GOOD}#{number}"})
            found = results(number + 1, timeout=60)
        assert [one["status"] for one in found].count("success") >= 3


def serve_mixed(web, hostile, innocent):
    """Serves recursive_forms() at the hostile URLs and a good PDF at the innocent ones. Returns a set that collects the
    paths of the hostile ones as they are fetched."""
    fetched = set()

    def bad(request):
        fetched.add(request.path)
        return Reply(200, recursive_forms(), type="application/pdf")
    for url in hostile:
        web.route(url.split("/")[2], url[url.rindex("/"):], bad)
    for url in innocent:
        web.route(url.split("/")[2], url[url.rindex("/"):], lambda _: Reply(200, GOOD_PDF, type="application/pdf"))
    return fetched


def test_hostile_documents_do_not_cost_their_neighbours_a_place(worker, submit, results_by_url, web, wait_until):
    """Two examiners, more documents that cost their limit than they can see within job.deadline_ms or
    examine.max_wait_ms, and innocents that come after them all."""
    hostile = [f"http://hostile{n % 3}.example/forms-{n}.pdf" for n in range(30)]
    innocent = [f"http://innocent{n % 10}.example/good-{n}.pdf" for n in range(20)]
    fetched = serve_mixed(web, hostile, innocent)
    limits = {"examine.processes": 2, "examine.timeout_ms": 1500, "examine.max_wait_ms": 12000,
              "job.deadline_ms": 5000}
    with worker(limits):
        submit([{"ingest_type": "pdf", "base_url": url} for url in hostile])
        wait_until(lambda: len(fetched) > 12)  # they stand before the others, wherever these stand
        submit([{"ingest_type": "pdf", "base_url": url} for url in innocent])
        found = results_by_url(50, timeout=120, settle=2)
    assert len(found) == 50
    assert {found[url]["status"] for url in innocent} == {"success"}
    ends = [found[url]["status"] for url in hostile]
    # Looked into as far as it went, or not at all; parse-timeout when the machine is slow to end the reading in time.
    assert {"success", "worker-error"} <= set(ends) <= {"success", "worker-error", "parse-timeout"}, ends
    unseen = next(found[url] for url in hostile if found[url]["status"] == "worker-error")
    assert "no examiner was free" in unseen["error_message"]


def test_a_domains_backlog_holds_no_other_host_back(worker, submit, results, web, wait_until):
    """Its documents fill what places there are for bodies that wait to be examined; under all its names, it alone waits
    for room."""
    hostile = [f"http://h{n % 4}.hostile.example/backlog-{n}.pdf" for n in range(16)]
    innocent = [f"http://innocent{n}.example/backlog.pdf" for n in range(6)]
    fetched = serve_mixed(web, hostile, innocent)
    with worker({"examine.processes": 2, "examine.timeout_ms": 1000, "gate.concurrency": 8}):
        submit([{"ingest_type": "pdf", "base_url": url} for url in hostile])
        wait_until(lambda: len(fetched) > 4)
        submit([{"ingest_type": "pdf", "base_url": url} for url in innocent])
        waiting = set(innocent)
        while waiting:
            done = {one["request"]["base_url"] for one in results(1, settle=0.5)}
            waiting -= done
        assert len(done & set(hostile)) < 8, "the others were served behind them"
        found = results(22, timeout=120, settle=1)
    assert sorted(one["request"]["base_url"] for one in found) == sorted(hostile + innocent)
    assert {one["status"] for one in found if one["request"]["base_url"] in innocent} == {"success"}
