# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that kill the worker: each ends in dead letters after three deaths, and nobody else does.

The worker dies of a real SIGSEGV, in curl's read of an answer that has the words of the rule (tests/fault); a
supervisor of the test starts it again, as the service manager would."""

import json
import signal

import pytest

from servers.polite import Answer

POISON = "X-Poison"
FATAL = Answer(headers={POISON: "yes"})
# After a death hosts rest for as long as any of their pauses may be: keep that short.
HASTY = {"gate.crawl_delay_max_ms": 100, "gate.adaptive_max_ms": 100, "gate.host_delay_ms": 50}


def request(host, path="/page"):
    return {"ingest_type": "component", "base_url": f"http://{host}{path}"}


def supervise(worker, overrides, env, done, deaths=10):
    """Starts the worker again and again until done(), and returns how it has died."""
    ended = []
    for _ in range(deaths + 1):
        with worker(overrides, env=env, ready=False) as daemon:
            while daemon.running() and not done():
                pass
            if daemon.running():
                assert daemon.stop() == 0
                return ended
            ended.append(daemon.wait_end(5))
    raise AssertionError(f"it has died {len(ended)} times: {ended}")


@pytest.mark.slow
def test_a_request_that_kills_the_worker_ends_in_dead_letters(
        worker, faults, polite, submit, consume, topics, schema):
    good = [f"h{number}.test.example" for number in range(200)]
    polite.page("poison.test.example", "/page", FATAL)
    for name in good:
        polite.page(name, "/page", Answer(delay_s=0.1))
    faults.set(f"recv SEGV has={POISON}")
    submit([request(name) for name in good[:100]] + [request("poison.test.example")]
           + [request(name) for name in good[100:]])

    def answered():
        return {json.loads(one.value())["request"]["base_url"]
                for one in consume(topics["results"], 0, settle=0.3)}

    def done():
        return len(answered()) >= 200 and consume(topics["dead"], 0, settle=0.3)
    assert supervise(worker, HASTY, faults.env, done) == [-signal.SIGSEGV] * 3
    assert faults.count()["recv"] == 3
    letters = consume(topics["dead"], 1, settle=0.5)
    assert len(letters) == 1
    headers = {name: value.decode() for name, value in letters[0].headers()}
    assert headers["ingest.errors.reason"] == "poison"
    assert headers["ingest.errors.stage"] == "fetch"
    assert headers["ingest.errors.deaths"] == "3"
    assert json.loads(letters[0].value()) == request("poison.test.example")
    assert answered() == {f"http://{name}/page" for name in good}


def fetched(polite, host):
    return len([one for one in polite.seen(host) if one.path != "/robots.txt"])


@pytest.mark.slow
def test_a_worker_that_is_killed_from_outside_condemns_nobody(
        worker, polite, submit, results, consume, topics, wait_until):
    polite.page("slow.test.example", "/page", *[Answer(delay_s=30)] * 10, Answer())
    submit(request("slow.test.example"))
    for number in range(10):
        with worker(HASTY) as daemon:
            wait_until(lambda: fetched(polite, "slow.test.example") == number + 1)
            daemon.kill()
    with worker(HASTY) as daemon:
        assert [one["status"] for one in results(1, settle=0.5)] == ["success"]
        daemon.wait_log("was killed, or its machine died, with 1 requests in flight")
    assert "suspects" not in daemon.log().partition("stopped:")[0]
    assert consume(topics["dead"], 0, settle=0.5) == []


def test_the_managers_watchdog_is_a_fault_of_the_worker(worker, polite, submit, consume, topics, wait_until):
    """It sends SIGABRT to a worker whose loop does not turn."""
    polite.page("slow.test.example", "/page", Answer(delay_s=30))
    submit(request("slow.test.example"))
    for number in range(3):
        with worker(HASTY) as daemon:
            wait_until(lambda: fetched(polite, "slow.test.example") == number + 1)
            daemon.process.send_signal(signal.SIGABRT)
            assert daemon.wait_end(10) == -signal.SIGABRT
    with worker(HASTY):
        assert len(consume(topics["dead"], 1, settle=0.5)) == 1
    assert fetched(polite, "slow.test.example") == 3


def test_a_robots_txt_that_kills_the_worker_is_found_by_who_has_asked_for_it(
        worker, faults, polite, submit, results, consume, topics):
    polite.robots("poison.test.example", "User-agent: *", headers={POISON: "yes"})
    faults.set(f"recv SEGV has={POISON}")
    submit([request("poison.test.example"), request("good.test.example")])

    def done():
        return consume(topics["dead"], 0, settle=0.3) and consume(topics["results"], 0, settle=0.3)
    assert supervise(worker, {**HASTY, "gate.robots": "obey"}, faults.env, done) == [-signal.SIGSEGV] * 3
    letters = consume(topics["dead"], 1, settle=0.5)
    headers = {name: value.decode() for name, value in letters[0].headers()}
    assert len(letters) == 1 and headers["ingest.errors.stage"] == "robots"
    assert [one["request"]["base_url"] for one in results(1, settle=0.5)] == ["http://good.test.example/page"]
