# SPDX-License-Identifier: GPL-3.0-or-later
"""Papers that do not exist, and what must be found of each of them.

A Paper has its identifiers and everything that services and publishers say of it (apis.py serves that). Its kind
says who knows it; from the kind follow the parts with which a publication of it must end, with the type of each,
when nothing fails: wanted().

    for paper in population(100, seed=1):
        paper.ids()        # ways to ask for it: "31000001", "PMC7000001", "10.5555/f.1"
        paper.wanted()     # {"title": ("europepmc", "Of tides …"), "fulltext": ("europepmc_xml", None), …}

The same arguments give the same papers.
"""

import dataclasses
import random

WORDS = """tide creek marsh sediment salinity estuary gradient sample station survey density larvae crab heron reed plankton
nitrate oxygen column current shore gauge model estimate variance season winter spring transect quadrat habitat signal
response protein sequence cell assay culture membrane receptor binding kinase cluster network graph method result""".split()
GIVEN = "Ada Berit Chidi Dolores Emre Fatou Goran Hanna Ines Jomo Katya Lars".split()
FAMILY = "Abara Bergström Castillo Demir Eriksen Fofana Galić Halvorsen Ibarra Jansen Kowalska Lindqvist".split()
HEADINGS = ("Introduction", "Methods", "Results", "Discussion")


@dataclasses.dataclass
class Author:
    given: str
    family: str
    orcid: str = None  # bare
    email: str = None
    corresponding: bool = False

    @property
    def name(self):
        return f"{self.given} {self.family}"


@dataclasses.dataclass
class Paper:
    """Lists of terms: mesh (term, major, unique id), efo and go (term, count, URI)."""

    number: int
    kind: str
    title: str
    abstract: str
    sections: list  # (heading, [paragraph])
    authors: list
    journal: str
    date: str
    pmid: str = None
    pmcid: str = None
    doi: str = None
    host: str = None  # of the publisher
    keywords: list = dataclasses.field(default_factory=list)
    mesh: list = dataclasses.field(default_factory=list)
    efo: list = dataclasses.field(default_factory=list)
    go: list = dataclasses.field(default_factory=list)
    citations: int = 0
    licence: str = "https://creativecommons.org/licenses/by/4.0/"
    search_keywords: bool = True  # Europe PMC's search has them

    def ids(self):
        return [one for one in (self.pmid, self.pmcid, self.doi) if one]

    @property
    def knows(self):
        """The services that have it, as KINDS says."""
        return KINDS[self.kind].knows

    @property
    def paragraphs(self):
        return [paragraph for _, paragraphs in self.sections for paragraph in paragraphs]

    def wanted(self):
        """{part: (type, content)}; content None: by its type alone. Of a full text each paragraph must be in it."""
        return wanted(self)


@dataclasses.dataclass
class Kind:
    """knows: services that have a record. types: {part: type} of what a publication ends with; "fulltext" absent: it
    has none. share: of a population."""

    share: int
    knows: tuple
    types: dict
    ids: tuple = ("pmid", "doi")
    doi: str = "10.5555/f.{}"
    host: str = "press.example"


OF_SEARCH = {"title": "europepmc", "abstract": "europepmc", "mesh": "europepmc", "efo": "europepmc", "go": "europepmc"}

