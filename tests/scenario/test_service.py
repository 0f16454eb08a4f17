# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker as a service: what it tells its manager, how it ends, and what it may not do meanwhile."""

import subprocess
import sys
import time

import pytest

LANDING = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}

# Starts a program that can never make memory executable which it could write, like the unit's
# MemoryDenyWriteExecute=, and that cannot gain privileges, like its NoNewPrivileges=.
CONFINED = [sys.executable, "-c", """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(65, 1, 0, 0, 0) or libc.prctl(38, 1, 0, 0, 0):
    sys.exit("prctl: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
"""]


@pytest.fixture
def confinement():
    """The prefix of a confined command; the kernel must know how (6.3), and must mean it."""
    probe = "import mmap; mmap.mmap(-1, 4096, prot=7)"
    done = subprocess.run([*CONFINED, sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    if "prctl" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode != 0, "memory can still be writable and executable"
    return CONFINED


def test_works_without_executable_memory(worker, submit, results, confinement):
    submit([LANDING, {"ingest_type": "html",
                      "base_url": "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh"}])
    with worker(wrapper=confinement):
        assert [result["status"] for result in results(2)] == ["success", "success"]


def test_tells_the_manager(worker, wait_until):
    with worker(env={"WATCHDOG_USEC": "400000"}) as daemon:
        wait_until(lambda: sum("WATCHDOG=1" in note for note in daemon.notifications) >= 5, timeout=5)
        wait_until(lambda: any(note.startswith("STATUS=") for note in daemon.notifications), timeout=5)
        assert daemon.stop() == 0
        assert any("STOPPING=1" in note for note in daemon.notifications)


@pytest.mark.private_servers("kafka")
def test_is_not_ready_before_partitions_are_assigned(worker, kafka):
    kafka.stop()
    try:
        with worker(ready=False) as daemon:
            time.sleep(2)  # time to become ready too early
            assert daemon.running()
            assert not any("READY=1" in note for note in daemon.notifications)
            kafka.start()
            daemon.wait_notified("READY=1", 60)
    finally:
        kafka.start()


def test_second_worker_of_the_same_name_is_refused(worker, settings):
    with worker():
        with worker(ready=False) as second:
            assert second.wait_end(20) == 3
            assert settings["instance"] in second.tail()


@pytest.mark.unfinished("the second signal drops what is under way")
def test_second_signal_ends_it_at_once(worker, submit, web, wait_until):
    web.route("held.slow.example", "/paper.pdf", {"delay_s": 60, "body": "late"})
    submit({"ingest_type": "pdf", "base_url": "http://held.slow.example/paper.pdf"})
    with worker() as daemon:
        wait_until(lambda: web.most_at_once("held.slow.example") == 1)
        daemon.terminate()
        daemon.wait_notified("STOPPING=1", 10)
        started = time.monotonic()
        daemon.terminate()
        assert daemon.wait_end(10) != 0
        assert time.monotonic() - started < 3


@pytest.mark.parametrize("overrides,words", [
    ({"fetch.user_agent": "nobody/1.0"}, "fetch.user_agent"),
    ({"gate.robots": "maybe"}, "gate.robots"),
    ({"fetch.timeout_ms": "soon"}, "fetch.timeout_ms"),
    ({"fetch.no_such_key": 1}, "no_such_key"),
])
def test_bad_configuration_is_refused_by_name(worker, overrides, words):
    with worker(overrides, ready=False) as daemon:
        assert daemon.wait_end(20) == 2
        assert words in daemon.log()
