# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators' orders: a worker, a host or a lane rests or is drained, fleet-wide through the database, without a request
being lost, answered twice, or ended because it waited. Judged by the record of a server that all workers ask, and by
the account of every request (conftest.py)."""

import collections
import contextlib
import json
import pathlib
import time

import confluent_kafka
import pytest
from servers.polite import Answer, redirect
from servers.wallclock import WallClock

PARTITIONS = 12
PATIENCE_S = 60
QUIET_S = 2.0  # many times as long as a transfer and a pause: in which a request would have been made


@pytest.fixture
def partitions():
    return PARTITIONS


@pytest.fixture(autouse=True)
def quick(settings):
    """Transfers are short, leases, too, and the group notices what becomes of its members within seconds."""
    settings.update({
        "fetch.timeout_ms": 2000, "fetch.connect_timeout_ms": 1000, "gate.lease_ms": 13_000,
        "gate.host_delay_ms": 50, "gate.backoff_ms": 300, "stop.drain_ms": 5000,
        "kafka.properties": ["consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=500"]})


@pytest.fixture
def clock(program, tmp_path):
    return WallClock(program("libingclock.so"), tmp_path)


@pytest.fixture
def spread(submit):
    """spread(hosts, count, first): so many requests for each host, numbered from first, over all partitions."""
    def send(hosts, count, first=0):
        urls = [f"http://{host}/{first + number}" for host in hosts for number in range(count)]
        for partition in range(PARTITIONS):
            submit([page(url) for number, url in enumerate(urls) if number % PARTITIONS == partition],
                   partition=partition)
        return urls
    return send


@pytest.fixture
def fleet_of(worker):
    """fleet_of("one", "two") runs these workers; a mapping by name."""
    @contextlib.contextmanager
    def run(*names, overrides=None):
        with contextlib.ExitStack() as stack:
            yield {name: stack.enter_context(worker(overrides, name=name)) for name in names}
    return run


@pytest.fixture
def ctl(run_ctl):
    """ctl("pause", …): the output lines; an exit status other than `code` fails the test."""
    def run(*words, code=0, **how):
        done = run_ctl(*words, **how)
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout
    return run


@pytest.fixture
def rows(run_ctl, settings):
    """rows(): what `ingestctl fleet --json` says of each worker, by its name in the test."""
    def read():
        lines = [json.loads(line) for line in run_ctl("fleet", "--json").stdout.splitlines()]
        return {one["instance"].removeprefix(settings["instance"] + "-"): one
                for one in lines if one["record"] == "worker"}
    return read


@pytest.fixture
def instance(settings):
    return lambda name: f"{settings['instance']}-{name}"


@pytest.fixture
def statuses(results):
    """statuses(n): the status of each of n results, by URL; none has two."""
    def read(count, timeout=PATIENCE_S, settle=1):
        found = collections.defaultdict(list)
        for one in results(count, timeout=timeout, settle=settle):
            found[one["request"]["base_url"]].append(one["status"])
        assert {len(several) for several in found.values()} <= {1}, found
        return {url: several[0] for url, several in found.items()}
    return read


def page(url):
    return {"ingest_type": "component", "base_url": url}


def hosts_of(count):
    return [f"h{number}.polite.example" for number in range(count)]


def asked(polite, host=None):
    return len(polite.seen(host) if host else polite.seen())


def stays(polite, host=None):
    """How often was the host asked, and it is not asked any more?"""
    before = asked(polite, host)
    time.sleep(QUIET_S)
    assert asked(polite, host) == before
    return before


def settles(polite):
    """Waits until nothing is asked any more; how often something was."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        before = asked(polite)
        time.sleep(QUIET_S)
        if asked(polite) == before:
            return before
        assert time.monotonic() < deadline, "it goes on"


# --- a worker ---


