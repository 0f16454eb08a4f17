# SPDX-License-Identifier: GPL-3.0-or-later
"""What `ingestctl seedlist` does for some sources, as a script would do it: usage seedlist_transforms.py SOURCE <LIST >LINES"""

import csv
import json
import sys
import urllib.parse

LARGE = ("arxiv.org", "europepmc.org", "ncbi.nlm.nih.gov", "semanticscholar.org", "doi.org", "dx.doi.org", "zenodo.org", "figshare.com",
         "archive.org")
STAGES = {"draftVersion": "draft", "submittedVersion": "submitted", "acceptedVersion": "accepted", "publishedVersion": "published",
          "updatedVersion": "updated"}
TYPES = {"": ["pdf"], "doi": ["pdf"], "url": ["pdf"], "fulltext": ["pdf"], "pdf": ["pdf"], "application/pdf": ["pdf"],
         "html": ["html", "pdf"], "text/html": ["html", "pdf"], "xml": ["xml"]}


def clean(url):
    """Less than a browser does, but what a script would be content with; None: no web URL of ours."""
    parts = urllib.parse.urlsplit((url or "").strip())
    host = (parts.hostname or "").removeprefix("www.")
    if parts.scheme not in ("http", "https") or not host or any(host == large or host.endswith("." + large) for large in LARGE):
        return None
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc.lower(), urllib.parse.quote(parts.path or "/", safe="/%:@!$&'()*+,;=~"),
                                    parts.query, parts.fragment))


def doi_of(text):
    doi = (text or "").strip().lower()
    for prefix in ("https://doi.org/", "http://dx.doi.org/", "doi:"):
        doi = doi.removeprefix(prefix)
    return doi if doi.startswith("10.") else None


def urls(file):
    for line in file:
        url = clean(line)
        if url:
            yield {"base_url": url, "ingest_type": "pdf", "link_source": "url", "link_source_id": url, "ingest_request_source": "urls"}


def comma(file):
    for row in csv.DictReader(file):
        url = clean(row["url"])
        if url:
            yield {"base_url": url, "ingest_type": "pdf", "link_source_id": row["paper"], "ingest_request_source": "csv",
                   "ext_ids": {"doi": doi_of(row["doi"])}}


def unpaywall(file):
    for line in file:
        record = json.loads(line)
        doi = doi_of(record.get("doi"))
        for location in (record.get("oa_locations") or []) if doi else []:
            url = clean(location.get("url_for_pdf"))
            if not url:
                continue
            request = {"base_url": url, "ingest_type": "pdf", "link_source": "unpaywall", "link_source_id": doi,
                       "ingest_request_source": "unpaywall", "release_stage": STAGES.get(location.get("version")),
                       "rel": location.get("host_type"), "ext_ids": {"doi": doi},
                       "edit_extra": {"oa_status": record.get("oa_status"), "evidence": location.get("evidence")}}
            if location.get("pmh_id"):
                request["ext_ids"]["pmh_id"] = location["pmh_id"]
            yield request


def doaj(file):
    for line in file:
        record = json.loads(line)
        dois = [doi_of(entry.get("id")) for entry in record["bibjson"].get("identifier") or [] if entry.get("type", "").lower() == "doi"]
        for link in record["bibjson"].get("link") or []:
            url = clean(link.get("url")) if link.get("type") == "fulltext" else None
            for kind in TYPES.get((link.get("content_type") or "").lower(), []) if url else []:
                yield {"base_url": url, "ingest_type": kind, "link_source": "doaj", "link_source_id": record["id"].lower(),
                       "ingest_request_source": "doaj", "release_stage": "published", "rel": "publisher",
                       "ext_ids": {"doi": dois[0] if dois else None, "doaj": record["id"].lower()}}


def crossref(file):
    for line in file:
        record = json.loads(line)
        doi = doi_of(record.get("DOI"))
        if doi and record.get("type") not in ("journal", "journal-issue", "journal-volume", "dataset"):
            yield {"base_url": "https://doi.org/" + urllib.parse.quote(doi), "ingest_type": "pdf", "link_source": "doi",
                   "link_source_id": doi, "ingest_request_source": "crossref", "release_stage": "published", "ext_ids": {"doi": doi}}


SOURCES = {"urls": urls, "csv": comma, "unpaywall": unpaywall, "doaj": doaj, "crossref": crossref}


if __name__ == "__main__":
    for found in SOURCES[sys.argv[1]](sys.stdin):
        sys.stdout.write(json.dumps(found, separators=(",", ":"), ensure_ascii=False) + "\n")
