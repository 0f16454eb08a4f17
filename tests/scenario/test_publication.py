# SPDX-License-Identifier: GPL-3.0-or-later
"""Publications: put together from services, publishers' pages and PDFs, by the shell and by the daemon."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import urllib.parse

import pytest
from servers import papers, records
from servers.apis import Apis, html, js, shipped_rules, xml
from servers.papers import check, make_paper, population
from servers.polite import Answer, gaps, most_at_once, redirect
from servers.worker import write_config

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = ROOT / "rules"


@pytest.fixture
def apis():
    with Apis() as server:
        yield server


@pytest.fixture
def config(apis, tmp_path):
    """The configuration of ingestctl without servers of ours: the services and shipped rules without pauses."""
    return {**apis.settings(), "rules.dir": str(shipped_rules(tmp_path / "rules", RULES)), "gate.host_delay_ms": 0,
            "gate.adaptive_factor": 0, "gate.robots": "ignore", "gate.backoff_ms": 100, "gate.backoff_max_ms": 500,
            "fetch.user_agent": "ingest-worker-tests/1.0 (+https://tests.example/robot)"}


@pytest.fixture
def ask(program, config, tmp_path):
    """ask("31000001", "--quick", input=…): the finished `ingestctl publication`. overrides= changes the configuration."""
    def run(*words, input=None, overrides=None, verb="publication", timeout=240):
        path = write_config(tmp_path / "ctl.yaml", {**config, **(overrides or {})})
        return subprocess.run([program("ingestctl"), "--config", path, verb, *map(str, words)], input=input,
                              capture_output=True, text=True, timeout=timeout, check=False)
    return run


@pytest.fixture
def publications(ask):
    """The publications that `ingestctl publication` prints, all of which it must have found."""
    def run(*words, **how):
        done = ask(*words, **how)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]
    return run


def resources(publication):
    return [one["resource"] for one in publication["resources"]]


def content(publication, part):
    return publication[part] and publication[part]["content"]


# --- whole publications ---


@pytest.mark.parametrize("kind", [name for name in papers.KINDS if name != "nowhere"])
def test_each_kind_of_paper_ends_with_its_parts(apis, publications, kind):
    """By each of its identifiers."""
    paper = apis.add(make_paper(7, kind))
    found = publications(*paper.ids())
    assert len(found) == len(paper.ids())
    for publication in found:
        check(paper, publication)
    apis.check_manners()


@pytest.mark.slow
def test_a_list_of_a_thousand_mixed_identifiers(apis, ask, tmp_path):
    """In the order of the list, one for each; no host is asked twice at once, and none again for the same."""
    listed = population(1000, seed=3)
    for paper in listed:
        apis.add(paper)
    lines = [paper.ids()[at % len(paper.ids())] for at, paper in enumerate(listed)]
    (tmp_path / "ids.txt").write_text("# a list\n" + "\n".join(lines) + "\n", encoding="utf-8")
    done = ask(tmp_path / "ids.txt")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(listed)
    nowhere = [paper for paper in listed if paper.kind == "nowhere"]
    assert done.returncode == (1 if nowhere else 0), done.stderr
    for paper, publication in zip(listed, found):
        check(paper, publication)
    apis.check_manners()
    asked = [(host, path) for _, host, path in apis.services if not path.endswith("robots.txt")]
    assert len(asked) == len(set(asked)), "something was asked for twice"


def test_what_is_said_beside_the_parts(apis, publications):
    paper = apis.add(make_paper(1, "open"))
    [found] = publications(paper.doi)
    assert found["journal_title"] == found["journalTitle"] == paper.journal
    assert found["pub_date"] == paper.date and found["pubDateHuman"].startswith(paper.date)
    assert found["oa"] is True and found["preprint"] in (False, None)
    assert found["citationsCount"] == paper.citations
    author = next(one for one in paper.authors if one.corresponding)
    assert [(one["name"], one["orcid"], one["email"]) for one in found["corresp_author"]] == \
        [(author.name, f"https://orcid.org/{author.orcid}", author.email)]
    assert [one["name"] for one in found["authors"]] == [one.name for one in paper.authors]
    assert [one["majorTopic"] for one in found["mesh"]["list"]] == [True, False, False]
    assert [(one["term"], one["count"], one["uri"]) for one in found["efo"]["list"]] == paper.efo
    assert found["title"]["size"] == len(content(found, "title"))
    assert found["title"]["usable"] and found["title"]["final"] and not found["title"]["empty"]
    assert found["fulltext"]["url"].endswith(f"/{paper.pmcid}/fullTextXML")
    assert found["usable"] and found["final"] and not found["empty"] and not found["fetchException"]
    assert found["fields"]["journal_title"]["type"] == "europepmc"
    assert found["doi"]["content"] == paper.doi.upper()


def test_what_is_open_access_needs_no_page(apis, publications):
    """Politeness: who has all is asked alone."""
    paper = apis.add(make_paper(1, "open"))
    publications(paper.pmid)
    assert apis.asked()["page"] == apis.asked()["pdf"] == apis.asked()["doi"] == 0
    assert apis.asked()["europepmc"] == apis.asked()["europepmc-xml"] == 1
    assert apis.asked()["mined"] == 2


# --- identifiers ---


@pytest.mark.parametrize("doi", [
    "10.1002/(SICI)1097-0258(19980815/30)17:15/16<1661::AID-SIM968>3.0.CO;2-2", "10.5555/a&b+c", "10.5555/100%25", "10.5555/a#b?c=d",
    "10.5555/[x];y"])
def test_characters_of_a_doi_reach_every_service(apis, publications, doi):
    paper = make_paper(3, "meta")
    paper.doi = doi
    apis.add(paper)
    [found] = publications(doi)
    check(paper, found)
    for service, _, path in apis.services:
        if service in ("europepmc", "unpaywall", "crossref", "datacite", "openalex"):
            assert doi.upper() in urllib.parse.unquote(path).upper(), (service, path)
            assert "#" not in path and " " not in path, (service, path)


def test_identifiers_may_be_addresses_and_have_prefixes(apis, publications):
    paper = apis.add(make_paper(5, "open"))
    words = [f"https://doi.org/{paper.doi}", f"DOI:{paper.doi}", f"https://www.doi.org/{paper.doi}", f"pmid:{paper.pmid}",
             f"https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}/", f"https://www.ncbi.nlm.nih.gov/pmc/articles/{paper.pmcid}/"]
    for publication in publications(*words):
        check(paper, publication)


def test_a_file_may_have_three_identifiers_a_line(apis, publications, tmp_path):
    one, two = apis.add(make_paper(5, "open")), apis.add(make_paper(6, "bmc"))
    (tmp_path / "ids.tsv").write_text(f"# pmid pmcid doi\n{one.pmid}\t{one.pmcid}\t{one.doi}\n\t\t{two.doi}\n", encoding="utf-8")
    first, second = publications(tmp_path / "ids.tsv")
    check(one, first)
    check(two, second)


def test_what_is_no_identifier_is_said_and_the_others_are_done(apis, ask):
    paper = apis.add(make_paper(5, "open"))
    done = ask("-", input=f"non\x1b[31msense\n{paper.pmid}\n\n")
    assert done.returncode == 1
    assert "stdin:1:" in done.stderr and "\\x1b[31m" in done.stderr and "\x1b" not in done.stderr
    [found] = [json.loads(line) for line in done.stdout.splitlines()]
    check(paper, found)
    assert ask("nonsense").returncode == 2


def test_a_page_may_be_the_start(apis, publications):
    """What its rules and meta elements say leads to the rest."""
    paper = apis.add(make_paper(8, "bmc"))
    [found] = publications(f"http://{paper.host}/articles/{paper.doi}")
    assert resources(found)[0] == "page"
    # What the page gave is as good as what others give, so that it stays.
    assert (found["title"]["type"], found["abstract"]["type"], found["fulltext"]["type"]) == ("link",) * 3
    assert found["title"]["content"] == paper.title
    assert (found["mesh"]["type"], found["efo"]["type"]) == ("europepmc", "europepmc")
    assert found["pmid"]["content"] == paper.pmid and found["doi"]["content"] == paper.doi.upper()


def test_a_record_that_contradicts_the_identifiers_is_not_taken(apis, publications):
    """A single one neither (a PMID that is one digit off leads to a real paper)."""
    paper, other = apis.add(make_paper(5, "bmc")), make_paper(6, "open")
    apis.say("europepmc", paper, xml(records.europepmc_search([records.europepmc_result(other)])))
    [found] = publications(f"{paper.pmid}")
    assert content(found, "title").rstrip(".") == paper.title
    assert found["pmcid"] is None or found["pmcid"]["content"] != other.pmcid
    assert found["citationsCount"] in (None, paper.citations)


def test_of_several_records_the_one_of_the_identifiers_is_taken(apis, publications):
    paper, other = apis.add(make_paper(5, "open")), make_paper(6, "open")
    apis.say("europepmc", paper, xml(records.europepmc_search(
        [records.europepmc_result(other), records.europepmc_result(paper)])))
    [found] = publications(paper.doi)
    check(paper, found)


def test_identifiers_in_references_are_not_the_articles_own(apis, publications):
    """PubMed's XML has the identifiers of what is cited, too."""
    paper = apis.add(make_paper(4, "bmc"))
    apis.say("europepmc", paper, xml(records.europepmc_search([])))
    apis.say("pubmed-xml", paper, xml(records.pubmed_xml(paper, own_ids=("pubmed", "doi"))))
    [found] = publications(paper.pmid)
    assert found["pmcid"] is None
    assert found["doi"]["content"] == paper.doi.upper() and found["title"]["type"] == "pubmed_xml"


