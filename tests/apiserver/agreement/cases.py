"""Which cases there are: objects of every kind and of generated/, changed by a seed."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from apiserver.agreement.mutate import mutate
from apiserver.agreement.updates import change
from apiserver.agreement.verdicts import Case
from apiserver.agreement.yamls import respell
from trainyard.base.manifests import Manifest
from trainyard.judge.checks.inputs import RECORDS, decode
from trainyard.upstream.apiserver import Catalog, Kind, Missing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
OBJECTS = HERE / "objects.jsonl"
"""Objects made from schemas that a server took, the smallest and the largest of each kind."""
RICH = HERE / "rich.yaml"
NEWEST = "levante"
"""The cluster on Kubernetes 1.37, whose jobs have fields that older servers do not know."""

Base = tuple[Kind, dict[str, Any]]


def bases(known: Catalog) -> dict[str, list[Base]]:
    """Return the valid objects that cases start from, by apiVersion and kind."""
    values = [json.loads(line) for line in OBJECTS.read_text(encoding="utf-8").splitlines()]
    manifests, _ = decode(RICH.name, RICH.read_bytes())
    values += [manifest.value for manifest in manifests]
    values += [item.value for item in generated()]
    found: dict[str, list[Base]] = defaultdict(list)
    seen: set[str] = set()
    for value in values:
        group, _, version = value["apiVersion"].rpartition("/")
        kind = known.lookup(group, version, value["kind"])
        key = json.dumps(value, sort_keys=True)
        if not isinstance(kind, Missing) and key not in seen:
            seen.add(key)
            found[f"{value['apiVersion']} {value['kind']}"].append((kind, anywhere(value, kind)))
    return dict(sorted(found.items()))


REFERRING = (("trainer.kubeflow.org/v1alpha1", "TrainJob"), ("batch.volcano.sh/v1alpha1", "Job"))
"""Kinds whose webhooks look another object up, which a case alone does not have."""


def generated() -> Iterator[Manifest]:
    """Yield the objects of this repository's own tree that can be judged by themselves, whatever the Kubernetes."""
    for path in sorted((ROOT / "generated").glob("*/**/*.yaml")):
        if NEWEST not in path.parts and not RECORDS.search(path.as_posix()):
            found = decode(path.name, path.read_bytes())[0]
            yield from (item for item in found if (item.value["apiVersion"], item.value["kind"]) not in REFERRING)


def anywhere(value: dict[str, Any], kind: Kind) -> dict[str, Any]:
    """Return an object in a namespace that every server has."""
    moved = copy.deepcopy(value)
    if kind.namespaced:
        moved["metadata"]["namespace"] = "default"
    return moved


def group_of(name: str) -> str:
    """Return the API group of a kind that is named with its apiVersion."""
    return name.split(maxsplit=1)[0].rpartition("/")[0]


def creations(known: Catalog, *, seed: str, count: int, groups: frozenset[str] | None = None) -> Iterator[Case]:
    """Yield changed objects, all kinds in turn, core kinds four times as often; some are written oddly.

    `groups` are the API groups of the kinds, by default all.
    """
    chosen = {name: found for name, found in bases(known).items() if groups is None or group_of(name) in groups}
    names = [name for name, found in chosen.items() for _ in range(4 if found[0][0].typed else 1)]
    for number in range(count):
        rng = Random(f"{seed}/{number}")
        kind, value = rng.choice(chosen[names[number % len(names)]])
        changed, note = mutate(value, kind.schema, rng, count=rng.choice([1, 1, 1, 1, 2]))
        if number % 10 == 9:
            yield respell(changed, note, rng)
        else:
            yield Case(changed, note)


def updates(known: Catalog, *, seed: str, count: int) -> Iterator[Case]:
    """Yield changes to objects that exist."""
    chosen = bases(known)
    names = list(chosen)
    for number in range(count):
        rng = Random(f"{seed}/update/{number}")
        kind, value = rng.choice(chosen[names[number % len(names)]])
        new, note = change(value, kind.schema, rng)
        yield Case(new, f"update: {note}", old=value)
