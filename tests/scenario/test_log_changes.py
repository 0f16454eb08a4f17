# SPDX-License-Identifier: GPL-3.0-or-later
"""Offsets that go back or vanish: a topic made anew, a log truncated, messages deleted before they were read, a worker
that sleeps past its session. No request without a result, unless the log says how many; no offset ahead of a result."""

import collections
import json
import pathlib
import re
import shutil
import signal
import time

import confluent_kafka
import confluent_kafka.admin
import pytest
from servers.pages import Pages


@pytest.fixture
def admin(kafka):
    return confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka.brokers()})


@pytest.fixture
def pages(web, tag):
    found = Pages(web, tag)
    yield found
    found.gate.set()


@pytest.fixture
def spread(submit, partitions):
    """spread(requests): the same number to each partition."""
    def send(requests):
        requests = list(requests)
        for number in range(partitions):
            submit(requests[number::partitions], partition=number)
    return send


@pytest.fixture
def counted(consume, topics):
    """counted(prefix, n): how often each of the n requests of that prefix has a result, once every one has."""
    def read(prefix, count, timeout=90):
        deadline = time.monotonic() + timeout
        total = 0
        while True:
            seen = collections.Counter()
            messages = consume(topics["results"], total, timeout=timeout, settle=0.5)
            for message in messages:
                url = json.loads(message.value())["request"]["base_url"]
                if f".{prefix}." in url:
                    seen[url] += 1
            if len(seen) >= count:
                return seen
            total = len(messages) + (count - len(seen) if time.monotonic() < deadline else 0)
            assert time.monotonic() < deadline, f"{len(seen)} of {count} requests have a result"
    return read


def ends_of(admin, topic, partitions):
    """The ends of the logs that the broker has now; None while it has not all of them."""
    asked = {confluent_kafka.TopicPartition(topic, number): confluent_kafka.admin.OffsetSpec.latest()
             for number in range(partitions)}
    try:
        return [answer.result(30).offset for answer in admin.list_offsets(asked).values()]
    except confluent_kafka.KafkaException:
        return None


def make_anew(admin, topic, partitions):
    """Returns when the broker has the new logs. The controller has answered before that: what is written then is
    acknowledged by the old logs and goes with them."""
    assert all(ends_of(admin, topic, partitions)), "logs that were empty cannot be told from new ones"
    admin.delete_topics([topic])[topic].result(30)
    deadline = time.monotonic() + 30
    while True:
        try:
            admin.create_topics([confluent_kafka.admin.NewTopic(topic, partitions, 1)])[topic].result(30)
            break
        except confluent_kafka.KafkaException as error:
            assert error.args[0].code() == confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS
            assert time.monotonic() < deadline
            time.sleep(0.01)
    while ends_of(admin, topic, partitions) != [0] * partitions:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def delete_before(admin, topic, offset):
    """Deletes the messages of partition 0 below the offset, as retention does."""
    partition = confluent_kafka.TopicPartition(topic, 0, offset)
    admin.delete_records([partition])[partition].result(30)


def stats_of(daemon):
    return json.loads(re.findall(r"stopped: (\{.*\})", daemon.log())[-1])["intake"]


@pytest.mark.unaccounted("requests are taken out of the topic; the test counts")
def test_a_topic_made_anew_under_a_running_worker_is_read_whole(
        worker, spread, counted, committed, topics, admin, pages, partitions, wait_until):
    """40 requests are done, then the topic is made anew with 300, at once more than the old position."""
    spread(pages.requests("old", 40))
    later = list(pages.requests("new", 300))
    with worker() as daemon:
        counted("old", 40)
        wait_until(lambda: sum(committed().values()) == 40)
        make_anew(admin, topics["requests"], partitions)
        spread(later)
        seen = counted("new", 300)
        wait_until(lambda: sum(committed().values()) == 300)
        assert daemon.stop() == 0
    assert set(seen) == {one["base_url"] for one in later}
    assert "ERROR" in daemon.log().upper() and stats_of(daemon)["lost"] == 0


@pytest.mark.unaccounted("requests are taken out of the topic; the test counts")
def test_a_topic_made_anew_while_requests_are_under_way_is_read_whole(
        worker, spread, counted, committed, topics, admin, pages, partitions, wait_until):
    """40 requests are being fetched when the topic is made anew: their offsets are not committed over the 300's."""
    pages.gate.clear()
    spread(pages.requests("old", 40))
    later = list(pages.requests("new", 300))
    with worker():
        wait_until(lambda: pages.asked("old") >= 20)
        make_anew(admin, topics["requests"], partitions)
        spread(later)
        pages.gate.set()
        seen = counted("new", 300)
        wait_until(lambda: sum(committed().values()) == 300)
    assert set(seen) == {one["base_url"] for one in later}


@pytest.mark.unaccounted("requests are taken out of the topic; the test counts")
def test_a_topic_made_anew_that_ends_at_the_old_position_is_read_whole(
        worker, spread, counted, committed, topics, admin, pages, partitions, wait_until):
    """While the worker sleeps the topic is made anew with as many as it has done: no message ever comes past its
    position, and no offset is out of range."""
    spread(pages.requests("old", 40))
    later = list(pages.requests("new", 40))
    with worker() as daemon:
        counted("old", 40)
        wait_until(lambda: sum(committed().values()) == 40)
        daemon.process.send_signal(signal.SIGSTOP)
        make_anew(admin, topics["requests"], partitions)
        spread(later)
        daemon.process.send_signal(signal.SIGCONT)
        seen = counted("new", 40)
        wait_until(lambda: sum(committed().values()) == 40)
        assert daemon.stop() == 0
    assert seen == {one["base_url"]: 1 for one in later}
    assert stats_of(daemon)["restarts"] == partitions and stats_of(daemon)["lost"] == 0


