# SPDX-License-Identifier: GPL-3.0-or-later
"""The scraping rules in the running worker: hard sites, walls, other rules while it runs, what came of each rule."""

import json
import pathlib
import shutil
import signal

import makepdf
import pytest
from server import Reply

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "rules" / "pages"
PDF = makepdf.make_pdf("Behind a page", "Some words.")


def pdf(url):
    return {"ingest_type": "pdf", "base_url": url}


def html(url):
    return {"ingest_type": "html", "base_url": url}


def page_file(name, status=200):
    body = (PAGES / name).read_bytes()
    return lambda _: Reply(status, body)


def a_pdf(_):
    return Reply(200, PDF, type="application/pdf")


def redirect(location):
    return {"redirect": 302, "location": location}


@pytest.fixture
def host(tag):
    """A name of the sample web that no other test has asked for anything."""
    return f"{tag}.scrape.example"


# --- the six hard sites ----------------------------------------------------------------------------------


def test_acs(outcome, web):
    link = "https://pubs.acs.org/doi/pdf/10.1021/acs.imagint.1c99001?ref=article_openPDF"
    web.route("pubs.acs.org", "/doi/10.1021/acs.imagint.1c99001", page_file("journals/acs/article.html"))
    web.route("pubs.acs.org", link.removeprefix("https://pubs.acs.org"), a_pdf)
    result = outcome(pdf("https://pubs.acs.org/doi/10.1021/acs.imagint.1c99001"))
    assert result["status"] == "success", result
    assert result["extract_next_hop"] == {"url": link, "technique": "acs-pdf"}
    assert result["hops"] == ["https://pubs.acs.org/doi/10.1021/acs.imagint.1c99001", link]
    assert result["html_biblio"]["title"] and result["html_biblio"]["contrib_names"]


def test_elsevier_linkinghub_to_sciencedirect_to_the_document(outcome, web):
    hub = "https://linkinghub.elsevier.com/retrieve/pii/S0000000019300011"
    article = "https://www.sciencedirect.com/science/article/pii/S0000000019300011"
    document = article + "/pdfft?md5=0123456789abcdef&pid=1-s2.0-S0000000019300011-main.pdf"
    web.route("linkinghub.elsevier.com", "/retrieve/pii/S0000000019300011", page_file("sites/linkinghub.html"))
    web.route("www.sciencedirect.com", "/science/article/pii/S0000000019300011",
              page_file("sites/sciencedirect-article.html"))
    web.route("www.sciencedirect.com", document.removeprefix("https://www.sciencedirect.com"), a_pdf)
    result = outcome(pdf(hub))
    assert result["status"] == "success", result
    assert result["hops"] == [hub, article, document]
    assert result["extract_next_hop"]["technique"] == "sciencedirect-article"


def test_elsevier_with_a_page_before_the_document(outcome, web):
    article = "https://www.sciencedirect.com/science/article/pii/S0000000019300011"
    bounce = article + "/pdfft?md5=0123456789abcdef&pid=1-s2.0-S0000000019300011-main.pdf"
    last = "https://pdf.sciencedirectassets.com/1/1-s2.0-S0000000019300011/main.pdf?X-Amz-Date=20190101T000000Z&hash=abc"
    web.route("www.sciencedirect.com", "/science/article/pii/S0000000019300011",
              page_file("sites/sciencedirect-article.html"))
    web.route("www.sciencedirect.com", bounce.removeprefix("https://www.sciencedirect.com"),
              page_file("sites/sciencedirect-bounce.html"))
    web.route("pdf.sciencedirectassets.com", last.removeprefix("https://pdf.sciencedirectassets.com"), a_pdf)
    result = outcome(pdf(article))
    assert result["status"] == "success", result
    assert result["hops"] == [article, bounce, last]
    assert result["extract_next_hop"]["technique"] == "sciencedirect-bounce"


