# SPDX-License-Identifier: GPL-3.0-or-later
"""The sub-resources of a page: visited politely, archived, indexed and listed, whatever becomes of single ones."""

import gzip
import hashlib
import json
import os
import re
import signal

import pytest
from servers.polite import Answer, redirect

HOST = "page.test.example"
OTHER = "cdn.test.example"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200))


def html(body):
    """A page that calls itself an article's full text, or it would be no hit."""
    own = f"<meta name=citation_fulltext_html_url content=http://{HOST}/paper>"
    return Answer(body=b"<!doctype html><title>Tides</title>" + own.encode() + body.encode() + b"<p>They rise and they fall.</p>" * 20)


def picture(number=0):
    return Answer(body=PNG + b"%d" % number, type="image/png")


def style(text):
    return Answer(body=text.encode(), type="text/css")


@pytest.fixture
def run(run_ctl, polite, tmp_path, schema):
    """run(**overrides): the result of the page at HOST, and its line of the index by URL."""
    def go(**overrides):
        out = tmp_path / "out"
        request = json.dumps({"ingest_type": "html", "base_url": f"http://{HOST}/paper"})
        done = run_ctl("run", "--out", out, "-", input=request + "\n", overrides={"gate.robots": "obey", **overrides})
        assert done.returncode == 0, done.stderr
        [result] = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
        schema("ingest-result").validate(result)
        return result, (out / "index.cdx").read_text(encoding="utf-8").splitlines()
    return go


def paths(result):
    return [re.sub(r"^http://", "", one["url"]).removeprefix(HOST) for one in result["html_resources"]]


def test_what_a_page_is_made_of_is_archived_with_it(run, polite):
    """In document order, a style sheet's own behind it, with their true digests; each in the index once."""
    polite.page(HOST, "/paper", html(f"<link rel=stylesheet href=/s.css><script src=//{OTHER}/x.js></script>"
                                "<img src=/a.png srcset='/b.png 2x'><img src=/a.png><div style='background:url(c.png)'></div>"))
    polite.page(HOST, "/s.css", style("@import 'more/t.css'; @font-face { src: url(f.woff2) } p { q: url(a.png) }"))
    polite.page(HOST, "/more/t.css", style("p { q: url(../d.png) }"))
    polite.page(HOST, "/f.woff2", Answer(body=b"wOF2 in name only", type="font/woff2"))
    for number, name in enumerate("abcd"):
        polite.page(HOST, f"/{name}.png", picture(number))
    polite.page(OTHER, "/x.js", Answer(body=b"alert(1)", type="text/javascript"))
    result, index = run()
    assert result["status"] == "success" and result["hit"]
    assert paths(result) == ["/s.css", "/more/t.css", "/d.png", "/f.woff2", f"{OTHER}/x.js", "/a.png", "/b.png", "/c.png"]
    assert [one["resource_type"] for one in result["html_resources"]] == \
        ["stylesheet", "stylesheet", "image", "font", "script", "image", "image", "image"]
    assert result["html_resources_count"] == {"found": 8, "filtered": 0, "archived": 8, "failed": 0, "truncated": False}
    shown = next(one for one in result["html_resources"] if one["url"].endswith("/a.png"))
    body = PNG + b"0"
    assert shown["sha1hex"] == hashlib.sha1(body).hexdigest() and shown["sha256hex"] == hashlib.sha256(body).hexdigest()
    assert shown["size"] == len(body) and shown["mimetype"] == "image/png" and shown["status_code"] == 200
    assert shown["surt"] == "example,test,page)/a.png"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", shown["timestamp"])
    assert "status" not in shown
    asked = [(one.host, one.path) for one in polite.seen(HOST, robots=False) + polite.seen(OTHER, robots=False)]
    assert len(asked) == len(set(asked)) == 9
    assert len([line for line in index if line.startswith("example,test,")]) == 9 + 2  # with two robots.txt
    assert result["terminal"]["terminal_url"] == f"http://{HOST}/paper" and result["hops"] == [f"http://{HOST}/paper"]


