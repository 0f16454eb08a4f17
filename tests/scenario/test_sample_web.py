# SPDX-License-Identifier: GPL-3.0-or-later
"""The sample web from end to end: every request gets the status it must, and rows, records and messages agree."""

import gzip
import json
import pathlib
import subprocess
import sys

import makepdf
import pytest
from server import Reply

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SAMPLE = [json.loads(line) for line in
          (ROOT / "deploy" / "sampleweb" / "requests.jsonl").read_text(encoding="utf-8").splitlines()]


# As deploy/quickstart has them.
SERVICES = {
    **{f"publication.{name}_url": "" for name in (
        "eutils", "pmc", "pubmed", "unpaywall", "crossref", "datacite", "openalex", "arxiv", "biorxiv", "doaj")},
    "publication.europepmc_url": "https://services.example/europepmc",
    "publication.annotations_url": "https://services.example/annotations", "publication.doi_url": "https://services.example/doi"}


def key_of(request):
    return request["ingest_type"], request["base_url"]


@pytest.fixture
def finished(worker, submit, results, settings, derived):
    """All results of the sample, by type and URL; the worker has stopped, so that its WARC is closed."""
    settings["gate.robots"] = "obey"
    settings.update(SERVICES)
    derived("xml_doc")
    submit(SAMPLE)
    with worker():
        found = results(len(SAMPLE), timeout=120)
    return {key_of(result["request"]): result for result in found}


def test_every_request_of_the_sample_ends_as_expected(finished, consume, topics, sql, settings, schema, run_ctl):
    assert {key: result["status"] for key, result in finished.items()} == \
        {key_of(request): request["sample_expects"] for request in SAMPLE}

    landing = finished["pdf", "https://doi.example/10.5555/tidal.2021.041"]
    assert landing["hit"] is True
    assert landing["hops"] == ["https://doi.example/10.5555/tidal.2021.041",
                               "https://tidal-ecology.example/article/view/41",
                               "https://tidal-ecology.example/article/download/41/pdf"]
    assert landing["extract_next_hop"]["url"] == "https://tidal-ecology.example/article/download/41/pdf"
    assert landing["extract_next_hop"]["technique"] == "citation_pdf_url"
    assert landing["terminal"]["terminal_url"] == landing["hops"][-1]
    assert landing["terminal"]["terminal_status_code"] == 200
    assert landing["terminal"]["terminal_sha1hex"] == landing["file_meta"]["sha1hex"]
    assert landing["file_meta"]["mimetype"] == "application/pdf"
    assert landing["pdf_meta"]["status"] == "success"
    assert landing["pdf_meta"]["pdf_extra"]["page_count"] == 3
    assert landing["pdf_meta"]["text"] is None
    assert landing["pdf_meta"]["pdf_info"]["Author"] == "Ylva Brandt and Samuel Okonjo"

    publication = finished["publication", "https://doi.org/10.5555/tidal.2021.041"]["publication"]
    assert {part: publication[part] and publication[part]["type"] for part in ("title", "keywords", "mesh", "efo", "abstract", "fulltext")} == \
        {"title": "europepmc", "keywords": "europepmc", "mesh": "europepmc", "efo": "europepmc", "abstract": "europepmc",
         "fulltext": "europepmc_xml"}

    encrypted = finished["pdf", "http://eprints.eastfen.example/id/eprint/2208/"]
    assert encrypted["hit"] is True and encrypted["pdf_meta"]["status"] == "parse-error"
    lost = finished["pdf", "http://broken.gannet.example/article/gone"]
    assert lost["terminal"]["terminal_status_code"] == 404 and "file_meta" not in lost
    guarded = finished["pdf", "http://192.168.7.7:8080/internal/paper.pdf"]
    assert guarded["terminal"]["terminal_dt"] is None
    source = finished["src", "https://preprints.halcyon.example/src/2311.0042"]
    assert source["file_meta"]["mimetype"] == "text/x-tex" and len(source["hops"]) == 2 and "pdf_meta" not in source
    figure = finished["component", "https://press.northmoor.example/article/119/element/2"]
    assert figure["file_meta"]["mimetype"] == "image/png" and figure["extract_next_hop"]["technique"] == "arpha-figure"
    tarball = finished["src", "https://preprints.halcyon.example/src/2311.0043"]
    assert tarball["file_meta"]["mimetype"] == "application/gzip"
    assert tarball["file_meta"]["contains"] == ["text/x-tex", "text/x-bibtex", "image/png", "application/x-tar"]
    article = finished["xml", "https://tidal-ecology.example/article/view/41"]
    assert article["file_meta"]["mimetype"] == "application/jats+xml" and article["xml_meta"] == {"status": "success"}
    story = finished["html", "https://press.northmoor.example/stories/a-year-in-pictures"]
    assert {one["url"].rsplit("/", 1)[1]: one.get("status") for one in story["html_resources"]} == {
        "favicon.ico": "terminal-bad-status", "notes.css": None, "print.css": None, "paper.png": None, "menu.js": None,
        "winter-wide.png": None, "winter.png": None, "summer.png": None, "summer-lost.png": "terminal-bad-status", "rule.png": None}
    later = finished["dataset", "https://tidal-ecology.example/article/view/41"]
    assert later["hit"] is False and "hops" not in later

    check_pages(finished, sql)
    check_texts(finished, consume, topics, schema)
    check_jats(article, consume, settings["kafka.topics"]["xml_doc"], schema)
    check_rows(finished, sql)
    check_archive(finished, sql, settings)


