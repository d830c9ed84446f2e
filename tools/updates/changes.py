"""What two releases of a project differ in: kinds, fields, rules, defaults, limits, values of charts, webhooks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from schemas_yaml import load
from trainyard.base.system import vendored

LIMITS = (
    *("enum", "format", "maxItems", "maxLength", "maxProperties", "maximum", "exclusiveMaximum", "minItems"),
    *("minLength", "minProperties", "minimum", "exclusiveMinimum", "pattern", "required", "type"),
)
"""Keywords of a schema that refuse values."""
RULES = "x-kubernetes-validations"
NONE = object()
"""Stands for a default that is not there."""
PATH = re.compile(r"^\s*path:\s*[\"']?(/[\w./-]+)", re.MULTILINE)
DOCUMENT = re.compile(r"^---.*$", re.MULTILINE)
SHOWN = 60
"""Characters of a default that are shown."""


class Change(NamedTuple):
    """One difference."""

    word: str
    where: str
    says: str = ""


def of_types(schemas: Path, project: str, old: str, new: str) -> Iterator[Change]:
    """Yield the differences of the API types of two releases."""
    kinds = [{name_of(kind): kind for kind in vendored.kinds(schemas, project, release)} for release in (old, new)]
    before, after = kinds
    for name in sorted(after.keys() - before.keys()):
        yield Change("new API version", name)
    for name in sorted(before.keys() - after.keys()):
        yield Change("removed API version", name)
    for name in sorted(before.keys() & after.keys()):
        was, now = before[name], after[name]
        for flag, word in (("served", "served"), ("storage", "stored"), ("deprecated", "deprecated")):
            if bool(was.get(flag)) != bool(now.get(flag)):
                yield Change("API version", name, f"{word}: {bool(was.get(flag))} → {bool(now.get(flag))}".lower())
        trees = [schema(schemas / project / release, kind) for release, kind in ((old, was), (new, now))]
        yield from of_nodes(name, *trees)


def name_of(kind: Mapping[str, Any]) -> str:
    """Return group, version and kind as people write them."""
    return f"{kind['group'] or 'core'}/{kind['version']} {kind['kind']}"


def schema(folder: Path, kind: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of one version of a kind."""
    file = folder / (kind["group"] or "core") / f"{kind['kind'].lower()}_{kind['version']}.json"
    found: dict[str, Any] = json.loads(file.read_bytes())
    return found


def of_nodes(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the differences of a node of a schema and of all below it; of what is new or gone only the topmost."""
    yield from of_rules(where, old, new)
    yield from of_limits(where, old, new)
    if old.get("default", NONE) != new.get("default", NONE):
        yield Change("default", where, f"{abridge(old.get('default', NONE))} → {abridge(new.get('default', NONE))}")
    before, after = dict(children(old)), dict(children(new))
    for step in sorted({*before, *after}):
        place = f"{where}{step}" if step.startswith("[") else f"{where}.{step}".replace(" .", " ", 1)
        if step not in before:
            yield Change("new field", place, kind_of(after[step]))
        elif step not in after:
            yield Change("removed field", place)
        else:
            yield from of_nodes(place, before[step], after[step])


def of_limits(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the limits of only one of two nodes; of lists, whose order says nothing, the values that come and go."""
    for keyword in LIMITS:
        was, now = old.get(keyword, NONE), new.get(keyword, NONE)
        if isinstance(was, list) and isinstance(now, list):
            signs = [f"+{abridge(value)}" for value in now if value not in was]
            signs += [f"-{abridge(value)}" for value in was if value not in now]
            if signs:
                yield Change("limit", where, f"{keyword}: {', '.join(signs)}")
        elif was != now:
            yield Change("limit", where, f"{keyword}: {abridge(was)} → {abridge(now)}")


def of_rules(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield CEL rules that only one of two nodes has."""
    before, after = ({rule["rule"]: rule for rule in node.get(RULES, ())} for node in (old, new))
    for text in sorted(after.keys() - before.keys()):
        yield Change("new rule", where, f"`{text}` {after[text].get('message', '')}".strip())
    for text in sorted(before.keys() - after.keys()):
        yield Change("removed rule", where, f"`{text}`")


def children(node: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the nodes right below a node, with the step that leads there."""
    yield from node.get("properties", {}).items()
    for keyword, sign in (("items", "[]"), ("additionalProperties", "[*]")):
        if isinstance(node.get(keyword), Mapping):
            yield sign, node[keyword]


def kind_of(node: Mapping[str, Any]) -> str:
    """Return the type of a node, and its default."""
    kind = node.get("type", "any")
    words = " or ".join(kind) if isinstance(kind, list) else str(kind)
    return f"{words}, default {abridge(node['default'])}" if "default" in node else words


def abridge(value: Any) -> str:
    """Return a value as JSON, cut to what a line of a report holds."""
    if value is NONE:
        return "none"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def of_values(chart: str, old: Path, new: Path) -> Iterator[Change]:
    """Yield the differences of the default values of two versions of a chart."""
    yield from of_maps(chart, *(load(file.read_text(encoding="utf-8")) or {} for file in (old, new)))


def of_maps(where: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the differences of two maps; of what is new or gone only the topmost."""
    for key in sorted({*old, *new}, key=str):
        place, was, now = (
            f"{where} {key}" if " " not in where else f"{where}.{key}",
            old.get(key, NONE),
            new.get(key, NONE),
        )
        if was is NONE:
            yield Change("new value", place, abridge(now))
        elif now is NONE:
            yield Change("removed value", place, abridge(was))
        elif isinstance(was, Mapping) and isinstance(now, Mapping):
            yield from of_maps(place, was, now)
        elif was != now:
            yield Change("changed value", place, f"{abridge(was)} → {abridge(now)}")


def webhooks(chart: Path) -> set[str]:
    """Return the paths that the webhooks of a chart's templates call."""
    texts = (
        file.read_text(encoding="utf-8") for file in chart.rglob("*") if "templates" in file.parts and file.is_file()
    )
    documents = (document for text in texts for document in DOCUMENT.split(text))
    return {path for document in documents if "WebhookConfiguration" in document for path in PATH.findall(document)}


def of_webhooks(chart: str, old: Path | None, new: Path) -> Iterator[Change]:
    """Yield webhooks that only one of two versions of a chart has; all of the new one where the old is not there."""
    before = webhooks(old) if old is not None else set()
    after = webhooks(new)
    for path in sorted(after - before):
        yield Change("new webhook" if old is not None else "webhook", f"{chart} {path}")
    for path in sorted(before - after):
        yield Change("removed webhook", f"{chart} {path}")
