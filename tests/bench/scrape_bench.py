# SPDX-License-Identifier: GPL-3.0-or-later
"""The scrape engine's CPU by stage, and jsoup's beside it in the same run; see README.md. Prints one JSON object."""

import argparse
import json
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import scrape_pages  # noqa: E402
import yaml  # noqa: E402

STAGES = ("lexbor", "html", "tree", "view", "biblio_links", "rule", "biblio_links_rule", "examiner", "clean", "all")
TARGETS = {"all / jsoup's parse": 0.75, "examiner / jsoup's parse": 0.5, "memory / page's bytes, at most": 12}


def lines_of(command):
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {row["page"]: row for row in map(json.loads, out.splitlines())}


def selectors():
    documents = list(yaml.safe_load_all((HERE / "scrape_rules" / "journals.yaml").read_text(encoding="utf-8")))
    return [value for key, value in documents[1]["bench"].items() if key != "source"]


def medians(rounds, key):
    return {page: statistics.median(r[page][key] for r in rounds) for page in rounds[0]}


def summary(by_page, sizes):
    total_us = sum(by_page.values())
    return {"mean_us": round(total_us / len(by_page), 1),
            "geometric_mean_us": round(math.exp(statistics.fmean(math.log(us) for us in by_page.values())), 1),
            "pages_per_cpu_second": round(1e6 * len(by_page) / total_us),
            "mb_per_cpu_second": round(sum(sizes.values()) / total_us, 1)}


def total_ratio(a, b):
    return round(sum(a.values()) / sum(b.values()), 3)


def geometric_ratio(a, b):
    return round(math.exp(statistics.fmean(math.log(a[page] / b[page]) for page in a)), 3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--before", help="another build, with shipped rules alone, measured in turn")
    parser.add_argument("--jsoup", help="jsoup's jar; without it, or without Java, it is left out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--milliseconds", type=int, default=200)
    args = parser.parse_args()
    program = pathlib.Path(args.build) / "tests" / "bench" / "bench-scrape"
    with tempfile.TemporaryDirectory(prefix="ing-bench-") as folder:
        pages = [str(page) for page in scrape_pages.make(folder)]
        sizes = {pathlib.Path(page).name: pathlib.Path(page).stat().st_size for page in pages}
        query = pathlib.Path(folder) / "selectors"
        query.write_text("\n".join(selectors()) + "\n", encoding="utf-8")
        java = shutil.which("java") if args.jsoup and pathlib.Path(args.jsoup).exists() else None
        ours, shipped, before, theirs = [], [], [], []
        for _ in range(args.rounds):
            ours.append(lines_of([str(program), str(HERE / "scrape_rules"), str(args.milliseconds), *pages]))
            shipped.append(lines_of([str(program), str(ROOT / "rules"), str(args.milliseconds), *pages]))
            if args.before:
                program_before = pathlib.Path(args.before) / "tests" / "bench" / "bench-scrape"
                before.append(lines_of([str(program_before), str(ROOT / "rules"), str(args.milliseconds), *pages]))
            if java:
                theirs.append(lines_of([java, "-cp", args.jsoup, "-XX:+UseSerialGC", "-Xmx1g", str(HERE / "JsoupBench.java"),
                                        str(query), str(args.milliseconds), *pages]))
    us = {stage: medians(ours, f"{stage}_us") for stage in STAGES}
    shipped_us = {stage: medians(shipped, f"{stage}_us") for stage in STAGES}
    held, peak = ({page: round(shipped[-1][page][key] / sizes[page], 2) for page in sizes} for key in ("held_bytes", "peak_bytes"))
    report = {"pages": len(sizes), "mean_bytes": round(statistics.fmean(sizes.values())),
              "ours": {stage: summary(us[stage], sizes) for stage in STAGES},
              "ours_with_shipped_rules": {stage: summary(shipped_us[stage], sizes) for stage in STAGES},
              "held_bytes_per_page_byte": held, "peak_bytes_per_page_byte": peak}
    if before:
        report["before_with_shipped_rules"] = {stage: summary(medians(before, f"{stage}_us"), sizes) for stage in STAGES}
        report["held_bytes_per_page_byte_before"] = {page: round(before[-1][page]["held_bytes"] / sizes[page], 2) for page in sizes}
    judged = {"memory / page's bytes, at most": max(peak.values())}
    if theirs:
        jsoup = {stage: medians(theirs, f"{stage}_us") for stage in ("parse", "rule")}
        report["jsoup"] = {stage: summary(jsoup[stage], sizes) for stage in jsoup}
        report["ratios_to_jsoup"] = {
            what: {"total": total_ratio(a, b), "geometric_mean": geometric_ratio(a, b)}
            for what, a, b in (("parse / parse", us["view"], jsoup["parse"]),
                               ("parse + rule / parse + selectors", us["rule"], jsoup["rule"]),
                               ("parse + biblio + links + rule / parse", us["biblio_links_rule"], jsoup["parse"]))}
        report["by_page"] = {page: {"bytes": sizes[page], **{stage: shipped_us[stage][page] for stage in STAGES},
                                    "jsoup_parse": jsoup["parse"][page], "jsoup_rule": jsoup["rule"][page]} for page in sizes}
        for stage in ("all", "examiner"):
            judged[f"{stage} / jsoup's parse"] = total_ratio(shipped_us[stage], jsoup["parse"])
    else:
        print("no Java, or no jsoup: ours alone", file=sys.stderr)
    report["judged"] = {what: {"is": judged[what], "target": target} for what, target in TARGETS.items() if what in judged}
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
