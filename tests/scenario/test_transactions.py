# SPDX-License-Identifier: GPL-3.0-or-later
"""kafka.delivery: exactly-once on a real broker: whatever happens to the worker within a transaction, who reads committed messages
finds one result for each request (conftest.py's account() counts them once more when a test is over)."""

import contextlib
import os
import signal
import time

import confluent_kafka
import pytest
from server import Reply

PAGE = b"Text of a file, with a sentence.\n"
COUNT = 60


@pytest.fixture(autouse=True)
def exactly_once(settings):
    settings["kafka.delivery"] = "exactly-once"


@pytest.fixture
def requests(web, submit):
    for number in range(COUNT):
        web.route(f"h{number}.many.test.example", "/", lambda _: Reply(200, PAGE))
    asked = [{"ingest_type": "component", "base_url": f"http://h{number}.many.test.example/"} for number in range(COUNT)]
    submit(asked)
    return {one["base_url"] for one in asked}


@pytest.fixture
def count_written(kafka, topics):
    """Results in the log, those of aborted transactions included."""
    def count():
        reader = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(), "group.id": "writes", "enable.auto.commit": False,
                                           "isolation.level": "read_uncommitted", "enable.partition.eof": True})
        with contextlib.closing(reader):
            numbers = reader.list_topics(topics["results"], timeout=20).topics[topics["results"]].partitions
            reader.assign([confluent_kafka.TopicPartition(topics["results"], n, confluent_kafka.OFFSET_BEGINNING) for n in numbers])
            written, left = 0, set(numbers)
            while left:
                message = reader.poll(30)
                assert message is not None
                if message.error() is None:
                    written += 1
                elif message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF:
                    left.discard(message.partition())
            return written
    return count


def expect_answered(requests, results_by_url, committed, wait_until):
    assert set(results_by_url(COUNT, timeout=90)) == requests
    wait_until(lambda: sum(committed().values()) == COUNT, timeout=30)


# Where the worker dies, and whether messages stay in the log that no transaction commits.
DEATHS = {
    "between two messages": ("rd_kafka_produceva KILL from=9", None),
    "between messages and positions": ("rd_kafka_send_offsets_to_transaction KILL from=1", True),
    "between positions and commit": ("rd_kafka_commit_transaction KILL from=1", True),
    "after the commit": ("rd_kafka_commit_transaction KILL_AFTER from=1", False),
}


@pytest.mark.parametrize("rows", ["with rows", "without rows"])
@pytest.mark.parametrize("where", DEATHS)
def test_a_worker_that_dies_within_a_transaction(where, rows, worker, faults, settings, requests, results_by_url, committed,
                                                 wait_until, count_written):
    rule, leaves_messages = DEATHS[where]
    if rows == "without rows":
        settings["postgres.dsn"] = ""
    faults.set(rule)
    with worker(env=faults.env, ready=False) as daemon:
        assert daemon.wait_end(60) == -signal.SIGKILL
    faults.clear()
    with worker():
        expect_answered(requests, results_by_url, committed, wait_until)
    if leaves_messages is not None:
        assert (count_written() > COUNT) == leaves_messages


def test_a_worker_that_dies_again_and_again(worker, faults, requests, results_by_url, committed, wait_until):
    """Each at another point of its first transaction; what earlier ones have left may all be in that."""
    for rule, _ in DEATHS.values():
        faults.set(rule)
        with worker({"gate.concurrency": 8}, env=faults.env, ready=False) as daemon:
            assert daemon.wait_end(60) == -signal.SIGKILL
    faults.clear()
    with worker():
        expect_answered(requests, results_by_url, committed, wait_until)


def test_a_transaction_that_takes_too_long_is_aborted_by_the_broker(worker, faults, requests, results_by_url, committed,
                                                                     wait_until):
    """The worker hangs between positions and commit for longer than transaction.timeout.ms. Its commit comes too late: it ends,
    as its epoch is over, and the next process answers."""
    faults.set("rd_kafka_commit_transaction DELAY delay=25000 count=1")
    with worker(env=faults.env, ready=False) as daemon:
        assert daemon.wait_end(90) == 1
        assert "fatal producer error" in daemon.log()
    faults.clear()
    with worker():
        expect_answered(requests, results_by_url, committed, wait_until)


def test_a_frozen_worker_that_wakes_up_commits_nothing(worker, faults, requests, results_by_url, committed, wait_until):
    """It is stopped within a transaction until another worker has its partitions and has answered. The hosts that it has leased
    are free when the leases have expired, which are as long as a transfer may take."""
    quick = {"kafka.properties": ["consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=1000"],
             "fetch.timeout_ms": 5000, "fetch.connect_timeout_ms": 2000}
    faults.set("rd_kafka_commit_transaction STOP from=1 count=1")
    with worker(quick, name="one", env=faults.env) as frozen:
        wait_until(lambda: faults.count()["rd_kafka_commit_transaction"] == 1, timeout=60)
        with worker(quick, name="two") as other:
            expect_answered(requests, results_by_url, committed, wait_until)
            os.kill(frozen.pid, signal.SIGCONT)
            time.sleep(3)  # in which it could commit what it holds
            assert other.running()
            expect_answered(requests, results_by_url, committed, wait_until)
            if frozen.running():
                frozen.stop()


def test_the_later_of_two_workers_of_one_name_answers(worker, faults, settings, tmp_path, requests, results_by_url, committed,
                                                       wait_until):
    """The same instance on another machine: the earlier one hangs in a transaction meanwhile, and is fenced."""
    faults.set("rd_kafka_commit_transaction DELAY delay=5000 from=1 count=1")
    with worker(env=faults.env) as first:
        wait_until(lambda: faults.count()["rd_kafka_commit_transaction"] == 1, timeout=60)
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        with worker({"state.dir": str(elsewhere), "warc.dir": settings["warc.dir"] + "-elsewhere"}, ready=False):
            assert first.wait_end(60) == 1
            expect_answered(requests, results_by_url, committed, wait_until)


@pytest.mark.private_servers("kafka")
def test_the_broker_may_restart_within_a_transaction(worker, faults, kafka, requests, results_by_url, committed, wait_until):
    """Its connections are gone between positions and commit; the commit is repeated until it is known."""
    faults.set("rd_kafka_commit_transaction DELAY delay=2000 from=1 count=1")
    with worker(env=faults.env) as daemon:
        wait_until(lambda: faults.count()["rd_kafka_commit_transaction"] == 1, timeout=60)
        kafka.stop(hard=True)
        kafka.start()
        expect_answered(requests, results_by_url, committed, wait_until)
        assert daemon.running()


@pytest.mark.slow
@pytest.mark.private_servers("kafka")
def test_the_broker_may_be_away_for_longer_than_a_transaction(worker, faults, kafka, requests, results_by_url, committed,
                                                              wait_until):
    """Messages are in its log, positions are not sent yet. When it is back it has given the transaction up, and the producer with
    it; the worker goes on with another one."""
    faults.set("rd_kafka_send_offsets_to_transaction DELAY delay=3000 from=1 count=1")
    with worker(env=faults.env) as daemon:
        wait_until(lambda: faults.count()["rd_kafka_send_offsets_to_transaction"] == 1, timeout=60)
        kafka.stop(hard=True)
        time.sleep(14)  # transaction.timeout.ms is 10 s
        kafka.start()
        expect_answered(requests, results_by_url, committed, wait_until)
        assert daemon.running()
