# SPDX-License-Identifier: GPL-3.0-or-later
"""How hosts are treated, from their side: one at a time, with pauses, and as they ask; and that it costs nobody else."""

import json
import signal
import time

import pytest
from servers.names import NameServer
from servers.polite import (Answer, PoliteServer, check_one_at_a_time, gaps, http_date_in, most_at_once, redirect)


@pytest.fixture(autouse=True)
def no_surprises(settings):
    """Only the pauses that a test asks for."""
    settings.update({"gate.adaptive_factor": 0, "gate.backoff_ms": 300, "fetch.connect_timeout_ms": 2000,
                     "fetch.timeout_ms": 20_000})


def page(url):
    return {"ingest_type": "component", "base_url": url}


def statuses(found):
    return {url: one["status"] for url, one in found.items()}


# --- the everyday pause ---


def test_one_at_a_time_whatever_the_scheme_and_www(worker, submit, results_by_url, polite):
    """http, https and www. are one host; the pause is counted from the end of an answer."""
    names = ["http://site.test.example", "http://www.site.test.example", "https://site.test.example",
             "https://www.site.test.example"]
    polite.page("*", "*", Answer(delay_s=0.05))
    urls = [f"{name}/{number}" for number in range(2) for name in names]
    submit([page(url) for url in urls])
    with worker({"gate.host_delay_ms": 150}):
        found = results_by_url(len(urls))
    assert set(statuses(found).values()) == {"success"}
    assert len(polite.seen()) == len(urls)
    check_one_at_a_time(polite.seen(), 0.15)


def test_several_at_a_time_where_an_operator_says_so(worker, submit, results_by_url, polite, host_rules):
    host_rules([{"host": "strong.test.example", "concurrency": 3}])
    polite.page("*", "*", Answer(delay_s=0.2))
    submit([page(f"http://{name}.test.example/{number}") for number in range(9) for name in ("strong", "weak")])
    with worker():
        results_by_url(18)
    assert most_at_once(polite.seen("strong.test.example")) == 3
    assert most_at_once(polite.seen("weak.test.example")) == 1


def test_slow_answers_ask_for_longer_pauses(worker, submit, results_by_url, polite):
    polite.page("*", "*", Answer(delay_s=0.2))
    submit([page(f"http://tired.test.example/{number}") for number in range(3)])
    with worker({"gate.adaptive_factor": 3, "gate.adaptive_max_ms": 10_000}):
        results_by_url(3)
    check_one_at_a_time(polite.seen(), 0.55)


def test_redirects_and_tries_wait_their_turn_as_well(worker, submit, results_by_url, polite):
    host = "turns.test.example"
    for number in range(3):
        polite.page(host, f"/{number}", redirect(f"/{number}/to"))
    submit([page(f"http://{host}/{number}") for number in range(3)])
    with worker({"gate.host_delay_ms": 150}):
        found = results_by_url(3)
    assert set(statuses(found).values()) == {"success"}
    assert len(polite.seen(host)) == 6
    check_one_at_a_time(polite.seen(host), 0.15)


# --- what hosts say: 429, 503, Retry-After ---


# host: status, headers, the least hold
HOLDS = {
    "told.test.example": (429, {"Retry-After": "1"}, 1.0),
    "down.test.example": (503, {"Retry-After": "1"}, 1.0),
    "dated.test.example": (429, http_date_in(2), 1.0),  # a date has no fractions of a second
    "silent.test.example": (503, None, 0.22),  # the back-off of 300 ms, less its jitter
}


def test_a_hold_is_for_the_whole_host(worker, submit, results_by_url, polite):
    """Others of the host wait as long, another host does not; who drew it is tried again and succeeds."""
    for host, (status, headers, _) in HOLDS.items():
        polite.page(host, "/drew", Answer(status, b"later", headers), Answer())
    submit([page(f"http://{host}/drew") for host in HOLDS])
    with worker():
        for host in HOLDS:
            wait_for_requests(polite, host, 1)
        submit([page(f"http://{host}/{number}") for host in [*HOLDS, "free.test.example"] for number in range(4)])
        found = results_by_url(5 * len(HOLDS) + 4)
    assert set(statuses(found).values()) == {"success"}
    for host, (_, _, hold_s) in HOLDS.items():
        seen = polite.seen(host)
        assert [one.path for one in seen].count("/drew") == 2 and len(seen) == 6
        check_one_at_a_time(seen)
        assert hold_s - 0.01 <= gaps(seen)[0] < hold_s + 2
        if hold_s >= 1:
            assert polite.seen("free.test.example")[0].start < seen[1].start


