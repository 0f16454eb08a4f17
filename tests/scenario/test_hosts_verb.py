# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl hosts: why a host is fast, slow, waiting or blocked, from workers, the database and the rules."""

import contextlib
import json
import os
import socket
import stat
import subprocess
import threading

import pytest
from server import Reply
from servers.worker import write_config

HONOURED_WITHIN_S = 20
RETRY_AFTER_S = 900

IDLE = {
    "known": True, "host": "example.org", "need": "nothing", "need_words": "nothing: no request waits for it",
    "waiting": 0, "queue": {"priority": 0, "requests": 0, "daily": 0, "bulk": 0}, "parked": 0, "holding": 0,
    "slots": 1, "delay": None, "last_answer": None, "failures": 0, "breaker": "closed", "address": None,
    "lease": None, "robots": None, "rule": None, "blocked": None}
LAST = {"http_status": 429, "outcome": "host-backoff", "ms_ago": 4000, "response_ms": 120}
ROBOTS = {"url": "https://example.org/robots.txt", "verdict": "rules", "http_status": 200, "age_ms": 7_380_000,
          "expires_ms": 79_200_000, "crawl_delay_ms": 5000, "waiting": 0}


class PlayedWorker:
    """A control socket that answers every question with what the test says, and remembers the questions."""

    def __init__(self, path, answer):
        self.questions = []
        self.answer = answer
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen(8)
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # closed: the test is over
            with client, client.makefile("rb") as questions, contextlib.suppress(BrokenPipeError):
                self.questions.append(json.loads(questions.readline()))
                reply = self.answer
                client.sendall(reply if isinstance(reply, bytes) else json.dumps(reply).encode() + b"\n")

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


@pytest.fixture
def place(tmp_path):
    """A configuration without servers: settings that a test may change, before its first hosts()."""
    for name in ("state", "rules"):
        (tmp_path / name).mkdir(exist_ok=True)
    return {"state.dir": str(tmp_path / "state"), "rules.dir": str(tmp_path / "rules")}


@pytest.fixture
def hosts(program, place, tmp_path):
    """hosts("top", "--count", "3"): the finished ingestctl hosts."""
    def run(*words):
        config = write_config(tmp_path / "hosts.yaml", place)
        return subprocess.run([program("ingestctl"), "--config", config, "hosts", *words],
                              capture_output=True, text=True, timeout=60, check=False)
    return run


@pytest.fixture
def play(place):
    """play({"waiting": 3}, name="w1"): a worker that knows example.org, idle but for that; or answers bytes."""
    with contextlib.ExitStack() as ending:
        def start(answer=None, name="w1"):
            if not isinstance(answer, bytes):
                answer = {**IDLE, "instance": name, **(answer or {})}
            worker = PlayedWorker(os.path.join(place["state.dir"], f"{name}.sock"), answer)
            ending.callback(worker.close)
            return worker
        yield start


def first_line(done):
    return done.stdout.split("\n", 1)[0]


def objects(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- the command line -----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    [], ["sink"], ["explain"], ["explain", "a", "b"], ["top", "example.org"], ["blocks", "example.org"],
    ["top", "--count", "0"], ["top", "--count", "1x"], ["top", "--count", "1001"], ["--nonsense"],
    ["explain", ""], ["explain", "a b"], ["explain", "example.org/path"], ["explain", "example.org:80"],
    ["explain", ".example.org"], ["explain", "http://"], ["explain", "mailto://x"], ["explain", "[::1"],
    ["explain", "a" * 300], ["explain", "http://" + "a." * 200 + "/"]])
def test_bad_words_are_usage(hosts, words):
    done = hosts(*words)
    assert done.returncode == 2, done
    assert done.stderr and not done.stdout


@pytest.mark.parametrize("words", [["block", "example.org", "--why", "x"], ["unblock", "example.org"], ["blocks"]])
def test_blocks_need_a_database(hosts, words):
    done = hosts(*words)
    assert done.returncode == 2 and "postgres.dsn" in done.stderr


def test_help_goes_to_stdout(hosts):
    done = hosts("--help")
    assert done.returncode == 0 and "explain" in done.stdout and not done.stderr


