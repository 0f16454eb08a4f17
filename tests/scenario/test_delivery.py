# SPDX-License-Identifier: GPL-3.0-or-later
"""No request without a result, and no offset ahead of its result: crashes, restarts, outages, rebalances."""

import collections
import json
import signal
import time

import confluent_kafka.admin
import pytest
from server import Reply

PAGE = b"Text of a file, with a sentence.\n"


class Site:
    """Any path of any host below .many.test.example."""

    def __init__(self, web, delay_s=0.0, hosts=500):
        self.hosts = [f"h{number}.many.test.example" for number in range(hosts)]
        self.web = web
        self.delay_s = delay_s

    def requests(self, count):
        for number in range(count):
            host = self.hosts[number % len(self.hosts)]
            path = f"/p{number // len(self.hosts)}"
            self.web.route(host, path, self.page)
            yield {"ingest_type": "component", "base_url": f"http://{host}{path}"}

    def page(self, _):
        if self.delay_s:
            time.sleep(self.delay_s)  # the server's time to answer
        return Reply(200, PAGE)


def count_per_url(consume, topic, count, timeout):
    """How often each request has a result; reads until every one of `count` requests has."""
    seen = collections.Counter()
    total = count
    while True:
        messages = consume(topic, total, timeout=timeout, settle=1.0)
        seen = collections.Counter(json.loads(one.value())["request"]["base_url"] for one in messages)
        if len(seen) >= count:
            return seen
        total = len(messages) + (count - len(seen))


@pytest.mark.slow
def test_ten_thousand_requests_survive_five_kills(worker, submit, consume, committed, topics, web, wait_until, sql):
    """kill -9 in full flight, five times; at the end each request has one result, and no offset was ahead of its."""
    site = Site(web)
    requests = list(site.requests(10_000))
    submit(requests)

    def rows():
        return sql("SELECT count(*) AS n FROM ingest_file_result")[0]["n"]
    for number in range(5):
        with worker() as daemon:
            wait_until(lambda: rows() >= (number + 1) * 800, timeout=120)
            daemon.kill()
        check_no_offset_ahead(consume, committed, topics)
    with worker():
        seen = count_per_url(consume, topics["results"], 10_000, timeout=240)
        wait_until(lambda: sum(committed().values()) == 10_000, timeout=30)
    assert set(seen) == {one["base_url"] for one in requests}
    assert {row["status"] for row in sql("SELECT DISTINCT status FROM ingest_file_result")} == {"success"}
    assert set(seen.values()) == {1}


def check_no_offset_ahead(consume, committed, topics):
    """Every request below the committed offset of its partition has its result in the topic."""
    positions = committed()
    below = sum(positions.values())
    if below == 0:
        return
    asked = {}
    for message in consume(topics["requests"], 10_000):
        asked[message.partition(), message.offset()] = json.loads(message.value())["base_url"]
    done = {json.loads(one.value())["request"]["base_url"]
            for one in consume(topics["results"], below, timeout=30, settle=0.5)}
    for (partition, offset), url in asked.items():
        if offset < positions[partition]:
            assert url in done, f"offset {offset} of partition {partition} is committed, but has no result"


@pytest.mark.private_servers("postgres")
def test_the_database_may_restart(worker, submit, results_by_url, postgres, web, sql, committed, wait_until):
    site = Site(web, hosts=50)
    submit(list(site.requests(100)))
    with worker() as daemon:
        results_by_url(100, timeout=60)
        wait_until(lambda: sum(committed().values()) == 100)
        postgres.stop(mode="immediate")
        try:
            submit([{**one, "base_url": one["base_url"] + "?again"} for one in site.requests(100)])
            daemon.wait_log("database unavailable", timeout=30)
            time.sleep(2)  # two commit intervals, in which an offset could be committed
            assert sum(committed().values()) == 100, "offsets went on without the database"
        finally:
            postgres.start()
        found = results_by_url(200, timeout=90)
        daemon.wait_log("database available again", timeout=30)
    assert len(found) == 200
    assert sql("SELECT count(*) AS n FROM ingest_file_result")[0]["n"] == 200