def wait_for_requests(polite, host, count, timeout=10):
    deadline = time.monotonic() + timeout
    while len([one for one in polite.seen(host) if one.end]) < count:
        assert time.monotonic() < deadline, f"{len(polite.seen(host))} of {count} requests of {host}"
        time.sleep(0.01)


def test_too_many_requests_for_ever_ends(worker, submit, results_by_url, polite):
    """Each further 429 waits longer, and there are not many of them."""
    host = "never.test.example"
    polite.page(host, "*", Answer(429, b"later"))
    submit(page(f"http://{host}/"))
    with worker({"gate.backoff_ms": 100}):
        found = results_by_url(1)
    assert statuses(found) == {f"http://{host}/": "terminal-bad-status"}
    assert found[f"http://{host}/"]["terminal"]["terminal_status_code"] == 429
    assert 3 <= len(polite.seen(host)) <= 10
    pauses = gaps(polite.seen(host))
    # Doubled each time, and shortened by a quarter at most; a busy machine may make any of them longer.
    assert all(pause >= 0.75 * 0.1 * 2 ** number - 0.01 for number, pause in enumerate(pauses)), pauses


def test_a_long_hold_is_handed_back(worker, submit, results_by_url, polite):
    """Longer than gate.max_wait_ms: all of the host's requests end, with the time to come back at."""
    host = "closed.test.example"
    polite.page(host, "*", Answer(429, b"tomorrow", {"Retry-After": "600"}))
    submit([page(f"http://{host}/{number}") for number in range(5)])
    with worker({"gate.max_wait_ms": 5000}):
        found = results_by_url(5, timeout=4)
        submit(page(f"http://{host}/late"))
        found = results_by_url(6, timeout=4)
    assert set(statuses(found).values()) == {"host-backoff"}
    assert all(590 <= one["retry_after"] <= 600 for one in found.values())
    assert len(polite.seen(host)) == 1


def test_what_retry_after_may_say(worker, submit, results_by_url, polite):
    """Nonsense counts as unsaid, the past as now, and no host can be put off for longer than the ceiling. Waiting is
    not work: the deadline of the request does not run meanwhile."""
    said = {"soon": 0.07, "-5": 0.07, "1.5": 0.07, "0": 0.0, "Sun, 06 Nov 1994 08:49:37 GMT": 0.0,
            "99999999999999999999999": 1.5, "3000": 1.5}
    hosts = {f"says{number}.test.example": words for number, words in enumerate(said)}
    for host, words in hosts.items():
        polite.page(host, "/", Answer(503, b"later", {"Retry-After": words}), Answer())
    submit([page(f"http://{host}/") for host in hosts])
    with worker({"gate.retry_after_max_ms": 1500, "gate.backoff_ms": 100, "job.deadline_ms": 1000}):
        found = results_by_url(len(hosts))
    assert set(statuses(found).values()) == {"success"}
    for host, words in hosts.items():
        gap = gaps(polite.seen(host))[0]
        assert said[words] - 0.01 <= gap < said[words] + 1.2, (words, gap)


def test_a_hold_outlives_the_worker(worker, submit, results_by_url, polite):
    """kill -9 while a host is held: the same worker, started again, does not ask before the time."""
    polite.page("held.test.example", "/", Answer(429, b"later", {"Retry-After": "4"}), Answer())
    submit(page("http://held.test.example/"))
    with worker() as daemon:
        wait_for_requests(polite, "held.test.example", 1)
        time.sleep(0.5)  # the hold is written to the database with the next batch of leases
        daemon.kill()
    with worker():
        assert results_by_url(1)["http://held.test.example/"]["status"] == "success"
    assert 3.99 <= gaps(polite.seen("held.test.example"))[0] < 8


