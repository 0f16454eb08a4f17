# SPDX-License-Identifier: GPL-3.0-or-later
"""The endpoint of a worker (metrics.listen): numbers, health, readiness, and who may ask."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess

import psycopg
import pytest

from servers import stalls
from servers.threads import stopped_thread

LANDING = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
OTHER_USER = 12345
OPENMETRICS = "application/openmetrics-text;version=1.0.0"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Endpoint:
    def __init__(self, port):
        self.port = port

    def get(self, path, timeout=15, **headers):
        """(status, body) of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers={"Connection": "close", **headers})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def metrics(self, **headers):
        status, text = self.get("/metrics", **headers)
        assert status == 200, text
        return text

    def samples(self):
        """{sample: number}"""
        lines = (line.rsplit(" ", 1) for line in self.metrics().splitlines() if not line.startswith("#"))
        return {name: float(number) for name, number in lines}


@pytest.fixture
def endpoint():
    """endpoint(daemon): its endpoint, which listens at a port that it found free."""
    def find(daemon):
        return Endpoint(int(daemon.wait_log(r"metrics at 127\.0\.0\.1:(\d+)")[1]))
    return find


@pytest.fixture
def listening(settings):
    settings["metrics.listen"] = "127.0.0.1:0"


pytestmark = pytest.mark.usefixtures("listening")


def test_numbers_tell_what_has_happened(worker, submit, results, endpoint, wait_until):
    submit([LANDING, {**LANDING, "base_url": "https://nowhere.example/"}])
    with worker() as daemon:
        results(2)
        at = endpoint(daemon)
        wait_until(lambda: at.samples()["ing_results_total"] == 2)
        found = at.samples()
        assert found["ing_requests_accepted_total"] == 2
        assert found["ing_results_hits_total"] == 1
        assert found['ing_results_by_status_total{status="success"}'] == 1
        assert found["ing_fetch_exchanges_total"] >= 2
        assert found["ing_jobs"] == 0
        assert found["process_resident_memory_bytes"] > 1 << 20
        assert found["process_open_fds"] == pytest.approx(len(os.listdir(f"/proc/{daemon.pid}/fd")), abs=10)
        assert found["process_max_fds"] > found["process_open_fds"]
        assert sum(name.startswith("ing_build_info{version=") for name in found) == 1
        with open(f"/proc/{daemon.pid}/stat", encoding="ascii") as file:
            ticks = int(file.read().rsplit(")", 1)[1].split()[19])
        with open("/proc/stat", encoding="ascii") as file:
            booted = int(re.search(r"^btime (\d+)", file.read(), re.MULTILINE)[1])
        assert found["process_start_time_seconds"] == pytest.approx(booted + ticks / os.sysconf("SC_CLK_TCK"), abs=2)


STAGES = ("gate", "robots", "connect", "tls", "first-byte", "transfer", "warc-sync", "examiner-wait", "examine", "lookup",
          "store", "commit")


def test_every_stage_has_its_durations(worker, submit, results, lanes, produce, endpoint, wait_until, database):
    submit(LANDING)
    produce(lanes["daily"], [json.dumps({**LANDING, "base_url": "https://tidal-ecology.example/article/view/42"})])
    with worker({"gate.robots": "obey", "skip_existing_max_age_ms": 86_400_000}) as daemon:
        results(2)
        at = endpoint(daemon)
        wait_until(lambda: at.samples()["ing_request_seconds_count"] == 2)
        found = at.samples()
    for stage in STAGES:
        assert found[f'ing_stage_seconds_count{{stage="{stage}"}}'] > 0, stage
        assert found[f'ing_stage_seconds_bucket{{stage="{stage}",le="+Inf"}}'] == found[
            f'ing_stage_seconds_count{{stage="{stage}"}}']
        assert 0 <= found[f'ing_stage_seconds_sum{{stage="{stage}"}}'] < 60, stage
    assert found['ing_stage_seconds_count{stage="transfer"}'] <= found["ing_fetch_exchanges_total"]
    assert found["ing_fetch_body_size_bytes_sum"] == found["ing_fetch_body_bytes_total"] > 0
    assert found['ing_stage_seconds_count{stage="warc-sync"}'] == found["ing_warc_syncs_total"]
    assert found['ing_stage_seconds_count{stage="commit"}'] == found['ing_transactions_total{outcome="committed"}']
    for lane, count in (("priority", 0), ("requests", 1), ("daily", 1), ("bulk", 0)):
        assert found[f'ing_requests_accepted_by_lane_total{{lane="{lane}"}}'] == count
        assert found[f'ing_results_by_lane_total{{lane="{lane}"}}'] == count
        assert found[f'ing_jobs_by_lane{{lane="{lane}"}}'] == 0
    assert found["ing_gate_waiting_hosts"] == 0
    with psycopg.connect(database) as connection:  # a row of each table, or several
        rows = sum(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608
                   for table in ("ingest_request", "ingest_file_result", "cdx", "file_meta"))
    assert found["ing_store_rows_total"] >= rows > 4
    assert found["ing_intake_assignments_total"] >= 1
    assert sum(found[f'ing_examiners{{state="{state}"}}'] for state in ("idle", "busy")) == found["ing_examine_ready_examiners"]


