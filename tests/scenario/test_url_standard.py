# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl url parse by every case of the URL Standard's own test-suite."""

import json
import pathlib
import subprocess

import pytest

SUITE = pathlib.Path(__file__).parent.parent / "data" / "url"
PARTS = ("href", "protocol", "username", "password", "hostname", "port", "pathname", "search", "hash")


def cases_of(name):
    """The cases of a file, without the remarks between them."""
    return [case for case in json.loads((SUITE / name).read_text(encoding="utf-8")) if isinstance(case, dict)]


def parse(program, questions):
    lines = "".join(json.dumps({"input": text, "base": base}) + "\n" for text, base in questions)
    done = subprocess.run([program("ingestctl"), "url", "parse", "--batch", "-"], input=lines.encode(),
                          capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers


@pytest.mark.parametrize("name, count", [("urltestdata.json", 891), ("urltestdata-javascript-only.json", 1)])
def test_urls_have_the_parts_that_the_standard_says(program, name, count):
    cases = cases_of(name)
    answers = parse(program, [(case["input"], case.get("base")) for case in cases])
    wrong = []
    for case, answer in zip(cases, answers):
        want = {"failure": True} if case.get("failure") else {part: case[part] for part in PARTS}
        if answer != want:
            wrong.append((case["input"], case.get("base"), want, answer))
    assert wrong == [] and len(cases) == count


@pytest.mark.parametrize("name, count", [("toascii.json", 87), ("IdnaTestV2.json", 2671),
                                         ("IdnaTestV2-removed.json", 20)])
def test_hosts_have_the_ascii_form_that_the_standard_says(program, name, count):
    cases = [case for case in cases_of(name)]
    asked = [case for case in cases if case["input"] != ""]  # no URL has that host
    answers = parse(program, [(f"https://{case['input']}/x", None) for case in asked])
    wrong = [(case["input"], case["output"], answer) for case, answer in zip(asked, answers)
             if answer.get("hostname") != case["output"]]
    assert wrong == [] and len(cases) == count


def test_a_nul_is_a_character_like_others(program):
    base = "http://h/a\0b/c"
    answers = parse(program, [("x\0y", base), ("x", "http://h\0/"), ("\0http://h/\0", None), ("http://h\0/", None),
                              ("a:b\0", None), ("//h\0/", "foo://g/"), ("?\0#\0x", base)])
    assert [answer.get("href") for answer in answers] == [
        "http://h/a%00b/x%00y", None, "http://h/", None, "a:b", None, "http://h/a%00b/c?%00#%00x"]
