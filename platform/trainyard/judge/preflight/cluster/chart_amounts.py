"""Whether the memory and CPUs that a cluster's file gives a chart are enough for the chart's own programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from trainyard.base.documents import Path
from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.judge.policies.amounts import amount_of
from trainyard.judge.preflight.cluster.values import HELM
from trainyard.judge.preflight.subjects import CLUSTER_BESIDE, OneCluster
from trainyard.render.operators.base import Site
from trainyard.render.operators.helm import defaults
from trainyard.render.operators.install import sites
from trainyard.specs.releases.facts import lookup
from trainyard.upstream.pods.resources import CPU, MEMORY

ABOVE = Rule(
    id="values/limit",
    title="No limit in a chart's values is below the request beside it.",
    why="the API server refuses the object with such pods, so the operator is never there",
    fix="raise the limit, or lower the request with it; the chart's own request counts where the file has none",
    source=f"kubernetes v1.35 pkg/apis/core/validation/validation.go ValidateContainerResourceRequirements; {HELM}",
    layer="values",
)
SMALL = Rule(
    id="values/memory",
    title="The memory limit of an operator is not below what its chart requests.",
    why="an operator on a cluster with many jobs is killed when it reaches the limit, and its webhooks refuse jobs",
    fix="remove the limit; waive this if you measured what the operator uses",
    source=HELM,
    layer="values",
    severity=Severity.WARNING,
)


@CLUSTER_BESIDE.check(after=("values.check_charts",))
def check(one: OneCluster) -> Iterator[Finding]:
    """Yield limits below the request beside them, and limits of memory below the chart's own request."""
    for site in sites(one.cluster):
        shipped = defaults(site, one.schemas) if site.choice.managed and site.choice.values else None
        if shipped is not None:
            for inside, said in resources(site.choice.values):
                yield from check_amounts(one, site, inside, said, lookup(shipped.values, ".".join(inside)))


def resources(values: Any, inside: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the maps of limits and requests that values have, with their paths."""
    for key, value in values.items() if isinstance(values, Mapping) else ():
        if key == "resources" and isinstance(value, Mapping):
            yield (*inside, key), value
        else:
            yield from resources(value, (*inside, str(key)))


def check_amounts(
    one: OneCluster, site: Site, inside: tuple[str, ...], said: Mapping[str, Any], own: Any
) -> Iterator[Finding]:
    """Yield limits of one container that are too low; `own` are the amounts of the chart."""
    at: Path = (*site.at, "values", *inside)
    for name in (CPU, MEMORY):
        limit, request = amount(said, "limits", name), amount(said, "requests", name)
        shipped, path = amount(own, "requests", name), (*at, "limits", name)
        needed = shipped if request is None else request
        if limit is None or needed is None:
            continue
        text = lookup(said, f"limits.{name}")
        if limit < needed and not removes(said, name):
            beside = lookup(own if request is None else said, f"requests.{name}")
            message = f"limit {text} of {name} is below request {beside}, so the API server refuses {site.name}"
            yield ABOVE.at(one.source, path, f"{message}; raise it")
        elif name == MEMORY and shipped is not None and limit < shipped:
            message = f"{site.name} gets {text} of memory, but its chart requests {lookup(own, f'requests.{name}')}"
            yield SMALL.at(one.source, path, f"{message}; remove the limit")


def removes(said: Mapping[str, Any], name: str) -> bool:
    """Whether values take the chart's own request away, by null."""
    requests = said.get("requests", {})
    return requests is None or (isinstance(requests, Mapping) and name in requests and requests[name] is None)


def amount(said: Any, kind: str, name: str) -> Decimal | None:
    """Return an amount of limits or requests; None where there is none, or no quantity."""
    return amount_of(lookup(said, f"{kind}.{name}")) if isinstance(said, Mapping) else None
