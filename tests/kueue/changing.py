"""Cases that people wrote, changed by chance: what a generator of cases does not think of.

Numbers grow and shrink, fields go, values and whole parts come from other cases where the same path leads to them,
Workloads are doubled or hold quota from the start, gates are switched, and two cases are put together.
"""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from kueue.merging import apart, merged
from kueue.question import Object
from kueue.settings import GATES, SETTINGS
from trainyard.base.documents import load

CASES = Path(os.environ.get("TRAINYARD_KUEUE_CASES") or Path(__file__).parent / "cases")
"""Cases that people wrote to ask Kueue one thing each, with its answers beside them; or another such folder."""

PODS = "podsets"
"""The folder of cases about jobs; all others are about Workloads."""

OFTEN = (1, 1, 2, 3, 4, 6, 10)
"""How many parts of a case are changed."""

KEPT = frozenset({"name", "kind", "apiVersion", "mode", "objects"})
"""Fields that stay as they are: without them an object is another, or none."""

NEEDED = frozenset({"metadata", "spec", "template", "containers"})
"""Fields that are never dropped."""


class Place(NamedTuple):
    """A value in a case: where it is, by the names of fields, in what, and at which key or index."""

    path: tuple[str, ...]
    parent: Any
    key: Any
    value: Any


@dataclass(frozen=True)
class Source:
    """Cases, the values at each path in any of them, and the fields."""

    cases: list[Object]
    values: Mapping[tuple[str, ...], list[Any]]
    fields: Mapping[tuple[str, ...], list[str]]


def read(folder: Path, *, jobs: bool = False) -> Source:
    """Return the cases of a folder: those about jobs, or those about Workloads."""
    cases = []
    for path in sorted(folder.glob("*/*.yaml")):
        if (path.parent.name == PODS) is jobs:
            documents, findings = load(path.read_bytes(), file=path.name)
            assert not findings, findings
            cases += [plain(document.value) for document in documents]
    return source(cases)


def source(cases: list[Object]) -> Source:
    """Return these cases with their values by path."""
    values: dict[tuple[str, ...], list[Any]] = {}
    fields: dict[tuple[str, ...], dict[str, None]] = {}
    for case in cases:
        for place in places(case):
            values.setdefault(place.path, []).append(place.value)
            if isinstance(place.value, dict):
                fields.setdefault(inner(place), {}).update(dict.fromkeys(place.value))
    return Source(cases, values, {path: sorted(names) for path, names in fields.items()})


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def inner(place: Place) -> tuple[str, ...]:
    """Return the path that fields of a value begin with: an object's kind alone, wherever it stands."""
    value = place.value
    return (value["kind"],) if isinstance(value, dict) and "kind" in value and "metadata" in value else place.path


def places(value: Any, path: tuple[str, ...] = ()) -> Iterator[Place]:
    """Yield every value within another."""
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for key, item in pairs:
        place = Place((*path, key if isinstance(key, str) else "[]"), value, key, item)
        yield place
        yield from places(item, inner(place))


def changed(source: Source, seed: int) -> Object:
    """Return the case of a seed."""
    chance = random.Random(f"changed {seed}")
    case = copy.deepcopy(chance.choice(source.cases))
    while chance.random() < 0.3:
        case = merged(case, copy.deepcopy(chance.choice(source.cases)), chance)
    for _ in range(chance.choice(OFTEN)):
        if chance.random() < 0.4:
            set_one(case, chance)
        else:
            change_one(case, source, chance)
    if chance.random() < 0.3:
        double(case, chance)
    if chance.random() < 0.2:
        hold(case, chance)
    if chance.random() < 0.3:
        gates = fields_of(fields_of(case, "config"), "featureGates")
        for gate in chance.sample(GATES, chance.choice([1, 1, 2, 3])):
            gates[gate] = chance.random() < 0.5
    if chance.random() < 0.2:
        case["mode"] = chance.choice(["cycle", "nominate", "settle"])
    return json.loads(json.dumps(apart(case)))


