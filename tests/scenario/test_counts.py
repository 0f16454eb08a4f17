# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts of requests, results and files: what the triggers add up is what counting the tables gives, whoever wrote the rows."""

import json
import os
import pathlib
import subprocess
import time

import psycopg
import pytest
from server import Reply

HOST = "counts.test.example"

# Written apart from the database's own recount(), from the meaning of the columns.
RECOUNT = """
    WITH asked AS (
        SELECT q.*, r.status, r.hit FROM ingest_request q LEFT JOIN ingest_file_result r USING (ingest_type, base_url)),
    listed AS (
        SELECT coalesce(list_id, 0) AS list, true AS first, a.* FROM asked a
        UNION ALL SELECT m.list_id, false, a.* FROM asked a JOIN request_list_member m USING (request_id))
    SELECT list, first, coalesce(ingest_request_source, ''), link_source, ingest_type, coalesce(host, ''),
           coalesce(doi_prefix, ''), coalesce(status, ''), coalesce(hit, false), count(*)
    FROM listed GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9"""
COUNTED = """
    SELECT list_id, first, ingest_request_source, link_source, ingest_type, host, doi_prefix, status, hit, n
    FROM request_counts ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9"""


@pytest.fixture
def site(web):
    """Pages 0 to 89, each third of which is gone."""
    for number in range(90):
        body = b"Tides rise and fall, %d times.\n" % number
        reply = Reply(404, b"<!doctype html><title>Gone</title>") if number % 3 == 0 else Reply(200, body)
        web.route(HOST, f"/{number}", lambda _, reply=reply: reply)


@pytest.fixture
def sql(database):
    """sql(query): the rows."""
    def run(query):
        with psycopg.connect(database, autocommit=True) as connection:
            cursor = connection.execute(query)
            return cursor.fetchall() if cursor.description else []
    return run


def requests(numbers, source, **more):
    return [{"ingest_type": "component", "base_url": f"http://{HOST}/{number}", "link_source": source,
             "link_source_id": f"10.5555/{number}", "ext_ids": {"doi": f"10.5555/{number}"},
             "ingest_request_source": f"of {source}", **more} for number in numbers]


def assert_counts(sql):
    """What was missed at one moment is made up for once all transactions of that moment, of any database, have ended."""
    deadline = time.monotonic() + 60
    sql("SELECT fold_counts()")
    while sql("SELECT count(*) FROM count_late") != [(0,)] and time.monotonic() < deadline:
        time.sleep(0.1)
        sql("SELECT fold_counts()")
    assert sql(COUNTED) == sql(RECOUNT)


def load(run_ctl, tmp_path, name, lines):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = run_ctl("requests", "load", "--list", name, str(path))
    assert done.returncode == 0, done.stderr


def test_counts_are_exact_after_loads_results_members_and_repeats(worker, submit, results, run_ctl, site, sql, tmp_path):
    load(run_ctl, tmp_path, "first", requests(range(40), "doi"))
    assert_counts(sql)
    load(run_ctl, tmp_path, "second", requests(range(20, 60), "doi"))
    assert_counts(sql)
    with worker():
        # Some are in a list, some are not; some URLs are asked by two requests.
        submit(requests(range(30, 50), "doi"))
        submit(requests(range(30, 70), "pmc"))
        load(run_ctl, tmp_path, "third", requests(range(60, 90), "pmc"))
        submit(requests(range(30, 40), "doi"))
        results(70)
    assert_counts(sql)
    load(run_ctl, tmp_path, "third", requests(range(60, 90), "pmc"))
    assert_counts(sql)
    assert sql("SELECT sum(n) FROM request_counts WHERE first") == sql("SELECT count(*) FROM ingest_request")
    assert sql("SELECT sum(n) FROM file_counts") == sql("SELECT count(*) FROM file_meta")
    assert sql("SELECT sum(n) FROM result_counts WHERE hit AND status <> 'success'") == [(None,)]
    # Every result is counted, and for each request that was stored when it came.
    attempts, = sql("SELECT sum(attempts) FROM ingest_file_result")[0]
    assert attempts == 70
    done = run_ctl("db", "recount")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"counts": 0})


def test_rows_without_identity_are_filled_and_counted(run_ctl, sql):
    sql("INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url) VALUES"
        f" ('doi', '10.5555/1', 'pdf', 'http://{HOST}/1'), ('doi', '10.5555/2', 'pdf', 'http://{HOST}/2')")
    sql("INSERT INTO ingest_file_result (ingest_type, base_url, hit, status) VALUES"
        f" ('pdf', 'http://{HOST}/1', false, 'connect-error')")
    assert sql(COUNTED) == []
    done = run_ctl("db", "fill")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"requests": 2, "results": 1, "counts": 0}), done.stderr
    assert_counts(sql)
    assert sql("SELECT status, host, sum(n) FROM request_counts GROUP BY 1, 2 ORDER BY 1") == [
        ("", HOST, 1), ("connect-error", HOST, 1)]
    assert sql("SELECT attempts, next_try - updated = interval '1 hour' FROM ingest_file_result") == [(1, True)]
    done = run_ctl("db", "fill")
    assert json.loads(done.stdout) == {"requests": 0, "results": 0, "counts": 0}


def test_results_say_when_to_ask_again(worker, submit, results, site, sql):
    with worker():
        submit(requests([1, 3], "doi"))
        results(2)
        submit(requests([1, 3], "doi"))
        results(4)
    rows = sql("SELECT status, attempts, retry_after, next_try = updated + make_interval(secs => retry_after), host,"
               " first_seen < updated, error_message IS NULL FROM ingest_file_result ORDER BY status")
    month = 2_592_000
    assert rows == [("success", 2, None, None, HOST, True, True),
                    ("terminal-bad-status", 2, 2 * month, True, HOST, True, True)]
    assert sql("SELECT count(*) FROM ingest_request q JOIN ingest_file_result r USING (document)") == [(2,)]


def dump(dsn, *options):
    program = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_dump"))[-1]
    done = subprocess.run([program, "--no-owner", *options, dsn], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def restore(dsn, text):
    program = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1]
    subprocess.run([program, "-q", "-X", "-v", "ON_ERROR_STOP=1", dsn], input=text, capture_output=True, text=True,
                   timeout=60, check=True, env={**os.environ, "PGOPTIONS": "-c client_min_messages=error"})


def test_a_restored_dump_goes_on_counting(worker, submit, results, run_ctl, site, sql, database, postgres, tag, tmp_path):
    load(run_ctl, tmp_path, "first", requests(range(10), "doi"))
    with worker():
        submit(requests(range(5), "doi"))
        results(5)
    copy = postgres.create_database(f"{tag}_copy")
    restore(copy, dump(database))
    with psycopg.connect(copy, autocommit=True) as connection:
        assert connection.execute(COUNTED).fetchall() == sql(COUNTED)
        connection.execute("INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
                           f" VALUES ('component', 'http://{HOST}/7', false, 'timeout')")
        connection.execute("SELECT fold_counts()")
        assert connection.execute(COUNTED).fetchall() == connection.execute(RECOUNT).fetchall()
        assert connection.execute("SELECT sum(n) FROM request_counts WHERE status = 'timeout'").fetchone() == (1,)
