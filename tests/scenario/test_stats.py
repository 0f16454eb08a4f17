# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl stats: each number is what the rows say, added up here; whatever their texts are, and whoever asks."""

import collections
import csv
import datetime
import io
import json
import random
import subprocess
import uuid

import psycopg
import psycopg.conninfo
import pytest

HOSTILE = 'a "b", c\r\nd\x1b[31m\u009b; \u202e\\%_\''
SOURCES = ["unpaywall", "doaj", HOSTILE, None]
TYPES = ["pdf", "html"]
HOSTS = ["a.example.co.uk", "b.example.co.uk", "example.org", "www2.example.org", "192.0.2.7", "doi.org", ""]
PREFIXES = ["10.1234", "10.5", None]
STATUSES = {"success": True, "no-pdf-link": False, "terminal-bad-status": False, "body-too-large": False}
CODES = {"success": 200, "no-pdf-link": 200, "terminal-bad-status": 404, "body-too-large": None}
NEXT_TRY = {"success": None, "no-pdf-link": 500, "terminal-bad-status": -30, "body-too-large": None}
CLASSES = {"no-pdf-link": "retry_later", "terminal-bad-status": "retry_due", "body-too-large": "failed_for_good",
           "success": "hits", None: "never_asked"}
DOMAIN = {"a.example.co.uk": "example.co.uk", "b.example.co.uk": "example.co.uk", "www2.example.org": "example.org"}


@pytest.fixture
def ctl(program, database, tmp_path):
    """ctl("status", …): runs ingestctl stats on the test's database."""
    def run(*words, dsn=database):
        return subprocess.run([program("ingestctl"), "--set", f"postgres.dsn={json.dumps(dsn)}", "stats", *map(str, words)],
                              cwd=tmp_path, capture_output=True, timeout=120, check=False)
    return run


@pytest.fixture
def rows(ctl):
    """rows("status", …): the objects that it prints as JSON; those of CSV are the same."""
    def run(*words, **how):
        done = ctl(*words, "--format", "json", **how)
        assert done.returncode == 0, done.stderr
        assert not any(byte < 0x20 and byte != 0x0a for byte in done.stdout)
        objects = [json.loads(line) for line in done.stdout.splitlines()]
        again = ctl(*words, "--format", "csv", **how)
        assert again.returncode == 0, again.stderr
        table = list(csv.reader(io.StringIO(again.stdout.decode(), newline="")))
        assert [list(map(of_csv, line, entry.values())) for line, entry in zip(table[1:], objects)] == [
            list(entry.values()) for entry in objects]
        assert len(table) == len(objects) + 1
        assert all(list(entry) == table[0] for entry in objects)
        return objects
    return run


def of_csv(cell, value):
    """The cell as the type of the value in JSON."""
    if value is None:
        return cell or None
    if isinstance(value, bool):
        return {"true": True, "false": False}[cell]
    return type(value)(cell)


def document_of(kind, url):
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{kind}\t{url}")


