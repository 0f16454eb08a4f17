# SPDX-License-Identifier: GPL-3.0-or-later
"""The Debian packages, in a bare Debian 12 with its own systemd: installed, configured, crashed, upgraded, removed.

The programs of the build are packed by the same debian/rules as those of a clean build (deploy/package --here --build)."""

import json
import re
import shutil

import psycopg
import pytest
import yaml
from servers.debian import BareDebian
from servers.packages import NAMES, ROOT, bare_root, run, without_password
from servers.worker import nested

pytestmark = pytest.mark.xdist_group("packages")  # built once, by one process

HOST = "tidal-ecology.example"
LANDING = {"ingest_type": "pdf", "base_url": f"https://{HOST}/article/view/41"}
UNIT = "ingest-worker@1.service"
CONFIG = "/etc/ingest-worker/ingest-worker.yaml"
PLACES = ("instance", "warc.dir", "spool.dir", "state.dir")  # which the unit gives
READY_PATIENCE_S = 60


def field(package, name):
    return run("dpkg-deb", "-f", package, name).strip()


@pytest.fixture(scope="module")
def older(packages, tmp_path_factory):
    """The same packages as an earlier version."""
    folder = tmp_path_factory.mktemp("older")
    found = {}
    for name, package in packages.items():
        version = field(package, "Version")
        run("dpkg-deb", "--raw-extract", package, folder / name)
        control = folder / name / "DEBIAN" / "control"
        control.write_text(control.read_text().replace(f"Version: {version}", f"Version: {version}~older")
                           .replace(f"(= {version})", f"(= {version}~older)"))
        found[name] = folder / f"{name}.deb"
        run("dpkg-deb", "-Znone", "--root-owner-group", "--build", folder / name, found[name])
    return found


@pytest.fixture
def machine(packages, tag, own_dir):
    """A running bare Debian 12 that has never seen the packages."""
    with BareDebian(bare_root(packages), own_dir / f"machine-{tag}", f"ing-{tag}") as running:
        yield running
        print(running.journal("ingest*")[-20000:])  # shown when the test has failed


def install(machine, files):
    """As an operator does it, with what Debian 12 has and nothing else."""
    folder = machine.path("/root/debs")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in files.values():
        shutil.copy(file, folder)
    return machine.run("sh", "-c", "apt-get install --yes --no-install-recommends /root/debs/*.deb").stdout


def dropin(machine, name, text):
    path = machine.path(f"/etc/systemd/system/ingest-worker@.service.d/{name}.conf")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    machine.run("systemctl", "daemon-reload")


@pytest.fixture
def configure(machine, settings, web, account, kafka, topics, tmp_path):
    """configure(): writes the configuration of the test, the password as a credential, and the drop-in that passes it on."""
    kept = tmp_path / "kept"  # for the account: the machine is gone by then
    def write():
        flat = {key: value for key, value in settings.items() if key not in PLACES}
        flat["postgres.dsn"], password = without_password(flat["postgres.dsn"])
        flat["postgres.password_file"] = "pg-password"
        flat["fetch.ca_file"] = "/etc/ingest-worker/web.pem"
        shutil.copy(web.ca_file, machine.path(flat["fetch.ca_file"]))
        machine.path(CONFIG).write_text(yaml.safe_dump(nested(flat)))
        secret = machine.path("/etc/credstore/pg-password")  # where the manager looks, and ingestctl run by root
        secret.parent.mkdir(mode=0o700, exist_ok=True)
        secret.touch(mode=0o600)
        secret.write_text(password)
        dropin(machine, "password", "[Service]\nLoadCredential=pg-password\n")
        account.ran(settings["kafka.group"], str(kept))
        account.brokers, account.topics = kafka.brokers(), topics
    yield write
    shutil.copytree(machine.path("/var/lib/ingest-worker/1/warc"), kept)


