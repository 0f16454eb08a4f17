# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl run: the pipeline without servers, and the small verbs."""

import gzip
import json
import subprocess
import sys

import pytest

from servers.polite import Answer, PoliteServer

LANDING = "https://tidal-ecology.example/article/view/41"


def ctl_settings(web, tmp_path):
    return ["--set", "fetch.connect_to=" + json.dumps(web.connect_to()), "--set", f"fetch.ca_file={web.ca_file}",
            "--set", 'fetch.allow_address=["127.0.0.0/8"]', "--set", "gate.host_delay_ms=0"]


@pytest.fixture
def ingestctl(account_of_runs):
    """ingestctl(program, word…, input="…"): the finished program, without a configuration."""
    def run(program, *arguments, input=None):
        account_of_runs(arguments, input)
        return subprocess.run([program("ingestctl"), *map(str, arguments)], input=input, capture_output=True, text=True,
                              timeout=120, check=False)
    return run


def test_run_writes_a_result_a_record_and_a_row_that_agree(program, web, tmp_path, schema, ingestctl):
    out = tmp_path / "d"
    done = ingestctl(program, *ctl_settings(web, tmp_path), "run", "--out", out, "-",
                     input=json.dumps({"ingest_type": "pdf", "base_url": LANDING}) + "\n")
    assert done.returncode == 0, done.stderr
    lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1
    result = json.loads(lines[0])
    schema("ingest-result").validate(result)
    assert result["status"] == "success"
    files = sorted((out / "warc").iterdir())
    assert len(files) == 1 and files[0].name.endswith(".warc.gz")
    checked = subprocess.run([sys.executable, "-m", "warcio.cli", "check", *map(str, files)], capture_output=True,
                             text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    index = (out / "index.cdx").read_text(encoding="utf-8").splitlines()
    assert index[0] == " CDX N b a m s k r M S V g"
    assert index[1:] == sorted(index[1:])
    assert [line.split(" ")[2] for line in index[1:]] == [
        "https://tidal-ecology.example/article/download/41/pdf", LANDING, "https://tidal-ecology.example/robots.txt"]
    data = files[0].read_bytes()
    for line in index[1:]:
        fields = line.split(" ")
        assert len(fields) == 11
        record = gzip.decompress(data[int(fields[9]):int(fields[9]) + int(fields[8])])
        assert fields[2].encode() in record and b"WARC-Type: response" in record
        assert b"sha1:" + fields[5].encode() in record
    text = json.loads((out / "pdf-text.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert "creek" in json.dumps(text)
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == \
        ["dead-letters.jsonl", "grobid-output.jsonl", "html-teixml.jsonl", "index.cdx", "pdf-text.jsonl", "results.jsonl",
         "rule-yield.json", "summary.json", "thumbnails.jsonl", "warc", "xml-doc.jsonl"]
    assert (out / "dead-letters.jsonl").read_bytes() == b""



@pytest.fixture
def last_run(program, web, tmp_path, ingestctl):
    """last_run("--set", …, kind=, url=): what the summary says of a run of one request."""
    def run(*more, kind="pdf", url=LANDING):
        out = tmp_path / "d"
        done = ingestctl(program, *ctl_settings(web, tmp_path), *more, "run", "--quiet", "--out", out, "-",
                         input=json.dumps({"ingest_type": kind, "base_url": url}) + "\n")
        assert done.returncode == 0, done.stderr
        return json.loads((out / "summary.json").read_text(encoding="utf-8"))["run"]
    return run


def test_the_summary_says_what_cpu_time_the_last_run_took(last_run):
    said = [last_run(kind=kind)["cpu_seconds"] for kind in ("pdf", "html")]  # the second reads no PDF
    for cpu in said:
        assert set(cpu) == {"process", "loop", "archive", "examine", "examine_pdf"}
        assert cpu["loop"] > 0 and cpu["archive"] > 0 and cpu["examine"] > 0
        assert cpu["loop"] + cpu["archive"] < cpu["process"] + 0.01  # which is asked first
    assert said[0]["examine_pdf"] > 0 and said[1]["examine_pdf"] == 0


def test_the_summary_counts_the_handshakes_of_the_last_run(web, last_run):
    """robots.txt and the page, over a connection each."""
    with PoliteServer(tls=web.authority) as server:
        for path in ("/robots.txt", "*"):
            server.page("*", path, Answer(headers={"Connection": "close"}))
        settings = ["--set", "fetch.connect_to=" + json.dumps(server.connect_to())]
        for scheme, more, want in (("https", [], {"handshakes": 2, "resumed": 1}),
                                   ("https", ["--set", "fetch.tls_resume=false"], {"handshakes": 2, "resumed": 0}),
                                   ("http", [], {"handshakes": 0, "resumed": 0})):
            assert last_run(*settings, *more, kind="component", url=f"{scheme}://paper.test.example/1")["tls"] == want


def test_run_without_a_folder_writes_results_to_stdout_only(program, web, tmp_path, schema, ingestctl):
    requests = [{"ingest_type": "pdf", "base_url": LANDING},
                {"ingest_type": "pdf", "base_url": "http://broken.gannet.example/article/gone"}]
    path = tmp_path / "requests.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in requests), encoding="utf-8")
    done = ingestctl(program, *ctl_settings(web, tmp_path), "run", path)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for result in found:
        schema("ingest-result").validate(result)
    assert sorted(result["status"] for result in found) == ["success", "terminal-bad-status"]


def test_run_names_bad_lines_and_goes_on(program, web, tmp_path, ingestctl):
    done = ingestctl(program, *ctl_settings(web, tmp_path), "run", "-",
                     input='nonsense\n\n' + json.dumps({"ingest_type": "pdf", "base_url": LANDING}) + "\r\n{}")
    assert done.returncode == 1
    assert "stdin:1:" in done.stderr and "stdin:4:" in done.stderr
    assert [json.loads(line)["status"] for line in done.stdout.splitlines()] == ["success"]


def test_a_folder_may_be_used_again(program, web, tmp_path, ingestctl):
    out = tmp_path / "d"
    for url in (LANDING, "https://preprints.halcyon.example/abs/2311.0042"):
        done = ingestctl(program, *ctl_settings(web, tmp_path), "run", "--out", out, "-",
                         input=json.dumps({"ingest_type": "pdf", "base_url": url}) + "\n")
        assert done.returncode == 0, done.stderr
    assert len((out / "results.jsonl").read_text(encoding="utf-8").splitlines()) == 2
    index = (out / "index.cdx").read_text(encoding="utf-8").splitlines()
    assert index[0].startswith(" CDX") and index[1:] == sorted(index[1:]) and len(index) >= 5


def test_a_line_cut_off_by_a_crash_is_not_continued(program, web, tmp_path, ingestctl):
    out = tmp_path / "d"
    out.mkdir()
    (out / "results.jsonl").write_text('{"status":"success"}\n{"status":"suc', encoding="utf-8")
    (out / "index.cdx").write_text("example,a)/ 20260101000000 http://a.example/ te", encoding="utf-8")
    done = ingestctl(program, *ctl_settings(web, tmp_path), "run", "--out", out, "-",
                     input=json.dumps({"ingest_type": "pdf", "base_url": LANDING}) + "\n")
    assert done.returncode == 0, done.stderr
    lines = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["status"] for line in lines] == ["success", "success"]
    assert all(len(line.split(" ")) == 11 for line in (out / "index.cdx").read_text(encoding="utf-8").splitlines()[1:])


def test_run_says_when_the_input_is_missing(program, tmp_path, ingestctl):
    done = ingestctl(program, "run", tmp_path / "nothing.jsonl")
    assert done.returncode == 3 and "nothing.jsonl" in done.stderr


def test_a_folder_is_no_input(program, tmp_path, ingestctl):
    done = ingestctl(program, "run", tmp_path)
    assert done.returncode == 3 and "directory" in done.stderr


def test_options_may_follow_the_file(program, tmp_path, ingestctl):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    done = ingestctl(program, "run", tmp_path / "empty.jsonl", "--out", tmp_path / "d")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "d" / "results.jsonl").read_bytes() == b""


def test_bad_lines_cannot_speak_to_the_terminal(program, ingestctl):
    done = ingestctl(program, "run", "-", input='{"ingest_type":"\\u001b[31mred","base_url":"x"}\n')
    assert done.returncode == 1
    assert "\x1b" not in done.stderr and "red" in done.stderr


@pytest.mark.parametrize("output, words", [("/dev/full", "No space left"), (None, "Bad file descriptor")])
def test_run_ends_when_nobody_takes_its_results(program, output, words):
    """The input never ends; the first result that cannot be written must end the run."""
    line = json.dumps({"ingest_type": "xml", "base_url": "https://a.example/"})
    redirect = f">{output}" if output else ">&-"
    done = subprocess.run(["sh", "-c", f'yes "$1" | exec "$0" run - {redirect}', program("ingestctl"), line],
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 3 and words in done.stderr


def test_run_leaves_a_spool_folder_that_is_not_its_own(program, tmp_path, ingestctl):
    spool = tmp_path / "spool"
    spool.mkdir()
    done = ingestctl(program, "--set", f"spool.dir={spool}", "run", "-", input="")
    assert done.returncode == 0 and spool.is_dir()


def test_run_warns_of_a_user_agent_without_contact(program, ingestctl):
    """Once, and does its work all the same; the daemon would refuse to start."""
    done = ingestctl(program, "--set", "fetch.user_agent=crawler/1.0", "run", "-", input="\n")
    assert done.stderr.count("fetch.user_agent") == 1 and '"crawler/1.0"' in done.stderr
    assert done.stderr.startswith("ingestctl run: warning: ")
    done = ingestctl(program, "--set", "fetch.user_agent=crawler/1.0 (robot@archive.example)", "run", "-", input="")
    assert (done.returncode, done.stderr) == (0, "")


def test_every_verb_has_help_and_unknown_ones_are_refused(program, ingestctl):
    for verb in ("run", "submit", "results", "db", "url", "rules", "select", "scrape", "identify", "extract", "warc"):
        done = ingestctl(program, verb, "--help")
        assert done.returncode == 0 and "usage: " in done.stdout, verb
    done = ingestctl(program, "dance")
    assert done.returncode == 2 and "dance" in done.stderr
    assert ingestctl(program).returncode == 2


def test_identify_agrees_with_the_system(program, tmp_path, ingestctl):
    import hashlib
    path = tmp_path / "a.html"
    path.write_bytes(b"<!doctype html><title>x</title>")
    done = ingestctl(program, "identify", path, tmp_path / "missing")
    assert done.returncode == 1 and "missing" in done.stderr
    found = json.loads(done.stdout)
    assert found == {"path": str(path), "size_bytes": 31, "mimetype": "text/html",
                     "md5hex": hashlib.md5(path.read_bytes()).hexdigest(),
                     "sha1hex": hashlib.sha1(path.read_bytes()).hexdigest(),
                     "sha256hex": hashlib.sha256(path.read_bytes()).hexdigest()}


def test_submit_and_results(run_ctl, consume, topics):
    done = run_ctl("submit", "-", input='{"ingest_type":"pdf","base_url":"https://a.example/"}\nbad\n')
    assert done.returncode == 1
    assert ":2:" in done.stderr
    assert len(consume(topics["requests"], 1)) == 1
    done = run_ctl("results", "--from-beginning")
    assert done.returncode == 0 and done.stdout == ""


def test_db_status_and_migrate(run_ctl, postgres, tag):
    dsn = postgres.create_database(tag + "-empty")
    assert run_ctl("db", "status", overrides={"postgres.dsn": dsn}).returncode == 1
    assert run_ctl("db", "migrate", overrides={"postgres.dsn": dsn}).returncode == 0
    assert run_ctl("db", "migrate", overrides={"postgres.dsn": dsn}).returncode == 0
    assert run_ctl("db", "status", overrides={"postgres.dsn": dsn}).returncode == 0
    done = run_ctl("db", "status", overrides={"postgres.dsn": "host=/nonexistent"})
    assert done.returncode == 3


def test_url_clean(program, ingestctl):
    done = ingestctl(program, "url", "clean", "HTTP://Example.com:80", "http:/example.com/a")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["http://example.com/", "http://example.com/a"]
