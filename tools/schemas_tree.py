"""Writes one release's folder of `schemas/`: a file for each kind and version, and the index that a lookup reads."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

from schemas_json import render
from trainyard.base.system.vendored import INDEX
from trainyard.upstream.apiserver.catalog.crd import Definition


def write(folder: Path, definitions: Iterable[Definition]) -> int:
    """Make the folder hold exactly these definitions, and return how many there are."""
    found = sorted(definitions, key=attrgetter("group", "kind", "version"))
    files = {folder / place(definition): render(definition.schema) for definition in found}
    files[folder / INDEX] = render({"kinds": [entry(definition) for definition in found]})
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    for path in sorted(folder.rglob("*.json"), reverse=True):
        if path not in files:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
    return len(found)


def place(definition: Definition) -> str:
    """Return where a definition lies in its release's folder."""
    return f"{definition.group or 'core'}/{definition.kind.lower()}_{definition.version}.json"


def entry(definition: Definition) -> dict[str, Any]:
    """Return the index entry of one version of a kind, without false or empty values."""
    facts = {
        "group": definition.group,
        "kind": definition.kind,
        "plural": definition.plural,
        "scope": definition.scope,
        "version": definition.version,
    }
    flags = {
        "deprecated": definition.deprecated,
        "gate": definition.gate,
        "scale": dict(definition.scale) if definition.scale else None,
        "served": definition.served,
        "status": definition.status,
        "storage": definition.storage,
    }
    return facts | {key: value for key, value in flags.items() if value}