@pytest.mark.slow
def test_a_drained_worker_gives_its_partitions_and_loses_nothing(fleet_of, spread, statuses, polite, ctl, rows, instance,
                                                                wait_until, sql):
    """In the middle of its work: what it has is finished, the rest is the other's. It stays up, and comes back."""
    polite.page("*", "*", Answer(delay_s=0.05))
    hosts = hosts_of(24)
    with fleet_of("one", "two") as workers:
        wait_until(lambda: len(rows()) == 2 and all(one["partitions"] > 0 for one in rows().values()))
        urls = spread(hosts, 20)
        wait_until(lambda: asked(polite) >= 60)
        ctl("drain", instance("one"), "--why", "a new disk", "--wait", "60")
        one = rows()["one"]
        assert (one["condition"], one["partitions"], one["jobs"]) == ("drained", 0, 0)
        assert "drained by" in one["held_by"] and "a new disk" in one["held_by"]
        wait_until(lambda: rows()["two"]["partitions"] == PARTITIONS)
        taken = len([line for line in workers["one"].log().splitlines() if "joining the group again" in line])
        assert set(statuses(len(urls)).values()) == {"success"}
        # The other one's transfers under way were called off by the rebalance, and done again.
        assert not sql("SELECT url FROM cdx GROUP BY url HAVING count(*) > 1 AND bool_or(warc_path LIKE '%%-one%%')")
        assert workers["one"].running() and taken == 0
        ctl("resume", instance("one"), "--wait", "60")
        wait_until(lambda: rows()["one"]["partitions"] > 0 and rows()["two"]["partitions"] > 0)
        urls += spread(hosts, 10, first=100)
        assert set(statuses(len(urls)).values()) == {"success"}
        assert sum(one["results"] for one in rows().values()) <= len(urls)


def test_a_paused_worker_keeps_what_it_has(fleet_of, spread, statuses, polite, ctl, rows, instance, wait_until):
    """It starts nothing, for longer than any request may wait; no request ends of that."""
    polite.page("*", "*", Answer(delay_s=0.05))
    with fleet_of("one", "two", overrides={"gate.max_wait_ms": 3000, "gate.host_delay_ms": 200}):
        wait_until(lambda: len(rows()) == 2 and all(one["partitions"] > 0 for one in rows().values()))
        had = rows()["one"]["partitions"]
        ctl("pause", instance("one"), "--wait", "30")
        urls = spread(hosts_of(24), 6)
        wait_until(lambda: asked(polite) > 0)
        before = settles(polite)
        assert before < len(urls)
        wait_until(lambda: rows()["one"]["lag"] == len(urls) - before)
        one = rows()["one"]
        assert (one["condition"], one["partitions"]) == ("paused", had)
        ctl("resume", instance("one"))
        assert set(statuses(len(urls)).values()) == {"success"}


@pytest.mark.slow
def test_a_worker_paused_at_work_holds_no_host_back(fleet_of, spread, statuses, polite, ctl, instance, sql, wait_until):
    """Its leases are the other's within seconds, and its requests may wait for longer than any may for its host."""
    polite.page("*", "*", Answer(delay_s=0.05))
    hosts = hosts_of(6)
    with fleet_of("one", "two", overrides={"gate.max_wait_ms": 20_000, "gate.lease_ms": 60_000,
                                             "gate.host_delay_ms": 400}):
        urls = spread(hosts, 24)
        wait_until(lambda: sql("SELECT host FROM host_state WHERE holder = %s", instance("one")))
        ctl("pause", instance("one"), "--wait", "30")
        wait_until(lambda: asked(polite) > 0)
        wait_until(lambda: not sql("SELECT host FROM host_state WHERE holder = %s AND host IN"
                                   " (SELECT host FROM host_state WHERE wanted_by IS NOT NULL)", instance("one")))
        assert settles(polite) < len(urls)
        time.sleep(21)
        ctl("resume", instance("one"))
        assert set(statuses(len(urls)).values()) == {"success"}


