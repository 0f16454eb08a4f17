# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl rules: mistakes are pointed at, URLs are looked up, tests are run."""

import datetime
import json
import pathlib
import re
import subprocess

import pytest

JOURNALS = r"""tide\.example/article/: tide
tide\.example/article/old/: ebb
---
tide:
  title: h1.title
  doi: {selector: 'meta[name=citation_doi]', attr: content}
ebb:
  title: h2
---
- app\.tide\.example
"""

WEBPAGES = r"""tool\.example/:
  title: h1
tool\.example/docs/:
  content: main
"""

PAGE = """<!DOCTYPE html><html lang="en"><head><title>Page</title><meta name="citation_doi" content="10.1234/tide.1">
</head><body><h1 class="title">On tides</h1><p>Text.</p></body></html>
"""


SHIPPED = pathlib.Path(__file__).resolve().parents[2] / "rules"

PACKAGE_INDEX_TEST = """\
    - html: |
        <h1 class="package-header__name">queuecount 1.0</h1><p class="package-description__summary">Counts states</p>
        <div id="description"><div class="project-description"><p>How to count.</p></div></div>
        <div class="vertical-tabs__tabs"><div class="sidebar-section"><p><strong>License:</strong> GPLv3</p></div>
        <div class="sidebar-section"><strong>Programming Language</strong><ul><li>Python</li></ul></div></div>
      url: 'https://%s/project/queuecount/'
      expect:
        webpage_rule: '%s'
        webpage:
          title: 'queuecount 1.0'
          content: |-
            Counts states

            How to count.
          license: 'License: GPLv3'
          language: 'Python'
"""


@pytest.fixture
def rules(program, tmp_path):
    """rules("check", files={name: text}): the finished ingestctl, its rules.dir a new folder of these files."""
    folder = tmp_path / "rules"
    folder.mkdir()

    def run(*arguments, files=None, input=None):
        for name, text in (files or {}).items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run([program("ingestctl"), "--set", f"rules.dir={folder}", "rules", *map(str, arguments)],
                              input=input, capture_output=True, text=True, timeout=120, check=False)
    run.folder = folder
    return run


def test_good_rules_are_counted(rules):
    done = rules("check", files={"journals.yaml": JOURNALS, "webpages.yaml": WEBPAGES})
    assert done.returncode == 0, done.stderr
    assert "2 sites by 2 URL expressions" in done.stdout
    assert "webpages: 2\n" in done.stdout
    assert done.stdout.endswith("no errors, 0 warnings\n")
    assert done.stderr == ""


def test_an_empty_folder_holds_no_rules(rules):
    assert rules("check").returncode == 0
    done = rules("site", "https://tide.example/article/1")
    assert (done.returncode, done.stdout) == (0, "null\n")


