# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl warc: files checked, indexed as others index them, and read record by record."""

import gzip
import json
import pathlib
import shutil
import subprocess
import urllib.parse

import pytest
from servers import readers
from warcio.archiveiterator import ArchiveIterator

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


# --- erase -----------------------------------------------------------------------------------------------------


@pytest.fixture
def copies(files, tmp_path):
    """Files of the run that a test may change."""
    return [pathlib.Path(shutil.copy2(path, tmp_path)) for path in files]


def all_records(path):
    """(offset, WARC-Type, WARC-Target-URI or None, block) of each."""
    with open(path, "rb") as file:
        found = []
        reader = ArchiveIterator(file, no_record_parse=True)
        for record in reader:
            block = record.raw_stream.read()
            found.append((reader.get_record_offset(), record.rec_type, record.rec_headers.get_header("WARC-Target-URI"), block))
        return found


def is_of(url, host):
    return (urllib.parse.urlsplit(url or "").hostname or "").removeprefix("www.") == host


def test_records_of_a_host_are_erased_and_all_others_stay(copies, warc):
    before = {path: (path.stat().st_size, all_records(path)) for path in copies}
    gone = sum(is_of(record[2], "tidal-ecology.example") for _, found in before.values() for record in found)
    assert gone > 4
    done = warc("erase", "--host", "tidal-ecology.example", "--why", "a letter", *copies)
    assert done.returncode == 0, done.stderr
    assert sum(int(line.split()[-2]) for line in done.stdout.splitlines()) == gone
    for path in copies:
        size, old = before[path]
        assert path.stat().st_size == size
        now = all_records(path)
        assert [one[0] for one in now] == [one[0] for one in old]
        for was, is_ in zip(old, now):
            if is_of(was[2], "tidal-ecology.example"):
                assert is_[1:3] == ("metadata", None) and is_[3].strip() == b"a letter"
            else:
                assert is_ == was
    assert warc("verify", *copies).returncode == 0
    assert readers.check(copies)
    assert "tidal-ecology.example" not in warc("index", *copies).stdout
    again = warc("erase", "--host", "tidal-ecology.example", "--why", "a letter", *copies)
    assert all(line.endswith(", 0 erased") for line in again.stdout.splitlines())


def test_a_name_with_a_dot_means_those_below_as_well(copies, warc):
    def count(host):
        done = warc("erase", "--dry-run", "--host", host, "--why", "x", *copies)
        return sum(int(line.split()[-3]) for line in done.stdout.splitlines())
    assert count(".northmoor.example") == count("press.northmoor.example") > 0
    assert count("northmoor.example") == 0
    assert count(".example") > count(".northmoor.example")


def test_a_dry_run_and_a_damaged_file_change_nothing(copies, warc):
    path = max(copies, key=lambda one: one.stat().st_size)
    whole = path.read_bytes()
    assert warc("erase", "--dry-run", "--host", ".example", "--why", "x", path).returncode == 0
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-3])
    done = warc("erase", "--host", ".example", "--why", "x", path)
    assert done.returncode == 1 and "nothing was erased" in done.stderr
    assert path.read_bytes() == whole[:-3]
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(path.name)] == [path.name]


def test_a_file_that_is_written_to_is_left_alone(copies, warc):
    path = copies[0].rename(copies[0].with_name(copies[0].name + ".open"))
    done = warc("erase", "--host", ".example", "--why", "x", path)
    assert done.returncode == 1 and "a worker writes to it" in done.stderr


@pytest.mark.parametrize("words", [["--why", "x"], ["--host", "tests.example"], ["--host", "a b", "--why", "x"]])
def test_erase_needs_a_host_and_a_reason(copies, warc, words):
    assert warc("erase", *words, copies[0]).returncode == 2
    assert warc("erase", "--host", "tests.example", "--why", "x").returncode == 2
