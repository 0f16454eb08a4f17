# SPDX-License-Identifier: GPL-3.0-or-later
"""What services and publishers say of a Paper (papers.py), in the forms in which they say it: element and member names,
their nesting and their quirks are those of the real answers. Functions of a paper; texts of str or bytes."""

import json
from xml.sax.saxutils import escape as escape_text

import makepdf


def esc(text):
    return escape_text(str(text), {'"': "&quot;"})


def many(template, items):
    return "".join(template.format(*map(esc, item if isinstance(item, tuple) else (item,))) for item in items)


# --- Europe PMC ---


def europepmc_result(paper, **changes):
    """One <result> of a search of type core. changes: other texts for elements, None leaves one out."""
    full = "europepmc-xml" in paper.knows
    values = {
        "id": paper.pmid or f"PPR{paper.number}", "source": "MED" if paper.pmid else "PPR", "pmid": paper.pmid,
        "pmcid": paper.pmcid, "doi": paper.doi, "title": paper.title + ".", "abstractText": paper.abstract,
        "isOpenAccess": "Y" if full else "N", "inEPMC": "Y" if paper.pmcid else "N",
        "inPMC": "Y" if paper.pmcid else "N", "hasPDF": "Y" if paper.pmcid else "N",
        "citedByCount": paper.citations, "hasTextMinedTerms": "Y" if "mined" in paper.knows else "N",
        "authMan": "Y" if paper.kind == "manuscript" else "N", "firstPublicationDate": paper.date,
        "journal": paper.journal if paper.pmid else None, **changes}

    def element(name, shown=None):
        return "" if values[name] is None else f"<{shown or name}>{esc(values[name])}</{shown or name}>"
    authors = "".join(
        f"<author><fullName>{esc(one.family)} {one.given[0]}</fullName><firstName>{esc(one.given)}</firstName>"
        f"<lastName>{esc(one.family)}</lastName><initials>{one.given[0]}</initials>"
        + (f'<authorId type="ORCID">{one.orcid}</authorId>' if one.orcid else "") +
        "<authorAffiliationDetailsList><authorAffiliation><affiliation>Institute of Tides, Somewhere."
        + (f" {one.email}" if one.email else "") + "</affiliation></authorAffiliation></authorAffiliationDetailsList></author>"
        for one in paper.authors)
    journal = "" if values["journal"] is None else (
        f"<journalInfo><issue>2</issue><volume>7</volume><journalIssueId>{2000000 + paper.number}</journalIssueId>"
        f"<yearOfPublication>{paper.date[:4]}</yearOfPublication><printPublicationDate>{paper.date}</printPublicationDate>"
        f"<journal><title>{esc(values['journal'])}</title><ISOAbbreviation>J Tide Stud</ISOAbbreviation>"
        f"<medlineAbbreviation>J Tide Stud</medlineAbbreviation><NLMid>101</NLMid><ISSN>1234-5679</ISSN></journal></journalInfo>")
    mesh = "".join(
        f"<meshHeading><majorTopic_YN>{'Y' if major else 'N'}</majorTopic_YN><descriptorName>{esc(term)}</descriptorName>"
        "</meshHeading>" for term, major, _ in paper.mesh)
    keywords = many("<keyword>{}</keyword>", paper.keywords if paper.search_keywords and "europepmc" in (
        _type_of(paper, "keywords"),) else [])
    return (
        "<result>" + element("id") + element("source") + element("pmid") + element("pmcid") + element("doi")
        + element("title") + f"<authorString>{esc(', '.join(one.family for one in paper.authors))}.</authorString>"
        f"<authorList>{authors}</authorList>{journal}<pubYear>{paper.date[:4]}</pubYear><pageInfo>1-12</pageInfo>"
        + element("abstractText") + "<language>eng</language><pubModel>Electronic</pubModel>"
        "<pubTypeList><pubType>research-article</pubType><pubType>Journal Article</pubType></pubTypeList>"
        + (f"<meshHeadingList>{mesh}</meshHeadingList>" if mesh else "")
        + (f"<keywordList>{keywords}</keywordList>" if keywords else "")
        + element("isOpenAccess") + element("inEPMC") + element("inPMC") + element("hasPDF")
        + "<hasBook>N</hasBook><hasSuppl>N</hasSuppl>" + element("citedByCount")
        + "<hasData>N</hasData><hasReferences>Y</hasReferences>" + element("hasTextMinedTerms")
        + "<hasDbCrossReferences>N</hasDbCrossReferences><hasLabsLinks>Y</hasLabsLinks>"
        + (f"<license>cc by</license>" if full else "")
        + element("authMan") + "<epmcAuthMan>N</epmcAuthMan><nihAuthMan>N</nihAuthMan>"
        "<hasTMAccessionNumbers>N</hasTMAccessionNumbers>"
        f"<dateOfCreation>{paper.date}</dateOfCreation><electronicPublicationDate>{paper.date}</electronicPublicationDate>"
        + element("firstPublicationDate") + "</result>")