@pytest.fixture
def older_schema(database):
    """Takes the test's database back to the schema before the newest, as it was made by the migrations themselves."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.execute("CREATE TABLE schema_version (version integer PRIMARY KEY, name text NOT NULL,"
                           " applied timestamptz NOT NULL DEFAULT now())")
        files = sorted((ROOT / "schemas" / "sql").glob("*.sql"))
        for number, file in enumerate(files[:-1], 1):
            connection.execute(file.read_text())
            connection.execute("INSERT INTO schema_version (version, name) VALUES (%s, %s)", (number, file.stem))
    return len(files) - 1


def main_pid(machine):
    return int(machine.property(UNIT, "MainPID"))


def ctl(machine, *arguments, **how):
    return machine.run("ingestctl", *arguments, **how)


def is_active(machine):
    return machine.property(UNIT, "ActiveState") == "active"


def wait_journal(machine, wait_until, pattern):
    return wait_until(lambda: re.search(pattern, machine.journal(UNIT), re.MULTILINE), READY_PATIENCE_S, 0.3)


@pytest.fixture
def hold(web, submit, wait_until):
    """hold(host, seconds): submits a request that takes so long, and returns when it is under way."""
    def begin(host, seconds):
        web.route(host, "/paper.pdf", {"delay_s": seconds, "body": "no PDF"})
        submit({"ingest_type": "pdf", "base_url": f"http://{host}/paper.pdf"})
        wait_until(lambda: web.most_at_once(host) == 1)
    return begin


def statuses(found):
    return {one["request"]["base_url"]: one["status"] for one in found}


def test_packages_are_built_with_what_deps_installs():
    """deploy/deps and debian/control name the same libraries: whoever adds one finds it in the packages, too."""
    script = (ROOT / "deploy" / "deps").read_text()
    listed = re.search(r"^build_packages=\((.*?)^\)", script, re.MULTILINE | re.DOTALL)[1]
    wanted = set(re.sub(r"#.*", "", listed).split()) | {"liblexbor-dev"}  # which has a source of its own
    # The compiler is in each root that builds packages; the others are not needed for that.
    wanted -= {"gcc", "libc6-dev", "git", "ca-certificates", "libcmocka-dev", "poppler-data"}
    control = (ROOT / "deploy" / "packaging" / "debian" / "control").read_text()
    fields = re.search(r"^Build-Depends:(.*?)^\S|^Build-Depends:(.*?)\n\n", control, re.MULTILINE | re.DOTALL)
    named = {part.split("(")[0].strip() for part in (fields[1] or fields[2]).split(",")}
    assert named - {"debhelper-compat"} == wanted


def test_bill_of_materials_names_what_is_loaded(packages):
    bill = json.loads((packages["ingestctl"].parent / "ingest-worker.cdx.json").read_text())
    parts = {part["bom-ref"]: part for part in bill["components"]}
    assert len(parts) == len(bill["components"])
    by_name = {part["name"]: part for part in bill["components"]}
    on = {one["ref"]: one["dependsOn"] for one in bill["dependencies"]}
    assert set(on) == set(parts) | {"ingest-worker"} and {ref for refs in on.values() for ref in refs} <= set(parts)
    for program, library in (("/usr/sbin/ingest-worker", "librdkafka1"), ("/usr/bin/ingestctl", "libpq5"),
                             ("/usr/libexec/ingest-worker/ingest-examiner", "libpoppler-glib8")):
        version = run("dpkg-query", "--show", "--showformat=${Version}", library)
        assert by_name[library]["version"] == version
        assert by_name[library]["bom-ref"] in on[program]
        assert by_name["liblexbor-dev"]["bom-ref"] in on[program]
    # Not asked for by any program, but loaded: by curl.
    assert "libnghttp2-14" in by_name
    assert {"name": "linked", "value": "static"} in by_name["liblexbor-dev"]["properties"]
    assert not [ref for ref, part in parts.items() if part["type"] == "library" and not part["version"]]


@pytest.mark.slow
def test_fresh_installation_waits_for_its_operator(machine, packages):
    install(machine, packages)
    assert machine.run("id", "-u", "ingest-worker").stdout
    assert machine.run("ingestctl", "--version").stdout.split()[1] == field(packages["ingestctl"], "Version").split("~")[0]
    assert machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "ingest*").stdout == ""
    assert not list(machine.path("/etc/systemd/system/multi-user.target.wants").glob("ingest*"))
    # What Debian 12 does not have is inside of the programs.
    installed = machine.run("dpkg-query", "-W", "-f", "${Package} ").stdout
    assert "lexbor" not in installed
    for program in ("/usr/sbin/ingest-worker", "/usr/bin/ingestctl", "/usr/libexec/ingest-worker/ingest-examiner"):
        needed = run("readelf", "-d", machine.path(program))
        assert "libc.so.6" in needed and "lexbor" not in needed
    # Without a configuration it says so, and the manager does not try for ever.
    assert machine.run("systemctl", "start", UNIT, check=False).returncode != 0
    assert CONFIG in machine.journal(UNIT)


@pytest.mark.slow
def test_worker_of_a_new_release_waits_for_the_migration(machine, packages, older_schema, configure, submit, results, wait_until):
    install(machine, packages)
    configure()
    submit(LANDING)
    # As often as in hours, in seconds.
    dropin(machine, "often", "[Service]\nRestartSec=0\nExecStartPre=\n")
    machine.run("systemctl", "enable", "--now", "--no-block", UNIT)
    wait_journal(machine, wait_until, f"version {older_schema}, older than this program's [0-9]+: run ingestctl db migrate")
    wait_until(lambda: int(machine.property(UNIT, "NRestarts")) > 30, 2 * READY_PATIENCE_S, 0.5)
    # What it waits for is done; nobody starts it.
    ctl(machine, "db", "migrate")
    wait_until(lambda: is_active(machine), READY_PATIENCE_S)
    assert statuses(results(1)) == {LANDING["base_url"]: "success"}


@pytest.mark.slow
def test_installed_crashed_upgraded_removed(machine, older, packages, configure, submit, hold, results, web,
                                              wait_until):
    install(machine, older)
    configure()
    machine.run("systemctl", "enable", "--now", UNIT, timeout=READY_PATIENCE_S)  # returns when it is READY
    submit(LANDING)
    assert statuses(results(1)) == {LANDING["base_url"]: "success"}

    machine.run("systemctl", "reload", UNIT)
    wait_journal(machine, wait_until, r"rules.*(reload|read|new)")
    assert is_active(machine)

    # Killed while a request is under way: the manager starts it again, and the request is done once.
    hold("killed.example", 3)
    killed = main_pid(machine)
    machine.run("kill", "-KILL", killed)
    wait_until(lambda: main_pid(machine) not in (0, killed) and is_active(machine), READY_PATIENCE_S)
    assert machine.property(UNIT, "NRestarts") == "1"
    assert len(results(2)) == 2

    # Upgraded while a request is under way: it is finished by the old program, and the new one goes on.
    hold("upgraded.example", 6)
    before = main_pid(machine)
    install(machine, packages)
    assert machine.run("dpkg-query", "-W", "-f", "${Version}", "ingest-worker").stdout == field(packages["ingest-worker"], "Version")
    wait_until(lambda: main_pid(machine) not in (0, before) and is_active(machine), READY_PATIENCE_S)
    assert len(results(3)) == 3
    assert len(web.accesses("upgraded.example")) == 1

    # Removed: stopped first; what the operator has written and what was fetched stays, also when purged.
    machine.run("apt-get", "remove", "--yes", *NAMES)
    assert main_pid(machine) == 0
    assert not machine.path("/usr/sbin/ingest-worker").exists()
    machine.run("apt-get", "purge", "--yes", *NAMES)
    assert machine.path(CONFIG).exists()
    assert list(machine.path("/var/lib/ingest-worker/1/warc").glob("*.warc.gz"))
    left = [path for path in machine.path("/var/lib/ingest-worker/1").iterdir() if path.name != "warc"]
    assert not left and not machine.path("/var/cache/ingest-worker").exists()
    assert not list(machine.path("/etc/systemd/system/multi-user.target.wants").glob("ingest*"))