def test_an_identifier_that_changes_begins_the_publication_anew(apis, publications):
    """The page of a DOI names a PMID, and PubMed says that its DOI is another one. Then all is of that paper, and nothing
    of what was found before stays, no author and no count of citations."""
    first, second = apis.add(make_paper(5, "meta")), apis.add(make_paper(6, "open"))
    first.pmid = None
    apis.say("europepmc", first, xml(records.europepmc_search([])))
    apis.say("page", first, html(records.page("Of tides", "<p>Nothing.</p>", [
        ("citation_pmid", second.pmid), ("citation_doi", first.doi), ("citation_title", first.title),
        ("citation_keywords", "one; two; three"), ("citation_abstract", first.abstract)])))
    [found] = publications(first.doi)
    check(second, found)
    assert found["citationsCount"] == second.citations and found["journal_title"] == second.journal
    assert [one["name"] for one in found["authors"]] == [one.name for one in second.authors]
    assert resources(found).count("europepmc") >= 2
    assert first.title not in json.dumps({part: found[part] for part in ("title", "abstract", "fulltext", "keywords")})


# --- faults ---


def test_a_busy_service_is_asked_again_when_it_said(apis, publications):
    paper = apis.add(make_paper(5, "open"))
    apis.fault("europepmc", Answer(429, b"slow down", {"Retry-After": "2"}))
    [found] = publications(paper.pmid)
    check(paper, found)
    asked = [one for one in apis.server.seen("www.ebi.ac.uk") if "search" in one.path]
    assert len(asked) == 2 and gaps(asked)[0] >= 1.9


