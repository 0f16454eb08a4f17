# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl run that is interrupted, or killed, and goes on: one result for each request, whatever happens."""

import collections
import json
import re
import signal
import subprocess
import sys
import time

import pytest

from servers.polite import Answer, PoliteServer

ARTICLE = b"A text.\n" + b"A sentence that is long enough to be one.\n" * 40
HOST = "paper.test.example"


@pytest.fixture
def site():
    with PoliteServer() as server:
        server.page("*", "*", Answer(body=ARTICLE))
        yield server


class Run:
    """A run in a folder of its own, as often as it is started."""

    def __init__(self, program, site, folder, account):
        self.account = account
        self.out = folder / "d"
        self.input = folder / "in.jsonl"
        self.program = program("ingestctl")
        self.settings = {"fetch.connect_to": json.dumps(site.connect_to()), "fetch.allow_address": '["127.0.0.0/8"]',
                         "fetch.user_agent": '"scenario/1.0 (+https://scenario.example/)"', "gate.host_delay_ms": 0,
                         "gate.adaptive_factor": 0, "gate.robots": "ignore"}

    def write(self, requests):
        self.input.write_text("".join(json.dumps(one) + "\n" for one in requests), encoding="utf-8")

    def start(self, *words, **settings):
        flat = {**self.settings, **settings}
        arguments = [*(word for key, value in flat.items() for word in ("--set", f"{key}={value}")), "run",
                     "--out", self.out, *map(str, words), self.input]
        self.account(arguments)
        return subprocess.Popen([self.program, *arguments], stderr=subprocess.PIPE, text=True)

    def finish(self, *words, **settings):
        """Returns (exit status, stderr) of a run to its end."""
        process = self.start(*words, **settings)
        said = process.communicate(timeout=120)[1]
        return process.returncode, said

    def results(self):
        try:
            text = (self.out / "results.jsonl").read_bytes()
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.split(b"\n")[:-1]]

    def wait(self, process, count):
        """Until there are so many results."""
        deadline = time.monotonic() + 60
        while len(self.results()) < count:
            assert time.monotonic() < deadline and process.poll() is None, "the results do not come"
            time.sleep(0.01)


    def summary(self):
        return json.loads((self.out / "summary.json").read_text(encoding="utf-8"))


@pytest.fixture
def a_run(program, site, tmp_path, account_of_runs):
    return Run(program, site, tmp_path, account_of_runs)


def request(n, **more):
    return {"ingest_type": "component", "base_url": f"http://{HOST}/{n}", **more}


def key(request):
    """Of a request in the input, and as a result has it."""
    kind = request["ingest_type"].replace("file", "pdf")
    return kind, request["base_url"], request.get("link_source"), request.get("link_source_id")


def check_all(a_run, requests):
    """Exactly one result for each request."""
    assert collections.Counter(key(one["request"]) for one in a_run.results()) == collections.Counter(map(key, requests))


SLOWLY = {"gate.host_delay_ms": 200}  # so that there is something left to interrupt
REQUESTS = [*(request(n) for n in range(25)),
            request(3), request(3),  # the same three times: three results
            request(1, link_source="list", link_source_id="1"), request(1, link_source="list", link_source_id="2"),
            {"ingest_type": "file", "base_url": f"http://{HOST}/file"},  # "pdf" in the result
            {"ingest_type": "component", "base_url": f"http://me:secret@{HOST}/private"},
            {"ingest_type": "component", "base_url": "ftp://a.example/"}]


def test_an_interrupted_run_goes_on_where_it_stopped(a_run, site):
    a_run.write(REQUESTS)
    process = a_run.start(**SLOWLY)
    a_run.wait(process, 8)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 4
    before = a_run.results()
    assert 8 <= len(before) < len(REQUESTS)
    assert re.search(rf"^ingestctl run: {len(before)} results in \d+ s, \d+ hits$", said, re.MULTILINE), said
    assert "interrupted; the same command with --resume continues" in said
    asked = len(site.record)
    status, said = a_run.finish("--resume")
    assert status == 0, said
    check_all(a_run, REQUESTS)
    assert a_run.results()[:len(before)] == before
    assert f"{len(before)} skipped (have a result)" in said
    # Nobody was asked twice; the one that is ftp never.
    assert asked < len(site.record) == len(REQUESTS) - 1


def test_a_run_that_was_killed_again_and_again_has_each_result_once(a_run):
    a_run.write(REQUESTS)
    for stop_at in (2, 9, 17):
        process = a_run.start("--resume", **SLOWLY)
        a_run.wait(process, stop_at)
        process.kill()
        process.communicate()
        with open(a_run.out / "results.jsonl", "ab") as file:  # what a kill in the middle of a write would leave
            file.write(b'{"request":{"ingest_type":"component","base_url":"http://paper.test')
    status, said = a_run.finish("--resume")
    assert status == 0, said
    check_all(a_run, REQUESTS)
    files = sorted((a_run.out / "warc").iterdir())
    assert files and all(file.name.endswith(".warc.gz") for file in files)
    checked = subprocess.run([sys.executable, "-m", "warcio.cli", "check", *map(str, files)], capture_output=True, text=True,
                             check=False)
    assert checked.returncode == 0, checked.stdout
    sizes = {file.name: file.stat().st_size for file in files}
    rows = [line.split(" ") for line in (a_run.out / "index.cdx").read_text(encoding="utf-8").splitlines()[1:]]
    assert {row[2] for row in rows} >= {result["terminal"]["terminal_url"] for result in a_run.results() if result["hit"]}
    for row in rows:
        assert len(row) == 11 and int(row[8]) + int(row[9]) <= sizes[row[10]]
    assert not (a_run.out / "run.sock").exists()


