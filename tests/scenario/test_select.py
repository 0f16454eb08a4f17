# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl select: what a selector finds in a page, one at a time and in batches."""

import json
import subprocess

import pytest

PAGE = """<!doctype html><title>T</title><body><div class="authors"><div class="contrib"><span class="name">Ann
 Lee</span> <a class="corresp" href="mail?a&b">mail</a></div><div class="contrib"><span class="name">Bob</span></div></div>
<p id="p">one <b>two</b> &lt;three&gt;</p>"""


@pytest.fixture
def select(program):
    """select(*args, page=…) is the finished ingestctl."""
    def run(*args, page=PAGE):
        return subprocess.run([program("ingestctl"), "select", *args], input=page, capture_output=True, text=True, check=False)
    return run


def matches(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_line_for_each_match_in_document_order(select):
    assert matches(select("p, .authors > .contrib:has(.corresp) .name", "-")) == [
        {"tag": "span", "index": 7, "text": "Ann Lee", "own": "Ann Lee", "html": '<span class="name">Ann\n Lee</span>'},
        {"tag": "p", "index": 11, "text": "one two <three>", "own": "one <three>",
         "html": '<p id="p">one <b>two</b> &lt;three&gt;</p>'}]


def test_text_that_became_an_element_has_no_place(select):
    found = matches(select("p:matchText, p > b", "-"))
    assert [(m["tag"], m["index"], m["html"]) for m in found] == \
        [("p", -1, "one "), ("b", 12, "<b>two</b>"), ("p", -1, " &lt;three&gt;")]


def test_nothing_found_is_no_line(select):
    assert matches(select("table", "-")) == []


def test_base_resolves_links(select):
    assert len(matches(select("--base", "https://h.example/x/", "[abs:href=https://h.example/x/mail?a&b]", "-"))) == 1
    assert matches(select("[abs:href]", "-")) == []


def test_a_wrong_selector_is_told_with_its_place(select):
    done = select("p > > b", "-")
    assert done.returncode == 2 and done.stdout == ""
    assert "character 5" in done.stderr and "two combinators" in done.stderr
    done = select("p:matches(a[b&&[c]])", "-")
    assert done.returncode == 2 and "character 14" in done.stderr


def test_a_selector_that_begins_with_a_hyphen_or_a_missing_file(select, tmp_path):
    assert select("--", "-x", "-").returncode == 2
    assert select("p", tmp_path / "none").returncode == 3
    assert select("p").returncode == 2


def test_xml_keeps_names_as_written(select):
    found = matches(select("--xml", "x|ref, name", "-", page='<A xmlns:x="u"><Name>N &amp; M</Name><x:ref a="1"/></A>'))
    assert [(m["tag"], m["index"], m["html"]) for m in found] == \
        [("Name", 2, "<Name>N &amp; M</Name>"), ("x:ref", 3, '<x:ref a="1"/>')]
    done = select("--xml", "a", "-", page="<a><b></a>")
    assert done.returncode == 1 and done.stderr


def test_a_batch_answers_every_line_in_order(select, tmp_path):
    lines = [{"html": "<p>a", "selector": "p"}, {"html": "<p>a", "selector": "p["}, {"html": "<a href=x>l", "selector": "[abs:href]",
             "base": "http://h.example/"}, {"html": "<p/><p>", "selector": "p", "xml": True}, {"html": "<i/>", "selector": "i", "xml": True},
             {"html": "<p>" + "a" * 60 + "!", "selector": "p:matches(^(a+)+$)"}, {"selector": "p"}]
    path = tmp_path / "batch.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\nno json\n" + json.dumps(lines[0]) + "\n", encoding="utf-8")
    done = select("--batch", path)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and len(answers) == 9
    assert ["error" in answer for answer in answers] == [False, True, False, True, False, True, True, True, False]
    assert all(("error" in answer) != ("matches" in answer) for answer in answers)
    assert answers[1]["column"] == 2
    assert "^(a+)+$" in answers[5]["error"]
    assert answers[0] == answers[8] and answers[0]["matches"][0]["text"] == "a"


def test_lines_that_are_no_whole_unicode_are_read(select):
    done = select("--batch", "-", page='{"html":"<p>a\\ud800b","selector":"p"}\n')
    assert [m["text"] for m in json.loads(done.stdout)["matches"]] == ["a\ufffdb"]
