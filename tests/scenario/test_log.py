# SPDX-License-Identifier: GPL-3.0-or-later
"""What the worker writes into its log, and in which form."""

import datetime
import fcntl
import hashlib
import json
import os
import shlex
import signal
import time

import pytest

from servers.journald import Journal

LANDING = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
LEVELS = {"error", "warning", "info", "debug"}


def objects(daemon):
    return [json.loads(line) for line in daemon.log().splitlines()]


@pytest.fixture
def journal():
    with Journal() as running:
        yield running


def test_json_has_an_object_a_line(worker, submit, results, settings, wait_until):
    # A dead letter whose reason quotes what came.
    submit([LANDING, b'{"ingest_type": "pdf\xff\x00\x1b[31m", "base_url": 7}'])
    with worker({"log.format": "json", "log.level": "debug"}) as daemon:
        results(1)
        wait_until(lambda: "dead letter" in daemon.log())
    lines = objects(daemon)
    for line in lines:
        assert list(line)[:4] == ["time", "level", "instance", "message"]
        assert datetime.datetime.fromisoformat(line["time"]).tzinfo is not None
        assert line["level"] in LEVELS
        assert line["instance"] == settings["instance"]
    dead = next(line for line in lines if line["message"] == "dead letter")
    assert dead["level"] == "warning"
    assert dead["suppressed"] == 0
    assert any(line["message"].startswith("stopped: ") for line in lines)


def test_journal_has_entries_with_fields(worker, submit, results, settings, journal, wait_until):
    submit([LANDING, b"not JSON"])
    with worker({"log.format": "journal"}, wrapper=journal.wrapper) as daemon:
        results(1)
        wait_until(lambda: any("dead letter" in entry["MESSAGE"] for entry in
                               journal.entries(f"INGEST_INSTANCE={settings['instance']}", "PRIORITY=4")), timeout=20)
        pid = daemon.pid
    entries = journal.entries(f"INGEST_INSTANCE={settings['instance']}")
    assert all(entry["SYSLOG_IDENTIFIER"] == "ingest-worker" and entry["_PID"] == str(pid) for entry in entries)
    assert all(entry["_TRANSPORT"] == "journal" for entry in entries)
    dead = next(entry for entry in entries if "dead letter" in entry["MESSAGE"])
    assert (dead["PRIORITY"], dead["INGEST_SUPPRESSED"]) == ("4", "0")
    assert any(entry["MESSAGE"].startswith("stopped: ") and entry["PRIORITY"] == "6" for entry in entries)
    assert daemon.log() == "", "what the journal has is not on standard error, too"


def test_without_a_journal_the_log_is_text(worker, submit, results, tmp_path):
    nowhere = ["unshare", "--mount", "bash", "-c", 'mount -t tmpfs none /run && exec "$@"', "bash"]
    submit(LANDING)
    with worker({"log.format": "journal"}, wrapper=nowhere) as daemon:
        results(1)
    lines = daemon.log().splitlines()
    assert "there is no journal" in lines[0]
    assert any(" info: stopped: " in line for line in lines)


def test_a_file_that_is_truncated_is_written_from_its_start(worker, submit, results):
    """As logrotate's copytruncate does; the file was opened for appending."""
    with worker() as daemon:
        submit(LANDING)
        results(1)
        assert os.path.getsize(daemon.log_path) > 0
        os.truncate(daemon.log_path, 0)
    log = daemon.log_path.read_bytes()
    assert b"\0" not in log
    assert b" info: SIGTERM: stopping" in log


def test_nobody_who_reads_the_log_slowly_holds_the_worker_up(worker, submit, results, tmp_path):
    """Standard error is a pipe that nobody reads: the worker goes on, and what had no room is lost."""
    fifo = tmp_path / "log"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    to_fifo = ["bash", "-c", f'exec 2> "{fifo}"; exec "$@"', "bash"]
    submit([b"not JSON", LANDING])
    try:
        with worker({"log.level": "debug"}, wrapper=to_fifo) as daemon:
            assert results(1)[0]["status"] == "success"
            for _ in range(40):
                daemon.process.send_signal(signal.SIGHUP)  # two lines each
                time.sleep(0.02)
            assert daemon.running()
            read = os.read(reader, 100_000).decode()
            daemon.stop()
            read += os.read(reader, 100_000).decode()
        assert "of the log left out" in read
    finally:
        os.close(reader)


