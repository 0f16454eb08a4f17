# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists that are not JSON, CSV or plain lines: made up here for the part seedlist, and converted as a script would do it:
usage seedlist_formats.py SOURCE <LIST >LINES"""

import gzip
import json
import random
import sys
import xml.etree.ElementTree

DIGEST = "O5RHV6OQ7SIHDJIEP7ZW53DLRX5NFIJR"


def dblp(records):
    yield '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE dblp SYSTEM "dblp.dtd">\n<dblp>\n'
    for number in range(records):
        yield (f'<article mdate="2021-10-14" key="journals/acta/S{number}">\n<author>Sanjeev Saxena</author>\n'
               "<author>J&uuml;rgen M&ouml;ller</author>\n<title>Parallel Integer Sorting and Simulation Amongst CRCW Models.</title>\n"
               "<pages>607-619</pages>\n<year>1996</year>\n<volume>33</volume>\n<journal>Acta Informatica</journal>\n<number>7</number>\n"
               f"<ee>https://doi.org/10.1007/BF{number}</ee>\n<url>db/journals/acta/acta33.html#S{number}</url>\n</article>\n")
    yield "</dblp>\n"


def sitemap(records):
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    for number in range(records):
        yield (f"<url><loc>https://journal.example.org/article/view/{number}</loc><lastmod>2023-01-02</lastmod>"
               "<changefreq>monthly</changefreq><priority>0.5</priority></url>\n")
    yield "</urlset>\n"


def oai_xml(records):
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>\n'
    for number in range(records):
        yield (f"<record><header><identifier>oai:repo.example.org:{number}</identifier><datestamp>2019-01-08</datestamp></header><metadata>"
               '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">'
               "<dc:title>A title</dc:title><dc:creator>Doe, Jane</dc:creator><dc:type>info:eu-repo/semantics/article</dc:type>"
               f"<dc:format>application/pdf</dc:format><dc:identifier>https://repo.example.org/{number}/paper.pdf</dc:identifier>"
               f"<dc:description>{'A text of some length. ' * 40}</dc:description></oai_dc:dc></metadata></record>\n")
    yield "</ListRecords></OAI-PMH>\n"


def cdx(records):
    yield " CDX N b a m s k r M S V g\n"
    for number in range(records):
        yield (f"org,example)/papers/{number}.pdf 20180812220054 http://example.org/papers/{number}.pdf application/pdf 200 {DIGEST} - - "
               f"8445 {number * 9000} crawl/x-{number // 1000}.warc.gz\n")


def cdxj(records):
    for number in range(records):
        capture = {"url": f"http://example.org/papers/{number}.pdf", "mime": "application/pdf", "status": "200", "digest": f"sha1:{DIGEST}",
                   "length": "8445", "offset": str(number * 9000), "filename": f"x-{number // 1000}.warc.gz"}
        yield f"org,example)/papers/{number}.pdf 20180812220054 {json.dumps(capture)}\n"


def warc(records):
    """Of PDFs, which do not compress."""
    body = random.Random(1).randbytes(20000)
    block = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n" + body
    for number in range(records // 10):
        head = (f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{number}>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
                f"WARC-Target-URI: http://example.org/{number}.pdf\r\nContent-Type: application/http; msgtype=response\r\n"
                f"Content-Length: {len(block)}\r\n\r\n")
        yield gzip.compress(head.encode() + block + b"\r\n\r\n", 1)


def crossref_items(records):
    """A file of the annual public data."""
    work = {"indexed": {"date-parts": [[2020, 3, 4]]}, "publisher": "Example Press", "DOI": "", "type": "journal-article",
            "title": ["On tides and other things"], "author": [{"given": "Jane", "family": "Doe", "sequence": "first", "affiliation": []}] * 3,
            "reference": [{"key": f"ref{n}", "DOI": f"10.1/{n}", "year": "2001", "journal-title": "Journal of Tides"} for n in range(15)]}
    yield '{"items":['
    for number in range(records):
        yield (",\n" if number else "") + json.dumps(work | {"DOI": f"10.1007/S{number}"}, separators=(",", ":"))
    yield "]}"


# By name in the report: the source, and what makes a list of so many records.
LISTS = {"dblp": ("dblp", dblp), "sitemap": ("sitemap", sitemap), "oai-xml": ("oai-xml", oai_xml), "cdx": ("cdx", cdx), "cdxj": ("cdx", cdxj),
         "warc": ("warc", warc), "crossref-items": ("crossref", crossref_items)}


# --- as a script would do it ---------------------------------------------------------------------------


def elements(file, name):
    for _, element in xml.etree.ElementTree.iterparse(file):
        if element.tag.rpartition("}")[2] == name:
            yield element
            element.clear()


def convert(name, file):
    if name == "sitemap":
        for element in elements(file, "url"):
            yield {"base_url": element[0].text}
    elif name == "cdx":
        for line in file:
            fields = line.decode().split(" ")
            if len(fields) >= 11 and fields[3] == "application/pdf" and fields[4] == "200":
                yield {"base_url": fields[2]}
    elif name == "cdxj":
        for line in file:
            capture = json.loads(line.split(b" ", 2)[2])
            if capture["mime"] == "application/pdf" and capture["status"] == "200":
                yield {"base_url": capture["url"]}
    elif name == "warc":
        from warcio.archiveiterator import ArchiveIterator # pylint: disable=import-outside-toplevel
        for record in ArchiveIterator(file):
            yield {"base_url": record.rec_headers.get_header("WARC-Target-URI")}
    elif name == "crossref-items":
        for work in json.load(file)["items"]:
            yield {"base_url": "https://doi.org/" + work["DOI"].lower()}
    elif name == "oai-xml":
        for element in elements(file, "record"):
            for url in element.iter("{http://purl.org/dc/elements/1.1/}identifier"):
                yield {"base_url": url.text}


# dblp's names of characters are in its DTD, which Python's parser does not read.
SCRIPTS = ("sitemap", "oai-xml", "cdx", "cdxj", "warc", "crossref-items")

if __name__ == "__main__":
    for request in convert(sys.argv[1], sys.stdin.buffer):
        print(json.dumps(request | {"ingest_type": "pdf"}))
