"""Charts and manifests of operators in the repository of a test, in place of registries and tags."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from oracles import paths
from trainyard.base.documents import dump, load

MODULES = Path(os.environ.get("GOMODCACHE", Path.home() / "go/pkg/mod")) / "github.com"
"""Go's cache of the modules whose manifests Applications name by a tag."""

MANIFESTS = {
    "kubeflow/trainer": ("kubeflow/training-operator@v{}", ""),
    "kubeflow/mpi-operator": ("kubeflow/mpi-operator@v{}", ""),
    "kubernetes-csi/external-snapshotter": ("kubernetes-csi/external-snapshotter/client/v8@v{}", "client/"),
    "project-codeflare/appwrapper": ("project-codeflare/appwrapper@v{}", ""),
}
"""Modules with the manifests of a repository, and the folder of the repository that a module is."""


def turn_sources(root: Path, cluster: str = "*") -> None:
    """Have Applications of operators read their pinned charts and manifests from folders of the repository."""
    for file in sorted((root / "generated").glob(f"{cluster}/argocd/application.*-operators-*.yaml")):
        value: dict[str, Any] = dict(load(file.read_bytes(), file=file.name)[0][0].value)
        source = value["spec"]["source"]
        folder = local_folder(source)
        if folder is None:
            continue
        path = f"upstream/{folder.parent.name}-{folder.name}"
        if not (root / path).exists():
            shutil.copytree(folder, root / path)
            for copied in [root / path, *(root / path).rglob("*")]:
                copied.chmod(copied.stat().st_mode | 0o200)
        inner = inside(source) if "kustomize" in source else ""
        own = {"repoURL": root.as_uri(), "targetRevision": "main", "path": f"{path}/{inner}".rstrip("/")}
        kept = {name: source[name] for name in ("helm", "kustomize") if name in source}
        value["spec"]["source"] = own | kept
        file.write_text(dump(value))


def local_folder(source: dict[str, Any]) -> Path | None:
    """Return the folder of this machine with what a source names, or None where it is the repository's own."""
    version = str(source["targetRevision"]).removeprefix("v")
    if "helm" in source:
        name = source.get("chart") or source["path"].rpartition("/")[2]
        return paths.CHARTS / name / version
    if "kustomize" in source:
        module, _ = MANIFESTS[repository(source)]
        return MODULES / module.format(version)
    return None


def inside(source: dict[str, Any]) -> str:
    """Return the path of manifests in the folder of their module."""
    _, outer = MANIFESTS[repository(source)]
    return str(source["path"]).removeprefix(outer)


def repository(source: dict[str, Any]) -> str:
    """Return owner and name of the repository of a source."""
    return "/".join(str(source["repoURL"]).removesuffix(".git").split("/")[-2:])
