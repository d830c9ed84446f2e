"""Values of any chart that do not go with what is rendered: names of Secrets, and namespaces that Argo CD refuses."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.render.operators.base import Conflict, Site
from trainyard.render.operators.stated_values import leaves, stated
from trainyard.specs.releases import release

PROJECTS = "argo-cd v3.2.6 docs/user-guide/projects.md: a project lists the namespaces of its Applications"

OVERRIDE = "namespaceOverride"
"""The last part of values by which charts put their objects into another namespace."""


REPLICAS = ("replicas", "replicaCount")
"""The last part of values by which charts say how many pods of a Deployment run."""


def common_conflicts(site: Site) -> Iterator[Conflict]:
    """Yield values that go against the Application of a chart, of any operator."""
    for path, value in leaves(site.choice.values):
        last = path.rpartition(".")[2]
        if last == OVERRIDE:
            yield from check_namespace(site, path)
        if last in REPLICAS and value == 0 and not isinstance(value, bool):
            message = f"{path} is 0, so nothing of {site.name} runs there; remove it"
            yield Conflict(path, message, site.release.source, breaks=False)
    yield from check_secret(site)


def check_secret(site: Site) -> Iterator[Conflict]:
    """Yield values that rename the Secret that the operator fills, which Argo CD would then empty again."""
    secret = site.facts.fills_secret
    for path in site.facts.renames_secret if secret else ():
        said = stated(site, path)
        if isinstance(said, str) and said and not f"{secret}-".startswith(f"{said}-"):
            message = f"{path} renames Secret {secret}, which Argo CD leaves to {site.name} by its name; remove it"
            yield Conflict(path, message, site.facts.sources.get("renamesSecret", site.release.source))


def check_namespace(site: Site, path: str) -> Iterator[Conflict]:
    """Yield a namespace that is none of the cluster's operators, so that Argo CD refuses to sync."""
    said = stated(site, path)
    if not isinstance(said, str) or not said:
        return
    operators = (release(name) for name, choice in site.cluster.operators.items() if choice.managed)
    if said not in {"kube-system", *(facts.namespace for facts in operators if facts is not None)}:
        message = f"{path} is {said!r}, but Argo CD's project of operators has no such namespace; remove it"
        yield Conflict(path, message, PROJECTS)
