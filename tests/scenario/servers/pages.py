# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages of many hosts of the sample web, which may be held back until a test has done something."""

import collections
import threading
import time

from server import Reply

PAGE = b"Text of a file, with a sentence.\n"


class Pages:
    """Pages of many hosts. While the gate is closed, or `held` is their prefix, they are not answered. The sample web serves other tests,
    too: the hosts have the test's tag in their names, and what was asked of them is counted here."""

    def __init__(self, web, tag):
        self.web = web
        self.tag = tag
        self.seen = collections.defaultdict(set)
        self.visits = collections.Counter()
        self.gate = threading.Event()
        self.gate.set()
        self.held = None

    def requests(self, prefix, count):
        for number in range(count):
            host = f"h{number}.{prefix}.{self.tag}.test.example"
            self.web.route(host, "/", lambda _, name=host: self.page(prefix, name))
            yield {"ingest_type": "component", "base_url": f"http://{host}/"}

    def page(self, prefix, host):
        self.seen[prefix].add(host)
        self.visits[prefix] += 1
        self.gate.wait(60)
        for _ in range(600):
            if self.held != prefix:
                break
            time.sleep(0.1)  # a minute in all
        return Reply(200, PAGE)

    def asked(self, prefix):
        """How many hosts of that prefix have been asked for their page so far."""
        return len(self.seen[prefix])
