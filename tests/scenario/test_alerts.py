# SPDX-License-Identifier: GPL-3.0-or-later
"""Each alert is made to fire: real workers in the trouble that it is about, scraped and judged by a real Prometheus.

Nobody waits for hours here: what an alert waits for is left out, its windows are some seconds, and some of its numbers are
those of a test (SMALLER). That it does not fire before is looked at, too; alerts_test.yaml looks at the times themselves."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading

import confluent_kafka
import psycopg
import pytest
import yaml
from server import Reply
from servers import stalls
from servers.prometheus import Endpoint, Prometheus
from servers.threads import stopped_thread

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RULES = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text(encoding="utf-8"))
SMALLER = {
    "Restarts": [("> 3", "> 1"), ("[1h]", "[600s]")],
    "Fenced": [("[30m]", "[600s]")],
    "OldestRequest": [("6 * 3600", "3")],
    "LagGrows": [("> 1000", "> 5")],
    "TransactionsAbort": [("> 2", "> 0")],
    "ExaminersCrash": [("> 10", "> 0")],
    "BreakersMany": [("> 50", "> 0"), ("0.2", "0.001")],
    "NamesFail": [("> 10", "> 0")],
    "HitRatioFalls": [("> 100", "> 3"), ("[1d]", "[60s]")],
    "DiskLow": [("86400", "60")],
    "MemoryHigh": [("6 * 1024 ^ 3", "1024 ^ 2")],
}
LISTENING = r"metrics at 127\.0\.0\.1:(\d+)"
MIB = 1 << 20
PAGE = b"Text of a file, with a sentence.\n"
LANDING = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}


def hastened():
    """The rules for a test."""
    rules = json.loads(json.dumps(RULES))
    for rule in rules["groups"][0]["rules"]:
        rule.pop("for", None)
        for old, new in SMALLER.get(rule["alert"].removeprefix("IngestWorker"), []):
            assert old in rule["expr"], f"{rule['alert']}: no {old}"
            rule["expr"] = rule["expr"].replace(old, new)
        rule["expr"] = re.sub(r"(\[|offset )\d+[mhd]\b", r"\g<1>10s", rule["expr"])
    return rules


class Watch:
    """worker(…) is conftest's, of a worker that Prometheus scrapes as `instance`."""

    def __init__(self, prometheus, worker, wait_until):
        self.prometheus, self.worker, self.wait_until = prometheus, worker, wait_until
        self.ports = {}
        self.starts = {}

    @contextlib.contextmanager
    def watched(self, overrides=None, instance="a", ready=True, **how):
        with self.worker({"metrics.listen": "127.0.0.1:0", **(overrides or {})}, ready=False, **how) as daemon:
            # The log of a worker that was started before in the same folder goes on.
            starts = self.starts[daemon.log_path] = self.starts.get(daemon.log_path, 0) + 1
            self.wait_until(lambda: len(re.findall(LISTENING, daemon.log())) == starts)
            self.ports[instance] = int(re.findall(LISTENING, daemon.log())[-1])
            self.prometheus.targets(self.ports)
            if ready:
                daemon.wait_notified("READY=1", 30)
                self.wait_scraped(instance)
            yield daemon

    def wait_scraped(self, instance):
        """By its time of start: for up to a second Prometheus still answers with the process that had the name before."""
        start = "process_start_time_seconds"
        want = Endpoint(self.ports[instance]).samples()[start]
        self.wait_until(lambda: [number for _, number in self.prometheus.query(f'{start}{{instance="{instance}"}}')] == [want], timeout=30)

    def quiet(self, *alerts):
        """None of them fires, or any more: at its start a worker is not ready."""
        self.wait_until(lambda: not {f"IngestWorker{name}" for name in alerts} & set(self.prometheus.firing()), timeout=30)

    def fires(self, *alerts, timeout=90):
        """Waits until each of them has fired, and checks that its words were filled in."""
        left = {f"IngestWorker{name}" for name in alerts}

        def seen():
            for name, words in self.prometheus.firing().items():
                if name in left:
                    assert "error" not in words["summary"] and "{{" not in words["summary"] and "no value" not in words["summary"]
                    left.discard(name)
            return not left
        try:
            self.wait_until(seen, timeout=timeout, every=0.2)
        except AssertionError:
            raise AssertionError(f"these do not fire: {sorted(left)}; those do: {sorted(self.prometheus.firing())}") from None


@pytest.fixture
def watch(tmp_path, worker, wait_until):
    with Prometheus(tmp_path / "prometheus", hastened()) as prometheus:
        yield Watch(prometheus, worker, wait_until)


