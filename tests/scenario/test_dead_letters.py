# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl dead list, show and replay, against the real broker."""

import base64
import collections
import json
import signal
import subprocess
import time

import pytest
from servers.worker import write_config

GOOD = {"ingest_type": "html", "base_url": "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh"}


@pytest.fixture
def dead(program, settings, tmp_path):
    """dead("list", …): exit status, lines of stdout, stderr."""
    config = write_config(tmp_path / "dead.yaml", settings)

    def run(*words):
        done = subprocess.run([program("ingestctl"), "--config", config, "dead", *map(str, words)], capture_output=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()
    run.command = [program("ingestctl"), "--config", config, "dead"]
    return run


def dotted(name):
    """Of a header as an argument: __dlq_errors_topic, ingest_errors_value_bytes."""
    return name.replace("value_bytes", "value-bytes").replace("_", ".").replace("..dlq", "__dlq")


@pytest.fixture
def letter(produce, topics):
    """letter(value, …): one that died at offset 7 of partition 1, as a worker writes it. Headers that are given go before."""
    def send(value, key=None, **given):
        headers = {"__dlq.errors.topic": topics["requests"], "__dlq.errors.partition": "1", "__dlq.errors.offset": "7",
                   "__dlq.errors.message": "it is no request", "ingest.errors.reason": "invalid",
                   "ingest.errors.stage": "intake", "ingest.errors.position": "1:2",
                   "ingest.errors.time": "2026-11-21T11:00:00.000Z", "ingest.errors.value-bytes": str(len(value)),
                   **{dotted(name): text for name, text in given.items()}}
        produce(topics["dead"], [value], key=key, headers=[(name, text) for name, text in headers.items() if text is not None])
    return send


def headers_of(message):
    return dict(message.headers() or [])


def test_letters_are_listed_and_filtered(dead, letter, topics):
    letter(b"one")
    letter(b"two", ingest_errors_reason="poison", ingest_errors_stage="examine",
           ingest_errors_time="2026-11-22T08:00:00.000Z")
    letter(b"three", __dlq_errors_topic="elsewhere")
    letter(b"four", __dlq_errors_message="two\nlines \x1b[2J and bytes \udcff".encode("utf-8", "surrogateescape"),
           ingest_errors_value_bytes="4000", ingest_replays="2")
    code, lines, _ = dead("list")
    assert code == 0 and len(lines) == 4
    assert lines[0] == f"0:0 2026-11-21T11:00:00.000Z invalid intake {topics['requests']}/1@7 it is no request"
    assert lines[3].endswith("[replay 2] [cut] two\ufffdlines \ufffd[2J and bytes \ufffd")

    def offsets(*words):
        code, lines, stderr = dead("list", "--json", *words)
        assert code == 0, stderr
        return [json.loads(line)["offset"] for line in lines]
    assert offsets("--reason", "poison") == [1]
    assert offsets("--stage", "intake") == [0, 2, 3]
    assert offsets("--source", "elsewhere") == [2]
    assert offsets("--source", f"{topics['requests']}/1") == [0, 1, 3]
    assert offsets("--source", f"{topics['requests']}/2") == []
    assert offsets("--since", "2026-11-22") == [1]
    assert offsets("--until", "2026-11-22T07:59") == [0, 2, 3]
    assert offsets("--since", "2026-11-22", "--until", "2026-11-22T08:00:00.000Z") == []
    assert offsets("--since", "1s") == []
    assert offsets("--count", 2) == [0, 1]
    one = json.loads(dead("list", "--json", "--reason", "poison")[1][0])
    assert one == {"partition": 0, "offset": 1, "time": "2026-11-22T08:00:00.000Z", "reason": "poison", "stage": "examine",
                   "message": "it is no request", "position": "1:2", "value_bytes": 3, "whole": True, "replays": 0,
                   "replayed": False, "source": {"topic": topics["requests"], "partition": 1, "offset": 7}}


def test_a_letter_is_shown_whole(dead, letter):
    letter(b'{"a": 1}')
    letter(b"\xff\x00\x01", key=b"k")
    code, lines, _ = dead("show", 0)
    assert code == 0
    assert "ingest.errors.reason: invalid" in lines
    assert lines[-2:] == ["", '{"a": 1}']
    whole = json.loads(dead("show", "0:1", "--json")[1][0])
    assert base64.b64decode(whole["value_base64"]) == b"\xff\x00\x01"
    assert whole["headers"]["__dlq.errors.offset"] == "7"
    code, lines, stderr = dead("show", 2)
    assert (code, lines) == (1, []) and "there is no such dead letter" in stderr


def test_a_letter_is_replayed_once_with_key_value_and_headers(dead, letter, consume, topics):
    value = json.dumps(GOOD).encode() + b"\xff"
    letter(value, key=b"\x00key", attempt="2", origin=topics["requests"], raw=b"\x00\xff", ingest_replays="1")
    letter(b"cut", ingest_errors_value_bytes="1000000")
    letter(b"tired", ingest_replays="3")
    letter(b"from nowhere", __dlq_errors_topic=None)
    code, lines, stderr = dead("replay", "--dry-run")
    assert code == 1 and len(lines) == 1 and lines[0].startswith("0:0 ")
    assert "1 letter would be replayed, 1 replayed too often, 1 not whole, 1 without a source" in stderr
    code, lines, stderr = dead("replay")
    assert code == 1 and len(lines) == 1, stderr
    assert "1 letter replayed, 1 replayed too often, 1 not whole, 1 without a source" in stderr
    again, = consume(topics["requests"], 1, settle=1.0)
    assert (again.value(), again.key(), again.partition()) == (value, b"\x00key", 1)
    assert headers_of(again) == {"attempt": b"2", "origin": topics["requests"].encode(), "raw": b"\x00\xff",
                                 "ingest.replays": b"2"}
    note, = [one for one in consume(topics["dead"], 5) if "ingest.replayed" in headers_of(one)]
    assert note.value() is None and headers_of(note)["ingest.replayed"] == b"0:0"
    # Repeated, it does nothing.
    code, lines, stderr = dead("replay")
    assert lines == [] and "0 letters replayed, 1 replayed before" in stderr
    assert len(consume(topics["requests"], 1, settle=1.0)) == 1
    state = [json.loads(line) for line in dead("list", "--json")[1]]
    assert [(one["replayed"], one["replays"], one["whole"]) for one in state] == [
        (True, 1, True), (False, 0, False), (False, 3, True), (False, 0, True)]
    # Unless it is told to.
    assert dead("replay", "--again", "--max-replays", "4", "--reason", "invalid", "--source", topics["requests"])[0] == 1
    found = collections.Counter(one.value() for one in consume(topics["requests"], 3, settle=1.0))
    assert found == {value: 2, b"tired": 1}


def test_letters_go_to_another_topic_and_not_to_one_that_is_missing(dead, letter, consume, topics):
    letter(b"a", __dlq_errors_topic="gone")
    letter(b"b", __dlq_errors_topic="gone")
    code, _, stderr = dead("replay")
    assert code == 3 and "gone: there is no such topic; --topic names another" in stderr
    code, lines, stderr = dead("replay", "--topic", topics["requests"])
    assert code == 0 and len(lines) == 2, stderr
    assert {one.value() for one in consume(topics["requests"], 2)} == {b"a", b"b"}


@pytest.mark.unaccounted("the messages are no requests")
def test_a_replay_that_is_killed_is_repeated_without_twins(dead, letter, produce, topics, consume, wait_until):
    count = 3000
    headers = [("__dlq.errors.topic", topics["requests"].encode()), ("ingest.errors.reason", b"invalid")]
    produce(topics["dead"], [f"letter {n}".encode() for n in range(count)], headers=headers)
    killed = 0
    for delay in (0.3, 0.6, 0.9):
        process = subprocess.Popen([*dead.command, "replay"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()  # the first letter is on its way
        time.sleep(delay / 10)
        killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert killed > 0
    code, _, stderr = dead("replay")
    assert code == 0, stderr
    found = collections.Counter(one.value() for one in consume(topics["requests"], count, settle=2.0))
    assert len(found) == count and set(found.values()) == {1}
    assert f"0 letters replayed, {count} replayed before" in dead("replay")[2]


def test_what_dies_again_is_replayed_no_more_than_so_often(worker, submit, dead, consume, topics):
    submit([b"not json"], key=b"k")
    with worker():
        for deaths in (1, 2, 3):
            last = consume(topics["dead"], 2 * deaths - 1, settle=0.5)[-1]
            assert (last.value(), last.key()) == (b"not json", b"k")
            assert headers_of(last).get("ingest.replays", b"0") == str(deaths - 1).encode()
            code, lines, stderr = dead("replay", "--max-replays", 2)
            assert (code, len(lines)) == ((0, 1) if deaths <= 2 else (1, 0)), stderr
    assert "2 replayed before, 1 replayed too often" in stderr
