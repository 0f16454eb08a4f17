# SPDX-License-Identifier: GPL-3.0-or-later
"""The URL rules: blocklist, login walls and pages about cookies are known by their URLs and left alone."""

import json
import subprocess

import makepdf
import pytest
from server import Reply

CONTACT = "fetch.user_agent=scenario/1.0 (+https://scenario.example/)"


def page(link):
    return {"body": f'<html><head><title>A paper</title><meta name="citation_pdf_url" content="{link}"></head></html>'}


def redirect(location):
    return {"redirect": 302, "location": location}


def pdf(url):
    return {"ingest_type": "pdf", "base_url": url}


@pytest.fixture
def host(tag):
    """A name of the sample web that no other test has asked for anything."""
    return f"{tag}.rules.example"


def test_a_start_on_the_blocklist_is_not_fetched(outcome, web, sql):
    before = len(web.accesses())
    result = outcome(pdf("https://doi.org/10.2307/3312345"))
    assert result["status"] == "skip-url-blocklist" and result["hit"] is False
    assert "hops" not in result and "terminal" not in result
    assert "JSTOR" in result["error_message"]
    assert len(web.accesses()) == before
    assert [row["status"] for row in sql("SELECT status FROM ingest_file_result")] == ["skip-url-blocklist"]


def test_links_and_redirects_to_what_is_not_asked_for(worker, submit, results_by_url, web, host):
    """One landing page or redirect for each; nothing of it is asked for, and the terminal URL is what led there."""
    wall = f"https://login.{host}/login?TARGET=%2Fpaper.pdf"
    cookie = f"https://{host}/action/cookieAbsent"
    listed = "https://web.archive.org/web/2020/https://a.example/paper.pdf"
    expected = {}
    for name, target, by_link, by_redirect in (("wall", wall, "skip-wall", "blocked-wall"),
                                               ("cookie", cookie, "blocked-cookie", "blocked-cookie"),
                                               ("listed", listed, "skip-url-blocklist", "skip-url-blocklist")):
        web.route(host, f"/page/{name}", page(target))
        web.route(host, f"/redirect/{name}", redirect(target))
        expected[f"https://{host}/page/{name}"] = by_link
        expected[f"https://{host}/redirect/{name}"] = by_redirect
    before = len(web.accesses())
    submit([pdf(url) for url in expected] + [pdf(wall)])
    with worker():
        found = results_by_url(len(expected) + 1)
    assert {url: result["status"] for url, result in found.items()} == {**expected, wall: "skip-wall"}
    for url in expected:
        result = found[url]
        assert result["hops"] == [url] and result["terminal"]["terminal_url"] == url
        assert result["terminal"]["terminal_status_code"] == (200 if "/page/" in url else 302)
        assert "file_meta" not in result and result["error_message"]
    assert found[f"https://{host}/page/wall"]["extract_next_hop"]["url"] == wall
    assert "hops" not in found[wall]
    asked = web.accesses()[before:]
    assert sorted((entry["host"], entry["path"]) for entry in asked) == \
        sorted((host, url.removeprefix(f"https://{host}")) for url in expected)


def test_a_cookie_test_is_passed_unless_it_is_where_the_chain_ends(worker, submit, results_by_url, web, host):
    body = makepdf.make_pdf("Behind a cookie", "Some words.")
    web.route(host, "/open", redirect("/open?cookieSet=1"))
    web.route(host, "/open?cookieSet=1", redirect("/open.pdf"))
    web.route(host, "/open.pdf", lambda _: Reply(200, body, type="application/pdf"))
    web.route(host, "/shut", redirect("/shut?cookieSet=1"))
    web.route(host, "/shut?cookieSet=1", {"body": "<html><title>Your browser takes no cookies</title></html>"})
    submit([pdf(f"https://{host}/open"), pdf(f"https://{host}/shut")])
    with worker():
        found = results_by_url(2)
    assert found[f"https://{host}/open"]["status"] == "success"
    assert len(found[f"https://{host}/open"]["hops"]) == 3
    shut = found[f"https://{host}/shut"]
    assert shut["status"] == "blocked-cookie"
    assert shut["terminal"]["terminal_url"] == f"https://{host}/shut?cookieSet=1"
    assert "file_meta" not in shut


def test_rules_of_ones_own(outcome, web, host, tmp_path):
    """A folder with one file: its rules hold, and those that come with the program do not."""
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "walls.yaml").write_text(
        f"- {{host: .{host}, path: /members/, verdict: wall, why: for members only}}\n", encoding="utf-8")
    web.route(host, "/a", redirect("/b/login?TARGET=1"))
    web.route(host, "/b/login?TARGET=1", redirect(f"https://www.{host}/members/1.pdf"))
    result = outcome(pdf(f"https://{host}/a"), {"rules.dir": str(rules)})
    assert result["status"] == "blocked-wall" and result["error_message"] == "for members only"
    assert len(result["hops"]) == 2


def test_bad_rules_keep_the_programs_from_starting(program, tmp_path):
    (tmp_path / "blocklist.yaml").write_text("- host: a.example\n  whi: x\n", encoding="utf-8")
    (tmp_path / "walls.yaml").write_text("- path: login\n  verdict: wall\n  why: x\n", encoding="utf-8")
    words = [(f"{tmp_path}/blocklist.yaml:2:3: ", "there is no key \"whi\""),
             (f"{tmp_path}/blocklist.yaml:1:3: ", "an entry needs a why"),
             (f"{tmp_path}/walls.yaml:1:9: ", "path must begin with a slash")]
    settings = ["--set", f"rules.dir={tmp_path}", "--set", CONTACT]
    state = ["--set", f"state.dir={tmp_path}", "--set", f"spool.dir={tmp_path}", "--set", "kafka.brokers=127.0.0.1:1"]
    for command in ([program("ingestctl"), *settings, "run", "-"],
                    [program("ingest-worker"), *settings, *state],
                    [program("ingest-worker"), *settings, "--check-config"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                              input=json.dumps(pdf("https://a.example/")) + "\n")
        assert done.returncode == 2, (command, done.stderr)
        kind = "error: " if "--check-config" in command else ""  # the log has it in front
        assert all(f"{place}{kind}{text}" in done.stderr for place, text in words), done.stderr
        assert done.stdout == ""