def _type_of(paper, part):
    wanted = paper.wanted().get(part)
    return wanted and wanted[0]


def europepmc_search(results, query=""):
    """results: texts of <result>."""
    return ('<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
            '<responseWrapper xmlns:slx="http://www.scholix.org" xmlns:epmc="https://www.europepmc.org/data">'
            f"<version>6.9</version><hitCount>{len(results)}</hitCount><request><queryString>{esc(query)}</queryString>"
            "<resultType>core</resultType><cursorMark>*</cursorMark><pageSize>25</pageSize><sort></sort>"
            f"<synonym>false</synonym></request><resultList>{''.join(results)}</resultList></responseWrapper>")


def annotations(paper, terms, kind, source="PMC"):
    """terms: of paper.efo or paper.go. A term's count comes in two spellings."""
    out = []
    for term, count, uri in terms:
        for spelling, frequency in ((term, count - 1), (term.upper(), 1)):
            if frequency:
                out.append(
                    f"<annotation><exact>{esc(spelling)}</exact><tags><tag><name>{esc(term)}</name><uri>{esc(uri)}</uri></tag>"
                    f"</tags><id>http://europepmc.org/abstract/MED/{paper.pmid}#{len(out)}</id><type>{kind}</type>"
                    f"<frequency>{frequency}</frequency><section>Methods</section><provider>Europe PMC</provider></annotation>")
    item = "" if not out else (
        f"<item><source>{source}</source><extId>{paper.pmid}</extId><pmcid>{paper.pmcid or ''}</pmcid>"
        f"<annotations>{''.join(out)}</annotations></item>")
    return f'<?xml version="1.0" encoding="UTF-8"?><List>{item}</List>'


# --- JATS ---


def jats(paper, body=True, prefix=True, manuscript=False, doctype=True):
    """prefix: pmcid as PMC has it since 2024."""
    number = paper.pmcid[3:] if paper.pmcid else None
    contribs = "".join(
        '<contrib contrib-type="author"' + (' corresp="yes"' if one.corresponding else "") + ">"
        + (f'<contrib-id contrib-id-type="orcid" authenticated="true">https://orcid.org/{one.orcid}</contrib-id>' if one.orcid else "")
        + f"<name><surname>{esc(one.family)}</surname><given-names>{esc(one.given)}</given-names></name>"
        + ('<xref rid="cor1" ref-type="corresp">*</xref>' if one.corresponding else "") + "</contrib>"
        for one in paper.authors)
    notes = "".join(f'<corresp id="cor1">* E-mail: <email>{one.email}</email></corresp>' for one in paper.authors if one.corresponding)
    year, month, day = paper.date.split("-")
    sections = "".join(
        f'<sec id="s{at}"><title>{heading}</title>' + many("<p>{}</p>", paragraphs) + "</sec>"
        for at, (heading, paragraphs) in enumerate(paper.sections, 1)) if body else ""
    return (
        ('<?xml version="1.0"?>\n<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 '
         '20210610//EN" "JATS-archivearticle1-3.dtd">\n' if doctype else "")
        + '<article xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" '
        'article-type="research-article" xml:lang="en"><front><journal-meta><journal-id journal-id-type="nlm-ta">J Tide Stud'
        f"</journal-id><journal-title-group><journal-title>{esc(paper.journal)}</journal-title></journal-title-group>"
        '<issn pub-type="epub">1234-5679</issn><publisher><publisher-name>Press</publisher-name></publisher></journal-meta>'
        "<article-meta>" + (f'<article-id pub-id-type="pmid">{paper.pmid}</article-id>' if paper.pmid else "")
        + (f'<article-id pub-id-type="{"pmcid" if prefix else "pmc"}">{"PMC" if prefix else ""}{number}</article-id>' if number else "")
        + (f'<article-id pub-id-type="doi">{esc(paper.doi)}</article-id>' if paper.doi else "")
        + (f'<article-id pub-id-type="manuscript">NIHMS{paper.number}</article-id>' if manuscript else "")
        + f"<title-group><article-title>{esc(paper.title)}</article-title></title-group>"
        f'<contrib-group>{contribs}</contrib-group><author-notes>{notes}</author-notes>'
        f'<pub-date pub-type="epub"><day>{int(day)}</day><month>{int(month)}</month><year>{year}</year></pub-date>'
        '<permissions><license license-type="open-access" xlink:href="https://creativecommons.org/licenses/by/4.0/">'
        "<license-p>Under the terms of a licence.</license-p></license></permissions>"
        f"<abstract><title>Abstract</title><p>{esc(paper.abstract)}</p></abstract>"
        + (f'<kwd-group kwd-group-type="author">{many("<kwd>{}</kwd>", paper.keywords)}</kwd-group>' if paper.keywords else "")
        + f"</article-meta></front>{'<body>' + sections + '</body>' if sections else ''}<back><ack><p>We thank everybody.</p></ack>"
        "<ref-list><title>References</title><ref id=\"B1\"><element-citation><article-title>Another title</article-title>"
        '<pub-id pub-id-type="pmid">99</pub-id></element-citation></ref></ref-list></back></article>')


