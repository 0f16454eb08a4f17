# SPDX-License-Identifier: GPL-3.0-or-later
"""Trouble of the worker's own machine: a disk that fails or is full, no descriptors, no memory, no threads.

What holds in all of these: no host is blamed, nothing is called a success that is not in the archive, and every
request has exactly one result. The last two are looked at after every test (servers/account.py)."""

import collections
import os
import resource

import pytest

from servers.polite import Answer

LARGE = b"A long text.\n" + b"A sentence of some words, and so on.\n" * 60_000
# Trouble of ours is tried again after seconds; hosts that have failed would be left alone for longer.
HASTY = {"gate.backoff_ms": 100, "gate.breaker_failures": 2}


def request(host, path="/page"):
    return {"ingest_type": "component", "base_url": f"http://{host}{path}"}


def hosts(count):
    return [f"h{number}.test.example" for number in range(count)]


def statuses(results):
    return dict(collections.Counter(result["status"] for result in results))


# --- the disk ------------------------------------------------------------------------------------------


def test_a_body_that_cannot_be_read_back_is_no_success(worker, faults, settings, polite, submit, results):
    polite.page("large.test.example", "/page", Answer(body=LARGE))
    faults.set(f"pread EIO path={settings['spool.dir']}")
    with worker(HASTY, env=faults.env):
        submit([request("large.test.example"), request("small.test.example")])
        found = {one["request"]["base_url"]: one for one in results(2)}
        lost = found["http://large.test.example/page"]
        assert lost["status"] == "worker-error" and not lost["hit"]
        assert "file_meta" not in lost and "cdx" not in lost
        assert found["http://small.test.example/page"]["status"] == "success"
        assert faults.count()["pread"] > 0
        faults.clear()
        submit(request("large.test.example", "/page?again"))
        polite.page("large.test.example", "/page?again", Answer(body=LARGE))
        found = results(3, settle=0.5)
        assert statuses(found) == {"success": 2, "worker-error": 1}


def test_a_spool_that_cannot_be_written_blames_the_worker(worker, faults, settings, polite, submit, results):
    polite.page("large.test.example", "*", Answer(body=LARGE))
    faults.set(f"sendfile EIO path={settings['spool.dir']}")
    with worker(HASTY, env=faults.env):
        submit(request("large.test.example"))
        found = results(1)[0]
        assert found["status"] == "worker-error"
        assert "spool.dir" in found["error_message"]
        assert polite.paths("large.test.example") == ["/page"] * 3  # tried again, as status.def has it
        faults.clear()
        submit(request("large.test.example", "/other"))  # three failures in a row, and no breaker is open
        found = results(2, timeout=20, settle=0.5)
        assert statuses(found) == {"success": 1, "worker-error": 1}


def test_a_robots_txt_that_cannot_be_read_back_is_no_refusal(worker, faults, polite, submit, results):
    polite.robots("ruled.test.example", "User-agent: *\nDisallow: /private\n")
    faults.set("pread EIO path=/memfd:body")
    with worker({**HASTY, "gate.robots": "obey"}, env=faults.env):
        submit(request("ruled.test.example"))
        assert results(1)[0]["status"] == "worker-error"
        assert polite.paths("ruled.test.example", robots=False) == []


def test_everything_full_at_once_and_then_not(worker, faults, settings, polite, submit, results):
    names = hosts(12)
    for name in names[::2]:
        polite.page(name, "/page", Answer(body=LARGE))
    with worker({**HASTY, "fetch.timeout_ms": 60000}, env=faults.env) as daemon:
        faults.set(f"sendfile ENOSPC path={settings['spool.dir']}", f"pwrite ENOSPC path={settings['warc.dir']}",
                   f"open ENOSPC path={settings['state.dir']}", f"write ENOSPC path={settings['state.dir']}")
        submit([request(name) for name in names])
        daemon.wait_log("disk unavailable: intake stopped")
        assert faults.count()["sendfile"] > 0 and faults.count()["pwrite"] > 0
        late = hosts(20)[12:]
        submit([request(name) for name in late])
        faults.clear()
        daemon.wait_log("disk available again")
        found = results(20, settle=1)
    assert len(found) == 20
    assert statuses(found) == {"success": 20}
    assert all(len(polite.paths(name, robots=False)) == 1 for name in names + late)


# --- descriptors ---------------------------------------------------------------------------------------


def test_too_few_descriptors_are_told_at_the_start(worker, run_ctl):
    limit = ["prlimit", "--nofile=64:64"]
    with worker(ready=False, wrapper=limit) as daemon:
        assert daemon.wait_end(20) == 3
        assert "too few file descriptors: the limit is 64" in daemon.log()
        assert "gate.concurrency" in daemon.log()
    done = run_ctl("run", "-", input="", wrapper=limit)
    assert done.returncode == 3
    assert "too few file descriptors: the limit is 64" in done.stderr


def test_the_soft_limit_is_raised_by_ingestctl_run(run_ctl):
    assert run_ctl("run", "-", input="", wrapper=["prlimit", "--nofile=64:"]).returncode == 0


def test_a_worker_that_runs_out_of_descriptors_blames_no_host(worker, polite, submit, results, wait_until):
    names = hosts(60)
    for name in names:
        polite.page(name, "/page", Answer(delay_s=0.2))
        polite.robots(name, "User-agent: *\nDisallow: /private\n")
    for name in names[::10]:
        polite.page(name, "/page", Answer(body=LARGE, delay_s=0.2))
    with worker({**HASTY, "gate.robots": "obey"}) as daemon:
        # the examiners are there, and what is opened once is open
        submit(request("first.test.example"))
        results(1)
        used = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        _, hard = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (used + 6, hard))
        submit([request(name) for name in names])
        daemon.wait_log("descriptors unavailable: intake stopped")
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (used + 20, hard))  # still too few for all of them
        wait_until(lambda: polite.seen(), timeout=30)
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (hard, hard))
        found = results(61, timeout=90, settle=1)
        daemon.wait_log("descriptors available again")
    assert statuses(found) == {"success": 61}
    assert len({one["request"]["base_url"] for one in found}) == 61


def test_bodies_without_a_memory_file_are_fetched_again(worker, faults, polite, submit, results):
    with worker(HASTY, env=faults.env):  # has none yet from bodies of before, to write to again
        faults.set("memfd_create EMFILE count=20")
        submit([request(name) for name in hosts(10)])
        found = results(10, timeout=60, settle=0.5)
        assert faults.count()["memfd_create"] == 20
    assert statuses(found) == {"success": 10}


def test_no_memory_for_bodies_blames_the_worker(worker, faults, polite, submit, results):
    with worker(HASTY, env=faults.env):
        faults.set("memfd_create ENOMEM")
        submit([request("same.test.example", f"/{number}") for number in range(3)])
        assert statuses(results(3)) == {"worker-error": 3}
        faults.clear()
        submit(request("same.test.example", "/later"))
        assert statuses(results(4, timeout=20, settle=0.5)) == {"success": 1, "worker-error": 3}


# --- threads -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [1, 6, 12])
def test_threads_that_cannot_be_started_are_told(worker, faults, first):
    faults.set(f"pthread_create EAGAIN from={first}")
    with worker(ready=False, env=faults.env) as daemon:
        assert daemon.wait_end(20) == 3
        assert "cannot start 12 threads" in daemon.log()
        assert "TasksMax" in daemon.log()