@pytest.mark.unfinished("they are left to the next owner, and there is none")
def test_stopping_does_not_wait_for_holds(worker, submit, polite):
    """Those who wait for a held host, for their second try or for its robots.txt, are left to the next owner."""
    polite.page("held.test.example", "*", Answer(429, b"later", {"Retry-After": "120"}))
    polite.page("shut.test.example", "/robots.txt", Answer(503, b"later", {"Retry-After": "120"}))
    submit([page(f"http://{host}.test.example/{number}") for number in range(3) for host in ("held", "shut")])
    with worker({"gate.robots": "obey", "stop.drain_ms": 8000}) as daemon:
        wait_for_requests(polite, "held.test.example", 2)
        wait_for_requests(polite, "shut.test.example", 1)
        started = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - started < 5


# --- patience, and its end ---


def test_what_passes_is_tried_again_and_what_does_not_is_not(worker, submit, results_by_url, polite):
    polite.page("shaky.test.example", "/reset", Answer(reset=True), Answer(reset=True), Answer())
    polite.page("shaky2.test.example", "/cut", Answer(cut=20), Answer())
    polite.page("shaky3.test.example", "/500", Answer(500, b"oops"), Answer())
    polite.page("firm.test.example", "/404", Answer(404, b"gone"))
    polite.page("firm2.test.example", "/403", Answer(403, b"no"))
    submit([page(f"http://{one}") for one in ("shaky.test.example/reset", "shaky2.test.example/cut",
                                              "shaky3.test.example/500", "firm.test.example/404",
                                              "firm2.test.example/403")])
    with worker():
        found = results_by_url(5)
    assert statuses(found) == {
        "http://shaky.test.example/reset": "success", "http://shaky2.test.example/cut": "success",
        "http://shaky3.test.example/500": "success", "http://firm.test.example/404": "terminal-bad-status",
        "http://firm2.test.example/403": "terminal-bad-status"}
    assert [len(polite.seen(host)) for host in ("shaky.test.example", "shaky2.test.example", "shaky3.test.example",
                                                "firm.test.example", "firm2.test.example")] == [3, 2, 2, 1, 1]


def test_a_breaker_spares_a_host_that_only_fails(worker, submit, results_by_url, polite):
    """Forty URLs of a broken host draw a handful of requests; another host's go on meanwhile."""
    polite.page("broken.test.example", "*", Answer(reset=True))
    broken = [f"http://broken.test.example/{number}" for number in range(40)]
    fine = [f"http://fine.test.example/{number}" for number in range(20)]
    submit([page(url) for url in broken + fine])
    with worker({"gate.breaker_failures": 4, "gate.backoff_ms": 1000, "gate.max_wait_ms": 1500}):
        found = results_by_url(60, timeout=30)
    assert {found[url]["status"] for url in fine} == {"success"}
    bad = {found[url]["status"] for url in broken}
    assert bad <= {"host-backoff", "read-error"} and "host-backoff" in bad
    assert len(polite.seen("broken.test.example")) <= 10
    assert polite.seen("fine.test.example")[-1].start - polite.seen("fine.test.example")[0].start < 3


@pytest.mark.unfinished("the breaker stays open")
def test_an_open_breaker_is_seen_from_outside(worker, submit, polite, wait_until):
    """The manager's status counts it, and the log names the host, in one line for all."""
    polite.page("broken.test.example", "*", Answer(500))
    submit([page(f"http://broken.test.example/{number}") for number in range(10)])
    with worker({"gate.breaker_failures": 3, "gate.backoff_ms": 60_000}) as daemon:
        daemon.wait_log(r"info: breakers of hosts: 1 opened, 1 open now, 0 before; "
                        r"longest: broken\.test\.example, 3 failures in a row, held for \d\d s$")
        wait_until(lambda: any(", 1 host held, 1 breaker open" in note for note in daemon.notifications), timeout=5)
        assert daemon.log().count("breakers of hosts") == 1


