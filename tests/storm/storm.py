# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks for pages while faults strike, then settles the account; see README.md."""

import argparse
import collections
import contextlib
import faulthandler
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for place in (ROOT / "deploy" / "lib", ROOT / "tests" / "scenario", ROOT / "tests" / "bench", HERE):
    sys.path.insert(0, str(place))

import confluent_kafka  # noqa: E402
import confluent_kafka.admin  # noqa: E402
import fleet  # noqa: E402
import ledger  # noqa: E402
import private_servers  # noqa: E402
import psycopg  # noqa: E402
import schedule  # noqa: E402
import web  # noqa: E402
from servers.worker import write_config  # noqa: E402

PREFIX = "storm"
GROUP = "storm"
REQUESTS = f"{PREFIX}.ingest-file-requests"
BULK = f"{REQUESTS}-bulk"
RESULTS = f"{PREFIX}.ingest-file-results"
DEAD = f"{PREFIX}.ingest-file-requests-dead"
PARTITIONS = 6
# Of the requests, the share that goes to the bulk lane, whose topic is made anew at times.
BULK_SHARE = 0.1
# Without a further result for so long, with every fault over, what is missing is lost.
PATIENCE_S = 150
SETTLE_S = 60
# A host may have a hundredth of it waiting, or 16; more is parked for a minute.
MAX_WAITING = 2000
# Of the requests, the share that asks for a page of an earlier one, this many before, which has been answered.
AGAIN_SHARE = 0.05
AGAIN_BEFORE = 300
# The requests of a fault are spread over its first seconds.
DRIP_S = 3
MEMORY = 4  # histories shown


class Watcher(threading.Thread):
    """Sees the results as they are committed, to know how far it is. They are judged by another reading."""

    def __init__(self, brokers):
        super().__init__(daemon=True)
        self.reader = ledger.Reader(brokers, [RESULTS])
        self.seen = collections.Counter()
        self.seen_at = {}
        self.ending = threading.Event()

    def run(self):
        while not self.ending.is_set():
            for message in self.reader.read(0.2):
                name = ledger.answer_of(message).name
                self.seen_at.setdefault(name, time.monotonic())
                self.seen[name] += 1
        self.reader.close()

    def finish(self):
        self.ending.set()
        self.join()


