# SPDX-License-Identifier: GPL-3.0-or-later
"""The wall clock is set a day forwards or back while a worker runs: the dates of records change, and nothing else."""

import datetime
import email.utils
import pathlib
import time

import pytest
from servers.polite import Answer, check_one_at_a_time
from servers.wallclock import DAY_S, WallClock

SESSION_S = 6
HOSTS = [f"h{number}.polite.example" for number in range(4)]


@pytest.fixture
def clock(program, tmp_path):
    return WallClock(program("libingclock.so"), tmp_path)


def pages(word, count):
    return [{"ingest_type": "component", "base_url": f"http://{host}/{word}{number}"} for host in HOSTS
            for number in range(count)]


def later(seconds):
    """An answer that says by when to come back, as servers do by their own clock, which is right."""
    now = time.time()
    return Answer(503, b"later", {"Date": email.utils.formatdate(now, usegmt=True),
                                  "Retry-After": email.utils.formatdate(now + seconds, usegmt=True)})


def days_of(results, word):
    """On which days, by the worker's clock, the pages of that word were fetched."""
    return {one["terminal"]["terminal_dt"][:8] for one in results if f"/{word}" in one["request"]["base_url"]}


def today(offset_days):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=offset_days)).strftime("%Y%m%d")


@pytest.mark.slow
@pytest.mark.parametrize("days", [1, -1])
def test_a_worker_whose_clock_is_set_by_a_day_goes_on(days, worker, submit, results, polite, sql, settings, clock):
    """Requests before and after, some of them told to come back later; and after a restart on the other day. Nobody
    waits for a day, robots.txt is neither forgotten nor kept for longer, the group keeps its member, and the files' names
    stay their own."""
    settings.update({"gate.robots": "obey", "gate.host_delay_ms": 20, "warc.max_bytes": 4096, "kafka.properties": [
        f"consumer.session.timeout.ms={SESSION_S * 1000}", "consumer.heartbeat.interval.ms=500"]})
    polite.robots("*", "User-agent: *\nDisallow: /no\n")
    submit(pages("before", 3))
    with worker(env=clock.env) as daemon:
        results(12)
        for host, answer in zip(HOSTS, [Answer(429, b"later", {"Retry-After": "1"}), later(2)]):
            polite.page(host, "/after0", answer, Answer())
        clock.set(days * DAY_S)
        time.sleep(SESSION_S + 1)  # longer than the session timeout: a missed heartbeat would revoke the assignment
        submit(pages("after", 3))
        found = results(24, timeout=60)
        assert days_of(found, "before") == {today(0)} and days_of(found, "after") == {today(days)}
        assert "revoked" not in daemon.log()
        held = sql("SELECT host FROM host_state WHERE next_fetch_at > clock_timestamp() + interval '1 hour'")
        assert not held
    with worker(env=clock.env):
        submit(pages("again", 3))
        found = results(36, timeout=60)
    assert {one["status"] for one in found} == {"success"}
    assert days_of(found, "again") == {today(days)}
    for host in HOSTS:
        paths = polite.paths(host)
        # Once for each worker.
        assert paths.count("/robots.txt") == 2 and paths[0] == "/robots.txt", paths
        check_one_at_a_time(polite.seen(host))
    assert not sql("SELECT host FROM host_state WHERE holder IS NOT NULL")
    names = [row["warc_path"] for row in sql("SELECT DISTINCT warc_path FROM cdx")]
    kept = {path.name for path in pathlib.Path(settings["warc.dir"]).iterdir()}
    assert set(names) == kept and len(kept) > 5
