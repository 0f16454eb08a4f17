# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl robots: what a robots.txt says to an agent about a URL."""

import json
import pathlib
import re
import subprocess

import pytest

CASES = pathlib.Path(__file__).parent.parent / "data" / "robots" / "generated.jsonl"


def robots(program, *arguments, input=None):
    return subprocess.run([program("ingestctl"), "robots", *arguments], input=input, capture_output=True, timeout=60,
                          check=False)


def ask(program, file, agent, url):
    done = robots(program, "--agent", agent, "--url", url, "-", input=file)
    assert (done.returncode, done.stdout) in ((0, b"allowed\n"), (1, b"disallowed\n")), done
    assert done.stderr == b""
    return done.returncode == 0


def test_a_file_is_asked(program, tmp_path):
    path = tmp_path / "robots.txt"
    path.write_bytes(b"User-agent: *\nDisallow: /private/\nAllow: /private/open\n")
    for url, word, status in (("http://h/", b"allowed\n", 0), ("http://h/private/x", b"disallowed\n", 1),
                              ("http://h/private/open?x", b"allowed\n", 0)):
        done = robots(program, "--url", url, "--agent", "any", str(path))
        assert (done.stdout, done.returncode) == (word, status)


@pytest.mark.parametrize("agent, allowed", [
    ("FooBot", False),
    ("foobot", False),
    ("FooBot/2.1", False),
    ("FooBot/2.1 (+https://foo.example/bot)", False),
    ("FooBot (+https://foo.example/bot)", False),
    ("FooBotNews", True),
    ("Foo", True),
    ("FooBot News", True),  # neither a token nor a user agent: no group has such a name
    ("Mozilla/5.0 (compatible; FooBot/2.1)", True),
    ("", True),
])
def test_agents_are_known_by_their_product(program, agent, allowed):
    assert ask(program, b"user-agent: FooBot\ndisallow: /\n", agent, "http://h/x") is allowed


def test_large_files_are_read_to_the_limit(program):
    rule = b"disallow: /first\n"
    file = b"user-agent: *\n" + rule + b"# \n" * 200_000 + b"disallow: /last\n"
    assert len(file) > 512 << 10
    assert not ask(program, file, "x", "http://h/first")
    assert ask(program, file, "x", "http://h/last")


@pytest.mark.slow
def test_generated_cases_are_answered_as_the_reference_parser_does(program):
    """Files of a grammar with faults, and the answers of a port of the field's reference parser."""
    wrong, count, refused = [], 0, 0
    for line in CASES.read_text(encoding="ascii").splitlines():
        case = json.loads(line)
        file, agent, url = (case[key].encode("latin-1") for key in ("file", "agent", "url"))
        if not re.match(rb"(?i)https?://[^/?#]", url):  # the reference parser answers for any text
            assert robots(program, "--agent", agent, "--url", url, "-", input=file).returncode == 2
            refused += 1
        elif ask(program, file, agent, url) != case["allowed"]:
            wrong.append(case)
        count += 1
    assert wrong == [] and count - refused >= 300


def test_wrong_use_is_refused(program, tmp_path):
    assert robots(program).returncode == 2
    assert robots(program, "--agent", "x", "-").returncode == 2
    assert robots(program, "--url", "http://h/", "-").returncode == 2
    assert robots(program, "--agent", "x", "--url", "http://h/").returncode == 2
    assert robots(program, "--agent", "x", "--url", "http://h/", "-", "-").returncode == 2
    assert robots(program, "--nonsense").returncode == 2
    missing = robots(program, "--agent", "x", "--url", "http://h/", str(tmp_path / "none"))
    assert missing.returncode == 3 and missing.stdout == b""
    assert robots(program, "--agent", "x", "--url", "http://h/", str(tmp_path)).returncode == 3
    assert robots(program, "--help").stdout.startswith(b"usage:")


@pytest.mark.parametrize("url", ["h/y", "", "/y", "//h/y", "http:/y", "http://", "http:///y", "ftp://h/y", "mailto:a@h.example"])
def test_what_is_no_url_of_the_web_is_refused(program, url):
    done = robots(program, "--agent", "x", "--url", url, "-", input=b"user-agent: *\ndisallow: /\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--url must be an absolute URL of http or https" in done.stderr