class Data:
    """Random requests of three lists and of none, and the results of some; as plain values beside the tables."""

    def __init__(self, connection, count=400, seed=20261123):
        self.random = random.Random(seed)
        self.connection = connection
        self.lists = {}
        for name in ["seed", "seed-2", HOSTILE]:
            self.lists[name] = connection.execute("INSERT INTO request_list (name, source) VALUES (%s, %s) RETURNING list_id",
                                                  [name, "unpaywall"]).fetchone()[0]
        self.requests = [self.request(number) for number in range(count)]
        self.results = {}
        self.add_requests()
        self.add_members()

    def request(self, number):
        pick = self.random.choice
        host, kind = pick(HOSTS), pick(TYPES)
        url = f"https://{host}/{number % 300}"
        return {"link_source": pick(["doi", ""]), "link_source_id": str(number), "ingest_type": kind,
                "base_url": url, "ingest_request_source": pick(SOURCES), "host": host or None,
                "doi_prefix": pick(PREFIXES), "list": pick([*self.lists, None]), "members": [],
                "request_id": uuid.UUID(int=self.random.getrandbits(128)), "document": document_of(kind, url)}

    def add_requests(self):
        for part in (self.requests[:250], self.requests[250:]):
            with self.connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, ingest_request_source,"
                    " host, doi_prefix, list_id, request_id, document) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                    [[q["link_source"], q["link_source_id"], q["ingest_type"], q["base_url"], q["ingest_request_source"],
                      q["host"], q["doi_prefix"], self.lists.get(q["list"]), q["request_id"], q["document"]] for q in part])
            self.connection.execute("SELECT fold_counts()")

    def add_members(self):
        """Some requests are in a list that did not bring them."""
        for q in self.random.sample(self.requests, 60):
            others = [name for name in self.lists if name != q["list"]]
            q["members"] = self.random.sample(others, self.random.randint(1, len(others)))
            for name in q["members"]:
                self.connection.execute("INSERT INTO request_list_member VALUES (%s, %s)", [q["request_id"], self.lists[name]])

    def answer(self, share=0.6):
        """Results for some of them, a few of which change."""
        starts = sorted({(q["ingest_type"], q["base_url"], q["host"]) for q in self.requests},
                        key=lambda start: tuple(map(str, start)))
        for kind, url, host in self.random.sample(starts, int(len(starts) * share)):
            for _ in range(self.random.choice([1, 1, 1, 2])):
                status = self.random.choice(list(STATUSES))
                self.connection.execute(
                    "INSERT INTO ingest_file_result (ingest_type, base_url, hit, status, host, terminal_status_code, document,"
                    " next_try) VALUES (%s, %s, %s, %s, %s, %s, %s, now() + %s * interval '1 hour')"
                    " ON CONFLICT (ingest_type, base_url) DO UPDATE SET"
                    " hit = excluded.hit, status = excluded.status, terminal_status_code = excluded.terminal_status_code,"
                    " next_try = excluded.next_try, updated = now()",
                    [kind, url, STATUSES[status], status, host, CODES[status], document_of(kind, url), NEXT_TRY[status]])
                stored = self.results.setdefault((kind, url), {"host": host, "times": []})
                stored["status"] = status
                stored["times"].append(status)

    def queue(self):
        """Some documents are put onto a topic: later than their result, or before it."""
        self.queued = {}
        for document in self.random.sample(sorted({q["document"] for q in self.requests}), 120):
            hours = self.random.choice([-0.2, -0.9, -5, -50])
            stored = self.random.random() < 0.3
            self.connection.execute("INSERT INTO document_queued VALUES (%s, now() + %s * interval '1 hour', 1)",
                                    [document, hours])
            if stored:
                self.connection.execute("UPDATE ingest_file_result SET updated = now() - interval '99 hours'"
                                        " WHERE document = %s", [document])
            self.queued[document] = (hours, stored)

    def is_queued(self, q):
        """It has no result since."""
        if q["document"] not in self.queued:
            return False
        return self.status(q) is None or self.queued[q["document"]][1]

    def status(self, q):
        return self.results.get((q["ingest_type"], q["base_url"]), {}).get("status")

    def of_list(self, name):
        return [q for q in self.requests if q["list"] == name or name in q["members"]]


def measures(requests, data):
    """What the columns of a group of requests are."""
    statuses = [data.status(q) for q in requests]
    hits = sum(STATUSES.get(status, False) for status in statuses)
    no_result = statuses.count(None)
    answered = len(statuses) - no_result
    return {"requests": len(statuses), "no_result": no_result, "hits": hits, "failed": answered - hits,
            "hit_ratio": round(hits / answered, 4) if answered else None}