def test_one_that_fails_is_listed_with_its_status(run, polite):
    polite.page(HOST, "/paper", html("<img src=/a.png><img src=/gone.png><img src=/cut.png><img src=/moved.png>"))
    polite.page(HOST, "/a.png", picture())
    polite.page(HOST, "/gone.png", Answer(status=404, body=b"no such picture"))
    polite.page(HOST, "/cut.png", Answer(body=PNG, type="image/png", cut=10))
    polite.page(HOST, "/moved.png", redirect("/b.png"))
    polite.page(HOST, "/b.png", picture(1))
    result, _ = run(**{"gate.host_delay_ms": 1})
    assert result["status"] == "success" and result["hit"]
    listed = {one.get("source_url", one["url"]).rsplit("/", 1)[1]: one for one in result["html_resources"]}
    assert list(listed) == ["a.png", "gone.png", "cut.png", "moved.png"]
    assert listed["gone.png"]["status"] == "terminal-bad-status" and listed["gone.png"]["status_code"] == 404
    assert "sha1hex" not in listed["gone.png"]
    assert listed["cut.png"]["status"] == "truncated-body"
    assert listed["moved.png"]["url"].endswith("/b.png") and listed["moved.png"]["status_code"] == 200
    assert all(one["surt"] and one["timestamp"] and one["url"] for one in listed.values())
    assert result["html_resources_count"] == {"found": 4, "filtered": 0, "archived": 2, "failed": 2, "truncated": False}


def test_one_that_fails_fails_the_page_in_strict_mode(run, polite):
    polite.page(HOST, "/paper", html("<img src=/a.png><img src=/gone.png>"))
    polite.page(HOST, "/a.png", picture())
    polite.page(HOST, "/gone.png", Answer(status=404, body=b"no such picture"))
    result, index = run(**{"resources.mode": "strict"})
    assert result["status"] == "html-resource-no-capture" and not result["hit"]
    assert result["error_message"] == "1 of 2 sub-resources are not archived"
    assert [one.get("status") for one in result["html_resources"]] == [None, "terminal-bad-status"]
    assert any(line.startswith("example,test,page)/a.png ") for line in index)


def test_advertisements_are_left_out(run, polite, tmp_path):
    """By a list about requests of pages, and by one about those of their style sheets."""
    easy, hosts = tmp_path / "easy.txt", tmp_path / "hosts.txt"
    easy.write_text(f"! a list\n||{OTHER}^$script,~third-party\n/pixel.\n@@/pixel.png$domain={HOST}\n", encoding="utf-8")
    hosts.write_text("0.0.0.0 ads.test.example\n", encoding="utf-8")
    polite.page(HOST, "/paper", html(f"<script src=//{OTHER}/x.js></script><script src=/x.js></script><img src=/pixel.gif>"
                                "<img src=/pixel.png><link rel=stylesheet href=/s.css>"))
    polite.page(HOST, "/s.css", style("p { a: url(//ads.test.example/a.png); b: url(b.png) }"))
    for name in ("/x.js", "/pixel.png", "/b.png"):
        polite.page(HOST, name, picture())
    result, _ = run(**{"resources.filters": [str(easy), str(hosts)]})
    assert paths(result) == ["/x.js", "/pixel.png", "/s.css", "/b.png"]
    assert result["html_resources_count"] == {"found": 4, "filtered": 3, "archived": 4, "failed": 0, "truncated": False}
    assert not polite.seen(OTHER) and not polite.seen("ads.test.example")


def test_a_list_that_is_not_there_is_an_error(run_ctl, tmp_path):
    done = run_ctl("run", "--out", tmp_path / "out", "-", input="", overrides={"resources.filters": [str(tmp_path / "none.txt")]})
    assert done.returncode == 2
    assert "resources.filters: " in done.stderr and "none.txt: there is no such file" in done.stderr


def test_off_fetches_the_page_alone(run, polite):
    polite.page(HOST, "/paper", html("<img src=/a.png>"))
    result, _ = run(**{"resources.mode": "off"})
    assert result["status"] == "success" and "html_resources" not in result
    assert polite.paths(HOST, robots=False) == ["/paper"]


