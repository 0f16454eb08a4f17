# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide's upgrade, backup and restore: every request has its one result whatever is done meanwhile."""

import json
import re

import pytest
from conftest import ROOT
from servers.guide_fleet import answered, fleet, guide, machines, run_paragraphs, servers, start, stream  # noqa: F401  (fixtures)

MIGRATIONS = sorted((ROOT / "schemas" / "sql").glob("*.sql"))


def make_older(machine):
    """The schema of the release before: all migrations but the last."""
    text = "CREATE TABLE schema_version (version integer PRIMARY KEY, name text NOT NULL, applied timestamptz NOT NULL DEFAULT now());\n"
    for number, path in enumerate(MIGRATIONS[:-1], 1):
        text += f"BEGIN;\n{path.read_text(encoding='utf-8')}\nINSERT INTO schema_version VALUES ({number}, '{path.stem}');\nCOMMIT;\n"
    (machine.root / "root/older.sql").write_text(text)
    done = machine.run("psql -q -v ON_ERROR_STOP=1 -f older.sql")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_workers_of_a_new_release_wait_for_the_schema(machines, guide, stream, wait_until):  # noqa: F811
    a = machines("worker-a")
    run_paragraphs(a, "README.md#database", "README.md#configuration", "README.md#guide")
    make_older(a)
    assert a.run("ingestctl topics create --lanes --partitions 24").returncode == 0
    stream(20)
    assert a.run("systemctl start --no-block ingest-worker@1").returncode == 0
    upgrade = guide("guide/upgrade.md#upgrading-the-workers")
    upgrade.next(a, "apt-get install")
    assert '"state": "older"' in upgrade.next(a, "db status")
    a.units.wait_log("ingest-worker@1.service", r"older than this program's \d+: run ingestctl db migrate")
    # However long that takes.
    wait_until(lambda: a.units.load("ingest-worker@1.service").restarts > 25, timeout=60)
    moved = json.loads(re.search(r"{.*}", upgrade.next(a, "db migrate")).group())
    assert moved == {"from": len(MIGRATIONS) - 1, "to": len(MIGRATIONS)}
    answered(a, 20)


@pytest.mark.slow
def test_workers_are_restarted_while_requests_come(fleet, guide, stream):  # noqa: F811
    a = fleet("worker-a")
    start(a)
    start(a, "ingest-worker@2")
    stream(60)
    guide("guide/upgrade.md#changing-the-configuration").next(a)
    stream(60)
    assert {one["status"] for one in answered(a, 120)} == {"success"}


@pytest.mark.slow
@pytest.mark.at_least_once("what has no row any more is asked for again")
def test_the_database_is_restored(fleet, guide, stream):  # noqa: F811
    a = fleet("worker-a")
    start(a)
    stream(20)
    answered(a, 20)
    kept = int(guide("guide/backup.md#backing-up-the-database").next(a).split()[-1])
    assert kept > 20
    lost = stream(20)
    answered(a, 40)
    restore = guide("guide/backup.md#restoring-the-database")
    restore.next(a, "systemctl stop")
    assert "current" in restore.next(a, "pg_restore")
    restore.next(a, "systemctl start")
    done = a.run("psql -Atc 'SELECT count(*) FROM ingest_file_result'")
    assert done.stdout == "20\n"
    stream(20)
    answered(a, 60)
    assert "ingest-file-requests" in guide("guide/backup.md#positions-in-kafka").next(a)
    restore.next(a, "since-backup")
    again = answered(a, 80)[60:]
    assert {one["request"]["base_url"] for one in again} == set(lost)
    done = a.run("psql -Atc 'SELECT count(*) FROM ingest_file_result'")
    assert done.stdout == "60\n"
