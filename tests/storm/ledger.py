# SPDX-License-Identifier: GPL-3.0-or-later
"""What was asked, what came of it, and the judgement: every request has one committed result, its rows, and records.

Facts holds what was found, as plain data; judge() says what is wrong with it, history() all that is known of a request.
"""

import collections
import dataclasses
import datetime
import hashlib
import re

import confluent_kafka
import psycopg
from confluent_kafka import OFFSET_BEGINNING, KafkaError, TopicPartition
from servers import account

import records

# A record without a row is due to a fault that began at most this long after the record was written: fetched, it waits for its
# batch, for the database, the broker.
ORPHAN_SECONDS = 60
# The broker is away at times: no line for each attempt to reach it.
QUIET = {"log_level": 0}


@dataclasses.dataclass(slots=True)
class Asked:
    name: str
    request: dict
    topic: str
    partition: int = -1
    offset: int = -1
    # Its topic was deleted before it was answered, as far as we know: it has at most one result.
    forgotten: bool = False


@dataclasses.dataclass(slots=True)
class Answer:
    name: str
    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes
    status: str
    hit: bool
    terminal_sha1: str
    cdx: tuple  # (url, datetime, file, offset, csize), or ()


@dataclasses.dataclass(slots=True)
class Incident:
    began: float
    ended: float
    kind: str
    member: str  # "": all of them
    detail: str = ""


@dataclasses.dataclass(slots=True)
class Finding:
    kind: str
    name: str  # of a request, or ""
    text: str


@dataclasses.dataclass
class Facts:
    asked: dict = dataclasses.field(default_factory=dict)
    answers: list = dataclasses.field(default_factory=list)
    dead: list = dataclasses.field(default_factory=list)
    results_rows: dict = dataclasses.field(default_factory=dict)  # base_url → (status, hit, sha1hex)
    asked_rows: set = dataclasses.field(default_factory=set)  # link_source_id
    files: set = dataclasses.field(default_factory=set)  # sha1hex of file_meta
    cdx: list = dataclasses.field(default_factory=list)  # (url, datetime, sha1hex, cdx_sha1hex, file, offset, csize)
    outbox: list = dataclasses.field(default_factory=list)
    records: list = dataclasses.field(default_factory=list)
    broken_files: list = dataclasses.field(default_factory=list)
    behind: list = dataclasses.field(default_factory=list)  # (topic, partition, position, end)
    incidents: list = dataclasses.field(default_factory=list)
    crashes: list = dataclasses.field(default_factory=list)
    made_anew: dict = dataclasses.field(default_factory=dict)  # topic → when it was last


# --- reading ---


def answer_of(message):
    result = account.json.loads(message.value())
    cdx, terminal = result.get("cdx") or {}, result.get("file_meta") or {}
    place = (cdx["url"], cdx["datetime"], cdx["warc_path"], cdx["warc_offset"], cdx["warc_csize"]) if "warc_path" in cdx else ()
    return Answer(result["request"].get("link_source_id", ""), message.topic(), message.partition(), message.offset(),
                  message.timestamp()[1], message.key(), result["status"], result["hit"], terminal.get("sha1hex") or "", place)


class Reader:
    """Reads topics from their beginning, as somebody with that isolation level."""

    def __init__(self, brokers, topics, isolation="read_committed"):
        self.consumer = confluent_kafka.Consumer({
            "bootstrap.servers": brokers, "group.id": "storm-reader", "enable.auto.commit": False,
            "isolation.level": isolation, "enable.partition.eof": True, "fetch.message.max.bytes": 40_000_000,
            "fetch.wait.max.ms": 50, **QUIET})
        known = self.consumer.list_topics(timeout=30).topics
        self.partitions = [(name, number) for name in topics if name in known for number in known[name].partitions]
        self.ended = set()
        self.consumer.assign([TopicPartition(*one, OFFSET_BEGINNING) for one in self.partitions])

    def read(self, seconds):
        """The messages that come in that time."""
        found = []
        for message in self.consumer.consume(1000, seconds):
            place = message.topic(), message.partition()
            if message.error() is None:
                self.ended.discard(place)
                found.append(message)
            elif message.error().code() == KafkaError._PARTITION_EOF:
                self.ended.add(place)
        return found

    def close(self):
        self.consumer.close()


