# SPDX-License-Identifier: GPL-3.0-or-later
"""robots.txt (RFC 9309): asked before anything else of a host, believed, archived; seen from the server's side."""

import gzip
import pathlib
import zlib

import pytest
from servers.polite import Answer, check_one_at_a_time, redirect, text

OWN_GROUP = """\
User-agent: *
Disallow: /

User-agent: ingest-worker-tests
Disallow: /private
Allow: /private/open
Disallow: /*.cgi$
"""
CLOSED = "User-agent: *\nDisallow: /\n"


@pytest.fixture(autouse=True)
def obey(settings):
    settings.update({"gate.robots": "obey", "gate.adaptive_factor": 0, "gate.backoff_ms": 100})


@pytest.fixture
def ask(worker, submit, results_by_url):
    """ask({url: status}) runs these requests through one worker and compares how they end."""
    def run(wanted, overrides=None, timeout=40, **fields):
        submit([{"ingest_type": "component", "base_url": url, **fields} for url in wanted])
        with worker(overrides):
            found = results_by_url(len(wanted), timeout=timeout)
        assert {url: one["status"] for url, one in found.items()} == wanted
        return found
    return run


def test_rules_are_matched_as_the_standard_says(ask, polite):
    """The group of our own name before that of all; the longest match; $ is the end. What is forbidden is not asked."""
    host = "rules.test.example"
    polite.robots(host, OWN_GROUP)
    found = ask({
        f"http://{host}/a": "success",
        f"http://{host}/private/x": "skip-robots",
        f"http://{host}/private/open/y": "success",
        f"http://{host}/run.cgi": "skip-robots",
        f"http://{host}/run.cgi?x=1": "success",
    })
    assert sorted(polite.paths(host)) == ["/a", "/private/open/y", "/robots.txt", "/run.cgi?x=1"]
    assert polite.paths(host)[0] == "/robots.txt"
    assert "robots.txt" in found[f"http://{host}/private/x"]["error_message"]
    agents = {one.headers["user-agent"] for one in polite.seen(host)}
    assert agents == {"ingest-worker-tests/1.0 (+https://tests.example/robot)"}


def test_it_is_asked_for_once_of_each_authority_and_archived(ask, polite, sql, settings):
    """http and https of one host each have a file of their own, which is in the WARC files as any other answer is."""
    polite.robots("*", "User-agent: *\nDisallow: /no\n")
    authorities = ["http://once.test.example", "https://once.test.example", "http://twice.test.example"]
    ask({f"{authority}/{page}": "success" for authority in authorities for page in range(3)})
    for authority in authorities:
        scheme, host = authority.split("://")
        asked = [one.path for one in polite.seen(host) if one.scheme == scheme]
        assert asked.count("/robots.txt") == 1 and asked[0] == "/robots.txt", asked
    rows = sql("SELECT url, mimetype, warc_path, warc_offset FROM cdx WHERE url LIKE '%%/robots.txt'")
    assert sorted(row["url"] for row in rows) == sorted(f"{authority}/robots.txt" for authority in authorities)
    assert {row["mimetype"] for row in rows} == {"text/plain"}
    for row in rows:
        # Each record is a gzip member of its own; the rest of the file is behind it.
        data = (pathlib.Path(settings["warc.dir"]) / pathlib.Path(row["warc_path"]).name).read_bytes()
        record = zlib.decompressobj(wbits=31).decompress(data[row["warc_offset"]:])
        assert f"WARC-Target-URI: {row['url']}\r\n".encode() in record and b"Disallow: /no\n" in record


def test_its_redirects_are_followed(ask, polite):
    """Five of them (RFC 9309, 2.3.1.2), the last to another host; the rules are the first host's."""
    polite.page("moved.test.example", "/robots.txt", redirect("/1"))
    for step in range(1, 4):
        polite.page("moved.test.example", f"/{step}", redirect(f"/{step + 1}"))
    polite.page("moved.test.example", "/4", redirect("http://elsewhere.test.example/5"))
    polite.page("elsewhere.test.example", "/5", text("User-agent: *\nDisallow: /closed\n"))
    ask({"http://moved.test.example/closed": "skip-robots", "http://moved.test.example/open": "success"})
    assert polite.paths("moved.test.example") == ["/robots.txt", "/1", "/2", "/3", "/4", "/open"]


