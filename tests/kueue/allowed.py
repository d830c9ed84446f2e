"""What the definitions of kinds let in: an object that no server stores is nothing that Kueue is asked about."""

from __future__ import annotations

import json
from functools import cache

from kueue.question import Object
from trainyard.faces.cli._definitions import schema_findings
from trainyard.judge.checks.inputs import decode


def forbidden(case: Object) -> str:
    """Return why a server would not store an object of a case, nothing where it would store all of them."""
    for item in case["objects"]:
        if why := fault(json.dumps(item, sort_keys=True)):
            return f"{item['kind']}/{item['metadata']['name']}: {why}"
    return ""


@cache
def fault(text: str) -> str:
    """Return why a server would not store an object, nothing where it would."""
    (manifest,), findings = decode("case.json", text.encode())
    return next((finding.message for finding in (*findings, *schema_findings(manifest)) if finding.is_error), "")
