# SPDX-License-Identifier: GPL-3.0-or-later
"""PDFs that GROBID reads: what it is asked, what becomes of its answers, and of its failures."""

import gzip
import json
import re
import threading
import time

import pytest
from makepdf import make_pdf
from servers import grobid as fake
from servers.grobid import Answer, Grobid, tei
from servers.polite import Answer as Page

HOST = "grobid.test.example"
URL = f"http://{HOST}/paper"
PDF = make_pdf("On Tides", "Water rises and falls.")


@pytest.fixture
def grobid():
    with Grobid() as server:
        yield server


@pytest.fixture
def paper(polite):
    """A PDF at URL, and at URL1, URL2 … others."""
    polite.page(HOST, "/paper", Page(body=PDF, type="application/pdf"))
    for number in range(1, 30):
        polite.page(HOST, f"/paper{number}", Page(body=make_pdf(f"Paper {number}", "Words."), type="application/pdf"))
    return polite


def request(url=URL, **more):
    return {"ingest_type": "pdf", "base_url": url, "link_source": "doi", "link_source_id": f"10.5555/{url[-2:]}", **more}


@pytest.fixture
def run(run_ctl, tmp_path, paper, grobid, schema):
    """run(overrides, urls): {base_url: result} and {sha1hex: message of grobid-output} of `ingestctl run`."""
    def go(overrides=None, urls=(URL,)):
        done = run_ctl("run", "--out", tmp_path / "out", "-", input="".join(json.dumps(request(url)) + "\n" for url in urls),
                       overrides={"grobid.url": grobid.url, "kafka.topics.grobid": "grobid-output", **(overrides or {})})
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text("utf-8").splitlines()]
        for line in lines:
            schema("ingest-result").validate(line)
        try:
            text = (tmp_path / "out" / "grobid-output.jsonl").read_text("utf-8")
        except FileNotFoundError:
            text = ""
        messages = [json.loads(line) for line in text.splitlines()]
        for message in messages:
            schema("grobid-output").validate(message)
        return {line["request"]["base_url"]: line for line in lines}, {one["key"]: one for one in messages}
    return go


def test_a_pdf_is_read_and_its_header_is_in_the_result(run, grobid):
    found, messages = run()
    result = found[URL]
    assert (result["status"], result["hit"]) == ("success", True)
    sha1hex = result["file_meta"]["sha1hex"]
    assert result["grobid"] == {
        "status": "success", "status_code": 200, "grobid_version": "0.7.2", "fatcat_release": None,
        "metadata": {"biblio": {"title": f"Document {sha1hex[:8]}", "date": "1998-03-12", "doi": "10.5555/1",
                                "authors": [{"name": "Ada Möwe", "given_name": "Ada", "surname": "Möwe"}],
                                "journal": {"name": "J. Tides", "publisher": "Sea Press", "volume": "7"}},
                     "grobid_timestamp": "2022-01-02T03:04+0000", "language_code": "en"}}
    message = messages[sha1hex]
    assert (message["status"], message["status_code"]) == ("success", 200)
    assert message["tei_xml"].encode() == tei(f"Document {sha1hex[:8]}")
    assert message["file_meta"] == result["file_meta"]
    assert "metadata" not in message
    (call,) = grobid.calls
    assert call.document == PDF
    assert call.form == {"consolidateHeader": ["0"], "consolidateCitations": ["0"], "includeRawCitations": ["1"],
                         "includeRawAffiliations": ["1"], "segmentSentences": ["1"],
                         "teiCoordinates": ["ref", "figure", "persName", "formula", "biblStruct"]}
    assert call.headers["accept"] == "application/xml"


@pytest.mark.parametrize("said", [{"Content-Encoding": "gzip"}, None], ids=["said", "unsaid"])
def test_a_document_with_a_coding_is_sent_without_it(run, paper, grobid, said):
    paper.page(HOST, "/coded", Page(body=gzip.compress(PDF), type="application/pdf", headers=said))
    found, messages = run(urls=[f"http://{HOST}/coded"])
    result = found[f"http://{HOST}/coded"]
    assert result["grobid"]["status"] == "success"
    (call,) = grobid.calls
    assert call.document == PDF and call.sha1hex == result["file_meta"]["sha1hex"]
    assert call.sha1hex in messages


def test_a_document_that_is_large_when_decoded_is_not_sent(run, paper, grobid):
    body = make_pdf("On Tides", "Water.") + b"\n%" + bytes(range(256)) * (100 << 10)
    paper.page(HOST, "/coded", Page(body=gzip.compress(body), type="application/pdf", headers={"Content-Encoding": "gzip"}))
    found, _ = run(urls=[f"http://{HOST}/coded"])
    result = found[f"http://{HOST}/coded"]
    assert result["status"] == "success" and result["file_meta"]["size_bytes"] == len(body)
    assert (result["grobid"]["status"], result["grobid"]["status_code"]) == ("error", -5)
    assert not grobid.calls


