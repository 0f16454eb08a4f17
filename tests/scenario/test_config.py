# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's configuration from the command line: checked, dumped, refused."""

import subprocess

import pytest

CONTACT = "fetch.user_agent=scenario/1.0 (+https://scenario.example/)"


def worker(program, *arguments):
    return subprocess.run([program("ingest-worker"), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False)


def test_errors_carry_their_place_and_come_together(program, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("gate:\n  concurrency: lots\nfetch:\n  timout_ms: 5\n", encoding="utf-8")
    done = worker(program, "--config", file, "--set", CONTACT, "--set", "gate.robots=maybe", "--check-config")
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert lines[0] == f'{file}:2:16: key "gate.concurrency": must be a whole number'
    assert lines[1] == (f'{file}:4:3: key "fetch.timout_ms": there is no such key; did you mean '
                        '"fetch.timeout_ms"?')
    assert lines[2].startswith('--set 2:1:13: key "gate.robots": ')
    assert len(lines) == 3


def test_a_dump_reads_back_as_the_same(program, tmp_path):
    first = worker(program, "--set", CONTACT, "--set", 'fetch.connect_to=[":80:127.0.0.1:8080"]', "--set",
                   "kafka.properties={security.protocol: ssl}", "--set", "warc.max_bytes=5GiB", "--dump-config")
    assert first.returncode == 0, first.stderr
    assert '  connect_to: [":80:127.0.0.1:8080"]\n' in first.stdout
    assert "  max_bytes: 5368709120\n" in first.stdout
    file = tmp_path / "dump.yaml"
    file.write_text(first.stdout, encoding="utf-8")
    second = worker(program, "--config", file, "--dump-config")
    assert second.returncode == 0, second.stderr
    assert second.stdout == first.stdout


def test_a_daemon_without_a_contact_is_refused(program, tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("fetch: {user_agent: crawler/1.0}\n", encoding="utf-8")
    done = worker(program, "--config", file, "--check-config")
    assert done.returncode == 2
    assert done.stderr.startswith(f'{file}:1:21: key "fetch.user_agent": ')
    assert worker(program, "--config", file, "--set", CONTACT, "--check-config").returncode == 0


def test_a_lease_too_short_for_a_transfer_is_refused(program, tmp_path):
    def start(lease_ms, *more):
        settings = {"state.dir": tmp_path / "state", "spool.dir": tmp_path / "spool", "fetch.timeout_ms": 120_000,
                    "postgres.dsn": f"host={tmp_path} user=nobody", "gate.lease_ms": lease_ms}
        return worker(program, *more, "--set", CONTACT, *(word for key, value in settings.items()
                                                   for word in ("--set", f"{key}={value}")))
    done = start(200_000)
    assert done.returncode == 2, done.stderr
    assert 'key "gate.lease_ms": must be 214620 at least' in done.stderr
    checked = start(200_000, "--check-config")
    assert (checked.returncode, checked.stderr) == (2, done.stderr)  # a check finds what a start would
    assert start(214_620, "--check-config").returncode == 0
    assert start(214_620).returncode == 3  # no server is there


@pytest.mark.parametrize("setting, words", [
    ("gate.concurrency=-1", 'key "gate.concurrency": must be from 1 to 20000 transfers, and is -1'),
    ("gate.max_wait_ms=-5", 'key "gate.max_wait_ms": must be from 0 to 86400000 ms, and is -5'),
    ("fetch.memory_bytes=-1GiB", "must be from 1048576 to 1099511627776 bytes, and is -1GiB"),
    ("gate.concurrency=99999999999999999999", "must be from 1 to 20000 transfers, and is 99999999999999999999"),
])
def test_a_number_out_of_range_gets_its_range_named(program, setting, words):
    done = worker(program, "--set", CONTACT, "--set", setting, "--check-config")
    assert done.returncode == 2 and words in done.stderr, done.stderr


@pytest.mark.parametrize("name, arguments, said, words", [
    ("ingest-worker", ["--conifg", "x"], "--conifg", "did you mean '--config'?"),
    ("ingest-worker", ["--chek-config"], "--chek-config", "did you mean '--check-config'?"),
    ("ingestctl", ["--conifg=x.yaml", "run", "-"], "--conifg=x.yaml", "ingestctl: did you mean '--config'?"),
    ("ingestctl", ["run", "--uot", "x", "-"], "--uot", "ingestctl run: did you mean '--out'?"),
    ("ingestctl", ["run", "--conifg", "x", "-"], "--conifg", "ingestctl run: did you mean '--config'?"),
    ("ingestctl", ["hosts", "top", "--cuont", "3"], "--cuont", "ingestctl hosts: did you mean '--count'?"),
    ("ingestctl", ["results", "--folow"], "--folow", "ingestctl results: did you mean '--follow'?"),
])
def test_a_misspelt_option_gets_the_one_that_was_meant(program, name, arguments, said, words):
    done = subprocess.run([program(name), *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"unrecognized option '{said}'" in done.stderr and words in done.stderr, done.stderr


def test_an_option_that_is_like_no_other_is_only_refused(program):
    done = subprocess.run([program("ingestctl"), "run", "--colour", "-"], capture_output=True, text=True, timeout=60,
                          check=False)
    assert done.returncode == 2 and "unrecognized option '--colour'" in done.stderr
    assert "did you mean" not in done.stderr


def test_a_misspelt_verb_gets_the_one_that_was_meant(program):
    done = subprocess.run([program("ingestctl"), "reslts"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and "no such verb; did you mean 'results'?" in done.stderr


def test_global_options_stand_before_or_behind_the_verb(program, tmp_path):
    (tmp_path / "bad.yaml").write_text("gate: {concurrency: lots}\n", encoding="utf-8")
    for arguments in (["--config", tmp_path / "bad.yaml", "hosts", "top"], ["hosts", "top", "--config", tmp_path / "bad.yaml"],
                      ["hosts", "--set", "gate.concurrency=lots", "top"]):
        done = subprocess.run([program("ingestctl"), *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              check=False)
        assert done.returncode == 2 and 'key "gate.concurrency": must be a whole number' in done.stderr, done.stderr


@pytest.mark.parametrize("content, words", [
    (None, "No such file or directory"), ("\n", "the file is empty"),
    ("a&b\n", "a key is made of letters, digits and . _ -"), ("abc-123\n", None)])
def test_a_key_of_a_service_is_read_at_start(program, tmp_path, content, words):
    key = tmp_path / "key"
    if content is not None:
        key.write_text(content, encoding="utf-8")
    done = subprocess.run(
        [program("ingestctl"), "run", "--set", f"publication.ncbi_api_key_file={key}", "--set", f"state.dir={tmp_path}/state",
         "--set", f"spool.dir={tmp_path}/spool", "-"], input="", capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == (0 if words is None else 2), done.stderr
    if words is not None:
        assert f"publication.ncbi_api_key_file: {key}: {words}" in done.stderr
    assert "abc-123" not in done.stderr
