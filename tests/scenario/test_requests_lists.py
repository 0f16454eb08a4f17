# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl requests: the verb's frame, and the table of lists."""

import json
import subprocess

import psycopg
import pytest


@pytest.fixture
def requests(program, database, tmp_path):
    """requests(*words): ingestctl requests on this test's database; the finished process."""
    def run(*words):
        return subprocess.run([program("ingestctl"), "--set", f"postgres.dsn={json.dumps(database)}", "requests", *words],
                              cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    return run


def test_lists_have_their_sizes_and_times(requests, database):
    with psycopg.connect(database) as connection:
        connection.execute("INSERT INTO request_list (name, source, created, loaded, priority) VALUES"
                           " ('crawl', 'unpaywall', '2026-03-01T12:00:00Z', '2026-03-02T00:00:00Z', 7),"
                           " ('again', NULL, '2026-04-01T00:00:00Z', NULL, 0)")
        connection.execute("INSERT INTO request_load VALUES (2, 0, 1, 3, '', 1, 2, 3, 4)")
        connection.execute("INSERT INTO ingest_file_result (ingest_type, base_url, hit, status)"
                           " VALUES ('pdf', 'https://a.example/1', true, 'success'),"
                           " ('pdf', 'https://a.example/2', false, 'no-pdf-link')")
        connection.execute("INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request_id, list_id)"
                           " SELECT '', '', 'pdf', 'https://a.example/' || n, gen_random_uuid(), 1 FROM generate_series(1, 3) n")
        connection.execute("INSERT INTO request_list_member SELECT request_id, 2 FROM ingest_request LIMIT 2")
    done = requests("lists", "--json")
    assert done.returncode == 0 and done.stderr == ""
    again, crawl = [json.loads(line) for line in done.stdout.splitlines()]
    assert crawl == {"name": "crawl", "source": "unpaywall", "created": "2026-03-01T12:00:00Z",
                     "loaded": "2026-03-02T00:00:00Z", "loading": False, "priority": 7,
                     "requests": 3, "answered": 2, "hits": 1}
    assert again["requests"] == 2 and again["loading"] and again["loaded"] is None and again["source"] is None
    table = requests("lists").stdout.splitlines()
    assert [line.split()[0] for line in table] == ["list", "again", "crawl"]
    assert table[2].split() == ["crawl", "3", "2", "1", "unpaywall", "2026-03-01", "2026-03-02T00:00:00Z"]
    assert table[1].split()[-2:] == ["2026-04-01", "unfinished"]


def test_what_is_no_verb_is_said_with_the_nearest(requests):
    assert requests("list").returncode == 2 and "did you mean 'lists'" in requests("list").stderr
    assert requests().returncode == 2 and requests("lists", "more").returncode == 2
    assert requests("--help").returncode == 0 and "  lists " in requests("--help").stdout