@pytest.mark.parametrize("partitions", [1])
def test_parked_requests_are_counted_by_tier_and_timed(worker, submit, results, polite, parked, endpoint, wait_until):
    """A list of one host, longer than its share of what may wait in memory."""
    urls = [f"http://hot.test.example/{number}" for number in range(60)]
    submit([{"ingest_type": "component", "base_url": url} for url in urls])
    with worker({"intake.max_waiting": 40, "gate.host_delay_ms": 100}) as daemon:
        results(len(urls), timeout=120)
        at = endpoint(daemon)
        wait_until(lambda: at.samples()["ing_results_total"] == len(urls))
        found = at.samples()
        times = found["ing_parked_total"]
        assert times > 0
        assert found['ing_parked_by_tier_total{tier="1m"}'] == times
        assert found['ing_parked_by_tier_total{tier="1h"}'] == 0
        assert found["ing_parked_seconds_count"] == times
        assert 0.1 * times < found["ing_parked_seconds_sum"] < 60 * times


@pytest.mark.parametrize("accept", ["", OPENMETRICS])
def test_promtool_finds_nothing(worker, endpoint, accept):
    with worker() as daemon:
        text = endpoint(daemon).metrics(Accept=accept)
    assert text.endswith("# EOF\n") == bool(accept)
    if not accept:  # promtool reads the older format only
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    families = re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE)
    assert len(families) == len(set(families)) >= 40
    helped = re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE)
    assert [name for name, _ in families] == helped
    units = dict(re.findall(r"^# UNIT (\S+) (\S+)$", text, re.MULTILINE))
    assert all(name.endswith("_" + unit) for name, unit in units.items())
    assert bool(units) == bool(accept)


def test_prometheus_scrapes_openmetrics(worker, endpoint, tmp_path, wait_until):
    """What promtool cannot check: the text is scraped by a real Prometheus, which asks for OpenMetrics."""
    with worker() as daemon:
        port = endpoint(daemon).port
        config = tmp_path / "prometheus.yaml"
        config.write_text(f"""
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: ingest, static_configs: [{{targets: ["127.0.0.1:{port}"]}}]}}]
""", encoding="utf-8")
        web = free_port()
        with open(tmp_path / "prometheus.log", "wb") as log:
            prometheus = subprocess.Popen(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/data",
                                           f"--web.listen-address=127.0.0.1:{web}"], stdout=log, stderr=log)
        try:
            at = Endpoint(web)

            def ask(query):
                try:
                    return at.get(f"/api/v1/query?query={query}")[1]
                except OSError:
                    return ""
            wait_until(lambda: '"ing_build_info"' in ask("ing_build_info"), timeout=60)
            assert re.search(r'"value":\[[\d.]+,"1"\]', ask("up"))
            assert re.search(r'"value":\[[\d.]+,"[1-9]', ask("ing_loop_turn_cpu_seconds_count"))
            assert '"type":"counter"' in at.get("/api/v1/metadata?metric=ing_results")[1]
        finally:
            prometheus.terminate()
            prometheus.wait(30)


