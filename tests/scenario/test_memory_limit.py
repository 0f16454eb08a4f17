# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker whose control group has little memory: documents that want more cost their examiner, never the worker."""

import pytest
from server import Reply
from servers.cgroup import MemoryGroup, NoGroups

HOST = "greedy.test.example"
GOOD = "https://tidal-ecology.example/article/view/41"
LIMIT_BYTES = 160 << 20
COUNT = 6


def greedy_pdf(entries):
    """Three hundred bytes with a cross-reference table that says it has so many entries: forty bytes of memory each."""
    return (b"%%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
            b"2 0 obj\n<< /Type /Pages /Count 0 /Kids [] >>\nendobj\n"
            b"xref\n0 %d\n0000000000 65535 f \n0000000009 00000 n \n"
            b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n107\n%%%%EOF\n" % (entries, entries))


@pytest.fixture
def little_memory():
    """A group with so little memory that one greedy document uses it up, which an examiner alone may not."""
    try:
        group = MemoryGroup(LIMIT_BYTES)
    except NoGroups as why:
        pytest.skip(str(why))
    with group:
        yield group


def test_greedy_documents_cost_their_examiner_and_not_the_worker(worker, submit, results_by_url, web, little_memory):
    """The kernel kills for want of memory, several times; every request has its result, honest ones among them."""
    wanted = {}
    for number in range(COUNT):
        web.route(HOST, f"/{number}.pdf", lambda _: Reply(200, greedy_pdf(9_000_000), type="application/pdf"))
        wanted[f"http://{HOST}/{number}.pdf"] = f"{GOOD}?{number}"
    submit([{"ingest_type": "pdf", "base_url": url} for pair in wanted.items() for url in pair])
    with worker({"examine.memory_bytes": 2 << 30}, wrapper=little_memory.command) as daemon:
        found = results_by_url(2 * COUNT, timeout=120)
        assert daemon.running()
    assert little_memory.kills() >= COUNT, "no document used up the memory"
    assert {found[url]["status"] for url in wanted.values()} == {"success"}
    for url in wanted:
        result = found[url]
        assert result["status"] in ("success", "parse-crash"), result
        if result["status"] == "success":
            assert result["pdf_meta"]["status"] == "bad-pdf", result
        assert len(result["file_meta"]["sha1hex"]) == 40  # what the file is was known before it was looked into
