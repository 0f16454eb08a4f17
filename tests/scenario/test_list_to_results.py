# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of a list, from its file to results, to how it stands, and asked again."""

import json


def location(url, version="publishedVersion"):
    return {"url_for_pdf": url, "url": url, "version": version, "host_type": "publisher", "evidence": "open", "pmh_id": None}


def work(doi, *urls):
    return {"doi": doi, "is_oa": True, "oa_status": "gold", "oa_locations": [location(url) for url in urls]}


JOBS = """
jobs:
  again-TAG:
    about: what failed in passing
    statuses: [soon]
    limit: 100
    lane: bulk
"""


def in_json(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_list_goes_from_its_file_to_results_and_what_failed_is_asked_again(run_ctl, worker, lanes, web, results, sql, tag, tmp_path):
    name = f"unpaywall-{tag}"
    web.route(f"{tag}.example", "/paper.pdf", {"status": 404})
    paper = "https://tidal-ecology.example/article/download/41/pdf"
    works = [work("10.5555/a", paper), work("10.5555/B", paper.replace("https:", "http:")),
             work("10.5555/c", f"https://{tag}.example/paper.pdf"), work("10.5555/d", f"https://{tag}.example/gone.pdf"),
             {"doi": "10.5555/e", "is_oa": False, "oa_locations": []}]
    path = tmp_path / "snapshot.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in works))

    loaded = run_ctl("requests", "load", "--source", "unpaywall", "--list", name, "--json", path)
    assert {key: in_json(loaded)[0][key] for key in ("new", "known", "elsewhere", "bad")} == {
        "new": 4, "known": 0, "elsewhere": 0, "bad": 0}
    again = in_json(run_ctl("requests", "load", "--source", "unpaywall", "--list", name, "--json", path))[0]
    assert (again["new"], again["known"]) == (0, 4)
    assert run_ctl("requests", "count", "--list", name, "--new").stdout == "4\n"

    enqueued = run_ctl("requests", "enqueue", "--list", name, "--new", "--lane", "bulk", "--max-lag", "1000")
    assert enqueued.returncode == 0, enqueued.stderr
    assert run_ctl("requests", "count", "--list", name, "--new").stdout == "0\n"
    with worker():
        # The document of the two requests goes out once.
        found = {result["request"]["link_source_id"]: result["status"] for result in results(3, settle=1)}
    assert sql("SELECT * FROM document_queued") == []
    assert len(found) == 3 and found["10.5555/c"] == found["10.5555/d"] == "terminal-bad-status"

    stands = in_json(run_ctl("stats", "list", "--list", name, "--format", "json"))
    assert [one["list"] for one in stands] == [name] and stands[0]["requests"] == 4
    by_status = {one["status"]: one["requests"] for one in in_json(run_ctl("stats", "status", "--list", name, "--format", "json"))}
    assert by_status["terminal-bad-status"] == 2

    # A year later.
    sql("UPDATE ingest_file_result SET updated = updated - interval '1 year', next_try = next_try - interval '1 year'")
    sql("UPDATE ingest_request SET created = created - interval '1 year'")
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text(JOBS.replace("TAG", tag).replace("[soon]", "[soon, later]"))
    web.route(f"{tag}.example", "/paper.pdf", {"pdf": {"title": "Late", "pages": 1}})
    asked = run_ctl("reingest", "--jobs", jobs, f"again-{tag}")
    assert asked.returncode == 0, asked.stderr
    with worker():
        found = [result["request"]["link_source_id"] for result in results(5, settle=1)]
    assert sorted(found)[-4:] == ["10.5555/c", "10.5555/c", "10.5555/d", "10.5555/d"] and len(found) == 5
    assert sorted((row["status"], row["attempts"]) for row in sql("SELECT status, attempts FROM ingest_file_result")) == [
        ("success", 1), ("success", 2), ("terminal-bad-status", 2)]

    # Hits that are asked again, and fail: their rows stay as they are, and nothing is queued any more.
    web.route(f"{tag}.example", "/paper.pdf", {"status": 404})
    again = run_ctl("requests", "enqueue", "--list", name, "--class", "hit", "--lane", "bulk", "--name", f"hits-{tag}", "--force-recrawl")
    assert again.returncode == 0, again.stderr
    with worker():
        results(7, settle=1)
    assert sql("SELECT * FROM document_queued") == []
    assert run_ctl("requests", "count", "--list", name, "--class", "queued").stdout == "0\n"
    recount = run_ctl("db", "recount")
    assert recount.returncode == 0, recount.stderr