def test_a_breaker_closes_again(worker, submit, results_by_url, polite):
    """Half-open, one transfer tries the host; when it is good all goes on."""
    host = "healed.test.example"
    polite.page(host, "*", Answer(reset=True))
    submit([page(f"http://{host}/{number}") for number in range(10)])
    with worker({"gate.breaker_failures": 3, "gate.host_concurrency": 3, "gate.backoff_ms": 800}):
        wait_for_requests(polite, host, 3)
        time.sleep(0.2)  # the third reset has to reach the worker before the host is healed
        polite.page(host, "*", Answer(delay_s=0.1))
        found = results_by_url(10)
    assert set(statuses(found).values()) == {"success"}
    seen = polite.seen(host)
    good = next(number for number, one in enumerate(seen) if one.status == 200)
    assert good <= 8  # the three, and those that had begun before the third was known to fail
    assert seen[good].start - seen[good - 1].end >= 0.55
    assert seen[good + 1].start >= seen[good].end - 0.01
    assert most_at_once(seen[good + 1:]) == 3


@pytest.mark.unfinished("nobody waits for the slow host")
def test_a_slow_host_delays_nobody_else(worker, submit, results_by_url, polite):
    """A host that takes seconds for an answer and has many requests, among twenty that answer at once."""
    polite.page("minute.test.example", "*", Answer(delay_s=6))
    urls = [f"http://h{number}.polite.example/{path}" for path in range(3) for number in range(20)]
    submit([page(f"http://minute.test.example/{number}") for number in range(3)] + [page(url) for url in urls])
    with worker({"gate.concurrency": 4, "intake.max_waiting": 100, "stop.drain_ms": 7000}):
        found = results_by_url(60, timeout=30)
    assert all("polite.example" in url for url in found)
    check_one_at_a_time(polite.seen("minute.test.example"))


def test_many_names_of_one_address_share_its_budget(worker, submit, results_by_url, settings):
    """A hundred names at one address, each with a lock of its own: the address has at most two transfers at once."""
    settings["fetch.connect_to"] = []
    with NameServer({"*": "127.0.0.2"}) as names, PoliteServer(address="127.0.0.2") as server:
        server.page("*", "*", Answer(delay_s=0.02))
        port = server.ports["http"]
        submit([page(f"http://n{number}.crowd.example:{port}/") for number in range(100)])
        with worker({"fetch.dns_servers": names.address, "fetch.allow_port": [str(port)],
                     "gate.address_concurrency": 2, "gate.concurrency": 50}):
            found = results_by_url(100)
    assert set(statuses(found).values()) == {"success"}
    assert len({one.host for one in server.seen()}) == 100
    assert most_at_once(server.seen()) == 2


def test_a_domain_or_an_address_may_be_the_host(worker, submit, results_by_url, settings):
    """gate.host_key: what counts as one host."""
    settings["fetch.connect_to"] = []
    with NameServer({"*": "127.0.0.3"}) as names, PoliteServer(address="127.0.0.3") as server:
        server.page("*", "*", Answer(delay_s=0.1))
        port = server.ports["http"]
        common = {"fetch.dns_servers": names.address, "fetch.allow_port": [str(port)], "gate.address_concurrency": 0}
        hosts = ["a.crowd.example", "b.crowd.example", "c.d.crowd.example", "other.example"]
        for number, (key, expected) in enumerate({"host": 4, "domain": 2, "address": 1}.items()):
            submit([page(f"http://{host}:{port}/{key}/{path}") for path in range(2) for host in hosts])
            with worker({**common, "gate.host_key": key}):
                results_by_url(8 * (number + 1))
            seen = [one for one in server.seen() if one.path.startswith(f"/{key}/")]
            assert len(seen) == 8 and most_at_once(seen) == expected, (key, most_at_once(seen))
            if key == "domain":
                check_one_at_a_time([one for one in seen if one.host.endswith("crowd.example")])