def check_pages(finished, sql):
    """What html requests end at: only an article's full text is a hit, and every page is a document with its facts."""
    rows = {row["sha1hex"]: row for row in sql("SELECT * FROM html_meta")}
    paper = finished["html", "https://tidal-ecology.example/article/view/41/full"]
    note = finished["html", "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh"]
    landing = finished["html", "https://tidal-ecology.example/article/view/41"]
    for result, scope in ((paper, "article-fulltext"), (note, "article-fulltext"), (landing, "landingpage")):
        row = rows[result["file_meta"]["sha1hex"]]
        assert result["scope"] == row["scope"] == scope and result["html_body"]["status"] == "success"
        assert (row["status"], row["word_count"]) == (result["status"], result["html_body"]["word_count"])
        assert row["has_teixml"] is result["hit"] and row["biblio"]["title"] == result["html_biblio"]["title"]
    assert paper["html_body"]["word_count"] > 300 and paper["html_body"]["language"] == "en"
    assert note["platform"] == "wordpress"


def check_texts(finished, consume, topics, schema):
    wanted = {result["file_meta"]["sha1hex"] for result in finished.values()
              if result.get("pdf_meta", {}).get("status") == "success"}
    seen = {}
    for message in consume(topics["pdf_text"], len(wanted), settle=0.5):
        text = json.loads(message.value())
        schema("pdf-text").validate(text)
        assert message.key().decode() == text["sha1hex"] == text["key"]
        seen[text["sha1hex"]] = text["text"]
    assert set(seen) == wanted
    assert any("creek" in text for text in seen.values())


def check_jats(article, consume, topic, schema):
    message = consume(topic, 1, settle=0.5)[0]
    document = json.loads(message.value())
    schema("xml-doc").validate(document)
    assert message.key().decode() == document["sha1hex"] == article["file_meta"]["sha1hex"]
    assert "4 to 19\u00a0\u00b0C" in document["jats_xml"] and "<!DOCTYPE" not in document["jats_xml"]


def check_rows(finished, sql):
    rows = {(row["ingest_type"], row["base_url"]): row for row in sql("SELECT * FROM ingest_file_result")}
    assert {key: row["status"] for key, row in rows.items()} == \
        {key: result["status"] for key, result in finished.items()}
    for key, result in finished.items():
        row = rows[key]
        assert row["hit"] == result["hit"]
        terminal = result.get("terminal", {})
        assert row["terminal_url"] == terminal.get("terminal_url")
        assert row["terminal_dt"] == terminal.get("terminal_dt")
        assert row["terminal_status_code"] == terminal.get("terminal_status_code")
        assert row["terminal_sha1hex"] == terminal.get("terminal_sha1hex")
    files = {row["sha1hex"]: row for row in sql("SELECT * FROM file_meta")}
    metas = {row["sha1hex"]: row for row in sql("SELECT * FROM pdf_meta")}
    for result in finished.values():
        if "file_meta" in result:
            row = files[result["file_meta"]["sha1hex"]]
            told = {**result["file_meta"], "contains": ",".join(result["file_meta"].get("contains", [])) or None}
            assert {name: row[name] for name in told} == told
        if "pdf_meta" in result:
            assert metas[result["pdf_meta"]["sha1hex"]]["status"] == result["pdf_meta"]["status"]
    assert len(sql("SELECT 1 FROM ingest_request")) == 0  # the sample has no link_source_id


