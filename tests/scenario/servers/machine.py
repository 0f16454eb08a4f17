# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine of the guide: a folder with its /etc, /var, /srv and /opt, in which commands run as they stand in the guide.

What would change the real machine as a whole has a stand-in, first in PATH: the service manager (systemctl, journalctl: units are
started as their files say, units.py), the package manager, users. Nothing else is replaced but addresses (Machine.substitutes).
"""

import json
import os
import pathlib
import re
import shutil
import socketserver
import subprocess
import tempfile
import threading

from servers.units import Units

# Folders of the machine that belong to it alone; what lies elsewhere is the real machine's.
OWN = re.compile(r"(?<![\w.%@/~-])/(etc|var|srv|opt|mnt|usr/share/doc/ingest-worker|usr/share/ingest-worker)(?=[/\s\"':;)]|$)")
TIMEOUT_S = 120

SHIM = """#!/usr/bin/python3
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect({path!r})
s.sendall(json.dumps({{"program": {name!r}, "words": sys.argv[1:]}}).encode() + b"\\n")
answer = json.loads(s.makefile().read())
sys.stdout.write(answer["out"])
sys.stderr.write(answer["err"])
sys.exit(answer["status"])
"""
# Packages are installed for real by the scenario of the packages; here it is enough that the real machine has them, or that they
# are ours. Users are the one that runs the test.
SCRIPTS = {
    "apt-get": """for word; do case $word in
        -*|update|install|upgrade|*ingest*) ;;
        *) dpkg-query -W "$word" >/dev/null || exit 100 ;;
        esac; done""",
    "systemd-sysusers": "exit 0",
    # The superuser of private_servers.Postgres has another name than Debian's.
    "runuser": """user=$2; while [ "$1" != -- ]; do shift; done; shift
        [ "$user" != postgres ] || export PGUSER=ingest PGDATABASE=postgres PGPASSWORD=$SUPERUSER_PASSWORD
        exec "$@" """,
    "chown": "exit 0",
}


class Machine:
    """run("ingestctl …") is the finished command, in a shell that ends at the first failure; start(unit) and the like are
    the guide's own commands. The machine's programs run until stop()."""

    def __init__(self, name, folder, program, unit_folders, substitutes, environment=None, options=()):
        """substitutes are (text, text) pairs, replaced before a command runs. options are further words for each worker."""
        self.name = name
        self.root = pathlib.Path(folder)
        self.substitutes = substitutes
        self.bin = self.root / "bin"
        for path in (self.bin, self.root / "root", self.root / "etc" / "ingest-worker", self.root / "etc" / "systemd" / "system", self.root / "etc" / "prometheus",
                     self.root / "var" / "lib", self.root / "var" / "cache", self.root / "run", self.root / "srv"):
            path.mkdir(parents=True, exist_ok=True)
        self.config = self.root / "etc" / "ingest-worker" / "ingest-worker.yaml"
        self.environment = {
            **os.environ, **(environment or {}), "PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.root / "root"),
            "PGSYSCONFDIR": str(self.root / "etc" / "postgresql-common"), "LC_ALL": "C.UTF-8"}
        self.units = Units(name, self.root, program, unit_folders, options)
        self._server = None
        self._write_programs(program)

    def _write_programs(self, program):
        # The name of a socket may have 107 bytes, which pytest's folders exceed.
        self._sockets = tempfile.mkdtemp(prefix="ing-machine-")
        path = f"{self._sockets}/manager"
        scripts = {name: f"#!/bin/bash\n{text}\n" for name, text in SCRIPTS.items()}
        scripts.update({name: SHIM.format(path=path, name=name) for name in ("systemctl", "journalctl")})
        # Installed programs read the installed configuration unless another is given; the folder of state is a default, and so is that
        # of credentials.
        state = self.root / "var/lib/ingest-worker"
        for name in ("ingestctl", "ingest-worker"):
            scripts[name] = f'#!/bin/sh\nexport CREDENTIALS_DIRECTORY={self.root}/etc/credstore\n[ -e {self.config} ] && set -- --config {self.config} --set state.dir={state} "$@"\nexec {program(name)} "$@"\n'
        for name, text in scripts.items():
            (self.bin / name).write_text(text)
            (self.bin / name).chmod(0o755)
        units = self.units

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                asked = json.loads(self.rfile.readline())
                status, out, err = units.command(asked["program"], asked["words"])
                self.wfile.write(json.dumps({"status": status, "out": out, "err": err}).encode())

        class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
            daemon_threads = True

        self._server = Server(path, Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def own(self, text):
        """The text with the machine's own folders in place of the real one's."""
        return OWN.sub(lambda found: f"{self.root}/{found.group(1)}", text)

    def translate(self, text):
        for old, new in self.substitutes:
            text = re.sub(old, new, text) if isinstance(old, str) else old.sub(new, text)
        return self.own(text)

    def run(self, text, timeout=TIMEOUT_S):
        return subprocess.run(["bash", "-euo", "pipefail", "-c", self.translate(text)], cwd=self.root / "root",
                              env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout,
                              check=False)

    def stop(self):
        """Ends all units, and the stand-in of the manager."""
        self.units.stop_all()
        self._server.shutdown()
        self._server.server_close()
        shutil.rmtree(self._sockets)
