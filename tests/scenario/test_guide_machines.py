# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide's machines come, go and are lost, and so do servers: every request has its one result, and every hit its record."""

import json
import shutil

import private_servers
import pytest
from servers.account import check_record
from servers.guide_fleet import answered, fleet, guide, machines, servers, start, stream  # noqa: F401  (fixtures)

# The hosts of the dead rest until its leases end, and a lease is longer than any transfer.
SHORT_LEASES = ["--set", "fetch.timeout_ms=2000", "--set", "fetch.connect_timeout_ms=2000", "--set", "gate.lease_ms=13000"]


@pytest.mark.slow
def test_machines_come_and_go(fleet, guide, stream):  # noqa: F811
    a, b = fleet("worker-a", "worker-b")
    start(a)
    stream(20)
    guide("guide/machines.md#a-machine-is-added").next(b)
    stream(20)
    guide("guide/machines.md#a-machine-is-stopped-for-a-while").next(a)
    stream(20)
    start(a)
    resting = guide("guide/machines.md#work-is-to-rest")
    assert "the network is needed" in resting.next(a, "pause --lane")
    stream(10, "-bulk")
    stream(20)
    resting.next(a, "resume --lane")
    assert ".warc.gz" in guide("guide/machines.md#a-machine-is-removed").next(b)
    assert not list((b.root / "var/lib/ingest-worker/1/warc").glob("*.open"))
    stream(20)
    assert {one["status"] for one in answered(a, 110)} == {"success"}


@pytest.mark.slow
@pytest.mark.unaccounted("records are lost with the machine, and asked for again: the last result of each counts")
def test_a_machine_is_lost_with_its_disk(fleet, guide, stream):  # noqa: F811
    a, b = fleet("worker-a", "worker-b")
    for machine in a, b:
        machine.units.options += SHORT_LEASES
    start(b)
    first = set(stream(10))
    answered(a, 10)
    start(a)
    stream(20)
    b.units.lose()
    shutil.rmtree(b.root / "var/lib/ingest-worker")
    answered(a, 30)
    (a.root / "srv/archive/warc").mkdir(parents=True)
    guide("guide/machines.md#a-machine-is-lost").next(a)
    again = [json.loads(line) for line in (a.root / "root/again.jsonl").read_text().splitlines()]
    assert first <= {one["base_url"] for one in again}
    last = {one["request"]["base_url"]: one for one in answered(a, 30 + len(again))}
    assert len(last) == 30 and {one["status"] for one in last.values()} == {"success"}
    for one in last.values():
        check_record(one["cdx"], [a.root / "var/lib/ingest-worker/1/warc"])


@pytest.mark.slow
def test_the_standby_takes_over(fleet, guide, servers, stream):  # noqa: F811
    standby = private_servers.Postgres(servers.postgres.folder + "-2")
    standby.copy(servers.postgres)
    standby.start()
    try:
        a = fleet("worker-a")
        port = servers.postgres.port()
        both = f"host=127.0.0.1,127.0.0.1 port={port},{standby.port()}"
        text = a.config.read_text()
        assert f"host=127.0.0.1 port={port}" in text
        a.config.write_text(text.replace(f"host=127.0.0.1 port={port}", both))
        a.substitutes.append((r"-h db-2\.archive\.example", f"-h 127.0.0.1 -p {standby.port()}"))
        start(a)
        stream(20)
        answered(a, 20)
        servers.postgres.stop(mode="immediate")
        stream(20)
        procedure = guide("guide/machines.md#the-database-fails")
        procedure.next(a, "pg_promote")
        assert "current" in procedure.next(a, "db status")
        answered(a, 40)
    finally:
        standby.stop(mode="immediate")


@pytest.mark.slow
def test_a_broker_comes_back(fleet, guide, servers, stream):  # noqa: F811
    a = fleet("worker-a")
    start(a)
    stream(20)
    servers.kafka.stop(hard=True)
    servers.kafka.start()
    assert "good" in guide("guide/machines.md#a-broker-fails").next(a)
    stream(20)
    answered(a, 40)


@pytest.mark.slow
def test_one_lane_is_served_apart(fleet, guide, stream):  # noqa: F811
    a = fleet("worker-a")
    start(a)
    guide("guide/machines.md#one-lane-apart").next(a)
    stream(10)
    stream(10, "-priority")
    assert {one["status"] for one in answered(a, 20)} == {"success"}
    log = a.units.tail(a.units.load("ingest-worker@priority.service"), 200)
    a.run("systemctl stop ingest-worker@priority")
    assert "10" in a.units.tail(a.units.load("ingest-worker@priority.service"), 200), log
