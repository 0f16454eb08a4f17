# SPDX-License-Identifier: GPL-3.0-or-later
"""The object store: objects are there before the result, whatever the store does meanwhile."""

import json
import time

import pytest
from servers.objects import AWAY, BUSY, FULL, PASS, QUOTA, SILENT, Front, S3Server

PAPER = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/view/41"}
DIRECT = {"ingest_type": "pdf", "base_url": "https://tidal-ecology.example/article/download/41/pdf"}  # the same file


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with S3Server(tmp_path_factory.mktemp("s3")) as one:
        yield one


@pytest.fixture
def front(server, settings, tmp_path):
    """The worker's object store, empty; in front.keys are the files with the keys."""
    server.clear()
    with Front(server.port) as one:
        one.keys = {"access": tmp_path / "s3-access", "secret": tmp_path / "s3-secret"}
        one.keys["access"].write_text(server.access_key + "\n")
        one.keys["secret"].write_text(server.secret_key + "\n")
        settings.update({"s3.endpoint": f"http://127.0.0.1:{one.port}", "s3.bucket": "bucket", "s3.prefix": "kept/here",
                         "s3.access_key_file": str(one.keys["access"]), "s3.secret_key_file": str(one.keys["secret"])})
        yield one


def name_of(result, folder="text", extension=".txt"):
    sha1hex = result["file_meta"]["sha1hex"]
    return f"{folder}/{sha1hex[:2]}/{sha1hex[2:4]}/{sha1hex}{extension}"


def test_texts_and_thumbnails_are_in_the_bucket(worker, front, server, submit, results, consume, topics, derived):
    thumbnails = derived("thumbnail")["thumbnail"]
    with worker() as daemon:
        submit(PAPER)
        result = results(1)[0]
        assert result["hit"] is True
        text = json.loads(consume(topics["pdf_text"], 1)[0].value())["text"]
        picture = consume(thumbnails, 1)[0].value()
        assert daemon.stop() == 0
        assert '"objects":{"stored":2,' in daemon.log()
    text_name = "kept/here/" + name_of(result)
    picture_name = "kept/here/" + name_of(result, "pdf", ".180px.jpg")
    assert server.objects() == {text_name: text.encode(), picture_name: picture}
    assert picture.startswith(b"\xff\xd8\xff")
    assert server.content_type(text_name) == "text/plain; charset=utf-8"
    assert server.content_type(picture_name) == "image/jpeg"


@pytest.mark.parametrize("mode, words", [
    (AWAY, "unavailable"), (FULL, "full: 507 XMinioStorageFull"), (QUOTA, "full: 403 QuotaExceeded"),
    (BUSY, "busy: 503 SlowDown")], ids=["away", "full", "quota", "busy"])
def test_a_store_that_takes_nothing_is_waited_for(worker, front, server, submit, results, consume, topics, mode, words):
    front.mode = mode
    with worker() as daemon:
        submit(PAPER)
        daemon.wait_log(f"object store http://127.0.0.1:{front.port}/bucket/kept/here: {words}")
        daemon.wait_log("object store unavailable: intake stopped")
        assert any("held: object store unavailable" in note for note in daemon.notifications)
        # Neither message nor result may come before the object.
        assert consume(topics["pdf_text"], 0, settle=1) == [] and results(0, settle=0) == []
        front.mode = PASS
        result = results(1)[0]
        daemon.wait_log("takes objects again after")
        daemon.wait_log("object store available again")
    assert result["hit"] is True and "kept/here/" + name_of(result) in server.objects()


def test_a_wrong_key_is_waited_for_and_read_again(worker, front, server, submit, results):
    front.keys["secret"].write_text("wrong\n")
    with worker() as daemon:
        submit(PAPER)
        daemon.wait_log("access denied: 403 SignatureDoesNotMatch")
        front.keys["access"].write_text("AKNOBODY\n")
        daemon.wait_log("object store unavailable: intake stopped")
        front.keys["access"].write_text(server.access_key)
        front.keys["secret"].write_text(server.secret_key)
        result = results(1)[0]
    assert "kept/here/" + name_of(result) in server.objects()


