# SPDX-License-Identifier: GPL-3.0-or-later
"""One result for each request, as readers with isolation.level=read_committed see it: a worker is killed at each step on
the way from a message to its committed result (worker/README.md, "Order of durability"), or freezes there."""

import collections
import contextlib
import json
import os
import signal
import time

import confluent_kafka
import confluent_kafka.admin
import pytest
from servers.pages import Pages

SHORT_SESSION = ["consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=500"]


@pytest.fixture
def pages(web, tag):
    found = Pages(web, tag)
    yield found
    found.gate.set()


@pytest.fixture
def admin(kafka):
    return confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka.brokers()})


@pytest.fixture
def frozen(kafka):
    """with frozen(): the broker stands still. For tests with a Kafka of their own."""
    @contextlib.contextmanager
    def freeze():
        pid = kafka.info()["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)
    return freeze


@pytest.fixture
def outbox(sql):
    """outbox(): how many answers wait to be committed."""
    return lambda: sql("SELECT count(*) AS n FROM result_outbox")[0]["n"]


@pytest.fixture
def counted(consume, topics):
    """counted(n): how many results each URL has, once there are n results and no more within a second."""
    def read(count, timeout=90):
        found = consume(topics["results"], count, timeout=timeout, settle=1.0)
        return collections.Counter(json.loads(one.value())["request"]["base_url"] for one in found)
    return read


def check_one_each(counted, asked):
    assert counted(len(asked)) == {one["base_url"]: 1 for one in asked}


def delay_in_database(sql, event, seconds):
    """Transactions that write answers (INSERT, COMMIT) or delete some (DELETE) wait there."""
    sql(f"""CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END $$""")
    if event == "COMMIT":
        sql("""CREATE CONSTRAINT TRIGGER delay AFTER INSERT ON result_outbox DEFERRABLE INITIALLY DEFERRED
               FOR EACH ROW EXECUTE FUNCTION delay()""")
    else:
        sql(f"CREATE TRIGGER delay AFTER {event} ON result_outbox FOR EACH ROW EXECUTE FUNCTION delay()")


WAITING = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"


def sleeps(sql):
    return sql(f"SELECT 1 {WAITING}")


def end_delay(sql):
    """Those that wait are rolled back."""
    sql(f"SELECT pg_terminate_backend(pid) {WAITING}")
    sql("DROP FUNCTION delay() CASCADE")


# --- killed at each step ----------------------------------------------------------------------------------------


def test_killed_while_hosts_are_asked(worker, submit, pages, counted, wait_until):
    asked = list(pages.requests("a", 20))
    pages.gate.clear()
    submit(asked)
    with worker() as daemon:
        wait_until(lambda: pages.asked("a") == 20)
        daemon.kill()
    pages.gate.set()
    with worker():
        check_one_each(counted, asked)


def test_killed_before_the_rows_are_stored(worker, submit, pages, counted, wait_until, sql):
    """The records are on disk already: they stay, without a row, and the requests are done again."""
    asked = list(pages.requests("a", 20))
    submit(asked)
    delay_in_database(sql, "INSERT", 60)
    with worker() as daemon:
        wait_until(lambda: sleeps(sql))
        daemon.kill()
    end_delay(sql)
    with worker():
        check_one_each(counted, asked)
    assert sql("SELECT count(*) AS n FROM ingest_file_result") == [{"n": 20}]


def test_killed_while_the_rows_are_being_committed(worker, submit, pages, counted, wait_until, sql):
    """The server goes on with a COMMIT whose worker is dead; the next one waits for it, and commits what it has left."""
    asked = list(pages.requests("a", 1))
    submit(asked)
    delay_in_database(sql, "COMMIT", 4)
    with worker() as daemon:
        wait_until(lambda: sleeps(sql))
        daemon.kill()
        assert sleeps(sql), "it was too late: the rows are committed"
        with worker():
            check_one_each(counted, asked)
    assert pages.visits["a"] == 1, "it was fetched again"
    assert sql("SELECT count(*) AS n FROM ingest_file_result") == [{"n": 1}]


def stored_and_not_committed(worker, submit, pages, frozen, wait_until, outbox, count):
    """Leaves `count` answers in the outbox that Kafka knows nothing of, and their worker dead."""
    asked = list(pages.requests("a", count))
    pages.gate.clear()
    submit(asked, partition=0)
    with worker() as daemon:
        wait_until(lambda: pages.asked("a") == count)
        with frozen():
            pages.gate.set()
            wait_until(lambda: outbox() == count)
            daemon.kill()
    assert outbox() == count
    return asked


@pytest.mark.private_servers("kafka")
def test_killed_before_the_results_are_committed(
        worker, submit, pages, frozen, counted, wait_until, outbox, committed):
    asked = stored_and_not_committed(worker, submit, pages, frozen, wait_until, outbox, 20)
    with worker() as daemon:
        check_one_each(counted, asked)
        wait_until(lambda: committed()[0] == 20)
        wait_until(lambda: outbox() == 0)
        assert daemon.stop() == 0
        assert '"answered":20' in daemon.log() and '"results":0' in daemon.log()
    assert pages.visits["a"] == 20, "answered requests were fetched again"


@pytest.mark.private_servers("kafka")
def test_an_answer_is_committed_although_its_message_has_expired(
        worker, submit, pages, frozen, counted, wait_until, outbox, committed, admin, topics):
    asked = stored_and_not_committed(worker, submit, pages, frozen, wait_until, outbox, 10)
    place = confluent_kafka.TopicPartition(topics["requests"], 0, 10)
    for done in admin.delete_records([place]).values():
        done.result(30)
    with worker():
        check_one_each(counted, asked)
        wait_until(lambda: committed()[0] == 10)
        wait_until(lambda: outbox() == 0)
    assert pages.visits["a"] == 10


@pytest.mark.private_servers("kafka")
@pytest.mark.unaccounted("the first requests are gone with their topic, and so are their results")
def test_answers_of_a_topic_that_was_made_anew_are_not_committed(
        worker, submit, pages, frozen, results_by_url, wait_until, outbox, committed, admin, topics, sql):
    stored_and_not_committed(worker, submit, pages, frozen, wait_until, outbox, 10)
    admin.delete_topics([topics["requests"]])[topics["requests"]].result(30)
    wait_until(lambda: topics["requests"] not in admin.list_topics(timeout=20).topics)
    time.sleep(1)  # a topic may be made anew only when its folders are gone
    admin.create_topics([confluent_kafka.admin.NewTopic(topics["requests"], 4, 1)])[topics["requests"]].result(30)
    others = list(pages.requests("b", 10))
    submit(others, partition=0)
    with worker():
        found = results_by_url(10, settle=1.0)
        assert set(found) == {one["base_url"] for one in others}
        wait_until(lambda: committed()[0] == 10)
        wait_until(lambda: outbox() == 0)
    assert sql("SELECT count(*) AS n FROM ingest_file_result") == [{"n": 20}]


def test_killed_before_the_outbox_is_pruned(worker, submit, pages, counted, wait_until, sql, outbox):
    """Result and position are committed, and the answer is still there: it is not committed again."""
    asked = list(pages.requests("a", 1))
    submit(asked)
    delay_in_database(sql, "DELETE", 60)
    with worker() as daemon:
        check_one_each(counted, asked)
        wait_until(lambda: sleeps(sql))
        daemon.kill()
    end_delay(sql)
    assert outbox() > 0
    with worker():
        wait_until(lambda: outbox() == 0)
        time.sleep(1)  # in which a second result would come
        check_one_each(counted, asked)
    assert pages.visits["a"] == 1


@pytest.mark.slow
def test_killed_at_any_moment_without_a_database(worker, submit, pages, counted, wait_until, settings):
    """What was fetched and not committed is fetched again, and has one visible result."""
    settings["postgres.dsn"] = ""
    asked = list(pages.requests("a", 600))
    submit(asked)
    for number in range(6):
        with worker() as daemon:
            before = pages.asked("a")
            wait_until(lambda: pages.asked("a") >= min(before + 60, 600))
            time.sleep(0.05 * number)  # another moment of a batch each time
            daemon.kill()
    with worker():
        check_one_each(counted, asked)


def test_what_is_finished_beyond_a_slow_request_is_not_done_again(
        worker, submit, pages, counted, committed, wait_until, settings):
    """The first request of the partition is under way when the worker is killed; the others are done, and only the
    position map says so: there is no database."""
    settings["postgres.dsn"] = ""
    slow, asked = list(pages.requests("slow", 1)), list(pages.requests("a", 40))
    pages.held = "slow"
    submit([*slow, *asked], partition=0)
    with worker() as daemon:
        check_one_each(counted, asked)
        assert committed()[0] == 0
        daemon.kill()
    pages.held = None
    with worker() as daemon:
        check_one_each(counted, slow + asked)
        wait_until(lambda: committed()[0] == 41)
        assert daemon.stop() == 0
        assert '"finished_before":40' in daemon.log()
    assert pages.visits["a"] == 40


@pytest.mark.at_least_once("kafka.delivery says so")
@pytest.mark.slow
def test_at_least_once_nothing_is_lost(worker, submit, pages, consume, topics, wait_until, settings, committed):
    settings["kafka.delivery"] = "at-least-once"
    asked = list(pages.requests("a", 300))
    submit(asked)
    for number in range(3):
        with worker() as daemon:
            before = pages.asked("a")
            wait_until(lambda: pages.asked("a") >= min(before + 60, 300))
            time.sleep(0.1 * number)  # another moment of a batch each time
            daemon.kill()
    with worker():
        wait_until(lambda: sum(committed().values()) == 300, timeout=90)
    found = consume(topics["results"], 300, settle=1.0)
    assert {json.loads(one.value())["request"]["base_url"] for one in found} == {one["base_url"] for one in asked}


# --- frozen, and what others forget --------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_worker_that_wakes_up_too_late_commits_and_stores_nothing(
        worker, submit, pages, counted, committed, settings, wait_until, sql):
    """One of two workers freezes in the middle of its requests, past its session. The other one does them."""
    settings["kafka.properties"] = SHORT_SESSION
    settings["fetch.timeout_ms"] = 10_000  # and so shorter leases of hosts
    settings["gate.concurrency"] = 16
    asked = list(pages.requests("a", 120))
    with worker(name="one") as one, worker(name="two") as two:
        one.wait_log(": 2 partitions assigned", timeout=60)
        two.wait_log(": 2 partitions assigned", timeout=60)
        pages.gate.clear()
        submit(asked)
        wait_until(lambda: pages.asked("a") >= 24)
        one.process.send_signal(signal.SIGSTOP)
        pages.gate.set()
        two.wait_log(": 4 partitions assigned", timeout=60)
        wait_until(lambda: sum(committed().values()) == 120, timeout=150)
        one.process.send_signal(signal.SIGCONT)
        one.wait_log("the assignment was lost", timeout=60)
        one.wait_log(": 2 partitions assigned", timeout=60)
        check_one_each(counted, asked)
        assert sum(committed().values()) == 120
    assert sql("SELECT count(*) AS n FROM ingest_file_result") == [{"n": 120}]