def test_only_documents_that_are_pdf_are_sent(run, paper, grobid):
    paper.page(HOST, "/nothing", Page(body=b"<!doctype html><title>no link</title>"))
    found, _ = run(urls=[f"http://{HOST}/nothing"])
    assert found[f"http://{HOST}/nothing"]["status"] == "no-pdf-link"
    assert "grobid" not in found[f"http://{HOST}/nothing"]
    assert not grobid.calls


@pytest.mark.parametrize("answer, status, code, words", [
    (fake.FAILURE, "error", 500, "[GENERAL] An exception occurred while running Grobid."),
    (fake.NOTHING, "error", 204, ""),
    (Answer(500, "é".encode() * 20_000, "text/plain"), "error", 500, "é" * 10_000),
    (Answer(500, b"\xff\x00", "text/plain"), "error", 500, "\ufffd\ufffd"),
    (b"<TEI><teiHeader>", "bad-grobid-xml", 200, None),
    (b"", "bad-grobid-xml", 200, None),
    (b"<html>Login</html>", "bad-grobid-xml", 200, "there is no teiHeader"),
    (b"<a>" * 100_000, "bad-grobid-xml", 200, None),
    (tei("Long", text="x" * 12_000_000), "error", 200, None),
    (Answer(cut=True), "error-connect", -3, None),
], ids=["500", "204", "long words", "no words", "broken", "empty", "a page", "deep", "long", "cut"])
def test_a_failure_is_in_the_result_with_its_code(run, grobid, answer, status, code, words):
    grobid.say(answer)
    found, messages = run()
    result = found[URL]
    assert (result["status"], result["hit"]) == ("success", True)
    assert (result["grobid"]["status"], result["grobid"]["status_code"]) == (status, code)
    if words is not None:
        assert result["grobid"]["error_msg"] == words
    assert result["pdf_meta"]["status"] == "success"
    message = messages[result["file_meta"]["sha1hex"]]
    assert (message["status"], message["status_code"]) == (status, code)
    assert message["error_msg"] == result["grobid"]["error_msg"]
    assert "tei_xml" not in message
    assert len(grobid.calls) == (2 if status == "error-connect" else 1)


def test_a_busy_server_is_asked_again(run, grobid):
    grobid.say(fake.BUSY, Answer(503, b"", headers={"Retry-After": "1"}), tei("At last"))
    found, _ = run()
    assert found[URL]["grobid"]["metadata"]["biblio"]["title"] == "At last"
    assert len(grobid.calls) == 3
    assert all(call.document == PDF for call in grobid.calls)


def test_a_server_that_stays_busy_is_an_error_in_the_end(run, grobid):
    grobid.say(fake.BUSY)
    found, _ = run({"grobid.timeout_ms": 4000})
    assert (found[URL]["grobid"]["status"], found[URL]["grobid"]["status_code"]) == ("error", 503)
    assert found[URL]["grobid"]["error_msg"] == "All engines of the pool are currently in use"
    assert len(grobid.calls) > 1


def test_a_slow_answer_is_a_timeout(run, grobid):
    grobid.say(fake.slowly(tei("Late"), 3))
    found, _ = run({"grobid.timeout_ms": 1000})
    assert (found[URL]["grobid"]["status"], found[URL]["grobid"]["status_code"]) == ("error-timeout", -4)
    assert len(grobid.calls) == 1


def test_an_answer_without_end_is_cut_off(run, grobid):
    grobid.say(lambda call: Answer(body=fake.endless()))
    found, _ = run()
    assert (found[URL]["grobid"]["status"], found[URL]["grobid"]["status_code"]) == ("error", 200)
    assert "too large" in found[URL]["grobid"]["error_msg"]
    assert grobid.calls[0].gone


@pytest.mark.parametrize("body, kind, title", [
    (tei("Möwe"), "text/xml", "Möwe"),
    (tei("Möwe"), None, "Möwe"),
    (tei("Möwe", encoding="ISO-8859-1"), "application/xml", "Möwe"),
    (tei("Möwe", encoding="UTF-16"), "application/xml", "Möwe"),
    (tei("Möwe").replace(b"UTF-8", b"latin1"), "application/xml;charset=UTF-8", "Möwe"),
], ids=["text/xml", "no type", "latin1", "utf16", "declared wrongly"])
def test_the_encoding_is_that_of_xml(run, grobid, body, kind, title):
    """What is kept is UTF-8, and says nothing else."""
    grobid.say(Answer(body=body, type=kind))
    found, messages = run()
    assert found[URL]["grobid"]["metadata"]["biblio"]["title"] == title
    (message,) = messages.values()
    assert f"<title level=\"a\" type=\"main\">{title}</title>" in message["tei_xml"]
    assert "latin1" not in message["tei_xml"] and "encoding=\"ISO" not in message["tei_xml"]