@pytest.mark.parametrize("answer", [
    Answer(503, b"down"), Answer(reset=True), Answer(body=b"<responseWrapper><resultList><result><pmid>1</", type="text/xml"),
    Answer(body=b"<html><title>Maintenance</title>", type="text/html"), Answer(404, b"gone")],
    ids=["503", "reset", "malformed", "html", "404"])
def test_without_europe_pmc_others_give_the_parts(apis, publications, answer):
    paper = apis.add(make_paper(5, "bmc"))
    apis.fault("europepmc", answer, times=1000)
    [found] = publications(paper.pmid)
    assert (found["title"]["type"], found["abstract"]["type"], found["mesh"]["type"]) == ("pubmed_xml",) * 3
    assert found["fulltext"]["type"] == "doi" and found["keywords"]["type"] == "doi"
    assert found["efo"] is None or found["efo"]["empty"]
    failed = next(one for one in found["resources"] if one["resource"] == "europepmc")
    assert failed["status"] != "success" and (failed["detail"] or failed["http_status"] in (404, 503))


def test_a_failure_that_may_pass_is_said(apis, publications):
    paper = apis.add(make_paper(5, "bmc"))
    apis.fault("europepmc", Answer(503, b"down"), times=1000)
    [found] = publications(paper.pmid)
    assert found["fetchException"] is True
    assert [one["transient"] for one in found["resources"] if one["resource"] == "europepmc"][0] is True


@pytest.mark.parametrize("service,garbage", [
    ("unpaywall", js("[1, 2")), ("crossref", js('{"message": 7}')), ("datacite", js("{}")), ("openalex", js("null")),
    ("pubmed-xml", xml("<PubmedArticleSet>")), ("mined", xml("<List><item>"))])
def test_an_answer_that_is_garbage_spoils_nothing_else(apis, publications, service, garbage):
    paper = apis.add(make_paper(5, "repository"))
    apis.fault(service, garbage, times=1000)
    [found] = publications(paper.doi)
    assert content(found, "title").rstrip(".") == paper.title
    assert found["fulltext"]["usable"] or service == "unpaywall"


FAULTS = [Answer(503, b"down"), Answer(429, b"slow down", {"Retry-After": "1"}), Answer(reset=True), Answer(404, b"gone"),
          Answer(500, b"<h1>Oops</h1>"), Answer(body=b"", type="text/xml"), Answer(body=b"{", type="application/json"),
          Answer(body=b"<a><b>", type="text/xml"), Answer(body=b"%PDF-1.5 no more", type="application/pdf"),
          Answer(302, b"", {"Location": "http://gone.example/x"}), Answer(body=b"x" * 5000, cut=100)]


