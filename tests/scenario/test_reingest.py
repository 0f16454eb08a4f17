# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl reingest: requests that are due go onto a lane once, whatever breaks and whoever else is at it."""

import collections
import json
import signal
import subprocess
import threading
import time
import types

import confluent_kafka
import confluent_kafka.admin
import psycopg
import pytest
from servers.worker import write_config

# Requests whose last result is worth asking again, of hosts of very different sizes.
DUE = """
INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, ingest_request_source, request,
    request_id, document, host, created)
SELECT 'doi', '10.1/' || i, 'pdf', url, 'fatcat-changelog',
    jsonb_build_object('ext_ids', jsonb_build_object('doi', '10.1/' || i)),
    md5('request' || i)::uuid, md5('document' || url)::uuid, host, now() - interval '2 days'
FROM generate_series(FIRST, LAST) AS i, LATERAL (SELECT 'h' || (i % 100) * (i % 3) || '.example' AS host) AS h,
    LATERAL (SELECT 'https://' || host || '/paper/' || i || '.pdf' AS url) AS u;
"""
ANSWERED = """
INSERT INTO ingest_file_result (ingest_type, base_url, updated, hit, status, attempts, next_try, document)
SELECT ingest_type, base_url, now() - interval '1 day', false, 'read-timeout', 1, now() - interval '1 hour', document
FROM ingest_request
"""


@pytest.fixture
def due(sql):
    """due(n): the database has n requests that are due."""
    def fill(count, first=1):
        sql(DUE.replace("FIRST", str(first)).replace("LAST", str(first + count - 1)))
        sql(ANSWERED + " ON CONFLICT DO NOTHING")
    return fill


@pytest.fixture
def jobs(tmp_path, tag):
    """jobs(again={…}): writes a file of jobs, and returns its path. Their names are the test's own, as its Kafka groups
    come from them: job.again."""
    def write(**given):
        path = tmp_path / "jobs.yaml"
        path.write_text(json.dumps({"jobs": {f"{name}-{tag}": job for name, job in given.items()}}))
        return path
    return write


@pytest.fixture
def job(tag):
    return types.SimpleNamespace(**{name: f"{name}-{tag}" for name in ("again", "anew", "one", "other", "third")})


@pytest.fixture
def command(program, settings, tmp_path):
    """command(*words): the command line of ingestctl."""
    config = write_config(tmp_path / "ingestctl.yaml", settings)
    return lambda *words: [program("ingestctl"), "--config", config, *map(str, words)]