@pytest.mark.private_servers("kafka")
def test_the_broker_may_restart(worker, submit, consume, topics, kafka, web, committed, wait_until):
    site = Site(web, hosts=50, delay_s=0.2)
    submit(list(site.requests(300)))
    with worker() as daemon:
        consume(topics["results"], 20, timeout=60)
        kafka.stop(hard=True)
        time.sleep(3)  # requests finish meanwhile: their results wait for the broker
        kafka.start()
        seen = count_per_url(consume, topics["results"], 300, timeout=120)
        assert len(seen) == 300
        wait_until(lambda: sum(committed().values()) == 300, timeout=60)
        assert daemon.running()


def test_unreadable_messages_become_dead_letters(worker, submit, consume, results, topics, committed, wait_until):
    bad = {
        b"not json": "syntax",
        b"[1, 2]": "invalid",
        b'{"ingest_type": "pdf"}': "invalid",
        b'{"ingest_type": "cake", "base_url": "https://a.example/"}': "invalid",
        b'{"ingest_type": "pdf", "base_url": "\xff\xfe"}': "encoding",
        b"[" * 100: "too-deep",
        b'{"ingest_type": "pdf", "base_url": "https://a.example/", "pad": "' + b"x" * (1 << 20) + b'"}': "too-big",
        b"": "syntax",
    }
    good = {"ingest_type": "html", "base_url": "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh"}
    submit([*bad, good], key=b"the-key")
    with worker():
        assert results(1)[0]["status"] == "success"
        dead = consume(topics["dead"], len(bad), timeout=30)
        wait_until(lambda: sum(committed().values()) == len(bad) + 1)
    assert collections.Counter(one.value() or b"" for one in dead) == collections.Counter(list(bad))
    for one in dead:
        headers = {name: value.decode() for name, value in one.headers()}
        assert headers["ingest.errors.reason"] == bad[one.value() or b""]
        assert headers["__dlq.errors.topic"] == topics["requests"]
        assert headers["__dlq.errors.partition"].isdigit() and headers["__dlq.errors.offset"].isdigit()
        assert headers["__dlq.errors.message"]
        assert one.key() == b"the-key"


def test_odd_text_cannot_break_a_batch(worker, submit, results, sql):
    """NUL, tabs, backslashes, over-long URLs: each gets a result, and the batch's other rows are written."""
    long_url = "https://tidal-ecology.example/" + "x" * 5000
    huge_url = "https://tidal-ecology.example/" + "x" * 9000
    odd = [
        {"ingest_type": "pdf", "base_url": "https://a.example/\t\\N\\.\n\r", "link_source": "a\\tb", "link_source_id": "\\N"},
        {"ingest_type": "pdf", "base_url": long_url, "link_source": "x", "link_source_id": "1"},
        {"ingest_type": "pdf", "base_url": huge_url, "link_source": "x", "link_source_id": "2"},
        {"ingest_type": "pdf", "base_url": "javascript:alert(1)", "link_source": "x", "link_source_id": "3"},
        {"ingest_type": "html", "base_url": "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh",
         "link_source": "x\u0001", "link_source_id": "é\U0001f4a9", "ext_ids": {"n": "a\u0000b"}, "note": "\u0000"},
    ]
    submit(odd)
    with worker():
        found = {one["request"]["base_url"]: one["status"] for one in results(len(odd))}
    assert found[huge_url] == "invalid-url" and found["javascript:alert(1)"] == "invalid-url"
    assert found[odd[4]["base_url"]] == "success"
    row = sql("SELECT * FROM ingest_file_result WHERE hit")[0]
    assert row["base_url"] == odd[4]["base_url"]
    assert sql("SELECT link_source_id FROM ingest_request WHERE link_source_id = %s", "é\U0001f4a9")


