# SPDX-License-Identifier: GPL-3.0-or-later
"""A worker that was killed and is started again knows what it had, not when it last asked; and stays polite."""

import pytest
from servers.polite import check_one_at_a_time

HOST = "patient.test.example"
DELAY_S = 9  # with a longer one the lease would go back at once, and say when the next request may come


@pytest.mark.unfinished("nobody waits for a third pause")
def test_a_host_rests_for_its_own_pause_after_a_crash(worker, submit, polite, host_rules, wait_until):
    host_rules([{"host": HOST, "delay_ms": DELAY_S * 1000}])
    overrides = {"gate.lease_ms": 60_000, "fetch.timeout_ms": 5_000,
                 "kafka.properties": ["consumer.session.timeout.ms=6000", "consumer.heartbeat.interval.ms=500"]}
    submit([{"ingest_type": "component", "base_url": f"http://{HOST}/{number}"} for number in range(2)])
    with worker(overrides) as daemon:
        wait_until(lambda: polite.paths(HOST), timeout=30)
        daemon.kill()
    with worker(overrides):
        wait_until(lambda: len(set(polite.paths(HOST))) == 2, timeout=120)
    check_one_at_a_time(polite.seen(HOST), delay_s=DELAY_S)


@pytest.mark.unfinished("nobody waits for the end of the pause")
def test_after_a_crash_the_next_process_says_why_hosts_rest(
        worker, submit, polite, host_rules, wait_until, run_ctl):
    host_rules([{"host": HOST, "delay_ms": DELAY_S * 1000}])
    submit([{"ingest_type": "component", "base_url": f"http://{HOST}/{number}"} for number in range(2)])
    with worker() as daemon:
        wait_until(lambda: polite.paths(HOST), timeout=30)
        daemon.kill()
    with worker() as daemon:
        daemon.wait_log("died with the leases of 1 host, and may have asked them until then: "
                        f"they rest for {DELAY_S * 1000} ms")
        wait_until(lambda: "its last worker died with its lease" in run_ctl("hosts", "explain", HOST).stdout)
