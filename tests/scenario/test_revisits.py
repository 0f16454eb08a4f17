# SPDX-License-Identifier: GPL-3.0-or-later
"""An answer with the same body as an earlier one is a revisit record, and everything that points to it leads to bytes."""

import gzip
import io
import pathlib
import time

import pytest
from server import Reply
from servers import readers
from warcio.archiveiterator import ArchiveIterator

PAGE = b"They rise and they fall, twice a day.\n" * 100
PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


def next_second():
    """The table has one row for a URL and a second: nothing refers to a record of the same second."""
    time.sleep(1.01)


def read_record(folder, name, offset, csize):
    path = pathlib.Path(folder, name)
    path = path if path.exists() else pathlib.Path(folder, name + ".open")
    with open(path, "rb") as file:
        file.seek(offset)
        data = file.read(csize)
    record = next(iter(ArchiveIterator(io.BytesIO(data), check_digests="raise")))
    return record, record.content_stream().read()


def read_cdx(folder, cdx):
    return read_record(folder, cdx["warc_path"], cdx["warc_offset"], cdx["warc_csize"])


def payload_of_row(folder, sql, row):
    """As whoever reads the table does: a revisit's bytes are those of the record that it refers to."""
    record, payload = read_cdx(folder, row)
    if row["mimetype"] != "warc/revisit":
        assert record.rec_type == "response"
        return payload
    assert record.rec_type == "revisit"
    headers = record.rec_headers
    assert headers.get_header("WARC-Profile") == PROFILE
    assert not payload
    refers_to = headers.get_header("WARC-Refers-To").removeprefix("<urn:uuid:").removesuffix(">")
    [original] = sql("SELECT * FROM cdx WHERE warc_record_id = %s", refers_to)
    assert original["url"] == headers.get_header("WARC-Refers-To-Target-URI")
    assert original["mimetype"] != "warc/revisit"
    found, payload = read_cdx(folder, original)
    assert found.rec_headers.get_header("WARC-Record-ID") == f"<urn:uuid:{refers_to}>"
    assert found.rec_headers.get_header("WARC-Date") == headers.get_header("WARC-Refers-To-Date")
    assert found.rec_headers.get_header("WARC-Payload-Digest") == headers.get_header("WARC-Payload-Digest")
    return payload


@pytest.fixture
def page(web):
    """The body that the page has now; a list of one."""
    body = [PAGE]

    def answer(_):
        reply = Reply(200, body[0], {"X-Served": "again"})
        reply.delay_s = 1.1  # captures have seconds, and the first one is on disk before the second has come
        return reply
    web.route("revisit.test.example", "/", answer)
    return body


REQUEST = {"ingest_type": "component", "base_url": "http://revisit.test.example/"}


def test_the_second_answer_refers_to_the_first(worker, submit, results, page, sql, settings):
    folder = settings["warc.dir"]
    submit(REQUEST)
    with worker():
        first = results(1)[0]
        assert "revisit_cdx" not in first
        next_second()
        submit(REQUEST)
        second = results(2)[1]
        assert (second["status"], second["hit"]) == ("success", True)
        assert second["file_meta"] == first["file_meta"]
        assert second["cdx"]["mimetype"] == "warc/revisit"
        assert second["cdx"]["sha1hex"] == first["cdx"]["sha1hex"]
        assert second["revisit_cdx"] == first["cdx"]
        record, payload = read_cdx(folder, second["cdx"])
        assert record.http_headers.get_header("X-Served") == "again"
        assert not payload
        assert second["cdx"]["warc_csize"] < 1200

        page[0] = PAGE + b"changed"
        next_second()
        submit(REQUEST)
        third = results(3)[2]
        assert "revisit_cdx" not in third
        assert third["cdx"]["mimetype"] == "text/html"
    rows = sql("SELECT * FROM cdx ORDER BY datetime, warc_offset")
    assert [row["mimetype"] for row in rows if row["url"].endswith("example/")][-1] == "text/html"
    assert {payload_of_row(folder, sql, row) for row in rows if row["url"] == REQUEST["base_url"]} == {PAGE, page[0]}
    lines = readers.check(sorted(pathlib.Path(folder).glob("*.warc.gz")))
    assert sum('"mime": "warc/revisit"' in line for line in lines) == 1


