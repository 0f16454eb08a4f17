# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide's WARC files: moved while workers run, checked, indexed, deleted; and a disk that they have filled."""

import os
import subprocess

import pytest
from servers.guide_fleet import answered, fleet, guide, machines, servers, start, stream  # noqa: F401  (fixtures)

MIB = 1 << 20


@pytest.mark.slow
@pytest.mark.unaccounted("the files are deleted in the end")
def test_files_are_moved_checked_indexed_and_deleted(fleet, guide, stream):  # noqa: F811
    a = fleet("worker-a")
    a.units.options += ["--set", "warc.max_bytes=8000"]
    start(a)
    stream(40)
    archive, own = a.root / "srv/archive/warc", a.root / "var/lib/ingest-worker/1/warc"
    found = answered(a, 40)
    closed = {path.name for path in own.glob("*.warc.gz")}
    assert len(closed) >= 2
    moving = guide("guide/warc.md#moving-them-to-the-archive")
    verified = moving.next(a, "warc verify")
    assert verified.count(", 0 faults") == len(closed)
    left = moving.next(a, "--remove-source-files").split()
    assert {path.name for path in archive.iterdir()} == closed
    assert all(name.endswith(".open") for name in left)

    # What is still open is all that the archive lacks.
    missing = guide("guide/warc.md#checking-what-is-there").next(a).split()
    assert [f"{name}.open" for name in missing] == left
    lines = guide("guide/warc.md#indexing-them").next(a).splitlines()
    assert len(lines) == 3 and all('"url"' in line for line in lines)
    assert {one["cdx"]["warc_path"] for one in found} <= closed | set(missing)

    (a.root / "root/old.txt").write_text("".join(f"{name}\n" for name in sorted(closed)))
    deleting = guide("guide/warc.md#deleting-them")
    deleting.next(a, "referred_to")
    deleting.next(a, "DELETE FROM cdx")
    deleting.next(a, "rm /srv/archive")
    assert not list(archive.iterdir())
    done = a.run("psql -Atc 'SELECT DISTINCT warc_path FROM cdx'")
    assert done.stdout.split() == missing


@pytest.fixture
def small_disk(tmp_path):
    """A function that makes a folder a file system of 96 MiB, with room to fill it."""
    mounted = []

    def make(folder):
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={96 * MIB}", "tmpfs", folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder
    yield make
    for folder in mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.slow
@pytest.mark.unaccounted("its files are on a file system that is gone by then")
def test_a_full_disk_is_emptied_and_the_worker_goes_on(fleet, guide, stream, small_disk):  # noqa: F811
    a = fleet("worker-a")
    folder = small_disk(a.root / "var/lib/ingest-worker")
    a.units.options += ["--set", f"disk.stop_bytes={48 * MIB}", "--set", f"disk.abort_bytes={16 * MIB}"]
    start(a)
    stream(20)
    answered(a, 20)
    (folder / "1/warc/filler.warc.gz").write_bytes(os.urandom(60 * MIB))
    a.units.wait_log("ingest-worker@1.service", "disk")
    stream(20)
    full = guide("guide/machines.md#the-disk-is-full")
    assert "filler" not in full.next(a, "df -h")
    (folder / "1/warc/filler.warc.gz").unlink()
    full.next(a, "ingestctl status")
    answered(a, 40)
