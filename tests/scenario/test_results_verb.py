# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl results: which are wanted, from when on, in which order, and what their messages say beside their values."""

import hashlib
import json
import random
import subprocess
import time

import psycopg
import pytest
from confluent_kafka import Producer

HOUR = 3_600_000
STATUSES = ["success", "no-pdf-link", "timeout"]


@pytest.fixture
def put(kafka):
    """put(topic, partition, value, time_ms, key=, headers=): a message with that time."""
    producer = Producer({"bootstrap.servers": kafka.brokers()})

    def send(topic, partition, value, time_ms, **more):
        producer.produce(topic, value if isinstance(value, bytes) else json.dumps(value).encode(), partition=partition,
                         timestamp=time_ms, **more)
    yield send, producer.flush


@pytest.fixture
def shown(run_ctl):
    """shown("--status", "success"): the values that ingestctl results prints."""
    def run(*words, code=0):
        done = run_ctl("results", *words)
        assert done.returncode == code, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]
    return run


def key_of(number):
    return hashlib.sha1(str(number).encode()).hexdigest()


def result_of(number):
    return {"number": number, "status": STATUSES[number % 3], "hit": number % 3 == 0,
            "request": {"ingest_type": "pdf", "base_url": f"https://www.host{number % 5}.example/{number}"},
            "terminal": {"terminal_url": f"https://end{number % 7}.example/x"} if number % 2 else None}


@pytest.fixture
def filled(topics, put):
    """300 results in random partitions, a second apart, the last of them an hour ago; returns their times."""
    send, flush = put
    pick = random.Random(7)
    now = int(time.time() * 1000)
    times = [now - HOUR - (300 - number) * 1000 for number in range(300)]
    for number, at in enumerate(times):
        send(topics["results"], pick.randrange(4), result_of(number), at, key=key_of(number),
             headers=[("about", str(number)), ("bytes", b"\xff\x00")] if number % 2 else None)
    flush()
    return times


def numbers(results):
    return [result["number"] for result in results]


def test_partitions_are_read_in_the_order_of_time(shown, filled):
    assert numbers(shown()) == list(range(300))
    assert numbers(shown("--count", 10)) == list(range(10))


def test_results_are_chosen(shown, filled):
    assert numbers(shown("--status", "timeout")) == list(range(2, 300, 3))
    assert numbers(shown("--status", "timeout,success")) == [n for n in range(300) if n % 3 != 1]
    assert numbers(shown("--host", "host1.example")) == list(range(1, 300, 5))
    assert numbers(shown("--host", "END3.example", "--host", "host0.example")) == [
        n for n in range(300) if n % 5 == 0 or (n % 2 and n % 7 == 3)]
    assert numbers(shown("--id", key_of(17))) == [17]
    assert numbers(shown("--id", key_of(17).upper(), "--id", key_of(5), "--status", "timeout")) == [5, 17]
    assert numbers(shown("--status", "success", "--count", 4)) == [0, 3, 6, 9]
    assert shown("--id", key_of(17), "--status", "success") == []


def test_since_begins_there(shown, filled):
    begin = (filled[250] + filled[251]) // 2
    ago = int(time.time() - begin / 1000)
    found = numbers(shown("--since", f"{ago}s"))
    assert found[-1] == 299 and found == list(range(found[0], 300)) and abs(found[0] - 251) <= 60
    day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(filled[100] // 1000 + 1))
    assert numbers(shown("--since", day)) == list(range(101, 300))
    assert shown("--since", "1m") == []
    assert numbers(shown("--since", "1970-01-01")) == list(range(300))


def test_headers_are_shown_with_the_value(shown, filled):
    found = shown("--headers", "--count", 2)
    for number, one in enumerate(found):
        assert (one["key"], one["value"]) == (key_of(number), result_of(number))
        assert one["time"] == time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(filled[number] / 1000)) + f".{filled[number] % 1000:03d}Z"
        assert set(one) == {"key", "partition", "offset", "time", "headers", "value"}
    assert found[0]["headers"] == {} and found[1]["headers"]["about"] == "1"


