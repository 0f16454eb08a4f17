# SPDX-License-Identifier: GPL-3.0-or-later
"""What a worker says it does, and what holds it: true, and enough to know what to mend."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import termios
import time

import psycopg
import pytest
from makepdf import make_pdf
from server import Reply
from servers import grobid as fake
from servers.grobid import Grobid
from servers.polite import Answer as Page
from servers.worker import write_config
from test_database_faults import PAGE, requests  # noqa: F401 (a fixture)
from test_disk import LEVELS, MIB, disk  # noqa: F401 (a fixture)
from test_hostile_documents import recursive_forms
from test_hosts_verb import PlayedWorker


def ask(folder, instance, question):
    """The answer of a worker's control socket, whose path may be too long for an address."""
    at = os.open(os.path.join(folder, f"{instance}.sock"), os.O_PATH)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(20)
            client.connect(f"/proc/self/fd/{at}")
            client.sendall(json.dumps(question).encode() + b"\n")
            with client.makefile("rb") as answer:
                return json.loads(answer.readline())
    finally:
        os.close(at)


@pytest.fixture
def status(settings, schema):
    """status(): what the worker of the test says of itself."""
    def query():
        found = ask(settings["state.dir"], settings["instance"], {"ask": "status"})
        schema("worker-status").validate(found)
        return found
    return query


@pytest.fixture
def counted(status, wait_until):
    """counted(3): the status, once the worker has counted so many results: it does when it hears that their transaction is
    committed, which may be after others have read them."""
    def wait(results):
        wait_until(lambda: status()["totals"]["results"] >= results)
        found = status()
        assert found["totals"]["results"] == results
        return found
    return wait


@pytest.fixture
def held(status):
    """held("database"): the status, once that is what holds the worker first; held(None): once nothing does."""
    def wait(what, timeout=40):
        deadline = time.monotonic() + timeout
        while True:
            found = status()
            first = found["holds"][0]["what"] if found["holds"] else None
            if first == what:
                assert found["held_by"] == (found["holds"][0]["words"] if what else None)
                return found
            assert time.monotonic() < deadline, f"{what} wanted: {found['holds']}"
            time.sleep(0.1)  # until the worker has looked again
    return wait


def test_a_worker_without_requests_is_held_by_nothing(worker, counted, held, submit, results, requests):
    with worker():
        found = held(None)
        assert found["state"] == "running"
        assert found["jobs"]["under_way"] == 0
        submit(requests(3))
        results(3)
        found = counted(3)
        assert found["hour"]["results"] == 3
        assert found["hour"]["by_status"] == {"success": 3}
        assert found["hour"]["by_lane"]["requests"] == {"results": 3, "hits": 3}
        assert sum(found["hour"]["minutes"]["results"]) == 3
        assert found["failures"] == []


def test_failures_are_told_with_the_key_of_their_result(run_ctl, worker, counted, submit, consume, topics, web):
    web.route("gone.status.test.example", "/", lambda _: Reply(404, b"no"))
    submit({"ingest_type": "pdf", "base_url": "http://user:secret@gone.status.test.example/?q=<script>"})
    with worker():
        [message] = consume(topics["results"], 1)
        [failure] = counted(1)["failures"]
        explained = run_ctl("explain", "request", failure["id"])  # as the page says
        assert explained.returncode == 0 and "terminal-bad-status" in explained.stdout, explained.stderr
    assert failure["id"] == message.key().decode()
    assert failure["status"] == "terminal-bad-status"
    assert failure["host"] == "gone.status.test.example"
    assert failure["lane"] == "requests" and failure["type"] == "pdf"
    assert "secret" not in json.dumps(failure)


@pytest.mark.slow
def test_a_locked_database_is_named_with_what_it_says(worker, held, submit, results_by_url, requests, database):
    with worker({"postgres.statement_ms": 400}):
        with psycopg.connect(database) as holder:
            holder.execute("LOCK TABLE ingest_file_result IN ACCESS EXCLUSIVE MODE")
            submit(requests(20))
            found = held("database")
            assert "lock timeout" in found["held_by"]
            holder.rollback()
        assert len(results_by_url(20)) == 20
        held(None)


@pytest.mark.unfinished("the worker is stopped while requests wait")
def test_one_hot_host_is_named(worker, held, submit, requests, web):
    web.route("hot.status.test.example", "/", lambda _: Reply(200, PAGE))
    submit([{"ingest_type": "component", "base_url": f"http://hot.status.test.example/?{n}"} for n in range(50)])
    submit(requests(3))
    with worker({"gate.host_delay_ms": 60000, "stop.drain_ms": 1000}) as daemon:
        found = held("hosts")
        assert "hot.status.test.example" in found["held_by"]
        daemon.stop()