def test_a_name_that_does_not_exist_is_looked_up_once(worker, submit, results_by_url, settings):
    settings["fetch.connect_to"] = []
    with NameServer({"gone.example": None}) as names:
        submit([page(f"http://gone.example/{number}") for number in range(20)])
        with worker({"fetch.dns_servers": names.address}):
            found = results_by_url(20)
    assert set(statuses(found).values()) == {"invalid-host-resolution"}
    assert 1 <= len([one for one in names.asked if one[0] == "gone.example"]) <= 2, names.asked


# --- lanes ---


@pytest.mark.unfinished("nobody waits for the bulk lane")
def test_priority_has_slots_of_its_own(worker, submit, produce, polite, lanes, wait_until):
    """All that the others may have is taken by slow hosts: an urgent request for another host does not wait."""
    polite.page("*", "*", Answer(delay_s=2))
    polite.page("quick.test.example", "/", Answer())
    produce(lanes["bulk"], [json.dumps(page(f"http://b{number}.polite.example/")) for number in range(40)])
    with worker({"gate.concurrency": 16, "stop.drain_ms": 3000}):
        wait_until(lambda: len([one for one in polite.seen() if not one.end or one.end > time.monotonic()]) >= 15)
        sent = time.monotonic()
        produce(lanes["priority"], [json.dumps(page("http://quick.test.example/"))])
        wait_until(lambda: polite.seen("quick.test.example"), timeout=5)
    assert polite.seen("quick.test.example")[0].start - sent < 0.5
    assert most_at_once(polite.seen()) <= 16


@pytest.mark.unfinished("nobody waits for the bulk lane")
def test_a_full_bulk_lane_lets_priority_through(worker, submit, produce, consume, polite, topics, lanes, wait_until):
    """More bulk requests of one host than may wait: an urgent one for it is next, and another host's is at once."""
    polite.page("loaded.test.example", "*", Answer(delay_s=0.2))
    produce(lanes["bulk"], [json.dumps(page(f"http://loaded.test.example/{number}")) for number in range(200)])
    urgent = [page("http://loaded.test.example/urgent"), page("http://other.test.example/urgent")]
    with worker({"intake.max_waiting": 20, "stop.drain_ms": 3000}):
        wait_for_requests(polite, "loaded.test.example", 5)
        sent = time.monotonic()
        produce(lanes["priority"], [json.dumps(one) for one in urgent])
        wait_until(lambda: polite.seen("loaded.test.example", "/urgent") and polite.seen("other.test.example"), timeout=5)
    seen = polite.seen("loaded.test.example")
    at = [one.path for one in seen].index("/urgent")
    # One transfer was under way when it came, or another began before it had been taken in.
    assert len([one for one in seen[:at] if one.start > sent]) <= 1
    assert polite.seen("other.test.example")[0].start - sent < 0.5
    check_one_at_a_time(seen)


def test_requests_of_all_lanes_have_results(worker, submit, produce, results_by_url, polite, lanes, run_ctl):
    for lane in lanes:
        done = run_ctl("submit", "--lane", lane, "-", input=json.dumps(page(f"http://{lane}.test.example/")) + "\n")
        assert done.returncode == 0 and f"1 request sent to {lanes[lane]}" in done.stderr, done.stderr
    submit(page("http://plain.test.example/"))
    with worker():
        found = results_by_url(4)
    assert set(statuses(found).values()) == {"success"}
    assert len(found) == 4


# --- operators ---


def test_a_blocked_host_is_left_alone(worker, submit, results_by_url, polite, run_ctl):
    """Blocked before the start, and while the worker runs: within a minute, by looking every 10 s."""
    def block(host):
        done = run_ctl("hosts", "block", host, "--why", "its owner asked us to")
        assert done.returncode == 0, done.stderr
    block("before.test.example")
    submit([page("http://before.test.example/"), page("http://during.test.example/1")])
    with worker():
        found = results_by_url(2)
        assert statuses(found) == {"http://before.test.example/": "skip-url-blocklist",
                                   "http://during.test.example/1": "success"}
        block("during.test.example")
        deadline = time.monotonic() + 60
        number = 1
        while found[f"http://during.test.example/{number}"]["status"] == "success":
            assert time.monotonic() < deadline, "not honoured after a minute"
            time.sleep(1)  # between two polls
            number += 1
            submit(page(f"http://during.test.example/{number}"))
            found = results_by_url(number + 1)
        assert found[f"http://during.test.example/{number}"]["status"] == "skip-url-blocklist"
    assert not polite.seen("before.test.example")
    assert len(polite.seen("during.test.example")) == number - 1


