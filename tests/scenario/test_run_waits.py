# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl run while hosts hold it: what it says, for how long it waits, how it sums up."""

import json
import os
import pty
import re
import signal
import subprocess
import time

import pytest

from servers.polite import Answer, PoliteServer

ARTICLE = b"A text.\n" + b"A sentence that is long enough to be one.\n" * 40


@pytest.fixture
def site():
    with PoliteServer() as server:
        server.page("*", "*", Answer(body=ARTICLE))
        yield server


@pytest.fixture
def command(program, site, account_of_runs):
    """command("run", …): with the settings by which everything comes from the site."""
    def build(*arguments, **settings):
        account_of_runs(arguments)
        flat = {"fetch.connect_to": json.dumps(site.connect_to()), "fetch.allow_address": '["127.0.0.0/8"]',
                "fetch.user_agent": '"scenario/1.0 (+https://scenario.example/)"', "gate.host_delay_ms": 0,
                "gate.robots": "ignore", **settings}
        return [str(program("ingestctl")), *(word for key, value in flat.items() for word in ("--set", f"{key}={value}")),
                *map(str, arguments)]
    return build


def lines_of(*urls):
    return "".join(json.dumps({"ingest_type": "component", "base_url": url}) + "\n" for url in urls)


def run(arguments, text):
    return subprocess.run(arguments, input=text, capture_output=True, text=True, timeout=120, check=False)


def statuses(text):
    return sorted((result["request"]["base_url"], result["status"]) for result in map(json.loads, text.splitlines()))


def test_without_a_terminal_it_is_said_who_holds_it_and_for_how_long(command, site):
    """Retry-After is longer than the time between two lines."""
    site.page("held.test.example", "*", Answer(429, b"later", {"Retry-After": "12"}), Answer(body=ARTICLE))
    held = [f"http://held.test.example/{n}" for n in range(3)]
    done = run(command("run", "-"), lines_of(*held, "http://free.test.example/"))
    assert done.returncode == 0, done.stderr
    assert statuses(done.stdout) == [(url, "success") for url in sorted([*held, "http://free.test.example/"])]
    assert re.search(r"^ingestctl run: 1 done in \d+ s; waiting for 1 host: held\.test\.example for another \d+ s "
                     r"\(retry-after after 1 failure, 3 requests\)$", done.stderr, re.MULTILINE), done.stderr


