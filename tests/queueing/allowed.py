"""What the definitions of kinds let in: an object that no server stores is nothing that Kueue is asked about.

A status is held against its schema, too, though who creates an object cannot give it one: Kueue's own writes are.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

from conftest import ROOT
from queueing.question import Object
from trainyard.apiserver import Judge, Rulebook, catalog
from trainyard.apiserver.catalog import Kind
from trainyard.apiserver.schema import structural
from trainyard.checks.inputs import decode

KUBERNETES = "1.35"
PROJECTS = {
    "kueue": "0.19.2",
    "jobset": "0.12.0",
    "trainer": "2.3.0",
    "mpi-operator": "0.8.0",
    "training-operator": "1.9.4",
    "kuberay": "1.6.2",
    "lws": "0.10.0",
    "appwrapper": None,
}
LAYERS = frozenset({"decode", "schema", "cel"})
"""Layers in which the definition of a kind speaks; what webhooks refuse is Kueue's own decision."""


@cache
def judge() -> Judge:
    """Return a server with Kueue's kinds, and those of jobs."""
    known, _ = catalog.load(ROOT / "schemas", kubernetes=KUBERNETES, projects=PROJECTS)
    return Judge(known, rulebook=Rulebook())


def forbidden(case: Object) -> str:
    """Return why a server would not store an object of a case, nothing where it would store all of them."""
    for each in case["objects"]:
        if why := refused(json.dumps(each, sort_keys=True)):
            return f"{each['kind']}/{each['metadata']['name']}: {why}"
    return ""


@cache
def refused(text: str) -> str:
    """Return why a server would not store an object."""
    (manifest,), findings = decode("case.json", text.encode())
    found = [*findings, *judge().judge(manifest).findings]
    messages = [each.message for each in found if each.is_error and each.layer in LAYERS]
    return next(iter([*messages, *of_status(manifest.group, manifest.version, manifest.kind, manifest.value)]), "")


def of_status(group: str, version: str, kind: str, value: dict[str, Any]) -> list[str]:
    """Return what a server says against the status of an object."""
    found = judge().catalog.lookup(group, version, kind)
    if not isinstance(found, Kind) or "status" not in value:
        return []
    return [each.message for each in structural.check(value, with_status(found), kubernetes=KUBERNETES)]


@cache
def with_status(kind: Kind) -> Kind:
    """Return a kind whose status is judged."""
    return replace(kind, status=False)
