# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl url: a line out for each URL in."""

import json
import subprocess


def url(program, *arguments, input=None):
    return subprocess.run([program("ingestctl"), "url", *arguments], input=input, capture_output=True, timeout=60,
                          check=False)


def test_clean_takes_arguments_of_any_bytes(program):
    done = url(program, "clean", "--", "HTTP://Example.com:80", "-x", b"http://e.org/caf\xe9", "a\nb", "")
    assert done.stdout == b"http://example.com/\n-x\nhttp://e.org/caf%E9\na%0Ab\n\n"
    assert done.returncode == 0


def test_clean_takes_lines(program):
    done = url(program, "clean", input=b"http://e.org/a b\r\n\n  //x  \nhttp://e.org/\0")
    assert done.stdout == b"http://e.org/a%20b\n\n//x\nhttp://e.org/\n"


def test_parse_prints_the_parts(program):
    done = url(program, "parse", "--base", "http://u:p@h:81/a/b?c#d", "../e?f#g")
    assert json.loads(done.stdout) == {
        "href": "http://u:p@h:81/e?f#g", "protocol": "http:", "username": "u", "password": "p", "hostname": "h",
        "port": "81", "pathname": "/e", "search": "?f", "hash": "#g"}
    done = url(program, "parse", "http://", "http://h")
    assert [json.loads(line).get("failure") for line in done.stdout.splitlines()] == [True, None]
    assert done.returncode == 1


def test_parse_reads_batches(program):
    lines = [{"input": "http://h/\ud800"}, {"input": "x", "base": None}, {"input": "x", "base": "http://h"},
             {"input": "http://h/\0\U0001f600"}]
    done = url(program, "parse", "--batch", "-", input="".join(json.dumps(one) + "\n" for one in lines).encode())
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one.get("href") for one in answers] == ["http://h/%EF%BF%BD", None, "http://h/x", "http://h/%00%F0%9F%98%80"]
    assert answers[1] == {"failure": True}
    assert done.returncode == 0
    done = url(program, "parse", "--batch", "-", input=b"nonsense\n{\"input\": \"http://h\"}\n")
    assert "error" in json.loads(done.stdout.splitlines()[0])
    assert json.loads(done.stdout.splitlines()[1])["href"] == "http://h/"
    assert b"line 1" in done.stderr and done.returncode == 1


def test_surt_is_the_index_key(program):
    done = url(program, "surt", "https://www.Example.org:443/b/../A?z=1&a=2#f", "http://e.org:x/")
    assert done.stdout == b"org,example)/a?a=2&z=1\n-\n"
    assert done.returncode == 1


def test_wrong_use_is_refused(program, tmp_path):
    assert url(program).returncode == 2
    assert url(program, "resolve").returncode == 2
    assert url(program, "clean", "--base", "http://h", "x").returncode == 2
    assert url(program, "parse", "--nonsense").returncode == 2
    assert url(program, "parse", "--batch", str(tmp_path / "none")).returncode == 3
    assert url(program, "--help").stdout.startswith(b"usage:")
