# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk that fills up, on a file system of its own: the worker stops in time, says so, blames no host, leaves valid
files and goes on by itself when there is room again.

Needs to mount a tmpfs; skipped where that is not permitted."""

import collections
import os
import shutil
import subprocess
import time

import pytest

from servers.polite import Answer

MIB = 1 << 20
DISK_BYTES = 96 * MIB
LEVELS = {"disk.stop_bytes": 48 * MIB, "disk.abort_bytes": 16 * MIB}
LARGE = b"A long text.\n" + b"A sentence of some words, and so on.\n" * 60_000


class Disk:
    """A small file system, and a file of others in it."""

    def __init__(self, folder):
        self.folder = folder

    def leave(self, free_bytes):
        """Makes the file of others so large that about so much is left."""
        filler = self.folder / "filler"
        filler.unlink(missing_ok=True)
        now = os.statvfs(self.folder)
        more = now.f_bavail * now.f_frsize - free_bytes
        if more > 0:
            with open(filler, "wb") as file:
                os.posix_fallocate(file.fileno(), 0, more)

    def clear(self):
        (self.folder / "filler").unlink(missing_ok=True)


@pytest.fixture
def disk(tmp_path, settings):
    """A tmpfs with warc.dir, spool.dir and state.dir. Its WARC files are still there when it is gone, for account."""
    folder = tmp_path / "small"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        for key in ("warc.dir", "spool.dir", "state.dir"):
            path = folder / key
            path.mkdir()
            settings[key] = str(path)
        yield Disk(folder)
        shutil.copytree(folder / "warc.dir", tmp_path / "kept")
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
    shutil.copytree(tmp_path / "kept", folder / "warc.dir")


def request(host, path="/page"):
    return {"ingest_type": "component", "base_url": f"http://{host}{path}"}


def statuses(found):
    return dict(collections.Counter(one["status"] for one in found))


def test_nothing_is_fetched_below_the_first_level(worker, disk, polite, submit, results):
    with worker(LEVELS) as daemon:
        submit(request("before.test.example"))
        results(1)
        disk.leave(40 * MIB)
        daemon.wait_log("bytes are free: less than disk.stop_bytes")
        daemon.wait_log("disk unavailable: intake stopped")
        submit([request(f"h{number}.test.example") for number in range(5)])
        time.sleep(1.5)  # in which nothing may be asked for
        assert {one.host for one in polite.seen()} == {"before.test.example"}
        assert any("held: disk unavailable" in note for note in daemon.notifications)
        disk.clear()
        daemon.wait_log("enough again, fetching goes on")
        found = results(6, settle=0.5)
        assert statuses(found) == {"success": 6}
        assert daemon.stop() == 0
        assert '"disk":{"aborted":0,"stops":1}' in daemon.log()


def test_running_transfers_end_below_the_second_level_and_no_host_is_blamed(worker, disk, polite, submit, results):
    names = [f"slow{number}.test.example" for number in range(5)]
    for name in names:
        polite.page(name, "/page", Answer(delay_s=20), Answer())
    overrides = {**LEVELS, "gate.breaker_failures": 1, "gate.backoff_ms": 600000, "gate.backoff_max_ms": 600000}
    with worker(overrides) as daemon:
        submit([request(name) for name in names])
        deadline = time.monotonic() + 30
        while len(polite.seen()) < len(names):
            assert time.monotonic() < deadline
            time.sleep(0.05)  # until all of them have been asked
        disk.leave(8 * MIB)
        daemon.wait_log("less than disk.abort_bytes, running transfers are ended")
        found = results(5)
        assert statuses(found) == {"worker-error": 5}
        assert all("less than disk.abort_bytes are free" in one["error_message"] for one in found)
        disk.clear()
        daemon.wait_log("enough again, fetching goes on")
        submit([request(name, "/page?again") for name in names])
        assert statuses(results(10, settle=0.5)) == {"worker-error": 5, "success": 5}


def test_a_full_disk_leaves_valid_files_and_is_waited_for(worker, disk, polite, submit, results):
    """Both levels are off: every write meets ENOSPC where it is made."""
    names = [f"h{number}.test.example" for number in range(30)]
    for name in names[::3]:
        polite.page(name, "/page", Answer(body=LARGE))
    with worker({"disk.stop_bytes": 0, "disk.abort_bytes": 0, "fetch.timeout_ms": 60000}) as daemon:
        submit(request("before.test.example"))
        results(1)
        disk.leave(0)
        submit([request(name) for name in names])
        daemon.wait_log("disk unavailable: intake stopped")
        disk.clear()
        daemon.wait_log("disk available again")
        found = results(31, settle=0.5)
        assert statuses(found) == {"success": 31}
    assert all(len(polite.paths(name, robots=False)) == 1 for name in names)


def test_a_worker_that_is_killed_with_a_full_disk_starts_again(worker, disk, polite, submit, results):
    names = [f"h{number}.test.example" for number in range(10)]
    levels = {"disk.stop_bytes": 0, "disk.abort_bytes": 0}
    with worker(levels) as daemon:
        submit(request("before.test.example"))
        results(1)
        disk.leave(0)
        submit([request(name) for name in names])
        daemon.wait_log("disk unavailable: intake stopped")
        daemon.kill()
    disk.clear()
    with worker(levels):
        found = results(11, settle=1)
    assert {one["status"] for one in found} == {"success"}
    assert len({one["request"]["base_url"] for one in found}) == 11
