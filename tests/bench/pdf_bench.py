# SPDX-License-Identifier: GPL-3.0-or-later
"""PDFs: our CPU for one document beside that of poppler's own tools, in the same run, and memory; see README.md."""

import argparse
import json
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "data"))

import make_pdf  # noqa: E402


def cpu_ms(command, rounds):
    """Milliseconds of CPU of one run of a program: the mean of rounds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(rounds):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / rounds


def tools(path, folder, rounds):
    """What poppler's own tools take for the text and for the same picture; nothing where they are not installed."""
    commands = {"pdftotext_ms": ["pdftotext", path, "/dev/null"],
                "pdftocairo_ms": ["pdftocairo", "-jpeg", "-f", "1", "-l", "1", "-singlefile", "-scale-to-x", "180", "-scale-to-y", "-1", path,
                                  folder / "picture"]}
    return {name: cpu_ms(command, rounds) for name, command in commands.items() if shutil.which(command[0])}


def measure(build, rounds=3, milliseconds=300, files=()):
    """{"warm_ms", "warm_kb", "warm_own_kb", "files": {name: figures}}: medians of rounds. An ordinary file takes 30 milliseconds or so."""
    repeats = max(1, milliseconds // 60)
    program = pathlib.Path(build) / "tests" / "bench" / "bench-pdf"
    with tempfile.TemporaryDirectory(prefix="ing-bench-") as name:
        folder = pathlib.Path(name)
        made = {"article.pdf": make_pdf.article(), "pages-20.pdf": make_pdf.pages(20), "columns.pdf": make_pdf.two_columns(False)}
        for one, data in made.items():
            (folder / one).write_bytes(data)
        paths = [*(folder / one for one in made), *map(pathlib.Path, files)]
        seen = []
        for _ in range(rounds):
            out = subprocess.run([program, str(repeats), *paths], check=True, stdout=subprocess.PIPE, text=True).stdout
            warm, *rows = map(json.loads, out.splitlines())
            seen.append({path.name: {**row, **tools(path, folder, repeats)} for path, row in zip(paths, rows, strict=True)})
    figures = {}
    for one, last in seen[-1].items():
        times = {key: statistics.median(rows[one][key] for rows in seen) for key in last if key.endswith("_ms")}
        figures[one] = {**{key: last[key] for key in ("bytes", "pages", "text_bytes", "thumbnail_bytes", "peak_kb", "own_kb")},
                        **{key: round(value, 2) for key, value in times.items()}}
        for ours, theirs in (("text_ms", "pdftotext_ms"), ("thumbnail_ms", "pdftocairo_ms"), ("fork_ms", "pdftotext_ms")):
            if theirs in times:
                figures[one][f"{ours.removesuffix('_ms')}_ratio_to_{theirs.removesuffix('_ms')}"] = round(times[ours] / times[theirs], 3)
    return {**warm, "files": figures}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--milliseconds", type=int, default=300)
    parser.add_argument("files", nargs="*", help="other PDFs")
    args = parser.parse_args()
    json.dump(measure(args.build, args.rounds, args.milliseconds, args.files), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
