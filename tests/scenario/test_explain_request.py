# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of a request: what is kept of its way, and how `ingestctl explain request` tells it."""

import hashlib
import json
import subprocess

import pytest

from servers.polite import Answer, redirect, text

HOST = "http://slow.test.example"
LANDING = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}


def id_of(request):
    """The key of a request's result."""
    parts = (request.get(name, "") for name in ("ingest_type", "base_url", "link_source", "link_source_id"))
    return hashlib.sha1("\t".join(parts).encode()).hexdigest()


def test_rows_tell_what_was_waited_for(worker, submit, results, polite, sql, settings):
    polite.page("slow.test.example", "/one", redirect("/two"))
    polite.page("slow.test.example", "/gone", Answer(404))
    polite.robots("slow.test.example", "User-agent: *\nDisallow: /private\n")
    requests = [{"ingest_type": "html", "base_url": f"{HOST}/{path}"} for path in ("one", "three", "gone")]
    submit(requests)
    with worker({"gate.host_delay_ms": 300, "gate.robots": "obey"}):
        results(3)
    rows = {row["base_url"]: row["visits"] for row in sql("SELECT base_url, visits FROM ingest_file_result")}
    assert len(rows) == 3
    for visits in rows.values():
        assert (visits["instance"], visits["lane"]) == (settings["instance"], "requests")
        assert "topic" not in visits, "it is the lane's"
        assert visits["took_ms"] >= sum(url.get("wait_ms", 0) + url.get("ms", 0) for url in visits["urls"])
        assert all(url.get("robots_ms", 0) + url.get("host_ms", 0) <= url["wait_ms"] for url in visits["urls"])
    assert {visits["offset"] for visits in rows.values()} <= {0, 1, 2}
    one, two = rows[f"{HOST}/one"]["urls"]
    assert one["http"] == 302 and "url" not in one
    assert two["via"] == "redirect" and two["host_ms"] > 0
    # robots.txt was fetched once, and all three waited for it; then each waited for its turn.
    assert sum(visits["urls"][0].get("robots_ms", 0) > 0 for visits in rows.values()) == 3
    assert max(visits["urls"][0].get("before", 0) for visits in rows.values()) >= 1


def test_rows_keep_no_visits_if_they_are_not_wanted(worker, submit, results, sql):
    submit(LANDING)
    with worker({"postgres.visits": False}):
        results(1)
    assert [row["visits"] for row in sql("SELECT visits FROM ingest_file_result")] == [None]


# --- ingestctl explain request ---


@pytest.fixture
def explain(run_ctl):
    """explain(request or ID, arguments…): what is told as JSON; text=True: as text. code is the exit status expected (None: any)."""
    def ask(request, *arguments, code=0, text=False, **how):
        request_id = request if isinstance(request, str) else id_of(request)
        done = run_ctl("explain", *([] if text else ["--json"]), *arguments, "request", request_id, **how)
        assert code is None or done.returncode == code, done.stderr
        return done.stdout if text else json.loads(done.stdout)
    return ask


def said(life):
    return " ".join(entry["say"] for entry in life["next"])


def test_a_hit_is_told_from_its_list_to_its_bytes(worker, submit, results, run_ctl, explain, settings, topics, tmp_path,
                                                   program):
    listed = {**LANDING, "link_source": "doi", "link_source_id": "10.123/41"}
    loaded = run_ctl("requests", "load", "--list", "harvest", "-", input=json.dumps(listed) + "\n")
    assert loaded.returncode == 0, loaded.stderr

    life = explain(listed, "--no-topics")
    assert life["request"]["list"] == "harvest"
    assert life["result"] is None and life["queued"] is None
    assert "never put onto a topic" in said(life)

    queued = run_ctl("requests", "enqueue", "--list", "harvest", "--lane", "requests")
    assert queued.returncode == 0, queued.stderr
    life = explain(listed)
    assert life["queued"]["topic"] == topics["requests"]
    assert life["queued"]["unsent"] is False
    place, = life["waiting"]
    assert (place["topic"], place["offset"]) == (topics["requests"], 0)
    assert f"It waits in {topics['requests']}" in said(life)

    with worker():
        result = results(1)[0]
    life = explain(listed)
    assert life["id"] == id_of(listed)
    assert (life["request"]["list"], life["request"]["link_source_id"]) == ("harvest", "10.123/41")
    assert (life["result"]["status"], life["result"]["attempts"]) == ("success", 1)
    assert life["results"][0]["status"] == "success" and life["results"][0]["hit"] is True
    assert [url["http"] for url in life["result"]["visits"]["urls"]] == [200, 200]
    assert life["document"]["sha1hex"] == result["file_meta"]["sha1hex"]
    assert len(life["captures"]) == 2
    for capture in life["captures"]:
        assert capture["file"].startswith(settings["warc.dir"])
        assert capture["whole"] is True and capture["record_type"] == "response"
    assert life["missing"] == []
    command = life["next"][-1]["run"].split()
    assert command[:3] == ["ingestctl", "warc", "cat"]
    document = subprocess.run([program("ingestctl"), *command[1:]], capture_output=True, check=True).stdout
    assert hashlib.sha1(document).hexdigest() == result["file_meta"]["sha1hex"]

    text = explain(listed, text=True)
    for words in (id_of(listed), LANDING["base_url"], "by the list harvest", "from doi 10.123/41", "visits    done in",
                  "HTTP 200 in ", "success (hit)", "application/pdf", "whole", "It was a hit"):
        assert words in text

    # The tables have the first 16 bytes of it.
    assert explain(id_of(listed)[:32])["result"]["status"] == "success"
    # Without the WARC file it is known where it was.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    life = explain(listed, overrides={"warc.dir": str(elsewhere)})
    assert {capture["file"] for capture in life["captures"]} == {None}
    assert "not on this machine" in said(life)


