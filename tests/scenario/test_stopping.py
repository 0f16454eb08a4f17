# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopping while a server that the end waits for is away: within the bound, and nothing is lost."""

import json
import time

import pytest
from server import Reply

PAGE = b"Text of a file.\n"
DRAIN_MS = 1500
# What comes after stop.drain_ms: callbacks of threads, consumer, producer.
GRACE_S = 20


def ask_for(web, submit, tag, count):
    for number in range(count):
        web.route(f"{tag}{number}.test.example", "/", lambda _: Reply(200, PAGE))
    submit([{"ingest_type": "component", "base_url": f"http://{tag}{number}.test.example/"} for number in range(count)])


@pytest.mark.parametrize("away", [
    pytest.param("database", marks=pytest.mark.private_servers("postgres")),
    pytest.param("broker", marks=pytest.mark.private_servers("kafka"))])
def test_stopping_does_not_wait_for_who_is_away(
        away, worker, submit, consume, topics, committed, postgres, kafka, web, wait_until):
    ask_for(web, submit, "before", 5)
    with worker({"stop.drain_ms": DRAIN_MS}) as daemon:
        wait_until(lambda: sum(committed().values()) == 5, timeout=60)
        ask_for(web, submit, "under-way", 20)
        server = {"database": postgres, "broker": kafka}[away]
        server.stop()
        try:
            time.sleep(2)  # until the worker has noticed, and has results that it cannot deliver
            started = time.monotonic()
            daemon.terminate()
            assert daemon.wait_end(60) == 0
            assert time.monotonic() - started < DRAIN_MS / 1000 + GRACE_S
        finally:
            server.start()
    with worker():
        wait_until(lambda: sum(committed().values()) == 25, timeout=60)
        seen = {json.loads(one.value())["request"]["base_url"]
                for one in consume(topics["results"], 25, timeout=30, settle=1.0)}
    assert len(seen) == 25


def test_a_drain_asks_the_manager_for_more_time_again_and_again(worker, submit, results, web, wait_until):
    """Each time for seconds only: a worker that hangs is not waited for as long as one that drains."""
    web.route("slow.test.example", "/", {"delay_s": 5, "body": PAGE.decode()})
    submit({"ingest_type": "component", "base_url": "http://slow.test.example/"})
    with worker({"stop.drain_ms": 30000}) as daemon:
        wait_until(lambda: web.most_at_once("slow.test.example") == 1)
        assert daemon.stop() == 0
        notes = [note.split("\n") for note in daemon.notifications]
        begin = next(number for number, lines in enumerate(notes) if "STOPPING=1" in lines)
        extends = [int(line.partition("=")[2]) for lines in notes[begin:] for line in lines
                   if line.startswith("EXTEND_TIMEOUT_USEC=")]
        assert len(extends) >= 4 and all(0 < usec <= 15_000_000 for usec in extends), notes[begin:]
        assert any("STATUS=stopping, requests under way: 1," in lines[0] for lines in notes[begin:])
    assert len(results(1)) == 1
