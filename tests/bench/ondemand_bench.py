# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to idle hosts through POST /ingest?wait=, while the bulk lane is full; README.md says what the figures mean."""

import argparse
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import confluent_kafka  # noqa: E402
import e2e_bench  # noqa: E402
import fetch_load  # noqa: E402
import nginx  # noqa: E402
import private_servers  # noqa: E402
from servers.worker import write_config  # noqa: E402

PARTITIONS = 12


class Web(nginx.Nginx):
    """Landing page and PDF of every host, over TLS. Hosts of slow.example get them at so many bytes a second."""

    def start(self, rate):
        authority = fetch_load.certs.Authority(str(self.folder / "tls"))
        self.ca_file = authority.ca_file
        authority.context("bench", ["*.slow.example", "*.busy.example", "*.idle.example"])
        cert = self.folder / "tls" / "bench.pem"
        www = self.folder / "www"
        www.mkdir()
        (www / "index.html").write_bytes(fetch_load.landing_page())
        (www / "paper.pdf").write_bytes(fetch_load.paper(2))
        self.serve(f"""
    listen 127.0.0.1:{self.port} ssl backlog=4096; ssl_certificate {cert}; ssl_certificate_key {authority.key};
    ssl_session_tickets off; root {www}; access_log {self.folder}/access.log times if=$idle;
    set $limit 0; if ($host ~ "slow.example$") {{ set $limit {rate}; }} limit_rate $limit;""", """
  log_format times '$msec $host $request_time $uri'; map $host $idle { default 0; ~idle.example$ 1; }""")

    def transfers(self):
        """Of each idle host when its transfers ended, and how long they took: [(end, seconds, path)]."""
        found = {}
        for line in (self.folder / "access.log").read_text(encoding="utf-8").splitlines():
            end, host, seconds, path = line.split(" ", 3)
            found.setdefault(host, []).append((float(end), float(seconds), path))
        return found


def start_api(build, config, folder):
    with open(folder / "serve.log", "wb") as log:
        process = subprocess.Popen([next(build.rglob("ingestctl")), "--config", config, "serve", "--listen", "127.0.0.1:0",
                                    "--rate", "0"], stderr=log, stdout=log)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = re.search(r"listening at http://127\.0\.0\.1:(\d+)", (folder / "serve.log").read_text(errors="replace"))
        if found and ask(int(found[1]), "GET", "/healthz")[0] == 200:
            return process, int(found[1])
        time.sleep(0.1)
    raise SystemExit((folder / "serve.log").read_text(errors="replace"))


def ask(port, method, path, request=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, body=json.dumps(request) if request else None)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    return answer.status, body


def ask_idle_hosts(port, count, tag, pause):
    """{host: (start, end)} of requests, one at a time, each to a host that nobody asked before."""
    asked = {}
    for number in range(count):
        host = f"{tag}{number}.idle.example"
        started = time.time()
        status, answer = ask(port, "POST", "/ingest?wait=110", {"ingest_type": "pdf", "base_url": f"https://{host}/index.html"})
        asked[host] = started, time.time()
        if status != 200 or answer["result"]["status"] != "success":
            raise SystemExit(f"{status}: {json.dumps(answer)[:2000]}")
        time.sleep(pause)
    return asked


def phases(asked, transfers):
    """Medians: from the request to the first transfer, between transfers (each), from the last one to the answer."""
    parts = {"before": [], "between": [], "after": []}
    for host, (start, end) in asked.items():
        one = sorted(transfers[host])
        parts["before"].append(one[0][0] - one[0][1] - start)
        parts["between"] += [later[0] - later[1] - earlier[0] for earlier, later in zip(one, one[1:])]
        parts["after"].append(end - one[-1][0])
    return {f"{name}_s": {"median": round(statistics.median(values), 3), "max": round(max(values), 3)}
            for name, values in parts.items()}


def figures(asked, transfers):
    ordered = sorted(end - start - sum(one[1] for one in transfers[host]) for host, (start, end) in asked.items())
    return {"median_s": round(statistics.median(ordered), 3), "p90_s": round(ordered[int(len(ordered) * 0.9)], 3),
            "max_s": round(ordered[-1], 3), "over_2_s": sum(one > 2 for one in ordered), "requests": len(ordered),
            "transfers": sum(len(transfers[host]) for host in asked) / len(asked), **phases(asked, transfers)}


def group_lag(kafka, group, topic):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(), "group.id": group,
                                               "enable.auto.commit": False})
    partitions = [confluent_kafka.TopicPartition(topic, n) for n in range(PARTITIONS)]
    lag = 0
    for one in consumer.committed(partitions, timeout=20):
        low, high = consumer.get_watermark_offsets(one, timeout=20)
        lag += high - max(one.offset, low)
    consumer.close()
    return lag


