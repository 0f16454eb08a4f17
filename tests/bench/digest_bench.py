# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast bodies are digested, by OpenSSL one after the other and many at once. See tests/bench/run."""

import argparse
import json
import pathlib
import subprocess


def main():
    parser = argparse.ArgumentParser(prog="tests/bench/run digest")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--bytes", type=int, default=150_000, help="of each stream")
    parser.add_argument("--milliseconds", type=int, default=30, help="for each figure")
    args = parser.parse_args()
    program = [args.build / "tests/bench/bench-digest", str(args.bytes), str(args.milliseconds)]
    done = subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    print(json.dumps({"bytes": args.bytes, "gigabytes_per_cpu_second": [json.loads(line) for line in done.stdout.splitlines()]}))


if __name__ == "__main__":
    main()
