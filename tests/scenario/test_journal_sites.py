# SPDX-License-Identifier: GPL-3.0-or-later
"""The sites of rules/journals.yaml against tests/data/rules/journal_sites.yaml: what is known of them must go on working.

From each selector of that list, and of each of its alternatives between commas, the smallest page is built that has the
part; the site's rules must find it there, whatever else they have for the site. So a rule can be extended, but nothing
of it gets lost.
"""

import json
import pathlib
import re
import subprocess

import pytest
import selector_pages
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINKS = {"fulltext_a": "doi", "pdf_a": "pdf_doi"}
PAYLOADS = {
    "pmid": "20123456", "doi": "10.5555/elm.1", "title": "Tides of the Elm Bay", "subtitle": "Forty winters",
    "keywords": "gauges", "keywords_split": "gauges, piers", "abstract": "Later each year.", "fulltext": "A gauge was read.",
    "fulltext_a": "/elm/full", "pdf_a": "/elm.pdf",
    "corresp_author_names": "Ada Marsh", "corresp_author_emails": "mailto:ada@elm.example",
}


def has(part, publication, links, wanted):
    """Whether the part that a page was built for was found."""
    content = (publication.get(part) or {}).get("content") or ""
    if part in LINKS:
        return any(x["type"] == LINKS[part] and x["url"].endswith(wanted) for x in links)
    authors = publication["corresp_author"] or []
    return {
        "doi": lambda: content == wanted.upper(),
        "pmid": lambda: content == wanted,
        "subtitle": lambda: publication["title"]["content"] == f"A title : {wanted}",
        "keywords": lambda: wanted in (publication["keywords"] or {"list": []})["list"],
        "keywords_split": lambda: (publication["keywords"] or {"list": []})["list"][-2:] == wanted.split(", "),
        "corresp_author_names": lambda: any(wanted in (a["name"] or "") for a in authors),
        "corresp_author_emails": lambda: any(a["email"] == wanted.removeprefix("mailto:") for a in authors),
    }.get(part, lambda: wanted in content)()


def pages_of(site):
    """(key, selector, page, what is to be found) for each selector of a site."""
    for key, whole in site.get("keys", {}).items():
        for selector in selector_pages.split(whole, ","):
            link = key in LINKS or key == "corresp_author_emails"
            page = selector_pages.page(selector, PAYLOADS[key], "href" if link else None)
            wanted = PAYLOADS[key]
            if key in LINKS and wanted not in page:
                wanted = re.search(r'href="([^"]*)"', page)[1]
            if key == "subtitle":
                page = selector_pages.page(selector_pages.split(site["keys"]["title"], ",")[0], "A title") + page
            yield key, selector, page, wanted


@pytest.fixture(scope="module")
def sites():
    with open(ROOT / "tests/data/rules/journal_sites.yaml", encoding="utf-8") as f:
        return yaml.safe_load(f)


@pytest.fixture(scope="module")
def ingestctl(program):
    def run(*arguments, input):
        done = subprocess.run([program("ingestctl"), "--set", f"rules.dir={ROOT / 'rules'}", *arguments], input=input,
                              capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()
    return run


def test_every_address_has_its_site(ingestctl, sites):
    wanted = [(url, name) for name, site in sites.items() for url in site["urls"]]
    found = ingestctl("rules", "site", "-", input="".join(f"{url}\n" for url, _ in wanted))
    wrong = [(url, name, is_) for (url, name), is_ in zip(wanted, found, strict=True) if is_ != name]
    assert not wrong, wrong


def test_every_selector_finds_its_part(ingestctl, sites):
    cases = [(name, site["urls"][0], *page) for name, site in sites.items() for page in pages_of(site)]
    assert len(cases) > 400
    pages = [json.dumps({"url": url, "html": page}) for _, url, _, _, page, _ in cases]
    found = ingestctl("scrape", "--batch", "-", input="\n".join(pages) + "\n")
    wrong = []
    for (name, _, key, selector, page, wanted), line in zip(cases, found, strict=True):
        o = json.loads(line)
        if o["site"] != name or not has(key, o["publication"], o["page_links"], wanted):
            wrong.append(f"{name} {key}: {selector}: {page}")
    assert not wrong, "\n".join(wrong)


def test_addresses_of_full_texts_and_pdfs_are_put_together(ingestctl, sites):
    cases = [(name, *rewrite) for name, site in sites.items() for rewrite in site.get("rewrites", [])]
    assert cases
    pages = [json.dumps({"url": url, "html": "<p>An article"}) for _, url, _, _ in cases]
    found = ingestctl("scrape", "--batch", "-", input="\n".join(pages) + "\n")
    for (name, url, kind, wanted), line in zip(cases, found, strict=True):
        o = json.loads(line)
        assert o["site"] == name, url
        assert {"url": wanted, "type": kind} in o["page_links"], (url, o["page_links"])