def read_all(brokers, topics, isolation="read_committed", patience=60):
    """All that there is."""
    reader = Reader(brokers, topics, isolation)
    found, waited = [], 0
    while len(reader.ended) < len(reader.partitions):
        more = reader.read(1.0)
        waited = 0 if more else waited + 1
        assert waited < patience, f"the broker does not give the end of {set(reader.partitions) - reader.ended}"
        found += more
    reader.close()
    return found


def rows_of(dsn, facts):
    with psycopg.connect(dsn, autocommit=True) as connection:
        def read(query):
            return connection.execute(query).fetchall()
        facts.results_rows = {url: rest for url, *rest in read(
            "SELECT base_url, status, hit, terminal_sha1hex FROM ingest_file_result")}
        facts.asked_rows = {name for name, in read("SELECT link_source_id FROM ingest_request")}
        facts.files = {name for name, in read("SELECT sha1hex FROM file_meta")}
        facts.cdx = read("SELECT url, datetime, sha1hex, cdx_sha1hex, warc_path, warc_offset, warc_csize FROM cdx")
        facts.outbox = outbox_of(connection)


def outbox_of(connection):
    there = connection.execute("SELECT to_regclass('result_outbox')").fetchone()[0]
    return connection.execute(
        'SELECT topic, partition, "offset", output, created FROM result_outbox').fetchall() if there else []


def committed_positions(brokers, group, topics):
    """{(topic, partition): (committed offset or None, end of the log)}."""
    consumer = confluent_kafka.Consumer({"bootstrap.servers": brokers, "group.id": group, "enable.auto.commit": False, **QUIET})
    try:
        known = consumer.list_topics(timeout=20).topics
        wanted = [TopicPartition(name, number) for name in topics if name in known for number in known[name].partitions]
        found = {}
        for one in consumer.committed(wanted, timeout=20):
            end = consumer.get_watermark_offsets(TopicPartition(one.topic, one.partition), timeout=20)[1]
            found[one.topic, one.partition] = (one.offset if one.offset >= 0 else None, end)
        return found
    finally:
        consumer.close()


def positions_behind(brokers, group, topics):
    """(topic, partition, position, end) where something that can be read is not committed. The markers of transactions, which
    nobody reads, may follow the last message."""
    behind = []
    for place, (position, end) in committed_positions(brokers, group, topics).items():
        if (position or 0) < end and read_between(brokers, place, position or 0):
            behind.append((*place, position, end))
    return behind


def read_between(brokers, place, offset):
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": brokers, "group.id": "storm-lag", "enable.auto.commit": False, "enable.partition.eof": True,
        "isolation.level": "read_committed", "fetch.message.max.bytes": 40_000_000, **QUIET})
    try:
        consumer.assign([TopicPartition(*place, offset)])
        message = consumer.poll(20)
        return message is None or message.error() is None
    finally:
        consumer.close()


# --- judging ---


def hex_of(digest):
    return records.base64.b32decode(digest).hex()


def judge_answers(facts, by_name):
    for name, one in facts.asked.items():
        count = len(by_name.get(name, ()))
        if count > 1:
            yield Finding("duplicated", name, f"{count} results")
        elif count == 0 and not one.forgotten:
            yield Finding("lost", name, "no result")
    for name, answers in by_name.items():
        if name not in facts.asked:
            yield Finding("stranger", name, f"{len(answers)} results of what nobody has asked")
    for message in facts.dead:
        yield Finding("dead-letter", "", f"{message[:200]!r}")