def test_osa_captcha(worker, submit, results_by_url, web):
    """The article is redirected to the captcha, or the captcha stands in its place; and where it is known
    beforehand it is not asked for."""
    sent = "https://www.osapublishing.org/oe/abstract.cfm?uri=oe-27-1-1"
    served = "https://www.osapublishing.org/oe/abstract.cfm?uri=oe-27-1-2"
    captcha = "https://www.osapublishing.org/captcha/?guid=39B0E947-C0FC-B5D8-2C0C-CCF004FF16B8"
    web.route("www.osapublishing.org", "/oe/abstract.cfm?uri=oe-27-1-1",
              redirect(captcha.removeprefix("https://www.osapublishing.org")))
    web.route("www.osapublishing.org", "/oe/abstract.cfm?uri=oe-27-1-2", page_file("walls/recaptcha.html"))
    submit([pdf(sent), pdf(served), pdf(captcha)])
    with worker():
        found = results_by_url(3)
    assert found[sent]["status"] == "blocked-captcha"
    assert found[sent]["hops"] == [sent]
    assert found[served]["status"] == "blocked-captcha", found[served]
    assert found[served]["terminal"]["terminal_url"] == served and found[served]["error_message"]
    assert found[captcha]["status"] == "skip-wall" and "hops" not in found[captcha]
    assert not any(entry["path"].startswith("/captcha/") for entry in web.accesses("www.osapublishing.org"))


def test_walls_are_looked_for_in_every_bad_status(worker, submit, results_by_url, web, host):
    statuses = [202, 400, 404, 405, 418, 500, 520]
    for status in statuses:
        web.route(host, f"/{status}", page_file("walls/recaptcha.html", status))
    web.route(host, "/gone", lambda _: Reply(404, b"<title>Not found</title><p>There is no such page."))
    urls = [f"https://{host}/{status}" for status in statuses]
    submit([pdf(url) for url in [*urls, f"https://{host}/gone"]])
    with worker():
        found = results_by_url(len(statuses) + 1)
    assert {url: found[url]["status"] for url in urls} == dict.fromkeys(urls, "blocked-captcha")
    assert found[f"https://{host}/gone"]["status"] == "terminal-bad-status"


def test_a_page_that_only_a_browser_reads_is_said(worker, submit, results, web, host):
    """The status is what it would be without."""
    web.route("osf.io", "/abcde/", lambda _: Reply(404, b"<p>Not found"))
    web.route(host, "/to-it", redirect("https://osf.io/abcde/"))
    web.route(host, "/other", lambda _: Reply(404, b"<p>Not found"))
    urls = ["https://osf.io/abcde/", f"https://{host}/to-it", f"https://{host}/other"]
    submit([pdf(url) for url in urls] + [html(urls[0])])
    with worker():
        found = {(r["request"]["ingest_type"], r["request"]["base_url"]): r for r in results(4)}
    assert {r["status"] for r in found.values()} == {"terminal-bad-status"}
    assert [found["pdf", url].get("needs_browser") for url in urls] == [True, True, None]
    assert found["html", urls[0]]["needs_browser"] is True


def test_a_document_is_guessed_where_no_rule_knows_it(worker, submit, results_by_url, web, host):
    record = (b'<meta name="citation_title" content="On the drift of small boats"><h1>On the drift of small boats</h1>')
    guide = b'<p><a href="/guide.pdf">Guide for authors (PDF)</a></p>'
    web.route(host, "/known", lambda _: Reply(200, record + guide + b'<p><a href="/files/1.pdf">Download PDF</a></p>'))
    web.route(host, "/unknown", lambda _: Reply(200, record + guide))
    web.route(host, "/files/1.pdf", a_pdf)
    web.route(host, "/guide.pdf", a_pdf)
    submit([pdf(f"https://{host}/known"), pdf(f"https://{host}/unknown")])
    with worker():
        found = results_by_url(2)
    known, unknown = found[f"https://{host}/known"], found[f"https://{host}/unknown"]
    assert known["status"] == "success", known
    assert known["extract_next_hop"] == {"url": f"https://{host}/files/1.pdf", "technique": "guess"}
    assert unknown["status"] == "no-pdf-link" and not unknown["extract_next_hop"]


