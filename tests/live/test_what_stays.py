"""What outlives mistakes on a real Argo CD: claims, pods and rights when files, Applications or etcd are gone.

Needs TRAINYARD_ARGOCD, the kubeconfig of a cluster with Argo CD, Kueue, JobSet and nodes (KWOK's will do), and
TRAINYARD_THROWAWAY=1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from argocd_site import ARGOCD, GROUP, NAME, VERSION, Site, job, running, specs
from make import TEAM, fields
from trainyard.base.documents import dump

pytestmark = [pytest.mark.argocd, pytest.mark.timeout(1200)]

OTHER = "leavers"
"""The team that is removed."""

SHARE = {"server": "scans.example.com", "share": "/books"}
STORAGE = {
    "shared": {"provisioner": "nfs.csi.k8s.io", "parameters": {"server": "nfs.example.com", "share": "/export"}},
    "library": {
        "provisioner": "nfs.csi.k8s.io",
        "exports": {"books": {"team": NAME, "size": "8Ti", "handle": "scans.example.com/books", "attributes": SHARE}},
    },
}
VOLUMES = {"checkpoints": {"storage": "shared", "size": "1Ti"}, "books": {"storage": "library", "size": "8Ti"}}


def written(*, teams: tuple[str, ...] = (NAME, OTHER)) -> dict[str, Any]:
    """Return the repository: teams with a claim that a driver fills, and one of them with a volume that is there."""
    found = specs()
    changed = {"storage": STORAGE, "drivers": {"nfs.csi.k8s.io": "by the test"}}
    queue = {"research": {"teams": list(teams), "nominalQuota": {"cpu": {"nodes": 2}}}}
    found["clusters"][NAME] = fields(found["clusters"][NAME], {**changed, "queues": queue})
    found["teams"] = {team: team_of(team) for team in teams}
    found["jobs"] = {f"{NAME}/first": job(nodes=1), f"{OTHER}/last": job(nodes=1)}
    return found


def team_of(name: str, *without: str) -> dict[str, Any]:
    """Return a team with its claims, but some."""
    volumes = {key: value for key, value in VOLUMES.items() if key not in without and (name == NAME or key != "books")}
    return fields(TEAM, {"volumes": volumes, "secrets": None})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The cluster with both teams, whose jobs run, or a loud skip."""
    with running("TRAINYARD_ARGOCD", tmp_path_factory.mktemp("mistakes"), written()) as found:
        found.until("a pod of each team runs", lambda: pods(found, NAME) and pods(found, OTHER))
        for team in (NAME, OTHER):
            fill(found, team)
        found.until("everything is in sync", found.synced)
        yield found


def pods(site: Site, team: str) -> dict[str, str]:
    """Return the running pods of a team, with what identifies each."""
    listed = site.core.list_namespaced_pod(team).items
    return {item.metadata.name: item.metadata.uid for item in listed if item.status.phase == "Running"}


def claims(site: Site, team: str) -> dict[str, tuple[str, str]]:
    """Return the claims of a team that are bound, with what identifies each, and the volume of each."""
    listed = site.core.list_namespaced_persistent_volume_claim(team).items
    return {
        item.metadata.name: (item.metadata.uid, item.spec.volume_name)
        for item in listed
        if item.status.phase == "Bound" and item.metadata.deletion_timestamp is None
    }


def fill(site: Site, team: str) -> None:
    """Make the volume of a claim, as a driver does, and wait until each claim has its own."""
    (claim,) = (
        item
        for item in site.core.list_namespaced_persistent_volume_claim(team).items
        if item.metadata.name == "checkpoints"
    )
    spec = {
        "capacity": claim.spec.resources.requests,
        "accessModes": claim.spec.access_modes,
        "storageClassName": claim.spec.storage_class_name,
        "claimRef": {"namespace": team, "name": claim.metadata.name, "uid": claim.metadata.uid},
        "persistentVolumeReclaimPolicy": "Retain",
        "hostPath": {"path": "/nowhere"},
    }
    name = f"pvc-{claim.metadata.uid}"
    site.core.create_persistent_volume({"metadata": {"name": name}, "spec": spec})
    wanted = 2 if team == NAME else 1
    site.until(f"the claims of {team} are bound", lambda: len(claims(site, team)) == wanted)


def revision(site: Site) -> str:
    """Return the commit that Argo CD is asked for."""
    return site.repository.git("rev-parse", "HEAD").strip()


def compared(site: Site, part: str) -> bool:
    """Whether Argo CD has compared an Application with the last commit and is at rest."""
    status = site.applications().get(f"{NAME}-{part}", {}).get("status", {})
    operation = (status.get("operationState") or {}).get("phase", "Succeeded")
    return status.get("sync", {}).get("revision") == revision(site) and operation == "Succeeded"


def test_a_claim_that_leaves_git_keeps_its_data(site: Site) -> None:
    """It stays bound to its volume and only shows as out of sync; put back, it is the same claim."""
    before = claims(site, NAME)
    site.repository.put(f"platform/teams/{NAME}.yaml", dump(team_of(NAME, "checkpoints")))
    site.commit("Forget a volume")
    site.until("the team is compared", lambda: compared(site, f"teams-{NAME}"))
    assert claims(site, NAME) == before
    site.repository.put(f"platform/teams/{NAME}.yaml", dump(team_of(NAME)))
    site.commit("Put it back")
    site.until("everything is in sync", site.synced)
    assert claims(site, NAME) == before


def test_the_root_goes_and_comes_back(site: Site) -> None:
    """Deleted without what it made and applied again, as a person does, it changes no pod and no claim."""
    root, before = f"{NAME}-argocd", kept(site)
    site.custom.delete_namespaced_custom_object(GROUP, VERSION, ARGOCD, "applications", root)
    site.until("the root is gone", lambda: root not in site.applications())
    assert kept(site) == before
    site.apply(f"application.{root}.yaml")
    site.until("the root is back", lambda: compared(site, "argocd"))
    site.until("everything is in sync", site.synced)
    assert kept(site) == before


def kept(site: Site) -> list[dict[str, Any]]:
    """Return pods and claims of both teams."""
    return [pods(site, NAME), pods(site, OTHER), claims(site, NAME), claims(site, OTHER)]
