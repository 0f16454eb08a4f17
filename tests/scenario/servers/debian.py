# SPDX-License-Identifier: GPL-3.0-or-later
"""A bare Debian 12 in a folder, started with its own systemd beside this machine (systemd-nspawn).

It has the network of this machine, so that it reaches the servers of the tests at 127.0.0.1; files, processes, users and
units are its own. Nothing of it is known to the service manager of this machine, which need not have one. Root only.

    with BareDebian(tar, folder, name) as machine:
        machine.run("systemctl", "is-system-running")

Where it does not even start, with nothing of ours in it (no namespaces, no control groups), the test is skipped, and says why.
"""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

CGROUPS = pathlib.Path("/sys/fs/cgroup")
LEFT_BY_NSPAWN = pathlib.Path("/run/systemd/nspawn/propagate")
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root"}
START_PATIENCE_S = 120
STOP_PATIENCE_S = 30


class CannotBoot(Exception):
    """The end of its console."""


class ControlGroup:
    """A group of our own in each hierarchy that systemd uses, for the container's groups to be in."""

    def __init__(self, name):
        hierarchies = [CGROUPS / one for one in ("systemd", "unified") if (CGROUPS / one / "cgroup.procs").exists()]
        self.folders = [hierarchy / name for hierarchy in hierarchies or [CGROUPS]]
        for folder in self.folders:
            folder.mkdir()

    def enter(self):
        """For a child between fork and exec."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        for folder in self.folders:
            for below, _, _ in os.walk(folder, topdown=False):
                self._remove_when_empty(below)

    @staticmethod
    def _remove_when_empty(folder):
        """Who has just been killed is in it for a moment."""
        deadline = time.monotonic() + 10
        while True:
            try:
                os.rmdir(folder)
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


class BareDebian:
    def __init__(self, tar, folder, name):
        self.folder = pathlib.Path(folder)
        self.root = self.folder / "root"
        self.name = name
        self.console = self.folder / "console"
        self.leader = None
        self.root.mkdir(parents=True)
        subprocess.run(["tar", "-C", self.root, "-xf", tar], check=True)

    def __enter__(self):
        try:
            self.start()
        except (CannotBoot, OSError, subprocess.SubprocessError) as error:
            self.close()
            pytest.skip(f"no machine can be started here: {error}")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def path(self, path):
        """A file of the machine as this one sees it."""
        return self.root / str(path).lstrip("/")

    def start(self):
        notify = self.folder / "notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(notify))
        self.ready = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()
        self.group = ControlGroup(f"ing-{self.name}")
        with open(self.console, "wb") as console:
            self.process = subprocess.Popen(
                ["systemd-nspawn", "--quiet", f"--directory={self.root}", f"--machine={self.name}", "--register=no", "--keep-unit",
                 "--boot", "--notify-ready=yes", "--console=pipe", "--link-journal=no", "--timezone=off",
                 "--resolv-conf=copy-host"],
                stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, preexec_fn=self.group.enter,
                env={**os.environ, "NOTIFY_SOCKET": str(notify)})
        deadline = time.monotonic() + START_PATIENCE_S
        while not self.ready.wait(0.1):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise CannotBoot(self.console.read_text(errors="replace")[-4000:])

    def _listen(self):
        try:
            while note := self.socket.recv(65536).decode():
                lines = dict(line.partition("=")[::2] for line in note.splitlines())
                self.leader = int(lines.get("X_NSPAWN_LEADER_PID", self.leader or 0)) or None
                if lines.get("READY") == "1" and self.leader:
                    self.ready.set()
        except OSError:
            pass  # closed: the machine has ended

    def run(self, *command, check=True, timeout=300, input=None, env=None):
        """Runs a command in the machine, as its root; returns what subprocess.run() does."""
        done = subprocess.run(
            ["nsenter", f"--target={self.leader}", "--mount", "--uts", "--ipc", "--pid", "--root", "--wd", *map(str, command)],
            input=input, stdin=None if input is not None else subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            check=False, timeout=timeout, env={**ENVIRONMENT, **(env or {})})
        assert not check or done.returncode == 0, \
            f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done

    def property(self, unit, name):
        """What `systemctl show` says."""
        return self.run("systemctl", "show", "--value", f"--property={name}", unit).stdout.strip()

    def journal(self, unit):
        return self.run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}").stdout

    def close(self):
        if getattr(self, "process", None):
            # As a power cut would: with the first process of its namespace all others end.
            if self.leader and self.process.poll() is None:
                os.kill(self.leader, signal.SIGKILL)
            else:
                self.process.kill()
            try:
                self.process.wait(STOP_PATIENCE_S)
            finally:
                self.process.kill()
        if getattr(self, "group", None):
            self.group.remove()
        if getattr(self, "socket", None):
            self.socket.shutdown(socket.SHUT_RD)  # wakes the reader
            self.socket.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        left = LEFT_BY_NSPAWN / self.name
        if left.is_dir() and not any(left.iterdir()):
            left.rmdir()
