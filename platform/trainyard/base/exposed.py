"""Credentials in anybody's objects: in variables, arguments, settings, annotations, and in Secrets that are in Git."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.base.credentials import IN_SECRET, PLAIN, Leak, Sure, leaks, may_hold, of_secret
from trainyard.base.findings import Finding, Severity, format_path
from trainyard.base.manifests import Manifest

SCHEMAS = frozenset({"CustomResourceDefinition"})
"""Kinds whose fields are names of fields, with examples and defaults."""


COUNT = frozenset({Sure.WEAK, Sure.YES})
"""How sure what is said of others' objects is: the name of a Secret is none, and a documented key opens nothing."""


def exposed_credentials(manifest: Manifest) -> Iterator[tuple[Finding, tuple[str, ...]]]:
    """Yield the findings on credentials in an object, each with the values that no report may show."""
    text = manifest.document.text
    if manifest.kind in SCHEMAS or (text is not None and not may_hold(text)):
        return
    if manifest.kind == "Secret" and not manifest.group:
        yield from in_secret(manifest)
        value = {"metadata": manifest.metadata}
    else:
        value = manifest.value
    for leak in leaks(value):
        if leak.sure in COUNT:
            yield plain(manifest, leak), (leak.value,)


def plain(manifest: Manifest, leak: Leak) -> Finding:
    """Return the finding on a credential outside of a Secret."""
    field = "value" if leak.path and leak.path[-1] == "value" and leak.name else ""
    where = leak.name if field else format_path(leak.path[-2:])
    how = "valueFrom.secretKeyRef" if "env" in leak.path else "a Secret"
    message = f"{where} holds {leak.what}; use {how} instead"
    return at(manifest, leak, message)


def at(manifest: Manifest, leak: Leak, message: str) -> Finding:
    """Return a finding at a credential: at its first line, where it is part of a text."""
    weight = Severity.ERROR if leak.sure is Sure.YES else Severity.WARNING
    found = manifest.finding(PLAIN, leak.path, message, severity=weight)
    exact = manifest.document.within((*manifest.base, *leak.path), leak.value) if leak.text else found.location
    return replace(found, location=exact)


SHOWN = 3
"""Keys of a Secret that are named."""


def in_secret(manifest: Manifest) -> Iterator[tuple[Finding, tuple[str, ...]]]:
    """Yield one finding about a Secret that has its values in Git, with all of them."""
    found = [leak for leak in of_secret(manifest.value) if leak.sure in {*COUNT, Sure.NAMED}]
    worst = max(found, key=lambda leak: leak.sure.value, default=None)
    if worst is None:
        return
    keys = ", ".join(str(leak.path[-1]) for leak in found[:SHOWN]) + (" and others" if len(found) > SHOWN else "")
    message = f"values of this Secret are readable in Git: {keys}; use External Secrets, Sealed Secrets or SOPS"
    weight = Severity.ERROR if worst.sure is Sure.YES else Severity.WARNING
    finding = manifest.finding(IN_SECRET, worst.path, message, severity=weight)
    yield finding, tuple(leak.value for leak in found)
