# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions and their maps: what a killed worker has finished out of order is not done again, and ingestctl positions,
with which an operator looks at maps and gives one up that no worker can read."""

import json
import threading

import confluent_kafka
import pytest
from server import Reply

PAGE = b"Text of a file, with a sentence.\n"


@pytest.fixture
def pages(web, tag):
    """pages(n): n requests of one host each. The first one's page is answered when the test has opened the gate; asked
    counts how often each was asked for."""
    gate = threading.Event()
    asked = {}

    def answer(name, waits):
        asked[name] = asked.get(name, 0) + 1
        if waits:
            gate.wait(60)
        return Reply(200, PAGE)

    def make(count):
        for number in range(count):
            host = f"p{number}.{tag}.test.example"
            web.route(host, "/", lambda _, name=number: answer(name, name == 0))
            yield {"ingest_type": "component", "base_url": f"http://{host}/"}

    make.gate, make.asked = gate, asked
    yield make
    gate.set()


@pytest.fixture
def positions(run_ctl, topics):
    """positions("show", …): the verb; show by default for the topic of requests."""
    def run(action, *arguments):
        return run_ctl("positions", action, topics["requests"], *arguments)
    return run


def commit(kafka, settings, topics, partition, offset, metadata):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(), "group.id": settings["kafka.group"],
                                         "enable.auto.commit": False})
    consumer.commit(offsets=[confluent_kafka.TopicPartition(topics["requests"], partition, offset, metadata)],
                    asynchronous=False)
    consumer.close()


@pytest.mark.parametrize("partitions", [1])
def test_what_a_killed_worker_has_finished_out_of_order_is_not_done_again(
        worker, submit, results, pages, positions, committed, wait_until):
    """The first of 60 requests is slow, the others are finished and in the map when the worker is killed."""
    submit(list(pages(60)))
    with worker() as daemon:
        results(59)
        wait_until(lambda: "59 finished beyond it, the last at offset 59" in positions("show").stdout)
        daemon.kill()
    assert committed() == {0: 0}
    pages.gate.set()
    with worker() as daemon:
        results(60)
        wait_until(lambda: committed() == {0: 60})
        assert daemon.stop() == 0
    assert {name: times for name, times in pages.asked.items() if name > 0} == dict.fromkeys(range(1, 60), 1)
    assert positions("show").stdout.endswith(" 0: position 60\n")


@pytest.mark.parametrize("partitions", [2])
@pytest.mark.unfinished("three are below the position that the other program has committed")
def test_an_unreadable_map_holds_its_partition_until_it_is_forgotten(
        worker, submit, results, pages, positions, committed, kafka, settings, topics, wait_until):
    """Another program has committed for the group. The worker reads the other partition, whose metadata is empty (this
    client ends it with a NUL), says what is wrong, and goes on by itself when the operator has decided."""
    requests = list(pages(20))
    pages.gate.set()
    commit(kafka, settings, topics, 0, 0, "consumer-7 of another program")
    commit(kafka, settings, topics, 1, 3, "")
    submit(requests[:7], partition=0)
    submit(requests[7:], partition=1)
    with worker() as daemon:
        results(10)
        daemon.wait_log("partition 0 is held: position map")
        shown = positions("show")
        assert shown.returncode == 1
        assert f"{topics['requests']} 0: position 0, held: its map of 29 characters cannot be read" in shown.stdout
        done = positions("forget", "0")
        assert (done.returncode, done.stderr) == (0, "")
        results(17)
        wait_until(lambda: committed() == {0: 7, 1: 13})
    assert positions("show").returncode == 0


@pytest.mark.parametrize("partitions", [1])
@pytest.mark.at_least_once("its map is forgotten")
def test_a_map_that_can_be_read_is_forgotten_only_by_force(
        worker, submit, results, pages, positions, committed, wait_until):
    """Without a database, whose outbox may still have the answers."""
    submit(list(pages(5)))
    with worker({"postgres.dsn": ""}) as daemon:
        results(4)
        wait_until(lambda: "4 finished beyond it" in positions("show").stdout)
        daemon.kill()
    shown = json.loads(positions("show", "0", "--json").stdout)
    assert (shown["position"], shown["finished_beyond"], shown["map_end"]) == (0, 4, 5)
    refused = positions("forget", "0")
    assert refused.returncode == 1 and "4 requests would be done again" in refused.stderr
    assert json.loads(positions("show", "0", "--json").stdout) == shown
    assert positions("forget", "0", "--force").returncode == 0
    assert "map_chars" not in json.loads(positions("show", "0", "--json").stdout)
    pages.gate.set()
    with worker({"postgres.dsn": ""}):
        wait_until(lambda: committed() == {0: 5})
    assert pages.asked[1] == 2


def test_forget_wants_a_position_with_a_map(positions, run_ctl, kafka, settings, topics):
    done = positions("forget", "0")
    assert done.returncode == 1 and "the group has no position" in done.stderr
    commit(kafka, settings, topics, 0, 7, "")
    done = positions("forget", "0")
    assert done.returncode == 1 and "position 7 has no map" in done.stderr
    assert positions("forget").returncode == 2
    assert positions("forget", "x").returncode == 2
    assert run_ctl("positions", "burn").returncode == 2
    assert run_ctl("positions", "show", "no-such-topic").returncode == 1