def grouped(requests, data, **keys):
    """The rows by these keys (name=function of a request), most first."""
    groups = collections.defaultdict(list)
    for q in requests:
        groups[tuple(key(q) or None for key in keys.values())].append(q)
    found = [{**dict(zip(keys, names)), **measures(members, data)} for names, members in groups.items()]
    return sorted(found, key=lambda row: (-row["requests"], [row[name] or "" for name in keys]))


@pytest.fixture
def data(database):
    with psycopg.connect(database, autocommit=True) as connection:
        made = Data(connection)
        made.answer()
        yield made


BY = {
    "type": lambda q: q["ingest_type"],
    "source": lambda q: q["ingest_request_source"],
    "link_source": lambda q: q["link_source"],
    "host": lambda q: q["host"],
    "domain": lambda q: DOMAIN.get(q["host"], q["host"]),
    "prefix": lambda q: q["doi_prefix"],
}


def ordered(found):
    """Python and the C locale order the same bytes alike, but "" and None are one here."""
    return sorted(found, key=lambda row: (-row["requests"], json.dumps(row, sort_keys=True)))


@pytest.mark.parametrize("by", BY)
def test_requests_are_counted_by_each_column(rows, data, by):
    name = {"link_source": "type"}.get(by, by)
    words = ["--by", "link_source"] if by == "link_source" else []
    want = grouped(data.requests, data, **{by: BY[by]})
    found = rows(name, *words)
    assert ordered(found) == ordered(want)
    assert [row["requests"] for row in found] == [row["requests"] for row in want], "most first"


def test_statuses_and_hit_ratio(rows, data):
    counts = collections.Counter(data.status(q) for q in data.requests)
    assert {row["status"]: row["requests"] for row in rows("status")} == counts
    want = grouped(data.requests, data, source=BY["source"], type=BY["type"])
    assert ordered(rows("hit-ratio")) == ordered(want)


def test_counts_are_the_same_before_and_after_folding(rows, data, database, sql):
    """The verb folds; without its right to, it adds the differences up by itself."""
    deltas = "SELECT count(*) AS n FROM request_count_delta"
    with psycopg.connect(database) as other:
        other.execute("SELECT pg_advisory_xact_lock(x'696e67'::integer, x'666c64'::integer)")
        assert sql(deltas)[0]["n"] > 0
        before = rows("hit-ratio")
        assert sql(deltas)[0]["n"] > 0
    assert rows("hit-ratio") == before
    assert sql(deltas)[0]["n"] == 0


def classes(requests, data):
    counts = collections.Counter({name: 0 for name in [*CLASSES.values(), "queued"]})
    for q in requests:
        name = CLASSES[data.status(q)]
        counts["queued" if name != "hits" and data.is_queued(q) else name] += 1
    return counts


def test_what_is_left_of_a_list(rows, data):
    """Each request is in one class; what is queued is so until a result comes."""
    data.queue()
    for entry in rows("list"):
        requests = data.of_list(entry["list"])
        want = classes(requests, data)
        assert {key: entry[key] for key in want} == want
        assert entry["exact"] and sum(want.values()) == entry["requests"] == len(requests)
        assert min(want.values()) > 0, "the data have all classes"


def test_a_document_is_done_under_any_of_its_urls(rows, sql):
    """Only one of its requests is ever put onto a topic; the others must not keep their list from coming to its end."""
    sql("INSERT INTO request_list (name) VALUES ('l')")
    for number, (url, document) in enumerate([("http://a/1", 1), ("https://a/1", 1), ("http://a/2", 2), ("https://a/2", 2),
                                              ("http://a/3", 3), ("https://www.a/3", 3)]):
        sql("INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request_id, document, list_id)"
            " VALUES ('x', '', 'pdf', %s, %s, %s, 1)", url, uuid.UUID(int=number), uuid.UUID(int=document))
    for url, document, status, hit, due in [("http://a/1", 1, "success", True, None), ("https://a/1", 1, "timeout", False, "now"),
                                            ("https://a/2", 2, "timeout", False, "yesterday"), ("http://a/3", 3, "x", False, None)]:
        sql("INSERT INTO ingest_file_result (ingest_type, base_url, hit, status, document, next_try)"
            " VALUES ('pdf', %s, %s, %s, %s, %s)", url, hit, status, uuid.UUID(int=document), due)
    entry, = rows("list")
    assert {key: n for key, n in entry.items() if type(n) is int} == {
        "requests": 6, "hits": 2, "retry_due": 2, "failed_for_good": 2, "never_asked": 0, "queued": 0, "retry_later": 0,
        "time_left_s": 0}