def pmc_articleset(*articles):
    return f'<?xml version="1.0" ?><pmc-articleset>{"".join(articles)}</pmc-articleset>'


# --- PubMed ---


def pubmed_xml(paper, own_ids=("pubmed", "doi", "pmc")):
    """own_ids: those of the article itself; its references have all."""
    year, month, day = paper.date.split("-")
    authors = "".join(
        f'<Author ValidYN="Y"><LastName>{esc(one.family)}</LastName><ForeName>{esc(one.given)}</ForeName>'
        f"<Initials>{one.given[0]}</Initials>"
        + (f'<Identifier Source="ORCID">{one.orcid}</Identifier>' if one.orcid else "")
        + "<AffiliationInfo><Affiliation>Institute of Tides, Somewhere."
        + (f" {one.email}." if one.email else "") + "</Affiliation></AffiliationInfo></Author>" for one in paper.authors)
    mesh = "".join(
        f'<MeshHeading><DescriptorName UI="{ui}" MajorTopicYN="{"Y" if major else "N"}">{esc(term)}</DescriptorName></MeshHeading>'
        for term, major, ui in paper.mesh)
    ids = {"pubmed": paper.pmid, "doi": paper.doi, "pmc": paper.pmcid}
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" '
        '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">\n<PubmedArticleSet><PubmedArticle>'
        f'<MedlineCitation Status="MEDLINE" Owner="NLM" IndexingMethod="Automated"><PMID Version="1">{paper.pmid}</PMID>'
        f'<DateCompleted><Year>{year}</Year><Month>{month}</Month><Day>{day}</Day></DateCompleted><Article PubModel="Electronic">'
        f'<Journal><ISSN IssnType="Electronic">1234-5679</ISSN><JournalIssue CitedMedium="Internet"><Volume>7</Volume><PubDate><Year>{year}'
        f"</Year></PubDate></JournalIssue><Title>{esc(paper.journal)}</Title><ISOAbbreviation>J Tide Stud</ISOAbbreviation></Journal>"
        f"<ArticleTitle>{esc(paper.title)}.</ArticleTitle><ELocationID EIdType=\"doi\" ValidYN=\"Y\">{esc(paper.doi or '')}</ELocationID>"
        f"<Abstract><AbstractText>{esc(paper.abstract)}</AbstractText></Abstract>"
        f'<AuthorList CompleteYN="Y">{authors}</AuthorList><Language>eng</Language>'
        f'<ArticleDate DateType="Electronic"><Year>{year}</Year><Month>{month}</Month><Day>{day}</Day></ArticleDate></Article>'
        + (f"<MeshHeadingList>{mesh}</MeshHeadingList>" if mesh else "") + "</MedlineCitation><PubmedData>"
        "<PublicationStatus>epublish</PublicationStatus><ArticleIdList>"
        + "".join(f'<ArticleId IdType="{kind}">{esc(ids[kind])}</ArticleId>' for kind in own_ids if ids[kind])
        + "</ArticleIdList><ReferenceList><Reference><Citation>Somebody. Another title.</Citation><ArticleIdList>"
        '<ArticleId IdType="pubmed">99</ArticleId><ArticleId IdType="pmc">PMC99</ArticleId><ArticleId IdType="doi">10.5555/other'
        "</ArticleId></ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle></PubmedArticleSet>")


