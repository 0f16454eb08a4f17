# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that the tables answer: nothing is fetched, nothing is overwritten, and whoever insists is served anew."""

import json
import re

import psycopg
import pytest
from server import Reply

DAY_MS = 86_400_000
TABLES = ("ingest_request", "ingest_file_result", "file_meta", "cdx", "pdf_meta")


@pytest.fixture
def page(web):
    """A host of a page and of what is none, and how often it was asked."""
    asked = []

    def answer(request):
        asked.append(request.path)
        return Reply(200, b"Tides rise and fall.\n")

    def fail(request):
        asked.append(request.path)
        return Reply(404, b"<!doctype html><title>Gone</title>")

    web.route("existing.test.example", "/", answer)
    web.route("existing.test.example", "/gone", fail)
    return asked


def request(path="/", **more):
    return {"ingest_type": "component", "base_url": f"http://existing.test.example{path}",
            "link_source": "doi", "link_source_id": "10.5555/1", **more}


def content(sql):
    return {table: sql(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES}


def test_a_young_result_answers_and_force_fetches(worker, submit, results, page, sql):
    submit(request())
    with worker():
        first = results(1)[0]
        assert first["status"] == "success"
        before = content(sql)
        assert [len(before[table]) for table in ("ingest_request", "ingest_file_result", "cdx")] == [1, 1, 1]

        submit(request(skip_existing_max_age_ms=DAY_MS))
        again = results(2)[1]
        assert (again["status"], again["hit"]) == ("existing", True)
        assert again["existing"]["status"] == "success"
        for field in ("terminal", "file_meta", "cdx"):
            assert again[field] == first[field]
        assert "hops" not in again
        assert page == ["/"]
        assert content(sql) == before

        submit(request(skip_existing_max_age_ms=DAY_MS, force_recrawl=True))
        assert results(3)[2]["status"] == "success"
        assert page == ["/", "/"]

        # Without the option nobody is asked.
        submit(request())
        assert results(4)[3]["status"] == "success"
        assert len(page) == 3

        sql("UPDATE ingest_file_result SET updated = now() - interval '2 days'")
        submit(request(skip_existing_max_age_ms=DAY_MS))
        assert results(5)[4]["status"] == "success"
        assert len(page) == 4


def test_a_pdf_keeps_its_facts(worker, submit, results):
    base = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
    submit(base)
    with worker():
        first = results(1)[0]
        assert first["pdf_meta"]["status"] == "success"
        submit({**base, "skip_existing_max_age_ms": DAY_MS})
        again = results(2)[1]
        assert (again["status"], again["hit"]) == ("existing", True)
        for field in ("terminal", "file_meta", "cdx"):
            assert again[field] == first[field]
        for field in ("sha1hex", "status", "word_count", "has_page0_thumbnail"):
            assert again["pdf_meta"][field] == first["pdf_meta"][field]
        assert again["pdf_meta"]["pdf_extra"] == pytest.approx(first["pdf_meta"]["pdf_extra"])
        info = first["pdf_meta"]["pdf_info"]
        for key, value in again["pdf_meta"]["pdf_info"].items():
            assert info[key] == value


def test_configuration_decides_by_lane_and_failures_count_for_a_while(worker, submit, produce, lanes, results, page, sql):
    keys = {"skip_existing_max_age_ms": DAY_MS, "intake.skip_existing_max_age_ms_bulk": 1000}
    submit(request("/gone"))
    with worker(keys):
        assert results(1)[0]["status"] == "terminal-bad-status"
        submit(request("/gone"))
        again = results(2)[1]
        assert (again["status"], again["hit"]) == ("existing", False)
        assert again["existing"]["status"] == "terminal-bad-status"
        assert again["terminal"]["terminal_status_code"] == 404
        assert page == ["/gone"]

        sql("UPDATE ingest_file_result SET updated = now() - interval '10 seconds'")
        produce(lanes["bulk"], [json.dumps(request("/gone"))])
        assert results(3)[2]["status"] == "terminal-bad-status"
        assert len(page) == 2

        # It failed in a way that may pass within an hour.
        sql("UPDATE ingest_file_result SET status = 'connect-error', updated = now() - interval '2 hours'")
        submit(request("/gone"))
        assert results(4)[3]["status"] == "terminal-bad-status"
        assert len(page) == 3


@pytest.mark.private_servers("postgres")
def test_a_request_waits_for_the_database_that_may_answer_it(worker, submit, results, page, postgres):
    submit(request())
    with worker() as daemon:
        assert results(1)[0]["status"] == "success"
        postgres.stop(mode="immediate")
        submit(request(skip_existing_max_age_ms=DAY_MS))
        daemon.wait_log("retrying")
        postgres.start()
        assert results(2)[1]["status"] == "existing"
        assert page == ["/"]


def test_thousands_are_asked_together(worker, submit, results_by_url, web, sql, database):
    """Rows of another program's making: only what cannot be answered is fetched."""
    web.route("existing.test.example", "/fresh", lambda _: Reply(200, b"new\n"))
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
            " SELECT 'component', 'http://existing.test.example/' || n, false, 'no-pdf-link' FROM generate_series(1, 3000) n")
    base = {"ingest_type": "component", "skip_existing_max_age_ms": DAY_MS}
    submit([{**base, "base_url": f"http://existing.test.example/{n}"} for n in range(1, 3001)])
    submit({**base, "base_url": "http://existing.test.example/fresh"})
    with worker() as daemon:
        found = results_by_url(3001, timeout=120)
    last = json.loads(re.findall(r"stopped: (\{.*\})", daemon.log())[-1])
    assert last["lookup"] == {"asked": 3001, "found": 3000}
    assert found.pop("http://existing.test.example/fresh")["status"] == "success"
    assert {(one["status"], one["hit"]) for one in found.values()} == {("existing", False)}
    assert len(sql("SELECT 1 FROM ingest_file_result")) == 3001
