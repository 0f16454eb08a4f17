# SPDX-License-Identifier: GPL-3.0-or-later
"""A server that speaks GROBID's protocol: documents and citations in, TEI out, or whatever a test wants it to say.

    with Grobid() as grobid:
        grobid.say(BUSY, tei("On Tides"))       # to the first call, and to all after it
        with worker({"grobid.url": grobid.url}): …
        assert grobid.calls[0].form["consolidateHeader"] == ["0"]

A call's body is read whole and its form taken apart before anything is said; a form that GROBID would not understand
is a 400, as there. An answer is an Answer, or a function of the call that returns one.
"""

import dataclasses
import email.parser
import email.policy
import hashlib
import html
import http.server
import threading
import time
import urllib.parse

TEI_TYPE = "application/xml; charset=UTF-8"
DOCUMENT = "/api/processFulltextDocument"
CITATIONS = "/api/processCitationList"
ALIVE = "/api/isalive"


@dataclasses.dataclass
class Answer:
    """What one call gets. body: bytes, or an iterable of them, which is sent without a length."""

    status: int = 200
    body: object = b""
    type: str = TEI_TYPE
    headers: dict = dataclasses.field(default_factory=dict)
    delay_s: float = 0.0
    cut: bool = False  # the connection ends before any answer


@dataclasses.dataclass
class Call:
    """One line of the record."""

    path: str
    form: dict  # name: values, without the document
    document: bytes = b""
    headers: dict = dataclasses.field(default_factory=dict)
    gone: bool = False  # the peer did not wait for the answer

    @property
    def sha1hex(self):
        return hashlib.sha1(self.document).hexdigest()


def tei(title, version="0.7.2", author="Möwe", text="Water rises.", encoding="UTF-8"):
    """The answer for a document: some of what GROBID writes of one."""
    return f"""<?xml version="1.0" encoding="{encoding}"?>
<TEI xml:space="preserve" xmlns="http://www.tei-c.org/ns/1.0">
<teiHeader xml:lang="en"><fileDesc>
<titleStmt><title level="a" type="main">{html.escape(title)}</title></titleStmt>
<publicationStmt><publisher>Sea Press</publisher><date type="published" when="1998-03-12">1998</date></publicationStmt>
<sourceDesc><biblStruct><analytic>
<author><persName><forename type="first">Ada</forename><surname>{author}</surname></persName></author>
</analytic><monogr><title level="j" type="main">J. Tides</title><imprint>
<biblScope unit="volume">7</biblScope></imprint></monogr><idno type="DOI">10.5555/1</idno></biblStruct></sourceDesc>
</fileDesc><encodingDesc><appInfo>
<application version="{version}" ident="GROBID" when="2022-01-02T03:04+0000"/></appInfo></encodingDesc></teiHeader>
<text xml:lang="en"><body><div><p>{text}</p></div></body></text></TEI>
""".encode(encoding)


