"""Knows which cluster a file of a generated tree is for, and so which releases its verdict is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.base.documents import Document, load
from trainyard.base.documents import Path as FieldPath
from trainyard.base.findings import Location
from trainyard.base.manifests import mapping
from trainyard.base.system import files
from trainyard.base.system.files import STDIN
from trainyard.base.system.repository import GENERATED, cluster_file, is_repository
from trainyard.upstream.apiserver.gates import Gates

SPECIAL: dict[str, FieldPath] = {"kubernetes": ("kubernetes",), "argo-cd": ("argocd", "version")}
"""Where a cluster's file says a release, apart from those of operators."""


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster of a repository, by the file that describes it; None stands for files of no cluster of ours."""

    root: Path
    cluster: str

    @property
    def file(self) -> Path:
        """The cluster's description."""
        return self.root / cluster_file(self.cluster)

    def description(self) -> Document | None:
        """Read the cluster's file; None where it is none."""
        documents, _ = load(files.read(self.file) or b"", file=str(self.file))
        return documents[0] if documents else None

    def where(self, project: str) -> Location:
        """Return the place where a project (or `kubernetes`) was chosen."""
        found = self.description()
        path = SPECIAL.get(project, ("operators", project, "version"))
        return found.location(path) if found else Location(str(self.file))

    def releases(self, typed: Iterable[str]) -> tuple[str | None, dict[str, str] | None]:
        """Return the Kubernetes that a cluster runs and the release of each project, of those in `typed`.

        None where the description does not say; whether it is right is not looked at here.
        """
        found = self.description()
        value = mapping(found.value) if found else {}
        chosen = {**mapping(value.get("operators")), "argo-cd": value.get("argocd")}
        if mapping(value.get("fabric")).get("subnets"):
            from trainyard.render.clusters import gke_networks  # not for files of no cluster: it loads all specs

            chosen[gke_networks.PROJECT] = {"version": gke_networks.RELEASE}
        if value.get("monitoring") is not None:
            from trainyard.render.clusters import monitors

            chosen[monitors.PROJECT] = {"version": monitors.RELEASE}
        versions = {name: release_of(mapping(choice)) for name, choice in chosen.items()}
        projects = {name: release for name in typed if isinstance(release := versions.get(name), str)}
        kubernetes = value.get("kubernetes")
        return (kubernetes, projects) if isinstance(kubernetes, str) else (None, None)

    def gates(self) -> Gates:
        """Return the feature gates that the cluster's file sets; what is no name is not looked at here."""
        from trainyard.specs.releases.gates import said_gates  # not for files of no cluster: it loads all releases

        found = self.description()
        value = mapping(found.value) if found else {}
        said = value.get("featureGates")
        ours = (gate for gate in said if isinstance(gate, str)) if isinstance(said, list) else ()
        return said_gates(ours, mapping(value.get("operators")))


def option(project: str) -> Location:
    """Return the option of the command line that chooses the release of a project."""
    return Location("--kubernetes" if project == "kubernetes" else "--with")


def release_of(choice: Mapping[str, Any]) -> Any:
    """Return the release that a choice is judged as: the one that it is said to be like, else its own."""
    return mapping(choice.get("unlisted")).get("like") or choice.get("version")


def place_of(path: str) -> Place | None:
    """Return the cluster that a file or folder is for: `generated/<cluster>/…` beside `platform/clusters/`."""
    whole = Path(path).resolve()
    for folder in (whole, *whole.parents):
        if folder.parent.name == GENERATED:
            place = Place(folder.parent.parent, folder.name)
            if place.file.is_file():
                return place
    return None


def by_place(paths: Iterable[str]) -> dict[Place | None, list[str]]:
    """Return the paths of each cluster, in the order given, `generated/` itself as its folders; of none under None."""
    found: dict[Place | None, list[str]] = {}
    for path in paths:
        for folder in folders(path):
            found.setdefault(None if path == STDIN else place_of(folder), []).append(folder)
    return found


def folders(path: str) -> list[str]:
    """Return the folders of the clusters where a path is `generated/` of a repository, else the path alone."""
    top = Path(path)
    if top.resolve().name != GENERATED or not is_repository(top.resolve().parent):
        return [path]
    return sorted(str(one_path) for one_path in top.iterdir()) or [path]
