# SPDX-License-Identifier: GPL-3.0-or-later
"""Kills the worker at, or fails, the n-th call of each kind while it answers a few requests, for every n; see README.md."""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for place in (ROOT / "deploy" / "lib", ROOT / "tests" / "scenario", ROOT / "tests" / "bench", ROOT / "tests" / "storm"):
    sys.path.insert(0, str(place))

import storm as storms  # noqa: E402
import web  # noqa: E402

REQUESTS = 6  # for each point
PATIENCE_S = 90
# Where a step becomes durable, or is about to: the process dies before or after it.
KILLS = [f"{call} {how}{where}" for how in ("KILL", "KILL_AFTER") for call, where in (
    ("pwrite", " path={warc}"), ("fdatasync", " path={warc}"), ("fsync", " path={warc}"), ("renameat2", ""), ("write", " path={kept}"), ("fsync", " path={kept}"), ("ftruncate", " path={warc}"),
    ("PQsendQuery", ""), ("PQsendQueryPrepared", ""), ("PQsendQueryParams", ""), ("PQputCopyEnd", ""), ("rd_kafka_produceva", ""),
    ("rd_kafka_commit_queue", ""), ("rd_kafka_begin_transaction", ""), ("rd_kafka_send_offsets_to_transaction", ""),
    ("rd_kafka_commit_transaction", ""))]
# What may fail without anybody's death.
FAILURES = [f"{call} {error} path={{{folder}}}" for folder, calls in (
    ("warc", ("pwrite", "fdatasync", "fsync", "ftruncate")), ("kept", ("write", "fsync"))) for call in calls for error in ("EIO", "ENOSPC")]


class Torture:
    def __init__(self, storm, say):
        self.storm = storm
        self.say = say
        self.one = None
        self.points = self.fired = 0

    def start(self, rules):
        if self.one is None:
            self.one = self.storm.fleet.add(rules=rules)
        else:
            self.one.start(rules)
        self.one.ordered = True

    def hits(self):
        return sum(self.one.faults.count().values()) if self.one else 0

    def settled(self):
        return self.storm.answered() == self.storm.due()

    def point(self, rule, number):
        """Returns whether the call came by."""
        storm, before = self.storm, self.hits()
        # What the last point has left comes first, so that there is not more to do each time.
        if self.settled():
            storm.feed(REQUESTS)
        assert storm.producer.flush(30) == 0
        text = f"{rule} from={number} count=1"
        self.points += 1
        storm.note(text, "w1")
        self.start([text])
        storm.wait_until(lambda: self.settled() or not self.one.up(), PATIENCE_S, tend=False)
        if self.one.up():
            self.one.worker.terminate()
            storm.wait_until(lambda: not self.one.up(), PATIENCE_S, tend=False)
        if self.one.up():
            raise SystemExit(f"{text}: it does not end\n{self.one.worker.tail()}")
        self.one.worker.wait_end()
        hit = self.hits() > before
        status = self.one.worker.process.returncode
        if not hit and (status != 0 or not self.settled()):
            raise SystemExit(f"{text}: status {status}, {storm.answered()} of {storm.due()} answered\n{self.one.worker.tail()}")
        storm.note(f"end of {text}", "w1")
        self.fired += hit
        return hit

    def rule(self, rule, most):
        number = 0
        while number < most:
            number += 1
            if not self.point(rule, number):
                break
        self.say(f"{rule}: {number - 1 if number < most else number} calls")

    def finish(self):
        """Without a fault: what the last ones have left is answered, and more, lest it is stopped before it has begun."""
        self.storm.feed(REQUESTS)
        assert self.storm.producer.flush(30) == 0
        self.start([])
        self.storm._drain()


def count_missing_objects(storm, kept):
    """Each paper has bytes of its own, so that there is a text for each that was asked for."""
    papers = {one.request["base_url"] for one in storm.facts.asked.values() if one.request["ingest_type"] == "pdf"}
    texts = [path.read_text("utf-8") for path in (kept / "text").glob("*/*/*.txt")]
    return len(papers) - sum(web.WORDS.split()[0] in text for text in texts)


def main():
    parser = argparse.ArgumentParser(prog="tests/torture/run", description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--most", type=int, default=200, help="of each kind of call (default 200)")
    parser.add_argument("--only", default="", help="rules with this text")
    parser.add_argument("--delivery", choices=["exactly-once", "at-least-once"])
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ing-torture-"))
    folder.chmod(0o755)
    web.WEIGHTS = {"page": 40, "hop": 10, "paper": 40, "gone": 10}  # papers have objects
    storm = storms.Storm(args.build.resolve(), folder, 1, 1_000_000, 1, 0, 1, {}, args.delivery)
    started = time.monotonic()
    bad = True
    try:
        storm.open()
        torture = Torture(storm, lambda text: print(text, file=sys.stderr, flush=True))
        for rule in KILLS + FAILURES:
            if args.only in rule:
                torture.rule(rule.format(warc=folder / "w1" / "warc", kept=folder / "kept"), args.most)
        torture.finish()
        storm.seconds = time.monotonic() - started
        findings = storm.settle()
        missing = count_missing_objects(storm, folder / "kept")
        bad = missing != 0 or any(not storms.tolerated(one, storm.delivery) for one in findings)
        print(json.dumps({"points": torture.points, "hit": torture.fired, "missing_objects": missing, **storm.figures(findings)}, indent=1))
        if findings:
            print(storm.history(findings))
    finally:
        storm.close()
        if not bad:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
