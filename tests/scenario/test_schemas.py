# SPDX-License-Identifier: GPL-3.0-or-later
"""The schemas are schemas, accept every valid sample and refuse every invalid one."""

import json
import pathlib

import jsonschema
import pytest

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"
NAMES = sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))


def samples(kind):
    return [pytest.param(path, id=str(path.relative_to(SCHEMAS)))
            for path in sorted((SCHEMAS / kind).rglob("*.json"))]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def validator(name):
    schema = load(SCHEMAS / f"{name}.schema.json")
    return jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def test_there_are_schemas():
    assert NAMES == ["dead-letter", "grobid-output", "html-teixml", "ingest-request", "ingest-result", "pdf-text",
                     "run-summary", "worker-status", "xml-doc"]


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_one_of_its_draft(name):
    schema = load(SCHEMAS / f"{name}.schema.json")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", NAMES)
def test_schema_has_samples_of_both_kinds(name):
    for kind in ("valid", "invalid"):
        assert list((SCHEMAS / kind / name).glob("*.json")), f"{kind}/{name} is empty"


@pytest.mark.parametrize("path", samples("valid"))
def test_valid_sample_is_accepted(path):
    validator(path.parent.name).validate(load(path))


@pytest.mark.parametrize("path", samples("invalid"))
def test_invalid_sample_is_refused_for_one_reason(path):
    errors = list(validator(path.parent.name).iter_errors(load(path)))
    assert len(errors) == 1, [error.message for error in errors] or "accepted"


@pytest.mark.parametrize("name", NAMES)
def test_contract_can_grow(name):
    """Fields that nobody knows yet are allowed at the top of every message."""
    path = next((SCHEMAS / "valid" / name).glob("*.json"))
    validator(name).validate({**load(path), "a_field_of_a_later_version": [1]})