def test_results_of_a_list(shown, filled, sql):
    """By the first bytes of the key: of requests that it brought, and of those that were there before."""
    for name in ("seed", "seed-2"):
        sql("INSERT INTO request_list (name) VALUES (%s)", name)
    for number in range(0, 300, 2):
        sql("INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request_id, list_id)"
            " VALUES ('x', %s, 'pdf', 'http://a/', %s, %s)", str(number), key_of(number)[:32], 1 if number % 3 else 2)
    sql("INSERT INTO request_list_member SELECT request_id, 1 FROM ingest_request WHERE link_source_id IN ('6', '12')")
    assert numbers(shown("--list", "seed")) == [n for n in range(0, 300, 2) if n % 3 or n in (6, 12)]
    assert numbers(shown("--list", "seed-2")) == list(range(0, 300, 6))
    assert numbers(shown("--list", "seed-2", "--count", 3, "--since", "1970-01-01")) == [0, 6, 12]
    assert numbers(shown("--list", "seed", "--status", "timeout", "--host", "host2.example")) == [
        n for n in range(0, 300, 2) if n % 3 == 2 and n % 5 == 2]
    assert shown("--list", "see", code=1) == []


def test_dead_letters_instead(shown, filled, topics, put):
    send, flush = put
    dead = {"dead": topics["dead"]} if "dead" in topics else {}
    assert dead, "the test's topics have one of dead letters"
    now = int(time.time() * 1000)
    send(topics["dead"], 0, b"no request \xff", now - 2 * HOUR, headers=[("ingest.errors.reason", "syntax")])
    send(topics["dead"], 0, b"{}", now, headers=[("ingest.errors.reason", "missing")])
    send(topics["dead"], 0, b"", now, headers=[("ingest.replayed", "0:0")])
    flush()
    found = shown("--dead")
    assert [one["headers"]["ingest.errors.reason"] for one in found] == ["syntax", "missing"]
    assert "value_base64" in found[0] and found[1]["value"] == "{}"
    assert [one["value"] for one in shown("--dead", "--since", "1h")] == ["{}"]
    assert shown("--dead", "--status", "success", code=2) == []


def test_following_waits_for_what_is_older(program, settings, tmp_path, topics, put):
    """A partition that is silent is waited for half a second, so that what it brings late comes in its turn; and no longer."""
    from servers.worker import write_config
    send, flush = put
    config = write_config(tmp_path / "follow.yaml", settings)
    with subprocess.Popen([program("ingestctl"), "--config", config, "results", "--follow", "--from-beginning", "--count", "42"],
                          stdout=subprocess.PIPE, text=True) as follow:
        send(topics["results"], 0, result_of(0), int(time.time() * 1000))
        flush()
        assert json.loads(follow.stdout.readline())["number"] == 0, "the others are silent"
        for number in range(1, 41, 2):
            now = int(time.time() * 1000)
            send(topics["results"], 1, result_of(number + 1), now)
            flush()
            time.sleep(0.02)  # the older one arrives after the younger one
            send(topics["results"], 2, result_of(number), now - 1)
            flush()
        ahead = int(time.time() * 1000) + HOUR
        send(topics["results"], 3, result_of(41), ahead)
        flush()
        assert [json.loads(line)["number"] for line in follow.stdout] == list(range(1, 42))
        assert follow.wait(timeout=30) == 0


def test_wrong_words(run_ctl):
    for words, said in [(["--status", "succes"], "did you mean 'success'"), (["--id", "12"], "not the ID"),
                        (["--host", ""], "not a host"), (["--since", "noon"], "--since")]:
        done = run_ctl("results", *words)
        assert (done.returncode, done.stdout) == (2, "") and said in done.stderr
    done = run_ctl("results", "--list", "x", overrides={"postgres.dsn": ""})
    assert done.returncode == 2 and "postgres.dsn" in done.stderr
