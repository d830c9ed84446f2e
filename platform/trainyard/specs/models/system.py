"""What runs on the nodes of a cluster below Kubernetes' own objects: distribution, container runtime, kernel."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StrictStr

from trainyard.specs.distributions import DEFAULT, Installer, Runtime, distributions
from trainyard.specs.models.base import Form, Spec

Distribution = Literal[
    "systemd",
    "kubeadm",
    "rke2",
    "k3s",
    "talos",
    "openshift",
    "eks",
    "eks-bottlerocket",
    "gke-cos",
    "gke-ubuntu",
    "gke-autopilot",
    "aks",
    "oke",
    "bcm",
    "kind",
]

KernelRelease = Annotated[
    StrictStr, Form(r"[0-9]+\.[0-9]+(?:[-.+_][0-9A-Za-z.+_-]+)?", "a kernel release such as '6.8', in quotes")
]


DriverVersion = Annotated[
    StrictStr,
    Form(r"[0-9]{1,4}\.[0-9]+(?:\.[0-9]+)?", "a release of the GPUs' driver such as '580.126.20', in quotes"),
]


DistributionVersion = Annotated[
    StrictStr, Form(r"[0-9]{1,4}\.[0-9]{1,4}(?:\.[0-9]{1,4})?", "a release such as '1.14', in quotes")
]


class System(Spec):
    """Software of the nodes, which decides how operators are installed, and the form of files for nodes."""

    distribution: Distribution | None = None
    """Kubernetes distribution; default: `systemd`, with kubelet and container runtime as units and a kubelet
    drop-in folder."""
    distribution_version: DistributionVersion | None = None
    """Talos: release that wrote the machine configuration, such as "1.14"; it decides the form of files for nodes;
    default: "1.13"."""
    runtime: Runtime | None = None
    """Container runtime; default: the distribution's, which is `containerd` for most."""
    kernel: KernelRelease | None = None
    """Release of the nodes' kernel, such as "6.8"; it decides how GPUs and NICs access each other's memory."""
    nic_driver: Literal["inbox", "doca", "operator"] | None = None
    """Driver of the NICs: `inbox`, the kernel's own; `doca`, DOCA or OFED on the host; `operator`, the same from
    the network operator."""
    gpu_driver: Installer | None = None
    """Installer of the GPUs' driver: `operator`, the GPU operator of NVIDIA or AMD; `system`, the node's image;
    default: the distribution's for NVIDIA, and `system` for AMD."""
    gpu_driver_version: DriverVersion | None = None
    """Release of the GPUs' driver, such as "580.126.20", or "30.20.1" of AMD: the one that the operator installs, or
    that the node's image has; default: the operator's."""


def resolve_system(cluster: System, pool: System) -> System:
    """Return a pool's system: field by field its own, else the cluster's, else the default."""
    shared = cluster.model_dump(exclude_none=True)
    if pool.distribution not in (None, cluster.distribution):
        shared.pop("distribution_version", None)
    said = {**shared, **pool.model_dump(exclude_none=True)}
    name = said.get("distribution", DEFAULT)
    facts = distributions()[name]
    defaults = {
        "distribution": name,
        "distribution_version": facts.version,
        "runtime": facts.runtime,
        "gpu_driver": facts.gpus.driver[0],
    }
    return System.model_validate({**defaults, **said})
