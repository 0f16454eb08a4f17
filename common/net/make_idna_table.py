#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes idna_table.c: what IDNA's rules for joiners and for right-to-left labels ask of a character.

usage: make_idna_table.py >idna_table.c        (needs the packages unicodedata2 and idna, of one Unicode version)
"""

import sys

import idna.idnadata
import unicodedata2

LAST = 0x10FFFF
# In the order of enum ing_idna_bidi; everything else is what a label may not hold beside right-to-left characters.
BIDI = ["L", "R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"]
JOINING = {"L": 1, "R": 2, "D": 3, "T": 4}
MARK, VIRAMA = 1 << 7, 1 << 8


def joining_types():
    """The packed ranges of the package, start << 32 | end, as a table by character."""
    types = {}
    for name, ranges in idna.idnadata.joining_types.items():
        for packed in ranges:
            for code in range(packed >> 32, packed & 0xFFFFFFFF):
                types[code] = JOINING.get(name, 0)
    return types


def properties(code, joining):
    character = chr(code)
    name = unicodedata2.bidirectional(character)
    value = BIDI.index(name) if name in BIDI else 0 if name == "" else len(BIDI)
    value |= joining.get(code, 0) << 4
    value |= MARK if unicodedata2.category(character).startswith("M") else 0
    value |= VIRAMA if unicodedata2.combining(character) == 9 else 0
    return value


def main():
    if not unicodedata2.unidata_version == idna.idnadata.__version__:
        print("the packages are of different Unicode versions", file=sys.stderr)
        return 1
    joining = joining_types()
    ranges = []
    for code in range(LAST + 1):
        value = properties(code, joining)
        if ranges and ranges[-1][1] == code - 1 and ranges[-1][2] == value:
            ranges[-1][1] = code
        elif value:
            ranges.append([code, code, value])
    print("/* SPDX-License-Identifier: GPL-3.0-or-later\n *\n"
          f" * Written by make_idna_table.py from the Unicode Character Database {unicodedata2.unidata_version}.\n"
          " * What is in no range is a left-to-right character that joins nothing.\n */\n"
          '#include "common/net/idna_table.h"\n\n/* clang-format off */\n'
          "const struct ing_idna_range ing_idna_ranges[] = {")
    cells = [f"{{0x{first:x}, 0x{last:x}, 0x{value:x}}}," for first, last, value in ranges]
    for at in range(0, len(cells), 4):
        print("\t" + " ".join(cells[at:at + 4]))
    print("};\n/* clang-format on */\n")
    print("const size_t ing_idna_range_count = sizeof(ing_idna_ranges) / sizeof(ing_idna_ranges[0]);")
    return 0


if __name__ == "__main__":
    sys.exit(main())