def test_large_tables_are_sampled(ctl, sql):
    """What is found in some pages is a share of the exact counts, and says that it is no more than that."""
    sql("INSERT INTO request_list (name) VALUES ('large')")
    sql("INSERT INTO ingest_request (link_source, link_source_id, ingest_type, base_url, request_id, document, list_id)"
        " SELECT 'x', n::text, 'pdf', 'http://a/' || n, md5(n::text)::uuid, md5('d' || n)::uuid, 1 FROM generate_series(1, 20000) n")
    sql("INSERT INTO ingest_file_result (ingest_type, base_url, hit, status, terminal_status_code, next_try)"
        " SELECT 'pdf', 'http://a/' || n, n % 4 = 0, 's' || n % 4, 200 + n % 4, CASE WHEN n % 4 = 1 THEN now() + '1 day' END"
        " FROM generate_series(1, 20000) n WHERE n % 5 > 0")
    sql("INSERT INTO document_queued SELECT md5('d' || n)::uuid, now(), 1 FROM generate_series(1, 20000) n WHERE n % 10 = 0")

    def ask(*words):
        done = ctl(*words, "--format", "json")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()
    exact = {"requests": 20000, "never_asked": 2000, "queued": 2000, "hits": 4000, "retry_due": 0, "retry_later": 4000,
             "failed_for_good": 8000}
    (entry,), said = ask("list")
    assert {key: entry[key] for key in exact} == exact and entry["exact"] and said == ""
    (entry,), said = ask("list", "--pages", 500)
    assert (entry["requests"], entry["hits"]) == (20000, 4000)
    assert not entry["exact"] and entry["never_asked"] + entry["queued"] == 4000
    assert entry["retry_later"] + entry["failed_for_good"] == 12000
    assert all(abs(entry[key] - exact[key]) < 0.2 * exact[key] for key in ("never_asked", "queued", "retry_later"))
    assert ask("list", "--pages", 1)[0][0]["exact"], "too few rows of so few pages: read by the index"
    codes, said = ask("codes", "--pages", 20)
    assert "estimated from" in said and all(not row["exact"] and 2500 < row["results"] < 6000 for row in codes)
    assert sum(row["hits"] for row in codes) != 4000 or sum(row["results"] for row in codes) != 16000
    assert {row["code"]: row["results"] for row in ask("codes")[0]} == dict.fromkeys(["200", "201", "202", "203"], 4000)
    queues, said = ask("queues", "--pages", 120)
    assert {row["queue"]: row["exact"] for row in queues} == {"queued": False, "retry later": False} and "estimated" in said
    assert all(0.5 < row["requests"] / {"queued": 2000, "retry later": 4000}[row["queue"]] < 2 for row in queues)


@pytest.mark.parametrize("name", ["seed", "seed-2", HOSTILE])
def test_a_list_has_what_it_brought_and_what_was_there(rows, data, name):
    members = data.of_list(name)
    assert ordered(rows("type", "--list", name)) == ordered(grouped(members, data, type=BY["type"]))
    entry, = rows("list", "--list", name)
    want = measures(members, data)
    assert (entry["requests"], entry["never_asked"], entry["hits"]) == (want["requests"], want["no_result"], want["hits"])
    assert (entry["list"], entry["source"], entry["loaded"]) == (name, "unpaywall", None)
    assert sorted(row["list"] for row in rows("list")) == sorted(data.lists)
    by_list = {row["list"]: row["requests"] for row in rows("type", "--by", "list")}
    assert by_list == {**{n: len(data.of_list(n)) for n in data.lists}, None: sum(q["list"] is None for q in data.requests)}


