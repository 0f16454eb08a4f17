#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Private PostgreSQL and Kafka servers, for the quickstart and for the tests.

Each server lives in one folder that holds its data, its log, its pid and its ports, and listens on the
loopback address alone. start() returns when the server answers, or raises ServerError with the end of its
log; stop() ends the process whose pid the folder holds, and no other. A server that is started again gets
its old ports back when they are still free, so that clients survive a restart.

Runs on the Python of the system, with its standard library only. As a program:

    private_servers.py start|stop|status postgres|kafka --dir DIR [--database NAME]
    private_servers.py start|stop|status process --dir DIR [-- COMMAND…]

prints one JSON object that says how to reach the server ({"dsn": …}, {"brokers": …} or {"pid": …}).
"""

import argparse
import base64
import glob
import itertools
import json
import os
import pwd
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
# Largest value of a record (32 MiB), and room for its key, headers and framing.
MAX_RECORD_BYTES = 32 * 1024 * 1024 + 65536
MAX_LOG_BYTES = 16 * 1024 * 1024


class ServerError(Exception):
    """A server could not be started or stopped; the message says why and quotes its log."""


def kafka_dir():
    """Where deploy/deps has put Kafka; paths.sh, beside this file, is what knows its version."""
    command = ["bash", "-c", '. "$0" && printf %s "$ING_KAFKA_DIR"', os.path.join(HERE, "paths.sh")]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def free_port(wanted=None):
    """A free TCP port of the loopback address: the wanted one if it can be had.

    A new one is taken from below the range of which the kernel gives ports to clients. Else a client could sit
    on a server's port while the server is being restarted, even by connecting to itself."""
    floor = int(read_text("/proc/sys/net/ipv4/ip_local_port_range").split()[0])
    candidates = range(max(1024, floor - 16384), floor) or range(20000, 60000)
    tries = random.sample(candidates, min(200, len(candidates)))
    for port in ([wanted] if wanted else []) + tries:
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sock.bind(("127.0.0.1", port))
                sock.listen(1)
            except OSError:
                continue
            return port
    raise ServerError("no free TCP port")


def read_text(path, offset=0):
    """What stands in a file from a byte on; "" when there is no such file."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def write_private(path, text):
    """Writes a file that only its owner can read, replacing it whole."""
    descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def open_log(path):
    """A log to write to behind what earlier starts have left in it; what has become too long is put aside as
    PATH.1, over the one that was there."""
    if os.path.exists(path) and os.path.getsize(path) > MAX_LOG_BYTES:
        os.replace(path, path + ".1")
    return open(path, "ab")


def tail(path, lines=15):
    return "\n".join("    " + line for line in read_text(path).splitlines()[-lines:])


def process_start(pid):
    """The start time of a process in clock ticks since boot, or None if there is no such process.

    Pids are used again; together with its start time a pid names one process for good. A process that was
    ended is there until its last thread is, for so long it holds its sockets, although its first is a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, threads, start = fields[0], int(fields[17]), int(fields[19])
    return None if state == "Z" and threads <= 1 else start


class PidFile:
    """A file that says which process serves a folder."""

    def __init__(self, path):
        self.path = path

    def write(self, pid):
        write_private(self.path, f"{pid} {process_start(pid)}\n")

    def pid(self):
        """The pid if that very process still runs, else None."""
        try:
            pid, start = (int(word) for word in read_text(self.path).split())
        except ValueError:
            return None
        return pid if process_start(pid) == start else None

    def stop(self, signals):
        """Sends (signal, seconds to wait) in turn until the process is gone."""
        pid = self.pid()
        for number, seconds in signals:
            if self.pid() is None:
                break
            os.kill(pid, number)
            deadline = time.monotonic() + seconds
            while self.pid() is not None and time.monotonic() < deadline:
                reap(pid)
                time.sleep(0.02)
        if self.pid() is not None:
            raise ServerError(f"process {pid} does not end")
        if os.path.exists(self.path):
            os.unlink(self.path)


