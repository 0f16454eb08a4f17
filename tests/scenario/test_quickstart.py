# SPDX-License-Identifier: GPL-3.0-or-later
"""deploy/quickstart, as far as it goes without its servers; and what it starts programs with."""

import json
import os
import subprocess
import sys
import time

import private_servers
import psycopg
from conftest import ROOT


def wait_for(process, word):
    deadline = time.monotonic() + 30
    while word not in private_servers.read_text(process.log):
        assert time.monotonic() < deadline, f"{word} does not come"
        time.sleep(0.02)


def test_a_log_is_continued_by_the_next_start(tmp_path):
    for word in ("first", "second"):
        process = private_servers.Process(tmp_path, ["sh", "-c", f"echo {word}; exec sleep 60"])
        process.start()
        wait_for(process, word)
        process.stop()
    assert (tmp_path / "log").read_text() == "first\nsecond\n"


def test_a_long_log_is_put_aside(tmp_path, monkeypatch):
    monkeypatch.setattr(private_servers, "MAX_LOG_BYTES", 4)
    (tmp_path / "log").write_text("long enough\n")
    (tmp_path / "log.1").write_text("older\n")
    process = private_servers.Process(tmp_path, ["sh", "-c", "echo new; exec sleep 60"])
    process.start()
    wait_for(process, "new")
    process.stop()
    assert (tmp_path / "log").read_text() == "new\n"
    assert (tmp_path / "log.1").read_text() == "long enough\n"


def test_status_names_the_database(postgres):
    done = subprocess.run([sys.executable, ROOT / "deploy" / "lib" / "private_servers.py", "status", "postgres", "--dir",
                           postgres.folder, "--database", "ingest"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["dsn"] == postgres.dsn("ingest")


def test_the_quickstart_says_what_runs_and_of_which_database(postgres):
    state = os.path.dirname(postgres.folder)  # in which there is no worker
    done = subprocess.run([ROOT / "deploy" / "quickstart", "status"], env={**os.environ, "INGEST_STATE": state},
                          capture_output=True, text=True, check=True)
    said = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert set(said) == {"worker", "web", "kafka", "postgres"}
    assert json.loads(said["worker"]) == {"running": False}
    assert json.loads(said["postgres"])["dsn"] == postgres.dsn("ingest")


def test_a_further_start_forgets_what_was_learnt_of_hosts_but_no_block(database, tmp_path):
    """Else the sample would wait for a host that the user's own requests have made to be left alone."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("INSERT INTO host_state (host, next_fetch_at, rest, breaker, failures, updated) "
                           "VALUES ('broken.gannet.example', now() + interval '1 hour', 'breaker', 'open', 20, now())")
        connection.execute("INSERT INTO host_block (host, why) VALUES ('rude.example', 'asked')")
        script = 'source "$0" --help >/dev/null; dsn=$1 state=$2 config=none worker=true ctl=true; prepare_worker'
        done = subprocess.run(["bash", "-c", script, ROOT / "deploy" / "quickstart", database, tmp_path],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert connection.execute("SELECT count(*) FROM host_state").fetchone()[0] == 0
        assert connection.execute("SELECT host FROM host_block").fetchall() == [("rude.example",)]
