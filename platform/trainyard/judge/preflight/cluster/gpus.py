"""Whether GPUs can be cut or shared as a cluster's pools say, and its device plugin can be told so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import CLUSTER
from trainyard.render.operators import gpu_parts
from trainyard.render.operators.base import merge
from trainyard.render.sizing.gpus import fits, profiles
from trainyard.specs import Cluster
from trainyard.specs.gpus import model_of
from trainyard.specs.models.gpus import Mig
from trainyard.specs.shapes import Gpus, is_known_shape
from trainyard.specs.sources import Source

OPERATOR = "gpu-operator"
PLUGIN = "NVIDIA/k8s-device-plugin v0.20.0 README.md"

LAYOUT = Rule(
    id="gpu-mig-layout",
    title="The MIG layout is one that the GPU model supports.",
    why="otherwise the MIG manager fails on every node of the pool, and jobs wait for ever for its devices",
    fix="use profiles of this model, and no more than fit one GPU",
    source="NVIDIA MIG user guide r580, supported MIG profiles; NVIDIA/mig-parted v0.15.0",
)
UNKNOWN_MODEL = Rule(
    id="gpu-mig-model",
    title="The MIG profiles of the GPU model are known to Trainyard.",
    why="an unknown layout cannot be checked, and a layout that does not fit creates no devices",
    fix="compare the layout with `nvidia-smi mig -lgip` on a node, then waive this",
    source="NVIDIA MIG user guide r580, supported GPUs",
    severity=Severity.WARNING,
)
STRATEGY = Rule(
    id="gpu-mig-name",
    title="All pools of a cluster use one MIG strategy; strategy single has one profile on all GPUs.",
    why="the device plugin has one strategy per cluster, so nodes would offer other resources than pods request",
    fix="use strategy mixed for all pools, or single with one profile on all GPUs",
    source=f"{PLUGIN}, migStrategy",
)
VALUES = Rule(
    id="gpu-parts-values",
    title="MIG and sharing of GPUs are set in the pools, not in the GPU Operator's values.",
    why=(
        "these values override those that follow from the pools, so nodes would offer other devices than pods request"
    ),
    fix="remove the value, and set mig or sharing in the pools",
    source="NVIDIA/gpu-operator v26.7.0 deployments/gpu-operator/values.yaml",
    layer="values",
)
NO_GPUS = Rule(
    id="gpu-parts",
    title="A pool with mig or sharing has GPUs that support it.",
    why="otherwise no part is created, and pods that request one wait for ever",
    fix="remove mig or sharing from the pool, or use a shape with GPUs that support it",
    source=f"{PLUGIN}; NVIDIA MIG user guide r580, supported GPUs; docs/reference/gpus.md",
)
NO_OPERATOR = Rule(
    id="gpu-operator",
    title="A cluster has an operator that offers the GPUs of its pools.",
    why="without a device plugin nodes offer no GPU, and every pod that requests one stays pending",
    fix="add the GPU vendor's operator; set managed: false if somebody else installs it",
    source="kubernetes v1.35 pkg/kubelet/cm/devicemanager; NVIDIA/gpu-operator v26.7.0; ROCm/gpu-operator v1.5.1",
    severity=Severity.WARNING,
)

OFFER = {"nvidia": ("gpu-operator", "dra-driver-nvidia-gpu"), "amd": ("amd-gpu-operator",)}
"""Operators of GPUs by vendor, the one to add first; the DRA driver stands beside a plugin of the provider's."""