NO_PUBMED = '<?xml version="1.0" ?>\n<PubmedArticleSet></PubmedArticleSet>'


def pubmed_html(paper):
    identifiers = (
        f'<li><span class="identifier pubmed"><span class="id-label">PMID:</span> <strong class="current-id" title="PubMed ID">{paper.pmid}</strong></span></li>'
        + (f'<li><span class="identifier pmc"><span class="id-label">PMCID:</span> <a class="id-link" href="https://pmc.ncbi.nlm.nih.gov/articles/{paper.pmcid}/">{paper.pmcid}</a></span></li>' if paper.pmcid else "")
        + (f'<li><span class="identifier doi"><span class="id-label">DOI:</span> <a class="id-link" href="https://doi.org/{esc(paper.doi)}">{esc(paper.doi)}</a></span></li>' if paper.doi else ""))
    mesh = "".join(f'<li><div class="keyword-actions"><button class="keyword-actions-trigger trigger keyword-link{" major" if major else ""}">{esc(term)}{"*" if major else ""}</button></div></li>' for term, major, _ in paper.mesh)
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{esc(paper.title)} - PubMed</title></head><body><main class="article-page" '
        f'id="article-page"><div id="article-details" class="article-details"><header class="heading" id="heading"><div id="full-view-heading">'
        f'<h1 class="heading-title">\n  {esc(paper.title)}\n</h1><ul class="identifiers" id="full-view-identifiers">{identifiers}</ul></div></header>'
        f'<div class="abstract" id="abstract"><h2 class="title">Abstract</h2><div class="abstract-content selected" id="eng-abstract">'
        f'<p>{esc(paper.abstract)}</p></div>'
        + (f'<p><strong class="sub-title">Keywords:</strong> {esc("; ".join(paper.keywords))}.</p>' if paper.keywords else "")
        + f'</div><div class="mesh-terms keywords-section" id="mesh-terms"><h2 class="title">MeSH terms</h2><ul class="keywords-list">{mesh}</ul></div>'
        "</div></main></body></html>")


# --- PMC ---


def pmc_html(paper):
    """The layout of 2024 and later."""
    sections = "".join(
        f'<section id="S{at}"><h2 class="pmc_sec_title">{heading}</h2>' + many("<p>{}</p>", paragraphs) + "</section>"
        for at, (heading, paragraphs) in enumerate(paper.sections, 1))
    return (
        f'<!DOCTYPE html><html lang="en"><head><title>{esc(paper.title)} - PMC</title>'
        f'<meta name="citation_journal_title" content="{esc(paper.journal)}"><meta name="citation_title" content="{esc(paper.title)}">'
        f'<meta name="citation_doi" content="{esc(paper.doi or "")}"><meta name="citation_pmid" content="{paper.pmid or ""}">'
        f'<meta name="citation_pdf_url" content="https://pmc.ncbi.nlm.nih.gov/articles/{paper.pmcid}/pdf/nihms.pdf"></head><body>'
        '<header class="usa-header">An official website</header><div class="usa-overlay"></div><main id="main-content" class="usa-layout-docs">'
        '<aside class="usa-width-one-third"><section class="pmc-sidenav"><ul class="usa-list actions"><li><a href="pdf/nihms.pdf" class="pdf-link">PDF</a></li></ul></section></aside>'
        f'<article lang="en"><section class="pmc-layout__disclaimer" aria-label="Disclaimer note">As a library, NLM provides access.</section>'
        f'<section class="pmc-layout__citation font-secondary font-xs"><div>{esc(paper.journal)}. Author manuscript.</div></section>'
        f'<section class="front-matter"><div class="ameta p font-secondary font-xs"><hgroup><h1>{esc(paper.title)}</h1></hgroup>'
        f'<div class="cg p">{", ".join(esc(one.name) for one in paper.authors)}</div>'
        f'<ul class="d-buttons inline-list"><li>Article notes</li></ul><div>PMCID: {paper.pmcid}&nbsp; PMID: <a href="https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}/">{paper.pmid}</a></div></div></section>'
        '<section aria-label="Article content"><section class="body main-article-body"><section class="abstract" id="ABS1"><h2>Abstract</h2>'
        f'<p>{esc(paper.abstract)}</p><section id="kwd-group1" class="kwd-group"><p><strong>Keywords:</strong> {esc(", ".join(paper.keywords))}</p></section></section>'
        f'{sections}<section id="S99" class="ack"><h2 class="pmc_sec_title">Acknowledgments</h2><p>We thank everybody.</p></section>'
        '<section id="ref-list1" class="ref-list"><h2 class="pmc_sec_title">References</h2><ul><li>Somebody. Another title.</li></ul></section>'
        "</section></section></article></main><footer>Follow NCBI</footer></body></html>")