def reap(pid):
    """Collects a child that has ended; other people's children are none of our business."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass


class Postgres:
    """A private PostgreSQL cluster. PostgreSQL refuses to run as root; root's runs as another user."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "log")
        self.user = self._server_user()

    @staticmethod
    def _server_user():
        if os.geteuid() != 0:
            return None
        for name in ("postgres", "nobody"):
            try:
                return pwd.getpwnam(name)
            except KeyError:
                continue
        raise ServerError("neither a user postgres nor a user nobody to run PostgreSQL as")

    @staticmethod
    def _bin(program):
        found = glob.glob(f"/usr/lib/postgresql/*/bin/{program}")
        if found:
            return max(found, key=lambda path: float(path.split("/")[4]))
        path = shutil.which(program)
        if not path:
            raise ServerError(f"{program} was not found: deploy/deps --servers installs PostgreSQL")
        return path

    def _run(self, *command):
        """Runs a PostgreSQL program as the server's user, in a directory that user may enter."""
        identity = {}
        if self.user:
            identity = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}
        done = subprocess.run(
            command, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", check=False, **identity)
        if done.returncode != 0:
            raise ServerError(f"{os.path.basename(command[0])} failed: {done.stdout.strip()}\n{tail(self.log)}")

    def _give(self, path):
        if self.user:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    def _create(self):
        """Makes the cluster. Half of one, left by an interrupted run, is thrown away first."""
        shutil.rmtree(self.data, ignore_errors=True)
        os.makedirs(self.folder, mode=0o755, exist_ok=True)
        self._give(self.folder)
        self._write_password(secrets.token_hex(12))
        self._run(
            self._bin("initdb"), "--pgdata", self.data, "--username", "ingest", "--encoding", "UTF8",
            "--locale", "C.UTF-8", "--auth", "scram-sha-256", "--no-sync",
            "--pwfile", os.path.join(self.folder, "password"))
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as conf:
            conf.write(
                "listen_addresses = '127.0.0.1'\nfsync = on\nmax_connections = 300\nshared_buffers = 64MB\n"
                "timezone = 'UTC'\nlog_timezone = 'UTC'\nlog_line_prefix = '%m [%p] '\n")
        write_private(os.path.join(self.folder, "created"), "")

    def use_tls(self, certificate, key, ca_file):
        """From the next start on connections over TCP are encrypted; a client with a certificate of the authority's is
        whom that names, the others have a password. Called after the cluster was made."""
        for source, name in ((certificate, "server.crt"), (key, "server.key"), (ca_file, "root.crt")):
            path = os.path.join(self.data, name)
            write_private(path, read_text(source))
            self._give(path)
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as conf:
            conf.write("ssl = on\nssl_ca_file = 'root.crt'\n")
        path = os.path.join(self.data, "pg_hba.conf")
        write_private(path, "local all all scram-sha-256\nhostssl all machine 127.0.0.1/32 cert\n"
                            "hostssl all all 127.0.0.1/32 scram-sha-256\n")
        self._give(path)

    def port(self):
        return int(read_text(os.path.join(self.folder, "port")) or 0) or None

    def dsn(self, database="postgres"):
        """The password is in a file that it names, so that it can be an argument of a command."""
        passfile = urllib.parse.quote(os.path.join(self.folder, "pgpass"))
        return f"postgresql://ingest@127.0.0.1:{self.port()}/{database}?passfile={passfile}"

    def _write_password(self, password):
        for name, text in (("password", password), ("pgpass", f"*:*:*:*:{password}")):
            path = os.path.join(self.folder, name)
            write_private(path, text + "\n")
            self._give(path)

    def info(self):
        return {"dsn": self.dsn(), "log": self.log, "socket": self.folder, "port": self.port()}

    def running(self):
        """True if the process that the cluster's pid file names is a server of this very cluster."""
        lines = read_text(os.path.join(self.data, "postmaster.pid")).split()
        return bool(lines) and self.data in read_text(f"/proc/{lines[0]}/cmdline")

    def start(self):
        if self.running():
            return self.info()
        if not os.path.exists(os.path.join(self.folder, "created")):
            self._create()
        # A cluster that an earlier version has made.
        self._write_password(read_text(os.path.join(self.folder, "password")).strip())
        port = free_port(self.port())
        write_private(os.path.join(self.folder, "port"), f"{port}\n")
        options = f"-p {port}"
        # The name of a Unix socket is limited to 107 bytes; TCP alone does as well.
        if len(self.folder) < 80:
            options += f" -k '{self.folder}'"
        else:
            options += " -k ''"
        self._run(self._bin("pg_ctl"), "--pgdata", self.data, "--log", self.log, "--options", options,
                  "--wait", "--timeout", "60", "start")
        return self.info()

    def copy(self, primary):
        """Makes this cluster, which must not exist yet, a standby of one that runs. It has the same password."""
        os.makedirs(self.folder, mode=0o755)
        self._give(self.folder)
        self._run(self._bin("pg_basebackup"), "--pgdata", self.data, "--dbname", primary.dsn(), "--write-recovery-conf",
                  "--checkpoint", "fast", "--no-sync")
        self._write_password(read_text(os.path.join(primary.folder, "password")).strip())
        write_private(os.path.join(self.folder, "port"), f"{free_port()}\n")
        write_private(os.path.join(self.folder, "created"), "")

    def promote(self):
        """Makes a standby a primary."""
        self._run(self._bin("pg_ctl"), "--pgdata", self.data, "--wait", "--timeout", "60", "promote")

    def stop(self, mode="fast"):
        """Stops the server. Mode immediate is a crash: the next start replays the log."""
        if self.running():
            self._run(self._bin("pg_ctl"), "--pgdata", self.data, "--mode", mode, "--wait", "--timeout", "60",
                      "stop")

    def create_database(self, name, template=None):
        """Makes a database of that name unless there is one, and returns its address."""
        psql = self._bin("psql")
        exists = subprocess.run(
            [psql, "-XAtqd", self.dsn(), "-c", f"SELECT 1 FROM pg_database WHERE datname = '{name}'"],
            capture_output=True, text=True, check=True).stdout.strip()
        if not exists:
            copy = f' TEMPLATE "{template}"' if template else ""
            subprocess.run([psql, "-Xqd", self.dsn(), "-c", f'CREATE DATABASE "{name}"{copy}'], check=True)
        return self.dsn(name)


class Kafka:
    """A single Kafka node that is its own controller (KRaft).

    listeners are further ones, for clients with TLS or passwords: {"NAME": {"protocol": "SASL_SSL", "ssl.keystore.type":
    "PEM", …}}, settings of the broker without their listener.name. prefix. users, {name: password}, are made with the
    node's storage, for SCRAM-SHA-256."""

    def __init__(self, folder, listeners=None, users=None):
        self.listeners = listeners or {}
        self.users = users or {}
        self.folder = os.path.abspath(folder)
        self.log = os.path.join(self.folder, "log")
        self.pidfile = PidFile(os.path.join(self.folder, "pid"))
        self.properties = os.path.join(self.folder, "server.properties")

    @staticmethod
    def _java(main, *arguments, heap="256m"):
        jars = kafka_dir()
        if not os.path.exists(os.path.join(jars, ".complete")):
            raise ServerError(f"no Kafka in {jars}: deploy/deps --servers fetches it")
        java = shutil.which("java")
        if not java:
            raise ServerError("java was not found: deploy/deps --servers installs it")
        # The quick compiler and the plain collector: what counts here is a short start on few cores.
        return [java, f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
                f"-Dlog4j.configuration=file:{HERE}/log4j.properties",
                "-cp", os.path.join(jars, "*"), main, *arguments]

    def _ports(self):
        try:
            broker, controller, *more = (int(word) for word in read_text(os.path.join(self.folder, "ports")).split())
        except ValueError:
            broker, controller, more = None, None, []
        return broker, controller, dict(itertools.zip_longest(self.listeners, more[:len(self.listeners)]))

    def _configure(self):
        old_broker, old_controller, old_more = self._ports()
        broker, controller = free_port(old_broker), free_port(old_controller)
        more = {name: free_port(old_more[name]) for name in self.listeners}
        write_private(os.path.join(self.folder, "ports"), " ".join(map(str, (broker, controller, *more.values()))) + "\n")
        protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT",
                     **{name: how["protocol"] for name, how in self.listeners.items()}}
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join([f"PLAINTEXT://127.0.0.1:{broker}", f"CONTROLLER://127.0.0.1:{controller}",
                                   *(f"{name}://127.0.0.1:{port}" for name, port in more.items())]),
            "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": os.path.join(self.folder, "data"),
            "auto.create.topics.enable": "false",
            "num.partitions": 1,
            "offsets.topic.num.partitions": 4,
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.num.partitions": 4,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            # The first member of a group need not wait for others here.
            "group.initial.rebalance.delay.ms": 0,
            "group.min.session.timeout.ms": 1000,
            # After a crash the controller, itself restarted, waits this long before it believes in a new broker.
            "broker.session.timeout.ms": 1500,
            "broker.heartbeat.interval.ms": 300,
            "message.max.bytes": MAX_RECORD_BYTES,
            "replica.fetch.max.bytes": MAX_RECORD_BYTES,
            "log.cleaner.dedupe.buffer.size": 2 * 1024 * 1024,
            "num.network.threads": 2,
            "num.io.threads": 4,
            **{f"listener.name.{name.lower()}.{key}": value for name, how in self.listeners.items()
               for key, value in how.items() if key != "protocol"},
        }
        write_private(self.properties, "".join(f"{key}={value}\n" for key, value in settings.items()))

    def brokers(self, listener=None):
        broker, _, more = self._ports()
        return f"127.0.0.1:{more[listener] if listener else broker}"

    def info(self):
        return {"brokers": self.brokers(), "log": self.log, "pid": self.pidfile.pid()}

    def running(self):
        return self.pidfile.pid() is not None

    def _format(self):
        """Writes the identity of a new node into its data folder."""
        name = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        users = [word for user, password in self.users.items()
                 for word in ("--add-scram", f"SCRAM-SHA-256=[name={user},password={password}]")]
        done = subprocess.run(
            # In one word: a name may begin with a dash.
            self._java("kafka.tools.StorageTool", "format", f"--cluster-id={name}", "-c", self.properties, *users),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise ServerError(f"Kafka's storage could not be made: {done.stdout.strip()}")

    def start(self, timeout=60):
        if self.running():
            return self.info()
        os.makedirs(self.folder, exist_ok=True)
        self._configure()
        if not os.path.exists(os.path.join(self.folder, "data", "meta.properties")):
            shutil.rmtree(os.path.join(self.folder, "data"), ignore_errors=True)
            self._format()
        with open_log(self.log) as log:
            started_at = log.tell()
            # A session of its own: an interrupt typed at the terminal is not meant for it.
            process = subprocess.Popen(
                self._java("kafka.Kafka", self.properties, heap="512m"), cwd="/",
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.pidfile.write(process.pid)
        deadline = time.monotonic() + timeout
        while "Kafka Server started" not in read_text(self.log, started_at):
            if process.poll() is not None:
                raise ServerError(f"Kafka ended at once:\n{tail(self.log)}")
            if time.monotonic() > deadline:
                self.stop()
                raise ServerError(f"Kafka was not ready after {timeout} s:\n{tail(self.log)}")
            time.sleep(0.05)
        return self.info()

    def stop(self, hard=False):
        """Stops the node; hard is a crash."""
        gentle = [] if hard else [(signal.SIGTERM, 20)]
        self.pidfile.stop(gentle + [(signal.SIGKILL, 10)])


class Process:
    """Any program in the background: its output in DIR/log, its pid in DIR/pid."""

    def __init__(self, folder, command=()):
        self.folder = os.path.abspath(folder)
        self.command = list(command)
        self.log = os.path.join(self.folder, "log")
        self.pidfile = PidFile(os.path.join(self.folder, "pid"))

    def info(self):
        return {"pid": self.pidfile.pid(), "log": self.log}

    def running(self):
        return self.pidfile.pid() is not None

    def start(self):
        if self.running():
            return self.info()
        if not self.command:
            raise ServerError("a command is needed")
        os.makedirs(self.folder, exist_ok=True)
        with open_log(self.log) as log:
            process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.pidfile.write(process.pid)
        return self.info()

    def stop(self, patience=60):
        self.pidfile.stop([(signal.SIGTERM, patience), (signal.SIGKILL, 10)])


SERVERS = {"postgres": Postgres, "kafka": Kafka, "process": Process}


def main():
    parser = argparse.ArgumentParser(description="Start and stop private servers.")
    parser.add_argument("action", choices=["start", "stop", "status"])
    parser.add_argument("server", choices=sorted(SERVERS))
    parser.add_argument("--dir", required=True, help="folder that holds everything of this server")
    parser.add_argument("--database", help="with postgres: print the address of this database; start makes it")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:split])
    try:
        server = SERVERS[args.server](args.dir)
        if args.server == "process":
            server.command = words[split + 1:]
        if args.action == "stop":
            server.stop()
            return 0
        if args.action == "status":
            if not server.running():
                print(json.dumps({"running": False}))
                return 1
            info = server.info()
            if args.database:
                info["dsn"] = server.dsn(args.database)
            print(json.dumps(info))
            return 0
        info = server.start()
        if args.database:
            info["dsn"] = server.create_database(args.database)
        print(json.dumps(info))
        return 0
    except (ServerError, OSError) as error:
        print(f"servers: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
