# SPDX-License-Identifier: GPL-3.0-or-later
"""What `e2e` and `alone` have in common: the pages and the server that they are fetched from, the floor, and the sums."""

import json
import pathlib
import resource
import statistics
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in ("deploy/lib", "deploy/sampleweb", "tests/scenario"):
    sys.path.insert(0, str(ROOT / folder))

import certs  # noqa: E402
import makepdf  # noqa: E402
import nginx  # noqa: E402

PAGE_BYTES = 100_000
PDF_BYTES = 200_000
NAMES = ("index.html", "paper.pdf")
DOMAIN = "bench.example"
TEXT = ROOT / "deploy" / "sampleweb" / "texts" / "saltmarsh.txt"
AGENT = "ingest-worker-bench/1.0 (+https://bench.example/robot)"
# What a server shows: the key of its certificate, and whether an intermediate signs it, which is sent, too.
CERTIFICATES = {"ec": ("ec", False), "ec-chain": ("ec", True), "rsa-chain": ("rsa", True)}
PDFTOTEXT_TIMES = 20


def landing_page():
    """About 100 KB of the kind of markup that article pages have, text of ours."""
    words = TEXT.read_text(encoding="utf-8").translate(str.maketrans("<>&", "   ")).split()
    head = ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>How wide is a creek?</title>\n' +
            "".join(f'<meta name="citation_author" content="Author {n}">\n' for n in range(12)) +
            '<meta name="citation_pdf_url" content="/paper.pdf">\n<link rel="stylesheet" href="/style.css">\n'
            "</head><body><main>\n")
    parts = [head]
    size = len(head)
    number = 0
    while size < PAGE_BYTES - 200:
        chunk = " ".join(words[(number * 37 + i) % len(words)] for i in range(45))
        part = (f'<section id="s{number}" class="section level-{number % 3}"><h2><a href="#s{number}">Part {number}</a></h2>'
                f'<p class="para">{chunk} <cite><a class="ref" href="#r{number}">[{number}]</a></cite></p></section>\n')
        parts.append(part)
        size += len(part)
        number += 1
    parts.append("</main></body></html>\n")
    return "".join(parts).encode()


def paper(pages):
    text = TEXT.read_text(encoding="utf-8")
    small = makepdf.make_pdf("How wide is a creek?", text, author="Y. B.", pages=pages)
    return makepdf.make_pdf("How wide is a creek?", text, author="Y. B.", pages=pages,
                            pad_bytes=max(0, PDF_BYTES - len(small)))


class Chain:
    """The files of a server's certificate: root, an intermediate if there is one, leaf."""

    def __init__(self, folder, kind):
        self.algorithm, chained = CERTIFICATES[kind]
        self.folder = folder
        self.folder.mkdir(parents=True)
        signer = self._issue("root", None, "basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")
        self.ca_file = self.folder / "root.pem"
        if chained:
            signer = self._issue("intermediate", signer, "basicConstraints=critical,CA:TRUE,pathlen:0",
                                 "keyUsage=critical,keyCertSign,cRLSign")
        self._issue("leaf", signer, "basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
                    "extendedKeyUsage=serverAuth", f"subjectAltName=DNS:*.{DOMAIN}")
        self.key = self.folder / "leaf.key"
        self.sent = self.folder / "sent.pem"
        parts = ("leaf", "intermediate") if chained else ("leaf",)
        self.sent.write_text("".join((self.folder / f"{name}.pem").read_text(encoding="ascii") for name in parts), encoding="ascii")

    def _issue(self, name, signer, *extensions):
        key = self.folder / f"{name}.key"
        options = {"ec": ("EC", "ec_paramgen_curve:P-256"), "rsa": ("RSA", "rsa_keygen_bits:2048")}[self.algorithm]
        certs.openssl("genpkey", "-algorithm", options[0], "-pkeyopt", options[1], "-out", str(key))
        command = ["req", "-x509", "-new", "-sha256", "-days", "30", "-key", str(key), "-subj", f"/CN=bench {name}",
                   "-out", str(self.folder / f"{name}.pem")]
        for extension in extensions:
            command += ["-addext", extension]
        if signer:
            command += ["-CA", str(self.folder / f"{signer}.pem"), "-CAkey", str(self.folder / f"{signer}.key")]
        certs.openssl(*command)
        return name