def test_its_redirects_in_a_circle_end(ask, polite):
    """One to itself at once, a longer circle at the limit of eight; either is as good as no file."""
    polite.page("itself.test.example", "/robots.txt", redirect("/robots.txt"))
    polite.page("circle.test.example", "/robots.txt", redirect("/there"))
    polite.page("circle.test.example", "/there", redirect("/robots.txt"))
    ask({"http://itself.test.example/x": "success", "http://circle.test.example/x": "success"})
    assert polite.paths("itself.test.example") == ["/robots.txt", "/x"]
    assert polite.paths("circle.test.example") == ["/robots.txt", "/there"] * 4 + ["/robots.txt", "/x"]


def test_one_in_an_unknown_coding_cannot_be_had(ask, polite):
    polite.page("coded.test.example", "/robots.txt", text("User-agent: *\nAllow: /\n",
                                                          headers={"Content-Encoding": "xyz"}))
    found = ask({"http://coded.test.example/x": "skip-robots"})
    assert found["http://coded.test.example/x"]["error_message"] == \
        "robots.txt is unreachable (bad-content-encoding)"


@pytest.mark.slow
def idle_gzip(blocks):
    """A gzip member that takes time and yields nothing: empty stored blocks (RFC 1951, 3.2.4)."""
    head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    return head + b"\0\0\0\xff\xff" * blocks + b"\1\0\0\xff\xff" + bytes(8)


def test_one_that_costs_time_to_decode_is_refused_and_nobody_waits(ask, polite):
    """No output, so no ceiling on it: what counts is the work. Examiners do it, and stop; the loop goes on for others."""
    twice = gzip.compress(idle_gzip(1_300_000))
    coded = {"idle2": (twice, "gzip, gzip"), "idle3": (gzip.compress(twice), "gzip, gzip, gzip"),
             "idle1": (idle_gzip(1000), "gzip")}
    assert len(twice) < 12_000
    for name, (body, coding) in coded.items():
        polite.page(f"{name}.test.example", "/robots.txt", text(body, headers={"Content-Encoding": coding}))
    polite.robots("innocent.test.example", "User-agent: *\nDisallow: /closed\n")
    wanted = {f"http://{name}.test.example/{page}": "skip-robots" for name in ("idle2", "idle3") for page in range(3)}
    wanted["http://idle1.test.example/x"] = "success"  # an empty file, paid for by its bytes
    wanted.update({f"http://innocent.test.example/{page}": "success" for page in range(3)})
    wanted["http://innocent.test.example/closed"] = "skip-robots"
    found = ask(wanted)
    for name in ("idle2", "idle3"):
        assert set(polite.paths(f"{name}.test.example")) == {"/robots.txt"}
        for page in range(3):
            assert found[f"http://{name}.test.example/{page}"]["error_message"] == \
                "robots.txt is unreachable (bad-content-encoding)"


def test_what_cannot_be_had(ask, polite):
    """4xx: no rules. 5xx and broken answers: everything is forbidden. Nobody there: as the connection ended."""
    for status in (401, 403, 404, 410):
        polite.page(f"s{status}.test.example", "/robots.txt", Answer(status, b"no"))
    polite.page("s500.test.example", "/robots.txt", Answer(500, b"broken"))
    polite.page("reset.test.example", "/robots.txt", Answer(reset=True))
    ask({
        **{f"http://s{status}.test.example/x": "success" for status in (401, 403, 404, 410)},
        "http://s500.test.example/x": "skip-robots",
        "http://reset.test.example/x": "skip-robots",
        "http://nobody.test.example/x": "connect-error",
    }, {"fetch.connect_to": ["nobody.test.example:80:127.0.0.1:9"], "fetch.connect_timeout_ms": 1000})
    for host in ("s500", "reset"):
        assert set(polite.paths(f"{host}.test.example")) == {"/robots.txt"}


