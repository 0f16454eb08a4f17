# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl requests load: every request of a list once, counted exactly, whatever breaks the load off."""

import contextlib
import gzip
import json
import os
import random
import signal
import subprocess
import threading
import time

import psycopg
import pytest
from servers.worker import write_config

LIST_SQL = """SELECT q.link_source, q.link_source_id, q.ingest_type, q.base_url, q.ingest_request_source, q.release_stage,
    q.request::text, q.request_id, q.document, q.host, q.doi_prefix, l.name,
    (SELECT array_agg(m.name ORDER BY m.name) FROM request_list_member JOIN request_list m USING (list_id)
     WHERE request_list_member.request_id = q.request_id)
    FROM ingest_request q LEFT JOIN request_list l USING (list_id) ORDER BY 1, 2, 3, 4"""
COUNT_SQL = """SELECT name, first, ingest_request_source, link_source, ingest_type, host, doi_prefix, status, hit, n
    FROM request_counts c LEFT JOIN request_list l ON l.list_id = c.list_id ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9"""


def request_line(n, **more):
    """A line that is about as long as those of real lists."""
    return {"base_url": f"https://journals{n * 7919 % 3000}.host{n % 7}.example/article/{n}/download.pdf", "ingest_type": "pdf",
            "link_source": "unpaywall", "link_source_id": f"10.{1000 + n % 50}/abc.{n}", "ingest_request_source": "unpaywall",
            "release_stage": "published", "ext_ids": {"doi": f"10.{1000 + n % 50}/abc.{n}"}, "edit_extra": {"n": n}, **more}


def write_lines(path, lines):
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


@pytest.fixture
def load_words(program, database, tmp_path):
    """The command of a load on this test's database."""
    return [str(program("ingestctl")), "--set", f"postgres.dsn={json.dumps(database)}", "requests", "load", "--json"]


@pytest.fixture
def load(load_words, tmp_path):
    """load(*words, input=bytes, code=0): a finished load; its counts (None: it printed none) and its words on stderr."""
    def run(*words, stdin=None, code=0):
        done = subprocess.run([*load_words, *map(str, words)], cwd=tmp_path, capture_output=True, input=stdin, timeout=200, check=False)
        stderr = done.stderr.decode()
        assert done.returncode == code, stderr
        return json.loads(done.stdout) if done.stdout else None, stderr
    return run


def counts(new=0, known=0, elsewhere=0, bad=0, name=None):
    return {"list": name, "finished": True, "lines": new + known + elsewhere + bad, "new": new, "known": known,
            "elsewhere": elsewhere, "bad": bad}


def rows_of(database, sql):
    with psycopg.connect(database) as connection:
        return connection.execute(sql).fetchall()


# --- what counts as what --------------------------------------------------------------------------------


def test_requests_are_stored_once_and_counted_exactly(load, database, tmp_path):
    first = write_lines(tmp_path / "first", [request_line(n) for n in range(3000)] + [request_line(n) for n in range(100)])
    again = write_lines(tmp_path / "again", [request_line(n) for n in range(2000, 4000)])
    assert load("--list", "a", first)[0] == counts(new=3000, known=100, name="a")
    assert load("--list", "a", first)[0] == counts(known=3100, name="a")
    assert load("--list", "b", "--priority", 3, again)[0] == counts(new=1000, elsewhere=1000, name="b")
    assert load("--list", "b", again)[0] == counts(known=2000, name="b")
    assert load(again)[0] == counts(known=2000)
    assert load("-", stdin=json.dumps(request_line(9000)).encode())[0] == counts(new=1)
    rows = rows_of(database, LIST_SQL)
    assert len(rows) == 4001 and len({row[7] for row in rows}) == 4001
    assert sum(row[11] == "a" for row in rows) == 3000 and sum(row[12] == ["b"] for row in rows) == 1000
    by_list = dict(rows_of(database, "SELECT coalesce(name, ''), sum(n)::int FROM request_counts LEFT JOIN request_list USING (list_id)"
                                     " GROUP BY 1"))
    assert by_list == {"a": 3000, "b": 2000, "": 1}
    assert rows_of(database, "SELECT name, priority, loaded IS NOT NULL FROM request_list ORDER BY name") == [
        ("a", 0, True), ("b", 3, True)]
    assert rows_of(database, "SELECT count(*) FROM request_load")[0][0] == 0


