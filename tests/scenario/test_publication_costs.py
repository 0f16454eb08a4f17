# SPDX-License-Identifier: GPL-3.0-or-later
"""Services and publishers that mean harm, and bad luck, met by a daemon: no turn of its loop is long (the fixture `worker` sees to
that), each request has one result, and who did it is blamed for it."""

import glob
import gzip
import json
import time

import psycopg
import pytest
from servers import records
from servers.apis import html, js, xml
from servers.papers import check, make_paper, population
from servers.polite import Answer, redirect
from servers.relay import Relay
from test_database_faults import with_address
from test_publication import apis, content, request_for, served  # noqa: F401 (fixtures)

MIB = 1 << 20


def statuses(result, resource):
    return [one["status"] for one in result["publication"]["resources"] if one["resource"] == resource]


@pytest.fixture
def only(served, worker, submit, results):  # noqa: F811
    """only(paper): the result of the one request for it."""
    def run(paper, overrides=None):
        submit(request_for(paper))
        with worker(overrides):
            [result] = results(1, timeout=120, settle=0.5)
        return result
    return run


# --- what costs ---


@pytest.mark.parametrize("letters", ["a", "\ufdfa", "é "], ids=["letters", "a ligature of 18 letters", "short words"])
def test_six_thousand_authors_with_long_names_do_not_stop_the_loop(served, only, letters):  # noqa: F811
    paper = served.add(make_paper(5, "crossref"))
    contribs = "".join(f'<contrib contrib-type="author" corresp="yes"><name><surname>x{at} {(letters * 300)[:300]}</surname></name></contrib>'
                       for at in range(6000))
    served.say("page", paper, xml(records.jats(paper).replace("</contrib-group>", contribs + "</contrib-group>", 1)))
    result = only(paper)
    assert result["status"] == "success" and len(result["publication"]["authors"]) > 1000
    assert statuses(result, "doi") == ["too-large"]


def test_full_texts_that_are_all_escapes_do_not_stop_the_loop(served, worker, submit, results):  # noqa: F811
    listed = [served.add(make_paper(number, "open")) for number in (4, 5, 6)]
    for paper in listed:
        served.say("europepmc-xml", paper, xml(records.jats(paper).replace("<body>", f"<body><sec><p>{chr(92) * 6 * MIB}</p></sec>", 1)))
    submit([request_for(paper) for paper in listed])
    with worker():
        found = results(3, timeout=120)
    assert [statuses(result, "europepmc-xml") for result in found] == [["too-large"]] * 3


def test_publications_of_which_all_is_as_large_as_may_be_do_not_stop_the_loop(served, worker, submit, results):  # noqa: F811
    slashes = chr(92) * 900
    listed = [served.add(make_paper(number, "crossref")) for number in (5, 6, 7)]
    for paper in listed:
        authors = "".join(f'<contrib contrib-type="author" corresp="yes"><name><surname>x{at} {slashes}</surname></name></contrib>' for at in range(6000))
        article = records.jats(paper).replace("</contrib-group>", authors + "</contrib-group>", 1)
        article = article.replace("<title>Abstract</title>", f"<title>Abstract</title><p>{chr(92) * MIB}</p>", 1)
        keywords = "".join(f"<kwd>{at} {slashes}</kwd>" for at in range(2000))
        article = article.replace("</abstract>", f"</abstract><kwd-group kwd-group-type=\"author\">{keywords}</kwd-group>", 1)
        served.say("page", paper, xml(article.replace("<body>", f"<body><sec><p>{chr(92) * 6 * MIB}</p></sec>", 1)))
    submit([request_for(paper) for paper in listed])
    with worker():
        found = results(3, timeout=120)
    for result in found:
        publication = result["publication"]
        assert statuses(result, "doi") == ["too-large"]
        assert publication["fulltext_dropped"] and publication["abstract"]["size"] > MIB / 2
        assert len(publication["authors"]) > 1000 and 100 < publication["keywords"]["size"] < 1000
        assert 0 < len(publication["corresp_author"]) < len(publication["authors"])


def test_answers_that_name_another_work_each_time_come_to_an_end(served, only):  # noqa: F811
    """Pages and searches with ever new identifiers."""
    paper, said = served.add(make_paper(5, "meta")), [0]
    paper.pmid = None

    def page(request):
        said[0] += 1
        return html(records.page("Of tides", "<p>Nothing.</p>", [
            ("citation_title", f"Title number {said[0]} of the tides of all seas"), ("citation_doi", f"10.9/{said[0]}"),
            ("citation_pmid", str(31500000 + said[0])), ("citation_fulltext_html_url", f"http://p{said[0]}.example/article/5")]))

    def search(request):
        said[0] += 1
        return xml(records.europepmc_search([records.europepmc_result(
            paper, doi=f"10.9/{said[0]}", pmid=str(31500000 + said[0]), pmcid=f"PMC{said[0]}")]))
    for service in ("page", "doi"):
        served.fault(service, page, times=10000)
    served.fault("europepmc", search, times=10000)
    for service in ("crossref", "openalex"):
        served.fault(service, js('{"message":{"DOI":"10.9/x","title":["t"]}}'), times=10000)
    result = only(paper)
    assert result["status"] == "success" and said[0] < 60
    assert len(result["publication"]["resources"]) < 60


