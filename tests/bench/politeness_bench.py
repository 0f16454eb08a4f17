# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hot host and a slow one cost the others, what leases cost PostgreSQL, and what waiting costs memory; README.md
says what the figures mean."""

import argparse
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in ("deploy/lib", "tests/scenario"):
    sys.path.insert(0, str(ROOT / folder))

import nginx  # noqa: E402
import private_servers  # noqa: E402
from servers.scripted import ScriptedServer  # noqa: E402
from servers.worker import write_config  # noqa: E402

HOT_SHARE = 0.085  # of the list, as one domain of a real list of 61 million had
PAGE = "A short text. Nothing much.\n"
HOT, SLOW = "hot.bench.example", "slow.bench.example"


class Nginx(nginx.Nginx):
    """One small page for all names, over HTTP."""

    def start(self):
        (self.folder / "index.html").write_text(PAGE, encoding="utf-8")
        self.serve(f"""
    listen 127.0.0.1:{self.port} backlog=2048; root {self.folder}; location / {{ try_files /index.html =404; }}""")


def answer_late(seconds):
    def script(connection):
        if connection.read_request() and connection.pause(seconds):
            connection.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                            % len(PAGE) + PAGE.encode())
    return script


def make_sorted_list(args, troubled):
    """By host, the hot one first."""
    urls = [f"http://h{n:04}.bench.example/{k}" for n in range(args.hosts)
            for k in range(round(args.requests * (1 - HOT_SHARE) / args.hosts))]
    hot = [f"http://{HOT}/{n}" for n in range(round(args.requests * HOT_SHARE))]
    return hot + urls if troubled else urls


def make_list(args, troubled):
    """The requests of the ordinary hosts, the same and in the same order in both lists; with trouble, those of the hot and the
    slow host strewn among them."""
    ordinary = [f"http://h{n % args.hosts}.bench.example/{n}" for n in range(round(args.requests * (1 - HOT_SHARE)))]
    random.Random(1).shuffle(ordinary)
    if not troubled:
        return ordinary
    rng = random.Random(2)
    marked = [(n, url) for n, url in enumerate(ordinary)]
    marked += [(rng.random() * len(ordinary), f"http://{HOT}/{n}") for n in range(round(args.requests * HOT_SHARE))]
    marked += [(rng.random() * len(ordinary), f"http://{SLOW}/{n}") for n in range(args.slow_requests)]
    return [url for _, url in sorted(marked, key=lambda item: item[0])]


def follow(path, process):
    """The lines of a file that a process writes, as they come."""
    while not path.exists():
        time.sleep(0.01)
    with open(path, encoding="utf-8") as file:
        rest = ""
        while True:
            piece = file.readline()
            rest += piece
            if rest.endswith("\n"):
                yield rest
                rest = ""
            elif not piece:
                if process.poll() is not None:
                    return
                time.sleep(0.01)


def run_list(args, folder, web, slow, urls, number, **settings):
    """Seconds from the start until the last request of each ordinary host was done."""
    run = folder / f"run{number}"
    run.mkdir()
    config = write_config(run / "worker.yaml", {
        "fetch.user_agent": "ingest-worker-bench/1.0 (+https://bench.example/robot)",
        "fetch.connect_to": [f"{SLOW}:80:127.0.0.1:{slow.port}", f":80:127.0.0.1:{web.port}"],
        "fetch.allow_address": ["127.0.0.0/8"], "gate.robots": "ignore", "gate.host_delay_ms": args.delay_ms,
        "gate.concurrency": args.concurrency, **settings})
    lines = "".join(json.dumps({"ingest_type": "component", "base_url": url}) + "\n" for url in urls)
    (run / "requests.jsonl").write_text(lines, encoding="utf-8")
    wanted = sum(1 for url in urls if HOT not in url and SLOW not in url)
    last = {}
    process = subprocess.Popen([next(args.build.rglob("ingestctl")), "--config", config, "run", "--out", run / "out",
                                run / "requests.jsonl"], stderr=subprocess.DEVNULL)
    started = time.monotonic()
    try:
        for line in follow(run / "out" / "results.jsonl", process):
            result = json.loads(line)
            host = result["request"]["base_url"].split("/")[2]
            if host in (HOT, SLOW):
                continue
            if result["status"] != "success":
                raise SystemExit(f"{result['request']['base_url']}: {result['status']}: {result.get('error_message')}")
            last[host] = time.monotonic() - started
            wanted -= 1
            if wanted == 0:
                break
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        shutil.rmtree(run / "out")
    if wanted:
        raise SystemExit(f"{wanted} requests have no result")
    return last


def bench_hot_host(args, folder):
    web = Nginx(folder / "nginx")
    rounds = []
    with ScriptedServer(answer_late(args.slow_seconds)) as slow:
        try:
            web.start()
            for number in range(args.rounds):
                runs = {}
                order = (False, True) if number % 2 == 0 else (True, False)
                for troubled in order:
                    runs[troubled] = run_list(args, folder, web, slow, make_list(args, troubled), f"{number}-{troubled:d}")
                ratios = sorted(runs[True][host] / runs[False][host] for host in runs[False])
                rounds.append({
                    "seconds_without": round(max(runs[False].values()), 2), "seconds_with": round(max(runs[True].values()), 2),
                    "ratio_of_the_end": round(max(runs[True].values()) / max(runs[False].values()), 4),
                    "ratio_of_hosts_mean": round(statistics.mean(ratios), 4),
                    "ratio_of_hosts_p99": round(ratios[int(len(ratios) * 0.99)], 4)})
                print(f"hot host, round {number + 1}: {rounds[-1]}", file=sys.stderr)
        finally:
            web.stop()
    return {"requests": args.requests, "hosts": args.hosts, "delay_ms": args.delay_ms, "hot_share": HOT_SHARE,
            "slow_seconds": args.slow_seconds,
            "ratio_of_the_end_median": statistics.median(one["ratio_of_the_end"] for one in rounds),
            "ratio_of_hosts_mean_median": statistics.median(one["ratio_of_hosts_mean"] for one in rounds), "rounds": rounds}


def bench_sorted_list(args, folder):
    """A list that begins with the hot host, and a window with room for a tenth of it."""
    web = Nginx(folder / "nginx-sorted")
    rounds = []
    settings = {"gate.host_delay_ms": args.sorted_delay_ms, "intake.max_waiting": args.requests // 10}
    with ScriptedServer(answer_late(0)) as nobody:
        try:
            web.start()
            for number in range(args.rounds):
                runs = {}
                for troubled in ((False, True) if number % 2 == 0 else (True, False)):
                    runs[troubled] = run_list(args, folder, web, nobody, make_sorted_list(args, troubled),
                                              f"-sorted-{number}-{troubled:d}", **settings)
                ends = {troubled: max(last.values()) for troubled, last in runs.items()}
                ratios = [runs[True][host] / runs[False][host] for host in runs[False]]
                rounds.append({"seconds_without": round(ends[False], 2), "seconds_with": round(ends[True], 2),
                               "ratio_of_the_end": round(ends[True] / ends[False], 4),
                               "ratio_of_hosts_mean": round(statistics.mean(ratios), 4)})
                print(f"sorted list, round {number + 1}: {rounds[-1]}", file=sys.stderr)
        finally:
            web.stop()
    return {"requests": args.requests, "hosts": args.hosts, "delay_ms": args.sorted_delay_ms, "hot_share": HOT_SHARE,
            "max_waiting": args.requests // 10,
            "ratio_of_the_end_median": statistics.median(one["ratio_of_the_end"] for one in rounds),
            "ratio_of_hosts_mean_median": statistics.median(one["ratio_of_hosts_mean"] for one in rounds), "rounds": rounds}


def server_cpu_seconds(data):
    """User and system time of PostgreSQL's processes that still live."""
    total = 0
    head = int(pathlib.Path(data, "postmaster.pid").read_text(encoding="ascii").split()[0])
    for entry in pathlib.Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if entry.name == str(head) or int(fields[1]) == head:
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def bench_leases(args, folder):
    postgres = private_servers.Postgres(folder / "postgres")
    program = next(args.build.rglob("bench-politeness"))
    try:
        postgres.start()
        dsn = postgres.create_database("leases")
        subprocess.run([next(args.build.rglob("ingestctl")), "--set", f"postgres.dsn={json.dumps(dsn)}", "db", "migrate"],
                       check=True, stdout=subprocess.DEVNULL)
        answers = []
        for workers, batch in ((1, 100), (3, 100), (3, 1000)):
            processes = [subprocess.Popen([program, "leases", dsn, str(args.lease_seconds), str(batch),
                                           f"w{number}b{batch}n{workers}"], stdout=subprocess.PIPE, text=True)
                         for number in range(workers)]
            time.sleep(1)
            cpu = server_cpu_seconds(postgres.data)
            start = time.monotonic()
            time.sleep(max(0.5, args.lease_seconds - 2))
            cpu = server_cpu_seconds(postgres.data) - cpu
            measured = time.monotonic() - start
            parts = [json.loads(process.communicate()[0]) for process in processes]
            rate = sum(part["granted"] for part in parts) / args.lease_seconds
            answers.append({"workers": workers, "asked_at_once": batch, "leases_per_second": round(rate),
                            "server_cpu_ms_per_hundred": round(cpu / measured / rate * 100_000, 2),
                            "waited_ms_per_hundred": round(statistics.mean(p["database_ms_per_hundred"] for p in parts), 2)})
            print(f"leases: {answers[-1]}", file=sys.stderr)
        return answers
    finally:
        postgres.stop()


def bench_memory(args):
    done = subprocess.run([next(args.build.rglob("bench-politeness")), "memory", "200000", "1000000"], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description="What politeness costs; one JSON object on stdout.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--hosts", type=int, default=998, help="ordinary ones, beside the hot and the slow one")
    parser.add_argument("--delay-ms", type=int, default=3000)
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--slow-seconds", type=float, default=60)
    parser.add_argument("--slow-requests", type=int, default=20)
    parser.add_argument("--lease-seconds", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sorted-delay-ms", type=int, default=500)
    parser.add_argument("--only", choices=["hot", "sorted", "leases", "memory"])
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    threading.stack_size(1 << 20)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    try:
        answer = {"machine": {"cpus": os.cpu_count()}}
        if args.only in (None, "memory"):
            answer["memory"] = bench_memory(args)
        if args.only in (None, "leases"):
            answer["leases"] = bench_leases(args, folder)
        if args.only in (None, "hot"):
            answer["hot_host"] = bench_hot_host(args, folder)
        if args.only in (None, "sorted"):
            answer["sorted_list"] = bench_sorted_list(args, folder)
        print(json.dumps(answer, indent=1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
