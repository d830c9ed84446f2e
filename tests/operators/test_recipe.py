"""The operator that the documentation shows is whole: installed as a package it is rendered, checked and admitted."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import recipes
from conftest import ROOT
from make import CLUSTER, make_cluster, make_specs, write_repository
from trainyard.base.system.data import own_folder
from trainyard.render.clusters.applications import Follower
from trainyard.render.clusters.applications import resources as of_cluster
from trainyard.render.operators import operators
from trainyard.specs.releases import read, releases
from trainyard.specs.releases.derived import complete_facts

NAME = "kyverno"
FACTS, LOCK = recipes.code("An operator", "yaml")
MODULE, READS = recipes.code("An operator", "python")
(POINTS,) = recipes.code("An operator", "toml")


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A folder with the package of the page, installed as far as its entry points are found."""
    folder = tmp_path_factory.mktemp("package")
    points = tomllib.loads(POINTS)["project"]["entry-points"]
    groups = [[f"[{group}]", *(f"{name} = {at}" for name, at in names.items())] for group, names in points.items()]
    files = {
        "acme/__init__.py": "",
        "acme/kyverno.py": f"{MODULE}\n{READS}",
        "acme/kyverno.yaml": FACTS,
        "acme-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme\nVersion: 1\n",
        "acme-1.dist-info/entry_points.txt": "\n".join(line for group in groups for line in group) + "\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def repository(root: Path, **more: dict[str, Any]) -> Path:
    """Write a small repository whose cluster has the operator of the page, and return its root."""
    operators = {**CLUSTER["operators"], NAME: {"version": "1.19.1"}, **more}
    (root / ".tools").symlink_to(ROOT / ".tools")
    return write_repository(root, clusters={"test": {**CLUSTER, "operators": operators}})


def trainyard(package: Path, root: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Run the program where the package is installed."""
    path = os.pathsep.join([str(package), str(ROOT / "platform"), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "CI": ""}
    environment.pop("TRAINYARD_BASE", None)
    return subprocess.run(
        [sys.executable, "-m", "trainyard", command], cwd=root, env=environment, capture_output=True, text=True
    )


def test_what_it_needs_is_asked_for(package, tmp_path):
    """A monitor without the operator of its kinds is refused, at the line that chooses the operator."""
    monitored = {"version": "1.19.1", "values": {"admissionController": {"serviceMonitor": {"enabled": True}}}}
    done = trainyard(package, repository(tmp_path, **{NAME: monitored}), "synth")
    assert done.returncode == 1
    assert "kyverno needs kube-prometheus-stack: admissionController.serviceMonitor" in done.stdout + done.stderr
    assert not (tmp_path / "generated").exists()


@pytest.mark.node
@pytest.mark.slow
def test_it_is_rendered_and_admitted(package, tmp_path):
    """Its Application is pinned to the chart that is vendored, its folder has its namespace, and all of it is valid."""
    root = repository(tmp_path)
    done = trainyard(package, root, "synth")
    assert done.returncode == 0, done.stderr
    argocd, own_folder = root / "generated/test/argocd", root / "generated/test/operators" / NAME
    chart = yaml.safe_load((argocd / f"application.test-operators-{NAME}-chart.yaml").read_text())
    replicated = {"replicas": 3, "podDisruptionBudget": {"enabled": True, "minAvailable": 2}}
    assert chart["spec"]["source"] == {
        "repoURL": "https://github.com/kyverno/kyverno.git",
        "path": "charts/kyverno",
        "targetRevision": "v1.19.1",
        "helm": {"releaseName": NAME, "valuesObject": {"admissionController": replicated}},
    }
    assert [path.name for path in own_folder.iterdir()] == [f"namespace.{NAME}.yaml"]
    project = yaml.safe_load((argocd / "appproject.test-operators.yaml").read_text())
    allowed = [f"{item['group']}/{item['kind']}" for item in project["spec"]["clusterResourceWhitelist"]]
    assert "rbac.authorization.k8s.io/ClusterRole" in allowed
    assert {"name": "test", "namespace": NAME} in project["spec"]["destinations"]
    settings = yaml.safe_load((argocd / "settings" / "configmap.argocd-cm.yaml").read_text())
    assert "resource.customizations.health.policies.kyverno.io_ValidatingPolicy" in settings["data"]
    done = trainyard(package, root, "validate")
    assert done.returncode == 0, done.stdout


def test_without_a_module_it_is_its_chart(tmp_path):
    """The facts of the page alone make an operator: its Application has the chart, and no values of ours."""
    alone = POINTS.partition('[project.entry-points."trainyard.operators"]')[0]
    modules = {"kyverno.py": READS, "kyverno.yaml": FACTS}
    with recipes.installed(tmp_path, modules, alone, releases, operators):
        cluster = make_cluster(operators={NAME: {"version": "1.19.1"}})
        (app,) = (
            item for item in of_cluster(Follower("test", cluster, make_specs().repository), ()) if NAME in item.name
        )
    assert app.fields["spec"]["source"] == {
        "repoURL": "https://github.com/kyverno/kyverno.git",
        "path": "charts/kyverno",
        "targetRevision": "v1.19.1",
        "helm": {"releaseName": NAME, "valuesObject": {}},
    }


def test_its_facts_follow_from_what_is_vendored(tmp_path):
    """Chart, definitions and kinds are those of the lock, of which the page shows a part."""
    assert NAME not in releases()
    (tmp_path / "facts.yaml").write_text(FACTS)
    facts = complete_facts(NAME, read(tmp_path / "facts.yaml"), own_folder("schemas"))
    assert facts.chart is not None
    assert (facts.chart.repository, facts.chart.name) == ("https://github.com/kyverno/kyverno.git", "kyverno")
    assert "clusterpolicies.kyverno.io" in facts.crds
    shown = yaml.load(LOCK, Loader=yaml.CSafeLoader)
    lock = yaml.load((own_folder("schemas") / "lock.yaml").read_bytes(), Loader=yaml.CSafeLoader)
    assert within(shown, lock)


def within(part: Any, whole: Any) -> bool:
    """Whether a value has everything that a part of it says."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(within(value, whole.get(key)) for key, value in part.items())
    if isinstance(part, list):
        return all(any(within(item, other) for other in whole) for item in part)
    return bool(part == whole)
