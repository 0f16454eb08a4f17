# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the worker beside the floor of the same run; see README.md."""

import argparse
import json
import os
import pathlib
import re
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
for folder in ("deploy/lib", "deploy/sampleweb", "tests/scenario"):
    sys.path.insert(0, str(ROOT / folder))

import certs  # noqa: E402
import confluent_kafka  # noqa: E402
import makepdf  # noqa: E402
import nginx  # noqa: E402
import private_servers  # noqa: E402
from servers.worker import write_config  # noqa: E402

PAGE_BYTES = 100_000
PDF_BYTES = 200_000


def landing_page():
    """About 100 KB of the kind of markup that article pages have, text of ours."""
    text = (ROOT / "deploy" / "sampleweb" / "texts" / "saltmarsh.txt").read_text(encoding="utf-8")
    words = re.sub(r"[<>&]", " ", text).split()
    head = ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>How wide is a creek?</title>\n' +
            "".join(f'<meta name="citation_author" content="Author {n}">\n' for n in range(12)) +
            '<meta name="citation_pdf_url" content="/paper.pdf">\n<link rel="stylesheet" href="/style.css">\n'
            "</head><body><main>\n")
    parts = [head]
    size = len(head)
    number = 0
    while size < PAGE_BYTES - 200:
        chunk = " ".join(words[(number * 37 + i) % len(words)] for i in range(45))
        part = (f'<section id="s{number}" class="section level-{number % 3}"><h2><a href="#s{number}">Part {number}</a></h2>'
                f'<p class="para">{chunk} <cite><a class="ref" href="#r{number}">[{number}]</a></cite></p></section>\n')
        parts.append(part)
        size += len(part)
        number += 1
    parts.append("</main></body></html>\n")
    return "".join(parts).encode()


def paper(pages):
    text = (ROOT / "deploy" / "sampleweb" / "texts" / "saltmarsh.txt").read_text(encoding="utf-8")
    small = makepdf.make_pdf("How wide is a creek?", text, author="Y. B.", pages=pages)
    return makepdf.make_pdf("How wide is a creek?", text, author="Y. B.", pages=pages,
                            pad_bytes=max(0, PDF_BYTES - len(small)))


class Nginx(nginx.Nginx):
    """Two static files over TLS, a fresh connection for each request."""

    def __init__(self, folder, pdf_pages):
        super().__init__(folder)
        self.pdf_pages = pdf_pages

    def start(self):
        authority = certs.Authority(str(self.folder / "tls"))
        self.ca_file = authority.ca_file
        authority.context("bench", ["*.bench.example"])
        cert = self.folder / "tls" / "bench.pem"
        www = self.folder / "www"
        www.mkdir()
        (www / "index.html").write_bytes(landing_page())
        (www / "paper.pdf").write_bytes(paper(self.pdf_pages))
        self.serve(f"""
    listen 127.0.0.1:{self.port} ssl backlog=2048; ssl_certificate {cert}; ssl_certificate_key {authority.key};
    ssl_session_tickets off; root {www};""")


def produce(kafka, topic, requests):
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.brokers(), "linger.ms": 20})
    for request in requests:
        producer.produce(topic, json.dumps(request))
        producer.poll(0)
    if producer.flush(60):
        raise SystemExit("the broker does not take the requests")


def wait_results(kafka, topic, count, timeout):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(), "group.id": "bench",
                                         "enable.auto.commit": False})
    numbers = consumer.list_topics(topic, timeout=20).topics[topic].partitions
    consumer.assign([confluent_kafka.TopicPartition(topic, n, confluent_kafka.OFFSET_BEGINNING) for n in numbers])
    statuses = {}
    deadline = time.monotonic() + timeout
    while sum(statuses.values()) < count:
        if time.monotonic() > deadline:
            raise SystemExit(f"only {statuses} of {count} results after {timeout} s")
        for message in consumer.consume(500, 0.5):
            if not message.error():
                result = json.loads(message.value())
                status = result["status"]
                statuses[status] = statuses.get(status, 0) + 1
                if status != "success":
                    print(f"{status}: {result.get('error_message')}", file=sys.stderr)
    consumer.close()
    return statuses


