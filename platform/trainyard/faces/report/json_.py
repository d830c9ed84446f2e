"""The JSON report: a contract, with its schema in `schemas/trainyard/report.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from trainyard.base.findings import Finding, Layer, Location, ObjectRef, Severity, arrange
from trainyard.faces.report.legible import in_json
from trainyard.faces.report.view import View
from trainyard.judge.checks.deciders import DECIDERS, decider, verdicts
from trainyard.judge.checks.result import Change, ChangeWord, Ignored, Judged, Other, Result, Unrendered, Update, Way

VERSION = 1

PLAIN = View()


def render(result: Result, view: View = PLAIN) -> str:
    """Return the report as one JSON document; a plan's has its effects beside the findings."""
    document = as_dict(result)
    if view.plan is not None:
        from trainyard.faces.report import plan_json  # what a plan takes is imported for plans alone

        document["plan"] = plan_json.as_dict(view.plan)
    return in_json(json.dumps(document, indent=1, ensure_ascii=False)) + "\n"


def as_dict(result: Result) -> dict[str, Any]:
    """Return the report as plain values."""
    return {
        "version": VERSION,
        "summary": result.summary(),
        "objects": judged_objects(result),
        "skipped": [{"rule": skipped.rule, "why": skipped.why} for skipped in result.skipped],
        "notes": list(result.notes),
        **({"passed": dict(result.passed)} if result.passed else {}),
        **({"notManifests": [other(item) for item in result.others]} if result.others else {}),
        **({"unrendered": [unrendered(item) for item in result.unrendered]} if result.unrendered else {}),
        **(
            {}
            if result.changes is None
            else {"changes": [change(one_change) for one_change in result.changes if one_change.changed]}
        ),
        **({"ignored": [ignored_finding(item) for item in in_order(result)]} if result.ignored else {}),
        "findings": [finding(item) for root, followers in arrange(result.findings) for item in (root, *followers)],
    }


def other(one_other: Other) -> dict[str, Any]:
    """One entry of `notManifests`."""
    return {"file": one_other.file, "what": one_other.what}


def unrendered(one_unrendered: Unrendered) -> dict[str, Any]:
    """One entry of `unrendered`."""
    return {"tool": one_unrendered.tool, "folder": one_unrendered.folder, "command": one_unrendered.command}


def judged_objects(result: Result) -> list[dict[str, Any]]:
    """Return the entries of `objects`, each with the verdict of everybody who is asked."""
    found: dict[tuple[str, int, ObjectRef], list[Finding]] = {}
    for item in result.findings:
        if item.object is not None:
            found.setdefault((item.location.file, item.location.document or 0, item.object), []).append(item)
    return [judged_object(one, found.get((one.file, one.document, one.object), ())) for one in result.objects]


def judged_object(judged: Judged, findings: Sequence[Finding] = ()) -> dict[str, Any]:
    """One entry of `objects`."""
    return {
        "file": judged.file,
        "document": judged.document,
        **reference(judged.object),
        "verdict": judged.verdict,
        "verdicts": verdicts(judged, findings),
        "update": judged.update,
    }


def change(one_change: Change) -> dict[str, Any]:
    """One entry of `changes`."""
    return {
        "change": one_change.word,
        "file": one_change.file,
        "document": one_change.document,
        **reference(one_change.object),
        "fields": list(one_change.fields),
        "more": one_change.more,
        "why": one_change.why,
        "before": one_change.before,
    }


def finding(one_finding: Finding) -> dict[str, Any]:
    """One entry of `findings`."""
    where = one_finding.location
    entry: dict[str, Any] = {
        "rule": one_finding.rule,
        "layer": one_finding.layer,
        "severity": one_finding.severity.value,
        "decider": decider(one_finding),
        "message": one_finding.message,
        "file": where.file,
        "line": where.line,
        "column": where.column,
        "document": where.document,
        "object": None if one_finding.object is None else reference(one_finding.object),
        "path": one_finding.path,
        "spec": place(one_finding.spec),
        "fix": one_finding.fix or one_finding.remedy,
        "source": one_finding.source,
    }
    if one_finding.frozen:
        entry["frozen"] = True
    if one_finding.cause is not None:
        entry["cause"] = place(one_finding.cause)
    if one_finding.blocks:
        entry["blocks"] = list(one_finding.blocks)
    return entry


def in_order(result: Result) -> list[Ignored]:
    """Return the ignored findings as every report has them."""
    return sorted(result.ignored, key=lambda item: item.finding.order)


def ignored_finding(item: Ignored) -> dict[str, Any]:
    """One entry of `ignored`: the finding, and what ignores it."""
    return {**finding(item.finding), "way": item.way, "where": place(item.where), "reason": item.reason}


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
    from trainyard.faces.report import plan_json  # what a plan takes is imported for plans alone

    count = {"type": "integer", "minimum": 0}
    text = {"type": "string"}
    position = {"type": ["integer", "null"], "minimum": 1}
    identity = {"apiVersion": text, "kind": text, "namespace": nullable("string"), "name": text}
    update = {"enum": [*get_args(Update), None]}
    position_of = closed({"file": text, "line": position, "column": position})
    spot = {"anyOf": [position_of, {"type": "null"}]}
    fields = {
        "rule": text,
        "layer": {"enum": list(get_args(Layer))},
        "severity": {"enum": [severity.value for severity in Severity]},
        "decider": {"enum": [*DECIDERS, None]},
        "message": text,
        "file": text,
        "line": position,
        "column": position,
        "document": {"type": ["integer", "null"], "minimum": 0},
        "object": {"anyOf": [closed(identity), {"type": "null"}]},
        "path": nullable("string"),
        "spec": spot,
        "fix": nullable("string"),
        "source": nullable("string"),
        "frozen": {"const": True},
        "cause": position_of,
        "blocks": {"type": "array", "items": text},
    }
    entry = closed(fields, optional=("frozen", "cause", "blocks"))
    way = {"way": {"enum": list(get_args(Way))}, "where": spot, "reason": nullable("string")}
    accepted = closed({**fields, **way}, optional=("frozen", "cause", "blocks"))
    verdict = {"enum": ["valid", "invalid", "unknown"]}
    by_decider = closed({name: {"enum": [*verdict["enum"], None]} for name in DECIDERS})
    of_object = {"verdict": verdict, "verdicts": by_decider, "update": update}
    one = closed({"file": text, "document": count, **identity, **of_object})
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
    counts = ("objects", "valid", "invalid", "unknown", "errors", "warnings", "following")
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
                "notManifests": {"type": "array", "items": closed({"file": text, "what": text})},
                "unrendered": {"type": "array", "items": closed({"tool": text, "folder": text, "command": text})},
                "changes": {"type": "array", "items": difference},
                "ignored": {"type": "array", "items": accepted},
                "findings": {"type": "array", "items": entry},
                "plan": plan_json.schema(),
            },
            optional=("changes", "ignored", "notManifests", "passed", "plan", "unrendered"),
        ),
    }
