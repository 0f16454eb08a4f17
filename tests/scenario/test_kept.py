# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of publications and web pages: asked for by conditions, shown, counted, moved in and out."""

import html
import json
import pathlib
import subprocess

import pytest

TIME = 1_700_000_000_000


def part(content, kind="europepmc", url="https://www.ebi.ac.uk/search"):
    """A part as PubFetcher writes it."""
    found = {"list": content} if isinstance(content, list) else {"content": content}
    return {**found, "type": kind if content else "na", "url": url if content else "", "timestamp": TIME,
            "timestampHuman": "2023-11-14T22:13:20Z", "size": len(content), "empty": not content, "usable": bool(content),
            "final": bool(content)}


def pubfetcher(number, **changes):
    """An entry of PubFetcher's JSON output."""
    entry = {
        "fetchTime": TIME, "fetchTimeHuman": "2023-11-14T22:13:20Z", "retryCounter": 3, "fetchException": False,
        "oa": number % 2 == 0, "preprint": False, "journalTitle": f"Journal {number % 3}", "pubDate": TIME,
        "pubDateHuman": f"20{10 + number:02d}-04-18", "citationsCount": number, "citationsTimestamp": TIME,
        "citationsTimestampHuman": "2023-11-14T22:13:20Z",
        "correspAuthor": [{"name": "A. Möwe", "orcid": "", "email": "a@b.example", "phone": "", "uri": ""}],
        "visitedSites": [{"url": f"https://www.site{number % 4}.example/{number}", "type": "doi", "from": "https://doi.org/x",
                          "timestamp": TIME, "timestampHuman": "2023-11-14T22:13:20Z"},
                         {"url": f"https://www.nature.com/articles/nature{number}", "type": "link", "from": "x",
                          "timestamp": TIME, "timestampHuman": "2023-11-14T22:13:20Z"}],
        "empty": False, "usable": True, "final": True, "totallyFinal": False,
        "pmid": part(str(1000 + number)), "pmcid": part(f"PMC{2000 + number}" if number % 2 else ""),
        "doi": part(f"10.{5000 + number % 5}/TIDES.{number}(A)%B"), "title": part(f"Tides <b>of</b> {number}"),
        "keywords": part(["tide", "crab"]), "mesh": part([{"term": "Tides", "majorTopic": True, "uniqueId": "D1"}] * 2),
        "efo": part([]), "go": part([{"term": "rhythm", "count": 3, "uri": "http://purl.obolibrary.org/obo/GO_1"}]),
        "abstract": part("An abstract. " * (20 if number % 3 else 2)),
        "fulltext": part("A full text. " * 300, "pdf_doi" if number % 4 == 0 else "europepmc_xml")}
    return {**entry, **changes}


def output(name, entries):
    return json.dumps({"version": {"name": "PubFetcher", "url": "", "version": "1.1.1"}, "argv": ["-x", "["], name: entries},
                      indent=1)


@pytest.fixture
def ctl(program, database, tmp_path):
    """ctl("publication", "list", …): runs it on the test's database."""
    def run(*words, input=None):
        return subprocess.run([program("ingestctl"), "--set", f"postgres.dsn={json.dumps(database)}", *map(str, words)],
                              cwd=tmp_path, input=input, capture_output=True, text=True, timeout=120, check=False)
    return run


@pytest.fixture
def imported(ctl):
    """Publications 0 to 11."""
    entries = [pubfetcher(number) for number in range(12)]
    done = ctl("publication", "import", "-", input=output("publications", entries))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"imported": 12, "skipped": 0}
    return entries


def numbers(done):
    """Of the publications that were listed."""
    assert done.returncode in (0, 1), done.stderr
    return [int(line.split("\t")[0]) - 1000 for line in done.stdout.splitlines()]


