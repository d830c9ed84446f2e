"""Whether clusters are apart: Argo CD reaches each at an address of its own."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.base.findings import Finding
from trainyard.base.rules import Rule
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded

DESTINATION = Rule(
    id="spec/destination",
    title="Every cluster has its own address in Argo CD.",
    why="two clusters with one address overwrite each other's objects for ever",
    fix="write the cluster's own name or server",
    source="argoproj/argo-cd v3.5.1 docs/operator-manual/declarative-setup.md",
)


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield clusters that Argo CD would reach at one address, where they would overwrite each other."""
    specs = loaded.specs
    seen: dict[tuple[str | None, str | None], str] = {}
    for name, cluster in sorted(specs.clusters.items()):
        where = cluster.argocd.destination
        first = seen.setdefault((where.name, where.server), name)
        local = where.server == "https://kubernetes.default.svc"
        if first != name and not local:
            message = f"cluster {name!r} has the destination of cluster {first!r}; set its own name or server"
            yield DESTINATION.at(specs.sources[f"cluster/{name}"], ("argocd", "destination"), message)
