# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for the service manager: reads the installed units and their drop-ins, starts what they say, with the folders,
environment, credentials and notification socket that they are promised, and starts it again when it dies.

What it knows is what the units of this project use. Sandboxing is not done here (tests/run systemd judges that).
"""

import itertools
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import threading
import time

# In place of RestartSec=, for tests that wait for it.
RESTART_S = 0.2
READY_S = 60
STOP_S = 60
# Services of other packages, which are not started here.
OTHERS = ("prometheus.service",)
NUMBERS = itertools.count(1)


class UnitError(Exception):
    """What systemctl says on stderr, and ends with status 1 for."""


def parse_unit(texts):
    """{section: {key: [values]}} of a unit and its drop-ins. An empty value forgets those before it."""
    sections = {}
    for text in texts:
        section = None
        for line in text.replace("\\\n", " ").splitlines():
            line = line.strip()
            if not line or line[0] in "#;":
                continue
            if line[0] == "[":
                section = sections.setdefault(line.strip("[]"), {})
                continue
            key, _, value = (word.strip() for word in line.partition("="))
            if value:
                section.setdefault(key, []).append(value)
            else:
                section[key] = []
    return sections


class Unit:
    """One loaded service unit: its commands with all specifiers replaced, and its process while it runs."""

    def __init__(self, name, root, texts, programs):
        self.name = name
        self.root = root
        self.instance = name.partition("@")[2].removesuffix(".service")
        self.sections = parse_unit(texts)
        self.programs = programs
        self.credentials = root / "run" / "credentials" / name
        self.log = root / "run" / f"{name}.log"
        self.process = None
        self.watcher = None
        self.notes = []
        self.ready = threading.Event()
        self.wanted = False
        self.restarts = 0
        self.status = None

    def values(self, key, section="Service"):
        return [self.expand(value) for value in self.sections.get(section, {}).get(key, [])]

    def value(self, key, default=None):
        found = self.values(key)
        return found[-1] if found else default

    def expand(self, text):
        places = {"%i": self.instance, "%E": self.root / "etc", "%S": self.root / "var/lib", "%C": self.root / "var/cache",
                  "%t": self.root / "run", "%d": self.credentials, "%H": self.root.name}
        for mark, what in places.items():
            text = text.replace(mark, str(what))
        return text

    def environment(self, base):
        env = dict(base)
        for line in self.values("Environment"):
            for word in shlex.split(line):
                key, _, value = word.partition("=")
                env[key] = value
        for path in self.values("EnvironmentFile"):
            optional = path.startswith("-")
            try:
                text = pathlib.Path(path.lstrip("-")).read_text(encoding="utf-8")
            except FileNotFoundError:
                if optional:
                    continue
                raise UnitError(f"{self.name}: {path} is missing") from None
            for line in text.splitlines():
                key, found, value = line.partition("=")
                if found and not key.startswith("#"):
                    env[key.strip()] = value.strip().strip('"')
        return env

    def make_folders(self):
        for key, place in (("StateDirectory", "var/lib"), ("CacheDirectory", "var/cache"), ("ConfigurationDirectory", "etc")):
            for line in self.values(key):
                for word in line.split():
                    (self.root / place / word).mkdir(parents=True, exist_ok=True)

    def load_credentials(self, env):
        given = self.values("LoadCredential")
        if not given:
            return
        shutil.rmtree(self.credentials, ignore_errors=True)
        self.credentials.mkdir(parents=True, mode=0o700)
        for line in given:
            name, _, source = line.partition(":")
            # Without a path it is a file of that name in the store of credentials.
            path = pathlib.Path(source or self.root / "etc/credstore" / name)
            if not str(path).startswith(str(self.root)):
                path = self.root / source.lstrip("/")
            if not path.exists():
                raise UnitError(f"{self.name}: credential {name}: no {source}")
            shutil.copy(path, self.credentials / name)
            (self.credentials / name).chmod(0o400)
        env["CREDENTIALS_DIRECTORY"] = str(self.credentials)

    def is_given_up(self):
        """Whether the manager would have had enough of starting it, had it waited for RestartSec= each time."""
        interval = self.values("StartLimitIntervalSec", "Unit")
        burst = self.values("StartLimitBurst", "Unit")
        return interval != ["0"] and self.restarts >= int(burst[-1] if burst else 5)

    def words(self, line, env):
        """A command line as the manager splits it: $NAME as its own word is split into words, ${NAME} is not."""
        found = []
        for word in shlex.split(line.lstrip("-+!@:")):
            if word.startswith("$") and not word.startswith("${"):
                found += shlex.split(env.get(word[1:], ""))
            else:
                # What is put in is not looked at again.
                found.append(re.sub(r"\$\{(\w+)\}", lambda mark: env.get(mark.group(1), ""), word))
        program = found[0].rpartition("/")[2]
        return [str(self.programs(program)) if program in ("ingest-worker", "ingestctl") else found[0], *found[1:]]


class Units:
    def __init__(self, machine, root, program, unit_folders, options=()):
        self.machine = machine
        self.root = root
        self.program = program
        self.folders = [root / "etc" / "systemd" / "system", *unit_folders]
        # Not the caller's: a unit has no home folder, and no database but the configuration's.
        self.base = {name: value for name, value in os.environ.items() if not name.startswith("PG") and name not in ("HOME", "USER")}
        self.options = list(options)
        self.loaded = {}
        self.lock = threading.RLock()

    # --- files ---

    def texts(self, name):
        stem, at, rest = name.partition("@")
        kind = name.rpartition(".")[2]
        names = [name] + ([f"{stem}@.{kind}"] if at else [])
        found = [folder / one for one in names for folder in self.folders if (folder / one).is_file()]
        if not found:
            raise UnitError(f"Unit {name} not found.")
        drops = [path for one in reversed(names) for folder in reversed(self.folders)
                 for path in sorted((folder / f"{one}.d").glob("*.conf"))]
        return [path.read_text(encoding="utf-8") for path in (found[0], *drops)]

    def load(self, name):
        with self.lock:
            unit = self.loaded.get(name)
            texts = self.texts(name)
            if unit is None:
                unit = self.loaded[name] = Unit(name, self.root, texts, self.program)
            elif unit.process is None:
                unit.sections = parse_unit(texts)
            return unit

    # --- starting and stopping ---

    def extra(self, unit, words):
        """A worker's name has its machine's, in place of the real host name; the rest is what the test's network needs."""
        if not words[0].endswith("ingest-worker"):
            return words
        return [*words, "--set", f"instance={self.machine}@{unit.instance}", *self.options]

    def start(self, name, wait=True):
        unit = self.load(name)
        if unit.process is not None:
            return
        env = unit.environment(self.base)
        unit.make_folders()
        unit.load_credentials(env)
        for line in unit.values("ExecStartPre"):
            with open(unit.log, "ab") as log:
                done = subprocess.run(self.extra(unit, unit.words(line, env)), env=env, stdout=log, stderr=log, check=False,
                                      timeout=READY_S)
            if done.returncode != 0 and not line.startswith("-"):
                unit.status = done.returncode
                raise UnitError(f"Job for {name} failed because the control process exited with error code.")
        unit.wanted = True
        if unit.value("Type") == "oneshot":
            self.run_once(unit, env)
            return
        self.spawn(unit, env)
        if not wait or unit.value("Type", "simple") == "simple":
            return
        if not unit.ready.wait(READY_S) or unit.process is None:
            raise UnitError(f"Job for {name} failed: {self.tail(unit)}")

    def run_once(self, unit, env):
        for line in unit.values("ExecStart"):
            with open(unit.log, "ab") as log:
                unit.status = subprocess.run(unit.words(line, env), env=env, stdout=log, stderr=log, check=False).returncode
            if unit.status != 0:
                raise UnitError(f"Job for {unit.name} failed: {self.tail(unit)}")

    def spawn(self, unit, env):
        unit.ready.clear()
        unit.notes = []
        words = self.extra(unit, unit.words(unit.value("ExecStart"), env))
        # An abstract name: a path may have 107 bytes, which pytest's folders exceed.
        abstract = f"@ing-units-{os.getpid()}-{next(NUMBERS)}"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind("\0" + abstract[1:])
        with open(unit.log, "ab") as log:
            unit.process = subprocess.Popen(words, env={**env, "NOTIFY_SOCKET": abstract, "WATCHDOG_USEC": "60000000"},
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        threading.Thread(target=self.listen, args=(unit, listener), daemon=True).start()
        unit.watcher = threading.Thread(target=self.watch, args=(unit, env, listener), daemon=True)
        unit.watcher.start()

    @staticmethod
    def listen(unit, listener):
        try:
            while note := listener.recv(65536):
                unit.notes.append(note.decode())
                if "READY=1" in note.decode().split("\n"):
                    unit.ready.set()
        except OSError:
            pass  # closed: the process has ended

    def watch(self, unit, env, listener):
        status = unit.process.wait()
        listener.close()
        with self.lock:
            unit.status = status
            unit.process = None
            again = unit.wanted and status != 0 and unit.value("Restart") == "on-failure"
        prevented = (unit.value("RestartPreventExitStatus") or "").split()
        if again and str(status) not in prevented and not unit.is_given_up():
            time.sleep(RESTART_S)  # as RestartSec=
            if unit.wanted:
                unit.restarts += 1
                self.spawn(unit, env)
                return
        unit.ready.set()  # whoever waits looks at the process

    def stop(self, name):
        unit = self.load(name)
        with self.lock:
            unit.wanted = False
            process = unit.process
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise UnitError(f"{name} does not stop: {self.tail(unit)}") from None
        unit.watcher.join()
        if str(process.returncode) not in ("0", *(unit.value("SuccessExitStatus") or "").split()):
            raise UnitError(f"{name} ended with {process.returncode}: {self.tail(unit)}")

    def reload(self, name):
        unit = self.load(name)
        if unit.process is None:
            raise UnitError(f"{name} is not active, cannot reload.")
        unit.process.send_signal(signal.SIGHUP)

    def kill(self, name, number=signal.SIGKILL):
        unit = self.load(name)
        if unit.process is not None:
            unit.process.send_signal(number)

    def lose(self):
        """The machine is gone: nothing is asked to end."""
        for unit in list(self.loaded.values()):
            with self.lock:
                unit.wanted = False
                process = unit.process
            if process is not None:
                process.kill()
                unit.watcher.join()

    def stop_all(self):
        self.lose()

    def wait_log(self, name, pattern, timeout=30):
        """Waits until the unit has logged a line that the regular expression finds."""
        deadline = time.monotonic() + timeout
        while not re.search(pattern, self.tail(self.load(name), 1000)):
            assert time.monotonic() < deadline, f"nothing like {pattern!r} in\n{self.tail(self.load(name))}"
            time.sleep(0.05)

    def tail(self, unit, lines=40):
        if not unit.log.exists():
            return "nothing was logged"
        return "\n".join(unit.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    # --- commands ---

    def command(self, program, words):
        """(status, out, err) of systemctl or journalctl."""
        try:
            return (0, self.journalctl(words) if program == "journalctl" else self.systemctl(words), "")
        except UnitError as error:
            return (1, "", f"{error}\n")

    def names(self, words):
        """Unit names as typed: without an ending they are services; a pattern means those that are loaded."""
        found = []
        for word in words:
            word = word if word.rpartition(".")[2] in ("service", "timer", "target") else f"{word}.service"
            if "*" in word:
                found += sorted(one for one in self.loaded if pathlib.PurePath(one).match(word))
            else:
                found.append(word)
        return found

    def systemctl(self, words):
        options = [word for word in words if word.startswith("-")]
        verb, *rest = [word for word in words if not word.startswith("-")]
        if verb == "daemon-reload":
            return ""
        if verb == "list-units":
            return "".join(f"{name} loaded {'active' if self.loaded[name].process else 'inactive'}\n" for name in self.names(rest))
        out = []
        for name in self.names(rest):
            out.append(self.do(verb, name, options))
        return "".join(out)

    def do(self, verb, name, options):
        if name in OTHERS:
            return ""
        if name.endswith(".timer"):
            self.texts(name)
            self.texts(name.replace(".timer", ".service"))
            return ""
        if verb in ("enable", "disable") and "--now" not in options:
            self.texts(name)
            return ""
        if verb in ("start", "enable"):
            self.start(name, "--no-block" not in options)
        elif verb in ("stop", "disable"):
            self.stop(name)
        elif verb in ("restart", "try-restart"):
            self.stop(name)
            self.start(name)
        elif verb == "reload":
            self.reload(name)
        elif verb == "kill":
            self.kill(name)
        elif verb in ("status", "is-active"):
            unit = self.load(name)
            state = "active" if unit.process else "failed" if unit.status else "inactive"
            said = [line for note in unit.notes for line in note.split("\n") if line.startswith("STATUS=")]
            if verb == "is-active":
                return f"{state}\n"
            return f"{name}: {state}\n{''.join(said[-1:])}\n{self.tail(unit, 10)}\n"
        else:
            raise UnitError(f"the stand-in of systemctl does not know {verb}")
        return ""

    def journalctl(self, words):
        names = self.names([words[number + 1] for number, word in enumerate(words) if word == "-u"])
        return "".join(f"{self.tail(self.load(name))}\n" for name in names)
