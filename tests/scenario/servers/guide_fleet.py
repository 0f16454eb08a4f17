# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of test_guide_*.py: the guide's fleet on servers of its own, and the commands of a paragraph one after the other."""

import itertools
import json
import pathlib
import shutil
import types

import confluent_kafka
import private_servers
import pytest
from conftest import PASSED, ROOT, reason_for
from server import Reply
from servers import account as accounts
from servers.guide import read_guide
from servers.machine import Machine

GUIDE = read_guide(ROOT / "deploy")
TOPICS = {"requests": "ingest-file-requests", "results": "ingest-file-results", "dead": "ingest-file-requests-dead"}
NUMBERS = itertools.count(1)
# What every machine of the guide has to be given first.
INSTALLED = ("README.md#programs", "README.md#configuration", "README.md#guide")
PAGE = b"Text of a file, with a sentence.\n"
PARTITIONS = 6
PAPER = "https://tidal-ecology.example/article/download/41/pdf"


class Procedure:
    """The blocks of one paragraph or several, each to be run once, in their order."""

    def __init__(self, names):
        self.names = names
        self.blocks = [block for name in names for block in GUIDE[name].blocks]
        self.place = 0

    def next(self, machine, has="", status=0, timeout=120):
        """Runs the next block, in which the words must be, and returns what it printed."""
        assert self.place < len(self.blocks), f"{self.names} has no more commands"
        block = self.blocks[self.place]
        self.place += 1
        return run_block(machine, block, has, status, timeout)

    def again(self, machine, has="", status=0, timeout=120):
        """Runs the same block on another machine."""
        return run_block(machine, self.blocks[self.place - 1], has, status, timeout)

    def rest(self, machine):
        return [self.next(machine) for _ in range(len(self.blocks) - self.place)]

    def check_done(self):
        left = [block.place for block in self.blocks[self.place:]]
        assert not left, f"not run: {left}"


def run_block(machine, block, has, status, timeout):
    assert has in block.text, f"{block.place}: {has!r} is not in {block.text!r}"
    done = machine.run(block.text, timeout)
    assert done.returncode == status, f"{block.place} on {machine.name}: {done.returncode}\n{block.text}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def guide(request):
    """guide("guide/warc.md#deleting-them"): a Procedure. All its commands must have been run when the test has passed."""
    started = []

    def begin(*names):
        started.append(Procedure(names))
        return started[-1]
    yield begin
    if request.node.stash.get(PASSED, False):
        for procedure in started:
            procedure.check_done()


@pytest.fixture
def servers(own_dir):
    """PostgreSQL and Kafka of this test alone, as the guide's names of databases and topics are the same in all tests."""
    folder = own_dir / f"guide-{next(NUMBERS)}"
    folder.mkdir()
    found = types.SimpleNamespace(postgres=private_servers.Postgres(folder / "postgres"),
                                  kafka=private_servers.Kafka(folder / "kafka"))
    try:
        found.postgres.start()
        found.kafka.start()
        yield found
    finally:
        found.kafka.stop(hard=True)
        found.postgres.stop(mode="immediate")


def substitutes_for(servers):
    """All that is replaced in commands and files of the guide: addresses of the examples by those of the test's servers. (Folders of
    a machine and what stands in for its package manager and service manager: machine.py.)"""
    port = servers.postgres.port()
    return [
        (r"kafka-1\.archive\.example:9092(?:,kafka-\d\.archive\.example:9092)*", servers.kafka.brokers()),
        (r"host=db-1\.archive\.example(?:,db-2\.archive\.example)?", f"host=127.0.0.1 port={port}"),
        # Enough for the workers of a test, and quicker to make; there are twenty topics.
        (r"--partitions 24\b", f"--partitions {PARTITIONS}"),
        (r"127\.0\.0\.1:9108\b", f"127.0.0.1:{private_servers.free_port()}"),
        (r"\*:5432:\*:", f"*:{port}:*:"),
        (r"PGHOST=db-1\.archive\.example", f"PGHOST=127.0.0.1 PGPORT={port}"),
    ]