@pytest.mark.slow
def test_sigterm_finishes_what_is_under_way_and_drops_the_rest(worker, submit, consume, committed, topics, web, wait_until):
    """Two requests are being fetched when the signal comes; they get their results, the other ten keep their offsets."""
    def slowly(_):
        time.sleep(2)  # the server's time to answer
        return Reply(200, PAGE)
    for number in range(12):
        web.route("calm.test.example", f"/{number}", slowly)
    web.route("calm2.test.example", "/", slowly)
    submit([{"ingest_type": "component", "base_url": "http://calm2.test.example/"}] +
           [{"ingest_type": "component", "base_url": f"http://calm.test.example/{number}"} for number in range(12)],
           partition=0)  # so that both hosts are asked from the start
    with worker() as daemon:
        wait_until(lambda: web.most_at_once("calm.test.example") == web.most_at_once("calm2.test.example") == 1)
        started = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - started < 15
    done = {json.loads(one.value())["request"]["base_url"] for one in consume(topics["results"], 2, settle=1.0)}
    assert len(done) == 2 and "http://calm2.test.example/" in done
    with worker():
        seen = count_per_url(consume, topics["results"], 13, timeout=60)
    assert len(seen) == 13
    assert set(seen.values()) == {1}


@pytest.mark.unfinished("the second signal drops what is under way")
def test_a_second_sigterm_ends_it_at_once(worker, submit, web, wait_until):
    def slowly(_):
        time.sleep(20)  # longer than the test: the transfer is pending at both signals
        return Reply(200, PAGE)
    web.route("stuck.test.example", "/", slowly)
    submit({"ingest_type": "component", "base_url": "http://stuck.test.example/"})
    with worker() as daemon:
        wait_until(lambda: web.most_at_once("stuck.test.example") == 1)
        daemon.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)  # time to end at the first signal already, which it must not
        assert daemon.running()
        started = time.monotonic()
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.wait_end(5) == 1
        assert time.monotonic() - started < 2


def test_ready_comes_with_the_first_assignment_even_an_empty_one(worker, topics):
    """Four partitions, five workers: one of them owns nothing and is ready all the same."""
    import contextlib
    with contextlib.ExitStack() as stack:
        for number in range(5):
            stack.enter_context(worker(name=f"w{number}"))


def test_a_topic_that_comes_later_is_found(worker, submit, results, topics, settings, kafka, committed, wait_until):
    """A worker is ready while its topic does not exist yet, and takes requests once it does."""
    topics["requests"] += "-later"
    settings["kafka.topics"].update(topics)
    with worker() as daemon:
        daemon.wait_log("the topic does not exist")
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka.brokers()})
        made = admin.create_topics([confluent_kafka.admin.NewTopic(topics["requests"], 4, 1)])
        made[topics["requests"]].result(60)
        submit({"ingest_type": "html",
                "base_url": "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh"})
        assert results(1)[0]["status"] == "success"
        wait_until(lambda: sum(committed().values()) == 1)


def test_partitions_move_to_a_new_worker_and_back(worker, submit, consume, topics, web, committed, wait_until):
    """A second worker comes in the middle and leaves again: every request gets one result."""
    site = Site(web, hosts=100, delay_s=0.1)
    submit(list(site.requests(1500)))
    with worker(name="one"):
        consume(topics["results"], 100, timeout=60)
        with worker(name="two"):
            consume(topics["results"], 400, timeout=60)
        seen = count_per_url(consume, topics["results"], 1500, timeout=180)
        wait_until(lambda: sum(committed().values()) == 1500, timeout=60)
    assert len(seen) == 1500


def test_a_second_worker_of_the_same_name_is_refused(worker):
    with worker() as first:
        with_same_name = worker(ready=False)
        with with_same_name as second:
            assert second.wait_end(20) == 3
            assert "another worker" in second.log()
        assert first.running()


def test_an_unreadable_configuration_names_the_place(program, tmp_path):
    import subprocess
    path = tmp_path / "bad.yaml"
    path.write_text("gate:\n  concurrency: many\n  speed: 3\n", encoding="utf-8")
    done = subprocess.run([program("ingest-worker"), "--config", path, "--check-config"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2
    assert f"{path}:2:" in done.stderr and "gate.concurrency" in done.stderr
    assert f"{path}:3:" in done.stderr and "gate.speed" in done.stderr
