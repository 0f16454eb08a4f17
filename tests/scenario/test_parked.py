# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that wait in a topic: a list in any order keeps every host busy, and each request has one result."""

import collections
import json
import re
import time

import confluent_kafka
import pytest
from servers.polite import Answer, redirect
from servers.wallclock import WallClock

HOUR_S = 3600
HOT = "hot.test.example"
# how a request gets from the worker to its readers
MODES = {
    "exactly-once": {"kafka.delivery": "exactly-once"},
    "at-least-once": {"kafka.delivery": "at-least-once"},
    "without-a-database": {"kafka.delivery": "exactly-once", "postgres.dsn": ""},
}


@pytest.fixture
def partitions():
    return 1  # so that the order of the list is that in which it is read


@pytest.fixture
def clock(program, tmp_path):
    return WallClock(program("libingclock.so"), tmp_path)


@pytest.fixture(params=MODES)
def mode(request, settings, parked):
    settings.update(MODES[request.param])
    return request.param


def page(url):
    return {"ingest_type": "component", "base_url": url}


def headers_of(message):
    return {name: value.decode() for name, value in message.headers() or []}


def urls_of(found):
    return collections.Counter(one["request"]["base_url"] for one in found)


# --- fair windows ---


def last_numbers(daemon):
    """Of the worker's exit line."""
    return json.loads(re.findall(r"stopped: (\{.*\})", daemon.log())[-1])


def sorted_list(hot, hosts, each):
    return [f"http://{HOT}/{number}" for number in range(hot)] + [
        f"http://h{host}.polite.example/{number}" for host in range(hosts) for number in range(each)]


def test_a_list_sorted_by_host_keeps_no_host_waiting(worker, submit, results, polite, mode):
    """The others have theirs before the first host has had a third of its own, although all of that stand before them
    and the window is smaller."""
    urls = sorted_list(120, 10, 3)
    submit([page(url) for url in urls])
    with worker({"intake.max_waiting": 40, "gate.host_delay_ms": 100}):
        found = results(len(urls), timeout=120, settle=1)
    assert urls_of(found) == collections.Counter(urls)
    assert {one["status"] for one in found} == {"success"}
    assert collections.Counter(f"http://{one.host}{one.path}" for one in polite.seen()) == collections.Counter(urls)
    last_of_others = max(one.end for one in polite.seen() if one.host != HOT)
    before = [one for one in polite.seen(HOT) if one.end < last_of_others]
    assert len(before) < 40, f"the others had to wait for {len(before)} of {HOT}"


def test_a_killed_worker_leaves_one_result_of_each(worker, submit, results, consume, polite, parked, settings):
    """Parked requests, too, while they wait and while they are on their way."""
    urls = sorted_list(80, 5, 2)
    settings.update({"kafka.delivery": "exactly-once", "intake.max_waiting": 40, "gate.host_delay_ms": 100})
    submit([page(url) for url in urls])
    for number in range(3):
        with worker() as daemon:
            consume(parked["1m"], 5 + 40 * number)
            time.sleep(number)
            daemon.kill()
    with worker():
        found = results(len(urls), timeout=120, settle=2)
    assert urls_of(found) == collections.Counter(urls)
    assert {one["status"] for one in found} == {"success"}


def test_a_parked_request_is_the_message_as_it_came(worker, submit, produce, results, consume, polite, parked, topics):
    """With its key, and headers that say what it waits for."""
    polite.page(HOT, "*", Answer(delay_s=0.5))
    submit([page(f"http://{HOT}/{number}") for number in range(20)])
    value = f' {{"ingest_type":"file", "base_url":"http://{HOT}/odd",  "mine": [1.50]}} '
    produce(topics["requests"], [value], key="my key")
    with worker({"intake.max_waiting": 100}):
        results(21)
    message = next(one for one in consume(parked["1m"], 1, settle=1) if one.key())
    assert message.value().decode() == value
    assert message.key() == b"my key"
    headers = headers_of(message)
    assert (headers["attempt"], headers["host"], headers["origin"]) == ("0", HOT, topics["requests"])
    now_ms = time.time() * 1000
    assert now_ms - 60_000 < int(headers["first-seen"]) < int(headers["not-before"]) < now_ms + 60_000


def test_a_resolver_is_passed_by_all_and_shares_count_behind_it(worker, submit, results, polite, parked, host_rules,
                                                               consume):
    """A list of identifiers starts at one host; what waits there keeps nobody out, and what it leads to has shares."""
    resolver = "doi.test.example"
    host_rules([{"host": resolver, "resolver": True, "delay_ms": 10, "concurrency": 4}])
    for number in range(60):
        polite.page(resolver, f"/{number}", redirect(f"http://{HOT}/{number}"))
    urls = [f"http://{resolver}/{number}" for number in range(60)] + [
        f"http://h{number}.polite.example/" for number in range(5)]
    submit([page(url) for url in urls])
    with worker({"intake.max_waiting": 100, "gate.host_delay_ms": 100}):
        found = results(len(urls), timeout=120, settle=1)
    assert urls_of(found) == collections.Counter(urls)
    assert {one["status"] for one in found} == {"success"}
    assert {headers_of(one)["host"] for one in consume(parked["1m"], 1)} == {HOT}
    assert len(polite.seen(HOT)) == 60


