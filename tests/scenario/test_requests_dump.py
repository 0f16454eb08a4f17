# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl requests dump and count: lines, files, and what happens when either end goes away."""

import hashlib
import json
import socket
import subprocess
import uuid

import psycopg
import pytest

COLUMNS = ("ingest_type", "base_url", "link_source", "link_source_id", "ingest_request_source", "release_stage")


@pytest.fixture
def command(program, database):
    """command(*words, dsn=…): ingestctl requests on this test's database, as a list."""
    def make(*words, dsn=database):
        return [program("ingestctl"), "--set", f"postgres.dsn={json.dumps(dsn)}", "requests", *words]
    return make


@pytest.fixture
def requests(command, tmp_path):
    """requests(*words): the finished process."""
    def run(*words, **how):
        return subprocess.run(command(*words, **how), cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    return run


def store(database, lines):
    """Rows as a worker or a load makes them of these requests."""
    with psycopg.connect(database) as connection, connection.cursor() as cursor:
        for one in lines:
            row = {name: one.get(name) for name in COLUMNS}
            rest = {name: value for name, value in one.items() if name not in COLUMNS}
            identity = "\t".join(one.get(name, "") for name in ("ingest_type", "base_url", "link_source", "link_source_id"))
            document = one["ingest_type"] + "\t" + one["base_url"].split("://")[-1]
            cursor.execute(
                "INSERT INTO ingest_request (ingest_type, base_url, link_source, link_source_id, ingest_request_source,"
                " release_stage, request, request_id, document, host) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (row["ingest_type"], row["base_url"], row["link_source"] or "", row["link_source_id"] or "",
                 row["ingest_request_source"], row["release_stage"], json.dumps(rest),
                 uuid.UUID(hashlib.sha1(identity.encode()).hexdigest()[:32]),
                 uuid.UUID(hashlib.sha1(document.encode()).hexdigest()[:32]), one["base_url"].split("/")[2]))


def request(n, host="x.org", **more):
    return {"ingest_type": "pdf", "base_url": f"https://{host}/{n}", "link_source": "doi", "link_source_id": f"10.1/{n}", **more}


def by_url(lines):
    return sorted((json.loads(line) if isinstance(line, str) else line for line in lines), key=lambda one: one["base_url"])


def test_lines_are_the_requests_that_were_stored(requests, database):
    lines = [
        request("plain"),
        request("escapes \\ \\\\ \\N \\t \t \n \" ' é \U0001f600 \x01", ingest_request_source="a\\b", release_stage="published"),
        request("rest", ext_ids={"doi": "10.1/x\\y", "list": [1, {"a": None}]}, rel="publisher", force_recrawl=False),
        request("numbers", edit_extra={"big": 123456789012345678901234567890, "small": 5e-324, "exact": 0.1}),
        {"ingest_type": "html", "base_url": "https://x.org/none"},
    ]
    store(database, lines)
    done = requests("dump")
    assert done.returncode == 0, done.stderr
    assert by_url(done.stdout.splitlines()) == by_url(lines)
    assert "5 requests" in done.stderr
    forced = requests("dump", "--force-recrawl", "--created", "--type", "html")
    [line] = [json.loads(line) for line in forced.stdout.splitlines()]
    assert line.pop("created")[-1] == "Z"
    assert line == {**lines[-1], "force_recrawl": True}


def test_nothing_is_selected(requests, database):
    store(database, [request("a")])
    done = requests("dump", "--host", "nowhere.org")
    assert (done.returncode, done.stdout) == (0, "")
    assert requests("count", "--host", "nowhere.org").stdout == "0\n"
    done = requests("dump", "--share", "10")
    assert (done.returncode, done.stdout) == (0, "") and "at least 10 requests" in done.stderr
    done = requests("dump", "--list", "nolist")
    assert done.returncode == 2 and 'there is no list "nolist"' in done.stderr
    assert requests("dump", "--status", "sucess").returncode == 2
    assert requests("dump", "--files", "3").returncode == 2


def test_counts(requests, database):
    store(database, [request("a"), request("b"), request("c", host="y.org", ingest_request_source="t\t\x1bs")])
    assert requests("count").stdout == "3\n"
    assert [line.split() for line in requests("count", "--by", "host").stdout.splitlines()] == [["2", "x.org"], ["1", "y.org"]]
    assert requests("count", "--by", "host", "--top", "1", "--json").stdout == '{"host":"x.org","requests":2}\n'
    assert "\x1b" not in requests("count", "--by", "source").stdout
    assert requests("count", "--by", "nothing").returncode == 2


