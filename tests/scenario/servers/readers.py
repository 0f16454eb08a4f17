# SPDX-License-Identifier: GPL-3.0-or-later
"""Other people's readers of WARC files: warcio, pywb's indexer and jwarc. What we write must be good for each of them."""

import functools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


@functools.cache
def jwarc():
    command = ["bash", "-c", '. "$0" && printf %s "$ING_JWARC_JAR"', str(ROOT / "deploy" / "lib" / "paths.sh")]
    jar = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert pathlib.Path(jar).exists(), f"there is no {jar}: deploy/deps --test fetches it"
    return ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-jar", jar]


def output(command, files):
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: status {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout.splitlines()


def check(files):
    """Each reads all of the files and has nothing to say against them."""
    files = list(files)
    assert files
    output([sys.executable, "-m", "warcio.cli", "check"], files)
    output([*jwarc(), "validate"], files)
    return cdxj(files)


def cdxj(files, *words):
    """The index that pywb's indexer makes."""
    return output([sys.executable, "-c", "import sys; from cdxj_indexer.main import main; sys.exit(main())", *words], files)


def jwarc_cdx(files):
    return output([*jwarc(), "cdx"], files)
