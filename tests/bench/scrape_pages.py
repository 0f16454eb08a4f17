# SPDX-License-Identifier: GPL-3.0-or-later
"""Nine pages with the shape of articles on the web: sizes, depth, and density of classes, attributes, scripts and references
differ from page to page as they do between publishers; their mean is near 117 KB. The text is ours. The same each time."""

import pathlib
import random
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# name: bytes, share of inline script, depth of wrappers, attributes of wrappers, words of a paragraph
SHAPES = {
    "compact": (28_000, 0.05, 2, 1, 60),
    "plain": (55_000, 0.10, 3, 1, 90),
    "sidebar": (80_000, 0.20, 6, 2, 70),
    "scripted": (100_000, 0.50, 5, 2, 70),
    "deep": (110_000, 0.15, 14, 3, 60),
    "attributes": (125_000, 0.20, 6, 7, 50),
    "references": (150_000, 0.10, 4, 2, 40),
    "mathematics": (180_000, 0.10, 5, 2, 25),
    "whole": (225_000, 0.20, 7, 3, 90),
}


class Maker:
    def __init__(self, name):
        self.name = name
        self.bytes, self.script, self.depth, self.attrs, self.words = SHAPES[name]
        self.random = random.Random(name)
        text = (ROOT / "deploy" / "sampleweb" / "texts" / "saltmarsh.txt").read_text(encoding="utf-8")
        self.vocabulary = re.sub(r"[<>&\"]", " ", text).split()
        self.number = 0

    def prose(self, words):
        start = self.random.randrange(len(self.vocabulary))
        return " ".join(self.vocabulary[(start + i) % len(self.vocabulary)] for i in range(words))

    def attributes(self):
        self.number += 1
        pool = ["data-id", "data-track", "data-label", "aria-label", "role", "itemprop", "data-component", "style"]
        return "".join(f' {key}="{key[-4:]} {self.number}"' for key in pool[:self.attrs])

    def head(self):
        metas = {"citation_title": "How wide is a creek?", "citation_doi": "10.5555/creek.2021.7",
                 "citation_journal_title": "Annals of Tidal Water", "citation_volume": "7", "citation_issue": "2",
                 "citation_firstpage": "101", "citation_lastpage": "119", "citation_publication_date": "2021/05/17",
                 "citation_issn": "1234-5679", "citation_language": "en", "citation_publisher": "Northmoor Press",
                 "citation_pdf_url": "/article/1.pdf", "citation_fulltext_html_url": "/article/1",
                 "dc.title": "How wide is a creek?", "dc.date": "2021-05-17", "description": self.prose(60)}
        lines = [f'<meta name="{key}" content="{value}">' for key, value in metas.items()]
        for n in range(8):
            lines.append(f'<meta name="citation_author" content="Ada Writer {n}">')
            lines.append(f'<meta name="citation_author_institution" content="{self.prose(9)}">')
        lines += [f'<meta property="og:{key}" content="{self.prose(8)}">' for key in ("title", "type", "site_name", "description")]
        lines += [f'<link rel="stylesheet" href="/assets/{n}.css" media="screen">' for n in range(6)]
        lines += [f'<meta name="citation_reference" content="citation_title={self.prose(9)}; citation_author=B. Other; '
                  f'citation_year=19{60 + n % 40}">' for n in range(30 if self.name == "references" else 8)]
        return "\n".join(lines)

    def scripts(self, size):
        piece = 'window.pageData.push({"id": %d, "name": "track", "values": [1, 2, 3], "on": function (e) { return e.target < 7; }});\n'
        count = max(1, size // len(piece) // 4)
        return "\n".join("<script>\n" + "".join(piece % (n * 10 + k) for k in range(count)) + "</script>" for n in range(4))

    def wrap(self, inner, depth):
        opened = "".join(f'<div class="l-{n} grid__row u-mb-{n}"{self.attributes()}>' for n in range(depth))
        return opened + inner + "</div>" * depth

    def menu(self):
        items = "".join(f'<li class="menu__item"><a class="menu__link" href="/topic/{n}">{self.prose(2)}</a></li>' for n in range(30))
        return f'<nav class="site-nav" role="navigation"><ul class="menu">{items}</ul></nav>'

    def authors(self):
        return '<div class="authors">' + "".join(
            f'<div class="contrib"><span class="name">Ada Writer {n}</span><sup><a href="#aff{n}">{n}</a></sup>' +
            ('<span class="corresp">*</span><a href="mailto:ada@tidal.example">mail</a>' if n == 2 else "") + "</div>"
            for n in range(8)) + "</div>"

    def front(self):
        return ('<h1 class="article-title"><span class="badge">Open</span> How wide is a creek?</h1>'
                '<p class="subtitle">A question of tides</p>' + self.authors() +
                '<div class="article-meta"><a href="https://doi.org/10.5555/creek.2021.7">doi</a></div>'
                '<ul class="article-tools"><li><i class="icon-cite"></i><a href="/cite">Cite</a></li>'
                '<li><i class="icon-pdf"></i><a title="PDF (2 MB)" href="/article/1.pdf">PDF</a></li></ul>'
                f'<section class="abstract"><h2>Abstract</h2><p>{self.prose(180)}</p></section>'
                '<div class="kwd-group"><h3>Keywords</h3><span class="kwd">tide</span><span class="kwd">creek</span></div>')

    def section(self, n):
        maths = ""
        if self.name == "mathematics":
            maths = "".join(f"<math><mrow><mi>x</mi><mo>=</mo><msup><mi>y</mi><mn>{k}</mn></msup></mrow></math> " for k in range(8))
        return (f'<section id="s{n}" class="section level-{n % 3}"{self.attributes()}><h2><a href="#s{n}">Part {n}</a></h2>'
                f'<p class="para">{self.prose(self.words)} <cite><a class="ref" href="#r{n}">[{n}]</a></cite> <i>{self.prose(4)}</i>'
                f' {self.prose(self.words // 2)} {maths}</p><div class="figure-tools"><a href="#top">Top</a></div></section>\n')

    def references(self, count):
        items = "".join(
            f'<li id="r{n}" class="reference"><span class="label">{n}.</span> <span class="ref-authors">Other B, Third C</span> '
            f'<span class="year">(19{60 + n % 40})</span> <span class="ref-title">{self.prose(10)}</span> <em>J Tides</em> '
            f'<a class="ref-link" href="https://doi.org/10.5555/ref.{n}" target="_blank" rel="noopener">CrossRef</a> '
            f'<a class="ref-link" href="https://scholar.example/lookup?n={n}">Scholar</a></li>' for n in range(count))
        return f'<section><h2>References</h2><ol class="references">{items}</ol></section>'

    def page(self):
        head = self.head()
        scripts = self.scripts(int(self.bytes * self.script))
        references = self.references(220 if self.name == "references" else 45)
        fixed = len(head) + len(scripts) + len(references) + 6000
        body = ""
        n = 0
        while fixed + len(body) < self.bytes:
            body += self.section(n)
            n += 1
        article = f'<article>{self.front()}<div class="article-body">{body}{references}</div></article>'
        return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>How wide is a creek?</title>\n{head}\n{scripts}</head>'
                f'<body class="page">{self.menu()}{self.wrap(article, self.depth)}<footer class="footer">{self.menu()}</footer></body></html>\n')


def make(folder):
    """Writes the pages and gives their paths."""
    paths = []
    for name in SHAPES:
        path = pathlib.Path(folder) / f"{name}.bench.example.html"
        path.write_text(Maker(name).page(), encoding="utf-8")
        paths.append(path)
    return paths