@pytest.mark.slow
def test_whatever_fails_each_has_a_result_with_nothing_of_another(apis, ask, tmp_path):
    """One answer in six is a fault."""
    rng = random.Random(7)
    listed = [apis.add(paper) for paper in population(200, seed=8)]
    answered = apis.server.scripts["*", "*"][0]
    apis.server.page("*", "*", lambda request: rng.choice(FAULTS) if rng.random() < 1 / 6 else answered(request))
    (tmp_path / "ids.txt").write_text("\n".join(paper.ids()[0] for paper in listed), encoding="utf-8")
    done = ask(tmp_path / "ids.txt", overrides={"gate.breaker_failures": 0})
    assert done.returncode == 1, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(listed)
    whole = 0
    for paper, publication in zip(listed, found):
        own = {"title": paper.title, "abstract": paper.abstract}
        for part, text in own.items():
            if publication[part] and publication[part]["type"] != "webpage":
                assert text.rstrip(".") in publication[part]["content"], (paper.number, paper.kind, publication[part])
        if publication["fulltext"] and publication["fulltext"]["usable"]:
            assert paper.paragraphs[0][:60] in " ".join(publication["fulltext"]["content"].split())
        for part in ("pmid", "pmcid", "doi"):
            if publication[part] and getattr(paper, part):
                assert publication[part]["content"] == getattr(paper, part).upper()
        with contextlib.suppress(AssertionError):
            check(paper, publication)
            whole += 1
    assert whole > len(listed) / 4
    apis.check_manners()


def test_nobody_knows_it(apis, ask):
    done = ask("31009999")
    assert done.returncode == 1 and "31009999: empty-publication" in done.stderr
    [found] = [json.loads(line) for line in done.stdout.splitlines()]
    assert found["empty"] is True and found["title"] is None and found["pmid"]["type"] == "external"
    assert {one["status"] for one in found["resources"]} & {"no-record"}


def test_everybody_is_down(apis, ask):
    apis.fault("", Answer(503, b"down"), times=1000)
    done = ask("31000001")
    assert done.returncode == 1
    [found] = [json.loads(line) for line in done.stdout.splitlines()]
    assert found["empty"] and found["fetchException"]


def test_a_publication_ends_at_its_deadline_with_what_it_has(apis, publications):
    paper = apis.add(make_paper(5, "bmc"))
    apis.fault("doi", Answer(302, b"", {"Location": "http://never.example/"}, delay_s=60), times=1)
    [found] = publications(paper.pmid, overrides={"publication.deadline_ms": 5000})
    assert found["title"]["type"] == "europepmc"
    assert found["fulltext"] is None or found["fulltext"]["type"] != "doi"


# --- what others are known to get wrong ---


def test_markup_in_titles_and_abstracts_goes_and_entities_are_decoded_once(apis, publications):
    paper = apis.add(make_paper(5, "open"))
    apis.say("europepmc", paper, xml(records.europepmc_search([records.europepmc_result(
        paper, title="Of <i>E. coli</i> &amp; H<sub>2</sub>O &lt; tides.", abstractText="<h4>Aim</h4>" + paper.abstract)])))
    [found] = publications(paper.pmid)
    assert content(found, "title") == "Of E. coli & H2O < tides."
    assert "<h4>" not in content(found, "abstract") and paper.abstract in content(found, "abstract")


def test_meta_text_is_text(apis, publications):
    paper = apis.add(make_paper(5, "meta"))
    paper.pmid = None
    apis.say("europepmc", paper, xml(records.europepmc_search([])))
    apis.say("crossref", paper, Answer(404, b"Resource not found."))
    apis.say("page", paper, html(records.page("x", "<p>y</p>", [
        ("citation_title", "Tides & <creeks>: x < y"), ("citation_doi", paper.doi), ("citation_keywords", "A & B; C < D")])))
    [found] = publications(paper.doi)
    assert content(found, "title").startswith("Tides & ") and "&amp;" not in content(found, "title")
    assert "A & B" in found["keywords"]["list"]


@pytest.mark.parametrize("prefix", [True, False])
def test_pmcids_in_full_texts_with_and_without_prefix(apis, publications, prefix):
    paper = apis.add(make_paper(5, "open"))
    apis.say("europepmc-xml", paper, xml(records.jats(paper, prefix=prefix)))
    [found] = publications(paper.doi)
    check(paper, found)


def test_a_full_text_of_several_megabytes_is_whole(apis, publications):
    paper = apis.add(make_paper(5, "open"))
    paper.sections = [("Results", [f"Reading {at}: " + paper.abstract for at in range(8000)])]
    [found] = publications(paper.pmid)
    assert found["fulltext"]["size"] > 3_000_000
    assert "Reading 7999: " in content(found, "fulltext") and "Reading 0: " in content(found, "fulltext")