def measure(args, folder, servers, load):
    """One worker with the bulk lane full of the load's hosts, and requests to idle ones beside it."""
    postgres, kafka, web = servers
    tag = load
    run = folder / tag
    for name in ("", "warc", "spool", "state"):
        (run / name).mkdir()
    topics = {name: f"{tag}.{topic}" for name, topic in (
        ("requests", "ingest-file-requests"), ("results", "ingest-file-results"), ("pdf_text", "pdf-text"),
        ("dead", "ingest-file-requests-dead"))}
    config = write_config(run / "worker.yaml", {
        "instance": tag, "kafka.brokers": kafka.brokers(), "kafka.group": tag,
        "kafka.topics": {**topics, "thumbnail": "", "xml_doc": "", "html_teixml": "", "grobid": ""},
        "postgres.dsn": postgres.create_database(tag), "warc.dir": str(run / "warc"), "spool.dir": str(run / "spool"),
        "state.dir": str(run / "state"), "fetch.ca_file": web.ca_file,
        "fetch.user_agent": "ingest-worker-bench/1.0 (+https://bench.example/robot)",
        "fetch.connect_to": [f":443:127.0.0.1:{web.port}"], "fetch.allow_address": ["127.0.0.0/8"],
        "rules.dir": str(run / "rules"), **dict(args.set or [])})
    (run / "rules").mkdir()
    ctl = next(args.build.rglob("ingestctl"))
    for command in (["db", "migrate"], ["topics", "create", "--lanes", "--partitions", str(PARTITIONS)]):
        subprocess.run([ctl, "--config", config, *command], check=True, stdout=subprocess.DEVNULL)
    bulk = f"{topics['requests']}-bulk"
    if load != "nothing":
        e2e_bench.produce(kafka, bulk, ({"ingest_type": "pdf", "link_source": "bench", "link_source_id": str(n),
                                     "base_url": f"https://h{n % args.hosts}.{load}.example/index.html?{n}"}
                                    for n in range(args.requests)))
    api = None
    with open(run / "worker.log", "wb") as log:
        worker = subprocess.Popen([next(args.build.rglob("ingest-worker")), "--config", config], stderr=log, stdout=log)
    try:
        api, port = start_api(args.build, config, run)
        ask_idle_hosts(port, 3, "warm", 0.1)
        time.sleep(args.settle)
        before = group_lag(kafka, tag, bulk)
        asked = ask_idle_hosts(port, args.ondemand, load, args.pause)
        after = group_lag(kafka, tag, bulk)
        for process in (api, worker):
            process.send_signal(signal.SIGTERM)
        api.wait(60)
    finally:
        for process in (api, worker):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        if args.keep:
            shutil.copy(run / "worker.log", f"/tmp/ondemand-{load}.log")
    return {**figures(asked, web.transfers()), "bulk_waiting_before": before, "bulk_waiting_after": after}


def main():
    parser = argparse.ArgumentParser(description="Requests on demand beside a full bulk lane; one JSON object on stdout.")
    parser.add_argument("--build", type=pathlib.Path, default=fetch_load.ROOT / "build" / "release")
    parser.add_argument("--requests", type=int, default=60000, help="in the bulk lane")
    parser.add_argument("--hosts", type=int, default=3000)
    parser.add_argument("--ondemand", type=int, default=60, help="requests that are measured")
    parser.add_argument("--pause", type=float, default=0.3)
    parser.add_argument("--settle", type=float, default=15)
    parser.add_argument("--rate", default="40k", help="bytes a second of a slow host")
    parser.add_argument("--only", choices=["nothing", "slow", "busy"])
    parser.add_argument("--set", action="append", type=lambda one: tuple(one.split("=", 1)), help="KEY=VALUE of the worker")
    parser.add_argument("--keep", action="store_true", help="the worker's logs, in /tmp")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    postgres = private_servers.Postgres(folder / "postgres")
    kafka = private_servers.Kafka(folder / "kafka")
    web = Web(folder / "nginx")
    answer = {"machine": {"cpus": os.cpu_count()}, "hosts": args.hosts, "ondemand": {}}
    try:
        postgres.start()
        kafka.start()
        web.start(args.rate)
        for load in ("nothing", "slow", "busy"):
            if args.only in (None, load):
                answer["ondemand"][load] = measure(args, folder, (postgres, kafka, web), load)
                print(f"ondemand: {load}: {answer['ondemand'][load]}", file=sys.stderr)
        print(json.dumps(answer, indent=1))
    finally:
        web.stop()
        kafka.stop()
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
