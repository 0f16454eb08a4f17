# SPDX-License-Identifier: GPL-3.0-or-later
"""Stopping while a server that the end waits for is away: within the bound, and nothing is lost."""

import json
import time

import pytest
from server import Reply

PAGE = b"<!doctype html><title>A page</title>"
DRAIN_MS = 1500
# What comes after stop.drain_ms: callbacks of threads, consumer, producer.
GRACE_S = 20


def ask_for(web, submit, tag, count):
    for number in range(count):
        web.route(f"{tag}{number}.test.example", "/", lambda _: Reply(200, PAGE))
    submit([{"ingest_type": "html", "base_url": f"http://{tag}{number}.test.example/"} for number in range(count)])


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
