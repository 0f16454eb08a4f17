# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of ingestctl serve in a browser."""

import html
import json
import urllib.parse

import pytest

PAGE = "https://tidal-ecology.example/article/view/41"


@pytest.fixture
def browser(chromium):
    chromium.forget()
    return chromium


def address(server, path="/"):
    return f"http://127.0.0.1:{server.port}{path}"


def send(browser, what, **fields):
    browser.evaluate(f"document.getElementById('what').value = {json.dumps(what)}")
    for name, value in fields.items():
        browser.evaluate(f"document.getElementsByName({json.dumps(name)})[0].value = {json.dumps(value)}")
    browser.evaluate("document.querySelector('form button').click()")


def test_a_url_is_saved_and_its_way_is_shown(worker, lanes, api, browser):
    with worker(), api() as server:
        browser.open(address(server))
        send(browser, PAGE)
        browser.wait("document.querySelector('#result .status')?.textContent === 'success'")
        hops = browser.evaluate("[...document.querySelectorAll('.hops a')].map((a) => a.href)")
        assert hops[0] == PAGE and len(hops) >= 2
        assert browser.evaluate("getComputedStyle(document.querySelector('#result .status')).fontWeight") == "600"  # the style is there
        # The script asked, and the page was shown anew: nobody pressed anything.
        assert any("/ingest/" in url and "wait=" in url for url in browser.requests)
        identity = urllib.parse.parse_qs(urllib.parse.urlsplit(browser.evaluate("location.href")).query)["id"][0]
        assert server.get(f"/ingest/{identity}").json()["result"]["hops"] == hops
        assert {urllib.parse.urlsplit(url).netloc for url in browser.requests} <= {f"127.0.0.1:{server.port}", ""}
        assert not browser.messages


def test_a_doi_starts_at_its_resolver(lanes, api, browser, consume):
    with api() as server:
        for what in ("10.5555/a<b>(1)", "doi:10.5555/2", "https://doi.org/10.5555/3", "tidal-ecology.example/4"):
            browser.open(address(server))
            send(browser, what, type="html")
            browser.wait("document.getElementById('waiting')")
        urls = {(one["base_url"], one["ingest_type"]) for one in (json.loads(m.value()) for m in consume(lanes["priority"], 4))}
        assert urls == {(url, "html") for url in ("https://doi.org/10.5555/a%3Cb%3E(1)", "https://doi.org/10.5555/2",
                                                  "https://doi.org/10.5555/3", "https://tidal-ecology.example/4")}


@pytest.mark.unfinished("nothing answers requests here")
def test_the_form_works_without_the_script(lanes, api, produce, topics):
    with api() as server:
        answer = server.post("/", "what=+https%3A%2F%2Fa.example%2F%3Fx%3D%C3%A9+&type=pdf&force=1")
        assert answer.status == 303
        shown = server.get(answer.headers["Location"])
        assert shown.status == 200 and b'http-equiv="refresh"' in shown.body and b'data-id="' in shown.body
        result = {"request": {"ingest_type": "pdf", "base_url": "https://a.example/"}, "hit": False, "status": "no-pdf-link"}
        produce(topics["results"], [json.dumps(result)], key=answer.headers["Location"][-40:])
        server.wait(lambda: b"no-pdf-link" in server.get(answer.headers["Location"]).body)
        for form, status in (("", 400), ("what=", 400), ("what=%20", 400), ("type=pdf", 400), ("what=a.example&type=poem", 400),
                             ("what=" + "a" * 9000, 400), ("what=%00", 303), ("what=%ff%fe", 303)):
            assert server.post("/", form).status == status, form
        for path in ("/?id=", "/?id=x", "/?id=" + "0" * 40, "/?id=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"):
            answer = server.get(path)
            assert answer.status == 404 and b"<script>alert" not in answer.body
        policy = server.get("/").headers["Content-Security-Policy"]
        assert "unsafe" not in policy and policy.startswith("default-src 'none'")


@pytest.mark.unfinished("nothing answers requests here")
def test_nothing_in_a_result_runs(lanes, api, browser, produce, topics, sql):
    """Every text of a result is hostile, in every place where one is shown."""
    attack = "\"'><script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)></td></table></section>{{1}}"
    script = "javascript:alert(1)//http://a.example/"
    for url in (attack, script, f"http://a.example/{attack}", "data:text/html,<script>alert(1)</script>"):
        result = {
            "request": {"ingest_type": attack, "base_url": url}, "hit": True, "status": attack, "error_message": attack,
            "hops": [url, attack, script, 7, None, {"a": attack}], "updated": attack, "next_try": attack,
            "terminal": {"terminal_url": url, "terminal_dt": attack, "terminal_status_code": 200, "terminal_sha1hex": attack,
                         "wayback": {"datetime": attack, "archive_url": script}},
            "file_meta": {"mimetype": attack, "size_bytes": 7, "sha1hex": attack}, "cdx": {"warc_path": attack}}
        with api() as server:
            identity = server.post("/ingest", {"ingest_type": "pdf", "base_url": PAGE}).json()["id"]
            produce(topics["results"], [json.dumps(result)], key=identity)
            server.wait(lambda: server.ask("HEAD", f"/ingest/{identity}").status == 200)
            browser.open(address(server, f"/?id={identity}"))
            browser.wait("document.querySelector('#result .status')")
            assert browser.evaluate("document.querySelector('#result .status').textContent") == attack
            assert browser.evaluate("document.scripts.length") == 0
            assert browser.evaluate("document.querySelectorAll('img, svg, iframe, [onerror], [onload]').length") == 0
            schemes = browser.evaluate("[...document.querySelectorAll('main a')].map((a) => a.protocol)")
            assert set(schemes) <= {"http:", "https:"}, schemes
            # Links to pages of the server itself are as they were written.
            assert html.escape(attack, quote=True).encode() in server.get(f"/?id={identity}").body.replace(b"&#39;", b"&#x27;")
    assert not browser.dialogs
    assert not browser.messages


@pytest.mark.unfinished("nothing answers requests here")
def test_results_that_have_odd_shapes(lanes, api, produce, topics):
    shapes = ({}, {"request": 7, "hit": "x", "status": None}, {"hops": {}, "terminal": [], "file_meta": 1, "cdx": "x", "request": []},
              {"status": "success", "hops": ["x"] * 100000}, {"status": "a" * 3_000_000}, {"terminal": {"terminal_status_code": -1}},
              {"status": "\u0000\u202e\x1b"})
    with api() as server:
        for number, shape in enumerate(shapes):
            identity = server.post("/ingest", {"ingest_type": "pdf", "base_url": f"{PAGE}?{number}"}).json()["id"]
            produce(topics["results"], [json.dumps(shape)], key=identity)
            server.wait(lambda: server.ask("HEAD", f"/ingest/{identity}").status == 200)
            assert server.get(f"/?id={identity}").status == 200


def test_a_token_is_asked_for(lanes, api, browser, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-that-is-long-enough\n")
    with api(arguments=["--token-file", tokens]) as server:
        browser.open(address(server))
        send(browser, PAGE, token="a-token-that-is-wrong")
        browser.wait("document.querySelector('.note.bad')?.textContent.includes('token')")
        send(browser, PAGE, token="a-token-that-is-long-enough")
        browser.wait("document.getElementById('waiting')")
        assert "long-enough" not in browser.evaluate("document.documentElement.outerHTML + location.href")
