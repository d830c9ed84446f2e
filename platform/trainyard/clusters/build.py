"""From the resources of a cluster to its folders: everything but the runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trainyard.clusters import argocd, nodes, platform, settings, software, team
from trainyard.clusters.applications import SETTINGS
from trainyard.operators import Resource
from trainyard.operators.install import installed
from trainyard.parts import objects
from trainyard.parts.objects import Folder, Origin
from trainyard.specs.sources import Specs

if TYPE_CHECKING:  # constructs starts Node when it is imported, and `parts` must name it first
    from constructs import Construct

Identity = tuple[str, str, str | None, str]


def build(
    specs: Specs, cluster_name: str, app: Construct, *, policies: Sequence[Mapping[str, Any]] = ()
) -> list[Folder]:
    """Fill the folders of one cluster, the runs' own excepted; folders without objects do not come to be.

    An object of the repository's own under `platform/extra` takes the place of ours of the same name.
    `policies` are the ValidatingAdmissionPolicies that the repository ships.
    """
    found: list[Folder] = []
    for path, resources in folders(specs, cluster_name, policies).items():
        folder = Folder(app, path)
        fill(folder, specs, cluster_name, resources)
        for value, file in extras(specs, cluster_name, path):
            objects.include(folder, value, origin=Origin(file))
        found.append(folder)
    return found


def folders(specs: Specs, cluster_name: str, policies: Sequence[Mapping[str, Any]] = ()) -> dict[str, list[Resource]]:
    """Return what is ours in every folder of the cluster that has anything, by path; pure."""
    found: dict[str, list[Resource]] = {}
    for path, resources in parts(specs, cluster_name, policies):
        extra = {identity(value) for value, _ in extras(specs, cluster_name, path)}
        own = [each for each in resources if key(each) not in extra]
        if own or extra:
            found[path] = own
    return {"argocd": list(argocd.resources(specs, cluster_name, found)), **found}


def parts(
    specs: Specs, cluster_name: str, policies: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, Iterable[Resource]]]:
    """Yield path and contents of every folder that there may be, but that of Applications."""
    cluster = specs.clusters[cluster_name]
    if settings.carries(specs, cluster_name):
        yield SETTINGS, [settings.resource(cluster)]
    for site, known in installed(cluster):
        yield f"operators/{site.name}", software.operator(site, known)
    yield "hardware", software.hardware(cluster)
    yield "platform", [*platform.resources(cluster), *platform.policies(specs.repository, policies)]
    for name, pool in cluster.pools.items():
        yield f"nodes/{name}", nodes.resources(cluster, name, pool)
    for name in cluster.teams():
        if name in specs.teams:
            yield f"teams/{name}", team.resources(cluster_name, cluster, name, specs.teams[name])
            yield f"runs/{name}", [team.permanent(name)]


def extras(specs: Specs, cluster_name: str, path: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the repository's own objects for a folder, with the file they stand in."""
    for file in specs.extra:
        value: Any = file.source.document.value if file.source.document else None
        if (file.cluster, file.folder) == (cluster_name, path) and isinstance(value, Mapping):
            yield value, file.source.file


def identity(value: Mapping[str, Any]) -> Identity:
    """Return what tells an object from another: group, kind, namespace, name."""
    metadata = value.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    group = str(value.get("apiVersion")).rpartition("/")[0]
    return group, str(value.get("kind")), named.get("namespace"), str(named.get("name", ""))


def key(resource: Resource) -> Identity:
    """Return the same of a resource."""
    return resource.api_version.rpartition("/")[0], resource.kind, resource.namespace, resource.name


def fill(folder: Folder, specs: Specs, cluster_name: str, resources: Iterable[Resource]) -> None:
    """Add resources to a folder, each with the spec file that it comes from."""
    for each in resources:
        source = f"cluster/{cluster_name}" if each.source == "cluster" else each.source
        objects.add(
            folder,
            each.api_version,
            each.kind,
            each.name,
            namespace=each.namespace,
            labels=each.labels,
            annotations=each.annotations,
            origin=Origin(specs.sources[source].file, each.at),
            **each.fields,
        )
