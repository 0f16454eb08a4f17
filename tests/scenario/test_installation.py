# SPDX-License-Identifier: GPL-3.0-or-later
"""deploy/README.md on a bare Debian 12 with its own systemd, in which nothing but the packages has been put: the guide's commands
as they stand there, from the installation to the first result. (test_guide_install.py runs them on folders, with stand-ins.)"""

import json
import pathlib
import re
import shlex
import shutil

import pytest
import yaml
from servers.debian import BareDebian
from servers.guide_fleet import GUIDE, machines, run_paragraphs, servers, substitutes_for  # noqa: F401  (fixtures)
from servers.packages import bare_root

pytestmark = pytest.mark.xdist_group("packages")  # built once, by one process


class Operator:
    """Types the commands of a paragraph into a shell of the machine, as root in its home folder."""

    def __init__(self, machine, substitutes):
        self.machine = machine
        self.substitutes = substitutes

    def types(self, name, block=0):
        text = GUIDE[name].blocks[block].text
        for old, new in self.substitutes:
            text = re.sub(old, new, text)
        done = self.machine.run("sh", "-c", f"cd /root && exec bash -euo pipefail -c {shlex.quote(text)}", check=False)
        assert done.returncode == 0, f"{name}: {done.returncode}\n{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.mark.slow
def test_a_new_user_comes_to_the_first_result(packages, servers, machines, web, own_dir, tag):  # noqa: F811
    run_paragraphs(machines("db"), "README.md#database")
    with BareDebian(bare_root(packages), own_dir / f"machine-{tag}", f"ing-{tag}") as bare:
        operator = Operator(bare, substitutes_for(servers))
        for package in packages.values():
            shutil.copy(package, bare.path("/root"))
        # The operator's yes, and no network.
        bare.path("/etc/apt/apt.conf.d/90yes").write_text('APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n')
        operator.types("README.md#programs")
        operator.types("README.md#configuration")
        assert "good" in operator.types("README.md#configuration", 1)
        # The web of the tests, which is not the operator's.
        shutil.copy(web.ca_file, bare.path("/etc/ingest-worker/web.pem"))
        with open(bare.path("/etc/ingest-worker/ingest-worker.yaml"), "a", encoding="utf-8") as file:
            file.write(yaml.safe_dump({"fetch.connect_to": web.connect_to(), "fetch.allow_address": ["127.0.0.0/8"],
                                       "fetch.ca_file": "/etc/ingest-worker/web.pem", "gate.robots": "ignore"}))
        assert "good" in operator.types("README.md#schema-and-topics")
        assert "Active: active (running)" in operator.types("README.md#start")
        found = operator.types("README.md#start", 1)
        assert json.loads(found.splitlines()[0])["status"] == "success"
        assert "held by" in found
        # The documents are where the guide says, and what they link is there.
        docs = bare.path("/usr/share/doc/ingest-worker/deploy")
        assert (docs / "guide/alerts.md").exists() and (docs / "prometheus/alerts.yaml").exists()
        assert pathlib.Path(bare.path("/usr/share/doc/ingest-worker/examples/fleet.yaml")).exists()
        assert pathlib.Path(bare.path("/usr/share/ingest-worker/sql/erase-host.sql")).exists()
        bare.run("systemctl", "stop", "ingest-worker@1")