def test_filters_leave_out_the_rest(rows, data):
    def check(words, wanted):
        assert ordered(rows("type", *words)) == ordered(grouped(filter(wanted, data.requests), data, type=BY["type"])), words
    check(["--source", HOSTILE], lambda q: q["ingest_request_source"] == HOSTILE)
    check(["--source", "doaj", "--source", HOSTILE, "--type", "pdf"],
          lambda q: q["ingest_request_source"] in ("doaj", HOSTILE) and q["ingest_type"] == "pdf")
    check(["--source", ""], lambda q: q["ingest_request_source"] is None)
    check(["--status", "success", "--status", ""], lambda q: data.status(q) in ("success", None))
    check(["--domain", "example.co.uk"], lambda q: (q["host"] or "").endswith(".example.co.uk"))
    check(["--host", "WWW.Example.org"], lambda q: q["host"] == "example.org")
    check(["--domain", "ample.org"], lambda q: False)
    check(["--domain", "_xample.org"], lambda q: False)
    check(["--host", "example.org", "--prefix", "10.5"], lambda q: q["host"] == "example.org" and q["doi_prefix"] == "10.5")
    check(["--link-source", "doi"], lambda q: q["link_source"] == "doi")


def test_cube_has_the_sums_of_each_column(rows, data):
    counts = collections.Counter()
    for q in data.requests:
        domain, status = BY["domain"](q), data.status(q)
        counts.update([(domain, status), ("*", status), (domain, "*"), ("*", "*")])
    for least in (1, 20):
        found = {(row["domain"], row["status"]): row["requests"] for row in rows("cube", "--min", least)}
        assert found == {key: n for key, n in counts.items() if n >= least}


def test_failing_domains_now_and_since(rows, data, sql):
    failed = [q for q in data.requests if data.status(q) not in (None, "success")]
    counts = collections.Counter((BY["domain"](q), data.status(q)) for q in failed)
    assert {(row["domain"], row["status"]): row["requests"] for row in rows("failing")} == counts
    old = {key for number, key in enumerate(sorted(data.results)) if number % 3 == 0}
    for kind, url in old:
        sql("UPDATE ingest_file_result SET updated = now() - interval '3 days' WHERE ingest_type = %s AND base_url = %s",
            kind, url)
    young = collections.Counter((DOMAIN.get(r["host"], r["host"]), r["status"]) for key, r in data.results.items()
                                if key not in old and r["status"] != "success")
    found = rows("failing", "--since", "2d", "--top", 0)
    assert {(row["domain"], row["status"]): row["results"] for row in found} == young
    assert all(row["exact"] for row in found)


def test_codes_and_results_of_a_day(rows, data):
    codes = collections.Counter(CODES[r["status"]] for r in data.results.values())
    assert {int(row["code"]) if row["code"] else None: row["results"] for row in rows("codes")} == codes
    asked = collections.Counter()
    for q in data.requests:
        asked.update(data.results.get((q["ingest_type"], q["base_url"]), {"times": []})["times"])
    today = datetime.datetime.now(datetime.UTC)
    found = rows("day", "--since", "1h")
    assert sum(row["results"] for row in found) == sum(asked.values())
    assert sum(row["hits"] for row in found) == asked["success"]
    assert {row["day"] for row in found} <= {(today - datetime.timedelta(seconds=s)).strftime("%Y-%m-%d") for s in (0, 600)}
    assert rows("day", "--since", (today + datetime.timedelta(days=2)).strftime("%Y-%m-%d")) == []


