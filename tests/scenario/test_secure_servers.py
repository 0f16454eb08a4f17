# SPDX-License-Identifier: GPL-3.0-or-later
"""Worker and ingestctl with a broker and a database that want TLS, a password or a certificate; and what they say when
one of these is wrong. Secrets come out of files, and are not seen anywhere else."""

import pathlib
import re
import shutil
import subprocess

import private_servers
import psycopg
import pytest
from servers import tls

LANDING = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
KAFKA_PASSWORD = "kafka pass=word"
# Servers of this file, which only these tests use: in one process of pytest-xdist.
pytestmark = pytest.mark.xdist_group("secure-servers")


# --- servers -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority(own_dir):
    made = tls.Authority(own_dir / "secure" / "ca")
    made.issue("broker", ["127.0.0.1"])
    made.issue("broker-expired", ["127.0.0.1"], expired=True)
    made.issue("broker-elsewhere", ["broker.elsewhere.example"])
    made.issue("database", ["db.tests.example"])
    made.issue("database-expired", ["db.tests.example"], expired=True)
    made.issue("machine")
    made.issue("machine-locked", password="key password")
    made.issue("stranger-expired", expired=True)
    return made


@pytest.fixture(scope="module")
def stranger(own_dir):
    """Another authority, which nobody trusts."""
    made = tls.Authority(own_dir / "secure" / "stranger", "Somebody else")
    made.issue("machine")
    return made


@pytest.fixture(scope="module")
def secure_kafka(own_dir, authority):
    listeners = {
        "SASL": {**tls.listener(authority, "broker", "SASL_SSL"), **tls.SCRAM},
        "MTLS": tls.listener(authority, "broker", "SSL", ssl_client_auth="required"),
        "EXPIRED": tls.listener(authority, "broker-expired", "SSL"),
        "ELSEWHERE": tls.listener(authority, "broker-elsewhere", "SSL"),
    }
    server = private_servers.Kafka(own_dir / "secure" / "kafka", listeners, {"ingest": KAFKA_PASSWORD})
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def secure_postgres(own_dir, authority):
    server = private_servers.Postgres(own_dir / "secure" / "postgres")
    server.start()
    server.stop()
    server.use_tls(authority.folder / "database.pem", authority.folder / "database.key", authority.ca_file)
    server.start()
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("CREATE ROLE machine LOGIN SUPERUSER")
    yield server
    server.stop()


@pytest.fixture
def kafka(secure_kafka):
    """In place of conftest's: the tests' own clients use its plain listener."""
    return secure_kafka


@pytest.fixture
def postgres(secure_postgres):
    return secure_postgres


# --- settings ------------------------------------------------------------------------------------------


def secret(path, text):
    path.write_text(text + "\n")
    path.chmod(0o600)
    return str(path)


def address(database, postgres, **options):
    """The address of the database, by the name that is in the server's certificate."""
    words = {"host": "db.tests.example", "hostaddr": "127.0.0.1", "port": postgres.port(),
             "dbname": psycopg.conninfo.conninfo_to_dict(database)["dbname"], "user": "ingest", "sslmode": "verify-full",
             "connect_timeout": 5, **options}
    return " ".join(f"{name}={value}" for name, value in words.items())


@pytest.fixture
def password(postgres):
    return pathlib.Path(postgres.folder, "password").read_text().strip()


@pytest.fixture
def secure(settings, kafka, postgres, database, authority, password, tmp_path):
    """The settings of a worker with passwords: SCRAM over TLS, and verify-full."""
    settings.update({
        "kafka.brokers": kafka.brokers("SASL"),
        "kafka.properties": {"security.protocol": "sasl_ssl", "sasl.mechanisms": "SCRAM-SHA-256", "sasl.username": "ingest",
                             "ssl.ca.location": str(authority.ca_file)},
        "kafka.password_file": secret(tmp_path / "kafka-password", KAFKA_PASSWORD),
        "postgres.dsn": address(database, postgres, sslrootcert=authority.ca_file),
        "postgres.password_file": secret(tmp_path / "pg-password", password),
    })
    return settings


