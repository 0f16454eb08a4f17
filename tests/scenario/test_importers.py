# SPDX-License-Identifier: GPL-3.0-or-later
"""What the importers downstream want of a hit of each type, as they are deployed: they take results unmodified, and pass
over those that lack any of it."""

import hashlib
import re

import pytest
from makepdf import make_pdf
from servers.grobid import Grobid
from servers.polite import Answer

HOST = "import.test.example"
PARAGRAPH = "Twice a day the water rises over the flats, and twice a day it leaves them to the birds and the sun. "
BODIES = {
    "pdf": (make_pdf("On Tides", "Water rises and falls."), "application/pdf"),
    "xml": (b"<!DOCTYPE article PUBLIC \"-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.1 20151215//EN\" \"x.dtd\">"
            b"<article><front><article-meta><title-group><article-title>On Tides</article-title></title-group></article-meta></front>"
            b"<body><p>Words.</p></body></article>", "application/octet-stream"),
    "html": (("<!doctype html><title>On Tides</title><meta name=citation_title content='On Tides'><link rel=stylesheet href=/s.css>"
              "<h1>On Tides</h1>" + f"<p>{PARAGRAPH * 5}</p>" * 20).encode(), "text/html"),
}
MIMETYPES = {
    "pdf": {"application/pdf"},
    "xml": {"application/xml", "application/jats+xml", "application/tei+xml", "text/xml"},
    "html": {"text/html", "application/xhtml+xml"},
}


def check_file(result, body, name):
    meta = result["file_meta"]
    assert meta["size_bytes"] == len(body)
    assert {kind: meta[f"{kind}hex"] for kind in ("md5", "sha1", "sha256")} == \
        {kind: hashlib.new(kind, body).hexdigest() for kind in ("md5", "sha1", "sha256")}
    assert meta["mimetype"] in MIMETYPES[name]


def check_any(result, name):
    assert result["hit"] is True and result["status"] == "success"
    assert (result["request"]["ingest_request_source"], result["request"]["link_source"]) == ("fatcat-changelog", "doi")
    check_file(result, BODIES[name][0], name)
    assert re.fullmatch(r"[0-9]{14}", result["terminal"]["terminal_dt"])
    assert result["terminal"]["terminal_url"] == f"http://{HOST}/{name}"


def check_html(result):
    assert result["terminal"]["terminal_status_code"] == 200
    capture = result.get("revisit_cdx") or result["cdx"]
    assert capture["surt"] and capture["url"] == result["terminal"]["terminal_url"]
    assert [entry["url"] for entry in result["html_resources"]] == [f"http://{HOST}/s.css"]
    assert all(entry["timestamp"] and entry["surt"] and entry["url"] for entry in result["html_resources"])


@pytest.mark.parametrize("again", [False, True], ids=["first", "unchanged since"])
def test_the_importers_take_a_hit_of_each_type(worker, submit, results_by_url, results, polite, schema, again):
    """The second time the same bytes come, and the record is a revisit."""
    for name, (body, kind) in BODIES.items():
        polite.page(HOST, f"/{name}", Answer(body=body, type=kind))
    polite.page(HOST, "/s.css", Answer(body=b"p { margin: 0 }", type="text/css"))
    requests = [{"ingest_type": name, "base_url": f"http://{HOST}/{name}", "ingest_request_source": "fatcat-changelog",
                 "link_source": "doi", "link_source_id": f"10.5555/{name}", "force_recrawl": True} for name in BODIES]
    with Grobid() as grobid, worker({"grobid.url": grobid.url, "resources.mode": "on", "warc.revisit_min_bytes": 1}):
        submit(requests)
        found = results_by_url(len(requests))
        if again:
            submit(requests)
            later = results(2 * len(requests))[len(requests):]
            found = {one["request"]["base_url"]: one for one in later}
    assert set(found) == {f"http://{HOST}/{name}" for name in BODIES}
    for name in BODIES:
        result = found[f"http://{HOST}/{name}"]
        schema("ingest-result").validate(result)
        check_any(result, name)
    assert found[f"http://{HOST}/pdf"]["grobid"]["status_code"] == 200
    assert found[f"http://{HOST}/xml"]["xml_meta"] == {"status": "success"}
    check_html(found[f"http://{HOST}/html"])
