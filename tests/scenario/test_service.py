# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker as a service: what it tells its manager, how it ends, and what it may not do meanwhile."""

import json
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


# Refuses further filters of system calls, as the profile of a container may.
NO_FILTERS = [sys.executable, "-c", """
import ctypes, os, platform, struct, sys
prctl, seccomp = {"x86_64": (157, 317), "aarch64": (167, 277)}[platform.machine()]
code = b"".join(struct.pack("HBBI", *one) for one in (
    (0x20, 0, 0, 0), (0x15, 3, 0, seccomp), (0x15, 0, 3, prctl), (0x20, 0, 0, 16), (0x15, 0, 1, 22),
    (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)))
buffer = ctypes.create_string_buffer(code)
libc = ctypes.CDLL(None, use_errno=True)
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer)))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit("prctl: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
"""]


@pytest.mark.unfinished("nothing is done where nothing can be examined")
def test_refuses_to_work_without_a_sandbox(worker, run_ctl, tmp_path):
    with worker(ready=False, wrapper=NO_FILTERS) as daemon:
        assert daemon.wait_end(30) == 3
        assert "sandbox: seccomp: Operation not permitted" in daemon.log() and "container" in daemon.log()
        assert not any("READY=1" in note for note in daemon.notifications)
    done = run_ctl("run", "--out", tmp_path / "out", "-", input=json.dumps(LANDING) + "\n", wrapper=NO_FILTERS)
    assert done.returncode == 3 and "sandbox: seccomp" in done.stderr


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


@pytest.mark.private_servers("kafka")
def test_a_worker_that_is_drained_before_its_first_partitions_is_ready(worker, kafka, settings, run_ctl):
    """It waits for none: the service manager would end it otherwise, as one that does not start."""
    kafka.stop()
    try:
        with worker(ready=False) as daemon:
            daemon.wait_log("waiting for partitions")
            assert run_ctl("drain", settings["instance"], "--local").returncode == 0
            daemon.wait_notified("READY=1", 30)
            kafka.start()
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
