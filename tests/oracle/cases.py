# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages and selectors, made by a seeded generator from every feature of the grammar, and a list written by hand.

Where ingest-worker differs from jsoup 1.16.1 on purpose (worker/scrape/jsoup/SELECTORS.md), no case is made: those are
in the unit tests.
"""

import random

TAGS = ["div", "p", "span", "a", "b", "ul", "li", "h1", "h2", "table", "tr", "td", "section", "article", "em", "br", "img"]
CLASSES = ["x", "Y", "title", "authors", "name", "a-b", "c_d"]
IDS = ["one", "two", "Main", "k1"]
WORDS = ["alpha", "Beta", "gamma delta", "DOI: 10.1/x", "See also", "42", "É\u0301tude", "a\u00a0b", "x\u200by", "(ok)"]
ATTRS = [("title", ["Alpha", "beta gamma", " pad ", "É", ""]), ("href", ["/a", "b?c=1", "https://o.example/x", "#f", ""]),
         ("data-k", ["v", "V2", "one two"]), ("name", ["dc.title", "citation_doi"])]


# What may stand in what: within it both parsers build the same tree, so that what differs is the selectors' doing.
PHRASING = ["span", "b", "em", "br", "img"]
FLOW = ["div", "p", "section", "article", "ul", "h1", "h2", "table", "a", *PHRASING]
INSIDE = {"div": FLOW, "section": FLOW, "article": FLOW, "li": FLOW, "td": FLOW, "p": ["a", *PHRASING], "h1": ["a", *PHRASING],
          "h2": ["a", *PHRASING], "span": PHRASING, "b": PHRASING, "em": PHRASING, "a": PHRASING, "ul": ["li"], "table": ["tr"],
          "tr": ["td"]}


def start_tag(rng, tag):
    out = "<" + tag
    if rng.random() < 0.45:
        out += f' class="{" ".join(rng.choice(CLASSES) for _ in range(rng.randint(1, 3)))}"'
    if rng.random() < 0.15:
        out += f' id="{rng.choice(IDS)}"'
    for name, values in ATTRS:
        if rng.random() < 0.12:
            out += f' {name}="{rng.choice(values)}"'
    return out + ">"


def words(rng):
    if rng.random() < 0.25:
        return rng.choice(["", " ", "\n  "])
    return rng.choice(["", " ", "\n"]) + rng.choice(WORDS) + rng.choice(["", " ", "  "])


def element(rng, tag, depth):
    out = [start_tag(rng, tag)]
    if tag in ("br", "img"):
        return out[0]
    strict = tag in ("table", "tr")
    if tag == "table":
        out.append("<tbody>")
    for _ in range(rng.randint(0, 5)):
        kind = rng.random()
        if kind < 0.5 and depth < 7:
            out.append(element(rng, rng.choice(INSIDE[tag]), depth + 1))
        elif kind < 0.9:
            out.append(rng.choice(["", " "]) if strict else words(rng))
        elif kind < 0.95:
            out.append("<!-- note -->")
        else:
            out.append("<script>var q = 'data';</script>")
    return "".join(out) + ("</tbody>" if tag == "table" else "") + f"</{tag}>"


def page(rng):
    """A page of a few dozen elements."""
    parts = [element(rng, rng.choice(FLOW), 0) + words(rng) for _ in range(rng.randint(3, 8))]
    return "<!doctype html><title>T</title><body>" + "".join(parts)


def simple(rng, depth, careful):
    """One test of a compound; no type."""
    kind = rng.randint(0, 22)
    if kind <= 4:
        return "." + rng.choice(CLASSES + ["X", "nothing"])
    if kind == 5:
        return "#" + rng.choice(IDS + ["main"])
    if kind <= 8:
        name, values = rng.choice(ATTRS)
        op = rng.choice(["", "=", "!=", "^=", "$=", "*=", "~="])
        if op == "":
            return rng.choice([f"[{name}]", f"[{name.upper()}]", f"[^{name[:2]}]"])
        if op == "~=":
            return f"[{name}{op}{rng.choice(['^a', '[A-Z]', 'b.*a', '(?i)ALPHA', '^$'])}]"
        value = rng.choice([v for v in values if v.strip()] + ["a", "ALPHA"])
        quote = rng.choice(["", "", '"', "'"])
        return f"[{name}{op}{quote}{value}{quote}]"
    if kind <= 10:
        return rng.choice([":eq(0)", ":eq(1)", ":lt(2)", ":gt(1)", ":gt(0)"])
    if kind <= 12:
        return ":" + rng.choice(["first-child", "last-child", "only-child", "first-of-type", "last-of-type", "only-of-type"])
    if kind == 13:
        name = rng.choice(["nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type"])
        return f":{name}({rng.choice(['odd', 'even', '2', '2n+1', '3n', 'n+2', '3n-1', '+2n+1', 'ODD', ' 2 '])})"
    if kind == 14:
        return rng.choice([":root", ":Root"])
    if kind <= 17 and depth < 2:
        return f":{rng.choice(['not', 'has', 'NOT'])}({group(rng, depth + 1, careful, leading=False)})"
    if kind == 18 and depth < 2:
        return f":has({rng.choice(['', '> '])}{group(rng, depth + 1, careful, leading=False)})"
    if kind == 19:
        return f":{rng.choice(['contains', 'containsOwn'])}({rng.choice(['alpha', 'BETA', 'see also', 'a b', ' 10', 'É'])})"
    if kind == 20:
        return f":{rng.choice(['containsWholeText', 'containsWholeOwnText', 'containsData'])}({rng.choice(['Beta', 'data', 'note', 'a'])})"
    if kind == 21:
        name = rng.choice(["matches", "matchesOwn", "matchesWholeText", "matchesWholeOwnText"])
        return f":{name}({rng.choice(['^alpha', '[0-9]+$', '(?i)see', '^$', 'a.b', '^[^a-z]', ' $'])})"
    return ".x"


def compound(rng, depth, careful):
    if rng.random() < 0.4:  # something that is likely to be there
        return rng.choice(["*", "div", "p", "span", "ul", "li", "b", ".x", ".name", "section", ":not(.x)", ":not(p)"])
    parts = []
    if rng.random() < 0.7:
        parts.append(rng.choice(TAGS + ["*", "DIV", "body"]))
    for _ in range(rng.choice([0, 0, 1, 1, 2]) if parts else rng.randint(1, 2)):
        parts.append(simple(rng, depth, careful))
    if careful and rng.random() < 0.35:
        parts.append(":matchText")
    return "".join(parts)


def group(rng, depth, careful, leading=True):
    chains = []
    for _ in range(rng.choice([1, 1, 1, 2, 3]) if depth else rng.choice([1, 1, 2])):
        chain = compound(rng, depth, careful)
        if leading and not chains and rng.random() < 0.03:
            chain = "> " + chain
        for _ in range(rng.choice([0, 0, 1, 1, 2, 3]) if depth == 0 else rng.choice([0, 0, 0, 1, 2])):
            chain += rng.choice([" ", " ", " > ", ">", " + ", "~", " ~ "]) + compound(rng, depth, careful)
        chains.append(chain)
    return rng.choice([", ", ",", " , "]).join(chains)


BY_HAND_PAGE = """<!doctype html><html><head><title>A  title</title><base href="https://b.example/d/"></head><body>
<header><h1 class="Title">Raw <em class=descriptor>d</em> text</h1></header>
<div class="authors"><div class="contrib"><span class=name>Ann</span> <a class=corresp href="mailto:a@b.c">mail</a></div>
<div class=contrib><span class=name>Bob</span></div></div>
<div id="a:b" class="1x é" title="it's">One<br>two</div><ns:el k=v>n</ns:el><other:el>o</other:el><el>e</el>
<p lang=en title="Correspondence author icon">It's (fine) [ok] "q"</p><p></p><p> </p><p><!-- c --></p><p><b></b></p>
<table><tr><th>H1<th>H2<tr><td>1<td>2</table><ul><li>1<li>2<li>3<li>4<li>5</ul><a href="x?y#z">l</a><a href="">e</a><a>n</a>
<pre>  a
 b </pre><textarea> t  u </textarea><script>if (a < b) "Data"</script><style>.x{}</style></body></html>"""

BY_HAND = """
.authors > .contrib:has(.corresp) .name
h1.title:matchText, h1.title > :not(.descriptor)
header > h1 > :matchText
h1:matchText, h1 > *
table:has(th + th)
table:has(tr th)
table:has(table tr)
div:has(.contrib > .name)
div:has(> .contrib)
div:has(> .contrib > .name)
div:has(> .contrib .corresp, > b)
.authors:has(.authors .name)
.contrib:not(:has(.corresp))
#a\\:b
.é
.1x
ns|el
*|el
el
ns|el, other|el
[k=v]
[title=Correspondence author icon]
[title="Correspondence author icon"]
[title='CORRESPONDENCE AUTHOR ICON']
[title= Correspondence author icon ]
[title^=Corr]
[title^= Corr]
[title$='icon']
[title*="author"]
[title~=^Corr.*icon$]
[title~=^(it|no)\\'s$]
[title="it\\'s"]
[href]
[abs:href]
[abs:href=https://b.example/d/x?y#z]
[abs:href^=mailto]
a[href!=x]
[abs:href~=^https://b\\.example/]
a[abs:href$=y#z]
p:contains(\\(fine\\))
p:contains([ok])
p:contains(\\"q\\")
p:contains(it\\'s)
p:matches(\\Q(fine) [ok]\\E)
p:matches(^It\\'s)
p:matchesOwn(\\[ok\\])
b:empty
li:nth-child(2n+1)
li:nth-child(odd)
li:nth-last-child(2)
li:nth-child(n+3)
li:nth-child(3n-1)
li:eq(0), li:gt(3)
li:lt(2)
:eq(0)
:lt(1)
:root
:root > body
html:first-child
body:last-child
head + body
head ~ body p
*
:not(p)
:not(div p, li)
body > *
> html
> html > body > p
pre:containsWholeText(  a)
pre:matches(a\\n b)
div:matches(^One two$)
div:matchesWholeText(One\\ntwo)
:containsData(data)
script:containsData("data")
title:matches(A  title)
textarea:matches(t  u)
p:containsOwn(it\\'s (fine))
div[id]
div[id=a:b]
[^ti]
[^TI]
p[title][lang]
p[lang].x, p[lang=EN]
[lang]p
p:contains(x)b
:matchText
li:matchText
li :matchText
ul:matchText > li
li:matchText:eq(1)
ul > li:matchText + li
body :matchText:matches(^One$)
div:has(:matchText)
p:not(:matchText)
body:has(div:matchText)
*:matchText.name
div.contrib:matchText, div > .name
:nth-child
p:nth-child(x)
p[
p[=x]
p:contains()
p:contains(it's)
p:not()
p:has()
:first
#
.
p >
p,
p:matches([)
_x
|p
p:eq(-1)
p:eq(x)
p:gt()
""".strip("\n").split("\n")


XML_PAGE = """<?xml version="1.0"?><Article xmlns:x="u"><Front><article-title>A  <Italic>b</Italic> c</article-title>
<contrib ID="c1" contrib-type="author"><Name>N</Name><x:ref x:href="/r">1</x:ref></contrib></Front>
<body><sec><title>T  t</title><p>One<list><list-item><p>x</p></list-item></list>y</p><table><tr><td>1</td><td>2</td></tr></table>
<data><![CDATA[ raw <b> ]]></data></sec></body></Article>"""

XML = """
article-title
Article > front
contrib[contrib-type=author] name
[id=c1]
#c1
x|ref
*|ref
[x:href]
[^x:]
p
body p
title:matches(^T t$)
data:containsOwn(raw <b>)
:root
sec:has(> title):has(td + td)
p:has(p), table
contrib > :matchText
*
""".strip("\n").split("\n")


def cases(count=600, seed=20250101):
    """(kind, base, page, selector) …"""
    made = [("html", "https://b.example/x", BY_HAND_PAGE, selector) for selector in BY_HAND]
    made += [("xml", "https://x.example/", XML_PAGE, selector) for selector in XML]
    rng = random.Random(seed)
    markup = ""
    for i in range(count):
        if i % 4 == 0:
            markup = page(rng)
        careful = i % 5 == 4
        made.append(("html", "https://h.example/d/p?q", markup, group(rng, 0, careful)))
    return made
