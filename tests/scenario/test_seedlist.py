# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl seedlist: lists of others become request lines that the schema accepts, whatever is in them."""

import gzip
import json
import lzma
import pathlib
import subprocess

import jsonschema
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted(path.stem for path in (ROOT / "deploy/seedlists").glob("*.yaml"))


@pytest.fixture
def seedlist(program):
    def run(*words, stdin=b""):
        return subprocess.run([program("ingestctl"), "seedlist", *map(str, words)], input=stdin, capture_output=True, timeout=60, check=False)
    return run


def samples():
    for name in SOURCES:
        source = yaml.safe_load((ROOT / f"deploy/seedlists/{name}.yaml").read_text(encoding="utf-8"))
        for number, test in enumerate(source["tests"]):
            yield pytest.param(name, test, id=f"{name}-{number}")


@pytest.mark.parametrize("name, test", samples())
def test_requests_of_the_samples_are_as_the_schema_has_them(seedlist, name, test):
    options = [word for key, value in test.get("options", {}).items() for word in ("--option", f"{key}={value}")]
    done = seedlist(name, *options, stdin=test["input"].encode())
    assert done.returncode == (1 if test.get("bad") else 0), done.stderr
    assert done.stdout.decode() == test.get("want", "")
    schema = json.loads((ROOT / "schemas/ingest-request.schema.json").read_text(encoding="utf-8"))
    for line in done.stdout.splitlines():
        jsonschema.Draft202012Validator(schema).validate(json.loads(line))


def test_sources_are_listed_described_and_checked(seedlist):
    listed = seedlist("--list")
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.decode().splitlines()] == SOURCES
    described = seedlist("csv", "--help")
    assert described.returncode == 0 and b"separator" in described.stdout and b"(default: ,)" in described.stdout
    checked = seedlist("--check")
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count(b" 0 failed") == len(SOURCES)


def test_bad_records_are_named_skipped_and_bounded(seedlist, tmp_path):
    path = tmp_path / "list.jsonl"
    path.write_bytes(b'{"doi":"10.1/a","oa_locations":[{"url_for_pdf":"http://a.example/"}]}\n' + b"\x1b[31m bad\n" * 1000)
    done = seedlist("unpaywall", path)
    assert done.returncode == 1
    assert done.stdout.count(b"\n") == 1
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith(f"{path}:2: ") and "\x1b" not in done.stderr.decode()
    assert len(lines) == 22
    assert lines[-1] == "ingestctl seedlist: 1 record, 1 request, 1000 bad"


def test_what_is_left_out_is_counted_over_all_files(seedlist, tmp_path):
    plain, packed, xz = tmp_path / "a", tmp_path / "b.gz", tmp_path / "c.xz"
    text = b"http://a.example/1\nftp://a.example/2\n"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text[:10]) + gzip.compress(text[10:]))
    xz.write_bytes(lzma.compress(text))
    done = seedlist("urls", plain, packed, "-", xz, stdin=gzip.compress(text))
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 4 and len(set(done.stdout.splitlines())) == 1
    assert done.stderr.decode().splitlines() == ["ingestctl seedlist: 8 records, 4 requests, 0 bad", "  left out, no-web-url: 4"]


def test_files_that_cannot_be_read_are_the_environments_fault(seedlist, tmp_path):
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"http://a.example/\n" * 10000)[:-20])
    done = seedlist("urls", cut)
    assert done.returncode == 3 and b"cut.gz: " in done.stderr
    missing = seedlist("urls", tmp_path / "none", cut.with_name("none"))
    assert missing.returncode == 3 and missing.stderr.count(b"No such file") == 2
    assert seedlist("urls", tmp_path).returncode == 3


@pytest.mark.parametrize("words, said", [
    (("unpaywal",), "there is no source unpaywal; did you mean unpaywall?"),
    (("csv", "--option", "ulr=2"), "csv has no option ulr; did you mean url?"),
    (("arabesque", "--option", "link_source=pmc"), "arabesque needs option extid_type"),
    (("urls", "--option", "ingest_type=pfd"), '"pfd" is none of'),
    ((), "give a source; --list prints them"),
    (("--list", "urls"), "--list stands alone"),
])
def test_misuse_is_explained(seedlist, words, said):
    done = seedlist(*words)
    assert done.returncode == 2 and said in done.stderr.decode() and done.stdout == b""


def test_errors_in_a_source_are_all_named(seedlist, tmp_path):
    source = tmp_path / "mine.yaml"
    source.write_text("about: a\nshape: b\nformat: jsonl\nfields:\n  base_ulr: {path: u}\n  ingest_type: {path: t, as: dio}\nskips: []\n")
    done = seedlist(source, stdin=b"{}\n")
    assert done.returncode == 2
    assert [line.split(": ", 1)[0] for line in done.stderr.decode().splitlines()] == [
        f"{source}:{place}" for place in ("5:3", "5:3", "6:30", "7:1")]


def test_a_reader_that_goes_away_ends_it(program, tmp_path):
    path = tmp_path / "urls"
    path.write_bytes(b"".join(b"http://a.example/%d\n" % number for number in range(200000)))
    with subprocess.Popen([program("ingestctl"), "seedlist", "urls", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait(timeout=60) == 3
    assert b"Broken pipe" in said