@pytest.fixture
def machines(servers, web, build, program, tmp_path, request):
    """machines("worker-a", …): Machines, which have nothing but what a fresh Debian has. When the test has passed, every request has
    one result, and every hit its record (servers/account.py; the same marks)."""
    made = []
    # The network of the sample web, and no waiting for anybody's sake.
    options = [word for key, value in {
        "fetch.connect_to": json.dumps(web.connect_to()), "fetch.allow_address": '["127.0.0.0/8"]', "fetch.ca_file": web.ca_file,
        "gate.host_delay_ms": 0, "gate.adaptive_factor": 0, "gate.robots": "ignore", "resources.filters": "[]",
        "kafka.properties": '["consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=500"]',
    }.items() for word in ("--set", f"{key}={value}")]

    def make(*names):
        found = []
        for name in names:
            superuser = read_password(servers.postgres)
            machine = Machine(name, tmp_path / name, program, [build / "deploy", ROOT / "deploy" / "systemd"], substitutes_for(servers), {
                "PGHOST": "127.0.0.1", "PGPORT": str(servers.postgres.port()), "PGDATABASE": "ingest", "PGUSER": "ingest_worker",
                "SUPERUSER_PASSWORD": superuser, "XDG_CACHE_HOME": str(pathlib.Path(private_servers.kafka_dir()).parents[1])}, options)
            made.append(machine)
            # As the packages install them; their addresses are examples, too.
            examples = machine.root / "usr/share/doc/ingest-worker/examples"
            examples.mkdir(parents=True)
            for path in (ROOT / "deploy" / "config").glob("*.yaml"):
                (examples / path.name).write_text(machine.translate(path.read_text(encoding="utf-8")), encoding="utf-8")
            # As ingest-worker-doc installs it.
            for folder in ("deploy/prometheus", "deploy/grafana"):
                if (ROOT / folder).is_dir():
                    shutil.copytree(ROOT / folder, machine.root / "usr/share/doc/ingest-worker" / folder)
            share = machine.root / "usr/share/ingest-worker"
            for folder in ("rules", "deploy/sql"):
                shutil.copytree(ROOT / folder, share / pathlib.Path(folder).name)
            found.append(machine)
        return found[0] if len(found) == 1 else found
    yield make
    try:
        if request.node.stash.get(PASSED, False) and not reason_for(request.node, "unaccounted"):
            settle(servers, made, request.node)
    finally:
        for machine in made:
            machine.stop()


def read_password(postgres):
    return pathlib.Path(postgres.folder, "password").read_text(encoding="utf-8").strip()


def settle(servers, machines, node):
    account = accounts.Account()
    for machine in machines:
        for unit in machine.units.loaded.values():
            if unit.name.startswith("ingest-worker@"):
                account.ran("ingest-worker", str(machine.root / "var/lib/ingest-worker" / unit.instance / "warc"))
    if account.groups:
        allowed = accounts.Allowed(repeated=reason_for(node, "at_least_once"), unfinished=reason_for(node, "unfinished"))
        account.settle(servers.kafka.brokers(), TOPICS, allowed)


def run_paragraphs(machine, *names):
    for name in names:
        for block in GUIDE[name].blocks:
            run_block(machine, block, "", 0, 120)


@pytest.fixture
def fleet(machines):
    """fleet("worker-a", …): machines installed as the guide says, with database, schema and topics; no worker runs."""
    def make(*names):
        found = machines(*names)
        found = found if isinstance(found, list) else [found]
        run_paragraphs(found[0], "README.md#database")
        for machine in found:
            run_paragraphs(machine, *INSTALLED)
        run_paragraphs(found[0], "README.md#schema-and-topics")
        return found[0] if len(found) == 1 else found
    return make


def answered(machine, count, timeout=60):
    done = machine.run(f"ingestctl results --follow --from-beginning --count {count} --timeout {timeout}", timeout + 20)
    assert done.returncode == 0, f"{len(done.stdout.splitlines())} of {count}: {done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def start(machine, unit="ingest-worker@1"):
    done = machine.run(f"systemctl start {unit}")
    assert done.returncode == 0, done.stderr


@pytest.fixture
def stream(servers, web):
    """stream(n): as many requests, each of a host of its own, spread over all partitions. Returns their URLs."""
    made = 0

    def send(count, lane=""):
        nonlocal made
        producer = confluent_kafka.Producer({"bootstrap.servers": servers.kafka.brokers()})
        urls = []
        for number in range(made, made + count):
            host = f"g{number}.many.test.example"
            web.route(host, "/", lambda _, number=number: Reply(200, PAGE + b"x" * number))
            urls.append(f"http://{host}/")
            request = json.dumps({"ingest_type": "component", "base_url": urls[-1]})
            producer.produce(f"ingest-file-requests{lane}", request.encode(), partition=number % PARTITIONS)
        made += count
        assert producer.flush(30) == 0
        return urls
    return send
