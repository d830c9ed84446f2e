"""Write the JSON Schemas of what people write, for editors, as schemas/trainyard/<name>.json.

Usage: editor_schemas.py [--check] — with --check nothing is written, and a difference exits 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trainyard.render.kinds import kinds
from trainyard.render.launchers import launchers
from trainyard.specs import Cluster, Job, Repository, Spec, Team
from trainyard.specs.models.ignores import ChecksFile
from trainyard.specs.reading.bases import ABSTRACT, BASE
from trainyard.specs.shapes import names as shapes

FOLDER = Path(__file__).resolve().parent.parent / "schemas" / "trainyard"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: dict[str, type[Spec]] = {
    "checks": ChecksFile,
    "cluster": Cluster,
    "job": Job,
    "repository": Repository,
    "team": Team,
}


def schema(name: str) -> dict[str, Any]:
    """Return the schema of one kind of spec, closed at every level, with completions for names that we know."""
    found = closed(MODELS[name].model_json_schema(by_alias=True))
    fields = found["properties"]
    if name == "job":
        suggest(fields, "launcher", launchers())
        suggest(fields, "kind", kinds())
        found["oneOf"] = [{"required": [name]} for name in ("program", "module", "command")]
    if name == "cluster":
        suggest(found["$defs"]["Pool"]["properties"], "shape", shapes())
        found = with_bases(found)
    return {"$schema": DIALECT, "title": f"Trainyard {name}", **found}


def with_bases(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a cluster that takes a part of one where the file has a base, or is one.

    Of such a part only the names of its fields are checked: what it lacks is in another file, and null removes.
    """
    defs = whole.pop("$defs")
    kept = {key: {"description": field.get("description", "")} for key, field in whole["properties"].items()}
    own = {key: whole["properties"][key] for key in (BASE, ABSTRACT)}
    part = {"type": "object", "additionalProperties": False, "properties": {**kept, **own}}
    extends = {"anyOf": [{"required": [BASE]}, {"required": [ABSTRACT]}]}
    return {"$defs": {**defs, "Cluster": whole}, "if": extends, "then": part, "else": {"$ref": "#/$defs/Cluster"}}


def closed(value: Any, *, named: bool = False) -> Any:
    """Return a schema without generated titles, whose maps of patterned names take no other names.

    `named` marks a map whose keys are names of fields, so that a field called `title` stays.
    """
    if isinstance(value, list):
        return [closed(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {
        key: closed(item, named=key in {"properties", "$defs", "patternProperties"} and not named)
        for key, item in value.items()
        if named or key != "title"
    }
    if not named and "patternProperties" in kept:
        kept.setdefault("additionalProperties", False)
    return kept


def suggest(fields: dict[str, Any], name: str, choices: Iterable[str]) -> None:
    """Let editors complete a name, and take others too: entry points may add to what we know."""
    field = fields[name]
    described = {key: field.pop(key) for key in ("description", "default") if key in field}
    fields[name] = {**described, "anyOf": [{"enum": sorted(choices)}, field]}


def texts() -> dict[Path, str]:
    """Return the text of every schema file."""
    return {FOLDER / f"{name}.json": json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n" for name in MODELS}


def main(arguments: list[str]) -> int:
    """Write what differs, or say so."""
    stale = {path: text for path, text in texts().items() if not path.exists() or path.read_text("utf-8") != text}
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(FOLDER.parent.parent)} is stale; run tools/editor_schemas.py", file=sys.stderr)
        return 1 if stale else 0
    for path, text in stale.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(FOLDER.parent.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
