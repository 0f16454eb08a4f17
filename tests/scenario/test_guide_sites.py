# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide's answers to sites, lawyers and bad rules, on a fleet that has fetched from them."""

import gzip
import json
import re

import pytest
from servers.guide_fleet import PAPER, answered, fleet, guide, machines, servers, start  # noqa: F401  (fixtures)

HOST = "troubled.example"


def request(url, kind="pdf"):
    return {"ingest_type": kind, "base_url": url, "link_source": "test", "link_source_id": url}


def submit(machine, requests):
    done = machine.run("ingestctl submit - <<'END'\n" + "".join(json.dumps(one) + "\n" for one in requests) + "END")
    assert done.returncode == 0, done.stderr


def rows(machine, query):
    done = machine.run(f"psql -AtX -c \"{query}\"")
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def blocked_by_worker(machine):
    """Workers read the table of blocks every ten seconds."""
    answers = [json.loads(line) for line in machine.run(f"ingestctl hosts explain --json {HOST}").stdout.splitlines()]
    return any(one["source"] == "worker" and one.get("blocked") for one in answers)


@pytest.fixture
def troubled(fleet, web):  # noqa: F811
    """A machine whose worker has fetched five pages of the host and of one below it, and a paper of another."""
    machine = fleet("worker-a")
    for number in range(5):
        host = HOST if number % 2 else f"www{number}.{HOST}"
        web.route(host, f"/paper{number}.pdf", {"pdf": {"title": f"Trouble {number}", "pages": 1}})
    requests = [request(f"http://{HOST if number % 2 else f'www{number}.{HOST}'}/paper{number}.pdf") for number in range(5)]
    submit(machine, [*requests, request(PAPER)])
    start(machine)
    assert [one["status"] for one in answered(machine, 6)] == ["success"] * 6
    return machine


@pytest.mark.slow
@pytest.mark.at_least_once("what ended while the host was blocked is asked for again")
def test_a_site_complains_and_is_asked_more_slowly(troubled, guide, web, wait_until):  # noqa: F811
    urls = [f"http://{HOST}/{name}.pdf" for name in ("paused", "blocked")]
    for url in urls:
        web.route(HOST, f"/{url.rpartition('/')[2]}", {"pdf": {"title": url, "pages": 1}})
    asked = len(web.accesses(HOST))
    complaint = guide("guide/sites.md#a-site-complains")
    assert "too many requests at night" in complaint.next(troubled, "pause --host")
    submit(troubled, [request(urls[0]), request("https://tidal-ecology.example/article/download/42/pdf")])
    answered(troubled, 7)  # the other host's
    assert f"www0.{HOST}" in complaint.next(troubled, "psql")
    slowly = guide("guide/sites.md#a-site-is-asked-more-slowly")
    slowly.next(troubled, "rules.dir")
    assert "20" in slowly.next(troubled, "delay_ms")
    assert len(web.accesses(HOST)) == asked
    complaint.next(troubled, "resume --host")
    assert answered(troubled, 8)[-1]["status"] == "success"

    complaint.next(troubled, "hosts block")
    wait_until(lambda: blocked_by_worker(troubled))
    submit(troubled, [request(urls[1])])
    assert answered(troubled, 9)[-1]["status"] == "skip-url-blocklist"
    complaint.next(troubled, "hosts unblock")
    wait_until(lambda: not blocked_by_worker(troubled))
    complaint.next(troubled, "requests enqueue")
    assert answered(troubled, 10)[-1]["status"] == "success"


@pytest.mark.slow
@pytest.mark.unaccounted("records are overwritten")
def test_what_is_held_and_what_is_deleted(troubled, guide):  # noqa: F811
    hold = troubled.root / "srv/hold" / HOST
    (troubled.root / "srv/archive/warc").mkdir(parents=True)
    troubled.run("systemctl restart ingest-worker@1")
    assert not guide("guide/sites.md#a-legal-hold").next(troubled).split()
    assert len((hold / "cdx.csv").read_text().splitlines()) == 6
    assert len((hold / "results.jsonl").read_text().splitlines()) == 5
    assert list(hold.glob("*.warc.gz")) and (hold / "SHA256SUMS").stat().st_size > 0

    demand = guide("guide/sites.md#a-demand-to-delete")
    demand.next(troubled, "erase-host.sql")
    assert rows(troubled, "SELECT count(*) FROM cdx") == rows(troubled, "SELECT count(*) FROM file_meta") == ["1"]
    assert rows(troubled, "SELECT base_url FROM ingest_file_result") == rows(troubled, "SELECT base_url FROM ingest_request") == [PAPER]
    erased = demand.next(troubled, "warc erase")
    assert erased.count(", 0 faults") == 1 and not re.search(r"\b0 erased", erased)
    files = troubled.root / "var/lib/ingest-worker/files/text/aa/bb"
    files.mkdir(parents=True)
    demand.next(troubled, "erase-objects.txt")
    for path in (troubled.root / "var/lib/ingest-worker/1/warc").glob("*.warc.gz"):
        assert HOST.encode() not in read_members(path)
    assert len((troubled.root / "root/erase-objects.txt").read_text().splitlines()) == 5
    assert len((troubled.root / "root/erase-results.txt").read_text().splitlines()) == 5


READER = f"<!doctype html><title>Reader</title><h1>Reader</h1><p>{'Words and words. ' * 40}<embed type=application/pdf src={PAPER}>"


def read_members(path):
    with gzip.open(path) as file:
        return file.read()


@pytest.mark.slow
@pytest.mark.at_least_once("what failed by the bad rule is asked for again")
def test_a_bad_rule_is_taken_back(fleet, guide, web):  # noqa: F811
    machine = fleet("worker-a")
    rules = machine.root / "etc/ingest-worker/rules"
    for command in ("cp -r /usr/share/ingest-worker/rules /etc/ingest-worker/rules", "cp -r /usr/share/ingest-worker/rules /srv/rules-good", "mkdir -p /srv/archive/warc",
                    "echo 'rules.dir: /etc/ingest-worker/rules' >> /etc/ingest-worker/ingest-worker.yaml"):
        assert machine.run(command).returncode == 0
    # Without the entries about links in pages this page leads nowhere.
    (rules / "links.yaml").unlink()
    web.route("tidal-ecology.example", "/reader/41", {"headers": {"Content-Type": "text/html"}, "body": READER})
    start(machine)
    submit(machine, [request("https://tidal-ecology.example/reader/41")])
    assert answered(machine, 1)[0]["status"] == "no-pdf-link"
    back = guide("guide/sites.md#a-bad-rule-went-out")
    assert "no-pdf-link" in back.next(machine, "stats failing")
    back.next(machine, "systemctl reload")
    machine.units.wait_log("ingest-worker@1.service", "rules")
    assert '"gained"' in back.next(machine, "reexamine")
    back.next(machine, "requests enqueue")
    assert answered(machine, 2)[-1]["status"] == "success"
