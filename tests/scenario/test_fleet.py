# SPDX-License-Identifier: GPL-3.0-or-later
"""Several workers are one polite guest: they agree through PostgreSQL who may ask a host, and when. Judged by the
record of a server that all of them ask."""

import collections
import contextlib
import json
import time

import pytest
from servers.polite import Answer, check_one_at_a_time, gaps

NAMES = ("one", "two", "three")
# The shortest that the configuration lets pass with this limit of a transfer. A worker stops beginning transfers when
# a lease could end before them: so long after it last extended the lease, at most.
TIMEOUT_MS = 1000
LEASE_MS = 11_000
BELIEVED_S = (LEASE_MS - TIMEOUT_MS - 5000) / 1000


PARTITIONS = 12


@pytest.fixture
def partitions():
    return PARTITIONS


@pytest.fixture
def spread(submit):
    """spread(hosts, count): so many requests for each host, dealt out so that every partition, and with that every
    worker, has some of each host's. Returns their URLs."""
    def send(hosts, count):
        urls = {f"http://{host}/{number}": number % PARTITIONS for host in hosts for number in range(count)}
        for partition in range(PARTITIONS):
            submit([page(url) for url, where in urls.items() if where == partition], partition=partition)
        return list(urls)
    return send


@pytest.fixture(autouse=True)
def short_leases(settings):
    """Transfers end within a second, so that leases may be short, and a dead worker's are soon another's. The group
    notices the dead one as soon, too."""
    settings.update({
        "fetch.timeout_ms": TIMEOUT_MS, "fetch.connect_timeout_ms": TIMEOUT_MS, "gate.lease_ms": LEASE_MS,
        "gate.adaptive_factor": 0, "gate.backoff_ms": 300, "gate.host_delay_ms": 100, "stop.drain_ms": 4000,
        "kafka.properties": ["consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=500"]})


@pytest.fixture
def fleet(worker):
    """fleet() starts the workers, each with an instance and folders of its own, and is a mapping of them by name."""
    @contextlib.contextmanager
    def run(names=NAMES, overrides=None):
        with contextlib.ExitStack() as stack:
            yield {name: stack.enter_context(worker(overrides, name=name)) for name in names}
    return run


def page(url):
    return {"ingest_type": "component", "base_url": url}


def host_of(number):
    return f"h{number}.polite.example"


def hosts_of(count):
    return [host_of(number) for number in range(count)]


@pytest.fixture
def urls_with_results(consume, topics):
    """urls_with_results(n): waits until so many different requests have a result, and returns them with statuses."""
    def read(count, timeout=60):
        deadline = time.monotonic() + timeout
        total = count
        while True:
            messages = consume(topics["results"], total, timeout=max(1, deadline - time.monotonic()))
            found = collections.defaultdict(list)
            for message in messages:
                result = json.loads(message.value())
                found[result["request"]["base_url"]].append(result["status"])
            if len(found) >= count:
                return found
            total = len(messages) + count - len(found)
    return read


def check_every_host(polite, hosts, delay_s):
    for host in hosts:
        check_one_at_a_time(polite.seen(host), delay_s)


@pytest.mark.slow
def test_three_workers_one_of_them_killed(fleet, spread, urls_with_results, polite, wait_until, sql):
    """Every host's URLs are on all partitions, so that all workers want all hosts, and the leases go round. No host
    ever sees two requests at once, nor two within the delay, and each request has a result."""
    polite.page("*", "*", Answer(delay_s=0.03))
    with fleet() as workers:
        urls = spread(hosts_of(12), 24)
        # In the middle of its share: it has stored rows, and holds hosts that the others want.
        wait_until(lambda: sql("SELECT url FROM cdx WHERE warc_path LIKE '%%-two%%'"), timeout=30)
        wait_until(lambda: sql("SELECT host FROM host_state WHERE holder LIKE '%%-two'"), timeout=30)
        workers["two"].kill()
        found = urls_with_results(len(urls), timeout=60)
    assert set(found) == set(urls)
    assert {one for several in found.values() for one in several} == {"success"}
    paths = [row["warc_path"] for row in sql("SELECT warc_path FROM cdx")]
    assert {name for name in NAMES for path in paths if f"-{name}" in path} == set(NAMES)
    check_every_host(polite, {one.host for one in polite.seen()}, 0.1)


