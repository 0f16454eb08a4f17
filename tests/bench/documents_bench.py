# SPDX-License-Identifier: GPL-3.0-or-later
"""CPU for one document of each kind beside that of the usual tools, in the same run; see README.md. Prints one JSON object."""

import argparse
import json
import sys

import html_bench
import jats_bench
import pdf_bench

# What to measure: each takes the build folder, rounds and milliseconds, and returns an object.
PARTS = {"html": html_bench.measure, "jats": jats_bench.measure, "pdf": pdf_bench.measure}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--milliseconds", type=int, default=300)
    parser.add_argument("--only", choices=PARTS, help="this part alone")
    args = parser.parse_args()
    report = {}
    for name, measure in PARTS.items():
        if args.only in (None, name):
            print(f"measuring {name}", file=sys.stderr)
            report[name] = measure(args.build, args.rounds, args.milliseconds)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