def test_a_full_disk_is_named_with_its_folder(worker, held, status, disk, submit, results, requests, wait_until):
    with worker(LEVELS):
        submit(requests(1))
        results(1)
        disk.leave(40 * MIB)
        submit(requests(5))
        found = held("disk")
        assert "warc.dir" in found["held_by"] and "disk.stop_bytes (48 MiB)" in found["held_by"]
        assert found["disk"]["low"] is True
        wait_until(lambda: {lane["not_read"] for lane in status()["lanes"]} == {"away"})
        disk.clear()
        results(6)
        held(None)


@pytest.mark.slow
@pytest.mark.private_servers("kafka")
def test_a_broker_that_is_away_is_named_also_by_a_worker_without_requests(worker, held, kafka, submit, results, requests):
    with worker():
        submit(requests(2))
        results(2)
        held(None)
        kafka.stop(hard=True)
        try:
            found = held("broker", timeout=60)
            assert "broker" in found["held_by"].lower()
        finally:
            kafka.start()
        held(None, timeout=60)
        submit(requests(2))
        results(4)


@pytest.mark.slow
@pytest.mark.unfinished("the worker is stopped while documents wait")
@pytest.mark.parametrize("what, host", [("full", "forms{}.example"), ("examiners", "f{}.forms.example")],
                         ids=["of many domains", "of one domain"])
def test_examiners_that_are_all_at_work_are_named(worker, held, submit, web, what, host):
    urls = [f"http://{host.format(n)}/{n}.pdf" for n in range(60)]
    for url in urls:
        web.route(url.split("/")[2], url[url.rindex("/"):], lambda _: Reply(200, recursive_forms(), type="application/pdf"))
    submit([{"ingest_type": "pdf", "base_url": url} for url in urls])
    limits = {"examine.processes": 2, "examine.timeout_ms": 20000, "examine.max_wait_ms": 60000, "stop.drain_ms": 500}
    with worker({**limits, "gate.concurrency": 8}) as daemon:
        found = held(what)
        assert found["held_by"].startswith("examiners: ")
        assert found["examiners"]["waiting"] > 0
        daemon.stop()


@pytest.mark.slow
@pytest.mark.unfinished("the worker is stopped while documents wait")
def test_a_slow_grobid_is_named(worker, held, submit, polite):
    with Grobid() as grobid:
        grobid.say(fake.slowly(None, 60))
        for number in range(12):
            polite.page(f"g{number}.status.test.example", "/paper",
                        Page(body=make_pdf(f"Paper {number}", "Words."), type="application/pdf"))
        submit([{"ingest_type": "pdf", "base_url": f"http://g{number}.status.test.example/paper"} for number in range(12)])
        with worker({"grobid.url": grobid.url, "grobid.concurrency": 2, "stop.drain_ms": 500}) as daemon:
            found = held("full")
            assert found["held_by"].startswith("GROBID: ")
            daemon.stop()


@pytest.mark.unfinished("the worker is stopped while a request waits")
def test_a_host_that_does_not_answer_is_the_slow_stage(worker, held, submit, polite):
    polite.page("silent.status.test.example", "/page", Page(delay_s=60))
    submit({"ingest_type": "component", "base_url": "http://silent.status.test.example/page"})
    with worker({"stop.drain_ms": 500}) as daemon:
        found = held("stage")
        assert "hosts are slow to answer" in found["held_by"]
        assert found["holds"][0]["trouble"] is False
        daemon.stop()


# --- ingestctl status ---


@pytest.fixture
def play(settings, status_sample):
    """play("w1", {"held_by": …}): a control socket that answers with a status."""
    with contextlib.ExitStack() as ending:
        def start(name="w1", more=None):
            answer = more if isinstance(more, bytes) else {**status_sample, "instance": name, **(more or {})}
            played = PlayedWorker(os.path.join(settings["state.dir"], f"{name}.sock"), answer)
            ending.callback(played.close)
            return played
        yield start


@pytest.fixture
def status_sample():
    path = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "valid" / "worker-status" / "hot-host.json"
    return json.loads(path.read_text())


NO_DATABASE = {"postgres.dsn": ""}