@pytest.mark.slow
def test_a_worker_whose_loop_hangs_is_not_healthy(worker, endpoint, wait_until):
    with worker(env={stalls.VARIABLE: ""}) as daemon:
        at = endpoint(daemon)
        assert at.get("/healthz") == (200, "loop: ok\n")
        wait_until(lambda: at.get("/readyz")[0] == 200)  # it has numbers to show then
        with stopped_thread(daemon.pid):  # the loop is the first thread
            wait_until(lambda: at.get("/healthz")[0] == 503, timeout=30)
            assert re.fullmatch(r"loop: has not turned for 1\d s\n", at.get("/healthz")[1])
            assert at.get("/readyz")[0] == 503
            assert at.samples()["ing_loop_silence_seconds"] > 10
        wait_until(lambda: at.get("/healthz")[0] == 200)
        wait_until(lambda: at.samples()["ing_loop_silence_seconds"] < 5)


def test_ready_when_partitions_database_disk_and_examiners_are(worker, endpoint, wait_until):
    with worker() as daemon:
        at = endpoint(daemon)
        wait_until(lambda: at.get("/readyz")[0] == 200)
        assert at.get("/readyz")[1] == "loop: ok\npartitions: ok\nbrokers: ok\ndatabase: ok\ndisk: ok\nexaminers: ok\n"
        found = at.samples()
        checks = ("partitions", "brokers", "database", "disk", "examiners")
        assert [found[f'ing_ready{{check="{name}"}}'] for name in checks] == [1] * len(checks)


@pytest.mark.private_servers("postgres")
def test_not_ready_without_the_database(worker, endpoint, postgres, submit, results, wait_until):
    with worker() as daemon:
        at = endpoint(daemon)
        wait_until(lambda: at.get("/readyz")[0] == 200)
        postgres.stop(mode="immediate")
        try:
            submit(LANDING)
            wait_until(lambda: at.get("/readyz")[0] == 503)
            assert "\ndatabase: does not answer" in at.get("/readyz")[1]
            assert at.samples()['ing_ready{check="database"}'] == 0
            assert at.get("/healthz")[0] == 200
        finally:
            postgres.start()
        wait_until(lambda: at.get("/readyz")[0] == 200, timeout=60)
        results(1)


@pytest.mark.private_servers("kafka")
def test_asked_before_partitions_are_assigned(worker, endpoint, kafka):
    kafka.stop()
    try:
        with worker(ready=False) as daemon:
            at = endpoint(daemon)
            assert at.get("/healthz")[0] == 200
            status, text = at.get("/readyz")
            assert status == 503 and "\npartitions: none were assigned yet" in text or "worker: starting" in text
            assert at.samples()["ing_intake_partitions"] == 0
            kafka.start()
            daemon.wait_notified("READY=1", 60)
    finally:
        kafka.start()


def test_answers_while_the_worker_drains(worker, submit, web, endpoint, wait_until):
    web.route("held.slow.example", "/paper.pdf", {"delay_s": 4, "body": "late"})
    submit({"ingest_type": "pdf", "base_url": "http://held.slow.example/paper.pdf"})
    with worker() as daemon:
        at = endpoint(daemon)
        wait_until(lambda: web.most_at_once("held.slow.example") == 1)
        daemon.terminate()
        daemon.wait_notified("STOPPING=1", 10)
        wait_until(lambda: "\npartitions: the worker stops\n" in at.get("/readyz")[1], timeout=10)
        assert at.get("/readyz")[0] == 503
        assert at.get("/healthz")[0] == 200
        assert daemon.wait_end() == 0


# --- who may ask --------------------------------------------------------------------------------------


def ask_as_other(port):
    """What another user of this machine is told."""
    code = f"""
import http.client
c = http.client.HTTPConnection("127.0.0.1", {port}, timeout=10)
c.request("GET", "/metrics")
print(c.getresponse().status)
"""
    return int(subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, check=True, user=OTHER_USER,
                              group=OTHER_USER, extra_groups=[]).stdout)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_unless_named(worker, endpoint):
    with worker() as daemon:
        at = endpoint(daemon)
        assert ask_as_other(at.port) == 403
        assert at.samples()["ing_endpoint_refusals_total"] == 1
    with worker({"metrics.users": [str(OTHER_USER)]}) as daemon:
        # The log has both ports: the second one counts.
        port = int(re.findall(r"metrics at 127\.0\.0\.1:(\d+)", daemon.log())[-1])
        assert ask_as_other(port) == 200


