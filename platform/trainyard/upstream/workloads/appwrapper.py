"""AppWrapper: whole objects of other kinds that are queued, start and end as one (appwrapper v1.2)."""

from __future__ import annotations

from trainyard.base.manifests import ANY
from trainyard.upstream.workloads.base import Carrier
from trainyard.upstream.workloads.ends import Ending

COUNTED = frozenset(
    {
        *(("", "Pod"), ("apps", "Deployment"), ("apps", "StatefulSet"), ("batch", "Job")),
        *(
            ("jobset.x-k8s.io", "JobSet"),
            ("kubeflow.org", "PyTorchJob"),
            ("ray.io", "RayCluster"),
            ("ray.io", "RayJob"),
        ),
    }
)
"""Kinds whose pods AppWrapper finds itself; of others the component has to declare them (pkg/utils/utils.go)."""

CARRIER = Carrier(
    "workload.codeflare.dev",
    "AppWrapper",
    operator="appwrapper",
    framework="workload.codeflare.dev/appwrapper",
    suspend=("spec", "suspend"),
    trains=True,
    ending=Ending("Succeeded", word=("status", "phase")),
    embeds=("spec", "components", ANY, "template"),
    counts=COUNTED,
)
