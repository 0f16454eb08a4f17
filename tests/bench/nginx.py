# SPDX-License-Identifier: GPL-3.0-or-later
"""nginx in front of a few static files: faster than any client here, so that it is not what is measured."""

import subprocess
import time

import private_servers


class Nginx:
    """A private nginx in a folder of its own, on a free port; whoever derives from it says what it serves."""

    def __init__(self, folder):
        self.folder = folder
        self.folder.mkdir()
        self.folder.chmod(0o755)
        self.port = private_servers.free_port()
        self.process = None

    def serve(self, server, http=""):
        """Starts it with the inside of a server block, and what is to stand before that."""
        places = "".join(f"{kind}_temp_path {self.folder}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(f"""
worker_processes 1; daemon off; pid {self.folder}/nginx.pid; error_log stderr error;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; keepalive_timeout 0; {places}
  types {{ text/html html; application/pdf pdf; }}
  {http}
  server {{{server} }}
}}
""", encoding="utf-8")
        with open(self.folder / "nginx.log", "wb") as log:
            self.process = subprocess.Popen(["nginx", "-c", str(self.folder / "nginx.conf"), "-p", str(self.folder)], stderr=log)
        time.sleep(0.5)
        if self.process.poll() is not None:
            raise SystemExit("nginx: " + (self.folder / "nginx.log").read_text(errors="replace"))

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