def test_one_worker_is_shown_whole(run_ctl, worker, counted, settings, submit, results, requests, web):
    web.route("gone.status.test.example", "/", lambda _: Reply(404, b"no"))
    submit([*requests(2), {"ingest_type": "pdf", "base_url": "http://gone.status.test.example/"}])
    with worker():
        results(3)
        counted(3)
        done = run_ctl("status")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert lines[0].startswith(f"{settings['instance']}  running for ")
        assert lines[1] == "held by    nothing; it has no requests"
        assert "last hour 3, 66 % hits" in lines[2]
        assert "\x1b" not in done.stdout
        assert any(line.startswith("terminal-bad-status") for line in lines)
        [failure] = [line for line in lines if "http://gone.status.test.example/" in line]
        assert "terminal-bad-status" in failure
        as_json = run_ctl("status", "--json", settings["instance"])
        assert json.loads(as_json.stdout)["source"] == "worker"
        absent = run_ctl("status", settings["instance"], "no-such")
        assert absent.returncode == 1
        assert "no-such: no such worker runs" in absent.stderr


def test_no_worker_is_an_error_of_the_environment(run_ctl):
    done = run_ctl("status", overrides=NO_DATABASE)
    assert (done.returncode, done.stdout) == (3, "")
    assert "no worker runs with this state.dir" in done.stderr


def test_several_workers_are_a_table(run_ctl, play):
    play("w2", {"held_by": None, "holds": []})
    play("w1")
    done = run_ctl("status", overrides=NO_DATABASE)
    assert done.returncode == 0, done.stderr
    head, first, second = done.stdout.splitlines()
    assert head.split() == ["INSTANCE", "STATE", "RESULTS/S", "HITS/S", "REQUESTS", "TRANSFERS", "WAITING", "OLDEST", "HELD", "BY"]
    assert first.startswith("w1") and "hot.example (49" in first
    assert second.startswith("w2") and second.endswith("  -")
    named = run_ctl("status", "w2", "w1", overrides=NO_DATABASE)
    assert named.stdout.count("held by ") == 2


def test_a_worker_that_does_not_answer_as_it_should_is_shown(run_ctl, play):
    play("w1", b"\x00 no JSON\n")
    done = run_ctl("status", overrides=NO_DATABASE)
    assert done.returncode == 3
    assert "silent" in done.stdout and "the answer is no JSON object" in done.stdout


@pytest.mark.slow
def test_a_worker_that_stands_still_is_shown_and_does_not_hold_the_others_up(run_ctl, worker, settings, play):
    play("w1")
    with worker() as daemon:
        os.kill(daemon.pid, signal.SIGSTOP)
        try:
            done = run_ctl("status", "--local")
        finally:
            os.kill(daemon.pid, signal.SIGCONT)
    assert done.returncode == 1, done.stderr
    assert re.search(rf"^{settings['instance']} +silent .*no answer in time", done.stdout, re.MULTILINE), done.stdout
    assert re.search(r"^w1 +running ", done.stdout, re.MULTILINE), done.stdout


def test_a_row_that_is_old_is_of_a_worker_that_is_silent(run_ctl, sql, settings, worker, wait_until):
    with worker():
        wait_until(lambda: sql("SELECT count(*) AS n FROM worker_state WHERE status IS NOT NULL")[0]["n"] == 1)
        sql("""INSERT INTO worker_state SELECT (jsonb_populate_record(w, jsonb_build_object('instance', 'gone', 'session', 1,
               'updated', now() - interval '1 minute'))).* FROM worker_state w""")
        done = run_ctl("status", "gone")
        assert done.returncode == 3, done.stderr
        assert done.stdout.startswith("gone  silent ")
        assert done.stdout.splitlines()[1] == "held by    it has not written its row of worker_state for too long"
        assert run_ctl("status", "gone", settings["instance"]).returncode == 1


def test_what_comes_from_outside_cannot_steer_the_terminal(run_ctl, play, status_sample):
    """Escape sequences, carriage returns, and characters that turn the direction of writing."""
    evil = "a\x1b]0;title\x07\r\n\x9b31m\u202eexe.\u2066"
    [failure] = status_sample["failures"]
    play("w1", {"held_by": evil, "holds": [{"what": "hosts", "trouble": False, "words": evil}], "machine": evil,
                "version": evil, "rules": evil, "state": evil,
                "lanes": [{"lane": evil, "topic": evil, "jobs": 1, "results_minute": 1, "not_read": evil}],
                "hour": {**status_sample["hour"], "by_status": {evil: 1}},
                "hosts": {**status_sample["hosts"], "most_waiting":
                          [{**status_sample["hosts"]["most_waiting"][0], "host": evil, "need": "x", "need_words": evil}]},
                "failures": [{name: evil if isinstance(value, str) else value for name, value in failure.items()}]})
    for options in (["--color", "never"], ["--color", "always"]):
        done = run_ctl("status", *options, overrides=NO_DATABASE)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
        assert done.returncode == 0, done.stderr
        assert not set(shown) & {"\x1b", "\x07", "\r", "\x9b", "\u202e", "\u2066"}, shown
        assert "a?]0;title????31m?exe.?" in shown
        assert ("\x1b[" in done.stdout) == (options[1] == "always")


