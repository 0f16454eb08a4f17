# SPDX-License-Identifier: GPL-3.0-or-later
"""What schemas/README.md tells consumers: its program, and its SQL."""

import json
import re
import subprocess
import sys
import threading

import psycopg
import pytest
from conftest import ROOT

README = (ROOT / "schemas" / "README.md").read_text(encoding="utf-8")
CONSUMER = ROOT / "deploy" / "examples" / "consumer.py"
RECIPES = re.findall(r"^```sql\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PAPER = "https://tidal-ecology.example/article/download/41/pdf"


def test_the_program_in_the_text_is_the_file():
    (shown,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    whole = CONSUMER.read_text(encoding="utf-8")
    assert whole.endswith(shown)
    assert len(whole.splitlines()) <= 26


@pytest.fixture
def consumer(kafka, topics, tag):
    """consumer(done): the lines of a new process of the program, which is killed as soon as done(lines) says so."""
    def read(done):
        process = subprocess.Popen([sys.executable, CONSUMER, kafka.brokers(), topics["results"], f"{tag}-reader"],
                                   stdout=subprocess.PIPE, text=True)
        late = threading.Timer(60, process.kill)
        late.start()
        try:
            lines = []
            while not done(lines):
                line = process.stdout.readline()
                assert line, "the program has ended, or says nothing more"
                lines.append(line.split())
            return lines
        finally:
            late.cancel()
            process.kill()
            process.wait()
            process.stdout.close()
    return read


def test_the_program_reads_each_hit_and_goes_on_where_it_was(worker, submit, results, consumer, web, tag):
    urls = [f"http://{tag}.many.test.example/{number}.pdf" for number in range(4)]
    for number, url in enumerate(urls):
        web.route(f"{tag}.many.test.example", f"/{number}.pdf", {"pdf": {"title": f"Paper {number}", "pages": 1}})
    submit([{"ingest_type": "pdf", "base_url": url} for url in urls])
    submit({"ingest_type": "pdf", "base_url": f"http://{tag}.many.test.example/missing.pdf"})
    with worker():
        found = results(5)
    want = {one["request"]["base_url"]: one["file_meta"]["sha1hex"] for one in found if one["hit"]}
    # A line that is read and not yet committed when the first process dies comes again.
    first = consumer(lambda lines: len(lines) == 2)
    second = consumer(lambda lines: {line[2] for line in first + lines} == want.keys())
    assert len(second) <= 3
    seen = {line[2]: line[1] for line in first + second}
    assert seen == want and len(want) == 4
    assert {len(line[0]) for line in first + second} == {40}


def test_the_recipes_find_what_they_say(worker, submit, run_ctl, results, database, tag, tmp_path):
    path = tmp_path / "list.jsonl"
    listed = [{"ingest_type": "pdf", "base_url": PAPER, "link_source": "doi", "link_source_id": "10.5555/41"},
              {"ingest_type": "pdf", "base_url": "ftp://tests.example/none.pdf", "link_source": "doi", "link_source_id": "10.5555/42"}]
    path.write_text("".join(json.dumps(one) + "\n" for one in listed))
    assert run_ctl("requests", "load", "--list", "mylist", path).returncode == 0
    submit(listed)
    with worker():
        results(2)
    found = []
    roles, *recipes = RECIPES
    with psycopg.connect(database, autocommit=True) as connection:
        # Roles belong to the server, which other tests use, too.
        reader = f"reader_{tag.replace('-', '_')}"
        connection.execute(re.sub(r"\breader\b", reader, roles))
        connection.execute(f"SET ROLE {reader}")
        for recipe in recipes:
            cursor = connection.execute(recipe)
            found.append([dict(zip((one.name for one in cursor.description), row)) for row in cursor.fetchall()])
        connection.execute(f"RESET ROLE; DROP OWNED BY {reader}; DROP ROLE {reader}")
    asked, where, doi, since, pdf, failed, days = found
    assert asked[0]["status"] == "success" and asked[0]["terminal_sha1hex"]
    assert where[0]["url"] == PAPER and where[0]["warc_path"].endswith(".warc.gz")
    assert [(one["doi"], one["mimetype"]) for one in doi] == [("10.5555/41", "application/pdf")]
    assert [one["sha1hex"] for one in since] == [asked[0]["terminal_sha1hex"]]
    assert pdf[0]["page_count"] >= 1
    assert [one["base_url"] for one in failed] == ["ftp://tests.example/none.pdf"]
    assert days[0]["captures"] >= 1