def change_one(case: Object, source: Source, chance: random.Random) -> None:
    """Change a value somewhere in a case."""
    found = [one_place for one_place in places(case) if one_place.key not in KEPT]
    if not found:
        return
    place = chance.choice(found)
    path, parent, key, value = place
    roll = chance.random()
    if isinstance(value, int) and not isinstance(value, bool) and roll < 0.5:
        parent[key] = max(0, value + chance.choice([-2, -1, 1, 2, 3, value]))
    elif isinstance(value, list) and value and roll < 0.5:
        change_list(value, chance)
    elif isinstance(value, dict) and source.fields.get(inner(place)) and roll < 0.6:
        name = chance.choice(source.fields[inner(place)])
        if name not in KEPT and name != "metadata":
            value[name] = copy.deepcopy(chance.choice(source.values[*inner(place), name]))
    elif isinstance(parent, dict) and key not in NEEDED and roll < 0.7 and chance.random() < 0.3:
        del parent[key]
    elif path in source.values:
        parent[key] = copy.deepcopy(chance.choice(source.values[path]))


def change_list(value: list[Any], chance: random.Random) -> None:
    """Have one more, one less, or another order in a list."""
    way = chance.choice(["more", "more", "less", "order"])
    if way == "less":
        value.pop(chance.randrange(len(value)))
    elif way == "order":
        chance.shuffle(value)
    else:
        more = copy.deepcopy(chance.choice(value))
        if isinstance(more, dict) and isinstance(more.get("name"), str):
            more["name"] += "x"
        value.append(more)


def set_one(case: Object, chance: random.Random) -> None:
    """Set a field that changes decisions, in an object of its kind or in the configuration."""
    kind, path, values = chance.choice(SETTINGS)
    if kind == "config":
        target: Object | None = fields_of(case, "config")
    else:
        objects = [item for item in case.get("objects") or () if item.get("kind") == kind]
        target = chance.choice(objects) if objects else None
    for name in path[:-1]:
        if not isinstance(target, dict):
            return
        if name.endswith("[]"):
            several = [item for item in target.get(name[:-2]) or () if isinstance(item, dict)]
            target = chance.choice(several) if several else None
        else:
            target = fields_of(target, name)
    if isinstance(target, dict):
        value = chance.choice(values)
        target[path[-1]] = copy.deepcopy(value)
        if value is None:
            del target[path[-1]]


def fields_of(value: Object, name: str) -> Object:
    """Return the mapping at a field, which is made where there is none."""
    if not isinstance(value.get(name), dict):
        value[name] = {}
    return value[name]


def workloads(case: Object) -> list[Object]:
    """Return the Workloads of a case."""
    return [item for item in case.get("objects") or () if item.get("kind") == "Workload"]


def double(case: Object, chance: random.Random) -> None:
    """Have one more of a Workload, or several, all as important or each as it happens."""
    there, alike = workloads(case), chance.random() < 0.5
    for _ in range(chance.choice([1, 1, 2, 4]) if there else 0):
        more = copy.deepcopy(chance.choice(there))
        more["metadata"]["name"] += "-more"
        more["metadata"].pop("uid", None)
        if not alike and isinstance(more.get("spec"), dict):
            more["spec"]["priority"] = chance.choice([-1, 0, 1, 5])
        case["objects"].append(more)


def hold(case: Object, chance: random.Random) -> None:
    """Have a Workload hold quota from the start; what devices it would hold, a case cannot say."""
    if any(item.get("kind") == "DeviceClass" for item in case.get("objects") or ()):
        return
    there = [
        workload["metadata"] for workload in workloads(case) if not (workload.get("status") or {}).get("admission")
    ]
    if there:
        one = chance.choice(there)
        name = f"{one.get('namespace') or 'default'}/{one['name']}"
        case.setdefault("admitted", []).append({"workload": name})