@pytest.mark.parametrize("words", [["explain", "example.org"], ["top"]])
def test_nobody_to_ask(hosts, place, words):
    done = hosts(*words)
    assert done.returncode == 3
    assert "no worker runs with this state.dir, and postgres.dsn is not set" in done.stderr
    place["postgres.dsn"] = "host=127.0.0.1 port=1 connect_timeout=2"
    done = hosts(*words)
    assert done.returncode == 3 and "the database does not answer" in done.stderr
    place["state.dir"] += "/missing"
    assert hosts(*words).returncode == 3


# --- what a worker says ---------------------------------------------------------------------------------


@pytest.mark.parametrize("written, asked", [
    ("example.org", "example.org"), ("WWW.Example.ORG.", "example.org"), ("bücher.example", "xn--bcher-kva.example"),
    ("https://www.Example.org:8443/a?b#c", "example.org"), ("http://user:pass@example.org", "example.org"),
    ("0x7f.1", "127.0.0.1"), ("[2001:DB8::1]", "[2001:db8::1]"), ("http://[2001:db8::1]:80/", "[2001:db8::1]")])
def test_hosts_are_asked_for_as_rules_write_them(hosts, play, written, asked):
    worker = play()
    done = hosts("explain", written)
    assert done.returncode == 0, done.stderr
    assert worker.questions == [{"ask": "host", "host": asked}]
    assert first_line(done).startswith(asked + ": ")


@pytest.mark.parametrize("state, line", [
    ({}, "no requests waiting; the next one starts at once"),
    ({"holding": 1}, "1 transfer running, no requests waiting"),
    ({"delay": {"why": "delay", "ms_left": 300, "held": False}}, "no requests waiting; next transfer possible in 300 ms"),
    ({"waiting": 3, "need": "slot", "need_words": "one of its transfers to end"},
     "3 requests waiting for one of its transfers to end"),
    ({"waiting": 1, "need": "rest", "need_words": "the end of its pause",
      "delay": {"why": "adaptive", "ms_left": 8500, "held": False}},
     "1 request waiting for the end of its pause, another 8.5 s: its last answer was slow"),
    ({"waiting": 9, "need": "lease", "need_words": "its lease, held by worker w2"},
     "9 requests waiting for its lease, held by worker w2"),
    ({"waiting": 9, "parked": 9, "need": "rest", "need_words": "the end of its pause", "last_answer": LAST,
      "delay": {"why": "retry-after", "ms_left": 125_000, "held": True}},
     "held for another 2 min 5 s: its Retry-After asks for it; last answer 429 (host-backoff), 4.0 s ago"),
    ({"delay": {"why": "breaker", "ms_left": 90_000_000, "held": True}},
     "held for another 1 d 1 h: circuit breaker open after consecutive failures"),
    ({"robots": {**ROBOTS, "verdict": "unreachable"}},
     "its robots.txt cannot be fetched, so nothing is fetched; retried in 22 h 0 min"),
    ({"robots": {**ROBOTS, "verdict": "unreachable", "words": "robots.txt is unreachable (HTTP 503)"}},
     "its robots.txt is unreachable (HTTP 503), so nothing is fetched; retried in 22 h 0 min"),
    ({"known": False, "robots": {**ROBOTS, "verdict": "failed", "expires_ms": 29_000, "outcome": "connect-error",
                                 "words": "robots.txt could not be fetched: refused"}},
     "its robots.txt could not be fetched: refused; until then its requests end as connect-error; "
     "retried in 29 s"),
    ({"robots": {**ROBOTS, "verdict": "failed", "expires_ms": 0}},
     "no requests waiting; the next one starts at once"),
    ({"robots": {**ROBOTS, "verdict": "pending", "waiting": 2}}, "2 requests waiting for its robots.txt"),
    ({"waiting": 2, "blocked": "they complained"}, "blocked for all workers: they complained")])
def test_the_first_line_says_why(hosts, play, state, line):
    play(state)
    done = hosts("explain", "example.org")
    assert done.returncode == 0, done.stderr
    assert first_line(done) == "example.org: " + line


