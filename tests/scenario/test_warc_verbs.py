# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl warc: files checked, indexed as others index them, and read record by record."""

import gzip
import json
import pathlib
import subprocess

import pytest
from servers import readers

PAGES = ["https://tidal-ecology.example/article/view/41", "https://tidal-ecology.example/article/view/42",
         "https://press.northmoor.example/doi/full/10.5555/nm.2020.117", "https://tidal-ecology.example/no/such/page"]


@pytest.fixture(scope="module")
def files(program, web, tmp_path_factory):
    """The WARC files of a run over some pages: redirects, a coded body, a missing page, PDF."""
    out = tmp_path_factory.mktemp("warcs") / "out"
    lines = "".join(json.dumps({"ingest_type": "pdf", "base_url": url}) + "\n" for url in PAGES)
    done = subprocess.run(
        [program("ingestctl"), "--set", "fetch.connect_to=" + json.dumps(web.connect_to()), "--set", f"fetch.ca_file={web.ca_file}",
         "--set", 'fetch.allow_address=["127.0.0.0/8"]', "--set", "gate.host_delay_ms=0", "--set",
         "warc.max_bytes=8000", "run", "--out", str(out), "-"], input=lines, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found = sorted((out / "warc").iterdir())
    assert len(found) > 1
    return found


@pytest.fixture(scope="module")
def warc(program):
    def run(*words, text=True):
        return subprocess.run([program("ingestctl"), "warc", *map(str, words)], capture_output=True, text=text, timeout=60, check=False)
    return run


def test_other_readers_accept_the_files(files):
    assert readers.check(files)


def test_the_indexes_are_those_of_other_indexers(files, warc):
    theirs = sorted(readers.cdxj(files))
    assert len(theirs) >= 6
    assert warc("index", "--cdxj", *files).stdout.splitlines() == theirs
    header, *lines = warc("index", *files).stdout.splitlines()
    eleven = readers.cdxj(files, "--cdx11")
    assert header == eleven[0]
    assert lines == sorted(line for line in eleven if line != header)
    # Its length is that of the member without the next byte that it has looked at.
    def places(index):
        return sorted(tuple(word for at, word in enumerate(line.split(" ")) if at != 8) for line in index if line != header)
    assert places(lines) == places(readers.jwarc_cdx(files))


def test_good_files_have_no_faults(files, warc):
    done = warc("verify", *files)
    assert done.returncode == 0, done.stdout
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == list(map(str, files))
    assert all(line.endswith(", 0 faults") for line in done.stdout.splitlines())


def test_a_record_is_printed_with_and_without_its_headers(files, warc):
    for line in warc("index", *files).stdout.splitlines()[1:]:
        *_, size, offset, name = line.split(" ")
        path = next(path for path in files if path.name == name)
        member = gzip.decompress(path.read_bytes()[int(offset):int(offset) + int(size)])
        raw = warc("cat", "--raw", path, offset, text=False)
        assert raw.returncode == 0 and raw.stdout + b"\r\n\r\n" == member
        payload = warc("cat", path, offset, text=False)
        assert payload.returncode == 0 and payload.stdout == member[:-4].split(b"\r\n\r\n", 2)[2]


@pytest.fixture
def records(files):
    """The gzip members of the first file, as (offset, text)."""
    data, found, offset = files[0].read_bytes(), [], 0
    import zlib
    while offset < len(data):
        member = zlib.decompressobj(31)
        text = member.decompress(data[offset:])
        found.append((offset, text))
        offset = len(data) - len(member.unused_data)
    return found


def changed(records, number, change):
    return b"".join(gzip.compress(change(text) if at == number else text) for at, (_, text) in enumerate(records))


@pytest.mark.parametrize("what, change, words", [
    ("response", lambda text: text[:-5] + bytes([text[-5] ^ 1]) + text[-4:], "the block has another digest"),
    ("response", lambda text: text.replace(b"WARC-Payload-Digest: sha1:", b"WARC-Payload-Digest: sha1:A"), "the payload has another"),
    ("response", lambda text: text[:-4] + b"x" + text[-4:], "the block is longer than its Content-Length"),
    ("response", lambda text: text + b"\r\n", "there is something behind the record"),
    ("response", lambda text: text.replace(b"WARC-Warcinfo-ID: <urn:uuid:", b"WARC-Warcinfo-ID: <urn:uuid:0"), "its WARC-Warcinfo-ID"),
    ("warcinfo", lambda text: text.replace(b"WARC-Type: warcinfo", b"WARC-Type: metadata"), "does not begin with a warcinfo"),
    ("response", lambda text: b"<html>", "this is no WARC record"),
])
def test_a_fault_is_found_where_it_is(records, warc, tmp_path, what, change, words):
    number = next(at for at, (_, text) in enumerate(records) if f"WARC-Type: {what}".encode() in text)
    assert change(records[number][1]) != records[number][1]
    path = tmp_path / "bad.warc.gz"
    path.write_bytes(changed(records, number, change))
    done = warc("verify", path)
    assert done.returncode == 1
    offset = len(b"".join(gzip.compress(text) for _, text in records[:number]))
    wanted = offset if what != "warcinfo" else None
    assert any(words in line and (wanted is None or line.startswith(f"{path}: offset {wanted}: ")) for line in done.stdout.splitlines()), \
        done.stdout


def test_a_cut_file_is_damaged_there_and_the_rest_is_indexed(records, files, warc, tmp_path):
    path = tmp_path / "cut.warc.gz"
    path.write_bytes(files[0].read_bytes()[:-1])
    last = records[-1][0]
    assert f"{path}: offset {last}: the record is cut off\n" in warc("verify", path).stdout
    done = warc("index", path)
    assert done.returncode == 1 and f"offset {last}: the record is cut off" in done.stderr
    assert 0 < len(done.stdout.splitlines()) <= len(warc("index", files[0]).stdout.splitlines())
    assert warc("cat", path, last, text=False).returncode == 1


def test_where_no_record_begins_nothing_is_printed(files, warc, tmp_path):
    done = warc("cat", files[0], 1)
    assert done.returncode == 1 and done.stdout == "" and "the gzip member is damaged" in done.stderr
    done = warc("cat", files[0], pathlib.Path(files[0]).stat().st_size)
    assert done.returncode == 1 and "the file ends there" in done.stderr
    assert warc("cat", files[0], "-1").returncode == 2
    assert warc("cat", files[0]).returncode == 2 and warc("verify").returncode == 2 and warc("dance", "x").returncode == 2
    assert warc("verify", tmp_path / "missing").returncode == 3
    (tmp_path / "empty").touch()
    done = warc("verify", tmp_path / "empty")
    assert done.returncode == 1 and "there is no record" in done.stdout