def test_without_topics_for_parking_requests_wait_in_memory(worker, submit, results, polite):
    urls = sorted_list(50, 1, 2)
    submit([page(url) for url in urls])
    with worker({"intake.max_waiting": 40}) as daemon:
        found = results(len(urls), settle=1)
    assert urls_of(found) == collections.Counter(urls)
    assert last_numbers(daemon)["parked"] == 0


def test_the_priority_lane_is_not_kept_out_by_a_list(worker, submit, produce, results, polite, parked, lanes):
    submit([page(f"http://{HOT}/{number}") for number in range(60)])
    with worker({"intake.max_waiting": 40, "gate.host_delay_ms": 100}):
        while not polite.seen(HOT):
            time.sleep(0.05)
        produce(lanes["priority"], [json.dumps(page(f"http://{HOT}/urgent"))])
        results(61, timeout=120)
    assert polite.paths(HOT).index("/urgent") < 30


# --- retries ---


def test_a_passing_failure_is_tried_three_times_in_all(worker, submit, results, consume, polite, clock, mode, parked):
    """An hour apart, through a kill in between (at least once: a stop, as a kill may repeat what is parked); what was
    fetched is archived each time, and one result ends it."""
    polite.page(HOT, "/cut", Answer(cut=10))
    submit(page(f"http://{HOT}/cut"))
    for attempt in range(2):
        clock.set(attempt * (HOUR_S + 60))
        with worker(env=clock.env) as daemon:
            message = consume(parked["1h"], attempt + 1)[-1]
            if mode != "at-least-once":
                daemon.kill()
    assert headers_of(message)["attempt"] == "2"
    clock.set(2 * (HOUR_S + 60))
    with worker(env=clock.env):
        found = results(1, settle=2)
    assert [one["status"] for one in found] == ["truncated-body"]
    assert "tried 3 times" in found[0]["error_message"]


def test_a_request_that_is_too_old_says_so(worker, submit, results, consume, polite, clock, parked):
    polite.page(HOT, "*", Answer(503, b"later", {"Retry-After": "7200"}))
    submit(page(f"http://{HOT}/"))
    with worker({"parked.max_age_ms": 3_000_000}, env=clock.env) as daemon:
        message = consume(parked["1h"], 1)[0]
        assert headers_of(message)["attempt"] == "0"
    clock.set(HOUR_S + 60)
    with worker({"parked.max_age_ms": 3_000_000}, env=clock.env) as daemon:
        found = results(1)
    assert found[0]["status"] == "host-backoff"
    assert "parked.max_age_ms has passed" in found[0]["error_message"]
    assert last_numbers(daemon)["results"] == 1


# --- ingestctl parked ---


def due(now_ms, seconds, host, attempt=0):
    return {"attempt": str(attempt), "host": host, "not-before": str(now_ms + 1000 * seconds), "origin": "requests",
            "first-seen": str(now_ms - 60_000)}


def test_what_is_parked_is_counted_by_host_and_by_when(run_ctl, produce, kafka, parked, settings):
    """From the group's positions on."""
    now_ms = int(time.time() * 1000)
    produce(parked["1m"], [json.dumps(page(f"http://cold.test.example/{number}")) for number in range(3)],
            headers=due(now_ms, -5, "cold.test.example"))
    consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(), "group.id": settings["kafka.group"]})
    consumer.commit(offsets=[confluent_kafka.TopicPartition(parked["1m"], 0, 3)], asynchronous=False)
    consumer.close()
    for seconds, host, attempt in [(5, HOT, 0), (300, HOT, 0), (3000, HOT, 2), (90_000, HOT, 0), (7000, "cold.test.example", 0)]:
        produce(parked["1d"], [json.dumps(page(f"http://{host}/"))], headers=due(now_ms, seconds, host, attempt))
    produce(parked["1d"], ["no headers"])
    lines = [json.loads(line) for line in run_ctl("parked", "--json").stdout.splitlines()]
    assert [(one["host"], one["requests"]) for one in lines] == [(HOT, 4), ("-", 1), ("cold.test.example", 1)]
    assert lines[0]["due"] == {"now": 0, "1m": 1, "10m": 1, "1h": 1, "6h": 0, "1d": 0, "later": 1}
    assert lines[0]["tried"] == 1
    assert lines[1]["due"]["now"] == 1
    done = run_ctl("parked", "--host", HOT)
    assert done.returncode == 0
    assert re.search(rf"^4 requests are parked, for 1 host\nhost .*\n{re.escape(HOT)} +4 +0 +1 +1 +1 +0 +0 +1  20", done.stdout)
    done = run_ctl("parked", "--host", "nobody.test.example")
    assert (done.returncode, done.stdout) == (1, "0 requests are parked, for 0 hosts\n")


def test_without_topics_there_is_nothing_to_count(run_ctl, worker):
    done = run_ctl("parked")
    assert done.returncode == 3
    assert "there are no topics for parked requests" in done.stderr