def test_a_bucket_that_is_not_there_is_waited_for(worker, front, server, submit, results):
    with worker({"s3.bucket": "later"}) as daemon:
        submit(PAPER)
        daemon.wait_log("no such bucket or folder: 404 NoSuchBucket")
        server.client("s3").create_bucket(Bucket="later")
        result = results(1)[0]
    found = server.client("s3").head_object(Bucket="later", Key="kept/here/" + name_of(result))
    assert found["ContentLength"] > 0


@pytest.mark.parametrize("mode", [AWAY, SILENT, FULL], ids=["away", "silent", "full"])
def test_a_worker_that_stops_meanwhile_leaves_its_requests_to_the_next(worker, front, server, submit, results, mode):
    front.mode = mode
    with worker({"stop.drain_ms": 500}) as daemon:
        submit([PAPER, DIRECT])
        deadline = time.monotonic() + 30
        while front.puts == 0 and mode != AWAY:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        daemon.wait_log("object store unavailable: intake stopped")
        assert daemon.stop() == 0
    assert results(0, settle=0) == [] and server.objects() == {}
    front.mode = PASS
    with worker():
        found = results(2, settle=0.5)
    assert [one["hit"] for one in found] == [True, True]
    assert "kept/here/" + name_of(found[0]) in server.objects()


def test_a_folder_takes_the_place_of_a_bucket(worker, settings, faults, submit, results, tmp_path):
    settings["store.dir"] = str(tmp_path / "kept")
    faults.set(f"write ENOSPC path={tmp_path / 'kept'}")
    with worker(env=faults.env) as daemon:
        submit(PAPER)
        daemon.wait_log(r"object store .*/kept: full: No space left on device")
        daemon.wait_log("object store unavailable: intake stopped")
        assert results(0, settle=0.5) == []
        faults.clear()
        result = results(1)[0]
    assert b"creek" in (tmp_path / "kept" / name_of(result)).read_bytes()
    assert (tmp_path / "kept" / name_of(result, "pdf", ".180px.jpg")).read_bytes().startswith(b"\xff\xd8\xff")
    assert list((tmp_path / "kept" / ".tmp").iterdir()) == []


@pytest.mark.parametrize("point", ["write KILL path={kept}", "fsync KILL_AFTER path={kept}", "renameat2 KILL", "renameat2 KILL_AFTER"])
def test_a_worker_that_is_killed_among_its_objects_puts_them_again(worker, settings, faults, submit, results, point,
                                                                    tmp_path):
    settings["store.dir"] = str(tmp_path / "kept")
    faults.set(point.format(kept=tmp_path / "kept"))
    with worker(env=faults.env) as daemon:
        submit(PAPER)
        daemon.wait_end()
    with worker():
        result = results(1, settle=0.5)[0]
    assert b"creek" in (tmp_path / "kept" / name_of(result)).read_bytes()


@pytest.mark.parametrize("where", ["configured", "given"])
def test_a_run_has_a_store_of_its_own(run_ctl, tmp_path, where):
    """What is configured for the worker is not written to, unless the command line says so."""
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    given = ["--set", f"store.dir={elsewhere}"] if where == "given" else []
    done = run_ctl(*given, "run", "--out", out, "-", input=json.dumps(PAPER) + "\n",
                   overrides={} if given else {"store.dir": str(elsewhere)})
    assert done.returncode == 0, done.stderr
    result = json.loads((out / "results.jsonl").read_text("utf-8"))
    used, unused = (elsewhere, out / "files") if given else (out / "files", elsewhere)
    assert b"creek" in (used / name_of(result)).read_bytes()
    assert not unused.exists()
