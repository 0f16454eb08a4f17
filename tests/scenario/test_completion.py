# SPDX-License-Identifier: GPL-3.0-or-later
"""Completion of bash and zsh, asked of the shells themselves."""
import os
import pathlib
import pty
import re
import select
import socket
import subprocess
import time

import pytest

WAIT_S = 60


@pytest.fixture(scope="session")
def scripts(program):
    """The folder with the built scripts."""
    return pathlib.Path(program("ingestctl")).parent.parent / "deploy" / "completion"


@pytest.fixture
def bash(program, scripts, tmp_path):
    """bash("run", "--ou") is what may stand in place of the last word."""
    def complete(*words, name="ingestctl"):
        # As readline cuts them.
        cut = [piece for word in words for piece in re.findall(r"[=:]+|[^=:]+", word) or [""]]
        script = ('source "$1"; shift; complete -p "${1##*/}" >/dev/null; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_WORDBREAKS=$\' \\t\\n"\\\'><=;|&(:\';'
                  ' compopt() { :; }; called=${1##*/}; "_${called//-/_}"; ((${#COMPREPLY[@]} == 0)) || printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", scripts / "ingestctl.bash", program(name), *cut],
                              capture_output=True, text=True, timeout=WAIT_S, cwd=tmp_path, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return sorted(done.stdout.split())
    return complete


def options_of(program):
    listed = subprocess.run([program("ingestctl"), "help", "--print", "options"], capture_output=True, text=True, timeout=WAIT_S, check=True)
    found = {}
    for line in listed.stdout.splitlines():
        verb, option = line.split("\t")
        found.setdefault(verb, set()).update({option} if option else ())
    return found


COMMON = {"--config", "--set", "--help"}


def test_bash_knows_every_option_of_every_verb(program, bash):
    for verb, options in options_of(program).items():
        assert set(bash(*verb.split(), "--")) == options | COMMON, verb


def test_bash_completes_verbs_and_those_below(bash):
    assert "requests" in bash("re") and "results" in bash("re") and "run" not in bash("re")
    assert bash("requests", "l") == ["lists", "load"]
    assert bash("--config", "x.yaml", "--set", "a=b", "hosts", "b") == ["block", "blocks"]
    assert bash("hosts", "--json", "t") == ["top"]  # an option may stand between


def test_bash_completes_values(bash, tmp_path):
    (tmp_path / "one.yaml").write_text("")
    (tmp_path / "folder").mkdir()
    assert bash("--config", "on") == ["one.yaml"]
    assert bash("run", "--out", "") == ["folder"]
    assert bash("run", "--out", "folder", "on") == ["one.yaml"]
    assert bash("submit", "--lane", "d") == ["daily"] == bash("submit", "-l", "d") == bash("submit", "--lane=d")
    assert bash("reexamine", "--what", "t") == ["text", "thumbnail"]
    assert bash("requests", "dump", "--class", "hit,re") == ["hit,retry-due", "hit,retry-later"]
    assert bash("results", "--status", "no-p") == ["no-pdf-link"]
    assert bash("--set", "stop.dr") == ["stop.drain_ms="]
    assert bash("publication", "--resource", "pm") == ["pmc-html", "pmc-xml"]
    assert bash("requests", "load", "--max-lag", "") == []  # a number


def test_bash_asks_the_program_for_what_it_alone_knows(bash):
    assert "unpaywall" in bash("run", "--source", "un") and "crossref" in bash("seedlist", "cross")
    assert bash("help", "no-pdf") == ["no-pdf-link"] and bash("help", "select") == ["select", "selections"]
    assert "never-answered" in bash("stats", "nev")


def test_bash_knows_the_options_of_the_daemon(program, bash):
    shown = subprocess.run([program("ingest-worker"), "--help"], capture_output=True, text=True, timeout=WAIT_S, check=True).stdout
    options = set(re.findall(r"^  (--[a-z-]+)", shown, re.MULTILINE))
    assert len(options) > 5 and set(bash("--", name="ingest-worker")) == options
    assert bash("--set", "stop.dr", name="ingest-worker") == ["stop.drain_ms="]


@pytest.fixture
def configuration(tmp_path):
    """A configuration whose state.dir has the sockets of two workers, one in a folder of its own."""
    state = tmp_path / "state"
    (state / "east").mkdir(parents=True)
    for path in (state / "west.sock", state / "east" / "east-2.sock"):
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    (tmp_path / "my.yaml").write_text(f"state.dir: {state}\n")
    return tmp_path / "my.yaml"


def test_bash_knows_the_workers_of_the_configuration_on_the_line(bash, configuration):
    assert bash("--config", str(configuration), "status", "") == ["east-2", "west"]
    assert bash("--set", f"state.dir={configuration.parent / 'state'}", "pause", "w") == ["west"]


class Zsh:
    """An interactive zsh, which is typed to; ^X prints the line as it is."""
    def __init__(self, program, scripts, folder):
        environment = {"PATH": f"{pathlib.Path(program('ingestctl')).parent}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        functions = folder / "functions"
        functions.mkdir()
        (functions / "_ingestctl").write_text((scripts / "ingestctl.zsh").read_text(encoding="utf-8"), encoding="utf-8")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], environment)
        self.send(f"PS1='> '; fpath=({functions} $fpath); autoload -Uz compinit && compinit -u -D; setopt no_beep; unsetopt list_ambiguous;"
                  " LISTMAX=10000; show() { print -r -- \"<<$BUFFER>>\"; BUFFER=''; zle reset-prompt }; zle -N show; bindkey '^X' show; print read''y\n")
        self.until("ready")

    def send(self, text):
        os.write(self.fd, text.encode())

    def until(self, pattern):
        seen = ""
        end = time.monotonic() + WAIT_S
        while not re.search(pattern, seen):
            assert time.monotonic() < end, seen
            if select.select([self.fd], [], [], 1)[0]:
                seen += os.read(self.fd, 65536).decode(errors="replace")
        return seen

    def complete(self, line):
        """The line after a tab, and what was shown meanwhile."""
        self.send(line + "\t\x18")
        seen = self.until(r"<<.*>>")
        return re.search(r"<<(.*)>>", seen).group(1).rstrip(), seen

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


