# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers of the API beside what schemas/ingest-api.openapi.json says of them."""

import json
import pathlib
import re
import urllib.parse

import jsonschema

DOCUMENT = pathlib.Path(__file__).resolve().parents[3] / "schemas" / "ingest-api.openapi.json"


class OpenApi:
    def __init__(self):
        self.document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
        self.paths = [(re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)) + "$"), item)
                      for path, item in self.document["paths"].items()]
        self.seen = set()

    def resolve(self, value):
        while "$ref" in value:
            found = self.document
            for name in value["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            value = found
        return value

    def validator(self, schema):
        # References are relative to the document.
        return jsonschema.Draft202012Validator({"allOf": [schema], "components": self.document["components"]},
                                               format_checker=jsonschema.FormatChecker())

    def check(self, method, target, status, headers, body):
        """Fails when the document does not allow this answer."""
        path = urllib.parse.urlsplit(target).path
        item = next((item for pattern, item in self.paths if pattern.match(path)), None)
        operation = (item or {}).get("get" if method == "HEAD" else method.lower())
        if path in ("/page.css", "/page.js"):
            return
        if operation is None:
            assert status in (400, 404, 405), f"{method} {target}: {status}"
            self.validator({"$ref": "#/components/schemas/Error"}).validate(json.loads(body))
            return
        response = operation["responses"].get(str(status))
        assert response is not None, f"{method} {target}: {status} is not in the document"
        response = self.resolve(response)
        self.seen.add((operation["operationId"], str(status)))
        for name, header in response.get("headers", {}).items():
            if name == "Location" and "Of one request" in header.get("description", "") and name not in headers:
                continue
            assert name in headers, f"{method} {target}: {status} without {name}"
            value = headers[name]
            if header["schema"].get("type") == "integer":
                value = int(value)
            self.validator(header["schema"]).validate(value)
        if method == "HEAD" or "content" not in response:
            return
        kind = headers["Content-Type"].split(";")[0]
        assert kind in response["content"], f"{method} {target}: {status} is {kind}"
        self.validator(response["content"][kind]["schema"]).validate(
            json.loads(body) if kind == "application/json" else body.decode())
