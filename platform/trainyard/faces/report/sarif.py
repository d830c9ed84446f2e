"""SARIF 2.1.0, which GitHub's code scanning, GitLab, Azure DevOps and editors read.

Source: OASIS Static Analysis Results Interchange Format (SARIF) Version 2.1.0; GitHub docs, SARIF support for code
scanning, which says what of it counts there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from trainyard import __version__
from trainyard.base import catalogue
from trainyard.base.catalogue import Entry
from trainyard.base.findings import Finding, Location, arrange
from trainyard.faces.report.below import lines_below
from trainyard.faces.report.legible import in_address, in_json
from trainyard.faces.report.text import PLAIN
from trainyard.faces.report.tokens import end_of
from trainyard.faces.report.view import View
from trainyard.judge.checks.result import Ignored, Result, place

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
"""What paths are relative to: the root of the repository."""


def render(result: Result, view: View = PLAIN) -> str:
    """Return the report as one SARIF log with one run."""
    return in_json(json.dumps(as_dict(result, view), indent=1, ensure_ascii=False)) + "\n"


def as_dict(result: Result, view: View = PLAIN) -> dict[str, Any]:
    """Return the log as plain values."""
    ignored = [] if view.quiet else result.ignored  # GitHub opens an alert for what is suppressed, too
    accepted = {id(item.finding): item for item in ignored}
    arranged = [*arrange(result.findings), *((item.finding, ()) for item in ignored)]
    findings = [finding for finding, _ in arranged]
    ids = sorted({finding.rule for finding in findings})
    index = {name: number for number, name in enumerate(ids)}
    texts = {finding.rule: finding for finding in reversed(findings)}
    driver: dict[str, Any] = {"name": "trainyard", "version": __version__, "rules": []}
    declared = catalogue.declared_rules() if ids else {}
    driver["rules"] = [rule(texts[name], declared.get(name), view) for name in ids]
    notes = [*result.notes, *(f"skipped {skipped.rule}: {skipped.why}" for skipped in result.skipped)]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": f"trainyard/{view.command}/"},
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [{"level": "note", "message": {"text": note}} for note in notes],
                    }
                ],
                "results": [
                    entry(finding, index[finding.rule], view, followers) | suppression(accepted.get(id(finding)), view)
                    for finding, followers in arranged
                ],
            }
        ],
    }


def rule(finding: Finding, entry: Entry | None, view: View) -> dict[str, Any]:
    """Return a rule in SARIF's form; for a policy of the repository, only fields of its findings."""
    found: dict[str, Any] = {"id": finding.rule}
    known = entry.rule if entry else None
    lines = [known.title, f"Why: {known.why}."] if known else []
    lines += [f"Fix: {finding.remedy.rstrip('.')}."] if finding.remedy else []
    lines += [f"Source: {finding.source}."] if finding.source else []
    lines += [f"`trainyard rule {finding.rule}` prints this page."] if known else []
    if known:
        found["shortDescription"] = {"text": known.title}
        found["fullDescription"] = {"text": f"{known.title} Why: {known.why}."}
    if lines:
        found["help"] = {"text": "\n".join(lines), "markdown": "\n\n".join(lines)}
    if page := view.page(finding.rule):
        found["helpUri"] = page
    found["defaultConfiguration"] = {"level": known.severity.value if known else finding.severity.value}
    found["properties"] = {"tags": [finding.layer]}
    return found


def entry(finding: Finding, index: int, view: View, followers: Sequence[Finding] = ()) -> dict[str, Any]:
    """Return one result; it is known again, in whatever line it stands by then, by its rule, file and field.

    What follows from it is related to it, and no result of its own.
    """
    where = place(finding)
    message = f"{finding.message}; fix: {finding.fix}" if finding.fix else finding.message
    message = "\n".join([message, *lines_below(finding, followers)])
    spot: dict[str, Any] = {"physicalLocation": physical(where, view)}
    if finding.path or finding.object:
        name = ", ".join(str(part) for part in (finding.object, finding.path) if part)
        spot["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    same = "\n".join((finding.rule, where.file, finding.path or finding.message, str(finding.object or "")))
    found: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": {"text": message},
        "locations": [spot],
        "partialFingerprints": {"trainyard/v1": hashlib.sha256(same.encode("utf-8", "surrogatepass")).hexdigest()[:32]},
    }
    other = finding.location if where is finding.spec else finding.spec
    related: list[dict[str, Any]] = []
    if other is not None and other != where:
        related.append({"physicalLocation": physical(other, view)})
    for item in followers:
        said = {"text": f"{item.message} [{item.rule}]"}
        related.append({"physicalLocation": physical(place(item), view), "message": said})
    if related:
        found["relatedLocations"] = related
    if finding.frozen:
        found["baselineState"] = "unchanged"
    return found


def suppression(item: Ignored | None, view: View) -> dict[str, Any]:
    """Return the properties of a result that somebody ignores, none of any other."""
    if item is None:
        return {}
    found: dict[str, Any] = {"kind": "inSource" if item.way == "comment" else "external", "status": "accepted"}
    found["justification"] = item.reason or item.way
    if item.where is not None:
        found["location"] = {"physicalLocation": physical(item.where, view)}
    return {"suppressions": [found]} | ({"baselineState": "unchanged"} if item.way == "baseline" else {})


def physical(where: Location, view: View) -> dict[str, Any]:
    """Return a place; paths of the repository are relative to its root, others as they are."""
    uri = in_address(where.file)
    artifact = {"uri": uri} if where.file.startswith("/") else {"uri": uri, "uriBaseId": ROOT}
    region = {"startLine": where.line or 1} | ({"startColumn": where.column} if where.column else {})
    if (end := end_of(where, view.lines)) is not None:
        region |= {"endLine": end[0], "endColumn": end[1]}
    return {"artifactLocation": artifact, "region": region}
