# SPDX-License-Identifier: GPL-3.0-or-later
"""Dashboards and alerts as files: Grafana's schema, Prometheus' language, and the names that a worker really has."""

import json
import pathlib
import re
import subprocess

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard
from servers.prometheus import Endpoint

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
GUIDE = ROOT / "deploy" / "guide" / "alerts.md"
# What Prometheus adds to each series, and buckets.
ADDED = {"job", "instance", "le"}
# Series of Prometheus itself.
OWN = {"up", "ALERTS"}


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def rules():
    return yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]


def queries():
    """{place: query} of all dashboards and alerts, with Grafana's variables filled in."""
    found = {f"alert {rule['alert']}": rule["expr"] for rule in rules()}
    for path in DASHBOARDS:
        for panel in load(path)["panels"]:
            for target in panel.get("targets", []):
                found[f"{path.name}: {panel['title']} {target['refId']}"] = (
                    target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*"))
    return found


def lost(given, kept, path=""):
    """What of a document the schema does not have."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return [one for key in given
                for one in (lost(given[key], kept[key], f"{path}.{key}") if key in kept else [f"{path}.{key}"])]
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        return [one for number, (a, b) in enumerate(zip(given, kept)) for one in lost(a, b, f"{path}[{number}]")]
    return [] if given == kept else [f"{path}: {given!r} became {kept!r}"]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_is_what_grafana_reads(path):
    """Each member is one of Grafana's own schema, and none is changed by it."""
    given = load(path)
    kept = json.loads(JSONEncoder().encode(dashboard.Dashboard.from_json(given)))
    assert lost(given, kept) == []
    panels = given["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    places = [panel["gridPos"] for panel in panels]
    cells = [(x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24, "panels overlap"


def test_dashboards_have_names_of_their_own():
    assert [path.stem for path in DASHBOARDS] == ["bulk", "fleet", "hosts", "worker"]
    assert {load(path)["uid"] for path in DASHBOARDS} == {f"ingest-{path.stem}" for path in DASHBOARDS}


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_every_query_can_be_read(tmp_path):
    made = [{"record": f"query:number{number}", "expr": query} for number, query in enumerate(queries().values())]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": made}]}))
    assert f"{len(made)} rules found" in promtool("check", "rules", path)


def test_every_alert_fires_when_it_should_and_not_before():
    promtool("check", "rules", "--lint=all", ALERTS)
    files = [ALERTS.with_name(name) for name in ("alerts_test.yaml", "alerts_long_test.yaml")]
    assert promtool("test", "rules", *files).count("SUCCESS") == 2
    tried = {test["name"].partition(",")[0] for file in files for test in yaml.safe_load(file.read_text())["tests"]}
    assert tried == {rule["alert"] for rule in rules()}


def test_every_alert_says_what_to_do():
    anchors = set(re.findall(r"\]\(#([\w-]+)\) \|$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE))
    linked = [rule["annotations"]["runbook_url"].partition("deploy/guide/alerts.md#")[2] for rule in rules()]
    assert sorted(linked) == sorted(anchors)
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert len(rule["annotations"]["summary"]) <= 120 and len(rule["annotations"]["description"]) > 20


def selectors(query):
    """(metric, [(label, how, value)]) of a query."""
    query = re.sub(r'\b(by|on|ignoring|without)\s*\([^)]*\)', "", query)
    for name, inside in re.findall(r"\b((?:ing|process)_\w+|up\b)(?:\{([^}]*)\})?", query):
        yield name, re.findall(r'(\w+)(=~|!=|!~|=)"([^"]*)"', inside)


def matches(labels, wanted):
    for label, how, value in wanted:
        if label in ADDED:
            continue
        if label not in labels:
            return False
        good = re.fullmatch(value, labels[label]) if "~" in how else labels[label] == value
        if bool(good) == how.startswith("!"):
            return False
    return True


def test_every_query_is_about_series_that_a_worker_has(worker, settings, tmp_path):
    """One that has everything that can be set."""
    settings.update({"metrics.listen": "127.0.0.1:0", "grobid.url": "http://127.0.0.1:9", "store.dir": str(tmp_path / "store")})
    with worker() as daemon:
        samples = Endpoint.of(daemon).samples()
    series = [(name.partition("{")[0], dict(re.findall(r'(\w+)="([^"]*)"', name))) for name in samples]
    missing = []
    for place, query in queries().items():
        for name, wanted in selectors(query):
            if name not in OWN and not any(name == had and matches(labels, wanted) for had, labels in series):
                missing.append(f"{place}: {name} {wanted}")
        for labels in re.findall(r"\bby\s*\(([^)]*)\)", query):
            for label in filter(None, re.split(r"[,\s]+", labels)):
                if label not in ADDED and not any(label in had for _, had in series):
                    missing.append(f"{place}: label {label}")
    assert not missing, "\n".join(missing)
