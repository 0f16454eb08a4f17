# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl db: the schema is made once, its state is told, and what is newer is left alone."""

import json
import pathlib
import subprocess

import psycopg
import pytest

NEWEST = len(list((pathlib.Path(__file__).resolve().parents[2] / "schemas" / "sql").glob("*.sql")))


@pytest.fixture
def empty(postgres, tag):
    """The address of a database without a schema."""
    return postgres.create_database(f"{tag}_empty")


@pytest.fixture
def db(program, tmp_path):
    """db(dsn, *words): ingestctl db on that database; (exit code, the object it printed or None, stderr)."""
    def run(dsn, *words):
        done = subprocess.run(
            [program("ingestctl"), "--set", f"postgres.dsn={json.dumps(dsn)}", "db", *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr
    return run


def test_migrate_makes_the_schema_and_is_harmless_twice(db, empty):
    code, state, _ = db(empty, "status")
    assert (code, state) == (1, {"version": 0, "newest": NEWEST, "state": "missing"})
    code, moved, stderr = db(empty, "migrate")
    assert (code, moved) == (0, {"from": 0, "to": NEWEST}), stderr
    assert db(empty, "migrate")[:2] == (0, {"from": NEWEST, "to": NEWEST})
    assert db(empty, "status")[:2] == (0, {"version": NEWEST, "newest": NEWEST, "state": "current"})
    with psycopg.connect(empty) as connection:
        tables = {row[0] for row in connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")}
        connection.execute("INSERT INTO crossref VALUES ('10.1/a', now(), '{}'), ('10.1/b', now(), '[]')")
        connection.execute("INSERT INTO grobid_refs VALUES ('crossref', '10.1/a', now(), now(), '[1]'),"
                           " ('other', '10.1/b', NULL, now(), '[2]')")
        refs = connection.execute("SELECT doi, refs_json FROM crossref_with_refs ORDER BY doi").fetchall()
    assert tables == {"ingest_request", "ingest_file_result", "file_meta", "cdx", "pdf_meta", "html_meta", "grobid",
                      "grobid_refs", "crossref", "crossref_with_refs", "host_state", "host_block", "partition_owner",
                      "result_outbox", "schema_version", "worker_state", "fleet_order", "publication", "webpage", "request_list", "request_list_member",
                      "request_load", "document_queued", "enqueue_plan", "enqueue_batch", "request_count", "request_count_delta",
                      "request_counts", "result_count", "result_count_delta", "result_counts", "file_count", "file_count_delta",
                      "count_adder", "count_late", "count_horizon",
                      "file_counts"}
    assert refs == [("10.1/a", [1]), ("10.1/b", None)]


def test_newer_schema_is_refused_politely(db, empty):
    db(empty, "migrate")
    with psycopg.connect(empty) as connection:
        connection.execute("INSERT INTO schema_version (version, name) VALUES (%s, 'later')", [NEWEST + 1])
    code, moved, stderr = db(empty, "migrate")
    assert (code, moved) == (1, None)
    assert f"version {NEWEST + 1}, newer than this program's {NEWEST}" in stderr
    code, state, _ = db(empty, "status")
    assert (code, state["state"]) == (1, "newer")


def test_failures_have_their_exit_codes(db, empty):
    code, printed, stderr = db("host=127.0.0.1 port=1", "status")
    assert (code, printed) == (3, None) and "database" in stderr
    code, printed, stderr = db("", "migrate")
    assert (code, printed) == (2, None) and "postgres.dsn" in stderr
    for words in ([], ["sink"], ["status", "more"], ["--nonsense"]):
        assert db(empty, *words)[:2] == (2, None)


def test_help_goes_to_stdout(program):
    done = subprocess.run([program("ingestctl"), "db", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "migrate" in done.stdout and not done.stderr
