"""The JSON report line by line: a line for each finding, and a last one with everything else but the objects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from trainyard.base.findings import Finding
from trainyard.faces.report import json_
from trainyard.faces.report.legible import in_json
from trainyard.faces.report.view import View
from trainyard.judge.checks.result import Result

PLAIN = View()


def render(result: Result, view: View = PLAIN) -> str:
    """Return the report as JSON lines; a plan's effects stand in the last one."""
    document = json_.as_dict(result)
    del document["findings"], document["objects"]
    if view.plan is not None:
        from trainyard.faces.report import plan_json  # what a plan takes is imported for plans alone

        document["plan"] = plan_json.as_dict(view.plan)
    return lines(result.findings) + line(document)


def lines(findings: Iterable[Finding]) -> str:
    """Return a line for each finding, in their order."""
    found = sorted(findings, key=lambda finding: finding.order)
    return "".join(line({"finding": json_.finding(finding)}) for finding in found)


def line(document: dict[str, Any]) -> str:
    """Return one line of JSON."""
    return in_json(json.dumps(document, ensure_ascii=False)) + "\n"
