"""Whether clusters are apart: Argo CD reaches each at an address of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.base.findings import Finding, Severity
from trainyard.base.rules import Rule
from trainyard.base.system.repository import GENERATED
from trainyard.judge.policies.near import is_near
from trainyard.judge.preflight.subjects import BETWEEN
from trainyard.specs.load import Loaded

DESTINATION = Rule(
    id="spec/destination",
    title="Every cluster has its own address in Argo CD.",
    why="two clusters with one address overwrite each other's objects for ever",
    fix="write the cluster's own name or server",
    source="argoproj/argo-cd v3.5.1 docs/operator-manual/declarative-setup.md",
)
TREE = Rule(
    id="spec/tree-path",
    title="The path of the tree in the repository has the name of the folder that synth writes.",
    why="Argo CD finds no folder there, so it reports an error for every application and changes nothing",
    fix="end path with generated; waive this if something copies the tree to a folder of another name",
    source="argoproj/argo-cd v3.5.1 reposerver/repository/repository.go; docs/argocd.md",
    severity=Severity.WARNING,
    may_waive=True,
)
COMMIT = Rule(
    id="spec/revision",
    title="Argo CD follows a branch of the repository.",
    why="with a commit it stays at that state for ever: nothing that is merged reaches a cluster",
    fix="write the name of the branch; waive this while the clusters must stay at one state",
    source="argoproj/argo-cd v3.5.1 docs/user-guide/tracking_strategies.md",
    severity=Severity.WARNING,
    may_waive=True,
)
HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
"""Name of a commit, whole, as Argo CD takes it."""


@BETWEEN.check()
def check(loaded: Loaded) -> Iterator[Finding]:
    """Yield clusters that Argo CD would reach at one address, where they would overwrite each other."""
    specs = loaded.specs
    yield from check_tree(loaded)
    seen: dict[tuple[str | None, str | None], str] = {}
    for name, cluster in sorted(specs.clusters.items()):
        where = cluster.argocd.destination
        first = seen.setdefault((where.name, where.server), name)
        local = where.server == "https://kubernetes.default.svc"
        if first != name and not local:
            message = f"cluster {name!r} has the destination of cluster {first!r}; set its own name or server"
            yield DESTINATION.at(specs.sources[f"cluster/{name}"], ("argocd", "destination"), message)


def check_tree(loaded: Loaded) -> Iterator[Finding]:
    """Yield a commit in place of a branch, and a path whose last folder is nearly the one that is written.

    A tree may be copied to a folder of another name.
    """
    revision = loaded.specs.repository.revision
    if HASH.fullmatch(revision) and "repository" in loaded.specs.sources:
        message = f"revision is commit {revision[:8]}, where Argo CD stays whatever is merged; write a branch"
        yield COMMIT.at(loaded.specs.sources["repository"], ("revision",), message)
    source, path = loaded.specs.sources.get("repository"), loaded.specs.repository.path
    folder = path.rpartition("/")[2]
    if source is not None and folder != GENERATED and is_near(folder, GENERATED):
        message = f"path ends with {folder!r}, but synth writes {GENERATED!r}, so Argo CD finds nothing; correct it"
        yield TREE.at(source, ("path",), message)
