# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between the ingest types, as the outside sees it."""

import json

from servers.polite import Answer

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
