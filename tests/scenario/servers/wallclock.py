# SPDX-License-Identifier: GPL-3.0-or-later
"""A wall clock of its own for a program that a test starts, which may be set while it runs (tests/clock/README.md)."""

import os
import struct

DAY_S = 86400


class WallClock:
    """Give env to the program; set(seconds) works at once."""

    def __init__(self, library, folder):
        self.path = folder / "clock"
        self.path.write_bytes(struct.pack("=q", 0))
        self.env = {"LD_PRELOAD": str(library), "ING_CLOCK_FILE": str(self.path),
                    "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}

    def set(self, seconds):
        """To the true time and so many seconds, which may be negative."""
        with open(self.path, "r+b") as file:
            file.write(struct.pack("=q", seconds))
