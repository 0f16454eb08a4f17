# SPDX-License-Identifier: GPL-3.0-or-later
"""The workers of a storm: each an instance of its own with its folders, started again when it has ended, as systemd would."""

import contextlib
import datetime
import os
import pathlib
import re
import signal
import subprocess
import time

from servers.faults import Faults
from servers.worker import Worker, write_config

import ledger
import records

RESTART_SECONDS = 0.3
# A small file system holds about this much for each request, twice.
TMPFS_BYTES = 1500
TMPFS_LEAST_BYTES = 16 << 20
# Free bytes below which nothing is fetched.
STOP_BYTES = 2 << 20
LOST_PARTITIONS = re.compile(r"^(\S+Z) \w+: .*: the assignment was (?:revoked|lost)", re.MULTILINE)
# Deaths by the worker's own fault.
FATAL = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


class Member:
    """One instance: up, down until restart_at, frozen until thaw_at, or leaving."""

    def __init__(self, storm, name, tmpfs=False):
        self.storm = storm
        self.name = name
        self.folder = storm.folder / name
        self.warc = self.folder / "warc"
        for folder in (self.folder, self.warc, self.folder / "state", self.folder / "spool"):
            folder.mkdir()
        self.tmpfs = tmpfs and mount(self.warc, TMPFS_LEAST_BYTES + TMPFS_BYTES * storm.count)
        self.faults = Faults(storm.build / "tests" / "fault" / "libingfault.so", self.folder)
        self.config = write_config(self.folder / "worker.yaml", {
            **storm.settings, "instance": name, "warc.dir": str(self.warc), "spool.dir": str(self.folder / "spool"),
            "state.dir": str(self.folder / "state")})
        self.worker = None
        self.restart_at = 0.0
        self.thaw_at = None
        self.leaving = False
        self.starts = 0
        self.ordered = False  # its death is ours

    def up(self):
        return self.worker is not None and self.worker.running()

    def healthy(self):
        return self.up() and self.thaw_at is None and not self.leaving

    def start(self, rules=()):
        self.faults.set(*rules)
        self.ordered = False
        self.starts += 1
        self.worker = Worker(self.storm.program("ingest-worker"), self.config, self.folder, env=self.faults.env)
        self.worker.start(ready=False)

    def kill(self):
        self.ordered = True
        self.worker.kill()

    def freeze(self, seconds):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.worker.pid, signal.SIGSTOP)
        self.thaw_at = time.monotonic() + seconds

    def thaw(self):
        self.thaw_at = None
        self.faults.clear()
        if self.up():
            os.kill(self.worker.pid, signal.SIGCONT)

    def leave(self):
        self.leaving = True
        self.ordered = True
        self.worker.terminate()

    def dismount(self):
        if self.tmpfs:
            subprocess.run(["umount", "-l", self.warc], check=False)


def mount(folder, size):
    """A file system of its own, which can be filled up. Needs root; without it there is no such fault."""
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=False,
                          capture_output=True).returncode == 0


class Fleet:
    def __init__(self, storm):
        self.storm = storm
        self.members = []
        self.added = 0
        self.self_ends = []  # (member, exit status), of workers that have ended by themselves

    def add(self, tmpfs=False, rules=()):
        self.added += 1
        member = Member(self.storm, f"w{self.added}", tmpfs)
        self.members.append(member)
        member.start(rules)
        return member

    def healthy(self):
        return [one for one in self.members if one.healthy()]

    def tend(self):
        """Starts what has ended, thaws what has been frozen for long enough."""
        now = time.monotonic()
        for one in self.members:
            if one.thaw_at is not None and now >= one.thaw_at:
                one.thaw()
            if one.worker and not one.up() and one.restart_at == 0.0:
                self._ended(one)
            if one.worker and not one.up() and not one.leaving and now >= one.restart_at:
                one.restart_at = 0.0
                one.start()

    def _ended(self, one):
        status = one.worker.process.returncode
        one.worker.wait_end()
        one.thaw_at = None
        if not one.ordered:
            self.self_ends.append((one.name, status))
            self.storm.note("ended by itself", one.name, f"status {status}")
            if -status in FATAL:
                self.storm.facts.crashes.append(f"{one.name} died of signal {-status}:\n{one.worker.tail(40)}")
        if one.restart_at == 0.0:
            one.restart_at = time.monotonic() + RESTART_SECONDS

    def stop(self):
        """All of them, as an operator would; returns those that did not end well."""
        for one in self.members:
            if one.thaw_at is not None:
                one.thaw()
            one.faults.clear()
            if one.up() and not one.leaving:
                one.leave()
        bad = []
        for one in self.members:
            if one.worker:
                status = one.worker.wait_end(120)
                if status != 0 and not (one.ordered and status == -signal.SIGKILL):
                    bad.append(f"{one.name} ended with {status} when it was told to stop:\n{one.worker.tail(20)}")
        return bad

    def destroy(self):
        for one in self.members:
            if one.worker:
                one.worker.kill()
            one.dismount()

    def logs(self):
        return [(one.name, pathlib.Path(one.worker.log_path)) for one in self.members if one.worker]

    def read_rebalances(self):
        """When a worker lost partitions, and what it did for them with it, is in its log."""
        for name, path in self.logs():
            for found in LOST_PARTITIONS.finditer(path.read_text(encoding="utf-8", errors="replace")):
                at = datetime.datetime.fromisoformat(found.group(1).replace("Z", "+00:00")).timestamp()
                self.storm.facts.incidents.append(ledger.Incident(at, at, "rebalance", name))

    def read_records(self, facts):
        for one in self.members:
            found, faults = records.read_folder(one.warc, one.name)
            facts.records += found
            facts.broken_files += faults