def judge_rows(facts, by_name):
    """Every result's rows are there, and say the same."""
    places = {(url, date): rest for url, date, *rest in facts.cdx}
    for name, answers in by_name.items():
        one = facts.asked.get(name)
        if one is None:
            continue
        # Of several results the last one's: the rows are those of the last to commit.
        last = answers[-1]
        expected = account.identity_of(account.json.dumps(one.request))
        if last.key != expected:
            yield Finding("key", name, f"the key of the result is {last.key!r}, not {expected!r}")
        row = facts.results_rows.get(one.request["base_url"])
        if row is None:
            yield Finding("row-missing", name, "no row in ingest_file_result")
        elif [last.status, last.hit] != row[:2] or (last.hit and row[2] != last.terminal_sha1):
            yield Finding("row-differs", name, f"result {last.status} {last.hit} {last.terminal_sha1}, row {row}")
        if name not in facts.asked_rows:
            yield Finding("row-missing", name, "no row in ingest_request")
        if last.terminal_sha1 and last.terminal_sha1 not in facts.files:
            yield Finding("row-missing", name, f"no row of {last.terminal_sha1} in file_meta")
        place = places.get(last.cdx[:2])
        if last.cdx and place is None:
            yield Finding("row-missing", name, f"no row of {last.cdx} in cdx")
        elif last.cdx and tuple(place[2:]) != last.cdx[2:]:
            yield Finding("row-elsewhere", name, f"cdx has {place}, the result {last.cdx}")


def judge_records(facts, by_name, by_place):
    """Every answer's page is in some record, and every row's record is readable where the row says."""
    archived = {record.url for record in facts.records if record.type in records.RESPONSES}
    for name in by_name.keys() & facts.asked.keys():
        if facts.asked[name].request["base_url"] not in archived:
            yield Finding("record-missing", name, "no record of its URL")
    for url, date, sha1hex, cdx_sha1hex, file, offset, csize in facts.cdx:
        name = name_in(url)
        record = by_place.get((file, offset))
        if record is None:
            yield Finding("record-missing", name, f"the row of {url} {date} names {file}:{offset}")
        elif record.fault:
            yield Finding("record-broken", name, f"{file}:{offset}: {record.fault}")
        elif record.csize != csize or record.url != url or record.type not in records.RESPONSES:
            yield Finding("record-differs", name, f"{record}: row {url} {csize}")
        elif hex_of(record.payload) != (cdx_sha1hex or sha1hex):
            yield Finding("record-differs", name, f"{file}:{offset}: {record.payload}, row {cdx_sha1hex or sha1hex}")
    bodies = {(record.url, record.date, record.payload) for record in facts.records if record.type == b"response"}
    for record in facts.records:
        if record.type == b"revisit" and (*record.original, record.payload) not in bodies:
            yield Finding("original-missing", name_in(record.url), f"{record.file}:{record.offset}: no record of {record.original}")
    for path, text in facts.broken_files:
        yield Finding("file-broken", "", f"{path}: {text}")


# Of these answers there are rows in cdx.
WITH_ROW = (200, 226)


def orphans(facts):
    """The records of answers that no row names, and should."""
    named = {(row[4], row[5]) for row in facts.cdx}
    return [record for record in facts.records if record.type in records.RESPONSES and record.status in WITH_ROW
            and (record.file, record.offset) not in named]


def judge_orphans(facts, found):
    """Each came from an attempt that was cut off: the worker that wrote it was killed, stopped, or lost its partitions then."""
    for record in found:
        at = datetime.datetime.fromisoformat(record.date.replace("Z", "+00:00")).timestamp()
        if not any(one.member in ("", record.member) and one.began - ORPHAN_SECONDS <= at <= one.ended + 1
                   for one in facts.incidents):
            yield Finding("orphan", name_in(record.url), f"{record.file}:{record.offset} of {record.date}: no row, and no fault then")
    for record in facts.records:
        if record.fault:
            yield Finding("record-broken", name_in(record.url), f"{record.file}:{record.offset}: {record.fault}")


# A worker may not know yet that its topic is deleted.
DELETION_SECONDS = 10


def left_in_outbox(facts, rows):
    """Without answers to messages of a topic that was deleted: they wait for a message with their offset, which replaces them."""
    places = {(one.topic, one.partition, one.offset) for one in facts.asked.values() if one.topic in facts.made_anew}
    return [row for row in rows
            if row[:3] not in places or row[4].timestamp() > facts.made_anew[row[0]] + DELETION_SECONDS]