def test_a_page_in_a_browser_cannot_ask(worker, endpoint):
    with worker() as daemon:
        at = endpoint(daemon)
        assert at.get("/metrics", Host="attacker.example")[0] == 421
        assert at.get("/metrics", Host="localhost:1")[0] == 200


def test_a_unix_socket_is_for_the_group(worker, tmp_path):
    path = tmp_path / "metrics.sock"
    with worker({"metrics.listen": f"unix:{path}"}) as daemon:
        assert path.stat().st_mode & 0o7777 == 0o660
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert client.makefile("rb").read().endswith(b"loop: ok\n")
        assert daemon.running()
    assert not path.exists()


def test_an_address_in_use_ends_the_start(worker, endpoint):
    with worker() as daemon:
        port = endpoint(daemon).port
        with worker({"metrics.listen": f"127.0.0.1:{port}"}, name="second", ready=False) as second:
            assert second.wait_end(20) == 3
            assert f"metrics.listen: 127.0.0.1:{port}: Address already in use" in second.log()


def test_a_user_who_cannot_be_told_from_others_is_refused(worker):
    """PrivateUsers=yes of systemd: only root and the worker's own user are in the user namespace."""
    prefix = ["unshare", "--user", "--map-root-user", "--"]
    probe = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(probe.stderr.strip())
    with worker({"metrics.users": [str(OTHER_USER)]}, ready=False, wrapper=prefix) as daemon:
        assert daemon.wait_end(20) == 2
        assert f"metrics.users: {OTHER_USER} is not in this process' user namespace" in daemon.log()
        assert "PrivateUsers=no" in daemon.log()


# --- hostile clients ----------------------------------------------------------------------------------


def test_hostile_clients_cost_the_loop_nothing(worker, submit, results, endpoint):
    """Slow heads, heads without end, many connections, readers that do not read: the worker works on, and whoever
    comes late is served again when their time is over."""
    with worker() as daemon:
        at = endpoint(daemon)
        clients = []
        for number in range(200):
            client = socket.socket()
            client.settimeout(5)
            client.connect(("127.0.0.1", at.port))
            kind = number % 4
            client.sendall((b"", b"GET /metrics HTTP/1.1\r\nHost: loc", b"\x16\x03\x01\x02" * 100,
                            b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)[kind])
            clients.append(client)
        before = descriptors_of(daemon)
        assert before < 400
        submit(LANDING)
        assert results(1)[0]["status"] == "success"
        for client in clients:
            client.close()
        assert at.get("/healthz", timeout=60)[0] == 200
        assert at.samples()["ing_loop_busy_turns_total"] == 0


def descriptors_of(daemon):
    return len(os.listdir(f"/proc/{daemon.pid}/fd"))


def test_examiners_do_not_have_the_socket(worker, submit, results, endpoint):
    """It would go on listening when the worker has died."""
    submit(LANDING)
    with worker() as daemon:
        results(1)
        at = endpoint(daemon)
        children = children_of(daemon.pid)
        assert children
        listening = listening_inode(at.port)
        sockets = {link for pid in [daemon.pid, *children] for link in sockets_of(pid) if link[1] == listening}
        assert {pid for pid, _ in sockets} == {daemon.pid}
        daemon.process.send_signal(signal.SIGKILL)
        daemon.process.wait()
        with pytest.raises(OSError):
            at.get("/healthz")


def children_of(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            for child in file.read().split():
                found += [int(child), *children_of(int(child))]
    return found


def sockets_of(pid):
    folder = f"/proc/{pid}/fd"
    for fd in os.listdir(folder):
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(f"{folder}/{fd}"))
        except OSError:
            continue
        if found:
            yield pid, int(found[1])


def listening_inode(port):
    with open("/proc/net/tcp", encoding="ascii") as file:
        for line in file.read().splitlines()[1:]:
            fields = line.split()
            if fields[1] == f"0100007F:{port:04X}" and fields[3] == "0A":
                return int(fields[9])
    raise AssertionError(f"nobody listens at {port}")
