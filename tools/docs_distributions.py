"""The page on distributions: what a node has where, and what becomes of each operator there, made from the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from docs_fields import cell
from trainyard.render.operators import operators
from trainyard.render.operators.install import installed_operators, values
from trainyard.specs import Cluster
from trainyard.specs.distributions import DEFAULT, Distribution, distributions
from trainyard.specs.releases import releases

INTRODUCTION = """\
These are the values of `system.distribution` of a [cluster](cluster.md#poolssystem) and its pools. `make docs` writes
them from `platform/trainyard/specs/distributions`. A source *assumed* means that nobody measured or documented the
fact: look at a node before you rely on it."""

OPERATORS = """\
What becomes of an operator with `managed: true`. *As usual* means that nothing differs from nodes with systemd units.
Other cells name what is set otherwise, or say why the operator is [refused](../rules.md#pairingdistribution). All
operators that are not in the table are as usual everywhere."""

COLUMNS = (
    "distribution",
    "runtime",
    "driver",
    "toolkit",
    "device plugin",
    "CNI folders",
    "processes of a pod",
    "kubelet's fields",
)

PART = {"operator": "GPU Operator", "system": "node", "driver": "who installs the driver"}

POOL = {"shape": "hgx-h100", "nodes": 2}

FABRIC = {
    "type": "infiniband",
    "attach": "sriov",
    "subnetManager": "UFM",
    "addresses": "10.56.0.0/16",
    "pools": ["gpu"],
}


def page() -> Iterator[str]:
    """Yield the page."""
    yield from ("# Distributions", "", *INTRODUCTION.splitlines(), "", f"| {' | '.join(COLUMNS)} |")
    yield "|---" * len(COLUMNS) + "|"
    for name, facts in distributions().items():
        yield f"| {' | '.join(map(cell, (f'[`{name}`](#{name})', *columns(facts))))} |"
    yield from ("", "## Operators", "", *OPERATORS.splitlines(), "")
    yield from matrix()
    for name, facts in distributions().items():
        yield from ("", f"## {name}", "", f"{facts.title}.", "", "| fact | source |", "|---|---|")
        yield from (f"| `{field}` | {cell(source)} |" for field, source in facts.sources.items())
        yield from (f"| no `{operator}` | {cell(refusal.source)} |" for operator, refusal in facts.excludes.items())


def columns(facts: Distribution) -> tuple[str, ...]:
    """Return the cells of a distribution, by column."""
    gpus, fields = facts.gpus, facts.kubelet_fields
    return (
        facts.runtime if facts.brings_runtime else f"{facts.runtime}, or another",
        ", or ".join(PART[installer] for installer in gpus.driver),
        PART[gpus.toolkit],
        PART[gpus.device_plugin],
        f"`{facts.cni.config}`, `{facts.cni.binaries}`",
        str(facts.pod_pids or "no limit"),
        "all" if fields is None else ", ".join(f"`{field}`" for field in fields) or "none",
    )


def matrix() -> Iterator[str]:
    """Yield the table of distributions and the operators that differ on some of them."""
    usual = rendered(DEFAULT)
    outcomes = {name: {operator: outcome(name, operator, usual) for operator in usual} for name in distributions()}
    varied = [operator for operator in usual if any(row[operator] != "as usual" for row in outcomes.values())]
    yield f"| distribution | {' | '.join(varied)} |"
    yield "|---" * (len(varied) + 1) + "|"
    for name, row in outcomes.items():
        yield f"| `{name}` | {' | '.join(cell(row[operator]) for operator in varied)} |"


def outcome(name: str, operator: str, usual: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the fate of an operator on a distribution: refused and why, as usual, or the settings that differ."""
    refusal = distributions()[name].excludes.get(operator)
    if refusal is not None:
        return f"refused: {refusal.why}"
    own = rendered(name)[operator]
    keys = {short(key) for key in {*own, *usual[operator]} if own.get(key) != usual[operator].get(key)}
    return ", ".join(f"`{key}`" for key in sorted(keys)) or "as usual"


def short(path: str) -> str:
    """Return a setting as the table names it: a volume of a DaemonSet and the field of an object by name alone."""
    volume = re.search(r"(?:volumes|volumeMounts)\.([^.]+)", path)
    if volume:
        return f"volume {volume[1]}"
    return path.split(".", maxsplit=1)[0] if path[0].isupper() else path.removesuffix(".value")


def rendered(name: str) -> dict[str, dict[str, Any]]:
    """Return the settings of each operator on a distribution, by operator and path."""
    choices = {operator: {"version": newest(operator)} for operator in operators()}
    cluster = Cluster.model_validate(
        {
            "kubernetes": "1.35",
            "argocd": {"version": "3.5.1", "destination": {"name": "example"}},
            "pools": {"gpu": POOL},
            "fabric": FABRIC,
            "system": {"distribution": name},
            "operators": choices,
        }
    )
    found = {}
    for site, operator in installed_operators(cluster):
        settings = dict(leaves(values(site, operator)))
        for item in (*operator.own(site), *operator.hardware(site)):
            settings |= dict(leaves(item.fields.get("spec", {}), "" if item.kind == "ClusterPolicy" else item.kind))
        found[site.name] = settings
    return found


def newest(operator: str) -> str:
    """Return the newest release of an operator that is known."""
    return list(releases()[operator].releases)[-1]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the settings of a value by path; entries of a list that have names are named."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value and all(isinstance(entry, Mapping) and "name" in entry for entry in value):
        for entry in value:
            yield from leaves({key: inner for key, inner in entry.items() if key != "name"}, f"{path}.{entry['name']}")
    else:
        yield path, value