def test_a_worker_that_starts_drained_is_ready_and_takes_nothing(worker, spread, statuses, polite, ctl, rows, instance,
                                                                 wait_until):
    """Orders survive a restart of all that they are for."""
    ctl("drain", instance("one"))
    urls = spread(hosts_of(4), 3)
    with worker(name="one"):
        wait_until(lambda: rows().get("one", {}).get("condition") == "drained")
        assert stays(polite) == 0
    assert rows()["one"]["condition"] == "stopped"
    with worker(name="one"):
        wait_until(lambda: rows()["one"]["condition"] == "drained")
        ctl("resume", instance("one"))
        assert set(statuses(len(urls)).values()) == {"success"}
        wait_until(lambda: rows()["one"]["partitions"] == PARTITIONS)


def test_a_paused_worker_stops_at_once(worker, spread, statuses, polite, ctl, rows, instance, wait_until):
    """What waits in it is not waited for, be it in the middle of a request."""
    for number in range(12):
        polite.page("h0.polite.example", f"/{number}", redirect(f"http://h1.polite.example/{number}"))
    polite.page("h1.polite.example", "*", Answer(delay_s=0.2))
    with worker({"stop.drain_ms": 30_000}, name="one") as daemon:
        urls = spread(["h0.polite.example"], 12)
        wait_until(lambda: asked(polite, "h1.polite.example") >= 2)
        ctl("pause", instance("one"), "--wait", "30")
        stays(polite)
        started = time.monotonic()
        daemon.stop()
        assert time.monotonic() - started < 15
    ctl("resume", "--all")
    with worker(name="one"):
        assert set(statuses(len(urls)).values()) == {"success"}


def test_orders_without_a_database_go_through_the_socket(worker, spread, statuses, polite, ctl, settings, instance):
    """They, too, survive a restart, be it after a kill."""
    settings["postgres.dsn"] = ""
    with worker(name="one") as daemon:
        here = {"state.dir": f"{settings['state.dir']}-one"}
        said = json.loads(ctl("pause", instance("one"), "--why", "to look", "--json", overrides=here))
        assert (said["state"], said["local"]) == ("paused", True)
        urls = spread(hosts_of(4), 3)
        assert stays(polite) == 0
        explained = json.loads(ctl("hosts", "explain", "h1.polite.example", "--json", overrides=here).splitlines()[0])
        assert "to look" in explained["order"]["words"]
        daemon.kill()
    with worker(name="one") as daemon:
        assert stays(polite) == 0
        status = json.loads(ctl("status", "--json", overrides=here).splitlines()[0])
        assert status["state"] == "paused" and "to look" in status["held_by"]
        assert json.loads(ctl("drain", instance("one"), "--json", overrides=here))["state"] in ("draining", "drained")
        daemon.wait_log("drained: this instance has no partitions")
        ctl("pause", "--host", "h1.polite.example", overrides=here, code=2)
    with worker(name="one"):  # ready, although it does not join the group
        assert stays(polite) == 0
        ctl("resume", instance("one"), overrides=here)
        ctl("resume", instance("one"), overrides=here, code=1)
        assert set(statuses(len(urls)).values()) == {"success"}
    kept = pathlib.Path(here["state.dir"], f"{instance('one')}.order")
    assert not kept.exists()
    kept.write_text('{"action": "stop"}')
    with worker(name="one") as daemon:
        daemon.wait_log("no order can be read from it")
        daemon.wait_log("assigned 12 partitions")


# --- a host ---


def test_a_paused_host_is_not_asked_by_anybody(fleet_of, worker, spread, statuses, polite, ctl, rows, sql, wait_until,
                                               settings):
    """Neither by those who run, nor by one that starts later, nor by one that is killed and comes back. Its requests
    wait for longer than a request may, nobody keeps its lease, and the other hosts go on."""
    rest = "rest.polite.example"
    settings["gate.max_wait_ms"] = 9000
    polite.page("*", "*", Answer(delay_s=0.02))
    polite.page(rest, "*", Answer(delay_s=0.3))
    with fleet_of("one", "two") as workers:
        urls = spread([rest], 30)
        wait_until(lambda: asked(polite, rest) >= 3)
        ctl("pause", "--host", f"https://www.{rest}/somewhere", "--why", "they asked", "--wait", "30")
        before = stays(polite, rest)
        assert before < len(urls)
        others = spread(hosts_of(6), 5)
        wait_until(lambda: asked(polite) - before == len(others))
        wait_until(lambda: not sql("SELECT holder FROM host_state WHERE host = %s AND holder IS NOT NULL", rest))
        wait_until(lambda: any("they asked" in (one["held_by"] or "") for one in rows().values()))
        workers["two"].kill()
        with worker(name="three"), worker(name="two"):
            time.sleep(6)
            assert asked(polite, rest) == before
            explained = ctl("hosts", "explain", rest)
            assert "paused" in explained and "they asked" in explained
            ctl("resume", "--host", rest)
            found = statuses(len(urls) + len(others))
        assert set(found.values()) == {"success"}
    assert asked(polite, rest) >= len(urls)


