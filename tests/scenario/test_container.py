# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of the worker, in rootless containers without capabilities: it works, and where the container's profile keeps the
examiners from closing their sandbox it refuses to."""

import json
import shutil

import pytest
import yaml
from servers.packages import ROOT, bare_root, without_password
from servers.rootless import Rootless
from servers.worker import nested

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packages")]

LANDING = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
RUN = ("--network=host", "--cgroups=disabled", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges")
# The default profile of podman, but for the filters that a process may put upon itself.
REFUSED = [{"names": ["seccomp"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1},
           {"names": ["prctl"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [{"index": 0, "value": 22, "op": "SCMP_CMP_EQ"}]}]


@pytest.fixture(scope="module")
def podman(packages):
    """podman, with the image localhost/ingest-worker made of this build's packages."""
    user = Rootless()
    try:
        context = user.folder / "context"
        shutil.copytree(next(iter(packages.values())).parent, context)
        shutil.copy(ROOT / "deploy" / "packaging" / "Containerfile", context)
        user.own(context)
        base = user.folder / "base.tar"
        shutil.copy(bare_root(packages), base)
        base.chmod(0o644)
        user("import", base, "localhost/bare")
        base.unlink()
        # A container of nothing but Debian.
        tried = user("run", "--rm", "--network=host", "--cgroups=disabled", "localhost/bare", "true", check=False)
        if tried.returncode != 0:
            pytest.skip(f"no rootless container can be started here: {tried.stderr[-2000:]}")
        user("build", "--isolation=chroot", "--network=host", "--layers=false", "--build-arg=BASE=localhost/bare",
             "--file", context / "Containerfile", "--tag", "localhost/ingest-worker", context)
        yield user
    finally:
        user.close()


def logs(podman, name):
    done = podman("logs", name, check=False)
    return done.stdout + done.stderr


@pytest.fixture
def container(podman, settings, web, account, kafka, topics, tag, tmp_path):
    """container(option…): starts the worker in a container; returns its name."""
    folder = podman.folder / tag
    (folder / "etc").mkdir(parents=True)
    (folder / "state").mkdir()
    flat = {key: value for key, value in settings.items() if key not in ("warc.dir", "spool.dir", "state.dir")}
    flat["postgres.dsn"], password = without_password(flat["postgres.dsn"])
    flat["postgres.password_file"] = "/etc/ingest-worker/pg-password"
    (folder / "etc" / "pg-password").write_text(password)
    flat["fetch.ca_file"] = "/etc/ingest-worker/web.pem"
    shutil.copy(web.ca_file, folder / "etc" / "web.pem")
    (folder / "etc" / "ingest-worker.yaml").write_text(yaml.safe_dump(nested(flat)))
    podman.own(folder)

    def start(*options):
        podman("run", "--detach", "--name", tag, *RUN, *options, "--volume", f"{folder}/etc:/etc/ingest-worker:ro",
               "--volume", f"{folder}/state:/var/lib/ingest-worker/1:U", "localhost/ingest-worker")
        account.ran(settings["kafka.group"], str(tmp_path / "kept"))
        account.brokers, account.topics = kafka.brokers(), topics
        return tag
    yield start
    print(logs(podman, tag)[-10000:])  # shown when the test has failed
    if (folder / "state" / "warc").exists():
        shutil.copytree(folder / "state" / "warc", tmp_path / "kept")


def test_works_in_a_rootless_container(podman, container, submit, results, wait_until):
    name = container()
    submit(LANDING)
    assert results(1)[0]["status"] == "success"
    assert "sandboxed by seccomp" in logs(podman, name)
    podman("stop", "--time=60", name)
    assert podman("inspect", "--format={{.State.ExitCode}}", name).stdout.strip() == "0"


def test_refuses_a_container_in_which_nothing_can_be_sandboxed(podman, container, wait_until):
    profile = podman.folder / "profile.json"
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": REFUSED}))
    name = container(f"--security-opt=seccomp={profile}")
    assert podman("wait", name, timeout=60).stdout.strip() == "3"
    assert "sandbox: seccomp: Operation not permitted" in logs(podman, name)
