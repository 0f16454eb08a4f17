# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of mixed identifiers against local services: the time of all beside what the busiest host's permitted pace alone
takes, and the CPU of a publication by stage; README.md says what the figures mean."""

import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in ("deploy/lib", "deploy/sampleweb", "tests/scenario"):
    sys.path.insert(0, str(ROOT / folder))

from servers.apis import Apis  # noqa: E402
from servers.papers import check, population  # noqa: E402
from servers.polite import most_at_once  # noqa: E402
from servers.worker import write_config  # noqa: E402

TICK = os.sysconf("SC_CLK_TCK")


def serve(count, pipe):
    """A process of its own, so that its CPU is not the bench's."""
    threading.stack_size(1 << 20)
    with Apis(population(count)) as apis:
        pipe.send(apis.settings())
        pipe.recv()
        hosts = {host: apis.server.seen(host, robots=False) for host in apis.hosts()}
        pipe.send({"asked": dict(apis.asked()),
                   "hosts": {host: {"requests": len(seen), "at_once": most_at_once(seen),
                                    "served_s": sum(one.end - one.start for one in seen)} for host, seen in hosts.items()}})


def paced_rules(folder, scale):
    """The shipped rules; pauses of hosts are divided by scale."""
    folder.mkdir()
    for path in (ROOT / "rules").glob("*.yaml"):
        (folder / path.name).write_bytes(path.read_bytes())
    hosts = yaml.safe_load((folder / "hosts.yaml").read_text(encoding="utf-8"))
    paces = {}
    for entry in hosts:
        entry.pop("tests", None)
        if "delay_ms" in entry:
            entry["delay_ms"] = round(entry["delay_ms"] / scale)
            paces[entry["host"]] = entry["delay_ms"]
    (folder / "hosts.yaml").write_text(yaml.safe_dump(hosts), encoding="utf-8")
    return paces


def cpu_of(stat_path):
    """Name and seconds of a process or thread, or None when it has gone."""
    try:
        text = stat_path.read_text()
    except OSError:
        return None
    fields = text.rsplit(")", 1)[1].split()
    return text.split("(", 1)[1].rsplit(")", 1)[0], (int(fields[11]) + int(fields[12])) / TICK, int(fields[1])


def watch(process, found, ended):
    """The CPU of the process's threads and of its children, as last seen."""
    while not ended.is_set():
        for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/stat"):
            seen = cpu_of(path)
            if seen:
                found["thread", path.parent.name] = seen[:2]
        family = {process.pid}
        stats = {int(path.parent.name): cpu_of(path) for path in pathlib.Path("/proc").glob("[0-9]*/stat")}
        for _ in range(3):
            family |= {pid for pid, seen in stats.items() if seen and seen[2] in family}
        for pid in family - {process.pid}:
            found["child", pid] = stats[pid][:2]
        ended.wait(0.1)


def run_list(args, folder, settings, paces, listed):
    lines = [paper.ids()[at % len(paper.ids())] for at, paper in enumerate(listed)]
    (folder / "ids.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = write_config(folder / "ctl.yaml", {
        **settings, "rules.dir": str(folder / "rules"), "gate.host_delay_ms": round(1000 / args.scale), "gate.robots": "ignore",
        "gate.adaptive_factor": 0, "fetch.user_agent": "ingest-worker-bench/1.0 (+https://bench.example/robot)",
        "publication.deadline_ms": 86400000, "gate.max_hold_ms": 0})
    with open(folder / "out.jsonl", "w", encoding="utf-8") as out:
        started = time.monotonic()
        process = subprocess.Popen([next(args.build.rglob("ingestctl")), "--config", config, "publication", "--max-wait", "0",
                                    folder / "ids.txt"], stdout=out, stderr=subprocess.DEVNULL)
        found, ended = {}, threading.Event()
        watcher = threading.Thread(target=watch, args=(process, found, ended))
        watcher.start()
        process.wait()
        seconds = time.monotonic() - started
        ended.set()
        watcher.join()
    publications = [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").splitlines()]
    wrong = 0
    for paper, publication in zip(listed, publications):
        try:
            check(paper, publication)
        except (AssertionError, KeyError) as error:
            wrong += 1
            if wrong <= 5:
                print(f"not as it should be: {error}", file=sys.stderr)
    stages = collections.Counter()
    for (kind, _), (name, cpu) in found.items():
        stages[name if kind == "thread" else f"process {name}"] += cpu
    return seconds, stages, wrong, len(publications)


def main():
    parser = argparse.ArgumentParser(description="Publications from local services; one JSON object on stdout.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--publications", type=int, default=1000)
    parser.add_argument("--scale", type=float, default=10, help="pauses of hosts.yaml are divided by this")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(args.publications, theirs))
    server.start()
    try:
        settings = ours.recv()
        paces = paced_rules(folder / "rules", args.scale)
        listed = population(args.publications)
        seconds, stages, wrong, printed = run_list(args, folder, settings, paces, listed)
        ours.send("done")
        record = ours.recv()
        others = round(1000 / args.scale)
        floors = {host: one["requests"] * paces.get(host, others) / 1000 for host, one in record["hosts"].items()
                  if host != "doi.org"}
        busiest = max(floors, key=floors.get)
        print(json.dumps({
            "machine": {"cpus": os.cpu_count()}, "publications": args.publications, "printed": printed, "not_as_wanted": wrong,
            "scale": args.scale, "seconds": round(seconds, 2), "busiest_host": busiest,
            "busiest_requests": record["hosts"][busiest]["requests"], "its_pace_alone_s": round(floors[busiest], 2),
            "ratio": round(seconds / floors[busiest], 3),
            "twice_at_once": [host for host, one in record["hosts"].items() if one["at_once"] > 1 and host != "doi.org"],
            "requests": sum(record["asked"].values()), "asked": record["asked"],
            "cpu_ms_per_publication": round(1000 * sum(stages.values()) / args.publications, 2),
            "by_stage": {name: round(1000 * cpu / args.publications, 2) for name, cpu in stages.most_common() if cpu}}, indent=1))
    finally:
        server.terminate()
        server.join()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
