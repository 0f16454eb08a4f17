# SPDX-License-Identifier: GPL-3.0-or-later
"""A systemd-journald of a test's own: it has a /run of its own, in a mount namespace, which workers enter."""

import json
import subprocess

PROGRAM = "/lib/systemd/systemd-journald"
# The journal is below /run, in memory, until somebody asks for it to be flushed, which nobody does.
START = f"""
set -e
mount -t tmpfs none /run
mkdir -p /run/systemd/journal /run/log
{PROGRAM} &
while [ ! -S /run/systemd/journal/socket ]; do sleep 0.05; done
echo ready
read -r end
kill $!
wait $! || true
"""


class Journal:
    """wrapper is the prefix of a command that is to use it."""

    def __enter__(self):
        self.process = subprocess.Popen(["unshare", "--mount", "bash", "-c", START], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout.readline() == "ready\n", "systemd-journald has not started"
        self.wrapper = ["nsenter", f"--mount=/proc/{self.process.pid}/ns/mnt", "--wdns=/"]
        return self

    def entries(self, *matches):
        """The entries with these fields, as mappings, oldest first."""
        done = subprocess.run([*self.wrapper, "journalctl", "--directory=/run/log/journal", "--output=json", "--all", *matches],
                              capture_output=True, text=True, check=False)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    def __exit__(self, *error):
        self.process.communicate("end\n", timeout=20)
