# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl run with lists in place of requests: URLs, other lists by their source, compressed input."""

import bz2
import collections
import gzip
import json
import lzma
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest

from servers.polite import Answer, PoliteServer

ARTICLE = b"A text.\n" + b"A sentence that is long enough to be one.\n" * 40
HOST = "paper.test.example"
SEEDLISTS = pathlib.Path(__file__).parents[2] / "deploy" / "seedlists"


@pytest.fixture
def site():
    with PoliteServer() as server:
        server.page("*", "*", Answer(body=ARTICLE))
        yield server


class Run:
    """ingestctl run --out DIR, of this program and with the sources of the tree."""

    def __init__(self, program, site, folder):
        self.out = folder / "d"
        self.program = program("ingestctl")
        self.settings = {"fetch.connect_to": json.dumps(site.connect_to()), "fetch.allow_address": '["127.0.0.0/8"]',
                         "fetch.user_agent": '"scenario/1.0 (+https://scenario.example/)"', "gate.host_delay_ms": 0,
                         "gate.adaptive_factor": 0, "gate.robots": "ignore", "seedlists.dir": SEEDLISTS}

    def start(self, *words, stdin=subprocess.DEVNULL, **settings):
        flat = {**self.settings, **settings}
        arguments = [*(word for key, value in flat.items() for word in ("--set", f"{key}={value}")), "run",
                     "--out", self.out, *words]
        return subprocess.Popen([self.program, *map(str, arguments)], stdin=stdin, stderr=subprocess.PIPE, text=True)

    def finish(self, *words, **settings):
        """Returns (exit status, stderr) of a run to its end."""
        process = self.start(*words, **settings)
        said = process.communicate(timeout=120)[1]
        return process.returncode, said

    def results(self):
        try:
            text = (self.out / "results.jsonl").read_bytes()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.split(b"\n")[:-1]]

    def asked(self):
        """How often each URL has a result."""
        return collections.Counter(one["request"]["base_url"] for one in self.results())


@pytest.fixture
def a_run(program, site, tmp_path):
    return Run(program, site, tmp_path)


def url(n):
    return f"http://{HOST}/{n}"


def once(count):
    return collections.Counter(url(n) for n in range(count))


def test_a_file_of_urls_is_a_list(a_run, tmp_path):
    file = tmp_path / "list.txt"
    file.write_bytes(b"\xef\xbb\xbf# what is to be asked\r\n\r\n  HTTP://" + HOST.upper().encode() + b"/0 \r\n" +
                     url(1).encode() + b"\n\nftp://a.example/\nno URL at all\nhttp://me:secret@a.example/\n" + url(2).encode())
    status, said = a_run.finish("--type", "component", file)
    assert status == 0, said
    assert a_run.asked() == once(3)
    assert {one["request"]["ingest_type"] for one in a_run.results()} == {"component"}
    assert {one["status"] for one in a_run.results()} == {"success"}
    assert "is a list of URLs" in said
    assert "6 records, 3 requests, 0 bad" in said and "left out, no-web-url: 2" in said and "left out, user-in-url: 1" in said


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress, bytes], ids=["gzip", "xz", "bzip2", "plain"])
@pytest.mark.parametrize("lines", ["requests", "urls"])
def test_compressed_input_is_read_as_it_is(a_run, tmp_path, pack, lines):
    file = tmp_path / "list"
    if lines == "urls":
        data = [f"{url(n)}\n".encode() for n in range(6)]
    else:
        data = [json.dumps({"ingest_type": "component", "base_url": url(n)}).encode() + b"\n" for n in range(6)]
    # Of two parts, as files that were put together have them.
    file.write_bytes(pack(b"".join(data[:3])) + pack(b"".join(data[3:])))
    status, said = a_run.finish(*(["--type", "component"] if lines == "urls" else []), file)
    assert status == 0, said
    assert a_run.asked() == once(6)


def test_other_lists_are_converted_by_their_source(a_run, tmp_path):
    file = tmp_path / "index.cdx.gz"
    rows = [" CDX N b a m s k r M S V g"]
    rows += [f"x 20200101000000 {url(n)} application/pdf 200 AAAA - - 1 2 f.warc.gz" for n in range(3)]
    rows += [f"x 20200101000000 {url(3)} text/html 200 AAAA - - 1 2 f.warc.gz", "no row", ""]
    file.write_bytes(gzip.compress("\n".join(rows).encode()))
    status, said = a_run.finish("--source", "cdx", "--type", "component", "--option", "link_source=index", file)
    assert status == 1, said
    assert a_run.asked() == once(3)
    assert {one["request"]["link_source"] for one in a_run.results()} == {"index"}
    assert f"{file}:6: not as many fields" in said
    assert "left out, type: 1" in said