CONDITIONS = [
    (["--where", "oa"], lambda n: n % 2 == 0),
    (["--where", "oa is null"], lambda n: n % 2 == 1),
    (["--where", "not oa and citations > 6"], lambda n: n % 2 == 1 and n > 6),
    (["--where", "abstract.size > 200 and host = 'site1.example'"], lambda n: n % 3 and n % 4 == 1),
    (["--host", "WWW.Site1.example"], lambda n: n % 4 == 1),
    (["--where", "host !~ 'site[12]'"], lambda n: n % 4 not in (1, 2)),
    (["--where", "fulltext.type = pdf_doi or citations in (1, 3)"], lambda n: n % 4 == 0 or n in (1, 3)),
    (["--where", "fulltext.type better citation"], lambda n: n % 4 != 0),
    (["--where", "not fulltext.final"], lambda n: n % 4 == 0),
    (["--where", "abstract.usable", "--where", "final"], lambda n: n % 3 and n % 4),
    (["--has", "pmcid,title"], lambda n: n % 2),
    (["--not-has", "pmcid"], lambda n: n % 2 == 0),
    (["--not-has", "go"], lambda n: False),
    (["--has", "efo"], lambda n: False),
    (["--where", "registrant = 5002"], lambda n: n % 5 == 2),
    (["--where", "pub_date >= 2020-04 and pub_date < 2021"], lambda n: n == 10),
    (["--where", "journal like '%1'"], lambda n: n % 3 == 1),
    (["--where", "title ~* 'TIDES.*of.* 7'"], lambda n: n == 7),
    (["--where", "abstract.content ~ '(An abstract. ){19}'"], lambda n: n % 3),
    (["--where", "site.url like '%site3%' and site.type = link"], lambda n: n % 4 == 3),
    (["--where", "fetch_time < '2023-11-15' and retry_counter = 3 and not fetch_exception"], lambda n: True),
    (["--where", "corresp_author ~ 'Möwe'"], lambda n: True),
    (["--where", "journal = 'Journal 1''; DROP TABLE publication; --'"], lambda n: False),
]


@pytest.mark.parametrize("options,want", CONDITIONS, ids=[" ".join(options) for options, _ in CONDITIONS])
def test_conditions_choose(ctl, imported, options, want):
    done = ctl("publication", "list", "--ids", *options)
    assert numbers(done) == [number for number in range(12) if want(number)]
    assert done.returncode == (0 if done.stdout else 1)


def test_a_bad_condition_is_said_before_the_database_is_asked(program):
    done = subprocess.run([program("ingestctl"), "publication", "list", "--where", "abstract.sise > 3"], capture_output=True,
                          text=True, timeout=60, check=False)
    assert done.returncode == 2 and "no such name" in done.stderr and not done.stdout


def test_lists_are_for_people_programs_and_the_next_command(ctl, imported):
    done = ctl("publication", "list", "--order", "citations:desc", "--limit", 2)
    assert done.stdout == (
        "1011\tPMC2011\t10.5001/TIDES.11(A)%B\tfinal\t2021-04-18\tJournal 2\tTides <b>of</b> 11\n"
        "1010\t\t10.5000/TIDES.10(A)%B\tfinal\t2020-04-18\tJournal 1\tTides <b>of</b> 10\n")
    rows = [json.loads(line) for line in ctl("publication", "list", "--json", "PMC2001", "1002").stdout.splitlines()]
    assert [row["pmid"] for row in rows] == ["1001", "1002"]
    assert rows[1]["oa"] is True and rows[0]["oa"] is None and rows[0]["citationsCount"] == 1
    page = ctl("publication", "list", "--html", "--limit", 1).stdout
    assert html.escape("Tides <b>of</b> 0") in page and "<b>" not in page
    assert 'href="https://doi.org/10.5000/TIDES.0(A)%25B"' in page


def test_records_are_shown_by_any_identifier(ctl, imported):
    for key in ("1003", "PMC2003", "doi:10.5003/tides.3(a)%b", "https://doi.org/10.5003/TIDES.3(A)%25B"):
        done = ctl("publication", "show", "--json", key)
        assert done.returncode == 0, done.stderr
        record = json.loads(done.stdout)
        assert record["doi"]["content"] == "10.5003/TIDES.3(A)%B" and list(record)[:4] == ["pmid", "pmcid", "doi", "title"]
    text = ctl("publication", "show", "1003").stdout
    assert text.startswith("PMID: 1003\n    type: Europe PMC\n") and "CORRESP. AUTHOR: A. Möwe, a@b.example" in text
    page = ctl("publication", "show", "--html", "1003", "1004").stdout
    assert page.count("<article") == 2 and page.rstrip().endswith("</html>")
    none = ctl("publication", "show", "999")
    assert none.returncode == 1 and not none.stdout
    assert ctl("publication", "show", "no identifier").returncode == 2


