# SPDX-License-Identifier: GPL-3.0-or-later
"""ingestctl serve: requests by HTTP, onto the topic, and their results back."""

import json
import re
import threading
import time

import jsonschema
import pytest
from server import Reply
from servers.api import OPENAPI

PAGE = "https://tidal-ecology.example/article/view/41"


@pytest.fixture
def request_of():
    """request_of(url, …): a request, with members."""
    def make(url=PAGE, ingest_type="pdf", **more):
        return {"ingest_type": ingest_type, "base_url": url, **more}
    return make


def in_background(function):
    """Runs it in a thread; call what is returned for its value."""
    box = {}
    thread = threading.Thread(target=lambda: box.update(value=function()))
    thread.start()

    def value(timeout=60):
        thread.join(timeout)
        assert not thread.is_alive()
        return box["value"]
    return value


def test_a_request_is_answered_with_its_result(worker, lanes, api, results, schema, request_of):
    with worker(), api() as server:
        answer = server.post("/ingest?wait=50", request_of())
        assert answer.status == 200
        body = answer.json()
        assert (body["state"], body["from"]) == ("done", "topic")
        schema("ingest-result").validate(body["result"])
        assert (body["result"]["status"], body["result"]["hit"]) == ("success", True)
        assert body["result"]["request"]["base_url"] == PAGE
        assert body["result"]["request"]["ingest_request_source"] == "savepapernow-web"
        assert body["result"] == results(1)[0]
        again = server.get(body["location"])
        assert (again.status, again.json()) == (200, body)


def test_a_request_is_queued_and_can_be_looked_for(worker, lanes, api, request_of, sql):
    with api() as server:
        answer = server.post("/ingest", request_of(release_stage="published"))
        assert answer.status == 202
        body = answer.json()
        assert body["state"] == "queued"
        assert answer.headers["Location"] == body["location"] == f"/ingest/{body['id']}"
        assert server.get(body["location"]).status == 202
        # Another process knows it by its row.
        rows = server.wait(lambda: sql("SELECT * FROM ingest_request"))
        assert [(row["link_source"], row["link_source_id"], row["base_url"], row["ingest_request_source"],
                 row["release_stage"], row["host"]) for row in rows] == [
                     ("", "", PAGE, "savepapernow-web", "published", "tidal-ecology.example")]
        assert rows[0]["request_id"].hex == body["id"][:32]
        with api("other") as other:
            elsewhere = other.get(body["location"])
            assert elsewhere.status == 202
            assert (elsewhere.json()["state"], elsewhere.json()["from"]) == ("queued", "tables")
            with worker():
                found = server.get(body["location"] + "?wait=50")
                assert (found.status, found.json()["result"]["status"]) == (200, "success")
                tables = other.wait(lambda: (one := other.get(body["location"])).status == 200 and one).json()
                assert (tables["state"], tables["from"]) == ("done", "tables")
                assert (tables["result"]["status"], tables["result"]["hit"]) == ("success", True)
                for member in ("sha1hex", "mimetype", "size_bytes"):
                    assert tables["result"]["file_meta"][member] == found.json()["result"]["file_meta"][member]
                by_url = other.get(f"/result?url={PAGE}&type=pdf").json()["results"]
                assert [one["status"] for one in by_url] == ["success"]


def test_many_requests_are_answered_together(worker, lanes, api, web, request_of):
    for number in range(20):
        web.route(f"serve{number}.test.example", "/", lambda _: Reply(200, b"Tides rise and fall.\n"))
    requests = [request_of(f"http://serve{number}.test.example/", "component") for number in range(20)]
    with worker(), api() as server:
        answer = server.post("/ingest?wait=50", requests)
        assert answer.status == 200
        items = answer.json()["requests"]
        assert [item["result"]["request"]["base_url"] for item in items] == [one["base_url"] for one in requests]
        assert {item["result"]["status"] for item in items} == {"success"}
        lines = "\n".join(map(json.dumps, requests))
        answer = server.post("/ingest", lines)
        assert (answer.status, [item["state"] for item in answer.json()["requests"]]) == (202, ["queued"] * 20)
        assert [item["id"] for item in answer.json()["requests"]] == [item["id"] for item in items]


@pytest.mark.unfinished("nothing answers requests here")
def test_bad_requests_are_named_and_none_is_taken(lanes, api, consume, request_of, kafka):
    with api() as server:
        for body, member, reason in (
                ("{", None, "expected"),
                ("", None, ""),
                ("[]", None, "empty"),
                ('"text"', None, "expected"),
                ({"base_url": PAGE}, "ingest_type", "missing"),
                ({"ingest_type": "pdf"}, "base_url", "missing"),
                (request_of(force_recrawl=1), "force_recrawl", "true"),
                (request_of(ingest_type="poem"), "ingest_type", "poem"),
                (b'{"ingest_type":"pdf","base_url":"http://\xff.example/"}', None, "UTF-8"),
                ('{"ingest_type":"pdf","ingest_type":"xml","base_url":"http://a.example/"}', None, "duplicate"),
                ([request_of(), 7], None, "object")):
            answer = server.post("/ingest", body)
            assert answer.status == 400, body
            error = answer.json()["error"]
            assert error["code"] == "invalid-request"
            assert error["errors"][0]["member"] == member, body
            assert reason in error["errors"][0]["reason"], body
        answer = server.post("/ingest", [request_of(), {"ingest_type": "pdf"}, request_of(ext_ids=7, base_url=None)])
        assert [(one["index"], one["member"]) for one in answer.json()["error"]["errors"]] == [(1, "base_url"), (2, "ext_ids")]
        assert server.post("/ingest?wait=soon", request_of()).json()["error"]["code"] == "invalid-wait"
        # What comes next is the first message.
        assert server.post("/ingest", request_of()).status == 202
        messages = consume(lanes["priority"], 1, settle=1)
        assert [json.loads(message.value())["base_url"] for message in messages] == [PAGE]