def test_rate_and_time_left_of_a_list(rows, ctl, data, sql):
    """By the results of the last hour and the server's clock; a list that is not worked on has no end."""
    sql("UPDATE request_list SET created = now() - interval '3 days'")
    sql("DELETE FROM result_count_delta"), sql("DELETE FROM result_count")
    assert {(row["results_per_hour"], row["time_left_s"]) for row in rows("list")} == {(0, None)}
    sql("INSERT INTO result_count VALUES (date_bin('10 minutes', now(), 'epoch') - interval '30 minutes', %s, true, '', 'pdf',"
        " 'success', true, 500), (date_bin('10 minutes', now(), 'epoch') - interval '70 minutes', %s, true, '', 'pdf', 'x',"
        " false, 9000)", data.lists["seed"], data.lists["seed"])
    entry = json.loads(ctl("list", "--list", "seed", "--format", "json").stdout)
    assert 500 * 60 / 71 <= entry["results_per_hour"] <= 500
    assert entry["time_left_s"] == pytest.approx(entry["never_asked"] / entry["results_per_hour"] * 3600, rel=0.01, abs=2)
    sql("UPDATE request_list SET created = now() - interval '20 minutes'")
    entry = json.loads(ctl("list", "--list", "seed", "--format", "json").stdout)
    assert entry["results_per_hour"] == pytest.approx(1500, rel=0.1)
    for table in ("request_count", "request_count_delta"):
        sql(f"DELETE FROM {table} WHERE list_id = %s AND status = ''", data.lists["seed"])
    assert json.loads(ctl("list", "--list", "seed", "--format", "json").stdout)["time_left_s"] == 0


def test_files_by_type_and_day(rows, database, sql):
    with psycopg.connect(database, autocommit=True) as connection:
        for number in range(40):
            connection.execute("INSERT INTO file_meta (sha1hex, size_bytes, mimetype) VALUES (%s, %s, %s)",
                               [f"{number:040x}", 2 ** 40 + number, ["application/pdf", None, HOSTILE][number % 3]])
    sql("INSERT INTO file_count VALUES ('2026-01-31', 'text/html', 7, 700), ('2026-02-01', 'text/html', 1, 5)")
    size = {kind: sum(2 ** 40 + n for n in range(40) if n % 3 == index)
            for index, kind in enumerate(["application/pdf", None, HOSTILE])}
    found = {row["mimetype"]: (row["files"], row["bytes"]) for row in rows("files")}
    assert found == {"application/pdf": (14, size["application/pdf"]), None: (13, size[None]),
                     HOSTILE: (13, size[HOSTILE]), "text/html": (8, 705)}
    months = {row["month"]: row["files"] for row in rows("files", "--by", "month,mimetype") if row["mimetype"] == "text/html"}
    assert months == {"2026-01": 7, "2026-02": 1}
    assert rows("files", "--since", "2026-02-01", "--by", "day")[-1] == {"day": "2026-02-01", "files": 1, "bytes": 5}


def test_queues_by_age(rows, data, sql):
    data.queue()
    sql("INSERT INTO enqueue_plan (name, topic, planned, begun, sent, requests, requests_sent) VALUES"
        " (%s, 't', 5, 2, 2, 4321, 2000), ('over', 't', 5, 5, 5, 9, 9)", HOSTILE)
    want = collections.Counter({("planned: " + HOSTILE, None): 2321})
    ages = {-0.2: "under 1 h", -0.9: "under 1 h", -5: "1 h to 1 d", -50: "1 to 7 d"}
    answered = {document_of(*key) for key in data.results}
    for document, (hours, stored) in data.queued.items():
        if document not in answered or stored:
            want[("queued", ages[hours])] += 1
    statuses = collections.Counter(r["status"] for r in data.results.values())
    want[("retry due", "1 to 7 d")] = statuses["terminal-bad-status"]
    want[("retry later", None)] = statuses["no-pdf-link"]
    assert {(row["queue"], row["age"]): row["requests"] for row in rows("queues")} == want


