# SPDX-License-Identifier: GPL-3.0-or-later
"""The main text of HTML pages: our CPU a page, and trafilatura's beside it in the same run."""

import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import scrape_pages

ENOUGH_S = 0.2  # of trafilatura's time a page


def ours(build, milliseconds, pages):
    command = [str(pathlib.Path(build) / "tests" / "bench" / "bench-html"), str(milliseconds), *map(str, pages)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def theirs_us(page):
    """CPU of this process for one page, the mean over as many repetitions as make ENOUGH_S, after one to warm up."""
    import trafilatura

    html = page.read_bytes()
    trafilatura.extract(html)
    count, start = 0, time.process_time()
    while time.process_time() - start < ENOUGH_S:
        trafilatura.extract(html)
        count += 1
    return (time.process_time() - start) / count * 1e6


def mean_ms(values_us):
    return round(statistics.fmean(values_us) / 1000, 3)


def measure(build, rounds, milliseconds):
    with tempfile.TemporaryDirectory(prefix="ing-bench-") as folder:
        pages = list(map(pathlib.Path, scrape_pages.make(folder)))
        mine, other = [], []
        for _ in range(rounds):
            mine.append(ours(build, milliseconds, pages))
            other.append([theirs_us(page) for page in pages])
    parse = [statistics.median(r[i]["parse_us"] for r in mine) for i in range(len(pages))]
    text = [statistics.median(r[i]["text_us"] for r in mine) for i in range(len(pages))]
    trafilatura_us = [statistics.median(r[i] for r in other) for i in range(len(pages))]
    size = [row["bytes"] for row in mine[0]]
    return {"pages": len(pages), "mean_bytes": round(statistics.fmean(size)),
            "parse_ms": mean_ms(parse), "main_text_ms": mean_ms(text),
            "main_text_ms_per_100_kb": round(sum(text) / sum(size) * 100, 3),
            "trafilatura_ms": mean_ms(trafilatura_us),
            "ratio_of_parse_and_main_text": round((sum(parse) + sum(text)) / sum(trafilatura_us), 4)}
