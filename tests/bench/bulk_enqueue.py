# SPDX-License-Identifier: GPL-3.0-or-later
"""`ingestctl requests enqueue` of a whole list onto a topic of a private Kafka, by its two parts: planning, which is a transaction in
the database, and sending; README.md says what the figures mean."""

import json
import re
import statistics
import subprocess
import sys
import time

import bulk_load
import private_servers
from store_bench import server_cpu_seconds


def children_seconds(pid):
    """CPU seconds of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def rss_mb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        found = re.search(r"VmHWM:\s+(\d+)", file.read())
    return int(found[1]) / 1024 if found else 0


def enqueue(command, data, options):
    """Runs it, and returns its planning and its sending: requests, seconds, CPU seconds of its own and of the database."""
    start, server = time.monotonic(), server_cpu_seconds(data)
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, text=True)
    parts, own, rss = [], 0.0, 0.0
    for line in process.stderr:
        found = re.search(r": (\d+) requests? (planned|sent)\b", line)
        if not found:
            continue
        now, server_now, own_now = time.monotonic(), server_cpu_seconds(data), children_seconds(process.pid)
        rss = max(rss, rss_mb(process.pid))
        parts.append({"requests": int(found[1]), "seconds": now - start, "cpu_seconds": own_now - own,
                      "server_cpu_seconds": server_now - server})
        start, server, own = now, server_now, own_now
    if process.wait() != 0:
        raise SystemExit(f"bulk: {' '.join(map(str, options))} ended with {process.returncode}")
    return {"plan": parts[0], "send": parts[1], "rss_mb": rss}


def run_round(build, postgres, kafka, args, number):
    dsn = bulk_load.copy_database(postgres, f"bulk_enqueue_{number}", "bulk_listed")
    command = [next(build.rglob("worker/ingestctl")), "--set", f"postgres.dsn={json.dumps(dsn)}", "--set",
               f"kafka.brokers={kafka.brokers()}"]
    topic = f"bulk-{number}"
    subprocess.run([*command, "--set", f"kafka.topics.requests={topic}", "topics", "create", "--partitions", str(args.partitions)],
                   check=True, stdout=subprocess.DEVNULL)
    return enqueue(command, postgres.data, ["requests", "enqueue", "--list", "bulk", "--new", "--topic", topic, "--name",
                                            f"bulk-{number}", "--quiet"])


def figures(rounds, part):
    def median(value):
        return statistics.median(value(one[part]) for one in rounds)
    return {"requests_per_second": round(median(lambda p: p["requests"] / p["seconds"])),
            "cpu_us_per_request": round(median(lambda p: p["cpu_seconds"] / p["requests"] * 1e6), 1),
            "server_cpu_us_per_request": round(median(lambda p: p["server_cpu_seconds"] / p["requests"] * 1e6), 1)}


def run(build, postgres, folder, args):
    hosts = max(args.lines // 66, 100)
    dsn = postgres.create_database("bulk_listed")
    subprocess.run([next(build.rglob("worker/ingestctl")), "--set", f"postgres.dsn={json.dumps(dsn)}", "db", "migrate"], check=True,
                   stdout=subprocess.DEVNULL)
    bulk_load.load(build, dsn, bulk_load.write_list(folder / "listed", args.lines, 0, hosts), "bulk", args.streams)
    kafka = private_servers.Kafka(folder / "kafka")
    kafka.start()
    try:
        rounds = []
        for number in range(args.rounds):
            rounds.append(run_round(build, postgres, kafka, args, number))
            print(f"bulk: enqueue: {rounds[-1]}", file=sys.stderr)
    finally:
        kafka.stop()
    return {"requests": rounds[0]["plan"]["requests"], "plan": figures(rounds, "plan"), "send": figures(rounds, "send"),
            "max_rss_mb": round(max(one["rss_mb"] for one in rounds))}


def add_options(parser):
    parser.add_argument("--partitions", type=int, default=24, help="of the topic")