def test_on_a_terminal_the_bar_names_who_holds_it(command, site, tmp_path):
    site.page("held.test.example", "*", Answer(429, b"later", {"Retry-After": "5"}), Answer(body=ARTICLE))
    (tmp_path / "in.jsonl").write_text(lines_of("http://held.test.example/1", "http://held.test.example/2"))
    master, slave = pty.openpty()
    process = subprocess.Popen(command("run", "--out", tmp_path / "d", tmp_path / "in.jsonl"), stderr=slave,
                               env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    said = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        said += piece
    os.close(master)
    assert process.wait(60) == 0
    # A bar ends by clearing what is left of the line; what is logged meanwhile stands behind that.
    bars = [line.split("\x1b[K")[0] for line in said.decode().replace("\n", "\r").split("\r") if line.startswith("[")]
    assert any("0/2" in bar and re.search(r"waiting for held\.test\.example [1-5] s$", bar) for bar in bars), bars[:20]
    assert "2/2" in bars[-1] and "waiting" not in bars[-1]
    assert all(len(bar) < 80 for bar in bars), "longer than a line of the terminal"


def test_max_wait_ends_a_run_whose_host_is_held_for_longer(command, site):
    site.page("held.test.example", "*", Answer(429, b"later", {"Retry-After": "600"}))
    urls = [f"http://held.test.example/{n}" for n in range(5)]
    done = run(command("run", "--max-wait", 1, "-"), lines_of(*urls, "http://free.test.example/"))
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted((one["request"]["base_url"], one["status"]) for one in results) == \
        [("http://free.test.example/", "success"), *((url, "host-backoff") for url in urls)]
    assert all(590 <= one["retry_after"] <= 600 for one in results if one["status"] == "host-backoff")
    assert len(site.seen("held.test.example")) == 1


def test_a_broken_host_does_not_keep_a_run_from_ending(command, site):
    """Its breaker opens, and is tried again later and later. Each request has one result, the others their document."""
    site.page("broken.test.example", "*", Answer(500, b"no"))
    broken = [f"http://broken.test.example/{n}" for n in range(30)]
    free = [f"http://free.test.example/{n}" for n in range(10)]
    done = run(command("run", "--max-wait", 2, "-"), lines_of(*broken, *free))
    assert done.returncode == 0, done.stderr
    found = statuses(done.stdout)
    assert [url for url, _ in found] == sorted(broken + free)
    assert {status for url, status in found if url in free} == {"success"}
    assert {status for url, status in found if url in broken} <= {"host-backoff", "terminal-bad-status"}
    assert len(site.seen("broken.test.example")) < 30


def test_max_wait_bounds_the_wait_for_a_turn(command, site):
    """The host is not held, only slow; who comes first may take his time."""
    site.page("slow.test.example", "*", Answer(body=ARTICLE, delay_s=3))
    done = run(command("run", "--max-wait", 1, "-"), lines_of(*(f"http://slow.test.example/{n}" for n in range(3))))
    assert sorted(json.loads(line)["status"] for line in done.stdout.splitlines()) == \
        ["host-backoff", "host-backoff", "success"], done.stderr


@pytest.mark.parametrize("words, setting", [([], {}), ([], {"gate.max_hold_ms": 50000}), (["--max-wait", 60], {})])
def test_a_host_held_for_more_than_a_minute_is_not_waited_for(command, site, words, setting):
    site.page("held.test.example", "*", Answer(503, b"later", {"Retry-After": "62"}))
    done = run(command("run", *words, "-", **setting), lines_of("http://held.test.example/"))
    assert json.loads(done.stdout)["status"] == "host-backoff", done.stderr


@pytest.mark.parametrize("value", ["-1", "x", "", "86401", "1.5", "99999999999999999999"])
def test_a_max_wait_that_is_no_number_of_seconds_is_refused(program, value):
    done = run([program("ingestctl"), "run", f"--max-wait={value}", "-"], "")
    assert done.returncode == 2 and "--max-wait must be a number of seconds from 0 to 86400" in done.stderr


def test_a_run_ends_with_a_summary_by_status(command, site):
    site.page("gone.test.example", "*", Answer(404, b"no"))
    urls = ["http://a.test.example/1", "http://b.test.example/2", "http://gone.test.example/", "ftp://c.test.example/"]
    done = run(command("run", "-"), lines_of(*urls) + "nonsense\n")
    assert done.returncode == 1
    assert re.search(r"^ingestctl run: 4 results in \d+ s, 2 hits; 1 invalid line\n"
                     r" +2  success\n +1  invalid-url\n +1  terminal-bad-status\n\Z", done.stderr, re.MULTILINE), done.stderr


@pytest.mark.unfinished("the run is ended while its host is held")
def test_hosts_can_be_asked_about_while_a_run_goes_on(command, program, site, tmp_path):
    out = tmp_path / "d"
    site.page("held.test.example", "*", Answer(429, b"later", {"Retry-After": "3600"}))
    (tmp_path / "in.jsonl").write_text(lines_of(*(f"http://held.test.example/{n}" for n in range(7))))
    process = subprocess.Popen(command("run", "--out", out, "--max-wait", 0, tmp_path / "in.jsonl"),
                               stderr=subprocess.PIPE, text=True)

    def hosts(*arguments):
        return run([program("ingestctl"), "hosts", *map(str, arguments)], "")

    deadline = time.monotonic() + 60
    while True:
        done = hosts("top", "--json", "--dir", out)
        held = [json.loads(line) for line in done.stdout.splitlines()]
        if any(one["list"] == "longest_held" and one["waiting"] == 7 for one in held):
            break
        assert time.monotonic() < deadline and process.poll() is None, done.stderr
        time.sleep(0.1)
    one = next(one for one in held if one["list"] == "longest_held")
    assert (one["source"], one["instance"], one["host"]) == ("worker", str(out), "held.test.example")
    assert one["delay"]["why"] == "retry-after"
    said = hosts("explain", "--dir", out, "http://held.test.example/x")
    assert said.returncode == 0 and "Retry-After" in said.stdout, said.stderr
    same = run([program("ingestctl"), "--set", f"state.dir={out}", "hosts", "top"], "")
    assert same.returncode == 0 and "held.test.example" in same.stdout
    assert hosts("block", "--dir", out, "a.example", "--why", "x").returncode == 2
    status = run([program("ingestctl"), "status", "--dir", str(out), "--json"], "")
    assert status.returncode == 0, status.stderr
    assert re.match(r"all 7 waiting requests are for 1 host that may not be asked now: held.test.example \(7: retry-after, \d+ min",
                    json.loads(status.stdout)["held_by"]), status.stdout
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 4
    assert hosts("top", "--dir", out).returncode == 3
    assert not (out / "run.sock").exists()


# --- requests that wait in the folder ---


def sorted_urls(hot, hosts):
    return [f"http://hot.test.example/{n}" for n in range(hot)] + [f"http://h{n}.polite.example/" for n in range(hosts)]


def test_a_list_sorted_by_host_keeps_no_host_waiting(command, site, tmp_path):
    """What is beyond a host's share of the window waits in the folder, of which nothing is left at the end."""
    urls = sorted_urls(80, 10)
    (tmp_path / "in.jsonl").write_text(lines_of(*urls))
    out = tmp_path / "d"
    done = subprocess.run(command("run", "--out", out, tmp_path / "in.jsonl", **{
        "intake.max_waiting": 40, "gate.host_delay_ms": 50}), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert statuses((out / "results.jsonl").read_text()) == [(url, "success") for url in sorted(urls)]
    assert len(site.seen()) == len(urls)
    last_of_others = max(one.end for one in site.seen() if one.host != "hot.test.example")
    assert sum(one.end < last_of_others for one in site.seen("hot.test.example")) < 40
    assert not list(out.glob(".parked*"))


def test_a_killed_run_goes_on_with_what_it_had_parked(command, site, tmp_path):
    urls = sorted_urls(80, 10)
    (tmp_path / "in.jsonl").write_text(lines_of(*urls))
    out = tmp_path / "d"
    for number in range(3):
        process = subprocess.Popen(command("run", "--out", out, *["--resume"][:number], tmp_path / "in.jsonl", **{
            "intake.max_waiting": 40, "gate.host_delay_ms": 100}), stderr=subprocess.PIPE, text=True)
        if number < 2:
            wait_for_lines(out / ".parked-1m.jsonl", 30 * (number + 1))
            process.kill()
        words = process.communicate(timeout=120)[1]
    assert process.returncode == 0, words
    assert statuses((out / "results.jsonl").read_text()) == [(url, "success") for url in sorted(urls)]


def wait_for_lines(path, count, timeout=60):
    deadline = time.monotonic() + timeout
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_tries_are_counted_across_runs(command, site, tmp_path):
    """The second run neither tries before it is due nor begins to count anew."""
    site.page("cut.test.example", "*", Answer(cut=5))
    (tmp_path / "in.jsonl").write_text(lines_of("http://cut.test.example/"))
    out = tmp_path / "d"

    def start(*more):
        return subprocess.Popen(command("run", "--out", out, "--max-wait", "7200", *more, tmp_path / "in.jsonl"),
                                stderr=subprocess.PIPE, text=True)
    process = start()
    wait_for_lines(out / ".parked-1h.jsonl", 1)
    process.kill()
    process.communicate(timeout=60)
    tried = len(site.seen())
    line = json.loads((out / ".parked-1h.jsonl").read_text())
    assert line["headers"]["attempt"] == "1" and line["headers"]["host"] == "cut.test.example"
    process = start("--resume")
    wait_for_lines(out / ".parked-10m.jsonl", 1)  # what is left of the hour
    process.kill()
    process.communicate(timeout=60)
    assert len(site.seen()) == tried
    again = json.loads((out / ".parked-10m.jsonl").read_text())
    assert again["headers"] == {**line["headers"], "not-before": again["headers"]["not-before"]}
    # as if all of it had passed, and the second try, too
    (out / ".parked-10m.jsonl").write_text("")
    line["headers"].update({"attempt": "2", "not-before": "1"})
    (out / ".parked-1h.jsonl").write_text(json.dumps(line) + "\n")
    process = start("--resume")
    words = process.communicate(timeout=60)[1]
    assert process.returncode == 0, words
    result = json.loads((out / "results.jsonl").read_text())
    assert result["status"] == "truncated-body" and "tried 3 times" in result["error_message"]


def test_without_a_long_wait_nobody_is_kept_for_another_try(command, site, tmp_path):
    site.page("cut.test.example", "*", Answer(cut=5))
    (tmp_path / "in.jsonl").write_text(lines_of("http://cut.test.example/"))
    done = subprocess.run(command("run", "--out", tmp_path / "d", tmp_path / "in.jsonl"), capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert statuses((tmp_path / "d" / "results.jsonl").read_text()) == [("http://cut.test.example/", "truncated-body")]