def test_utp_cookie_absent(worker, submit, results_by_url, web):
    """Sent to the page about cookies, or shown it in place of the article."""
    sent = "https://utpjournals.press/doi/full/10.3138/rsh.44.2.1"
    served = "https://utpjournals.press/doi/full/10.3138/rsh.44.2.2"
    good = "https://utpjournals.press/doi/full/10.3138/rsh.44.2.9987"
    web.route("utpjournals.press", "/doi/full/10.3138/rsh.44.2.1", redirect("/action/cookieAbsent"))
    web.route("utpjournals.press", "/doi/full/10.3138/rsh.44.2.2", page_file("walls/atypon-cookie-absent.html"))
    web.route("utpjournals.press", "/doi/full/10.3138/rsh.44.2.9987", page_file("journals/utp/article.html"))
    web.route("utpjournals.press", "/doi/pdf/10.3138/rsh.44.2.9987", a_pdf)
    submit([pdf(sent), pdf(served), pdf(good)])
    with worker():
        found = results_by_url(3)
    assert found[sent]["status"] == "blocked-cookie"
    assert found[served]["status"] == "blocked-cookie", found[served]
    assert found[good]["status"] == "success", found[good]


def test_oup(outcome, web):
    link = "https://academic.oup.com/imagbio/article-pdf/9/2/2345/33990001/qzz9901.pdf"
    web.route("academic.oup.com", "/imagbio/article/9/2/2345/5990001", page_file("journals/oup/article.html"))
    web.route("academic.oup.com", link.removeprefix("https://academic.oup.com"), a_pdf)
    result = outcome(pdf("https://academic.oup.com/imagbio/article/9/2/2345/5990001"))
    assert result["status"] == "success", result
    assert result["terminal"]["terminal_url"] == link
    assert result["html_biblio"]["container_name"]


def test_jcancer(outcome, web):
    web.route("www.jcancer.org", "/v11p9012.htm", page_file("journals/ivyspring/article.html"))
    web.route("www.jcancer.org", "/v11p9012.pdf", a_pdf)
    result = outcome(pdf("http://www.jcancer.org/v11p9012.htm"))
    assert result["status"] == "success", result
    assert result["terminal"]["terminal_url"] == "https://www.jcancer.org/v11p9012.pdf"


# --- walls -----------------------------------------------------------------------------------------------


def test_answers_that_refuse_say_why(worker, submit, results_by_url, web, host):
    """A bot challenge is one with whatever status it comes; another refusal stays what it was."""
    paths = {"/403": page_file("walls/cloudflare-challenge.html", 403),
             "/503": page_file("walls/cloudflare-challenge.html", 503),
             "/200": page_file("walls/cloudflare-challenge.html"),
             "/404": page_file("walls/cloudflare-challenge.html", 404),
             "/plain": lambda _: Reply(403, "<html><title>Forbidden</title><p>You may not."),
             "/text": lambda _: Reply(403, "no", type="text/plain")}
    for path, what in paths.items():
        web.route(host, path, what)
    submit([pdf(f"https://{host}{path}") for path in paths] + [html(f"https://{host}/login")])
    web.route(host, "/login", page_file("walls/shibboleth.html"))
    with worker():
        found = {url.removeprefix(f"https://{host}"): result for url, result in results_by_url(7).items()}
    assert {path: result["status"] for path, result in found.items()} == {
        "/403": "blocked-challenge", "/503": "blocked-challenge", "/200": "blocked-challenge",
        "/404": "blocked-challenge", "/plain": "terminal-bad-status", "/text": "terminal-bad-status",
        "/login": "blocked-login"}
    assert found["/403"]["terminal"]["terminal_status_code"] == 403
    assert "Cloudflare" in found["/403"]["error_message"]
    assert all("file_meta" not in result for result in found.values())


# --- pages asked for as such -----------------------------------------------------------------------------