def test_the_lines_below_say_the_rest(hosts, play):
    play({"waiting": 42, "queue": {"priority": 2, "requests": 0, "daily": 0, "bulk": 40}, "parked": 42,
          "need": "rest", "need_words": "the end of its pause", "last_answer": LAST, "failures": 3,
          "delay": {"why": "retry-after", "ms_left": 60_000, "held": True}, "robots": ROBOTS,
          "address": {"address": "192.0.2.7", "holding": 4},
          "lease": {"ours": True, "holder": "w1", "ms_left": 90_000}})
    done = hosts("explain", "example.org")
    assert done.stdout.splitlines()[1:] == [
        "worker w1",
        "  waits for    the end of its pause",
        "  waiting      42: priority 2, bulk 40; 42 parked until the hold is over",
        "  transfers    0 of 1",
        "  pause        1 min 0 s left: its Retry-After asks for it",
        "  last answer  429 (host-backoff), 4.0 s ago, took 120 ms",
        "  failures     3 in a row; breaker closed",
        "  address      192.0.2.7, 4 transfers there, over all host names",
        "  lease        ours, 1 min 30 s left",
        "  robots.txt   https://example.org/robots.txt: rules, 2 h 3 min old, valid for 22 h 0 min, Crawl-delay 5.0 s",
        "rules",
        "  min. pause   500 ms (gate.host_delay_ms)",
        "  concurrency  1",
        "  robots.txt   obey"]


def test_wording_of_what_says_itself(hosts, play):
    """A status makes the outcome of its transfer needless; robots.txt that is ignored has no place."""
    play({"last_answer": {**LAST, "http_status": 500, "outcome": "success"},
          "robots": {**ROBOTS, "url": None, "verdict": "ignored", "expires_ms": 0, "crawl_delay_ms": 0}})
    lines = hosts("explain", "example.org").stdout.splitlines()
    assert "  last answer  500, 4.0 s ago, took 120 ms" in lines
    assert "  robots.txt   ignored" in lines


def test_an_outcome_without_a_status_is_told(hosts, play):
    play({"last_answer": {**LAST, "http_status": None, "outcome": "connect-error"},
          "robots": {**ROBOTS, "verdict": "failed", "age_ms": 1000, "expires_ms": 29_000, "crawl_delay_ms": 0}})
    lines = hosts("explain", "example.org").stdout.splitlines()
    assert "  last answer  connect-error, 4.0 s ago, took 120 ms" in lines
    assert "  robots.txt   https://example.org/robots.txt: failed, 1.0 s ago, retried in 29 s" in lines


def test_the_name_under_which_it_is_locked_is_told(hosts, play):
    play({"waiting": 1})
    done = hosts("explain", "sub.example.org")
    assert first_line(done).startswith("sub.example.org: 1 request waiting")
    assert "  queue of     example.org" in done.stdout.splitlines()
    assert "queue of" not in hosts("explain", "example.org").stdout


def test_all_workers_here_are_asked(hosts, play):
    play({"waiting": 2}, name="w1")
    play({"waiting": 40, "need_words": "its turn among the hosts"}, name="w2")
    done = hosts("explain", "example.org")
    assert first_line(done) == "example.org: 42 requests waiting for its turn among the hosts"
    lines = objects(hosts("explain", "--json", "example.org"))
    assert [(line["source"], line.get("instance")) for line in lines] == [
        ("worker", "w1"), ("worker", "w2"), ("rules", None)]


def test_workers_with_folders_of_their_own_are_asked(hosts, play, place, tmp_path):
    """As the service unit gives each instance a folder below the configured one."""
    (tmp_path / "state" / "1").mkdir()
    play({"waiting": 2}, name="w1")
    play({"waiting": 40, "need_words": "its turn among the hosts"}, name="1/w2")
    assert first_line(hosts("explain", "example.org")) == "example.org: 42 requests waiting for its turn among the hosts"


@pytest.mark.parametrize("reply, words", [
    (b"", None), (b"nonsense\n", "no JSON object"), (b"[]\n", "no JSON object"),
    (b'{"error": "I am older"}\n', "I am older"), (b'{"a": "' + b"x" * (17 << 20) + b'"}\n', "over 16777216 bytes")],
    ids=["silent", "nonsense", "list", "error", "endless"])
def test_a_worker_that_cannot_say_does_not_hide_the_others(hosts, play, place, reply, words):
    play(reply, name="odd")
    play({"holding": 2}, name="w1")
    with socket.socket(socket.AF_UNIX) as dead:  # bound, and nobody listens
        dead.bind(os.path.join(place["state.dir"], "dead.sock"))
    done = hosts("explain", "example.org")
    assert done.returncode == 0
    assert first_line(done) == "example.org: 2 transfers running, no requests waiting"
    assert "dead" not in done.stderr
    if words:
        assert words in done.stderr


