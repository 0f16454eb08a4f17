# SPDX-License-Identifier: GPL-3.0-or-later
"""A memory control group: what is started in it, and all that this starts, has so much memory together.

    with MemoryGroup(96 << 20) as group:
        worker(wrapper=group.command)

The files are written directly, of version 1 or 2, whichever the machine has; NoGroups says why it cannot be done.
"""

import os
import pathlib
import time
import uuid

ROOT = pathlib.Path("/sys/fs/cgroup")


class NoGroups(Exception):
    """This machine lets us make no memory group."""


def own_folder():
    """The folder in which a group can be made, and whether it is of version 1."""
    if (ROOT / "memory" / "memory.limit_in_bytes").exists():
        return ROOT / "memory", True
    if "memory" in read(ROOT / "cgroup.controllers").split():
        if "memory" not in read(ROOT / "cgroup.subtree_control").split():
            raise NoGroups(f"{ROOT}/cgroup.subtree_control does not give memory to groups below")
        return ROOT, False
    raise NoGroups(f"there is no memory controller in {ROOT}")


def read(path):
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


class MemoryGroup:
    def __init__(self, limit_bytes):
        parent, self.first_version = own_folder()
        self.folder = parent / f"ing-test-{uuid.uuid4().hex[:12]}"
        try:
            self.folder.mkdir()
            self._limit(limit_bytes)
        except OSError as error:
            if self.folder.exists():
                self.folder.rmdir()
            raise NoGroups(f"{self.folder}: {error.strerror}") from error
        # A shell that puts itself into the group becomes the program.
        self.command = ["/bin/sh", "-c", f'echo $$ >{self.folder}/cgroup.procs && exec "$@"', "sh"]

    def _limit(self, limit_bytes):
        if self.first_version:
            (self.folder / "memory.limit_in_bytes").write_text(str(limit_bytes))
            both = self.folder / "memory.memsw.limit_in_bytes"
            if both.exists():
                both.write_text(str(limit_bytes))
            return
        (self.folder / "memory.max").write_text(str(limit_bytes))
        swap = self.folder / "memory.swap.max"
        if swap.exists():
            swap.write_text("0")

    def kills(self):
        """How many processes of the group the kernel has killed because its memory was used up."""
        text = read(self.folder / ("memory.oom_control" if self.first_version else "memory.events"))
        counts = dict(line.split() for line in text.splitlines())
        return int(counts["oom_kill"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        deadline = time.monotonic() + 10
        while True:  # those who have just ended are there for a moment
            try:
                os.rmdir(self.folder)
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
