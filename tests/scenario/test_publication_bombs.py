# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that were made to hurt whoever reads them, from all services at once but one: its parts are there, nothing else is,
and the run goes on to the next publication."""

import gzip
import random
import zlib

import pytest
from servers.papers import check, make_paper
from servers.polite import Answer
from test_publication import apis, ask, config, publications  # noqa: F401 (fixtures)

MIB = 1 << 20
ENTITIES = "".join(f'<!ENTITY e{at} "{f"&e{at - 1};" * 10 if at else "lol"}">' for at in range(12))

BOMBS = {
    "entities": Answer(body=f"<!DOCTYPE r [{ENTITIES}]><r>&e11;</r>".encode(), type="text/xml"),
    "deep": Answer(body=b"<responseWrapper>" * 200_000, type="text/xml"),
    "wide": Answer(body=b"<article><front><article-meta>" + b"<contrib corresp='yes'/>" * 300_000, type="text/xml"),
    "nested lists": Answer(body=b"[" * 2_000_000, type="application/json"),
    "values": Answer(body=b'{"message":{"author":[' + b"{}," * 1_500_000 + b"{}]}}", type="application/json"),
    "inflating": Answer(body=gzip.compress(b"<a/>" * (16 * MIB), 1), headers={"Content-Encoding": "gzip"}, type="text/xml"),
    "cut gzip": Answer(body=gzip.compress(random.Random(1).randbytes(10_000))[:5_000], headers={"Content-Encoding": "gzip"},
                       type="text/xml"),
    "page": Answer(body=b"<div><table><b>" * 200_000),
    "pdf": Answer(body=b"%PDF-1.7\n1 0 obj<</Length 9>>stream\n" + zlib.compress(b"q " * MIB) * 10, type="application/pdf"),
    "nothing": Answer(body=b""),
    "noise": Answer(body=bytes(range(256)) * 4096, type="application/octet-stream"),
}
SPOILT = ("europepmc", "europepmc-xml", "mined", "unpaywall", "crossref", "openalex", "page", "pdf", "pmc-xml", "pmc-html",
          "pubmed-html")


@pytest.mark.parametrize("bomb", BOMBS)
def test_one_good_answer_among_bombs_counts(apis, ask, publications, bomb):  # noqa: F811
    hurt, whole = apis.add(make_paper(5, "repository")), apis.add(make_paper(6, "open"))
    for service in SPOILT:
        apis.say(service, hurt, BOMBS[bomb])
    first, second = publications(hurt.pmid, whole.pmid)
    assert (first["title"]["type"], first["mesh"]["type"]) == ("pubmed_xml", "pubmed_xml")
    good = {one["resource"] for one in first["resources"] if one["status"] == "success"}
    assert good == {"pubmed-xml"}, first["resources"]
    assert all(one["detail"] or one["http_status"] for one in first["resources"])
    check(whole, second)