def test_robots_txt_of_a_paused_host_is_not_asked_either(worker, spread, statuses, polite, ctl, settings, wait_until):
    rest = "rest.polite.example"
    settings["gate.robots"] = "obey"
    polite.robots(rest, "User-agent: *\nDisallow: /private\n")
    ctl("pause", "--host", ".polite.example")
    urls = spread([rest], 6)
    with worker(name="one"):
        assert stays(polite) == 0
        ctl("resume", "--host", ".polite.example")
        assert set(statuses(len(urls)).values()) == {"success"}


def test_a_redirect_to_a_paused_host_waits(worker, spread, statuses, polite, ctl, wait_until, settings):
    """In the middle of a request: its deadline is for work, and does not pass meanwhile."""
    settings.update({"gate.max_wait_ms": 2000, "job.deadline_ms": 5000})
    for number in range(6):
        polite.page("h0.polite.example", f"/{number}", redirect(f"http://h1.polite.example/{number}"))
    ctl("pause", "--host", "h1.polite.example")
    with worker(name="one"):
        urls = spread(["h0.polite.example"], 6)
        wait_until(lambda: asked(polite, "h0.polite.example") == 6)
        time.sleep(7)
        assert asked(polite, "h1.polite.example") == 0
        ctl("resume", "--host", "h1.polite.example")
        assert set(statuses(len(urls)).values()) == {"success"}
    assert asked(polite, "h0.polite.example") == 6


def test_new_requests_of_a_drained_host_are_parked(worker, spread, statuses, polite, ctl, consume, clock, parked, rows,
                                                   wait_until, settings, topics):
    """Those in memory are finished; those that come, also by a redirect and in the priority lane, go to a tier, and come
    back when the host goes on. Each has one result."""
    rest = "rest.polite.example"
    for number in range(3):
        polite.page("h0.polite.example", f"/{number}", redirect(f"http://{rest}/r{number}"))
    polite.page(rest, "*", Answer(delay_s=0.2))
    settings["parked.max_age_ms"] = 3_600_000
    with worker({"gate.host_delay_ms": 300}, env=clock.env, name="one"):
        urls = spread([rest], 12)
        wait_until(lambda: asked(polite, rest) >= 2)
        wait_until(lambda: rows()["one"]["lag"] == rows()["one"]["jobs"] > 0)
        ctl("drain", "--host", rest, "--wait", "30")
        more = spread([rest], 6, first=100) + spread(["h0.polite.example"], 3)
        statuses(len(urls))  # the first are finished
        assert len(consume(parked["10m"], 9)) == 9
        assert asked(polite, rest) == len(urls)
    clock.set(2 * 3600)
    with worker(env=clock.env, name="one"):  # due, too old, and still drained: parked again
        consume(parked["10m"], 18)
        assert asked(polite, rest) == len(urls)
    ctl("resume", "--host", rest)
    clock.set(4 * 3600)
    with worker({"parked.max_age_ms": 86_400_000}, env=clock.env, name="one"):
        assert set(statuses(len(urls + more)).values()) == {"success"}


# --- a lane ---