def test_an_answer_of_another_version_is_borne(hosts, play):
    play(b'{"known": true, "instance": 3, "delay": 5, "queue": [], "robots": "x", "lease": {}, "address": {}}\n')
    done = hosts("explain", "example.org")
    assert done.returncode == 0 and "no requests waiting" in first_line(done)


def test_texts_from_outside_do_not_reach_the_terminal(hosts, play):
    play({"blocked": "a\x1b[2Jb\x07c\u009bd\ne", "robots": {**ROBOTS, "url": "https://example.org/\x1b]0;x"}})
    done = hosts("explain", "example.org")
    assert first_line(done) == "example.org: blocked for all workers: a?[2Jb?c?d?e"
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("robots", [None, {**ROBOTS, "url": None, "verdict": "ignored", "expires_ms": 0}])
def test_a_host_that_no_worker_knows(hosts, play, robots):
    play({"known": False, "robots": robots})
    done = hosts("explain", "example.org")
    assert done.returncode == 1
    assert first_line(done) == ("example.org: unknown to the workers and the database; "
                                "the rules below would apply")


def test_rules_are_named_with_their_place(hosts, play, place, tmp_path):
    play({"known": False})
    place["gate.robots"] = "ignore"
    (tmp_path / "rules" / "hosts.yaml").write_text(
        "- host: .example.org\n  delay_ms: 3000\n  concurrency: 2\n  robots: obey\n  why: a small server\n")
    (tmp_path / "rules" / "blocklist.yaml").write_text(
        "- host: other.example\n  why: another\n- host: bad.example.org\n  why: never a document\n")
    done = hosts("explain", "a.example.org")
    assert done.returncode == 1
    folder = tmp_path / "rules"
    assert done.stdout.splitlines()[-5:] == [
        "rules", "  min. pause   3.0 s (hosts.yaml)", "  concurrency  2", "  robots.txt   obey",
        f"  host rule    {folder}/hosts.yaml:1: a small server"]
    done = hosts("explain", "bad.example.org")
    assert first_line(done) == "bad.example.org: blocked by the blocklist: never a document"
    assert done.stdout.splitlines()[-1] == f"  blocklist    {folder}/blocklist.yaml:3: never a document"
    rules = objects(hosts("explain", "--json", "bad.example.org"))[-1]
    assert rules["blocklist"] == {"why": "never a document", "file": f"{folder}/blocklist.yaml", "line": 3}
    assert rules["rule"]["host"] == ".example.org" and rules["delay_ms"] == 3000
    (folder / "hosts.yaml").write_text("- host: 3\n")
    done = hosts("explain", "a.example.org")
    assert done.returncode == 1 and "ingestctl rules check" in done.stderr


def test_top_lists_hosts(hosts, play):
    play(json.dumps({"instance": "w1", "most_waiting": [
        {**IDLE, "host": "busy.example", "waiting": 12000, "holding": 1, "last_answer": LAST},
        {**IDLE, "host": "b.example", "waiting": 3}], "longest_held": [
        {**IDLE, "host": "held.example", "failures": 4,
         "delay": {"why": "backoff", "ms_left": 20_000, "held": True}}]}).encode() + b"\n")
    done = hosts("top", "--count", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "worker w1: most requests waiting",
        "  HOST          WAITING  BUSY  PAUSE                       FAILURES  LAST ANSWER",
        "  busy.example    12000     1  -                                  0  429 (host-backoff), 4.0 s ago",
        "  b.example           3     0  -                                  0  -",
        "worker w1: held longest",
        "  HOST          WAITING  BUSY  PAUSE                       FAILURES  LAST ANSWER",
        "  held.example        0     0  20 s backoff                       4  -"]
    lines = objects(hosts("top", "--json"))
    assert [(line["instance"], line["list"], line["host"]) for line in lines] == [
        ("w1", "most_waiting", "busy.example"), ("w1", "most_waiting", "b.example"),
        ("w1", "longest_held", "held.example")]


def test_top_asks_for_as_many_as_told(hosts, play):
    worker = play(b'{"most_waiting": [], "longest_held": []}\n')
    assert hosts("top").returncode == 0
    assert hosts("top", "--count", "1000").returncode == 0
    assert [question["count"] for question in worker.questions] == [10, 1000]


# --- the database ---------------------------------------------------------------------------------------


@pytest.fixture
def fleet(place, database):
    """The configuration, with a database of its own."""
    place["postgres.dsn"] = database
    return place


