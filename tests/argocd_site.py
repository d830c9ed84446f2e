"""A cluster with a real Argo CD, and the repository that it syncs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from make import CLUSTER, CPU_NODE, JOB, REPOSITORY, TEAM, fields, write_repository
from repo import Repo
from trainyard.base.documents import load
from trainyard.render.clusters.settings import data

NAME = "rehearsal"
"""Name of the cluster and of its team."""

GROUP, VERSION, ARGOCD = "argoproj.io", "v1alpha1", "argocd"
RELEASE = os.environ.get("TRAINYARD_ARGOCD_RELEASE", "3.2.6")
"""The release of Argo CD that runs there."""

FINALIZER = "resources-finalizer.argocd.argoproj.io"
"""With it, an Application that is deleted first deletes what it made; `argocd app delete` sets it."""

LOCAL = {"version": RELEASE, "destination": {"server": "https://kubernetes.default.svc"}}
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
    turn: Callable[[Path], None] = field(default=lambda _: None)
    """What is done to a rendered repository before it is committed."""

    def commit(self, message: str) -> None:
        """Render, commit, push where there is where to, and tell Argo CD to look."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "CI": ""}
        command = [sys.executable, "-m", "trainyard", "synth"]
        done = subprocess.run(
            command, cwd=self.repository.root, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        self.turn(self.repository.root)
        self.repository.commit(message)
        if remote := os.environ.get("TRAINYARD_ARGOCD_REPO"):
            self.repository.git("push", "--quiet", "--force", remote, "main:main")
        self.refresh()

    def applications(self) -> dict[str, dict[str, Any]]:
        """Return the Applications of the cluster, by name."""
        listed = self.custom.list_namespaced_custom_object(GROUP, VERSION, ARGOCD, "applications")["items"]
        return {item["metadata"]["name"]: item for item in listed if item["metadata"]["name"].startswith(f"{NAME}-")}

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
        return {item.metadata.name: item.metadata.uid for item in listed if item.status.phase == "Running"}

    def synced(self) -> bool:
        """Whether every Application is in sync and none is at work."""
        states = [application.get("status", {}) for application in self.applications().values()]
        return all(
            state.get("sync", {}).get("status") == "Synced"
            and (state.get("operationState") or {}).get("phase", "Succeeded") == "Succeeded"
            for state in states
        )

    def report(self) -> str:
        """Return what Argo CD says of each Application."""
        lines = []
        for name, application in self.applications().items():
            status = application.get("status", {})
            operation = status.get("operationState") or {}
            lines.append(f"{name}: {status.get('sync', {}).get('status')} {operation.get('message')}")
        return "\n".join(lines)

    def let_go(self) -> None:
        """Let go of deleted pods, for which a namespace waits first: KWOK ends none that a Job counts."""
        from kubernetes.client import ApiException

        for pod in self.core.list_namespaced_pod(NAME).items:
            if pod.metadata.deletion_timestamp and pod.metadata.finalizers:
                free = {"metadata": {"finalizers": None}}
                with suppress(ApiException):  # it has gone meanwhile
                    self.core.patch_namespaced_pod(pod.metadata.name, NAME, free)

    def until(self, what: str, reached: Callable[[], bool], *, seconds: float = WAIT) -> None:
        """Wait until something holds, asking Argo CD again now and then; fail with what it says."""
        end = time.monotonic() + seconds
        while not reached():
            assert time.monotonic() < end, f"not after {seconds} s: {what}\n{self.report()}"
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


@contextmanager
def running(
    variable: str,
    folder: Path,
    written: Mapping[str, Any] | None = None,
    turn: Callable[[Path], None] = lambda _: None,
) -> Iterator[Site]:
    """Give the cluster whose kubeconfig the variable names, with the root Application applied; or skip loudly.

    `written` is the repository that it begins with, by default one job; `turn` is done to what is rendered of it.
    """
    kubeconfig = os.environ.get(variable)
    if not kubeconfig or os.environ.get("TRAINYARD_THROWAWAY") != "1":
        pytest.skip(f"a loop on a real Argo CD: set {variable} and TRAINYARD_THROWAWAY=1")
    from kubernetes import client, config

    api = config.new_client_from_config(kubeconfig)
    repository = Repo(folder / "repository")
    address = os.environ.get("TRAINYARD_ARGOCD_REPO", repository.root.as_uri())
    write_repository(repository.root, repository=fields(REPOSITORY, {"repo_url": address}), **(written or specs()))
    found = Site(client.CoreV1Api(api), client.CustomObjectsApi(api), repository, turn=turn)
    for node in found.core.list_node().items:
        found.core.patch_node(node.metadata.name, {"metadata": {"labels": {"trainyard.dev/pool": "cpu"}}})
    found.before = {key: value for key, value in found.settings().items() if key not in data()}
    found.commit("Begin")
    found.apply(f"appproject.{NAME}-argocd.yaml")
    found.apply(f"application.{NAME}-argocd.yaml")
    yield found
    for kind in ("applications", "appprojects"):
        listed = found.custom.list_namespaced_custom_object(GROUP, VERSION, ARGOCD, kind)["items"]
        for name in (item["metadata"]["name"] for item in listed):
            if name.startswith(f"{NAME}-"):
                found.custom.delete_namespaced_custom_object(GROUP, VERSION, ARGOCD, kind, name)
    found.core.delete_namespace(NAME)

    def gone() -> bool:
        found.let_go()
        return NAME not in {item.metadata.name for item in found.core.list_namespace().items}

    found.until("the namespace is gone", gone, seconds=600)