@pytest.mark.parametrize("target,status", [
    ("file:///etc/passwd", "bad-redirect"), ("ftp://ftp.example/x.pdf", "bad-redirect"), ("javascript:alert(1)", "bad-redirect"),
    ("http://[::1]:1/x", "blocked-address"), ("http://doi.org/10.5556/f.5", "redirect-loop")])
def test_a_doi_that_leads_nowhere_is_blamed_and_others_give_the_parts(served, only, target, status):  # noqa: F811
    paper = served.add(make_paper(5, "meta"))
    served.say("doi", paper, redirect(target))
    result = only(paper)
    assert statuses(result, "doi") == [status], result["publication"]["resources"]
    assert result["status"] == "success" and content(result["publication"], "title").rstrip(".") == paper.title


# --- secrets ---


def test_keys_are_not_told_in_results_nor_to_others(served, worker, submit, results, sql, tmp_path, settings):  # noqa: F811
    """Rows of captures and WARC records have the URLs that were asked for."""
    overrides = {}
    for name in ("ncbi", "openalex"):
        (tmp_path / name).write_text(f"secret-of-{name}\n", encoding="utf-8")
        overrides[f"publication.{name}_api_key_file"] = str(tmp_path / name)
    paper = served.add(make_paper(5, "meta"))
    served.fault("pubmed-xml", Answer(503, b""))
    served.fault("openalex", redirect("http://other.example/5"))
    submit(request_for(paper))
    with worker(overrides) as daemon:
        [result] = results(1, timeout=60)
        log = daemon.log()
    paths = [request.path for request in served.server.seen()]
    for name in ("ncbi", "openalex"):
        assert any(f"api_key=secret-of-{name}" in path for path in paths)
    assert "secret-of" not in json.dumps(result) + log
    kept = sql("SELECT row_to_json(p)::text AS row FROM publication p") + sql("SELECT row_to_json(r)::text AS row FROM ingest_file_result r")
    assert kept and "secret-of" not in str(kept)
    archived = b"".join(gzip.open(path).read() for path in glob.glob(settings["warc.dir"] + "/*"))
    assert b"http://other.example/5" in archived
    assert not [line for line in archived.split(b"\r\n") if line.lower().startswith(b"referer") and b"secret-of" in line]


# --- bad luck ---


def test_while_the_database_is_away_nothing_is_lost_or_done_twice(
        served, worker, submit, results, wait_until, database, settings):  # noqa: F811
    listed = [served.add(paper) for paper in population(20, seed=6)]
    port = psycopg.conninfo.conninfo_to_dict(database)["port"]
    with Relay(int(port)) as relay:
        settings["postgres.dsn"] = with_address(database, f"127.0.0.1:{relay.port}", connect_timeout=2)
        submit([request_for(paper) for paper in listed])
        with worker():
            wait_until(lambda: served.asked()["europepmc"] >= 5, timeout=60)
            relay.freeze()
            time.sleep(3)
            relay.thaw()
            found = results(len(listed), timeout=120, settle=1.0)
    for result in found:
        check(next(one for one in listed if str(one.number) == result["request"]["link_source_id"]), result["publication"])
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM publication").fetchone()[0] == len(listed)


def test_a_flood_of_publications_does_not_keep_others_waiting(served, worker, submit, results, wait_until):  # noqa: F811
    """1,000 publications begin at one host; what is asked of others in the same partitions is done long before they are."""
    listed = [served.add(paper) for paper in population(1000, seed=6)]
    pdfs = [{"ingest_type": "pdf", "base_url": f"http://journal{at % 10}.example/pdf/{paper.number}.pdf", "link_source_id": f"pdf{at}"}
            for at, paper in enumerate(listed[:40])]
    submit([request_for(paper) for paper in listed])

    def fetched():
        return sum(len(served.server.seen(f"journal{at}.example")) for at in range(10))
    with worker({"intake.max_waiting": 20000}):
        wait_until(lambda: served.asked()["europepmc"] >= 10, timeout=60)
        submit(pdfs)
        wait_until(lambda: fetched() == len(pdfs), timeout=60)
        assert served.asked()["europepmc"] < len(listed) * 0.8
        found = results(len(listed) + len(pdfs), timeout=300)
    assert {one["status"] for one in found if one["request"]["ingest_type"] == "pdf"} == {"success"}


def test_a_record_of_megabytes_that_is_kept_does_not_stop_the_loop(served, worker, submit, results, schema):  # noqa: F811
    """It is answered without its full text, which says so."""
    paper = served.add(make_paper(5, "open"))
    served.say("europepmc-xml", paper, xml(records.jats(paper).replace("<body>", f"<body><sec><p>{'é ' * 3 * MIB}</p></sec>", 1)))
    with worker():
        submit(request_for(paper))
        [first] = results(1)
        submit(request_for(paper, link_source_id="again"))
        again = next(result for result in results(2) if result["request"]["link_source_id"] == "again")
    schema("ingest-result").validate(again)
    assert again["status"] == "existing" and first["publication"]["fulltext"]["size"] > 2_000_000
    assert again["publication"]["fulltext"] is None and again["publication"]["fulltext_dropped"] is True
    assert again["publication"]["abstract"]["content"] == first["publication"]["abstract"]["content"]