def test_mined_terms_by_pmid_where_pmc_has_none(apis, publications):
    paper = apis.add(make_paper(5, "open"))
    paper_of_pubmed = records.annotations(paper, paper.efo, "Experimental Methods", "MED")
    apis.say("mined", paper, lambda request: xml(
        paper_of_pubmed if "MED" in request.path and "Experimental" in request.path else records.annotations(paper, [], "")))
    [found] = publications(paper.pmid)
    assert [one["term"] for one in found["efo"]["list"]] == [term for term, _, _ in paper.efo]
    assert found["go"] is None or found["go"]["empty"]


def test_no_link_is_followed_that_can_give_nothing(apis, publications):
    """All but the keywords is there: PDFs have none."""
    paper = apis.add(make_paper(5, "bmc"))
    paper.keywords = []
    apis.say("page", paper, html(records.bmc_page(paper).replace(
        "</article>", f'<div class="c-pdf-download"><a data-track-action="download pdf" href="/pdf/{paper.number}.pdf">PDF</a></div></article>')))
    [found] = publications(paper.pmid)
    assert found["fulltext"]["type"] == "doi" and found["keywords"] is None
    assert apis.asked()["pdf"] == 0


def test_no_more_links_are_followed_than_allowed(apis, publications):
    paper = apis.add(make_paper(5, "repository"))
    places = [("repository", f"http://r{at}.example/items/{paper.number}", None) for at in range(20)]
    apis.say("unpaywall", paper, js(records.unpaywall(paper, places)))
    [found] = publications(paper.doi, overrides={"publication.max_links": 4})
    assert resources(found).count("link") == 4


def test_no_page_is_fetched_twice(apis, publications):
    """Whoever names it, with whatever scheme and fragment."""
    paper = apis.add(make_paper(5, "repository"))
    pdf = f"http://repository.example/files/{paper.number}.pdf"
    apis.say("unpaywall", paper, js(records.unpaywall(paper, [("repository", None, pdf), ("repository", pdf + "#page=2", pdf)])))
    apis.say("crossref", paper, js(records.crossref(paper, [(pdf, "application/pdf")])))
    publications(paper.doi)
    assert apis.asked()["pdf"] == 1


def test_redirects_of_a_doi_may_be_relative_and_many(apis, publications):
    paper = apis.add(make_paper(5, "bmc"))
    apis.server.page("hop.example", "/a", redirect("/b"))
    apis.server.page("hop.example", "/b", redirect(f"http://{paper.host}/articles/{paper.doi}"))
    apis.say("doi", paper, redirect("http://hop.example/a"))
    [found] = publications(paper.pmid)
    check(paper, found)
    assert found["fulltext"]["url"] == f"http://{paper.host}/articles/{paper.doi}"


def test_addresses_in_mailto_links_lose_what_is_behind_them(apis, publications):
    paper = apis.add(make_paper(5, "plos"))
    author = next(one for one in paper.authors if one.corresponding)
    apis.say("europepmc", paper, xml(records.europepmc_search([])))
    apis.say("pubmed-xml", paper, xml(records.NO_PUBMED))
    apis.say("pubmed-html", paper, Answer(404))
    apis.say("page", paper, html(records.plos_page(paper).replace(
        f"mailto:{author.email}", f"mailto:{author.email.replace('@', '%40')}?subject=Of%20tides")))
    [found] = publications(paper.doi)
    assert [one["email"] for one in found["corresp_author"]] == [author.email]


def test_a_page_that_only_a_browser_can_read_is_said(apis, publications):
    paper = apis.add(make_paper(5, "bmc"))
    paper.host = "journals.sagepub.com"
    apis.say("page", paper, Answer(403, b"<title>Just a moment...</title>"))
    [found] = publications(paper.pmid)
    [asked] = [one for one in found["resources"] if one["resource"] == "doi"]
    assert asked["status"] != "success" and asked["needs_browser"] is True
    assert found["title"]["type"] == "europepmc"


# --- what is asked for ---


def test_only_wanted_parts_are_looked_for(apis, publications):
    paper = apis.add(make_paper(5, "bmc"))
    [found] = publications(paper.pmid, "--part", "title,abstract")
    assert content(found, "title") and content(found, "abstract")
    assert found["fulltext"] is None or found["fulltext"]["empty"]
    assert found["mesh"] is None or found["mesh"]["empty"]
    assert apis.asked()["page"] == apis.asked()["mined"] == 0


def test_parts_that_are_not_wanted_are_not_looked_for(apis, publications):
    paper = apis.add(make_paper(5, "open"))
    [found] = publications(paper.pmid, "--not-part", "efo,go", "--not-part", "fulltext")
    assert apis.asked()["mined"] == apis.asked()["europepmc-xml"] == 0
    assert content(found, "title") and found["mesh"]["list"]


