# SPDX-License-Identifier: GPL-3.0-or-later
"""The services that say something of publications, and their publishers, for a population of papers (papers.py).

All are hosts of one PoliteServer, which keeps a record of who was asked when. They have their real names and paths, over
plain http, so that the shipped rules about hosts and sites count:

    with Apis(population(100)) as apis:
        settings.update(apis.settings())
        apis.fault("crossref", Answer(429, headers={"Retry-After": "1"}))   # the next answer of that service
        …
        apis.asked()            # {"europepmc": 100, "europepmc-xml": 40, …}
        apis.check_manners()    # no host was asked twice at once

A service is known by the name of the resource that asks it: europepmc, europepmc-xml, mined, pubmed-xml, pubmed-html,
pmc-xml, pmc-html, doi, unpaywall, crossref, datacite, openalex, arxiv, biorxiv, doaj; "page" is a publisher's or
repository's, "pdf" a PDF of one.
"""

import collections
import re
import urllib.parse

from servers import papers as population_of
from servers import records
from servers.polite import Answer, PoliteServer, most_at_once, redirect

BASES = {
    "europepmc_url": "http://www.ebi.ac.uk/europepmc/webservices/rest",
    "annotations_url": "http://www.ebi.ac.uk/europepmc/annotations_api",
    "eutils_url": "http://eutils.ncbi.nlm.nih.gov/entrez/eutils",
    "pmc_url": "http://pmc.ncbi.nlm.nih.gov",
    "pubmed_url": "http://pubmed.ncbi.nlm.nih.gov",
    "doi_url": "http://doi.org",
    "unpaywall_url": "http://api.unpaywall.org/v2",
    "crossref_url": "http://api.crossref.org",
    "datacite_url": "http://api.datacite.org",
    "openalex_url": "http://api.openalex.org",
    "arxiv_url": "http://export.arxiv.org/api",
    "biorxiv_url": "http://api.biorxiv.org",
    "doaj_url": "http://doaj.org/api",
}


def xml(text):
    return Answer(body=text.encode(), type="text/xml;charset=UTF-8")


def js(text):
    return Answer(body=text.encode(), type="application/json")


def html(text):
    return Answer(body=text.encode(), type="text/html; charset=utf-8")


def portable(paper):
    return Answer(body=records.pdf(paper), type="application/pdf")


def shipped_rules(folder, source, delay_ms=0):
    """A copy of the shipped rules in a new folder, whose hosts.yaml has this pause for all services."""
    folder.mkdir()
    for path in source.glob("*.yaml"):
        (folder / path.name).write_bytes(path.read_bytes())
    hosts = sorted({urllib.parse.urlsplit(url).hostname for url in BASES.values()})
    (folder / "hosts.yaml").write_text("".join(
        f"- {{host: {host}, delay_ms: {delay_ms}, concurrency: 1, why: the test}}\n" if host != "doi.org"
        else "- {host: doi.org, resolver: true, delay_ms: 0, why: the test}\n" for host in hosts), encoding="utf-8")
    return folder


