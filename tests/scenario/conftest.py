# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for the scenarios: real PostgreSQL, real Kafka, the sample web and the real programs.

Tests run in parallel (pytest-xdist) on one PostgreSQL and one Kafka, which are started by the first test that needs
them and run until the end. Each test has its own database, topics, consumer group and folder. A test that stops or
reconfigures a server is marked and gets a server of its own:

    @pytest.mark.private_servers("kafka")

The programs come from ING_BUILD (default: build/release).

    def test_landing_page_leads_to_document(worker, submit, results):
        submit({"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"})
        with worker():
            assert results(1)[0]["status"] == "success"
"""

import contextlib
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import confluent_kafka
import confluent_kafka.admin
import jsonschema
import psycopg
import psycopg.rows
import pytest
import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in (HERE, ROOT / "deploy" / "lib", ROOT / "deploy" / "sampleweb", ROOT / "tests" / "bench", ROOT / "tests" / "storm"):
    sys.path.insert(0, str(folder))

import private_servers  # noqa: E402
import server as sampleweb  # noqa: E402
from servers import account as accounts  # noqa: E402
from servers import runs, shared, stalls  # noqa: E402
from servers.api import Api  # noqa: E402
from servers.browser import Browser  # noqa: E402
from servers.faults import Faults  # noqa: E402
from servers.packages import build_packages  # noqa: E402
from servers.polite import PoliteServer  # noqa: E402
from servers.worker import Worker, write_config  # noqa: E402

COUNTER = itertools.count(1)
SERVERS_DIR = pytest.StashKey()
PASSED = pytest.StashKey()


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes over 20 s, is started before the others")
    config.addinivalue_line("markers", "private_servers(kind…): the test stops or reconfigures a server (kafka, postgres) "
                                       "and gets one of its own")
    config.addinivalue_line("markers", "at_least_once(reason): requests of this test may have several results")
    config.addinivalue_line("markers", "unfinished(reason): requests of this test may have no result")
    config.addinivalue_line("markers", "unaccounted(reason): results and records of this test are not checked by account")
    if not hasattr(config, "workerinput"):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-scenario-"))
        folder.chmod(0o755)
        config.stash[SERVERS_DIR] = folder


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """pytest-xdist starts a process: passes the folder of the servers to it."""
    node.workerinput["servers_dir"] = str(node.config.stash[SERVERS_DIR])


def servers_dir_of(config):
    passed = getattr(config, "workerinput", {}).get("servers_dir")
    return pathlib.Path(passed) if passed else config.stash[SERVERS_DIR]


def pytest_unconfigure(config):
    folder = config.stash.get(SERVERS_DIR, None)
    if folder is not None:  # not in a process of pytest-xdist; those have ended
        shared.stop_all(folder)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Slow tests first, so that none of them runs alone at the end. Tests with private servers form two groups of
    pytest-xdist, each of which runs in one process and shares a server."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    numbers = itertools.count()
    for item in items:
        kinds = {kind for mark in item.iter_markers("private_servers") for kind in mark.args}
        if kinds:
            item.add_marker(pytest.mark.xdist_group(f"private-{'-'.join(sorted(kinds))}-{next(numbers) % 2}"))


# --- session: programs and servers ---------------------------------------------------------------------


@pytest.fixture(scope="session")
def build():
    """The folder of the build whose programs are tested."""
    path = pathlib.Path(os.environ.get("ING_BUILD") or ROOT / "build" / "release").resolve()
    if not path.is_dir():
        pytest.fail(f"there is no build in {path}: tests/run build makes one")
    return path


@pytest.fixture(scope="session")
def program(build):
    """program("ingestctl") is the path of a program of that build."""
    def find(name):
        found = [path for path in build.rglob(name) if path.is_file() and os.access(path, os.X_OK)]
        assert found, f"no {name} in {build}"
        return found[0]
    return find


@pytest.fixture(scope="session")
def packages(build, tmp_path_factory):
    """{name: path of the Debian package} of that build. Tests that use it are marked xdist_group("packages"), so that one process
    makes them."""
    return build_packages(build, tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="session")
def servers_dir(pytestconfig):
    """The folder of the servers of this run, the same in all processes of pytest-xdist."""
    return servers_dir_of(pytestconfig)


@pytest.fixture(scope="session")
def own_dir(servers_dir):
    """A subfolder for servers of this process only. Other users can enter it, unlike pytest's own folders: PostgreSQL
    does not run as root."""
    folder = servers_dir / f"process-{os.getpid()}"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture(scope="session")
def private(own_dir):
    """private("kafka"): the server that tests of this process may stop and crash, started at the first use."""
    started = {}

    def get(kind):
        if kind not in started:
            started[kind] = private_servers.SERVERS[kind](own_dir / kind)
        started[kind].start()  # a test may have left it stopped
        return started[kind]
    yield get
    for server in started.values():
        server.stop()


def server_for(request, kind):
    """The shared server, or a private one when the test is marked private_servers(kind)."""
    marks = request.node.iter_markers("private_servers")
    if any(kind in mark.args for mark in marks):
        return request.getfixturevalue("private")(kind)
    return shared.get(request.getfixturevalue("servers_dir"), kind)


@pytest.fixture
def postgres(request):
    """The database server: dsn(database). With the mark private_servers("postgres") also stop(), start(), and
    stop(mode="immediate") for a crash."""
    return server_for(request, "postgres")


@pytest.fixture
def kafka(request):
    """The broker: brokers(). With the mark private_servers("kafka") also stop(), start(), and stop(hard=True) for a
    crash."""
    return server_for(request, "kafka")


@pytest.fixture(scope="session")
def web(own_dir):
    """The sample web: route(host, path, …), accesses(host), most_at_once(host), authority, connect_to(). It runs in
    this process, because its routes may be functions of the tests."""
    server = sampleweb.SampleWeb(own_dir / "web")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def template(postgres, program):
    """The name of a database with the schema, created by ingestctl; the tests' databases are copies of it."""
    name = "template_ing"
    with shared.locked(pathlib.Path(postgres.folder).parent):
        done = pathlib.Path(postgres.folder, "template.yaml")
        if not done.exists():
            config = write_config(done.with_suffix(".new"), {"postgres.dsn": postgres.create_database(name)})
            migrated = subprocess.run([program("ingestctl"), "--config", config, "db", "migrate"],
                                      capture_output=True, text=True, check=False)
            assert migrated.returncode == 0, migrated.stderr
            config.rename(done)
    return name