@pytest.fixture
def start(command):
    """start(*words): ingestctl in the background, killed at the end."""
    running = []

    def begin(*words):
        running.append(subprocess.Popen(command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return running[-1]
    yield begin
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def ids(consume):
    """ids(topic, n): the link_source_id of each message, at least n, in no order; settles to see those too many."""
    def read(topic, count, settle=1.0):
        return [json.loads(message.value())["link_source_id"] for message in consume(topic, count, settle=settle)]
    return read


def numbers(first, last):
    return sorted(f"10.1/{i}" for i in range(first, last + 1))


JOB = {"types": ["pdf"], "sources": "fatcat-changelog", "statuses": ["soon"]}


def test_what_is_due_goes_onto_the_lane_once(due, jobs, job, lanes, run_ctl, ids, consume, sql):
    due(2345)
    file = jobs(again={**JOB, "lane": "daily"})
    dry = run_ctl("reingest", "--jobs", file, "--dry-run")
    assert (dry.returncode, dry.stdout) == (0, f"{job.again} 2345\n")
    done = run_ctl("reingest", "--jobs", file, job.again)
    assert done.returncode == 0, done.stderr
    assert f"plan reingest-{job.again}: 2345 requests planned" in done.stderr
    assert sorted(ids(lanes["daily"], 2345)) == numbers(1, 2345)
    # Those are queued now, and not due before they have an answer.
    again = run_ctl("reingest", "--jobs", file, job.again)
    assert again.returncode == 0 and "0 requests planned" in again.stderr
    assert len(ids(lanes["daily"], 2345)) == 2345
    spread = collections.Counter(message.partition() for message in consume(lanes["daily"], 2345))
    assert max(spread.values()) - min(spread.values()) <= 3, spread
    assert sql("SELECT count(*) AS n FROM enqueue_batch") == [{"n": 0}]
    assert sql("SELECT sent = planned AND requests = requests_sent AND requests = 2345 AS whole FROM enqueue_plan") == [
        {"whole": True}]


def test_a_message_is_the_request_as_it_was_stored(due, jobs, job, topics, run_ctl, consume):
    due(1)
    file = jobs(again=JOB, anew={**JOB, "force_recrawl": True, "lost_after": "1s"})
    assert run_ctl("reingest", "--jobs", file, job.again).returncode == 0
    [message] = consume(topics["requests"], 1)
    assert message.key() is None
    request = json.loads(message.value())
    assert request == {"ingest_type": "pdf", "base_url": "https://h1.example/paper/1.pdf", "link_source": "doi",
                       "link_source_id": "10.1/1", "ingest_request_source": "fatcat-changelog",
                       "ext_ids": {"doi": "10.1/1"}}
    time.sleep(1.1)  # until it counts as lost
    assert run_ctl("reingest", "--jobs", file, job.anew).returncode == 0
    forced = [one for one in map(json.loads, (m.value() for m in consume(topics["requests"], 2))) if one != request]
    assert forced == [{**request, "force_recrawl": True}]


@pytest.mark.slow
def test_killed_at_any_moment_and_started_again_it_sends_what_one_run_sends(due, jobs, job, lanes, command, ids, postgres,
                                                                           database, tag, settings, run_ctl):
    due(30000)
    file = jobs(again={**JOB, "lane": "bulk", "limit": 20000, "per_host": 900})
    # One that is not disturbed, in a copy of the database and onto another lane.
    copy = postgres.create_database(f"{tag}-copy", tag)
    whole = jobs(again={**JOB, "lane": "daily", "limit": 20000, "per_host": 900}).rename(file.with_suffix(".whole"))
    settings_copy = {"postgres.dsn": copy}
    done = run_ctl("reingest", "--jobs", whole, job.again, overrides=settings_copy)
    assert done.returncode == 0, done.stderr
    want = sorted(ids(lanes["daily"], 20000))
    assert len(want) == len(set(want)) == 20000
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{tag}-copy" WITH (FORCE)')

    file = jobs(again={**JOB, "lane": "bulk", "limit": 20000, "per_host": 900})
    killed, said = 0, ""
    # Later and later, so that some fall into each part of it however fast this machine is.
    for moment in [0.03 * 1.25**n for n in range(24)]:
        process = subprocess.Popen(command("reingest", "--jobs", file, job.again), stderr=subprocess.PIPE, text=True)
        try:
            said = process.communicate(timeout=moment)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            killed += 1
            continue
        # A lock that a killed one had is given back when the server has noticed.
        assert process.returncode == 0 or "another run of it is at work" in said, said
        if process.returncode == 0:
            break
    else:
        said = subprocess.run(command("reingest", "--jobs", file, job.again), stderr=subprocess.PIPE, text=True,
                              check=True).stderr
    assert killed > 2
    assert sorted(ids(lanes["bulk"], 20000)) == want


@pytest.mark.slow
def test_killed_while_it_sends_it_goes_on_with_the_next_batch(due, jobs, job, lanes, start, ids, sql, wait_until):
    due(40000)
    file = jobs(again={**JOB, "lane": "bulk"})
    plan = start("reingest", "--jobs", file, job.again)
    wait_until(lambda: sql("SELECT 1 FROM enqueue_plan WHERE begun > 0"), every=0.005)
    plan.kill()
    for n in range(60):
        process = start("reingest", "--jobs", file, job.again)
        try:
            said = process.communicate(timeout=0.2 * 1.1**n)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            continue
        assert process.returncode == 0 or "another run of it is at work" in said, said
        if process.returncode == 0:
            break
    assert process.returncode == 0, said
    assert sorted(ids(lanes["bulk"], 40000)) == numbers(1, 40000)


@pytest.mark.slow
@pytest.mark.private_servers("kafka", "postgres")
@pytest.mark.parametrize("server", ["kafka", "postgres"])
def test_a_server_that_is_restarted_in_the_middle_is_waited_for(server, due, jobs, job, lanes, start, ids, sql,
                                                               wait_until, kafka, postgres):
    due(60000)
    process = start("reingest", "--jobs", jobs(again={**JOB, "lane": "bulk"}), job.again)
    wait_until(lambda: sql("SELECT 1 FROM enqueue_plan WHERE sent > 2"), every=0.01)
    which = {"kafka": kafka, "postgres": postgres}[server]
    which.stop()
    which.start()
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 0, said
    assert sorted(ids(lanes["bulk"], 60000)) == numbers(1, 60000)


def test_of_two_runs_of_a_job_the_second_ends_at_once(due, jobs, job, lanes, start, run_ctl, ids, sql, wait_until):
    due(3000)
    file = jobs(again={**JOB, "lane": "bulk", "max_lag": 1000}, other={**JOB, "lane": "daily"})
    first = start("reingest", "--jobs", file, job.again)
    wait_until(lambda: sql("SELECT 1 FROM enqueue_plan"))
    second = run_ctl("reingest", "--jobs", file, job.again)
    assert second.returncode == 1
    assert second.stderr == f"ingestctl reingest: job {job.again}: another run of it is at work\n"
    # Another job may run, but all of its documents are queued.
    other = run_ctl("reingest", "--jobs", file, job.other)
    assert other.returncode == 0 and "0 requests planned" in other.stderr
    assert len(ids(lanes["bulk"], 1000)) == 1000
    first.send_signal(signal.SIGTERM)
    said = first.communicate(timeout=30)[1]
    assert first.returncode == 4 and "interrupted" in said


@pytest.mark.slow
def test_a_document_that_two_jobs_select_at_once_is_sent_by_one(due, jobs, lanes, start, ids, job):
    due(20000)
    file = jobs(one={**JOB, "lane": "bulk"}, other={**JOB, "lane": "bulk"}, third={**JOB, "lane": "bulk"})
    processes = [start("reingest", "--jobs", file, name) for name in (job.one, job.other, job.third)]
    for process in processes:
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 0, said
    assert sorted(ids(lanes["bulk"], 20000)) == numbers(1, 20000)


def read_slowly(kafka, topic, group, count, seen, limit):
    """Reads messages as a worker of the group would, and commits each; notes how far the topic is ahead of it."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": kafka.brokers(), "group.id": group,
                                         "enable.auto.commit": False, "auto.offset.reset": "earliest",
                                         "isolation.level": "read_committed"})
    consumer.subscribe([topic])
    deadline = time.monotonic() + limit
    while len(seen) < count and time.monotonic() < deadline:
        batch = consumer.consume(500, 0.2)
        seen.extend(json.loads(m.value())["link_source_id"] for m in batch if m.error() is None)
        if batch:
            consumer.commit(asynchronous=False)
    consumer.close()


@pytest.mark.slow
def test_the_lag_of_the_workers_is_respected(due, jobs, job, lanes, start, ids, kafka, settings):
    due(12000)
    process = start("reingest", "--jobs", jobs(again={**JOB, "lane": "bulk", "max_lag": 3000}), job.again)
    # Nobody has read anything yet: from the beginning.
    assert len(ids(lanes["bulk"], 2000, settle=2.0)) <= 3000
    assert process.poll() is None
    seen = []
    reader = threading.Thread(target=read_slowly, args=(kafka, lanes["bulk"], settings["kafka.group"], 12000, seen, 90))
    reader.start()
    said = process.communicate(timeout=90)[1]
    assert process.returncode == 0, said
    reader.join()
    assert sorted(seen) == numbers(1, 12000)


def delete_group(kafka, group):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka.brokers()})
    for future in admin.delete_consumer_groups([group]).values():
        future.result()


def delete_topic(kafka, topic):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka.brokers()})
    admin.delete_topics([topic], operation_timeout=20)[topic].result()


@pytest.fixture
def part(due, jobs, job, lanes):
    """part(): a job that has sent 1,000 of 3,000 requests and is held by its lag; returns its file of jobs and its name."""
    due(3000)
    return jobs(again={**JOB, "lane": "bulk", "max_lag": 1000}), job.again


def interrupt(start, file, name, ids, topic):
    process = start("reingest", "--jobs", file, name)
    assert len(ids(topic, 1000)) == 1000  # the first batch is committed; the others wait
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 4, said


def test_a_database_made_anew_does_not_skip_what_another_has_sent(part, lanes, start, run_ctl, ids, sql):
    file, name = part
    interrupt(start, file, name, ids, lanes["bulk"])
    # Another database with a plan of this name, which has begun nothing.
    sql("UPDATE enqueue_plan SET lineage = gen_random_uuid(), begun = 0, sent = 0, planned = 3")
    sql("INSERT INTO enqueue_batch SELECT plan_id, 0, requests, lines, documents FROM enqueue_batch WHERE batch = 2")
    refused = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000)
    assert refused.returncode == 1
    assert "is of another database's plan of this name: --take-over" in refused.stderr
    assert len(ids(lanes["bulk"], 1000)) == 1000
    taken = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000, "--take-over")
    assert taken.returncode == 0, taken.stderr
    assert len(ids(lanes["bulk"], 4000)) == 4000
    assert run_ctl("reingest", "--jobs", file, name).returncode == 0


def test_a_database_that_is_an_older_state_is_noticed(part, lanes, start, run_ctl, ids, sql):
    file, name = part
    interrupt(start, file, name, ids, lanes["bulk"])
    sql("UPDATE enqueue_plan SET begun = 0, sent = 0")
    refused = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000)
    assert refused.returncode == 1
    assert "has committed batch 1, and this database has begun only 0: it is an older state" in refused.stderr


def test_a_position_that_has_expired_stops_it_only_if_something_is_in_doubt(part, due, lanes, start, run_ctl, ids, kafka):
    file, name = part
    interrupt(start, file, name, ids, lanes["bulk"])
    delete_group(kafka, f"ingestctl-enqueue-reingest-{name}")
    refused = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000)
    assert refused.returncode == 1
    assert "no committed position any more, and batches 1 to 2 may have been sent: --take-over" in refused.stderr
    taken = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000, "--take-over")
    assert taken.returncode == 0, taken.stderr
    assert sorted(ids(lanes["bulk"], 3000)) == numbers(1, 3000)
    # All of it is sent: nothing is in doubt.
    delete_group(kafka, f"ingestctl-enqueue-reingest-{name}")
    due(100, first=3001)
    done = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000)
    assert done.returncode == 0, done.stderr
    assert sorted(ids(lanes["bulk"], 3100)) == numbers(1, 3100)


def test_a_topic_made_anew_gets_what_is_not_sent(part, lanes, start, run_ctl, ids, kafka, create_topics):
    file, name = part
    interrupt(start, file, name, ids, lanes["bulk"])
    delete_topic(kafka, lanes["bulk"])
    gone = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000)
    assert gone.returncode == 3 and "there is no such topic" in gone.stderr
    create_topics("--lanes")
    done = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000)
    assert done.returncode == 0, done.stderr
    assert len(ids(lanes["bulk"], 2000)) == 2000


@pytest.mark.slow
def test_a_topic_that_goes_while_workers_are_waited_for_ends_it(part, lanes, start, ids, kafka):
    file, name = part
    process = start("reingest", "--jobs", file, name)
    assert len(ids(lanes["bulk"], 1000)) == 1000  # the first batch is committed; the others wait for workers
    delete_topic(kafka, lanes["bulk"])
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 3, said
    assert "there is no such topic" in said


def test_what_is_abandoned_is_due_again(part, lanes, start, run_ctl, ids, sql):
    file, name = part
    interrupt(start, file, name, ids, lanes["bulk"])
    dropped = run_ctl("reingest", "--jobs", file, name, "--abandon")
    assert dropped.returncode == 0, dropped.stderr
    assert "2000 requests abandoned" in dropped.stderr
    assert sql("SELECT count(*) AS n FROM document_queued") == [{"n": 1000}]
    done = run_ctl("reingest", "--jobs", file, name, "--max-lag", 100000)
    assert done.returncode == 0 and "2000 requests planned" in done.stderr, done.stderr
    assert sorted(ids(lanes["bulk"], 3000)) == numbers(1, 3000)


def test_the_jobs_that_come_with_it_are_valid(run_ctl, lanes):
    listed = run_ctl("reingest", "--list", config=False)
    assert listed.returncode == 0
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    assert names == ["weekly", "quarterly", "bulk", "old", "spn", "terminal-status", "lost"]
    counted = run_ctl("reingest", "--dry-run")
    assert counted.returncode == 0, counted.stderr
    assert counted.stdout.split() == [word for name in names for word in (name, "0")]


def test_words_that_are_not_understood_are_named(run_ctl, tmp_path):
    file = tmp_path / "jobs.yaml"
    file.write_text("jobs:\n  a:\n    status: [soon]\n  b:\n    statuses: [no-pdf-lnk]\n    request_age: {from: 8d, to: 8h}\n")
    refused = run_ctl("reingest", "--jobs", file, "--list")
    assert refused.returncode == 2
    assert refused.stderr.splitlines() == [
        f'{file}:3:5: there is no key "status"; did you mean "statuses"?',
        f'{file}:5:16: there is no status "no-pdf-lnk", nor is it soon, later or never; did you mean "no-pdf-link"?',
        f"{file}:6:18: request_age: from must be less than to"]
    missing = run_ctl("reingest", "--jobs", tmp_path / "none.yaml", "--list")
    assert missing.returncode == 2 and "none.yaml" in missing.stderr
    unknown = run_ctl("reingest", "wekly")
    assert unknown.returncode == 2 and 'did you mean "weekly"?' in unknown.stderr
