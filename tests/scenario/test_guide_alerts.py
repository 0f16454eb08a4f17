# SPDX-License-Identifier: GPL-3.0-or-later
"""What the paragraphs of alerts say to look at: each of their commands, on a fleet that has something of everything to show."""

import json

import confluent_kafka
import pytest
from servers.guide_fleet import PAPER, fleet, guide, machines, servers  # noqa: F401  (fixtures)

# Paragraph, and what its commands must say of that fleet.
LOOKS = (
    ("guide/slow.md#what-holds-a-worker", "terminal-bad-status"),
    ("guide/alerts.md#worker-down", "ingest-worker@1.service: active"),
    ("guide/alerts.md#paused-too-long", "worker-a@1"),
    ("guide/alerts.md#versions-differ", "worker-a@1"),
    ("guide/alerts.md#loop-stalled", "load average"),
    ("guide/alerts.md#not-ready", "worker-a@1"),
    ("guide/alerts.md#database-away", '"state": "current"'),
    ("guide/alerts.md#store-slow", "ingest_file_result"),
    ("guide/alerts.md#broker-away", "ingest-file-requests: good"),
    ("guide/alerts.md#lag-grows", "held.test.example"),
    ("guide/alerts.md#no-results", '"status":'),
    ("guide/alerts.md#oldest-request", "held.test.example"),
    ("guide/alerts.md#positions-full", "held.test.example"),
    ("guide/alerts.md#partition-held", "ingest-file-requests"),
    ("guide/alerts.md#messages-lost", "lost 0"),
    ("guide/alerts.md#transactions-abort", "ingest-file-results: good"),
    ("guide/alerts.md#dead-letters", "syntax"),
    ("guide/alerts.md#poison", ""),
    ("guide/alerts.md#parked-old", "held.test.example"),
    ("guide/alerts.md#disk-low", "Avail"),
    ("guide/alerts.md#warc-not-synced", ""),
    ("guide/alerts.md#examiners-crash", "domain"),
    ("guide/alerts.md#breakers-many", "gone.test.example"),
    ("guide/alerts.md#names-fail", "localhost"),
    ("guide/alerts.md#hit-ratio-falls", "terminal-bad-status"),
    ("guide/alerts.md#grobid-away", ""),
    ("guide/alerts.md#object-store-failing", ""),
)


@pytest.mark.slow
@pytest.mark.unfinished("requests of a host that is held are parked")
def test_what_an_alert_says_to_look_at_is_there(fleet, guide, servers, web):  # noqa: F811
    machine = fleet("worker-a")
    producer = confluent_kafka.Producer({"bootstrap.servers": servers.kafka.brokers()})
    producer.produce("ingest-file-requests", b"no request")
    assert producer.flush(30) == 0
    web.route("gone.test.example", "/paper.pdf", {"status": 404})
    web.route("held.test.example", "/paper.pdf", {"status": 503, "headers": {"Retry-After": "7200"}})
    requests = [json.dumps({"ingest_type": "pdf", "base_url": url}) for url in (
        PAPER, "https://gone.test.example/paper.pdf", *(f"https://held.test.example/paper.pdf?{n}" for n in range(3)))]
    for command in ("ingestctl submit - <<'END'\n" + "\n".join(requests) + "\nEND", "systemctl start ingest-worker@1",
                    "ingestctl results --follow --from-beginning --count 2 --timeout 60 > /dev/null",
                    "ingestctl results --follow --from-beginning --dead --count 1 --timeout 60 > /dev/null"):
        done = machine.run(command)
        assert done.returncode == 0, done.stderr
    failed = []
    for name, says in LOOKS:
        procedure = guide(name)
        said = procedure.next(machine)
        if says not in said:
            failed.append(f"{name}: no {says!r} in\n{said}")
    assert not failed, "\n".join(failed)
