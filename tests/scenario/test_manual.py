# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made of the tables of verbs, statuses, metrics and keys: help, manual pages."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def ctl(program, *words):
    return subprocess.run([program("ingestctl"), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20, check=False)


@pytest.fixture(scope="session")
def takes(program):
    """verb: its options, of all verbs with those below them."""
    found = {}
    for line in ctl(program, "help", "--print", "options").stdout.splitlines():
        verb, option = line.split("\t")
        found.setdefault(verb, []).extend([option] if option else [])
    assert len(found) > 45 and "--max-lag" in found["requests load"]
    return found


@pytest.fixture(scope="session")
def page(program):
    """The built page of that name, as text."""
    def read(name):
        path = pathlib.Path(program("ingestctl")).parent.parent / "deploy" / "man" / name
        done = subprocess.run(["mandoc", "-Tascii", "-Owidth=400", path], capture_output=True, text=True, timeout=60, check=True)
        return re.sub(".\b", "", done.stdout)
    return read


def test_every_option_of_every_verb_is_in_its_help_and_accepted(program, takes):
    for verb, options in takes.items():
        shown = ctl(program, *verb.split(), "--help").stdout
        assert shown.startswith("usage: ingestctl "), verb
        for option in options:
            found = re.search(rf"^  (?:-\w, )?{option}( \S| ?$|  )", shown, re.MULTILINE)
            assert found, (verb, option)
            takes_value = found.group(1).strip() != ""
            done = ctl(program, *verb.split(), option, *(() if takes_value else ("--help",)))
            assert f"'{option}' requires an argument" in done.stderr if takes_value else not done.stderr, (verb, option, done)


def test_every_option_of_every_verb_is_in_the_manual(takes, page):
    text = page("ingestctl.1")
    sections = dict(re.findall(r"^   (\S[^\n]*)\n(.*?)(?=^   \S|^\S)", text, re.MULTILINE | re.DOTALL))
    shared = {name: set(re.findall(r"--[a-z][a-z-]*", sections[name])) for name in ("Selections", "Kept publications", "Kept web pages")}
    for verb, options in takes.items():
        # Those that share options stand in the section of the verb above them.
        section = sections.get(verb) or sections[verb.split()[0]]
        assert f"ingestctl {verb}" in section or f" {verb}" in section or verb in sections, verb
        named = set(re.findall(r"--[a-z][a-z-]*", section))
        for name, more in shared.items():
            if f"The options of {name} apply, too." in section:
                named |= more
        assert set(options) <= named, (verb, set(options) - named)


def test_help_says_all_about_a_verb_a_topic_a_status_a_metric_and_keys(program):
    whole = ctl(program, "help", "requests", "load")
    assert whole.returncode == 0 and "--streams" in whole.stdout and "goes on also from a pipe" in whole.stdout
    assert "goes on also from a pipe" not in ctl(program, "requests", "load", "--help").stdout
    assert "Examples:" in ctl(program, "help", "run").stdout
    assert "never-asked" in ctl(program, "help", "selections").stdout
    assert "asking again after 90 days" in " ".join(ctl(program, "help", "no-pdf-link").stdout.split())
    assert 'reason="held"' in ctl(program, "help", "ing_requests_parked_total").stdout
    keys = re.findall(r"^  (\S+)", ctl(program, "help", "warc").stdout, re.MULTILINE)
    assert "verify" in keys  # a verb goes before keys that begin alike
    keys = re.findall(r"^  ([a-z_.]+)", ctl(program, "help", "gate").stdout, re.MULTILINE)
    assert len(keys) > 5 and all(key.startswith("gate.") for key in keys)
    one = ctl(program, "help", "stop.drain_ms").stdout
    assert one.split()[0] == "stop.drain_ms" and "Default: " in one


def test_help_lists_verbs_and_topics(program):
    shown = ctl(program, "help").stdout
    verbs = re.findall(r"^  ([a-z]+) ", ctl(program, "--help").stdout, re.MULTILINE)
    assert len(verbs) > 25 and len(verbs) == len(set(verbs))
    for word in (*verbs, "selections", "statuses", "metrics", "configuration"):
        assert re.search(rf"^  {word} ", shown, re.MULTILINE), word


@pytest.mark.parametrize(("words", "code", "said"), [
    (["stauses"], 1, "did you mean 'statuses'"), (["gate.nonsense"], 1, "there is nothing about gate.nonsense"),
    (["requests", "laod"], 2, "did you mean 'load'"), (["run", "away"], 2, "run has no verb away"),
    (["nonsense", "more"], 2, "nonsense is no verb"), (["--print", "nonsense"], 2, "no part nonsense"),
])
def test_what_help_does_not_know_is_said(program, words, code, said):
    done = ctl(program, "help", *words)
    assert done.returncode == code and said in done.stderr and not done.stdout


def test_every_status_metric_and_key_is_in_its_page(program, page):
    statuses = re.findall(r'^STATUS\(\w+,\s+"([a-z-]+)"', (ROOT / "worker/model/status.def").read_text(encoding="utf-8"), re.MULTILINE)
    text = page("ingest-worker.statuses.7")
    assert len(statuses) > 40 and not [s for s in statuses if not re.search(rf"^     {s}( |$)", text, re.MULTILINE)]
    metrics = set(re.findall(r'"(ing_[a-z0-9_]+)"', (ROOT / "worker/model/metrics.def").read_text(encoding="utf-8")))
    text = page("ingest-worker.metrics.7")
    assert len(metrics) > 40 and not [m for m in metrics if not re.search(rf"^     {m}( |$)", text, re.MULTILINE)]
    keys = re.findall(r'^KEY\("([a-z0-9_.]+)"', (ROOT / "worker/conf/conf_table.def").read_text(encoding="utf-8"), re.MULTILINE)
    text = page("ingest-worker.conf.5")
    assert len(keys) > 100 and not [k for k in keys if not re.search(rf"^     {re.escape(k)}( |$)", text, re.MULTILINE)]


@pytest.mark.parametrize("name", ["ingestctl.1", "ingest-worker.conf.5", "ingest-worker.metrics.7", "ingest-worker.statuses.7", "ingest-worker.8"])
def test_pages_have_no_mark_left_and_the_day_of_the_version(page, name):
    text = page(name)
    day = re.search(r"^## \S+ \((\d+)-\d+-(\d+)\)$", (ROOT / "deploy/CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert "@" + "PART" not in text and "@DATE@" not in text
    last = text.rstrip().splitlines()[-1]
    assert re.search(rf"[A-Z][a-z]+ {int(day.group(2))}, {day.group(1)}", last), last


@pytest.mark.parametrize("name", ["ingest-worker", "ingestctl"])
def test_the_version_is_that_of_the_build_with_the_libraries_in_use(program, name):
    version = re.search(r"^project\(.* VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    done = subprocess.run([program(name), "--version"], capture_output=True, text=True, timeout=60, check=True)
    first, *libraries = done.stdout.splitlines()
    assert first == f"{name} {version}" and not done.stderr
    seen = dict(line.split(" ", 1) for line in libraries)
    for library in ("librdkafka", "libcurl", "libpq", "libuv", "jansson", "OpenSSL", "lexbor", "glibc"):
        assert re.match(r"\d+\.\d+", seen[library]), (library, seen)
    assert re.fullmatch(r"OpenSSL|(AVX-512|AVX2)?(, )?(SHA instructions)?", seen["digests"]), seen
    assert seen["glibc"] == os.confstr("CS_GNU_LIBC_VERSION").split()[1]