def run_floor(build, web, hosts, requests, concurrency):
    urls = "".join(f"https://h{n % hosts}.bench.example/{name}\n"
                   for n in range(requests) for name in ("index.html", "paper.pdf"))
    program = next(build.rglob("bench-floor"))
    done = subprocess.run([program, web.ca_file, f"127.0.0.1:{web.port}", str(concurrency)], input=urls,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class FloorBeside:
    """The floor again, a few transfers at a time, for as long as the worker runs: what one URL costs libcurl on processors that
    are busy with the same brokers, database and examiners."""

    def __init__(self, build, web, hosts):
        program = next(build.rglob("bench-floor"))
        self.process = subprocess.Popen([program, web.ca_file, f"127.0.0.1:{web.port}", "4"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.hosts = hosts
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._feed)

    def _feed(self):
        number = 0
        while not self.ending.is_set():
            name = ("index.html", "paper.pdf")[number % 2]
            self.process.stdin.write(f"https://h{number // 2 % self.hosts}.bench.example/{name}\n")
            number += 1
        self.process.stdin.close()

    def start(self):
        self.thread.start()

    def finish(self):
        """The pipe's buffer holds about 1,500 URLs more when nothing is written any longer; they count like the others."""
        self.ending.set()
        self.thread.join()
        answer = json.loads(self.process.stdout.read())
        self.process.wait()
        return answer


def run_worker(build, folder, servers, hosts, requests, concurrency, number, extra):
    postgres, kafka, web = servers
    tag = f"b{number}"
    dsn = postgres.create_database(tag)
    run = folder / tag
    for name in ("", "warc", "spool", "state"):
        (run / name).mkdir()
    config = write_config(run / "worker.yaml", {
        "instance": tag, "kafka.brokers": kafka.brokers(), "kafka.group": tag,
        "intake.host_share": 100, "kafka.topics": {"requests": f"{tag}.ingest-file-requests", "results": f"{tag}.ingest-file-results",
                         "pdf_text": f"{tag}.pdf-text", "dead": f"{tag}.ingest-file-requests-dead",
                         "thumbnail": "", "xml_doc": "", "html_teixml": "", "grobid": ""},
        "postgres.dsn": dsn, "warc.dir": str(run / "warc"), "spool.dir": str(run / "spool"),
        "state.dir": str(run / "state"), "fetch.ca_file": web.ca_file,
        "fetch.user_agent": "ingest-worker-bench/1.0 (+https://bench.example/robot)",
        "fetch.connect_to": [f":443:127.0.0.1:{web.port}"], "fetch.allow_address": ["127.0.0.0/8"],
        "gate.host_delay_ms": 0, "gate.adaptive_factor": 0, "gate.robots": "ignore", "gate.concurrency": concurrency, **extra})
    ctl = next(build.rglob("ingestctl"))
    subprocess.run([ctl, "--config", config, "db", "migrate"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([ctl, "--config", config, "topics", "create", "--partitions", "4"], check=True,
                   stdout=subprocess.DEVNULL)
    produce(kafka, f"{tag}.ingest-file-requests", (
        {"ingest_type": "pdf", "base_url": f"https://h{n % hosts}.bench.example/index.html?{n}",
         "link_source": "bench", "link_source_id": str(n)} for n in range(requests)))
    beside = FloorBeside(build, web, hosts)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(run / "worker.log", "wb") as log:
        started = time.monotonic()
        process = subprocess.Popen([next(build.rglob("ingest-worker")), "--config", config], stderr=log, stdout=log)
        try:
            beside.start()
            statuses = wait_results(kafka, f"{tag}.ingest-file-results", requests, 60 + requests * 0.2)
            wall = time.monotonic() - started
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    log_text = (run / "worker.log").read_text(errors="replace")
    stats = json.loads(re.search(r"stopped: (\{.*\})", log_text).group(1))
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_seconds": wall, "cpu_seconds": cpu, "statuses": statuses, "stats": stats,
            "floor_beside": beside.finish()}


def summarise(floor, worker, requests):
    """Per fetched URL, in milliseconds of CPU, from the worker's own accounts: its threads' and process's CPU clocks, and
    what each examiner and each PDF fork reports with its findings. What wait4 says of the worker and the children that were
    reaped stands beside it as a check."""
    pages = 2 * requests
    cpu = worker["stats"]["cpu_seconds"]
    others = cpu["worker"] - cpu["loop"] - cpu["archive"] - cpu["store"]
    without_pdf = cpu["worker"] + cpu["examine"]
    alone_ms = floor["cpu_seconds"] / floor["transfers"] * 1000
    beside = worker["floor_beside"]
    floor_ms = beside["cpu_seconds"] / beside["transfers"] * 1000

    def per_page(value):
        return round(value / pages * 1000, 3)
    return {
        "pages_per_second": round(pages / worker["wall_seconds"], 1),
        "floor_pages_per_second": round(floor["transfers"] / floor["wall_seconds"], 1),
        "floor_cpu_ms_per_page": round(floor_ms, 3),
        "floor_alone_cpu_ms_per_page": round(alone_ms, 3),
        "cpu_ms_per_page": per_page(without_pdf + cpu["examine_pdf"]),
        "cpu_ms_per_page_without_pdf_text": per_page(without_pdf),
        "ratio_to_floor_without_pdf_text": round(without_pdf / pages * 1000 / floor_ms, 3),
        "ratio_to_floor_alone_without_pdf_text": round(without_pdf / pages * 1000 / alone_ms, 3),
        "stages_cpu_ms_per_page": {
            "loop (intake, gate, fetch, job, emit)": per_page(cpu["loop"]),
            "archive": per_page(cpu["archive"]),
            "store": per_page(cpu["store"]),
            "other threads (Kafka client, spool)": per_page(others),
            "examine (without PDF text)": per_page(cpu["examine"]),
            "PDF text": per_page(cpu["examine_pdf"]),
        },
        "reaped_cpu_ms_per_page": per_page(worker["cpu_seconds"]),
        "warc_syncs_per_page": round(worker["stats"]["warc_syncs"] / pages, 3),
        "statuses": worker["statuses"],
    }


def bench_e2e(args, folder):
    postgres = private_servers.Postgres(folder / "postgres")
    kafka = private_servers.Kafka(folder / "kafka")
    web = Nginx(folder / "nginx", args.pdf_pages)
    rounds = []
    try:
        postgres.start()
        kafka.start()
        web.start()
        for number in range(args.rounds):
            floor = run_floor(args.build, web, args.hosts, args.requests, args.concurrency)
            worker = run_worker(args.build, folder, (postgres, kafka, web), args.hosts, args.requests,
                                args.concurrency, number, {})
            rounds.append(summarise(floor, worker, args.requests))
            print(f"round {number + 1}: ratio {rounds[-1]['ratio_to_floor_without_pdf_text']}", file=sys.stderr)
    finally:
        web.stop()
        kafka.stop()
        postgres.stop()
    ratios = sorted(one["ratio_to_floor_without_pdf_text"] for one in rounds)
    return {"requests": args.requests, "hosts": args.hosts, "concurrency": args.concurrency, "pdf_pages": args.pdf_pages,
            "ratio_to_floor_median": statistics.median(ratios), "ratio_to_floor_min": ratios[0],
            "ratio_to_floor_max": ratios[-1], "rounds": rounds}


def main():
    parser = argparse.ArgumentParser(description="Benchmarks; one JSON object on stdout.")
    parser.add_argument("what", nargs="?", default="e2e", choices=["e2e"])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--pdf-pages", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    try:
        answer = {"machine": {"cpus": os.cpu_count()}}
        for what in [args.what]:
            answer[what] = {"e2e": bench_e2e}[what](args, folder)
        print(json.dumps(answer, indent=1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
