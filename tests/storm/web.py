# SPDX-License-Identifier: GPL-3.0-or-later
"""The web that a storm asks: nginx, whose answers follow from the URL alone and cost next to nothing.

/page/ID is a page that calls itself a full text, long enough for a revisit record when it is fetched again, /hop/ID redirects to it, /paper/ID.pdf is a PDF of one page, /gone/ID is not there. Every body has the
host and the path in it, so that no two are the same.
"""

import nginx

WORDS = "A creek in a salt marsh widens with every tide that it drains, and narrows with every plant that holds its bank. "
PAGE = "<!doctype html><html><head><title>$host$uri</title><meta name='citation_fulltext_html_url' content='http://$host$uri'></head><body><h1>$host$uri</h1><p>" + WORDS * 10 + "</body></html>"
# Without compression, and with nothing that nginx would take for a variable. What comes after the end does not move an offset.
PDF_OBJECTS = (
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    None,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
)
# Of a hundred requests; pages are the cheapest.
WEIGHTS = {"page": 80, "hop": 8, "paper": 4, "gone": 8}
TYPES = {"page": "html", "hop": "html", "paper": "pdf", "gone": "html"}


def pdf():
    content = f"BT /F1 11 Tf 64 770 Td ({WORDS.strip()}) Tj ET"
    text, places = "%PDF-1.4\n", []
    for number, body in enumerate(PDF_OBJECTS, 1):
        places.append(len(text))
        body = body or f"<< /Length {len(content)} >>\nstream\n{content}\nendstream"
        text += f"{number} 0 obj\n{body}\nendobj\n"
    xref = len(text)
    text += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n" + "".join(f"{place:010} 00000 n \n" for place in places)
    text += f"trailer\n<< /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n"
    return text + "%$host$uri\n"


class Web(nginx.Nginx):
    def start(self):
        self.serve(f"""
    listen 127.0.0.1:{self.port} backlog=2048;
    location /page/ {{ default_type text/html; return 200 "{PAGE}"; }}
    location ~ ^/hop/(.*)$ {{ return 302 http://$host/page/$1; }}
    location /paper/ {{ default_type application/pdf; return 200 "{pdf()}"; }}
    location / {{ default_type text/html; return 404 "<!doctype html><title>$host$uri</title><p>is not here"; }}""")

    def connect_to(self):
        return [f":80:127.0.0.1:{self.port}"]


def again(name, earlier):
    """A request for the page of an earlier one."""
    return {**earlier, "link_source_id": name}


def request(number, name, hosts, hot, chance):
    """The number-th request: mostly pages. name is its identity, which its URL has, too. hot: the share of the first host."""
    host = 0 if chance.random() < hot else number % hosts
    kind = chance.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))[0]
    end = ".pdf" if kind == "paper" else ""
    return {"ingest_type": TYPES[kind], "base_url": f"http://h{host}.storm.example/{kind}/{name}{end}",
            "link_source": "storm", "link_source_id": name}
