# SPDX-License-Identifier: GPL-3.0-or-later
"""System calls of a program that fail as a test wants it: tests/fault/README.md has the form of a rule."""

import collections
import os


class Faults:
    """Give env to the program; set(rules…) and clear() work while it runs: they hold for every call that begins after them."""

    def __init__(self, library, folder):
        self.path = folder / "faults"
        self.path.write_text("")
        self.changes = 0
        self.env = {"LD_PRELOAD": str(library), "ING_FAULT_RULES": str(self.path),
                    "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}

    def set(self, *rules):
        fresh = self.path.with_suffix(".new")
        fresh.write_text("".join(rule + "\n" for rule in rules))
        # The library knows a changed file by its inode and time. Both may come again: inodes are used anew, and the
        # clock of a file system goes in steps of milliseconds.
        self.changes += 1
        os.utime(fresh, ns=(self.changes, self.changes))
        fresh.replace(self.path)

    def clear(self):
        self.set()

    def count(self):
        """How often each call has failed so far."""
        log = self.path.with_suffix(".log")
        lines = log.read_text().splitlines() if log.exists() else []
        return collections.Counter(line.split()[0] for line in lines)