# --- services that answer in JSON ---


def unpaywall(paper, locations=()):
    """locations: (host type, landing page, URL of the PDF or None)."""
    rows = [{
        "endpoint_id": None, "evidence": "open (via free pdf)", "host_type": kind, "is_best": at == 0, "license": "cc-by",
        "oa_date": paper.date, "pmh_id": None, "repository_institution": None, "updated": "2023-02-12T00:28:39.645349",
        "url": pdf or landing, "url_for_landing_page": landing, "url_for_pdf": pdf, "version": "publishedVersion"}
        for at, (kind, landing, pdf) in enumerate(locations)]
    return json.dumps({
        "best_oa_location": rows[0] if rows else None, "data_standard": 2, "doi": paper.doi.lower(),
        "doi_url": f"https://doi.org/{paper.doi.lower()}", "first_oa_location": rows[0] if rows else None, "genre": "journal-article",
        "has_repository_copy": any(row["host_type"] == "repository" for row in rows), "is_oa": bool(rows), "is_paratext": False,
        "journal_is_in_doaj": False, "journal_is_oa": bool(rows), "journal_issn_l": "1234-5679", "journal_issns": "1234-5679",
        "journal_name": paper.journal, "oa_locations": rows, "oa_locations_embargoed": [],
        "oa_status": "green" if rows else "closed", "published_date": paper.date, "publisher": "Press", "title": paper.title,
        "updated": "2023-02-12T00:28:39.645349", "year": int(paper.date[:4]),
        "z_authors": [{"given": one.given, "family": one.family, "sequence": "first" if not at else "additional"}
                      for at, one in enumerate(paper.authors)]})


def crossref(paper, links=()):
    """links: (URL, content type)."""
    year, month, day = map(int, paper.date.split("-"))
    when = {"date-parts": [[year, month, day]]}
    return json.dumps({"status": "ok", "message-type": "work", "message-version": "1.0.0", "message": {
        "indexed": {**when, "date-time": f"{paper.date}T00:00:00Z", "timestamp": 1}, "reference-count": 1, "publisher": "Press",
        "issue": "2", "license": [{"start": {**when, "date-time": f"{paper.date}T00:00:00Z", "timestamp": 1}, "content-version": "vor",
                                   "delay-in-days": 0, "URL": paper.licence}],
        "content-domain": {"domain": [], "crossmark-restriction": False}, "short-container-title": ["J Tide Stud"],
        "published-print": when, "DOI": paper.doi.lower(), "type": "journal-article", "created": {**when, "date-time": "", "timestamp": 1},
        "page": "1-12", "source": "Crossref", "is-referenced-by-count": paper.citations, "title": [paper.title.replace("&", "&amp;")],
        "prefix": paper.doi.split("/")[0], "volume": "7",
        "author": [{"given": one.given, "family": one.family, "sequence": "first" if not at else "additional", "affiliation": [],
                    **({"ORCID": f"http://orcid.org/{one.orcid}", "authenticated-orcid": False} if one.orcid else {})}
                   for at, one in enumerate(paper.authors)],
        "member": "1", "container-title": [paper.journal], "original-title": [], "language": "en",
        "abstract": f"<jats:title>Abstract</jats:title><jats:p>{esc(paper.abstract)}</jats:p>",
        "link": [{"URL": url, "content-type": kind, "content-version": "vor", "intended-application": "text-mining"} for url, kind in links],
        "deposited": {**when, "date-time": "", "timestamp": 1}, "score": 1, "resource": {"primary": {"URL": f"https://{paper.host}/"}},
        "subtitle": [], "short-title": [], "issued": when, "references-count": 1, "URL": f"http://dx.doi.org/{paper.doi.lower()}",
        "relation": {}, "ISSN": ["1234-5679"], "subject": [], "published": when}})


