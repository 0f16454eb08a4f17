# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU for a record of each seed list, beside parsing alone and a script that does the same; see README.md. Prints one JSON object."""

import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

import seedlist_formats
import seedlist_transforms
import yaml

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "deploy/seedlists"
JSON = ("jsonl", "json")
# What the records of real dumps have beside what is read of them.
FILLING = {"crossref": {"reference": [{"key": f"ref{n}", "doi-asserted-by": "crossref", "first-page": "1", "DOI": f"10.1234/{n}", "author": "Doe",
                                       "volume": "7", "year": "2001", "journal-title": "Journal of Tides"} for n in range(30)],
                        "author": [{"given": "Jane", "family": "Doe", "sequence": "first", "affiliation": []}] * 4},
           "doaj": {"abstract": "A text of some length. " * 50}, "core": {"fullText": "A text of some length. " * 2000}}


def numbered(line, number):
    """Another URL, so that nothing is the same twice."""
    return line.replace(".pdf", f"-{number}.pdf").replace("10.1", f"10.1{number % 10}", 1)


def lists(name, source, folder, records):
    """A list of so many records, made of the source's sample."""
    if name == "urls":
        lines = [f"https://www.example.org/papers/{number % 1000}/paper-{number}.pdf\n" for number in range(records)]
    elif name == "csv":
        lines = ["paper,doi,url,title,added\n"] + [f'{number},10.1234/{number},https://example.org/{number}.pdf,"A title, and more",2020-02-03\n'
                                                   for number in range(records)]
    else:
        sample = source["tests"][0]["input"].splitlines(keepends=True)
        head = sample[:1] if source["format"] == "csv" else []
        if source["format"] in JSON and name in FILLING:
            sample = [json.dumps(json.loads(line) | FILLING[name], separators=(",", ":")) + "\n" for line in sample]
        first = sample[len(head)]  # the others are about what is left out
        lines = head + [numbered(first, number) for number in range(records)]
    path = folder / name
    path.write_text("".join(lines), encoding="utf-8")
    return path


def cpu_seconds(command, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(path, "rb") as file:
        done = subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stderr.decode()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name, source, build, folder, records, rounds):
    options = [word for key, value in source["tests"][0].get("options", {}).items() for word in ("--option", f"{key}={value}")]
    if name == "csv":
        options = ["--option", "id=paper", "--option", "doi=doi"]
    path = lists(name, source, folder, records)
    commands = {"ours": [f"{build}/worker/ingestctl", "seedlist", name, *options]}
    if source["format"] in JSON:
        commands["parse"] = [f"{build}/tests/bench/bench-seedlist"]
    if name in seedlist_transforms.SOURCES:
        commands["python"] = [sys.executable, str(HERE / "seedlist_transforms.py"), name]
    report = {"bytes_per_record": path.stat().st_size // records, **run_all(commands, path, records, rounds)}
    report["records_per_second"] = int(1e6 / report["ours_us"])
    path.unlink()
    return report


def run_all(commands, path, records, rounds):
    """Microseconds of CPU for a record, by what was run."""
    taken = {what: [] for what in commands}
    for _ in range(rounds):
        for what, command in commands.items():
            taken[what].append(cpu_seconds(command, path))
    return {f"{what}_us": round(statistics.median(seconds) / records * 1e6, 2) for what, seconds in taken.items()}


def measure_format(name, build, folder, records, rounds):
    source, make = seedlist_formats.LISTS[name]
    path = folder / name
    with open(path, "wb") as file:
        file.writelines(piece if isinstance(piece, bytes) else piece.encode() for piece in make(records))
    commands = {"ours": [f"{build}/worker/ingestctl", "seedlist", source]}
    if name == "warc":
        records //= 10
        commands["zcat"] = ["zcat"]
    if name in seedlist_formats.SCRIPTS:
        commands["python"] = [sys.executable, str(HERE / "seedlist_formats.py"), name]
    report = {"bytes_per_record": path.stat().st_size // records, **run_all(commands, path, records, rounds)}
    path.unlink()
    return report


def measure_packed(build, folder, records, rounds):
    """A sitemap in every format, beside the tool that only unpacks it."""
    plain = folder / "sitemap"
    plain.write_text("".join(seedlist_formats.sitemap(records)), encoding="utf-8")
    ours = [f"{build}/worker/ingestctl", "seedlist", "sitemap"]
    report = {"plain": run_all({"ours": ours}, plain, records, rounds)}
    for tool in ("gzip", "zstd", "xz", "bzip2"):
        packed = folder / f"sitemap.{tool}"
        with open(plain, "rb") as file, open(packed, "wb") as to:
            subprocess.run([tool, "-c"], stdin=file, stdout=to, check=True)
        report[tool] = run_all({"ours": ours, "tool": [tool, "-dc"]}, packed, records, rounds)
    return report


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=100000)
    parser.add_argument("--only", help="this source alone")
    args = parser.parse_args()
    report = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in seedlist_formats.LISTS:
            if args.only in (None, name):
                print(f"measuring {name}", file=sys.stderr)
                report[name] = measure_format(name, args.build, pathlib.Path(folder), args.records, args.rounds)
        if args.only in (None, "packed"):
            print("measuring packed", file=sys.stderr)
            report["packed"] = measure_packed(args.build, pathlib.Path(folder), args.records, args.rounds)
        for path in sorted(SOURCES.glob("*.yaml")):
            source = yaml.safe_load(path.read_text(encoding="utf-8"))
            if args.only in (None, path.stem) and source["format"] in (*JSON, "csv", "tsv", "lines"):
                print(f"measuring {path.stem}", file=sys.stderr)
                report[path.stem] = measure(path.stem, source, args.build, pathlib.Path(folder), args.records, args.rounds)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
