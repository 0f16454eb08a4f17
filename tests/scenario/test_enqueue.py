# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl requests enqueue: a list goes onto a lane, each document once, by one sender at a time."""

import collections
import hashlib
import json
import signal
import subprocess
import time

import confluent_kafka
import confluent_kafka.admin
import pytest
from servers.worker import write_config


def line(number, host="a.example", **more):
    return {"ingest_type": "pdf", "base_url": f"https://{host}/paper/{number}.pdf", "link_source": "doi",
            "link_source_id": f"10.1/{number}", **more}


@pytest.fixture
def name(tag):
    """A list's: Kafka groups come from it."""
    return f"list-{tag}"


@pytest.fixture
def load(run_ctl, name):
    """load([request, …], list): stores them as a list."""
    def run(requests, to=name):
        done = run_ctl("requests", "load", "--list", to, "-", input="".join(json.dumps(one) + "\n" for one in requests))
        assert done.returncode == 0, done.stderr
    return run


@pytest.fixture
def enqueue(run_ctl, lanes):
    """enqueue(*words, code): onto the bulk lane; code: the exit status that it must have."""
    def run(*words, code=0, **how):
        done = run_ctl("requests", "enqueue", "--lane", "bulk", *words, **how)
        assert done.returncode == code, done.stderr
        return done
    return run


