"""What outlives mistakes on a real Argo CD: claims, pods and rights when files, Applications, teams or etcd are gone.

Needs TRAINYARD_ARGOCD, the kubeconfig of a cluster with Argo CD, Kueue, JobSet and nodes (KWOK's will do), and
TRAINYARD_THROWAWAY=1. The cluster that is built again needs TRAINYARD_REBUILT, the kubeconfig of another one like it
on which nobody has installed anything of ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from argocd_site import ARGOCD, FINALIZER, GROUP, NAME, VERSION, Site, job, running, specs
from conftest import ROOT
from make import TEAM, fields
from trainyard.base.documents import dump, load

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


def test_a_cascade_leaves_everything_but_applications(site: Site) -> None:
    """A root that is deleted with what it made waits for its own project for ever; then a person lets it go."""
    root, before = f"{NAME}-argocd", kept(site)
    patch(site, root, [FINALIZER])
    site.custom.delete_namespaced_custom_object(GROUP, VERSION, ARGOCD, "applications", root)
    site.until("only the root is left", lambda: set(site.applications()) == {root})
    site.until("it says why it stays", lambda: "not found" in told(site, root))
    patch(site, root, None)
    site.until("the root is gone", lambda: not site.applications())
    assert kept(site) == before
    for kind in ("appproject", "application"):
        site.apply(f"{kind}.{root}.yaml")
    site.until("the root is back", lambda: compared(site, "argocd"))
    site.until("everything is in sync", lambda: len(site.applications()) > 1 and site.synced())
    assert kept(site) == before


def patch(site: Site, root: str, finalizers: list[str] | None) -> None:
    """Set the finalizers of an Application, as `argocd app delete` does before it deletes."""
    body = {"metadata": {"finalizers": finalizers}}
    site.custom.patch_namespaced_custom_object(GROUP, VERSION, ARGOCD, "applications", root, body)


def told(site: Site, name: str) -> str:
    """Return why an Application that is being deleted stays."""
    conditions = site.applications()[name].get("status", {}).get("conditions", [])
    return " ".join(item["message"] for item in conditions if item["type"] == "DeletionError")


STAYS = {"Namespace", "LocalQueue", "NetworkPolicy", "PersistentVolumeClaim", "ResourceQuota", "Role", "RoleBinding"}
"""Kinds of a team's objects that stay when the team goes: its Application goes alone."""


def test_a_team_goes_and_comes_back(site: Site) -> None:
    """Claims, volumes and namespace are the same ones before, between and after; what else stays is known."""
    before = claims(site, OTHER)
    tree = site.repository.root / f"generated/{NAME}/teams/{OTHER}"
    assert {line.partition(" ")[2] for file in tree.glob("*.yaml") for line in kind_of(file)} == STAYS
    site.repository.put(f"jobs/{OTHER}/last.yaml", dump(job(nodes=1, retired=True)))
    site.commit("Retire the jobs of a team")
    site.until("its pods have ended", lambda: not pods(site, OTHER))
    teams(site, NAME)
    site.until("its Applications are gone", lambda: not [one for one in site.applications() if one.endswith(OTHER)])
    site.until("everything is in sync", site.synced)
    assert claims(site, OTHER) == before
    assert stays(site) == STAYS
    teams(site, NAME, OTHER)
    site.until("its Application is back", lambda: compared(site, f"teams-{OTHER}"))
    site.until("everything is in sync", site.synced)
    assert claims(site, OTHER) == before


def kind_of(file: Any) -> list[str]:
    """Return the line of a file that names its kind."""
    return [line for line in file.read_text("utf-8").splitlines() if line.startswith("kind: ")]


def teams(site: Site, *names: str) -> None:
    """Write and commit the cluster with these teams, and no job of others."""
    found = written(teams=names)
    site.repository.put(f"platform/clusters/{NAME}.yaml", dump(found["clusters"][NAME]))
    for name in (NAME, OTHER):
        file = site.repository.root / f"platform/teams/{name}.yaml"
        if name in names:
            site.repository.put(f"platform/teams/{name}.yaml", dump(found["teams"][name]))
        else:
            file.unlink()
            (site.repository.root / f"jobs/{name}/last.yaml").unlink()
    site.commit(f"Have {len(names)} teams")