class Web(nginx.Nginx):
    """Two static files over TLS, a fresh connection for each request."""

    def __init__(self, folder, pdf_pages, tls="1.3", tickets="on", certificate="ec"):
        super().__init__(folder)
        self.pdf_pages = pdf_pages
        self.tls = tls
        self.tickets = tickets
        self.certificate = certificate
        self.name = f"TLS {tls}, tickets {tickets}, {certificate}"

    def start(self):
        chain = Chain(self.folder / "tls", self.certificate)
        self.ca_file = str(chain.ca_file)
        www = self.folder / "www"
        www.mkdir()
        (www / "index.html").write_bytes(landing_page())
        self.paper = www / "paper.pdf"
        self.paper.write_bytes(paper(self.pdf_pages))
        self.serve(f"""
    listen 127.0.0.1:{self.port} ssl backlog=2048; ssl_certificate {chain.sent}; ssl_certificate_key {chain.key};
    ssl_protocols TLSv{self.tls}; ssl_session_tickets {self.tickets}; root {www};""")

    def settings(self):
        """Of whoever fetches from it, at its pace and not at that of politeness."""
        return {"fetch.ca_file": self.ca_file, "fetch.user_agent": AGENT, "fetch.connect_to": [f":443:127.0.0.1:{self.port}"],
                "fetch.allow_address": ["127.0.0.0/8"], "gate.host_delay_ms": 0, "gate.adaptive_factor": 0, "gate.robots": "ignore",
                "intake.host_share": 100}


def requests_of(count, hosts):
    return [{"ingest_type": "pdf", "base_url": f"https://h{n % hosts}.{DOMAIN}/index.html?{n}", "link_source": "bench",
             "link_source_id": str(n)} for n in range(count)]


def floor_command(build, web, concurrency):
    return [next(build.rglob("bench-floor")), web.ca_file, f"127.0.0.1:{web.port}", str(concurrency)]


