"""The bill of materials of a wheel, as CycloneDX 1.6: what an installation brings along, with extras that are pinned.

Source: CycloneDX v1.6 JSON Reference; package-url/purl-spec, type pypi.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from closure import Part, closure, direct

EXTRAS = ("synth", "live")
"""Those whose packages constraints.txt pins for everybody."""


def bill(wheel: Path, name: str, release: str, *, seconds: int) -> str:
    """Return the bill of a wheel as JSON; `seconds` since 1970 is when its commit was made."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    needed = {part.name for part in closure(())}
    parts = closure(EXTRAS)
    root = f"{name}-{release}"
    value: dict[str, Any] = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": name,
                "version": release,
                "licenses": [{"expression": "Apache-2.0"}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": [component(part, required=part.name in needed) for part in parts],
        "dependencies": [*dependencies(root, parts)],
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def component(part: Part, *, required: bool) -> dict[str, Any]:
    """Return one package; those of extras are optional."""
    licences = {"licenses": [{"expression": part.licence}]} if part.licence else {}
    return {
        "type": "library",
        "bom-ref": ref(part),
        "name": part.name,
        "version": part.release,
        "scope": "required" if required else "optional",
        **licences,
        "purl": ref(part),
    }


def dependencies(root: str, parts: Iterable[Part]) -> Iterable[dict[str, Any]]:
    """Yield the dependencies of each part, ourselves first."""
    refs = {part.name: ref(part) for part in parts}
    yield {"ref": root, "dependsOn": sorted(refs[name] for name in direct(EXTRAS))}
    for part in parts:
        yield {"ref": ref(part), "dependsOn": sorted(refs[name] for name in part.needs)}


def ref(part: Part) -> str:
    """Return a package's URL, by which all else names it."""
    return f"pkg:pypi/{part.name}@{part.release}"
