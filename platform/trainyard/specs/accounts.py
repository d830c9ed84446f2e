"""Service accounts of a team on one cluster: those of its file, and the one by which its pods use buckets."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.specs.models.buckets import DIRECT
from trainyard.specs.models.cluster import Cluster
from trainyard.specs.models.team import ServiceAccount, Team
from trainyard.specs.run import Run

BUCKETS = "buckets"
"""Name of the service account by which pods of a team use buckets, in the team's namespace."""

ROLE, GOOGLE, CLIENT = (
    "eks.amazonaws.com/role-arn",
    "iam.gke.io/gcp-service-account",
    "azure.workload.identity/client-id",
)
"""Annotations of a service account that name its identity at a provider."""

ANNOTATIONS = {"irsa": ROLE, "gke": GOOGLE, "azure": CLIENT}
"""By way of proving an identity; for EKS Pod Identity the association at the provider says all."""


def accounts_on(cluster: Cluster, name: str, team: Team) -> Mapping[str, ServiceAccount]:
    """Return the service accounts that a team has on a cluster, by name."""
    own = bucket_account(cluster, name)
    return team.accounts if own is None else {**team.accounts, BUCKETS: own}


def bucket_account(cluster: Cluster, team: str) -> ServiceAccount | None:
    """Return the account by which a team's pods use the buckets of a cluster; None where it may use none."""
    store = cluster.object_storage
    if store is None or team not in store.teams or not store.of_team(team):
        return None
    said, annotation = store.teams[team], ANNOTATIONS.get(store.identity)
    if annotation is None or said == DIRECT:
        return ServiceAccount()
    return ServiceAccount(annotations={annotation: said})


def account_of(run: Run) -> str | None:
    """Return the service account of a run's pods: the one that the job names, or that of its buckets.

    Buckets of Ceph come with keys, and need none.
    """
    store = run.cluster.object_storage
    known = store.buckets if store is not None else {}
    return run.job.service_account or (BUCKETS if any(use.bucket in known for use in run.job.buckets) else None)