def datacite(paper, content_url=None):
    return json.dumps({"data": {"id": paper.doi.lower(), "type": "dois", "attributes": {
        "doi": paper.doi.lower(), "prefix": paper.doi.split("/")[0], "suffix": paper.doi.split("/", 1)[1].lower(), "identifiers": [],
        "creators": [{"name": f"{one.family}, {one.given}", "nameType": "Personal", "givenName": one.given, "familyName": one.family,
                      "affiliation": [], "nameIdentifiers": [{"schemeUri": "https://orcid.org", "nameIdentifier":
                                                              f"https://orcid.org/{one.orcid}", "nameIdentifierScheme": "ORCID"}]
                      if one.orcid else []} for one in paper.authors],
        "titles": [{"title": paper.title}], "publisher": "Repository", "container": {}, "publicationYear": int(paper.date[:4]),
        "subjects": [{"subject": word} for word in paper.keywords], "contributors": [],
        "dates": [{"date": paper.date, "dateType": "Issued"}], "language": "en",
        "types": {"ris": "RPRT", "bibtex": "article", "citeproc": "article-journal", "schemaOrg": "ScholarlyArticle",
                  "resourceType": "Preprint", "resourceTypeGeneral": "Preprint"},
        "relatedIdentifiers": [], "sizes": [], "formats": [], "version": "1",
        "rightsList": [{"rights": "Creative Commons Attribution 4.0", "rightsUri": "https://creativecommons.org/licenses/by/4.0/legalcode",
                        "rightsIdentifier": "cc-by-4.0", "rightsIdentifierScheme": "SPDX", "schemeUri": "https://spdx.org/licenses/"}],
        "descriptions": [{"description": f"<p>{esc(paper.abstract)}</p>", "descriptionType": "Abstract"}],
        "geoLocations": [], "fundingReferences": [], "url": f"https://{paper.host}/", "contentUrl": content_url, "metadataVersion": 1,
        "schemaVersion": "http://datacite.org/schema/kernel-4", "source": "api", "isActive": True, "state": "findable",
        "citationCount": 0, "created": f"{paper.date}T00:00:00Z", "registered": f"{paper.date}T00:00:00Z", "published": paper.date[:4],
        "updated": f"{paper.date}T00:00:00Z"}, "relationships": {"client": {"data": {"id": "repo.x", "type": "clients"}}}}})


def openalex(paper):
    return json.dumps({
        "id": f"https://openalex.org/W{4000000000 + paper.number}", "doi": f"https://doi.org/{paper.doi.lower()}" if paper.doi else None,
        "title": paper.title, "display_name": paper.title, "publication_year": int(paper.date[:4]), "publication_date": paper.date,
        "ids": {"openalex": f"https://openalex.org/W{4000000000 + paper.number}",
                **({"doi": f"https://doi.org/{paper.doi.lower()}"} if paper.doi else {}),
                **({"pmid": f"https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}"} if paper.pmid else {}),
                **({"pmcid": f"https://www.ncbi.nlm.nih.gov/pmc/articles/{paper.pmcid[3:]}"} if paper.pmcid else {})},
        "language": "en", "type": "article",
        "primary_location": {"is_oa": False, "landing_page_url": f"https://doi.org/{(paper.doi or '').lower()}", "pdf_url": None,
                             "source": {"id": "https://openalex.org/S1", "display_name": paper.journal, "type": "journal"},
                             "license": None, "version": None},
        "open_access": {"is_oa": False, "oa_status": "closed", "oa_url": None, "any_repository_has_fulltext": False},
        "authorships": [{"author_position": "first" if not at else "middle", "author": {
            "id": f"https://openalex.org/A{at}", "display_name": one.name, "orcid": f"https://orcid.org/{one.orcid}" if one.orcid else None},
            "is_corresponding": one.corresponding, "raw_author_name": one.name} for at, one in enumerate(paper.authors)],
        "cited_by_count": paper.citations, "keywords": [], "mesh": [], "locations": [], "best_oa_location": None,
        "referenced_works": [], "abstract_inverted_index": None, "is_retracted": False, "is_paratext": False})


def biorxiv(paper):
    doi = paper.doi.lower()
    return json.dumps({"messages": [{"status": "ok"}], "collection": [{
        "title": paper.title, "authors": "; ".join(f"{one.family}, {one.given[0]}." for one in paper.authors),
        "author_corresponding": paper.authors[1].name, "author_corresponding_institution": "Institute of Tides", "doi": paper.doi,
        "date": paper.date, "version": version, "type": "new results", "license": "cc_by", "category": "ecology",
        "jatsxml": f"https://www.biorxiv.org/content/early/2020/01/01/{doi.split('/')[1]}.source.xml", "abstract": paper.abstract,
        "funder": "NA", "published": "NA", "server": "bioRxiv"} for version in ("1",)]})