def sessions(sql):
    """The worker's connections to the database: whether each is encrypted, and whom its certificate names."""
    rows = sql("SELECT ssl, coalesce(client_dn, '') AS name FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
               "WHERE application_name = 'ingest-worker'")
    return {(row["ssl"], row["name"]) for row in rows}


def said_nowhere(daemon, *secrets):
    """Nobody who can see the process or its log finds them there."""
    seen = [daemon.log(), pathlib.Path(f"/proc/{daemon.pid}/cmdline").read_text(),
            pathlib.Path(f"/proc/{daemon.pid}/environ").read_text(), *daemon.notifications]
    return not any(one in text for one in secrets for text in seen)


# --- what works ----------------------------------------------------------------------------------------


def test_worker_uses_passwords_out_of_files_over_tls(worker, secure, submit, results, sql, password):
    submit(LANDING)
    secure["log.level"] = "debug"
    secure["kafka.properties"]["debug"] = "security,broker"
    with worker() as daemon:
        assert results(1)[0]["status"] == "success"
        assert sessions(sql) == {(True, "")}
        assert said_nowhere(daemon, KAFKA_PASSWORD, password)
    assert sql("SELECT status FROM ingest_file_result") == [{"status": "success"}]


@pytest.mark.parametrize("delivery", ["exactly-once", "at-least-once"])
def test_worker_uses_certificates_that_are_credentials_of_its_unit(
        worker, settings, kafka, postgres, database, authority, submit, results, sql, tmp_path, delivery):
    credentials = tmp_path / "credentials"
    credentials.mkdir()
    for source, name in (("machine.key", "db.key"), ("machine.pem", "db.pem"), ("ca.pem", "ca.pem"),
                         ("machine-locked.key", "kafka.key"), ("machine-locked.pem", "kafka.pem")):
        shutil.copy(authority.folder / source, credentials / name)
        (credentials / name).chmod(0o400)
    secret(credentials / "kafka-key-password", "key password")
    settings.update({
        "kafka.brokers": kafka.brokers("MTLS"),
        "kafka.delivery": delivery,
        "kafka.properties": {"security.protocol": "ssl"},
        "kafka.property_files": {"ssl.key.pem": "kafka.key", "ssl.certificate.pem": "kafka.pem", "ssl.ca.pem": "ca.pem",
                                 "ssl.key.password": "kafka-key-password"},
        "postgres.dsn": address(database, postgres, user="machine", sslkey="db.key", sslcert="db.pem", sslrootcert="ca.pem"),
    })
    submit([LANDING] * 3)
    with worker(env={"CREDENTIALS_DIRECTORY": str(credentials)}) as daemon:
        assert {result["status"] for result in results(3)} == {"success"}
        assert sessions(sql) == {(True, "/CN=machine")}
        assert said_nowhere(daemon, "key password", (credentials / "kafka.key").read_text().splitlines()[1])


def test_a_new_password_of_the_database_needs_no_restart(worker, secure, submit, results, sql, postgres, tmp_path, tag):
    sql(f'CREATE ROLE "{tag}" LOGIN SUPERUSER PASSWORD \'one\'')
    secure["postgres.dsn"] = secure["postgres.dsn"].replace("user=ingest", f"user={tag}")
    secret(tmp_path / "pg-password", "one")
    with worker() as daemon:
        submit(LANDING)
        results(1)
        sql(f'ALTER ROLE "{tag}" PASSWORD \'two\'')
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", tag)
        daemon.wait_log("password authentication failed")
        secret(tmp_path / "pg-password", "two")
        submit({**LANDING, "base_url": "https://tidal-ecology.example/article/view/52"})
        results(2)
        assert daemon.stop() == 0
    assert sql("SELECT count(*) FROM ingest_file_result")[0]["count"] == 2
    sql(f'DROP ROLE "{tag}"')