@pytest.fixture(scope="session")
def schema():
    """schema("ingest-result") is a validator for schemas/ingest-result.schema.json."""
    def load(name):
        with open(ROOT / "schemas" / f"{name}.schema.json", encoding="utf-8") as file:
            content = json.load(file)
        return jsonschema.validators.validator_for(content)(content)
    loaded = {}

    def get(name):
        if name not in loaded:
            loaded[name] = load(name)
        return loaded[name]
    return get


# --- test: checks after every test -----------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report


def reason_for(node, mark):
    """Whether the test has the mark, which must give a reason."""
    found = node.get_closest_marker(mark)
    if found and not (found.args and found.args[0]):
        raise pytest.UsageError(f"{node.nodeid}: {mark} needs a reason")
    return bool(found)


@pytest.fixture(autouse=True)
def account(request):
    """After a test that ran workers has passed: every message in its request topics has exactly one result or dead
    letter, and every hit has a readable WARC record (servers/account.py). Exceptions are marked at_least_once,
    unfinished or unaccounted, with the reason."""
    account = accounts.Account()
    yield account
    node = request.node
    allowed = accounts.Allowed(repeated=reason_for(node, "at_least_once"), unfinished=reason_for(node, "unfinished"))
    if account.groups and node.stash.get(PASSED, False) and not reason_for(node, "unaccounted"):
        account.settle(account.brokers, account.topics, allowed)


@pytest.fixture(autouse=True)
def account_of_runs(request):
    """The same for `ingestctl run --out DIR`: one result or dead letter in DIR for each line of the input, and records
    in DIR/warc (servers/runs.py). To be called as account_of_runs(arguments, input) before the run; run_ctl does."""
    folders = {}

    def ran(arguments, input=None):
        found = runs.parse(arguments)
        if found is None:
            return
        out, file, resume = found
        data = (input or "") if file == "-" else pathlib.Path(file).read_bytes()
        if out not in folders:
            folders[out] = runs.Folder(out)
        folders[out].run(data.encode() if isinstance(data, str) else data, resume)
    yield ran
    node = request.node
    allowed = accounts.Allowed(repeated=reason_for(node, "at_least_once"), unfinished=reason_for(node, "unfinished"))
    if node.stash.get(PASSED, False) and not reason_for(node, "unaccounted"):
        for folder in folders.values():
            folder.settle(allowed)


# --- test: names, folders, configuration ---------------------------------------------------------------


@pytest.fixture
def tag():
    """A name that is unique to the test."""
    return f"t{os.getpid()}-{next(COUNTER)}"