def test_files_get_their_names_when_all_are_whole(requests, database, tmp_path):
    lines = [request(n) for n in range(100)]
    store(database, lines)
    done = requests("dump", "--out", "a/b", "--files", "3")
    assert done.returncode == 0, done.stderr
    files = sorted((tmp_path / "a" / "b").iterdir())
    assert [file.name for file in files] == [f"requests-000{n}.jsonl" for n in (1, 2, 3)]
    parts = [file.read_text().splitlines() for file in files]
    assert [len(part) for part in parts] == [34, 33, 33]
    assert by_url(sum(parts, [])) == by_url(lines)
    again = requests("dump", "--out", "a/b")
    assert again.returncode == 2 and "there is such a file" in again.stderr
    assert files[0].read_text().splitlines() == parts[0] and len(list((tmp_path / "a" / "b").iterdir())) == 3


def many(database, count):
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO ingest_request (ingest_type, base_url, link_source, link_source_id, request_id, document, host, request)"
            " SELECT 'pdf', 'https://h' || mod(n, 100) || '.org/' || n, 'doi', n::text, md5('r' || n)::uuid, md5('d' || n)::uuid,"
            " 'h' || mod(n, 100) || '.org', '{\"rel\": \"publisher\"}' FROM generate_series(1, %s) n", (count,))


def test_a_reader_that_goes_away_ends_it(command, database):
    many(database, 50000)
    with subprocess.Popen(command("dump"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first = [process.stdout.readline() for _ in range(3)]
        process.stdout.close()
        assert process.wait(60) == 3
        assert "standard output" in process.stderr.read()
    assert all(json.loads(line)["ingest_type"] == "pdf" for line in first)
    with psycopg.connect(database) as connection:
        others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' AND query LIKE 'COPY%'"
        assert connection.execute(others).fetchone()[0] == 0


def test_what_is_dumped_and_loaded_is_the_same(requests, database, postgres, template, tag, tmp_path):
    lines = [
        request("plain", created="2026-03-01T12:00:00.25Z"),
        request("escapes \\ \\\\ \\N \\t %5C \t \" ' é \U0001f600"),
        {"ingest_type": "file", "ext_ids": {"doi": "10.1234/a b\\c"}, "link_source": "doi", "link_source_id": "10.1234/a b\\c"},
        {"ingest_type": "dataset", "base_url": "https://y.org/a?b=\\"},
        request("rest", expect_mimetypes=["application/pdf"], fatcat={"release_ident": "x" * 26}, edit_extra={"n": 1.5},
                force_recrawl=True, unknown={"a": [None, True]}),
        {"ingest_type": "publication", "ext_ids": {"pmid": "17"}, "parts": ["title"]},
    ]
    (tmp_path / "lines").write_text("".join(json.dumps(line) + "\n" for line in lines))
    loaded = requests("load", "--list", "a", "--created", "2026-02-01T00:00:00Z", "lines")
    assert loaded.returncode == 0, loaded.stderr
    assert requests("dump", "--created", "--out", "out").returncode == 0
    other = postgres.create_database(f"{tag}-other", template)
    loaded = requests("load", "--list", "a", "out/requests-0001.jsonl", dsn=other)
    assert loaded.returncode == 0, loaded.stderr
    every = ("SELECT " + ", ".join(COLUMNS) + ", request::text, created, request_id, document, host, doi_prefix"
             " FROM ingest_request ORDER BY base_url")
    rows = []
    for dsn in (database, other):
        with psycopg.connect(dsn) as connection:
            rows.append(connection.execute(every).fetchall())
    assert len(rows[0]) == len(lines) and rows[0] == rows[1]
    again = sorted(requests("dump", "--created", dsn=other).stdout.splitlines())
    assert again == sorted((tmp_path / "out" / "requests-0001.jsonl").read_text().splitlines())


@pytest.mark.parametrize("to_files", [False, True])
def test_a_server_that_goes_away_leaves_whole_lines(command, database, tmp_path, to_files):
    many(database, 200000)
    words = ["--out", str(tmp_path / "out")] if to_files else []
    with subprocess.Popen(command("dump", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        ended = 0  # nobody reads from the pipe yet, so it does not come to its end before
        while ended == 0 and process.poll() is None:
            with psycopg.connect(database, autocommit=True) as connection:
                ended = connection.execute("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE"
                                           " datname = current_database() AND query LIKE 'COPY%'").fetchone()[0]
        out, said = process.communicate(timeout=60)
        assert ended == 1 and process.returncode == 3, said
    if to_files:
        assert list((tmp_path / "out").iterdir()) == [] and "no file was written" in said
        return
    lines = out.splitlines(keepends=True)
    assert 0 < len(lines) < 200000
    assert all(line.endswith("}\n") and json.loads(line)["link_source"] == "doi" for line in lines)
    assert f"; {len(lines)} requests were written" in said


def test_a_database_that_is_away_or_has_no_tables_is_said(requests, postgres, tag):
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    assert requests("dump", dsn=f"host=127.0.0.1 port={port} dbname=x").returncode == 3
    empty = requests("count", dsn=postgres.create_database(f"{tag}-empty"))
    assert empty.returncode != 0 and "ingestctl db migrate" in empty.stderr