KINDS = {
    # Open access at Europe PMC, with its XML.
    "open": Kind(40, ("europepmc", "europepmc-xml", "mined", "pubmed", "unpaywall", "crossref", "openalex"),
                 {**OF_SEARCH, "keywords": "europepmc", "fulltext": "europepmc_xml"}, ids=("pmid", "pmcid", "doi")),
    # No full text but the publisher's page, of a site that the rules know.
    "bmc": Kind(15, ("europepmc", "mined", "pubmed", "unpaywall", "crossref", "openalex"),
                {**OF_SEARCH, "keywords": "doi", "fulltext": "doi"}, doi="10.1186/s12345-020-{:05}-1",
                host="bmctides.biomedcentral.com"),
    "plos": Kind(10, ("europepmc", "pubmed", "unpaywall", "crossref", "openalex"),
                 {"title": "europepmc", "abstract": "europepmc", "mesh": "europepmc", "keywords": "doi",
                  "fulltext": "doi"}, doi="10.1371/journal.pone.{:07}", host="journals.plos.org"),
    # The page has nothing but its <meta> elements, which name a PDF.
    "meta": Kind(10, ("europepmc", "pubmed", "crossref", "openalex"),
                 {"title": "europepmc", "abstract": "europepmc", "mesh": "europepmc", "keywords": "citation",
                  "fulltext": "pdf_citation"}, doi="10.5556/f.{}", host="meta.press.example"),
    # A copy in a repository, which Unpaywall knows.
    "repository": Kind(8, ("europepmc", "pubmed", "unpaywall", "crossref", "openalex"),
                       {"title": "europepmc", "abstract": "europepmc", "mesh": "europepmc", "keywords": "europepmc",
                        "fulltext": "pdf_oadoi"}, doi="10.5557/f.{}", host="closed.press.example"),
    # An author's manuscript, of which PMC has only the page.
    "manuscript": Kind(5, ("europepmc", "mined", "pubmed", "pmc-xml", "pmc-html", "crossref", "openalex"),
                       {**OF_SEARCH, "keywords": "europepmc", "fulltext": "pmc_html"}, ids=("pmid", "pmcid", "doi"),
                       doi="10.5558/f.{}", host="closed.press.example"),
    # Not of the life sciences: Crossref knows it, and the page says nothing.
    "crossref": Kind(5, ("crossref", "openalex"),
                     {"title": "crossref", "abstract": "crossref", "fulltext": "pdf_crossref"}, ids=("doi",),
                     doi="10.5559/F(2020)<{}>&X+Y;1", host="bare.press.example"),
    "datacite": Kind(3, ("datacite",), {"title": "datacite", "abstract": "datacite", "keywords": "datacite",
                                        "fulltext": "webpage"}, ids=("doi",), doi="10.5560/data.{}",
                     host="data.press.example"),
    # Preprints.
    # The shipped blocklist keeps away from arXiv's DOIs; its API leads to the PDF.
    "arxiv": Kind(2, ("datacite", "arxiv"), {"title": "datacite", "abstract": "datacite", "fulltext": "pdf_arxiv"}, ids=("doi",),
                  doi="10.48550/arXiv.2101.{:05}", host="arxiv.org"),
    "biorxiv": Kind(1, ("europepmc", "biorxiv", "crossref", "openalex"),
                    {"title": "europepmc", "abstract": "europepmc", "fulltext": "pdf_doi"}, ids=("doi",),
                    doi="10.1101/2020.01.01.{:06}", host="www.biorxiv.org"),
    # Nobody has it.
    "nowhere": Kind(1, (), {}, ids=("pmid",)),
}


def sentence(rng, length):
    words = [rng.choice(WORDS) for _ in range(length)]
    return (" ".join(words)).capitalize() + "."


def paragraph(rng, length):
    """About so many characters of sentences."""
    out = sentence(rng, rng.randint(8, 16))
    while len(out) < length:
        out += " " + sentence(rng, rng.randint(8, 16))
    return out


def make_orcid(rng):
    digits = "00000002" + "".join(rng.choice("0123456789") for _ in range(7))
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    digits += "X" if check == 10 else str(check)
    return "-".join(digits[at:at + 4] for at in range(0, 16, 4))


def make_authors(rng, number):
    names = rng.sample([(given, family) for given in GIVEN for family in FAMILY], 3)
    authors = [Author(given, family) for given, family in names]
    for author in authors[:2]:
        author.orcid = make_orcid(rng)
    authors[1].corresponding = True
    authors[1].email = f"author{number}@uni.example"
    return authors


