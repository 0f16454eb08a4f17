# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the worker beside the floor of the same run; see README.md."""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import confluent_kafka  # noqa: E402
import fetch_load  # noqa: E402
import private_servers  # noqa: E402
from servers.worker import write_config  # noqa: E402


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


def run_worker(build, folder, servers, hosts, requests, concurrency, tag, extra, watcher=None):
    """watcher: has begin() called when the worker has started, and end() before it is stopped."""
    postgres, kafka, web = servers
    dsn = postgres.create_database(tag)
    run = folder / tag
    for name in ("", "warc", "spool", "state"):
        (run / name).mkdir()
    config = write_config(run / "worker.yaml", {
        "instance": tag, "kafka.brokers": kafka.brokers(), "kafka.group": tag,
        "kafka.topics": {"requests": f"{tag}.ingest-file-requests", "results": f"{tag}.ingest-file-results",
                         "pdf_text": f"{tag}.pdf-text", "dead": f"{tag}.ingest-file-requests-dead",
                         "thumbnail": "", "xml_doc": "", "html_teixml": "", "grobid": ""},
        "postgres.dsn": dsn, "warc.dir": str(run / "warc"), "spool.dir": str(run / "spool"),
        "state.dir": str(run / "state"), "gate.concurrency": concurrency, **web.settings(), **extra})
    ctl = next(build.rglob("ingestctl"))
    subprocess.run([ctl, "--config", config, "db", "migrate"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([ctl, "--config", config, "topics", "create", "--partitions", "4"], check=True,
                   stdout=subprocess.DEVNULL)
    produce(kafka, f"{tag}.ingest-file-requests", fetch_load.requests_of(requests, hosts))
    beside = fetch_load.FloorBeside(build, web, hosts)
    before = fetch_load.children_cpu_seconds()
    with open(run / "worker.log", "wb") as log:
        started = time.monotonic()
        process = subprocess.Popen([next(build.rglob("ingest-worker")), "--config", config], stderr=log, stdout=log)
        try:
            beside.start()
            if watcher:
                watcher.begin()
            statuses = wait_results(kafka, f"{tag}.ingest-file-results", requests, 60 + requests * 0.2)
            wall = time.monotonic() - started
            if watcher:
                watcher.end()
            process.send_signal(signal.SIGTERM)
            process.wait(60)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    cpu = fetch_load.children_cpu_seconds() - before
    log_text = (run / "worker.log").read_text(errors="replace")
    stats = json.loads(re.search(r"stopped: (\{.*\})", log_text).group(1))
    shutil.rmtree(run)
    return {"wall_seconds": wall, "cpu_seconds": cpu, "statuses": statuses, "stats": stats,
            "floor_beside": beside.finish()}


def summarise(worker, requests, floor_alone, tool_ms):
    """From the worker's own accounts: its threads' and process's CPU clocks, and what each examiner and each PDF fork reports
    with its findings. What wait4 says of the worker and the children that were reaped stands beside it as a check."""
    stats = worker["stats"]
    cpu = stats["cpu_seconds"]
    stages = {name: cpu[name] for name in ("loop", "archive", "store", "examine")}
    stages["others"] = cpu["worker"] - cpu["loop"] - cpu["archive"] - cpu["store"]
    floors = {"alone": floor_alone, "beside": worker["floor_beside"]}
    urls = len(fetch_load.NAMES) * requests
    return {
        **fetch_load.sums(stages, cpu["examine_pdf"], requests, floors, tool_ms),
        **fetch_load.resumption(stats.get("tls")),
        **fetch_load.rest(worker["cpu_seconds"], worker["wall_seconds"], requests),
        "warc_syncs_per_url": round(stats["warc_syncs"] / urls, 3),
        "statuses": worker["statuses"],
    }


def bench_e2e(args, folder):
    postgres = private_servers.Postgres(folder / "postgres")
    kafka = private_servers.Kafka(folder / "kafka")
    webs = fetch_load.webs_of(args, folder)

    def run(build, web, tag, floor, tool_ms):
        worker = run_worker(build, folder, (postgres, kafka, web), args.hosts, args.requests, args.concurrency, tag, {})
        return summarise(worker, args.requests, floor, tool_ms)
    servers = [postgres, kafka, *webs]
    try:
        for server in servers:
            server.start()
        return fetch_load.measure(args, webs, run)
    finally:
        for server in reversed(servers):
            server.stop()


def main():
    parser = argparse.ArgumentParser(description="Benchmarks; one JSON object on stdout.")
    fetch_load.add_options(parser)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    try:
        answer = {"machine": {"cpus": os.cpu_count()}, "e2e": bench_e2e(args, folder)}
        print(json.dumps(answer, indent=1))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
