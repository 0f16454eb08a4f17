# SPDX-License-Identifier: GPL-3.0-or-later
"""`ingestctl requests dump` beside psql's COPY of the same columns, in turn; and what other orders and counts of the same rows take.
README.md says what the figures mean."""

import json
import os
import statistics
import subprocess
import sys
import time

import psycopg

import bulk_load
from store_bench import server_cpu_seconds

COLUMNS = ("ingest_type, base_url, link_source, link_source_id, ingest_request_source, release_stage, created, request, request_id,"
           " document, host, doi_prefix")


def timed(command, data, stdout=subprocess.DEVNULL):
    """Seconds, and the CPU seconds of the command and of the server."""
    before = server_cpu_seconds(data)
    start = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], stdout=stdout, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - start
    if status != 0:
        raise SystemExit(f"bulk: {command[-1]}: {status}")
    return {"seconds": seconds, "own": usage.ru_utime + usage.ru_stime, "server": server_cpu_seconds(data) - before,
            "rss_mb": usage.ru_maxrss / 1024}


def figures(rounds, rows):
    def per_row(name):
        return round(statistics.median(one[name] for one in rounds) / rows * 1e6, 2)
    return {"requests_per_second": round(rows / statistics.median(one["seconds"] for one in rounds)),
            "cpu_us_per_request": per_row("own"), "server_cpu_us_per_request": per_row("server"),
            "max_rss_mb": round(max(one["rss_mb"] for one in rounds))}


def run(build, postgres, folder, args):
    dsn = postgres.create_database("bulk_dump")
    base = [next(build.rglob("worker/ingestctl")), "--set", f"postgres.dsn={json.dumps(dsn)}"]
    subprocess.run([*base, "db", "migrate"], check=True, stdout=subprocess.DEVNULL)
    bulk_load.load(build, dsn, bulk_load.write_list(folder / "dumped", args.dumped, 0, max(args.dumped // 66, 100)), "bulk", args.streams)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
    ways = {
        "bare": ["psql", dsn, "-qc", f"COPY (SELECT {COLUMNS} FROM ingest_request) TO STDOUT"],
        "dump": [*base, "requests", "dump"],
        "dump_files": [*base, "requests", "dump", "--files", 4, "--out"],
        "dump_new_of_list": [*base, "requests", "dump", "--list", "bulk", "--new"],
        "dump_random": [*base, "requests", "dump", "--random", 1],
        "interleave": [*base, "requests", "dump", "--interleave"],
        "interleave_share": [*base, "requests", "dump", "--interleave", "--new", "--list", "bulk", "--share", 5],
        "count": [*base, "requests", "count"],
        "count_by_class": [*base, "requests", "count", "--by", "class"],
    }
    done = {name: [] for name in ways}
    for number in range(args.rounds):
        for name, command in ways.items():
            extra = [folder / f"out-{number}"] if name == "dump_files" else []
            done[name].append(timed([*command, *extra], postgres.data))
            print(f"bulk: dump: {name}: {done[name][-1]}", file=sys.stderr)
    ratios = [bare["seconds"] / ours["seconds"] for bare, ours in zip(done["bare"], done["dump"])]
    return {"requests": args.dumped, "dump_of_bare": {"median": round(statistics.median(ratios), 3),
                                                      "rounds": [round(ratio, 3) for ratio in ratios]},
            **{name: figures(rounds, args.dumped) for name, rounds in done.items()}}


def add_options(parser):
    parser.add_argument("--dumped", type=int, default=500_000, help="requests that are dumped")
