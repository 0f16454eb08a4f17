# SPDX-License-Identifier: GPL-3.0-or-later
"""Long turns of a worker's loop, as its log tells them when ING_TURN_LIMIT_MS is set (worker/service/turn.h)."""

import collections
import functools
import re
import subprocess

VARIABLE = "ING_TURN_LIMIT_MS"
LIMIT_MS = 100
# What the sanitizers add is not the program's.
LIMIT_SANITIZED_MS = 500

BEGIN = re.compile(r"^loop (?:stalled|blocked): .*")
END = "loop: end of the stack"
# PROGRAM(FUNCTION+0x17) [0x55d0c0ffee17]: without a function, or with one, and where it was loaded.
FRAME = re.compile(r"^(?P<path>/[^ (]*)\((?P<name>[^+)]*)\+(?P<offset>0x[0-9a-f]+)\)")

# What is known to take long, by a function of its stack: the reason why that is accepted. To be empty.
ACCEPTED = {
}

Stall = collections.namedtuple("Stall", "what frames")


@functools.cache
def limit_ms(program):
    """The limit for that program: sanitized ones are slow."""
    with open(program, "rb") as file:
        return LIMIT_SANITIZED_MS if b"__asan_init" in file.read() else LIMIT_MS


def named(frames):
    """The frames with functions and lines. The program's own functions are mostly not exported, so addr2line has to
    look them up."""
    words = []
    for frame in frames:
        found = FRAME.match(frame)
        if not found or found["name"]:
            words.append(found["name"] if found else frame)
            continue
        said = subprocess.run(["addr2line", "-f", "-p", "-s", "-e", found["path"], found["offset"]],
                              capture_output=True, text=True, check=False).stdout.strip()
        words.append(said or frame)
    return words


def find(log):
    """The stalls that a log tells of."""
    found, stack = [], None
    for line in log.splitlines():
        if BEGIN.match(line):
            stack = []
            found.append((line, stack))
        elif line == END:
            stack = None
        elif stack is not None:
            stack.append(line)
    return [Stall(what, named(frames)) for what, frames in found]


def check(log):
    """Fails with the stacks when the log tells of a long turn that is not accepted."""
    bad = [stall for stall in find(log)
           if not any(frame.startswith(name + " ") or frame == name for frame in stall.frames for name in ACCEPTED)]
    assert not bad, "\n".join("\n    ".join([stall.what, *stall.frames]) for stall in bad)
