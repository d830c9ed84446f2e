"""The index of a folder: each generated file, the object in it, and the spec field that it comes from.

One index a folder, `index/<folder>.json`, so that branches which add runs to one cluster never meet in one file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.findings import ObjectRef

FILE = "file"
"""Kind of what is no object: a file for nodes, under its own name and of no API."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a folder; `spec` and `field` say where a person changes it, without a line number."""

    api_version: str
    kind: str
    namespace: str | None
    name: str
    spec: str
    field: Path = ()

    @property
    def ref(self) -> ObjectRef:
        """The object in the file."""
        return ObjectRef(self.api_version, self.kind, self.namespace, self.name)


def dump(folder: str, entries: Mapping[str, Entry]) -> str:
    """Return the index as JSON with one file a line, sorted."""
    lines = [f"  {_json(name)}: {_json(_fields(entries[name]))}" for name in sorted(entries)]
    body = "{\n" + ",\n".join(lines) + "\n }" if lines else "{}"
    return f'{{\n "folder": {_json(folder)},\n "files": {body}\n}}\n'


def load(data: bytes, folder: str) -> dict[str, Entry] | None:
    """Return the files of a folder by name, or None where the text is not the index of that folder."""
    try:
        value = json.loads(data)
        if value["folder"] != folder:
            return None
        return {str(name): _entry(fields) for name, fields in value["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _fields(entry: Entry) -> dict[str, Any]:
    return {
        "apiVersion": entry.api_version,
        "kind": entry.kind,
        **({"namespace": entry.namespace} if entry.namespace else {}),
        "name": entry.name,
        "spec": entry.spec,
        "field": list(entry.field),
    }


def _entry(fields: Mapping[str, Any]) -> Entry:
    if not all(isinstance(part, (str, int)) for part in fields["field"]):
        raise TypeError
    words = [fields["apiVersion"], fields["kind"], fields["name"], fields["spec"], fields.get("namespace") or ""]
    if not all(isinstance(word, str) for word in words):
        raise TypeError
    api_version, kind, name, spec, namespace = words
    return Entry(api_version, kind, namespace or None, name, spec, tuple(fields["field"]))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