@pytest.fixture
def database(postgres, template, tag):
    """The DSN of an empty database with the schema."""
    dsn = postgres.create_database(tag, template)
    yield dsn
    with contextlib.suppress(psycopg.Error):
        with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{tag}" WITH (FORCE)')


@pytest.fixture
def partitions():
    """The number of partitions of the test's topics; a test may parametrize it."""
    return 4


TIERS = ("1m", "10m", "1h", "6h", "1d")
# Outputs of which most tests want nothing: kafka.topics.NAME, and the default name of the topic.
DERIVED = {"thumbnail": "pdf-thumbnail-180px-jpg", "xml_doc": "xml-doc", "html_teixml": "html-teixml",
           "grobid": "grobid-output"}


@pytest.fixture
def create_topics(kafka, program, tag, partitions):
    """create_topics("--lanes"): creates the missing topics of the test with ingestctl; those for parked requests only
    with tiers, those of DERIVED only with derived, as each test would wait for many more partitions."""
    def create(*arguments, tiers=(), derived=()):
        none = [f'--set=kafka.topics.parked_{tier}=""' for tier in TIERS if tier not in tiers]
        none += [f'--set=kafka.topics.{name}=""' for name in DERIVED if name not in derived]
        done = subprocess.run([program("ingestctl"), *none, "topics", "create", "--brokers", kafka.brokers(), "--prefix",
                               tag + ".", "--partitions", str(partitions), *arguments],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return create


@pytest.fixture
def topics(create_topics, tag):
    """The names of the test's topics: requests, results, pdf_text, dead."""
    create_topics()
    return {"requests": f"{tag}.ingest-file-requests", "results": f"{tag}.ingest-file-results",
            "pdf_text": f"{tag}.pdf-text", "dead": f"{tag}.ingest-file-requests-dead"}


@pytest.fixture
def lanes(create_topics, topics):
    """Creates the topics of the lanes priority, daily and bulk, and returns their names by lane."""
    create_topics("--lanes")
    return {lane: f"{topics['requests']}-{lane}" for lane in ("priority", "daily", "bulk")}


@pytest.fixture
def parked(create_topics, topics, settings):
    """Creates the topics for parked requests, has the test's workers use them, and returns their names by tier."""
    create_topics(tiers=TIERS)
    names = {tier: f"{topics['requests']}-parked-{tier}" for tier in TIERS}
    settings["kafka.topics"].update({f"parked_{tier}": name for tier, name in names.items()})
    return names


@pytest.fixture
def derived(create_topics, settings, tag):
    """derived("xml_doc", …): creates these topics of DERIVED, has the test's workers use them, and returns their names."""
    def use(*outputs):
        create_topics(derived=outputs)
        names = {name: f"{tag}.{DERIVED[name]}" for name in outputs}
        settings["kafka.topics"].update(names)
        return names
    return use


@pytest.fixture
def settings(kafka, web, database, topics, tag, tmp_path):
    """The configuration, {"fetch.timeout_ms": …}; a test may change it before it starts a worker."""
    return {
        "instance": tag,
        "kafka.brokers": kafka.brokers(),
        "kafka.group": tag,
        "kafka.topics": {**topics, **{name: "" for name in (*(f"parked_{tier}" for tier in TIERS), *DERIVED)}},
        "postgres.dsn": database,
        "warc.dir": str(make(tmp_path / "warc")),
        "warc.prefix": "TEST",
        "spool.dir": str(make(tmp_path / "spool")),
        "state.dir": str(make(tmp_path / "state")),
        "fetch.user_agent": "ingest-worker-tests/1.0 (+https://tests.example/robot)",
        "fetch.ca_file": web.ca_file,
        "fetch.connect_to": web.connect_to(),
        "fetch.allow_address": ["127.0.0.0/8"],
        "gate.robots": "ignore",
        "gate.host_delay_ms": 0,
        "gate.adaptive_factor": 0,
    }


@pytest.fixture
def polite(web, settings):
    """A PoliteServer (servers/polite.py), which serves every host of the test instead of the sample web."""
    with PoliteServer(tls=web.authority) as server:
        settings["fetch.connect_to"] = server.connect_to()
        yield server


@pytest.fixture
def host_rules(settings, tmp_path):
    """host_rules([{"host": …, "delay_ms": …}]) writes hosts.yaml, the only rule file of the test's workers."""
    folder = make(tmp_path / "rules")
    settings["rules.dir"] = str(folder)

    def write(entries):
        (folder / "hosts.yaml").write_text(yaml.safe_dump([{"why": "the test", **one} for one in entries]))
        return folder
    write([])
    return write


def make(path):
    path.mkdir(exist_ok=True)
    return path


def merged(settings, overrides):
    """The settings with overrides. connect_to lines are added before the catch-all ones."""
    flat = {**settings, **(overrides or {})}
    if overrides and "fetch.connect_to" in overrides:
        lines = overrides["fetch.connect_to"]
        flat["fetch.connect_to"] = ([lines] if isinstance(lines, str) else lines) + settings["fetch.connect_to"]
    return flat


@pytest.fixture
def worker(program, settings, tmp_path, account, kafka, topics):
    """worker({"fetch.timeout_ms": 1000}) is a context manager around a running daemon.

    It is ready when the block is entered (unless ready=False) and is stopped at its end; an exit status other than 0
    fails the test, unless the test has ended the worker itself. When the test fails, the end of the log is printed.
    name= gives a second worker folders and an instance of its own; wrapper= is a command to start it with; env= adds
    to its environment.

    A turn of its loop over the limit of servers/stalls.py fails the test."""

    @contextlib.contextmanager
    def run(overrides=None, ready=True, name=None, **how):
        flat = merged(settings, overrides)
        if name:
            flat["instance"] = f"{settings['instance']}-{name}"
            for key in ("warc.dir", "spool.dir", "state.dir"):
                flat[key] = str(make(pathlib.Path(f"{settings[key]}-{name}")))
        config = write_config(tmp_path / f"worker-{name or 'only'}.yaml", flat)
        account.ran(flat["kafka.group"], flat["warc.dir"])
        account.brokers, account.topics = kafka.brokers(), topics
        path = program("ingest-worker")
        env = {stalls.VARIABLE: str(stalls.limit_ms(path)), **how.pop("env", {})}
        daemon = Worker(path, config, make(tmp_path / f"run-{name or 'only'}"), env=env, **how)
        try:
            daemon.start(ready)
            yield daemon
            if daemon.running():
                status = daemon.stop()
                assert status == 0, f"the worker ended with {status}:\n{daemon.tail()}"
            stalls.check(daemon.log())
        except BaseException:
            if daemon.process:
                print(f"--- end of {daemon.log_path}\n{daemon.tail()}")
            raise
        finally:
            if daemon.process:
                daemon.kill()

    return run


@pytest.fixture
def faults(build, tmp_path):
    """Makes system calls fail: worker(env=faults.env), faults.set("pread EIO path=…"), faults.clear()."""
    return Faults(build / "tests" / "fault" / "libingfault.so", tmp_path)


# --- test: messages, rows, commands --------------------------------------------------------------------


@pytest.fixture
def produce(kafka, account):
    """produce(topic, values, key=None, headers=None): bytes or text, acknowledged when it returns."""
    producer = confluent_kafka.Producer({"bootstrap.servers": kafka.brokers(), "linger.ms": 5,
                                         "message.max.bytes": 40_000_000})
    errors = []

    def send(topic, values, key=None, headers=None, partition=None):
        for value in values:
            account.produced(topic, value)
            extra = {} if partition is None else {"partition": partition}
            while True:
                try:
                    producer.produce(topic, value, key=key, headers=headers,
                                     on_delivery=lambda err, _: err and errors.append(err), **extra)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(30) == 0, "the broker did not acknowledge the messages"
        assert not errors, errors
    return send


@pytest.fixture
def submit(produce, topics):
    """submit(request or list of requests): dictionaries are sent as JSON, bytes and text as they are."""
    def send(requests, **how):
        if not isinstance(requests, list):
            requests = [requests]
        produce(topics["requests"],
                [json.dumps(one) if isinstance(one, dict) else one for one in requests], **how)
    return send


@pytest.fixture
def consume(kafka):
    """consume(topic, n, timeout, settle): the first n messages of a topic (isolation level read_committed), and those
    that arrive within settle seconds after them. Fails after timeout seconds."""
    def read(topic, count, timeout=60, settle=0.0):
        consumer = confluent_kafka.Consumer({
            "bootstrap.servers": kafka.brokers(), "group.id": "reader", "enable.auto.commit": False,
            "isolation.level": "read_committed", "fetch.message.max.bytes": 40_000_000,
            "fetch.wait.max.ms": 50})
        try:
            metadata = consumer.list_topics(topic, timeout=20).topics[topic]
            consumer.assign([confluent_kafka.TopicPartition(topic, number, confluent_kafka.OFFSET_BEGINNING)
                             for number in metadata.partitions])
            messages = []
            deadline = time.monotonic() + timeout
            settled = None
            while True:
                message = consumer.poll(0.1)
                if message is not None and message.error() is None:
                    messages.append(message)
                if len(messages) >= count:
                    settled = settled or time.monotonic() + settle
                    if time.monotonic() >= settled:
                        return messages
                elif time.monotonic() > deadline:
                    raise AssertionError(f"{len(messages)} of {count} messages in {topic} after {timeout} s")
        finally:
            consumer.close()
    return read


@pytest.fixture
def results(consume, topics, schema):
    """results(n, timeout, settle): at least n results as dictionaries, validated against the schema."""
    def read(count, timeout=60, settle=0.0):
        found = []
        for message in consume(topics["results"], count, timeout, settle):
            result = json.loads(message.value())
            schema("ingest-result").validate(result)
            found.append(result)
        return found
    return read


@pytest.fixture
def results_by_url(results):
    """results_by_url(n): {base_url: result} of n requests, exactly one result each."""
    def read(count, timeout=60, settle=0.0):
        found = {}
        for result in results(count, timeout, settle):
            url = result["request"]["base_url"]
            assert url not in found, f"two results for {url}"
            found[url] = result
        return found
    return read


@pytest.fixture
def outcome(worker, submit, results):
    """outcome(request, overrides): the result of one request, of a worker of its own."""
    def run(request, overrides=None):
        submit(request)
        with worker(overrides):
            return results(1)[0]
    return run


@pytest.fixture
def committed(kafka, topics, settings):
    """committed(): {partition: the group's committed offset, 0 without one} of the topic of requests."""
    def read():
        consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(),
                                             "group.id": settings["kafka.group"], "enable.auto.commit": False})
        try:
            numbers = consumer.list_topics(topics["requests"], timeout=20).topics[topics["requests"]].partitions
            answer = consumer.committed(
                [confluent_kafka.TopicPartition(topics["requests"], number) for number in numbers], timeout=20)
            return {one.partition: max(one.offset, 0) for one in answer}
        finally:
            consumer.close()
    return read


