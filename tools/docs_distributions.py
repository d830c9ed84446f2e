"""The page on distributions: what a node has where, and what becomes of each operator there, made from the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from docs_fields import cell
from trainyard.render.operators import operators
from trainyard.render.operators.install import installed_operators, own_resources, values
from trainyard.render.sizing.software import refusal
from trainyard.specs import Cluster
from trainyard.specs.distributions import DEFAULT, Distribution, distributions
from trainyard.specs.releases import release, releases

INTRODUCTION = """\
These are the values of `system.distribution` of a [cluster](cluster.md#poolssystem) and its pools. `make docs` writes
them from `platform/trainyard/specs/distributions`. A source *assumed* means that nobody measured or documented the
fact: look at a node before you rely on it."""

OPERATORS = """\
What becomes of an operator with `managed: true`. *As usual* means that nothing differs from nodes with systemd units.
Other cells name what is set otherwise, or say why the operator is [refused](../rules.md#pairingdistribution). All
operators that are not in the table are as usual everywhere. Karpenter is always installed by others."""

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

NODE_COLUMNS = ("distribution", "locked memory", "udev rules", "modules that load", "modules that must not load")

UPGRADE_COLUMNS = ("distribution", "who", "what happens to a node", "nodes at a time", "time to leave", "then")

UPGRADES = """\
How nodes get another minor version. *Decides* means that who does it chooses the number."""

NODES = """\
How the [files for nodes](../pools.md#nodes) reach them. A folder takes files; other words are fields of the
distribution's own configuration. *Nobody* means that no file can make the setting there."""

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
    yield from ("", "## Files for nodes", "", *NODES.splitlines(), "", f"| {' | '.join(NODE_COLUMNS)} |")
    yield "|---" * len(NODE_COLUMNS) + "|"
    for name, facts in distributions().items():
        yield f"| {' | '.join((f'`{name}`', *node_columns(facts)))} |"
    yield from ("", "## Another Kubernetes", "", *UPGRADES.splitlines(), "", f"| {' | '.join(UPGRADE_COLUMNS)} |")
    yield "|---" * len(UPGRADE_COLUMNS) + "|"
    for name, facts in distributions().items():
        yield f"| {' | '.join(map(cell, (f'`{name}`', *upgrade_columns(facts))))} |"
    yield from ("", "## Operators", "", *OPERATORS.splitlines(), "")
    yield from matrix()
    for name, facts in distributions().items():
        yield from ("", f"## {name}", "", f"{facts.title}.", "", "| fact | source |", "|---|---|")
        yield from (f"| `{field}` | {cell(source)} |" for field, source in facts.sources.items())
        yield from (f"| no `{operator}` | {cell(refusal.source)} |" for operator, refusal in facts.excludes.items())
        besides = {beside.name: beside for refusal in facts.excludes.values() for beside in refusal.beside}
        yield from (f"| {beside.name} | {cell(beside.source)} |" for beside in besides.values())


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


def upgrade_columns(facts: Distribution) -> tuple[str, ...]:
    """Return how nodes of a distribution get another minor version, by column."""
    found = facts.node_upgrade
    time = f"{found.minutes} minutes" if found.minutes else "no limit"
    then = found.then if found.minutes else "waits for pods"
    return (
        found.by,
        found.how,
        str(found.at_a_time or "decides"),
        *((time, then) if found.drains else ("pods stay", "")),
    )


def node_columns(facts: Distribution) -> tuple[str, ...]:
    """Return how nodes of a distribution take files, by column."""
    files = tuple("file" if setting in facts.node_files else "nobody" for setting in ("memlock", "udev"))
    return (*files, *(f"`{place}`" if place else "nobody" for place in (facts.modules.load, facts.modules.block)))


def matrix() -> Iterator[str]:
    """Yield the table of distributions and the operators that differ on some of them."""
    found = table()
    varied = [operator for operator in columns_of() if any(row[operator] != USUAL for row in found.values())]
    yield f"| distribution | {' | '.join(varied)} |"
    yield "|---" * (len(varied) + 1) + "|"
    for name, row in found.items():
        yield f"| `{name}` | {' | '.join(cell(row[operator]) for operator in varied)} |"


USUAL = "as usual"
REFUSED = "refused: "


def columns_of() -> list[str]:
    """Return the operators of the table: those that can be installed, and those for machines of one cloud."""
    bound = [name for name, facts in releases().items() if facts.provider is not None]
    return sorted({*operators(), *bound})


@cache
def table() -> dict[str, dict[str, str]]:
    """Return every cell of the table, by distribution and operator."""
    usual = rendered(DEFAULT)
    return {
        name: {operator: outcome(facts, operator, usual, rendered(name)) for operator in columns_of()}
        for name, facts in distributions().items()
    }


Settings = Mapping[str, Mapping[str, Any]]


def outcome(facts: Distribution, operator: str, usual: Settings, found: Settings) -> str:
    """Return the fate of an operator on a distribution: refused and why, as usual, or the settings that differ."""
    reason = refusal(facts, operator)
    if reason is not None:
        return f"{REFUSED}{reason.why}"
    of = release(operator)
    if of is not None and of.provider is not None and facts.provider is None:
        own_machines = f"as usual on machines of {of.provider}, useless on others"
        return own_machines if of.installable else f"scales no pool: its node classes are for services of {of.provider}"
    own, common = found.get(operator, {}), usual.get(operator, {})
    keys = {short(key) for key in {*own, *common} if own.get(key) != common.get(key)}
    words = [f"`{key}`" for key in sorted(keys)]
    if operator == "amd-gpu-operator" and "operator" not in facts.gpus.driver:
        words.append("no `gpuDriver: operator`")
    return ", ".join(words) or USUAL


def short(path: str) -> str:
    """Return a setting as the table names it: a volume of a DaemonSet and the field of an object by name alone."""
    volume = re.search(r"(?:volumes|volumeMounts)\.([^.]+)", path)
    if volume:
        return f"volume {volume[1]}"
    return path.split(".", maxsplit=1)[0] if path[0].isupper() else path.removesuffix(".value")


@cache
def rendered(name: str) -> dict[str, dict[str, Any]]:
    """Return the settings of each operator on a distribution, by operator and path, beside all that it goes with."""
    return {operator: settings_of(name, operator) for operator in operators()}


def settings_of(name: str, operator: str) -> dict[str, Any]:
    """Return the settings of one operator on a distribution, by path."""
    apart = {(one, need.operator) for one in operators() for need in releases()[one].excludes}
    beside = [one for one in operators() if (one, operator) not in apart and (operator, one) not in apart]
    cluster = Cluster.model_validate(
        {
            "kubernetes": "1.35",
            "argocd": {"version": "3.5.1", "destination": {"name": "example"}},
            "pools": {"gpu": POOL},
            "fabric": FABRIC,
            "system": {"distribution": name},
            "operators": {one: {"version": newest(one)} for one in beside},
        }
    )
    ((site, known),) = ((site, known) for site, known in installed_operators(cluster) if site.name == operator)
    settings = dict(leaves(values(site, known)))
    for item in (*own_resources(site, known), *known.hardware(site)):
        settings |= dict(leaves(item.fields.get("spec", {}), "" if item.kind == "ClusterPolicy" else item.kind))
    return settings


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