def test_a_run_that_is_done_has_nothing_to_go_on_with(a_run, site):
    a_run.write(REQUESTS[:5])
    assert a_run.finish("--resume")[0] == 0  # a first time is as good as any
    before = (a_run.out / "results.jsonl").read_bytes()
    asked = len(site.record)
    status, said = a_run.finish("--resume")
    assert status == 0 and "0 results in" in said and "5 skipped (have a result)" in said
    assert (a_run.out / "results.jsonl").read_bytes() == before and len(site.record) == asked


def test_a_grown_list_goes_on_with_what_is_new(a_run):
    a_run.write(REQUESTS[:5])
    assert a_run.finish()[0] == 0
    a_run.write([request("new"), *REQUESTS[:5], request(3)])
    assert a_run.finish("--resume")[0] == 0
    check_all(a_run, [request("new"), *REQUESTS[:5], request(3)])


def test_bad_lines_are_named_again_but_kept_once(a_run):
    bad = b"nonsense\n{}\n\xff\xfe not text\n"
    a_run.input.write_bytes(bad + json.dumps(request(1)).encode() + b"\n")
    assert a_run.finish()[0] == 1
    letters = (a_run.out / "dead-letters.jsonl").read_bytes()
    assert letters.count(b"\n") == 3
    a_run.input.write_bytes(bad + b"more nonsense\n" + json.dumps(request(1)).encode() + b"\n")
    status, said = a_run.finish("--resume")
    assert status == 1 and all(f"in.jsonl:{n}: " in said for n in (1, 2, 3, 4)) and "4 invalid lines" in said
    assert (a_run.out / "dead-letters.jsonl").read_bytes().startswith(letters)
    assert (a_run.out / "dead-letters.jsonl").read_bytes().count(b"\n") == 4
    check_all(a_run, [request(1)])


def test_what_is_under_way_has_a_bounded_time_to_finish(a_run, site):
    """The answer would come in a minute. The request is not done, and goes on later."""
    site.page(HOST, "/slow", Answer(body=ARTICLE, delay_s=60), Answer(body=ARTICLE))
    requests = [request(1), request("slow")]
    a_run.write(requests)
    process = a_run.start(**{"stop.drain_ms": 300, "gate.host_concurrency": 2})
    a_run.wait(process, 1)
    wait_for_request(site, "/slow")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 4
    assert len(a_run.results()) == 1
    assert a_run.finish("--resume")[0] == 0
    check_all(a_run, requests)


def test_a_second_signal_ends_it_at_once(a_run, site):
    site.page(HOST, "/slow", Answer(body=ARTICLE, delay_s=60), Answer(body=ARTICLE))
    requests = [request(1), request("slow")]
    a_run.write(requests)
    process = a_run.start(**{"gate.host_concurrency": 2})
    a_run.wait(process, 1)
    wait_for_request(site, "/slow")
    process.send_signal(signal.SIGINT)
    while "stopping; running requests have 60 s to finish" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 4
    process.stderr.close()
    assert not (a_run.out / "run.sock").exists()
    assert a_run.finish("--resume")[0] == 0
    check_all(a_run, requests)


def wait_for_request(site, path):
    deadline = time.monotonic() + 30
    while not any(one.path == path for one in list(site.record)):
        assert time.monotonic() < deadline, f"nobody asks for {path}"
        time.sleep(0.01)


@pytest.mark.unfinished("the run is interrupted, and nobody goes on with it")
def test_a_folder_is_one_runs_at_a_time(a_run, site):
    site.page(HOST, "/slow", Answer(body=ARTICLE, delay_s=60))
    a_run.write([request("slow")])
    process = a_run.start(**{"stop.drain_ms": 0})
    wait_for_request(site, "/slow")
    for words in ([], ["--resume"]):
        status, said = a_run.finish(*words)
        assert status == 3 and "another run is using this folder" in said
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 4


def test_results_that_are_there_are_not_mixed_with_others_in_silence(a_run):
    a_run.write([request(1)])
    status, said = a_run.finish()
    assert status == 0 and "--resume" not in said
    status, said = a_run.finish()
    assert status == 0 and "has results already: appending to them (--resume skips" in said
    assert len(a_run.results()) == 2


