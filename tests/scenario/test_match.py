# SPDX-License-Identifier: GPL-3.0-or-later
"""Results say whether the document is the work that was asked for."""

import json

from makepdf import make_pdf
from servers.polite import Answer

HOST = "papers.test.example"
TITLE = "Sediment transport in tidal creeks of the northern estuary"
BODY = ("We have measured what the tide carries into the marsh and out of it over two years and at seventeen stations. The larger part "
        "settles within the first hundred metres. Salt marshes grow by what the water leaves behind. How much that is has been estimated by "
        "several groups with results that differ by an order of magnitude and the reasons are not known. ")


def landing(name, title=TITLE, doi="10.1234/tides.41"):
    return f"""<html><head><title>{title}</title><meta name="citation_title" content="{title}"><meta name="citation_doi" content="{doi}">
<meta name="citation_author" content="Abara, Ada"><meta name="citation_author" content="Bergstrom, Berit">
<meta name="citation_pdf_url" content="http://{HOST}/{name}.pdf"></head><body><p>{BODY}</p></body></html>"""


def test_a_document_that_is_another_work_is_a_hit_and_said_to_be_one(run_ctl, polite, tmp_path, schema):
    pdfs = {
        "right": make_pdf(TITLE, f"{TITLE} Ada Abara Berit Bergstrom doi:10.1234/tides.41 {BODY}"),
        "guide": make_pdf("Guide", f"Guide for authors. How to submit to the journal. doi:10.1234/journal {BODY}"),
    }
    requests = []
    for name, body in pdfs.items():
        polite.page(HOST, f"/{name}.pdf", Answer(body=body, type="application/pdf"))
        polite.page(HOST, f"/{name}", Answer(body=landing(name).encode(), type="text/html"))
        requests.append({"ingest_type": "pdf", "base_url": f"http://{HOST}/{name}", "ext_ids": {"doi": "10.1234/TIDES.41"}})
    requests.append({"ingest_type": "pdf", "base_url": f"http://{HOST}/right", "title": "A survey of heron colonies and their breeding success",
                     "authors": ["Chidi Castillo"], "ext_ids": {"doi": "10.1234/herons"}, "rel": "of another work"})
    done = run_ctl("run", "--out", tmp_path / "out", "-", input="".join(json.dumps(one) + "\n" for one in requests))
    assert done.returncode == 0, done.stderr
    results = {}
    for line in (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        schema("ingest-result").validate(one)
        assert one["status"] == "success" and one["hit"]
        results[one["request"].get("rel") or one["request"]["base_url"].rsplit("/", 1)[1]] = one["match"]
    assert results["right"]["score"] > 0.95
    assert results["right"]["reasons"] == ["doi", "title", "authors", "landing-page-ids"]
    assert results["guide"]["score"] < 0.05
    assert results["guide"]["reasons"] == ["other-doi", "no-title", "no-author", "guide", "landing-page-ids"]
    assert results["of another work"]["score"] < 0.05
    assert set(results["of another work"]["reasons"]) == {"other-doi", "no-title", "no-author", "landing-page-other-ids",
                                                          "landing-page-other-title"}