@pytest.mark.slow
def test_positions_that_the_brokers_have_expired_are_bridged(
        worker, submit, pages, counted, committed, settings, wait_until, sql, admin):
    """offsets.retention.minutes has passed while no worker ran: the database knows where it was."""
    settings["kafka.properties"] = SHORT_SESSION
    asked = list(pages.requests("a", 40))
    submit(asked)
    with worker():
        check_one_each(counted, asked)
        wait_until(lambda: sum(committed().values()) == 40)
        wait_until(lambda: sql("SELECT sum(low_water) AS n FROM partition_owner") == [{"n": 40}])

    def forgotten():  # refused while the group has members
        with contextlib.suppress(confluent_kafka.KafkaException):
            admin.delete_consumer_groups([settings["kafka.group"]])[settings["kafka.group"]].result(20)
            return True
        return False
    wait_until(forgotten, timeout=60, every=1)
    assert sum(committed().values()) == 0
    more = list(pages.requests("b", 20))
    submit(more)
    with worker():
        check_one_each(counted, asked + more)
        wait_until(lambda: sum(committed().values()) == 60)
    assert pages.visits["a"] == 40, "what the position covers was done again"


def test_a_result_that_the_broker_refuses_spares_its_neighbours(
        worker, submit, pages, results_by_url, committed, wait_until, admin, topics):
    """The topic has been made smaller after the worker has asked for its limit."""
    small = list(pages.requests("a", 30))
    large = {**next(iter(pages.requests("large", 1))), "ext_ids": {"pad": os.urandom(150_000).hex()}}
    with worker():
        submit(small[:1])
        results_by_url(1)
        limit = confluent_kafka.admin.ConfigResource(
            confluent_kafka.admin.ResourceType.TOPIC, topics["results"],
            incremental_configs=[confluent_kafka.admin.ConfigEntry(
                "max.message.bytes", "100000",
                incremental_operation=confluent_kafka.admin.AlterConfigOpType.SET)])
        for done in admin.incremental_alter_configs([limit]).values():
            done.result(30)
        pages.gate.clear()
        submit([*small[1:], large], partition=0)
        wait_until(lambda: pages.asked("a") + pages.asked("large") == 31)
        pages.gate.set()
        found = results_by_url(31, timeout=90, settle=1.0)
        wait_until(lambda: sum(committed().values()) == 31)
    assert found[large["base_url"]]["status"] == "result-too-large"
    assert {found[one["base_url"]]["status"] for one in small} == {"success"}
