# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl reexamine: rows and messages of archived documents come back as the worker wrote them, and what cannot be read back
is said."""

import gzip
import json
import pathlib
import signal
import subprocess
import time

import pytest
from makepdf import make_pdf
from server import Reply
from servers.grobid import Answer, Grobid, tei
from servers.worker import write_config

HOST = "again.test.example"


def pdf(number, pages=1, **more):
    return make_pdf(f"Tides {number}", f"They rise and they fall, {number} times a day.", author="Ylva Brandt", pages=pages, **more)


@pytest.fixture
def documents(web, submit, results, worker):
    """documents(3): so many PDFs, ingested by a worker; their results by base_url."""
    def ingest(count, overrides=None, serve=None):
        for number in range(count):
            body = pdf(number)
            reply = serve(number, body) if serve else Reply(200, body, type="application/pdf")
            web.route(HOST, f"/{number}.pdf", reply if callable(reply) else lambda _, reply=reply: reply)
        submit([{"ingest_type": "pdf", "base_url": f"http://{HOST}/{number}.pdf", "link_source": "doi", "link_source_id": f"10.5555/{number}"}
                for number in range(count)])
        with worker(overrides):
            found = {one["request"]["base_url"]: one for one in results(count)}
        assert len(found) == count
        assert {one["status"] for one in found.values()} == {"success"}
        return found
    return ingest


@pytest.fixture
def reexamine(program, settings, tmp_path):
    """reexamine("--what", "text"): exit status, lines of stdout as objects (the last one is the summary), and stderr."""
    config = tmp_path / "reexamine.yaml"

    class Command:
        def start(self, *words, overrides=None):
            write_config(config, {**settings, **(overrides or {})})
            return subprocess.Popen([program("ingestctl"), "--config", str(config), "reexamine", *map(str, words)],
                                    cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def __call__(self, *words, overrides=None, timeout=120):
            process = self.start(*words, overrides=overrides)
            out, err = process.communicate(timeout=timeout)
            return process.returncode, [json.loads(line) for line in out.splitlines()], err
    return Command()


def rows(sql, table):
    """But for when they were written."""
    found = sql(f"SELECT * FROM {table} ORDER BY 1, 2")
    return [{name: value for name, value in row.items() if name not in ("updated", "row_created")} for row in found]


def messages(consume, topic, count, settle=1.0):
    found = consume(topic, count, settle=settle)
    assert len(found) == count
    return found


def test_rows_and_messages_come_back_as_they_were(documents, reexamine, sql, consume, topics):
    documents(6)
    tables = ("ingest_request", "ingest_file_result", "file_meta", "cdx", "pdf_meta")
    before = {table: rows(sql, table) for table in tables}
    assert len(before["pdf_meta"]) == 6
    first = {message.key(): json.loads(message.value()) for message in messages(consume, topics["pdf_text"], 6)}
    sql("DELETE FROM pdf_meta WHERE sha1hex IN (SELECT sha1hex FROM pdf_meta ORDER BY 1 LIMIT 2)")
    sql("UPDATE pdf_meta SET page_count = 77, metadata = NULL, status = 'parse-error'")
    sql("DELETE FROM file_meta WHERE sha1hex IN (SELECT sha1hex FROM file_meta ORDER BY 1 LIMIT 3)")

    code, lines, err = reexamine("--what", "text")
    assert (code, len(lines)) == (0, 1), (lines, err)
    assert lines[0]["examined"] == 6 and lines[0]["skipped"] == 0 and lines[0]["finished"] is True
    assert {table: rows(sql, table) for table in tables} == before
    found = messages(consume, topics["pdf_text"], 12)
    assert sorted(message.key() for message in found) == sorted(2 * list(first))
    assert all(json.loads(message.value()) == first[message.key()] for message in found)
    assert len(consume(topics["results"], 6, settle=0.5)) == 6


def test_articles_in_xml_are_written_anew_again(web, submit, results, worker, reexamine, derived, consume):
    """--what xml: the same message again, for JATS that is well-formed."""
    topic = derived("xml_doc")["xml_doc"]
    bodies = {"jats": b"<?xml version='1.0' encoding='iso-8859-1'?><article dtd-version='1'>Gr\xf6\xdfe</article>",
              "tei": b"<?xml version='1.0'?><TEI xmlns='http://www.tei-c.org/ns/1.0'/>", "bad": b"<article dtd-version='1'>"}
    for name, body in bodies.items():
        web.route(HOST, f"/{name}.xml", lambda _, body=body: Reply(200, body, type="application/xml"))
    submit([{"ingest_type": "xml", "base_url": f"http://{HOST}/{name}.xml"} for name in bodies])
    with worker():
        assert {one["status"] for one in results(3)} == {"success"}
    first = messages(consume, topic, 1)[0]
    assert "Gr\u00f6\u00dfe" in json.loads(first.value())["jats_xml"]
    code, lines, err = reexamine("--what", "xml")
    assert code == 0 and lines[-1]["examined"] == 3, (lines, err)
    assert {(one.key(), one.value()) for one in messages(consume, topic, 2)} == {(first.key(), first.value())}


def test_only_what_is_asked_for(documents, reexamine, sql, consume, topics):
    found = documents(8)
    digests = sorted(one["file_meta"]["sha1hex"] for one in found.values())
    messages(consume, topics["pdf_text"], 8)

    def examined(*words):
        code, lines, err = reexamine("--what", "text", *words)
        assert code == 0, (lines, err)
        return lines[-1]["examined"]

    assert examined("--dry-run") == 8
    assert examined("--where", f"url = 'http://{HOST}/3.pdf' -- a comment") == 1
    assert examined("--where", f"host = '{HOST}'", "--where", f"sha1hex <= '{digests[2]}'") == 3
    assert examined("--where", "host LIKE '%.elsewhere.example'") == 0
    assert examined("--missing") == 0
    sql("DELETE FROM pdf_meta WHERE sha1hex = ANY(%s)", digests[:2])
    sql("UPDATE pdf_meta SET status = 'crash' WHERE sha1hex = %s", digests[5])
    assert examined("--missing", "--dry-run") == 3
    assert len(sql("SELECT * FROM pdf_meta")) == 6
    assert examined("--missing") == 3
    assert examined("--missing") == 0
    assert examined("--limit", "5") == 5
    assert examined("--after", digests[4]) == 3
    assert sum(examined("--slice", f"{part}/3", "--dry-run") for part in (1, 2, 3)) == 8
    assert examined("--what", "html") == 0
    written = 1 + 3 + 3 + 5 + 3
    messages(consume, topics["pdf_text"], 8 + written)


@pytest.mark.parametrize("words, code, said", [
    ((), 2, "--what must be one of"),
    (("--what", "songs"), 2, "--what must be one of"),
    (("--what", "text", "--where", "no_such_column = 1"), 2, "no_such_column"),
    (("--what", "text", "--where", "host = "), 2, "syntax error"),
    (("--what", "text", "--where", "true) ; DROP TABLE cdx; --"), 2, "syntax error"),
    (("--what", "xml", "--missing"), 2, "--missing"),
    (("--what", "text", "--slice", "4/3"), 2, "--slice"),
    (("--what", "text", "--after", "xyz"), 2, "--after"),
    (("--what", "text", "--slice", "2/2", "--after", "01"), 2, "not in this slice"),
    (("--what", "text", "--warc-dir", "/no/such/folder"), 3, "/no/such/folder"),
    (("--what", "text", "--set", "postgres.dsn="), 2, "postgres.dsn"),
    (("--what", "text", "--set", "postgres.dsn=host=127.0.0.1 port=1"), 3, "database"),
    (("--what", "text", "more"), 2, "unexpected argument: more"),
])
def test_bad_command_lines(reexamine, sql, words, code, said):
    returned, lines, err = reexamine(*words)
    assert (returned, lines) == (code, []), err
    assert said in err
    assert sql("SELECT count(*) AS n FROM cdx") == [{"n": 0}]


def test_a_condition_cannot_write(documents, reexamine, sql):
    documents(1)
    code, lines, err = reexamine("--what", "text", "--where",
                                 "(SELECT setval(pg_get_serial_sequence('nothing', 'n'), 1)) IS NULL")
    assert code == 2 and "nothing" in err
    sql("CREATE SEQUENCE written")
    code, lines, err = reexamine("--what", "text", "--where", "nextval('written') > 0")
    assert code == 2 and "read-only" in err, (code, lines, err)
    assert sql("SELECT last_value, is_called FROM written") == [{"last_value": 1, "is_called": False}]


def test_coded_bodies_are_decoded_and_compared(documents, reexamine, sql):
    def serve(number, body):
        if number == 0:
            return Reply(200, gzip.compress(body), {"Content-Encoding": "gzip"}, type="application/pdf")
        return Reply(200, body, type="application/pdf")
    documents(2, serve=serve)
    before = rows(sql, "pdf_meta"), rows(sql, "file_meta")
    assert [row["cdx_sha1hex"] is None for row in sql("SELECT * FROM cdx ORDER BY url")] == [False, True]
    sql("DELETE FROM pdf_meta")
    sql("DELETE FROM file_meta")
    code, lines, err = reexamine("--what", "text")
    assert code == 0, (lines, err)
    assert (rows(sql, "pdf_meta"), rows(sql, "file_meta")) == before


def test_a_revisit_leads_to_its_original(web, worker, submit, results, reexamine, sql, consume, topics):
    body = pdf(1, pad_bytes=5000)

    def answer(_):
        reply = Reply(200, body, type="application/pdf")
        reply.delay_s = 1.1  # captures have seconds, and the first one is on disk before the second has come
        return reply
    web.route(HOST, "/twice.pdf", answer)
    request = {"ingest_type": "pdf", "base_url": f"http://{HOST}/twice.pdf", "link_source": "doi", "link_source_id": "10.5555/1"}
    with worker():
        submit(request)
        results(1)
        submit(request)
        again = results(2)[1]
    assert again["cdx"]["mimetype"] == "warc/revisit" and "revisit_cdx" in again
    before = rows(sql, "pdf_meta")
    text = json.loads(messages(consume, topics["pdf_text"], 2)[-1].value())
    sql("DELETE FROM pdf_meta")
    code, lines, err = reexamine("--what", "text")
    assert code == 0 and lines[-1]["examined"] == 1, (lines, err)
    assert rows(sql, "pdf_meta") == before
    assert json.loads(messages(consume, topics["pdf_text"], 3)[-1].value()) == text

    # The original under another digest, as it is when nobody had looked into it.
    sql("UPDATE cdx SET sha1hex = lpad('1', 40, '0'), cdx_sha1hex = sha1hex WHERE mimetype <> 'warc/revisit'")
    sql("DELETE FROM pdf_meta")
    code, lines, err = reexamine("--what", "text")
    assert code == 0 and rows(sql, "pdf_meta") == before, (lines, err)
    sql("DELETE FROM cdx WHERE mimetype <> 'warc/revisit'")
    code, lines, err = reexamine("--what", "text")
    assert (code, lines[0]["problem"], lines[-1]["skipped"]) == (1, "no-capture", 1)


@pytest.mark.unaccounted("it damages the records")
def test_what_cannot_be_read_back_is_told_and_skipped(documents, reexamine, sql, settings, consume, topics):
    folder = pathlib.Path(settings["warc.dir"])
    documents(5, {"warc.max_bytes": 1})  # a file for each
    captures = {row["url"].rsplit("/", 1)[1]: row for row in sql("SELECT * FROM cdx")}
    missing, truncated, altered, moved = (captures[f"{number}.pdf"] for number in range(4))
    (folder / missing["warc_path"]).unlink()
    path = folder / truncated["warc_path"]
    path.write_bytes(path.read_bytes()[:truncated["warc_offset"] + truncated["warc_csize"] - 20])
    path = folder / altered["warc_path"]
    data = bytearray(path.read_bytes())
    data[altered["warc_offset"] + altered["warc_csize"] // 2] ^= 0x55
    path.write_bytes(data)
    sql("UPDATE cdx SET warc_offset = warc_offset + 1 WHERE url = %s", moved["url"])
    before = rows(sql, "pdf_meta")
    messages(consume, topics["pdf_text"], 5)
    sql("DELETE FROM pdf_meta")

    code, lines, err = reexamine("--what", "text")
    assert code == 1, err
    told = {line["url"].rsplit("/", 1)[1]: line for line in lines[:-1]}
    assert {name: line["problem"] for name, line in told.items()} == {
        "0.pdf": "warc-missing", "1.pdf": "warc-damaged", "2.pdf": "warc-damaged", "3.pdf": "warc-damaged"}
    assert all(line["skipped"] and line["warc_path"] == captures[name]["warc_path"] for name, line in told.items())
    assert (lines[-1]["examined"], lines[-1]["skipped"], lines[-1]["finished"]) == (1, 4, True)
    left = rows(sql, "pdf_meta")
    assert left == [row for row in before if row["sha1hex"] == captures["4.pdf"]["sha1hex"]]
    messages(consume, topics["pdf_text"], 6)


def test_other_bytes_than_the_row_says_are_not_written(documents, reexamine, sql):
    documents(2)
    one, other = sql("SELECT * FROM cdx ORDER BY url")
    # A good record, of another document.
    sql("UPDATE cdx SET warc_offset = %s, warc_csize = %s, cdx_sha1hex = %s WHERE url = %s", other["warc_offset"],
        other["warc_csize"], other["sha1hex"], one["url"])
    sql("DELETE FROM pdf_meta")
    code, lines, err = reexamine("--what", "text")
    assert code == 1, err
    assert (lines[0]["problem"], lines[0]["sha1hex"], lines[0]["detail"]) == ("digest-differs", one["sha1hex"], other["sha1hex"])
    assert [row["sha1hex"] for row in sql("SELECT * FROM pdf_meta")] == [other["sha1hex"]]


@pytest.mark.unaccounted("it moves the records")
def test_another_capture_serves_when_one_is_gone(documents, reexamine, sql, settings):
    documents(1)
    row = sql("SELECT * FROM cdx")[0]
    sql("INSERT INTO cdx SELECT url, '20990101000000', sha1hex, cdx_sha1hex, mimetype, 'GONE.warc.gz', warc_csize, warc_offset"
        " FROM cdx")
    sql("UPDATE ingest_file_result SET terminal_dt = '20990101000000'")
    sql("DELETE FROM pdf_meta")
    code, lines, err = reexamine("--what", "text")
    assert code == 0, err
    assert (lines[0]["problem"], lines[0]["skipped"], lines[0]["warc_path"]) == ("warc-missing", False, "GONE.warc.gz")
    assert (lines[-1]["examined"], lines[-1]["skipped"]) == (1, 0)
    assert [found["sha1hex"] for found in sql("SELECT * FROM pdf_meta")] == [row["sha1hex"]]
    # A file in another folder.
    pathlib.Path(settings["warc.dir"] + "-moved").mkdir()
    pathlib.Path(settings["warc.dir"], row["warc_path"]).rename(pathlib.Path(settings["warc.dir"] + "-moved", row["warc_path"]))
    assert reexamine("--what", "text")[0] == 1
    assert reexamine("--what", "text", "--warc-dir", settings["warc.dir"] + "-moved")[0] == 0


def test_beside_a_worker_that_still_writes(documents, worker, reexamine, web, submit, results, sql):
    """The file is named .open while it is written; the worker keeps its partitions, files and locks."""
    web.route(HOST, "/open.pdf", lambda _: Reply(200, pdf(1), type="application/pdf"))
    with worker():
        submit({"ingest_type": "pdf", "base_url": f"http://{HOST}/open.pdf", "link_source": "doi", "link_source_id": "10.5555/1"})
        results(1)
        sql("DELETE FROM pdf_meta")
        code, lines, err = reexamine("--what", "text")
        assert code == 0 and len(sql("SELECT * FROM pdf_meta")) == 1, (lines, err)
        submit({"ingest_type": "pdf", "base_url": f"http://{HOST}/open.pdf", "link_source": "doi", "link_source_id": "10.5555/2"})
        assert results(2)[1]["status"] == "success"


@pytest.mark.slow
def test_killed_in_the_middle_and_gone_on(documents, reexamine, sql, consume, topics, tmp_path):
    count = 150
    found = documents(count)
    messages(consume, topics["pdf_text"], count)
    before = rows(sql, "pdf_meta")
    sql("DELETE FROM pdf_meta")
    checkpoint = tmp_path / "checkpoint.json"
    words = ("--what", "text", "--checkpoint", checkpoint)
    slow = {"examine.processes": 1}

    def wait_for_rows(least):
        deadline = time.monotonic() + 60
        while sql("SELECT count(*) AS n FROM pdf_meta")[0]["n"] < least:
            assert time.monotonic() < deadline
            time.sleep(0.005)

    process = reexamine.start(*words, overrides=slow)
    wait_for_rows(20)
    process.kill()
    process.communicate()
    killed_at = sql("SELECT count(*) AS n FROM pdf_meta")[0]["n"]
    process = reexamine.start(*words, overrides=slow)
    wait_for_rows(min(killed_at + 20, count))
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    summary = json.loads(out.splitlines()[-1])
    if process.returncode != 0:
        assert process.returncode == 4 and "the same command goes on" in err
        assert json.loads(checkpoint.read_text())["after"] == summary["done_upto"]
        done = sql("SELECT count(*) AS n FROM pdf_meta WHERE sha1hex <= %s", summary["done_upto"])[0]["n"]
        assert done == len([one for one in found.values() if one["file_meta"]["sha1hex"] <= summary["done_upto"]])
    code, lines, err = reexamine(*words)
    assert code == 0, (lines, err)
    assert rows(sql, "pdf_meta") == before
    assert json.loads(checkpoint.read_text())["finished"] is True
    code, lines, err = reexamine(*words)
    assert (code, lines) == (0, []) and "finished" in err
    code, lines, err = reexamine("--what", "text", "--slice", "1/2", "--checkpoint", checkpoint)
    assert code == 2 and "another" in err


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_documents(documents, reexamine, sql, settings):
    """The highest memory of two runs, one over ten times the documents of the other."""
    documents(3)
    one = sql("SELECT * FROM cdx ORDER BY url")[0]

    def peak(count):
        # Documents with digests of their own that nothing can be read of; they end in front of the examiners.
        sql("INSERT INTO ingest_file_result (ingest_type, base_url, hit, status, terminal_url, terminal_dt, terminal_sha1hex)"
            " SELECT 'pdf', 'http://x.example/' || n, true, 'success', %s, %s, lpad(to_hex(n), 40, 'a')"
            " FROM generate_series(1, %s) n ON CONFLICT DO NOTHING", one["url"], one["datetime"], count)
        process = reexamine.start("--what", "text", "--dry-run")
        highest = 0
        while process.poll() is None:
            try:
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                highest = max([highest] + [int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")])
            except OSError:
                break
            if process.stdout.readline() == "":
                break
        out, _ = process.communicate(timeout=60)
        return highest

    small, large = peak(3000), peak(30000)
    assert large < small + 30_000, (small, large)


def test_objects_come_back(documents, reexamine, derived, settings, consume, tmp_path, sql):
    topic = derived("thumbnail")["thumbnail"]
    settings["store.dir"] = str(tmp_path / "objects")
    digests = sorted(one["file_meta"]["sha1hex"] for one in documents(3).values())

    def objects():
        return {str(path.relative_to(settings["store.dir"])): path.read_bytes()
                for path in pathlib.Path(settings["store.dir"]).rglob("*") if path.is_file()}

    def paths(folder, extension):
        return {f"{folder}/{sha1[:2]}/{sha1[2:4]}/{sha1}{extension}" for sha1 in digests}
    before = objects()
    texts, pictures = paths("text", ".txt"), paths("pdf", ".180px.jpg")
    assert before.keys() == texts | pictures
    first = {message.key(): message.value() for message in messages(consume, topic, 3)}
    for path in before:
        pathlib.Path(settings["store.dir"], path).unlink()
    sql("UPDATE pdf_meta SET has_page0_thumbnail = false")

    code, lines, err = reexamine("--what", "thumbnail", "--missing")
    assert (code, lines[-1]["examined"]) == (0, 3), (lines, err)
    assert objects() == {path: before[path] for path in pictures}
    found = messages(consume, topic, 6)
    assert all(message.value() == first[message.key()] for message in found)
    assert sql("SELECT count(*) AS n FROM pdf_meta WHERE has_page0_thumbnail") == [{"n": 3}]
    code, lines, err = reexamine("--what", "text")
    assert code == 0 and objects() == before, (lines, err)


def test_grobid_catches_up(documents, reexamine, derived, sql, consume, settings):
    """The worker has met a GROBID that was away; afterwards its facts are there as if it had not been."""
    topic = derived("grobid")["grobid"]
    with Grobid() as server:
        url = server.url
    found = documents(4, {"grobid.url": url})  # nobody listens there any more
    assert {one["grobid"]["status"] for one in found.values()} == {"error-connect"}
    digests = {one["file_meta"]["sha1hex"] for one in found.values()}
    facts = rows(sql, "pdf_meta")
    sql("DELETE FROM grobid WHERE sha1hex = %s", min(digests))
    code, lines, err = reexamine("--what", "grobid")
    assert code == 2 and "grobid.url" in err

    with Grobid() as server:
        server.say(tei("On Tides"))
        settings["grobid.url"] = server.url
        code, lines, err = reexamine("--what", "grobid", "--limit", "3")
        assert (code, lines[-1]["examined"]) == (0, 3), (lines, err)
        assert len(sql("SELECT * FROM grobid WHERE status_code = 200")) == 3
        code, lines, err = reexamine("--what", "grobid")
        assert (code, lines[-1]["examined"]) == (0, 1), (lines, err)
        code, lines, err = reexamine("--what", "grobid")
        assert (code, lines[-1]["examined"]) == (0, 0), (lines, err)
        assert {call.sha1hex for call in server.calls} == digests and len(server.calls) == 4
        code, lines, err = reexamine("--what", "grobid", "--all", "--dry-run")
        assert (code, lines[-1]["examined"]) == (0, 4), (lines, err)
    found = rows(sql, "grobid")
    assert {row["sha1hex"] for row in found} == digests
    assert {(row["status"], row["status_code"], row["grobid_version"]) for row in found} == {("success", 200, "0.7.2")}
    assert {row["metadata"]["biblio"]["title"] for row in found} == {"On Tides"}
    assert rows(sql, "pdf_meta") == facts
    good = [message for message in map(lambda one: json.loads(one.value()), consume(topic, 8, settle=1.0)) if message["status"] == "success"]
    assert {message["key"] for message in good} == digests and len(good) == 4
    assert all(message["tei_xml"] == tei("On Tides").decode() for message in good)


def test_a_grobid_that_is_away_is_waited_for(documents, reexamine, sql, settings):
    documents(2)
    with Grobid() as server:
        url = server.url
    settings["grobid.url"] = url
    process = reexamine.start("--what", "grobid")
    lines = [process.stderr.readline()]
    while "waiting for GROBID" not in lines[-1]:
        assert lines[-1], lines
        lines.append(process.stderr.readline())
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    summary = json.loads(out.splitlines()[-1])
    assert (summary["examined"], summary["skipped"], summary["done_upto"]) == (0, 0, "")
    assert sql("SELECT * FROM grobid") == []


def test_a_document_that_grobid_dies_of_is_not_waited_for(documents, reexamine, sql, settings):
    digests = sorted(one["file_meta"]["sha1hex"] for one in documents(3).values())
    with Grobid() as server:
        server.say(lambda call: Answer(cut=True) if call.sha1hex == digests[0] else tei("On Tides"))
        settings["grobid.url"] = server.url
        code, lines, err = reexamine("--what", "grobid")
        assert (code, lines[-1]["examined"], lines[-1]["finished"]) == (0, 3, True), (lines, err)
        assert [call.sha1hex for call in server.calls].count(digests[0]) >= 6  # and again on new connections
    assert {row["sha1hex"]: (row["status"], row["status_code"]) for row in sql("SELECT * FROM grobid")} == \
        {digests[0]: ("error-connect", -3), digests[1]: ("success", 200), digests[2]: ("success", 200)}


PAGE = b"<!doctype html><title>Tides</title><p>They rise.</p>"


def test_scrape_tells_what_other_rules_would_do(web, worker, submit, results, reexamine, sql, settings, tmp_path):
    """Three pages: one led nowhere and would now, one led on and would no more, one stays as it was."""
    web.route(HOST, "/download/1", lambda _: Reply(200, pdf(1), type="application/pdf"))
    web.route(HOST, "/article/1", lambda _: Reply(200, PAGE + b"<a class=get href='/download/1'>Full text</a>"))
    web.route("other.test.example", "/article/2", lambda _: Reply(200, PAGE + b"<a class=fetch href='/download/2'>Full text</a>"))
    web.route("other.test.example", "/download/2", lambda _: Reply(200, pdf(2), type="application/pdf"))
    web.route("third.test.example", "/article/3", lambda _: Reply(200, PAGE + b"<meta name=citation_pdf_url content='/3.pdf'>"))
    web.route("third.test.example", "/3.pdf", lambda _: Reply(200, pdf(3), type="application/pdf"))

    def rules(name, selector):
        folder = tmp_path / f"rules-{name}"
        folder.mkdir()
        (folder / "links.yaml").write_text(json.dumps({"pdf": [{"technique": name, "selector": selector, "source": "the test"}]}))
        return str(folder)
    starts = {1: f"http://{HOST}/article/1", 2: "http://other.test.example/article/2", 3: "http://third.test.example/article/3"}
    submit([{"ingest_type": "pdf", "base_url": url, "link_source": "doi", "link_source_id": f"10.5555/{number}"}
            for number, url in starts.items()])
    with worker({"rules.dir": rules("old-link", "a.fetch")}):
        found = {one["request"]["base_url"]: one["status"] for one in results(3)}
    assert found == {starts[1]: "no-pdf-link", starts[2]: "success", starts[3]: "success"}
    before = rows(sql, "ingest_file_result"), rows(sql, "pdf_meta")
    code, lines, err = reexamine("--what", "scrape", overrides={"rules.dir": rules("new-link", "a.get")})
    assert code == 0, (lines, err)
    told = {line["url"]: line for line in lines[:-1]}
    assert told.keys() == {starts[1], starts[2]}, lines
    assert told[starts[1]]["change"] == "gained" and told[starts[1]]["then"] == {"hit": False, "status": "no-pdf-link"}
    assert told[starts[1]]["now"] == {"link": f"http://{HOST}/download/1"}
    assert told[starts[2]]["change"] == "lost" and told[starts[2]]["now"] == {"status": "no-pdf-link"}
    differences = lines[-1]["differences"]
    assert {name: differences[name] for name in ("same", "gained", "lost", "changed")} == {"same": 1, "gained": 1, "lost": 1, "changed": 0}
    assert [(one["rule"], one["gained"], one["lost"]) for one in differences["by_rule"]][:2] == [("(none)", 0, 1), ("links.yaml pdf/new-link", 1, 0)]
    assert {one["host"] for one in differences["by_host"]} == {HOST, "other.test.example", "third.test.example"}
    code, lines, err = reexamine("--what", "scrape", "--where", "status = 'no-pdf-link'",
                                 overrides={"rules.dir": rules("again", "a.get")})
    assert (code, lines[-1]["examined"]) == (0, 1), (lines, err)
    assert (rows(sql, "ingest_file_result"), rows(sql, "pdf_meta")) == before


JATS = b"""<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.1 20151215//EN" "JATS-journalpublishing1.dtd">
<article article-type="research-article" dtd-version="1.1"><front><article-meta><title-group><article-title>On Tides</article-title>
</title-group></article-meta></front><body><p>They rise.</p></body></article>
"""
TEXT = b"".join(b"<p>The tide of paragraph %d rises and falls, twice a day, as every tide that was ever measured there did.</p>" % number
                for number in range(80))


@pytest.mark.parametrize("kind, output, body, mimetype", [
    ("xml", "xml_doc", JATS, "application/xml"),
    ("html", "html_teixml", b"<!doctype html><title>On Tides</title><article><h1>On Tides</h1>" + TEXT
     + b"<img src=/tide.png></article>", "text/html"),
], ids=["xml", "html"])
def test_other_types_come_back(kind, output, body, mimetype, web, worker, submit, results, reexamine, derived, settings, consume, sql,
                               tmp_path):
    topic = derived(output)[output]
    folder = tmp_path / "objects"
    settings["store.dir"] = str(folder)
    web.route(HOST, "/document", lambda _: Reply(200, body, type=mimetype))
    web.route(HOST, "/tide.png", lambda _: Reply(200, b"\x89PNG\r\n\x1a\n", type="image/png"))
    submit({"ingest_type": kind, "base_url": f"http://{HOST}/document", "link_source": "doi", "link_source_id": "10.5555/1"})
    with worker():
        assert results(1)[0]["status"] == "success"

    def objects():
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    tables = ("file_meta", "html_meta", "ingest_file_result", "cdx")
    before = {table: rows(sql, table) for table in tables}, objects()
    assert (len(before[0]["file_meta"]), len(before[1])) == (1, 1)
    assert [row["has_teixml"] for row in sql("SELECT has_teixml FROM html_meta")] == [True] * (kind == "html")
    first = [(message.key(), message.value()) for message in consume(topic, len(before[1]), settle=0.5)]
    assert len(first) == len(before[1])
    for path in before[1]:
        (folder / path).unlink()
    sql("DELETE FROM file_meta")
    sql("UPDATE html_meta SET word_count = 7, biblio = NULL, scope = NULL")
    code, lines, err = reexamine("--what", kind)
    assert (code, lines[-1]["examined"]) == (0, 1), (lines, err)
    assert ({table: rows(sql, table) for table in tables}, objects()) == before
    assert [(message.key(), message.value()) for message in consume(topic, 2 * len(first), settle=0.5)] == 2 * first