def run_floor(build, web, args):
    urls = "".join(f"https://h{n % args.hosts}.{DOMAIN}/{name}\n" for n in range(args.requests) for name in NAMES)
    done = subprocess.run(floor_command(build, web, args.concurrency), input=urls, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class FloorBeside:
    """The floor again, a few transfers at a time, for as long as the worker runs: what one URL costs libcurl on processors that
    are busy with the same brokers, database and examiners."""

    def __init__(self, build, web, hosts):
        self.process = subprocess.Popen(floor_command(build, web, 4), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.hosts = hosts
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._feed)

    def _feed(self):
        number = 0
        while not self.ending.is_set():
            self.process.stdin.write(f"https://h{number // 2 % self.hosts}.{DOMAIN}/{NAMES[number % 2]}\n")
            number += 1
        self.process.stdin.close()

    def start(self):
        self.thread.start()

    def finish(self):
        """The pipe's buffer holds about 1,500 URLs more when nothing is written any longer; they count like the others."""
        self.ending.set()
        self.thread.join()
        answer = json.loads(self.process.stdout.read())
        self.process.wait()
        return answer


def children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pdftotext_ms(web):
    """CPU of `pdftotext` for the paper."""
    before = children_cpu_seconds()
    for _ in range(PDFTOTEXT_TIMES):
        subprocess.run(["pdftotext", web.paper, "/dev/null"], check=True)
    return (children_cpu_seconds() - before) * 1000 / PDFTOTEXT_TIMES


def floor_ms(answer):
    if answer["failures"] > 0:
        raise SystemExit(f"{answer['failures']} transfers of the floor failed")
    return answer["cpu_seconds"] / answer["transfers"] * 1000


def sums(stages, pdf_text_seconds, requests, floors, tool_ms):
    """Per fetched URL, in milliseconds of CPU. stages: seconds by name, without PDF text. floors: answers of the floor by name."""
    urls = len(NAMES) * requests
    ms = {name: seconds / urls * 1000 for name, seconds in stages.items()}
    pdf_ms = pdf_text_seconds / urls * 1000
    without = sum(ms.values())
    answer = {f"floor_{name}_ms": floor_ms(floor) for name, floor in floors.items()}
    answer |= {f"ratio_to_floor_{name}": without / floor_ms(floor) for name, floor in floors.items()}
    answer |= {f"{name}_ms": value for name, value in ms.items()}
    answer |= {"without_pdf_text_ms": without, "pdf_text_ms": pdf_ms, "all_ms": without + pdf_ms,
               "urls_per_cpu_second_without_pdf_text": 1000 / without, "urls_per_cpu_second": 1000 / (without + pdf_ms),
               "pdf_text_ms_per_document": pdf_ms * len(NAMES), "pdftotext_ms_per_document": tool_ms,
               "pdf_text_ratio_to_pdftotext": pdf_ms * len(NAMES) / tool_ms}
    return {name: round(value, 3) for name, value in answer.items()}


def resumption(tls):
    """tls: of the worker's accounts; older ones have none."""
    return {"handshakes": tls["handshakes"], "resumed_share": round(tls["resumed"] / max(1, tls["handshakes"]), 3)} if tls else {}


def rest(reaped_cpu_seconds, wall_seconds, requests):
    """reaped: what wait4 says of the program and the processes that it has waited for, as a check of its own accounts."""
    urls = len(NAMES) * requests
    return {"reaped_ms": round(reaped_cpu_seconds / urls * 1000, 3), "urls_per_second": round(urls / wall_seconds, 1)}


def medians(rounds):
    """Of every number that all rounds have."""
    keys = [key for key, value in rounds[0].items() if isinstance(value, int | float)]
    return {key: round(statistics.median(one[key] for one in rounds), 3) for key in keys}


def add_options(parser):
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--before", type=pathlib.Path, help="another build, measured in turn")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--pdf-pages", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tls", default="1.3", help="1.3, 1.2, or several with commas, which are measured in turn")
    parser.add_argument("--tickets", default="on", help="whether the server lets sessions be resumed: on, off, or both")
    parser.add_argument("--certificate", default="ec", help=f"{', '.join(CERTIFICATES)}, or several")


def webs_of(args, folder):
    """One for each combination of --tls, --tickets and --certificate."""
    kinds = [(tls, tickets, certificate) for tls in args.tls.split(",") for tickets in args.tickets.split(",")
             for certificate in args.certificate.split(",")]
    return [Web(folder / f"nginx{number}", args.pdf_pages, *kind) for number, kind in enumerate(kinds)]


def measure(args, webs, run):
    """run(build, web, tag, floor, tool_ms) for each web and build in turn, args.rounds times. {name: {"median", "rounds"}}."""
    builds = {"": args.build} | ({", before": args.before} if args.before else {})
    rounds = {web.name + which: [] for web in webs for which in builds}
    for number in range(args.rounds):
        for at, web in enumerate(webs):
            floor = run_floor(args.build, web, args)
            tool_ms = pdftotext_ms(web)
            for which, build in builds.items():
                tag = f"b{number}x{at}{which.strip(', ')}"
                rounds[web.name + which].append(run(build, web, tag, floor, tool_ms))
                print(f"round {number + 1}: {web.name}{which}: {rounds[web.name + which][-1]}", file=sys.stderr)
    return {"requests": args.requests, "hosts": args.hosts, "concurrency": args.concurrency, "pdf_pages": args.pdf_pages,
            **{name: {"median": medians(several), "rounds": several} for name, several in rounds.items()}}
