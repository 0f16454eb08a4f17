# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker with what its unit takes from it, and users of the machine whom it does not answer."""

import ipaddress
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys

import pytest
from servers import units

HERE = pathlib.Path(__file__).resolve().parent
UNITS = ["ingest-worker@.service", "ingest-api.service", "ingest-reingest@.service"]
PDF = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
HTML = {"ingest_type": "html", "base_url": "https://notes.fieldstation.example/2022/05/reading-a-salt-marsh"}


def confined(build, unit):
    return [sys.executable, HERE / "servers" / "confined.py", build / "deploy" / unit]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("attempt, words", [
    ("import os; os.setpriority(os.PRIO_PROCESS, 0, -5)", "PermissionError|not permitted"),
    ("import os; os.chown('/etc/hostname', 1, 1)", "not permitted"),
    ("import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "not permitted"),
    ("import os; os.unshare(os.CLONE_NEWNET)", "not permitted|no attribute"),
    ("import ctypes; l = ctypes.CDLL(None, use_errno=True); assert l.mount(b'x', b'/mnt', b'tmpfs', 0, 0) == 0", "AssertionError"),
])
def test_the_stand_in_takes_what_the_unit_says(build, unit, attempt, words):
    """Else the other tests of this file would show nothing."""
    done = subprocess.run([*confined(build, unit), sys.executable, "-c", attempt], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and any(word in done.stderr for word in words.split("|")), done.stderr


def test_a_confined_worker_does_its_work(worker, submit, results, settings, database, postgres, build, tmp_path, wait_until):
    """Its examiners, too, with the filter of their own on top, and its endpoint, which asks whose a connection is."""
    password = tmp_path / "password"
    password.write_text(pathlib.Path(postgres.folder, "password").read_text())  # root without capabilities cannot read that
    settings["postgres.dsn"] = database.partition("?")[0]
    settings["postgres.password_file"] = str(password)
    settings["metrics.listen"] = "127.0.0.1:0"
    submit([PDF, HTML])
    with worker(wrapper=confined(build, "ingest-worker@.service")) as daemon:
        assert [result["status"] for result in results(2)] == ["success", "success"]
        assert "sandboxed by seccomp and Landlock" in daemon.log()
        status = pathlib.Path(f"/proc/{daemon.pid}/status").read_text()
        assert "Seccomp:\t2" in status and "NoNewPrivs:\t1" in status and "CapBnd:\t0000000000000000" in status
        port = daemon.wait_log(r"127\.0\.0\.1:(\d+)")[1]
        said = subprocess.run(["curl", "-fsS", f"http://127.0.0.1:{port}/healthz"], capture_output=True, text=True, check=False)
        assert said.returncode == 0, said.stderr


def test_confined_verbs_do_their_work(run_ctl, build, settings, database, postgres, topics, tmp_path):
    password = tmp_path / "password"
    password.write_text(pathlib.Path(postgres.folder, "password").read_text())
    settings["postgres.dsn"] = database.partition("?")[0]
    settings["postgres.password_file"] = str(password)
    for unit in UNITS[1:]:
        done = run_ctl("db", "status", wrapper=confined(build, unit))
        assert done.returncode == 0, done.stderr
        done = run_ctl("submit", "-", input=json.dumps(PDF) + "\n", wrapper=confined(build, unit))
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_lets_no_link_local_address_through_and_every_public_one(build, unit):
    service = units.parse_unit([(build / "deploy" / unit).read_text()])["Service"]
    assert service["IPAddressDeny"] == ["any"]
    allowed = [ipaddress.ip_network(word) for line in service["IPAddressAllow"] for word in line.split()]

    def passes(address):
        return any(ipaddress.ip_address(address) in net for net in allowed)
    assert not any(map(passes, ("169.254.169.254", "169.254.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "fe80::1", "ff02::1")))
    assert all(map(passes, ("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.253.255.255", "169.255.0.0", "168.1.1.1",
                            "170.0.0.1", "1.1.1.1", "223.255.255.255", "100.64.0.1", "::1", "2001:db8::1", "fd00::1",
                            "64:ff9b::1", "::ffff:1.2.3.4")))
    # All of IPv4 but 0/8, 169.254/16 and 224/3, none of it twice.
    sizes = [net.num_addresses for net in allowed if net.version == 4]
    assert sum(sizes) == 2**32 - 2**24 - 2**16 - 2**29
    assert len(list(ipaddress.collapse_addresses(net for net in allowed if net.version == 4))) == len(sizes)


@pytest.fixture
def stranger():
    """A user of the machine who is neither root nor the worker's."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    return pwd.getpwnam("nobody")


def test_the_control_socket_answers_root_and_the_workers_user_alone(worker, settings, program, stranger, own_dir, tag):
    """By its mode; and when that has been changed, by whom the kernel says asks."""
    folder = own_dir / f"control-{tag}"
    folder.mkdir(mode=0o755)
    settings["state.dir"] = str(folder)
    ctl = folder / "ingestctl"  # where others can run it
    shutil.copy(program("ingestctl"), ctl)
    config = folder / "c.yaml"
    config.write_text(json.dumps({"instance": tag, "state": {"dir": str(folder)}}))
    command = [ctl, "--config", config, "hosts", "top"]
    ask = "import socket,sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'{\"ask\":\"status\"}\\n'); " \
          "print(s.makefile().read())"
    path = folder / f"{tag}.sock"

    def asked(user):
        return subprocess.run(["/usr/bin/python3", "-c", ask, path], capture_output=True, text=True, check=False, user=user,
                              group=user, extra_groups=[])
    with worker():
        done = asked(stranger.pw_uid)
        assert done.returncode != 0 and "Permission denied" in done.stderr
        path.chmod(0o666)
        done = asked(stranger.pw_uid)
        assert json.loads(done.stdout) == {"error": "only root and the worker's own user may ask"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, user=stranger.pw_uid, group=stranger.pw_gid,
                              extra_groups=[])
        assert done.returncode == 3, (done.stdout, done.stderr)
        assert "instance" in json.loads(asked(0).stdout)