@pytest.mark.unaccounted("requests are taken out of the topic; the test counts")
@pytest.mark.parametrize("partitions", [1])
def test_messages_deleted_before_they_were_read_are_an_error_with_their_number(
        worker, submit, counted, committed, topics, admin, pages, wait_until):
    first, second = list(pages.requests("first", 20)), list(pages.requests("second", 80))
    submit(first)
    with worker():
        counted("first", 20)
        wait_until(lambda: sum(committed().values()) == 20)
    submit(second)
    delete_before(admin, topics["requests"], 60)
    with worker() as daemon:
        seen = counted("second", 40)
        wait_until(lambda: sum(committed().values()) == 100)
        assert daemon.stop() == 0
    assert "error: " + topics["requests"] + ": partition 0: 40 messages are lost: offsets 20 to 59" in daemon.log()
    assert set(seen) == {one["base_url"] for one in second[40:]} and set(seen.values()) == {1}
    assert stats_of(daemon)["lost"] == 40


@pytest.mark.unaccounted("requests are taken out of the topic; the test counts")
@pytest.mark.parametrize("partitions", [1])
def test_messages_deleted_under_a_running_worker_are_counted(
        worker, submit, counted, committed, topics, admin, pages, wait_until):
    """Retention overruns a worker that sleeps. What it had fetched before it has; of the rest it says how many are gone."""
    asked = list(pages.requests("slow", 100))
    with worker() as daemon:
        submit(list(pages.requests("first", 1)))  # a group that has no position yet can lose nothing
        wait_until(lambda: committed() == {0: 1})
        daemon.process.send_signal(signal.SIGSTOP)
        for one in asked:
            submit(one)
        delete_before(admin, topics["requests"], 71)
        daemon.process.send_signal(signal.SIGCONT)
        wait_until(lambda: committed() == {0: 101}, timeout=60)
        assert daemon.stop() == 0
    lost = stats_of(daemon)["lost"]
    seen = counted("slow", 100 - lost)
    assert 0 < lost <= 70 and len(seen) == 100 - lost and set(seen.values()) == {1}
    assert f"{lost} messages are lost" in daemon.log()
    assert {one["base_url"] for one in asked[70:]} <= set(seen)


@pytest.mark.unaccounted("requests are taken out of the topic; the test counts")
@pytest.mark.private_servers("kafka")
@pytest.mark.parametrize("partitions", [1])
def test_a_log_that_has_become_shorter_is_read_from_its_start(
        worker, submit, counted, committed, topics, pages, kafka, wait_until):
    """The broker comes back without the log of the topic: what is written now has offsets that were used before."""
    submit(list(pages.requests("before", 40)))
    with worker() as daemon:
        wait_until(lambda: committed() == {0: 40})
        kafka.stop(hard=True)
        for path in pathlib.Path(kafka.folder).glob(f"**/{topics['requests']}-0"):
            shutil.rmtree(path)
        kafka.start()
        daemon.wait_log("the log ends before the position 40", timeout=60)
        wait_until(lambda: committed() == {0: 0})
        submit(list(pages.requests("after", 30)))
        seen = counted("before", 40) + counted("after", 30)
        wait_until(lambda: committed() == {0: 30})
        assert daemon.stop() == 0
    assert len(seen) == 70 and set(seen.values()) == {1}
    assert stats_of(daemon)["restarts"] == 1


@pytest.mark.slow
def test_a_worker_that_slept_past_its_session_commits_nothing_over_the_new_owner(
        worker, spread, counted, committed, settings, pages, wait_until):
    """One of two workers sleeps while it has requests under way. The other does them; the sleeper gives up what it had."""
    settings["kafka.properties"] = ["consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=500"]
    settings["gate.concurrency"] = 8
    settings["postgres.dsn"] = ""  # the sleeper's leases of hosts would hold the other up
    asked = list(pages.requests("shared", 200))
    with worker(name="one") as one, worker(name="two") as two:
        one.wait_log(": 2 partitions assigned", timeout=60)
        two.wait_log(": 2 partitions assigned", timeout=60)
        pages.gate.clear()
        spread(asked)
        wait_until(lambda: pages.asked("shared") >= 16)
        one.process.send_signal(signal.SIGSTOP)
        pages.gate.set()
        two.wait_log(": 4 partitions assigned", timeout=60)
        counted("shared", 200)
        wait_until(lambda: sum(committed().values()) == 200, timeout=60)
        one.process.send_signal(signal.SIGCONT)
        one.wait_log("the assignment was lost", timeout=60)
        one.wait_log(": 2 partitions assigned", timeout=60)
        seen = counted("shared", 200)
        assert seen == {request["base_url"]: 1 for request in asked}
        time.sleep(2)  # two commit intervals, in which an offset could go back
        assert sum(committed().values()) == 200