def test_growth_by_day_week_and_month(rows, data, database, sql):
    """Requests by their creation, the rest by when it was stored; days that one of them lacks are there, too."""
    for number in range(30):
        sql("UPDATE ingest_request SET created = %s WHERE link_source_id = %s",
            datetime.datetime(2026, 1, 30, 22, tzinfo=datetime.UTC) + datetime.timedelta(hours=number), str(number))
    sql("INSERT INTO file_count VALUES ('2026-02-01', 'text/html', 3, 700), ('2026-02-01', '', 1, 5)")
    sql("INSERT INTO result_count VALUES ('2026-01-31 23:50Z', 0, true, '', 'pdf', 'success', true, 4),"
        " ('2026-01-31 23:50Z', 1, false, '', 'pdf', 'success', true, 4), ('2026-02-01', 1, true, '', 'pdf', 'x', false, 2)")
    old = [row for row in rows("growth") if row["from"] < "2026-03"]
    keys = ["from", "requests", "results", "hits", "files", "bytes", "exact"]
    assert [[row[key] for key in keys] for row in old] == [
        ["2026-02-01", 4, 2, 0, 4, 705, True], ["2026-01-31", 24, 4, 4, 0, 0, True], ["2026-01-30", 2, 0, 0, 0, 0, True]]
    months = {row["from"]: row["requests"] for row in rows("growth", "--by", "month")}
    assert (months["2026-01-01"], months["2026-02-01"]) == (26, 4)
    weeks = {row["from"]: row["requests"] for row in rows("growth", "--by", "week", "--since", "2026-02-01")}
    assert weeks["2026-01-26"] == 4 and sum(weeks.values()) == 400 - 26
    assert len(rows("growth", "--top", 2)) == 2


def test_the_last_requests_of_a_source(rows, data, sql):
    for number, q in enumerate(data.requests):
        sql("UPDATE ingest_request SET created = timestamptz '2026-01-01 00:00Z' + %s * interval '1 min'"
            " WHERE link_source_id = %s", number, q["link_source_id"])
    want = [q for q in reversed(data.requests) if q["ingest_request_source"] == HOSTILE][:7]
    found = rows("recent", "--source", HOSTILE, "--top", 7)
    assert [(row["base_url"], row["type"], row["status"]) for row in found] == [
        (q["base_url"], q["ingest_type"], data.status(q)) for q in want]
    assert len(rows("recent", "--source", "doaj", "--type", "pdf", "--top", 0)) == sum(
        q["ingest_request_source"] == "doaj" and q["ingest_type"] == "pdf" for q in data.requests)


def test_documents_by_what_was_made_of_them(rows, sql):
    for number in range(12):
        sql("INSERT INTO grobid (sha1hex, grobid_version, status_code, status) VALUES (%s, '0.8', %s, %s)",
            f"{number:040x}", [200, 500, -4][number % 3], ["success", "error", None][number % 3])
        sql("INSERT INTO pdf_meta (sha1hex, status, has_page0_thumbnail) VALUES (%s, %s, false)",
            f"{number:040x}", ["success", "parse-error"][number % 4 == 0])
    assert {(row["code"], row["status"], row["version"]): row["documents"] for row in rows("grobid")} == {
        ("200", "success", "0.8"): 4, ("500", "error", "0.8"): 4, ("-4", None, "0.8"): 4}
    assert {row["status"]: row["documents"] for row in rows("pdf")} == {"success": 9, "parse-error": 3}


def test_tables_of_the_schema(ctl, data, sql):
    sql("ANALYZE")
    found = {row["table"]: row for row in map(json.loads, ctl("tables", "--format", "json").stdout.splitlines())}
    assert found["ingest_request"]["rows_estimated"] == 400
    assert found["ingest_file_result"]["total_bytes"] >= found["ingest_file_result"]["bytes"] > 0