def article(title, links=""):
    words = "<p>" + " ".join(["tide"] * 900) + "</p>"
    return {"body": f'<html><head><title>{title}</title><meta name="citation_title" content="{title}">{links}'
                    f"</head><body><h1>{title}</h1>{words}</body></html>"}


def test_html_requests_follow_the_link_to_the_full_text(worker, submit, results_by_url, web, host):
    full = f"https://{host}/full/1"
    link = f'<meta name="citation_fulltext_html_url" content="{full}">'
    web.route(host, "/abs/1", article("Abstract of tides", link))
    web.route(host, "/full/1", article("Tides", link))  # names itself
    web.route(host, "/alone", article("No more than this"))
    submit([html(f"https://{host}/abs/1"), html(f"https://{host}/alone")])
    with worker():
        found = results_by_url(2)
    led = found[f"https://{host}/abs/1"]
    assert led["status"] == "success", led
    assert led["hops"] == [f"https://{host}/abs/1", full]
    assert led["html_biblio"]["title"] == "Tides"
    assert led["file_meta"]["mimetype"] == "text/html" and led["scope"]
    assert found[f"https://{host}/alone"]["status"] == "unknown-scope"
    assert found[f"https://{host}/alone"]["hops"] == [f"https://{host}/alone"]


# --- other rules while the worker runs -------------------------------------------------------------------


NEW_SITE = """
- name: new-site
  page: {{host: {host}, path: /a/}}
  take:
    - selector: b.file
      name: file
  pdf_url: 'https://{host}/files/{{file}}'
  stage: submitted
"""