def check_archive(finished, sql, settings):
    folder = pathlib.Path(settings["warc.dir"])
    files = sorted(folder.iterdir())
    assert files and all(path.name.endswith(".warc.gz") for path in files), files
    done = subprocess.run([sys.executable, "-m", "warcio.cli", "check", "-v", *map(str, files)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for result in finished.values():
        if "cdx" not in result:
            continue
        cdx = result["cdx"]
        record = read_member(folder, cdx["warc_path"], cdx["warc_offset"], cdx["warc_csize"])
        kind = b"revisit" if cdx["mimetype"] == "warc/revisit" else b"response"
        assert b"WARC-Type: " + kind in record and cdx["url"].encode() in record
        if "revisit_cdx" in result:  # several requests of the sample end at one document
            original = result["revisit_cdx"]
            record = read_member(folder, original["warc_path"], original["warc_offset"], original["warc_csize"])
            assert b"WARC-Type: response" in record
        assert b"WARC-Payload-Digest: sha1:" + cdx["sha1b32"].encode() in record
    for row in sql("SELECT * FROM cdx"):
        record = read_member(folder, row["warc_path"], row["warc_offset"], row["warc_csize"])
        assert row["url"].encode() in record


def read_member(folder, name, offset, size):
    """The record of one gzip member, which must be exactly so long."""
    data = (folder / name).read_bytes()[offset:offset + size]
    assert len(data) == size
    return gzip.decompress(data)


def test_encoded_pages_are_kept_as_they_were_sent(finished, settings):
    """A chunked, compressed answer loses its chunks and keeps its coding; the digest says so."""
    from warcio.archiveiterator import ArchiveIterator
    kept = {}
    for path in pathlib.Path(settings["warc.dir"]).iterdir():
        with open(path, "rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    url = record.rec_headers.get_header("WARC-Target-URI")
                    kept[url] = (record.http_headers, record.raw_stream.read())
    headers, body = kept["https://tidal-ecology.example/article/view/42"]
    assert headers.get_header("Content-Encoding") == "gzip" and body[:2] == b"\x1f\x8b"
    headers, body = kept["https://press.northmoor.example/doi/full/10.5555/nm.2020.117"]
    assert headers.get_header("Transfer-Encoding") is None
    assert headers.get_header("X-Archive-Orig-Transfer-Encoding") == "chunked"
    assert body.lstrip()[:9].lower() == b"<!doctype"


def test_the_index_agrees_with_another_indexer(finished, settings, sql, tmp_path):
    """cdxj-indexer (of pywb's makers) finds each of our rows at the same place with the same digest."""
    pytest.importorskip("cdxj_indexer")
    files = sorted(pathlib.Path(settings["warc.dir"]).iterdir())
    done = subprocess.run([sys.executable, "-m", "cdxj_indexer.main", *map(str, files)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    theirs = {}
    for line in done.stdout.splitlines():
        surt, when, rest = line.split(" ", 2)
        entry = json.loads(rest)
        theirs[entry["filename"], int(entry["offset"])] = (surt, when, entry)
    checked = 0
    for result in finished.values():
        cdx = result.get("cdx")
        if not cdx:
            continue
        surt, when, entry = theirs[cdx["warc_path"], cdx["warc_offset"]]
        assert (surt, when) == (cdx["surt"], cdx["datetime"])
        assert int(entry["length"]) == cdx["warc_csize"]
        assert entry["digest"].removeprefix("sha1:") == cdx["sha1b32"]
        assert entry["status"] == str(cdx["status_code"])
        checked += 1
    assert checked >= 10


def test_results_are_keyed_by_the_identity_of_their_request(worker, submit, consume, topics):
    import hashlib
    request = {"ingest_type": "file", "base_url": "https://tidal-ecology.example/article/view/41",
               "link_source": "doi", "link_source_id": "10.5555/TIDAL", "mine": {"kept": [1, None, "ä"]}}
    submit(request)
    with worker():
        message = consume(topics["results"], 1)[0]
    identity = "\t".join(request[name] for name in ("ingest_type", "base_url", "link_source", "link_source_id"))
    assert message.key().decode() == hashlib.sha1(identity.encode()).hexdigest()
    echoed = json.loads(message.value())["request"]
    assert echoed["ingest_type"] == "pdf" and echoed["mine"] == request["mine"]


def test_a_request_with_a_source_gets_a_row(worker, submit, results, sql):
    request = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41",
               "link_source": "doi", "link_source_id": "10.5555/x", "ingest_request_source": "tests",
               "release_stage": "published", "rel": "publisher", "ext_ids": {"doi": "10.5555/x"}}
    submit(request)
    with worker():
        results(1)
    row = sql("SELECT * FROM ingest_request")[0]
    assert row["link_source"] == "doi" and row["link_source_id"] == "10.5555/x"
    assert row["release_stage"] == "published" and row["request"]["rel"] == "publisher"
    assert row["request"]["ext_ids"] == {"doi": "10.5555/x"}


def test_expectations_are_honoured(worker, submit, results_by_url):
    url = "https://tidal-ecology.example/article/view/41"
    submit([{"ingest_type": "pdf", "base_url": url + "?1", "expect_hash": {"sha1": "0" * 40}},
            {"ingest_type": "pdf", "base_url": url, "expect_hash": {"sha1": "0" * 40}},
            {"ingest_type": "pdf", "base_url": url + "#2", "expect_mimetypes": ["application/postscript"]}])
    with worker():
        found = results_by_url(3)
    assert found[url]["status"] == "mismatch-hash" and "file_meta" in found[url]
    assert found[url + "#2"]["status"] == "wrong-mimetype"


def test_a_failure_never_overwrites_a_hit(worker, submit, results, sql, web):
    state = {"gone": False}
    url = "http://flaky.test.example/paper.pdf"
    body = makepdf.make_pdf("Here today", "And gone tomorrow.")
    web.route("flaky.test.example", "/paper.pdf",
              lambda _: Reply(404) if state["gone"] else Reply(200, body, type="application/pdf"))
    request = {"ingest_type": "pdf", "base_url": url}
    submit(request)
    with worker():
        assert results(1)[0]["status"] == "success"
        state["gone"] = True
        submit(request)
        assert sorted(one["status"] for one in results(2)) == ["success", "terminal-bad-status"]
    row = sql("SELECT * FROM ingest_file_result")[0]
    assert row["hit"] is True and row["status"] == "success" and row["terminal_status_code"] == 200
