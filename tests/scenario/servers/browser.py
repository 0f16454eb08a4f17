# SPDX-License-Identifier: GPL-3.0-or-later
"""Headless Chromium, spoken to in its own protocol (Chrome DevTools) over a pipe."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time


class Browser:
    """One page: open(url), evaluate(expression), wait(expression). `messages` has what was said on its console, refusals by a
    policy included, `requests` the URLs that it asked for."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ing-chromium-")
        to_read, self.write_to = os.pipe()
        self.read_from, to_write = os.pipe()

        def in_child():  # the protocol's descriptors
            high = [os.dup(to_read), os.dup(to_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
                 f"--user-data-dir={self.folder}/profile", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=False, preexec_fn=in_child)
        os.close(to_read)
        os.close(to_write)
        self.numbers = itertools.count(1)
        self.answers = {}
        self.arrived = threading.Condition()
        self.messages, self.requests, self.dialogs = [], [], []
        threading.Thread(target=self._read, daemon=True).start()
        target = next(one for one in self._targets() if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _targets(self):
        deadline = time.monotonic() + 60
        while True:
            found = self.call("Target.getTargets", session=None)["targetInfos"]
            if any(one["type"] == "page" for one in found):
                return found
            assert time.monotonic() < deadline, "no page"
            time.sleep(0.05)

    def _read(self):
        data = b""
        with contextlib.suppress(OSError):
            while piece := os.read(self.read_from, 1 << 16):
                data += piece
                while b"\0" in data:
                    message, data = data.split(b"\0", 1)
                    self._take(json.loads(message))

    def _take(self, message):
        with self.arrived:
            if "id" in message:
                self.answers[message["id"]] = message
            elif message["method"] == "Log.entryAdded":
                self.messages.append(message["params"]["entry"]["text"])
            elif message["method"] == "Runtime.exceptionThrown":
                self.messages.append(str(message["params"]["exceptionDetails"]))
            elif message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
            elif message["method"] == "Page.javascriptDialogOpening":
                self.dialogs.append(message["params"])
            self.arrived.notify_all()

    def call(self, method, session=True, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if session:
            session = getattr(self, "session", None)
            if session:
                message["sessionId"] = session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        with self.arrived:
            assert self.arrived.wait_for(lambda: number in self.answers, 60), f"no answer to {method}"
            answer = self.answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, url):
        self.call("Page.navigate", url=url)
        self.wait(f"location.href !== 'about:blank' && document.readyState === 'complete'")

    def wait(self, expression, timeout=60):
        """Until it is true, also over navigations."""
        deadline = time.monotonic() + timeout
        while True:
            with contextlib.suppress(AssertionError):
                if self.evaluate(f"Boolean({expression})"):
                    return
            assert time.monotonic() < deadline, f"{expression} is not true after {timeout} s:\n{self.evaluate('document.body.innerText')}"
            time.sleep(0.05)

    def forget(self):
        """Begins the lists of what was said and asked for anew."""
        for seen in (self.messages, self.requests, self.dialogs):
            seen.clear()

    def close(self):
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for descriptor in (self.write_to, self.read_from):
            os.close(descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)