def test_one_resource_alone(apis, publications):
    paper = apis.add(make_paper(5, "open"))
    [found] = publications("--resource", "pubmed-xml", paper.pmid)
    assert resources(found) == ["pubmed-xml"] and found["title"]["type"] == "pubmed_xml"
    assert set(apis.asked()) == {"pubmed-xml"}


def test_a_resource_that_cannot_be_asked_with_the_identifier_is_said(apis, ask):
    done = ask("--resource", "crossref", "31000005")
    assert done.returncode == 1 and "31000005: empty-publication: no resource can be asked with this identifier" in done.stderr
    assert not apis.asked()


@pytest.mark.parametrize("words,hint", [
    (("--part", "titel"), "title"), (("--resource", "pubmed_xml"), "pubmed-xml"), (("--max-wait", "x"), "--max-wait"), ((), "ID")])
def test_misuse_is_said(ask, words, hint):
    done = ask(*words, *(["1"] if words else []))
    assert done.returncode == 2 and hint in done.stderr and not done.stdout


# --- output ---


def test_html_is_one_page_with_all(apis, ask, tmp_path):
    listed = [apis.add(make_paper(number, kind)) for number, kind in ((1, "open"), (2, "bmc"))]
    listed[0].title = "Of <script>alert(1)</script> & tides"
    done = ask("--html", "--out", tmp_path / "page.html", *(paper.pmid for paper in listed))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.lower().count("<html") == 1 and page.rstrip().endswith("</html>")
    assert "<script" not in page
    for paper in listed:
        assert paper.abstract[:80] in page and paper.paragraphs[0][:80] in page and paper.journal in page


def test_plain_text_in_order(apis, ask):
    listed = [apis.add(make_paper(number, kind)) for number, kind in ((1, "bmc"), (2, "open"))]
    done = ask("--plain", *(paper.pmid for paper in listed))
    assert done.returncode == 0, done.stderr
    assert done.stdout.index(listed[0].title) < done.stdout.index(listed[1].title)
    assert "FULLTEXT" in done.stdout and f"PMID: {listed[0].pmid}" in done.stdout


def test_exchanges_are_archived(apis, publications, tmp_path):
    paper = apis.add(make_paper(5, "bmc"))
    publications(paper.pmid, "--warc", tmp_path / "warc")
    files = list((tmp_path / "warc").glob("*.warc.gz"))
    assert len(files) == 1
    checked = subprocess.run([sys.executable, "-m", "warcio.cli", "check", *map(str, files)], capture_output=True, text=True,
                             check=False)
    assert checked.returncode == 0, checked.stdout
    index = subprocess.run([sys.executable, "-m", "warcio.cli", "index", "-f", "warc-type,warc-target-uri", *map(str, files)],
                           capture_output=True, text=True, check=True).stdout
    archived = {json.loads(line)["warc-target-uri"] for line in index.splitlines() if '"response"' in line}
    asked = {f"http://{host}{path}" for _, host, path in apis.services}
    assert {urllib.parse.unquote(url) for url in archived} == {urllib.parse.unquote(url) for url in asked}


def test_an_output_that_cannot_be_written(apis, ask, tmp_path):
    paper = apis.add(make_paper(5, "open"))
    done = ask(paper.pmid, "--out", tmp_path / "no" / "file")
    assert done.returncode == 3 and "no/file" in done.stderr
    if os.path.exists("/dev/full"):
        done = ask(paper.pmid, "--out", "/dev/full")
        assert done.returncode == 3 and "/dev/full" in done.stderr


def test_a_signal_ends_it_with_what_is_there(apis, program, config, tmp_path, wait_until):
    paper, slow = apis.add(make_paper(5, "open")), apis.add(make_paper(6, "bmc"))
    apis.fault("page", Answer(200, b"", delay_s=60), of=slow)
    path = write_config(tmp_path / "ctl.yaml", {**config, "stop.drain_ms": 1000})
    with subprocess.Popen([program("ingestctl"), "--config", path, "publication", paper.pmid, slow.pmid], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: apis.asked()["page"] == 1 and apis.asked()["europepmc-xml"] == 1, timeout=60)
        process.send_signal(signal.SIGTERM)
        out, words = process.communicate(timeout=60)
    assert process.returncode == 4, words
    assert "1 of 2 have no result" in words
    first, second = [json.loads(line) for line in out.splitlines()]
    check(paper, first)
    assert second["id"] == slow.pmid and second["error"] is None


# --- manners ---


