# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl topics create and check, against the real broker."""

import json
import socket

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, ResourceType

ROOM = 64 * 1024
PARKED = [f"ingest-file-requests-parked-{tier}" for tier in ("1m", "10m", "1h", "6h", "1d")]
DERIVED = {"thumbnail": "pdf-thumbnail-180px-jpg", "xml_doc": "xml-doc", "html_teixml": "html-teixml",
           "grobid": "grobid-output"}
NAMES = ["ingest-file-requests", "ingest-file-results", "pdf-text", *DERIVED.values(), "ingest-file-requests-dead", *PARKED]
LANES = [f"ingest-file-requests-{lane}" for lane in ("priority", "daily", "bulk")]


@pytest.fixture
def admin(kafka):
    return AdminClient({"bootstrap.servers": kafka.brokers()})


@pytest.fixture
def ctl(kafka, run_ctl, tag):
    """ctl("create", …): the verb, on topics of the default configuration with a prefix of the test's own."""
    def run(action, *arguments):
        return run_ctl("topics", action, "--brokers", kafka.brokers(), "--prefix", f"{tag}.new.", *arguments,
                       config=False)
    return run


def said(done):
    """The words after each topic's name, by the name without its prefix."""
    lines = [line.partition(": ") for line in done.stdout.splitlines()]
    return {name.partition(".new.")[2]: words for name, _, words in lines}


def states(done):
    return {name: words.partition(":")[0] for name, words in said(done).items()}


def settings_of(admin, topic):
    resource = ConfigResource(ResourceType.TOPIC, topic)
    entries = admin.describe_configs([resource])[resource].result(30)
    return {name: entry.value for name, entry in entries.items()}


@pytest.fixture
def alter(admin, tag, wait_until):
    """alter(topic, setting, value): returns when the broker says so, which is some seconds later."""
    def change(name, setting, value):
        topic = f"{tag}.new.{name}"
        entry = ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        admin.incremental_alter_configs([resource])[resource].result(30)
        wait_until(lambda: settings_of(admin, topic)[setting] == value)
    return change


