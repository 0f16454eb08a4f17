# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between the ingest types, as the outside sees it."""

import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from xml.etree import ElementTree

from makepdf import make_pdf
from servers.polite import Answer, redirect

LANDING = b"""<!doctype html><html><head><title>A paper</title>
<meta name=citation_pdf_url content=/paper.pdf></head><body><p>Where the paper is.</body></html>"""

PAGE = b"<!doctype html><html><head><title>A page</title></head><body><p>A page with words in it.</p></body></html>"
JATS = """<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.1 20151215//EN" "JATS-journalpublishing1.dtd">
<article article-type="research-article" dtd-version="1.1"><front><article-meta><article-id pub-id-type="doi">10.5555/x</article-id>
<title-group><article-title>On Gr\u00f6\u00dfe &amp; &alpha;</article-title></title-group></article-meta></front>
<body><p>Words. <ext-link xlink:href="https://a.example/">there</ext-link></p></body></article>
"""


def run_requests(run_ctl, tmp_path, schema, requests):
    """{base_url: result} of `ingestctl run` with these requests; every result is valid."""
    done = run_ctl("run", "--out", tmp_path / "out", "-", input="".join(json.dumps(one) + "\n" for one in requests),
                   overrides={"gate.robots": "obey"})
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    for one in found:
        schema("ingest-result").validate(one)
    return {one["request"]["base_url"]: one for one in found}


def test_requests_say_what_they_accept(run_ctl, polite, tmp_path, schema):
    """The field of the type for pages and document alike; robots.txt is text."""
    host = "accept.test.example"
    polite.page(host, "/", Answer(body=LANDING))
    polite.page(host, "/paper.pdf", Answer(body=b"%PDF-1.4 in name only", type="application/pdf"))
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "pdf", "base_url": f"http://{host}/"}])
    assert found[f"http://{host}/"]["status"] == "success"
    accepted = {one.path: one.headers["accept"] for one in polite.seen(host)}
    page = "application/pdf,text/html;q=0.9,application/xhtml+xml;q=0.9,*/*;q=0.8"
    assert accepted == {"/robots.txt": "text/plain,*/*;q=0.8", "/": page, "/paper.pdf": page}


def test_hosts_may_choose_by_what_is_accepted(run_ctl, polite, tmp_path, schema):
    """The type asked for comes first: a host that serves one address in several forms answers with it."""
    host = "choice.test.example"
    forms = {"pdf": (make_pdf("A paper", "Words of a paper."), "application/pdf"), "xml": (JATS.encode("latin-1"), "application/xml"),
             "html": (page_of(1400), "text/html"), "src": (gzip.compress(b"\\documentclass{article}"), "application/gzip")}

    def choose(request):
        first = request.headers["accept"].partition(",")[0]
        return next(Answer(body=body, type=mimetype) for body, mimetype in forms.values() if mimetype == first)

    for name in forms:
        polite.page(host, f"/{name}", choose)
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": name, "base_url": f"http://{host}/{name}"} for name in forms])
    assert {url.rpartition("/")[2]: one["status"] for url, one in found.items()} == dict.fromkeys(forms, "success")


def test_what_is_expected_counts_for_every_type(run_ctl, polite, tmp_path, schema):
    """A document of another type than expected, or with another digest, is none; one that is as expected is a hit."""
    host = "expect.test.example"
    bodies = {"pdf": make_pdf("A paper", "Words of a paper."), "xml": JATS.encode("latin-1"), "html": page_of(1400),
              "src": gzip.compress(b"\\documentclass{article}\\begin{document}", mtime=0), "component": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(17)}
    types = {"pdf": "application/pdf", "xml": "application/jats+xml", "html": "text/html", "src": "application/gzip", "component": "image/png"}
    requests = []
    for name, body in bodies.items():
        for query, more in {"good": {"expect_mimetypes": ["x/y", types[name].upper()], "expect_hash": {"sha256hex": hashlib.sha256(body).hexdigest()}},
                            "type": {"expect_mimetypes": ["application/postscript"]}, "hash": {"expect_hash": {"md5hex": "0" * 32}}}.items():
            polite.page(host, f"/{name}?{query}", Answer(body=body, type="application/octet-stream"))
            requests.append({"ingest_type": name, "base_url": f"http://{host}/{name}?{query}", **more})
    found = run_requests(run_ctl, tmp_path, schema, requests)
    wanted = {"good": "success", "type": "wrong-mimetype", "hash": "mismatch-hash"}
    assert {url: one["status"] for url, one in found.items()} == \
        {one["base_url"]: wanted[one["base_url"].rpartition("?")[2]] for one in requests}
    assert all(one["file_meta"]["mimetype"] == types[one["request"]["ingest_type"]] for one in found.values())