@pytest.fixture
def slow(web, tag):
    """slow(n): n requests of a host each, whose pages are answered when slow.gate is opened."""
    gate = threading.Event()

    def answer(_):
        gate.wait(90)
        return Reply(200, PAGE)

    def make(count, hosts=None):
        made = []
        for number in range(count):
            host = f"s{number % (hosts or count)}.{tag}.test.example"
            web.route(host, "/", answer)
            made.append({"ingest_type": "component", "base_url": f"http://{host}/?{number}"})
        return made
    make.gate = gate
    yield make
    gate.set()


def pages(web, tag, count, reply=None, first=0):
    for number in range(first, first + count):
        web.route(f"p{number}.{tag}.test.example", "/", lambda _: reply or Reply(200, PAGE))
    return [{"ingest_type": "component", "base_url": f"http://p{number}.{tag}.test.example/"} for number in range(first, first + count)]


def with_children(pid):
    """The process ids of a worker's descendants."""
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        text = pathlib.Path(f"/proc/{pid}/task/{thread}/children").read_text()
        for child in map(int, text.split()):
            found += [child, *with_children(child)]
    return found


# --- the process ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_workers_that_end_start_again_and_differ(watch, settings, tmp_path):
    other_rules = tmp_path / "other-rules"
    shutil.copytree(ROOT / "rules", other_rules)
    with open(other_rules / "walls.yaml", "a", encoding="utf-8") as file:
        file.write("# Another version of the file.\n")
    with watch.watched(name="a"):
        watch.fires("MemoryHigh")
        watch.quiet("VersionsDiffer", "Down", "Restarts", "Fenced")
        with watch.watched({"rules.dir": str(other_rules)}, instance="b", name="b"):
            watch.fires("VersionsDiffer")
        watch.fires("Down")
    for _ in range(2):
        for name in ("a", "b"):
            with watch.watched(instance=name, name=name):
                pass
    watch.fires("Restarts", "Fenced")


@pytest.mark.slow
@pytest.mark.unfinished("the slow one")
def test_a_worker_without_descriptors_with_an_old_request_whose_loop_hangs(watch, slow, submit):
    with watch.watched({"stop.drain_ms": 100}, env={stalls.VARIABLE: ""}) as daemon:
        watch.quiet("DescriptorsHigh", "OldestRequest", "LoopStalled")
        submit(slow(1))
        watch.fires("OldestRequest")
        count = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        subprocess.run(["prlimit", f"--pid={daemon.pid}", f"--nofile={count + 5}:"], check=True)
        watch.fires("DescriptorsHigh")
        subprocess.run(["prlimit", f"--pid={daemon.pid}", "--nofile=4096:"], check=True)
        with stopped_thread(daemon.pid):
            watch.fires("LoopStalled")


@pytest.mark.slow
@pytest.mark.unfinished("the poison is a dead letter")
def test_a_request_that_kills_workers(watch, faults, web, submit, wait_until):
    web.route("poison.test.example", "/page", lambda _: Reply(200, PAGE, {"X-Poison": "yes"}))
    faults.set("recv SEGV has=X-Poison")
    submit({"ingest_type": "component", "base_url": "http://poison.test.example/page"})
    hasty = {"gate.crawl_delay_max_ms": 100, "gate.adaptive_max_ms": 100, "gate.host_delay_ms": 50}
    for _ in range(3):
        with watch.worker(hasty, env=faults.env, ready=False) as daemon:
            assert daemon.wait_end(60) == -signal.SIGSEGV
    with watch.watched(hasty, env=faults.env):
        watch.fires("Poison")


# --- the servers ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_database_that_is_slow_and_then_away(watch, submit, web, tag, database, results):
    with watch.watched({"postgres.statement_ms": 20000, "postgres.batch_ms": 0}):
        watch.quiet("StoreSlow", "DatabaseAway", "NotReady")
        with psycopg.connect(database) as holder:
            holder.execute("LOCK TABLE ingest_file_result IN ACCESS EXCLUSIVE MODE")
            submit(pages(web, tag, 5))
            holder.execute("SELECT pg_sleep(6)")
            holder.rollback()
        watch.fires("StoreSlow")
        with psycopg.connect(database) as holder:
            holder.execute("LOCK TABLE ingest_file_result, host_state IN ACCESS EXCLUSIVE MODE")
            submit(pages(web, tag, 5, first=5))
            watch.fires("DatabaseAway", "NotReady", timeout=90)
            holder.rollback()
        results(10)


