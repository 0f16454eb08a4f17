# SPDX-License-Identifier: GPL-3.0-or-later
"""The main text of pages as TEI: valid by TEI's own schema, whatever the page is, and with the page's structure."""

import json
import lzma
import pathlib
import random
import shutil
import subprocess

import pytest

etree = pytest.importorskip("lxml.etree")

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEI = {"t": "http://www.tei-c.org/ns/1.0", "m": "http://www.w3.org/1998/Math/MathML"}

# All that is inside <body> is main text on this host.
WEBPAGES = "all\\.example/:\n  content: body\n"

META = """<meta name=citation_title content="On &lt;tides&gt; &amp; flats"><meta name=citation_author content="Lovelace, Ada">
<meta name=citation_author content="Grace Hopper"><meta name=citation_doi content="10.5555/12345678">
<meta name=citation_journal_title content="Journal of Tides"><meta name=citation_issn content="1234-5678">
<meta name=citation_volume content="3"><meta name=citation_issue content="2"><meta name=citation_firstpage content="11">
<meta name=citation_lastpage content="19"><meta name=citation_publication_date content="2020/02/03">
<meta name=citation_publisher content="Press"><meta name=citation_abstract content="Short, and to the point.">
<meta name=citation_keywords content="tide; flat"><meta name=citation_language content="en">"""

WORDS = "Words that are the main text of this page, and more of them, so that there is something to be kept. "

PARTS = [
    "plain words", "<p>a paragraph</p>", "<h1>One</h1>", "<h2>Two</h2>", "<h3><div>Three</div><ul><li>x</ul></h3>", "<h6>Six</h6>",
    "<section><h2>S</h2><p>s</p>", "</section>", "<section><figure><figcaption>F</figcaption></figure></section>",
    "<ul><li>a<li><p>b<p>c<ul><li>d</ul></ul>", "<ul>bare<h2>in a list</h2></ul>", "<li>stray", "<ol><table><tr><td>1<td>2</table></ol>",
    "<dl><dt>t<dd>d<dd>e<dt>f</dl>", "<dl>bare<dt>t</dl>", "<table><caption>C</caption><tr><th>a<th>b<tr><td>1<td rowspan=2 colspan=3>2</table>",
    "<table><tr><td>1<td><tr><td><td></table>", "<table><tr><td><h2>layout</h2><td>x</table>", "<table><tr><td><table><tr><td>a<td>b</table></table>",
    "<table><tr><td>a<td><ul><li>b<h3>c</h3></ul><blockquote>d</blockquote><tr><td>e<td></table>", "<table><tr><td>1<td>2<caption>late</caption></table>",
    "<blockquote>q<p>r<h2>h</h2></blockquote>", "<figure><img src=/i.png alt=x>t<p>u<figcaption>C <b>d</b><ul><li>e</ul></figcaption></figure>",
    "<div class=fig><img src=i.png><div class=caption>c</div></div>", "<pre>\n a <b>b</b>\n\n c</pre>", "<code>x <i>y</i></code>",
    "<b>b <i>i <u>u <sup>s <sub>t <del>d <q>q <code>c</code></q></del></sub></sup></u></i></b>", "<a href=/x>link</a>", "<a href='?[{|}]^`'>odd</a>",
    "<a href=/x><div>block link</div><div>again</div></a>", "<a name=x>no link</a>", "one<br>two<br><br>three", "<hr>",
    "<math display=block><semantics><mfrac><mi>a</mi><mi>b</mi></mfrac><annotation encoding='application/x-tex'>a/b</annotation></semantics></math>",
    "<div><script type='math/tex; mode=display'>a<b</script></div>", "<img class=tex alt='x^2'>", "<details><summary>s</summary>d</details>",
    "<address>where</address>", "<center><font color=red>old</font></center>", "&#x1;&#xffff;\x0b&lt;&amp;\u202e\u05e9\u05dc\u05d5\u05dd",
    "<div role=heading aria-level=4>role</div>", "<h2><math><mi>x</mi></math> h</h2>", "<h2><figure>f</figure></h2>", "<div>" * 300 + "deep" + "</div>" * 300,
    "<ul><li>" * 130 + "deep", "<blockquote>" * 250 + "deep",
]


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tei")
    with lzma.open(ROOT / "tests/data/tei/tei_all.rng.xz") as packed:
        (folder / "tei_all.rng").write_bytes(packed.read())
    shutil.copy(ROOT / "tests/data/tei/tei_math.rng", folder)
    return etree.RelaxNG(file=str(folder / "tei_math.rng"))