def doaj(paper, links=()):
    """links: (URL, "HTML" or "PDF")."""
    results = [{
        "id": f"{paper.number:032x}", "created_date": "2023-01-01T00:00:00Z", "last_updated": "2023-01-01T00:00:00Z", "bibjson": {
            "identifier": [{"id": paper.doi, "type": "doi"}, {"id": "1234-5679", "type": "eissn"}],
            "journal": {"volume": "7", "number": "2", "country": "NO", "issns": ["1234-5679"], "publisher": "Press", "language": ["EN"],
                        "title": paper.journal},
            "month": str(int(paper.date[5:7])), "year": paper.date[:4], "keywords": paper.keywords, "start_page": "1", "end_page": "12",
            "subject": [{"code": "QH", "scheme": "LCC", "term": "Biology (General)"}],
            "author": [{"name": one.name, "affiliation": "Institute of Tides"} for one in paper.authors],
            "link": [{"content_type": kind, "type": "fulltext", "url": url} for url, kind in links],
            "abstract": paper.abstract, "title": paper.title}}]
    return json.dumps({"total": len(results), "page": 1, "pageSize": 10, "timestamp": "2024-01-01T00:00:00.000000Z",
                       "query": "", "results": results})


NO_DOAJ = json.dumps({"total": 0, "page": 1, "pageSize": 10, "timestamp": "2024-01-01T00:00:00.000000Z", "query": "", "results": []})


# --- arXiv ---


def arxiv_feed(paper, number):
    entry = "" if paper is None else (
        f"<entry><id>http://arxiv.org/abs/{number}v1</id><updated>{paper.date}T10:00:00Z</updated><published>{paper.date}T10:00:00Z</published>"
        f"<title>{esc(paper.title)}</title><summary>  {esc(paper.abstract)}\n</summary>"
        + "".join(f"<author><name>{esc(one.name)}</name></author>" for one in paper.authors)
        + '<arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">12 pages</arxiv:comment>'
        f'<link href="http://arxiv.org/abs/{number}v1" rel="alternate" type="text/html"/>'
        f'<link title="pdf" href="http://arxiv.org/pdf/{number}v1" rel="related" type="application/pdf"/>'
        '<arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="q-bio.PE" scheme="http://arxiv.org/schemas/atom"/>'
        '<category term="q-bio.PE" scheme="http://arxiv.org/schemas/atom"/></entry>')
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f'<link href="http://arxiv.org/api/query?search_query%3D%26id_list%3D{number}" rel="self" type="application/atom+xml"/>'
        f'<title type="html">ArXiv Query: search_query=&amp;id_list={number}</title><id>http://arxiv.org/api/abcdef</id>'
        "<updated>2024-01-01T00:00:00-05:00</updated>"
        f'<opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{int(paper is not None)}</opensearch:totalResults>'
        f"{entry}</feed>")


# --- publishers' pages ---


def page(title, body, meta=()):
    """meta: (name, content)."""
    return ('<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">' + f"<title>{esc(title)}</title>"
            + many('<meta name="{}" content="{}">', meta) + f"</head><body>{body}</body></html>")


def bmc_page(paper):
    author = next(one for one in paper.authors if one.corresponding)
    sections = "".join(
        f'<section data-title="{heading}"><div class="c-article-section" id="Sec{at}-section"><h2 class="c-article-section__title">{heading}</h2>'
        f'<div class="c-article-section__content" id="Sec{at}-content">' + many("<p>{}</p>", paragraphs) + "</div></div></section>"
        for at, (heading, paragraphs) in enumerate(paper.sections, 1))
    return page(f"{paper.title} | BMC Tides", (
        f'<main class="c-article-main-column"><article lang="en"><div class="c-article-header"><h1 class="c-article-title">{esc(paper.title)}</h1>'
        '<ul class="c-article-author-list">' + "".join(
            f'<li class="c-article-author-list__item"><a data-test="author-name" href="#auth">{esc(one.name)}'
            + ('<svg class="u-icon"></svg>' if one.corresponding else "") + "</a></li>" for one in paper.authors)
        + f'</ul></div><section aria-labelledby="Abs1" data-title="Abstract"><div class="c-article-section" id="Abs1-section"><h2>Abstract</h2>'
        f'<div class="c-article-section__content" id="Abs1-content"><p>{esc(paper.abstract)}</p></div></div></section>{sections}'
        '<section data-title="References"><div class="c-article-section" id="Bib1-section"><h2>References</h2><p>Somebody. Another title.</p></div></section>'
        f'<section data-title="Author information"><div class="c-article-section" id="author-information-section"><p id="corresponding-author-list">Correspondence to <a href="mailto:{author.email}">{esc(author.name)}</a>.</p></div></section>'
        '<section data-title="About this article"><div class="c-article-section" id="article-info-section"><div id="article-info-content">'
        f'<ul class="c-bibliographic-information__list"><li class="c-bibliographic-information__list-item"><p><abbr title="Digital Object Identifier">DOI</abbr>: <span class="c-bibliographic-information__value">https://doi.org/{esc(paper.doi)}</span></p></li></ul>'
        '<h3>Keywords</h3><ul class="c-article-subject-list">' + many('<li class="c-article-subject-list__subject"><span>{}</span></li>', paper.keywords)
        + "</ul></div></div></section></article></main>"), [("citation_journal_title", paper.journal)])