@pytest.mark.slow
def test_a_paused_lane_waits_and_the_others_go_on(fleet_of, produce, statuses, polite, ctl, rows, lanes, settings, topics,
                                                  wait_until):
    """In both workers, with a host that the lanes share."""
    settings.update({"gate.max_wait_ms": 20_000, "gate.host_delay_ms": 300})
    polite.page("*", "*", Answer(delay_s=0.02))

    def send(lane, first, count):
        urls = [f"http://h{number % 5}.polite.example/{lane}{first + number}" for number in range(count)]
        for number, url in enumerate(urls):
            produce(lanes[lane], [json.dumps(page(url))], partition=number % 4)
        return urls
    with fleet_of("one", "two"):
        wait_until(lambda: len(rows()) == 2)
        bulk = send("bulk", 0, 120)
        wait_until(lambda: asked(polite) >= 10)
        ctl("pause", "--lane", "bulk", "--why", "the others first", "--wait", "30")
        before = stays(polite)
        assert before < len(bulk)
        urgent = send("priority", 0, 20) + send("daily", 0, 20)
        wait_until(lambda: asked(polite) == before + len(urgent))
        assert asked(polite) == stays(polite)
        time.sleep(14)
        lags = [lane["lag"] for one in rows().values() for lane in one["status"]["lanes"] if lane["lane"] == "bulk"]
        assert sum(lags) == len(bulk) - before
        wait_until(lambda: all("the others first" in (one["held_by"] or "") for one in rows().values()))
        ctl("resume", "--lane", "bulk")
        assert set(statuses(len(bulk) + len(urgent)).values()) == {"success"}


# --- the tables ---


def test_a_killed_worker_is_shown_as_silent_and_dead(worker, ctl, rows, instance, sql, wait_until, run_ctl):
    with worker(name="one") as daemon:
        wait_until(lambda: rows().get("one", {}).get("condition") == "running")
        daemon.kill()
    assert run_ctl("fleet").returncode == 0
    sql("UPDATE worker_state SET updated = updated - interval '40 s'")
    assert rows()["one"]["condition"] == "silent"
    sql("UPDATE worker_state SET updated = updated - interval '10 min'")
    done = run_ctl("fleet")
    assert done.returncode == 1 and "dead" in done.stdout and instance("one") in done.stdout
    sql("UPDATE worker_state SET updated = updated - interval '8 days'")
    with worker(name="two"):
        wait_until(lambda: set(rows()) == {"two"})


def test_all_orders_end_those_by_the_socket_too(worker, ctl, settings, instance):
    with worker(name="one"):
        here = {"state.dir": f"{settings['state.dir']}-one"}
        ctl("pause", instance("one"), "--local", overrides=here)
        ctl("pause", "--lane", "bulk")
        done = ctl("resume", "--all", overrides=here)
        assert f"instance {instance('one')}: goes on" in done and "lane bulk: goes on" in done
        ctl("resume", instance("one"), "--local", overrides=here, code=1)


def test_names_in_the_tables_say_nothing_to_terminals(ctl, run_ctl, sql):
    sql("INSERT INTO fleet_order (kind, target, action) VALUES ('host', E'a\\033[2J', 'pause')")
    for number in range(2):
        sql("INSERT INTO worker_state (instance, session, host, pid, version, started, updated, state, partitions, jobs,"
            " waiting, transfers, results, hits, rate) VALUES ("
            f"'i{number}', 1, 'm', 1, E'\\033]0;{number}', now(), now(), 'running', 0, 0, 0, 0, 0, 0, 0)")
    listed = run_ctl("fleet")
    taken = run_ctl("resume", "--all")
    assert "differ in version" in listed.stdout and taken.stdout.startswith("host a?[2J: goes on")
    assert "\033" not in listed.stdout + taken.stdout + taken.stderr


def test_a_silent_worker_is_not_taken_for_one_that_obeys(ctl, sql):
    for name, age_s in (("silent", 60), ("dead", 600)):
        sql("INSERT INTO worker_state (instance, session, host, pid, version, started, updated, orders_read, state,"
            f" partitions, jobs, waiting, transfers, results, hits, rate) SELECT '{name}', 1, 'm', 1, '1', t, t, t,"
            f" 'running', 0, 0, 0, 0, 0, 0, 0 FROM (SELECT now() - interval '{age_s} s' AS t) AS f")
    assert "obeyed by 0 of 1 workers" in ctl("pause", "--host", "example.org", "--wait", "1", code=1)
    ctl("drain", "silent", "--wait", "1", code=1)
    ctl("drain", "dead", "--wait", "1")