def test_a_row_has_all_that_the_line_says(load, database, tmp_path):
    line = request_line(7, rel="published", created="2020-05-06T07:08:09Z", link_source_id="tab\there \\ \"ü\"")
    bare = {"ingest_type": "file", "ext_ids": {"doi": "10.99/Ab<c>"}}
    load("--created", "2021-01-01T00:00:00+01:00", write_lines(tmp_path / "list", [line, bare]))
    rows = rows_of(database, "SELECT link_source, link_source_id, ingest_type, base_url, ingest_request_source, release_stage, request,"
                             " host, doi_prefix, extract(epoch FROM created)::int FROM ingest_request ORDER BY created")
    assert rows[0] == ("unpaywall", "tab\there \\ \"ü\"", "pdf", line["base_url"], "unpaywall", "published",
                       {"ext_ids": line["ext_ids"], "edit_extra": {"n": 7}, "rel": "published"},
                       f"journals{7 * 7919 % 3000}.host0.example", "10.1007", 1588748889)
    assert rows[1][:4] == ("", "", "pdf", "https://doi.org/10.99/Ab%3Cc%3E")
    assert rows[1][7:] == ("doi.org", "10.99", 1609455600)


def test_the_first_line_of_a_request_stays(load, database, tmp_path):
    lines = [request_line(n % 500, edit_extra={"line": n}) for n in range(20000)]
    assert load("--list", "a", "--streams", 7, write_lines(tmp_path / "list", lines))[0] == counts(new=500, known=19500, name="a")
    assert rows_of(database, "SELECT count(*), max((request->'edit_extra'->>'line')::int) FROM ingest_request") == [(500, 499)]


def test_compressed_input_is_read_as_it_is(load):
    text = "".join(json.dumps(request_line(n)) + "\r\n\n" for n in range(300)).encode()
    assert load("-", stdin=gzip.compress(text[:20000]) + gzip.compress(text[20000:]))[0] == counts(new=300)


def test_seed_lists_are_converted_on_the_way(load, database, tmp_path):
    text = "".join(f"https://a.example/{n}.pdf\n" for n in range(4000)) + "ftp://a.example/\n" + "https://a.example/7.pdf\n"
    options = ("--source", "urls", "--list", "u")
    source = write_lines(tmp_path / "urls", [text])
    done, stderr = load(*options, source)
    assert done["left_out"] == {"no-web-url": 1} and done["new"] == 4000 and done["known"] == 1 and done["bad"] == 0, stderr
    assert rows_of(database, "SELECT source FROM request_list") == [("urls",)]
    assert load(*options, "-", stdin=source.read_bytes())[0]["known"] == 4001
    (tmp_path / "dump").write_bytes(b'{"doi": "10.1/a"}\nno json\n{')
    done, stderr = load("--source", "unpaywall", tmp_path / "dump", code=1)
    assert done["bad"] == 2 and "dump:2: " in stderr and "dump:3: " in stderr and done["new"] == 0
    load("--source", "unpaywal", source, code=2)
    load("--option", "a=b", source, code=2)


# --- hostile lines --------------------------------------------------------------------------------------