def test_types_of_later_versions_end_politely(run_ctl, polite, tmp_path, schema):
    """Nothing is asked of their hosts, and the message says which types there are."""
    url = "http://later.test.example/"
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "dataset", "base_url": url}])
    assert found[url]["status"] == "not-implemented"
    assert "pdf" in found[url]["error_message"]
    assert not polite.seen("later.test.example")


def tar_of(**files):
    """A tar archive of these files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def test_a_source_is_an_archive_or_tex(run_ctl, polite, tmp_path, schema):
    """By its bytes, whatever the server calls it; compressed for the way, it is what was compressed."""
    host = "src.test.example"
    tar = tar_of(paper=b"\\documentclass{article}\\begin{document}text\\end{document}")
    polite.page(host, "/gz", Answer(body=gzip.compress(tar), type="application/octet-stream"))
    polite.page(host, "/coded", Answer(body=gzip.compress(tar), type="application/x-eprint-tar",
                                       headers={"Content-Encoding": "x-gzip"}))
    polite.page(host, "/moved", redirect("/gz"))
    polite.page(host, "/paper", Answer(body=b"%PDF-1.4 in name only", type="application/gzip"))
    polite.page(host, "/page", Answer(body=b"<!doctype html><title>A paper</title><a href=/gz>TeX source</a>"))
    wanted = {"gz": "application/gzip", "coded": "application/x-tar", "moved": "application/gzip",
              "paper": "application/pdf", "page": "text/html"}
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "src", "base_url": f"http://{host}/{path}"}
                                                     for path in wanted])
    for path, mimetype in wanted.items():
        one = found[f"http://{host}/{path}"]
        assert one["status"] == ("wrong-mimetype" if path.startswith("pa") else "success"), one
        assert one["file_meta"]["mimetype"] == mimetype
    page = found[f"http://{host}/page"]
    assert page["error_message"] == "a page came in place of a source file" and "extract_next_hop" not in page
    assert {one.headers["accept"] for one in polite.seen(host, robots=False)} == \
        {"application/gzip,application/x-tar,application/zip,*/*;q=0.8"}


def page_of_figure(number):
    """A page at /article/…, which names one of its figures."""
    return b"<!doctype html><title>Figure</title><p>See it <a href=/article/download/fig/%d>here</a>." % number


def test_a_page_leads_to_its_component(run_ctl, polite, tmp_path, schema):
    """By its component link alone. A PDF tells what a PDF tells; a page that leads nowhere is none."""
    host = "component.test.example"
    at = f"http://{host}/article"
    bodies = {1: (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0", "image/png"),
              2: (make_pdf("A supplement", "Words of a supplement."), "application/pdf"),
              3: (b"PK\x05\x06" + bytes(18), "application/zip")}
    for number, (body, mimetype) in bodies.items():
        polite.page(host, f"/article/{number}", Answer(body=page_of_figure(number)))
        polite.page(host, f"/article/download/fig/{number}", Answer(body=body, type=mimetype))
    polite.page(host, "/article/none", Answer(body=LANDING))
    polite.page(host, "/article/loop", Answer(body=page_of_figure(4)))
    polite.page(host, "/article/download/fig/4", Answer(body=page_of_figure(4)))
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "component", "base_url": f"{at}/{name}"}
                                                     for name in (1, 2, 3, "none", "loop")])
    for number, (_, mimetype) in bodies.items():
        one = found[f"{at}/{number}"]
        assert one["status"] == "success", one
        assert one["hops"] == [f"{at}/{number}", f"{at}/download/fig/{number}"]
        assert one["extract_next_hop"] == {"url": one["hops"][1], "technique": "arpha-figure"}
        assert one["file_meta"]["mimetype"] == mimetype and ("pdf_meta" in one) == (number == 2)
    none = found[f"{at}/none"]
    assert (none["status"], none["error_message"]) == ("wrong-mimetype", "the page names no component")
    assert "extract_next_hop" not in none and none["file_meta"]["mimetype"] == "text/html"
    assert found[f"{at}/loop"]["status"] == "link-loop"
    assert {one.headers["accept"] for one in polite.seen(host, robots=False)} == {"*/*"}
    texts = [json.loads(line) for line in (tmp_path / "out" / "pdf-text.jsonl").read_text("utf-8").splitlines()]
    assert [one["sha1hex"] for one in texts] == [found[f"{at}/2"]["file_meta"]["sha1hex"]]
    assert "supplement" in texts[0]["text"]


def page_of_xml(number):
    """A landing page with an XML link."""
    return b"<!doctype html><title>A paper</title><meta name=citation_title content='A paper'>" \
        b"<meta name=citation_xml_url content=/article/%d.xml><p>Where the paper is." % number


def test_a_page_leads_to_its_xml(run_ctl, polite, tmp_path, schema):
    """By its XML link. JATS goes on as UTF-8; what is not well-formed is a hit that says so."""
    host = "xml.test.example"
    at = f"http://{host}/article"
    bodies = {1: JATS.encode("latin-1"), 2: b"<?xml version='1.0'?><TEI xmlns='http://www.tei-c.org/ns/1.0'><text/></TEI>",
              3: b"<?xml version='1.0'?><data><row/></data>", 4: b"<article dtd-version='1.1'><front></article>", 5: b"%PDF-1.4 in name only"}
    for number, body in bodies.items():
        polite.page(host, f"/article/{number}", Answer(body=page_of_xml(number)))
        polite.page(host, f"/article/{number}.xml", Answer(body=body, type="text/plain"))
    polite.page(host, "/article/none", Answer(body=PAGE))
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "xml", "base_url": f"{at}/{name}"} for name in (*bodies, "none")]
                         + [{"ingest_type": "xml", "base_url": f"{at}/1.xml"}])
    wanted = {1: ("application/jats+xml", "success"), 2: ("application/tei+xml", "success"), 3: ("text/xml", "success"),
              4: ("application/jats+xml", "xml-parse-error")}
    for number, (mimetype, status) in wanted.items():
        one = found[f"{at}/{number}"]
        assert one["hit"] and one["status"] == "success", one
        assert one["hops"] == [f"{at}/{number}", f"{at}/{number}.xml"]
        assert one["extract_next_hop"] == {"url": one["hops"][1], "technique": "citation_xml_url"}
        assert one["html_biblio"]["title"] == "A paper"
        assert one["file_meta"]["mimetype"] == mimetype and one["xml_meta"]["status"] == status
        assert ("error_msg" in one["xml_meta"]) == (status != "success")
        assert one["file_meta"]["sha1hex"] == hashlib.sha1(bodies[number]).hexdigest() == one["terminal"]["terminal_sha1hex"]
    pdf, none = found[f"{at}/5"], found[f"{at}/none"]
    assert pdf["status"] == "wrong-mimetype" and pdf["file_meta"]["mimetype"] == "application/pdf" and "xml_meta" not in pdf
    assert (none["status"], none["error_message"]) == ("wrong-mimetype", "the page names no XML document")
    assert found[f"{at}/1.xml"]["hit"] and found[f"{at}/1.xml"]["hops"] == [f"{at}/1.xml"]

    docs = [json.loads(line) for line in (tmp_path / "out" / "xml-doc.jsonl").read_text("utf-8").splitlines()]
    for one in docs:
        schema("xml-doc").validate(one)
    assert {one["sha1hex"] for one in docs} == {hashlib.sha1(bodies[1]).hexdigest()} and len(docs) == 2
    jats = docs[0]["jats_xml"]
    assert docs[0]["status"] == "success" and jats.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<article ')
    article = ElementTree.fromstring(jats)  # which knows namespaces, and no entities
    assert article.findtext(".//article-title") == "On Gr\u00f6\u00dfe & \u03b1"
    assert article.find(".//ext-link").get("{http://www.w3.org/1999/xlink}href") == "https://a.example/"


def test_archives_say_what_they_hold(run_ctl, polite, tmp_path, schema):
    """The types of their members, best first; of src and component alike."""
    host = "contains.test.example"
    tex = b"\\documentclass{article}\n\\begin{document}text\\end{document}\n"
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0"
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data/a.csv", "a,b\n1,2\n")
        archive.writestr("data/b.png", png)
    bodies = {"tar.gz": gzip.compress(tar_of(**{"main.tex": tex, "fig.png": png})), "tex.gz": gzip.compress(tex), "zip": zipped.getvalue(),
              "bomb.gz": gzip.compress(bytes(10 << 20)), "tex": tex}
    wanted = {"tar.gz": ["text/x-tex", "image/png", "application/x-tar"], "tex.gz": ["text/x-tex"], "zip": ["text/csv", "image/png"],
              "bomb.gz": ["application/octet-stream"], "tex": None}
    for name, body in bodies.items():
        polite.page(host, f"/{name}", Answer(body=body, type="application/octet-stream"))
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "component" if name == "zip" else "src", "base_url": f"http://{host}/{name}"}
                                                     for name in bodies])
    for name, types in wanted.items():
        one = found[f"http://{host}/{name}"]
        assert one["status"] == "success", one
        assert one["file_meta"].get("contains") == types


def page_of(words, head=""):
    """A page with so many words of text."""
    sentence = "Twice a day the water comes up the creek and goes down again, and nobody has asked it to. "
    text = (sentence * (words // 18 + 1)).split()[:words]
    paragraphs = "".join(f"<p>{' '.join(text[at:at + 90])}." for at in range(0, len(text), 90))
    return f"<!doctype html><html lang=en><head><title>Tides</title>{head}</head><body><h1>Tides</h1>{paragraphs}".encode()


def test_a_page_is_a_hit_if_it_is_an_articles_full_text(run_ctl, polite, tmp_path, schema):
    """The importers' demands for html: media type, status code, and a capture whose URL is the terminal one."""
    host = "pages.test.example"
    title = "<meta name=citation_title content='On tides'>"
    pages = {
        "/paper": (page_of(1400, title), "success", "article-fulltext"),
        "/short": (page_of(300, title), "unknown-scope", "unknown"),
        "/": (page_of(1400), "wrong-scope", "homepage-domain"),
        "/abstract": (page_of(150, title), "wrong-scope", "article-abstract"),
        "/lost": (b"<!doctype html><title>Page not found</title><p>It is not here.", "wrong-scope", "errorpage"),
        "/sold": (page_of(150, title) + b"<p>Purchase this article for 39 euros.", "blocked-paywall", "blocked-paywall"),
        "/members": (b"<!doctype html><title>Sign in</title><form><input type=password></form>", "blocked-login", "blocked-login"),
        "/nothing": (b"<!doctype html><title>Nothing</title><body>", "wrong-scope", "stub"),
    }
    for path, (body, _, _) in pages.items():
        polite.page(host, path, Answer(body=body))
    found = run_requests(run_ctl, tmp_path, schema,
                         [{"ingest_type": "html", "base_url": f"http://{host}{path}"} for path in pages])
    for path, (_, status, scope) in pages.items():
        one = found[f"http://{host}{path}"]
        assert (one["status"], one.get("scope"), one["hit"]) == (status, scope, status == "success"), path
        if "file_meta" in one:
            assert one["file_meta"]["mimetype"] == "text/html" and one["terminal"]["terminal_status_code"] == 200
            assert one["cdx"]["url"] == one["terminal"]["terminal_url"] and one["cdx"]["surt"]
            assert one["html_body"]["status"] == ("empty-xml" if path in ("/nothing", "/members") else "success"), path
            assert "tei_xml" not in one["html_body"]
    kept = [json.loads(line) for line in (tmp_path / "out" / "html-teixml.jsonl").read_text(encoding="utf-8").splitlines()]
    for message in kept:
        schema("html-teixml").validate(message)
    wanted = {found[f"http://{host}{path}"]["file_meta"]["sha1hex"] for path in ("/paper", "/short")}
    assert {message["key"] for message in kept} == wanted
    assert all("Twice a day" in message["tei_xml"] for message in kept)


def test_the_page_that_the_link_to_the_full_text_leads_to_is_it(run_ctl, polite, tmp_path, schema):
    """The landing page's link is redirected to an address that the page itself does not give."""
    host = "moved.test.example"
    link = f"<meta name=citation_title content=T><meta name=citation_fulltext_html_url content=http://{host}/full/1>"
    polite.page(host, "/1", Answer(body=page_of(100, link)))
    polite.page(host, "/full/1", redirect("/doi/full/1?access=free"))
    polite.page(host, "/doi/full/1?access=free", Answer(body=page_of(1400, link)))
    found = run_requests(run_ctl, tmp_path, schema, [{"ingest_type": "html", "base_url": f"http://{host}/1"}])
    one = found[f"http://{host}/1"]
    assert (one["status"], one["scope"], len(one["hops"])) == ("success", "article-fulltext", 3)
