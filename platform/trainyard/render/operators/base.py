"""An operator: cluster software that is installed from a pinned chart or from objects of ours, and configured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from trainyard.base.documents import Path
from trainyard.render.parts import unprivileged
from trainyard.render.parts.objects import Resource
from trainyard.render.parts.pods import drop_empty
from trainyard.specs import Cluster, OperatorChoice, Pool
from trainyard.specs.releases import Facts, Release
from trainyard.specs.releases.facts import lookup


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster as one of its operators sees it."""

    name: str
    """Name of the operator."""
    cluster: Cluster
    choice: OperatorChoice
    facts: Facts

    @property
    def version(self) -> str:
        """The release as it is published, without a leading `v`: what is installed."""
        return self.facts.known_release(self.choice.version) or self.choice.version.removeprefix("v")

    @property
    def release(self) -> Release:
        """What is known of the release, or of the one that it is said to be like."""
        return self.facts.releases[self.known_version]

    @property
    def known_version(self) -> str:
        """The known release by which it is rendered and judged: its own, else the one that it is said to be like.

        Where nothing is said, which is refused, it is the nearest.
        """
        said = self.choice.unlisted.like if self.choice.unlisted else self.choice.version
        return self.facts.known_release(said) or self.facts.nearest(said)

    @property
    def components(self) -> dict[str, Any]:
        """Images and versions of what the operator runs, where its own resources name them, for this very release."""
        own = self.choice.unlisted.components if self.choice.unlisted else {}
        found: dict[str, Any] = fill_version(merge(self.release.components, own), self.version)
        return {name: pin_component(component, self.choice.digests.get(name)) for name, component in found.items()}

    @property
    def at(self) -> Path:
        """Where the cluster's file chooses it."""
        return ("operators", self.name)


@dataclass(frozen=True, slots=True)
class Instance:
    """One of the times that an operator's chart is installed, where that is not once for the cluster."""

    name: str
    """Name of the Helm release."""
    namespace: str
    at: Path
    """Field of the cluster's file that asks for it."""
    values: Mapping[str, Any]
    """Values of the chart for this instance, the cluster file's own among them."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A value that a cluster's file gives a chart, and that does not go with what we render."""

    path: str
    """Its dotted path in the values."""
    message: str
    """What is wrong, and what to write instead."""
    source: str
    breaks: bool = True
    """False where the value is only ignored, or where another program may do what it takes away."""
    shared: tuple[Path, ...] = ()
    """Fields of the cluster's file that it does not go with."""


class Operator:
    """What Trainyard writes for one operator; a subclass overrides what it has."""

    name: str
    """The operator's name in cluster files, and of its file in `releases/`."""
    health: ClassVar[Mapping[str, str]] = {}
    """Argo CD health scripts in Lua, by `<group>/<kind>`."""

    def values(self, _site: Site) -> dict[str, Any]:
        """Return the chart's values that follow from the cluster; the cluster file's own are merged over them."""
        return {}

    def instances(self, _site: Site) -> Iterator[Instance] | None:
        """Return every installation of the chart, or None where one in the operator's namespace serves the cluster."""
        return None

    def join(self, derived: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that follow from the cluster with the cluster file's own over them."""
        return merge(derived, own)

    def conflicts(self, _site: Site) -> Iterator[Conflict]:
        """Yield values of the cluster's file that break what is rendered, or that are dropped; others win silently."""
        yield from ()

    def changes(self, _site: Site) -> Iterator[Mapping[str, Any]]:
        """Yield the patches of the objects in the project's manifests, where there is no chart; `$patch` deletes."""
        yield from ()

    def cedes(self, _site: Site) -> frozenset[str]:
        """Return definitions of its release that it leaves to another operator of the cluster."""
        return frozenset()

    def own(self, _site: Site) -> Iterator[Resource]:
        """Yield the operator's own resources, for `operators/<name>/`; its Namespace is added for it."""
        yield from ()

    def hardware(self, _site: Site) -> Iterator[Resource]:
        """Yield the resources that drain, reboot or reconfigure nodes, for `hardware/`."""
        yield from ()


class Plain(Operator):
    """An operator of which the facts say all: its chart's defaults serve."""

    def __init__(self, name: str) -> None:
        """Take the name of its file in `releases/`."""
        self.name = name


def tolerations(pools: Iterable[Pool]) -> list[dict[str, str]]:
    """Return the tolerations with which daemons run on tainted pools, each once."""
    found: list[dict[str, str]] = []
    for taint in (taint for pool in pools for taint in pool.taints):
        toleration = {"key": taint.key, "operator": "Exists", "effect": taint.effect}
        if toleration not in found:
            found.append(toleration)
    return found


def harden_deployment(
    site: Site, name: str, *, container: Mapping[str, Any] | None = None, volumes: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Return a change of an operator's Deployment, and of its container of that name, for Pod Security restricted.

    What it asks for is in its facts; the user is nobody's in particular, as its image has none of its own.
    """
    (asked,) = (
        daemon_container.resources
        for daemon in site.facts.daemons
        for daemon_container in daemon.containers
        if daemon_container.name == name
    )
    resources = {kind: amounts for kind, amounts in asked.model_dump().items() if amounts}
    containers = [
        {"name": name, "resources": resources, "securityContext": unprivileged.LEAST, **drop_empty(container or {})}
    ]
    user = {"runAsNonRoot": True, "runAsUser": unprivileged.NOBODY, "seccompProfile": {"type": "RuntimeDefault"}}
    pod = {"securityContext": user, "containers": containers, **({"volumes": list(volumes)} if volumes else {})}
    head = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}}
    return {**head, "spec": {"template": {"spec": pod}}}


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with `over` merged into it as Helm merges values: maps by key, everything else replaced."""
    merged = dict(base)
    for key, value in over.items():
        own = merged.get(key)
        merged[key] = merge(own, value) if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    return merged


def pin_component(component: Any, digest: str | None) -> Any:
    """Return a component with its image by digest, where there is one; a name alone keeps its tag for who reads it.

    Operators of NVIDIA join a version that begins with `sha256:` by `@` (NVIDIA/gpu-operator v26.7 internal/image;
    NVIDIA network-operator documentation v26.4, advanced/images-sha256).
    """
    if digest is None or not isinstance(component, Mapping):
        return component
    if "version" in component:
        return {**component, "version": digest}
    return {**component, "image": f"{component['image']}@{digest}"}


def fill_version(value: Any, version: str) -> Any:
    """Return a value with the release in the place of `{version}`."""
    if isinstance(value, Mapping):
        return {key: fill_version(entry, version) for key, entry in value.items()}
    return value.replace("{version}", version) if isinstance(value, str) else value


def complete_sections(values: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the defaults, by dotted path, of those sections of which the values have a part."""
    found: dict[str, Any] = {}
    for path, fields in defaults.items():
        if lookup(values, path) is not None:
            found = merge(found, nest_value(path, fields))
    return found


def nest_value(path: str, value: Any) -> dict[str, Any]:
    """Return the map that holds a value at a dotted path."""
    for key in reversed(path.split(".")):
        value = {key: value}
    return dict(value)