def test_going_on_needs_a_folder(program):
    done = subprocess.run([program("ingestctl"), "run", "--resume", "-"], input="", capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 2 and "--resume needs --out DIR" in done.stderr


def test_a_run_without_a_folder_can_be_interrupted(program, site, tmp_path):
    """Its results are on stdout, whole."""
    settings = {"fetch.connect_to": json.dumps(site.connect_to()), "fetch.allow_address": '["127.0.0.0/8"]',
                "gate.robots": "ignore", "gate.host_delay_ms": 200}
    process = subprocess.Popen(
        [program("ingestctl"), *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")), "run", "-"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write("".join(json.dumps(request(n)) + "\n" for n in range(100)))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["status"] == "success"
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 4 and "only a run with --out DIR can be resumed" in said
    assert all(json.loads(line)["status"] == "success" for line in out.splitlines())


def summed_up(run):
    """What the summary is to say of the results that are there."""
    results = run.results()
    hosts, types = collections.defaultdict(list), collections.defaultdict(list)
    for one in results:
        hosts[one["request"]["base_url"].split("/")[2].removeprefix("www.")].append(one)
        types[one["request"]["ingest_type"]].append(one)

    def counts(some):
        return {"results": len(some), "hits": sum(one["hit"] for one in some),
                "document_bytes": sum((one.get("file_meta") or {}).get("size_bytes", 0) for one in some)}
    return {**counts(results), "by_status": dict(collections.Counter(one["status"] for one in results)),
            "hit_ratio": sum(one["hit"] for one in results) / len(results) if results else None,
            "by_type": {name: counts(some) for name, some in types.items()}, "hosts": len(hosts),
            "top_hosts": sorted(({**counts(some), "host": name} for name, some in hosts.items()),
                                key=lambda host: (-host["results"], host["host"]))[:20],
            "warc_bytes": sum(path.stat().st_size for path in (run.out / "warc").iterdir())}


def check_summary(run, schema, **wanted):
    said = run.summary()
    schema("run-summary").validate(said)
    want = summed_up(run)
    assert said["hit_ratio"] == pytest.approx(want.pop("hit_ratio"))
    assert {key: said[key] for key in want} == want
    assert {key: said[key] for key in wanted} == wanted
    assert list(said["by_status"].values()) == sorted(said["by_status"].values(), reverse=True)
    return said


def various(count):
    """Hits and failures of two types, at 25 hosts, some of them more often."""
    return [{"ingest_type": ("component", "pdf")[n % 3 == 0],
             "base_url": f"http://{'www.' if n % 2 else ''}h{n % 25 if n % 4 else 7}.{HOST}/{n}"} for n in range(count)]


def test_the_summary_is_of_all_runs_of_the_folder(a_run, schema):
    a_run.write(various(60))
    with open(a_run.input, "a", encoding="utf-8") as file:
        file.write("no request\n")
    assert a_run.finish("--quiet")[0] == 1
    first = check_summary(a_run, schema, state="complete", runs=1, input={"invalid": 1, "skipped": 0})
    assert first["run"]["results"] == 60 and set(first["by_status"]) == {"success", "wrong-mimetype"}
    assert first["hosts"] == 25 and first["seconds"] == pytest.approx(first["run"]["seconds"], abs=0.01)
    a_run.write(various(80))
    a_run.finish("--quiet", "--resume")
    second = check_summary(a_run, schema, state="complete", runs=2, results=80, input={"invalid": 0, "skipped": 60})
    assert second["run"]["results"] == 20
    assert second["seconds"] == pytest.approx(first["seconds"] + second["run"]["seconds"], abs=0.01)
    a_run.write(various(5))
    a_run.finish("--quiet")  # appended to
    check_summary(a_run, schema, state="complete", runs=3, results=85, input={"invalid": 0, "skipped": 0})
    (a_run.out / "summary.json").write_text("[{", encoding="utf-8")
    a_run.write([])
    a_run.finish("--quiet", "--resume")
    check_summary(a_run, schema, state="complete", runs=1, results=85)


@pytest.mark.unfinished("the run is interrupted, or killed")
def test_an_interrupted_run_has_a_summary_and_a_killed_one_is_running(a_run, schema):
    a_run.write([request(n) for n in range(400)])
    process = a_run.start("--quiet", **{"gate.host_delay_ms": 5})
    a_run.wait(process, 20)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    said = check_summary(a_run, schema, state="interrupted", runs=1)
    assert 20 <= said["results"] < 400
    process = a_run.start("--quiet", "--resume", **{"gate.host_delay_ms": 5})
    a_run.wait(process, said["results"] + 20)
    process.kill()
    process.communicate(timeout=60)
    killed = a_run.summary()
    schema("run-summary").validate(killed)
    assert (killed["state"], killed["runs"], killed["results"]) == ("running", 2, said["results"])
    a_run.finish("--quiet", "--resume")
    check_summary(a_run, schema, state="complete", runs=3, results=400)


def test_a_run_without_its_summary_goes_on(a_run):
    """It is not the summary that somebody waits for."""
    a_run.out.mkdir()
    (a_run.out / "summary.json").mkdir()
    a_run.write([request(1)])
    code, said = a_run.finish()
    assert code == 0 and said.count("warning: no summary") == 1
    assert [one["status"] for one in a_run.results()] == ["success"]
