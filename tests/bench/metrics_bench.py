# SPDX-License-Identifier: GPL-3.0-or-later
"""What it costs a busy worker to be watched: CPU of the endpoint's thread and of the loop's snapshots beside that of the whole
worker, as the worker itself counts them. See README.md."""

import argparse
import http.client
import json
import os
import pathlib
import shutil
import socket
import statistics
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import e2e_bench  # noqa: E402
import fetch_load  # noqa: E402
import private_servers  # noqa: E402

PATHS = {"/metrics": {"Accept": "application/openmetrics-text;version=1.0.0"}, "/healthz": {}, "/readyz": {}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Watcher:
    """Asks for everything each so many seconds while the worker is at work, and for the numbers at the end."""

    def __init__(self, port, every_s):
        self.port = port
        self.every_s = every_s
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.scrapes = 0
        self.bytes = 0
        self.last = {}

    def begin(self):
        self.thread.start()

    def end(self):
        self.ending.set()
        self.thread.join()
        self.last = self._numbers(self._ask("/metrics", {}))

    def _ask(self, path, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("GET", path, headers=headers)
            return connection.getresponse().read()
        finally:
            connection.close()

    def _run(self):
        while not self.ending.wait(self.every_s):
            for path, headers in PATHS.items():
                answer = self._ask(path, headers)
                if path == "/metrics":
                    self.bytes = len(answer)
            self.scrapes += 1

    @staticmethod
    def _numbers(text):
        lines = (line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
        return {name: float(number) for name, number in lines}


def summarise(watcher):
    endpoint = watcher.last['ing_thread_cpu_seconds_total{thread="endpoint"}']
    snapshots = watcher.last["ing_snapshot_cpu_seconds_total"]
    worker = watcher.last["ing_process_cpu_seconds_total"]
    return {
        "scrapes": watcher.scrapes,
        "samples": len(watcher.last),
        "bytes": watcher.bytes,
        "worker_cpu_seconds": round(worker, 3),
        "endpoint_cpu_ms_per_scrape": round(endpoint / max(1, watcher.scrapes) * 1000, 3),
        "snapshots_cpu_ms_per_second": round(snapshots / max(1e-9, watcher.scrapes * watcher.every_s) * 1000, 3),
        "ratio": round(worker / (worker - endpoint - snapshots), 5),
    }


def main():
    parser = argparse.ArgumentParser(description="One JSON object on stdout.")
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=float, default=5.0, help="seconds from one scrape to the next")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    postgres = private_servers.Postgres(folder / "postgres")
    kafka = private_servers.Kafka(folder / "kafka")
    web = fetch_load.Web(folder / "nginx", 1)
    rounds = []
    try:
        postgres.start()
        kafka.start()
        web.start()
        for number in range(args.rounds):
            watcher = Watcher(free_port(), args.every)
            e2e_bench.run_worker(args.build, folder, (postgres, kafka, web), args.hosts, args.requests, args.concurrency, f"b{number}",
                             {"metrics.listen": f"127.0.0.1:{watcher.port}"}, watcher)
            rounds.append(summarise(watcher))
            print(f"round {number + 1}: ratio {rounds[-1]['ratio']}", file=sys.stderr)
    finally:
        web.stop()
        kafka.stop()
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(json.dumps({"machine": {"cpus": os.cpu_count()}, "metrics": {
        "every_s": args.every, "ratio_median": statistics.median(one["ratio"] for one in rounds), "rounds": rounds}}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