# --- a line for each finished request ---


def job_of(request):
    """The key of a request's result."""
    parts = (request.get(name, "") for name in ("ingest_type", "base_url", "link_source", "link_source_id"))
    return hashlib.sha1("\t".join(parts).encode()).hexdigest()


MISSING = {"ingest_type": "pdf", "base_url": "https://operator:h1dden@tidal-ecology.example/gone?x=%22%0a",
           "link_source": "test", "link_source_id": "1"}
LONG = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/" + "a" * 7000}
FAILED = {"all", "failures"}


@pytest.mark.parametrize("which", ["off", "failures", "all"])
def test_finished_requests_have_lines(worker, submit, results, topics, which, wait_until):
    submit([LANDING, MISSING, LONG, b"\xff not JSON"])
    with worker({"log.format": "json", "log.requests": which}) as daemon:
        ended = {result["request"]["base_url"]: result for result in results(3)}
        wait_until(lambda: '"dead letter"' in daemon.log())
    assert "h1dden" not in daemon.log()
    lines = {line["job"]: line for line in objects(daemon) if line["message"] == "request finished"}
    wanted = {"off": [], "failures": [MISSING, LONG], "all": [LANDING, MISSING, LONG]}[which]
    assert set(lines) == {job_of(request) for request in wanted}
    for request in wanted:
        line = lines[job_of(request)]
        result = ended[request["base_url"]]
        assert (line["level"], line["lane"], line["type"]) == ("info", "requests", "pdf")
        assert (line["status"], line["hit"]) == (result["status"], result["hit"])
        assert line["host"] == "tidal-ecology.example"
        assert line["ms"] >= 0
    if which == "all":
        line = lines[job_of(LANDING)]
        assert line["url"] == LANDING["base_url"]
        assert line["last_url"] == ended[LANDING["base_url"]]["terminal"]["terminal_url"]
        assert line["bytes"] == ended[LANDING["base_url"]]["file_meta"]["size_bytes"]
        assert "error" not in line
        assert "truncated" not in line
    if which in FAILED:
        assert lines[job_of(MISSING)]["url"].endswith("@tidal-ecology.example/gone?x=%22%0a")
        assert lines[job_of(LONG)]["truncated"] is True
        assert lines[job_of(LONG)]["status"] == ended[LONG["base_url"]]["status"]
    dead = next(line for line in objects(daemon) if line["message"] == "dead letter")
    assert (dead["topic"], dead["lane"]) == (topics["requests"], "requests")
    assert dead["offset"] >= 0 and dead["error"]
    assert max(len(line) for line in daemon.log_path.read_bytes().splitlines(keepends=True)) <= 4096


def test_lines_of_requests_as_text_are_fields(worker, submit, results):
    submit(MISSING)
    with worker({"log.requests": "all"}) as daemon:
        result = results(1)[0]
    line = next(line for line in daemon.log().splitlines() if "request finished" in line)
    before, fields = line.split("request finished ")
    assert before.endswith(" info: ")
    words = dict(field.split("=", 1) for field in shlex.split(fields))
    assert words["job"] == job_of(MISSING)
    assert (words["status"], words["hit"]) == (result["status"], "no")
    assert words["url"] == "https://***@tidal-ecology.example/gone?x=%22%0a"


def test_the_journal_finds_a_request_by_its_key(worker, submit, results, journal, wait_until):
    submit([LANDING, MISSING])
    with worker({"log.format": "journal", "log.requests": "all"}, wrapper=journal.wrapper):
        results(2)
        wait_until(lambda: len(journal.entries("MESSAGE=request finished")) == 2, timeout=20)
        entry, = journal.entries(f"INGEST_JOB={job_of(MISSING)}")
    assert (entry["INGEST_STATUS"], entry["INGEST_HIT"], entry["PRIORITY"]) == ("terminal-bad-status", "no", "6")
