# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide from bare machines to the first results, and lists."""

import gzip
import json

import confluent_kafka
import confluent_kafka.admin
import private_servers
import pytest
from conftest import ROOT
from servers.guide_fleet import PAPER, fleet, guide, machines, servers  # noqa: F401  (fixtures)


@pytest.mark.slow
def test_three_machines_are_installed(machines, guide):  # noqa: F811
    database, a, b = machines("db", "worker-a", "worker-b")
    once = guide("README.md#database")
    once.next(database, "CREATE ROLE")
    procedure = guide("README.md#programs")
    for step, machine in ((procedure.next, a), (procedure.again, b)):
        step(machine, "apt-get install")
    procedure = guide("README.md#configuration")
    procedure.next(a, "LoadCredential")
    procedure.again(b)
    assert "good" in procedure.next(a, "--check-config")
    procedure.again(b)
    assert guide("README.md#guide").next(a, "SELECT 1").split()[2] == "1"
    procedure = guide("README.md#schema-and-topics")
    assert "good" in procedure.next(a, "db migrate")
    procedure = guide("README.md#start")
    procedure.next(a, "enable --now")
    assert "active" in procedure.again(b)
    first = json.loads(procedure.next(a, "ingestctl submit").splitlines()[0])
    assert first["status"] == "success"
    numbers = guide("README.md#dashboards-and-alerts")
    assert "ok" in numbers.next(a, "metrics.listen")
    assert "SUCCESS" in numbers.next(a, "prometheus.yml")


@pytest.mark.slow
def test_a_list_goes_through_the_fleet(fleet, guide, web):  # noqa: F811
    machine = fleet("worker-a")
    web.route("gone.test.example", "/paper.pdf", {"status": 404})
    works = [{"doi": f"10.5555/{number}", "is_oa": True, "oa_status": "gold", "oa_locations": [
        {"url_for_pdf": url, "url": url, "version": "publishedVersion", "host_type": "publisher", "evidence": "open", "pmh_id": None}]}
        for number, url in enumerate((PAPER, "https://gone.test.example/paper.pdf"))]
    with gzip.open(machine.root / "root" / "unpaywall_snapshot.jsonl.gz", "wt") as file:
        file.write("".join(json.dumps(one) + "\n" for one in works))
    assert "unpaywall" in guide("guide/lists.md#what-is-in-the-list").next(machine)
    assert guide("guide/lists.md#loading-it").next(machine).splitlines()[-1] == "2"
    guide("guide/lists.md#giving-it-to-the-workers").next(machine)
    machine.run("systemctl start ingest-worker@1")
    done = machine.run("ingestctl results --follow --from-beginning --count 2 --timeout 60")
    assert done.returncode == 0, done.stderr
    said = guide("guide/lists.md#how-far-it-is").next(machine)
    assert "weekly" in guide("guide/lists.md#what-failed-in-passing").next(machine)
    assert "unpaywall-2026-11" in said and "terminal-bad-status" in said


def test_the_api_answers(fleet, guide):  # noqa: F811
    machine = fleet("worker-a")
    assert json.loads(guide("guide/api.md#the-http-api").next(machine)) == {"status": "ok", "kafka": True, "database": True}


def reachable(brokers):
    """A broker answers there, and is the leader of a topic that it is told to make."""
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": brokers, "log_level": 0})
    try:
        return admin.list_topics(timeout=1).brokers
    except confluent_kafka.KafkaException:
        return None


@pytest.mark.slow
def test_who_has_no_servers_gets_them(machines, guide, wait_until):  # noqa: F811
    machine = machines("db")
    guide("guide/servers.md#postgresql").next(machine)
    (machine.root / "root/deploy").symlink_to(ROOT / "deploy")
    port, controller = private_servers.free_port(), private_servers.free_port()
    machine.substitutes[:0] = [(r"kafka-1\.archive\.example:9092", f"127.0.0.1:{port}"),
                               (r"kafka-1\.archive\.example:9093", f"127.0.0.1:{controller}")]
    kafka = guide("guide/servers.md#kafka")
    kafka.next(machine, "deploy/deps")
    kafka.next(machine, "systemctl enable --now kafka")
    try:
        wait_until(lambda: reachable(f"127.0.0.1:{port}"), timeout=60, every=1)
    except AssertionError:
        print(machine.units.tail(machine.units.load("kafka.service")))
        raise
    # As a machine with workers sees it.
    assert machine.run("install -d /etc/ingest-worker; echo 'kafka.brokers: \"kafka-1.archive.example:9092\"' > /etc/ingest-worker/ingest-worker.yaml"
                       ).returncode == 0
    done = machine.run("ingestctl topics create --lanes --partitions 24; ingestctl topics check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert machine.run("systemctl stop kafka").returncode == 0