def test_the_verbs_use_them_too(run_ctl, secure, topics, worker, sql):
    assert run_ctl("db", "status").returncode == 0
    done = run_ctl("submit", "-", input='{"ingest_type": "pdf", "base_url": "' + LANDING["base_url"] + '"}\n')
    assert done.returncode == 0, done.stderr
    done = run_ctl("topics", "check")
    assert done.returncode in (0, 1) and topics["requests"] in done.stdout, done.stderr  # the test has not all topics
    with worker():
        done = run_ctl("results", "--follow", "--from-beginning", "--count", "1", "--timeout", "60")
        assert done.returncode == 0 and '"success"' in done.stdout, done.stderr
    assert run_ctl("hosts", "top").returncode == 0


def test_the_api_uses_them_too(api, worker, secure):
    with worker(), api() as server:
        answer = server.post("/ingest?wait=50", LANDING)
        assert answer.status == 200 and answer.json()["result"]["status"] == "success"


# --- what is wrong -------------------------------------------------------------------------------------

# Of the broker: what is changed, and what is said about it.
BROKER_FAULTS = {
    "wrong password": ({"kafka.password_file": "other"}, "SASL authentication error: .*invalid credentials"),
    "unknown user": ({"sasl.username": "nobody"}, "SASL authentication error: .*invalid credentials"),
    "wrong authority": ({"ssl.ca.location": "stranger"}, "the certificate( of its authority)? is refused: .*(issuer|self.signed)"),
    "expired certificate": ({"kafka.brokers": "EXPIRED"}, "the certificate is refused: certificate has expired"),
    "other host": ({"kafka.brokers": "ELSEWHERE"}, "the certificate is refused: IP address mismatch"),
    "no client certificate": ({"kafka.brokers": "MTLS"}, "certificate required|bad certificate|SSL alert"),
}


def with_fault(secure, kafka, stranger, tmp_path, changes):
    properties = secure["kafka.properties"]
    for key, value in changes.items():
        if key == "kafka.brokers":
            secure[key] = kafka.brokers(value)
            properties["security.protocol"] = "ssl"
        elif key == "kafka.password_file":
            secret(tmp_path / "kafka-password", value)
        else:
            properties[key] = str(stranger.ca_file) if value == "stranger" else value


@pytest.mark.parametrize("fault", BROKER_FAULTS)
def test_a_broker_that_is_not_trusted_or_does_not_trust_is_waited_for(
        worker, run_ctl, secure, kafka, stranger, tmp_path, fault):
    changes, words = BROKER_FAULTS[fault]
    with_fault(secure, kafka, stranger, tmp_path, changes)
    with worker(ready=False) as daemon:
        daemon.wait_log("waiting for partitions")
        daemon.wait_log(words)
        assert not any("READY=1" in note for note in daemon.notifications)
        assert KAFKA_PASSWORD not in daemon.log()
        assert daemon.stop() == 0
    done = run_ctl("topics", "check")
    assert done.returncode == 3
    assert re.search(words, done.stderr), done.stderr


# Of the database: options of its address, and what is said about it.
DATABASE_FAULTS = {
    "wrong password": ({"password": "other"}, "password authentication failed"),
    "wrong authority": ({"sslrootcert": "stranger"}, "certificate verify failed"),
    "other host": ({"host": "other.tests.example"}, 'does not match host name "other.tests.example"'),
    "expired client certificate": ({"user": "machine", "sslcert": "stranger-expired"}, "certificate expired|expired"),
    "foreign client certificate": ({"user": "machine", "sslcert": "foreign"}, "unknown ca|unknown CA|tlsv1 alert"),
    "no client certificate": ({"user": "machine", "password": "other"}, "requires a valid client certificate"),
    "no TLS": ({"sslmode": "disable", "sslrootcert": None}, "no pg_hba.conf entry .*no encryption"),
}