def test_services_are_asked_no_faster_than_they_want(apis, publications, config, tmp_path):
    """By the shipped hosts.yaml."""
    listed = [apis.add(make_paper(number, "repository")) for number in range(1, 4)]
    config["rules.dir"] = str(RULES)
    publications(*(paper.doi for paper in listed))
    for host, delay_s in (("www.ebi.ac.uk", 0.12), ("eutils.ncbi.nlm.nih.gov", 0.334), ("api.unpaywall.org", 0.864)):
        seen = apis.server.seen(host, robots=False)
        assert len(seen) >= 3, host
        assert min(gaps(seen)) >= delay_s - 0.02, (host, gaps(seen))


def test_what_does_not_depend_on_one_another_is_asked_side_by_side(apis, publications):
    """After Europe PMC's search, which alone may be enough."""
    paper = apis.add(make_paper(5, "bmc"))
    slow = apis.server.scripts["*", "*"][0]
    apis.server.page("*", "*", lambda request: dataclasses.replace(slow(request), delay_s=0.5))
    [found] = publications(paper.pmid)
    check(paper, found)
    seen = apis.server.seen()
    assert "search" in seen[0].path and seen[0].end <= seen[1].start
    assert most_at_once(seen) >= 3


def test_publications_that_are_begun_end_before_others_are_begun(apis, publications):
    listed = [apis.add(make_paper(number, "open")) for number in range(1, 13)]
    slow = apis.server.scripts["*", "*"][0]
    # Long beside what it takes to read an answer, on a busy machine, too.
    apis.server.page("*", "*", lambda request: dataclasses.replace(slow(request), delay_s=0.25))
    publications(*(paper.pmid for paper in listed))
    paths = [one.path for one in apis.server.seen("www.ebi.ac.uk")]
    searches = [at for at, path in enumerate(paths) if "search" in path]
    texts = [at for at, path in enumerate(paths) if "fullTextXML" in path]
    assert texts[2] < searches[11], paths  # all searches were waiting when the first was answered


def test_robots_txt_counts_for_pages_but_not_for_services(apis, publications, config):
    paper = apis.add(make_paper(5, "bmc"))
    config["gate.robots"] = "obey"
    apis.server.robots(paper.host, "User-agent: *\nDisallow: /articles/\n")
    apis.server.robots("www.ebi.ac.uk", "User-agent: *\nDisallow: /\n")
    [found] = publications(paper.pmid)
    assert found["title"]["type"] == "europepmc"
    assert apis.asked()["page"] == 0
    assert any(one["resource"] == "doi" and one["status"] != "success" for one in found["resources"])


def test_services_are_told_who_asks(apis, publications):
    paper = apis.add(make_paper(5, "repository"))
    publications(paper.doi)
    paths = {service: path for service, _, path in apis.services}
    assert "email=tests%40tests.example" in paths["pubmed-xml"] or "email=tests@tests.example" in paths["pubmed-xml"]
    assert "tool=ingest-worker" in paths["pubmed-xml"]
    assert "tests" in paths["unpaywall"].split("email=")[1]


# --- what is kept ---


@pytest.fixture
def kept(database):
    """Settings with which publications are kept."""
    return {"postgres.dsn": database, "instance": "shell"}


def test_the_shell_keeps_what_it_finds_and_does_not_fetch_it_again(apis, publications, kept, sql):
    paper = apis.add(make_paper(5, "open"))
    [first] = publications(paper.pmid, overrides=kept)
    check(paper, first)
    [row] = sql("SELECT * FROM publication")
    assert (row["pmid"], row["pmcid"], row["doi"]) == (paper.pmid, paper.pmcid, paper.doi.upper())
    assert row["record"]["title"]["content"] == first["title"]["content"]
    asked = len(apis.services)
    [second] = publications(paper.doi, overrides=kept)
    assert len(apis.services) == asked, apis.services[asked:]
    check(paper, second)
    publications(paper.doi, "--force", overrides=kept)
    assert len(apis.services) > asked


def test_the_shell_leaves_the_leases_of_a_worker_alone(served, worker, ask, settings, submit, results):
    """Both have the same configuration file."""
    one, two = served.add(make_paper(5, "open")), served.add(make_paper(6, "open"))
    with worker() as daemon:
        submit(request_for(one))
        results(1)
        done = ask(two.pmid, overrides={"postgres.dsn": settings["postgres.dsn"], "instance": settings["instance"]})
        assert done.returncode == 0
        assert "lease" not in done.stderr
        submit(request_for(two, force_recrawl=True))
        check(two, next(result for result in results(2) if result["request"]["link_source_id"] == "6")["publication"])
        assert "lease" not in daemon.log()


