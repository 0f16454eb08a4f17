# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl scrape: what a page says, one page or thousands, by the user's rules too."""

import json
import os
import random
import subprocess

import pytest

JOURNALS = r"""---
tide\.example/paper/: tide
---
tide:
  title: h1.t
  keywords: .kw b
---
"""

PAGE = """<!doctype html><html><head><title>Paper</title>
<meta name="citation_title" content="On tides"><meta name="citation_author" content="Ada Lovelace">
<meta name="citation_pdf_url" content="7.pdf"></head>
<body><h1 class="t">On tides, at length</h1><p class="kw"><b>sea</b> <b>moon</b></p></body></html>
"""

TOP = {"url", "site", "webpage_rule", "biblio", "links", "next", "platform", "scope", "publication", "page_links",
       "webpage", "word_count"}


@pytest.fixture
def scrape(program, tmp_path):
    """scrape("--url", URL, "-", input=page): the finished ingestctl."""
    def run(*arguments, input=None, rules=None):
        sets = ["--set", f"rules.dir={rules}"] if rules else []
        return subprocess.run([program("ingestctl"), *sets, "scrape", *map(str, arguments)],
                              input=input if isinstance(input, bytes) or input is None else input.encode(),
                              capture_output=True, timeout=120, check=False)
    return run


def test_a_page_by_rules_of_ones_own(scrape, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(JOURNALS, encoding="utf-8")
    done = scrape("--url", "https://www.tide.example/paper/1", "--journals", own, "-", input=PAGE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(b"\n") == 1
    found = json.loads(done.stdout)
    assert TOP <= set(found)
    assert found["site"] == "tide"
    assert found["links"]["pdf"] == {"url": "https://www.tide.example/paper/7.pdf", "technique": "citation_pdf_url"}
    assert found["links"]["html"] is None and found["next"] is None
    assert found["biblio"]["title"] == "On tides" and found["biblio"]["contrib_names"] == ["Ada Lovelace"]
    assert found["biblio"]["doi"] is None
    assert found["publication"]["keywords"]["list"] == ["sea", "moon"]


def test_a_mistake_in_the_rules_is_pointed_at(scrape, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(JOURNALS.replace(".kw b", ".kw b["), encoding="utf-8")
    done = scrape("--url", "https://www.tide.example/paper/1", "--journals", own, "-", input=PAGE)
    assert done.returncode == 2 and done.stdout == b""
    assert f"{own}:6:".encode() in done.stderr


def test_a_rule_that_meets_a_limit_is_named(scrape, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(JOURNALS.replace("h1.t", "'h1:matches((a+)+$)'"), encoding="utf-8")
    page = "<h1>" + "a" * 100 + "!</h1><p class=kw><b>sea</b>"
    done = scrape("--url", "https://www.tide.example/paper/1", "--journals", own, "-", input=page)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["site"] == "tide" and found["publication"]["keywords"]["list"] == ["sea"]
    assert b"rule own.yaml tide title" in done.stderr and b"limit" in done.stderr


def test_a_rule_whose_url_expression_meets_a_limit_is_named(scrape, tmp_path):
    journals, webpages = tmp_path / "j.yaml", tmp_path / "w.yaml"
    journals.write_text("slow\\.example/(a+)+$: slow\n---\nslow:\n  title: h1\n---\n", encoding="utf-8")
    webpages.write_text("slow\\.example/(a+)+$:\n  title: h1\n", encoding="utf-8")
    done = scrape("--url", "https://slow.example/" + "a" * 60 + "b", "--journals", journals, "--webpages", webpages, "-",
                  input=PAGE)
    assert done.returncode == 0
    assert json.loads(done.stdout)["site"] is None
    assert b"rule j.yaml slow hit a limit" in done.stderr
    assert b"rule w.yaml slow\\.example/(a+)+$ hit a limit" in done.stderr


def test_no_character_of_a_page_ends_a_line_of_output(scrape, program, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<title>a\u0085b\u2028c\u2029d\u202ae\u00e9</title>", encoding="utf-8")
    selected = subprocess.run([program("ingestctl"), "select", "title", page], capture_output=True, timeout=120, check=True)
    for done, key in ((scrape("--url", "https://x.example/a", page), "title"), (selected, "text")):
        lines = done.stdout.decode().splitlines()
        assert len(lines) == 1
        assert json.loads(lines[0])[key] == "a\u0085b\u2028c\u2029d\u202ae\u00e9"


def test_a_batch_is_answered_line_by_line(scrape):
    lines, bad = [], {3, 500, 1999}
    for number in range(2000):
        page = PAGE.replace("On tides", f"On tide {number}")
        lines.append("{]" if number in bad else
                     json.dumps({"url": f"https://tide.example/paper/{number}", "html": page}))
    done = scrape("--batch", "-", input="\n".join(lines) + "\n")
    assert done.returncode == 1
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    for number, answer in enumerate(answers):
        if number in bad:
            assert set(answer) == {"error"}
        else:
            assert answer["url"] == f"https://tide.example/paper/{number}"
            assert answer["biblio"]["title"] == f"On tide {number}"


def test_any_bytes_give_an_object(scrape):
    dice = random.Random(4)
    for size in (0, 1, 100, 100_000):
        noise = bytes(dice.choices(b"<>/=\"' \0\xff\x80abdiv&;#!-[]", k=size))
        for how in ([], ["--xml"], ["--content-type", "text/html; charset=utf-16"]):
            done = scrape("--url", "https://noise.example/", *how, "-", input=noise)
            assert done.returncode == 0, (size, how, done.stderr)
            assert TOP <= set(json.loads(done.stdout))


def test_pages_that_cost_too_much_end(scrape):
    """Each of these would take minutes or gigabytes if it were let; the line behind it is still answered."""
    bombs = ["<div>" * 100_000, "<p>" + "".join(f"<b id={i}>" for i in range(2000)) * 20 + "<p>x" * 50_000,
             "<p " + " ".join(f"a{i}=1" for i in range(100_000)) + ">x"]
    lines = [json.dumps({"url": "https://bomb.example/", "html": one}) for one in bombs]
    lines.append(json.dumps({"url": "https://bomb.example/", "html": "<title>after</title>"}))
    done = scrape("--batch", "-", input="\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    assert answers[0]["status"] == "success"  # nesting is flattened, as in browsers
    assert all("error" in one or one["status"] == "partial" for one in answers[1:-1]), \
        [one.get("status", one.get("error")) for one in answers]
    assert answers[-1]["webpage"]["title"] == "after"


def test_where_there_is_no_page(scrape, tmp_path):
    assert scrape("--url", "https://a.example/", tmp_path / "absent.html").returncode == 3
    assert scrape("--url", "https://a.example/", "-", input=PAGE, rules=os.devnull + "/absent").returncode == 3
    assert scrape("--batch").returncode == 2


@pytest.mark.parametrize("verb", [["scrape"], ["extract", "html"]])
@pytest.mark.parametrize("url", ["nope", "h/y", "", "//h/y", "/y"])
def test_the_address_of_a_page_is_a_url(program, tmp_path, verb, url):
    """Its relative links would stay relative, and no rule apply, without a word."""
    (tmp_path / "a.html").write_text(PAGE, encoding="utf-8")
    done = subprocess.run([program("ingestctl"), *verb, "--url", url, tmp_path / "a.html"], capture_output=True, text=True,
                          timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "") and "--url must be an absolute URL" in done.stderr
