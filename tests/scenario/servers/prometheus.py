# SPDX-License-Identifier: GPL-3.0-or-later
"""A private Prometheus that scrapes workers and judges alerts, and the workers' endpoints."""

import http.client
import json
import subprocess
import time
import urllib.parse

import private_servers
import yaml


class Endpoint:
    """Something that speaks HTTP at a port of this machine."""

    def __init__(self, port):
        self.port = port

    @classmethod
    def of(cls, daemon):
        """A worker's, with metrics.listen: 127.0.0.1:0."""
        return cls(int(daemon.wait_log(r"metrics at 127\.0\.0\.1:(\d+)")[1]))

    def get(self, path, timeout=15):
        """(status, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers={"Connection": "close"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def samples(self):
        """{sample: number} of /metrics"""
        status, text = self.get("/metrics")
        assert status == 200, text
        lines = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        return {name: float(number) for name, number in lines}


class Prometheus:
    """Scrapes and judges every second. targets() changes what is scraped: {instance name: port}."""

    def __init__(self, folder, rules):
        self.folder = folder
        folder.mkdir()
        self.targets_path = folder / "targets.json"
        self.targets({})
        rules_path = folder / "rules.yaml"
        rules_path.write_text(yaml.safe_dump(rules), encoding="utf-8")
        config = folder / "prometheus.yaml"
        config.write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(rules_path)],
            "scrape_configs": [{"job_name": "ingest-worker",
                                "file_sd_configs": [{"files": [str(self.targets_path)], "refresh_interval": "1s"}]}]}))
        self.web = Endpoint(private_servers.free_port())
        self.command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                        f"--web.listen-address=127.0.0.1:{self.web.port}"]
        self.log_path = folder / "prometheus.log"
        self.process = None

    def __enter__(self):
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while True:
            assert self.process.poll() is None and time.monotonic() < deadline, self.log_path.read_text()
            try:
                if self.web.get("/-/ready")[0] == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.1)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)

    def targets(self, ports):
        """The name of a worker is its label instance, whatever its port is after a restart."""
        new = self.targets_path.with_suffix(".new")
        new.write_text(json.dumps([{"targets": [f"127.0.0.1:{port}"], "labels": {"instance": name}} for name, port in ports.items()]))
        new.replace(self.targets_path)

    def query(self, query):
        """[(labels, number)]"""
        status, text = self.web.get("/api/v1/query?" + urllib.parse.urlencode({"query": query}))
        assert status == 200, text
        return [(one["metric"], float(one["value"][1])) for one in json.loads(text)["data"]["result"]]

    def firing(self):
        """{alert: its annotations} of those that fire now."""
        status, text = self.web.get("/api/v1/alerts")
        assert status == 200, text
        return {one["labels"]["alertname"]: one["annotations"] for one in json.loads(text)["data"]["alerts"]
                if one["state"] == "firing"}
