"""What Kubeflow's jobs have in common: a map of roles, a run policy and an end (training-operator v1.9.4)."""

from __future__ import annotations

from trainyard.base.manifests import ANY
from trainyard.upstream.workloads.arriving import Arriving
from trainyard.upstream.workloads.base import Carrier, Template, replicas
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.integration import OF_KUBEFLOW, Integration
from trainyard.upstream.workloads.variables import Variables

GROUP = "kubeflow.org"


def kubeflow(
    kind: str,
    field: str,
    *roles: str,
    variables: Variables,
    volumes: tuple[str, ...] = (),
    arriving: Arriving | None = None,
    operator: str = "training-operator",
    queueing: Integration = OF_KUBEFLOW,
) -> Carrier:
    """Return the row of one of Kubeflow's jobs; `roles` are those that Kueue counts, in its order."""
    return Carrier(
        GROUP,
        kind,
        (Template(("spec", field, ANY), count=replicas, roles=roles),),
        operator,
        f"{GROUP}/{kind.lower()}",
        queueing,
        ("spec", "runPolicy", "suspend"),
        trains=True,
        ending=Ending("Succeeded"),
        variables=variables,
        volumes=volumes,
        arriving=arriving,
    )
