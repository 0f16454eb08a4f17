# SPDX-License-Identifier: GPL-3.0-or-later
"""The Debian packages of the build that is tested, and a bare Debian 12 that has what they depend on downloaded."""

import pathlib
import subprocess

from psycopg.conninfo import conninfo_to_dict, make_conninfo

ROOT = pathlib.Path(__file__).resolve().parents[3]
NAMES = ("ingest-worker", "ingestctl", "ingest-worker-doc")
BUILD_PATIENCE_S = 400
ROOT_PATIENCE_S = 600


def run(*command, timeout=60):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=timeout)
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}{done.stderr[-6000:]}"
    return done.stdout


def build_packages(build, folder):
    """{name: path}, packed from the build by debian/rules; lintian has found no error in them. Their bill of materials is in the
    same folder."""
    run(ROOT / "deploy" / "package", "--here", "--build", build, "--out", folder, "--sbom", timeout=BUILD_PATIENCE_S)
    found = {name: next(folder.glob(f"{name}_*.deb")) for name in NAMES}
    assert len(list(folder.glob("*.deb"))) == len(NAMES)
    return found


def bare_root(packages):
    """The path of a tar file (deploy/lib/bare-root)."""
    return run(ROOT / "deploy" / "lib" / "bare-root", *packages.values(), timeout=ROOT_PATIENCE_S).strip()


def without_password(dsn):
    """(DSN without the file that has the password, password), for places that do not see this machine's files."""
    words = conninfo_to_dict(dsn)
    password = pathlib.Path(words.pop("passfile")).read_text(encoding="utf-8").strip().split(":")[-1]
    return make_conninfo(**words), password
