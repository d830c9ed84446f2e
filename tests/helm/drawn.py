"""Values of charts by chance: several fields of a chart's defaults are changed, each within its type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from trainyard.base.documents import load
from trainyard.render.operators.base import merge, nest_value

REQUESTS = {"requests": {"cpu": "250m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}}
WORDS = ("alpha", "beta-2", "gamma.example.com", "delta")

BY_NAME: Mapping[str, Sequence[Any]] = {
    "repository": ("registry.example.com/mirror", "nvcr.io/other"),
    "image": ("other-image", "mirror/driver"),
    "version": ("1.2.3", "v9.9.9", "sha256:" + "ab" * 32),
    "tag": ("v9.9.9",),
    "imagePullPolicy": ("Always", "Never", "IfNotPresent"),
    "imagePullSecrets": (["pull-secret"], ["one", "two"], []),
    "env": ([{"name": "DEBUG", "value": "1"}], [{"name": "A", "value": "x"}, {"name": "B", "value": "true"}], []),
    "args": (["--verbose"], ["--level", "3"], []),
    "resources": (REQUESTS, {"requests": {"cpu": "1"}}, {}),
    "tolerations": (
        [{"operator": "Exists"}],
        [{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute"}],
        [],
    ),
    "nodeSelector": ({"zone": "a"}, {}),
    "labels": ({"team": "infra"}, {}),
    "annotations": ({"example.com/owner": "infra"}, {}),
    "additionalLabels": ({"release": "prometheus"}, {}),
    "relabelings": ([{"action": "replace", "sourceLabels": ["a"], "targetLabel": "b"}], []),
    "interval": ("30s", "1m"),
    "scrapeTimeout": ("5s",),
    "timeoutSeconds": (0, 30, 600),
    "maxUnavailable": ("2", "50%"),
    "priorityClassName": ("system-cluster-critical", ""),
}
"""What a field may be, by its name."""


@dataclass(frozen=True)
class Fields:
    """The fields of a chart that are drawn."""

    defaults: Mapping[str, Any]
    sections: Sequence[str]
    """Paths of the values from which cases are drawn."""
    choices: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """What the value at a path may be; also for values that the defaults do not have."""
    whole: frozenset[str] = frozenset()
    """Paths of maps that are changed as one."""
    never: frozenset[str] = frozenset()
    """Paths that are left alone."""


def leaves(value: Any, fields: Fields, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the paths below one that can be changed, with their defaults."""
    if any(path == name or path.startswith(f"{name}.") for name in fields.never):
        return
    inner = isinstance(value, Mapping) and value and path not in fields.whole
    if inner and path.rpartition(".")[2] not in BY_NAME:
        for key, entry in value.items():
            yield from leaves(entry, fields, f"{path}.{key}")
    else:
        yield path, value


def change(random: Random, path: str, default: Any, fields: Fields) -> Any:
    """Return another value for a field."""
    name = path.rpartition(".")[2]
    choices = fields.choices.get(path) or BY_NAME.get(name)
    if choices is None:
        choices = of_type(default)
    return random.choice(choices)


def of_type(default: Any) -> Sequence[Any]:
    """Return other values of the type of a default."""
    if isinstance(default, bool):
        return (not default, default)
    if isinstance(default, int):
        return (0, default + 1, 7)
    if isinstance(default, str):
        return (*WORDS, "")
    return ({"some": "thing"}, {}) if isinstance(default, Mapping) else (["some"], [])


def draw(seed: int, fields: Fields) -> dict[str, Any]:
    """Return the values of one case: up to nine fields, most of them of a few sections, now and then a null."""
    random = Random(seed)
    found = {name: lookup(fields.defaults, name) for name in fields.sections}
    all_leaves = [leaf for name, value in found.items() for leaf in leaves(value, fields, name)]
    known = {path for path, _ in all_leaves}
    all_leaves += [(path, None) for path in fields.choices if path not in known]
    sections = random.sample(sorted(fields.sections), min(3, len(fields.sections)))
    near = [leaf for leaf in all_leaves if leaf[0].startswith(tuple(sections))]
    values: dict[str, Any] = {}
    for path, default in [*pick(random, near, 6), *pick(random, all_leaves, 3)]:
        void = random.random() < 0.03 and default is not None
        values = merge(values, nest_value(path, None if void else change(random, path, default, fields)))
    return values


def pick(random: Random, found: Sequence[tuple[str, Any]], most: int) -> list[tuple[str, Any]]:
    """Return one to `most` of the fields."""
    return random.sample(found, min(len(found), random.randint(1, most)))


def lookup(values: Any, path: str) -> Any:
    """Return the value at a dotted path, or None."""
    for key in path.split("."):
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def read(data: bytes) -> dict[str, Any]:
    """Return a file of values."""
    return dict(load(data, file="values.yaml")[0][0].value)
