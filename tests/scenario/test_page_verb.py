# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl page save: a page for the tests of a scraping rule."""

import json
import subprocess

import pytest
import yaml

LANDING = "https://tidal-ecology.example/article/view/41"


@pytest.fixture
def page(program, web, tmp_path):
    settings = ["--set", "fetch.connect_to=" + json.dumps(web.connect_to()), "--set", f"fetch.ca_file={web.ca_file}",
                "--set", 'fetch.allow_address=["127.0.0.0/8"]', "--set", "gate.host_delay_ms=0"]

    def run(*words):
        return subprocess.run([program("ingestctl"), *settings, "page", *map(str, words)], cwd=tmp_path, capture_output=True,
                              text=True, timeout=60, check=False)
    return run


def scraped(program, path, url):
    done = subprocess.run([program("ingestctl"), "scrape", "--url", url, str(path)], capture_output=True, text=True, check=True,
                          timeout=60)
    return json.loads(done.stdout)


def test_a_page_that_is_fetched_is_saved_with_the_item_for_its_test(page, program, tmp_path):
    done = page("save", LANDING)
    assert done.returncode == 0 and "1 result in" not in done.stderr, done.stderr
    items = yaml.safe_load(done.stdout)
    assert items == [{"page": "tidal-ecology.example-article-view-41.html", "url": LANDING}]
    assert scraped(program, tmp_path / items[0]["page"], LANDING)["biblio"]["title"]


def test_a_page_out_of_a_warc_file_is_the_same(page, program, web, tmp_path):
    assert page("save", "--out", "live.html", LANDING).returncode == 0
    out = tmp_path / "run"
    subprocess.run([program("ingestctl"), "--set", "fetch.connect_to=" + json.dumps(web.connect_to()), "--set",
                    f"fetch.ca_file={web.ca_file}", "--set", 'fetch.allow_address=["127.0.0.0/8"]', "run", "--out", str(out), "-"],
                   input=json.dumps({"ingest_type": "html", "base_url": LANDING}) + "\n", capture_output=True, text=True,
                   timeout=120, check=True)
    rows = [line.split(" ") for line in (out / "index.cdx").read_text(encoding="utf-8").splitlines()[1:]]
    row = next(row for row in rows if row[2] == LANDING)
    done = page("save", "--out", "archived.html", "--warc", out / "warc" / row[10], row[9])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "archived.html").read_bytes() == (tmp_path / "live.html").read_bytes()


def test_a_file_that_is_there_is_not_overwritten(page, tmp_path):
    (tmp_path / "mine.html").write_text("mine", encoding="utf-8")
    done = page("save", "--out", "mine.html", LANDING)
    assert done.returncode == 3 and "mine.html: File exists" in done.stderr and done.stdout == ""
    assert (tmp_path / "mine.html").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("words, code, message", [
    ((), 2, "page save URL"),
    (("save",), 2, "one URL"),
    (("save", "--warc", "x.warc.gz"), 2, "a file and an offset"),
    (("save", "--warc", "x.warc.gz", "12k"), 2, "12k: not an offset"),
    (("save", "--warc", "x.warc.gz", "0"), 3, "x.warc.gz"),
    (("save", "https://tidal-ecology.example/no-such-page"), 1, "terminal-bad-status"),
    (("save", "https://nowhere.invalid/"), 1, "https://nowhere.invalid/"),
])
def test_what_cannot_be_saved_is_said(page, tmp_path, words, code, message):
    before = sorted(tmp_path.iterdir())
    done = page(*words)
    assert done.returncode == code and message in done.stderr and done.stdout == ""
    assert sorted(tmp_path.iterdir()) == before
