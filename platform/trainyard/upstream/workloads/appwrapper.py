"""AppWrapper: whole objects of other kinds that are queued, start and end as one (appwrapper v1.2)."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.base.manifests import ANY
from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.ends import Ending
from trainyard.upstream.workloads.integration import Integration

VERSIONS: Mapping[tuple[str, str], str] = {
    ("", "Pod"): "v1",
    ("apps", "Deployment"): "v1",
    ("apps", "StatefulSet"): "v1",
    ("batch", "Job"): "v1",
    ("jobset.x-k8s.io", "JobSet"): "v1alpha2",
    ("kubeflow.org", "PyTorchJob"): "v1",
    ("ray.io", "RayCluster"): "v1",
    ("ray.io", "RayJob"): "v1",
}
"""Kinds in whose one version AppWrapper finds pods itself; a component has to declare others (pkg/utils/utils.go)."""

CARRIER = Carrier(
    "workload.codeflare.dev",
    "AppWrapper",
    operator="appwrapper",
    framework="workload.codeflare.dev/appwrapper",
    queueing=Integration(created_again=False),
    suspend=("spec", "suspend"),
    trains=True,
    ending=Ending("Succeeded", word=("status", "phase")),
    embeds=("spec", "components", ANY, "template"),
    counts=frozenset(VERSIONS),
)
