# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of every line that was given to `ingestctl run --out DIR`, judged when the test is over: one result or one
dead letter for each, and a record in DIR/warc for every hit.

A run with --resume owes a line nothing that has its result; any other owes one for each of its lines.
"""

import base64
import collections
import json
import pathlib

from servers import account

WITH_VALUE = {"--config", "--set", "--out", "--source", "--max-wait"}
ALIASES = {"file": "pdf", "dataset": "fileset"}  # as results name them


def parse(arguments):
    """Returns (DIR, FILE or "-", whether it goes on) of a run with --out, or None for another command."""
    options, positional = {}, []
    words = iter(map(str, arguments))
    for word in words:
        name, equals, value = word.partition("=")
        if name in WITH_VALUE:
            options[name] = value if equals else next(words, "")
        elif word.startswith("--"):
            options[name] = value
        else:
            positional.append(word)
    if len(positional) != 2 or positional[0] != "run" or "--out" not in options:
        return None
    return pathlib.Path(options["--out"]), positional[1], "--resume" in options


def lines_of(data):
    return [line.strip() for line in data.split(b"\n") if line.strip()]


def key_of(request):
    kind, *words = [request.get(name) or "" for name in account.IDENTITY]
    return (ALIASES.get(kind, kind), *words)


def key_of_line(line):
    """What is no request has itself as its key, as it has in its dead letter."""
    try:
        return key_of(json.loads(line))
    except (ValueError, AttributeError, RecursionError):
        return line


def whole_lines(path):
    try:
        return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    except FileNotFoundError:
        return []


def letter_of(letter):
    value = letter.get("value")
    return key_of_line((base64.b64decode(letter["value_base64"]) if value is None else value.encode()).strip())


class Folder:
    """A DIR, and what the runs into it owe."""

    def __init__(self, out):
        self.out = out
        self.due = collections.Counter()
        # What a test has put there itself.
        self.before = len(self.lines("results")), len(self.lines("dead-letters"))

    def lines(self, name):
        return whole_lines(self.out / f"{name}.jsonl")

    def run(self, data, resume):
        given = collections.Counter(map(key_of_line, lines_of(data)))
        self.due = self.due | given if resume else self.due + given

    def asked_as(self, request):
        """The base_url of a result may come from the request's identifiers."""
        kind, url, *rest = key_of(request)
        bare = (kind, "", *rest)
        return bare if (kind, url, *rest) not in self.due and bare in self.due else (kind, url, *rest)

    def settle(self, allowed):
        results = self.lines("results")[self.before[0]:]
        got = collections.Counter(self.asked_as(result["request"]) for result in results)
        got.update(map(letter_of, self.lines("dead-letters")[self.before[1]:]))
        account.check_tally(self.due, got, allowed)
        account.check_hits(results, {self.out / "warc"}, archived=True)