def test_a_list_goes_on_where_it_stopped(a_run, tmp_path, site):
    file = tmp_path / "list.xz"
    count = 30
    file.write_bytes(lzma.compress("".join(f"{url(n)}\n" for n in range(count)).encode()))
    words = ["--type", "component"]
    process = a_run.start(*words, file, **{"gate.host_delay_ms": 200})
    deadline = time.monotonic() + 60
    while len(a_run.results()) < 5:
        assert time.monotonic() < deadline and process.poll() is None, "the results do not come"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    before = len(a_run.results())
    assert 5 <= before < count
    status, said = a_run.finish("--resume", *words, file)
    assert status == 0, said
    assert a_run.asked() == once(count)
    assert f"{before} skipped (have a result)" in said
    # All of it once more: there is nothing to do.
    asked = len(site.record)
    status, said = a_run.finish("--resume", *words, file)
    assert status == 0, said
    assert len(site.record) == asked and a_run.asked() == once(count)


def test_what_comes_before_a_cut_is_done_and_the_cut_is_named(a_run, tmp_path):
    file = tmp_path / "list.gz"
    data = gzip.compress("".join(f"{url(n)}\n" for n in range(5)).encode())
    file.write_bytes(data + data[:20])
    status, said = a_run.finish("--type", "component", file)
    assert status == 3
    assert f"{file}: byte {len(data) + 20}: the gzip data ends early" in said
    assert set(a_run.asked()) == set(once(5))
    assert json.loads((a_run.out / "summary.json").read_bytes())["state"] == "failed"


def test_a_pipe_may_have_a_list_and_a_signal_ends_it(a_run, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = a_run.start("--type", "component", fifo)
    with open(fifo, "wb", buffering=0) as pipe:
        for n in range(3):
            pipe.write(f"{url(n)}\n".encode())
        deadline = time.monotonic() + 60
        while len(a_run.results()) < 3:  # though the pipe is open
            assert time.monotonic() < deadline and process.poll() is None, "the results do not come"
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 4, said
    assert a_run.asked() == once(3)


def test_requests_of_a_pipe_keep_the_numbers_of_their_lines(a_run):
    process = a_run.start("-", stdin=subprocess.PIPE)
    text = "\n" + json.dumps({"ingest_type": "component", "base_url": url(0)}) + "\nno JSON\n"
    said = process.communicate(text, timeout=60)[1]
    assert process.returncode == 1
    assert a_run.asked() == once(1)
    assert "stdin:3: " in said


@pytest.mark.parametrize("words, status, words_said", [
    (["--type", "html", "requests"], 2, "these are request lines"),
    (["--source", "unpaywal", "requests"], 2, "did you mean unpaywall?"),
    (["--source", "csv", "--option", "colour=red", "requests"], 2, "csv has no option colour"),
    (["--source", "urls", "--type", "gif", "urls"], 2, "gif"),
    (["."], 3, "Is a directory"),
], ids=["type-of-requests", "source", "option", "type", "directory"])
def test_what_cannot_be_is_said(a_run, tmp_path, words, status, words_said):
    (tmp_path / "requests").write_text(json.dumps({"ingest_type": "component", "base_url": url(0)}) + "\n", encoding="utf-8")
    (tmp_path / "urls").write_text(url(0) + "\n", encoding="utf-8")
    found, said = a_run.finish(*words[:-1], tmp_path / words[-1])
    assert (found, words_said in said) == (status, True), said
    assert a_run.results() == []


def test_a_bomb_is_streamed(a_run, tmp_path):
    """Of 256 MiB of blank lines nothing is kept."""
    file = tmp_path / "bomb.xz"
    packer = lzma.LZMACompressor(preset=0)
    with open(file, "wb") as to:
        for _ in range(64):
            to.write(packer.compress(b"\n" * (4 << 20)))
        to.write(packer.compress(f"{url(0)}\n".encode()))
        to.write(packer.flush())
    process = a_run.start("--source", "urls", "--type", "component", file)
    highest = 0
    reader = threading.Thread(target=process.stderr.read)
    reader.start()
    while process.poll() is None:
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            highest = max([highest, *(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))])
        except OSError:
            pass
        time.sleep(0.05)
    reader.join()
    assert process.returncode == 0
    assert a_run.asked() == once(1)
    assert 0 < highest < 400_000  # KiB, most of it the program's own
