# SPDX-License-Identifier: GPL-3.0-or-later
"""`ingestctl requests load` beside bare COPY and upsert of the same rows into the same tables by as many connections, in turn: into
empty tables, and beside requests that are known, of which the list has some; README.md says what the figures mean."""

import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import time

import psycopg

import bulk_list
from store_bench import server_cpu_seconds

COLUMNS = ("link_source, link_source_id, ingest_type, base_url, ingest_request_source, release_stage, request, request_id, document,"
           " host, doi_prefix")
KEY = "link_source, link_source_id, ingest_type, base_url"
BATCH_ROWS = 8192
LIST = 1000  # identifier of a list that there is not


def write_list(path, lines, first, hosts):
    with open(path, "w", encoding="utf-8") as file:
        for n in range(first, first + lines):
            file.write(bulk_list.line_of(n, hosts))
    return path


def load(build, dsn, path, name, streams):
    """Seconds, CPU seconds and the greatest RSS of a load, and what it has counted."""
    start = time.monotonic()
    child = subprocess.Popen([next(build.rglob("worker/ingestctl")), "--set", f"postgres.dsn={json.dumps(dsn)}", "requests", "load",
                              "--list", name, "--streams", str(streams), "--json", path], stdout=subprocess.PIPE)
    with child.stdout:
        counts = json.loads(child.stdout.read())
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"bulk: load ended with {status}")
    return {"seconds": time.monotonic() - start, "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "rss_mb": usage.ru_maxrss / 1024, "counts": counts}


def write_rows(dsn, path):
    """The rows that a load has made of a list, as COPY gives and takes them, in the order of the list."""
    with psycopg.connect(dsn) as connection, open(path, "wb") as file:
        with connection.cursor().copy(f"COPY (SELECT {COLUMNS} FROM ingest_request"
                                      " ORDER BY (request->'edit_extra'->>'n')::int) TO STDOUT") as copy:
            for data in copy:
                file.write(data)


def bare_stream(dsn, path, stream, streams):
    """Every streams-th batch of the rows."""
    with psycopg.connect(dsn) as connection, open(path, "rb") as file:
        connection.execute("SET temp_buffers = '32MB'; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;"
                           " SET jit = off")
        connection.execute(f"CREATE TEMP TABLE stage ON COMMIT DELETE ROWS AS SELECT {COLUMNS} FROM ingest_request WITH NO DATA")
        connection.commit()
        number = 0
        while True:
            rows = [line for line in (file.readline() for _ in range(BATCH_ROWS)) if line]
            if not rows:
                return
            number += 1
            if number % streams != stream:
                continue
            with connection.cursor().copy(f"COPY stage ({COLUMNS}) FROM STDIN") as copy:
                copy.write(b"".join(rows))
            connection.execute(f"INSERT INTO ingest_request ({COLUMNS}, list_id) SELECT DISTINCT ON ({KEY}) {COLUMNS}, {LIST} FROM stage"
                               f" ORDER BY {KEY} ON CONFLICT ({KEY}) DO NOTHING")
            connection.execute("INSERT INTO request_list_member SELECT r.request_id, %s FROM stage JOIN ingest_request r"
                               f" USING ({KEY}) WHERE r.list_id <> %s ON CONFLICT DO NOTHING", [LIST, LIST])
            connection.commit()


def bare(dsn, path, streams):
    start = time.monotonic()
    children = [multiprocessing.Process(target=bare_stream, args=(dsn, path, n, streams)) for n in range(streams)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    if any(child.exitcode != 0 for child in children):
        raise SystemExit("bulk: bare rows were refused")
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT fold_counts()")
    return {"seconds": time.monotonic() - start}


def sizes(dsn):
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT count(*) FROM ingest_request").fetchone()[0]
        total, table = connection.execute("SELECT pg_total_relation_size('ingest_request'), pg_relation_size('ingest_request')").fetchone()
        counts = connection.execute("SELECT pg_total_relation_size('request_count')").fetchone()[0]
    return {"rows": rows, "table_bytes_per_row": round(table / rows), "index_bytes_per_row": round((total - table) / rows),
            "request_count_mb": round(counts / 2**20, 1)}


def copy_database(postgres, name, template):
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        connection.execute("CHECKPOINT")
    return postgres.dsn(name)


def rounds_of(build, postgres, template, paths, args):
    """Medians, and the ratio of each round."""
    lines = args.lines
    ratios, ours, floors, cpu, rss = [], [], [], [], []
    server = {"bare": [], "load": []}
    for number in range(args.rounds):
        for mode in ("bare", "load") if number % 2 else ("load", "bare"):
            dsn = copy_database(postgres, f"{template}_run", template)
            before = server_cpu_seconds(postgres.data)
            if mode == "bare":
                done = bare(dsn, paths["rows"], args.streams)
                floors.append(lines / done["seconds"])
            else:
                done = load(build, dsn, paths["list"], "bulk", args.streams)
                ours.append(lines / done["seconds"])
                cpu.append(done["cpu_seconds"] / lines * 1e6)
                rss.append(done["rss_mb"])
            server[mode].append((server_cpu_seconds(postgres.data) - before) / lines * 1e6)
            print(f"bulk: load: {template}: {mode}: {done}", file=sys.stderr)
        ratios.append(ours[-1] / floors[-1])
    return {"lines_per_second": round(statistics.median(ours)), "bare_lines_per_second": round(statistics.median(floors)),
            "of_bare": {"median": round(statistics.median(ratios), 3), "rounds": [round(ratio, 3) for ratio in ratios]},
            "cpu_us_per_line": round(statistics.median(cpu), 1), "server_cpu_us_per_line": round(statistics.median(server["load"]), 1),
            "bare_server_cpu_us_per_line": round(statistics.median(server["bare"]), 1),
            "max_rss_mb": round(max(rss)), **sizes(postgres.dsn(f"{template}_run"))}


def run(build, postgres, folder, args):
    hosts = max((args.lines + args.known) // 66, 100)
    dsn = postgres.create_database("bulk_empty")
    subprocess.run([next(build.rglob("worker/ingestctl")), "--set", f"postgres.dsn={json.dumps(dsn)}", "db", "migrate"],
                   check=True, stdout=subprocess.DEVNULL)
    answer = {}
    new = {"list": write_list(folder / "new", args.lines, 0, hosts), "rows": folder / "new.rows"}
    load(build, copy_database(postgres, "bulk_rows", "bulk_empty"), new["list"], "bulk", args.streams)
    write_rows(postgres.dsn("bulk_rows"), new["rows"])
    answer["empty"] = rounds_of(build, postgres, "bulk_empty", new, args)
    if args.known > 0:  # the second half of the list is the first of what is known
        dsn = copy_database(postgres, "bulk_known", "bulk_empty")
        load(build, dsn, write_list(folder / "known", args.known, args.lines // 2, hosts), "known", args.streams)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        answer["beside_known"] = {"known": args.known, **rounds_of(build, postgres, "bulk_known", new, args)}
    return answer


def add_options(parser):
    parser.add_argument("--lines", type=int, default=200_000, help="of the list")
    parser.add_argument("--known", type=int, default=1_000_000, help="requests that are stored before; 0: leave that part out")
    parser.add_argument("--streams", type=int, default=4)


