"""What the definitions of kinds have against objects that a command reads, whoever wrote them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.base.findings import Finding
    from trainyard.base.manifests import Manifest
    from trainyard.upstream.apiserver import Judge

LAYERS = frozenset({"decode", "schema", "cel"})
"""Layers in which the definition of a kind speaks; what webhooks refuse is Kueue's own decision."""


def schema_findings(manifest: Manifest, layers: Collection[str] = LAYERS) -> Iterator[Finding]:
    """Return why no server would have an object, for all that the definition of its kind says."""
    return (finding for finding in judge().judge(manifest).findings if finding.is_error and finding.layer in layers)


@cache
def judge() -> Judge:
    """Return a server with the newest release of everything known; a status counts, as it does for who writes one."""
    from trainyard.base.system.data import schemas_dir
    from trainyard.upstream.apiserver import Judge, Rulebook, catalog

    known, _ = catalog.load(schemas_dir())
    kinds = {
        key: {version: replace(kind, status=False) for version, kind in versions.items()}
        for key, versions in known.kinds.items()
    }
    return Judge(replace(known, kinds=kinds), rulebook=Rulebook())
