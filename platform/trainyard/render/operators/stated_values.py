"""Comparisons of what a cluster's file gives a chart with what is rendered beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.render.operators.base import Conflict, Site
from trainyard.render.sizing.node import taints_of
from trainyard.render.sizing.software import cni
from trainyard.specs import Pool
from trainyard.specs.releases.facts import lookup
from trainyard.upstream.pods.taints import Toleration, untolerated_taint


def stated(site: Site, path: str) -> Any:
    """Return the value that the cluster's file gives the chart at a dotted path, or None."""
    return lookup(site.choice.values, path)


def leaves(values: Any, inside: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every value that is no map, with its dotted path."""
    if not isinstance(values, Mapping):
        yield ".".join(inside), values
        return
    for key, value in values.items():
        yield from leaves(value, (*inside, str(key)))


def if_true(site: Site, reasons: Mapping[str, str], source: str, *, breaks: bool = True) -> Iterator[Conflict]:
    """Yield switches that the file turns on; `reasons` says of each path what goes against it."""
    for path, why in reasons.items():
        if stated(site, path) is True:
            yield Conflict(path, f"{path} is true, but {why}", source, breaks)


def if_false(site: Site, reasons: Mapping[str, str], source: str, *, breaks: bool = True) -> Iterator[Conflict]:
    """Yield switches that the file turns off; `reasons` says of each path what needs it."""
    for path, why in reasons.items():
        if stated(site, path) is False:
            yield Conflict(path, f"{path} is false, but {why}", source, breaks)


def check_tolerations(site: Site, path: str, pools: Mapping[str, Pool], source: str) -> Iterator[Conflict]:
    """Yield a list of tolerations that takes the place of ours and keeps daemons off a pool."""
    said = stated(site, path)
    if not isinstance(said, Iterable) or isinstance(said, str | Mapping):
        return
    own = [Toleration.read(toleration) for toleration in said if isinstance(toleration, Mapping)]
    for name, pool in pools.items():
        taint = untolerated_taint(taints_of(pool), own)
        if taint is not None:
            message = f"{path} replaces the derived list and misses taint {taint} of pool {name!r}; add it"
            yield Conflict(path, message, source, shared=(("pools", name, "taints"),))
            return


def check_folders(site: Site, source: str, *, binaries: str, config: str | None = None) -> Iterator[Conflict]:
    """Yield folders of CNI plugins that are not those of the cluster's distribution.

    Where the file names no distribution, and no Multus of ours looks for plugins there, its own folders are right.
    """
    multus = site.cluster.operators.get("multus")
    if site.cluster.system.distribution is None and not (multus is not None and multus.managed):
        return
    folders, title = cni(site.cluster), site.cluster.distribution.title
    for path, ours in ((binaries, folders.binaries), (config, folders.config)):
        said = stated(site, path) if path else None
        if path and said is not None and str(said).rstrip("/") != ours.rstrip("/"):
            message = f"{path} is {said}, but nodes on {title} use {ours}; remove it"
            yield Conflict(path, message, source, breaks=False, shared=(("system", "distribution"),))