@pytest.mark.usefixtures("fleet")
def test_blocks_are_laid_listed_and_taken_away(hosts):
    assert hosts("blocks").stdout == ""
    done = hosts("block", "WWW.Example.ORG", "--why", "mail of 21 November")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"example.org is blocked: every worker with this database honours it within " \
                          f"{HONOURED_WITHIN_S} s\n"
    assert hosts("block", "--why", "all of them", ".bücher.example", "--json").returncode == 0
    assert hosts("block", "example.org", "--why", "a better reason").returncode == 0
    listed = objects(hosts("blocks", "--json"))
    assert {one["host"]: one["why"] for one in listed} == {
        "example.org": "a better reason", ".xn--bcher-kva.example": "all of them"}
    assert all(one["by"] and 0 <= one["ms_ago"] < 60_000 for one in listed)
    assert "a better reason" in hosts("blocks").stdout

    done = hosts("explain", "example.org")
    assert done.returncode == 0 and first_line(done) == "example.org: blocked for all workers: a better reason"
    done = hosts("explain", "https://www.sub.bücher.example/")
    assert done.returncode == 0 and "all of them" in first_line(done)
    assert hosts("explain", "sub.example.org").returncode == 1

    assert hosts("unblock", "example.org").returncode == 0
    assert hosts("explain", "example.org").returncode == 1
    done = hosts("unblock", "example.org")
    assert done.returncode == 1 and "was not blocked" in done.stderr
    assert hosts("unblock", "bücher.example").returncode == 1
    assert hosts("unblock", ".bücher.example").returncode == 0
    assert hosts("blocks", "--json").stdout == ""


@pytest.mark.usefixtures("fleet")
def test_a_url_stands_for_its_host_in_blocks(hosts):
    done = hosts("block", "--json", "https://user@WWW.Example.ORG:8443/a?b", "--why", "x")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["host"] == "example.org"
    assert [one["host"] for one in objects(hosts("blocks", "--json"))] == ["example.org"]
    assert hosts("unblock", "http://example.org/other").returncode == 0
    assert hosts("blocks").stdout == ""


@pytest.mark.usefixtures("fleet")
@pytest.mark.parametrize("words", [
    ["example.org"], ["example.org", "--why", ""], ["http://[2001:db8::1]/", "--why", "x"], ["http://", "--why", "x"],
    ["mailto://x", "--why", "x"], ["a b", "--why", "x"],
    [".", "--why", "x"], ["", "--why", "x"], ["example.org:80", "--why", "x"]])
def test_blocks_that_are_none(hosts, words):
    done = hosts("block", *words)
    assert done.returncode == 2, done
    assert hosts("blocks").stdout == ""


@pytest.mark.usefixtures("fleet")
def test_the_database_alone_is_somebody_to_ask(hosts):
    done = hosts("explain", "example.org")
    assert done.returncode == 1 and "unknown to the workers" in first_line(done)
    assert [line["source"] for line in objects(hosts("explain", "--json", "example.org"))] == ["database", "rules"]
    done = hosts("top")
    assert done.returncode == 0 and done.stdout.startswith("database: ")


def test_a_database_without_the_schema_is_said(hosts, place, postgres, tag):
    place["postgres.dsn"] = postgres.create_database(f"{tag}_bare")
    done = hosts("explain", "example.org")
    assert done.returncode == 3 and "migrate" in done.stderr


# --- real workers ---------------------------------------------------------------------------------------


def throttle(_):
    return Reply(429, b"later", headers={"Retry-After": str(RETRY_AFTER_S)})