class Storm:
    def __init__(self, build, folder, seed, requests, workers, kills, seconds, kinds=None, delivery=None, hosts=1000, hot=0.0, say=print):
        self.build, self.folder, self.seed, self.say = build, folder, seed, say
        self.count, self.workers, self.hosts, self.hot = requests, workers, hosts, hot
        self.events = schedule.plan(seed, kills, kinds)
        self.interval = seconds / max(1, len(self.events))
        self.chance = random.Random(f"{seed} requests")
        self.facts = ledger.Facts()
        self.postgres = private_servers.Postgres(folder / "postgres")
        self.kafka = private_servers.Kafka(folder / "kafka")
        self.web = web.Web(folder / "web")
        self.database = "storm"
        self.fleet = fleet.Fleet(self)
        self.fed = self.killed = self.at_step = self.forgotten = 0
        self.done = collections.Counter()  # events
        self.delivery = delivery
        self.first = ()
        self.begun = None  # the fault of now

    # --- the world ---

    def program(self, name):
        return next(path for path in self.build.rglob(name) if path.is_file() and os.access(path, os.X_OK))

    def ctl(self, *arguments):
        done = subprocess.run([self.program("ingestctl"), "--config", self.folder / "ctl.yaml", *arguments],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def open(self):
        self.postgres.start()
        self.kafka.start()
        self.web.start()
        dsn = self.postgres.create_database(self.database)
        self.settings = {
            "kafka.brokers": self.kafka.brokers(), "kafka.group": GROUP,
            "kafka.topics": {"requests": REQUESTS, "results": RESULTS, "pdf_text": f"{PREFIX}.pdf-text", "dead": DEAD,
                             "thumbnail": "", "xml_doc": "", "html_teixml": "", "grobid": ""},
            "kafka.properties": [f"consumer.session.timeout.ms={schedule.SESSION_S * 1000}", "consumer.heartbeat.interval.ms=1000"],
            "postgres.dsn": dsn, "store.dir": str(self.folder / "kept"), "warc.prefix": "STORM", "warc.max_bytes": 4_000_000,
            "fetch.user_agent": "ingest-worker-tests/1.0 (+https://tests.example/robot)",
            "fetch.connect_to": self.web.connect_to(), "fetch.allow_address": ["127.0.0.0/8"],
            "gate.robots": "ignore", "gate.host_delay_ms": 0, "gate.adaptive_factor": 0, "gate.address_concurrency": 0,
            "examine.processes": 1, "intake.max_waiting": MAX_WAITING, "disk.stop_bytes": fleet.STOP_BYTES, "disk.abort_bytes": fleet.STOP_BYTES // 2}
        self._choose_delivery()
        write_config(self.folder / "ctl.yaml", {**self.settings, "instance": "ctl"})
        self.ctl("db", "migrate")
        self.ctl("topics", "create", "--lanes", "--partitions", str(PARTITIONS))
        self.producer = confluent_kafka.Producer({
            "bootstrap.servers": self.kafka.brokers(), "enable.idempotence": True, "linger.ms": 20,
            "message.timeout.ms": 600_000, **ledger.QUIET})
        self.admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": self.kafka.brokers(), **ledger.QUIET})
        self.watcher = Watcher(self.kafka.brokers())
        self.watcher.start()

    def _choose_delivery(self):
        """A program without the key knows at-least-once only."""
        known = subprocess.run([self.program("ingest-worker"), "--dump-config"], capture_output=True, text=True,
                               check=True).stdout
        knows = "\n  delivery:" in known
        self.delivery = (self.delivery or "exactly-once") if knows else "at-least-once"
        self.transactions = self.delivery == "exactly-once"
        if knows:
            self.settings["kafka.delivery"] = self.delivery

    def close(self):
        self.fleet.destroy()
        self.web.stop()
        self.kafka.stop(hard=True)
        self.postgres.stop(mode="immediate")

    # --- the requests ---

    def drip(self):
        """Asks for what is due by now, so that there is something to do at each fault."""
        share = self.count / (len(self.events) + 1)
        passed = min(1.0, (time.monotonic() - self.begun) / max(self.interval, DRIP_S))
        self.feed(int(share * (sum(self.done.values()) + 1 + passed)) - self.fed)

    def feed(self, count):
        for _ in range(min(count, self.count + self.forgotten - self.fed)):
            name = f"s{self.seed}-{self.fed}"
            request = self._request(name)
            one = ledger.Asked(name, request, BULK if self.chance.random() < BULK_SHARE else REQUESTS)
            self.facts.asked[name] = one
            self.fed += 1

            def acknowledged(error, message, one=one):
                assert error is None, error
                one.partition, one.offset = message.partition(), message.offset()
            while True:
                try:
                    self.producer.produce(one.topic, json.dumps(request), on_delivery=acknowledged)
                    break
                except BufferError:
                    self.producer.poll(0.1)
        self.producer.poll(0)

    def _request(self, name):
        request = web.request(self.fed, name, self.hosts, self.hot, self.chance)
        repeats = self.chance.random() < AGAIN_SHARE
        earlier = self.facts.asked.get(f"s{self.seed}-{self.fed - AGAIN_BEFORE}")
        answered = self.watcher.seen_at.get(earlier.name) if repeats and earlier else None
        # Not in the same second: the table cdx has one row for a URL and a second.
        if answered and answered + 2 < time.monotonic() and "/page/" in earlier.request["base_url"]:
            return web.again(name, earlier.request)
        return request

    def make_anew(self):
        """The topic of the bulk lane is deleted and made again. What it had and is not answered may never be."""
        assert self.producer.flush(60) == 0
        self.admin.delete_topics([BULK])[BULK].result(30)
        for one in self.facts.asked.values():
            if one.topic == BULK and not one.forgotten and not self.watcher.seen[one.name]:
                one.forgotten = True
                self.forgotten += 1
        self.facts.made_anew[BULK] = time.time()
        deadline = time.monotonic() + 30
        while True:
            try:
                self.admin.create_topics([confluent_kafka.admin.NewTopic(BULK, PARTITIONS, 1)])[BULK].result(30)
                break
            except confluent_kafka.KafkaException as error:
                assert error.args[0].code() == confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS
                assert time.monotonic() < deadline
                time.sleep(0.05)
        while self._ends(BULK) != [0] * PARTITIONS:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def _ends(self, topic):
        asked = {confluent_kafka.TopicPartition(topic, number): confluent_kafka.admin.OffsetSpec.latest()
                 for number in range(PARTITIONS)}
        try:
            return [answer.result(30).offset for answer in self.admin.list_offsets(asked).values()]
        except confluent_kafka.KafkaException:
            return None

    # --- the time ---

    def tick(self, tend=True):
        if tend:
            self.fleet.tend()
        if self.begun:
            self.drip()

    def wait(self, seconds):
        deadline = time.monotonic() + seconds
        while True:
            self.tick()
            left = deadline - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.05))

    def wait_until(self, condition, seconds, tend=True):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
            self.tick(tend)
            time.sleep(0.02)
        return True

    def note(self, kind, member, detail=""):
        now = time.time()
        self.facts.incidents.append(ledger.Incident(now, now, kind, member, detail))

    @contextlib.contextmanager
    def incident(self, kind, one, detail=""):
        found = ledger.Incident(time.time(), time.time(), kind, one.name if one else "", detail)
        self.facts.incidents.append(found)
        yield found
        found.ended = time.time()

    def open_incident(self, kind, one, seconds, detail=""):
        now = time.time()
        self.facts.incidents.append(ledger.Incident(now, now + seconds, kind, one.name, detail))

    def answered(self):
        return sum(1 for one in self.facts.asked.values() if not one.forgotten and one.name in self.watcher.seen)

    def due(self):
        return sum(1 for one in self.facts.asked.values() if not one.forgotten)

    # --- the run ---

    def run(self):
        started = time.monotonic()
        for number in range(self.workers):
            self.fleet.add(tmpfs=number == 0)
        self.first = tuple(one.name for one in self.fleet.members)
        self.feed(self.count // (len(self.events) + 1))
        self.wait_until(lambda: self.watcher.seen, 60)
        for number, event in enumerate(self.events):
            self.begun = time.monotonic()
            schedule.FAULTS[event.kind](self, event.chance())
            self.wait(max(0.0, self.interval - (time.monotonic() - self.begun)))
            self.done[event.kind] += 1
            self._progress(number + 1, started)
        self.begun = None
        self.feed(self.count + self.forgotten)
        assert self.producer.flush(120) == 0
        self._drain()
        self.seconds = time.monotonic() - started

    def _progress(self, number, started):
        if number % 20 == 0 or number == len(self.events):
            self.say(f"{time.monotonic() - started:7.1f} s: {number} of {len(self.events)} faults, {self.killed} kills, "
                     f"{self.fed} asked, {len(self.watcher.seen)} answered")

    def _drain(self):
        """Every fault is over: what is left is answered, as long as anything comes."""
        last, changed = -1, time.monotonic()
        while self.answered() < self.due():
            if self.answered() != last:
                last, changed = self.answered(), time.monotonic()
            if time.monotonic() - changed > PATIENCE_S:
                break
            self.wait(0.2)
        self.say(f"{self.due() - self.answered()} of {self.due()} are not answered")
        self.wait_until(lambda: not self._behind() and not self._outbox(), SETTLE_S)

    def request_topics(self):
        return [name for name in self.admin.list_topics(timeout=20).topics
                if name.startswith(REQUESTS) and name != DEAD]

    def _behind(self):
        time.sleep(0.3)
        return ledger.positions_behind(self.kafka.brokers(), GROUP, self.request_topics())

    def _outbox(self):
        with psycopg.connect(self.settings["postgres.dsn"], autocommit=True) as connection:
            return ledger.left_in_outbox(self.facts, ledger.outbox_of(connection))

    def settle(self):
        """Stops the workers, reads everything and judges it."""
        self.facts.crashes += self.fleet.stop()
        self.watcher.finish()
        self.fleet.read_rebalances()
        (self.folder / "faults.log").write_text(ledger.incidents(self.facts))
        return self.judge()

    def judge(self):
        brokers, facts = self.kafka.brokers(), self.facts
        self.parked = len(ledger.read_all(brokers, [name for name in self.request_topics() if "-parked-" in name]))
        facts.behind = ledger.positions_behind(brokers, GROUP, self.request_topics())
        facts.answers = [ledger.answer_of(one) for one in ledger.read_all(brokers, [RESULTS])]
        facts.dead = [one.value() for one in ledger.read_all(brokers, [DEAD])]
        ledger.rows_of(self.settings["postgres.dsn"], facts)
        facts.records, facts.broken_files = [], []
        self.fleet.read_records(facts)
        return ledger.judge(facts)

    def uncommitted(self):
        """The results as read_uncommitted sees them: what was aborted is among them."""
        return ledger.read_all(self.kafka.brokers(), [RESULTS], "read_uncommitted")

    def history(self, findings):
        """Of the first requests of each kind that something is wrong with."""
        shown, lines, messages = collections.Counter(), [], self.uncommitted()
        for one in findings:
            if shown[one.kind] >= MEMORY:
                continue
            shown[one.kind] += 1
            lines.append(f"{one.kind}: {one.text}")
            if one.name:
                mine = [message for message in messages if ledger.answer_of(message).name == one.name]
                lines.append(ledger.history(self.facts, one.name, mine, self.fleet.logs()))
        return "\n".join(lines)

    def figures(self, findings):
        found = self.facts
        return {
            "seed": self.seed, "delivery": self.delivery, "requests": self.due(), "workers": self.workers,
            "seconds": round(self.seconds, 1), "kills": self.killed, "kills_at_a_step": self.at_step,
            "faults": dict(self.done), "self_ended": len(self.fleet.self_ends), "starts": sum(one.starts for one in self.fleet.members),
            "results": len(found.answers), "by_status": dict(collections.Counter(one.status for one in found.answers)), "cdx_rows": len(found.cdx), "records": len(found.records),
            "parked": self.parked,
            "warc_files": len({one.file for one in found.records}),
            "revisits": sum(1 for one in found.records if one.type == b"revisit"), "records_without_row": len(ledger.orphans(found)), "deleted_with_their_topic": self.forgotten,
            "findings": ledger.tally(findings)}


def tolerated(finding, delivery):
    """At least once, a request may have several results, of different attempts; of attempts in the same second cdx has the row of
    the first."""
    return delivery == "at-least-once" and finding.kind in ("duplicated", "row-differs", "row-elsewhere", "orphan")


def kinds_of(text):
    return None if text is None else {name: int(count) for name, _, count in (one.partition("=") for one in text.split(",") if one)}


def main():
    parser = argparse.ArgumentParser(prog="tests/storm/run", description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--seed", type=int, default=None, help="default: a random one")
    parser.add_argument("--hours", type=float, default=0.4, help="in which the faults strike (default 0.4)")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--hot", type=float, default=0.04, help="share of one host, which is parked at times (default 0.04)")
    parser.add_argument("--only", help="kinds of faults beside kills, KIND=COUNT with commas between")
    parser.add_argument("--delivery", choices=["exactly-once", "at-least-once"])
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for everything, which stays")
    args = parser.parse_args()
    faulthandler.register(signal.SIGUSR1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))  # so that the servers end, too
    folder = args.keep or pathlib.Path(tempfile.mkdtemp(prefix="ing-storm-"))
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    seed = args.seed if args.seed is not None else random.SystemRandom().getrandbits(31)
    print(f"seed {seed}, in {folder}", file=sys.stderr)
    storm = Storm(args.build.resolve(), folder, seed, args.requests, args.workers, args.kills, args.hours * 3600,
                  kinds_of(args.only), args.delivery, hot=args.hot, say=lambda text: print(text, file=sys.stderr, flush=True))
    bad = True
    try:
        storm.open()
        storm.run()
        findings = storm.settle()
        bad = any(not tolerated(one, storm.delivery) for one in findings)
        print(json.dumps(storm.figures(findings), indent=1))
        if findings:
            print(storm.history(findings))
    finally:
        storm.close()
        if not bad and not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
