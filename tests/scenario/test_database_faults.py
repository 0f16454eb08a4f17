# SPDX-License-Identifier: GPL-3.0-or-later
"""A database that is slow, locked, unreachable without saying so, or replaced by its standby."""

import contextlib
import threading
import urllib.parse

import private_servers
import psycopg
import pytest
from server import Reply
from servers.relay import Relay

PAGE = b"Text of a file, with a sentence.\n"


@pytest.fixture
def requests(web):
    """requests(n, answer): as many new ones, each of a host of its own."""
    made = 0

    def make(count, answer=lambda _: Reply(200, PAGE)):
        nonlocal made
        batch = []
        for number in range(made, made + count):
            host = f"d{number}.many.test.example"
            web.route(host, "/", answer)
            batch.append({"ingest_type": "component", "base_url": f"http://{host}/"})
        made += count
        return batch
    return make


def counted(results_by_url, count):
    """Each of so many requests has exactly one result, a success."""
    found = results_by_url(count, timeout=120, settle=1.0)
    assert len(found) == count
    assert {one["status"] for one in found.values()} == {"success"}


def rows(dsn, table="ingest_file_result"):
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_a_database_that_gets_slow_takes_what_it_can(worker, submit, results_by_url, requests, sql, database):
    """60 ms a row: what was written at a time before would take several times as long as a statement may."""
    submit(requests(200))
    with worker({"postgres.statement_ms": 600, "postgres.batch_ms": 1000}) as daemon:
        counted(results_by_url, 200)
        sql("""CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS
               $$ BEGIN PERFORM pg_sleep(0.06); RETURN NEW; END $$""")
        sql("CREATE TRIGGER rest BEFORE INSERT ON ingest_file_result FOR EACH ROW EXECUTE FUNCTION rest()")
        submit(requests(60))
        counted(results_by_url, 260)
        daemon.wait_log(r"database: slow: \d+ requests .* are written at a time")
        sql("DROP TRIGGER rest ON ingest_file_result")
        submit(requests(60))
        counted(results_by_url, 320)
    assert rows(database) == 320


def test_a_lock_held_past_the_limit_is_waited_for(worker, submit, results_by_url, requests, database):
    with worker({"postgres.statement_ms": 400}) as daemon:
        with psycopg.connect(database) as holder:
            holder.execute("LOCK TABLE ingest_file_result, host_state IN ACCESS EXCLUSIVE MODE")
            submit(requests(20))
            daemon.wait_log("lock timeout.*retrying")
            holder.rollback()
        counted(results_by_url, 20)
    assert rows(database) == 20


def with_address(dsn, hosts, **options):
    """The address with other hosts, as an URI of libpq may have them."""
    url = urllib.parse.urlsplit(dsn)
    user = url.netloc.rpartition("@")[0]
    query = urllib.parse.urlencode({**dict(urllib.parse.parse_qsl(url.query)), **options})
    return url._replace(netloc=f"{user}@{hosts}", query=query).geturl()


def test_a_half_open_connection_is_given_up(worker, submit, results_by_url, requests, database, wait_until):
    """The network passes nothing on and closes nothing: four limits of silence, then new connections are tried. What
    was fetched meanwhile has its rows to be written."""
    asked = threading.Semaphore(0)
    lost = threading.Event()

    def answer(_):
        asked.release()
        lost.wait(60)
        return Reply(200, PAGE)
    with contextlib.ExitStack() as stack:
        relay = stack.enter_context(Relay(urllib.parse.urlsplit(database).port))
        dsn = with_address(database, f"127.0.0.1:{relay.port}", connect_timeout=2)
        daemon = stack.enter_context(worker({"postgres.dsn": dsn, "postgres.statement_ms": 250}))
        submit(requests(10))
        counted(results_by_url, 10)
        submit(requests(10, answer))
        assert all(asked.acquire(timeout=30) for _ in range(10))
        relay.freeze()
        lost.set()
        submit(requests(10))
        daemon.wait_log("no answer within 1 s; .* items waiting")
        wait_until(lambda: relay.accepted_in_vain >= 4)
        relay.thaw()
        counted(results_by_url, 30)
    assert rows(database) == 30


@pytest.fixture
def pair(own_dir, tag, run_ctl):
    """A primary with the schema, and its standby: (primary, standby, name of the database)."""
    primary = private_servers.Postgres(own_dir / f"{tag}-a")
    standby = private_servers.Postgres(own_dir / f"{tag}-b")
    try:
        primary.start()
        dsn = primary.create_database("papers")
        done = run_ctl("db", "migrate", overrides={"postgres.dsn": dsn})
        assert done.returncode == 0, done.stderr
        standby.copy(primary)
        standby.start()
        yield primary, standby, "papers"
    finally:
        for server in (standby, primary):
            server.stop("immediate")


def test_rows_follow_a_failover(worker, submit, results_by_url, requests, pair, wait_until):
    """The address names the standby first and nothing else: it is passed over until it is the primary."""
    primary, standby, name = pair
    dsn = with_address(primary.dsn(name), f"127.0.0.1:{standby.port()},127.0.0.1:{primary.port()}")
    submit(requests(30))
    with worker({"postgres.dsn": dsn}) as daemon:
        counted(results_by_url, 30)
        wait_until(lambda: rows(standby.dsn(name)) == 30)
        primary.stop("immediate")
        submit(requests(30))
        daemon.wait_log("retrying")
        standby.promote()
        counted(results_by_url, 60)
    assert rows(standby.dsn(name)) == 60
