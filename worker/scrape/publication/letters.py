#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write letters.inc: kinds of characters above ASCII, from Python's Unicode tables. Run by hand when Unicode moves."""
import sys
import unicodedata

KINDS = {"Lu": "UPPER", "Ll": "LOWER", "Lt": "LETTER", "Lm": "LETTER", "Lo": "LETTER",
         "Nd": "DIGIT", "Nl": "DIGIT", "No": "DIGIT", "Zs": "SPACE", "Zl": "SPACE", "Zp": "SPACE", "Cc": "SPACE", "Cf": "SPACE"}


def ranges():
    runs = []  # first, last, kind
    for c in range(0x80, 0x110000):
        kind = KINDS.get(unicodedata.category(chr(c)))
        if kind is None:
            continue
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == kind:
            runs[-1][1] = c
        elif runs and runs[-1][1] == c - 1 and runs[-1][2] in ("UPPER", "PAIRS") and kind == "LOWER" and \
                (runs[-1][2] == "PAIRS" or runs[-1][0] == c - 1) and (c - runs[-1][0]) % 2 == 1:
            runs[-1][1:] = [c, "PAIRS"]  # upper, lower, upper, lower ...
        elif runs and runs[-1][1] == c - 1 and runs[-1][2] == "PAIRS" and kind == "UPPER" and (c - runs[-1][0]) % 2 == 0:
            runs[-1][1] = c
        else:
            runs.append([c, c, kind])
    return runs


def main():
    out = [f"/* Written by letters.py from Unicode {unicodedata.unidata_version}. */"]
    line = ""
    for first, last, kind in ranges():
        entry = f"{{0x{first:x}, 0x{last:x}, {kind}}}, "
        if len(line) + len(entry) > 96:
            out.append(line.rstrip())
            line = ""
        line += entry
    out.append(line.rstrip())
    sys.stdout.write("\n".join(out) + "\n")


main()
