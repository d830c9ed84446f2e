"""What runs on the nodes of a cluster below Kubernetes' own objects: distribution, container runtime, kernel."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StrictStr

from trainyard.specs.models.base import Form, Spec

Distribution = Literal["systemd", "kubeadm", "rke2", "k3s", "talos", "openshift", "eks"]
Runtime = Literal["containerd", "cri-o"]

KernelRelease = Annotated[
    StrictStr, Form(r"[0-9]+\.[0-9]+(?:[-.+_][0-9A-Za-z.+_-]+)?", "a kernel release such as '6.8', in quotes")
]

OTHER_RUNTIME: dict[str, Runtime] = {"openshift": "cri-o"}
"""Runtime of distributions that bring another than containerd."""


class System(Spec):
    """Software of the nodes, which decides in which form Trainyard renders files for them."""

    distribution: Distribution | None = None
    """Kubernetes distribution; default: `systemd`, with kubelet and container runtime as units and a kubelet
    drop-in folder."""
    runtime: Runtime | None = None
    """Container runtime; default: `containerd`, or `cri-o` on OpenShift."""
    kernel: KernelRelease | None = None
    """Release of the nodes' kernel, such as "6.8"; it decides how GPUs and NICs access each other's memory."""
    nic_driver: Literal["inbox", "doca", "operator"] | None = None
    """Driver of the NICs: `inbox`, the kernel's own; `doca`, DOCA or OFED on the host; `operator`, the same from
    the network operator."""


def resolve_system(cluster: System, pool: System) -> System:
    """Return a pool's system: field by field its own, else the cluster's, else the default."""
    said = {**cluster.model_dump(exclude_none=True), **pool.model_dump(exclude_none=True)}
    distribution = said.get("distribution", "systemd")
    runtime = OTHER_RUNTIME.get(distribution, "containerd")
    return System.model_validate({"distribution": distribution, "runtime": runtime, **said})