def check_operator(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield the first pool of each vendor whose GPUs nobody offers."""
    told: set[str] = set()
    for name, pool in cluster.pools.items():
        gpus = pool.node.gpus if is_known_shape(pool.shape) else None
        if gpus is None or gpus.vendor in told or any(operator in cluster.operators for operator in OFFER[gpus.vendor]):
            continue
        told.add(gpus.vendor)
        message = f"pool {name!r} has GPUs of {gpus.vendor}, but no operator for them; add {OFFER[gpus.vendor][0]}"
        yield NO_OPERATOR.at(source, ("pools", name), f"{message}, or set managed: false", key=True)


@CLUSTER.check()
def check(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield GPUs that nobody offers, layouts that no GPU has, and parts of what is not there."""
    yield from check_operator(cluster, source)
    for name, pool in cluster.pools.items():
        field = "mig" if pool.mig is not None else "sharing"
        if (pool.mig is None and pool.sharing is None) or not is_known_shape(pool.shape):
            continue
        gpus = pool.node.gpus
        if gpus is None or gpus.vendor != "nvidia":
            there = "has no GPUs" if gpus is None else f"has GPUs of {gpus.vendor}"
            message = f"{field} divides NVIDIA GPUs, but pool {name!r} {there}; remove it"
            yield NO_GPUS.at(source, ("pools", name, field), message)
        elif pool.mig is not None:
            yield from check_layout(pool.mig, gpus, ("pools", name, "mig"), source)
    yield from check_strategy(cluster, source)
    yield from check_values(cluster, source)


def check_layout(mig: Mig, gpus: Gpus, path: Path, source: Source) -> Iterator[Finding]:
    """Yield profiles that the model does not have, more of them than one GPU holds, and GPUs that are not there."""
    missing = [index for index in mig.gpus if index >= gpus.count]
    if missing:
        message = f"gpus lists {missing[0]}, but GPUs of a node are 0 to {gpus.count - 1}; remove it"
        yield LAYOUT.at(source, (*path, "gpus", mig.gpus.index(missing[0])), message)
    there = profiles(gpus.product)
    if not there:
        yield from check_model(gpus, path, source)
        return
    unknown = [profile for profile in mig.layout if profile not in there]
    for profile in unknown:
        near = nearest(profile, there)
        hint = f"did you mean {near!r}?" if near else f"it has: {', '.join(there)}"
        message = f"GPU {gpus.product!r} has no MIG profile {profile!r}; {hint}"
        yield LAYOUT.at(source, (*path, "layout", profile), message, key=True)
    if not unknown and not fits(mig.layout, gpus.product):
        cut = ", ".join(f"{count} × {profile}" for profile, count in mig.layout.items())
        message = f"layout is {cut}, which does not fit one {gpus.product}; remove some devices"
        yield LAYOUT.at(source, (*path, "layout"), message)


def check_model(gpus: Gpus, path: Path, source: Source) -> Iterator[Finding]:
    """Yield a model that has no MIG, or whose profiles nobody knows."""
    if model_of(gpus.product) is not None:
        yield NO_GPUS.at(source, path, f"GPU {gpus.product!r} has no MIG; remove mig, or use sharing")
        return
    message = f"MIG profiles of GPU {gpus.product!r} are unknown; compare the layout with 'nvidia-smi mig -lgip'"
    yield UNKNOWN_MODEL.at(source, (*path, "layout"), message)


def nearest(profile: str, known: Iterable[str]) -> str | None:
    """Return the profile of a model with as many compute slices and the nearest memory; None if there is none.

    >>> nearest("1g.5gb", ["1g.10gb", "1g.20gb", "2g.20gb", "1g.10gb+me"])
    '1g.10gb'
    """
    compute, memory, engines = parts(profile)
    same = [name for name in known if parts(name)[0] == compute]
    return min(same, key=lambda name: (parts(name)[2] != engines, abs(parts(name)[1] - memory)), default=None)


def parts(profile: str) -> tuple[str, int, str]:
    """Return the compute slices, the gigabytes and the ending of a profile."""
    compute, _, rest = profile.partition("g.")
    memory, _, engines = rest.partition("gb")
    return compute, int(memory), engines


def check_strategy(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield a pool whose devices would have other names: of another strategy, or of several sorts under single."""
    cut = {name: pool.mig for name, pool in cluster.pools.items() if pool.mig is not None}
    first = next(iter(cut), "")
    for name, mig in cut.items():
        path: Path = ("pools", name, "mig")
        if mig.strategy != cut[first].strategy:
            message = (
                f"strategy is {mig.strategy!r}, but pool {first!r} uses {cut[first].strategy!r}; a cluster has one "
                "strategy, so use mixed"
            )
            yield STRATEGY.at(source, path, message)
        if mig.strategy == "single" and (len(mig.layout) > 1 or mig.gpus):
            what = "part of the GPUs" if mig.gpus else f"{len(mig.layout)} profiles"
            message = f"strategy single allows one profile on all GPUs, but layout has {what}; set strategy: mixed"
            yield STRATEGY.at(source, path, message)


def check_values(cluster: Cluster, source: Source) -> Iterator[Finding]:
    """Yield values of the GPU Operator that replace what follows from the pools."""
    choice = cluster.operators.get(OPERATOR)
    if choice is None or not choice.managed:
        return
    cut = any(pool.mig is not None for pool in cluster.pools.values())
    ours = {
        "mig": {"strategy": gpu_parts.strategy(cluster)} if cut else {},
        "migManager": gpu_parts.of_manager(cluster) if cut else {},
        "devicePlugin": gpu_parts.of_plugin(cluster),
    }
    for section, derived in ours.items():
        own = choice.values.get(section)
        if not isinstance(own, Mapping):
            continue
        for field in derived:
            if field in own and merge(derived, {field: own[field]}) != derived:
                message = f"{section}.{field} follows from the pools; remove it here"
                yield VALUES.at(source, ("operators", OPERATOR, "values", section, field), message)
