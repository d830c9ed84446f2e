"""The rehearsal cluster of this repository on a real control plane: its runs are admitted as is said, run, and end.

Needs TRAINYARD_CLUSTER_ORACLE, the kubeconfig of a cluster to throw away with Kueue and JobSet and without nodes
(`tools/oracles/cluster/up --operators kueue,jobset --nodes none`), and TRAINYARD_KWOK, the program of KWOK 0.8.0.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from admission.oracle import Object, Oracle, of_folder
from conftest import ROOT
from trainyard.base.quantities import Quantity
from trainyard.faces.live.server import Answer
from trainyard.judge.admission.verdicts import verdicts
from trainyard.judge.frozen import check_specs
from trainyard.render.operators.kwok import MACHINE
from trainyard.render.sizing.machines import machine, quantities
from trainyard.specs.load import read_repository

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

NAME = "rehearsal"
TREE = ROOT / "generated" / NAME
WAITS = 120
"""Seconds in which what shall happen has happened; pods end after 60."""

SILENT = "oracle.trainyard.dev/silent"
"""Label of nodes that the KWOK of the oracles leaves alone."""

MERGE = "application/merge-patch+json"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/nlp/workloads"
PODS = "/api/v1/namespaces/nlp/pods"


class Stage(Oracle):
    """A control plane on which the tree of a rehearsal is applied as Argo CD does it: server-side, in waves."""

    def apply(self, value: Object) -> Answer:
        """Apply an object; its kind must be served."""
        path = self._path(value, value["metadata"]["name"])
        query = [("fieldManager", "argocd-controller"), ("force", "true"), ("fieldValidation", "Strict")]
        answer, _ = self.server.request("PATCH", path, query=query, body=value)
        assert answer.accepted, f"{value['kind']} {value['metadata']['name']}: {answer.message}"
        return answer

    def change(self, path: str, body: Object) -> None:
        """Merge fields into an object."""
        answer, _ = self.server.request("PATCH", path, body=body, media_type=MERGE)
        assert answer.accepted, answer.message

    def nodes(self) -> list[Object]:
        """Return the nodes."""
        return self._listed("/api/v1/nodes")

    def note(self, digest: str) -> None:
        """Annotate all nodes with what they shall offer."""
        for node in self.nodes():
            body = {"metadata": {"annotations": {MACHINE: digest}}}
            self.change(f"/api/v1/nodes/{node['metadata']['name']}", body)

    def state(self) -> dict[str, str]:
        """Return what has become of each job, by the last condition of its Workload that counts."""
        found = {}
        for workload in self._listed(WORKLOADS):
            conditions = workload.get("status", {}).get("conditions", ())
            true = {condition["type"] for condition in conditions if condition["status"] == "True"}
            word = next((word for word in ("Finished", "Admitted") if word in true), "Pending")
            (owner,) = workload["metadata"]["ownerReferences"]
            found[owner["name"].rpartition("-")[0]] = word
        return found

    def hosts(self, job: str) -> list[str]:
        """Return the nodes of a job's running pods."""
        pods = self._listed(f"{PODS}?labelSelector=trainyard.dev%2Fjob%3D{job}")
        return sorted(pod["spec"].get("nodeName", "") for pod in pods if pod["status"]["phase"] == "Running")

    def wait(self, what: str, wanted: Any, look: Any) -> None:
        """Wait until looking finds what is wanted."""
        end = time.monotonic() + WAITS
        while (found := look()) != wanted:
            assert time.monotonic() < end, f"{what}: {found}"
            time.sleep(0.5)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """The control plane with the tree on it, its runs left out, and KWOK as its chart starts it; or a loud skip."""
    kubeconfig, program = os.environ.get("TRAINYARD_CLUSTER_ORACLE"), os.environ.get("TRAINYARD_KWOK")
    if not kubeconfig or not program:
        pytest.skip("a rehearsal on a control plane: set TRAINYARD_CLUSTER_ORACLE and TRAINYARD_KWOK")
    there = Stage(Path(kubeconfig))
    for value in around():
        there.apply(value)
    options = ("--enable-crds=Stage", "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake")
    more = ("--manage-all-nodes=false", "--server-address=127.0.0.1:0", "--node-ip=127.0.0.1", "--cidr=10.0.0.0/24")
    lease = "--node-lease-duration-seconds=40"
    kwok = subprocess.Popen([program, f"--kubeconfig={kubeconfig}", *options, *more, lease], stderr=subprocess.DEVNULL)
    try:
        yield there
    finally:
        kwok.terminate()
        kwok.wait(30)