@pytest.mark.slow
@pytest.mark.private_servers("kafka")
def test_brokers_that_are_away_for_longer_than_a_transaction(watch, submit, web, tag, kafka, faults, results, wait_until):
    faults.set("rd_kafka_send_offsets_to_transaction DELAY delay=3000 from=1 count=1")
    with watch.watched({"kafka.delivery": "exactly-once"}, env=faults.env):
        watch.quiet("BrokerAway", "TransactionsAbort")
        submit(pages(web, tag, 20))
        wait_until(lambda: faults.count()["rd_kafka_send_offsets_to_transaction"] == 1, timeout=60)
        kafka.stop(hard=True)
        try:
            watch.fires("BrokerAway")
            threading.Event().wait(10)  # transaction.timeout.ms
        finally:
            kafka.start()
        watch.fires("TransactionsAbort", timeout=90)
        results(20, timeout=90)


@pytest.mark.slow
def test_grobid_and_the_object_store_are_away(watch, settings, faults, submit, results, tmp_path):
    settings["store.dir"] = str(tmp_path / "kept")
    faults.set(f"write ENOSPC path={tmp_path / 'kept'}")
    with watch.watched({"grobid.url": "http://127.0.0.1:9"}, env=faults.env):
        watch.quiet("GrobidAway", "ObjectStoreFailing")
        submit(LANDING)
        watch.fires("GrobidAway", "ObjectStoreFailing", timeout=90)
        faults.clear()
        results(1)


# --- requests and results ------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_order_that_is_forgotten(watch, submit, web, tag, run_ctl, results, wait_until):
    with watch.watched():
        watch.quiet("PausedTooLong", "LagGrows", "NoResults")
        done = run_ctl("pause", "--lane", "requests", "--why", "test")
        assert done.returncode == 0, done.stderr
        watch.fires("PausedTooLong")
        stop = threading.Event()

        def feed():
            number = 0
            while not stop.wait(0.5):
                submit(pages(web, tag, 4, first=number))
                number += 4
            feed.count = number
        thread = threading.Thread(target=feed)
        thread.start()
        try:
            watch.fires("LagGrows", "NoResults")
        finally:
            stop.set()
            thread.join()
        assert run_ctl("resume", "--lane", "requests").returncode == 0
        results(feed.count)


@pytest.mark.slow
@pytest.mark.unfinished("a message is no request, and what is parked is not read again")
def test_results_that_are_no_hits_hosts_that_fail_and_messages_that_are_none(watch, submit, web, tag, produce, topics, parked, results):
    settings = {"gate.breaker_failures": 2, "gate.backoff_ms": 60_000, "gate.max_hold_ms": 1000}
    web.route("held.test.example", "/", {"status": 503, "headers": {"Retry-After": "7200"}})
    web.route("broken.test.example", "/", {"status": 500})
    with watch.watched(settings):
        watch.quiet("DeadLetters", "HitRatioFalls", "BreakersMany", "ParkedOld")
        for number in range(12):  # over some scrapes
            submit(pages(web, tag, 2, first=2 * number))
            threading.Event().wait(0.5)
        results(24)
        produce(topics["requests"], [b"no request"])
        watch.fires("DeadLetters")
        threading.Event().wait(10)  # the good ones are of the time before now
        for number in range(12):
            submit(pages(web, tag, 2, reply=Reply(404, b""), first=100 + 2 * number))
            threading.Event().wait(0.5)
        watch.fires("HitRatioFalls")
        submit([{"ingest_type": "component", "base_url": f"http://{name}.test.example/?{n}"}
                for n in range(6) for name in ("held", "broken")])
        watch.fires("BreakersMany", "ParkedOld")


@pytest.mark.slow
@pytest.mark.unfinished("names are asked again")
def test_name_servers_that_do_not_answer(watch, submit, tag, settings):
    settings["fetch.connect_to"] = []
    with watch.watched({"fetch.dns_servers": "127.0.0.1:9", "fetch.connect_timeout_ms": 1000, "job.max_attempts": 1},
                       instance="a"):
        watch.quiet("NamesFail")
        for number in range(10):
            submit([{"ingest_type": "component", "base_url": f"http://n{number}.{tag}.nowhere.example/"}])
            threading.Event().wait(0.3)
        watch.fires("NamesFail", timeout=90)