class Apis:
    """Serves these papers. Others are added with add(); what one service says of one is changed by say()."""

    def __init__(self, papers=(), tls=None):
        self.server = PoliteServer(tls=tls)
        self.faults = collections.defaultdict(list)
        self.said = {}
        self.services = []  # (service, host, path) of each request, in order
        self.papers, self.by = [], {}
        for paper in papers:
            self.add(paper)
        self.server.page("*", "*", self._answer)
        self.server.page("*", "/robots.txt", Answer(404, b"no such thing"))

    def __enter__(self):
        self.server.__enter__()
        return self

    def __exit__(self, *how):
        return self.server.__exit__(*how)

    def add(self, paper):
        self.papers.append(paper)
        for one in paper.ids():
            self.by[one.upper()] = paper
        self.by[f"/{paper.number}"] = paper
        return paper

    def settings(self):
        """Of the configuration."""
        return {**{f"publication.{key}": url for key, url in BASES.items()}, "publication.email": "tests@tests.example",
                "fetch.connect_to": self.server.connect_to(), "fetch.allow_address": ["127.0.0.0/8"]}

    def sets(self):
        """The same as words of a command line."""
        words = []
        for key, value in self.settings().items():
            words += ["--set", f"{key}={value if isinstance(value, str) else '[' + ','.join(map(quoted, value)) + ']'}"]
        return words

    # --- what a test changes ---

    def fault(self, service, answer, times=1, of=None):
        """The next answers of a service, a host or ("", any), to requests about that paper or all, are this one."""
        self.faults[service].append([times, of, answer])

    def say(self, service, paper, answer):
        """What a service says of a paper from now on. answer: an Answer, or a function of the request."""
        self.said[service, paper.number] = answer

    # --- what they have seen ---

    def asked(self):
        """How often each service was asked."""
        return collections.Counter(service for service, _, _ in self.services)

    def asked_about(self, paper):
        """The services that were asked about one paper, in order."""
        return [service for service, _, path in self.services if self._paper_in(path) is paper]

    def hosts(self):
        return sorted({one.host for one in self.server.seen()})

    def check_manners(self, but=("doi.org",)):
        """No host was asked twice at once; but for resolvers."""
        for host in self.hosts():
            if host not in but:
                assert most_at_once(self.server.seen(host)) == 1, f"{host} was asked twice at once"

    # --- answering ---

    def _paper_in(self, path):
        words = urllib.parse.unquote(path).upper()
        for one in re.findall(r"(?<![0-9])3[1-9][0-9]{6}(?![0-9])|PMC[0-9]+", words):
            if one in self.by:
                return self.by[one]
        number = re.search(r"[?&]ID=([0-9]+)", words)
        if number and "DB=PMC" in words:
            return self.by.get("PMC" + number[1])
        by_doi = [paper for paper in self.papers if paper.doi and paper.doi.upper() in words]
        if by_doi:
            return max(by_doi, key=lambda paper: len(paper.doi))
        arxiv = re.search(r"[0-9]{4}\.[0-9]{5}", words)
        if arxiv and "10.48550/ARXIV." + arxiv[0] in self.by:
            return self.by["10.48550/ARXIV." + arxiv[0]]
        number = re.search(r"/[0-9]+(?=(?:\.PDF)?$)", words)
        return self.by.get(number[0]) if number else None

    def _answer(self, request):
        paper = self._paper_in(request.path)
        service, answer = self._route(request, paper)
        with self.server.lock:
            self.services.append((service, request.host, request.path))
            for key in (service, request.host, ""):
                for fault in self.faults[key]:
                    if fault[0] > 0 and (fault[1] is None or fault[1] is paper):
                        fault[0] -= 1
                        return fault[2](request) if callable(fault[2]) else fault[2]
        said = self.said.get((service, paper.number if paper else None))
        if said is not None:
            return said(request) if callable(said) else said
        return answer() if callable(answer) else answer

    def _route(self, request, paper):
        """The name of the service, and what it says: an Answer or a function that makes it."""
        host, path = request.host, request.path
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
        if host == "www.ebi.ac.uk":
            return self._europepmc(path, query, paper)
        if host == "eutils.ncbi.nlm.nih.gov":
            return self._eutils(query, paper)
        if host in ("www.ncbi.nlm.nih.gov", "pubmed.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov"):
            return self._ncbi(host, path, paper)
        if host == "doi.org":
            known = paper is not None and paper.doi
            return "doi", redirect(landing_url(paper)) if known else Answer(404, b"<html><title>DOI Not Found</title></html>")
        if host in SERVICES:
            service, known, unknown = SERVICES[host]
            return service, (lambda: known(paper)) if paper is not None and service in paper.knows else unknown
        return self._publisher(host, path, paper)

    def _europepmc(self, path, query, paper):
        knows = paper.knows if paper is not None else ()
        if "/annotationsByArticleIds" in path:
            kind = query.get("type", [""])[0]
            source = query.get("articleIds", [""])[0].split(":")[0]
            # An article that PMC has is annotated under that name.
            mine = "mined" in knows and (source == "PMC") == bool(paper.pmcid)
            terms = (paper.go if kind == "Gene Ontology" else paper.efo) if mine else []
            return "mined", xml(records.annotations(paper, terms, kind, source))
        if path.split("?")[0].endswith("/fullTextXML"):
            if "europepmc-xml" in knows:
                return "europepmc-xml", xml(records.jats(paper))
            return "europepmc-xml", Answer(404, b'{"timestamp":"2024-01-01T00:00:00.000+00:00","status":404,"error":"Not Found"}',
                                           type="application/json")
        found = [records.europepmc_result(paper)] if "europepmc" in knows else []
        return "europepmc", xml(records.europepmc_search(found, query.get("query", [""])[0]))

    def _eutils(self, query, paper):
        if query.get("db", [""])[0] == "pubmed":
            known = paper is not None and "pubmed" in paper.knows
            return "pubmed-xml", xml(records.pubmed_xml(paper) if known else records.NO_PUBMED)
        if paper is None or not {"europepmc-xml", "pmc-xml"} & set(paper.knows):
            return "pmc-xml", Answer(400, b"Cannot process ID list", type="text/plain")
        # Of a manuscript that is not open access only the front matter is given away.
        manuscript = "pmc-xml" in paper.knows
        return "pmc-xml", xml(records.pmc_articleset(records.jats(paper, body=not manuscript, manuscript=manuscript, doctype=False)))

    def _ncbi(self, host, path, paper):
        if "/articles/" in path or path.startswith("/pmc"):
            known = paper is not None and "pmc-html" in paper.knows
            return "pmc-html", html(records.pmc_html(paper)) if known else Answer(404, b"<title>Page not found</title>")
        if "term=" in path and paper is not None:
            return "pubmed-html", redirect(f"http://pubmed.ncbi.nlm.nih.gov/{paper.pmid}/")
        known = paper is not None and "pubmed" in paper.knows
        return "pubmed-html", html(records.pubmed_html(paper)) if known else Answer(404, b"<title>Page not found</title>")

    def _publisher(self, host, path, paper):
        if paper is None:
            return "page", Answer(404, b"<title>No such page</title>")
        if path.split("?")[0].endswith(".pdf") or "/pdf/" in path:
            return "pdf", lambda: portable(paper)
        if host == "repository.example":
            return "page", html(records.bare_page(paper, "A copy is kept here."))
        return "page", html(PAGES.get(paper.kind, records.bare_page)(paper))


