# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between the ingest types, as the outside sees it."""

import gzip
import io
import json
import tarfile

from makepdf import make_pdf
from servers.polite import Answer, redirect

LANDING = b"""<!doctype html><html><head><title>A paper</title>
<meta name=citation_pdf_url content=/paper.pdf></head><body><p>Where the paper is.</body></html>"""


def run_requests(run_ctl, tmp_path, schema, requests):
    """{base_url: result} of `ingestctl run` with these requests; every result is valid."""
    done = run_ctl("run", "--out", tmp_path / "out", "-", input="".join(json.dumps(one) + "\n" for one in requests),
                   overrides={"gate.robots": "obey"})
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    for one in found:
        schema("ingest-result").validate(one)
    return {one["request"]["base_url"]: one for one in found}


def test_requests_say_what_they_accept(run_ctl, polite, tmp_path, schema):
    """The field of the type for pages and document alike; robots.txt is text."""
    host = "accept.test.example"
    polite.page(host, "/", Answer(body=LANDING))
    polite.page(host, "/paper.pdf", Answer(body=b"%PDF-1.4 in name only", type="application/pdf"))
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "pdf", "base_url": f"http://{host}/"}])
    assert found[f"http://{host}/"]["status"] == "success"
    accepted = {one.path: one.headers["accept"] for one in polite.seen(host)}
    page = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    assert accepted == {"/robots.txt": "text/plain,*/*;q=0.8", "/": page, "/paper.pdf": page}


def test_types_of_later_versions_end_politely(run_ctl, polite, tmp_path, schema):
    """Nothing is asked of their hosts, and the message says which types there are."""
    url = "http://later.test.example/"
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "dataset", "base_url": url}])
    assert found[url]["status"] == "not-implemented"
    assert "pdf" in found[url]["error_message"]
    assert not polite.seen("later.test.example")


def tar_of(**files):
    """A tar archive of these files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def test_a_source_is_an_archive_or_tex(run_ctl, polite, tmp_path, schema):
    """By its bytes, whatever the server calls it; compressed for the way, it is what was compressed."""
    host = "src.test.example"
    tar = tar_of(paper=b"\\documentclass{article}\\begin{document}text\\end{document}")
    polite.page(host, "/gz", Answer(body=gzip.compress(tar), type="application/octet-stream"))
    polite.page(host, "/coded", Answer(body=gzip.compress(tar), type="application/x-eprint-tar",
                                       headers={"Content-Encoding": "x-gzip"}))
    polite.page(host, "/moved", redirect("/gz"))
    polite.page(host, "/paper", Answer(body=b"%PDF-1.4 in name only", type="application/gzip"))
    polite.page(host, "/page", Answer(body=b"<!doctype html><title>A paper</title><a href=/gz>TeX source</a>"))
    wanted = {"gz": "application/gzip", "coded": "application/x-tar", "moved": "application/gzip",
              "paper": "application/pdf", "page": "text/html"}
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "src", "base_url": f"http://{host}/{path}"}
                                                     for path in wanted])
    for path, mimetype in wanted.items():
        one = found[f"http://{host}/{path}"]
        assert one["status"] == ("wrong-mimetype" if path.startswith("pa") else "success"), one
        assert one["file_meta"]["mimetype"] == mimetype
    page = found[f"http://{host}/page"]
    assert page["error_message"] == "a page came in place of a source file" and "extract_next_hop" not in page
    assert {one.headers["accept"] for one in polite.seen(host, robots=False)} == \
        {"application/gzip,application/x-tar,application/zip,*/*;q=0.8"}


def page_of_figure(number):
    """A page at /article/…, which names one of its figures."""
    return b"<!doctype html><title>Figure</title><p>See it <a href=/article/download/fig/%d>here</a>." % number


def test_a_page_leads_to_its_component(run_ctl, polite, tmp_path, schema):
    """By its component link alone. A PDF tells what a PDF tells; a page that leads nowhere is none."""
    host = "component.test.example"
    at = f"http://{host}/article"
    bodies = {1: (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0", "image/png"),
              2: (make_pdf("A supplement", "Words of a supplement."), "application/pdf"),
              3: (b"PK\x05\x06" + bytes(18), "application/zip")}
    for number, (body, mimetype) in bodies.items():
        polite.page(host, f"/article/{number}", Answer(body=page_of_figure(number)))
        polite.page(host, f"/article/download/fig/{number}", Answer(body=body, type=mimetype))
    polite.page(host, "/article/none", Answer(body=LANDING))
    polite.page(host, "/article/loop", Answer(body=page_of_figure(4)))
    polite.page(host, "/article/download/fig/4", Answer(body=page_of_figure(4)))
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "component", "base_url": f"{at}/{name}"}
                                                     for name in (1, 2, 3, "none", "loop")])
    for number, (_, mimetype) in bodies.items():
        one = found[f"{at}/{number}"]
        assert one["status"] == "success", one
        assert one["hops"] == [f"{at}/{number}", f"{at}/download/fig/{number}"]
        assert one["extract_next_hop"] == {"url": one["hops"][1], "technique": "arpha-figure"}
        assert one["file_meta"]["mimetype"] == mimetype and ("pdf_meta" in one) == (number == 2)
    none = found[f"{at}/none"]
    assert (none["status"], none["error_message"]) == ("wrong-mimetype", "the page names no component")
    assert "extract_next_hop" not in none and none["file_meta"]["mimetype"] == "text/html"
    assert found[f"{at}/loop"]["status"] == "link-loop"
    assert {one.headers["accept"] for one in polite.seen(host, robots=False)} == {"*/*"}
    texts = [json.loads(line) for line in (tmp_path / "out" / "pdf-text.jsonl").read_text("utf-8").splitlines()]
    assert [one["sha1hex"] for one in texts] == [found[f"{at}/2"]["file_meta"]["sha1hex"]]
    assert "supplement" in texts[0]["text"]