def test_no_more_are_asked_for_side_by_side_than_is_said(run, grobid):
    grobid.threads = 3
    grobid.say(fake.slowly(None, 0.1))
    urls = [f"{URL}{number}" for number in range(1, 25)]
    found, messages = run({"grobid.concurrency": 3, "gate.host_concurrency": 20}, urls)
    assert {found[url]["grobid"]["status"] for url in urls} == {"success"}
    assert len(messages) == len(grobid.calls) == 24
    assert grobid.most == 3


def test_a_server_that_is_away_costs_some_seconds_once(run_ctl, run, grobid):
    """All are delivered; whoever comes later does not wait at all."""
    grobid.__exit__()
    urls = [f"{URL}{number}" for number in range(1, 13)]
    found, messages = run({"grobid.concurrency": 1}, urls)
    for url in urls:
        assert found[url]["status"] == "success" and found[url]["hit"]
        assert (found[url]["grobid"]["status"], found[url]["grobid"]["status_code"]) == ("error-connect", -2)
        assert found[url]["grobid"]["error_msg"]
    assert len(messages) == 12
    grobid.__enter__()


# --- the daemon, its tables and topics ---


def test_the_tables_have_it_and_are_asked_first(worker, submit, results, paper, grobid, derived, consume, sql, schema):
    topic = derived("grobid")["grobid"]
    config = {"grobid.url": grobid.url}
    submit(request())
    with worker(config):
        first = results(1)[0]
        assert first["grobid"]["status"] == "success"
        sha1hex = first["file_meta"]["sha1hex"]
        (row,) = sql("SELECT * FROM grobid")
        assert (row["sha1hex"], row["grobid_version"], row["status_code"], row["status"]) == \
            (sha1hex, "0.7.2", 200, "success")
        assert row["metadata"] == first["grobid"]["metadata"]
        (message,) = consume(topic, 1)
        assert message.key().decode() == sha1hex
        schema("grobid-output").validate(json.loads(message.value()))

        # The same bytes again: GROBID is not asked, and says the same.
        submit(request(force_recrawl=True))
        assert results(2)[1]["grobid"] == first["grobid"]
        assert len(grobid.calls) == 1
        assert len(consume(topic, 1, settle=0.5)) == 1

        # A row of another version, and one that is none, are as no row.
        for change in ("grobid_version = '0.5.5'", "metadata = '[]'", "status_code = 500"):
            sql(f"UPDATE grobid SET {change}")
            calls = len(grobid.calls)
            submit(request(force_recrawl=True))
            results(calls + 2)
            assert len(grobid.calls) == calls + 1, change

    sql("UPDATE grobid SET updated = now() - interval '2 hours'")
    with worker({**config, "grobid.reuse_max_age_ms": 3_600_000}):
        submit(request(force_recrawl=True))
        results(6)
    assert len(grobid.calls) == 5


def test_the_answer_is_an_object_and_everything_is_counted(worker, submit, results, paper, grobid, tmp_path):
    store = tmp_path / "store"
    submit([request(), request(f"{URL}1")])
    grobid.say(lambda call: tei("Good") if call.document == PDF else fake.FAILURE)
    with worker({"grobid.url": grobid.url, "store.dir": str(store)}) as daemon:
        found = {one["request"]["base_url"]: one["file_meta"]["sha1hex"] for one in results(2)}
        assert daemon.stop() == 0
    good, bad = found[URL], found[f"{URL}1"]
    kept = store / "grobid" / good[:2] / good[2:4] / f"{good}.tei.xml"
    assert kept.read_bytes() == tei("Good")
    assert not list(store.glob(f"grobid/*/*/{bad}*"))
    counts = json.loads(re.findall(r"stopped: (\{.*\})", daemon.log())[-1])["grobid"]
    assert (counts["answered"], counts["error"], counts["read"], counts["waiting"], counts["working"], counts["away"]) == \
        (1, 1, 1, 0, 0, 0)


def test_a_long_answer_does_not_hold_up_the_loop(run, grobid):
    """As long as they may be, of two bytes a character. How long the loop's turns take is looked at when the run is over."""
    text = "é" * 11_900_000
    grobid.say(tei("Long", text=text))
    found, messages = run({"kafka.max_message_bytes": 60_000_000})
    assert found[URL]["grobid"]["status"] == "success"
    (message,) = messages.values()
    assert text in message["tei_xml"]