@pytest.fixture
def database_fault(secure, database, postgres, authority, stranger, tmp_path):
    """database_fault("wrong password"): the settings with it; returns what is said about it."""
    def apply(fault):
        changes, words = DATABASE_FAULTS[fault]
        changes = dict(changes)
        if "password" in changes:
            secret(tmp_path / "pg-password", changes.pop("password"))
        if "sslcert" in changes:
            folder, name = (stranger.folder, "machine") if changes["sslcert"] == "foreign" else (authority.folder, changes["sslcert"])
            changes.update(sslcert=folder / f"{name}.pem", sslkey=folder / f"{name}.key")
        if changes.get("sslrootcert") == "stranger":
            changes["sslrootcert"] = stranger.ca_file
        options = {"sslrootcert": authority.ca_file, **changes}
        secure["postgres.dsn"] = address(database, postgres, **{name: value for name, value in options.items() if value})
        return words
    return apply


@pytest.mark.parametrize("fault", DATABASE_FAULTS)
def test_a_database_that_is_not_trusted_or_does_not_trust_is_not_used(worker, run_ctl, secure, database_fault, password, fault):
    words = database_fault(fault)
    with worker(ready=False) as daemon:
        assert daemon.wait_end(30) == 3
        assert re.search(words, daemon.log()), daemon.log()
        assert password not in daemon.log()
    for verb in (("db", "status"), ("hosts", "top"), ("requests", "lists")):
        done = run_ctl(*verb)
        assert done.returncode == 3, done.stderr
        assert re.search(words, done.stderr), done.stderr


def test_an_expired_certificate_of_the_database_is_waited_for_while_running(
        worker, secure, submit, results, sql, postgres, authority, wait_until):
    """It expires while the worker runs: work goes on when there is a new one."""
    def present(name):
        server = pathlib.Path(postgres.data, "server.crt")
        private_servers.write_private(str(server), (authority.folder / f"{name}.pem").read_text())
        private_servers.write_private(str(server.with_suffix(".key")), (authority.folder / f"{name}.key").read_text())
        for path in (server, server.with_suffix(".key")):
            postgres._give(path)
        sql("SELECT pg_reload_conf()")
    with worker() as daemon:
        submit(LANDING)
        results(1)
        try:
            present("database-expired")
            # The reload is done when a new connection sees it; then the worker needs one.
            sql("SELECT pg_sleep(0.5), pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ingest-worker'")
            daemon.wait_log("certificate verify failed")
        finally:
            present("database")
        submit({**LANDING, "base_url": "https://tidal-ecology.example/article/view/52"})
        results(2)
        assert daemon.stop() == 0


# --- where secrets may not be --------------------------------------------------------------------------


@pytest.mark.parametrize("program_name", ["ingest-worker", "ingestctl"])
@pytest.mark.parametrize("argument", ["postgres.dsn=postgresql://u:hush@db/x", "kafka.properties={sasl.password: hush}",
                                      "fetch.proxy=http://u:hush@proxy.example:3128"])
def test_a_password_on_the_command_line_is_refused(program, program_name, argument):
    words = ["--check-config"] if program_name == "ingest-worker" else ["db", "status"]
    done = subprocess.run([program(program_name), "--set", argument, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "on the command line" in done.stderr and "_file" in done.stderr and "hush" not in done.stderr + done.stdout


def test_a_password_in_the_configuration_is_warned_about_and_not_shown(program, tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text('postgres: {dsn: "host=127.0.0.1 port=1 password=hush"}\n'
                      'kafka: {properties: {sasl.password: hush}}\nfetch: {user_agent: "a/1 (+https://a.example/)"}\n')
    checked = subprocess.run([program("ingest-worker"), "--config", config, "--check-config"], capture_output=True, text=True,
                             env={"PGPASSWORD": "hush"}, check=False)
    assert checked.returncode == 0
    assert checked.stderr.count("warning: ") == 3 and "postgres.password_file" in checked.stderr
    assert "PGPASSWORD" in checked.stderr
    dumped = subprocess.run([program("ingest-worker"), "--config", config, "--dump-config"], capture_output=True, text=True,
                            check=True)
    assert "hush" not in checked.stdout + checked.stderr + dumped.stdout + dumped.stderr