def test_the_rules_that_come_along_are_good(program):
    done = subprocess.run([program("ingestctl"), "rules", "check"], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr


def test_the_rules_that_come_along_pass_their_tests(program):
    done = subprocess.run([program("ingestctl"), "rules", "test"], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ", 0 failed; " in done.stdout
    assert int(done.stdout.split()[0]) > 100  # all of them, not an empty folder


@pytest.mark.parametrize("optional", ["", r"\1"])
def test_the_python_package_index_is_read(rules, optional):
    """Its address is made from its rule's expression: no address of a package registry stands in this tree."""
    shipped = (SHIPPED / "webpages.yaml").read_text(encoding="utf-8")
    entry, key = re.search(r"^'(pypi.*)':\n(?:  .*\n)+", shipped, re.MULTILINE).group(0, 1)
    host = re.sub(r"\((.*?)\)\?", optional, key.replace("\\", ""))
    entry = entry.replace("source: 'unverified in this file; ", "source: '")
    entry = entry.replace("  tests:\n", "  tests:\n" + PACKAGE_INDEX_TEST % (host, key))
    done = rules("test", files={"webpages.yaml": entry})
    assert done.stdout == "1 entry, 2 tests, 0 failed; 1 supported, 0 unverified\n", done.stdout + done.stderr


def test_a_typo_is_pointed_at_by_line_and_column(rules):
    done = rules("check", files={"journals.yaml": JOURNALS.replace("h1.title", "h1:frist-child")})
    assert done.returncode == 1
    assert done.stderr.startswith(f"{rules.folder}/journals.yaml:5:12: error: selector: ")
    assert "1 error, 0 warnings" in done.stderr
    assert done.stdout == ""


def test_the_worker_points_at_mistakes_in_the_same_words(rules, program):
    done = rules("check", files={"journals.yaml": JOURNALS.replace("h1.title", "h1:frist-child")})
    checked = subprocess.run(
        [program("ingest-worker"), "--set", f"rules.dir={rules.folder}", "--set",
         "fetch.user_agent=scenario/1.0 (+https://scenario.example/)", "--check-config"],
        capture_output=True, text=True, timeout=60, check=False)
    assert (checked.returncode, checked.stdout) == (2, "")
    assert checked.stderr.splitlines() == [done.stderr.splitlines()[0], "rules.dir: 1 error in the rule files"]


def test_filter_lists_belong_to_what_is_checked(rules, program, tmp_path):
    there, missing = tmp_path / "list.txt", tmp_path / "missing.txt"
    there.write_text("||ads.example^\n", encoding="utf-8")

    def check(path, *command):
        return subprocess.run([program(command[0]), "--set", f"rules.dir={rules.folder}", "--set", f"resources.filters={path}", "--set",
                               "fetch.user_agent=scenario/1.0 (+https://scenario.example/)", *command[1:]],
                              capture_output=True, text=True, timeout=60, check=False)
    for command, code in ((("ingestctl", "rules", "check"), 3), (("ingest-worker", "--check-config"), 2)):
        assert check(there, *command).returncode == 0
        done = check(missing, *command)
        assert (done.returncode, done.stdout) == (code, "")
        assert f"resources.filters: {missing}: there is no such file" in done.stderr
        done = check(tmp_path, *command)  # a folder
        assert (done.returncode, done.stdout) == (3, "") and f"resources.filters: {tmp_path}: " in done.stderr
    assert "filter lists: 1\n" in check(there, "ingestctl", "rules", "check").stdout


@pytest.mark.parametrize("verb", ["select", "scrape", "rules", "submit", "identify"])
def test_wrong_options_are_complained_of_in_the_verbs_name(program, verb):
    for wrong, words in [("--nope", "unrecognized option"), ("-Z", "invalid option")]:
        done = subprocess.run([program("ingestctl"), verb, wrong], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"ingestctl {verb}: {words} ")


def test_all_mistakes_of_all_files_come_in_one_report(rules, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("a(: tide\n---\n---\n", encoding="utf-8")
    done = rules("check", "--journals", own, files={
        "journals.yaml": JOURNALS.replace("title: h2", "titel: h2").replace(": ebb", ": eb"),
        "webpages.yaml": "tool\\.example/: {content: 'p >'}\ntool\\.example/: {javascript: [1]}\n",
        "links.yaml": "pdf:\n  - technique: x\n    selector: 'a['\n",
        "walls.yaml": "- {host: a.example, why: w, verdict: wal}\n",
        "blocklist.yaml": "- {why: nothing}\n",
        "hosts.yaml": "- {host: a.example, delay_ms: never, why: w}\n",
    })
    assert done.returncode == 1
    places = [line.split(": ")[0].removeprefix(str(rules.folder) + "/") for line in done.stderr.splitlines()]
    for place in ("journals.yaml:8:3", "webpages.yaml:2:30", "webpages.yaml:1:1", "journals.yaml:2:29", "links.yaml:3:17",
                  "walls.yaml:1:38", "blocklist.yaml:1:3", "hosts.yaml:1:31", f"{own}:1:3"):
        assert any(found.startswith(place) for found in places), place
    assert "did you mean" in done.stderr


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_number_of_documents_is_said(rules, count):
    text = "---\n".join(["\n"] * (count + 1))
    done = rules("check", files={"journals.yaml": text})
    assert done.returncode == 1
    assert f"; {count} were found" in done.stderr


def test_a_missing_file_or_folder_is_the_environments(rules, program):
    assert rules("check", "--journals", rules.folder / "none.yaml").returncode == 3
    done = subprocess.run([program("ingestctl"), "--set", "rules.dir=/nonexistent", "rules", "check"],
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3 and "/nonexistent" in done.stderr


def test_sites_are_looked_up_and_the_last_expression_counts(rules):
    done = rules("site", "https://tide.example/article/1", "HTTP://WWW.Tide.example/article/old/1",
                 "https://other.example/", "https://x.tide.example/article/1", "tide.example/article/1",
                 files={"journals.yaml": JOURNALS})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["tide", "ebb", "null", "null", "null"]


def test_an_expression_that_meets_its_limit_is_named(rules):
    slow = "https://tide.example/" + "a" * 60 + "b"
    files = {"journals.yaml": JOURNALS.replace(r"tide\.example/article/old/", "tide\\.example/(a+)+$"),
             "webpages.yaml": WEBPAGES + "tide\\.example/(a+)+$:\n  title: h1\n"}
    for verb, name in [("site", "journals.yaml ebb"), ("webpage", r"webpages.yaml tide\.example/(a+)+$")]:
        done = rules(verb, slow, "https://a.example/", files=files)
        assert (done.returncode, done.stdout) == (0, "null\nnull\n"), done.stderr
        assert done.stderr.startswith(f"ingestctl rules: rule {name} hit a limit: ")
        assert done.stderr.count("\n") == 1


def test_urls_come_from_standard_input(rules):
    done = rules("webpage", "-", files={"webpages.yaml": WEBPAGES},
                 input="https://tool.example/\n\nhttps://tool.example/docs/1\nhttps://a.example/")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [r"tool\.example/", "null", r"tool\.example/docs/", "null"]


def test_own_files_come_after_and_override(rules, tmp_path):
    journals = tmp_path / "j.yaml"
    journals.write_text("tide\\.example/article/2: own\n---\nown: {title: b}\ntide: {title: i}\n---\n",
                        encoding="utf-8")
    webpages = tmp_path / "w.yaml"
    webpages.write_text("'tool\\.example/docs': {title: b}\n", encoding="utf-8")
    files = {"journals.yaml": JOURNALS, "webpages.yaml": WEBPAGES}
    done = rules("site", "--journals", journals, "https://tide.example/article/2", "https://tide.example/article/1",
                 files=files)
    assert done.stdout.splitlines() == ["own", "tide"], done.stderr
    done = rules("webpage", "--webpages", webpages, "https://tool.example/docs/1", files=files)
    assert done.stdout.splitlines() == [r"tool\.example/docs"], done.stderr


def test_bad_rules_are_not_used(rules):
    done = rules("site", "https://tide.example/article/1", files={"journals.yaml": "tide: x\n"})
    assert done.returncode == 2
    assert done.stdout == "" and "journals.yaml:1:1: error: " in done.stderr


def with_tests(expect, source="a page looked at", other=True):
    tests = "    - {page: pages/other.html, url: 'https://x.example/', matches: false}\n" if other else ""
    return JOURNALS.replace("ebb:\n", f"""  source: {source}
  tests:
    - page: pages/tide.html
      url: https://tide.example/article/1
      expect: {expect}
{tests}ebb:
""")


def test_tests_pass_or_say_what_came(rules):
    pages = {"pages/tide.html": PAGE, "pages/other.html": PAGE}
    good = "{site: tide, publication: {title: {content: On tides}, doi: {content: 10.1234/TIDE.1}}}"
    done = rules("test", files=pages | {"journals.yaml": with_tests(good)})
    assert done.stdout == "2 entries, 2 tests, 0 failed; 1 supported, 1 unverified\n", done.stderr
    assert done.returncode == 0
    done = rules("test", files={"journals.yaml": with_tests(good.replace("On tides", "On ebbs"))})
    assert done.returncode == 1
    first, summary = done.stdout.splitlines()
    assert first == (f"{rules.folder}/journals.yaml:9: journals.yaml tide: pages/tide.html: "
                     "publication.title.content: expected On ebbs, came \"On tides\"")
    assert summary == "2 entries, 2 tests, 1 failed; 1 supported, 1 unverified"


def test_all_mismatches_of_a_test_are_reported(rules):
    wanted = "{site: ebb, publication: {title: {content: On ebbs}, doi: {content: 10.1234/TIDE.1}, keywords: [a]}}"
    done = rules("test", files={"pages/tide.html": PAGE, "pages/other.html": PAGE, "journals.yaml": with_tests(wanted)})
    *lines, summary = done.stdout.splitlines()
    assert [line.split(": ")[3] for line in lines] == ["site", "publication.title.content", "publication.keywords"], done.stdout
    assert summary == "2 entries, 2 tests, 1 failed; 1 supported, 1 unverified"


def test_supported_entries_need_tests_of_both_kinds(rules):
    pages = {"pages/tide.html": PAGE, "pages/other.html": PAGE}
    done = rules("test", files=pages | {"journals.yaml": with_tests("{site: tide}", other=False)})
    assert done.returncode == 1
    assert "no test that it must not match" in done.stdout
    done = rules("test", files={"journals.yaml": with_tests("{site: tide}", source="unverified", other=False)})
    assert done.returncode == 0
    assert done.stdout.endswith("0 supported, 2 unverified\n")


def test_single_entries_are_tested_by_name(rules):
    pages = {"pages/tide.html": PAGE, "pages/other.html": PAGE, "journals.yaml": with_tests("{site: tide}")}
    done = rules("test", "tide", files=pages)
    assert done.returncode == 0 and done.stdout.startswith("1 entry, 2 tests, ")
    done = rules("test", "ebb")
    assert done.returncode == 0 and done.stdout.startswith("1 entry, 0 tests, ")
    assert rules("test", "nobody").returncode == 2


def test_the_page_of_a_test_may_stand_in_the_rule_file(rules):
    text = with_tests("{publication: {title: {content: Inline}}}").replace(
        "page: pages/tide.html", "html: |\n        <h1 class=title>Inline</h1>").replace(
        "page: pages/other.html", "html: <p>nothing")
    done = rules("test", "tide", files={"journals.yaml": text})
    assert done.stdout == "1 entry, 2 tests, 0 failed; 1 supported, 0 unverified\n", done.stderr
    done = rules("test", "tide", files={"journals.yaml": text.replace("Inline</h1>", "Else</h1>")})
    assert done.returncode == 1
    assert "journals.yaml tide: inline page: publication.title.content: expected Inline" in done.stdout


def test_a_missing_page_is_named_and_the_other_tests_are_run(rules):
    text = with_tests("{site: tide}").replace("pages/other.html", "pages/absent.html")
    done = rules("test", files={"pages/tide.html": PAGE, "journals.yaml": text})
    assert done.returncode == 1
    first, summary = done.stdout.splitlines()
    assert first.endswith("journals.yaml tide: pages/absent.html: the page cannot be read")
    assert summary.startswith("2 entries, 2 tests, 1 failed; ")


def test_tests_whose_answers_are_too_much_for_one_child_are_run_alone(rules):
    page = "<h1 class=title>Long</h1>" + "<p>" + "word " * 1_000_000
    test = "    - {page: pages/long.html, url: 'https://tide.example/article/1', expect: {site: tide}}\n"
    text = with_tests("{site: tide}").replace("ebb:\n", test * 15 + "ebb:\n")
    done = rules("test", files={"pages/tide.html": PAGE, "pages/other.html": PAGE, "pages/long.html": page,
                                "journals.yaml": text})
    assert done.stdout == "2 entries, 17 tests, 0 failed; 1 supported, 1 unverified\n", done.stderr


def test_entries_about_urls_have_tests_too(rules):
    text = """- host: .ads.example
  why: no documents
  source: seen
  tests:
    - {url: 'https://x.ads.example/'}
    - {url: 'https://loads.example/', matches: %s}
"""
    done = rules("test", files={"blocklist.yaml": text % "false"})
    assert done.stdout == "1 entry, 2 tests, 0 failed; 1 supported, 0 unverified\n", done.stderr
    done = rules("test", files={"blocklist.yaml": text % "true"})
    assert done.returncode == 1 and "blocklist.yaml:6: " in done.stdout


def test_entries_about_hosts_have_tests_of_hosts(rules):
    text = """- host: .slow.example
  delay_ms: 5000
  why: asked for by its owners
  source: a letter
  tests:
    - {host: x.slow.example}
    - {url: 'https://%s.example/', matches: false}
"""
    done = rules("check", files={"hosts.yaml": text % "fast"})
    assert done.returncode == 0 and "hosts: 1\n" in done.stdout, done.stderr
    done = rules("test", "hosts.yaml", files={"hosts.yaml": text % "fast"})
    assert done.stdout == "1 entry, 2 tests, 0 failed; 1 supported, 0 unverified\n", done.stderr
    done = rules("test", ".slow.example", files={"hosts.yaml": text % "slow"})
    assert done.returncode == 1 and "hosts.yaml:7: .slow.example: https://slow.example/: expected" in done.stdout


# --- yield -----------------------------------------------------------------------------------------------


def day(days_ago):
    return (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=days_ago)).strftime("%Y-%m-%d")


def test_the_yield_of_several_workers_is_added_up_over_the_days(rules, tmp_path):
    for name, days in (("a.json", {day(0): {"links.yaml pdf/a": [4, 1, 0, 1]}, day(6): {"links.yaml pdf/a": [1, 1, 1, 1]}}),
                       ("b.json", {day(3): {"links.yaml pdf/a": [2, 0, 0, 0], "journals.yaml b": [7, 0, 0, 0]},
                                   day(7): {"links.yaml pdf/a": [50, 50, 0, 0]}})):
        (tmp_path / name).write_text(json.dumps({"since": "x", "digest": "0", "rules": {}, "days": days}), encoding="utf-8")
    done = rules("yield", "--days", "7", tmp_path / "a.json", tmp_path / "b.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("rule\tapplied\tmatched\tfailed\tled_to_document\n"
                           "journals.yaml b\t7\t0\t0\t0\nlinks.yaml pdf/a\t7\t2\t1\t2\n")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"days": 3}'])
def test_a_file_without_days_is_named(rules, tmp_path, text):
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    done = rules("yield", tmp_path / "bad.json")
    assert done.returncode == 1 and "bad.json: not the statistics of rules" in done.stderr and done.stdout == ""


# --- csv -------------------------------------------------------------------------------------------------


CSV_JOURNALS = r"""tide\.example/article/: tide
---
tide:
  title: h1.title
  abstract: div.abstract
  pdf_a: a.pdf
  corresp_author_names: span.author
  corresp_author_emails: a.mail
---
[]
"""
CSV_PAGE = """<!DOCTYPE html><title>Page</title><meta name="citation_doi" content="10.1234/tide.1">
<meta name="citation_keywords" content="a; b; c"><h1 class="title">On t\U0001f30aides</h1><div class="abstract">Short.</div>
<a class="pdf" href="/1.pdf">PDF</a><span class="author">A. Ebb</span><a class="mail" href="mailto:a@tide.example">mail</a>
"""
HEADER = "pmid,pmcid,doi,title,keywords,abstract,fulltext,links,corresp,site\n"


def saved(rules, tmp_path, rows, *words, pages=None):
    (tmp_path / "csv" / "pages").mkdir(parents=True)
    for name, text in (pages or {"tide.example-article-1-a.html": CSV_PAGE}).items():
        (tmp_path / "csv" / "pages" / name).write_text(text, encoding="utf-8")
    (tmp_path / "csv" / "journals.csv").write_text(HEADER + rows, encoding="utf-8")
    return rules("test", "--csv", *words, tmp_path / "csv" / "journals.csv", files={"journals.yaml": CSV_JOURNALS})


def test_sizes_in_utf16_units_of_what_rules_give_agree(rules, tmp_path):
    """Neither the identifier nor the keywords of <meta> elements count; the page itself is one of the links."""
    done = saved(rules, tmp_path, "# a comment\n\n  0,0,0,10,0,6,0,2,22,https://tide.example/article/1,a \n")
    assert done.stdout == "1 row, 0 of them could not be tested, 0 mismatches\n", done.stdout
    assert done.returncode == 0


def test_all_mismatches_and_mistakes_are_in_one_report(rules, tmp_path):
    yields = tmp_path / "rule-yield.json"
    yields.write_text(json.dumps({"days": {day(1): {"journals.yaml tide title": [12, 3, 0, 0]}}}), encoding="utf-8")
    done = saved(rules, tmp_path, "0,0,0,11,2,6,0,3,22,https://tide.example/article/1,a\n0,0,0\n"
                 "0,0,0,1,1,1,1,1,1,https://tide.example/article/2\n0,0,0,1,1,1,1,1,1,https://ebb.example/\n", "--yield", yields,
                 pages={"tide.example-article-1-a.html": CSV_PAGE, "ebb.example-.html": CSV_PAGE})
    assert done.returncode == 1
    lines = done.stdout.replace(str(tmp_path / "csv"), "CSV").splitlines()
    where = "CSV/journals.csv:2: https://tide.example/article/1,a: tide"
    assert lines == [
        f"{where} title: expected 11, found 10",
        "\tjournals.yaml tide title: applied 12, found something 3",
        f"{where} keywords: expected 2, found 0",
        "\tjournals.yaml tide keywords: applied 0, found something 0",
        f"{where} links: expected 3, found 2",
        "CSV/journals.csv:3: not the 10 columns of journals",
        "CSV/journals.csv:4: https://tide.example/article/2: there is no saved page CSV/pages/tide.example-article-2.html",
        "CSV/journals.csv:5: https://ebb.example/: there is no site for this URL",
        "4 rows, 3 of them could not be tested, 3 mismatches",
    ]


def test_a_file_of_mined_terms_is_two_answers_a_row(rules, tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "europepmc-efo-31000001.xml").write_text("<nothing/>", encoding="utf-8")
    (tmp_path / "europepmc-mined.csv").write_text("id,efo,go\n31000001,1,0\n31000001,1\n", encoding="utf-8")
    done = rules("test", "--csv", tmp_path / "europepmc-mined.csv", files={"journals.yaml": CSV_JOURNALS})
    lines = done.stdout.replace(str(tmp_path), "DIR").splitlines()
    assert lines == [
        "DIR/europepmc-mined.csv:2: 31000001: efo: expected 1, found 0",
        "DIR/europepmc-mined.csv:2: 31000001: there is no saved page DIR/pages/europepmc-go-31000001.html",
        "DIR/europepmc-mined.csv:3: not the 3 columns of europepmc-mined",
        "2 rows, 2 of them could not be tested, 1 mismatch",
    ]
    assert done.returncode == 1


def test_web_pages_are_compared_too(rules, tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tool.example-.html").write_text("<h1>Tool</h1><main>Does things.</main>", encoding="utf-8")
    (tmp_path / "list.csv").write_text("header\n4,12,0,0,https://tool.example/\n", encoding="utf-8")
    done = rules("test", "--csv", tmp_path / "list.csv",
                 files={"webpages.yaml": "tool\\.example/:\n  title: h1\n  content: main\n"})
    assert done.stdout == "1 row, 0 of them could not be tested, 0 mismatches\n", done.stdout


@pytest.mark.parametrize("words, message", [
    (("test", "--live"), "go with --csv"), (("check", "--csv"), "--csv goes with test"), (("test", "--csv"), "needs a file"),
    (("test", "--csv", "--kind", "journal", "x.csv"), "no kind journal"),
])
def test_options_for_csv_files_are_checked(rules, words, message):
    done = rules(*words)
    assert done.returncode == 2 and message in done.stderr
