# SPDX-License-Identifier: GPL-3.0-or-later
"""A certification authority for the sample web, made by the openssl program.

The authority and the certificates are kept in a folder and used again, so that a client which was told of
the authority once still trusts the server after a restart.
"""

import os
import shutil
import ssl
import subprocess
import threading

DAYS = "3650"


class CertificateError(Exception):
    """openssl is missing or refused; the message holds what it said."""


def openssl(*arguments):
    program = shutil.which("openssl")
    if not program:
        raise CertificateError("the openssl program was not found")
    done = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CertificateError(f"openssl {arguments[0]}: {done.stderr.strip()}")


class Authority:
    """Issues server certificates; all of them share one key, for only the names matter here."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.ca_file = os.path.join(folder, "ca.pem")
        self.ca_key = os.path.join(folder, "ca.key")
        self.key = os.path.join(folder, "server.key")
        self.contexts = {}
        self.lock = threading.Lock()
        if not os.path.exists(self.key):
            self._create()

    def _create(self):
        for path in (self.ca_key, self.key):
            openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path + ".new")
            if path == self.ca_key:
                os.replace(path + ".new", path)
        self._issue(self.ca_file, self.ca_key, "Sample web authority", ["basicConstraints=critical,CA:TRUE",
                    "keyUsage=critical,keyCertSign,cRLSign"], signed=False)
        os.replace(self.key + ".new", self.key)  # last: its presence says that all is there

    def _issue(self, path, key, name, extensions, signed=True):
        command = ["req", "-x509", "-new", "-sha256", "-days", DAYS, "-key", key, "-subj", f"/CN={name}",
                   "-out", path]
        for extension in extensions:
            command += ["-addext", extension]
        if signed:
            command += ["-CA", self.ca_file, "-CAkey", self.ca_key]
        openssl(*command)

    def _certificate(self, label, names, signed=True):
        path = os.path.join(self.folder, f"{label}.pem")
        wanted = ",".join(f"DNS:{name}" for name in names)
        note = path + ".names"
        if not os.path.exists(path) or not os.path.exists(note) or open(note, encoding="utf-8").read() != wanted:
            self._issue(path, self.key, "sample web", [
                f"subjectAltName={wanted}", "basicConstraints=critical,CA:FALSE",
                "extendedKeyUsage=serverAuth"], signed)
            with open(note, "w", encoding="utf-8") as file:
                file.write(wanted)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path, self.key)
        context.set_alpn_protocols(["http/1.1"])
        return context

    def context(self, label, names, signed=True):
        """A server's TLS context for these names, made once. signed=False: nobody vouches for it."""
        with self.lock:
            if label not in self.contexts:
                self.contexts[label] = self._certificate(label, names, signed)
            return self.contexts[label]
