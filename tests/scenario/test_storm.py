# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/storm: a short schedule of its faults, and its judge, who must find what is planted."""

import pathlib
import tempfile

import confluent_kafka
import psycopg
import pytest
import storm as storms
from servers import readers

pytestmark = pytest.mark.slow


@pytest.fixture
def storm(build):
    """storm(requests=…, kills=…, …): opened; closed after the test, and its folder removed."""
    opened = []

    def start(**how):
        # Not below pytest's folders, which PostgreSQL may not enter.
        folder = tempfile.TemporaryDirectory(prefix="ing-storm-", ignore_cleanup_errors=True)
        path = pathlib.Path(folder.name)
        path.chmod(0o755)
        one = storms.Storm(build, path, **how)
        opened.append((one, folder))
        one.open()
        return one
    yield start
    for one, folder in opened:
        one.close()
        folder.cleanup()


def wrong(storm, findings):
    return [one for one in findings if not storms.tolerated(one, storm.delivery)]


@pytest.mark.timeout(400)
def test_a_short_storm_leaves_every_request_answered(storm):
    """Some of each fault while three thousand requests are on their way; seeds that found something are added."""
    one = storm(seed=20261122, requests=3000, workers=3, kills=12, seconds=45,
                kinds={"freeze-at-step": 1, "broker-restart": 1, "database-restart": 1, "cut": 1, "disk-fails": 1, "topic-anew": 1,
                       "join-and-leave": 1})
    one.run()
    findings = one.settle()
    assert one.killed >= 12 and one.at_step > 0
    assert not wrong(one, findings), f"seed {one.seed}: {one.figures(findings)}\n{one.history(wrong(one, findings))}"
    readers.check([path for member in one.fleet.members for path in member.warc.glob("*.warc.gz")])


@pytest.mark.timeout(200)
def test_the_judge_finds_what_is_planted(storm):
    one = storm(seed=1, requests=120, workers=2, kills=0, seconds=1, kinds={})
    one.run()
    assert one.settle() == []
    one.facts.incidents.clear()  # both workers joined a minute ago: that would explain a record without a row
    known = set()

    def found():
        """What is found now and was not before."""
        now = {(finding.kind, finding.name) for finding in one.judge()}
        fresh = now - known
        known.update(now)
        return fresh
    joined = found()  # requests that were under way when the second worker joined, and were begun again
    assert {kind for kind, _ in joined} <= {"orphan"}
    pages = [asked for asked in one.facts.asked.values()
             if "/page/" in asked.request["base_url"] and ("orphan", asked.name) not in joined]
    names = [asked.name for asked in pages]

    value = next(message.value() for message in one.uncommitted() if storms.ledger.answer_of(message).name == names[0])
    publish(one, value, commit=False)
    assert found() == set(), "an aborted result is none"
    publish(one, value, commit=True)
    assert found() == {("duplicated", names[0])}
    # Nobody is there to answer it, nor to commit its position.
    one.count += 1
    one.feed(1)
    one.producer.flush(30)
    lost = list(one.facts.asked)[-1]
    assert found() == {("lost", lost), ("position", "")}

    def url(number):
        return pages[number].request["base_url"]
    with psycopg.connect(one.settings["postgres.dsn"], autocommit=True) as connection:
        connection.execute("DELETE FROM ingest_file_result WHERE base_url = %s", (url(1),))
        assert found() == {("row-missing", names[1])}
        connection.execute("UPDATE ingest_file_result SET status = 'wayback-error', hit = false WHERE base_url = %s", (url(2),))
        assert found() == {("row-differs", names[2])}
        connection.execute("DELETE FROM cdx WHERE url = %s", (url(3),))
        assert found() == {("row-missing", names[3]), ("orphan", names[3])}
        connection.execute("UPDATE cdx SET warc_offset = warc_offset + 1 WHERE url = %s", (url(4),))
        assert found() == {("row-elsewhere", names[4]), ("record-missing", names[4]), ("orphan", names[4])}
        connection.execute("UPDATE cdx SET sha1hex = %s WHERE url = %s", ("0" * 40, url(5)))
        assert found() == {("record-differs", names[5])}
        if one.transactions:
            connection.execute(
                'INSERT INTO result_outbox (kafka_group, topic, partition, "offset", message_timestamp_ms, message_digest, output, value) '
                "VALUES (%s, %s, 0, 0, 1, 1, 'results', '')", (storms.GROUP, storms.REQUESTS))
            assert found() == {("outbox", "")}
    text = one.history([finding for finding in one.judge() if finding.name == names[0]])
    assert f"request {names[0]}" in text and " NOT COMMITTED" in text and "record    w" in text
    damage(one, names[6], lambda bytes_: bytes_[:-1] + bytes([bytes_[-1] ^ 1]))
    broken = found()
    assert ("file-broken", "") in broken and ("record-missing", names[6]) in broken


def publish(one, value, commit):
    """A result of somebody else's making."""
    producer = confluent_kafka.Producer({"bootstrap.servers": one.kafka.brokers(), "transactional.id": "planted"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(storms.RESULTS, value, key=b"planted" if not commit else keys_of(value))
    producer.flush(30)
    if commit:
        producer.commit_transaction(30)
    else:
        producer.abort_transaction(30)


def keys_of(value):
    return storms.ledger.account.identity_of(storms.json.dumps(storms.json.loads(value)["request"]))


def damage(one, name, change):
    """Changes the bytes of the record of that request's page."""
    record = next(record for record in one.facts.records if record.url.endswith("/" + name) and record.type == b"response")
    path = next(path for member in one.fleet.members for path in member.warc.glob(record.file + "*"))
    with open(path, "r+b") as file:
        file.seek(record.offset)
        data = change(file.read(record.csize))
        file.seek(record.offset)
        file.write(data)