@pytest.fixture
def zsh(program, scripts, tmp_path):
    (tmp_path / "one.yaml").write_text("")
    (tmp_path / "folder").mkdir()
    shell = Zsh(program, scripts, tmp_path)
    yield shell
    shell.close()


@pytest.mark.parametrize(("typed", "wanted"), [
    ("ingestctl subm", "ingestctl submit"), ("ingestctl requests enq", "ingestctl requests enqueue"), ("ingestctl run --ou", "ingestctl run --out"),
    ("ingestctl --config on", "ingestctl --config one.yaml"), ("ingestctl run --out fo", "ingestctl run --out folder/"),
    ("ingestctl submit --lane da", "ingestctl submit --lane daily"), ("ingestctl submit --lane=da", "ingestctl submit --lane=daily"),
    ("ingestctl hosts --json expl", "ingestctl hosts --json explain"), ("ingestctl requests dump --class hit,nev", "ingestctl requests dump --class hit,never-asked,"),
    ("ingestctl --set stop.dra", "ingestctl --set stop.drain_ms="), ("ingestctl run --source unpay", "ingestctl run --source unpaywall"),
    ("ingest-worker --check", "ingest-worker --check-config"), ("ingest-worker --config on", "ingest-worker --config one.yaml"),
    ("ingestctl help no-pdf", "ingestctl help no-pdf-link"), ("ingestctl run --out folder on", "ingestctl run --out folder one.yaml"),
])
def test_zsh_completes(zsh, typed, wanted):
    assert zsh.complete(typed)[0] == wanted


def test_zsh_knows_the_workers_of_the_configuration_on_the_line(zsh, configuration):
    line = f"ingestctl --config {configuration.name} drain"
    assert zsh.complete(f"{line} wes")[0] == f"{line} west"


def test_zsh_shows_what_an_option_is_for(zsh):
    line, shown = zsh.complete("ingestctl hosts block --")
    assert line == "ingestctl hosts block --"
    assert re.search(r"--why +-- the reason", shown) and "--dir" not in shown


def test_zsh_knows_every_option_of_every_verb(program, scripts):
    text = (scripts / "ingestctl.zsh").read_text(encoding="utf-8")
    functions = text[text.index("_ingestctl_below()"):text.index("# Sets verb to")]
    for verb, options in options_of(program).items():
        done = subprocess.run(["zsh", "-f", "-c", f'{functions}\n_ingestctl_options "$1"', "zsh", verb], capture_output=True, text=True, timeout=WAIT_S, check=True)
        assert {line.split(":")[0] for line in done.stdout.splitlines()} == options | COMMON, verb
