"""The whole loop on a real Argo CD: a commit starts pods, an unrelated one leaves them alone, retiring stops them.

Needs TRAINYARD_ARGOCD, the kubeconfig of a cluster with Argo CD, Kueue, JobSet and nodes (KWOK's will do), and
TRAINYARD_THROWAWAY=1, which says that it may be changed: nodes get the pool's label, argocd-cm gets our keys. Argo CD
reads the repository from this machine's disk, or from TRAINYARD_ARGOCD_REPO, to which the test pushes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, CPU_NODE, JOB, REPOSITORY, TEAM, fields, write_repository
from repo import Repo
from trainyard.clusters.settings import data
from trainyard.documents import dump, load

pytestmark = pytest.mark.argocd

NAME = "rehearsal"
"""Name of the cluster and of its team."""

GROUP, VERSION, ARGOCD = "argoproj.io", "v1alpha1", "argocd"
LOCAL = {"version": "3.2.6", "destination": {"server": "https://kubernetes.default.svc"}}
MANAGED = {"kueue": {"version": "0.19.2", "managed": False}, "jobset": {"version": "0.12.0", "managed": False}}
HEALTH = "resource.customizations.health.kueue.x-k8s.io_ClusterQueue"
WAIT = 180
"""Seconds until what a commit asks for must be there."""


@dataclass
class Site:
    """A cluster, and the repository that its Argo CD syncs."""

    core: Any
    custom: Any
    repository: Repo
    before: dict[str, str] = field(default_factory=dict)
    """Keys of argocd-cm that are not ours, before the root Application was there."""

    def commit(self, message: str) -> None:
        """Render, commit, push where there is where to, and tell Argo CD to look."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "CI": ""}
        command = [sys.executable, "-m", "trainyard", "synth"]
        done = subprocess.run(
            command, cwd=self.repository.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        self.repository.commit(message)
        if remote := os.environ.get("TRAINYARD_ARGOCD_REPO"):
            self.repository.git("push", "--quiet", "--force", remote, "main:main")
        self.refresh()

    def applications(self) -> dict[str, dict[str, Any]]:
        """Return the Applications of the cluster, by name."""
        listed = self.custom.list_namespaced_custom_object(GROUP, VERSION, ARGOCD, "applications")["items"]
        return {each["metadata"]["name"]: each for each in listed if each["metadata"]["name"].startswith(f"{NAME}-")}

    def refresh(self) -> None:
        """Ask Argo CD to compare every Application now."""
        asked = {"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}}
        for name in self.applications():
            self.custom.patch_namespaced_custom_object(GROUP, VERSION, ARGOCD, "applications", name, asked)

    def apply(self, file: str) -> None:
        """Create one object of the tree, as a person does once with the root Application and its project."""
        text = (self.repository.root / "generated" / NAME / ARGOCD / file).read_bytes()
        value = load(text, file=file)[0][0].value
        self.custom.create_namespaced_custom_object(GROUP, VERSION, ARGOCD, f"{value['kind'].lower()}s", value)

    def settings(self) -> dict[str, str]:
        """Return the keys of argocd-cm."""
        return self.core.read_namespaced_config_map("argocd-cm", ARGOCD).data or {}

    def pods(self) -> dict[str, str]:
        """Return the pods of the team that run, by name, with what identifies each."""
        listed = self.core.list_namespaced_pod(NAME).items
        return {each.metadata.name: each.metadata.uid for each in listed if each.status.phase == "Running"}

    def synced(self) -> bool:
        """Whether every Application is in sync and none is at work."""
        states = [each.get("status", {}) for each in self.applications().values()]
        return all(
            state.get("sync", {}).get("status") == "Synced"
            and (state.get("operationState") or {}).get("phase", "Succeeded") == "Succeeded"
            for state in states
        )

    def report(self) -> str:
        """Return what Argo CD says of each Application."""
        lines = []
        for name, each in self.applications().items():
            status = each.get("status", {})
            operation = status.get("operationState") or {}
            lines.append(f"{name}: {status.get('sync', {}).get('status')} {operation.get('message')}")
        return "\n".join(lines)

    def until(self, what: str, reached: Callable[[], bool]) -> None:
        """Wait until something holds, asking Argo CD again now and then; fail with what it says."""
        end = time.monotonic() + WAIT
        while not reached():
            assert time.monotonic() < end, f"not after {WAIT} s: {what}\n{self.report()}"
            time.sleep(3)


def job(**changes: Any) -> dict[str, Any]:
    """Return a job of two small pods."""
    small = {"cluster": NAME, "pool": "cpu", "gpusPerNode": None, "cpusPerNode": 1, "memoryPerNode": "1Gi"}
    return fields(fields(JOB, small), changes)


def specs() -> dict[str, Any]:
    """Return a repository of one small cluster, whose operators are there already, and one team."""
    cluster = {
        "argocd": LOCAL,
        "topology": None,
        "pools": {"cpu": {"shape": CPU_NODE, "nodes": 2}},
        "storage": None,
        "operators": MANAGED,
        "queues": {"research": {"teams": [NAME], "nominalQuota": {"cpu": {"nodes": 2}}}},
    }
    return {
        "jobs": {f"{NAME}/first": job()},
        "clusters": {NAME: fields(CLUSTER, cluster)},
        "teams": {NAME: fields(TEAM, {"volumes": None, "secrets": None})},
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The cluster with the root Application applied, or a loud skip."""
    kubeconfig = os.environ.get("TRAINYARD_ARGOCD")
    if not kubeconfig or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip("the loop on a real Argo CD: set TRAINYARD_ARGOCD and TRAINYARD_THROWAWAY=1")
    from kubernetes import client, config

    api = config.new_client_from_config(kubeconfig)
    repository = Repo(tmp_path_factory.mktemp("argocd") / "repository")
    address = os.environ.get("TRAINYARD_ARGOCD_REPO", repository.root.as_uri())
    write_repository(repository.root, repository=fields(REPOSITORY, {"repo_url": address}), **specs())
    found = Site(client.CoreV1Api(api), client.CustomObjectsApi(api), repository)
    for node in found.core.list_node().items:
        found.core.patch_node(node.metadata.name, {"metadata": {"labels": {"trainyard.dev/pool": "cpu"}}})
    found.before = {key: value for key, value in found.settings().items() if key not in data()}
    found.commit("Begin")
    found.apply(f"appproject.{NAME}-argocd.yaml")
    found.apply(f"application.{NAME}-argocd.yaml")
    yield found
    for kind in ("applications", "appprojects"):
        listed = found.custom.list_namespaced_custom_object(GROUP, VERSION, ARGOCD, kind)["items"]
        for name in (each["metadata"]["name"] for each in listed):
            if name.startswith(f"{NAME}-"):
                found.custom.delete_namespaced_custom_object(GROUP, VERSION, ARGOCD, kind, name)
    found.core.delete_namespace(NAME)


def test_a_commit_leads_to_running_pods(site):
    """From the root Application alone: projects, Applications, queues, a namespace, and the run's pods."""
    site.until("two pods run", lambda: len(site.pods()) == 2)
    site.until("everything is in sync", site.synced)


def test_the_settings_leave_other_keys_of_argocd_alone(site):
    """Our health scripts are in argocd-cm, and what else was there still is."""
    site.until("the scripts are there", lambda: HEALTH in site.settings())
    assert site.before.items() <= site.settings().items()


def test_an_unrelated_commit_leaves_running_pods_alone(site):
    """Another job starts; the pods of the first are the same, and Argo CD sees no difference in what runs."""
    before = site.pods()
    site.repository.put(f"jobs/{NAME}/second.yaml", dump(job(nodes=1)))
    site.commit("Add a second job")
    site.until("a third pod runs", lambda: len(site.pods()) == 3)
    site.until("everything is in sync", site.synced)
    assert before.items() <= site.pods().items()


def test_retiring_a_job_stops_its_pods_and_no_others(site):
    """The file of the run goes, its pods go, the other run stays."""
    second = {name: uid for name, uid in site.pods().items() if name.startswith("second-")}
    site.repository.put(f"jobs/{NAME}/first.yaml", dump(job(retired=True)))
    site.commit("Retire the first job")
    site.until("one pod is left", lambda: site.pods() == second)


def test_the_last_run_of_a_team_can_be_retired(site):
    """The folder keeps one object, so that Argo CD goes on looking at it."""
    site.repository.put(f"jobs/{NAME}/second.yaml", dump(job(nodes=1, retired=True)))
    site.commit("Retire the last job")
    site.until("no pod is left", lambda: not site.pods())
    site.until("everything is in sync", site.synced)
