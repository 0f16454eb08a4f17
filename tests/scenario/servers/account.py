# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of every request of a test, judged when it is over: as many results as requests, and a record for every hit.

The topics themselves are read: whatever a test has put into the topics of requests, by whichever way, is to have
one result (or one dead letter) for each time that it was put there. What the fixture produce() has sent counts even
when it is there no more.
"""

import collections
import dataclasses
import hashlib
import io
import json
import pathlib
import zlib

import confluent_kafka
from warcio.archiveiterator import ArchiveIterator

PATIENCE_S = 60
IDENTITY = ("ingest_type", "base_url", "link_source", "link_source_id")
SHOWN = 5


@dataclasses.dataclass
class Allowed:
    """What a test has said that it may leave behind, which needs a reason (conftest.py: marks)."""
    repeated: bool = False
    unfinished: bool = False


def read_all(brokers, names):
    """Every committed message of those topics that there are, as (key, value); notes of `ingestctl dead replay` are none."""
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": brokers, "group.id": "account", "enable.auto.commit": False,
        "isolation.level": "read_committed", "enable.partition.eof": True,
        "fetch.message.max.bytes": 40_000_000, "fetch.wait.max.ms": 20})
    try:
        known = consumer.list_topics(timeout=20).topics
        left = {(name, number) for name in names if name in known for number in known[name].partitions}
        consumer.assign([confluent_kafka.TopicPartition(*one, confluent_kafka.OFFSET_BEGINNING) for one in left])
        found = []
        while left:
            message = consumer.poll(PATIENCE_S)
            assert message is not None, f"the broker does not give {left}"
            if message.error() is None and "ingest.replayed" in dict(message.headers() or []):
                continue
            if message.error() is None:
                found.append((message.key(), message.value() or b""))
            elif message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF:
                left.discard((message.topic(), message.partition()))
        return found
    finally:
        consumer.close()


def topics_below(brokers, prefix):
    consumer = confluent_kafka.Consumer({"bootstrap.servers": brokers, "group.id": "account"})
    try:
        return [name for name in consumer.list_topics(timeout=20).topics if name.startswith(prefix)]
    finally:
        consumer.close()


def identity_of(value):
    """The key that a request's results have, or None for what is no request."""
    try:
        request = json.loads(value)
        # The worker's strings end at a NUL.
        words = [(request.get(name) or "").partition("\0")[0] for name in IDENTITY]
    except (ValueError, AttributeError, RecursionError):
        return None
    return hashlib.sha1("\t".join(words).encode(errors="surrogatepass")).hexdigest().encode()


def check_tally(due, got, allowed, example=lambda one: one):
    """Both count by the same keys; example() gives the text by which a person knows one."""
    wrong = []
    for one in due.keys() | got.keys():
        enough = allowed.unfinished or got[one] >= due[one]
        too_many = got[one] > due[one] and not (allowed.repeated and due[one])
        if too_many or not enough:
            wrong.append(f"{got[one]} results of {due[one]} requests: {example(one)[:200]!r}")
    assert not wrong, f"{len(wrong)} of {len(due)} differ:\n" + "\n".join(sorted(wrong)[:SHOWN])


def check_counts(asked, results, dead, allowed, groups=1):
    """asked and dead are messages' values, results their keys. Each group of consumers gives every request a result."""
    due, put, got = collections.Counter(), {}, collections.Counter(results)
    for value in asked:
        one = identity_of(value) or value
        due[one] += groups
        put[value] = one
    for value in dead:
        got[put.get(value, value)] += 1
    check_tally(due, got, allowed, lambda one: next((value for value, its in put.items() if its == one), one))


def find_file(folders, name):
    """A file that is not finished has a name of its own, after a crash."""
    for folder in folders:
        for path in (pathlib.Path(folder, name), pathlib.Path(folder, name + ".open")):
            if path.exists():
                return path
    return None


def check_record(cdx, folders):
    """The record is where the row says, exactly so long, of that URL, and its content has the digest."""
    path = find_file(folders, cdx["warc_path"])
    assert path, f"there is no {cdx['warc_path']}"
    with open(path, "rb") as file:
        file.seek(cdx["warc_offset"])
        member = file.read(cdx["warc_csize"])
    gzip = zlib.decompressobj(16 + zlib.MAX_WBITS)
    text = gzip.decompress(member)
    assert gzip.eof and not gzip.unused_data, "not one gzip member"
    found = []
    for record in ArchiveIterator(io.BytesIO(text), check_digests="raise"):
        found.append(record)
        record.content_stream().read()
    assert len(found) == 1, f"{len(found)} records"
    headers = found[0].rec_headers
    assert found[0].rec_type in ("response", "revisit"), found[0].rec_type
    assert headers.get_header("WARC-Target-URI") == cdx["url"]
    assert headers.get_header("WARC-Payload-Digest") == f"sha1:{cdx['sha1b32']}"


def check_hits(results, folders, archived):
    """archived: every worker of the test had a warc.dir."""
    bad, seen = [], set()
    for result in results:
        if result["request"]["ingest_type"] == "publication":
            continue  # made of many documents; each capture has its row
        cdx = result.get("cdx", {})
        if not result["hit"] or (not archived and "warc_path" not in cdx):
            continue
        place = cdx.get("warc_path"), cdx.get("warc_offset")
        if place in seen:
            continue
        seen.add(place)
        try:
            check_record(cdx, folders)
        except Exception as error:  # whatever the reader of a broken record raises
            bad.append(f"{result['request']['base_url'][:200]}: {cdx}: {type(error).__name__} {error}")
    assert not bad, f"{len(bad)} hits without their record:\n" + "\n".join(bad[:SHOWN])


class Account:
    """Of one test. Workers are announced by ran(); settle() judges."""

    def __init__(self):
        self.groups = set()
        self.sent = collections.defaultdict(collections.Counter)
        self.folders = set()
        self.archived = True

    def ran(self, group, warc_dir):
        self.groups.add(group)
        if warc_dir:
            self.folders.add(warc_dir)
        else:
            self.archived = False

    def produced(self, topic, value):
        self.sent[topic][value.encode() if isinstance(value, str) else value or b""] += 1

    def settle(self, brokers, topics, allowed):
        asked = collections.Counter()
        for name in topics_below(brokers, topics["requests"]):
            if name != topics["dead"] and "-parked-" not in name:
                there = collections.Counter(value for _, value in read_all(brokers, [name]))
                asked += there | self.sent[name]  # the larger number of each
        found = read_all(brokers, [topics["results"]])
        dead = [value for _, value in read_all(brokers, [topics["dead"]])]
        check_counts(asked.elements(), [key for key, _ in found], dead, allowed, len(self.groups))
        check_hits((json.loads(value) for _, value in found), self.folders, self.archived)
