# SPDX-License-Identifier: GPL-3.0-or-later
"""References of Crossref's records: ingestctl refs."""

import json
import signal
import subprocess
import time

import pytest
from servers import grobid as fake
from servers.grobid import Answer, Grobid
from servers.worker import write_config

INDEXED = "2021-05-10T22:08:45Z"


@pytest.fixture
def grobid():
    with Grobid() as server:
        yield server


def work(number, references=(), indexed=INDEXED, **more):
    return {"DOI": f"10.5555/Work-{number}", "indexed": {"date-time": indexed}, "type": "journal-article",
            "title": ["Tides"], "reference": list(references), **more}


def citation(key, text, **more):
    return {"key": key, "unstructured": text, **more}


def lines(*records):
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in records)


@pytest.fixture
def refs(run_ctl, grobid):
    """refs(input, *arguments): runs ingestctl refs on these records."""
    def run(given, *arguments, overrides=None, **how):
        return run_ctl("refs", *arguments, "-", input=given, overrides={"grobid.url": grobid.url, **(overrides or {})}, **how)
    return run


def test_strings_are_parsed_and_records_kept(refs, grobid, sql):
    record = work(1, [citation("ref1", "Quine, W. V. O. (1976). Implicit &amp; definition."),
                      citation("ref2", "Twice over.  Twice over.", year="1999"),
                      citation("ref3", "Has a DOI already.", DOI="10.5555/2"),
                      citation("ref4", "Is whole.", year="1999", author="A", **{"journal-title": "J"}),
                      {"key": "ref5", "article-title": "No string"}])
    done = refs(lines(record, {"status": "ok", "message": work(2)}))
    assert done.returncode == 0, done.stderr
    assert "2 records, 2 references parsed" in done.stderr
    (call,) = grobid.calls
    assert call.form == {"citations": ["Quine, W. V. O. (1976). Implicit & definition.", "Twice over."],
                         "consolidateCitations": ["0"], "includeRawCitations": ["1"]}
    rows = sql("SELECT * FROM crossref_with_refs ORDER BY doi")
    assert [row["doi"] for row in rows] == ["10.5555/work-1", "10.5555/work-2"]
    assert rows[0]["record"] == record
    assert rows[0]["indexed"] == rows[0]["source_ts"]
    assert rows[0]["refs_json"] == [
        {"authors": [], "id": "ref1", "title": "Quine, W. V. O. (197", "date": "1972",
         "unstructured": "Quine, W. V. O. (1976). Implicit & definition."},
        {"authors": [], "id": "ref2", "title": "Twice over.", "date": "1972", "unstructured": "Twice over."}]
    assert rows[1]["refs_json"] == []


def test_the_same_again_changes_nothing_and_older_records_stay_out(refs, grobid, sql):
    one = work(1, [citation("a", "A first string.")])
    assert refs(lines(one)).returncode == 0
    before = sql("SELECT doi, indexed, record, source_ts, refs_json FROM crossref_with_refs")
    assert refs(lines(one, work(1, [citation("a", "An older string.")], indexed="2020-01-01T00:00:00Z"))).returncode == 0
    assert sql("SELECT doi, indexed, record, source_ts, refs_json FROM crossref_with_refs") == before
    assert refs(lines(work(1, [citation("a", "A newer string.")], indexed="2022-01-01T00:00:00Z"))).returncode == 0
    (row,) = sql("SELECT * FROM crossref_with_refs")
    assert row["refs_json"][0]["unstructured"] == "A newer string."


def test_bad_lines_are_named_and_skipped(refs, grobid, sql):
    done = refs(lines("nothing", work(1), {"DOI": "10.5555/3"}, "[]"))
    assert done.returncode == 1
    assert "-:1: " in done.stderr and "-:3: no record of a work at Crossref: indexed.date-time" in done.stderr
    assert "3 bad lines skipped" in done.stderr
    assert len(sql("SELECT * FROM crossref")) == 1