def test_bad_lines_are_named_and_skipped(load, database, tmp_path):
    nested = '{"ingest_type": "pdf", "base_url": "https://a.example/", "x": ' + "[" * 100000 + "]" * 100000 + "}"
    bad = {
        1: "not json", 2: "[]", 3: '{"a": "' + "x" * 10_000_000 + '"}', 4: nested, 5: request_line(1, ingest_type="sink\n\x1b[31m"),
        6: request_line(1, base_url="https://a.example/" + "x" * 1500), 7: request_line(1, base_url="https://me:secret@a.example/"),
        8: request_line(1, link_source_id="y" * 1001), 9: request_line(1, link_source="z" * 101), 10: request_line(1, created="today"),
        11: '{"ingest_type": "pdf", "base_url": "https://a.example/\\u0000"}', 12: "\x00" * 300, 13: "\udcff\udcfe", 14: "{",
    }
    lines = [(line if isinstance(line, str) else json.dumps(line)).encode(errors="surrogateescape") for line in bad.values()]
    good = [json.dumps(request_line(n, edit_extra={"nul": "a\x00b", "half": "\ud800"} if n == 3 else None)).encode() for n in range(5)]
    text = b"\n".join([*lines, *good])
    done, stderr = load("--list", "a", "--bad", tmp_path / "bad", "-", stdin=text, code=1)
    assert done["new"] >= 4 and done["new"] + done["bad"] == 19 and done["bad"] <= 15
    words = (tmp_path / "bad").read_text().splitlines()
    assert [line.split(":")[:2] for line in words[:14]] == [["stdin", str(n)] for n in bad]
    assert "secret" not in (tmp_path / "bad").read_text() and "\x1b" not in (tmp_path / "bad").read_text() and stderr == ""
    assert "user name or password" in words[6] and "1500" in words[5] and "created" in words[9]
    stored = rows_of(database, "SELECT count(*) FROM ingest_request WHERE base_url LIKE '%a.example%'")[0][0]
    assert stored == 0
    _, stderr = load("--list", "a", "-", stdin=b"bad\n" * 50_000 + text, code=1)
    assert "stdin:20: " in stderr and "stdin:21: " not in stderr and "--bad" in stderr


def test_memory_does_not_follow_the_input(load_words, tmp_path):
    """Lines of the greatest length that a request may have, and others that are only bad, through a pipe."""
    words = ["/usr/bin/env", "python3", "-c", "import resource, subprocess, sys\n"
             "code = subprocess.call(sys.argv[1:])\n"
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\nsys.exit(code)", *load_words, "-"]
    if "dev" in load_words[0]:
        pytest.skip("a sanitized program takes more")
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path)
    big = {"\\" * 400_000: "\x01" * 20_000}
    for n in range(300):
        child.stdin.write(json.dumps(request_line(n, edit_extra=big)).encode() + b"\n")
        child.stdin.write(b"x\n" * 50_000 + b"y" * 3_000_000)
        child.stdin.write(b"\n")
    stdout = child.communicate()[0].decode().splitlines()
    assert json.loads(stdout[0]) == counts(new=300, bad=300 * 50_001)
    assert int(stdout[1]) < 512 * 1024


# --- breaks ---------------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tmp_path):
    """A list with requests that are known elsewhere, repeated, and bad."""
    chance = random.Random(5)
    lines = []
    for n in range(12000):
        lines.append("bad line" if n % 997 == 0 else request_line(n if chance.random() > 0.1 else chance.randrange(n + 1)))
    return write_lines(tmp_path / "mixed", lines)


def store_elsewhere(load, tmp_path):
    lines = [request_line(n) for n in range(0, 12000, 3)]
    load("--list", "earlier", write_lines(tmp_path / "earlier", lines))


def wait_for_blocks(database, child, blocks):
    """Until the load has come so far; False when it has ended before."""
    with psycopg.connect(database, autocommit=True) as connection:
        while child.poll() is None:
            row = connection.execute("SELECT sum(block) FROM request_load").fetchone()
            if (row[0] or 0) >= blocks:
                return True
            time.sleep(0.001)
    return False