def read_screen(fd, wanted, timeout=20):
    """What a program draws until the pattern is there."""
    seen = b""
    deadline = time.monotonic() + timeout
    while not re.search(wanted, seen.decode("utf-8", "replace"), re.S):
        assert time.monotonic() < deadline, seen
        if select.select([fd], [], [], 0.2)[0]:
            seen += os.read(fd, 65536)
    return seen.decode()


def test_follow_draws_within_the_terminal_and_gives_it_back(program, settings, play, tmp_path):
    play("w1")
    config = write_config(tmp_path / "follow.yaml", {**settings, **NO_DATABASE})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 50, 0, 0))
    process = subprocess.Popen([program("ingestctl"), "--config", config, "status", "--follow", "--every", "1"],
                               stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               env={**os.environ, "NO_COLOR": "", "TERM": "xterm"})
    try:
        drawn = read_screen(ours, r"\x1b\[H.*\x1b\[J")
        assert drawn.startswith("\x1b[?1049h\x1b[?25l\x1b[H")
        page = drawn.split("\x1b[H")[1].split("\x1b[J")[0]
        lines = [re.sub(r"\x1b\[[0-9;]*[mK]", "", line) for line in page.split("\r\n")]
        assert len(lines) <= 12 and max(map(len, lines)) <= 50, lines
        assert "\x1b[33m" in page  # what is no trouble is yellow
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
        process.send_signal(signal.SIGWINCH)
        drawn = read_screen(ours, r"LAST FAILURES.*\x1b\[J")
        process.send_signal(signal.SIGINT)
        read_screen(ours, r"\x1b\[\?25h\x1b\[\?1049l$")
        assert process.wait(timeout=20) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)
        os.close(theirs)


def test_follow_without_a_terminal_goes_on_line_by_line(program, settings, play, tmp_path):
    play("w1")
    config = write_config(tmp_path / "follow.yaml", {**settings, **NO_DATABASE})
    with subprocess.Popen([program("ingestctl"), "--config", config, "status", "--follow", "--json", "--every", "1"],
                          stdout=subprocess.PIPE, text=True) as process:
        lines = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        assert process.wait(timeout=20) == 0
    assert [line["instance"] for line in lines] == ["w1", "w1"]


def test_an_operators_order_is_named_with_who_and_why(run_ctl, worker, settings, held, status, submit, results, requests):
    with worker():
        held(None)
        done = run_ctl("pause", settings["instance"], "--why", "the rack is moved")
        assert done.returncode == 0, done.stderr
        found = held("order")
        assert found["state"] == "paused"
        assert "the rack is moved" in found["held_by"]
        submit(requests(3))
        shown = run_ctl("status", "--local").stdout
        assert "the rack is moved" in shown.splitlines()[1]
        assert run_ctl("resume", settings["instance"]).returncode == 0
        results(3)
        held(None)


def test_workers_on_other_machines_are_told_by_the_database(run_ctl, worker, settings, submit, results, requests, tmp_path,
                                                           wait_until):
    """A state.dir without sockets stands for another machine."""
    elsewhere = {"state.dir": str(tmp_path / "elsewhere")}

    def rows():
        return [json.loads(line) for line in run_ctl("status", "--json", overrides=elsewhere).stdout.splitlines()]
    with worker():
        submit(requests(2))
        results(2)
        wait_until(lambda: [(one["instance"], one["source"], one["totals"]["results"]) for one in rows()] ==
                   [(settings["instance"], "database", 2)], timeout=30)
        assert rows()[0]["age_ms"] < 30000
        shown = run_ctl("status", overrides=elsewhere)
        assert shown.returncode == 0, shown.stderr
        assert shown.stdout.startswith(f"{settings['instance']}  running for ") and "as it wrote" in shown.stdout.splitlines()[0]
        alone = run_ctl("status", "--local", overrides=elsewhere)
        assert (alone.returncode, alone.stdout) == (3, "")
        here = run_ctl("status", "--json")
        assert [json.loads(line)["source"] for line in here.stdout.splitlines()] == ["worker"]
    wait_until(lambda: rows() == [], timeout=30)  # it has stopped, and said so
    named = run_ctl("status", settings["instance"], overrides=elsewhere)
    assert "stopped" in named.stdout
