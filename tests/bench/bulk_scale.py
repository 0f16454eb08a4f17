# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of tens of millions from its file to its end, once: load, load of as much as a tenth of which half is known, count, dump, enqueue, results as of a fleet (rows, as the
store writes them), reingest, stats. Only with --only scale; README.md says what the figures mean."""

import json
import os
import pathlib
import subprocess
import sys
import time

import psycopg

import bulk_enqueue
import bulk_list
import bulk_load
import private_servers

# What became of requests, in percent: status, hit, HTTP status, base of retry_after in days (None: never again).
OUTCOMES = [(62, "success", True, 200, None), (14, "no-pdf-link", False, 200, 90), (8, "terminal-bad-status", False, 404, 30),
            (5, "read-timeout", False, None, 0), (4, "connect-error", False, None, 0), (3, "blocked-cookie", False, 200, 30),
            (3, "skip-url-blocklist", False, None, None), (1, "host-backoff", False, None, 0)]
STATS = ["list", "status", "type", "source", "host", "domain", "prefix", "day", "cube", "failing", "hit-ratio", "never-answered", "codes",
         "files", "queues", "growth", "tables"]
JOB = "jobs:\n  due:\n    about: what failed in passing\n    types: [pdf]\n    statuses: [soon]\n    limit: 1000000\n    share: 10\n    lane: bulk\n"


def timed(command, **kwargs):
    """Runs it, and returns seconds, CPU seconds, greatest RSS."""
    start = time.monotonic()
    child = subprocess.Popen([str(word) for word in command], **kwargs)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        raise SystemExit(f"bulk: scale: {command} ended with {status}")
    done = {"seconds": round(time.monotonic() - start, 1), "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
            "rss_mb": round(usage.ru_maxrss / 1024)}
    print(f"bulk: scale: {' '.join(str(word) for word in command[5:])}: {done}", file=sys.stderr, flush=True)
    return done


def answer_requests(dsn, share):
    """Results of a share of all requests, as they are when a fleet has asked for them a while ago."""
    bounds, total = [], 0
    for percent, *_ in OUTCOMES:
        total += percent
        bounds.append(total)
    status, hit, code, days = ("CASE " + " ".join(f"WHEN p < {bound} THEN {value}" for bound, value in zip(bounds, values)) + " END"
                               for values in ([f"'{one[1]}'" for one in OUTCOMES], [str(one[2]).lower() for one in OUTCOMES],
                                              [one[3] or "NULL" for one in OUTCOMES],
                                              ["NULL" if one[4] is None else one[4] for one in OUTCOMES]))
    start = time.monotonic()
    with psycopg.connect(dsn, autocommit=True) as connection:
        for slice_ in range(256):
            low = f"{slice_:02x}000000-0000-0000-0000-000000000000"
            high = f"{slice_:02x}ffffff-ffff-ffff-ffff-ffffffffffff"
            connection.execute(f"""
                INSERT INTO ingest_file_result (ingest_type, base_url, updated, hit, status, terminal_url, terminal_dt,
                    terminal_status_code, attempts, first_seen, retry_after, next_try, host, document)
                SELECT ingest_type, base_url, at, {hit}, {status}, base_url, '20261101000000', {code}, 1, at, {days} * 86400,
                    at + {days} * interval '1 day', host, document
                FROM (SELECT *, ('x' || substr(document::text, 34, 3))::bit(12)::int %% 100 AS p, now() - interval '1 hour' AS at
                    FROM ingest_request WHERE request_id BETWEEN %s AND %s
                    AND ('x' || substr(document::text, 29, 3))::bit(12)::int < {int(share * 4096)}) AS r
                ON CONFLICT DO NOTHING""", [low, high])
            connection.execute("SELECT fold_counts()")
        connection.execute("UPDATE document_queued SET queued = now() - interval '2 hours'")
        rows = connection.execute("SELECT count(*) FROM ingest_file_result").fetchone()[0]
        connection.execute("VACUUM (ANALYZE) ingest_file_result, ingest_request, document_queued")
    seconds = time.monotonic() - start
    return {"rows": rows, "seconds": round(seconds, 1)}


def table_sizes(dsn):
    with psycopg.connect(dsn) as connection:
        return {name: {"table_mb": round(table / 2**20), "all_mb": round(whole / 2**20)} for name, table, whole in connection.execute(
            "SELECT relname, pg_relation_size(oid), pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace AND pg_total_relation_size(oid) > 1e6 ORDER BY 3 DESC")}


def tune(postgres):
    """As a server for this is set up (deploy/SCALE.md), within this machine."""
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        for setting in ("shared_buffers = '4GB'", "max_wal_size = '4GB'", "work_mem = '256MB'", "maintenance_work_mem = '1GB'",
                        "checkpoint_timeout = '15min'", "effective_cache_size = '12GB'", "wal_compression = on"):
            connection.execute(f"ALTER SYSTEM SET {setting}")
    postgres.stop()
    postgres.start()


def run(build, postgres, folder, args):
    tune(postgres)
    dsn = postgres.create_database("bulk_scale")
    ctl = [next(build.rglob("worker/ingestctl")), "--set", f"postgres.dsn={json.dumps(dsn)}"]
    subprocess.run([*ctl, "db", "migrate"], check=True, stdout=subprocess.DEVNULL)
    answer = {"lines": args.scale_lines, "hosts": args.scale_hosts}
    ctl += ["--set", "kafka.topics.requests=bulk-scale"]
    nothing = {"stdout": subprocess.DEVNULL}
    # Through a pipe, for a file would be as large as the tables.
    with subprocess.Popen([sys.executable, bulk_list.__file__, str(args.scale_lines), "--hosts", str(args.scale_hosts)],
                          stdout=subprocess.PIPE) as lines:
        answer["load"] = timed([*ctl, "requests", "load", "--list", "bulk", "--json", "-"], stdin=lines.stdout, **nothing)
    some = bulk_load.write_list(folder / "some", args.scale_lines // 10, args.scale_lines - args.scale_lines // 20, args.scale_hosts)
    answer["load_half_known"] = timed([*ctl, "requests", "load", "--list", "some", "--json", some], **nothing)
    some.unlink()
    answer["after_load"] = table_sizes(dsn)
    answer["count_new"] = timed([*ctl, "requests", "count", "--list", "bulk", "--new"], **nothing)
    answer["dump"] = timed([*ctl, "requests", "dump", "--list", "bulk"], **nothing)
    kafka = private_servers.Kafka(folder / "kafka")
    kafka.start()
    try:
        ctl += ["--set", f"kafka.brokers={kafka.brokers()}", "--set", 'kafka.properties=["compression.type=zstd"]']
        subprocess.run([*ctl, "topics", "create", "--lanes", "--partitions", str(args.partitions)], check=True, **nothing)
        answer["enqueue"] = bulk_enqueue.enqueue(ctl, postgres.data, ["requests", "enqueue", "--list", "bulk", "--new", "--lane", "bulk",
                                                                      "--share", "5", "--quiet"])
        print(f"bulk: scale: enqueue: {answer['enqueue']}", file=sys.stderr, flush=True)
        answer["results"] = answer_requests(dsn, args.scale_answered)
        jobs = pathlib.Path(folder, "jobs.yaml")
        jobs.write_text(JOB, encoding="utf-8")
        answer["reingest_dry_run"] = timed([*ctl, "reingest", "--jobs", jobs, "--dry-run"], **nothing)
        answer["reingest"] = timed([*ctl, "reingest", "--jobs", jobs, "--quiet", "due"])
    finally:
        kafka.stop()
    answer["stats"] = {query: timed([*ctl, "stats", query], **nothing)["seconds"] for query in STATS}
    answer["sizes"] = table_sizes(dsn)
    return answer


def add_options(parser):
    parser.add_argument("--scale-lines", type=int, default=20_000_000)
    parser.add_argument("--scale-hosts", type=int, default=300_000)
    parser.add_argument("--scale-answered", type=float, default=0.5, help="part of the requests that have results before reingest")