class Held:
    """A load whose input stops short of its end, so that it does not end before it is broken off."""

    def __init__(self, words, source):
        self.child = subprocess.Popen([*words, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.data = source.read_bytes()
        self.feeder = threading.Thread(target=self._write, args=(self.data[:-1],))
        self.feeder.start()

    def _write(self, data):
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.write(data)
            self.child.stdin.flush()

    def end(self, rest=b""):
        """The input's end, or that of a load that was sent a signal: exit status, stdout, stderr."""
        with contextlib.suppress(BrokenPipeError):
            if rest:
                self.feeder.join()
                self._write(rest)
                self.child.stdin.close()
        stdout, stderr = (stream.read().decode() for stream in (self.child.stdout, self.child.stderr))
        self.child.wait(timeout=100)
        self.feeder.join()
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        self.child.stdout.close()
        self.child.stderr.close()
        return self.child.returncode, stdout, stderr


def break_off(words, database, source, blocks, how=signal.SIGKILL):
    held = Held(words, source)
    assert wait_for_blocks(database, held.child, blocks)
    held.child.send_signal(how)
    return held.end()


@pytest.fixture
def undisturbed(load, database, mixed, tmp_path):
    """The counts and the tables of a load that nothing disturbs; the tables are emptied."""
    store_elsewhere(load, tmp_path)
    done, _ = load("--list", "a", mixed, code=1)
    tables = rows_of(database, LIST_SQL), rows_of(database, COUNT_SQL)
    with psycopg.connect(database) as connection:
        connection.execute("TRUNCATE ingest_request, request_list, request_list_member, request_load, request_count,"
                           " request_count_delta RESTART IDENTITY")
    store_elsewhere(load, tmp_path)
    return done, tables


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_a_killed_load_goes_on_to_the_same_rows_and_counts(load, load_words, database, mixed, undisturbed, seed):
    chance = random.Random(seed)
    for blocks in sorted(chance.sample(range(0, 40), 7)):
        assert break_off([*load_words, "--list", "a"], database, mixed, blocks)[0] == -signal.SIGKILL
    if seed == 2:  # through a pipe, and with other streams, which do not count
        done, stderr = load("--list", "a", "--streams", 2, "-", stdin=mixed.read_bytes(), code=1)
    else:
        done, stderr = load("--list", "a", mixed, code=1)
    assert (done, (rows_of(database, LIST_SQL), rows_of(database, COUNT_SQL))) == undisturbed
    assert "going on" in stderr


def test_a_load_that_goes_on_waits_for_the_commits_of_the_killed_one(load, load_words, database, mixed, wait_until):
    assert break_off([*load_words, "--list", "a"], database, mixed, 8)[0] == -signal.SIGKILL
    waits = ("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
             " AND query LIKE '%FROM request_load%ORDER BY stream%'")
    with psycopg.connect(database) as commit, psycopg.connect(database, autocommit=True) as watch:
        commit.execute("UPDATE request_load SET block = block WHERE stream = 0")  # as if it were still under way
        held = Held([*load_words, "--list", "a"], mixed)
        wait_until(lambda: watch.execute(waits).fetchone()[0] == 1)
        commit.commit()
        code, _, stderr = held.end(held.data[-1:])
    assert (code, "going on" in stderr) == (1, True), stderr


def test_another_input_is_not_taken_for_the_rest(load, load_words, database, mixed, tmp_path):
    assert break_off([*load_words, "--list", "a"], database, mixed, 8)[0] == -signal.SIGKILL
    before = rows_of(database, LIST_SQL)
    other = tmp_path / "other"
    other.write_bytes(mixed.read_bytes().replace(b"journals", b"Journals", 1))
    _, stderr = load("--list", "a", other, code=1)
    assert "another input" in stderr and "--anew" in stderr
    _, stderr = load("--list", "a", "-", stdin=mixed.read_bytes()[:100_000], code=1)
    assert "another input" in stderr
    assert rows_of(database, LIST_SQL) == before
    done, stderr = load("--list", "a", "--anew", other, code=1)
    assert done["finished"] and done["known"] >= len(before) and "going on" not in stderr


def test_a_signal_stops_it_and_the_same_command_goes_on(load, load_words, database, mixed, undisturbed):
    code, stdout, stderr = break_off([*load_words, "--list", "a"], database, mixed, 8, signal.SIGINT)
    assert code == 4 and "goes on" in stderr and not json.loads(stdout)["finished"]
    assert rows_of(database, "SELECT loaded FROM request_list WHERE name = 'a'") == [(None,)]
    done, _ = load("--list", "a", mixed, code=1)
    assert (done, (rows_of(database, LIST_SQL), rows_of(database, COUNT_SQL))) == undisturbed


def test_a_signal_ends_it_also_while_it_waits_for_its_input(load_words):
    read, write = os.pipe()
    child = subprocess.Popen([*load_words, "-"], stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(write, b'{"ingest_type": "pdf", "base_url": "https://a.example/"}\n')
    time.sleep(1)
    child.terminate()
    assert child.wait(30) == 4
    os.close(read)
    os.close(write)


def test_loads_at_once_share_what_they_have_in_common(load, load_words, database, tmp_path):
    chance = random.Random(3)
    numbers = list(range(8000))
    children = []
    for name in ("x", "y", "z"):
        chance.shuffle(numbers)
        source = write_lines(tmp_path / name, [request_line(n) for n in numbers])
        children.append(subprocess.Popen([*load_words, "--list", name, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    ended = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0, 0], ended
    all_counts = [json.loads(stdout) for stdout, _ in ended]
    assert sum(done["new"] for done in all_counts) == 8000
    assert sum(done["elsewhere"] for done in all_counts) == 16000 and sum(done["known"] for done in all_counts) == 0
    sizes = rows_of(database, "SELECT name, sum(n)::int FROM request_counts JOIN request_list USING (list_id) GROUP BY 1 ORDER BY 1")
    assert sizes == [("x", 8000), ("y", 8000), ("z", 8000)]


def test_one_list_is_loaded_by_one_load_at_a_time(load, load_words, mixed, undisturbed, database):
    read, write = os.pipe()
    first = subprocess.Popen([*load_words, "--list", "a", "-"], stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(read)
    try:
        while first.poll() is None and not rows_of(database, "SELECT FROM request_load"):
            time.sleep(0.01)
        _, stderr = load("--list", "a", mixed, code=3)
        assert "another load is under way" in stderr
    finally:
        with os.fdopen(write, "wb") as pipe:
            pipe.write(mixed.read_bytes())
    stdout, stderr = first.communicate(timeout=100)
    assert first.returncode == 1, stderr
    assert (json.loads(stdout), (rows_of(database, LIST_SQL), rows_of(database, COUNT_SQL))) == undisturbed


@pytest.mark.private_servers("postgres")
def test_a_server_that_crashes_is_waited_for(load_words, postgres, database, mixed, undisturbed):
    held = Held([*load_words, "--list", "a"], mixed)
    for blocks in (6, 25):
        assert wait_for_blocks(database, held.child, blocks)
        postgres.stop(mode="immediate")
        postgres.start()
    code, stdout, stderr = held.end(held.data[-1:])
    assert code == 1 and "retrying" in stderr, stderr
    assert (json.loads(stdout), (rows_of(database, LIST_SQL), rows_of(database, COUNT_SQL))) == undisturbed


# --- onto a topic ---------------------------------------------------------------------------------------


@pytest.fixture
def enqueue_words(program, settings, tmp_path, tag):
    """The command of a load of a list of the test's own, which sends to the requests topic."""
    config = write_config(tmp_path / "ingestctl.yaml", settings)
    return [str(program("ingestctl")), "--config", str(config), "requests", "load", "--json", "--list", f"list-{tag}", "--enqueue"]


@pytest.fixture
def enqueue(enqueue_words):
    def run(*words, code=0):
        done = subprocess.run([*enqueue_words, *map(str, words)], capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout), done.stderr
    return run


def test_each_document_is_sent_once(enqueue, consume, topics, sql, tmp_path):
    requests = [request_line(n) for n in range(2500)]
    twins = [request_line(n, base_url=request_line(n)["base_url"].replace("https://", "http://www."), link_source_id=f"twin-{n}")
             for n in range(100)]
    write_lines(tmp_path / "first", requests[:500])
    done, stderr = enqueue(write_lines(tmp_path / "first", requests[:500]))
    assert done["new"] == 500 and "500 requests sent" in stderr
    sql("INSERT INTO ingest_file_result (ingest_type, base_url, hit, status) VALUES ('pdf', %s, false, 'no-pdf-link')",
        requests[2000]["base_url"])
    done, _ = enqueue("--created", "2020-01-01T00:00:00Z", write_lines(tmp_path / "all", requests + twins))
    assert (done["new"], done["known"]) == (2100, 500)
    assert "0 requests sent" in enqueue(tmp_path / "all")[1]
    messages = [json.loads(message.value()) for message in consume(topics["requests"], 2499, settle=1)]
    assert sorted(message["link_source_id"] for message in messages) == sorted(
        request["link_source_id"] for request in requests if request != requests[2000])
    assert all(message in requests for message in messages)
    assert sql("SELECT count(*) AS n FROM enqueue_batch") == [{"n": 0}]


def test_sending_begins_before_the_input_ends(enqueue_words, consume, topics):
    read, write = os.pipe()
    child = subprocess.Popen([*enqueue_words, "-"], stdin=read, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        for n in range(3000):
            pipe.write(json.dumps(request_line(n)).encode() + b"\n")
        pipe.flush()
        consume(topics["requests"], 100)
        assert child.poll() is None
    stdout, stderr = child.communicate(timeout=100)
    assert child.returncode == 0 and json.loads(stdout)["new"] == 3000, stderr
    assert len(consume(topics["requests"], 3000, settle=1)) == 3000


@pytest.mark.slow
def test_a_killed_load_sends_the_same_messages(enqueue, enqueue_words, database, consume, topics, mixed, sql):
    chance = random.Random(8)
    killed = 0
    for blocks in sorted(chance.sample(range(0, 40), 4)):
        child = subprocess.Popen([*enqueue_words, mixed], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        killed += wait_for_blocks(database, child, blocks)
        time.sleep(chance.random() / 2)
        child.kill()
        child.communicate()
    assert killed >= 1
    enqueue(mixed, code=1)
    documents = sql("SELECT count(DISTINCT document)::int AS n FROM ingest_request")[0]["n"]
    messages = consume(topics["requests"], documents, settle=1)
    asked = [(message["base_url"], message["link_source_id"]) for message in (json.loads(message.value()) for message in messages)]
    assert len(asked) == len(set(asked)) == documents
    assert sql("SELECT count(*)::int AS n FROM document_queued") == [{"n": documents}]


def test_what_was_stored_without_enqueue_is_said_to_be_left(enqueue, enqueue_words, database, mixed):
    words = [word for word in enqueue_words if word != "--enqueue"]
    assert break_off(words, database, mixed, 1)[0] == -signal.SIGKILL
    assert "stored without --enqueue is for requests enqueue --new" in enqueue(mixed, code=1)[1]


def test_usage_is_checked(load, tmp_path):
    source = write_lines(tmp_path / "list", [])
    for words in ([], [source, source], ["--list", "", source], ["--list", "x" * 101, source], ["--created", "today", source],
                  ["--streams", "0", source], ["--anew", source], ["--enqueue", source], ["--lane", "bulk", "--list", "a", source],
                  ["--enqueue", "--lane", "sink", "--list", "a", source], ["--priority", "high", "--list", "a", source]):
        load(*words, code=2)
    load(tmp_path / "missing", code=3)
    assert load("--list", "empty", source)[0] == counts(name="empty")