def test_retry_after_is_for_all_workers(fleet, spread, urls_with_results, polite, wait_until):
    """One worker is told to come back in two seconds; the others, who want the same host, wait as well."""
    host = "busy.polite.example"
    polite.page(host, "*", Answer(delay_s=0.03), Answer(429, b"later", {"Retry-After": "2"}), Answer())
    with fleet():
        urls = spread([host], 12)
        found = urls_with_results(len(urls), timeout=40)
    assert {one for several in found.values() for one in several} == {"success"}
    seen = polite.seen(host)
    drew = next(number for number, one in enumerate(seen) if one.status == 429)
    assert 1.99 <= gaps(seen)[drew] < 5
    check_one_at_a_time(seen, 0.1)


@pytest.mark.slow
@pytest.mark.private_servers("postgres")
def test_without_the_database_nobody_fetches(fleet, spread, urls_with_results, polite, postgres, wait_until):
    """Stopped: leases run out and nothing new is asked of anybody. Back: it goes on by itself."""
    polite.page("*", "*", Answer(delay_s=0.03))
    with fleet(NAMES[:2], {"gate.host_delay_ms": 300}):
        urls = spread(hosts_of(12), 30)
        wait_until(lambda: len(polite.seen()) >= 24, timeout=30)
        postgres.stop(mode="immediate")
        try:
            stopped = time.monotonic()
            time.sleep(BELIEVED_S + 0.5)  # until the leases have run out
            before = len(polite.seen())
            time.sleep(1.5)  # five host delays, in which a request could be made
            during = polite.seen()
        finally:
            postgres.start()
        found = urls_with_results(len(urls), timeout=60)
    assert before < len(urls), "there was nothing left to do"
    assert len(during) == before, [one.start - stopped for one in during[before:]]
    assert set(found) == set(urls)
    check_every_host(polite, {one.host for one in polite.seen()}, 0.3)


def test_a_rebalance_shortens_no_pause(worker, spread, urls_with_results, polite, wait_until):
    """A second worker comes while the first one's transfers are under way: they are called off, and done again by
    whoever owns them now. The hosts have been asked all the same, and are owed their pause."""
    # At paces of their own: hosts in step would all be resting at the same moments.
    for number, host in enumerate(hosts_of(6)):
        polite.page(host, "*", Answer(delay_s=0.3 + 0.1 * number))
    urls = spread(hosts_of(6), 9)
    delay = {"gate.host_delay_ms": 500}
    with worker(delay, name="one"):
        wait_until(lambda: len(polite.seen()) >= 6, timeout=20)
        with worker(delay, name="two"):
            found = urls_with_results(len(urls), timeout=40)
    assert set(found) == set(urls)
    assert len(polite.seen()) > len(urls), "nothing was called off"
    check_every_host(polite, hosts_of(6), 0.5)


def test_a_clean_stop_gives_hosts_back_at_once(worker, spread, urls_with_results, polite, sql):
    """The next worker gets them without waiting for leases to end, be they of a minute."""
    overrides = {"gate.lease_ms": 60_000, "gate.host_delay_ms": 0}
    spread(hosts_of(12), 1)
    with worker(overrides, name="first"):
        urls_with_results(12)
    assert sql("SELECT count(*) AS n FROM host_state WHERE holder IS NOT NULL") == [{"n": 0}]
    # The group keeps the first one's partitions for its session: a group of its own for the second.
    started = time.monotonic()
    with worker({**overrides, "kafka.group": "another"}, name="second"):
        while len(polite.seen()) < 24:
            assert time.monotonic() < started + 10, "the hosts were not given back"
            time.sleep(0.05)
    assert not sql("SELECT host FROM host_state WHERE holder IS NOT NULL")


def test_a_killed_worker_comes_back_to_its_own_hosts(worker, spread, urls_with_results, polite, wait_until):
    """Under the same name, it need not wait for its leases of a minute to end."""
    polite.page("*", "*", Answer(delay_s=0.1))
    overrides = {"gate.lease_ms": 60_000}
    urls = spread(hosts_of(6), 10)
    with worker(overrides, name="same") as daemon:
        wait_until(lambda: len(polite.seen()) >= 12, timeout=20)
        daemon.kill()
    with worker(overrides, name="same"):
        found = urls_with_results(len(urls), timeout=30)
    assert set(found) == set(urls)
    check_every_host(polite, {one.host for one in polite.seen()}, 0.1)
