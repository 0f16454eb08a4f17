# SPDX-License-Identifier: GPL-3.0-or-later
"""/status of a worker's endpoint in a browser: it answers why the worker is slow, and what comes from outside stays text.

With ING_SCREENSHOTS=FOLDER in the environment, pictures of the page are written there, to be looked at."""

import base64
import json
import os
import pathlib
import urllib.parse

import psycopg
import pytest
from servers import stalls
from servers.polite import Answer
from servers.threads import stopped_thread
from test_endpoint import endpoint, listening  # noqa: F401 (fixtures)

pytestmark = pytest.mark.usefixtures("listening")

PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
DESK = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
HOSTILE = "http://evil.page.test.example/?q=\"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;"


@pytest.fixture
def browser(chromium):
    chromium.forget()
    chromium.call("Emulation.setDeviceMetricsOverride", **DESK)
    chromium.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    return chromium


def picture(browser, name):
    folder = os.environ.get("ING_SCREENSHOTS")
    if folder:
        data = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        (pathlib.Path(folder) / f"{name}.png").write_bytes(base64.b64decode(data))


def words(browser, selector):
    return browser.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")


@pytest.fixture
def busy(worker, submit, results, polite):
    """A worker with a hot host, a host that is held, hits and failures, some of them hostile."""
    polite.page("hot.page.test.example", "*", Answer())
    polite.page("*", "/page", Answer())
    polite.page("held.page.test.example", "*", Answer(status=503, headers={"Retry-After": "600"}))
    polite.page("gone.page.test.example", "/page", Answer(status=404))
    polite.page("evil.page.test.example", "*", Answer(status=403))
    urls = [f"http://hot.page.test.example/{n}" for n in range(60)]
    urls += [f"http://ok{n}.page.test.example/page" for n in range(25)]
    urls += ["http://gone.page.test.example/page", HOSTILE]
    urls += [f"http://held.page.test.example/page?{n}" for n in range(5)]
    submit([{"ingest_type": "component", "base_url": url} for url in urls])
    with worker({"gate.host_delay_ms": 60000, "stop.drain_ms": 500}) as daemon:
        results(28, timeout=60)
        yield daemon
        daemon.stop()


@pytest.mark.unfinished("the worker is stopped while requests wait")
def test_the_page_says_why_it_is_slow(busy, endpoint, browser, wait_until):  # noqa: F811
    at = endpoint(busy)

    def is_held():
        status = json.loads(at.get("/status.json")[1])
        return status["totals"]["results"] == 28 and (status["held_by"] or "").startswith("all ")
    wait_until(is_held, timeout=30)
    url = f"http://127.0.0.1:{at.port}/status"
    browser.open(url)
    browser.wait("document.getElementById('hosts')")
    status = json.loads(at.get("/status.json")[1])
    assert "hot.page.test.example (59: delay" in status["held_by"]
    held = words(browser, "#held")
    assert "waiting requests are for 2 hosts that may not be asked now: hot.page.test.example (59: delay" in held
    assert "hot.page.test.example" in words(browser, "#hosts") and "one each 60 s" in held
    assert "retry-after" in words(browser, "#held-hosts")
    assert browser.evaluate("document.querySelector('#held').className") == "held fair"
    assert "success" in words(browser, "#statuses") and "terminal-bad-status" in words(browser, "#statuses")
    assert words(browser, "#lanes tbody tr").startswith("priority")
    failures = words(browser, "#failures")
    assert f"ingestctl explain request {status['failures'][0]['id']}" in failures
    assert "http://gone.page.test.example/page" in failures
    # What comes from outside is text.
    assert "<script>" in failures or "%3Cscript%3E" in failures
    assert browser.evaluate("document.scripts.length") == 1 and browser.evaluate("document.images.length") == 0
    assert not browser.dialogs and not browser.messages, browser.messages
    assert {urllib.parse.urlsplit(one).netloc for one in browser.requests} <= {f"127.0.0.1:{at.port}", ""}
    assert browser.evaluate("getComputedStyle(document.querySelector('#held')).borderInlineStartStyle") == "solid"  # the style is there
    picture(browser, "desk-light")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    picture(browser, "desk-dark")
    for theme in ("dark", "light"):
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        browser.call("Emulation.setDeviceMetricsOverride", **PHONE)
        assert browser.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert browser.evaluate("getComputedStyle(document.querySelector('#hosts thead')).display") == "none"  # a card for each
        picture(browser, f"phone-{theme}")


