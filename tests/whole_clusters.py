"""A cluster of this repository on a real Argo CD: its tree in a repository of its own, its nodes, its Applications."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from admission.oracle import machines
from argocd_site import FINALIZER, RELEASE
from conftest import ROOT
from local_sources import turn_sources
from oracles import paths
from repo import Repo
from trainyard.base.documents import dump, load
from trainyard.judge.admission.site import site
from trainyard.specs.load import read_repository

SERVER = "https://kubernetes.default.svc"
"""The cluster in which Argo CD runs."""

NODES = 4
"""Nodes of each pool at most: each DaemonSet has a pod on each."""

LATER = "later"
"""The object that is added to the runs of a team."""

APPLICATIONS = ("argoproj.io", "v1alpha1", "argocd", "applications")

Object = dict[str, Any]


class State(NamedTuple):
    """What Argo CD says of an Application."""

    sync: str
    health: str
    operation: str
    attempts: int
    message: str


def copied(folder: Path, cluster: str) -> Repo:
    """Return a repository with what this one tracks, which Argo CD reads from disk for a cluster that it runs in."""
    repository = Repo(folder)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if not name.startswith(("tests/", "docs/", "tools/")):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
    repository.commit("Begin")
    edit(folder / "platform/repository.yaml", repoURL=folder.as_uri())
    file = folder / f"platform/clusters/{cluster}.yaml"
    unnamed = {"name": None} if "\nbase:" in file.read_text("utf-8") else {}
    edit(file, argocd={"version": RELEASE, "destination": {"server": SERVER, **unnamed}})
    commit(repository, cluster, "Turn to what is here")
    return repository


def commit(repository: Repo, cluster: str, message: str) -> None:
    """Render a copied repository, turn the sources of operators to what is here, and commit."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "CI": ""}
    command = [sys.executable, "-m", "trainyard", "synth", "--quiet"]
    done = subprocess.run(command, cwd=repository.root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    turn_sources(repository.root, cluster)
    repository.commit(message)


def edit(file: Path, **fields: Any) -> None:
    """Write other fields into a spec."""
    value = dict(load(file.read_bytes(), file=file.name)[0][0].value)
    file.write_text(dump({**value, **fields}))


class Whole:
    """A cluster of the repository, and the real one on which it comes up."""

    def __init__(self, kubeconfig: str, root: Path, name: str) -> None:
        from kubernetes import client, config

        api = config.new_client_from_config(kubeconfig)
        self.core, self.custom, self.about = client.CoreV1Api(api), client.CustomObjectsApi(api), client.VersionApi(api)
        self.tree, self.root, self.name = root / "generated" / name, root, name

    def make_nodes(self) -> None:
        """Make the first nodes of each pool, which KWOK keeps ready."""
        for value in self._nodes():
            self.core.create_node(value)
            self.core.patch_node_status(value["metadata"]["name"], {"status": value["status"]})

    def install_what_others_do(self) -> None:
        """Make namespace and definitions of a Prometheus Operator where the cluster's file says that one is there."""
        from kubernetes import client

        monitoring = read_repository(self.root).specs.clusters[self.name].monitoring
        if monitoring is None or monitoring.existing is None:
            return
        self.core.create_namespace({"metadata": {"name": monitoring.existing.namespace}})
        extensions = client.ApiextensionsV1Api(self.core.api_client)
        for file in sorted((paths.CRDS / "prometheus-operator").glob("*/*.yaml")):
            extensions.create_custom_resource_definition(load(file.read_bytes(), file=file.name)[0][0].value)

    def _nodes(self) -> Iterator[Object]:
        where = site(read_repository(self.root).specs, self.name)
        seen: dict[str, int] = {}
        for value in machines(where):
            if value["kind"] != "Node":
                continue
            metadata = value["metadata"]
            pool = where.pool_of(metadata["name"])
            seen[pool] = seen.get(pool, 0) + 1
            if seen[pool] <= NODES:
                labels, annotations = {**metadata["labels"], "type": "kwok"}, {"kwok.x-k8s.io/node": "fake"}
                yield {**value, "metadata": {**metadata, "labels": labels, "annotations": annotations}}

    def apply_root(self) -> None:
        """Apply the root Application and its project, as a person does once."""
        for kind in ("appproject", "application"):
            file = self.tree / f"argocd/{kind}.{self.name}-argocd.yaml"
            value = load(file.read_bytes(), file=file.name)[0][0].value
            self.custom.create_namespaced_custom_object(*APPLICATIONS[:3], f"{kind}s", value)

    def delete_application(self, part: str, *, cascade: bool = False) -> None:
        """Delete an Application: alone, or as `argocd app delete` does with what it made."""
        name = f"{self.name}-{part}"
        if cascade:
            body = {"metadata": {"finalizers": [FINALIZER]}}
            self.custom.patch_namespaced_custom_object(*APPLICATIONS, name, body)
        self.custom.delete_namespaced_custom_object(*APPLICATIONS, name)

    def teams(self) -> set[str]:
        """Return the namespaces of teams that are there and stay."""
        listed = self.core.list_namespace(label_selector="trainyard.dev/team").items
        return {item.metadata.name for item in listed if item.metadata.deletion_timestamp is None}

    def claims(self) -> dict[str, str]:
        """Return the claims of all namespaces, with what identifies each."""
        listed = self.core.list_persistent_volume_claim_for_all_namespaces().items
        return {f"{item.metadata.namespace}/{item.metadata.name}": item.metadata.uid for item in listed}

    def add_to_runs(self, repository: Repo) -> list[str]:
        """Commit one more object beside the runs of each team; return the teams."""
        teams = [folder.name for folder in sorted((self.tree / "runs").iterdir()) if folder.is_dir()]
        for team in teams:
            metadata = {"name": LATER, "namespace": self.namespace_of(team)}
            value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"later": "yes"}}
            (self.tree / f"runs/{team}/configmap.{LATER}.yaml").write_text(dump(value))
        repository.commit("Add something to the runs of all teams")
        return teams

    def namespace_of(self, team: str) -> str:
        """Return the namespace of a team, as its tree makes it."""
        (file,) = (self.tree / f"teams/{team}").glob("namespace.*.yaml")
        return file.name.split(".")[1]

    def has_added(self, team: str) -> bool:
        """Whether that object is there."""
        there = self.core.list_namespaced_config_map(self.namespace_of(team)).items
        return LATER in {item.metadata.name for item in there}

    def end_pods(self, team: str) -> None:
        """Let the programs of all running pods of a team end with 0."""
        from kubernetes.client import ApiException

        ended = {"ready": False, "restartCount": 0, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}
        for pod in self.core.list_namespaced_pod(self.namespace_of(team)).items:
            if pod.status.phase == "Running":
                programs = pod.spec.containers
                statuses = [{"name": one.name, "image": one.image, "imageID": "", **ended} for one in programs]
                body = {"status": {"phase": "Succeeded", "containerStatuses": statuses}}
                with suppress(ApiException):  # it has gone meanwhile
                    self.core.patch_namespaced_pod_status(pod.metadata.name, pod.metadata.namespace, body)

    def applications(self) -> list[Path]:
        """Return the files of its Applications."""
        return sorted(self.tree.glob("argocd/application.*.yaml"))

    def kinds(self) -> set[str]:
        """Return the kinds of what is rendered for it, as they stand in the names of files."""
        return {file.name.partition(".")[0] for file in self.tree.rglob("*.yaml") if "nodes" not in file.parts}

    def states(self) -> dict[str, State]:
        """Return what Argo CD says of each Application."""
        found = {}
        for item in self.custom.list_namespaced_custom_object(*APPLICATIONS)["items"]:
            status = item.get("status", {})
            operation = status.get("operationState") or {}
            found[item["metadata"]["name"]] = State(
                status.get("sync", {}).get("status", ""),
                (status.get("health") or {}).get("status", ""),
                operation.get("phase", ""),
                1 + operation.get("retryCount", 0),
                operation.get("message", ""),
            )
        return found

    def report(self, names: list[str]) -> str:
        """Return what Argo CD says of some Applications."""
        states = self.states()
        return "\n".join(f"{name}: {states.get(name, 'missing')}" for name in names)

    def version(self) -> str:
        """Return the version of Kubernetes."""
        return str(self.about.get_code().git_version).removeprefix("v")