# --- partitions ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [2])
@pytest.mark.unfinished("messages are deleted; those of a map that cannot be read are below the position")
@pytest.mark.at_least_once("a map cannot be read")
def test_a_map_that_cannot_be_read_and_messages_that_are_deleted(watch, submit, web, tag, kafka, settings, topics, database):
    def commit(partition, offset, metadata):
        consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(), "group.id": settings["kafka.group"],
                                             "enable.auto.commit": False})
        consumer.commit(offsets=[confluent_kafka.TopicPartition(topics["requests"], partition, offset, metadata)], asynchronous=False)
        consumer.close()
    submit(pages(web, tag, 6), partition=0)
    submit(pages(web, tag, 6, first=6), partition=1)
    commit(0, 0, "of another program")
    commit(1, 0, "")
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka.brokers()})
    for future in admin.delete_records([confluent_kafka.TopicPartition(topics["requests"], 1, 4)]).values():
        future.result(30)
    with psycopg.connect(database) as holder:
        # The first numbers of the worker are scraped before it can claim its partitions.
        holder.execute("LOCK TABLE partition_owner IN ACCESS EXCLUSIVE MODE")
        with watch.watched(ready=False):
            watch.wait_until(lambda: watch.prometheus.query("ing_intake_lost_messages_total"), timeout=30)
            threading.Event().wait(3)
            watch.quiet("MessagesLost", "PartitionHeld")
            holder.rollback()
            watch.fires("MessagesLost", "PartitionHeld")


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1])
@pytest.mark.unfinished("the requests of a slow host")
def test_a_position_map_that_fills_up(watch, submit, slow, settings):
    settings.update({"intake.host_share": 100, "stop.drain_ms": 100, "gate.max_wait_ms": 600_000, "examine.processes": 1,
                     "kafka.delivery": "at-least-once", "postgres.dsn": ""})
    waiting = slow(12000, hosts=1)
    done = [{"ingest_type": "pdf", "base_url": f"ftp://x.example/{number}"} for number in range(12000)]
    with watch.watched():
        watch.quiet("PositionsFull")
        submit([one for pair in zip(waiting, done) for one in pair])
        watch.fires("PositionsFull", timeout=180)


# --- disk and documents --------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path, settings):
    """A file system of 96 MiB with the folders of the worker."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m", "tmpfs", folder], check=True)
    try:
        for key in ("warc.dir", "spool.dir", "state.dir"):
            (folder / key).mkdir()
            settings[key] = str(folder / key)
        yield folder
        shutil.copytree(folder / "warc.dir", tmp_path / "kept")
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
    shutil.copytree(tmp_path / "kept", folder / "warc.dir")


@pytest.mark.slow
def test_a_disk_that_fills_up(watch, small_disk):
    with watch.watched({"disk.stop_bytes": 32 * MIB, "disk.abort_bytes": 16 * MIB}):
        threading.Event().wait(12)  # a window
        watch.quiet("DiskLow", "DiskFull")
        with open(small_disk / "filler", "wb") as file:
            for number in range(1, 8):
                os.posix_fallocate(file.fileno(), 0, number * 10 * MIB)
                threading.Event().wait(1.2)
        watch.fires("DiskLow", "DiskFull")


@pytest.mark.slow
def test_a_disk_that_hangs(watch, faults, submit, web, tag, settings, results):
    with watch.watched(env=faults.env):
        submit(pages(web, tag, 1))
        results(1)
        watch.quiet("WarcNotSynced")
        faults.set(f"fdatasync DELAY delay=15000 count=1 path={settings['warc.dir']}")
        submit(pages(web, tag, 3, first=1))
        watch.fires("WarcNotSynced")
        results(4)


@pytest.mark.slow
def test_examiners_that_hang(watch, submit, web, tag, results):
    """They are stopped from outside while they have documents: one is killed at its deadline, others wait for too long."""
    with watch.watched({"examine.processes": 1, "examine.timeout_ms": 3000, "examine.max_wait_ms": 500}) as daemon:
        watch.quiet("ExaminersCrash", "ExaminersBusy")
        for number in range(4):
            for pid in with_children(daemon.pid):
                with contextlib.suppress(ProcessLookupError):
                    if b"zygote" not in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                        os.kill(pid, signal.SIGSTOP)
            submit([{"ingest_type": "html", "base_url": one["base_url"]}
                    for one in pages(web, tag, 4, reply=Reply(200, b"<title>T</title><p>Text."), first=4 * number)])
            threading.Event().wait(1)
        watch.fires("ExaminersCrash", "ExaminersBusy", timeout=90)
        for pid in with_children(daemon.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        results(16)


def test_every_alert_is_made_to_fire():
    """By one of the tests above."""
    text = pathlib.Path(__file__).read_text(encoding="utf-8")
    named = {name for words in re.findall(r"watch\.fires\(([^)]*)\)", text) for name in re.findall(r'"(\w+)"', words)}
    assert named == {rule["alert"].removeprefix("IngestWorker") for rule in RULES["groups"][0]["rules"]}