def citation_tei(strings):
    """The answer for citations: each is its own title, and none is told apart further."""
    records = "".join(f"""<biblStruct xml:id="b{number}"><monogr><title level="m" type="main">{html.escape(one[:20])}</title>
<imprint><date type="published" when="1972"/></imprint></monogr>
<note type="raw_reference">{html.escape(one)}</note></biblStruct>
""" for number, one in enumerate(strings))
    return f"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><front/><body/><back><div><listBibl>
{records}</listBibl></div></back></text></TEI>""".encode()


BUSY = Answer(503, b"All engines of the pool are currently in use", "text/plain")
FAILURE = Answer(500, b"[GENERAL] An exception occurred while running Grobid.", "text/plain")
NOTHING = Answer(204)


def endless(chunk=b"<p>" + b"water " * 10000 + b"</p>", total=300 << 20):
    """An answer that is sent for as long as it is taken."""
    def pieces():
        yield tei("Too long").split(b"<p>", maxsplit=1)[0]
        for _ in range(0, total, len(chunk)):
            yield chunk
    return pieces()


class Grobid:
    """Listens on a free port of the loopback address. `threads`: more calls at once get a 503, as from GROBID."""

    def __init__(self, threads=1000, port=0):
        self.threads = threads
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.calls = []
        self.probes = 0
        self.running = 0
        self.most = 0  # side by side
        self.script = []
        self.port = port
        self.server = None

    def __enter__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """One connection."""

            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.serve_probe(self)

            def do_POST(self):
                outer.serve(self)

            def log_message(self, format, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            """Connections that are cut are what some tests are about."""

            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, client_address):
                pass

        self.ending.clear()
        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def say(self, *answers):
        """One answer for each call; the last one stays."""
        with self.lock:
            self.script = list(answers)

    def of(self, path):
        with self.lock:
            return [call for call in self.calls if call.path == path]

    def wait(self, seconds):
        """For answers: a pause that ends with the server."""
        self.ending.wait(seconds)

    # --- a call ---

    def serve_probe(self, handler):
        with self.lock:
            self.probes += handler.path == ALIVE
        found = handler.path == ALIVE
        body = b"true" if found else b""
        handler.send_response(200 if found else 404)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def serve(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        call = self.take_apart(handler, body)
        if call is None:
            self.send(handler, Answer(400, b"wrong request", "text/plain"))
            return
        with self.lock:
            self.calls.append(call)
            self.running += 1
            self.most = max(self.most, self.running)
            full = self.running > self.threads
        try:
            answer = BUSY if full else self.next_answer(call)
            if answer.delay_s:
                self.wait(answer.delay_s)
            if answer.cut:
                handler.close_connection = True
            else:
                self.send(handler, answer)
        except OSError:
            call.gone = True
            handler.close_connection = True
        finally:
            with self.lock:
                self.running -= 1

    def next_answer(self, call):
        with self.lock:
            given = self.script[0] if self.script else None
            if len(self.script) > 1:
                self.script.pop(0)
        answer = given(call) if callable(given) else given
        if answer is None:
            strings = call.form.get("citations", [])
            answer = citation_tei(strings) if call.path == CITATIONS else tei(f"Document {call.sha1hex[:8]}")
        return Answer(body=answer) if isinstance(answer, bytes) else answer

    @staticmethod
    def take_apart(handler, body):
        """The call, or None when GROBID would refuse it."""
        kind = handler.headers["Content-Type"] or ""
        headers = {name.lower(): value for name, value in handler.headers.items()}
        if handler.path == CITATIONS and kind.startswith("application/x-www-form-urlencoded"):
            form = urllib.parse.parse_qs(body.decode("ascii"), keep_blank_values=True, strict_parsing=True)
            return Call(handler.path, form, headers=headers) if form.get("citations") else None
        if handler.path != DOCUMENT or not kind.startswith("multipart/form-data"):
            return None
        parser = email.parser.BytesParser(policy=email.policy.HTTP)
        message = parser.parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
        form = {}
        for part in message.iter_parts():
            form.setdefault(part.get_param("name", header="content-disposition"), []).append(part)
        document = form.pop("input", [])
        if len(document) != 1:
            return None
        # The parser takes line ends for its own, so the document is taken out of the bytes.
        boundary = b"\r\n--" + message.get_boundary().encode()
        start = body.index(b"\r\n\r\n", body.index(b'name="input"')) + 4
        return Call(handler.path, {name: [part.get_content().strip() for part in parts] for name, parts in form.items()},
                    body[start:body.index(boundary, start)], headers)

    def send(self, handler, answer):
        handler.send_response(answer.status)
        if answer.type:
            handler.send_header("Content-Type", answer.type)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        whole = isinstance(answer.body, bytes)
        if whole:
            handler.send_header("Content-Length", str(len(answer.body)))
        else:
            handler.send_header("Connection", "close")
            handler.close_connection = True
        handler.end_headers()
        for piece in [answer.body] if whole else answer.body:
            if self.ending.is_set():
                break
            handler.wfile.write(piece)


def slowly(answer, seconds):
    """A function for say(): the answer after a pause."""
    def reply(_call):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(0.02)
        return answer
    return reply