def stays(site: Site) -> set[str]:
    """Return the kinds of what is there for the team that has gone."""
    from kubernetes import client

    api = site.core.api_client
    rights, network = client.RbacAuthorizationV1Api(api), client.NetworkingV1Api(api)
    queues = site.custom.list_namespaced_custom_object("kueue.x-k8s.io", "v1beta2", OTHER, "localqueues")["items"]
    listed = {
        "Namespace": [item for item in site.core.list_namespace().items if item.metadata.name == OTHER],
        "LocalQueue": queues,
        "NetworkPolicy": network.list_namespaced_network_policy(OTHER).items,
        "PersistentVolumeClaim": site.core.list_namespaced_persistent_volume_claim(OTHER).items,
        "ResourceQuota": site.core.list_namespaced_resource_quota(OTHER).items,
        "Role": rights.list_namespaced_role(OTHER).items,
        "RoleBinding": rights.list_namespaced_role_binding(OTHER).items,
    }
    return {kind for kind, items in listed.items() if items}


def test_etcd_is_lost(site: Site, tmp_path: Any) -> None:
    """On a new control plane unretired runs start again, and a saved volume without its old claim's id is bound."""
    kubeconfig = os.environ.get("TRAINYARD_REBUILT")
    if not kubeconfig:
        pytest.skip("set TRAINYARD_REBUILT to the kubeconfig of another cluster")
    for name in ("retired", "forgotten"):
        site.repository.put(f"jobs/{NAME}/{name}.yaml", dump(job(nodes=1)))
    site.commit("Add jobs")
    site.until("they run", lambda: len(pods(site, NAME)) == 3)
    end(site, "retired")
    site.until("one has ended", lambda: len(pods(site, NAME)) == 2)
    retire(site, os.environ["TRAINYARD_ARGOCD"])
    end(site, "forgotten")
    site.until("another has ended", lambda: len(pods(site, NAME)) == 1)
    site.commit("Retire what has ended")
    site.until("everything is in sync", site.synced)
    saved = [
        volume(item) for item in site.core.list_persistent_volume().items if item.spec.storage_class_name == "shared"
    ]
    again = rebuilt(site, kubeconfig, saved)
    again.until(
        "runs are back", lambda: {name.partition("-")[0] for name in pods(again, NAME)} == {"first", "forgotten"}
    )
    got = {bound for team in (NAME, OTHER) for name, (_, bound) in claims(again, team).items() if name == "checkpoints"}
    assert got == {item["metadata"]["name"] for item in saved}
    assert "books" in claims(again, NAME)


def end(site: Site, name: str) -> None:
    """Let the programs of a job's pods end with 0, and wait until its JobSet says so."""
    selector = f"trainyard.dev/job={name}"
    for pod in site.core.list_namespaced_pod(NAME, label_selector=selector).items:
        site.core.patch_namespaced_pod_status(pod.metadata.name, NAME, {"status": {"phase": "Succeeded"}})

    def has_ended() -> bool:
        found = site.custom.list_namespaced_custom_object(
            "jobset.x-k8s.io", "v1alpha2", NAME, "jobsets", label_selector=selector
        )
        return [item.get("status", {}).get("terminalState") for item in found["items"]] == ["Completed"]

    site.until(f"{name} has ended", has_ended)


def retire(site: Site, kubeconfig: str) -> None:
    """Ask the cluster which runs have ended, and retire their jobs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "CI": "", "KUBECONFIG": kubeconfig}
    context = load(Path(kubeconfig).read_bytes(), file=kubeconfig)[0][0].value["current-context"]
    asked = ["retire", "--finished", "--context", str(context), "--cluster", NAME]
    command = [sys.executable, "-m", "trainyard", *asked]
    done = subprocess.run(
        command, cwd=site.repository.root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "retired: true" in (site.repository.root / f"jobs/{NAME}/retired.yaml").read_text("utf-8")


def volume(item: Any) -> dict[str, Any]:
    """Return a volume as a person saves it: for its claim by name, without what identified the claim."""
    value: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": item.metadata.name},
        "spec": {
            "capacity": item.spec.capacity,
            "accessModes": item.spec.access_modes,
            "storageClassName": item.spec.storage_class_name,
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": "/nowhere"},
            "claimRef": {"namespace": item.spec.claim_ref.namespace, "name": item.spec.claim_ref.name},
        },
    }
    return value


def rebuilt(site: Site, kubeconfig: str, saved: list[dict[str, Any]]) -> Site:
    """Return another cluster to which somebody gave the saved volumes, and then the root Application."""
    from kubernetes import client, config

    api = config.new_client_from_config(kubeconfig)
    again = Site(client.CoreV1Api(api), client.CustomObjectsApi(api), site.repository)
    for node in again.core.list_node().items:
        again.core.patch_node(node.metadata.name, {"metadata": {"labels": {"trainyard.dev/pool": "cpu"}}})
    for value in saved:
        again.core.create_persistent_volume(value)
    for kind in ("appproject", "application"):
        again.apply(f"{kind}.{NAME}-argocd.yaml")
    again.until("everything is in sync", lambda: len(again.applications()) > 1 and again.synced())
    return again