def judge_end(facts):
    for row in left_in_outbox(facts, facts.outbox):
        yield Finding("outbox", "", f"not empty at the end: {row}")
    for topic, partition, position, end in facts.behind:
        yield Finding("position", "", f"{topic}/{partition}: committed {position} of {end}")
    for text in facts.crashes:
        yield Finding("crash", "", text)


def by_name_of(facts):
    found = collections.defaultdict(list)
    for one in sorted(facts.answers, key=lambda one: one.timestamp_ms):
        found[one.name].append(one)
    return found


def judge(facts):
    by_name = by_name_of(facts)
    by_place = {(record.file, record.offset): record for record in facts.records}
    return [*judge_answers(facts, by_name), *judge_rows(facts, by_name), *judge_records(facts, by_name, by_place),
            *judge_orphans(facts, orphans(facts)), *judge_end(facts)]


# --- telling ---


def name_in(url):
    """The request whose URL that is, or a redirect's target of."""
    found = re.search(r"/(?:page|hop|paper|gone)/([^/?]+?)(?:\.pdf)?$", url)
    return found.group(1) if found else ""


def stamp(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%H:%M:%S.%f")[:-3]


def history(facts, name, uncommitted=(), logs=()):
    """Everything that is known of a request, a line each. uncommitted: messages of the results topic as read_uncommitted sees
    them; logs: (member, path)."""
    lines = [f"request {name}"]
    one = facts.asked.get(name)
    if one:
        lines.append(f"  asked     {one.topic}/{one.partition} offset {one.offset}{' (topic deleted)' if one.forgotten else ''}: "
                     f"{one.request['base_url']}")
        digest = hashlib.sha1(account.json.dumps(one.request).encode()).hexdigest()[:16]
        lines.append(f"            digest {digest}, row {facts.results_rows.get(one.request['base_url'])}")
    times = []
    committed = {(answer.topic, answer.partition, answer.offset) for answer in facts.answers}
    for answer in [*facts.answers, *(one for one in map(answer_of, uncommitted)
                                     if (one.topic, one.partition, one.offset) not in committed)]:
        if answer.name == name:
            state = "" if (answer.topic, answer.partition, answer.offset) in committed else " NOT COMMITTED"
            lines.append(f"  result    {answer.topic}/{answer.partition} offset {answer.offset} at "
                         f"{stamp(answer.timestamp_ms / 1000)} {answer.status} {answer.cdx}{state}")
            times.append(answer.timestamp_ms / 1000)
    lines += [f"  cdx row   {row}" for row in facts.cdx if name_in(row[0]) == name]
    for record in facts.records:
        if record.url and name_in(record.url) == name and record.type in records.RESPONSES:
            lines.append(f"  record    {record.member} {record.file}:{record.offset} {record.date} {record.fault}")
            times.append(datetime.datetime.fromisoformat(record.date.replace("Z", "+00:00")).timestamp())
    lines += [f"  outbox    {row}" for row in facts.outbox if one and row[:3] == (one.topic, one.partition, one.offset)]
    if times:
        lines += [f"  fault     {stamp(i.began)} to {stamp(i.ended)} {i.kind} {i.member} {i.detail}" for i in facts.incidents
                  if i.ended >= min(times) - 10 and i.began <= max(times) + 10]
        lines += log_lines(logs, min(times) - 5, max(times) + 5)
    return "\n".join(lines)


LOG_LINES = 60


def log_lines(logs, first, last):
    """The lines of the workers' logs of that time, the newest ones when there are many."""
    found = []
    for member, path in logs:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            at = re.match(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?)", line)
            if at and first <= datetime.datetime.fromisoformat(at.group(1).replace("Z", "+00:00")).timestamp() <= last:
                found.append(f"  log       {member} {line[:300]}")
    return found[-LOG_LINES:]


def incidents(facts):
    """All of them, a line each."""
    return "".join(f"{stamp(one.began)} to {stamp(one.ended)} {one.kind} {one.member} {one.detail}\n" for one in facts.incidents)


def tally(findings):
    return dict(collections.Counter(one.kind for one in findings))