@pytest.fixture
def start(program, settings, tmp_path):
    """start(*words): requests enqueue in the background, killed at the end."""
    config = write_config(tmp_path / "enqueue.yaml", settings)
    running = []

    def begin(*words):
        running.append(subprocess.Popen([program("ingestctl"), "--config", config, "requests", "enqueue", "--lane", "bulk",
                                         *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return running[-1]
    yield begin
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def ids(consume, lanes):
    """ids(n): the link_source_id of at least n messages of the lane; settles, to see those too many."""
    def read(count, settle=1.0):
        return [json.loads(message.value())["link_source_id"] for message in consume(lanes["bulk"], count, settle=settle)]
    return read


def numbers(*some):
    return sorted(f"10.1/{number}" for number in some)


def test_a_list_goes_onto_the_lane_once(load, enqueue, ids, name, sql):
    load([line(n) for n in range(1500)])
    dry = enqueue("--list", name, "--new", "--dry-run")
    assert dry.stdout == "1500\n" and sql("SELECT * FROM enqueue_plan") == []
    done = enqueue("--list", name, "--new")
    assert f"plan {name}: 1500 requests planned" in done.stderr and f"plan {name}: 1500 requests sent" in done.stderr
    # A second time nothing is new, and nothing else may go while it is queued.
    assert "0 requests planned" in enqueue("--list", name, "--new").stderr
    assert "0 requests planned" in enqueue("--list", name).stderr
    assert sorted(ids(1500)) == numbers(*range(1500))
    assert "1500 requests planned" in enqueue("--list", name, "--class", "queued").stderr
    assert len(ids(3000)) == 3000


def test_a_document_that_two_lists_have_goes_once(load, enqueue, ids, name, tag):
    load([line(n) for n in range(10)])
    other = f"other-{tag}"
    load([line(n) for n in range(5, 15)]
         + [{**line(3), "base_url": "http://www.a.example/paper/3.pdf", "link_source_id": "10.2/3"}], to=other)
    enqueue("--list", name, "--new")
    enqueue("--list", other, "--new")
    assert sorted(ids(15)) == numbers(*range(15))


def test_hosts_are_spread_over_the_topic_and_its_partitions(load, enqueue, consume, lanes, name):
    load([line(n, host="big.example") for n in range(1000)]
         + [line(1000 + n, host=f"h{n % 50}.example") for n in range(1000)])
    enqueue("--list", name, "--new")
    hosts = collections.defaultdict(list)
    messages = consume(lanes["bulk"], 2000)
    for message in messages:
        hosts[message.partition()].append("big.example" in json.loads(message.value())["base_url"])
    for partition, of in hosts.items():
        assert abs(len(of) - 500) <= 10, partition
        assert 150 < sum(of) < 350, (partition, sum(of))  # the big host is in no partition more than in others
        assert 50 < sum(of[:250]) < 200, (partition, sum(of[:250]))  # nor in a part of one


def test_a_plan_needs_a_name_and_a_topic(enqueue, load, name, tag, run_ctl, sql):
    load([line(1)])
    load([line(2)], to=f"other-{tag}")
    refused = enqueue("--list", name, "--list", f"other-{tag}", code=2)
    assert "give the plan a --name" in refused.stderr
    assert "2 requests planned" in enqueue("--list", name, "--list", f"other-{tag}", "--name", f"both-{tag}").stderr
    for words in (["--planned", "--dry-run"], ["--topic", "x"], ["--max-lag", "0"], ["word"], ["--nmae", "x"]):
        enqueue("--name", f"both-{tag}", *words, code=2)
    # Nothing is planned for a topic that is not there.
    assert "there is no such topic" in run_ctl("requests", "enqueue", "--list", name, "--topic", f"{tag}.none").stderr
    assert sql("SELECT count(*) AS n FROM enqueue_plan WHERE name = %s", name) == [{"n": 0}]
    missing = enqueue("--list", "no such list", code=1)
    assert 'there is no list "no such list"' in missing.stderr
    assert "there is no such plan" in enqueue("--name", f"none-{tag}", "--abandon", code=1).stderr


def test_of_two_senders_the_earlier_gives_way(load, enqueue, start, ids, name, sql, wait_until):
    load([line(n) for n in range(5000)])
    first = start("--list", name, "--new", "--max-lag", 1000)
    wait_until(lambda: sql("SELECT 1 FROM enqueue_plan WHERE begun > 0"))
    assert len(ids(1000, settle=0.5)) == 1000
    second = enqueue("--list", name, "--planned")
    assert "they go first" in second.stderr and "4000 requests sent" in second.stderr
    said = first.communicate(timeout=30)[1]
    assert first.returncode == 1
    assert f"plan {name}: another sender of it has begun, and goes on with it; this one ends" in said
    assert sorted(ids(5000)) == numbers(*range(5000))


@pytest.mark.slow
def test_a_sender_that_stood_still_is_fenced(load, enqueue, start, ids, name, sql, wait_until):
    load([line(n) for n in range(60000)])
    first = start("--list", name, "--new")
    wait_until(lambda: sql("SELECT 1 FROM enqueue_plan WHERE sent > 0"), every=0.002)
    first.send_signal(signal.SIGSTOP)
    assert sql("SELECT 1 FROM enqueue_plan WHERE sent < planned"), "it was too fast for the test"
    enqueue("--list", name, "--planned")
    first.send_signal(signal.SIGCONT)
    said = first.communicate(timeout=60)[1]
    assert first.returncode == 1 and "another sender of it has begun" in said, said
    assert sorted(ids(60000)) == numbers(*range(60000))


def test_another_selection_after_a_break_is_planned_after_what_is_left(load, enqueue, start, ids, name, sql, wait_until):
    load([line(n) for n in range(3000)])
    words = ["--list", name, "--new", "--limit", 2000]
    first = start(*words, "--max-lag", 1000)
    wait_until(lambda: sql("SELECT 1 FROM enqueue_plan WHERE begun > 0"))
    time.sleep(0.5)  # the first batch is committed; the second waits
    first.kill()
    first.communicate()
    again = enqueue(*words)
    assert "that was for the same selection, which a break had left unfinished: nothing more is planned" in again.stderr
    assert len(ids(2000)) == 2000
    # Of an order that was fulfilled another may be given.
    assert "1000 requests planned" in enqueue(*words).stderr
    assert sorted(ids(3000)) == numbers(*range(3000))


def limit_of_topic(kafka, topic, number):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka.brokers()})
    entry = confluent_kafka.admin.ConfigEntry("max.message.bytes", str(number),
                                              incremental_operation=confluent_kafka.admin.AlterConfigOpType.SET)
    resource = confluent_kafka.admin.ConfigResource("topic", topic, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result()


def test_a_topic_for_small_messages_gets_them_one_by_one(load, enqueue, ids, lanes, kafka, name, sql):
    limit_of_topic(kafka, lanes["bulk"], 2000)
    noise = [hashlib.sha512(str(n).encode()).hexdigest() for n in range(300)]
    load([line(n, edit_extra={"noise": noise[n]}) for n in range(300)])
    enqueue("--list", name, "--new")
    assert sorted(ids(300)) == numbers(*range(300))
    load([line(300, edit_extra={"noise": noise}), line(301)])
    refused = enqueue("--list", name, "--new", code=3)
    assert f"plan {name}: " in refused.stderr and "size" in refused.stderr.lower()
    assert len(ids(300)) == 300
    limit_of_topic(kafka, lanes["bulk"], 1000000)
    enqueue("--list", name, "--planned")
    assert sorted(ids(302)) == numbers(*range(302))


def test_what_a_worker_has_answered_is_asked_again_when_it_is_due(load, run_ctl, worker, results, topics, name, sql, tmp_path):
    good = {**line(1), "ingest_type": "html",
            "base_url": "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh"}
    bad = {**line(2), "ingest_type": "html", "base_url": "https://notes.fieldstation.example/no-such-page"}
    load([good, bad])
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text(json.dumps({"jobs": {name: {"lists": [name], "statuses": ["soon", "later"]}}}))

    def asked(words, count):
        done = run_ctl(*words)
        assert done.returncode == 0, done.stderr
        assert f"{count} request{'s' if count != 1 else ''} planned" in done.stderr, done.stderr
    with worker():
        asked(["requests", "enqueue", "--list", name, "--new"], 2)
        by_id = {result["request"]["link_source_id"]: result for result in results(2)}
        assert by_id["10.1/1"]["hit"] and not by_id["10.1/2"]["hit"]
        reingest = ["reingest", "--jobs", jobs, name]
        asked(reingest, 0)  # not yet
        sql("UPDATE ingest_file_result SET next_try = now() WHERE NOT hit")
        asked(reingest, 1)
        asked(reingest, 0)  # it is queued
        again = [one for one in results(3) if one["request"]["link_source_id"] == "10.1/2"]
        assert len(again) == 2
    assert sql("SELECT attempts, next_try > now() AS later FROM ingest_file_result WHERE NOT hit") == [
        {"attempts": 2, "later": True}]