def read_yield(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def test_other_rules_on_sighup(worker, submit, results_by_url, web, host, settings, tmp_path):
    rules = tmp_path / "rules"
    shutil.copytree(ROOT / "rules", rules)
    sites = rules / "sites.yaml"
    good = sites.read_text(encoding="utf-8") + NEW_SITE.format(host=host)
    for number in range(4):
        web.route(host, f"/a/{number}", {"body": f"<title>One</title><p>See <b class=file>{number}.pdf</b>"})
        web.route(host, f"/files/{number}.pdf", a_pdf)
    pages = [f"https://{host}/a/{number}" for number in range(4)]
    with worker({"rules.dir": str(rules)}) as daemon:
        submit(pdf(pages[0]))
        assert results_by_url(1)[pages[0]]["status"] == "no-pdf-link"

        sites.write_text(good, encoding="utf-8")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log(r"rules reloaded: \d+ rules")
        submit(pdf(pages[1]))
        found = results_by_url(2)[pages[1]]
        assert found["status"] == "success", found
        assert found["extract_next_hop"] == {"url": f"https://{host}/files/1.pdf", "technique": "new-site",
                                             "release_stage": "submitted"}

        lines = good.splitlines()
        where = lines.index("    - selector: b.file")
        lines[where] = "    - selector: b..file"
        sites.write_text("\n".join(lines) + "\n- nonsense\n", encoding="utf-8")
        (rules / "walls.yaml").write_text("- {host: a.example, verdict: wal, why: x}\n", encoding="utf-8")
        daemon.process.send_signal(signal.SIGHUP)
        daemon.wait_log("rules not reloaded, the current ones stay in use")
        log = daemon.log()
        assert f"{sites}:{where + 1}:" in log and f"{sites}:{len(lines) + 1}:" in log
        assert f"{rules / 'walls.yaml'}:1:" in log
        submit(pdf(pages[2]))
        assert results_by_url(3)[pages[2]]["status"] == "success"
        assert any("RELOADING=1" in note for note in daemon.notifications)
        assert daemon.notifications[-1].startswith("STATUS=") or "READY=1" in "".join(daemon.notifications[-20:])
    found = read_yield(pathlib.Path(settings["state.dir"]) / "rule-yield.json")
    assert list(found["rules"]) == sorted(found["rules"])
    assert found["rules"]["sites.yaml new-site"] == {"applied": 2, "matched": 2, "failed": 0, "led_to_document": 2}
    assert any(counters["applied"] == 0 for counters in found["rules"].values())  # never asked, and there
    assert len(found["digest"]) == 16 and found["since"].endswith("Z")
    assert sum(day.get("sites.yaml new-site", [0])[0] for day in found["days"].values()) == 2
    sites.write_text(good, encoding="utf-8")
    (rules / "walls.yaml").unlink()
    with worker({"rules.dir": str(rules)}):  # a new process counts from zero, and keeps the days
        pass
    found = read_yield(pathlib.Path(settings["state.dir"]) / "rule-yield.json")
    assert found["rules"]["sites.yaml new-site"]["applied"] == 0
    assert len(found["days"]) == 30
    assert sum(day.get("sites.yaml new-site", [0])[0] for day in found["days"].values()) == 2


def test_a_reload_under_load_loses_no_document(worker, submit, results_by_url, web, host, tmp_path):
    rules = tmp_path / "rules"
    shutil.copytree(ROOT / "rules", rules)
    body = article("Tides", '<meta name="citation_pdf_url" content="/1.pdf">')["body"]
    web.route(host, "/1.pdf", a_pdf)
    urls = [f"https://{host}/page/{number}" for number in range(120)]
    for url in urls:
        web.route(host, url.removeprefix(f"https://{host}"), {"body": body})
    with worker({"rules.dir": str(rules), "gate.host_concurrency": 32}) as daemon:
        submit([pdf(url) for url in urls])
        for turn in range(5):
            (rules / "sites.yaml").write_text(f"# {turn}\n[]\n", encoding="utf-8")
            daemon.process.send_signal(signal.SIGHUP)
            daemon.wait_log(rf"(?s)(rules reloaded.*){{{turn + 1}}}")
        found = results_by_url(len(urls))
        assert {result["status"] for result in found.values()} == {"success"}
        assert "died" not in daemon.log()


# --- hostile pages, hostile rules ------------------------------------------------------------------------


BOMB_RULES = r"""
- name: bomb
  page: {path: /bomb}
  take:
    - script: '(?<x>(a+)+)[0-9]'
  pdf_url: 'https://bomb.example/{x}'
"""


def test_a_page_that_makes_rules_costly_ends(program, web, host, tmp_path, run_ctl, settings):
    """Regular expressions that backtrack, selectors over a tower: the request ends, and the rule's failure shows."""
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "sites.yaml").write_text(BOMB_RULES, encoding="utf-8")
    (rules / "links.yaml").write_text(
        "pdf:\n  - {technique: tower, selector: 'div div div div:has(p ~ p) ~ span a:matches((x+x+)+y)'}\n",
        encoding="utf-8")
    tower = "<div>" * 400 + "<p>x</p>" * 2000 + "<span><a href=/x>" + "x" * 5000 + "</a></span>"
    web.route(host, "/bomb/1", {"body": f"<script>{'a' * 40000}!</script>{tower}"})
    out = tmp_path / "out"
    done = run_ctl("--set", f"rules.dir={rules}", "run", "--out", out, "-",
                   input=json.dumps(pdf(f"https://{host}/bomb/1")) + "\n")
    assert done.returncode == 0, done.stderr
    result = json.loads((out / "results.jsonl").read_text(encoding="utf-8"))
    assert result["status"] == "no-pdf-link", result
    found = read_yield(out / "rule-yield.json")["rules"]
    assert found["sites.yaml bomb"]["failed"] == 1, found


def test_the_example_rules_of_a_wrong_folder_are_refused_whole(program, tmp_path, run_ctl, settings):
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "journals.yaml").write_text("a\\.example: site\n---\nother:\n  title: h1\n---\n[]\n", encoding="utf-8")
    (rules / "webpages.yaml").write_text("a\\.example:\n  title: 'h1['\n", encoding="utf-8")
    done = run_ctl("--set", f"rules.dir={rules}", "run", "-", input="")
    assert done.returncode == 2
    assert f"{rules / 'journals.yaml'}:" in done.stderr and f"{rules / 'webpages.yaml'}:2:" in done.stderr
