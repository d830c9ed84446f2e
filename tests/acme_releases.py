"""A made-up operator `acme` with two releases, as upstream publishes them, and a repository that knows the first."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import yaml

from conftest import ROOT
from make import CLUSTER, JOB, write_repository
from repo import Repo
from tool import tool

TYPES = ("kubernetes/1.35", "argo-cd/3.5.1", "jobset/0.12.0", "kueue/0.19.2", "charts/jobset", "charts/kueue")
RULE = {"rule": "self.size > 0", "message": "size must be more than 0"}

FACTS = """\
# Acme is made up.
namespace: acme
releases:
  # The first.
  "1.0.0":
    kubernetes: {oldest: "1.30"}
    clusterKinds: []
    source: "acme/acme v1.0.0 README.md"
sources:
  namespace: "acme/acme v1.0.0"
"""
SOURCES = """\
| project | repository | tag | commit | licence |
|---|---|---|---|---|
| acme | acme/acme | {tag} |   | Apache-2.0 |
"""
OF_CHARTS = """\
| project | chart | published at | published version | repository | tag | commit | path |
|---|---|---|---|---|---|---|---|
| acme | acme | oci://registry.acme.example/charts/acme | {version} | acme/acme | {tag} |   | charts/acme |
"""
HOOK = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: acme}
webhooks:
- name: acme.acme.example
  clientConfig:
    service:
      path: /validate-acme
"""


def definition(*versions: dict[str, Any]) -> dict[str, Any]:
    """Return the definition of Gadgets with some versions."""
    names = {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.acme.example"},
        "spec": {"group": "acme.example", "scope": "Namespaced", "names": names, "versions": list(versions)},
    }


def version(name: str, spec: dict[str, Any], *, storage: bool) -> dict[str, Any]:
    """Return one version of Gadgets."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
    return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}}


SIZE = {"type": "integer", "default": 1}
OLD = definition(
    version("v1alpha1", {"properties": {"size": SIZE}}, storage=False),
    version("v1", {"properties": {"size": SIZE, "mode": {"type": "string", "enum": ["a", "b"]}}}, storage=True),
)
NEW = definition(
    version(
        "v1",
        {
            "properties": {
                "size": {**SIZE, "default": 2},
                "mode": {"type": "string", "enum": ["a"]},
                "colour": {"type": "string"},
            },
            "x-kubernetes-validations": [RULE],
        },
        storage=True,
    )
)


def publish(folder: Path, release: str, crd: dict[str, Any], values: dict[str, Any], *, hooks: bool = False) -> None:
    """Write a release of acme as its project has it, in the folders `crds` and `charts`."""
    tag = f"v{release}"
    files = {
        f"crds/acme/{tag}/gadgets.yaml": yaml.safe_dump(crd),
        "crds/SOURCES.md": SOURCES.format(tag=tag),
        f"charts/acme/{tag}/acme/values.yaml": yaml.safe_dump(values),
        f"charts/acme/{tag}/acme/Chart.yaml": "name: acme\nversion: 0.0.0\nkubeVersion: '>= 1.32.0-0'\n",
        f"charts/acme/{tag}/acme/templates/role.yaml": "kind: Role\napiVersion: rbac.authorization.k8s.io/v1\n",
        "charts/SOURCES.md": OF_CHARTS.format(version=release, tag=tag),
    }
    if hooks:
        files[f"charts/acme/{tag}/acme/templates/hooks.yaml"] = HOOK
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def repository(root: Path, upstream: Path) -> Repo:
    """Write a repository with Trainyard's code, a few API types, acme 1.0.0, and a cluster that installs it."""
    for part in ("platform/trainyard", "tools"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("oracles", "locks"))
    for name in TYPES:
        shutil.copytree(ROOT / "schemas" / name, root / "schemas" / name)
    lock = yaml.load((ROOT / "schemas/lock.yaml").read_bytes(), yaml.CSafeLoader)
    kept = {key: {name: lock[key][name] for name in ("jobset", "kueue")} for key in ("projects", "charts")}
    (root / "schemas/lock.yaml").write_text(yaml.safe_dump({"kubernetes": {}, **kept}), encoding="utf-8")
    tool("schemas.py", "--from", upstream / "crds", "--charts", upstream / "charts", "--schemas", root / "schemas")
    (root / "platform/trainyard/specs/releases/acme.yaml").write_text(FACTS, encoding="utf-8")
    acme = {"version": "1.0.0", "values": {"replicas": 2}}
    cluster = {**CLUSTER, "operators": {**CLUSTER["operators"], "acme": acme}}
    write_repository(root, jobs={"nlp/plain": {**JOB, "nodes": 1}}, clusters={"test": cluster})
    repo = Repo(root)
    repo.put(".gitignore", "__pycache__\n.cache\n")
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--message", "all")
    return repo
