"""Every kind on a real Argo CD: a commit leads to running pods, an unrelated one leaves them be, retiring ends them.

Needs TRAINYARD_ARGOCD, the kubeconfig of a cluster with Argo CD, the operators of OPERATORS and nodes (KWOK's will
do), and TRAINYARD_THROWAWAY=1, which says that it may be changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from argocd_site import NAME, Site, job, running, specs
from make import fields
from trainyard.base.documents import dump
from trainyard.base.versions import order
from trainyard.render.kinds import Kind, kinds
from trainyard.render.kinds.pairs import Pair
from trainyard.render.launchers import launchers
from trainyard.specs.releases import releases

pytestmark = pytest.mark.argocd

RELEASES = {"kueue": "0.19.2", "jobset": "0.12.0", "trainer": "2.3.0", "kuberay": "1.6.2", "lws": "0.9.0"}
"""Those that are where not the newest runs."""

SAID = {"RayCluster": {"maxHours": 1}, "LeaderWorkerSet": {"maxHours": 1}}
"""What jobs of a kind must say beside the rest."""

BATCH = "batch"
"""The queue of Volcano's, and its pool: some of the nodes."""


APART = {"mpi-operator": "training-operator", "training-operator": "mpi-operator"}
"""Operators that no cluster's file names beside each other: both own MPIJob."""


def operators(without: str) -> dict[str, Any]:
    """Return every operator that reconciles kinds of ours but one, as somebody else installs it."""
    wanted = {"kueue", *(kind.carrier.operator for kind in kinds().values() if kind.carrier.operator)} - {without}
    newest = {name: max(releases()[name].releases, key=order) for name in wanted}
    return {name: installed(name, RELEASES.get(name, newest[name])) for name in sorted(wanted)}


def installed(name: str, version: str) -> dict[str, Any]:
    """Return an operator that is there; of a release that is not known here, the nearest one stands for it."""
    facts = releases()[name]
    like = {"like": facts.nearest(version), "reason": "it is what the cluster of the test has"}
    return {"version": version, "managed": False} | ({} if facts.known_release(version) else {"unlisted": like})


def job_of(kind: Kind, **changes: Any) -> dict[str, Any]:
    """Return a small job of a kind: by torchrun where that goes, else by the first launcher that does."""
    able = [
        one_launcher for one_launcher in launchers().values() if Pair(one_launcher, kind).word in {"yes", "elastic"}
    ]
    launcher = min(able, key=lambda item: item.name != "torchrun")
    start = {} if "program" in launcher.takes else {"command": ["train"], "program": None}
    where = {"queue": BATCH, "pool": BATCH} if kind.scheduler == "volcano" else {}
    return job(kind=kind.name, launcher=launcher.name, **start, **{**where, **SAID.get(kind.name, {}), **changes})


def name_of(kind: Kind) -> str:
    """Return the name of the job of a kind."""
    return f"as-{kind.name.lower()}"


def carried(without: str) -> list[Kind]:
    """Return the kinds of a cluster without one of the operators: all, or beside the other one what that leaves out."""
    alone = APART[without]
    names = {None, *operators(without)} if alone == "training-operator" else {alone}
    return [kind for kind in kinds().values() if kind.carrier.operator in names]


@dataclass
class Kinds(Site):
    """A site with one job of each of these kinds."""

    there: list[Kind] = field(default_factory=list)


@pytest.fixture(scope="module", params=sorted(APART), ids=lambda name: f"without {name}")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The cluster with one job of every kind, or a loud skip."""
    written = specs()
    here = carried(request.param)
    (cluster,) = written["clusters"].values()
    pools = {name: {**cluster["pools"]["cpu"], "nodes": nodes} for name, nodes in {"cpu": 8, BATCH: 2}.items()}
    queues = {
        "research": {"teams": [NAME], "nominalQuota": {"cpu": {"nodes": 8}}},
        BATCH: {"teams": [NAME], "scheduler": "volcano", "nominalQuota": {BATCH: {"nodes": 2}}},
    }
    changed = fields(cluster, {"operators": operators(request.param), "pools": pools, "queues": queues})
    jobs = {f"{NAME}/{name_of(kind)}": job_of(kind) for kind in here}
    teams = {NAME: fields(written["teams"][NAME], {"podSecurity": "baseline"})}
    written = {**written, "clusters": {NAME: changed}, "jobs": jobs, "teams": teams}
    with running("TRAINYARD_ARGOCD", tmp_path_factory.mktemp("kinds"), written) as found:
        for node in found.core.list_node().items[:2]:
            found.core.patch_node(node.metadata.name, {"metadata": {"labels": {"trainyard.dev/pool": BATCH}}})
        yield Kinds(found.core, found.custom, found.repository, found.before, here)


def pods_of(site: Site, kind: Kind) -> dict[str, str]:
    """Return the running pods of the job of a kind, with what identifies each."""
    listed = site.core.list_namespaced_pod(NAME, label_selector=f"trainyard.dev/job={name_of(kind)}").items
    return {item.metadata.name: item.metadata.uid for item in listed if item.status.phase == "Running"}


def test_a_commit_leads_to_running_pods(site):
    """Of every kind two pods at least run, and Argo CD sees no difference between Git and the cluster."""
    for kind in site.there:
        site.until(f"pods of {kind.name} run", lambda kind=kind: len(pods_of(site, kind)) >= 2)
    site.until("everything is in sync", site.synced)


def test_an_unrelated_commit_leaves_running_pods_alone(site):
    """Another job starts; the pods of every kind are the same as before."""
    before = site.pods()
    site.repository.put(f"jobs/{NAME}/other.yaml", dump(job(nodes=1)))
    site.commit("Add another job")
    site.until("one more pod runs", lambda: len(site.pods()) > len(before))
    site.until("everything is in sync", site.synced)
    assert before.items() <= site.pods().items()


def test_retiring_stops_every_kind_and_nothing_else(site):
    """All files of the runs but one go in one commit: their pods, Services and workloads go, the other's pod stays."""
    other = {name: uid for name, uid in site.pods().items() if name.startswith("other-")}
    for kind in site.there:
        site.repository.put(f"jobs/{NAME}/{name_of(kind)}.yaml", dump(job_of(kind, retired=True)))
    site.commit("Retire all but one")
    site.until("one pod is left", lambda: site.pods() == other)
    site.until("everything is in sync", site.synced)
    listed = site.custom.list_namespaced_custom_object("kueue.x-k8s.io", "v1beta2", NAME, "workloads")["items"]
    assert len(listed) == 1