def test_empty_database(ctl, rows):
    listed = ctl()
    assert listed.returncode == 0
    names = [line.split()[0].decode() for line in listed.stdout.splitlines()]
    assert "status" in names and "list" in names
    for name in names:
        if name != "tables":
            assert rows(name, *(["--source", "x"] if name == "recent" else [])) == [], name


def test_a_table_for_people_has_a_line_for_each_row(ctl, data):
    done = ctl("source")
    lines = done.stdout.decode().split("\n")
    assert len(lines) == 1 + len(SOURCES) + 1
    assert "\x1b" not in done.stdout.decode() and "\u009b" not in done.stdout.decode()
    counts = collections.Counter(q["ingest_request_source"] for q in data.requests)
    assert f"unpaywall{counts['unpaywall']:>{lines[0].index('requests') + 8 - 9}}" == lines[
        [line.split()[0] for line in lines[:-1]].index("unpaywall")][:lines[0].index("requests") + 8]


def test_who_may_only_read_gets_the_same(rows, ctl, data, database, sql, tag, tmp_path):
    before = rows("source"), rows("list")
    sql(f'CREATE ROLE "{tag}" LOGIN PASSWORD \'{tag}\'; GRANT pg_read_all_data TO "{tag}"')
    try:
        passfile = tmp_path / "pgpass"
        passfile.write_text(f"*:*:*:*:{tag}\n")
        passfile.chmod(0o600)
        dsn = psycopg.conninfo.make_conninfo(database, user=tag, passfile=str(passfile))
        assert (rows("source", dsn=dsn), rows("list", dsn=dsn)) == before
        assert ctl("tables", dsn=dsn).returncode == 0
    finally:
        sql(f'DROP ROLE "{tag}"')


def test_rows_that_are_not_counted_yet_are_said(ctl, data, sql):
    assert ctl("status").stderr == b""
    sql("ALTER TABLE ingest_request DISABLE TRIGGER USER; INSERT INTO ingest_request (link_source, link_source_id, ingest_type,"
        " base_url) VALUES ('x', 'x', 'pdf', 'http://a/'); ALTER TABLE ingest_request ENABLE TRIGGER USER")
    done = ctl("status")
    assert done.returncode == 0 and b"ingestctl db fill" in done.stderr


def test_wrong_words(ctl, data):
    for words, code, said in [
            (["nonsense"], 2, "no such query"), (["stauts"], 2, "did you mean 'status'"), (["status", "more"], 2, "unexpected"),
            (["status", "--since", "1d"], 2, "--since does not apply"), (["day", "--host", "h"], 2, "--host does not apply"),
            (["failing", "--since", "1d", "--list", "seed"], 2, "--list does not apply together with --since"),
            (["status", "--by", "hots"], 2, "did you mean host"), (["tables", "--by", "host"], 2, "do not apply"), (["recent"], 2, "needs one --source"),
            (["growth", "--by", "host"], 2, "by day, week or month"),
            (["day", "--since", "yesterday"], 2, "--since"), (["status", "--top", "-1"], 2, "--top"),
            (["status", "--format", "xml"], 2, "--format"), (["codes", "--pages", "0"], 2, "--pages"), (["status", "--list", "a", "--list", "b"], 2, "--list"),
            (["status", "--list", "see"], 1, "there is no list see"),
            (["status", "--list", "x\x1b[2J"], 1, "there is no list x\\x1b[2J")]:
        done = ctl(*words)
        assert (done.returncode, done.stdout) == (code, b""), words
        assert said in done.stderr.decode(), (words, done.stderr)


def test_top_says_what_it_left_out(ctl, data):
    done = ctl("host", "--top", 2)
    assert len(done.stdout.splitlines()) == 3
    assert b"5 more rows" in done.stderr
    assert not ctl("host", "--top", 0).stderr