def around() -> list[Object]:
    """Return the objects of the tree without runs, in the order in which Argo CD and its retries get them there."""
    folders = [*sorted((TREE / "operators").iterdir()), TREE / "platform", TREE / "teams"]
    found = [value for folder in folders for value in of_folder(TREE, folder)]
    for value in found:
        if value["kind"] == "Node":
            value["metadata"]["labels"][SILENT] = "true"
    ranks = {"Namespace": 0, "Stage": 1, "StorageClass": 2, "Topology": 3, "ResourceFlavor": 4, "ClusterQueue": 5}
    return sorted(found, key=lambda value: ranks.get(value["kind"], 6))


def run_of(job: str) -> list[Object]:
    """Return the objects of the run of a job, those that start last."""
    (folder,) = (TREE / "runs/nlp").glob(f"{job}-*/")
    return sorted(of_folder(TREE, folder), key=lambda value: value["kind"] == "JobSet")


def offered(node: Object) -> Object | None:
    """Return what a node offers once it is ready."""
    status = node.get("status", {})
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in status.get("conditions", ()))
    return {name: Quantity.parse(amount).amount for name, amount in status["allocatable"].items()} if ready else None


def test_nodes_offer_what_machines_do(stage: Stage) -> None:
    """KWOK writes what the model says of the pool's machines, also when Git says something else later."""
    cluster = read_repository(ROOT).specs.clusters[NAME]
    shown = quantities(machine(cluster, "h100").allocatable)
    wanted = {name: Quantity.parse(amount).amount for name, amount in shown.items()}
    stage.wait("all nodes are ready", [wanted] * 4, lambda: [offered(node) for node in stage.nodes()])
    (rendered,) = (value for value in around() if value["metadata"]["name"] == "node-h100")
    template = rendered["spec"]["next"]["statusTemplate"]
    fewer = {name: amount for name, amount in wanted.items() if name != "vpc.amazonaws.com/efa"}
    text = template.replace('  "vpc.amazonaws.com/efa": "32"\n', "").replace(' "vpc.amazonaws.com/efa"', "")
    digest, other = next(iter(digests())), "0" * 16
    spec = {**rendered["spec"], "next": {"statusTemplate": text.replace(digest, other)}}
    stage.apply({**rendered, "spec": spec})
    stage.note(other)
    stage.wait("nodes have lost a device", [fewer] * 4, lambda: [offered(node) for node in stage.nodes()])
    stage.note(digest)
    stage.apply(rendered)
    stage.wait("nodes are as before", [wanted] * 4, lambda: [offered(node) for node in stage.nodes()])


def digests() -> set[str]:
    """Return what the annotations of the tree's nodes stand for."""
    return {value["metadata"]["annotations"][MACHINE] for value in around() if value["kind"] == "Node"}


def test_runs_are_admitted_as_is_said_and_end(stage: Stage) -> None:
    """The first run has quota and nodes, the second waits for it, and both come to their end without a hand."""
    said = {one.ask.name.partition("/")[2]: one for one in verdicts(check_specs(ROOT), clusters=[NAME])}
    assert {name: one.word for name, one in said.items()} == {"crawl-1b-sim": "fits", "crawl-7b-sim": "waits for"}
    stage.wait("claims are bound", {"Bound"}, lambda: phases(stage))
    for job in ("crawl-1b-sim", "crawl-7b-sim"):
        for value in run_of(job):
            stage.apply(value)
        stage.wait("Kueue has seen it", True, lambda job=job: job in stage.state())
    stage.wait("as is said", {"crawl-1b-sim": "Admitted", "crawl-7b-sim": "Pending"}, stage.state)
    stage.wait("two pods run", 2, lambda: len(set(stage.hosts("crawl-1b-sim"))))
    stage.wait("its turn", {"crawl-1b-sim": "Finished", "crawl-7b-sim": "Admitted"}, stage.state)
    stage.wait("four pods run", 4, lambda: len(set(stage.hosts("crawl-7b-sim"))))
    (pod, *_) = stage._listed(f"{PODS}?labelSelector=trainyard.dev%2Fjob%3Dcrawl-7b-sim")
    stage.change(f"{PODS}/{pod['metadata']['name']}", {"metadata": {"annotations": {"trainyard.dev/ends": "failed"}}})
    stage.wait("its JobSet starts again", 1, lambda: restarts(stage))
    stage.wait("all have ended", {"crawl-1b-sim": "Finished", "crawl-7b-sim": "Finished"}, stage.state)


def phases(stage: Stage) -> set[str]:
    """Return the phases of all claims."""
    claims = stage._listed("/api/v1/persistentvolumeclaims")
    return {claim["status"]["phase"] for claim in claims}


def restarts(stage: Stage) -> int:
    """Return how often the second run has started again."""
    there = stage._listed("/apis/jobset.x-k8s.io/v1alpha2/namespaces/nlp/jobsets")
    (run,) = (run for run in there if run["metadata"]["name"].startswith("crawl-7b-sim-"))
    return int(run.get("status", {}).get("restarts", 0))
