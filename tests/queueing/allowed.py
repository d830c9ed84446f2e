"""What the definitions of kinds let in: an object that no server stores is nothing that Kueue is asked about."""

from __future__ import annotations

import json
from functools import cache

from queueing.question import Object
from trainyard.checks.inputs import decode
from trainyard.cli._definitions import refused


def forbidden(case: Object) -> str:
    """Return why a server would not store an object of a case, nothing where it would store all of them."""
    for each in case["objects"]:
        if why := fault(json.dumps(each, sort_keys=True)):
            return f"{each['kind']}/{each['metadata']['name']}: {why}"
    return ""


@cache
def fault(text: str) -> str:
    """Return why a server would not store an object, nothing where it would."""
    (manifest,), findings = decode("case.json", text.encode())
    return next((each.message for each in (*findings, *refused(manifest)) if each.is_error), "")
