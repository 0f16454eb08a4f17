# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents that are PDFs: facts, text and thumbnail where readers of the tables, topics and objects look for them."""

import hashlib
import json
from pathlib import Path

from makepdf import make_pdf
from servers.polite import Answer

HOST = "papers.test.example"
SAMPLES = Path(__file__).parent.parent / "data" / "pdf"


def serve(polite, bodies):
    """{name: URL} of PDFs."""
    for name, body in bodies.items():
        polite.page(HOST, f"/{name}.pdf", Answer(body=body, type="application/pdf"))
    return {name: f"http://{HOST}/{name}.pdf" for name in bodies}


def test_facts_text_and_thumbnail_arrive_together(worker, submit, results, derived, polite, consume, sql, settings, tmp_path):
    thumbnails = derived("thumbnail")["thumbnail"]
    settings["store.dir"] = str(tmp_path / "objects")
    body = (SAMPLES / "odd_info.pdf").read_bytes()
    sha1 = hashlib.sha1(body).hexdigest()
    url = serve(polite, {"odd": body})["odd"]
    submit({"ingest_type": "pdf", "base_url": url, "link_source": "doi", "link_source_id": "10.5555/odd"})
    with worker():
        result = results(1)[0]
        picture = consume(thumbnails, 1)[0]
    facts = result["pdf_meta"]
    assert (result["status"], facts["status"], facts["has_page0_thumbnail"]) == ("success", "success", True)
    assert facts["pdf_info"]["doi"] == "10.1234/tides.41" and facts["pdf_info"]["Title"] == "\u2014 \u201cquoted\u201d \u20ac 5 \u00fcber"
    assert picture.key() == sha1.encode()
    assert picture.value()[:3] == b"\xff\xd8\xff" and picture.value()[-2:] == b"\xff\xd9"
    object_of = tmp_path / "objects" / "pdf" / sha1[:2] / sha1[2:4] / f"{sha1}.180px.jpg"
    assert object_of.read_bytes() == picture.value()
    row = sql("SELECT * FROM pdf_meta")[0]
    assert (row["sha1hex"], row["has_page0_thumbnail"], row["page_count"]) == (sha1, True, 1)
    assert row["update_id"] == facts["pdf_extra"]["update_id"] == "0f0e0d0c0b0a09080706050403020100"
    assert row["metadata"]["doi"] == "10.1234/tides.41"


def test_what_is_wrong_with_a_pdf_is_said(run_ctl, polite, tmp_path, schema):
    """None of it fails the request: the file is what was asked for."""
    urls = serve(polite, {
        "unicode": (SAMPLES / "bad_unicode.pdf").read_bytes(),
        "password": make_pdf("Locked", "Words.", password="secret"),
        "open": (SAMPLES / "permissions.pdf").read_bytes(),
        "cut": make_pdf("Cut", "Words.", cut_bytes=300)})
    done = run_ctl("run", "--out", tmp_path / "out", "-",
                   input="".join(json.dumps({"ingest_type": "pdf", "base_url": url}) + "\n" for url in urls.values()))
    assert done.returncode == 0, done.stderr
    found = {}
    for line in (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        schema("ingest-result").validate(one)
        assert one["status"] == "success" and one["file_meta"]["sha256hex"]
        found[one["request"]["base_url"]] = one["pdf_meta"]
    facts = {name: found[url] for name, url in urls.items()}
    assert facts["unicode"]["status"] == "bad-unicode" and facts["unicode"]["pdf_info"]["Author"] == "Ada Quill"
    assert facts["unicode"]["has_page0_thumbnail"] and "Title" in facts["unicode"]["error_msg"]
    assert facts["password"]["status"] == "parse-error" and "password" in facts["password"]["error_msg"]
    assert not facts["password"]["has_page0_thumbnail"]
    assert facts["open"]["status"] == "success" and facts["open"]["pdf_info"]["Title"] == "Locked"
    assert facts["cut"]["status"] == "parse-error"
    texts = [json.loads(line) for line in (tmp_path / "out" / "pdf-text.jsonl").read_text(encoding="utf-8").splitlines()]
    for one in texts:
        schema("pdf-text").validate(one)
    assert {"bad-unicode", "success"} == {one["status"] for one in texts}


def test_a_pdf_for_a_source_file_has_its_facts(run_ctl, polite, tmp_path, schema):
    url = serve(polite, {"paper": make_pdf("A paper", "Words of a paper.")})["paper"]
    done = run_ctl("run", "--out", tmp_path / "out", "-", input=json.dumps({"ingest_type": "src", "base_url": url}) + "\n")
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8"))
    schema("ingest-result").validate(result)
    assert result["status"] == "wrong-mimetype" and result["pdf_meta"]["status"] == "success"
