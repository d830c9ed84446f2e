"""The whole loop on a real Argo CD: a commit starts pods, an unrelated one leaves them alone, retiring stops them.

Needs TRAINYARD_ARGOCD, the kubeconfig of a cluster with Argo CD, Kueue, JobSet and nodes (KWOK's will do), and
TRAINYARD_THROWAWAY=1, which says that it may be changed: nodes get the pool's label, argocd-cm gets our keys. Argo CD
reads the repository from this machine's disk, or from TRAINYARD_ARGOCD_REPO, to which the test pushes.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from argocd_site import HEALTH, NAME, Site, job, running
from trainyard.base.documents import dump

pytestmark = pytest.mark.argocd


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The cluster with the root Application applied, or a loud skip."""
    with running("TRAINYARD_ARGOCD", tmp_path_factory.mktemp("argocd")) as found:
        yield found


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