def test_rules_about_hosts_are_read_again(worker, submit, results_by_url, polite, host_rules):
    """On SIGHUP. When they are wrong, the ones before stay."""
    host_rules([{"host": "tuned.test.example", "delay_ms": 0}])
    urls = [f"http://tuned.test.example/{number}" for number in range(8)]
    submit([page(url) for url in urls[:4]])
    with worker() as daemon:
        results_by_url(4)
        host_rules([{"host": "tuned.test.example", "delay_ms": 400}])
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_notified("RELOADING=1", 30)
        daemon.wait_log("rules reloaded")
        submit([page(url) for url in urls[4:6]])
        results_by_url(6)
        (host_rules([]) / "hosts.yaml").write_text("- host: tuned.test.example\n  delay_ms: soon\n")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log(r"hosts\.yaml:2:")
        submit([page(url) for url in urls[6:]])
        results_by_url(8)
    seen = polite.seen("tuned.test.example")
    assert max(gaps(seen[:4])) < 0.35
    check_one_at_a_time(seen[4:], 0.4)


# --- what is said of the way ---


def test_userinfo_is_dropped_and_said(worker, submit, results_by_url, sql, polite):
    submit([{**page("http://user:secret@named.test.example/"), "link_source": "test",
             "link_source_id": "http://user:secret@id.test.example/",
             "edit_extra": {"seen at": "http://user:secret@extra.test.example/"}},
            page("http://plain.test.example/")])
    with worker({"log.level": "debug"}) as daemon:
        found = results_by_url(2)
    assert set(statuses(found).values()) == {"success"}
    request = polite.seen("named.test.example")[0]
    assert "authorization" not in request.headers and "secret" not in str(request)
    result = found["http://user:secret@named.test.example/"]
    assert result["userinfo_dropped"] is True
    assert "userinfo_dropped" not in found["http://plain.test.example/"]
    assert result["terminal"]["terminal_url"] == "http://named.test.example/"
    # Only the echoed request has it.
    assert "secret" not in str({**result, "request": None}) + daemon.log()
    rows = {table: sql(f"SELECT * FROM {table}") for table in ("ingest_request", "ingest_file_result", "cdx")}
    assert "secret" not in str(rows)
    assert [row["link_source_id"] for row in rows["ingest_request"]] == ["http://***@id.test.example/"]
    assert {row["base_url"] for row in rows["ingest_file_result"]} == {
        "http://***@named.test.example/", "http://plain.test.example/"}


def test_tls_fallback_is_recorded(worker, submit, results_by_url, web, host_rules, polite):
    """A certificate that nobody vouches for is accepted only where that was allowed, and the result says so."""
    host_rules([{"host": "old.polite.example", "tls_fallback": True}])
    with PoliteServer(tls=web.authority, trusted=False) as server:
        submit([page("https://old.polite.example/"), page("https://new.polite.example/"),
                page("https://good.test.example/")])
        with worker({"fetch.connect_to": server.connect_to("old.polite.example") +
                     server.connect_to("new.polite.example")}):
            found = results_by_url(3)
    assert statuses(found) == {"https://old.polite.example/": "success", "https://new.polite.example/": "tls-error",
                               "https://good.test.example/": "success"}
    assert found["https://old.polite.example/"]["tls_unverified"] is True
    assert "tls_unverified" not in found["https://good.test.example/"]


def test_without_a_database_it_says_that_it_is_alone(worker, submit, results_by_url, polite):
    submit([page(f"http://alone.test.example/{number}") for number in range(3)])
    with worker({"postgres.dsn": "", "gate.host_delay_ms": 100}) as daemon:
        results_by_url(3)
        said = [line for line in daemon.log().splitlines() if "postgres.dsn" in line and "host" in line]
    assert len(said) == 1, said
    check_one_at_a_time(polite.seen("alone.test.example"), 0.1)