@pytest.fixture
def sql(database):
    """sql(query, *parameters): the rows as dictionaries."""
    def run(query, *parameters):
        with psycopg.connect(database, autocommit=True, row_factory=psycopg.rows.dict_row) as connection:
            cursor = connection.execute(query, parameters or None)
            return cursor.fetchall() if cursor.description else []
    return run


@pytest.fixture
def run_ctl(program, settings, tmp_path, account_of_runs):
    """run_ctl("submit", "-", input="…"): runs ingestctl; returns stdout, stderr and returncode.

    overrides= changes settings; config=False runs it without a configuration file; wrapper= is a command to start it
    with."""
    def run(*arguments, input=None, overrides=None, config=True, timeout=120, wrapper=()):
        path = program("ingestctl")
        command = [*wrapper, path]
        if config:
            command += ["--config", write_config(tmp_path / "ctl.yaml", merged(settings, overrides))]
        account_of_runs(arguments, input)
        done = subprocess.run([*command, *map(str, arguments)], input=input, capture_output=True, text=True,
                              timeout=timeout, check=False,
                              env={**os.environ, stalls.VARIABLE: str(stalls.limit_ms(path))})
        stalls.check(done.stderr)
        return done
    return run


@pytest.fixture
def api(program, settings, tmp_path):
    """api() is a context manager around `ingestctl serve`, which accepts requests when the block is entered (unless
    ready=False): an Api (servers/api.py). name= gives a second one files of its own; arguments= are options;
    overrides= changes settings."""
    @contextlib.contextmanager
    def run(name="api", arguments=(), overrides=None, ready=True, env=None):
        config = write_config(tmp_path / f"serve-{name}.yaml", merged(settings, overrides))
        path = program("ingestctl")
        server = Api(path, config, make(tmp_path / f"serve-{name}"), arguments,
                     env={**os.environ, stalls.VARIABLE: str(stalls.limit_ms(path)), **(env or {})})
        try:
            server.start(ready)
            yield server
            if server.process.poll() is None:
                status = server.stop()
                assert status == 0, f"it ended with {status}:\n{server.log()}"
            assert "AddressSanitizer" not in server.log() and "runtime error" not in server.log(), server.log()
        except BaseException:
            print(f"--- {server.log_path}\n{server.log()[-5000:]}")
            raise
        finally:
            server.kill()
    return run


@pytest.fixture
def wait_until():
    """wait_until(condition, timeout): polls the condition until it is true, and returns its value."""
    def wait(condition, timeout=30, every=0.05):
        deadline = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            assert time.monotonic() < deadline, f"still not after {timeout} s"
            time.sleep(every)
    return wait


@pytest.fixture(scope="module")
def chromium():
    """A headless browser with one page."""
    browser = Browser()
    yield browser
    browser.close()