def test_topics_are_created_once_and_then_left_alone(ctl, alter, admin, tag):
    done = ctl("create")
    assert (done.returncode, done.stderr) == (0, "")
    assert said(done) == {name: "created" for name in NAMES}
    alter("pdf-text", "max.message.bytes", "3000000")
    done = ctl("create", "--partitions", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert said(done) == {name: "exists" for name in NAMES}
    assert settings_of(admin, f"{tag}.new.pdf-text")["max.message.bytes"] == "3000000"


def test_created_topics_are_what_the_worker_needs(ctl, admin, tag):
    assert ctl("create", "--partitions", "3", "--set", "kafka.max_message_bytes=2000000").returncode == 0
    found = admin.list_topics(timeout=30).topics
    assert {name: len(found[f"{tag}.new.{name}"].partitions) for name in NAMES} == {
        "ingest-file-requests": 3, "ingest-file-results": 3, "pdf-text": 3, "ingest-file-requests-dead": 1,
        **{name: 3 for name in [*DERIVED.values(), *PARKED]}}
    wanted = {
        "ingest-file-requests": {"max.message.bytes": str(2 << 20), "cleanup.policy": "delete",
                                 "retention.ms": str(90 * 86400 * 1000)},
        "ingest-file-results": {"max.message.bytes": str(2_000_000 + ROOM), "cleanup.policy": "delete",
                                "retention.ms": "-1", "retention.bytes": "-1"},
        "pdf-text": {"max.message.bytes": str(2_000_000 + ROOM), "cleanup.policy": "compact"},
        "ingest-file-requests-dead": {"max.message.bytes": str(2_000_000 + ROOM), "cleanup.policy": "delete",
                                      "retention.ms": "-1", "retention.bytes": "-1"}}
    wanted.update({name: wanted["pdf-text"] for name in DERIVED.values()})
    wanted.update({name: wanted["ingest-file-requests"] for name in PARKED})
    for name, settings in wanted.items():
        assert settings.items() <= settings_of(admin, f"{tag}.new.{name}").items(), name


def test_check_passes_what_create_has_made(ctl):
    assert ctl("create", "--partitions", "2").returncode == 0
    done = ctl("check", "--partitions", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert states(done) == {name: "good" for name in NAMES}
    assert said(done)["ingest-file-results"] == ("good: 2 partitions, max.message.bytes 8454144, "
                                                 "cleanup.policy delete, retention.ms -1, retention.bytes -1")


def test_check_passes_what_the_worker_has_made(worker, run_ctl, topics, settings, tag, wait_until):
    for name in ("results", "pdf_text", "dead"):
        topics[name] += "-by-the-worker"
    derived = {name: f"{tag}.{topic}-by-the-worker" for name, topic in DERIVED.items()}
    settings["kafka.topics"] = dict(topics) | derived | {"parked_1d": ""}
    with worker():
        wait_until(lambda: run_ctl("topics", "check").returncode == 0)
    done = run_ctl("topics", "check", "--json")
    assert [json.loads(line)["state"] for line in done.stdout.splitlines()] == ["good"] * 12


@pytest.mark.parametrize("topic, name, value, complaint", [
    ("ingest-file-requests", "max.message.bytes", "1048588",
     "max.message.bytes is 1048588, must be at least 1114112"),
    ("ingest-file-results", "max.message.bytes", "1048588",
     "max.message.bytes is 1048588, must be at least 8454144"),
    ("ingest-file-requests", "cleanup.policy", "compact", "cleanup.policy is compact, must be delete"),
    ("pdf-text", "cleanup.policy", "delete", "cleanup.policy is delete, must be compact"),
    ("ingest-file-results", "retention.ms", "604800000", "retention.ms is 604800000, must be -1"),
    ("ingest-file-requests-dead", "retention.bytes", "1000000", "retention.bytes is 1000000, must be -1")])
def test_check_names_a_setting_that_loses_messages(ctl, alter, topic, name, value, complaint):
    assert ctl("create", "--partitions", "1").returncode == 0
    alter(topic, name, value)
    done = ctl("check")
    assert (done.returncode, done.stderr) == (1, "")
    assert said(done)[topic] == f"unsuitable: {complaint}"
    assert [name for name, state in states(done).items() if state != "good"] == [topic]


def test_retention_of_requests_is_the_operators_decision(ctl, alter):
    assert ctl("create", "--partitions", "1").returncode == 0
    alter("ingest-file-requests", "retention.ms", "604800000")
    assert ctl("check").returncode == 0


def test_check_names_what_is_missing_and_who_needs_it(ctl):
    done = ctl("check")
    assert (done.returncode, done.stderr) == (1, "")
    assert states(done) == {name: "missing" for name in NAMES}
    assert said(done)["ingest-file-requests"] == \
        "missing: the worker reads requests from it (kafka.topics.requests)"


def test_fewer_partitions_than_asked_for_are_a_complaint(ctl):
    assert ctl("create", "--partitions", "2").returncode == 0
    assert ctl("check", "--partitions", "1").returncode == 0
    done = ctl("check", "--partitions", "3")
    assert done.returncode == 1
    assert said(done)["pdf-text"] == "unsuitable: 2 partitions, wanted 3"
    assert states(done)["ingest-file-requests-dead"] == "good"


def test_lanes_are_optional(ctl, alter):
    assert ctl("create", "--partitions", "1").returncode == 0
    assert ctl("check").returncode == 0
    done = ctl("check", "--lanes")
    assert done.returncode == 1
    assert states(done) == {**{name: "good" for name in NAMES}, **{name: "missing" for name in LANES}}
    done = ctl("create", "--lanes", "--partitions", "1")
    assert said(done) == {**{name: "exists" for name in NAMES}, **{name: "created" for name in LANES}}
    assert ctl("check", "--lanes").returncode == 0
    # The worker reads a lane that is there, whoever made it: it is judged without --lanes, too.
    alter(LANES[2], "max.message.bytes", "1000")
    done = ctl("check")
    assert done.returncode == 1
    assert states(done)[LANES[2]] == "unsuitable"


def test_a_lane_with_a_configured_name_is_created_and_a_topic_without_name_is_not(ctl):
    done = ctl("create", "--partitions", "1", "--set", "kafka.topics.bulk=heaps", "--set", 'kafka.topics.dead=""')
    assert said(done) == {name: "created" for name in [*NAMES[:3], *DERIVED.values(), "heaps", *PARKED]}


def test_json_has_a_line_for_each_topic(ctl, alter, admin, tag, wait_until):
    made = [json.loads(line) for line in ctl("create", "--partitions", "1", "--json").stdout.splitlines()]
    assert {"topic": f"{tag}.new.pdf-text", "key": "kafka.topics.pdf_text", "state": "created"} in made
    gone = f"{tag}.new.ingest-file-results"
    admin.delete_topics([gone])[gone].result(30)
    wait_until(lambda: gone not in admin.list_topics(timeout=30).topics)
    alter("pdf-text", "cleanup.policy", "delete")
    lines = [json.loads(line) for line in ctl("check", "--json").stdout.splitlines()]
    found = {line["key"]: line for line in lines}
    assert found["kafka.topics.results"] == {
        "topic": gone, "key": "kafka.topics.results", "state": "missing",
        "partitions": 0, "settings": None, "problems": []}
    assert found["kafka.topics.pdf_text"] == {
        "topic": f"{tag}.new.pdf-text", "key": "kafka.topics.pdf_text", "state": "unsuitable", "partitions": 1,
        "settings": {"max.message.bytes": "8454144", "cleanup.policy": "delete"},
        "problems": ["cleanup.policy is delete, must be compact"]}


def test_what_the_cluster_refuses_is_said_and_the_rest_is_created(ctl, admin, tag):
    refused = f"{tag}.new.pdf_text"  # Kafka takes dots and underscores for the same
    admin.create_topics([NewTopic(refused, 1, 1)])[refused].result(30)
    done = ctl("create", "--partitions", "1", "--set", "kafka.topics.pdf_text=pdf.text")
    assert done.returncode == 1
    assert said(done) == {"ingest-file-requests": "created", "ingest-file-results": "created",
                          "pdf.text": "refused", "ingest-file-requests-dead": "created",
                          **{name: "created" for name in [*DERIVED.values(), *PARKED]}}
    assert f"{tag}.new.pdf.text: cannot be created: " in done.stderr


@pytest.mark.parametrize("action", ["create", "check"])
def test_no_broker_is_a_fault_of_the_environment(run_ctl, action):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        done = run_ctl("topics", action, "--timeout", "1", "--brokers", "127.0.0.1:%d" % nobody.getsockname()[1],
                       config=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "no broker answers" in done.stderr


@pytest.mark.parametrize("arguments, complaint", [
    ([], "expected create or check"),
    (["make"], "expected create or check"),
    (["create", "check"], "expected create or check"),
    (["create", "--partitions", "0"], "--partitions: not a number from 1"),
    (["create", "--partitions", "4x"], "--partitions: not a number from 1"),
    (["create", "--replication", "-1"], "--replication: not a number from 1"),
    (["check", "--replication", "2"], "--replication is an option of create"),
    (["check", "--timeout", "soon"], "--timeout: not a number from 1"),
    (["create", "--prefix", "qa/"], "--prefix: must be made of letters"),
    (["create", "--prefix", "p" * 240], "--prefix: kafka.topics.requests: the name of a topic has at most 249"),
    (["create", "--lanes", "--set", "kafka.topics.requests=" + "r" * 245], "kafka.topics.priority: a name"),
    (["create", "--set", "kafka.properties=[no.such.thing=1]"], "no.such.thing"),
    (["create", "--partition"], "requires an argument")])
def test_a_wrong_command_line_asks_no_broker(run_ctl, arguments, complaint):
    done = run_ctl("topics", *arguments, config=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