def test_of_three_hundred_the_first_two_hundred(run, polite):
    polite.page(HOST, "/paper", html("".join(f"<img src=/{i}.png>" for i in range(300))))
    for i in range(300):
        polite.page(HOST, f"/{i}.png", picture(i))
    result, _ = run(**{"gate.host_delay_ms": 0, "gate.adaptive_factor": 0})
    assert result["status"] == "success"
    assert paths(result) == [f"/{i}.png" for i in range(200)]
    assert result["html_resources_count"] == \
        {"found": 300, "filtered": 0, "archived": 200, "failed": 0, "truncated": True}
    assert len(polite.seen(HOST, robots=False)) == 201


def test_what_robots_txt_forbids_is_not_asked_for(run, polite):
    polite.page(HOST, "/robots.txt", Answer(body=b"User-agent: *\nDisallow: /private", type="text/plain"))
    polite.page(HOST, "/paper", html("<img src=/private/a.png><img src=/b.png>"))
    polite.page(HOST, "/b.png", picture())
    result, _ = run()
    assert result["status"] == "success"
    assert [one.get("status") for one in result["html_resources"]] == ["skip-robots", None]
    assert all(one["surt"] and one["timestamp"] for one in result["html_resources"])
    assert polite.paths(HOST, robots=False) == ["/paper", "/b.png"]


def test_hosts_are_asked_side_by_side_and_each_politely(run, polite):
    """One at a time of a host, whose pause is kept; the slow host does not keep the others."""
    hosts = [f"h{i}.test.example" for i in range(3)]
    polite.page(HOST, "/paper", html("".join(f"<img src=//{host}/{i}.png>" for host in hosts for i in range(3))))
    for number, host in enumerate(hosts):
        for i in range(3):
            polite.page(host, f"/{i}.png", Answer(body=PNG, type="image/png", delay_s=0.5 if number == 0 else 0))
    result, _ = run(**{"gate.host_delay_ms": 300, "gate.adaptive_factor": 0, "gate.robots": "ignore"})
    assert result["html_resources_count"]["archived"] == 9
    for host in hosts:
        seen = polite.seen(host)
        assert [one.path for one in seen] == ["/0.png", "/1.png", "/2.png"]
        for before, after in zip(seen, seen[1:]):
            assert after.start - before.end >= 0.29
    assert polite.seen(hosts[1])[-1].start < polite.seen(hosts[0])[-1].start


def test_style_sheets_that_import_one_another_end(run, polite):
    """Each is fetched once; how deep they lead is bounded."""
    polite.page(HOST, "/paper", html("<style>@import '/0.css';</style><link rel=stylesheet href=/loop.css>"))
    polite.page(HOST, "/loop.css", style("@import 'loop.css'; @import '/0.css';"))
    for i in range(9):
        polite.page(HOST, f"/{i}.css", style(f"@import '{i + 1}.css'; p {{ q: url({i}.png) }}"))
        polite.page(HOST, f"/{i}.png", picture(i))
    result, _ = run(**{"gate.host_delay_ms": 0})
    assert result["html_resources_count"]["failed"] == 0
    assert sorted(paths(result)) == sorted([f"/{i}.css" for i in range(6)] + [f"/{i}.png" for i in range(5)] + ["/loop.css"])


def test_a_body_with_a_coding_is_known_by_what_it_decodes_to(run, polite):
    text = b"p { q: url(a.png) }"
    polite.page(HOST, "/paper", html("<link rel=stylesheet href=/s.css><script src=/x.js></script>"))
    polite.page(HOST, "/s.css", Answer(body=gzip.compress(text), type="text/css", headers={"Content-Encoding": "gzip"}))
    polite.page(HOST, "/x.js", Answer(body=gzip.compress(b"x" * 9000)[:-9], type="text/javascript",
                                      headers={"Content-Encoding": "gzip"}))
    polite.page(HOST, "/a.png", picture())
    result, _ = run()
    sheet, image, script = result["html_resources"]
    assert sheet["sha1hex"] == hashlib.sha1(text).hexdigest() and sheet["size"] == len(text)
    assert image["url"].endswith("/a.png") and script["status"] == "bad-content-encoding"


def test_the_time_for_them_ends(run, polite):
    """What is there is told, and what is not; the page is a hit."""
    polite.page(HOST, "/paper", html("<img src=/a.png><img src=/b.png><img src=/c.png>"))
    polite.page(HOST, "/a.png", picture())
    polite.page(HOST, "/b.png", picture(1))
    result, _ = run(**{"resources.max_ms": 2000, "gate.host_delay_ms": 1500, "gate.robots": "ignore"})
    assert result["status"] == "success"
    assert [one.get("status") for one in result["html_resources"]] == [None, "timeout", "timeout"]