def make_paper(number, kind, seed=0):
    """A paper of that kind; the same arguments make the same."""
    rng = random.Random(f"{seed} {number} {kind}")
    row = KINDS[kind]
    paper = Paper(
        number, kind,
        title=f"Of {rng.choice(WORDS)}s and {rng.choice(WORDS)}s: study {number}",
        abstract=paragraph(rng, 400),
        sections=[(heading, [paragraph(rng, 700), paragraph(rng, 500)]) for heading in HEADINGS],
        authors=make_authors(rng, number),
        journal=f"Journal of {rng.choice(WORDS)} studies",
        date=f"20{rng.randint(10, 23)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        pmid=str(31000000 + number) if "pmid" in row.ids else None,
        pmcid=f"PMC{7000000 + number}" if "pmcid" in row.ids else None,
        doi=row.doi.format(number) if "doi" in row.ids else None,
        host=row.host,
        keywords=[f"{word} {number}" for word in rng.sample(WORDS, 4)] if "keywords" in row.types else [],
        citations=rng.randint(0, 300))
    if "mesh" in row.types:
        paper.mesh = [(word.capitalize(), at == 0, f"D{number * 3 + at:06}")
                      for at, word in enumerate(rng.sample(WORDS, 3))]
    if "mined" in row.knows:
        paper.efo = [(f"{word} assay", 3 - at, f"http://www.ebi.ac.uk/efo/EFO_{number * 3 + at:07}")
                     for at, word in enumerate(rng.sample(WORDS, 2))]
        paper.go = [(f"{word} process", 5 - at, f"http://purl.obolibrary.org/obo/GO_{number * 3 + at:07}")
                    for at, word in enumerate(rng.sample(WORDS, 2))]
    # Of one in four the search has no keywords, but the XML has them.
    paper.search_keywords = not (kind == "open" and number % 4 == 0)
    return paper


def population(count, seed=0):
    """So many papers of all kinds, in their shares, in an order that mixes them."""
    spread = sorted(((at + 0.5) / kind.share, name) for name, kind in KINDS.items() for at in range(kind.share))
    kinds = [spread[at % len(spread)][1] for at in range(count)]
    random.Random(seed).shuffle(kinds)
    return [make_paper(number, kind, seed) for number, kind in enumerate(kinds, 1)]


def wanted(paper):
    types = dict(KINDS[paper.kind].types)
    if not paper.search_keywords and types.get("keywords") == "europepmc":
        types["keywords"] = "europepmc_xml"
    contents = {
        "title": paper.title, "abstract": paper.abstract, "keywords": paper.keywords,
        "mesh": [term for term, _, _ in paper.mesh], "efo": [term for term, _, _ in paper.efo],
        "go": [term for term, _, _ in paper.go]}
    return {part: (kind, contents.get(part)) for part, kind in types.items()}


def check(paper, publication):
    """Fails unless a publication (result.publication) has what it must have, and no more parts than that."""
    want = wanted(paper)
    for part in ("title", "keywords", "mesh", "efo", "go", "abstract", "fulltext"):
        got = publication[part]
        where = f"paper {paper.number} ({paper.kind}) {paper.ids()}: {part}"
        if part not in want:
            assert got is None or got["empty"], f"{where}: {got['type']}: {str(got)[:200]}"
            continue
        kind, content = want[part]
        assert got is not None, f"{where}: nothing, not {kind}"
        assert got["type"] == kind, f"{where}: of type {got['type']}, not {kind}"
        if part in ("keywords", "mesh", "efo", "go"):
            terms = [one if isinstance(one, str) else one["term"] for one in got["list"]]
            assert terms == content, f"{where}: {terms}, not {content}"
            assert got["size"] == len(content), f"{where}: size {got['size']}"
        elif content is not None:
            assert got["content"].rstrip(".") == content.rstrip("."), f"{where}: {got['content']!r}, not {content!r}"
        elif kind != "webpage":
            check_text(where, paper, got)
        assert got["url"] and got["timestamp"] and got["timestampHuman"].endswith("Z"), where
    for part in ("pmid", "pmcid", "doi"):
        got = publication[part] and publication[part]["content"]
        want_id = getattr(paper, part)
        if want_id and paper.kind != "nowhere":
            assert (got or "").upper() == want_id.upper(), f"paper {paper.number} ({paper.kind}): {part} {got}, not {want_id}"


def check_text(where, paper, got):
    text = " ".join(got["content"].split())
    for one in paper.paragraphs:
        assert one[:60] in text, f"{where}: without {one[:60]!r}"
    assert got["size"] >= sum(map(len, paper.paragraphs)) * 0.95, f"{where}: size {got['size']}"