def test_the_table_knows_what_another_process_has_archived(worker, submit, results, page, sql, settings):
    submit(REQUEST)
    with worker():
        first = results(1)[0]
    next_second()
    submit(REQUEST)
    with worker():
        second = results(2)[1]
    assert second["cdx"]["mimetype"] == "warc/revisit"
    assert second["revisit_cdx"] == first["cdx"]
    [row] = sql("SELECT * FROM cdx WHERE mimetype = 'warc/revisit'")
    record, _ = read_record(settings["warc.dir"], row["warc_path"], row["warc_offset"], row["warc_csize"])
    original, payload = read_cdx(settings["warc.dir"], first["cdx"])
    assert record.rec_headers.get_header("WARC-Refers-To") == original.rec_headers.get_header("WARC-Record-ID")
    assert record.rec_headers.get_header("WARC-Refers-To-Date") == original.rec_headers.get_header("WARC-Date")
    assert payload == PAGE


def test_a_compressed_body_is_compared_as_sent(worker, submit, results, web, sql, settings):
    body = gzip.compress(PAGE * 20, mtime=0)
    web.route("revisit.test.example", "/zipped", lambda _: Reply(200, body, {"Content-Encoding": "gzip"}))
    request = {"ingest_type": "component", "base_url": "http://revisit.test.example/zipped"}
    submit(request)
    with worker({"warc.revisit_min_bytes": 100}):
        first = results(1)[0]
        next_second()
        submit(request)
        second = results(2)[1]
    assert second["cdx"]["mimetype"] == "warc/revisit"
    assert second["file_meta"] == first["file_meta"]
    rows = sql("SELECT * FROM cdx WHERE url = %s", request["base_url"])
    assert len({(row["sha1hex"], row["cdx_sha1hex"]) for row in rows}) == 1
    for row in rows:
        assert gzip.decompress(payload_of_row_raw(settings["warc.dir"], sql, row)) == PAGE * 20


def payload_of_row_raw(folder, sql, row):
    if row["mimetype"] == "warc/revisit":
        record, _ = read_cdx(folder, row)
        wanted = record.rec_headers.get_header("WARC-Refers-To").removeprefix("<urn:uuid:").removesuffix(">")
        [row] = sql("SELECT * FROM cdx WHERE warc_record_id = %s", wanted)
    with open(next(pathlib.Path(folder).glob(row["warc_path"] + "*")), "rb") as file:
        file.seek(row["warc_offset"])
        record = next(iter(ArchiveIterator(io.BytesIO(file.read(row["warc_csize"])))))
        return record.raw_stream.read()


def test_small_bodies_and_a_switch(worker, submit, results, page, web):
    web.route("revisit.test.example", "/small", lambda _: Reply(200, b"small\n"))
    small = {"ingest_type": "component", "base_url": "http://revisit.test.example/small"}
    with worker():
        for number in (1, 2):
            submit(small)
            assert results(number)[-1]["cdx"]["mimetype"] == "text/html"
    with worker({"warc.revisits": False}):
        for number in (3, 4):
            submit(REQUEST)
            found = [one for one in results(number) if one["request"] == REQUEST]
            assert found[-1]["cdx"]["mimetype"] == "text/html"


@pytest.mark.private_servers("postgres")
def test_without_the_table_memory_is_enough(worker, submit, results, page, postgres, sql):
    """While the database is away answers are archived at once; their rows come when it is back."""
    submit(REQUEST)
    with worker():
        first = results(1)[0]
        next_second()
        postgres.stop(mode="immediate")
        submit(REQUEST)
        postgres.start()
        second = results(2)[1]
        assert second["revisit_cdx"] == first["cdx"]
    assert len(sql("SELECT 1 FROM cdx WHERE url = %s", REQUEST["base_url"])) == 2


def test_a_run_without_a_database_has_revisits_in_its_index(run_ctl, page, tmp_path):
    lines = "".join(f'{{"ingest_type":"component","base_url":"http://revisit.test.example/#{n}"}}\n' for n in range(2))
    done = run_ctl("run", "--out", tmp_path / "out", "-", input=lines, overrides={"postgres.dsn": "", "gate.host_delay_ms": 1010})
    assert done.returncode == 0, done.stderr
    index = [line.split(" ") for line in (tmp_path / "out" / "index.cdx").read_text().splitlines()[1:]]
    assert sorted(line[3] for line in index) == ["text/html", "warc/revisit"]
    assert {line[4] for line in index} == {"200"}
    readers.check(sorted((tmp_path / "out" / "warc").glob("*.warc.gz")))