def test_one_that_was_empty_is_fetched_again_when_it_is_due(apis, ask, publications, kept, sql):
    paper = make_paper(5, "bmc")
    assert ask(paper.pmid, overrides=kept).returncode == 1
    apis.add(paper)
    [found] = publications(paper.pmid, overrides={**kept, "publication.empty_cooldown": 0})
    check(paper, found)
    assert len(sql("SELECT * FROM publication")) == 1


def test_two_that_turn_out_to_be_one_are_one_row(apis, ask, kept, sql):
    """By its DOI nobody had it, by its PMID later it is found with that DOI."""
    paper = make_paper(5, "bmc")
    assert ask(paper.doi, overrides=kept).returncode == 1
    apis.add(paper)
    assert ask(paper.pmid, overrides=kept).returncode == 0
    [row] = sql("SELECT * FROM publication")
    assert (row["pmid"], row["doi"]) == (paper.pmid, paper.doi.upper())


# --- the daemon ---


@pytest.fixture
def served(settings, apis, tmp_path):
    """The services for the test's workers."""
    settings.update(apis.settings())
    settings["rules.dir"] = str(shipped_rules(tmp_path / "worker-rules", RULES))
    return apis


def request_for(paper, **more):
    ids = {name: getattr(paper, name) for name in ("pmid", "pmcid", "doi") if getattr(paper, name)}
    first = next(iter(ids))
    return {"ingest_type": "publication", "ext_ids": {first: ids[first]}, "link_source_id": str(paper.number), **more}


def test_the_daemon_answers_requests_for_publications(served, worker, submit, results):
    listed = [served.add(paper) for paper in population(40, seed=5)]
    submit([request_for(paper) for paper in listed])
    with worker():
        found = {result["request"]["link_source_id"]: result for result in results(len(listed), timeout=120)}
    assert len(found) == len(listed)
    for paper in listed:
        result = found[str(paper.number)]
        assert result["hit"] == (paper.kind != "nowhere"), (paper.kind, result["status"])
        check(paper, result["publication"])
    served.check_manners()


def test_the_daemon_answers_with_what_is_kept(served, worker, submit, results, schema):
    """By another identifier, without asking anybody; unless it is told to fetch."""
    paper = served.add(make_paper(5, "open"))
    with worker():
        submit(request_for(paper))
        results(1)
        asked = len(served.services)
        submit({**request_for(paper, link_source_id="again"), "ext_ids": {"doi": paper.doi.lower()}})
        again = next(result for result in results(2) if result["request"]["link_source_id"] == "again")
        assert (again["status"], again["hit"], again["existing"]["status"]) == ("existing", True, "success")
        schema("ingest-result").validate(again)
        check(paper, again["publication"])
        assert len(served.services) == asked
        submit(request_for(paper, link_source_id="anew", force_recrawl=True))
        results(3)
        assert len(served.services) > asked


def test_everything_that_was_asked_is_archived_with_its_row(served, worker, submit, results, sql):
    paper = served.add(make_paper(5, "bmc"))
    submit(request_for(paper))
    with worker():
        [result] = results(1)
    found = {row["url"]: row for row in sql("SELECT * FROM cdx")}
    for resource in result["publication"]["resources"]:
        if resource["http_status"]:
            assert resource["final_url"] in found, (resource["resource"], sorted(found))
    for row in found.values():
        assert row["warc_path"] and row["warc_csize"] > 0


def test_a_worker_that_is_killed_leaves_no_publication_out(served, worker, submit, results, wait_until):
    listed = [served.add(paper) for paper in population(30, seed=6)]
    submit([request_for(paper) for paper in listed])
    with worker() as first:
        wait_until(lambda: served.asked()["europepmc"] >= 10, timeout=60)
        first.kill()
    with worker():
        found = results(len(listed), timeout=120)
    for result in found:
        paper = next(one for one in listed if str(one.number) == result["request"]["link_source_id"])
        check(paper, result["publication"])


# --- web pages ---


def test_web_pages(apis, ask):
    paper = apis.add(make_paper(9, "bmc"))
    apis.say("page", paper, html("<title>Tides Tool</title><nav>Home</nav><article><h1>Tides</h1><p>" + paper.abstract + "</p></article>"))
    done = ask(f"http://tool.example/article/{paper.number}", verb="webpage")
    assert done.returncode == 0, done.stderr
    [found] = [json.loads(line) for line in done.stdout.splitlines()]
    assert found["startUrl"].endswith(f"/{paper.number}") and found["statusCode"] == 200
    assert found["title"] == "Tides Tool" and paper.abstract[:60] in found["content"]


def test_a_web_page_that_is_not_there(apis, ask):
    done = ask("http://tool.example/none", verb="webpage")
    assert done.returncode == 1 and "http://tool.example/none: " in done.stderr