@pytest.mark.parametrize("answer, words", [
    (fake.FAILURE, "[GENERAL]"),
    (b"<TEI><listBibl>", "bad-grobid-xml"),
    (fake.citation_tei([]), "not answered for each"),
    (fake.citation_tei(["one", "two"]), "not answered for each"),
    (Answer(body=fake.endless()), "too large"),
], ids=["500", "broken", "none", "too many", "without end"])
def test_a_failure_of_grobid_keeps_the_record(refs, grobid, sql, answer, words):
    grobid.say(answer, None)
    done = refs(lines(work(1, [citation("a", "A first string.")]), work(2, [citation("b", "A second string.")])),
                overrides={"grobid.concurrency": 1})
    assert done.returncode == 1
    assert words in done.stderr and "10.5555/work-1" in done.stderr
    assert "1 without references as GROBID failed" in done.stderr
    assert len(sql("SELECT * FROM crossref")) == 2
    (row,) = sql("SELECT * FROM grobid_refs")
    assert row["source_id"] == "10.5555/work-2"


def test_a_busy_server_is_asked_again(refs, grobid, sql):
    grobid.say(fake.BUSY, None)
    assert refs(lines(work(1, [citation("a", "A first string.")]))).returncode == 0
    assert len(sql("SELECT * FROM grobid_refs")) == 1


def test_a_server_that_is_away_ends_it(refs, grobid, sql):
    grobid.__exit__()
    done = refs(lines(*[work(number, [citation("a", "A first string.")]) for number in range(3)]))
    assert done.returncode == 3
    assert "cannot be reached" in done.stderr
    assert not sql("SELECT * FROM grobid_refs")
    grobid.__enter__()


def test_rows_are_printed_without_a_database(refs, grobid):
    done = refs(lines(work(1, [citation("a", "A first string.")]), work(2)), "--print", overrides={"postgres.dsn": ""})
    assert done.returncode == 0, done.stderr
    printed = {one["source_id"]: one for one in map(json.loads, done.stdout.splitlines())}
    assert printed["10.5555/work-2"] == {"source": "crossref", "source_id": "10.5555/work-2", "source_ts": INDEXED,
                                         "refs_json": []}
    assert printed["10.5555/work-1"]["refs_json"][0]["id"] == "a"


def test_records_alone_need_no_grobid(refs, grobid, sql):
    done = refs(lines(work(1, [citation("a", "A first string.")])), "--records-only", overrides={"grobid.url": ""})
    assert done.returncode == 0, done.stderr
    assert len(sql("SELECT * FROM crossref")) == 1 and not sql("SELECT * FROM grobid_refs")
    assert not grobid.calls


@pytest.mark.parametrize("overrides, arguments, words", [
    ({"grobid.url": ""}, (), "grobid.url is not set"),
    ({"postgres.dsn": ""}, (), "postgres.dsn is not set"),
    ({}, ("--print", "--records-only"), "at most one"),
])
def test_usage(refs, overrides, arguments, words):
    done = refs("", *arguments, overrides=overrides)
    assert done.returncode == 2 and words in done.stderr


def test_many_records_are_bounded_and_all_written(refs, grobid, sql):
    """More than may be under way, mostly without references."""
    given = [work(number, [citation("a", f"String number {number}.")] if number % 10 == 0 else []) for number in range(3000)]
    done = refs(lines(*given), overrides={"grobid.concurrency": 4})
    assert done.returncode == 0, done.stderr
    assert "3000 records, 300 references parsed" in done.stderr
    assert grobid.most <= 4
    assert sql("SELECT count(*) AS n FROM crossref")[0]["n"] == 3000
    assert sql("SELECT count(*) AS n FROM grobid_refs WHERE json_array_length(refs_json) = 1")[0]["n"] == 300


def test_an_interrupted_run_is_taken_up_again(program, settings, grobid, tmp_path, sql, wait_until):
    """While its input stands still: what was given is written, and the next run may be given it again."""
    config = write_config(tmp_path / "refs.yaml", {**settings, "grobid.url": grobid.url})
    command = [program("ingestctl"), "--config", config, "refs", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        child.stdin.write(lines(work(1, [citation("a", "A first string.")])))
        child.stdin.flush()
        wait_until(lambda: sql("SELECT * FROM grobid_refs"))
        child.send_signal(signal.SIGINT)
        began = time.monotonic()
        while child.poll() is None and time.monotonic() < began + 30:
            time.sleep(0.05)
        assert child.returncode == 4
        assert "interrupted" in child.stderr.read()
    done = subprocess.run(command, input=lines(work(1, [citation("a", "A first string.")])), capture_output=True, text=True,
                          check=False, timeout=60)
    assert done.returncode == 0, done.stderr
