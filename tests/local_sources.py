"""Charts and manifests of operators in the repository of a test, in place of registries and tags."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from oracles import paths
from trainyard.base.documents import dump, load

MANIFESTS = Path.home() / "go/pkg/mod/github.com/kubeflow"
"""Go's cache of the modules whose manifests Applications name by a tag."""


def turn_sources(root: Path) -> None:
    """Have every Application of an operator read its pinned chart or manifests from a folder of the repository."""
    for file in sorted((root / "generated").glob("*/argocd/application.*-operators-*.yaml")):
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
        inner = source["path"] if "kustomize" in source else ""
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
        return MANIFESTS / f"training-operator@v{version}"
    return None