def test_damaged_records_are_told(worker, submit, results, explain, tmp_path):
    submit(LANDING)
    with worker():
        results(1)
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    for file in (tmp_path / "warc").iterdir():
        data = bytearray(file.read_bytes())
        for at in range(len(data) // 2, len(data), 97):
            data[at] ^= 0xff
        (damaged / file.name).write_bytes(data)
    life = explain(LANDING, "--warc-dir", damaged)
    assert {capture["file"].split("/")[-2] for capture in life["captures"]} == {"damaged"}
    assert any(capture["whole"] is False and capture["fault"] for capture in life["captures"])


def test_a_failure_says_when_to_ask_again(worker, submit, results, explain, sql):
    request = {"ingest_type": "pdf", "base_url": "https://operator:h1dden@tidal-ecology.example/gone"}
    submit(request)
    with worker():
        results(1)
    life = explain(request)
    assert life["result"]["status"] == "terminal-bad-status"
    assert "It ended as terminal-bad-status" in said(life)
    assert "worth asking again from" in said(life)
    assert "h1dden" not in json.dumps(life)
    assert "h1dden" not in explain(request, text=True)
    assert any(entry["run"] == "ingestctl hosts explain tidal-ecology.example" for entry in life["next"])


@pytest.mark.unfinished("the worker is killed while it works")
def test_a_request_at_work_is_found_in_its_worker(worker, submit, polite, explain, settings, wait_until):
    host = "busy.test.example"
    polite.page(host, "/first", Answer(delay_s=20))
    requests = [{"ingest_type": "html", "base_url": f"http://{host}/{path}"} for path in ("first", "second")]
    submit(requests[0])
    with worker({"stop.drain_ms": 100}) as daemon:
        wait_until(lambda: polite.seen(host))
        submit(requests[1])
        wait_until(lambda: explain(requests[1])["workers"])
        life = explain(requests[1])
        now, = life["workers"]
        assert (now["instance"], now["state"], now["lane"]) == (settings["instance"], "waiting", "requests")
        visit, = now["visits"]
        assert (visit["host"], visit["for"], visit["url"]) == (host, "host", requests[1]["base_url"])
        assert f"ingestctl hosts explain {host}" in [entry["run"] for entry in life["next"]]
        assert "It is under way in" in said(life)
        now, = explain(requests[0])["workers"]
        assert now["visits"][0]["for"] == "transfer"
        assert f"in {settings['instance']} for" in explain(requests[0], text=True)
        daemon.kill()


@pytest.mark.unfinished("they stay parked")
def test_a_parked_request_says_when_it_comes_back(worker, submit, polite, parked, explain, wait_until):
    host = "shut.test.example"
    polite.page(host, "/a", Answer(503, headers={"Retry-After": "7200"}))
    first, second = ({"ingest_type": "html", "base_url": f"http://{host}/{path}"} for path in ("a", "b"))
    submit([first])
    with worker({"gate.max_wait_ms": 1000}):
        wait_until(lambda: polite.seen(host))
        submit([second])
        wait_until(lambda: explain(second, code=None).get("parked"), timeout=60)
    life = explain(second)
    place = life["parked"][-1]
    assert place["topic"] == parked["1h"] or place["topic"] == parked["6h"]
    assert (place["host"], place["parked"]) == (host, 1)
    assert life["request"]["base_url"] == second["base_url"]
    assert "comes back by itself" in said(life)
    assert "due " in explain(second, text=True)


def test_a_dead_letter_is_found_by_its_request(worker, produce, topics, explain, consume):
    request = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
    produce(topics["requests"], [json.dumps(request)[:-1]], key=id_of(request).encode())
    with worker():
        consume(topics["dead"], 1)
    life = explain(request)
    letter, = life["dead_letters"]
    assert letter["error"] and letter["topic"] == topics["dead"]
    assert "It is a dead letter" in said(life)
    shown = next(entry["run"] for entry in life["next"])
    assert shown == f"ingestctl dead show {letter['partition']}:{letter['offset']}"


def test_passwords_of_a_request_that_waits_are_not_told(submit, explain):
    request = {"ingest_type": "pdf", "base_url": "https://anna:hidden@tidal-ecology.example/41", "link_source": "test",
               "link_source_id": "https://anna:hidden@tidal-ecology.example/id"}
    submit(request)
    life = explain(request)
    assert life["waiting"] and life["request"]["link_source_id"].endswith("@tidal-ecology.example/id")
    assert "hidden" not in json.dumps(life) + explain(request, text=True)


def test_what_cannot_be_asked_is_named(worker, submit, results, explain):
    request = {**LANDING, "link_source": "test", "link_source_id": "1"}
    submit(request)
    with worker():
        results(1)
    life = explain(request, overrides={"kafka.brokers": "127.0.0.1:1"})
    assert life["result"]["status"] == "success"
    assert any("127.0.0.1:1" in one["why"] or "Broker" in one["why"] or "broker" in one["why"] for one in life["missing"])
    life = explain(request, overrides={"postgres.dsn": ""})
    assert life["results"][0]["status"] == "success"
    assert [one["source"] for one in life["missing"]] == ["database"]
    explain(request, overrides={"kafka.brokers": "127.0.0.1:1", "postgres.dsn": "host=127.0.0.1 port=1"}, code=3)


def test_an_unknown_request(explain, run_ctl):
    life = explain("0" * 40, code=1)
    assert "Nobody here knows it" in said(life)
    for wrong in ("x" * 40, "0" * 39, ""):
        assert run_ctl("explain", "request", wrong).returncode == 2
    assert run_ctl("explain", "0" * 40).returncode == 2
