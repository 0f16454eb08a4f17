# SPDX-License-Identifier: GPL-3.0-or-later
"""What servers see of connections: one for what is asked of a host in turn, and TLS sessions resumed where there are several."""

import json

import pytest
from servers.polite import Answer, redirect, text

HOST = "kept.test.example"


@pytest.fixture
def run(run_ctl, tmp_path):
    """run([path, …], scheme=…, **overrides): statuses of requests for these paths of HOST, one after the other."""
    def go(paths, scheme="https", **overrides):
        lines = [json.dumps({"ingest_type": "component", "base_url": f"{scheme}://{HOST}{path}"}) for path in paths]
        out = tmp_path / "out"
        done = run_ctl("run", "--out", out, "-", input="\n".join(lines) + "\n", overrides=overrides, timeout=60)
        assert done.returncode == 0, done.stderr
        found = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
        return [one["status"] for one in found]
    return go


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_robots_txt_page_and_redirect_to_the_same_host_use_one_connection(run, polite, scheme):
    polite.robots(HOST, "User-agent: *\nDisallow: /no\n")
    polite.page(HOST, "/paper", redirect(f"{scheme}://{HOST}/moved", 301))
    polite.page(HOST, "/moved", redirect("/here", 302))
    assert run(["/paper"], scheme, **{"gate.robots": "obey"}) == ["success"]
    assert polite.paths(HOST) == ["/robots.txt", "/paper", "/moved", "/here"]
    assert {one.connection for one in polite.seen(HOST)} == {0}


def test_redirect_from_http_to_https_asks_for_robots_txt_on_the_connection_of_the_page(run, polite):
    polite.robots(HOST, "User-agent: *\nDisallow: /no\n")
    polite.page(HOST, "/paper", lambda request: redirect(f"https://{HOST}/paper") if request.scheme == "http" else Answer())
    assert run(["/paper"], "http", **{"gate.robots": "obey"}) == ["success"]
    ways = {scheme: {one.connection for one in polite.seen(HOST) if one.scheme == scheme} for scheme in ("http", "https")}
    assert [len(connections) for connections in ways.values()] == [1, 1]


@pytest.mark.parametrize("resume", [True, False])
def test_connections_after_the_first_resume_its_session(run, polite, resume):
    polite.page(HOST, "/robots.txt", text("", close=True))
    polite.page(HOST, "*", Answer(close=True))
    assert run([f"/{number}" for number in range(6)], **{"gate.robots": "obey", "fetch.tls_resume": resume}) == ["success"] * 6
    seen = polite.seen(HOST)
    assert len({one.connection for one in seen}) == len(seen) == 7
    assert [one.resumed for one in seen] == [False] + [resume] * 6


def test_hosts_do_not_share_sessions(run_ctl, polite, tmp_path):
    """Many names, one server with one key for tickets: what a name's own connections brought is offered to that name alone."""
    polite.page("*", "*", Answer(close=True))
    hosts = [f"h{number}.test.example" for number in range(8)]
    urls = [f"https://{host}/{turn}" for turn in range(3) for host in hosts]
    lines = "".join(json.dumps({"ingest_type": "component", "base_url": url}) + "\n" for url in urls)
    done = run_ctl("run", "--out", tmp_path / "out", "-", input=lines, timeout=60)
    assert done.returncode == 0, done.stderr
    for host in hosts:
        assert [one.resumed for one in polite.seen(host)] == [False, True, True]