def test_orders_are_listed_replaced_and_taken_back(ctl, run_ctl, instance):
    done = run_ctl("pause", instance("nobody"), "--why", "a test")
    assert done.returncode == 0 and "no worker called" in done.stderr
    ctl("drain", "--lane", "bulk", "--lane", "daily")
    ctl("pause", "--host", "WWW.Example.org", "--host", ".example.com")
    ctl("drain", "--host", "https://example.org/")
    orders = [json.loads(line) for line in run_ctl("fleet", "--json").stdout.splitlines()]
    assert [(one["kind"], one["target"], one["action"]) for one in orders] == [
        ("instance", instance("nobody"), "pause"), ("lane", "bulk", "drain"), ("lane", "daily", "drain"),
        ("host", ".example.com", "pause"), ("host", "example.org", "drain")]
    assert orders[0]["why"] == "a test" and orders[0]["by"]
    assert "lane bulk: drained by" in run_ctl("fleet").stdout
    ctl("resume", "--host", "example.com", code=1)  # that was for all below it
    ctl("resume", "--all")
    assert not run_ctl("fleet", "--json").stdout
    for words in (["pause"], ["pause", "--lane", "fast"], ["pause", "--host", "a b"], ["resume", "--all", "x"],
                  ["pause", "--local", "--host", "example.org"], ["drain", "x", "--wait", "0"], ["fleet", "x"]):
        ctl(*words, code=2)


@pytest.mark.slow
@pytest.mark.private_servers("postgres")
def test_the_database_away_changes_no_order(worker, spread, statuses, polite, ctl, rows, postgres, instance, settings,
                                            wait_until):
    """A paused host stays so, an order by the socket is obeyed, and the row is written again by itself."""
    ctl("pause", "--host", "h0.polite.example")
    with worker(name="one") as daemon:
        urls = spread(hosts_of(2), 4)
        wait_until(lambda: asked(polite, "h1.polite.example") == 4)
        postgres.stop(mode="immediate")
        try:
            daemon.wait_log("the fleet sees this worker as silent")
            done = ctl("pause", instance("one"), code=3)
            here = {"state.dir": f"{settings['state.dir']}-one"}
            assert "paused" in ctl("pause", instance("one"), "--local", overrides=here)
            assert asked(polite, "h0.polite.example") == 0 and not done
        finally:
            postgres.start()
        wait_until(lambda: rows()["one"]["condition"] == "paused")
        ctl("resume", instance("one"), overrides=here)
        assert stays(polite, "h0.polite.example") == 0
        ctl("resume", "--all")
        assert set(statuses(len(urls)).values()) == {"success"}


def positions_of(brokers, group, topic):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": brokers, "group.id": group})
    try:
        parts = [confluent_kafka.TopicPartition(topic, number) for number in range(PARTITIONS)]
        return {one.partition: one.offset for one in consumer.committed(parts, timeout=20)}
    finally:
        consumer.close()


@pytest.mark.slow
def test_workers_drained_in_turn_at_work_commit_every_position(fleet_of, spread, statuses, polite, ctl, instance, kafka,
                                                               settings, topics, wait_until):
    """As at an upgrade of all machines: partitions go round, each request has one result, and at the end the positions
    are the ends of the logs."""
    polite.page("*", "*", Answer(delay_s=0.03))
    hosts = hosts_of(18)
    with fleet_of("one", "two"):
        urls = []
        for number, name in enumerate(("one", "two", "one")):
            urls += spread(hosts, 8, first=10 * number)
            wait_until(lambda enough=len(urls) - 60: asked(polite) >= enough)
            ctl("drain", instance(name), "--wait", "60")
            ctl("resume", instance(name), "--wait", "60")
        assert set(statuses(len(urls)).values()) == {"success"}
    assert sum(positions_of(kafka.brokers(), settings["kafka.group"], topics["requests"]).values()) == len(urls)