@pytest.fixture(scope="module")
def extract(program, tmp_path_factory):
    """extract(page, …): what ingestctl finds in each, all of whose body is main text by a rule."""
    rules = tmp_path_factory.mktemp("rules")
    (rules / "webpages.yaml").write_text(WEBPAGES, encoding="utf-8")

    def run(*pages, lang="en"):
        lines = [json.dumps({"url": "https://all.example/a/1", "html": page}) for page in pages]
        done = subprocess.run([program("ingestctl"), "--set", f"rules.dir={rules}", "extract", "html", "--batch", "-"],
                              input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=300, check=False)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(found) == len(pages), done.stderr
        return found
    return run


def body_of(found):
    return etree.fromstring(found["tei_xml"].encode()).find(".//t:text/t:body", TEI)


def assert_valid(schema, found, page):
    document = etree.fromstring(found["tei_xml"].encode())
    assert schema.validate(document), f"{schema.error_log}\n{page}\n{found['tei_xml']}"


def test_the_schema_refuses_what_is_no_tei(schema, extract):
    good, = extract(f"<p>{WORDS}")
    assert_valid(schema, good, "")
    for wrong in [("<p>Words", "<p><div/>Words"), ("</p>", "</p><list/>"), ("<body>", "<body><x/>"),
                  ("<titleStmt>", "<titleStmt><p/>")]:
        document = good["tei_xml"].replace(*wrong)
        assert document != good["tei_xml"] and not schema.validate(etree.fromstring(document.encode())), wrong


def test_documents_are_valid(schema, extract):
    """Each part alone, beside each other part, and hundreds at random in one another."""
    chance = random.Random(7)
    pages = [f"<!doctype html><html lang=en_GB><head>{META}</head><body>{WORDS}{part}<p>{WORDS}" for part in PARTS]
    pages += [f"<!doctype html><title>T</title><body>{WORDS}{a}{b}{WORDS}" for a in PARTS[:40] for b in chance.sample(PARTS, 8)]
    pages += [f"<!doctype html><body>{WORDS}" + "".join(chance.choices(PARTS[:-3], k=40)).replace("</div>", "", 3) for _ in range(150)]
    for page, found in zip(pages, extract(*pages)):
        assert found["status"] == "success", (found["status"], page)
        assert_valid(schema, found, page)


def test_a_document_has_the_structure_of_the_page(schema, extract):
    page = f"""<!doctype html><html lang=en><head>{META}</head><body><p>{WORDS}<h2>Methods</h2><p>First <em>words</em>.
        <section><h3>Sites</h3><p>{WORDS} We saw <a href="/b">this</a>: <math><mi>x</mi></math>.<ol><li>one<li>two</ol></section>
        <table><tr><th>a<th>b<tr><td>1<td>2</table><figure><img src="f.png" alt="A flat"><figcaption>Flat.</figcaption></figure>"""
    found, = extract(page)
    assert_valid(schema, found, page)
    body = body_of(found)
    assert [head.text for head in body.iterfind(".//t:head", TEI)] == ["Methods", "Sites", "Flat."]
    assert body.find("t:div/t:div/t:head", TEI).text == "Sites"
    assert [item.text for item in body.iterfind(".//t:list[@rend='numbered']/t:item", TEI)] == ["one", "two"]
    assert [cell.text for cell in body.iterfind(".//t:row/t:cell", TEI)] == ["a", "b", "1", "2"]
    assert body.find(".//t:ref", TEI).get("target") == "https://all.example/b"
    assert body.find(".//t:formula/m:math/m:mi", TEI).text == "x"
    assert body.find(".//t:figure/t:graphic", TEI).get("url") == "https://all.example/a/f.png"
    head = etree.fromstring(found["tei_xml"].encode()).find("t:teiHeader", TEI)
    assert head.find(".//t:titleStmt/t:title", TEI).text == "On <tides> & flats" == found["biblio"]["title"]
    assert ["".join(name.itertext()) for name in head.iterfind(".//t:author/t:persName", TEI)] == ["Ada Lovelace", "Grace Hopper"]
    assert head.find(".//t:idno[@type='DOI']", TEI).text == "10.5555/12345678"
    assert head.find(".//t:imprint/t:date", TEI).get("when") == "2020-02-03"
    assert found["word_count"] == len(found["text"].split())


def test_a_page_without_text_is_empty_xml(extract):
    found, = extract("<!doctype html><title>T</title><body><img src=x>")
    assert (found["status"], found["tei_xml"], found["word_count"], found["text"]) == ("empty-xml", None, 0, "")
    assert set(found) >= {"status", "title", "text", "word_count", "language", "scope", "platform", "tei_xml", "resources", "biblio"}