def test_what_was_imported_is_exported_again(ctl, imported):
    done = ctl("publication", "export")
    assert done.returncode == 0, done.stderr
    entries = json.loads(done.stdout)["publications"]
    assert len(entries) == 12
    for entry, before in zip(entries, imported):
        assert list(entry) == list(before)
        assert entry["doi"] == before["doi"] and entry["mesh"] == before["mesh"] and entry["fulltext"] == before["fulltext"]
        assert entry["correspAuthor"] == before["correspAuthor"] and entry["visitedSites"] == before["visitedSites"]
        assert entry["oa"] == before["oa"] and entry["citationsCount"] == before["citationsCount"]


def test_an_import_takes_nothing_away(ctl, imported, sql):
    """Neither by itself once more, nor by entries that have less."""
    before = sql("SELECT id, record FROM publication ORDER BY id")
    assert ctl("publication", "import", "-", input=output("publications", imported)).returncode == 0
    assert sql("SELECT id, record FROM publication ORDER BY id") == before
    poor = pubfetcher(3, fulltext=part(""), abstract=part("Short."), title=part("Other", "webpage"), fetchTime=TIME + 1)
    assert ctl("publication", "import", "-", input=output("publications", [poor])).returncode == 0
    [row] = sql("SELECT title, abstract_size, fulltext_size, fetch_time_ms FROM publication WHERE pmid = '1003'")
    assert row == {"title": "Tides <b>of</b> 3", "abstract_size": 26, "fulltext_size": 3900, "fetch_time_ms": TIME + 1}


def test_bad_entries_are_named_and_the_others_imported(ctl, sql):
    entries = [pubfetcher(1), {"pmid": part("none")}, pubfetcher(2), 7, pubfetcher(3, title=part("NUL \0 and half \ud83d"))]
    done = ctl("publication", "import", "-", input=output("publications", entries))
    assert done.returncode == 1
    assert json.loads(done.stdout) == {"imported": 3, "skipped": 2}
    assert "entry 2: it has no identifier" in done.stderr and "entry 4: it is no object" in done.stderr
    assert len(sql("SELECT 1 FROM publication")) == 3
    done = ctl("publication", "import", "-", input=output("publications", [{"pmid": "1", "title": "Of tides"}]))
    assert done.returncode == 1 and "entry 1: its parts have no type and URL: write it without --plain" in done.stderr
    for text, words in (("[]", "no JSON object"), ('{"publications": [{}', "ends in the middle"), ("{}", "no list")):
        done = ctl("publication", "import", "-", input=text)
        assert done.returncode == 1 and words in done.stderr


def test_our_own_lines_go_both_ways(ctl, imported, sql):
    lines = ctl("publication", "export", "--lines").stdout
    before = sql("SELECT record FROM publication ORDER BY pmid")
    sql("DELETE FROM publication")
    done = ctl("publication", "import", "--lines", "-", input=lines)
    assert done.returncode == 0, done.stderr
    assert sql("SELECT record FROM publication ORDER BY pmid") == before


def test_statistics(ctl, imported):
    table = [line.split(",") for line in ctl("publication", "stats").stdout.splitlines()]
    assert table[0] == ["type", "pmid", "pmcid", "doi", "title", "keywords", "mesh", "efo", "go", "abstract", "fulltext", "total"]
    rows = {row[0]: dict(zip(table[0][1:], map(int, row[1:]))) for row in table[1:]}
    assert rows["pdf_doi"]["fulltext"] == 3 and rows["europepmc_xml"]["fulltext"] == 9
    assert rows["na"] == {**dict.fromkeys(table[0][1:], 0), "pmcid": 6, "efo": 12, "total": 18}
    assert rows["europepmc"]["total"] == 12 * 7 + 6
    counts = json.loads(ctl("publication", "stats", "--count", "--where", "citations < 4").stdout)
    assert counts == {"count": 4, "empty": 0, "usable": 4, "final": 2, "totally_final": 0, "fetch_exception": 0, "oa": 2,
                      "preprint": 0}
    hosts = [f"site{number}.example\t3" for number in range(4)]
    assert ctl("publication", "stats", "--top-hosts").stdout.splitlines() == ["nature.com\t12", *hosts]
    assert ctl("publication", "stats", "--top-hosts", "--no-rule", "--top", 2).stdout.splitlines() == hosts[:2]
    [line] = ctl("publication", "stats", "--top-hosts", "--has-rule", "--json").stdout.splitlines()
    assert json.loads(line) == {"count": 12, "host": "nature.com"}
    assert '<li value="12">nature.com</li>' in ctl("publication", "stats", "--top-hosts", "--html").stdout


