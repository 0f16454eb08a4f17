# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows per second through worker/store, against the same rows bare into the same tables, in turn; README.md says what the figures
mean."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "deploy/lib"))

import private_servers  # noqa: E402

BARE = ("bare", "direct")
OURS = ("store", "kept", "uncounted", "listed")
MODES = BARE + OURS


def server_cpu_seconds(data):
    """Of the server and all processes that it has had."""
    total = 0
    pid = (pathlib.Path(data) / "postmaster.pid").read_text(encoding="utf-8").split()[0]
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if stat.parent.name == pid:
            total += sum(int(n) for n in fields[11:15])
        elif fields[1] == pid:
            total += sum(int(n) for n in fields[11:13])
    return total / os.sysconf("SC_CLK_TCK")


def measure(postgres, program, mode, items, batch, name):
    dsn = postgres.create_database(name)
    cpu = server_cpu_seconds(postgres.data)
    done = subprocess.run([program, dsn, mode, str(items), str(batch)], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=600)
    answer = json.loads(done.stdout)
    answer["server_cpu_us_per_row"] = round((server_cpu_seconds(postgres.data) - cpu) / answer["rows"] * 1e6, 2)
    return answer


def run(build, items, batch, rounds):
    """Median of the rounds, and each round's ratio to the bare one beside it."""
    program = next(build.rglob("bench-store"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    postgres = private_servers.Postgres(folder / "postgres")
    rates = {mode: [] for mode in MODES}
    cpu = {mode: [] for mode in MODES}
    try:
        postgres.start()
        for number in range(rounds + 1):
            for mode in MODES:
                answer = measure(postgres, program, mode, items, batch, f"{mode}{number}")
                print(f"store: {mode}: {answer}", file=sys.stderr)
                if number > 0:  # the first fills caches and the log's files
                    rates[mode].append(answer["rows_per_second"])
                    cpu[mode].append(answer["server_cpu_us_per_row"])
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)
    answer = {mode: {"rows_per_second": round(statistics.median(rates[mode])),
                     "server_cpu_us_per_row": round(statistics.median(cpu[mode]), 2)} for mode in MODES}
    for mode in OURS:
        for bare in BARE:
            ratios = [ours / floor for ours, floor in zip(rates[mode], rates[bare])]
            answer[mode][f"of_{bare}"] = {"median": round(statistics.median(ratios), 3),
                                          "rounds": [round(ratio, 3) for ratio in ratios]}
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--items", type=int, default=40000)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    print(json.dumps({"machine": {"cpus": os.cpu_count()}, "store": run(args.build, args.items, args.batch, args.rounds)},
                     indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