def test_the_page_shows_itself_anew(worker, endpoint, browser, submit, results, polite):  # noqa: F811
    polite.page("new.page.test.example", "/page", Answer())
    with worker() as daemon:
        at = endpoint(daemon)
        browser.open(f"http://127.0.0.1:{at.port}/status")
        browser.wait("document.querySelector('#held p')?.innerText === 'nothing; it has no requests'")
        assert words(browser, "#hour h2").startswith("Last hour: 0 results")
        browser.evaluate("window.mark = 1")
        submit({"ingest_type": "component", "base_url": "http://new.page.test.example/page"})
        results(1)
        browser.wait("document.querySelector('#hour h2').innerText.startsWith('Last hour: 1 result, 100 % hits')", timeout=20)
        assert browser.evaluate("window.mark") == 1  # nobody has loaded it
        picture(browser, "idle")
        assert daemon.stop() == 0
        browser.wait("document.getElementById('away')", timeout=20)
        assert words(browser, "#away").startswith("No answer since ")
        assert words(browser, "#held p") == "nothing; it has no requests"  # it still stands there
        picture(browser, "away")


@pytest.mark.slow
def test_a_worker_whose_loop_hangs_is_shown_as_it_was(worker, endpoint, wait_until):  # noqa: F811
    with worker(env={stalls.VARIABLE: ""}) as daemon:
        at = endpoint(daemon)
        assert at.get("/status")[0] == 200
        with stopped_thread(daemon.pid):
            wait_until(lambda: "loop has not turned for" in at.get("/status")[1], timeout=30)
            assert "what stands below is what it said before" in at.get("/status")[1]
            assert json.loads(at.get("/status.json")[1])["state"] == "running"


def test_the_data_is_as_its_schema_says_and_nothing_is_computed_when_nobody_asks(worker, endpoint, schema):  # noqa: F811
    with worker() as daemon:
        at = endpoint(daemon)
        code, text = at.get("/status.json")
        assert code == 200
        schema("worker-status").validate(json.loads(text))
        assert json.loads(text)["hosts"] is not None
        assert at.get("/status?x=<script>")[0] == 200


@pytest.mark.slow
def test_what_must_be_mended_stands_first_and_is_red(worker, endpoint, browser, submit, results, polite, database, run_ctl):  # noqa: F811
    polite.page("*", "/page", Answer())
    submit([{"ingest_type": "component", "base_url": f"http://h{n}.page.test.example/page"} for n in range(5)])
    with worker({"postgres.statement_ms": 400}) as daemon:
        results(5)
        done = run_ctl("pause", "--host", "paused.example", "--why", "they <b>asked</b> for it")
        assert done.returncode == 0, done.stderr
        at = endpoint(daemon)
        browser.open(f"http://127.0.0.1:{at.port}/status")
        browser.wait("document.querySelector('#orders')", timeout=30)
        assert "they <b>asked</b> for it" in words(browser, "#orders")
        with psycopg.connect(database) as holder:
            holder.execute("LOCK TABLE ingest_file_result IN ACCESS EXCLUSIVE MODE")
            submit([{"ingest_type": "component", "base_url": f"http://k{n}.page.test.example/page"} for n in range(5)])
            browser.wait("document.querySelector('#held.bad')", timeout=40)
            assert words(browser, "#held p").startswith("database unavailable")
            assert "lock timeout" in words(browser, "#held p")
            assert "not read: something is unavailable" in words(browser, "#lanes")
            picture(browser, "trouble")
            holder.rollback()
        results(10)
        browser.wait("document.querySelector('#held.good')", timeout=40)
        assert not browser.messages