def test_a_failure_has_a_row_and_never_replaces_a_success(worker, submit, results, paper, grobid, sql):
    config = {"grobid.url": grobid.url, "grobid.reuse_versions": []}
    grobid.say(fake.FAILURE, tei("Good"), fake.FAILURE)
    with worker(config):
        for count, (code, title) in enumerate([(500, None), (200, "Good"), (200, "Good")], 1):
            submit(request(force_recrawl=True))
            assert results(count)[count - 1]["grobid"]["status_code"] == (200 if count == 2 else 500)
            (row,) = sql("SELECT * FROM grobid")
            assert row["status_code"] == code
            if title:
                assert row["metadata"]["biblio"]["title"] == title
            else:
                assert row["metadata"] == {"error_msg": "[GENERAL] An exception occurred while running Grobid."}
                assert row["grobid_version"] is None


def test_existing_results_have_it(worker, submit, results, paper, grobid):
    with worker({"grobid.url": grobid.url}):
        submit(request())
        first = results(1)[0]
        submit(request(skip_existing_max_age_ms=86_400_000))
        again = results(2)[1]
        assert again["status"] == "existing"
        assert again["grobid"] == first["grobid"]


def test_what_a_stopped_worker_has_not_read_is_read_by_the_next(worker, submit, results, paper, grobid, wait_until, sql):
    """kill -9 while GROBID works: nothing is lost, and there is one result."""
    hold = threading.Event()
    grobid.say(lambda call: (hold.wait(20), tei("Held"))[1])
    config = {"grobid.url": grobid.url}
    submit(request())
    with worker(config) as daemon:
        wait_until(lambda: grobid.calls)
        daemon.kill()
    hold.set()
    with worker(config):
        assert results(1)[0]["grobid"]["metadata"]["biblio"]["title"] == "Held"
    assert len(sql("SELECT * FROM grobid")) == 1


def test_stopping_does_not_wait_for_grobid_for_ever(worker, submit, results, paper, grobid, wait_until):
    hold = threading.Event()
    grobid.say(lambda call: (hold.wait(30), tei("Held"))[1])
    config = {"grobid.url": grobid.url, "stop.drain_ms": 1000}
    submit(request())
    with worker(config) as daemon:
        wait_until(lambda: grobid.calls)
        assert daemon.stop() == 0
        assert "stopped:" in daemon.log()
    hold.set()
    with worker(config):
        assert results(1)[0]["grobid"]["status"] == "success"


def test_the_server_is_found_again(worker, submit, results_by_url, paper, grobid, wait_until):
    """Whoever comes while it is away is delivered without it; as soon as it is back, the next is read."""
    grobid.__exit__()
    submit(request())
    with worker({"grobid.url": grobid.url}) as daemon:
        assert results_by_url(1)[URL]["grobid"]["status"] == "error-connect"
        assert "GROBID cannot be reached" in daemon.log()
        grobid.__enter__()
        daemon.wait_log("GROBID is reached again")
        submit(request(f"{URL}1"))
        assert results_by_url(2)[f"{URL}1"]["grobid"]["status"] == "success"
        assert grobid.probes > 0


def test_fetching_waits_for_a_slow_grobid_and_says_so(worker, submit, results_by_url, paper, grobid, wait_until):
    """No more documents are fetched than can wait for it."""
    hold = threading.Event()
    grobid.say(lambda call: (hold.wait(60), None)[1])
    urls = [f"{URL}{number}" for number in range(1, 25)]
    submit([request(url) for url in urls])
    with worker({"grobid.url": grobid.url, "grobid.concurrency": 1, "gate.concurrency": 4, "gate.host_concurrency": 2}):
        # One at work, three that wait, and what was under way then.
        wait_until(lambda: len(paper.seen(HOST)) >= 4)
        time.sleep(2)  # for more, which must not come
        assert len(paper.seen(HOST)) <= 8 < len(urls)
        hold.set()
        found = results_by_url(24)
    assert {one["grobid"]["status"] for one in found.values()} == {"success"}
    assert grobid.most == 1


def test_reexamining_catches_up_with_documents_that_had_a_coding(worker, submit, results, paper, grobid, run_ctl, sql):
    """They are archived as they were sent."""
    paper.page(HOST, "/coded", Page(body=gzip.compress(PDF), type="application/pdf", headers={"Content-Encoding": "gzip"}))
    submit(request(f"http://{HOST}/coded"))
    with worker():
        assert "grobid" not in results(1)[0]
    done = run_ctl("reexamine", "--what", "grobid", overrides={"grobid.url": grobid.url})
    assert done.returncode == 0, done.stderr + done.stdout
    assert [call.document for call in grobid.calls] == [PDF]
    (row,) = sql("SELECT * FROM grobid")
    assert (row["status"], row["status_code"]) == ("success", 200)
