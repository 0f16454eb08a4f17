# SPDX-License-Identifier: GPL-3.0-or-later
"""Selectors find what jsoup 1.16.1 finds: the same cases through ingestctl and through jsoup itself."""

import importlib.util
import json
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ORACLE = ROOT / "tests" / "oracle"


def load_cases():
    spec = importlib.util.spec_from_file_location("oracle_cases", ORACLE / "cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cases()


@pytest.fixture(scope="module")
def jsoup(tmp_path_factory):
    """jsoup(cases) is a list: of each case the matches, or None for an error."""
    command = ["bash", "-c", '. "$0" && printf %s "$ING_JSOUP_JAR"', str(ROOT / "deploy" / "lib" / "paths.sh")]
    jar = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if not shutil.which("java") or not shutil.which("javac"):
        pytest.skip("there is no Java compiler: deploy/deps --test installs one")
    if not pathlib.Path(jar).exists():
        pytest.skip(f"there is no {jar}: deploy/deps --test fetches it")
    classes = tmp_path_factory.mktemp("oracle")
    subprocess.run(["javac", "-cp", jar, "-d", classes, ORACLE / "JsoupSelect.java"], check=True)

    def ask(cases):
        said = b"".join(framed(text) for case in cases for text in case)
        done = subprocess.run(["java", "-XX:+UseSerialGC", "-cp", f"{jar}:{classes}", "JsoupSelect"], input=said,
                              capture_output=True, check=True)
        reader = Reader(done.stdout)
        return [reader.answer() for _ in cases]
    return ask


def framed(text):
    data = text.encode()
    return str(len(data)).encode() + b"\n" + data


class Reader:
    """Takes the oracle's answers apart."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        end = self.data.index(b"\n", self.at)
        number = int(self.data[self.at:end])
        self.at = end + 1
        return number

    def text(self):
        length = self.number()
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def answer(self):
        count = self.number()
        if count < 0:
            self.text()
            return None
        return [(int(self.text()), self.text(), self.text(), self.text()) for _ in range(count)]


def ours(program, cases, path):
    with open(path, "w", encoding="utf-8") as file:
        for kind, base, page, selector in cases:
            file.write(json.dumps({"html": page, "selector": selector, "base": base, "xml": kind == "xml"}) + "\n")
    done = subprocess.run([program("ingestctl"), "select", "--batch", path], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [[(m["index"], m["tag"], m["text"], m["own"]) for m in answer["matches"]] if "matches" in answer else None
            for answer in answers]


def test_selectors_find_what_jsoup_finds(program, jsoup, tmp_path):
    cases = load_cases()
    found, wanted = ours(program, cases, tmp_path / "cases.jsonl"), jsoup(cases)
    assert len(found) == len(wanted) == len(cases)
    assert sum(1 for answer in wanted if answer) > len(cases) / 5  # it is not nothing that is compared
    for case, mine, theirs in zip(cases, found, wanted):
        assert mine == theirs, f"{case[3]}\nin {case[2]}"
