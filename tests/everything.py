"""A cluster that has one of everything: GPUs of both vendors, a fabric, every operator that can be installed."""

from __future__ import annotations

from typing import Any

from make import CLUSTER, CPU_NODE, fields, make_source, make_specs, make_team
from trainyard.base.versions import order
from trainyard.render.operators import operators
from trainyard.specs import Cluster
from trainyard.specs.releases import releases
from trainyard.specs.sources import Source, Specs

AMD_NODE = fields(
    CPU_NODE,
    {
        "cpus": 192,
        "memory": "1500Gi",
        "ephemeralStorage": "3000Gi",
        "numa": None,
        "gpus": {"count": 8, "vendor": "amd", "product": "MI300X", "resource": "amd.com/gpu", "memory": "192Gi"},
    },
)

KUBELET = {
    "topologyManagerPolicy": "restricted",
    "topologyManagerScope": "pod",
    "cpuManagerPolicy": "static",
    "cpuManagerPolicyOptions": {"full-pcpus-only": "true"},
    "memoryManagerPolicy": "Static",
}

EXCLUDED = {"gke-gpudirect"} | {other.operator for facts in releases().values() for other in facts.excludes}
"""Operators that another one of these does not bear beside it, and one for another provider's nodes."""


def calls_cloud(name: str) -> bool:
    """Whether an operator is a storage driver that needs rights at its cloud."""
    said = releases()[name].provisions
    return said is not None and bool(said.accounts)


BROUGHT = {"node-feature-discovery"}
"""What another of these brings along."""

ROLE: dict[str, str] = {"identity": "irsa", "role": "arn:aws:iam::111122223333:role/driver"}
"""Rights of drivers that call a cloud."""

OPERATORS: dict[str, Any] = {
    name: {"version": max(releases()[name].releases, key=order), **(ROLE if calls_cloud(name) else {})}
    for name in operators()
    if name in releases() and name not in EXCLUDED | BROUGHT
}
"""Every operator that can be installed beside the others, at its newest release."""

TRACKING: dict[str, Any] = {
    "mlflow": {
        "url": "https://mlflow.example.com",
        "gateway": "ingress",
        "database": {"secret": "mlflow-database/password", "storage": "shared"},
        "artifacts": {"storage": "shared"},
    },
    "wandb": {
        "url": "https://wandb.example.com",
        "entity": "research",
        "apiKey": "wandb/api-key",
        "server": {
            "chart": "0.43.8",
            "license": "wandb-license/license",
            "database": {"host": "mysql.example.com", "secret": "wandb-mysql/password"},
            "bucket": {
                "provider": "az",
                "name": "account/container",
                "annotations": {"azure.workload.identity/client-id": "00000000-0000-0000-0000-000000000000"},
            },
        },
    },
}
"""Both trackers, with servers on the cluster."""

EVERYTHING: dict[str, Any] = fields(
    CLUSTER,
    {
        "topology": [{"block": "example.com/block"}, {"rack": "example.com/rack"}],
        "pools": {
            "h100": {
                "shape": "dgx-h100",
                "nodes": 16,
                "racks": 2,
                "taints": [{"key": "nvidia.com/gpu", "value": "present"}],
                "kubelet": KUBELET,
            },
            "mi300x": {"shape": AMD_NODE, "nodes": 4, "taints": [{"key": "amd.com/gpu"}]},
            "cpu": {"shape": CPU_NODE, "nodes": 4},
        },
        "fabric": {
            "type": "roce",
            "rails": 8,
            "attach": "sriov",
            "addresses": "10.56.0.0/16",
            "pools": ["h100"],
            "trafficClass": 106,
            "qos": {"by": "provided"},
        },
        "cidrs": {"pods": "10.0.0.0/14", "services": "10.4.0.0/16", "nodes": "10.8.0.0/20"},
        "operators": OPERATORS,
        "drivers": None,
        "tracking": TRACKING,
        "queues": {
            "research": {
                "teams": ["nlp", "vision"],
                "cohort": "gpus",
                "nominalQuota": {"h100": {"gpus": 96}, "cpu": {"nodes": 2}},
                "borrowingLimit": {"h100": {"gpus": 32}},
                "preemption": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
            },
            "production": {
                "teams": ["ads"],
                "cohort": "gpus",
                "nominalQuota": {"h100": {"gpus": 32}, "mi300x": {"nodes": 4}},
            },
        },
    },
)


def everything(**changes: Any) -> Cluster:
    """Return the cluster; keywords are fields in snake_case, None takes one away."""
    return Cluster.model_validate(fields(EVERYTHING, changes))


def source(**changes: Any) -> Source:
    """Return the file that the cluster stands in."""
    return make_source("platform/clusters/test.yaml", fields(EVERYTHING, changes))


def everything_specs(**changes: Any) -> Specs:
    """Return a repository with that cluster and three teams, one of each Pod Security level."""
    teams = {
        "ads": make_team(pod_security="privileged"),
        "nlp": make_team(),
        "vision": make_team(pod_security="baseline", service_accounts=["reader"], secrets=None),
    }
    return make_specs(clusters={"test": everything(**changes)}, teams=teams)