def plos_page(paper):
    sections = "".join(
        f'<div id="section{at}" class="section toc-section"><a id="s{at}" class="link-target"></a><h2>{heading}</h2>' + many("<p>{}</p>", paragraphs) + "</div>"
        for at, (heading, paragraphs) in enumerate(paper.sections, 1))
    return page(f"{paper.title} | PLOS ONE", (
        f'<div class="title-authors"><h1 id="artTitle">{esc(paper.title)}</h1><ul class="author-list" id="author-list">'
        + "".join(f'<li><a class="author-name">{esc(one.name)}</a>'
                  + (f'<p id="authCorresponding-{at}"><span class="email">* E-mail:</span> <a href="mailto:{one.email}">{one.email}</a></p>' if one.corresponding else "")
                  + "</li>" for at, one in enumerate(paper.authors))
        + f'</ul><ul class="date-doi"><li id="artPubDate">Published: then</li><li id="artDoi"><a href="https://doi.org/{esc(paper.doi)}">https://doi.org/{esc(paper.doi)}</a></li></ul></div>'
        f'<div class="article-text" id="artText"><div class="abstract toc-section abstract-type-"><a id="abstract0"></a><h2>Abstract</h2><div class="abstract-content"><p>{esc(paper.abstract)}</p></div></div>'
        f'{sections}<div class="toc-section"><h2>References</h2><ol class="references"><li>Somebody. Another title.</li></ol></div></div>'
        '<div class="subject-areas-container"><ul id="subjectList">' + many('<li><a class="taxo-term" href="#">{}</a></li>', paper.keywords) + "</ul></div>"))


def meta_page(paper, pdf_url):
    """No site of the rules: what is wanted stands in <meta>; the text behind it is for subscribers."""
    return page(f"{paper.title} - Meta Press", f"<div class=teaser><p>{esc(paper.abstract[:150])} … Sign in to read on.</p></div>", [
        ("citation_title", paper.title), ("citation_doi", paper.doi), ("citation_journal_title", paper.journal),
        ("citation_keywords", "; ".join(paper.keywords)), ("citation_abstract", paper.abstract), ("citation_pdf_url", pdf_url)])


def bare_page(paper, text="There is nothing to see here but a short notice."):
    return page("Article view", f"<p>{text}</p>")


def arxiv_page(paper, number):
    return page(f"[{number}] {paper.title}", (
        f'<div id="abs"><h1 class="title mathjax"><span class="descriptor">Title:</span>{esc(paper.title)}</h1>'
        f'<blockquote class="abstract mathjax"><span class="descriptor">Abstract:</span>{esc(paper.abstract)}</blockquote>'
        f'<div class="metatable"><table><tr><td class="arxivdoi"><a href="https://doi.org/{paper.doi}">https://doi.org/{paper.doi}</a></td></tr></table></div></div>'))


def biorxiv_page(paper):
    return page(f"{paper.title} | bioRxiv", (
        f'<h1 class="highwire-cite-title" id="page-title">{esc(paper.title)}</h1><div class="highwire-cite-metadata"><span class="highwire-cite-metadata-doi">doi: https://doi.org/{paper.doi}</span></div>'
        f'<div class="section abstract" id="abstract-1"><h2>Abstract</h2><p id="p-2">{esc(paper.abstract)}</p></div>'))


def pdf(paper):
    text = "\n\n".join([paper.abstract, *(part for heading, paragraphs in paper.sections for part in (heading, *paragraphs))])
    return makepdf.make_pdf(paper.title, text, author=paper.authors[0].name, doi=paper.doi)
