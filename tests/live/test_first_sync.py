"""The first sync of a new cluster: all Applications are there before the operators, and come up once those do.

Needs TRAINYARD_NEW_CLUSTER, the kubeconfig of a cluster with Argo CD and nodes but without Kueue and JobSet,
TRAINYARD_THROWAWAY=1, and TRAINYARD_INSTALL, a shell command that installs the two.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from argocd_site import NAME, Site, job, running
from trainyard.base.documents import dump

pytestmark = pytest.mark.argocd

PATIENCE = 100
"""Seconds without operators: more than the first three attempts, and more than two attempts after five seconds took."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A cluster without operators, or a loud skip."""
    if not os.environ.get("TRAINYARD_INSTALL"):
        pytest.skip("a first sync: set TRAINYARD_NEW_CLUSTER, TRAINYARD_INSTALL and TRAINYARD_THROWAWAY=1")
    with running("TRAINYARD_NEW_CLUSTER", tmp_path_factory.mktemp("first")) as found:
        found.repository.put(f"jobs/{NAME}/plain.yaml", dump(job(kind="Job", nodes=1)))
        found.commit("Add a job that needs no operator to start")
        yield found


def operations(site: Site) -> dict[str, dict[str, Any]]:
    """Return what each Application is at, by its name without the cluster's."""
    states = {
        name: application.get("status", {}).get("operationState") or {}
        for name, application in site.applications().items()
    }
    return {name.removeprefix(f"{NAME}-"): state for name, state in states.items()}


def test_nothing_gives_up_and_nothing_runs_before_its_operators(site: Site) -> None:
    """Types are missing, so the team has no namespace and no run starts past its queue; every attempt is followed."""
    names = (f"teams-{NAME}", f"runs-{NAME}", "platform")
    site.until("all have tried", lambda: all(operations(site).get(name, {}).get("retryCount", 0) > 0 for name in names))
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        states = operations(site)
        assert {states[name]["phase"] for name in names} == {"Running"}, site.report()
        assert NAME not in [item.metadata.name for item in site.core.list_namespace().items]
        time.sleep(5)
    assert all(states[name]["retryCount"] > 2 for name in names), site.report()


def test_it_comes_up_once_the_operators_are_there(site: Site) -> None:
    """Without a hand: both runs are queued by Kueue and have their pods, and every Application is in sync."""
    subprocess.run(os.environ["TRAINYARD_INSTALL"], shell=True, check=True, timeout=600)
    site.until("three pods run", lambda: len(site.pods()) == 3, seconds=600)
    site.until("everything is in sync", site.synced, seconds=600)
    listed = site.custom.list_namespaced_custom_object("kueue.x-k8s.io", "v1beta2", NAME, "workloads")["items"]
    owners = {item["metadata"]["ownerReferences"][0]["kind"] for item in listed}
    assert owners == {"Job", "JobSet"}