def quoted(text):
    return '"' + text + '"'


def not_found(body, kind="text/plain"):
    return Answer(404, body, type=kind)


def copies_of(paper):
    """Open copies as Unpaywall lists them."""
    if paper.kind == "repository":
        return [("repository", f"http://repository.example/items/{paper.number}", f"http://repository.example/files/{paper.number}.pdf")]
    if paper.kind in ("open", "bmc", "plos"):
        return [("publisher", f"https://doi.org/{paper.doi}", None)]
    return []


def links_of(paper):
    return [(f"http://{paper.host}/pdf/{paper.number}.pdf", "application/pdf")] if paper.kind == "crossref" else []


def arxiv_number(paper):
    return paper.doi.split("arXiv.")[1]


SERVICES = {  # by host: name, what is said of a paper that it knows, and of another
    "api.unpaywall.org": ("unpaywall", lambda paper: js(records.unpaywall(paper, copies_of(paper))),
                          not_found(b'{"HTTP_status_code":404,"error":true,"message":"it isn\'t in Unpaywall"}', "application/json")),
    "api.crossref.org": ("crossref", lambda paper: js(records.crossref(paper, links_of(paper))), not_found(b"Resource not found.")),
    "api.datacite.org": ("datacite", lambda paper: js(records.datacite(paper)), not_found(
        b'{"errors":[{"status":"404","title":"The resource you are looking for doesn\'t exist."}]}', "application/json")),
    "api.openalex.org": ("openalex", lambda paper: js(records.openalex(paper)), not_found(b"<!doctype html><title>404 Not Found</title>", "text/html")),
    "export.arxiv.org": ("arxiv", lambda paper: xml(records.arxiv_feed(paper, arxiv_number(paper))), xml(records.arxiv_feed(None, "0"))),
    "api.biorxiv.org": ("biorxiv", lambda paper: js(records.biorxiv(paper)), js('{"messages":[{"status":"no posts found"}],"collection":[]}')),
    "doaj.org": ("doaj", lambda paper: js(records.doaj(paper)), js(records.NO_DOAJ)),
}

PAGES = {
    "bmc": records.bmc_page, "plos": records.plos_page, "biorxiv": records.biorxiv_page,
    "meta": lambda paper: records.meta_page(paper, f"http://{paper.host}/pdf/{paper.number}.pdf"),
    "arxiv": lambda paper: records.arxiv_page(paper, arxiv_number(paper)),
}


def landing_url(paper):
    """Where its DOI leads."""
    return {
        "bmc": f"http://{paper.host}/articles/{paper.doi}", "plos": f"http://{paper.host}/plosone/article?id={paper.doi}",
        "arxiv": f"http://arxiv.org/abs/{arxiv_number(paper) if paper.kind == 'arxiv' else ''}",
        "biorxiv": f"http://{paper.host}/content/{paper.doi}v1",
    }.get(paper.kind, f"http://{paper.host}/article/{paper.number}")


wanted = population_of.wanted