def test_a_host_that_is_busy_at_first(ask, polite):
    """429 or 503 for robots.txt holds the host; then the file is asked for again, and believed."""
    for host, first in {"told": Answer(429, b"later", {"Retry-After": "1"}), "silent": Answer(503, b"later")}.items():
        polite.page(f"{host}.test.example", "/robots.txt", first, text("User-agent: *\nDisallow: /closed\n"))
    ask({f"http://{host}.test.example/{page}": status for host in ("told", "silent")
         for page, status in (("closed", "skip-robots"), ("open", "success"))})
    assert polite.paths("told.test.example") == ["/robots.txt", "/robots.txt", "/open"]
    check_one_at_a_time(polite.seen("told.test.example")[:2], 1.0)


def test_crawl_delay_is_kept(ask, polite):
    host = "slowly.test.example"
    polite.robots(host, "User-agent: *\nCrawl-delay: 0.7\n")
    ask({f"http://{host}/{page}": "success" for page in range(4)})
    check_one_at_a_time(polite.seen(host, robots=False), 0.7)


def test_crawl_delay_has_a_ceiling(ask, polite):
    host = "never.test.example"
    polite.robots(host, "User-agent: *\nCrawl-delay: 86400\n")
    ask({f"http://{host}/{page}": "success" for page in range(3)}, {"gate.crawl_delay_max_ms": 300})
    check_one_at_a_time(polite.seen(host, robots=False), 0.3)


def test_it_may_be_compressed_or_long(ask, polite):
    """gzip as the Content-Encoding; of 600 KB at least the first 500 KiB count."""
    rule = "User-agent: *\nDisallow: /closed\n"
    polite.page("gzip.test.example", "/robots.txt",
                text(gzip.compress(rule.encode()), headers={"Content-Encoding": "gzip"}))
    long = ("# nothing to see here\n" * 18200 + rule).ljust(600_000, "#")
    assert long.index("Disallow") > 400_000
    polite.robots("long.test.example", long)
    ask({f"http://{host}.test.example/{page}": status for host in ("gzip", "long")
         for page, status in (("closed", "skip-robots"), ("open", "success"))})


def test_an_operator_may_except_a_host(ask, polite, host_rules):
    host_rules([{"host": "agreed.test.example", "robots": "ignore"}])
    polite.robots("*", CLOSED)
    ask({"http://agreed.test.example/x": "success", "http://other.test.example/x": "skip-robots"})
    assert polite.paths("agreed.test.example") == ["/x"]


def test_where_a_page_leads_is_asked_about_too(ask, polite):
    """A redirect and a link to a host that forbids: no request for the target. A redirect to an allowed one goes on."""
    polite.robots("closed.test.example", CLOSED)
    polite.page("start.test.example", "/redirect", redirect("http://closed.test.example/a"))
    polite.page("start.test.example", "/onward", redirect("http://open.test.example/a"))
    found = ask({"http://start.test.example/redirect": "skip-robots", "http://start.test.example/onward": "success"})
    assert polite.paths("closed.test.example") == ["/robots.txt"]
    assert found["http://start.test.example/redirect"]["hops"] == ["http://start.test.example/redirect"]
    assert polite.paths("open.test.example") == ["/robots.txt", "/a"]


def test_a_link_to_a_forbidden_document_is_not_followed(ask, polite):
    polite.robots("closed.test.example", CLOSED)
    polite.page("landing.test.example", "/article", Answer(
        body=b'<!doctype html><title>A page</title><meta name="citation_pdf_url" content="http://closed.test.example/paper.pdf">'))
    ask({"http://landing.test.example/article": "skip-robots"}, ingest_type="pdf")
    assert polite.paths("closed.test.example") == ["/robots.txt"]


def test_when_ignored_it_is_not_asked_for(ask, polite):
    polite.robots("*", CLOSED)
    ask({f"http://free{number}.test.example/": "success" for number in range(3)}, {"gate.robots": "ignore"})
    assert not [one for one in polite.seen() if one.path == "/robots.txt"]