@pytest.mark.unfinished("nothing answers requests here")
def test_a_request_starts_where_its_identifier_says(lanes, api, consume):
    """Two requests by DOI alone would have the same identity."""
    with api() as server:
        answer = server.post("/ingest", [{"ingest_type": "file", "ext_ids": {"doi": doi}} for doi in ("10.5555/1", "10.5555/2")])
        ids = [one["id"] for one in answer.json()["requests"]]
        assert len(set(ids)) == 2
        messages = [json.loads(message.value()) for message in consume(lanes["priority"], 2)]
        assert {one["base_url"] for one in messages} == {"https://doi.org/10.5555/1", "https://doi.org/10.5555/2"}
        assert {one["ingest_type"] for one in messages} == {"file"}


@pytest.mark.unfinished("a request is asked for twice")
def test_the_same_request_twice_is_asked_once(lanes, api, consume, request_of, kafka, produce, topics):
    with api() as server:
        waiting = [in_background(lambda: server.post("/ingest?wait=50", request_of())) for _ in range(10)]
        first = consume(lanes["priority"], 1, settle=2)
        assert len(first) == 1
        identity = server.post("/ingest", request_of()).json()["id"]
        result = {"request": request_of(), "hit": False, "status": "no-pdf-link"}
        produce(topics["results"], [json.dumps(result)], key=identity)
        answers = [wait() for wait in waiting]
        assert {answer.status for answer in answers} == {200}
        assert all(answer.json()["result"] == result for answer in answers)
        # With the result there it is asked again.
        assert server.post("/ingest", request_of()).status == 202
        assert len(consume(lanes["priority"], 2, settle=1)) == 2


@pytest.mark.unfinished("nothing answers requests here")
def test_waiting_ends(lanes, api, request_of):
    with api() as server:
        began = time.monotonic()
        answer = server.post("/ingest?wait=1.5", request_of())
        assert answer.status == 202 and time.monotonic() - began >= 1.5
        assert server.get(answer.json()["location"] + "?wait=1").status == 202


@pytest.mark.unfinished("nothing answers requests here")
def test_stopping_tells_where_the_result_will_be(lanes, api, request_of, sql):
    with api() as server:
        waiting = [in_background(lambda n=n: server.post("/ingest?wait=100", request_of(f"{PAGE}?{n}"))) for n in range(20)]
        server.wait(lambda: len(sql("SELECT 1 FROM ingest_request")) == 20)
        assert server.stop() == 0
        for number, wait in enumerate(waiting):
            answer = wait()
            assert (answer.status, answer.json()["state"]) == (202, "queued"), number


@pytest.mark.private_servers("kafka")
@pytest.mark.unfinished("requests are refused")
def test_nothing_is_accepted_while_the_broker_is_away(lanes, api, request_of, kafka, consume):
    with api() as server:
        assert server.post("/ingest", request_of()).status == 202
        kafka.stop()
        answers = [server.post("/ingest", request_of(f"{PAGE}?{number}"), timeout=30) for number in range(3)]
        assert {answer.status for answer in answers} == {503}
        assert all(int(answer.headers["Retry-After"]) > 0 for answer in answers)
        assert server.get("/healthz").status == 503
        assert server.get("/ingest/" + server.get("/healthz").headers.get("x", "0" * 40)).status == 404
        kafka.start()
        server.wait(lambda: server.get("/healthz").status == 200)
        answer = server.post("/ingest", request_of(f"{PAGE}?later"))
        assert answer.status == 202
        urls = [json.loads(message.value())["base_url"] for message in consume(lanes["priority"], 2, settle=1)]
        assert PAGE in urls and f"{PAGE}?later" in urls
    with api("late", ready=False) as server:
        server.wait(lambda: server.get("/healthz").status == 200)


@pytest.mark.private_servers("postgres")
def test_serving_goes_on_without_the_database(worker, lanes, api, request_of, postgres, sql):
    with api() as server:
        postgres.stop(mode="immediate")
        answer = server.post("/ingest", request_of())
        assert answer.status == 202
        unknown = server.wait(lambda: (one := server.get("/ingest/" + "0" * 40)).status == 503 and one)
        assert unknown.json()["error"]["code"] == "database-away"
        assert server.get(answer.json()["location"]).status == 202
        assert server.get(f"/result?url={PAGE}").status == 503
        assert server.get("/healthz").json() == {"status": "ok", "kafka": True, "database": False}
        assert "serving goes on without it" in server.log()
        postgres.start()
        server.wait(lambda: len(sql("SELECT 1 FROM ingest_request")) == 1)
        assert server.get("/ingest/" + "0" * 40).status == 404
        with worker():
            assert server.get(answer.json()["location"] + "?wait=50").status == 200


def test_the_document_is_served_and_says_what_is_so(lanes, api, schema):
    with api() as server:
        document = server.get("/openapi.json").json()
        assert document == OPENAPI.document
        meta = jsonschema.validators.validator_for({"$schema": "https://json-schema.org/draft/2020-12/schema"})
        for part in document["components"]["schemas"].values():
            meta.check_schema(part)
        references = set(re.findall(r'"\$ref": "#/components/schemas/(\w+)"', json.dumps(document)))
        assert references == set(document["components"]["schemas"])
        # The types and the statuses of the API's own words.
        assert set(document["paths"]) == {"/ingest", "/ingest/{id}", "/result", "/healthz", "/openapi.json", "/"}