@pytest.mark.unfinished("the host stays held, and the worker is killed")
def test_a_running_worker_explains_a_held_host(worker, submit, run_ctl, web, tag, settings, wait_until):
    host = f"held-{tag}.test.example"
    for number in range(4):
        web.route(host, f"/{number}", throttle)
    path = os.path.join(settings["state.dir"], f"{settings['instance']}.sock")

    def held():
        lines = objects(run_ctl("hosts", "explain", "--json", f"http://www.{host}/"))
        mine = next((line for line in lines if line["source"] == "worker"), {})
        return mine if (mine.get("delay") or {}).get("held") else None

    with worker({"gate.max_wait_ms": 0}) as daemon:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        submit([{"ingest_type": "component", "base_url": f"http://{host}/{number}"} for number in range(4)])
        found = wait_until(held, timeout=60)
        assert found["host"] == host and found["instance"] == settings["instance"]
        assert found["delay"]["why"] == "retry-after"
        assert RETRY_AFTER_S * 500 < found["delay"]["ms_left"] <= RETRY_AFTER_S * 1000
        assert found["last_answer"]["http_status"] == 429 and found["failures"] == 1
        parked = wait_until(lambda: held()["parked"] or None, timeout=60)
        assert parked >= 1 and held()["waiting"] == sum(held()["queue"].values())
        done = run_ctl("hosts", "explain", host)
        assert first_line(done).startswith(f"{host}: held for another 14 min "), done.stdout
        top = objects(run_ctl("hosts", "top", "--json"))
        assert host in [line["host"] for line in top if line["list"] == "longest_held"]
        # The whole fleet knows at once.
        row = wait_until(lambda: next((line for line in objects(run_ctl("hosts", "explain", "--json", host))
                                       if line["source"] == "database" and line["known"] and line["delay"]), None))
        assert row["delay"]["why"] == "retry-after" and row["delay"]["held"]
        daemon.kill()
    assert os.path.exists(path)  # it had no time to tidy up
    done = run_ctl("hosts", "explain", host)
    assert done.returncode == 0 and first_line(done).startswith(f"{host}: held for another ")


@pytest.mark.slow
def test_a_running_worker_explains_a_robots_txt_that_failed(worker, submit, results, run_ctl, tag):
    """Nothing holds the host, but its requests end at once for a while."""
    host = f"nobody-{tag}.test.example"
    submit({"ingest_type": "component", "base_url": f"http://{host}/"})
    with worker({"gate.robots": "obey", "gate.backoff_ms": 100, "fetch.connect_to": [f"{host}:80:127.0.0.1:9"]}):
        assert results(1)[0]["status"] == "connect-error"
        said = first_line(run_ctl("hosts", "explain", f"http://{host}/"))
        assert said.startswith(f"{host}: its robots.txt could not be fetched: "), said
        assert "; until then its requests end as connect-error; retried in " in said
        robots = next(line for line in objects(run_ctl("hosts", "explain", "--json", host))
                      if line["source"] == "worker")["robots"]
        assert (robots["verdict"], robots["outcome"]) == ("failed", "connect-error")


def test_a_running_worker_that_ignores_robots_does_not_know_every_host(worker, run_ctl, tag):
    with worker({"gate.robots": "ignore"}):
        done = run_ctl("hosts", "explain", f"nobody-ever-met-{tag}.test.example")
    assert done.returncode == 1 and "unknown to the workers and the database" in first_line(done)


def test_a_block_reaches_a_running_worker(worker, submit, results, run_ctl, web, tag, wait_until):
    host = f"blocked-{tag}.test.example"
    asked = []
    web.route(host, "/", lambda handler: asked.append(handler) or Reply(200, b"Text of a file.\n"))
    with worker():
        assert run_ctl("hosts", "block", host, "--why", "they asked for it").returncode == 0

        def honoured():
            lines = objects(run_ctl("hosts", "explain", "--json", host))
            return next(line for line in lines if line["source"] == "worker")["blocked"]

        assert wait_until(honoured, timeout=HONOURED_WITHIN_S, every=0.5) == "they asked for it"
        submit({"ingest_type": "component", "base_url": f"http://{host}/"})
        (result,) = results(1)
        assert result["status"] == "skip-url-blocklist"
        assert not asked


def test_an_entry_that_no_worker_can_heed_is_said(worker, sql):
    """The command writes no such entries; a hand may."""
    sql("INSERT INTO host_block (host, why) VALUES ('http://shut.test.example/', 'by hand'), ('good.test.example', 'x')")
    with worker() as daemon:
        daemon.wait_log(r"host_block: 1 entries are ignored.*: http://shut\.test\.example/")


def test_the_socket_goes_with_the_worker(worker, run_ctl, settings):
    path = os.path.join(settings["state.dir"], f"{settings['instance']}.sock")
    with worker({"postgres.dsn": ""}):
        assert stat.S_ISSOCK(os.stat(path).st_mode)
        done = run_ctl("hosts", "top", overrides={"postgres.dsn": ""})
        assert done.returncode == 0 and "most requests waiting: none" in done.stdout
    assert not os.path.exists(path)
    assert run_ctl("hosts", "top", overrides={"postgres.dsn": ""}).returncode == 3