def webpage(number, **changes):
    content = "What it does. " * 10
    return {"fetchTime": TIME, "fetchTimeHuman": "2023-11-14T22:13:20Z", "retryCounter": 0, "fetchException": False,
            "startUrl": f"https://tool{number}.example/", "finalUrl": f"https://www.tool{number}.example/en/",
            "contentType": "text/html", "statusCode": 200, "contentTime": TIME, "contentTimeHuman": "2023-11-14T22:13:20Z",
            "license": "MIT", "language": "", "titleLength": 6, "contentLength": len(content), "title": f"Tool {number}",
            "empty": False, "usable": True, "final": True, "broken": False, "content": content, **changes}


def test_web_pages_are_kept_likewise(ctl, sql):
    pages = [webpage(1), webpage(2, statusCode=404, broken=True, final=False)]
    text = json.dumps({"webpages": pages, "docs": [webpage(3)]})
    assert json.loads(ctl("webpage", "import", "-", input=text).stdout) == {"imported": 3, "skipped": 0}
    assert ctl("webpage", "list").stdout.splitlines()[1] == "https://tool2.example/\tnon-final\t404\tTool 2"
    assert ctl("webpage", "list", "--ids", "--where", "broken").stdout == "https://tool2.example/\n"
    assert ctl("webpage", "list", "--ids", "--host", "tool3.example", "--has", "content").stdout == "https://tool3.example/\n"
    assert json.loads(ctl("webpage", "export", "https://tool1.example/").stdout)["webpages"] == pages[:1]
    assert "TITLE: Tool 3" in ctl("webpage", "show", "https://tool3.example/").stdout
    assert json.loads(ctl("webpage", "stats").stdout)["broken"] == 1
    assert ctl("webpage", "stats", "--top-hosts").stdout.splitlines() == [f"tool{number}.example\t1" for number in (1, 2, 3)]
    assert len(sql("SELECT 1 FROM webpage WHERE final AND host = 'tool3.example'")) == 1


@pytest.mark.parametrize("words,message", [
    (("stats", "--no-rule"), "go with --top-hosts"), (("stats", "--count", "--html"), "go with --top-hosts"),
    (("list", "--order", "citatons"), "list: --order: nothing is ordered by"), (("show", "abc"), "show: abc: neither a PMID"),
], ids=lambda words: " ".join(words) if isinstance(words, tuple) else "")
def test_misuse_of_what_is_kept_is_said(program, words, message):
    done = subprocess.run([program("ingestctl"), "publication", *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and message in done.stderr, done.stderr


@pytest.mark.parametrize("verb", ["list", "show", "export"])
def test_help_says_that_identifiers_may_be_given(program, verb):
    done = subprocess.run([program("ingestctl"), "publication", verb, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith(f"usage: ingestctl publication {verb} [OPTION]... [PMID|PMCID|DOI|URL]...\n")
    assert done.returncode == 0 and not done.stderr


def test_without_a_database_it_is_said(program):
    done = subprocess.run([program("ingestctl"), "publication", "list"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "postgres.dsn" in done.stderr


def test_the_database_of_another_version_is_refused(program, postgres, tag):
    dsn = postgres.create_database(f"{tag}_empty")
    done = subprocess.run([program("ingestctl"), "--set", f"postgres.dsn={json.dumps(dsn)}", "publication", "stats"],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (1, 3) and "migrate" in done.stderr


def test_a_large_file_is_read_entry_by_entry(ctl, sql, tmp_path):
    """60 entries of 1.3 MB each."""
    path = pathlib.Path(tmp_path / "large.json")
    text = "Nobody reads all of this. " * 50000
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"publications": [')
        for number in range(60):
            file.write(("," if number else "") + json.dumps(pubfetcher(number % 90, fulltext=part(text))))
        file.write("]}")
    done = ctl("publication", "import", path)
    assert done.returncode == 0, done.stderr
    assert len(sql("SELECT 1 FROM publication WHERE fulltext_size > 1000000")) == 60
    assert len(ctl("publication", "list", "--ids").stdout.splitlines()) == 60
