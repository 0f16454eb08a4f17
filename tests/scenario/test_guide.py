# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator's guide (deploy/README.md, deploy/guide/): its links lead somewhere, its commands exist, and each of them is run by a
test of test_guide_*.py, which names the paragraphs that it runs as "PAGE#ANCHOR"."""

import re
import shlex
import subprocess

import pytest
from conftest import ROOT
from servers.guide import anchor_of, read_guide

GUIDE = read_guide(ROOT / "deploy")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CLAIM = re.compile(r'"((?:guide/)?\w+\.md#[\w-]+)"')


def pages():
    return [ROOT / "deploy" / "README.md", *sorted((ROOT / "deploy" / "guide").glob("*.md"))]


def test_anchors_are_those_of_renderers():
    assert anchor_of("WARC files to the archive") == "warc-files-to-the-archive"
    assert anchor_of("`kafka.max_message_bytes`, and more") == "kafkamax_message_bytes-and-more"


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    wrong = []
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        file, _, anchor = target.partition("#")
        whole = (path.parent / file).resolve() if file else path
        if not whole.exists():
            wrong.append(f"{target}: no such file")
        elif anchor and anchor not in {anchor_of(line.lstrip("# ")) for line in whole.read_text(encoding="utf-8").splitlines()
                                       if line.startswith("#")}:
            wrong.append(f"{target}: no such heading")
    assert not wrong, f"{path}: " + "; ".join(wrong)


def test_anchors_that_others_link_are_there():
    """Alerts, units and man pages name paragraphs as guide/PAGE.md#ANCHOR."""
    wrong = []
    for path in (*ROOT.glob("deploy/prometheus/*"), *ROOT.glob("deploy/grafana/*"), *ROOT.glob("deploy/man/*"),
                 *ROOT.glob("deploy/systemd/*.in"), *ROOT.glob("**/README.md")):
        for name in re.findall(r"\b(guide/\w+\.md#[\w-]+)", path.read_text(encoding="utf-8")):
            if name not in GUIDE:
                wrong.append(f"{path}: {name}")
    assert not wrong, wrong


def test_every_command_is_run_by_a_test():
    claims = []
    for path in sorted((ROOT / "tests" / "scenario").glob("test_guide_*.py")):
        claims += CLAIM.findall(path.read_text(encoding="utf-8"))
    with_commands = {name for name, paragraph in GUIDE.items() if paragraph.blocks}
    assert with_commands - set(claims) == set(), "no test runs these"
    assert set(claims) - with_commands == set(), "the guide has no commands there"


def test_every_alert_has_its_paragraph_in_the_table():
    listed = re.findall(r"\]\(#([\w-]+)\) \|$", (ROOT / "deploy/guide/alerts.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(name.partition("#")[2] for name in GUIDE if name.startswith("guide/alerts.md#")
                                    and name != "guide/alerts.md#alerts")


def options_of(words):
    return {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)} - {"--help"}


def test_commands_in_sentences_have_these_options(program):
    """What stands in a line of text is not run, but its verb and options are those of the program."""
    wrong, helps = [], {}
    for paragraph in GUIDE.values():
        for place, command in paragraph.inline:
            name, *words = shlex.split(command.replace("…", "x"))
            verb = []
            for word in words:
                if not re.fullmatch(r"[a-z]+", word):
                    break
                verb.append(word)
            for length in range(min(2, len(verb)), -1, -1):
                key = (name, *verb[:length])
                if key not in helps:
                    done = subprocess.run([program(name), *verb[:length], "--help"], capture_output=True, text=True, check=False)
                    helps[key] = done.stdout if done.returncode == 0 else None
                if helps[key]:
                    break
            missing = [one for one in options_of(words) if one not in (helps[key] or "")]
            if missing or (words and not length and not words[0].startswith("-")):
                wrong.append(f"{place}: {command}: {missing or 'no such verb'}")
    assert not wrong, "\n".join(wrong)


# --- configurations ------------------------------------------------------------------------------------------


@pytest.fixture
def credentials(tmp_path, monkeypatch):
    """Files that stand for the unit's credentials, by all names that configurations use."""
    folder = tmp_path / "credentials"
    folder.mkdir()
    for path in (ROOT / "deploy" / "config").glob("*.yaml"):
        for name in re.findall(r'_file: "([\w-]+)"|: "(kafka\.\w+)"', path.read_text(encoding="utf-8")):
            (folder / "".join(name)).write_text("secret\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))


@pytest.mark.parametrize("path", sorted((ROOT / "deploy" / "config").glob("*.yaml")), ids=lambda path: path.stem)
def test_configurations_are_good(program, path, credentials):
    done = subprocess.run([program("ingest-worker"), "--config", path, "--check-config"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def uncommented(text):
    """The text with those lines that are keys put to use again: `# s3:`, `#   endpoint: "…"`."""
    return re.sub(r"^# ?((?: {2})*\w+:(?: .*)?)$", r"\1", text, flags=re.MULTILINE)


@pytest.mark.parametrize("path", sorted((ROOT / "deploy" / "config").glob("*.yaml")), ids=lambda path: path.stem)
def test_what_configurations_suggest_is_good_too(program, path, tmp_path, credentials):
    text = path.read_text(encoding="utf-8")
    file = tmp_path / "all.yaml"
    file.write_text(uncommented(text), encoding="utf-8")
    assert file.read_text() != text or path.stem == "priority"
    done = subprocess.run([program("ingest-worker"), "--config", file, "--check-config"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
