# SPDX-License-Identifier: GPL-3.0-or-later
"""JATS: our CPU for one document beside that of lxml, in the same run; see README.md."""

import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

try:
    from lxml import etree
except ImportError:
    etree = None

WORDS = ("tide creek marsh bank width area salt sample station relation order magnitude water drains square root of the a is in "
         "where when which observed measured between after before level season plant root channel").split()
HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.1 20151215//EN" "JATS-journalpublishing1.dtd">
<article article-type="research-article" dtd-version="1.1" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML">
"""


def sentence(rng):
    return " ".join(rng.choices(WORDS, k=18)).capitalize() + ". "


def paragraph(rng, number):
    text = "".join(sentence(rng) for _ in range(6))
    return (f'<p id="p{number}">{text}<xref ref-type="bibr" rid="r{number % 60}">{number % 60}</xref> <italic>n</italic> &#8211; '
            f"<inline-formula><mml:math><mml:mi>w</mml:mi><mml:mo>=</mml:mo><mml:mi>c</mml:mi></mml:math></inline-formula>.</p>\n")


def reference(rng, number):
    names = "".join(f"<name><surname>{w.capitalize()}</surname><given-names>{w[0].upper()}.</given-names></name>" for w in rng.choices(WORDS, k=4))
    return (f'<ref id="r{number}"><element-citation publication-type="journal"><person-group>{names}</person-group><article-title>{sentence(rng)}'
            f"</article-title><source>Tidal Ecology</source><year>2020</year><volume>{number}</volume><fpage>1</fpage></element-citation></ref>\n")


def article(sections, references, seed=1):
    """An article of so many sections of eight paragraphs, with the markup that articles have."""
    rng = random.Random(seed)
    marks = [' corresp="yes"', *[""] * 5]
    contribs = "".join(f'<contrib contrib-type="author"{mark}><name><surname>{word.capitalize()}</surname><given-names>A.</given-names></name></contrib>'
                       for mark, word in zip(marks, rng.choices(WORDS, k=6), strict=True))
    front = (f'<front><journal-meta><journal-title-group><journal-title>Tidal Ecology</journal-title></journal-title-group></journal-meta><article-meta>'
             f'<article-id pub-id-type="doi">10.5555/x.{seed}</article-id><title-group><article-title>{sentence(rng)}</article-title></title-group>'
             f"<contrib-group>{contribs}</contrib-group><abstract><p>{sentence(rng) * 8}</p></abstract></article-meta></front>\n")
    body = "".join(f"<sec><title>{sentence(rng)}</title>\n" + "".join(paragraph(rng, s * 8 + n) for n in range(8)) + "</sec>\n" for s in range(sections))
    refs = "".join(reference(rng, n) for n in range(references))
    return f"{HEAD}{front}<body>{body}</body><back><ref-list>{refs}</ref-list></back></article>\n"


def lxml_us(data, with_text, limit_s):
    """The same with lxml: parsing, serialising as UTF-8, and the texts of front and body by XPath."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)

    def work():
        root = etree.fromstring(data, parser)
        etree.tostring(root, encoding="utf-8", xml_declaration=True)
        if with_text:
            "".join(root.xpath("front//article-title//text()"))
            " ".join("".join(p.itertext()) for p in root.xpath("front//abstract//p | body//title | body//p"))
            [" ".join(n.itertext()) for n in root.xpath("front//contrib/name")]
    start = time.thread_time()
    while time.thread_time() - start < limit_s / 10:
        work()
    rounds, start = 0, time.thread_time()
    while time.thread_time() - start < limit_s:
        work()
        rounds += 1
    return (time.thread_time() - start) / rounds * 1e6


def measure(build, rounds=3, milliseconds=300):
    """{file: {"bytes", ours and lxml's microseconds, ratios}}: medians of rounds."""
    files = {"short.xml": article(3, 20), "usual.xml": article(12, 60), "long.xml": article(250, 600)}
    program = pathlib.Path(build) / "tests" / "bench" / "bench-jats"
    seen = []
    with tempfile.TemporaryDirectory(prefix="ing-bench-") as folder:
        paths = [pathlib.Path(folder) / name for name in files]
        for path in paths:
            path.write_text(files[path.name], encoding="utf-8")
        for _ in range(rounds):
            out = subprocess.run([str(program), str(milliseconds), *map(str, paths)], check=True, stdout=subprocess.PIPE, text=True).stdout
            rows = {row["file"]: row for row in map(json.loads, out.splitlines())}
            for name, text in files.items() if etree else ():
                rows[name]["lxml_read_us"] = lxml_us(text.encode(), False, milliseconds / 1000)
                rows[name]["lxml_text_us"] = lxml_us(text.encode(), True, milliseconds / 1000)
            seen.append(rows)
    if etree is None:
        print("no lxml: ours alone", file=sys.stderr)
    report = {}
    for name in files:
        one = {key: round(statistics.median(rows[name][key] for rows in seen), 1) for key in seen[0][name] if key.endswith("_us")}
        if etree:
            one["read_to_lxml"] = round(one["read_us"] / one["lxml_read_us"], 2)
            one["publication_to_lxml"] = round(one["publication_us"] / one["lxml_text_us"], 2)
        report[name] = {"bytes": seen[0][name]["bytes"], **one}
    return report
