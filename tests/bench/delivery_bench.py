# SPDX-License-Identifier: GPL-3.0-or-later
"""Exactly once against at least once, in turn, on private servers, and the store beside bare PostgreSQL; README.md says what the
figures mean."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "deploy/lib"))

import e2e_bench  # noqa: E402
import fetch_load  # noqa: E402
import confluent_kafka  # noqa: E402
import confluent_kafka.admin  # noqa: E402
import private_servers  # noqa: E402
import store_bench  # noqa: E402

MODES = ("at-least-once", "exactly-once")
PARTITIONS = 6
LOADS = {"saturated": 0, "paced": 2000}  # results begun in a second; 0: as many as can be


def create_topics(brokers, names):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": brokers})
    made = admin.create_topics([confluent_kafka.admin.NewTopic(name, PARTITIONS, 1) for name in names])
    for future in made.values():
        future.result(60)


def fill(brokers, topic, count):
    producer = confluent_kafka.Producer({"bootstrap.servers": brokers, "linger.ms": 20, "queue.buffering.max.messages": 1000000})
    for number in range(count):
        producer.produce(topic, f'{{"ingest_type": "pdf", "base_url": "https://bench.example/{number}"}}',
                         partition=number % PARTITIONS)
        producer.poll(0)
    if producer.flush(120):
        raise SystemExit("the broker does not take the requests")


def count_committed(brokers, topic):
    """What a reader of committed messages sees, and how many different keys."""
    reader = confluent_kafka.Consumer({"bootstrap.servers": brokers, "group.id": f"check-{topic}", "enable.auto.commit": False,
                                       "isolation.level": "read_committed", "enable.partition.eof": True})
    reader.assign([confluent_kafka.TopicPartition(topic, n, confluent_kafka.OFFSET_BEGINNING) for n in range(PARTITIONS)])
    keys = []
    ended = set()
    deadline = time.monotonic() + 120
    while len(ended) < PARTITIONS and time.monotonic() < deadline:
        for message in reader.consume(1000, 1.0):
            if message.error():
                ended.add(message.partition())
            else:
                keys.append(message.key())
    reader.close()
    return len(keys), len(set(keys))


def measure(kafka, program, mode, count, rate, name):
    requests, results = f"requests-{name}", f"results-{name}"
    create_topics(kafka.brokers(), [requests, results])
    fill(kafka.brokers(), requests, count)
    done = subprocess.run([program, kafka.brokers(), f"group-{name}", requests, results, mode, str(count), str(rate)],
                          stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    if count_committed(kafka.brokers(), results) != (count, count):
        raise SystemExit(f"{mode}: {count_committed(kafka.brokers(), results)} results and keys of {count}")
    return json.loads(done.stdout)


def median(answers, *path):
    def at(answer):
        for key in path:
            answer = answer[key]
        return answer
    return round(statistics.median(at(answer) for answer in answers), 1)


def ratios_of(answers):
    """Of exactly once to at least once, in each round."""
    ratios = {}
    for key in ("results_per_second", "cpu_us_per_result"):
        rounds = [exactly[key] / at_least[key] for at_least, exactly in zip(answers[MODES[0]], answers[MODES[1]])]
        ratios[f"ratio_of_{key}"] = {"median": round(statistics.median(rounds), 3), "rounds": [round(r, 3) for r in rounds]}
    return ratios


def summary(answers):
    """Medians of both modes, and their ratios."""
    summed = {mode: {key: median(answers[mode], key) for key in ("results_per_second", "cpu_us_per_result", "commit_ms",
                                                                 "transactions", "aborted")}
              | {"latency_ms": {p: median(answers[mode], "latency_ms", p) for p in ("p50", "p99")}} for mode in MODES}
    return summed | ratios_of(answers)


def run(build, counts, rounds):
    program = next(build.rglob("bench-delivery"))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    kafka = private_servers.Kafka(folder / "kafka")
    answers = {load: {mode: [] for mode in MODES} for load in LOADS}
    try:
        kafka.start()
        for number in range(rounds + 1):
            for load, rate in LOADS.items():
                for mode in MODES if number % 2 else MODES[::-1]:
                    answer = measure(kafka, program, mode, counts[load], rate, f"{load}-{mode}-{number}")
                    print(f"delivery: {load}: {mode}: {answer}", file=sys.stderr)
                    if number > 0:  # the first warms the broker up
                        answers[load][mode].append(answer)
    finally:
        kafka.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return {load: summary(answers[load]) for load in LOADS}


def run_workers(build, requests, rounds):
    """The whole worker, as e2e_bench.py measures it, with PDFs of one page."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-bench-"))
    folder.chmod(0o755)
    postgres = private_servers.Postgres(folder / "postgres")
    kafka = private_servers.Kafka(folder / "kafka")
    web = fetch_load.Web(folder / "nginx", 1)
    answers = {mode: [] for mode in MODES}
    try:
        for server in (postgres, kafka, web):
            server.start()
        for number in range(rounds + 1):
            for mode in MODES if number % 2 else MODES[::-1]:
                answer = e2e_bench.run_worker(build, folder, (postgres, kafka, web), 1000, requests, 64,
                                          f"b{number}{mode.replace('-', '')}", {"kafka.delivery": mode})
                cpu = answer["stats"]["cpu_seconds"]
                answers[mode].append({"results_per_second": requests / answer["wall_seconds"],
                                      "cpu_us_per_result": (cpu["worker"] + cpu["examine"] + cpu["examine_pdf"]) / requests * 1e6})
                print(f"delivery: worker: {mode}: {answers[mode][-1]}", file=sys.stderr)
    finally:
        for server in (web, kafka, postgres):
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)
    kept = {mode: answers[mode][1:] for mode in MODES}  # the first warms the servers up
    return {mode: {key: median(kept[mode], key) for key in ("results_per_second", "cpu_us_per_result")} for mode in MODES} \
        | ratios_of(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--results", type=int, default=60000, help="of each saturated round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=600, help="of each round of the whole worker")
    parser.add_argument("--items", type=int, default=40000, help="of the store")
    parser.add_argument("--only", choices=("kafka", "worker", "store"))
    args = parser.parse_args()
    answer = {"machine": {"cpus": os.cpu_count()}}
    if args.only in (None, "kafka"):
        answer["kafka"] = run(args.build, {"saturated": args.results, "paced": max(args.results // 6, 1)}, args.rounds)
    if args.only in (None, "worker"):
        answer["worker"] = run_workers(args.build, args.requests, args.rounds)
    if args.only in (None, "store"):
        answer["store"] = store_bench.run(args.build, args.items, 500, args.rounds)
    print(json.dumps(answer, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