def test_what_is_blocked_is_not_asked_for(run, polite, tmp_path):
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "blocklist.yaml").write_text(f"- host: {OTHER}\n  why: because\n", encoding="utf-8")
    polite.page(HOST, "/paper", html(f"<img src=//{OTHER}/a.png><img src=/b.png>"))
    polite.page(HOST, "/b.png", picture())
    result, _ = run(**{"rules.dir": str(rules)})
    assert [one.get("status") for one in result["html_resources"]] == ["skip-url-blocklist", None]
    assert not polite.seen(OTHER)


REQUEST = {"ingest_type": "html", "base_url": f"http://{HOST}/paper"}


def test_lanes_may_do_without(worker, submit, produce, lanes, results, polite):
    """The bulk lane does unless it is told otherwise."""
    polite.page(HOST, "/paper", html("<img src=/a.png>"))
    polite.page(HOST, "/a.png", picture())
    produce(lanes["bulk"], [json.dumps(REQUEST)])
    with worker({"fetch.connect_to": polite.connect_to()}):
        assert "html_resources" not in results(1)[0]
    submit(REQUEST)
    with worker({"fetch.connect_to": polite.connect_to()}):
        assert len(results(2)[1]["html_resources"]) == 1
    produce(lanes["bulk"], [json.dumps(REQUEST)])
    with worker({"fetch.connect_to": polite.connect_to(), "intake.resources_bulk": "on"}):
        assert len(results(3)[2]["html_resources"]) == 1


def test_rows_tell_what_the_result_tells(worker, submit, results, polite, sql):
    polite.page(HOST, "/paper", html("<img src=/a.png><img src=/gone.png>"))
    polite.page(HOST, "/a.png", picture())
    polite.page(HOST, "/gone.png", Answer(status=404))
    submit(REQUEST)
    with worker({"fetch.connect_to": polite.connect_to()}):
        result = results(1)[0]
    rows = {row["url"]: row for row in sql("SELECT * FROM cdx")}
    shown = result["html_resources"][0]
    assert rows[shown["url"]]["sha1hex"] == shown["sha1hex"]
    assert len(rows) == 2  # the page and its picture; the table has what came with status 200


def test_a_stop_in_the_middle_leaves_the_page_to_the_next(worker, submit, results, polite, wait_until):
    """One result, with all of them, from whoever finishes."""
    polite.page(HOST, "/paper", html("".join(f"<img src=/{i}.png>" for i in range(4))))
    for i in range(4):
        polite.page(HOST, f"/{i}.png", picture(i))
    submit(REQUEST)
    with worker({"fetch.connect_to": polite.connect_to(), "gate.host_delay_ms": 5000, "stop.drain_ms": 500}):
        wait_until(lambda: polite.seen(HOST, "/paper"))
    with worker({"fetch.connect_to": polite.connect_to()}):
        result = results(1)[0]
    assert result["status"] == "success"
    assert result["html_resources_count"]["archived"] == 4


def test_lists_are_read_again_with_the_rules(worker, submit, results, polite, tmp_path):
    """SIGHUP, and the next page is shown without what the new list names."""
    filters = tmp_path / "list.txt"
    filters.write_text("||nobody.example^\n", encoding="utf-8")
    polite.page(HOST, "/paper", html("<img src=/a.png>"))
    polite.page(HOST, "/a.png", picture())
    submit(REQUEST)
    with worker({"fetch.connect_to": polite.connect_to(), "resources.filters": [str(filters)]}) as daemon:
        assert len(results(1)[0]["html_resources"]) == 1
        filters.write_text("/a.png\n", encoding="utf-8")
        os.kill(daemon.pid, signal.SIGHUP)
        daemon.wait_log("rules reloaded")
        submit(REQUEST)
        assert results(2)[1]["html_resources_count"]["filtered"] == 1
        filters.unlink()
        os.kill(daemon.pid, signal.SIGHUP)
        daemon.wait_log("rules not reloaded")
