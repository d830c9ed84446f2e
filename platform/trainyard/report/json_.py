"""The JSON report: a contract, with its schema in `schemas/trainyard/report.json`."""

from __future__ import annotations

import json
from typing import Any, get_args

from trainyard.checks.result import Change, ChangeWord, Judged, Result, Unrendered, Update
from trainyard.findings import Finding, Layer, Location, ObjectRef, Severity
from trainyard.report.legible import in_json
from trainyard.report.view import View

VERSION = 1

PLAIN = View()


def render(result: Result, view: View = PLAIN) -> str:
    """Return the report as one JSON document; a plan's has its effects beside the findings."""
    document = as_dict(result)
    if view.plan is not None:
        from trainyard.report import plan_json  # what a plan takes is imported for plans alone

        document["plan"] = plan_json.as_dict(view.plan)
    return in_json(json.dumps(document, indent=1, ensure_ascii=False)) + "\n"


def as_dict(result: Result) -> dict[str, Any]:
    """Return the report as plain values."""
    return {
        "version": VERSION,
        "summary": result.summary(),
        "objects": [judged(each) for each in result.objects],
        "skipped": [{"rule": each.rule, "why": each.why} for each in result.skipped],
        "notes": list(result.notes),
        **({"passed": dict(result.passed)} if result.passed else {}),
        **({"unrendered": [unrendered(each) for each in result.unrendered]} if result.unrendered else {}),
        **({} if result.changes is None else {"changes": [change(each) for each in result.changes if each.changed]}),
        "findings": [finding(each) for each in sorted(result.findings, key=lambda each: each.order)],
    }


def unrendered(each: Unrendered) -> dict[str, Any]:
    """One entry of `unrendered`."""
    return {"tool": each.tool, "folder": each.folder, "command": each.command}


def judged(each: Judged) -> dict[str, Any]:
    """One entry of `objects`."""
    return {
        "file": each.file,
        "document": each.document,
        **reference(each.object),
        "verdict": each.verdict,
        "update": each.update,
    }


def change(each: Change) -> dict[str, Any]:
    """One entry of `changes`."""
    return {
        "change": each.word,
        "file": each.file,
        "document": each.document,
        **reference(each.object),
        "fields": list(each.fields),
        "more": each.more,
        "why": each.why,
        "before": each.before,
    }


def finding(each: Finding) -> dict[str, Any]:
    """One entry of `findings`."""
    where = each.location
    entry: dict[str, Any] = {
        "rule": each.rule,
        "layer": each.layer,
        "severity": each.severity.value,
        "message": each.message,
        "file": where.file,
        "line": where.line,
        "column": where.column,
        "document": where.document,
        "object": None if each.object is None else reference(each.object),
        "path": each.path,
        "spec": place(each.spec),
        "fix": each.fix or each.remedy,
        "source": each.source,
    }
    if each.frozen:
        entry["frozen"] = True
    return entry


def reference(ref: ObjectRef) -> dict[str, Any]:
    """An object's identity."""
    return {"apiVersion": ref.api_version, "kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def place(where: Location | None) -> dict[str, Any] | None:
    """The line of a spec that a person should edit."""
    return None if where is None else {"file": where.file, "line": where.line, "column": where.column}


def nullable(kind: str) -> dict[str, Any]:
    """A JSON Schema type that may be null."""
    return {"type": [kind, "null"]}


def closed(properties: dict[str, Any], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """A JSON Schema object with these properties and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of this report; `make docs` writes it to `schemas/trainyard/report.json`."""
    from trainyard.report import plan_json  # what a plan takes is imported for plans alone

    count = {"type": "integer", "minimum": 0}
    text = {"type": "string"}
    position = {"type": ["integer", "null"], "minimum": 1}
    identity = {"apiVersion": text, "kind": text, "namespace": nullable("string"), "name": text}
    update = {"enum": [*get_args(Update), None]}
    entry = closed(
        {
            "rule": text,
            "layer": {"enum": list(get_args(Layer))},
            "severity": {"enum": [each.value for each in Severity]},
            "message": text,
            "file": text,
            "line": position,
            "column": position,
            "document": {"type": ["integer", "null"], "minimum": 0},
            "object": {"anyOf": [closed(identity), {"type": "null"}]},
            "path": nullable("string"),
            "spec": {"anyOf": [closed({"file": text, "line": position, "column": position}), {"type": "null"}]},
            "fix": nullable("string"),
            "source": nullable("string"),
            "frozen": {"const": True},
        },
        optional=("frozen",),
    )
    verdict = {"enum": ["valid", "invalid", "unknown"]}
    one = closed({"file": text, "document": count, **identity, "verdict": verdict, "update": update})
    difference = closed(
        {
            "change": {"enum": list(get_args(ChangeWord))},
            "file": text,
            "document": count,
            **identity,
            "fields": {"type": "array", "items": text},
            "more": count,
            "why": nullable("string"),
            "before": nullable("string"),
        }
    )
    counts = ("objects", "valid", "invalid", "unknown", "errors", "warnings")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Trainyard report",
        **closed(
            {
                "version": {"const": VERSION},
                "summary": closed(dict.fromkeys(counts, count)),
                "objects": {"type": "array", "items": one},
                "skipped": {"type": "array", "items": closed({"rule": text, "why": text})},
                "notes": {"type": "array", "items": text},
                "passed": {"type": "object", "additionalProperties": count},
                "unrendered": {"type": "array", "items": closed({"tool": text, "folder": text, "command": text})},
                "changes": {"type": "array", "items": difference},
                "findings": {"type": "array", "items": entry},
                "plan": plan_json.schema(),
            },
            optional=("changes", "passed", "plan", "unrendered"),
        ),
    }
